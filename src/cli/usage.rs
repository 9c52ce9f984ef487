//! Help, and the answers to invalid command lines.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use crate::cli::commands::Prof;
use crate::cli::commands::outcome::FAILURE;
use crate::cli::mistakes;
use crate::cli::short_help;
use crate::cli::terminal::failure::{describe, wrapped};
use crate::cli::terminal::pager;

/// Answers a command line that clap does not run: prints the requested help, or what is wrong, and returns the exit code.
pub(super) fn explain(error: &clap::Error, words: &[OsString]) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp => help(error, words),
        ErrorKind::DisplayVersion => print_help(&error.render().to_string()),
        _ => {
            eprintln!("{}", wrapped(&describe(&mistakes::describe(error, words))));
            ExitCode::from(FAILURE)
        }
    }
}

/// Answers `prof` without a command and without a profile.
pub(super) fn explain_nothing() -> ExitCode {
    let mut prof = Prof::command();
    prof.build();
    eprint!("{}", short_help::of_program(&prof));
    if !io::stdin().is_terminal() {
        eprintln!("\nerror: no profile given, and standard input is empty");
    }
    ExitCode::from(FAILURE)
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
    print_help(&text)
}

/// How clap describes the command `help`, and how it is described here.
const CLAP_ON_HELP: &str = "Print this message or the help of the given subcommand(s)";
const CLAP_ON_ARGUMENT: &str = "Print help for the subcommand(s)";
const ON_ARGUMENT: &str = "A command or a topic";
const ON_HELP: &str =
    "Print this help, or the help of a command or a topic (filters, input, servers, output)";

/// Prints a text, through the pager if it is longer than the screen, and returns the exit code.
pub(super) fn print_help(text: &str) -> ExitCode {
    let is_paged = pager::is_needed(text.as_bytes()) && pager::show(text.as_bytes()).unwrap_or(false);
    let mut out = io::stdout();
    let printed = if is_paged { Ok(()) } else { out.write_all(text.as_bytes()).and_then(|()| out.flush()) };
    match printed {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            // If standard error is closed too, there is nowhere to report it.
            let _ = writeln!(io::stderr(), "error: standard output: {error}");
            ExitCode::from(FAILURE)
        }
        _ => ExitCode::SUCCESS,
    }
}
