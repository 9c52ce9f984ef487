//! Options that people know from other profilers. Each gets a hint with the equivalent in `prof`.
//!
//! Only options that the command lacks are looked up here: `prof diff --sort` gets a hint, while
//! `prof top --sort` is an option of ours.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::cli::commands::Prof;
use crate::cli::go_pprof;
use crate::cli::terminal::failure::hinted;

const PERF: &str = "perf report";
const FLAME_GRAPH: &str = "flamegraph.pl";
const INFERNO: &str = "inferno-flamegraph";
const PY_SPY: &str = "py-spy";

/// A program, its option without dashes, and what to type instead.
#[rustfmt::skip] // One row per option.
const OPTIONS: &[(&str, &str, &str)] = &[
    (PERF, "i", "name the file without an option: prof top perf.data"),
    (PERF, "input", "name the file without an option: prof top perf.data"),
    (PERF, "stdio", "prof always prints text: prof top PROFILE"),
    (PERF, "tui", "prof top PROFILE prints text; prof flame out.html PROFILE writes an interactive page"),
    (PERF, "gtk", "prof flame out.html PROFILE writes an interactive page"),
    (PERF, "children", "prof top --sort total PROFILE sorts by total, which perf calls Children"),
    (PERF, "no-children", "prof top PROFILE sorts by self, which perf calls Self"),
    (PERF, "call-graph", "prof tree PROFILE shows callees, prof tree --bottom-up PROFILE callers"),
    (PERF, "G", "prof tree PROFILE starts at the root, prof tree --bottom-up PROFILE at each function"),
    (PERF, "inverted", "prof tree PROFILE starts at the root; prof flame out.svg --icicle PROFILE draws the root on top"),
    (PERF, "show-nr-samples", "prof top --metric samples PROFILE"),
    (PERF, "percent-limit", "prof top --min-share 1 PROFILE, in percent"),
    (PERF, "dso", "prof top --show-frames mapping:libc PROFILE"),
    (PERF, "dsos", "prof top --show-frames mapping:libc PROFILE"),
    (PERF, "comm", "prof top --label process=NAME PROFILE"),
    (PERF, "comms", "prof top --label process=NAME PROFILE"),
    (PERF, "symbols", "prof top --show-frames RE PROFILE"),
    (PERF, "symbol-filter", "prof top --show-frames RE PROFILE"),
    (PERF, "parent", "prof top --show-stacks RE PROFILE"),
    (PERF, "max-stack", "prof tree --depth 10 PROFILE"),
    (PERF, "tid", "prof top --thread 1234 PROFILE"),
    (PERF, "pid", "prof top --label process=NAME PROFILE"),
    (PERF, "time", "prof top --from 1s --to 5s PROFILE"),
    (PERF, "fields", "prof top --columns self,total PROFILE"),
    (PERF, "header", "prof info PROFILE"),
    (PERF, "stats", "prof info PROFILE"),
    (PERF, "no-inline", "prof top --no-inlines PROFILE"),
    (PERF, "symfs", "prof top --binary PATH PROFILE"),
    (PERF, "vmlinux", "prof top --binary PATH PROFILE"),
    (PERF, "hierarchy", "prof tree PROFILE"),
    (FLAME_GRAPH, "reverse", "prof flame out.svg --bottom-up PROFILE"),
    (FLAME_GRAPH, "flamechart", "prof convert -o out.speedscope.json PROFILE keeps the order of events; open it on speedscope.app"),
    (FLAME_GRAPH, "countname", "the unit comes from the profile; --unit ms converts it"),
    (FLAME_GRAPH, "minwidth", "frames narrower than a pixel are left out; prof flame out.svg --width 4000 PROFILE shows more"),
    (FLAME_GRAPH, "subtitle", "prof flame out.svg --title TEXT PROFILE"),
    (FLAME_GRAPH, "height", "prof chooses the height; prof flame out.svg --width 1600 PROFILE sets the width"),
    (FLAME_GRAPH, "hash", "colours depend on the name only; --color-by chooses what they mean"),
    (FLAME_GRAPH, "random", "colours depend on the name only; --color-by chooses what they mean"),
    (FLAME_GRAPH, "cp", "colours depend on the name only, so they are the same in every picture"),
    (FLAME_GRAPH, "palette", "prof flame out.svg --color-by package PROFILE"),
    (FLAME_GRAPH, "bgcolors", "prof flame out.svg --color-by package PROFILE chooses the colours of frames"),
    (FLAME_GRAPH, "negate", "prof flame out.svg --base OLD NEW; swap OLD and NEW"),
    (FLAME_GRAPH, "fonttype", "the font is fixed; prof flame out.svg --width 1600 PROFILE sets the width"),
    (FLAME_GRAPH, "fontsize", "the font is fixed; prof flame out.svg --width 1600 PROFILE sets the width"),
    (FLAME_GRAPH, "nametype", "--by chooses what a frame stands for: prof flame out.svg --by line PROFILE"),
    (FLAME_GRAPH, "factor", "prof flame out.svg --unit ms PROFILE converts the unit"),
    (FLAME_GRAPH, "notes", "prof flame out.svg --title TEXT PROFILE"),
    (FLAME_GRAPH, "kernel", "prof flame out.svg --highlight mapping:kernel PROFILE"),
    (INFERNO, "image-width", "prof flame out.svg --width 1600 PROFILE"),
    (INFERNO, "min-width", "frames narrower than a pixel are left out; prof flame out.svg --width 4000 PROFILE shows more"),
    (INFERNO, "no-sort", "prof flame out.svg --order weight PROFILE puts the widest first"),
    (INFERNO, "deterministic", "the picture of a profile is always the same"),
    (INFERNO, "search-color", "prof flame out.svg --highlight RE PROFILE"),
    (PY_SPY, "r", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "p", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "d", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "rate", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "duration", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "subprocesses", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "native", "prof does not record; record with py-spy, then: prof top PROFILE"),
    (PY_SPY, "gil", "prof top --label gil PROFILE, if the recording has that label"),
    (PY_SPY, "idle", "idle threads are shown if they were recorded; prof top --hide-stacks @idle PROFILE drops them"),
    (PY_SPY, "nolineno", "prof top PROFILE adds up the lines of a function; prof top --by line PROFILE lists them"),
    (PY_SPY, "threads", "prof flame out.svg --label-root thread PROFILE"),
];

