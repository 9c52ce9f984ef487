//! Commands and options of `go tool pprof` that people type out of habit, and commands of other profilers. Each
//! gets a hint with the equivalent in `prof`.
//!
//! Go's options begin with one dash, as short options do here: `-http=:8080` would mean `-h`, and
//! `-nodecount=10` a limit of `odecount=10`.

use std::ffi::OsString;
use std::path::Path;

use clap::Subcommand;

use crate::cli::commands::{self, Command};
use crate::cli::hints::hint;
use crate::cli::terminal::failure::hinted;

/// The answer to the first word that is meant for `go tool pprof`. The words start after the program's name.
pub(super) fn answer(words: &[OsString]) -> Option<anyhow::Error> {
    if let Some(error) = words.first().and_then(|word| of_shell(&word.to_string_lossy())) {
        return Some(error);
    }
    let options = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--");
    options.into_iter().find_map(|word| {
        // Options with two dashes are ours.
        let name = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let (name, value) = name.split_once('=').unwrap_or((name, ""));
        let instead = instead_of_option(name)?;
        let message = format!("{word} is an option of go tool pprof");
        Some(hinted(message, with_value(instead, name, value)))
    })
}

/// What to type instead, with the number that was typed: `prof top -n 5 PROFILE` for `-nodecount=5`. Fractions become percentages.
fn with_value(instead: &str, name: &str, value: &str) -> String {
    let Ok(number) = value.parse::<f64>() else { return instead.to_string() };
    let number = if name.ends_with("fraction") { number * 100.0 } else { number };
    let is_number = |word: &&str| word.parse::<f64>().is_ok();
    match instead.split(' ').find(is_number) {
        Some(example) => instead.replacen(&format!(" {example} "), &format!(" {number} "), 1),
        None => instead.to_string(),
    }
}

/// What to type instead of an option of `go tool pprof`, given without its dash.
fn instead_of_option(option: &str) -> Option<&'static str> {
    hint("option of go tool pprof", option).map(|(_, instead)| instead)
}

/// `top10`, `web`: commands of the interactive shell.
fn of_shell(word: &str) -> Option<anyhow::Error> {
    // Looking for a command among the hints takes longer than reading a small profile.
    if Command::has_subcommand(word) || Path::new(word).exists() {
        return None;
    }
    let message = format!("{word} is a command of go tool pprof");
    if let Some(count) = word.strip_prefix("top").and_then(|count| count.parse::<u32>().ok()) {
        return Some(hinted(message, format!("prof top -n {count} PROFILE")));
    }
    let (message, instead) = match hint("command of ", word) {
        Some((program, instead)) => (format!("{word} is a command of {program}"), instead),
        // The commands of pprof's shell are options, too.
        None => (message, instead_of_option(word)?),
    };
    // Listing the names takes long, so only what could be a mistake is looked for among them.
    (!commands::names().contains(&word.to_string())).then(|| hinted(message, instead))
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
            ("-http=:8080 cpu.pb.gz", "prof open PROFILE"),
            ("-top cpu.pb.gz", "prof top PROFILE"),
            ("top -cum cpu.pb.gz", "--sort total"),
            ("top -nodecount=5 cpu.pb.gz", "prof top -n 5 PROFILE"),
            ("-edgefraction=0.1 cpu.pb.gz", "prof graph --min-edge 10 PROFILE, in percent"),
            ("-diff_base old.pb.gz new.pb.gz", "prof diff OLD NEW"),
            ("-sample_index=alloc_space heap.pb.gz", "--metric NAME"),
            ("-list main cpu.pb.gz", "prof source FUNC"),
            ("top10", "prof top -n 10"),
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
}
