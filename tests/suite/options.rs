//! Every option in the `--help` of a command has an effect there, or is rejected with a reason.
//!
//! Each option is tried on a command line where it should change the output, the messages on standard error, the
//! files written, or the exit code.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;

use prof::format::writer_named;
use prof::profile::from_notation;
use tempfile::TempDir;

use crate::support::series::write_nightly;
use crate::support::{copies, fixture, load_well, prof};

/// How an option is tried: the value to add, and the words that are on the command line in both runs.
#[derive(Clone, Copy)]
struct Trial {
    option: &'static str,
    added: &'static str,
    common: &'static str,
}

/// Options with the same meaning in all commands that have them.
const EVERYWHERE: &[(&str, &str, &str)] = &[
    ("--metric", "samples", "cpu.pb.gz"),
    ("--input-format", "perf-script", "cpu.pb.gz"),
    ("--latency", "", "threads.jfr"),
    ("--wall", "", "threads.jfr"),
    ("--skip-broken", "", "cpu.pb.gz broken.pb.gz"),
    ("--max-memory", "1k", "cpu.pb.gz"),
    ("--quiet", "", "mixed"),
    ("--verbose", "", "cpu.pb.gz"),
    ("--by", "file", "cpu.pb.gz"),
    ("--format", "json", "cpu.pb.gz"),
    ("--output", "written", "cpu.pb.gz"),
    ("--unit", "us", "cpu.pb.gz"),
    ("--names", "short", "cpu.pb.gz"),
    ("--width", "24", "cpu.pb.gz"),
    ("--color", "always", "cpu.pb.gz"),
    ("--force", "", "-o copy.pb.gz cpu.pb.gz"),
    ("--sort", "name", "cpu.pb.gz"),
    ("--limit", "1", "cpu.pb.gz"),
    ("--min-share", "50", "cpu.pb.gz"),
    ("--highlight", "Place", "cpu.pb.gz"),
    ("--columns", "self", "cpu.pb.gz"),
    ("--chains", "full", "cpu.pb.gz"),
    ("--per-event", "", "cpu.pb.gz"),
    ("--binary", "bin/sorting", "sorting.pb.gz"),
    ("--symbolize", "never", "--binary bin/sorting sorting.pb.gz"),
    ("--sourcemaps", "maps", "bundle.cpuprofile"),
    ("--no-sourcemaps", "", "local.cpuprofile"),
    ("--merge", "mean", "old.pb.gz new.pb.gz"),
    ("--max-profiles", "1", "old.pb.gz new.pb.gz"),
    ("--seed", "7", "--max-profiles 1 runs"),
    ("--weight", "top50", "old.pb.gz new.pb.gz"),
    ("--show-stacks", "Place", "cpu.pb.gz"),
    ("--hide-stacks", "json", "cpu.pb.gz"),
    ("--show-frames", "Place", "cpu.pb.gz"),
    ("--hide-frames", "Place", "cpu.pb.gz"),
    ("--show-from", "Place", "cpu.pb.gz"),
    ("--prune-from", "Place", "cpu.pb.gz"),
    ("--focus", "Place", "cpu.pb.gz"),
    ("--label", "endpoint=/orders", "cpu.pb.gz"),
    ("--hide-label", "endpoint=/products", "cpu.pb.gz"),
    ("--label-root", "endpoint", "cpu.pb.gz"),
    ("--label-leaf", "endpoint", "cpu.pb.gz"),
    ("--thread", "main", "threads.jfr"),
    ("--from", "1s", "threads.jfr"),
    ("--to", "1s", "threads.jfr"),
    ("--what-if", "Place=0.5", "cpu.pb.gz"),
    ("--no-inlines", "", "cpu.pb.gz"),
    ("--collapse-recursion", "", "cpu.pb.gz"),
    ("--rename", "Place=Put", "cpu.pb.gz"),
    ("--fold", "", "cpu.pb.gz"),
    ("--anonymize", "", "cpu.pb.gz"),
    ("--salt", "x", "--anonymize cpu.pb.gz"),
    ("--fixed-strings", "", "--show-stacks Plac. cpu.pb.gz"),
    ("--all-frames", "", "dropping.pb.gz"),
    ("--base", "old.pb.gz", "new.pb.gz"),
    ("--normalize", "total", "--base old.pb.gz new.pb.gz"),
    ("--match", "exact", "--base before.folded after.folded"),
];

