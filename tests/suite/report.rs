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
        if !finding["old"].is_null() && name == "focus" {
            let key = if ["heavy-leaf", "library"].contains(&rule) { "self" } else { "total" };
            assert_eq!(number(&answer["old"][key]), number(&finding["old"]), "{command}: {finding}");
        }
    }
    for remark in list(&report["remarks"]) {
        let command = remark["command"].as_str().unwrap();
        if remark["rule"] == "small-objects" {
            let answer = run(folder, &command.replacen("prof focus", "prof focus --format json", 1));
            assert_eq!(answer["self"], remark["value"], "{command}: {remark}");
            continue;
        }
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
        "--wall ../jfr/java.jfr",
        "--wall -m wall ../jfr/java.jfr",
        "--wall --base ../jfr/java.jfr ../jfr/java.jfr",
        "--wall ../perf-script/lock.perf.txt.gz",
        "--latency ../perf-data/rust.perf.data",
        "--what-if Discounted=0.5 go-cpu.pb.gz",
        "--old go-cpu-old.pb.gz --new go-cpu-new.pb.gz",
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
            text.contains(" 1   35.3%  example.com/shop/catalog.(*Catalog).Discounted"),
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
fn in_markdown_findings_are_items_of_a_list_with_their_commands_as_code() {
    let text = text(&["-f", "markdown", "pprof/go-cpu.pb.gz"]);
    let item = "- 1: 35.3% example.com/shop/catalog.(\\*Catalog).Discounted does the work itself";
    let command =
        "\\\n  `prof source --fold 'example.com/shop/catalog.(*Catalog).Discounted' pprof/go-cpu.pb.gz`\n";
    assert!(text.contains(item) && text.contains(command), "{text}");
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

/// Threads waited 1.68 s for locks and 3.59 s parked, of 8.46 s; they are not called `wait`, and do no work there.
#[test]
fn recorded_waiting_is_no_work() {
    let report = report(&fixture("jfr"), &["--wall", "java.jfr"]).unwrap();
    let waits = |metric: &str| {
        let report = self::report(&fixture("jfr"), &["-m", metric, "java.jfr"]).unwrap();
        number(&report["total"])
    };
    let (lock, park) = (waits("lock_duration"), waits("park_duration"));
    let idle = (lock + park) as f64 / number(&report["total"]) as f64;
    assert!((report["recording"]["idle"].as_f64().unwrap() - idle).abs() < 0.006, "{report}");
    let book = |rule: &str| {
        let is_it = |finding: &&Value| finding["function"] == "Stock$Store.book" && finding["rule"] == rule;
        list(&report["findings"]).iter().find(is_it).map(|finding| number(&finding["value"]))
    };
    let shown = run(&fixture("jfr"), "prof focus -f json -m lock_duration 'Stock$Store.book' java.jfr");
    assert_eq!(book("waiting"), Some(number(&shown["total"])), "{report}");
    assert_eq!(book("heavy-leaf"), None, "{report}");
    let marked = prof(&fixture("jfr"), &["top", "--wall", "-f", "json", "java.jfr"]).output().unwrap();
    let rows = json(&marked.stdout);
    let row = list(&rows["rows"]).iter().find(|row| row["name"] == "Stock$Store.book").unwrap();
    assert_eq!(row["candidate"], false, "{row}");
    let names = text(&["--wall", "perf-script/lock.perf.txt.gz"]);
    assert!(names.contains("hold waits") && names.contains("waiter waits"), "{names}");
    assert!(!names.contains("__schedule does the work itself"), "{names}");
}

#[test]
fn latency_is_an_estimate_of_elapsed_time() {
    let text = text(&["--latency", "perf-data/rust.perf.data"]);
    assert!(text.contains("estimate: elapsed time ÷ 1."), "{text}");
    assert!(text.contains("no other thread became the bottleneck (95%: "), "{text}");
    assert!(!text.contains("ceiling: CPU time"), "{text}");
}

#[test]
fn shares_after_a_change_say_of_what_they_are() {
    let text = text(&["--what-if", "Discounted=0.5", "pprof/go-cpu.pb.gz"]);
    assert!(
        text.contains(
            "shares and ceilings are of the 5.96s that the change leaves, not of the 7.23s recorded"
        ),
        "{text}"
    );
}

/// The causes are those of `prof diff`, and come with its sentence and its command.
#[test]
fn a_comparison_begins_with_what_changed() {
    let folder = fixture("pprof");
    let words = ["--base", "go-cpu-old.pb.gz", "go-cpu-new.pb.gz"];
    let compared = report(&folder, &words).unwrap();
    let diff =
        prof(&folder, &["diff", "-f", "json", "go-cpu-old.pb.gz", "go-cpu-new.pb.gz"]).output().unwrap();
    let diff = json(&diff.stdout);
    let changes = &compared["changes"];
    assert_eq!(changes["verdict"], diff["verdict"]);
    assert_eq!(changes["growth"], diff["growth"]);
    assert_eq!(list(&changes["causes"]).len(), list(&diff["causes"]).len());
    for (cause, known) in list(&changes["causes"]).iter().zip(list(&diff["causes"])) {
        for key in ["cause", "function", "points", "explains", "ratio"] {
            assert_eq!(cause[key], known[key], "{key}");
        }
        let command = cause["command"].as_str().unwrap();
        run(&folder, &command.replacen("prof focus", "prof focus --format json", 1));
    }
    assert_eq!(changes["command"], "prof diff go-cpu-old.pb.gz go-cpu-new.pb.gz");
    let folder = fixture("");
    let output = prof(&folder, &["report", "--base", "pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("changed: ") && text.contains("\nnow:\n"), "{text}");
    let same = self::text(&["--base", "pprof/go-cpu.pb.gz", "pprof/go-cpu.pb.gz"]);
    assert!(same.contains("changed: "), "{same}");
}

/// A script that follows the command of what changed has to come to the same verdict.
#[test]
fn the_command_of_a_change_compares_in_the_same_way() {
    let folder = fixture("pprof");
    let sides = ["--base", "go-cpu-old.pb.gz", "go-cpu-new.pb.gz"];
    for (given, verdict) in [
        (&["--normalize", "per=1,3"][..], "improved"),
        // Views are not rescaled unless it is asked for; the test of what changed has another default.
        (&["--normalize", "none"], "regressed"),
        (&["--match", "exact", "--normalize", "total"], "inconclusive"),
        (&[], "inconclusive"),
    ] {
        let compared = report(&folder, &[given, &sides].concat()).unwrap();
        assert_eq!(compared["changes"]["verdict"], verdict, "{given:?}");
        let command = compared["changes"]["command"].as_str().unwrap();
        assert!(command.contains(&given.join(" ")), "{command}");
        let words: Vec<&str> = command.split(' ').skip(1).chain(["-f", "json"]).collect();
        let diff = json(&prof(&folder, &words).output().unwrap().stdout);
        assert_eq!(diff["verdict"], verdict, "{command}");
    }
}

#[test]
fn sides_may_have_several_runs() {
    let folder = fixture("pprof");
    let words = ["--old", "go-cpu-old.pb.gz", "go-cpu.pb.gz", "--new", "go-cpu-new.pb.gz"];
    let report = report(&folder, &words).unwrap();
    assert_eq!(
        report["changes"]["command"],
        "prof diff --old go-cpu-old.pb.gz go-cpu.pb.gz --new go-cpu-new.pb.gz"
    );
    let wrong = prof(&folder, &["report", "--old", "go-cpu-old.pb.gz"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}

/// A profile of memory says how many objects the bytes are in; both are counted by `prof top`.
#[test]
fn bytes_come_with_objects() {
    let folder = fixture("pprof");
    let report = report(&folder, &["-m", "alloc_space", "go-heap.pb.gz"]).unwrap();
    let mut checked = 0;
    for finding in list(&report["findings"]) {
        let details = list(&finding["details"]);
        let detail = details.iter().find_map(|text| text.as_str().filter(|text| text.contains(" object")));
        let Some(detail) = detail else { panic!("{finding}") };
        if finding["value"] != finding["measured"] {
            continue;
        }
        let command = finding["command"].as_str().unwrap().replace("-m alloc_space", "-m alloc_objects");
        let objects = run(&folder, &command.replacen("prof focus", "prof focus -f json", 1));
        let count = number(&objects["self"]).to_string();
        let digits: String = detail.split(' ').next().unwrap().replace(',', "");
        assert_eq!(digits, count, "{command}: {detail}");
        checked += 1;
    }
    assert!(checked > 0, "{report}");
}

/// Programs that were written to have one of the diagnoses of `docs/guide.md`, or none, in three languages.
#[test]
fn recorded_diagnoses() {
    for (language, ending) in [("go", "pb.gz"), ("python", "folded"), ("node", "cpuprofile.gz")] {
        for (kind, rule, function) in [
            ("leaf", Some("heavy-leaf"), "discount"),
            ("library", Some("library"), ""),
            ("parent", Some("light-parent"), "page"),
            ("sequence", Some("sequence"), ""),
            ("spread", None, ""),
        ] {
            let file = format!("{language}-{kind}.{ending}");
            let report = report(&fixture("diagnoses"), &[&file]).unwrap();
            let found: Vec<&str> =
                list(&report["findings"]).iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
            assert_eq!(found, rule.into_iter().collect::<Vec<_>>(), "{file}: {report}");
            let Some(finding) = list(&report["findings"]).first() else {
                let verdict = report["verdict"].as_str().unwrap();
                assert!(verdict.starts_with("the cost is spread"), "{file}: {verdict}");
                continue;
            };
            assert!(finding["says"].as_str().unwrap().contains(function), "{file}: {finding}");
            let share = number(&finding["value"]) as f64 / number(&report["shown"]) as f64;
            assert!((0.25..0.6).contains(&share), "{file}: {share}");
        }
    }
}

/// `prof.toml` adds to sets and makes others, for patterns and for the report; its budgets are left alone.
#[test]
fn sets_come_from_a_file() {
    let folder = TempDir::new().unwrap();
    std::fs::write(
        folder.path().join("cpu.folded"),
        "main;book;crate::vat::rate 30\nmain;load;arena_take 10\nmain;work 60\n",
    )
    .unwrap();
    let run = |words: &[&str], sets: Option<&str>| {
        let mut command = prof(folder.path(), words);
        let output = command.env("PROF_SETS", sets.unwrap_or_default()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        (output.status.code(), text)
    };
    let total = |set: &str, sets: Option<&str>| {
        let (code, text) = run(&["focus", set, "-f", "json", "cpu.folded"], sets);
        (code == Some(0)).then(|| number(&json(text.as_bytes())["total"]))
    };
    assert_eq!((total("@tax", None), total("@alloc", None)), (None, None));
    let sets = "[[budget]]\nfunction = \"@tax\"\ntotal = \"20 %\"\n\n[sets]\n\"@tax\" = [\"vat::\"]\n\"@alloc\" = [\"^arena_\"]\n";
    std::fs::write(folder.path().join("prof.toml"), sets).unwrap();
    assert_eq!(
        (total("@tax", None), total("@alloc", None), total("@memory", None)),
        (Some(30), Some(10), Some(10))
    );
    let (_, text) = run(&["report", "cpu.folded"], None);
    assert!(text.contains("10.0%  allocating and freeing memory, all in arena_take"), "{text}");
    assert!(text.contains("30.0%  functions of @tax, all in crate::vat::rate"), "{text}");
    // Budgets may use them.
    let (code, text) = run(&["diff", "--budget", "prof.toml", "--new", "cpu.folded"], None);
    assert!(code == Some(1) && text.contains("@tax"), "{code:?} {text}");
    std::fs::write(folder.path().join("other.toml"), "[sets]\n\"@tax\" = [\"^work$\"]\n").unwrap();
    assert_eq!(total("@tax", Some("other.toml")), Some(60));
    for (wrong, says) in [
        ("[sets]\n\"tax\" = [\"a\"]\n", "other.toml: the name of a set is an @"),
        ("[sets]\n\"@tax\" = [\"\"]\n", "other.toml: @tax: the pattern `` is empty"),
        ("[sets]\n\"@tax\" = 7\n", "other.toml: "),
    ] {
        std::fs::write(folder.path().join("other.toml"), wrong).unwrap();
        let (code, text) = run(&["top", "cpu.folded"], Some("other.toml"));
        assert!(code == Some(2) && text.contains(says), "{text}");
    }
    assert_eq!(run(&["top", "cpu.folded"], Some("missing.toml")).0, Some(2));
}

/// Each rule is explained in both tables of `docs/findings.md`, and the recordings there show it.
#[test]
fn examples_of_rules_are_true() {
    let page = include_str!("../../docs/findings.md");
    let reasons = page.split("## Reasons and examples").nth(1).unwrap();
    let rules = prof::findings::RULES.iter().map(|rule| rule.name);
    for rule in rules.chain(["one-thread", "small-objects", "label"]) {
        assert!(page.contains(&format!("\n| `{rule}`")), "{rule}");
        let lead = format!("\n| `{rule}` | ");
        let row = reasons.split(&lead).nth(1).unwrap_or_else(|| panic!("{rule}")).lines().next().unwrap();
        let command = row.split("`prof report ").nth(1).and_then(|rest| rest.split('`').next());
        let command = command.unwrap_or_else(|| panic!("{rule} has no example"));
        let words: Vec<&str> = command.split(' ').collect();
        let found = report(Path::new(env!("CARGO_MANIFEST_DIR")), &words).unwrap();
        let all = list(&found["findings"]).iter().chain(list(&found["remarks"]));
        assert!(all.map(|one| &one["rule"]).any(|name| name == rule), "{rule}: {command}");
    }
}

/// With a base, `prof hot` puts the sequence first that changed most, which may be another one.
#[test]
fn the_evidence_of_a_sequence_is_shown_beside_a_base() {
    let sequence = |pages: usize, callees: &str, end: &str| -> String {
        let stack = |page| format!("main;page{page};{callees};{end}{} 1\n", page % 6);
        (0..pages).map(stack).collect::<Vec<_>>().concat()
    };
    let old = sequence(12, "check;verify", "hash") + "main;work 88\n";
    let new = old.clone() + &sequence(10, "pack;squeeze", "fill");
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("old.folded"), old).unwrap();
    std::fs::write(folder.path().join("new.folded"), new).unwrap();
    let report = report(folder.path(), &["--base", "old.folded", "new.folded"]).unwrap();
    let is_sequence = |finding: &&Value| finding["rule"] == "sequence";
    let findings: Vec<&Value> = list(&report["findings"]).iter().filter(is_sequence).collect();
    assert_eq!(findings.len(), 2, "{}", report["findings"]);
    for (finding, callee) in findings.into_iter().zip(["verify", "squeeze"]) {
        let command = finding["command"].as_str().unwrap();
        let shown = run(folder.path(), &command.replacen("prof hot", "prof hot --format json", 1));
        assert!(shown["sequences"].to_string().contains(callee), "{callee}: {shown}");
    }
}
