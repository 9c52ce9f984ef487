//! `prof mcp`: calls, errors, budgets, and the folders that it cannot leave. One test speaks the protocol itself; two use the
//! official clients.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::SystemTime;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// A server and the client that talks to it.
pub(crate) struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: i64,
}

impl Client {
    /// Starts a server in a folder, and greets it.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Client {
        let mut command = prof(folder, &[&["mcp"], arguments].concat());
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap());
        let mut client = Client { input: server.stdin.take(), server, output, number: 0 };
        let greeting = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.ask("initialize", &greeting);
        assert_eq!(answer["result"]["serverInfo"]["name"], "prof", "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request and returns its response.
    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.number += 1;
        let id = self.number;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }).to_string());
        self.answer_to(id)
    }

    fn answer_to(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server is gone");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// The text that a tool answers, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_string(), result["isError"] == true)
    }

    pub(crate) fn text(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(!is_error, "{tool} {arguments}: {text}");
        text
    }

    fn error(&mut self, tool: &str, arguments: &Value) -> String {
        let (text, is_error) = self.call(tool, arguments);
        assert!(is_error, "{tool} {arguments}: {text}");
        text
    }

    /// Closes the connection. The server ends by itself, without an error.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        assert!(self.server.wait().unwrap().success());
    }
}