/// Options of one command, or options that need other words there.
const OF_COMMANDS: &[(&str, &str, &str, &str)] = &[
    ("tree", "--bottom-up", "", "cpu.pb.gz"),
    ("tree", "--depth", "2", "cpu.pb.gz"),
    ("hot", "--min-length", "5", "cpu.pb.gz"),
    ("hot", "--max-length", "2", "cpu.pb.gz"),
    ("hot", "--contexts", "5", "cpu.pb.gz"),
    ("hot", "--context-share", "45", "cpu.pb.gz"),
    ("hot", "--tolerance", "60", "cpu.pb.gz"),
    ("lint", "--deny", "note", "sorting.pb.gz"),
    ("lint", "--quiet", "", "--sourcemaps maps bundle.cpuprofile"),
    ("lint", "--max-memory", "1k", "cpu.pb.gz"),
    ("report", "--budget", "50", "cpu.pb.gz"),
    ("report", "--guide", "", "cpu.pb.gz"),
    ("graph", "--max-nodes", "3", "cpu.pb.gz"),
    ("graph", "--min-edge", "30", "cpu.pb.gz"),
    ("graph", "--color-by", "file", "graph.dot cpu.pb.gz"),
    ("ui", "--view", "tree", "cpu.pb.gz"),
    ("ui", "--keys", "j", "cpu.pb.gz"),
    ("ui", "--report", "", "--keys j cpu.pb.gz"),
    ("ui", "--screen", "60x20", "--keys j cpu.pb.gz"),
    ("ui", "--source-path", "code", "--keys 5 sum.callgrind"),
    ("ui", "--trim-path", "/nowhere/made/", "--source-path code --keys 5 sum.callgrind"),
    ("flame", "--time", "", "threads.jfr"),
    ("flame", "--heatmap", "", "threads.jfr"),
    ("flame", "--icicle", "", "cpu.pb.gz"),
    ("flame", "--bottom-up", "", "cpu.pb.gz"),
    ("flame", "--order", "weight", "cpu.pb.gz"),
    ("flame", "--title", "Shop", "cpu.pb.gz"),
    ("flame", "--style", "classic", "cpu.pb.gz"),
    ("flame", "--color-by", "file", "cpu.pb.gz"),
    ("flame", "--width", "800", "cpu.pb.gz"),
    ("flame", "--own", "Place", "cpu.pb.gz"),
    ("flame", "--embed-source", "", "--source-path code out.html lines.pb.gz"),
    ("flame", "--source-path", "code", "--embed-source out.html lines.pb.gz"),
    ("flame", "--trim-path", "/nowhere/made/", "--embed-source --source-path code out.html lines.pb.gz"),
    ("flame", "--embed-times", "", "--embed-source out.html threads.jfr"),
    ("flame", "--force", "", "copy.svg cpu.pb.gz"),
    ("flame", "--output", "other.svg", "cpu.pb.gz"),
    ("open", "--title", "Shop", "cpu.pb.gz"),
    ("open", "--own", "Place", "cpu.pb.gz"),
    ("open", "--embed-source", "", "--source-path code lines.pb.gz"),
    ("open", "--source-path", "code", "--embed-source lines.pb.gz"),
    ("open", "--trim-path", "/nowhere/made/", "--embed-source --source-path code lines.pb.gz"),
    ("open", "--embed-times", "", "--embed-source threads.jfr"),
    ("graph", "--output", "other.dot", "cpu.pb.gz"),
    ("source", "--asm", "", "--binary bin/sorting sorting.pb.gz"),
    ("source", "--source-path", "code", "sum.callgrind"),
    ("source", "--trim-path", "/nowhere/made/", "--source-path code sum.callgrind"),
    ("labels", "--binary", "bin/sorting", "--show-stacks order sorting.pb.gz"),
    ("labels", "--symbolize", "never", "--binary bin/sorting --show-stacks order sorting.pb.gz"),
    ("labels", "--all-frames", "", "--show-stacks write_records dropping.pb.gz"),
    ("labels", "--outliers", "endpoint", "cpu.pb.gz"),
    ("types", "--language", "go", ""),
    ("types", "--format", "json", ""),
    ("types", "--output", "written", ""),
    ("types", "--width", "24", "cpu"),
    ("types", "--color", "always", ""),
    ("types", "--force", "", "-o copy.pb.gz"),
    ("diff", "--metric", "samples", "old.pb.gz new.pb.gz"),
    ("diff", "--input-format", "perf-script", "old.pb.gz new.pb.gz"),
    ("diff", "--latency", "", "threads.jfr threads.jfr"),
    ("diff", "--wall", "", "threads.jfr threads.jfr"),
    ("diff", "--skip-broken", "", "--old old.pb.gz broken.pb.gz --new new.pb.gz"),
    ("diff", "--max-memory", "1k", "old.pb.gz new.pb.gz"),
    ("diff", "--quiet", "", "mixed new.pb.gz"),
    ("diff", "--verbose", "", "old.pb.gz new.pb.gz"),
    ("diff", "--force", "", "-o copy.pb.gz old.pb.gz new.pb.gz"),
    ("diff", "--binary", "bin/sorting", "sorting.pb.gz sorting-new.pb.gz"),
    ("diff", "--symbolize", "never", "--binary bin/sorting sorting.pb.gz sorting-new.pb.gz"),
    ("diff", "--sourcemaps", "maps", "bundle.cpuprofile bundle.cpuprofile"),
    ("diff", "--no-sourcemaps", "", "local.cpuprofile local.cpuprofile"),
    ("diff", "--max-profiles", "1", "runs runs"),
    ("diff", "--seed", "7", "--max-profiles 1 runs runs"),
    ("diff", "--thread", "main", "threads.jfr threads.jfr"),
    ("diff", "--from", "1s", "threads.jfr threads.jfr"),
    ("diff", "--to", "1s", "threads.jfr threads.jfr"),
    ("diff", "--salt", "x", "--anonymize old.pb.gz new.pb.gz"),
    ("diff", "--fixed-strings", "", "--show-stacks Plac. old.pb.gz new.pb.gz"),
    ("diff", "--all-frames", "", "dropping.pb.gz dropping.pb.gz"),
    ("diff", "--sort", "old", "old.pb.gz new.pb.gz"),
    ("diff", "--normalize", "total", "old.pb.gz new.pb.gz"),
    ("diff", "--old", "old.pb.gz", "--new new.pb.gz"),
    ("diff", "--new", "new.pb.gz", "--old old.pb.gz"),
    ("report", "--old", "old.pb.gz", "--new new.pb.gz"),
    ("report", "--new", "new.pb.gz", "--old old.pb.gz"),
    ("diff", "--match", "exact", "before.folded after.folded"),
    (
        "diff",
        "--explain",
        "",
        "--noise steady --normalize per=1,1 two-causes-old.folded two-causes-new.folded",
    ),
    (
        "diff",
        "--no-explain",
        "",
        "--noise steady --normalize per=1,1 two-causes-old.folded two-causes-new.folded",
    ),
    ("diff", "--by-side", "", "old.pb.gz new.pb.gz"),
    ("diff", "--function", "Discounted", "old.pb.gz new.pb.gz"),
    ("diff", "--alpha", "0.5", "old.pb.gz new.pb.gz"),
    ("diff", "--min-effect", "90", "--normalize per=1000,1000 --function Discounted old.pb.gz new.pb.gz"),
    ("diff", "--min-points", "90", "--normalize per=1000,1000 --function Discounted old.pb.gz new.pb.gz"),
    ("diff", "--min-tested", "20", "old.pb.gz new.pb.gz"),
    ("diff", "--noise", "50%", "old.pb.gz new.pb.gz"),
    ("diff", "--learn-noise", "", "old.pb.gz old2.pb.gz new.pb.gz"),
    ("diff", "--detect", "9", "old.pb.gz old2.pb.gz"),
    ("diff", "--strict", "", "old.pb.gz old2.pb.gz"),
    ("diff", "--fold", "runtime.memmove", "old.pb.gz new.pb.gz"),
    ("diff", "--budget", "prof.toml", "old.pb.gz new.pb.gz"),
    ("diff", "--init", "", "--force"),
    ("convert", "--metric", "samples", "-o - --to collapsed cpu.pb.gz"),
    ("convert", "--output", "cpu.folded", "cpu.pb.gz"),
    ("convert", "--to", "collapsed", "-o - cpu.pb.gz"),
    ("convert", "--output-format", "collapsed", "-o - cpu.pb.gz"),
    ("convert", "--all-frames", "", "-o - --to collapsed dropping.pb.gz"),
    ("convert", "--force", "", "-o copy.pb.gz cpu.pb.gz"),
    ("timeline", "--by", "package", "threads.jfr"),
    ("timeline", "--bins", "7", "pauses.jfr"),
    ("timeline", "--metric", "samples", "pauses.jfr"),
    ("timeline", "--input-format", "perf-script", "pauses.jfr"),
    ("timeline", "--skip-broken", "", "pauses.jfr broken.pb.gz"),
    ("timeline", "--max-memory", "1k", "pauses.jfr"),
    ("timeline", "--quiet", "", "--hide-stacks nowhere pauses.jfr"),
    ("timeline", "--verbose", "", "pauses.jfr"),
    ("timeline", "--format", "json", "pauses.jfr"),
    ("timeline", "--output", "written", "pauses.jfr"),
    ("timeline", "--unit", "us", "pauses.jfr"),
    ("timeline", "--names", "short", "threads.jfr"),
    ("timeline", "--width", "24", "pauses.jfr"),
    ("timeline", "--color", "always", "pauses.jfr"),
    ("timeline", "--force", "", "-o copy.pb.gz pauses.jfr"),
    ("timeline", "--limit", "1", "threads.jfr"),
    ("timeline", "--binary", "bin/sorting", "sorting.perf.data"),
    ("timeline", "--symbolize", "never", "--binary bin/sorting sorting.perf.data"),
    ("timeline", "--merge", "mean", "pauses.jfr pauses.jfr"),
    ("timeline", "--max-profiles", "1", "pauses.jfr pauses.jfr"),
    ("timeline", "--seed", "7", "--max-profiles 1 -m samples timed"),
    ("timeline", "--weight", "top50", "-m samples timed"),
    ("timeline", "--show-stacks", "toString", "pauses.jfr"),
    ("timeline", "--hide-stacks", "toString", "pauses.jfr"),
    ("timeline", "--show-frames", "toString", "pauses.jfr"),
    ("timeline", "--hide-frames", "toString", "pauses.jfr"),
    ("timeline", "--show-from", "toString", "pauses.jfr"),
    ("timeline", "--prune-from", "toString", "pauses.jfr"),
    ("timeline", "--focus", "toString", "pauses.jfr"),
    ("timeline", "--label", "thread=main", "pauses.jfr"),
    ("timeline", "--hide-label", "thread=main", "pauses.jfr"),
    ("timeline", "--label-root", "thread", "pauses.jfr"),
    ("timeline", "--label-leaf", "thread", "pauses.jfr"),
    ("timeline", "--no-inlines", "", "threads.jfr"),
    ("timeline", "--collapse-recursion", "", "threads.jfr"),
    ("timeline", "--rename", "toString=Text", "pauses.jfr"),
    ("timeline", "--fold", "", "pauses.jfr"),
    ("timeline", "--anonymize", "", "pauses.jfr"),
    ("timeline", "--salt", "x", "--anonymize pauses.jfr"),
    ("timeline", "--fixed-strings", "", "--show-stacks toStr. pauses.jfr"),
    ("trend", "--order", "name", "new.pb.gz cpu.pb.gz"),
    ("trend", "--since", "2026-10-05", "nightly"),
    ("trend", "--value", "total", "cpu.pb.gz"),
    ("trend", "--limit", "1", "nightly"),
    ("trend", "--alpha", "0.5", "nightly"),
    ("trend", "--min-effect", "90", "nightly"),
    ("trend", "--min-points", "90", "nightly"),
    ("trend", "--min-tested", "9", "nightly"),
    ("trend", "--normalize", "none", "nightly"),
    ("trend", "--match", "exact", "before.folded after.folded"),
    ("trend", "--fold", "Place", "cpu.pb.gz"),
    ("man", "--output", "pages", ""),
    ("mcp", "--root", "missing", ""),
    ("mcp", "--max-memory", "little", ""),
    ("man", "--force", "", "-o full"),
];