/// Options of ours that a command does not have: the command, the option without dashes, and what to type
/// instead.
#[rustfmt::skip] // One row per option.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("diff", "s", "to sort rows: prof diff --sort delta"),
    ("diff", "base", "diff takes both sides as arguments: prof diff OLD NEW"),
    ("diff", "merge", "diff treats several profiles of a side as repeated runs and never adds them up: prof diff --old OLD... --new NEW..."),
    ("diff", "columns", "the columns of diff are fixed; prof diff -f csv OLD NEW has all values"),
    ("diff", "bottom-up", "prof tree --bottom-up --base OLD NEW"),
    ("diff", "depth", "prof tree --depth 10 --base OLD NEW"),
    ("diff", "highlight", "prof diff --function RE OLD NEW tests only these functions"),
    ("convert", "base", "prof diff OLD NEW"),
    ("info", "base", "prof diff OLD NEW"),
    ("types", "base", "prof diff OLD NEW"),
    ("convert", "format", "the file extension or --to chooses the format: prof convert -o out.folded PROFILE"),
    ("convert", "f", "the file extension or --to chooses the format: prof convert -o out.folded PROFILE"),
    ("convert", "limit", "convert writes all samples unless filtered: prof convert -o OUT --show-stacks RE PROFILE"),
    ("convert", "n", "convert writes all samples unless filtered: prof convert -o OUT --show-stacks RE PROFILE"),
    ("flame", "sort", "prof flame out.svg --order weight PROFILE puts the widest first"),
    ("flame", "s", "prof flame out.svg --order weight PROFILE puts the widest first"),
    ("flame", "limit", "a flame graph shows all stacks unless filtered with --show-stacks RE or --focus RE"),
    ("flame", "n", "a flame graph shows all stacks unless filtered with --show-stacks RE or --focus RE"),
    ("flame", "depth", "a flame graph shows all levels; --prune-from RE ends stacks at a function"),
    ("hot", "sort", "hot lists the heaviest sequences first"),
    ("hot", "s", "hot lists the heaviest sequences first"),
    ("top", "depth", "prof tree --depth 10 PROFILE"),
    ("top", "bottom-up", "prof tree --bottom-up PROFILE"),
    ("info", "limit", "prof top -n 10 PROFILE; info has no rows to limit"),
    ("info", "n", "prof top -n 10 PROFILE; info has no rows to limit"),
];

