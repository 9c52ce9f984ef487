//! Profiles on servers: what is asked for, what is sent to whom, and what a person is told if a server fails.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// A request as it arrived: method, path with query, headers with lower-case names, and body.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    path: String,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

/// A small server that answers every request with the bytes that `answer` makes of it.
pub(crate) struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn new(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Server {
        Server::slow(move |asked, stream| {
            // A client that has read enough may have closed the connection.
            let _ = stream.write_all(&answer(asked));
        })
    }

    /// A server that writes its answers itself.
    fn slow(answer: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, answer) = (asked.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer) = (log.clone(), answer.clone());
                thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(request) = read_request(&stream) {
                        log.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        Server { address, asked }
    }

    /// The address of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The paths that were asked for, in order.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_string);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_string());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { method, path, headers, body })
}

/// An answer with a status and a body.
fn answer(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn profile(name: &str) -> Vec<u8> {
    answer("200 OK", "application/octet-stream", &fs::read(fixture(name)).unwrap())
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        .into_bytes()
}

/// A server whose first recording is the old one, and all further ones the new one.
pub(crate) fn old_then_new() -> Server {
    let is_recorded = AtomicBool::new(false);
    Server::new(move |_| {
        let side = if is_recorded.swap(true, Ordering::SeqCst) { "new" } else { "old" };
        profile(&format!("pprof/go-cpu-{side}.pb.gz"))
    })
}

/// A Go program's server: some profiles, and the page that lists them. It also answers as Pyroscope and Parca do.
pub(crate) fn go_server() -> Server {
    Server::new(|asked| {
        match asked.path.split('?').next().unwrap() {
        "/debug/pprof/" => answer(
            "200 OK",
            "text/html; charset=utf-8",
            b"<html><a href='heap?debug=1'>heap</a><a href='profile?debug=1'>profile</a><a href='trace?debug=1'>trace</a>",
        ),
        "/debug/pprof/profile"
        | "/querier.v1.QuerierService/SelectMergeProfile"
        | "/api/datasources/proxy/uid/pyroscope/querier.v1.QuerierService/SelectMergeProfile" => profile("pprof/go-cpu.pb.gz"),
        "/profile" => profile("cpuprofile/node.cpuprofile"),
        "/debug/pprof/heap" | "/debug/pprof/allocs" => profile("pprof/go-heap.pb.gz"),
        "/old/profile" => profile("pprof/go-cpu-old.pb.gz"),
        "/new/profile" => profile("pprof/go-cpu-new.pb.gz"),
        "/api/profiles/query" => {
            let heap = STANDARD.encode(fs::read(fixture("pprof/go-heap.pb.gz")).unwrap());
            answer("200 OK", "application/json", format!("{{\"pprof\": \"{heap}\"}}").as_bytes())
        }
        _ => answer("404 Not Found", "text/plain", b"404 page not found\n"),
    }
    })
}

/// `prof` with a home folder of its own.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = prof(folder, arguments);
    for name in ["NETRC", "PROF_HTTP_HEADER", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command.env("HOME", folder).env("XDG_CACHE_HOME", folder.join("cache")).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The message and the hint of a command that must fail.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
    assert!(output.stdout.is_empty(), "{arguments:?}");
    text(&output.stderr)
}

/// The numbers that a command prints of an address are those of the file that the server sent.
#[test]
fn every_command_takes_addresses() {
    let (server, folder) = (go_server(), TempDir::new().unwrap());
    let folder = folder.path();
    let [cpu, old, new] =
        ["go-cpu", "go-cpu-old", "go-cpu-new"].map(|name| fixture(&format!("pprof/{name}.pb.gz")));
    for (name, file) in [("cpu.pb.gz", &cpu), ("old.pb.gz", &old), ("new.pb.gz", &new)] {
        fs::copy(file, folder.join(name)).unwrap();
    }
    let [cpu, old, new] =
        ["/debug/pprof/profile", "/old/profile", "/new/profile"].map(|path| server.url(path));
    for line in [
        "top CPU",
        "tree --bottom-up CPU",
        "focus Ledger CPU",
        "hot CPU",
        "graph CPU",
        "traces CPU",
        "labels CPU",
        "source Discounted CPU",
        "info CPU",
        "convert -o - --to collapsed CPU",
        "flame - CPU",
        "top --base OLD NEW",
        "diff OLD NEW",
        "diff --by-side -f json OLD NEW",
        "top --sort self OLD NEW",
    ] {
        let with = |names: [&str; 3]| {
            let [cpu, old, new] = names;
            let line = line.replace("CPU", cpu).replace("OLD", old).replace("NEW", new);
            let words: Vec<&str> = line.split(' ').collect();
            run(folder, &words)
        };
        let (local, remote) = (with(["cpu.pb.gz", "old.pb.gz", "new.pb.gz"]), with([&cpu, &old, &new]));
        assert_eq!(local.status.code(), remote.status.code(), "{line}: {}", text(&remote.stderr));
        // Reports name their inputs.
        let mut shown = text(&remote.stdout);
        for (address, name) in [(&cpu, "cpu.pb.gz"), (&old, "old.pb.gz"), (&new, "new.pb.gz")] {
            shown = shown.replace(address, name);
        }
        let plain = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        // The title of a picture is the name of the profile.
        let is_compared = |text: &&str| !line.starts_with("flame") || text.starts_with("<rect");
        let lines = |text: &str| {
            text.lines()
                .skip(usize::from(!line.contains("json")))
                .filter(is_compared)
                .flat_map(plain)
                .collect::<Vec<_>>()
        };
        assert!(lines(&shown) == lines(&text(&local.stdout)), "{line}: {shown}");
    }
}

#[test]
fn servers_are_asked_for_as_long_as_wanted() {
    let (server, folder) = (go_server(), TempDir::new().unwrap());
    let output = run(folder.path(), &["top", "--seconds", "3", &server.url("")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(server.paths(), ["/debug/pprof/", "/debug/pprof/profile?seconds=3"]);
    let said = text(&output.stderr).replace(['\n', ' '], "");
    assert!(said.contains("theserveralsooffersheap"), "{said}");
    // A list of this profile alone.
    let alone = Server::new(|asked| match &*asked.path {
        "/debug/pprof/" => answer("200 OK", "text/html", b"<html><a href='profile?debug=1'>profile</a>"),
        _ => profile("pprof/go-cpu.pb.gz"),
    });
    let output = run(folder.path(), &["top", "--no-save", &alone.url("")]);
    assert!(!text(&output.stderr).contains("also"), "{}", text(&output.stderr));
    run(folder.path(), &["top", "--seconds", "3", &server.url("/debug/pprof/heap")]);
    assert_eq!(server.paths()[2], "/debug/pprof/heap?seconds=3");
}

#[test]
fn a_profile_that_a_program_does_not_serve_is_refused_with_those_that_it_does() {
    let (server, folder) = (go_server(), TempDir::new().unwrap());
    let said = refused(folder.path(), &["top", &server.url("/debug/pprof/mutex")]);
    assert!(said.contains("404: this server has no /debug/pprof/mutex"), "{said}");
    assert!(said.contains("hint: it offers heap, profile"), "{said}");
}

#[test]
fn servers_that_fail_are_reported() {
    let folder = TempDir::new().unwrap();
    let page = b"\n <!DOCTYPE html><title>Log in</title>".to_vec();
    let server = Server::slow(move |asked, stream| {
        let whole = profile("pprof/go-cpu.pb.gz");
        let answer = match asked.path.as_str() {
            "/login" => answer("200 OK", "text/html", &page),
            "/secret" => answer("403 Forbidden", "text/plain", b"who are you?\nsecond line"),
            "/broken" => answer("500 Internal Server Error", "text/plain", b"profiling already in use\n"),
            "/empty" => answer("200 OK", "text/plain", b""),
            "/cut" => whole[..whole.len() / 2].to_vec(),
            "/garbage" => answer("200 OK", "application/octet-stream", &[7; 100]),
            "/loop" => redirect("/loop"),
            "/elsewhere" => redirect("ftp://127.0.0.1/heap"),
            "/slow" => {
                thread::sleep(Duration::from_secs(20));
                whole
            }
            "/drip" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
                while stream.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
                return;
            }
            "/endless" => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                let block = vec![b'x'; 65_536];
                while stream.write_all(&block).is_ok() {}
                return;
            }
            "/closed" => return,
            "/json" => answer(
                "403 Forbidden",
                "application/json",
                br#"{"code":"permission_denied","message":"no tenant"}"#,
            ),
            _ => b"not even HTTP\r\n\r\n".to_vec(),
        };
        let _ = stream.write_all(&answer);
    });
    for (path, message, hint) in [
        ("/login", "answers with a web page, not with a profile", "--header"),
        ("/secret", "the server answers 403 Forbidden: who are you?", "credentials"),
        ("/broken", "the server answers 500 Internal Server Error: profiling already in use", "try again"),
        ("/empty", "the server answers with nothing", ""),
        ("/cut", "after", "again"),
        ("/garbage", "format", ""),
        ("/loop", "more than 5 redirections", ""),
        ("/elsewhere", "which is not an address", ""),
        ("/slow", "does not finish within 1 s", "--timeout"),
        ("/drip", "does not finish within 1 s", "--timeout"),
        ("/endless", "larger than the memory limit", "--max-memory"),
        ("/closed", "closed the connection without an answer", "https"),
        ("/json", "403 Forbidden: no tenant", "credentials"),
        ("/nonsense", "", ""),
    ] {
        let url = server.url(path);
        let mut words = vec!["top", "--no-save", "--timeout", "1", &url];
        if path == "/endless" {
            words = vec!["top", "--no-save", "--max-memory", "1m", &url];
        }
        let said = refused(folder.path(), &words);
        let plain = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(plain.contains(&url) && plain.contains(message), "{path}: {said}");
        assert!(
            hint.is_empty() || plain.split("hint: ").nth(1).is_some_and(|said| said.contains(hint)),
            "{path}: {said}"
        );
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = refused(folder.path(), &["top", &format!("http://{closed}/heap")]);
    assert!(said.contains("connection refused") && said.contains("is the server running"), "{said}");
    for wrong in ["http://", "http://host:port/heap"] {
        let said = refused(folder.path(), &["top", wrong]);
        assert!(said.contains("not a valid address"), "{said}");
    }
}

#[test]
fn credentials_go_only_where_they_belong() {
    let folder = TempDir::new().unwrap();
    let other = Server::new(|_| profile("pprof/go-heap.pb.gz"));
    let to = other.url("/heap");
    let server = Server::new(move |asked| match asked.path.as_str() {
        "/away" => redirect(&to),
        "/near" => redirect("heap"),
        _ => profile("pprof/go-heap.pb.gz"),
    });
    let with_user = server.url("/near").replace("http://", "http://me:pa%20ss@");
    let output = run(folder.path(), &["top", "--header", "X-Scope-OrgID: tenant", &with_user]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let basic = format!("Basic {}", STANDARD.encode("me:pa ss"));
    for asked in server.asked() {
        assert_eq!(asked.headers["x-scope-orgid"], "tenant");
        assert_eq!(asked.headers["authorization"], basic);
        assert!(!asked.path.contains("me"));
    }
    for shown in [text(&output.stdout), text(&output.stderr)] {
        assert!(
            !shown.contains("pa%20ss") && !shown.contains("pa ss") && !shown.contains("tenant"),
            "{shown}"
        );
    }
    let saved: Vec<String> = fs::read_dir(folder.path().join("cache/prof"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(saved.iter().all(|name| !name.contains("ss") && !name.contains("me")), "{saved:?}");

    run(folder.path(), &["top", "--header", "Authorization: Bearer token", &server.url("/away")]);
    let asked = other.asked();
    assert_eq!(asked.len(), 1);
    assert!(!asked[0].headers.contains_key("authorization"), "{asked:?}");

    fs::write(folder.path().join(".netrc"), "machine 127.0.0.1 login you password word\n").unwrap();
    run(folder.path(), &["top", &server.url("/heap")]);
    let last = server.asked().pop().unwrap();
    assert_eq!(last.headers["authorization"], format!("Basic {}", STANDARD.encode("you:word")));

    let said = refused(folder.path(), &["top", "--header", "hunter2", &server.url("/heap")]);
    assert!(said.contains("--header: not a valid header") && !said.contains("hunter2"), "{said}");
    let failed = server.url("/heap").replace("http://", "https://me:hunter2@");
    assert!(!refused(folder.path(), &["top", &failed]).contains("hunter2"));
}

#[test]
fn what_was_fetched_is_saved_and_read_once() {
    let (server, folder) = (go_server(), TempDir::new().unwrap());
    let heap = server.url("/debug/pprof/heap");
    // Both commands read their inputs twice.
    let output = run(
        folder.path(),
        &["flame", "out.html", "--base", &server.url("/old/profile"), &server.url("/new/profile")],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    run(folder.path(), &["top", &heap]);
    let mut paths = server.paths();
    paths.sort();
    assert_eq!(paths, ["/debug/pprof/heap", "/new/profile", "/old/profile"]);
    let mut saved: Vec<Vec<u8>> = fs::read_dir(folder.path().join("cache/prof"))
        .unwrap()
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    let mut sent: Vec<Vec<u8>> = ["go-cpu-old", "go-cpu-new", "go-heap"]
        .map(|name| fs::read(fixture(&format!("pprof/{name}.pb.gz"))).unwrap())
        .into();
    saved.sort();
    sent.sort();
    assert!(saved == sent);
    let again = TempDir::new().unwrap();
    let output = run(again.path(), &["top", "--no-save", &heap]);
    assert!(output.status.success() && !text(&output.stderr).contains("saved"));
    assert_eq!(fs::read_dir(again.path()).unwrap().count(), 0);
}

#[test]
fn both_sides_are_recorded_in_turns() {
    let (server, folder) = (go_server(), TempDir::new().unwrap());
    let [old, new] = ["/old/profile", "/new/profile"].map(|path| server.url(path));
    let output = run(folder.path(), &["diff", "-f", "json", "--runs", "3", &old, &new]);
    assert_ne!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["old"]["profiles"], &report["new"]["profiles"]), (&3.into(), &3.into()));
    assert_eq!(server.paths(), ["/old/profile", "/new/profile"].repeat(3));
    let said = refused(folder.path(), &["diff", "--runs", "3", "old.pb.gz", &new]);
    assert!(said.contains("old.pb.gz is a file"), "{said}");
}

/// Nothing is fetched unless an address is given: without one, no command opens a socket.
#[cfg(target_os = "linux")]
#[test]
#[needs(Strace)]
fn nothing_is_fetched_without_an_address() {
    let folder = TempDir::new().unwrap();
    for (name, file) in [("cpu", "go-cpu"), ("old", "go-cpu-old"), ("new", "go-cpu-new")] {
        fs::copy(fixture(&format!("pprof/{file}.pb.gz")), folder.path().join(format!("{name}.pb.gz")))
            .unwrap();
    }
    for line in [
        "top cpu.pb.gz",
        "tree cpu.pb.gz",
        "focus Ledger cpu.pb.gz",
        "hot cpu.pb.gz",
        "graph -o graph.dot cpu.pb.gz",
        "flame flame.svg cpu.pb.gz",
        "flame flame.html --base old.pb.gz new.pb.gz",
        "source Discounted cpu.pb.gz",
        "labels cpu.pb.gz",
        "traces cpu.pb.gz",
        "types",
        "info cpu.pb.gz",
        "diff old.pb.gz new.pb.gz",
        "diff --by-side old.pb.gz new.pb.gz",
        "convert -o cpu.folded cpu.pb.gz",
        "completions bash",
        "man man",
        "help servers",
        "top --seconds 5 --tls-insecure --header A:b cpu.pb.gz",
    ] {
        // A proxy, an address of a server and a password are no reason to connect.
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-e", "trace=socket,connect", env!("CARGO_BIN_EXE_prof")]);
        traced.args(line.split(' ')).current_dir(folder.path()).env("HOME", folder.path());
        for name in ["https_proxy", "http_proxy", "DEBUGINFOD_PROXY"] {
            traced.env(name, "http://127.0.0.1:1");
        }
        let output = traced.env_remove("PROF_PROFILE").env_remove("DEBUGINFOD_URLS").output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{line}: {said}");
        assert!(!said.contains("socket(") && !said.contains("connect("), "{line}: {said}");
    }
    assert!(!folder.path().join(".cache").exists());
}

#[test]
fn pyroscope_is_asked_for_a_merged_profile() {
    let folder = TempDir::new().unwrap();
    let server = Server::new(|asked| match (asked.method.as_str(), asked.path.split('?').next().unwrap()) {
        ("POST", "/querier.v1.QuerierService/SelectMergeProfile")
            if asked.body.windows(5).any(|part| part == b"empty") =>
        {
            answer("200 OK", "application/proto", b"")
        }
        ("POST", "/querier.v1.QuerierService/SelectMergeProfile") => profile("pprof/go-cpu.pb.gz"),
        ("GET", "/render") => profile("pprof/go-heap.pb.gz"),
        _ => answer("404 Not Found", "text/plain", b"404 page not found"),
    });
    let page = |query: &str| server.url(&format!("/?query={query}&from=1700000000&until=1700000600"));
    let typed = page("process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}");
    let output = run(folder.path(), &["top", "-f", "json", "--header", "X-Scope-OrgID: team", &typed]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let asked = server.asked().pop().unwrap();
    assert_eq!(asked.headers["content-type"], "application/proto");
    assert_eq!(asked.headers["x-scope-orgid"], "team");
    // The message, byte by byte: field 1 is the type, 2 the labels, 3 and 4 the ends of the range in milliseconds.
    let mut message = vec![0x0a, 43];
    message.extend(b"process_cpu:cpu:nanoseconds:cpu:nanoseconds");
    message.extend([0x12, 20]);
    message.extend(b"{service_name=\"api\"}");
    message.push(0x18);
    message.extend(varint(1_700_000_000_000));
    message.push(0x20);
    message.extend(varint(1_700_000_600_000));
    assert_eq!(asked.body, message);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["inputs"][0], serde_json::Value::from(typed.clone()));

    let said = refused(folder.path(), &["top", &page("empty:cpu:nanoseconds:cpu:nanoseconds{}")]);
    assert!(said.contains("no profile matches in this time range"), "{said}");
    // Servers before version 1.0 have other names for profiles, and another path.
    let output = run(folder.path(), &["info", &page("app.cpu{}")]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(server.paths().last().unwrap().starts_with("/render?query=app%2Ecpu%7B%7D&from=1700000000"));
    let said = refused(folder.path(), &["top", "--seconds", "5", &typed]);
    assert!(said.contains("--seconds does not apply"), "{said}");
}

/// A number as protobuf writes it.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

#[test]
fn parca_is_asked_for_a_merged_profile() {
    let folder = TempDir::new().unwrap();
    let body = STANDARD.encode(fs::read(fixture("pprof/go-heap.pb.gz")).unwrap());
    let server = Server::new(move |asked| {
        if !asked.path.starts_with("/parca/api/profiles/query?") {
            return answer("404 Not Found", "text/plain", b"");
        }
        // Older servers know the format by another name.
        if asked.path.contains("report_type=REPORT_TYPE_PPROF&") || asked.path.ends_with("REPORT_TYPE_PPROF")
        {
            return answer("400 Bad Request", "application/json", b"{\"message\": \"not valid\"}");
        }
        let empty = asked.path.contains("nothing");
        let body = if empty { "" } else { &body };
        answer(
            "200 OK",
            "application/json",
            format!("{{\"total\": \"1\", \"pprof\": \"{body}\"}}").as_bytes(),
        )
    });
    let page = |text: &str| {
        server.url(&format!(
            "/parca/?expression_a={text}&time_selection_a=relative:minute|15&from_a=1700000000000&to_a=1700000600000"
        ))
    };
    let output = run(
        folder.path(),
        &[
            "top",
            "-m",
            "inuse_space",
            &page("memory%3Ainuse_space%3Abytes%3Aspace%3Abytes%7Bjob%3D%22x%22%7D"),
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let asked = server.paths().pop().unwrap();
    assert!(asked.contains("mode=MODE_MERGE"), "{asked}");
    assert!(
        asked.contains("merge.query=memory%3Ainuse%5Fspace%3Abytes%3Aspace%3Abytes%7Bjob%3D%22x%22%7D"),
        "{asked}"
    );
    assert!(
        asked.contains("merge.start=2023%2D11%2D14T22%3A13%3A20Z&merge.end=2023%2D11%2D14T22%3A23%3A20Z"),
        "{asked}"
    );
    let said = refused(folder.path(), &["top", &page("nothing")]);
    assert!(said.contains("no profile matches in this time range"), "{said}");
}

/// The profiles that a server is said to offer, by name and address.
fn offered(folder: &Path, address: &str) -> (String, Vec<(String, String)>, Vec<String>) {
    let output = run(folder, &["info", "-f", "json", address]);
    assert_eq!(output.status.code(), Some(0), "{address}: {}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "prof.server.v1");
    let string = |value: &serde_json::Value| value.as_str().unwrap().to_string();
    let profiles = report["profiles"].as_array().unwrap().iter();
    let labels = report["labels"].as_array().unwrap().iter().map(string);
    let profiles = profiles.map(|profile| (string(&profile["name"]), string(&profile["address"])));
    (string(&report["server"]), profiles.collect(), labels.collect())
}

/// Answers in the shapes of `querier.v1.QuerierService` and `parca.query.v1alpha1.QueryService`, and of Pyroscope before
/// version 1.0. Each address that is offered can be fetched.
#[test]
fn info_lists_what_a_server_offers() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let missing = || answer("404 Not Found", "text/plain", b"404 page not found\n");
    let json = |text: &str| answer("200 OK", "application/json", text.as_bytes());
    let own = b"<html><a href='heap?debug=1'>heap</a><a href='profile?debug=1'>profile</a>";

    let pyroscope = Server::new(move |asked| match asked.path.as_str() {
        "/querier.v1.QuerierService/ProfileTypes" => {
            let range: serde_json::Value = serde_json::from_slice(&asked.body).unwrap();
            assert_eq!(range["end"].as_i64().unwrap() - range["start"].as_i64().unwrap(), 3_600_000);
            json(
                r#"{"profileTypes":[{"ID":"process_cpu:cpu:nanoseconds:cpu:nanoseconds","name":"process_cpu","sampleType":"cpu"}]}"#,
            )
        }
        "/querier.v1.QuerierService/LabelNames" => json(r#"{"names":["pod","service_name"]}"#),
        "/querier.v1.QuerierService/SelectMergeProfile" => profile("pprof/go-cpu.pb.gz"),
        // The database is a Go program itself.
        "/debug/pprof/" => answer("200 OK", "text/html", own),
        _ => missing(),
    });
    let (server, profiles, labels) = offered(here, &pyroscope.url("/"));
    let page = "/?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{}&from=now-1h&until=now";
    let name = "process_cpu:cpu:nanoseconds:cpu:nanoseconds".to_string();
    assert_eq!((&*server, profiles), ("Pyroscope", vec![(name, pyroscope.url(page))]));
    assert_eq!(labels, ["pod", "service_name"]);
    let output = run(here, &["top", &pyroscope.url(page)]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = run(here, &["info", &pyroscope.url("")]);
    let shown = text(&output.stdout);
    assert!(shown.contains("Pyroscope") && shown.contains("labels: pod, service_name"), "{shown}");
    assert!(shown.contains(&format!("prof top '{}'", pyroscope.url(page))), "{shown}");

    let old = Server::new(move |asked| match asked.path.as_str() {
        "/label-values?label=__name__" => json(r#"["api.cpu","api.alloc_space"]"#),
        _ => missing(),
    });
    let (server, profiles, _) = offered(here, &old.url(""));
    let name = "/?query=api.cpu{}&from=now-1h&until=now";
    assert_eq!((&*server, &profiles[0]), ("Pyroscope", &("api.cpu".to_string(), old.url(name))));

    let parca = Server::new(move |asked| match asked.path.as_str() {
        "/parca/api/profiles/types" => json(
            r#"{"types":[{"name":"process_cpu","sampleType":"cpu","sampleUnit":"nanoseconds","periodType":"cpu","periodUnit":"nanoseconds","delta":true},
               {"name":"memory","sampleType":"inuse_space","sampleUnit":"bytes","periodType":"space","periodUnit":"bytes"}]}"#,
        ),
        "/parca/api/profiles/labels" => json(r#"{"labelNames":["job"],"warnings":[]}"#),
        // A page for people at every other path.
        _ => answer("200 OK", "text/html", b"<!doctype html><title>Parca</title>"),
    });
    let (server, profiles, labels) = offered(here, &parca.url("/parca/"));
    let names: Vec<&str> = profiles.iter().map(|(name, _)| &**name).collect();
    let types = ["process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta", "memory:inuse_space:bytes:space:bytes"];
    assert_eq!((&*server, &*names, &*labels), ("Parca", &types[..], &["job".to_string()][..]));
    let page = format!("/parca/?expression_a={}{{}}&from_a=now-1h&to_a=now", types[0]);
    assert_eq!(profiles[0].1, parca.url(&page));

    // Nothing is recorded, unless --seconds says for how long.
    let go = go_server();
    let (server, profiles, _) = offered(here, &go.url("").replace("http://", "http://me:secret@"));
    let heap = ("heap".to_string(), go.url("/debug/pprof/heap"));
    assert_eq!((&*server, &profiles[0]), ("Go", &heap));
    assert!(go.paths().iter().all(|path| !path.contains("profile?") && !path.ends_with("/profile")));
    run(here, &["info", "--seconds", "1", &go.url("")]);
    assert_eq!(go.paths().last().unwrap(), "/debug/pprof/profile?seconds=1");

    let other = Server::new(move |_| missing());
    let said = refused(here, &["info", &other.url("/")]);
    assert!(said.contains("no profiles are served at") && said.contains("Pyroscope and Parca"), "{said}");
    let closed = Server::new(|_| {
        answer("401 Unauthorized", "application/json", br#"{"code":"unauthenticated","message":"no org id"}"#)
    });
    let said = refused(here, &["info", &closed.url("/")]);
    assert!(said.contains("401 Unauthorized: no org id") && !said.contains("code"), "{said}");
}

#[test]
fn pages_of_grafana_and_of_older_databases_are_understood() {
    let folder = TempDir::new().unwrap();
    let server = Server::new(|asked| match asked.path.split('?').next().unwrap() {
        "/g/api/datasources/proxy/uid/pyro%2Duid/querier.v1.QuerierService/SelectMergeProfile"
        | "/querier.v1.QuerierService/SelectMergeProfile" => profile("pprof/go-cpu.pb.gz"),
        "/pyroscope/render" => profile("pprof/go-heap.pb.gz"),
        _ => answer("404 Not Found", "text/plain", b"404 page not found"),
    });
    let kind = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
    let range = "from=2023-11-14T22:13:20.000Z&to=2023-11-14T22:23:20.000Z";
    let page = server.url(&format!(
        "/g/a/grafana-pyroscope-app/explore?explorationType=flame-graph&var-serviceName=api&var-profileMetricId={kind}\
         &var-dataSource=pyro-uid&var-filters=env%7C%3D%7Cprod&var-filters=pod%7C%21~%7Ca%5C.b&var-spanSelector=undefined&{range}"
    ));
    let output = run(folder.path(), &["top", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let labels = r#"{service_name="api", env="prod", pod!~"a\\.b"}"#;
    let mut message = vec![0x0a, 43];
    message.extend(kind.as_bytes());
    message.extend([0x12, labels.len() as u8]);
    message.extend(labels.as_bytes());
    message.push(0x18);
    message.extend(varint(1_700_000_000_000));
    message.push(0x20);
    message.extend(varint(1_700_000_600_000));
    assert_eq!(server.asked().pop().unwrap().body, message);
    // The page of Pyroscope itself has the same parameters, without a data source.
    let page = server.url(&format!("/explore?var-serviceName=api&var-profileMetricId={kind}&{range}"));
    let output = run(folder.path(), &["top", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // The documented address of the older interface.
    let page = server.url("/pyroscope/render?query=app.cpu%7B%7D&from=now-1h&until=now&format=json");
    let output = run(folder.path(), &["top", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let asked = server.paths().pop().unwrap();
    assert!(asked.starts_with("/pyroscope/render?query=app%2Ecpu%7B%7D") && asked.ends_with("format=pprof"));

    for (path, message) in [
        (format!("/a/grafana-pyroscope-app/explore?var-profileMetricId={kind}&{range}"), "data source"),
        (
            format!(
                "/a/grafana-pyroscope-app/explore?explorationType=diff-flame-graph&var-profileMetricId={kind}"
            ),
            "compares two",
        ),
        ("/comparison?leftQuery=a&rightQuery=b".to_string(), "compares two"),
        (format!("/?var-profileMetricId={kind}&var-spanSelector=9a51"), "spans of a trace"),
        (format!("/?var-profileMetricId={kind}&var-filters=a%7Cis%7Cb"), "filters with is"),
    ] {
        let said = refused(folder.path(), &["top", &server.url(&path)]);
        assert!(said.contains(message), "{path}: {said}");
    }
}

/// Counts what arrives from servers.
#[derive(Default)]
struct Watch {
    asked: AtomicU64,
    bytes: AtomicU64,
    over: AtomicU64,
}

impl prof::load::Observer for Watch {
    fn recording(&self, _: Duration) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    fn fetched(&self, count: u64) {
        self.bytes.fetch_add(count, Ordering::Relaxed);
    }

    fn fetch_over(&self) {
        self.over.fetch_add(1, Ordering::Relaxed);
    }
}

/// Names for addresses come from servers of debug information only if the user names some; see `fixtures/README.md` for
/// `sorting`.
#[test]
fn debug_information_is_fetched_by_build_id() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let debug = fs::read(fixture("symbols/sorting.debug")).unwrap();
    let id = prof::binary::Binary::parse(&*debug).unwrap().build_id().unwrap().to_string();
    let path = format!("/buildid/{id}/debuginfo");
    let (known, sent, program) = (path.clone(), debug.clone(), format!("/buildid/{id}/executable"));
    let server = Server::new(move |asked| {
        if asked.path == known {
            return answer("200 OK", "application/octet-stream", &sent);
        }
        if asked.path == program {
            return answer(
                "200 OK",
                "application/octet-stream",
                &fs::read(fixture("symbols/sorting")).unwrap(),
            );
        }
        answer("404 Not Found", "text/plain", b"not found")
    });
    let recording = fixture("symbols/sorting.perf.data").display().to_string();
    let top = |servers: &str, more: &[&str]| {
        let mut command = prof(here, &[&["top", &recording][..], more].concat());
        command.env("HOME", here).env("XDG_CACHE_HOME", here.join("cache")).env("DEBUGINFOD_URLS", servers);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        (text(&output.stdout).contains("sort_some"), text(&output.stderr))
    };
    let times = || server.paths().into_iter().filter(|asked| *asked == path).count();
    assert!(!top("", &[]).0);
    assert!(!top(&server.url(""), &["--symbolize", "never"]).0);
    assert!(server.paths().is_empty());

    // The first server does not answer. Headers are for servers of profiles.
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let servers = format!("http://{closed} {}/", server.url(""));
    let (named, said) = top(&servers, &["--header", "Authorization: Bearer token"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        named && said.contains(&format!("no debug information from http://{closed}: connection refused")),
        "{said}"
    );
    assert!(said.contains(&format!("the debuginfo of build {id} is from")), "{said}");
    assert!(server.asked().iter().all(|asked| !asked.headers.contains_key("authorization")));
    assert_eq!(times(), 1);
    let kept = here.join("cache/debuginfod_client").join(&id);
    assert!(fs::read(kept.join("debuginfo")).unwrap() == debug);
    assert_eq!(fs::read_dir(&kept).unwrap().count(), 2);
    // From now on, it is in the cache.
    assert!(top(&server.url(""), &[]).0);
    assert_eq!(times(), 1);

    // A server can also be named as an option.
    fs::remove_dir_all(&kept).unwrap();
    assert!(top("", &["--debuginfod", &server.url("")]).0);
    assert_eq!(times(), 2);

    // Whoever watches is told of every byte.
    let watch = Arc::new(Watch::default());
    let mut request = prof::load::Request::new([recording.as_str()]);
    let network = prof::source::Network::default();
    let servers = vec![server.url("")];
    request.symbols.debuginfod =
        Some(prof::load::Debuginfod::new(servers, here.join("other-cache"), network));
    request.observer = watch.clone();
    request.load().unwrap();
    assert!(watch.bytes.load(Ordering::Relaxed) >= debug.len() as u64);
    assert!((1..watch.over.load(Ordering::Relaxed)).contains(&watch.asked.load(Ordering::Relaxed)));

    // What belongs to another build is neither used nor kept.
    fs::remove_dir_all(&kept).unwrap();
    let other = Server::new(|_| {
        answer("200 OK", "application/octet-stream", &fs::read(fixture("symbols/shapes")).unwrap())
    });
    let (named, said) = top(&other.url(""), &[]);
    assert!(
        !named
            && said.split_whitespace().collect::<Vec<_>>().join(" ").contains("is not a file of that build"),
        "{said}"
    );
    assert!(!kept.exists());

    let page = Server::new(|_| answer("200 OK", "text/html", b"<html>Welcome"));
    let (named, said) = top(&page.url(""), &[]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!named && said.contains("answers with a web page, not with debug information"), "{said}");
}

/// A command that must not outlive the test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[needs(Go)]
fn a_real_go_program_is_profiled() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    fs::write(
        here.join("main.go"),
        "package main\n\nimport (\n\t\"fmt\"\n\t\"net\"\n\t\"net/http\"\n\t_ \"net/http/pprof\"\n)\n\n//go:noinline\nfunc burn(n int) int {\n\tsum := 0\n\tfor i := 0; i < n; i++ {\n\t\tsum += i * i % 7\n\t}\n\treturn sum\n}\n\n\
         func main() {\n\tgo func() {\n\t\tfor {\n\t\t\tburn(1 << 20)\n\t\t}\n\t}()\n\tlistener, err := net.Listen(\"tcp\", \"127.0.0.1:0\")\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tfmt.Println(listener.Addr())\n\thttp.Serve(listener, nil)\n}\n",
    )
    .unwrap();
    let mut build = Command::new("go");
    build.args(["build", "-o", "program", "main.go"]).current_dir(here).env("GO111MODULE", "off");
    assert!(build.status().unwrap().success());
    let mut program = Running(Command::new(here.join("program")).stdout(Stdio::piped()).spawn().unwrap());
    let mut address = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = format!("http://{}", address.trim());
    let output = run(here, &["top", "--seconds", "1", "--fold", "-n", "1", &address]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("main.burn"), "{}", text(&output.stdout));
    for profile in
        ["heap", "allocs", "goroutine", "threadcreate", "block", "mutex", "heap?debug=1", "goroutine?debug=2"]
    {
        let output = run(here, &["info", &format!("{address}/debug/pprof/{profile}")]);
        assert_eq!(output.status.code(), Some(0), "{profile}: {}", text(&output.stderr));
    }
    let (server, profiles, _) = offered(here, &address);
    let names: Vec<&str> = profiles.iter().map(|(name, _)| &**name).collect();
    assert_eq!(server, "Go");
    for name in ["allocs", "block", "goroutine", "heap", "mutex", "profile", "threadcreate"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let said = refused(here, &["top", &format!("{address}/debug/pprof/nosuch")]);
    assert!(said.contains("it offers") && said.contains("goroutine"), "{said}");
}

/// The server of the recipe in docs/servers.md.
#[test]
#[needs(Node)]
fn a_real_node_program_is_profiled() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/servers.md")).unwrap();
    let recipe = page.split("```js\n").nth(1).unwrap().split("```").next().unwrap();
    let listen = "listen(6060, '127.0.0.1')";
    assert!(recipe.contains(listen));
    let recipe =
        recipe.replace(listen, "listen(0, '127.0.0.1', function () { console.log(this.address().port); })");
    let work = "function burn() { const end = Date.now() + 40; while (Date.now() < end); }\nsetInterval(burn, 50);\n";
    fs::write(here.join("app.js"), recipe + work).unwrap();
    let mut program = Command::new("node");
    program.arg("app.js").current_dir(here).stdout(Stdio::piped());
    let mut program = Running(program.spawn().unwrap());
    let mut port = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("http://127.0.0.1:{}/profile", port.trim());
    let output = run(here, &["top", "--seconds", "1", "--sort", "total", &url]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("burn"), "{}", text(&output.stdout));
}

/// A recording that is interrupted leaves nothing on the disk, and ends as an interrupted program does.
#[cfg(unix)]
#[test]
fn an_interrupted_recording_leaves_nothing() {
    use std::os::unix::process::ExitStatusExt;

    let folder = TempDir::new().unwrap();
    let server = Server::slow(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
        thread::sleep(Duration::from_secs(30));
    });
    let url = server.url("/debug/pprof/profile");
    for words in [&["flame", "out.html"][..], &["convert", "-o", "out.pb.gz"], &["top"]] {
        let mut command = prof(folder.path(), &[words, &[&url]].concat());
        command.env("HOME", folder.path()).env("XDG_CACHE_HOME", folder.path().join("cache"));
        let asked = server.asked().len();
        let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        while server.asked().len() == asked && running.0.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(10));
        }
        let id = running.0.id().to_string();
        // Shells start background jobs with interrupts ignored, so those cannot be used in all test runs.
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let status = running.0.wait().unwrap();
        let mut errors = String::new();
        running.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(status.signal() == Some(15) || status.code() == Some(130), "{words:?}: {status}: {errors}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{words:?}");
    }
}

#[test]
#[needs(Openssl)]
fn encrypted_servers_must_be_trusted() {
    let folder = TempDir::new().unwrap();
    let here = folder.path();
    let openssl = |line: &str| {
        let mut command = Command::new("openssl");
        let status = command
            .args(line.split(' '))
            .current_dir(here)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "openssl {line}");
    };
    openssl(
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority -addext basicConstraints=critical,CA:TRUE",
    );
    fs::write(here.join("ext"), "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
        .unwrap();
    for name in ["server", "client"] {
        openssl(&format!("req -newkey rsa:2048 -nodes -keyout {name}.key -out {name}.csr -subj /CN={name}"));
        openssl(&format!(
            "x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out {name}.pem -days 2 -extfile ext"
        ));
    }
    fs::copy(fixture("pprof/go-cpu.pb.gz"), here.join("cpu.pb.gz")).unwrap();
    let serve_as = |certificate: &str, key: &str, more: &[&str]| {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("openssl");
        command.args(["s_server", "-HTTP", "-cert", certificate, "-key", key, "-accept", &port.to_string()]);
        let command = command
            .args(more)
            .current_dir(here)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let running = Running(command.spawn().unwrap());
        let mut tries = 0;
        while TcpStream::connect(("127.0.0.1", port)).is_err() && tries < 200 {
            thread::sleep(Duration::from_millis(50));
            tries += 1;
        }
        (running, format!("https://127.0.0.1:{port}/cpu.pb.gz"))
    };
    let serve = |more: &[&str]| serve_as("server.pem", "server.key", more);
    // The file that `openssl s_server -HTTP` sends is the whole answer, with its head.
    let file = fs::read(here.join("cpu.pb.gz")).unwrap();
    fs::write(here.join("cpu.pb.gz"), answer("200 OK", "application/octet-stream", &file)).unwrap();
    let (_server, url) = serve(&[]);
    let said = refused(here, &["top", "--no-save", &url]);
    assert!(said.contains("--tls-ca"), "{said}");
    for trusted in [&["--tls-ca", "ca.pem"][..], &["--tls-insecure"]] {
        let output = run(here, &[&["top", "--no-save"][..], trusted, &[&url]].concat());
        assert_eq!(output.status.code(), Some(0), "{trusted:?}: {}", text(&output.stderr));
    }
    let said = refused(here, &["top", "--tls-ca", "server.key", &url]);
    assert!(said.contains("server.key: no certificate in PEM format"), "{said}");

    // A server whose certificate is its own authority.
    let (_own, url) = serve_as("ca.pem", "ca.key", &[]);
    for trust in [&[][..], &["--tls-ca", "ca.pem"]] {
        let said = refused(here, &[&["top", "--no-save"][..], trust, &[&url]].concat());
        assert!(said.contains("certificate of the server is that of an authority"), "{said}");
    }
    let output = run(here, &["top", "--no-save", "--tls-insecure", &url]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    let (_mutual, url) = serve(&["-Verify", "1", "-CAfile", "ca.pem", "-verify_return_error"]);
    let said = refused(here, &["top", "--no-save", "--tls-ca", "ca.pem", &url]);
    assert!(said.contains("the server wants a certificate of its clients"), "{said}");
    let own = [
        "top",
        "--no-save",
        "--tls-ca",
        "ca.pem",
        "--tls-cert",
        "client.pem",
        "--tls-key",
        "client.key",
        &url,
    ];
    let output = run(here, &own);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));

    fs::write(here.join("bad.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        .unwrap();
    for (certificate, key, reason) in [
        ("client.pem", "server.key", "server.key: the key is not that of client.pem"),
        ("bad.pem", "client.key", "bad.pem: the certificate cannot be used: BadEncoding"),
    ] {
        let said =
            refused(here, &["top", "--tls-ca", "ca.pem", "--tls-cert", certificate, "--tls-key", key, &url]);
        assert!(said.contains(reason), "{said}");
    }
    // Whatever it is asked, this server answers without encryption.
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", plain.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in plain.incoming().map_while(Result::ok) {
            let _ = stream
                .read(&mut [0; 4096])
                .and_then(|_| stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
        }
    });
    let said = refused(here, &["top", &url]);
    assert!(said.contains("the server does not encrypt its answer") && said.contains("http://"), "{said}");
}