/// Options that cannot be tried this way.
const UNTRIED: &[(&str, &str)] = &[
    ("--help", "every command has it"),
    ("--version", "every command has it"),
    ("--threads", "must not have an effect on the output: any_number_of_threads_prints_the_same"),
    ("--seconds", "asks a server: servers_are_asked_for_as_long_as_wanted"),
    ("--debuginfod", "needs a server: debug_information_is_fetched_by_build_id"),
    ("--header", "is sent to a server: credentials_go_only_where_they_belong"),
    ("--timeout", "waits for a server: servers_that_fail_are_reported"),
    ("--tls-ca", "needs a server: encrypted_servers_must_be_trusted"),
    ("--tls-cert", "needs a server: encrypted_servers_must_be_trusted"),
    ("--tls-key", "needs a server: encrypted_servers_must_be_trusted"),
    ("--tls-insecure", "needs a server: encrypted_servers_must_be_trusted"),
    ("--no-save", "is about what servers send: what_was_fetched_is_saved_and_read_once"),
    ("--allow-network", "needs a client: addresses_and_memory_have_limits"),
    ("--runs", "records on servers: both_sides_are_recorded_in_turns"),
    ("--pager", "only has an effect on a terminal that is shorter than the text"),
];

/// The same for one command.
const UNTRIED_OF_COMMANDS: &[(&str, &str, &str)] = &[
    ("ui", "--watch", "only has an effect when time passes: files_are_watched, servers_are_watched"),
    ("ui", "--verbose", "only has an effect while a server records: servers_record_again"),
];

