//! `prof report`: its findings add up, and the command of each shows its number.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{files, fixture, prof};

/// The page of `--guide` is short, and everything that it names exists.
#[test]
fn the_guide_names_what_exists() {
    let folder = TempDir::new().unwrap();
    let printed = |words: &[&str]| -> String {
        let output = prof(folder.path(), words).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let guide = printed(&["report", "--guide"]);
    assert!(guide.lines().count() <= 100 && guide.lines().all(|line| line.chars().count() <= 120));
    let mut named = 0;
    for line in guide.lines() {
        for (_, after) in
            line.match_indices("prof ").map(|(place, word)| (place, &line[place + word.len()..]))
        {
            let word = after.split([' ', ':', '\'']).next().unwrap();
            if word.chars().all(|c| c.is_ascii_lowercase())
                && after.starts_with(word)
                && line.contains("FILE")
            {
                printed(&[word, "--help"]);
                named += 1;
            }
        }
    }
    assert!(named > 12, "{named}");
    let all: String = ["top", "tree", "report", "diff"].map(|command| printed(&[command, "--help"])).concat();
    for option in guide.split([' ', '\'', '(', ')', '\n']).filter(|word| word.starts_with("--")) {
        assert!(all.contains(option.trim_end_matches(['.', ',', ':'])), "{option}");
    }
}

/// Profiles of all formats in `fixtures/`.
fn profiles() -> Vec<PathBuf> {
    let others = ["diff", "programs", "sourcemaps", "symbols", "trend"];
    let folders = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let folders =
        folders.filter(|folder| folder.is_dir() && !others.iter().any(|name| folder.ends_with(name)));
    let mut all: Vec<PathBuf> = folders.flat_map(|folder| files(&folder)).collect();
    all.sort();
    all
}

fn json(output: &[u8]) -> Value {
    serde_json::from_slice(output)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(output)))
}

/// The report on a file, in JSON; `None` for files that are no profiles.
fn report(folder: &Path, arguments: &[&str]) -> Option<Value> {
    let output = prof(folder, &[&["report", "--format", "json"], arguments].concat()).output().unwrap();
    output.status.success().then(|| json(&output.stdout))
}

