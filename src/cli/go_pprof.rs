//! Commands and options of `go tool pprof` that people type out of habit, and commands of other profilers. Each
//! gets a hint with the equivalent in `prof`.
//!
//! Go's options begin with one dash, as short options do here: `-http=:8080` would mean `-h`, and
//! `-nodecount=10` a limit of `odecount=10`.

use std::ffi::OsString;
use std::path::Path;

use clap::Subcommand;

use crate::cli::commands::{self, Command};
use crate::cli::terminal::failure::hinted;

/// Each option of `go tool pprof`, and what to type instead.
const OPTIONS: &[(&str, &str)] = &[
    ("add_comment", "prof info PROFILE shows comments; prof cannot add any"),
    ("addresses", "prof top --by address"),
    ("all_frames", "prof top --all-frames PROFILE"),
    ("alloc_objects", "prof top --metric alloc_objects PROFILE"),
    ("alloc_space", "prof top --metric alloc_space PROFILE"),
    ("base", "prof top --base OLD NEW"),
    ("buildid", "prof info PROFILE shows the build ID, if the profile has one"),
    ("call_tree", "prof tree PROFILE"),
    ("callgrind", "prof convert -o callgrind.out.cpu PROFILE"),
    ("comments", "prof info PROFILE"),
    ("compact_labels", "prof labels PROFILE"),
    ("contentions", "prof top --metric contentions PROFILE"),
    ("cum", "prof top --sort total PROFILE"),
    ("diff_base", "prof top --base OLD NEW; prof diff OLD NEW tells changes from noise"),
    ("disasm", "prof source FUNC PROFILE shows lines; instructions are not shown"),
    ("divide_by", "prof top --unit ms PROFILE converts the unit"),
    ("dot", "prof graph out.dot PROFILE"),
    ("drop_negative", "prof top --base OLD NEW --sort -delta lists decreases first"),
    ("edgefraction", "prof graph --min-edge 0.1 PROFILE, in percent"),
    ("eog", "prof flame out.svg PROFILE"),
    ("evince", "prof flame out.svg PROFILE"),
    ("filefunctions", "prof top --columns self,total,file PROFILE"),
    ("files", "prof top --by file PROFILE"),
    ("flat", "prof top --sort self PROFILE"),
    ("focus", "prof top --show-stacks RE PROFILE"),
    ("functions", "prof top PROFILE, which lists functions"),
    ("gif", "prof graph out.svg PROFILE"),
    ("granularity", "prof top --by line PROFILE; or function, file, address"),
    ("gv", "prof graph out.svg PROFILE"),
    ("hide", "prof top --hide-frames RE PROFILE"),
    ("http", "prof flame out.html PROFILE writes an interactive page; no server needed"),
    ("ignore", "prof top --hide-stacks RE PROFILE"),
    ("intel_syntax", "instructions are not shown; prof source FUNC PROFILE shows lines"),
    ("inuse_objects", "prof top --metric inuse_objects PROFILE"),
    ("inuse_space", "prof top --metric inuse_space PROFILE"),
    ("kcachegrind", "prof convert -o callgrind.out.cpu PROFILE, then open that file in KCachegrind"),
    ("lines", "prof top --by line PROFILE"),
    ("list", "prof source FUNC PROFILE"),
    ("mean", "prof top --per-event PROFILE"),
    ("mean_delay", "prof top --metric delay --per-event PROFILE"),
    ("no_browser", "prof flame out.html PROFILE writes a page and opens no browser"),
    ("nodecount", "prof top -n 10 PROFILE"),
    ("nodefraction", "prof top --min-share 0.5 PROFILE, in percent"),
    ("noinlines", "prof top --no-inlines PROFILE"),
    ("normalize", "prof top --base OLD --normalize total NEW"),
    ("output", "-o OUT"),
    ("pdf", "prof graph out.svg PROFILE"),
    ("peek", "prof focus FUNC PROFILE"),
    ("png", "prof graph out.svg PROFILE"),
    ("proto", "prof convert -o merged.pb.gz PROFILE..."),
    ("prune_from", "prof top --prune-from RE PROFILE"),
    ("ps", "prof graph out.svg PROFILE"),
    ("raw", "prof traces -f json PROFILE"),
    ("relative_percentages", "with a filter, prof prints both shares: of all and of what is shown"),
    ("sample_index", "prof top --metric NAME PROFILE; prof info lists the metrics"),
    ("seconds", "prof top --seconds N http://host:6060"),
    ("show", "prof top --show-frames RE PROFILE"),
    ("show_from", "prof top --show-from RE PROFILE"),
    ("showcolumns", "prof top --by line PROFILE"),
    ("source_path", "prof source FUNC --source-path DIR PROFILE"),
    ("svg", "prof graph out.svg PROFILE"),
    ("symbolize", "--symbolize never, or --binary PATH"),
    ("tagfocus", "prof top --label KEY=VALUE PROFILE"),
    ("taghide", "prof top --hide-label KEY=VALUE PROFILE"),
    ("tagignore", "prof top --hide-label KEY=VALUE PROFILE"),
    ("tagleaf", "prof tree --label-leaf KEY PROFILE"),
    ("tagroot", "prof tree --label-root KEY PROFILE"),
    ("tags", "prof labels PROFILE"),
    ("tagshow", "prof labels PROFILE"),
    ("text", "prof top PROFILE"),
    ("timeout", "prof top --timeout N http://host:6060"),
    ("tls_ca", "prof top --tls-ca FILE https://host:6060/debug/pprof/heap"),
    ("tls_cert", "prof top --tls-cert FILE https://host:6060/debug/pprof/heap"),
    ("tls_key", "prof top --tls-cert FILE --tls-key FILE https://host:6060/debug/pprof/heap"),
    ("tools", "prof top --binary PATH PROFILE"),
    ("top", "prof top PROFILE"),
    ("topproto", "prof convert -o out.pb.gz PROFILE"),
    ("total_delay", "prof top --metric delay PROFILE"),
    ("traces", "prof traces PROFILE"),
    ("tree", "prof graph PROFILE lists all calls, prof focus FUNC PROFILE those of one function"),
    ("trim", "prof top -n 0 PROFILE lists everything"),
    ("trim_path", "prof source FUNC --trim-path PREFIX PROFILE"),
    ("unit", "prof top --unit ms PROFILE"),
    ("web", "prof graph out.svg PROFILE"),
    ("weblist", "prof source FUNC PROFILE"),
];

