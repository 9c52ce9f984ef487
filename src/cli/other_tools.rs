//! Options that people know from other profilers. Each gets a hint with the equivalent in `prof`.
//!
//! Only options that the command lacks are looked up here: `prof diff --sort` gets a hint, while
//! `prof top --sort` is an option of ours.

use std::ffi::OsString;

use clap::CommandFactory;

use crate::cli::commands::Prof;
use crate::cli::hints::hint;
use crate::cli::terminal::failure::hinted;

/// The answer to an option that the command lacks, such as `--cum`. `words` is the whole command line.
pub(super) fn answer(option: &str, words: &[OsString]) -> Option<anyhow::Error> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(error) = count(&words) {
        return Some(error);
    }
    let name = option.trim_start_matches('-');
    if let Some(command) = command(&words)
        && let Some((_, instead)) = hint(&format!("not in {command}"), name)
    {
        return Some(hinted(format!("prof {command} has no option {option}"), instead));
    }
    let (program, instead) = hint("option of ", name)?;
    Some(hinted(format!("{option} is an option of {program}"), instead))
}

/// Options of other programs that would pass for the start of one of ours: perf's `--time 10%-20%` for `--timeout`.
const ABBREVIATIONS: [&str; 3] = ["input", "time", "trim"];

/// The answer to the first of these that the command lacks. Clap takes the start of an option's name for the option.
pub(super) fn not_abbreviated(words: &[OsString]) -> Option<anyhow::Error> {
    let options = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    let names = options.filter_map(|word| Some(word.strip_prefix("--")?.split('=').next()?.to_string()));
    let name = names.into_iter().find(|name| ABBREVIATIONS.contains(&&**name))?;
    let prof = Prof::command();
    // Without a command, it is `top`.
    let command = words.get(1).and_then(|word| prof.find_subcommand(word));
    let command = command.or_else(|| prof.find_subcommand("top"))?;
    let is_own = command.get_arguments().any(|argument| argument.get_long() == Some(&*name));
    if is_own { None } else { answer(&format!("--{name}"), words) }
}

/// The command that writes a format that `--format` does not accept, such as `svg` or `folded`.
pub(super) fn format(value: &str) -> Option<&'static str> {
    hint("format", &value.to_ascii_lowercase()).map(|(_, instead)| instead)
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
    use crate::cli::hints::hints;
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
            ("prof top --comm worker perf.data", "--comm", "prof top --thread NAME PROFILE"),
            ("prof flame --flamechart x.svg a", "--flamechart", "option of flamegraph.pl"),
            ("prof convert -f pprof a", "-f", "prof convert -o out.folded"),
        ] {
            assert!(said(line, option).contains(want), "{line}: {}", said(line, option));
        }
        assert_eq!(said("prof top --nonsense a", "--nonsense"), "");
    }

    #[test]
    fn options_of_other_programs_are_no_abbreviations() {
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            not_abbreviated(&words).map(|error| describe(&error)).unwrap_or_default()
        };
        assert!(said("prof top --time 10%-20% perf.data").contains("prof top --from 1s --to 5s PROFILE"));
        assert!(said("prof top --time=5 perf.data").contains("--time is an option of perf report"));
        assert!(said("prof --time 5 perf.data").contains("--time is an option of perf report"));
        for line in ["prof flame --time x.svg a", "prof top --timeout 5 a", "prof focus -- --time a"] {
            assert_eq!(said(line), "", "{line}");
        }
        // What is hinted at is what the abbreviation means, or it is one of the list.
        let prof = Prof::command();
        let mut taken: Vec<&str> = Vec::new();
        for command in prof.get_subcommands() {
            let own: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
            for (_, name, instead) in hints("option of ").filter(|(_, name, _)| !own.contains(name)) {
                let meant: Vec<&&str> = own.iter().filter(|own| own.starts_with(name)).collect();
                if let [one] = meant[..]
                    && !instead.contains(&format!("--{one}"))
                    && name.len() > 1
                {
                    taken.push(name);
                }
            }
        }
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken, ABBREVIATIONS);
    }
}