/// What a shell prints for a command line that was answered.
fn printed(folder: &Path, answer: &str) -> String {
    let command = answer.lines().last().unwrap().strip_prefix("command: ").unwrap();
    let line = format!("prof() {{ \"$PROF\" \"$@\"; }}; {command} 2>/dev/null");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("PROF", env!("CARGO_BIN_EXE_prof")).env_remove("PROF_PROFILE");
    let output = shell.current_dir(folder).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

#[test]
fn each_tool_answers_like_its_command() {
    let folder = fixture("pprof");
    let mut client = Client::start(&folder, &[]);
    let listed = client.ask("tools/list", &json!({}));
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let all =
        ["open", "report", "top", "tree", "focus", "hot", "source", "diff", "labels", "timeline", "lint"];
    assert_eq!(names, all);
    for (tool, arguments) in [
        ("open", json!({ "profile": "go-cpu.pb.gz" })),
        ("report", json!({ "profile": "go-cpu.pb.gz" })),
        ("top", json!({ "profile": ["go-cpu.pb.gz"], "limit": 5, "show_stacks": "orders" })),
        ("top", json!({ "profile": "go-cpu.pb.gz", "what_if": ["Discounted=0.5"], "sort": "-total" })),
        ("top", json!({ "profile": "go-cpu-new.pb.gz", "base": "go-cpu-old.pb.gz", "limit": 3 })),
        ("tree", json!({ "profile": "go-cpu.pb.gz", "bottom_up": true, "focus": "mallocgc$", "limit": 3 })),
        ("focus", json!({ "profile": "go-cpu.pb.gz", "function": "runtime.mallocgc" })),
        ("hot", json!({ "profile": "go-cpu.pb.gz", "min_length": 3 })),
        ("source", json!({ "profile": "go-cpu.pb.gz", "function": "Discounted" })),
        ("labels", json!({ "profile": "go-cpu.pb.gz" })),
        ("lint", json!({ "profile": "go-cpu.pb.gz" })),
    ] {
        let answer = client.text(tool, &arguments);
        let (said, _) = answer.rsplit_once('\n').unwrap();
        let expected = printed(&folder, &answer);
        // Outside of the server, source files are looked for in other places, too.
        let shown = |text: &str| -> Vec<String> {
            text.lines().filter(|line| !line.contains("looked for")).map(str::to_string).collect()
        };
        assert!(
            !expected.is_empty() && shown(said).starts_with(&shown(&expected)),
            "{answer}\n--- but\n{expected}"
        );
        assert!(answer.chars().count() <= 8_000, "{tool}");
    }
    let answer = client.text("diff", &json!({ "profile": ["go-cpu-old.pb.gz", "go-cpu-new.pb.gz"] }));
    assert!(
        answer.contains("Discounted") && answer.ends_with("go-cpu-old.pb.gz go-cpu-new.pb.gz"),
        "{answer}"
    );
    client.end();
    let mut client = Client::start(&fixture("jfr"), &[]);
    let file = fs::read_dir(fixture("jfr")).unwrap().next().unwrap().unwrap().file_name();
    let answer = client.text("timeline", &json!({ "profile": file.to_str().unwrap() }));
    assert!(answer.contains("command: prof timeline"), "{answer}");
    client.end();
}

/// The server reads no binaries. The command that it names shows the same in a shell, which does.
#[test]
fn a_command_leaves_out_the_names_that_the_server_does_not_look_up() {
    let folder = fixture("symbols");
    let mut client = Client::start(&folder, &[]);
    for tool in ["lint", "top", "report"] {
        let answer = client.text(tool, &json!({ "profile": "sorting.perf.data" }));
        assert!(answer.contains("this server looks up none in binaries"), "{answer}");
        assert!(answer.lines().last().unwrap().contains(" --symbolize never "), "{answer}");
        let (said, _) = answer.split_once("\nnote: ").unwrap();
        assert_eq!(said, printed(&folder, &answer), "{answer}");
    }
    let text = client.error("source", &json!({ "profile": "sorting.perf.data", "function": "sort_some" }));
    assert!(text.contains("no function matches") && text.contains("looks up none in binaries"), "{text}");
    client.end();
    let mut client = Client::start(&fixture("pprof"), &[]);
    let answer = client.text("top", &json!({ "profile": "go-cpu.pb.gz" }));
    assert!(!answer.contains("symbolize") && !answer.contains("looks up"), "{answer}");
    client.end();
}

#[test]
fn answers_fit_their_budget_and_say_what_they_left_out() {
    let mut client = Client::start(&fixture("pprof"), &[]);
    let profile = "go-cpu.pb.gz";
    for budget in [100, 200, 500, 2_000, 20_000] {
        for (tool, more) in [
            ("report", json!({})),
            ("top", json!({})),
            ("top", json!({ "limit": 0, "names": "full" })),
            ("tree", json!({})),
            ("tree", json!({ "min_share": 0, "limit": 0 })),
            ("focus", json!({ "function": "runtime" })),
            ("open", json!({})),
            ("labels", json!({})),
        ] {
            let mut arguments = json!({ "profile": profile, "budget": budget });
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let answer = client.text(tool, &arguments);
            assert!(answer.chars().count() <= budget * 4, "{tool} {arguments}: {}", answer.chars().count());
            let is_short = ["open", "labels"].contains(&tool) || budget >= 500;
            assert!(answer.contains('…') || is_short, "{tool}: {answer}");
        }
    }
    let all = client.text("top", &json!({ "profile": profile, "limit": 0, "budget": 300 }));
    assert!(all.contains("do not fit in 300 tokens: raise budget"), "{all}");
    client.end();
}

#[test]
fn a_profile_is_loaded_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cpu.folded");
    let stacks = |name: &str| -> String {
        (0..2000).map(|n| format!("main;{name}{n:04};leaf 3\n")).collect::<Vec<_>>().concat()
    };
    let write = |text: &str, seconds: u64| {
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    write(&stacks("work"), 1_000_000);
    let mut client = Client::start(folder.path(), &[]);
    client.text("open", &json!({ "profile": "cpu.folded" }));
    // Other bytes of the same size and age: whoever reads the file again notices.
    write(&stacks("rest"), 1_000_000);
    for number in 0..100 {
        let (tool, arguments) = match number % 5 {
            0 => ("top", json!({ "profile": "cpu.folded", "limit": 2 })),
            1 => ("tree", json!({ "profile": "cpu.folded", "limit": 3 })),
            2 => ("report", json!({ "profile": "cpu.folded", "budget": 5_000 })),
            3 => ("focus", json!({ "profile": "./cpu.folded", "function": "leaf", "limit": 2 })),
            _ => ("top", json!({ "profile": "cpu.folded", "by": "name", "show_stacks": "000", "limit": 2 })),
        };
        let answer = client.text(tool, &arguments);
        assert!(!answer.contains("rest") && (answer.contains("leaf") || answer.contains("main")), "{answer}");
    }
    write(&stacks("rest"), 1_000_060);
    assert!(client.text("top", &json!({ "profile": "cpu.folded" })).contains("leaf"));
    assert!(client.text("focus", &json!({ "profile": "cpu.folded", "function": "leaf" })).contains("rest"));
    client.end();
}

#[test]
fn errors_are_results_with_the_sentence_of_the_command_line() {
    let folder = fixture("pprof");
    let mut client = Client::start(&folder, &[]);
    for (tool, arguments, words) in [
        ("top", json!({ "profile": "missing.pb.gz" }), &["top", "missing.pb.gz"][..]),
        (
            "top",
            json!({ "profile": "go-cpu.pb.gz", "show_stacks": "Discuonted" }),
            &["top", "--show-stacks", "Discuonted", "go-cpu.pb.gz"],
        ),
        (
            "top",
            json!({ "profile": "go-cpu.pb.gz", "by": "color" }),
            &["top", "--by", "color", "go-cpu.pb.gz"],
        ),
        (
            "focus",
            json!({ "profile": "go-cpu.pb.gz", "function": "nobody" }),
            &["focus", "nobody", "go-cpu.pb.gz"],
        ),
        ("top", json!({ "profile": "go-cpu.pb.gz", "metric": "x" }), &["top", "-m", "x", "go-cpu.pb.gz"]),
    ] {
        let text = client.error(tool, &arguments);
        let output = prof(&folder, words).output().unwrap();
        let expected = String::from_utf8(output.stderr).unwrap();
        assert!(text.starts_with("error: "), "{text}");
        assert_eq!(text, expected.trim_end(), "{words:?}");
    }
    for (arguments, says) in [
        (json!({}), "error: top: no profile given"),
        (json!({ "profile": "go-cpu.pb.gz", "output": "x" }), "error: top: no argument output"),
        (json!({ "profile": "go-cpu.pb.gz", "seconds": 3 }), "error: top: no argument seconds"),
        (json!({ "profile": "http://localhost:1/cpu" }), "error: addresses are not fetched"),
        (json!({ "profile": "-" }), "error: -: standard input carries the protocol"),
        (json!({ "profile": "go-cpu.pb.gz", "show_stacks": "(".repeat(60_000) }), "error: "),
    ] {
        let text = client.error("top", &arguments);
        assert!(text.starts_with(says) && text.len() < 4_000, "{text}");
    }
    let unknown = client.ask("tools/call", &json!({ "name": "convert", "arguments": {} }));
    assert!(unknown["error"]["message"].as_str().unwrap().starts_with("no tool named convert"), "{unknown}");
    assert!(
        client.text("top", &json!({ "profile": "go-cpu.pb.gz" })).contains("Discounted"),
        "it still works"
    );
    client.end();
}

#[test]
fn a_server_survives_what_is_not_the_protocol() {
    let mut client = Client::start(&fixture("pprof"), &[]);
    for line in [
        "",
        "{",
        "null",
        "[]",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{fffd}\u{0}",
        "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":7}",
    ] {
        client.send(line);
    }
    client.send(&format!("\"{}\"", "x".repeat(20 << 20)));
    client.send(&"[".repeat(100_000));
    let unknown = client.ask("tools/invent", &json!({}));
    assert!(unknown["error"].is_object(), "{unknown}");
    let wrong = client.ask("tools/call", &json!({ "name": "top", "arguments": "cpu" }));
    assert!(wrong["error"].is_object(), "{wrong}");
    // A call that is cancelled, and others at the same time.
    for id in 1_000..1_010 {
        let call = json!({ "name": "top", "arguments": { "profile": "go-cpu.pb.gz" } });
        client
            .send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }).to_string());
    }
    let cancelled = json!({ "requestId": 1_005, "reason": "changed my mind" });
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }).to_string(),
    );
    assert!(client.text("top", &json!({ "profile": "go-cpu.pb.gz" })).contains("Discounted"));
    client.end();
}