/// Commands of other profilers that `prof` does not have. (The commands of pprof's shell are options too, and
/// are listed above.)
#[rustfmt::skip] // One row per command.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("pprof", "go tool pprof", "prof top PROFILE"),
    ("record", "perf and py-spy", "prof does not record: use perf, py-spy or another profiler, then prof top PROFILE"),
    ("script", "perf", "prof traces PROFILE"),
    ("annotate", "perf", "prof source FUNC PROFILE"),
    ("flamegraph", "cargo", "prof flame out.svg PROFILE"),
    ("flamegraph.pl", "FlameGraph", "prof flame out.svg PROFILE"),
    ("difffolded.pl", "FlameGraph", "prof flame out.svg --base OLD NEW"),
    ("stackcollapse-perf.pl", "FlameGraph", "prof convert -o out.folded PROFILE"),
    ("collapse", "inferno", "prof convert -o out.folded PROFILE"),
    ("speedscope", "speedscope", "prof flame out.html PROFILE, or prof convert -o out.speedscope.json PROFILE"),
    ("dump", "py-spy", "prof traces PROFILE"),
    ("compare", "other profilers", "prof diff OLD NEW"),
];

/// What to type instead of an option of `go tool pprof`, given without its dash.
pub(super) fn instead(option: &str) -> Option<&'static str> {
    OPTIONS.iter().find(|(known, _)| *known == option).map(|(_, instead)| *instead)
}

