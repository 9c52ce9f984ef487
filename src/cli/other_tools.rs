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
}