/// A client that waits for an answer gets one, even to what is no message.
#[test]
fn what_is_not_json_and_unknown_methods_get_answers() {
    let mut client = Client::start(&fixture("pprof"), &[]);
    client.send("garbage");
    let refused = client.answer_to(Value::Null);
    assert_eq!(refused["error"]["code"], -32700, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("not JSON"), "{refused}");
    let unknown = client.ask("tools/invent", &json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let says = "no method tools/invent; this server has initialize, ping, tools/list and tools/call";
    assert_eq!(unknown["error"]["message"], says);
    for malformed in [json!({}), json!({ "name": 1 }), json!({ "name": "top", "arguments": "cpu.pb.gz" })] {
        let refused = client.ask("tools/call", &malformed);
        assert_eq!(refused["error"]["code"], -32602, "{malformed}: {refused}");
        let says = "tools/call: expected the name of a tool and an object of arguments";
        assert!(refused["error"]["message"].as_str().unwrap().starts_with(says), "{refused}");
    }
    let text = client.text("report", &json!({ "profile": "go-cpu.pb.gz", "budget": 0 }));
    assert!(text.contains("recording: "), "{text}");
    client.end();
    let output = prof(Path::new("."), &["mcp", "--root", "/nope"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: --root /nope: no such folder\nhint: "), "{said}");
}

#[cfg(unix)]
#[test]
fn only_files_in_the_roots_are_read() {
    use std::os::unix::fs::symlink;

    let all = TempDir::new().unwrap();
    let (root, other) = (all.path().join("root"), all.path().join("other"));
    let outside = all.path().join("outside");
    for folder in [&root.join("inner"), &root.join("runs"), &other, &outside] {
        fs::create_dir_all(folder).unwrap();
    }
    for path in [
        root.join("in.folded"),
        root.join("inner/x.folded"),
        other.join("other.folded"),
        outside.join("secret.folded"),
    ] {
        fs::write(path, "main;work@secret.rs:1 30\n").unwrap();
    }
    fs::write(outside.join("secret.rs"), "the secret source\n").unwrap();
    symlink("../outside/secret.folded", root.join("link.folded")).unwrap();
    symlink("../outside", root.join("folder")).unwrap();
    symlink("../../outside/secret.folded", root.join("runs/link.folded")).unwrap();
    let fifo = root.join("pipe.folded");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let (other, inside) = (other.display().to_string(), root.join("in.folded").display().to_string());
    let mut client = Client::start(&root, &["--root", ".", "--root", &other]);
    for name in ["in.folded", "inner", "inner/../in.folded", &format!("{other}/other.folded"), &inside] {
        assert!(client.text("top", &json!({ "profile": name })).contains("work"), "{name}");
    }
    let secret = outside.join("secret.folded").display().to_string();
    for name in [
        "../outside/secret.folded",
        &secret,
        "link.folded",
        "folder/secret.folded",
        "folder",
        "runs",
        "..",
        "/dev/zero",
        "pipe.folded",
        "/dev/fd/0",
    ] {
        for arguments in [json!({ "profile": name }), json!({ "profile": "in.folded", "base": name })] {
            let text = client.error("top", &arguments);
            assert!(
                text.contains("outside of the folders") || text.contains("not a regular file"),
                "{name}: {text}"
            );
        }
        client.error("diff", &json!({ "profile": ["in.folded", name] }));
        client.error("diff", &json!({ "old": "in.folded", "new": [name] }));
    }
    // Whether a file outside exists makes no difference.
    let [there, missing] = ["../outside/secret.folded", "../outside/missing.folded"]
        .map(|name| client.error("top", &json!({ "profile": name })).replace(name, "NAME"));
    assert_eq!(there, missing);
    client.end();
}

#[test]
fn source_lines_come_from_the_roots_only() {
    let all = TempDir::new().unwrap();
    let root = all.path().join("root");
    fs::create_dir_all(&root).unwrap();
    // The profile names a file outside of the root, and one inside.
    let outside = all.path().join("secret.rs");
    fs::write(&outside, "the secret source\n").unwrap();
    fs::write(root.join("open.rs"), "the open source\n").unwrap();
    let callgrind = format!(
        "events: Ir\nfl={}\nfn=hidden\n1 30\n\nfl=/build/open.rs\nfn=visible\n1 20\n",
        outside.display()
    );
    fs::write(root.join("callgrind.out"), callgrind).unwrap();
    let mut client = Client::start(&root, &[]);
    let hidden = client.text("source", &json!({ "profile": "callgrind.out", "function": "hidden" }));
    assert!(!hidden.contains("the secret source"), "{hidden}");
    let visible = client.text("source", &json!({ "profile": "callgrind.out", "function": "visible" }));
    assert!(visible.contains("the open source"), "{visible}");
    client.end();
}

#[test]
fn addresses_and_memory_have_limits() {
    let folder = fixture("pprof");
    let mut client = Client::start(&folder, &["--allow-network"]);
    let text = client.error("top", &json!({ "profile": "http://127.0.0.1:1/cpu" }));
    assert!(!text.contains("addresses are not fetched") && text.contains("127.0.0.1:1"), "{text}");
    client.end();
    let mut client = Client::start(&fixture(""), &["--max-memory", "32KiB"]);
    let small = json!({ "profile": "collapsed/worked-1.folded" });
    for _ in 0..3 {
        let text = client.error("top", &json!({ "profile": "pprof/go-cpu.pb.gz" }));
        assert!(text.contains("needs more memory than the "), "{text}");
        assert!(client.text("top", &small).contains("foo1"), "one call does not spoil the next");
    }
    client.end();
}

#[test]
fn a_server_needs_a_client_and_a_folder() {
    let output = prof(Path::new("."), &["mcp", "--root", "missing"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let silent = prof(Path::new("."), &["mcp"]).stdin(Stdio::null()).output().unwrap();
    assert!(silent.status.success() && silent.stdout.is_empty(), "{silent:?}");
}

/// A folder of `target/tools`, into which `.ci/tools` installs the clients.
fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tools").join(name)
}

const PYTHON_CLIENT: &str = r#"
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(program, folder):
    server = StdioServerParameters(command=program, args=["mcp", "--root", folder], cwd=folder)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        print(" ".join(tool.name for tool in tools))
        answer = await session.call_tool("top", {"profile": "go-cpu.pb.gz", "limit": 1})
        print(answer.content[0].text)
        answer = await session.call_tool("top", {"profile": "missing"})
        print(getattr(answer, "isError", None) or getattr(answer, "is_error", None), answer.content[0].text)

asyncio.run(main(*sys.argv[1:]))
"#;

const NODE_CLIENT: &str = r#"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [program, folder] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp", "--root", folder], cwd: folder }));
console.log((await client.listTools()).tools.map((tool) => tool.name).join(" "));
let answer = await client.callTool({ name: "top", arguments: { profile: "go-cpu.pb.gz", limit: 1 } });
console.log(answer.content[0].text);
answer = await client.callTool({ name: "top", arguments: { profile: "missing" } });
console.log(answer.isError ? "True" : "False", answer.content[0].text);
await client.close();
"#;

/// Checks what a client prints: the tools, the answer to a call, and an error.
fn check_client(mut command: Command) {
    let output = command.arg(env!("CARGO_BIN_EXE_prof")).arg(fixture("pprof")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.starts_with("open report top tree focus hot source diff labels timeline lint\n"), "{text}");
    assert!(text.contains("catalog.(*Catalog).Discounted"), "{text}");
    assert!(text.contains("\ncommand: prof top --limit 1 --names short go-cpu.pb.gz\n"), "{text}");
    assert!(text.contains("\nTrue error: missing: no such file"), "{text}");
}

#[test]
#[needs(McpPython)]
fn the_python_client_works() {
    let folder = TempDir::new().unwrap();
    let script = folder.path().join("client.py");
    fs::write(&script, PYTHON_CLIENT).unwrap();
    let mut command = Command::new(tool("mcp-python/bin/python3"));
    command.arg(&script);
    check_client(command);
}

#[test]
#[needs(Node, McpNode)]
fn the_typescript_client_works() {
    let folder = TempDir::new().unwrap();
    // Modules are found next to the script, or in a folder above it.
    let modules = tool("mcp-node/node_modules");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&modules, folder.path().join("node_modules")).unwrap();
    #[cfg(windows)]
    std::os::windows::fs::symlink_dir(&modules, folder.path().join("node_modules")).unwrap();
    let script = folder.path().join("client.mjs");
    fs::write(&script, NODE_CLIENT).unwrap();
    let mut command = Command::new("node");
    command.arg(&script);
    check_client(command);
}
