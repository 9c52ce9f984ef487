//! `prof ui`: its screens, its keys, and the command on its last line.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::servers::old_then_new;
use crate::support::{copies, prof};

/// The profiles of the tests, by the words that name them.
const PROFILES: [(&str, &[&str]); 7] = [
    ("cpu", &["cpu.pb.gz"]),
    ("compared", &["--base", "old.pb.gz", "new.pb.gz"]),
    ("heap", &["heap.pb.gz"]),
    ("node", &["node.cpuprofile"]),
    ("python", &["python.folded"]),
    ("calls", &["c.callgrind"]),
    ("java", &["java.jfr"]),
];

fn folder() -> TempDir {
    copies(&[
        ("pprof/go-cpu.pb.gz", "cpu.pb.gz"),
        ("pprof/go-cpu-old.pb.gz", "old.pb.gz"),
        ("pprof/go-cpu-new.pb.gz", "new.pb.gz"),
        ("pprof/go-heap.pb.gz", "heap.pb.gz"),
        ("cpuprofile/node.cpuprofile", "node.cpuprofile"),
        ("collapsed/python.folded", "python.folded"),
        ("callgrind/c.callgrind", "c.callgrind"),
        ("jfr/java.jfr", "java.jfr"),
    ])
}

/// What `prof ui` prints after these keys.
fn pressed(folder: &Path, profile: &[&str], keys: &str, further: &[&str]) -> String {
    let words = [&["ui", "--keys", keys], further, profile].concat();
    let output = prof(folder, &words).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The command on the last line, on a screen that is wide enough for it.
fn command(folder: &Path, profile: &[&str], keys: &str) -> String {
    let screen = pressed(folder, profile, keys, &["--screen", "1000x30"]);
    let last = screen.trim_end().lines().last().unwrap();
    last.strip_prefix("$ ").unwrap_or_else(|| panic!("{keys}: {screen}")).to_string()
}

/// The JSON that a command prints in a shell.
fn in_shell(folder: &Path, command: &str) -> Value {
    let bin = Path::new(env!("CARGO_BIN_EXE_prof")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let line = format!("{command} --format json");
    let output =
        Command::new("sh").args(["-c", &line]).current_dir(folder).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// What may be pressed: what moves, what asks something else, and what undoes it.
const KEYS: [&str; 36] = [
    "j",
    "jj",
    "k",
    "G",
    "g",
    "<enter>",
    "<enter>",
    "<right>",
    "<left>",
    "H",
    "f",
    "x",
    "h",
    "X",
    "m",
    "o",
    "p",
    "d",
    "b",
    "c",
    "t",
    "u",
    "n",
    "1",
    "2",
    "3",
    "4",
    "6",
    "7",
    "9",
    "<tab>",
    "/a<enter>",
    "&e<enter>",
    "5",
    ":--collapse-recursion<enter>",
    ":--by file<enter>",
];

#[test]
#[cfg(unix)]
fn the_command_on_the_last_line_shows_the_numbers_of_the_screen() {
    let folder = folder();
    // Keys in an order that looks random and is the same in every run.
    let mut state = 23_u64;
    let mut any = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    let mut views = BTreeMap::new();
    for sequence in 0..50 {
        let (_, profile) = PROFILES[sequence % PROFILES.len()];
        let keys: String = (0..4 + any(6)).map(|_| KEYS[any(KEYS.len())]).collect();
        let command = command(folder.path(), profile, &keys);
        let report = pressed(folder.path(), profile, &keys, &["--screen", "1000x30", "--report"]);
        let report: Value = serde_json::from_str(&report).unwrap();
        let schema = report["schema"].as_str().unwrap().to_string();
        check(folder.path(), &command, &schema, &report, &format!("{profile:?} {keys}"));
        *views.entry(schema).or_insert(0) += 1;
    }
    assert!(views.len() >= 7, "{views:?}");
}

/// Checks that a command prints what a screen showed. A tree on the screen lacks light rows.
fn check(folder: &Path, command: &str, schema: &str, screen: &Value, context: &str) {
    let context = format!("{context}\n{command}");
    match schema {
        "prof.tree.v1" => {
            let printed = in_shell(folder, command);
            assert_eq!(screen["shown"], printed["shown"], "{context}");
            let (some, all) = (paths(screen, "rows"), paths(&printed, "rows"));
            // How costs are divided among callers that were never seen together depends on which callers are listed.
            let is_divided = !screen["approximation"].is_null() && command.contains("--bottom-up");
            for (path, values) in some.into_iter().filter(|(path, _)| path.len() == 1 || !is_divided) {
                assert_eq!(all.get(&path), Some(&values), "{context}: {path:?}");
            }
        }
        "prof.flame.v1" => {
            assert!(command.starts_with("prof tree "), "{context}: nothing is written");
            let printed = in_shell(folder, command);
            assert_eq!(screen["shown"], printed["shown"], "{context}");
            if command.contains("--bottom-up") {
                return;
            }
            let (some, all) = (paths(screen, "nodes"), paths(&printed, "rows"));
            assert!(!some.is_empty() || all.is_empty(), "{context}");
            for (path, values) in some {
                assert_eq!(all.get(&path), Some(&values), "{context}: {path:?}");
            }
        }
        "prof.timeline.v1" => {
            // The command has as many bins as fit its screen.
            let printed = in_shell(folder, command);
            for key in ["metric", "total", "shown", "filters"] {
                assert_eq!(screen[key], printed[key], "{context}: {key}");
            }
        }
        _ => assert_eq!(screen, &in_shell(folder, command), "{context}"),
    }
}

/// The self and total of each path of a tree.
fn paths(report: &Value, rows: &str) -> BTreeMap<Vec<String>, (i64, i64)> {
    let rows = report[rows].as_array().unwrap();
    // Node 0 of a flame graph is the whole.
    let is_flame = report["schema"] == "prof.flame.v1";
    let mut names: Vec<Vec<String>> = Vec::new();
    let mut found = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        if is_flame && index == 0 {
            names.push(Vec::new());
            continue;
        }
        let parent = row["parent"].as_u64().map_or_else(Vec::new, |parent| names[parent as usize].clone());
        let path = [parent, vec![row["name"].as_str().unwrap().to_string()]].concat();
        found.insert(path.clone(), (row["self"].as_i64().unwrap(), row["total"].as_i64().unwrap()));
        names.push(path);
    }
    found
}

#[test]
fn screens() {
    let folder = folder();
    let mut shown = String::new();
    for (profile, keys, further) in [
        ("cpu", "", &[][..]),
        ("cpu", "<down><enter>", &[]),
        ("cpu", "2H", &[]),
        ("cpu", "2b<down><down><right>", &[]),
        ("cpu", "3", &[]),
        ("cpu", "f3", &[]),
        ("cpu", "?", &[]),
        ("cpu", "/json", &[]),
        ("cpu", "9<enter>", &[]),
        ("cpu", "8j<enter>", &[]),
        ("cpu", "7", &[]),
        ("cpu", "s", &[]),
        ("cpu", ":--by pckage<enter>", &[]),
        ("cpu", "", &["--screen", "40x10"]),
        ("cpu", "", &["--screen", "20x5"]),
        ("compared", "", &["--screen", "120x16"]),
        ("compared", "<enter>", &["--screen", "120x16"]),
        ("compared", "3", &["--screen", "120x16"]),
        ("heap", "mm", &["--screen", "80x12"]),
        ("node", "7", &[]),
        ("java", "tj<enter>", &["--screen", "80x12"]),
        ("calls", "2", &["--screen", "80x12"]),
    ] {
        let (_, words) = PROFILES.iter().find(|(name, _)| *name == profile).unwrap();
        let screen = pressed(folder.path(), words, keys, further);
        let size = further.last().unwrap_or(&"80x24");
        let (width, height) = size.split_once('x').unwrap();
        let (width, height): (usize, usize) = (width.parse().unwrap(), height.parse().unwrap());
        assert_eq!(screen.lines().count(), height, "{screen}");
        assert!(screen.lines().all(|line| prof::name::display_width(line) <= width), "{screen}");
        shown += &format!("=== {profile} {keys} {}\n{screen}\n", further.join(" "));
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("ui_screens", shown);
    });
}

#[test]
fn hostile_names_are_inert() {
    let folder = TempDir::new().unwrap();
    let names = [
        "a\u{1b}[2J\u{1b}]52;c;eA==\u{7}b",
        "x\u{202e}evil",
        "関数関数",
        "e\u{301}\u{301}",
        "tab\there",
        "\u{9b}31m",
        "\u{200f}",
    ];
    let lines: Vec<String> =
        names.iter().map(|name| format!("main;{name};leaf 3\nmain;{name} 2\n")).collect();
    fs::write(folder.path().join("hostile.folded"), lines.concat()).unwrap();
    for keys in ["", "j<enter>", "2G", "3", "3jj<enter>", "6", "9", "jf", "2b", "4", "/evil<enter>y"] {
        for screen in ["80x24", "31x9", "200x50"] {
            let shown = pressed(folder.path(), &["hostile.folded"], keys, &["--screen", screen]);
            let bad = shown.chars().find(|&c| {
                c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c) || c == '\u{200f}'
            });
            assert_eq!(bad, None, "{keys}: {}", shown.escape_debug());
        }
    }
}

