//! Answers shells that ask for completions.

use std::env;
use std::io::{self, Write};

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::env::Shells;

use crate::cli::commands::Prof;
use crate::cli::input::sets;
use crate::cli::options::completion::VARIABLE;

/// Prints completions if a shell asks for them. Returns whether one did.
pub(crate) fn answer() -> io::Result<bool> {
    let Some(shell) = env::var(VARIABLE).ok().filter(|shell| !shell.is_empty()) else { return Ok(false) };
    // The named sets are completed, too. A file that cannot be read is for the command to report.
    let _ = sets::read();
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&shell) else { return Ok(false) };
    let words = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let mut answer = Vec::new();
    // `prof cpu.pb.gz` is `prof top cpu.pb.gz`, so files are offered along with commands.
    let mut prof = Prof::command().arg(Arg::new("profile").value_hint(ValueHint::AnyPath));
    for name in Prof::command().get_subcommands().map(|command| command.get_name().to_string()) {
        prof = prof.mut_subcommand(name, with_hidden_aliases);
    }
    // A line that cannot be completed is not an error: the shell then offers nothing.
    if shell.write_complete(&mut prof, words, env::current_dir().ok().as_deref(), &mut answer).is_ok() {
        io::stdout().write_all(&answer)?;
    }
    Ok(true)
}

/// Hides the aliases of a command: they can be completed when typed, but `flat` is not offered next to `top`.
fn with_hidden_aliases(command: Command) -> Command {
    let aliases: Vec<String> = command.get_visible_aliases().map(str::to_string).collect();
    command.visible_alias(None).aliases(aliases)
}