/// Formats that `--format` does not accept, and the command that writes them.
#[rustfmt::skip] // One row per format.
const FORMATS: &[(&[&str], &str)] = &[
    (&["svg", "flamegraph", "flame", "png", "pdf"], "prof flame out.svg PROFILE"),
    (&["html", "web"], "prof flame out.html PROFILE"),
    (&["dot", "graphviz"], "prof graph out.dot PROFILE"),
    (&["pprof", "proto", "pb"], "prof convert -o out.pb.gz PROFILE"),
    (&["folded", "collapsed", "raw"], "prof convert -o out.folded PROFILE"),
    (&["speedscope"], "prof convert -o out.speedscope.json PROFILE"),
    (&["cpuprofile", "chrome", "chrometrace"], "prof convert -o out.cpuprofile PROFILE"),
    (&["callgrind"], "prof convert -o callgrind.out.cpu PROFILE"),
    (&["table", "txt"], "prof top PROFILE; text is the default"),
    (&["md"], "prof top -f markdown PROFILE"),
];

/// The answer to an option that the command lacks, such as `--cum`. `words` is the whole command line.
pub(super) fn answer(option: &str, words: &[OsString]) -> Option<anyhow::Error> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(error) = count(&words) {
        return Some(error);
    }
    let name = option.trim_start_matches('-');
    let command = command(&words);
    if let Some((command, _, instead)) =
        ELSEWHERE.iter().find(|(of, known, _)| *known == name && command.as_deref() == Some(*of))
    {
        return Some(hinted(format!("prof {command} has no option {option}"), *instead));
    }
    if let Some(instead) = go_pprof::instead(name) {
        return Some(of_program(option, "go tool pprof", instead));
    }
    let (program, _, instead) = OPTIONS.iter().find(|(_, known, _)| *known == name)?;
    Some(of_program(option, program, instead))
}

/// The command that writes a format that `--format` does not accept, such as `svg` or `folded`.
pub(super) fn format(value: &str) -> Option<&'static str> {
    let value = value.to_ascii_lowercase();
    FORMATS.iter().find(|(names, _)| names.contains(&&*value)).map(|(_, instead)| *instead)
}

fn of_program(option: &str, program: &str, instead: &str) -> anyhow::Error {
    hinted(format!("{option} is an option of {program}"), instead.to_string())
}

/// Answers `prof top -10`, which is how `head` and `tail` take a number.
fn count(words: &[String]) -> Option<anyhow::Error> {
    let is_count = |word: &String| {
        word.strip_prefix('-')
            .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let place = words.iter().position(is_count)?;
    let mut corrected = words.to_vec();
    corrected[0] = "prof".to_string();
    corrected[place] = format!("-n {}", &words[place][1..]);
    Some(hinted(
        format!("{}: no such option", words[place]),
        format!("-n sets the number of rows: {}", corrected.join(" ")),
    ))
}

/// The name of the command on the command line.
fn command(words: &[String]) -> Option<String> {
    let prof = Prof::command();
    words.get(1).and_then(|word| prof.find_subcommand(word)).map(|command| command.get_name().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::terminal::failure::describe;

    fn said(line: &str, option: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        answer(option, &words).map(|error| describe(&error)).unwrap_or_default()
    }

    #[test]
    fn options_of_other_programs_are_answered() {
        for (line, option, want) in [
            ("prof top -10 cpu.pb.gz", "-1", "prof top -n 10 cpu.pb.gz"),
            ("prof top --cum cpu.pb.gz", "--cum", "prof top --sort total PROFILE"),
            ("prof graph --svg cpu.pb.gz", "--svg", "prof graph out.svg PROFILE"),
            ("prof diff -s total a b", "-s", "prof diff --sort delta"),
            ("prof top --no-children perf.data", "--no-children", "option of perf report"),
            ("prof flame --flamechart x.svg a", "--flamechart", "option of flamegraph.pl"),
            ("prof convert -f pprof a", "-f", "prof convert -o out.folded"),
        ] {
            assert!(said(line, option).contains(want), "{line}: {}", said(line, option));
        }
        assert_eq!(said("prof top --nonsense a", "--nonsense"), "");
    }

    /// Every command and option in the hints has to exist.
    #[test]
    fn hints_name_what_exists() {
        let texts = OPTIONS.iter().chain(ELSEWHERE).map(|(_, _, text)| *text);
        for text in texts.chain(FORMATS.iter().map(|(_, text)| *text)) {
            go_pprof::check_hint(text);
        }
    }

    /// An option that a command has is never taken for that of another program.
    #[test]
    fn our_own_options_are_not_foreign() {
        let prof = Prof::command();
        for (name, option, _) in ELSEWHERE {
            let command = prof.find_subcommand(name).unwrap();
            let has = command.get_arguments().any(|argument| {
                argument.get_long() == Some(option)
                    || argument.get_short().is_some_and(|short| *option == short.to_string())
            });
            assert!(!has, "prof {name} has {option}");
        }
    }
}