#[test]
fn mistakes_leave_the_screen_as_it_was() {
    let folder = folder();
    let start = command(folder.path(), &["cpu.pb.gz"], "");
    for (keys, says) in [
        (":--by pckage<enter>", "--by pckage: expected function"),
        (":--forcus x<enter>", "prof top has no option --forcus; did you mean --focus?"),
        (":--bottom-up<enter>", "prof top has no option --bottom-up"),
        (":--limit x<enter>", "--limit x: not a whole number"),
        (":--normalize total<enter>", "--base"),
        (":--focus no.such.function<enter>", "nothing matches"),
        (":--label<enter>", "--label K=V needs a value"),
        (":nonsense<enter>", "options start with -"),
        (":'<enter>", "quote"),
        (":--format json<enter>", "s saves"),
        ("7", "does not say when"),
        ("d", "--base OLD"),
        ("u", "where you started"),
        ("X", "no filters"),
        ("w<wait>w", "no longer watching"),
    ] {
        let shown = pressed(folder.path(), &["cpu.pb.gz"], keys, &["--screen", "200x24"]);
        assert!(shown.contains(says), "{keys}: {shown}");
        assert_eq!(command(folder.path(), &["cpu.pb.gz"], keys), start, "{keys}");
    }
}

#[test]
fn every_step_is_undone() {
    let folder = folder();
    let start = pressed(folder.path(), &["cpu.pb.gz"], "jjj", &[]);
    let steps = ["f", "x", "h", "m", "o", "p", "b", "2", "9", "<enter>", ":--by file<enter>", "3"]
        .map(|keys| (keys, 1));
    for (keys, count) in steps.into_iter().chain([("x2b", 3), ("3<enter>", 2), ("tj<enter>", 2)]) {
        let keys = format!("jjj{keys}{}", "u".repeat(count));
        let shown = pressed(folder.path(), &["cpu.pb.gz"], &keys, &[]);
        assert_eq!(shown, start, "{keys}");
    }
}

