//! What a command line that cannot be understood is told.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::commands::Prof;
use crate::cli::failure::describe;
use crate::cli::foreign;
use crate::cli::pager;
use crate::cli::run::FAILURE;
use crate::cli::short_help;

/// Prints what clap has to say, which may be the help that was asked for, and returns the exit code.
pub(super) fn explain(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    let option = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => Some(option.clone()),
        _ => None,
    };
    if let Some(answer) = option.as_ref().and_then(|option| foreign::answer(option, words)) {
        eprintln!("{}", describe(&answer));
        return ExitCode::from(FAILURE);
    }
    if option.is_some() {
        // That an unknown option may be meant as a file, behind `--`, is never what is wrong here.
        error.remove(ContextKind::Suggested);
    }
    if error.kind() == ErrorKind::DisplayHelp {
        return help(&error, words);
    }
    // Nothing can be done where the terminal is closed.
    let _ = error.print();
    if let Some(hint) = option.and_then(|option| elsewhere(&option)).or_else(|| of_value(&error)) {
        eprintln!("hint: {hint}");
    }
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILURE),
    }
}

/// Prints the help that was asked for: `-h` of a command on one screen, `--help` by the pager where it is
/// longer than the screen.
fn help(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let is_short = words.iter().any(|word| word == "-h");
    let mut prof = Prof::command();
    prof.build();
    let command = words.get(1).and_then(|word| prof.find_subcommand(word)).filter(|_| is_short);
    let text = match command {
        Some(command) => short_help::of_command(command),
        None => error.render().to_string(),
    };
    print_help(&text);
    ExitCode::SUCCESS
}

/// Prints a text, by the pager where it is longer than the screen.
pub(super) fn print_help(text: &str) {
    let is_paged = pager::is_needed(text.as_bytes()) && pager::show(text.as_bytes()).unwrap_or(false);
    if !is_paged {
        // Nothing can be done where the terminal is closed.
        let _ = io::stdout().write_all(text.as_bytes());
    }
}

/// What writes the form that `--format` does not take.
fn of_value(error: &clap::Error) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::String(option)), Some(ContextValue::String(value)))
            if option.starts_with("--format") =>
        {
            foreign::format(value).map(str::to_string)
        }
        _ => None,
    }
}

/// Which commands have an option that another one does not: `--depth is an option of prof tree`.
fn elsewhere(option: &str) -> Option<String> {
    let prof = Prof::command();
    let has = |command: &&clap::Command| command.get_arguments().any(|argument| is_called(argument, option));
    let commands: Vec<String> =
        prof.get_subcommands().filter(has).map(|command| format!("prof {}", command.get_name())).collect();
    (!commands.is_empty()).then(|| format!("{option} is an option of {}", commands.join(", ")))
}

fn is_called(argument: &clap::Arg, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            argument.get_long() == Some(long) || aliases.contains(&long)
        }
        None => {
            option.strip_prefix('-').and_then(|short| short.chars().next()) == argument.get_short()
                && argument.get_short().is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_other_commands_are_told() {
        assert_eq!(elsewhere("--depth").unwrap(), "--depth is an option of prof tree");
        assert_eq!(elsewhere("--budget").unwrap(), "--budget is an option of prof diff");
        assert!(elsewhere("-n").unwrap().starts_with("-n is an option of prof top"));
        assert_eq!(elsewhere("--nonsense"), None);
    }
}