/// The answer to the first word that is meant for `go tool pprof`. The words start after the program's name.
pub(super) fn answer(words: &[OsString]) -> Option<anyhow::Error> {
    if let Some(error) = words.first().and_then(|word| of_shell(&word.to_string_lossy())) {
        return Some(error);
    }
    let options = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    options.into_iter().find_map(|word| {
        // Options with two dashes are ours.
        let name = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let name = name.split('=').next().unwrap_or(name);
        let instead = instead(name)?;
        let message = format!("{word} is an option of go tool pprof");
        Some(hinted(message, instead.to_string()))
    })
}

/// `top10`, `web`: commands of the interactive shell.
fn of_shell(word: &str) -> Option<anyhow::Error> {
    if Path::new(word).exists() {
        return None;
    }
    let message = format!("{word} is a command of go tool pprof");
    if let Some(count) = word.strip_prefix("top").and_then(|count| count.parse::<u32>().ok()) {
        return Some(hinted(message, format!("prof top -n {count} PROFILE")));
    }
    let (message, instead) = match COMMANDS.iter().find(|(name, ..)| *name == word) {
        Some((_, program, instead)) => (format!("{word} is a command of {program}"), *instead),
        None => (message, instead(word)?),
    };
    // Listing the names takes long, so only what could be a mistake is looked for among them.
    let is_ours = Command::has_subcommand(word) || commands::names().contains(&word.to_string());
    (!is_ours).then(|| hinted(message, instead.to_string()))
}

/// Checks that the commands and options in a hint exist.
#[cfg(test)]
pub(super) fn check_hint(hint: &str) {
    use clap::CommandFactory;
    const PROSE: [&str; 6] = ["always", "cannot", "chooses", "does", "prints", "writes"];
    let prof = crate::cli::commands::Prof::command();
    let words: Vec<&str> = hint.split([' ', ',', ';', ':']).collect();
    for pair in words.windows(2).filter(|pair| pair[0] == "prof" && !PROSE.contains(&pair[1])) {
        assert!(prof.find_subcommand(pair[1]).is_some(), "{hint}: prof {}", pair[1]);
    }
    for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
        let has = |command: &clap::Command| {
            command.get_arguments().any(|argument| argument.get_long() == Some(option))
        };
        assert!(prof.get_subcommands().any(has), "{hint}: --{option}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::terminal::failure::describe;

    fn said(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        answer(&words).map(|error| describe(&error))
    }

    #[test]
    fn words_of_pprof_get_a_hint() {
        for (line, want) in [
            ("-http=:8080 cpu.pb.gz", "prof flame out.html"),
            ("-top cpu.pb.gz", "prof top PROFILE"),
            ("top -cum cpu.pb.gz", "--sort total"),
            ("top -nodecount=10 cpu.pb.gz", "prof top -n 10"),
            ("-diff_base old.pb.gz new.pb.gz", "prof diff OLD NEW"),
            ("-sample_index=alloc_space heap.pb.gz", "--metric NAME"),
            ("-list main cpu.pb.gz", "prof source FUNC"),
            ("top10", "prof top -n 10"),
            ("web", "prof graph out.svg"),
        ] {
            assert!(said(line).is_some_and(|text| text.contains(want)), "{line}: {:?}", said(line));
        }
    }

    #[test]
    fn our_own_words_pass() {
        for line in
            ["top -n 10 -s total cpu.pb.gz", "list main cpu.pb.gz", "top -- -top", "--base a b", "x.pb.gz"]
        {
            assert_eq!(said(line), None, "{line}");
        }
    }

    /// Every option and command in the hints has to exist.
    #[test]
    fn hints_name_what_exists() {
        for instead in OPTIONS.iter().map(|(_, text)| text).chain(COMMANDS.iter().map(|(_, _, text)| text)) {
            check_hint(instead);
        }
    }
}
