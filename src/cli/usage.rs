//! Help, and the answers to invalid command lines.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::commands::Prof;
use crate::cli::commands::outcome::FAILURE;
use crate::cli::other_tools;
use crate::cli::short_help;
use crate::cli::terminal::failure::{describe, shortened, wrapped};
use crate::cli::terminal::pager;

/// Prints clap's error, which may also be the requested help, and returns the exit code.
pub(super) fn explain(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    let option = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => Some(option.clone()),
        _ => None,
    };
    if let Some(answer) = option.as_ref().and_then(|option| other_tools::answer(option, words)) {
        eprintln!("{}", wrapped(&describe(&answer)));
        return ExitCode::from(FAILURE);
    }
    if option.is_some() {
        // Clap suggests that an unknown option may be a file after `--`, which never helps here.
        error.remove(ContextKind::Suggested);
    }
    if let Some(ContextValue::String(alias)) = error.get(ContextKind::SuggestedArg)
        && let Some(name) = own_name(alias)
    {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(name));
    }
    if error.kind() == ErrorKind::DisplayHelp {
        return help(&error, words);
    }
    // If the terminal is closed, there is nowhere to report it.
    let text = error.render().to_string();
    let message = wrapped(&shortened(text.trim_end()));
    let _ = if error.use_stderr() && message != text.trim_end() {
        writeln!(io::stderr(), "{message}")
    } else {
        error.print()
    };
    if let Some(hint) = option.and_then(|option| elsewhere(&option)).or_else(|| of_value(&error)) {
        eprintln!("{}", wrapped(&format!("hint: {hint}")));
    }
    match error.exit_code() {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::from(FAILURE),
    }
}

/// Prints the requested help: `-h` fits one screen, `--help` goes through the pager if it is
/// longer.
fn help(error: &clap::Error, words: &[OsString]) -> ExitCode {
    let is_short = words.iter().any(|word| word == "-h");
    let mut prof = Prof::command();
    prof.build();
    let command = words.get(1).and_then(|word| prof.find_subcommand(word)).filter(|_| is_short);
    let text = match command {
        Some(command) => short_help::of_command(command),
        None if words.len() == 2 && is_short => short_help::of_program(&prof),
        // Clap's own text for `help` does not mention topics.
        None => {
            let text = error.render().to_string();
            text.replace(CLAP_ON_HELP, ON_HELP).replace(CLAP_ON_ARGUMENT, ON_ARGUMENT)
        }
    };
    print_help(&text);
    ExitCode::SUCCESS
}

/// How clap describes the command `help`, and how it is described here.
const CLAP_ON_HELP: &str = "Print this message or the help of the given subcommand(s)";
const CLAP_ON_ARGUMENT: &str = "Print help for the subcommand(s)";
const ON_ARGUMENT: &str = "A command or a topic";
const ON_HELP: &str =
    "Print this help, or the help of a command or a topic (filters, input, servers, output)";

/// Prints a text, through the pager if it is longer than the screen.
pub(super) fn print_help(text: &str) {
    let is_paged = pager::is_needed(text.as_bytes()) && pager::show(text.as_bytes()).unwrap_or(false);
    if !is_paged {
        // If the terminal is closed, there is nowhere to report it.
        let _ = io::stdout().write_all(text.as_bytes());
    }
}

/// The command that writes a format that `--format` does not accept.
fn of_value(error: &clap::Error) -> Option<String> {
    match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::String(option)), Some(ContextValue::String(value)))
            if option.starts_with("--format") =>
        {
            other_tools::format(value).map(str::to_string)
        }
        _ => None,
    }
}

/// The commands that have an option which this one lacks: `--depth is an option of prof tree`.
fn elsewhere(option: &str) -> Option<String> {
    let prof = Prof::command();
    let has = |command: &&clap::Command| command.get_arguments().any(|argument| is_called(argument, option));
    let commands: Vec<String> =
        prof.get_subcommands().filter(has).map(|command| format!("prof {}", command.get_name())).collect();
    (!commands.is_empty()).then(|| format!("{option} is an option of {}", commands.join(", ")))
}

/// The name of an option that clap suggests by a hidden alias: `--hide-stacks` for `--ignore`, which help does not mention.
fn own_name(alias: &str) -> Option<String> {
    let alias = alias.strip_prefix("--")?;
    let prof = Prof::command();
    let is_hidden = |argument: &&clap::Arg| {
        argument.get_all_aliases().unwrap_or_default().contains(&alias)
            && !argument.get_visible_aliases().unwrap_or_default().contains(&alias)
    };
    prof.get_subcommands()
        .find_map(|command| command.get_arguments().find(is_hidden)?.get_long())
        .map(|long| format!("--{long}"))
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
    fn options_of_other_commands_are_explained() {
        assert_eq!(elsewhere("--depth").unwrap(), "--depth is an option of prof tree");
        assert_eq!(elsewhere("--budget").unwrap(), "--budget is an option of prof diff");
        assert!(elsewhere("-n").unwrap().starts_with("-n is an option of prof top"));
        assert_eq!(elsewhere("--nonsense"), None);
    }

    #[test]
    fn hidden_aliases_are_not_suggested() {
        assert_eq!(own_name("--ignore").unwrap(), "--hide-stacks");
        assert_eq!(own_name("--hide-stacks"), None);
        // Visible in the help of `tree`.
        assert_eq!(own_name("--invert"), None);
    }
}