/// Options of `ui` whose trials press keys of their own.
const OF_KEYS: [&str; 5] = ["--keys", "--report", "--screen", "--source-path", "--trim-path"];

/// The words between the command and those of a trial.
fn lead(command: &str, trial: Trial) -> &'static str {
    let is_of_cpu = trial.common.contains("pu.pb.gz") && !trial.common.contains("--anonymize");
    let writes = OF_COMMANDS.iter().any(|(name, of, ..)| *name == command && *of == trial.option);
    match command {
        "focus" | "source" if is_of_cpu => "Ledger",
        "focus" | "source" => ".",
        "flame"
            if [trial.common, trial.added]
                .iter()
                .any(|words| words.contains(".svg") || words.contains(".html")) =>
        {
            ""
        }
        "flame" => "out.svg",
        // It needs a terminal unless it is told which keys to press.
        "ui" if !OF_KEYS.contains(&trial.option) => "--keys j",
        "convert" if !writes => "-o - --output-format pprof",
        _ => "",
    }
}

#[test]
fn options_of_top_do_something() {
    check(&["top", "tree"]);
}

#[test]
fn options_of_focus_do_something() {
    check(&["focus", "hot", "traces", "report"]);
}

#[test]
fn options_of_graph_do_something() {
    check(&["graph", "source", "labels", "info", "lint"]);
}