/// What a command prints as JSON, run as a shell would run it.
fn run(folder: &Path, command: &str) -> Value {
    let line = format!("prof() {{ \"$PROF\" \"$@\"; }}; {command}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).env("PROF", env!("CARGO_BIN_EXE_prof")).env_remove("PROF_PROFILE");
    let output = shell.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    json(&output.stdout)
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("no integer: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The numbers in the answer of a command that may be the evidence of a finding.
fn shown(command: &str, rule: &str, answer: &Value) -> i64 {
    let word = command.split(' ').nth(1).unwrap();
    match (word, rule) {
        ("source", _) => list(&answer["functions"]).iter().map(|function| number(&function["self"])).sum(),
        ("hot", _) => number(&list(&answer["sequences"]).last().unwrap()["total"]),
        ("focus", "recursion") => {
            let itself = list(&answer["callers"]).iter().find(|caller| caller["kind"] == "itself");
            number(&itself.unwrap()["value"])
        }
        ("focus", "heavy-leaf" | "library") => number(&answer["self"]),
        ("focus", _) => number(&answer["total"]),
        _ => panic!("{command}"),
    }
}

/// Checks the report on a file, and returns how many findings it has.
fn check(folder: &Path, arguments: &[&str]) -> Option<usize> {
    let report = report(folder, arguments)?;
    let findings = list(&report["findings"]);
    let sum: i64 = findings.iter().map(|finding| number(&finding["value"])).sum();
    assert_eq!(sum + number(&report["rest"]["value"]), number(&report["shown"]), "{arguments:?}");
    assert!(!findings.is_empty() || report["verdict"].is_string(), "{arguments:?}: {report}");
    for finding in findings {
        let command = finding["command"].as_str().unwrap();
        let (name, rest) = command.strip_prefix("prof ").unwrap().split_once(' ').unwrap();
        let answer = run(folder, &format!("prof {name} --format json {rest}"));
        let rule = finding["rule"].as_str().unwrap();
        assert_eq!(shown(command, rule, &answer), number(&finding["measured"]), "{command}: {finding}");
        if !finding["old"].is_null() && name == "focus" && rule != "recursion" {
            let key = if ["heavy-leaf", "library"].contains(&rule) { "self" } else { "total" };
            assert_eq!(number(&answer["old"][key]), number(&finding["old"]), "{command}: {finding}");
        }
    }
    for remark in list(&report["remarks"]) {
        let command = remark["command"].as_str().unwrap();
        let answer = run(folder, &command.replacen("prof labels", "prof labels --format json", 1));
        let mut values = list(&answer["keys"]).iter().flat_map(|key| list(&key["values"]));
        assert!(values.any(|value| value["total"] == remark["value"]), "{command}: {remark}");
    }
    Some(findings.len())
}

#[test]
fn commands_show_the_numbers_of_all_fixtures() {
    let folder = TempDir::new().unwrap();
    let (mut profiles_read, mut findings) = (0, 0);
    for file in profiles() {
        if let Some(count) = check(folder.path(), &[file.to_str().unwrap()]) {
            profiles_read += 1;
            findings += count;
        }
    }
    assert!(profiles_read > 40 && findings > 150, "{profiles_read} profiles, {findings} findings");
}

#[test]
fn commands_repeat_filters_metrics_and_the_old_side() {
    let folder = fixture("pprof");
    for arguments in [
        "-m samples --hide-stacks @idle --label endpoint=/orders go-cpu.pb.gz",
        "--show-from main -F --collapse-recursion go-cpu.pb.gz",
        "--hide-frames runtime\\. --no-inlines go-cpu.pb.gz",
        "--base go-cpu-old.pb.gz go-cpu-new.pb.gz",
        "--base go-cpu-old.pb.gz --normalize total --match exact go-cpu-new.pb.gz",
        "--merge mean --seed 7 go-cpu-old.pb.gz go-cpu-new.pb.gz",
        "-m alloc_space go-heap.pb.gz",
        "-m inuse_objects go-heap.pb.gz",
        "-m contentions go-mutex.pb.gz",
        "--thread . ../jfr/java.jfr",
        "--input-format collapsed ../collapsed/python.folded",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        assert!(check(&folder, &arguments).unwrap() > 0, "{arguments:?}");
    }
}

/// Names of functions that a shell or an option could mistake for something else.
#[test]
fn commands_are_quoted() {
    let folder = TempDir::new().unwrap();
    let stacks = "main;it's $HOME `x` 30\nmain;-n 20\nmain;a b\\c\"d* 20\nmain;x[].(*y) 30\n";
    std::fs::write(folder.path().join("it's.folded"), stacks).unwrap();
    assert_eq!(check(folder.path(), &["it's.folded"]), Some(4));
    std::fs::write(folder.path().join("-q"), "main;work 5\n").unwrap();
    assert_eq!(check(folder.path(), &["--", "-q"]), Some(1));
}

fn text(arguments: &[&str]) -> String {
    let output = prof(&fixture(""), &[&["report"], arguments].concat()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_budget_is_kept_and_what_is_left_out_is_reported() {
    for budget in [1, 100, 200, 400, 800] {
        let text = text(&["--budget", &budget.to_string(), "pprof/go-cpu.pb.gz"]);
        let findings = text.lines().filter(|line| line.contains("prof ") && line.starts_with("    ")).count();
        assert!(text.chars().count() <= budget * 4 || findings == 1, "{budget}: {text}");
        assert!(
            text.contains(" 1   34.9%  example.com/shop/catalog.(*Catalog).Discounted"),
            "{budget}: {text}"
        );
        assert!(text.contains("more finding") || budget == 800, "{budget}: {text}");
    }
    let all = text(&["--budget", "0", "pprof/rust-cpu.pb.gz"]);
    assert!(!all.contains("more finding"), "{all}");
    let shorter = text(&["pprof/rust-cpu.pb.gz"]);
    assert!(shorter.lines().count() <= 40, "{shorter}");
}

#[test]
fn json_says_what_the_budget_left_out() {
    let folder = fixture("pprof");
    let report = report(&folder, &["--budget", "600", "go-cpu.pb.gz"]).unwrap();
    let findings = list(&report["findings"]);
    let sum: i64 = findings.iter().map(|finding| number(&finding["value"])).sum();
    let whole = sum + number(&report["rest"]["value"]) + number(&report["elided"]);
    assert_eq!((whole, findings.is_empty()), (number(&report["shown"]), false));
    assert!(number(&report["elided_rows"]) > 0);
}

#[test]
fn the_old_share_is_shown() {
    let text = text(&["--base", "pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz"]);
    assert!(text.lines().any(|line| line.contains("(was ") || line.contains("; was ")), "{text}");
}
