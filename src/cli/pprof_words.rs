//! Words that hands trained on `go tool pprof` type: each is answered with the form that `prof` has.
//!
//! Go's options begin with one dash, which here begins short options: `-http=:8080` would be `-h`, and
//! `-nodecount=10` a limit of `odecount=10`.

use std::ffi::OsString;
use std::path::Path;

use crate::cli::failure::hinted;

/// Options of `go tool pprof`, and what to type instead.
const OPTIONS: &[(&str, &str)] = &[
    ("addresses", "prof top --by address"),
    ("base", "prof top --base OLD NEW"),
    ("callgrind", "prof convert -o callgrind.out.cpu PROFILE"),
    ("call_tree", "prof tree PROFILE"),
    ("comments", "prof info PROFILE"),
    ("cum", "prof top --sort total PROFILE"),
    ("diff_base", "prof top --base OLD NEW; prof diff OLD NEW says what is more than noise"),
    ("disasm", "prof source FUNC PROFILE shows lines; instructions are not shown"),
    ("dot", "prof graph out.dot PROFILE"),
    ("edgefraction", "prof graph --min-edge 0.1 PROFILE, in percent"),
    ("files", "prof top --by file PROFILE"),
    ("flat", "prof top --sort self PROFILE"),
    ("focus", "prof top --show-stacks RE PROFILE"),
    ("functions", "prof top PROFILE, which lists functions"),
    ("granularity", "prof top --by line PROFILE; or function, file, address"),
    ("hide", "prof top --hide-frames RE PROFILE"),
    ("http", "prof flame out.html PROFILE: a page of one file, without a server"),
    ("ignore", "prof top --hide-stacks RE PROFILE"),
    ("lines", "prof top --by line PROFILE"),
    ("list", "prof source FUNC PROFILE"),
    ("mean", "prof top --per-event PROFILE"),
    ("nodecount", "prof top -n 10 PROFILE"),
    ("nodefraction", "prof top --min-share 0.5 PROFILE, in percent"),
    ("noinlines", "prof top --no-inlines PROFILE"),
    ("normalize", "prof top --base OLD --normalize total NEW"),
    ("output", "-o OUT"),
    ("peek", "prof focus FUNC PROFILE"),
    ("png", "prof graph out.svg PROFILE"),
    ("proto", "prof convert -o merged.pb.gz PROFILE..."),
    ("prune_from", "prof top --prune-from RE PROFILE"),
    ("raw", "prof traces -f json PROFILE"),
    ("relative_percentages", "prof prints both shares, of all and of what is shown, where a filter is given"),
    ("sample_index", "prof top --metric NAME PROFILE; prof info lists the metrics"),
    ("seconds", "nothing is fetched: record, then prof top PROFILE"),
    ("show", "prof top --show-frames RE PROFILE"),
    ("show_from", "prof top --show-from RE PROFILE"),
    ("source_path", "prof source FUNC --source-path DIR PROFILE"),
    ("svg", "prof graph out.svg PROFILE"),
    ("symbolize", "--symbolize never, or --binary PATH"),
    ("tagfocus", "prof top --label KEY=VALUE PROFILE"),
    ("tagignore", "prof top --hide-label KEY=VALUE PROFILE"),
    ("tagleaf", "prof tree --label-leaf KEY PROFILE"),
    ("tagroot", "prof tree --label-root KEY PROFILE"),
    ("tags", "prof labels PROFILE"),
    ("text", "prof top PROFILE"),
    ("top", "prof top PROFILE"),
    ("traces", "prof traces PROFILE"),
    ("tree", "prof graph PROFILE lists all calls, prof focus FUNC PROFILE those of one function"),
    ("trim_path", "prof source FUNC --trim-path PREFIX PROFILE"),
    ("unit", "prof top --unit ms PROFILE"),
    ("web", "prof graph out.svg PROFILE"),
    ("weblist", "prof source FUNC PROFILE"),
];

/// Commands of its shell that are none of ours, beside those that are options too.
const COMMANDS: &[(&str, &str)] =
    &[("pprof", "prof top PROFILE: the command comes first"), ("gif", "prof graph out.svg PROFILE")];

/// What to say to the first word that is meant for `go tool pprof`; the words start behind the program's
/// name.
pub(super) fn answer(words: &[OsString]) -> Option<anyhow::Error> {
    if let Some(error) = words.first().and_then(|word| of_shell(&word.to_string_lossy())) {
        return Some(error);
    }
    let options = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    options.into_iter().find_map(|word| {
        // Two dashes are ours; a single letter is a short option.
        let name = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let name = name.split('=').next().unwrap_or(name);
        let (_, instead) = OPTIONS.iter().find(|(option, _)| *option == name)?;
        let message = format!("{word}: this is an option of go tool pprof");
        Some(hinted(message, format!("the same here: {instead}")))
    })
}

/// `top10`, `web`: commands of the interactive shell.
fn of_shell(word: &str) -> Option<anyhow::Error> {
    if Path::new(word).exists() {
        return None;
    }
    let message = format!("{word}: this is a command of go tool pprof");
    if let Some(count) = word.strip_prefix("top").and_then(|count| count.parse::<u32>().ok()) {
        return Some(hinted(message, format!("the same here: prof top -n {count} PROFILE")));
    }
    let ours = super::commands::names();
    let theirs = COMMANDS.iter().chain(OPTIONS);
    let (_, instead) =
        theirs.into_iter().find(|(name, _)| *name == word && !ours.contains(&word.to_string()))?;
    Some(hinted(message, format!("the same here: {instead}")))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::commands::Prof;
    use crate::cli::failure::describe;

    fn said(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        answer(&words).map(|error| describe(&error))
    }

    #[test]
    fn words_of_pprof_are_answered_with_ours() {
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

    /// What is offered has to be there: every option and command in the hints is one of ours.
    #[test]
    fn hints_name_what_exists() {
        let prof = Prof::command();
        for (word, instead) in OPTIONS.iter().chain(COMMANDS) {
            let words: Vec<&str> = instead.split([' ', ',', ';', ':']).collect();
            for pair in words.windows(2).filter(|pair| pair[0] == "prof" && pair[1] != "prints") {
                assert!(prof.find_subcommand(pair[1]).is_some(), "{word}: prof {}", pair[1]);
            }
            for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
                let has = |command: &clap::Command| {
                    command.get_arguments().any(|argument| argument.get_long() == Some(option))
                };
                assert!(prof.get_subcommands().any(has), "{word}: --{option}");
            }
        }
    }
}
