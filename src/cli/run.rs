//! Runs the command on the command line, and reports why it fails.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;

use crate::cli::commands::outcome::{FAILURE, Outcome};
use crate::cli::commands::{self, Command, Parsed};
use crate::cli::input::request::NoSuchFile;
use crate::cli::input::{paths, sets};
use crate::cli::mistakes::{self, similar};
use crate::cli::terminal::failure::{describe, hinted, is_closed_pipe, with_hint, wrapped};
use crate::cli::terminal::messages::print_messages;
use crate::cli::{completion, go_pprof, other_tools, short_help, usage};

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    match completion::answer() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(_) => return ExitCode::from(FAILURE),
    }
    let words: Vec<OsString> = env::args_os().collect();
    if let Some(text) = known_answer(words.get(1..).unwrap_or_default()) {
        return usage::print_help(&text);
    }
    if words.len() == 1 && !paths::is_available() {
        return usage::explain_nothing();
    }
    let result = match sets::read().and_then(|()| with_command(words)) {
        Ok(words) => match Command::parse(&words) {
            Err(error) => return usage::explain(&error, &words),
            Ok(Parsed { command, notes }) => {
                print_messages(notes);
                command.run(mistakes::describe)
            }
        },
        Err(error) => Err(error),
    };
    match result {
        Ok(Outcome(code)) => ExitCode::from(code),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed too, there is nowhere to report it.
            let _ = writeln!(std::io::stderr(), "{}", wrapped(&describe(&explained(error))));
            ExitCode::from(FAILURE)
        }
    }
}

/// The answer to `help TOPIC` and `--version`. Clap does not know topics, and would set up the options of all commands to tell
/// the version.
fn known_answer(words: &[OsString]) -> Option<String> {
    match words {
        [help, topics @ ..] if help == "help" && !topics.is_empty() => {
            short_help::topics(topics.iter().map(|topic| topic.to_string_lossy()))
        }
        [option] if option == "-V" || option == "--version" => {
            Some(concat!("prof ", env!("CARGO_PKG_VERSION"), "\n").to_string())
        }
        _ => None,
    }
}

/// Inserts the command `top` if none was given: `prof PROFILE…` stands for `prof top PROFILE…`. A word that is
/// neither a command nor a file fails here, before clap can complain about options of another command.
fn with_command(mut arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    if let [_, help, option] = &mut arguments[..]
        && help == "help"
        && ["-h", "--help"].iter().any(|word| option == word)
    {
        // Clap's command `help` has no options.
        *option = "help".into();
    }
    let foreign = go_pprof::answer(arguments.get(1..).unwrap_or_default());
    if let Some(error) = foreign.or_else(|| other_tools::not_abbreviated(&arguments)) {
        return Err(error);
    }
    let Some(first) = arguments.get(1) else {
        // The profile comes from the environment or from standard input.
        arguments.push("top".into());
        return Ok(arguments);
    };
    let word = first.to_string_lossy().into_owned();
    // Listing all names and aliases takes as long as inflating 100 kB, so the usual cases avoid it.
    if Command::has_subcommand(&word) || matches!(&*word, "-h" | "--help" | "-V" | "--version") {
        return Ok(arguments);
    }
    let names = commands::names();
    if names.contains(&word) {
        return Ok(arguments);
    }
    let is_option = word.starts_with('-') && word != "-";
    if !is_option && !Path::new(first).exists() {
        if commands::RESERVED.contains(&word.as_str()) {
            let hint = format!("prof --help lists the commands; for a file of this name, type ./{word}");
            return Err(hinted(format!("prof {word}: this name is reserved for a future command"), hint));
        }
        if !word.contains(['.', '/', '\\', ':']) {
            let near = similar(&word, names.iter().map(String::as_str));
            let hint = near.map_or("prof -h lists the commands".to_string(), |near| {
                format!("did you mean the command `prof {near}`?")
            });
            return Err(hinted(format!("{word}: no such command or file"), hint));
        }
    }
    arguments.insert(1, "top".into());
    Ok(arguments)
}

/// Adds a hint to the error for a missing file, which may be a command in the wrong place or a URL.
fn explained(error: anyhow::Error) -> anyhow::Error {
    let missing = match error.downcast::<NoSuchFile>() {
        Ok(missing) => missing,
        Err(error) => return error,
    };
    let NoSuchFile { name, given } = &missing;
    let words: Vec<OsString> = env::args_os().collect();
    let is_after_fold = words.windows(2).any(|pair| pair[0] == "--fold" && pair[1] == **name);
    let hint = if is_after_fold {
        Some(format!("--fold takes a name only after an equals sign: --fold={name}"))
    } else if commands::names().contains(name) {
        let others: Vec<&str> = given.iter().map(String::as_str).filter(|other| other != name).collect();
        Some(format!("the command comes first: prof {name} {}", others.join(" ")))
    } else if name.contains("://") {
        let hint = "only http:// and https:// addresses are fetched: download the profile first, or pipe it in (curl URL | prof top)";
        Some(hint.to_string())
    } else {
        None
    };
    with_hint(missing.to_string(), hint)
}