#[test]
fn options_of_flame_do_something() {
    check(&["flame", "convert"]);
}

#[test]
#[cfg(unix)]
fn options_of_open_do_something() {
    check(&["open"]);
}

#[test]
fn options_of_diff_do_something() {
    check(&["diff", "types", "man", "completions", "mcp"]);
}

#[test]
fn options_of_trend_do_something() {
    check(&["trend"]);
}

#[test]
fn options_of_timeline_do_something() {
    check(&["timeline"]);
}

#[test]
fn options_of_ui_do_something() {
    check(&["ui"]);
}

/// The tests above cover all commands.
#[test]
fn every_command_is_tried() {
    let folder = TempDir::new().unwrap();
    let help = text(&prof(folder.path(), &["--help"]).output().unwrap().stdout);
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let named: BTreeSet<&str> = list
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    let tried = "completions convert diff flame focus graph hot info labels lint man mcp open report source sql timeline top traces tree trend types ui";
    assert_eq!(named, tried.split(' ').collect());
}

fn check(commands: &[&str]) {
    let folder = folder();
    let (mut wrong, mut known) = (Vec::new(), HashMap::new());
    for &command in commands {
        for option in options(folder.path(), command) {
            let is_untried = UNTRIED.iter().any(|(untried, _)| *untried == option)
                || UNTRIED_OF_COMMANDS.iter().any(|(of, untried, _)| *of == command && *untried == option);
            if is_untried {
                continue;
            }
            let Some(trial) = trial(command, &option) else {
                wrong.push(format!("prof {command} {option}: not tried"));
                continue;
            };
            if !has_effect(folder.path(), command, trial, &mut known) {
                let Trial { option, added, common } = trial;
                wrong.push(format!("prof {command} {common} {option} {added}: has no effect"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The long options in the help of a command.
fn options(folder: &Path, command: &str) -> Vec<String> {
    let help = text(&prof(folder, &[command, "--help"]).output().unwrap().stdout);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let word = |line: &str| {
        let words = line.split([' ', ',', '[']).find(|word| word.starts_with("--"))?;
        Some(words.trim_end_matches("...").to_string())
    };
    lines.filter_map(word).collect()
}

fn trial(command: &str, option: &str) -> Option<Trial> {
    let own = OF_COMMANDS.iter().find(|(name, of, ..)| *name == command && *of == option);
    if let Some(&(_, option, added, common)) = own {
        return Some(Trial { option, added, common });
    }
    let &(option, added, common) = EVERYWHERE.iter().find(|(of, ..)| *of == option)?;
    if command == "diff" {
        // diff takes two sides where other commands take one profile.
        let common = if common == "cpu.pb.gz" { "-n 0 old.pb.gz new.pb.gz" } else { common };
        return Some(Trial { option, added, common });
    }
    Some(Trial { option, added, common })
}

/// `known` has the outcomes of earlier runs.
fn has_effect(folder: &Path, command: &str, trial: Trial, known: &mut HashMap<String, Outcome>) -> bool {
    let Trial { option, added, common } = trial;
    let lead = lead(command, trial);
    let without: Vec<&str> = [command].into_iter().chain(lead.split(' ')).chain(common.split(' ')).collect();
    let without: Vec<&str> = without.into_iter().filter(|word| !word.is_empty()).collect();
    let added = [option, added];
    let with: Vec<&str> = without.iter().copied().chain(added).filter(|word| !word.is_empty()).collect();
    let before = known.entry(without.join(" ")).or_insert_with(|| run(folder, &without));
    run(folder, &with) != *before
}

/// The outcome of a command line: exit code, output, messages, and the files it wrote.
type Outcome = (Option<i32>, Vec<u8>, String, Vec<Option<Vec<u8>>>);

fn run(folder: &Path, words: &[&str]) -> Outcome {
    const WRITTEN: [&str; 9] = [
        "out.svg",
        "out.html",
        "other.svg",
        "copy.svg",
        "written",
        "graph.dot",
        "other.dot",
        "cpu.folded",
        "pages/prof.1",
    ];
    for name in WRITTEN {
        let _ = fs::remove_file(folder.join(name));
    }
    for copy in ["copy.pb.gz", "copy.svg"] {
        fs::copy(folder.join("cpu.pb.gz"), folder.join(copy)).unwrap();
    }
    // The browser prints the page.
    let output = prof(folder, words).env("BROWSER", "cat").env("TMPDIR", folder).output().unwrap();
    let stderr = text(&output.stderr);
    for mistake in
        ["has no option", ": not one of", ": not between", ": not a whole number", " needs a value"]
    {
        assert!(!stderr.contains(mistake), "{words:?}: {stderr}");
    }
    if output.status.code() == Some(2) {
        assert!(stderr.contains("error: "), "{words:?}: {stderr}");
    }
    let written = WRITTEN.iter().map(|name| fs::read(folder.join(name)).ok()).collect();
    (output.status.code(), output.stdout, stderr, written)
}

/// A folder with the files of the trials.
fn folder() -> TempDir {
    let folder = copies(&[
        ("pprof/go-cpu.pb.gz", "cpu.pb.gz"),
        ("pprof/go-cpu-old.pb.gz", "old.pb.gz"),
        ("pprof/go-cpu-old.pb.gz", "old2.pb.gz"),
        ("pprof/go-cpu-new.pb.gz", "new.pb.gz"),
        ("pprof/go-cpu-old.pb.gz", "runs/1.pb.gz"),
        ("pprof/go-cpu-new.pb.gz", "runs/2.pb.gz"),
        ("pprof/go-cpu.pb.gz", "runs/3.pb.gz"),
        ("pprof/go-cpu.pb.gz", "mixed/cpu.pb.gz"),
        ("jfr/java.jfr", "threads.jfr"),
        ("jfr/pauses.jfr.gz", "pauses.jfr"),
        ("jfr/java.jfr", "timed/1.jfr"),
        ("perf-data/rust.perf.data", "timed/2.perf.data"),
        ("symbols/sorting.perf.data", "sorting.perf.data"),
        ("symbols/sorting", "bin/sorting"),
        ("symbols/sorting.pb.gz", "sorting.pb.gz"),
        ("symbols/sorting.pb.gz", "sorting-new.pb.gz"),
        ("symbols/sorting.debug", "bin/sorting.debug"),
        ("programs/sorting.c", "code/sum.c"),
        ("programs/maze.c", "code/made/sum.c"),
        ("programs/maze.c", "full/maze.c"),
        ("sourcemaps/old.cpuprofile", "bundle.cpuprofile"),
        ("sourcemaps/old/app.js", "maps/old/app.js"),
        ("sourcemaps/old/app.js.map", "maps/old/app.js.map"),
    ]);
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write_nightly(&folder.path().join("nightly"), 30);
    // In the newer build one function has another name.
    write("before.folded", b"main;run;parse 400\nmain;print 600\n");
    write("after.folded", b"main;run;parseLine 410\nmain;print 590\n");
    // One function explains more than 80% of the growth, another one the rest.
    let code = "main;read 5000\nmain;print 6000\nmain;sort 7000\nmain;find 8000\nmain;wait 9000\n";
    write("two-causes-old.folded", format!("{code}main;hash 1000\nmain;pack 1000\n").as_bytes());
    write("two-causes-new.folded", format!("{code}main;hash 8000\nmain;pack 2500\n").as_bytes());
    let recorded = fs::read_to_string(fixture("sourcemaps/old.cpuprofile")).unwrap();
    let local = recorded.replace("/srv/receipts", &folder.path().join("maps").display().to_string());
    write("local.cpuprofile", local.as_bytes());
    write("mixed/notes.md", b"# Notes\n\nNo profile.\n");
    let whole = fs::read(fixture("pprof/go-cpu.pb.gz")).unwrap();
    write("broken.pb.gz", &whole[..whole.len() / 2]);
    write("prof.toml", b"[[budget]]\nfunction = \"Discounted\"\ntotal = \"1 %\"\n");
    write("sum.callgrind", b"events: Ir\nfl=/nowhere/made/sum.c\nfn=add\n3 40\n5 2\n");
    let mut dropping = load_well(&fixture("collapsed/python.folded"));
    dropping.meta.drop_frames = "write_records.*".to_string();
    let mut bytes = Vec::new();
    writer_named("pprof").unwrap().write_to(&dropping, 0, false, &mut bytes).unwrap();
    write("dropping.pb.gz", &bytes);
    let lines = from_notation("main;add@/nowhere/made/sum.c:3 40\nmain;add@/nowhere/made/sum.c:5 2");
    let mut bytes = Vec::new();
    writer_named("pprof").unwrap().write_to(&lines, 0, false, &mut bytes).unwrap();
    write("lines.pb.gz", &bytes);
    folder
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
