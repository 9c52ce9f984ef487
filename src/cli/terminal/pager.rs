//! Shows text that is longer than the screen in `$PAGER`.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use terminal_size::{Height, terminal_size};

/// The pager if `$PAGER` is not set.
const DEFAULT: &str = "less";

/// Characters that only a shell understands.
const SHELL_CHARACTERS: &str = "|&;<>()$`\\\"'*?[#~=%";

/// The options of `less` if `$LESS` is not set: quit if the text fits the screen, show colours, and leave the
/// text on the screen at the end.
const LESS: &str = "FRX";

/// Whether the text is longer than the screen. Always false if standard output is not a terminal.
pub(crate) fn is_needed(text: &[u8]) -> bool {
    if !io::stdout().is_terminal() {
        return false;
    }
    let lines = memchr::memchr_iter(b'\n', text).count();
    terminal_size().is_some_and(|(_, Height(height))| lines >= usize::from(height))
}

/// Shows text in the pager. Returns false if there is none. Quitting before the end is not an error.
pub(crate) fn show(text: &[u8]) -> io::Result<bool> {
    let Some(mut command) = command(env::var_os("PAGER")) else { return Ok(false) };
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let mut child = match command.stdin(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text));
    child.wait()?;
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(true),
    }
}

/// Parses a value of `$PAGER`: no command if it is empty or `cat`, and a shell if it has characters that only
/// a shell understands.
fn command(value: Option<OsString>) -> Option<Command> {
    let value = value.map_or(DEFAULT.to_string(), |value| value.to_string_lossy().into_owned());
    let mut words = value.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    if cfg!(unix) && value.contains(|c| SHELL_CHARACTERS.contains(c)) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &value]);
        return Some(shell);
    }
    let mut command = Command::new(program);
    command.args(words);
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_pager_become_commands() {
        let words = |value: Option<&str>| {
            let command = command(value.map(OsString::from))?;
            let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
            let program = command.get_program().to_string_lossy().into_owned();
            Some(std::iter::once(program).chain(arguments).collect::<Vec<String>>())
        };
        assert_eq!(words(None).unwrap(), ["less"]);
        assert_eq!(words(Some("less -S")).unwrap(), ["less", "-S"]);
        assert_eq!((words(Some("")), words(Some("cat"))), (None, None));
        #[cfg(unix)]
        assert_eq!(words(Some("col | less")).unwrap(), ["sh", "-c", "col | less"]);
    }
}