#[test]
fn what_is_seen_is_saved_without_replacing_a_file() {
    let folder = folder();
    let shown = |keys: &str| pressed(folder.path(), &["cpu.pb.gz"], keys, &["--screen", "120x24"]);
    let twice = shown("jfs<enter>s<enter>");
    assert!(twice.contains("wrote cpu-2.html"), "{twice}");
    let page = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(page("cpu.html").ends_with("</html>\n") && page("cpu-2.html") == page("cpu.html"));
    let erased = "<backspace>".repeat("-3.html".len());
    let again = shown(&format!("s{erased}.html<enter>"));
    assert!(again.contains("cpu.html exists"), "{again}");
    let picture = shown(&format!("s{erased}.svg<enter>"));
    assert!(picture.contains("wrote cpu.svg") && page("cpu.svg").contains("<svg"), "{picture}");
    let text = shown(&format!("s{erased}.txt<enter>"));
    assert!(text.contains("only .html and .svg"), "{text}");
}

#[test]
fn standard_input_is_explored_in_all_views() {
    let folder = folder();
    let file = || Stdio::from(fs::File::open(folder.path().join("cpu.pb.gz")).unwrap());
    let run = |keys: &str| {
        let output = prof(folder.path(), &["ui", "--keys", keys, "-"]).stdin(file()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let labels = run("2t");
    assert!(labels.contains("endpoint") && labels.ends_with("$ prof labels -\n"), "{labels}");
    assert!(labels.starts_with("standard input · cpu"), "{labels}");
}

/// The questions are about the file in which a recording is saved; `r` records again and compares with it.
#[test]
fn servers_record_again() {
    let folder = folder();
    let server = old_then_new();
    let address = server.url("/cpu.pb.gz");
    let mut ui = prof(folder.path(), &["ui", "--keys", "r", "--screen", "1000x24", &address]);
    let output = ui.env("XDG_CACHE_HOME", folder.path()).stdin(Stdio::null()).output().unwrap();
    let screen = String::from_utf8_lossy(&output.stdout);
    assert_eq!(server.paths(), ["/cpu.pb.gz"; 2]);
    let command = screen.trim_end().lines().last().unwrap();
    assert!(command.starts_with("$ prof top --base /") && !command.contains("http"), "{screen}");
    let compared =
        pressed(folder.path(), &["--base", "old.pb.gz", "new.pb.gz"], "", &["--screen", "1000x24"]);
    assert_eq!(screen.lines().nth(3), compared.lines().nth(3));
}

/// Watching shows the newest recording at the same place, and keeps only that one.
#[test]
fn servers_are_watched() {
    let folder = folder();
    let server = old_then_new();
    let address = server.url("/cpu.pb.gz");
    let mut ui = prof(
        folder.path(),
        &["ui", "--keys", "2/Discounted<enter>w<wait><wait>jk", "--screen", "1000x24", &address],
    );
    let output = ui.env("XDG_CACHE_HOME", folder.path()).stdin(Stdio::null()).output().unwrap();
    let screen = String::from_utf8_lossy(&output.stdout);
    assert_eq!(server.paths(), ["/cpu.pb.gz"; 3], "the first, and one each time");
    assert!(screen.contains("every 5 s, w stops"), "{screen}");
    let new = pressed(folder.path(), &["new.pb.gz"], "2/Discounted<enter>", &["--screen", "1000x24"]);
    let selected = |screen: &str| screen.lines().nth(21).unwrap().to_string();
    assert_eq!(selected(&screen), selected(&new));
    assert!(selected(&new).contains("Discounted") && screen.contains("cpu 9.70s"), "{screen}");
    let command = screen.trim_end().lines().last().unwrap();
    let file = command.strip_prefix("$ prof tree ").unwrap_or_else(|| panic!("{command}"));
    let recordings = fs::read_dir(Path::new(file).parent().unwrap()).unwrap().count();
    assert_eq!(recordings, 2, "the first one and the newest; that between them was replaced");
}

/// A file that is written again is read again, also if that fails at first.
#[test]
#[cfg(unix)]
#[needs(Script)]
fn files_are_watched() {
    let folder = folder();
    let file = folder.path().join("watched.folded");
    let [first, broken, second] = ["main;parse 1\n", "\u{1}\u{2}", "main;parse 1\nmain;QQQQQQ 7\n"];
    fs::write(&file, first).unwrap();
    // A terminal, because with --keys the file cannot change between two of them.
    let line = format!("{} ui --watch 1 watched.folded", env!("CARGO_BIN_EXE_prof"));
    let mut script = Command::new("script");
    script.args(["-qec", &format!("stty rows 24 cols 80; {line}"), "/dev/null"]).current_dir(folder.path());
    script
        .env_remove("PROF_PROFILE")
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    // Single words, because a terminal is sent only the cells that change.
    for (text, content) in [("parse", Some(broken)), ("parquet", Some(second)), ("QQQQQQ", None)] {
        let mut part = [0; 4096];
        while !String::from_utf8_lossy(&shown).contains(text) {
            let count = screen.read(&mut part).unwrap();
            assert!(count > 0, "{text}: {}", String::from_utf8_lossy(&shown).escape_debug());
            shown.extend_from_slice(&part[..count]);
        }
        if let Some(content) = content {
            fs::write(&file, content).unwrap();
        }
    }
    keys.write_all(b"q").unwrap();
    screen.read_to_end(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn units_and_edits_are_those_of_the_command_line() {
    let folder = folder();
    let shown = |profile: &[&str], keys: &str| pressed(folder.path(), profile, keys, &["--screen", "120x24"]);
    for keys in ["1", "2", "3", "c", "c5", "6", "9"] {
        let screen = shown(&["--unit", "ms", "cpu.pb.gz"], keys);
        assert!(screen.contains("cpu 7,230ms") && !screen.contains("7.23s"), "{keys}: {screen}");
    }
    for keys in ["1", "2", "3", "c", "6", "9"] {
        let screen = shown(&["--what-if", "Discounted=0.5", "cpu.pb.gz"], keys);
        assert!(screen.contains("what if Discounted=0.5: cpu 7.23s → 5.96s"), "{keys}: {screen}");
        let screen = shown(&["--base", "old.pb.gz", "new.pb.gz"], keys);
        assert!(screen.contains("base old.pb.gz 7.27s"), "{keys}: {screen}");
    }
    assert!(shown(&["--quiet", "--verbose", "cpu.pb.gz"], "2").ends_with("$ prof tree cpu.pb.gz\n"));
    let report = |keys: &str| shown(&["cpu.pb.gz"], keys);
    assert!(report("9:--budget 100<enter>").contains("--budget is for text"));
    assert!(report("9o").contains("prof report has no --sort"));
    // Half of a comparison may have been given before.
    let rescaled = shown(&["--base", "old.pb.gz", "new.pb.gz"], ":--normalize total<enter>");
    assert!(rescaled.contains("rescaled × 1.334 (total)"), "9.70 ÷ 7.27: {rescaled}");
}

/// What changed, and why, is part of the report of two sides, on the screen as in the shell.
#[test]
#[cfg(unix)]
fn the_report_of_two_sides_says_what_changed() {
    let folder = folder();
    let compared = ["--base", "old.pb.gz", "new.pb.gz"];
    // The profiles are loaded for another view first, which does not compare their runs.
    for keys in ["9", "192"] {
        let keys = format!("{keys}9");
        let screen = pressed(folder.path(), &compared, &keys, &["--report"]);
        let screen: Value = serde_json::from_str(&screen).unwrap();
        assert!(screen["changes"]["verdict"].is_string(), "{keys}: {screen}");
        assert_eq!(screen, in_shell(folder.path(), "prof report --base old.pb.gz new.pb.gz"), "{keys}");
    }
    assert!(pressed(folder.path(), &compared, "9", &[]).contains("\nchanged: "));
}

/// A finding is selected as a whole, and every key goes to the next one.
#[test]
fn findings_are_selected_one_by_one() {
    let folder = folder();
    let shown = |keys: &str| {
        let screen = pressed(folder.path(), &["cpu.pb.gz"], keys, &["--screen", "80x40"]);
        screen.lines().rev().nth(2).unwrap().to_string()
    };
    let [first, second] = ["9", "9j"].map(shown);
    assert!(first.contains("prof source --fold") && second.contains("@memory"), "{first}\n{second}");
    assert_eq!([shown("9jk"), shown("9/collect<enter>")], [first, second]);
}

/// Rows of other things than functions lead to the source of their functions.
#[test]
fn source_lines_of_files_and_lines_are_shown() {
    let folder = folder();
    let last = |keys: &str| command(folder.path(), &["cpu.pb.gz"], keys);
    let file = r"prof source 'file:^/srv/shop/catalog/catalog\.go$' cpu.pb.gz";
    assert_eq!(last(":--by file<enter>g5"), file);
    assert_eq!(last(":--by package<enter>g5"), "prof source 'package:^runtime$' cpu.pb.gz");
    let function = "prof source 'example.com/shop/catalog.(*Catalog).Discounted' cpu.pb.gz";
    assert_eq!(last(":--by line<enter>g5"), function);
    assert!(last(":--by line<enter>g2H5").contains("Discounted"));
    // From there on, it is a function that is selected.
    assert!(last(":--by file<enter>g5c").starts_with("prof focus 'example.com/shop/catalog"));
}

#[test]
fn lines_of_text_lead_on() {
    let folder = folder();
    let last = |profile: &str, keys: &str| command(folder.path(), &[profile], keys);
    // The line that is selected at first is the heaviest thread, then the first phase, and the first finding.
    assert_eq!(last("java.jfr", "7<enter>"), "prof timeline --thread exact:pool-1-thread-3 java.jfr");
    assert_eq!(last("java.jfr", "7/prof<enter><enter>"), "prof top --from 0s --to 1.44s java.jfr");
    let source = "prof source --fold 'example.com/shop/catalog.(*Catalog).Discounted' cpu.pb.gz";
    assert_eq!(last("cpu.pb.gz", "9<enter>"), source);
    assert_eq!(
        last("cpu.pb.gz", "9f1"),
        "prof top --focus 'exact:example.com/shop/catalog.(*Catalog).Discounted' cpu.pb.gz"
    );
    // A sequence is called after its last function, and a comparison is no view of this screen.
    assert_eq!(last("cpu.pb.gz", "6f1"), last("cpu.pb.gz", "2f1"));
    assert!(last("cpu.pb.gz", "6/sequences<enter>jj<enter>").starts_with("prof focus "));
    let compared = ["--base", "old.pb.gz", "new.pb.gz"];
    let shown = pressed(folder.path(), &compared, "9/changed<enter><enter>", &[]);
    assert!(shown.contains("prof diff is no view of this screen: y copies"), "{shown}");
    let copied = pressed(folder.path(), &compared, "9/changed<enter>y", &[]);
    assert!(copied.contains("clipboard of the terminal: prof diff old.pb.gz new.pb.gz"), "{copied}");
    let metrics = |keys: &str| pressed(folder.path(), &["--view", "timeline", "java.jfr"], keys, &[]);
    assert!(metrics("m").contains("prof timeline --metric"), "without having been in another view");
}

/// A graph of callers divides the self of functions, as the columns of the tree do.
#[test]
fn blocks_of_callers_are_parts_of_self() {
    let folder = folder();
    let details = |keys: &str| {
        let screen = pressed(folder.path(), &["cpu.pb.gz"], keys, &["--screen", "150x24"]);
        screen.lines().nth(21).unwrap().to_string()
    };
    assert!(details("3b").contains("Discounted  self 2.52s 34.9%"), "{}", details("3b"));
    let caller = details("3bj");
    assert!(
        caller.contains("(*Ledger).cost  called for 2.52s 34.9%, self of catalog.(*Catalog).Discounted"),
        "{caller}"
    );
}

#[test]
fn without_a_terminal_other_commands_are_named() {
    let folder = folder();
    let output = prof(folder.path(), &["ui", "cpu.pb.gz"]).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr.contains("needs a terminal") && stderr.contains("prof top"), "{stderr}");
}

/// The modes of the terminal, its screen and its cursor are as they were after quitting and after signals.
#[test]
#[cfg(target_os = "linux")]
#[needs(Script)]
fn the_terminal_is_left_as_it_was() {
    // Waits until the program has the terminal, and sends a signal.
    let signalled = |signal: &str| {
        let is_raw = "stty -a < /dev/tty | grep -q -- -icanon";
        format!(
            "PROF ui cpu.pb.gz & until {is_raw}; do sleep 0.1; done; kill -{signal} $!; wait $!; echo $? > code"
        )
    };
    for (line, keys, code) in [
        ("PROF ui cpu.pb.gz; echo $? > code".to_string(), "3jjq", "0\n"),
        (signalled("TERM"), "", "130\n"),
        (signalled("HUP"), "", "130\n"),
    ] {
        let folder = folder();
        let line = line.replace("PROF", env!("CARGO_BIN_EXE_prof"));
        let line = format!("stty rows 24 cols 80; stty -a > before; {line}; stty -a > after");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::piped());
        script.env_remove("PROF_PROFILE").env("TERM", "xterm-256color").stdout(Stdio::piped());
        let mut child = script.spawn().unwrap();
        child.stdin.take().unwrap().write_all(keys.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        let file = |name: &str| fs::read_to_string(folder.path().join(name));
        let read =
            |name: &str| file(name).unwrap_or_else(|_| panic!("{line}: no {name}: {}", shown.escape_debug()));
        assert_eq!(read("after"), read("before"), "{line}");
        assert_eq!(read("code"), code, "{line}");
        for (on, off) in [("?1049h", "?1049l"), ("?1000h", "?1000l"), ("?2004h", "?2004l"), ("?25l", "?25h")]
        {
            let (on, off) = (shown.rfind(on), shown.rfind(off));
            assert!(on.is_some() && off > on, "{line}: {}", shown.escape_debug());
        }
    }
}

/// The shell has used the terminal while the program was stopped, without ^Z; the whole screen comes back. ^L does the same.
#[test]
#[cfg(target_os = "linux")]
#[needs(Script)]
fn the_screen_is_drawn_again_when_the_program_continues() {
    let folder = folder();
    let is_raw = "stty -a < /dev/tty | grep -q -- -icanon";
    let is_stopped = "grep -q 'T (stopped' /proc/$!/status";
    let line = format!(
        "stty rows 24 cols 80; stty -a > before; {} ui cpu.pb.gz < /dev/tty & until {is_raw}; do sleep 0.1; done; \
         kill -STOP $!; until {is_stopped}; do sleep 0.1; done; stty sane; echo STOPPED; kill -CONT $!; wait $!; \
         echo $? > code; stty -a > after",
        env!("CARGO_BIN_EXE_prof")
    );
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).stdin(Stdio::piped());
    script.env_remove("PROF_PROFILE").env("TERM", "xterm-256color").stdout(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut shown = Vec::new();
    let mut from = 0;
    for (text, key) in [("STOPPED", ""), ("?1049h", ""), ("FUNCTION", "\u{c}"), ("FUNCTION", "q")] {
        let mut part = [0; 4096];
        from += loop {
            if let Some(place) = shown[from..].windows(text.len()).position(|bytes| bytes == text.as_bytes())
            {
                break place + text.len();
            }
            let count = screen.read(&mut part).unwrap();
            assert!(count > 0, "{text}: {}", String::from_utf8_lossy(&shown).escape_debug());
            shown.extend_from_slice(&part[..count]);
        };
        keys.write_all(key.as_bytes()).unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    assert!(child.wait().unwrap().success());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!((read("code"), read("after")), ("0\n".to_string(), read("before")));
}
