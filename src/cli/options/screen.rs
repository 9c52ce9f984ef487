//! What the terminal can display: its size, colours and characters.

use std::env;
use std::io::{self, IsTerminal};

use terminal_size::{Height, Width, terminal_size};

use crate::cli::options::args::{ColorChoice, LayoutArgs, NamesChoice, OutputFormat, WordingArgs};
use crate::cli::terminal::target::Target;
use crate::output::{Glyphs, Style};

/// The style of the text. `to_stdout` is false if it is written to a file.
pub(crate) fn style(layout: &LayoutArgs, wording: &WordingArgs, to_stdout: bool) -> Style {
    let is_terminal = to_stdout && io::stdout().is_terminal();
    let measured = terminal_size().filter(|_| is_terminal).map(|(Width(width), _)| usize::from(width));
    Style {
        width: layout.width.or(measured),
        short_names: match wording.names {
            Some(NamesChoice::Short) => true,
            Some(NamesChoice::Full) => false,
            None => is_terminal,
        },
        full_names: wording.names == Some(NamesChoice::Full),
        color: match layout.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => color_by_environment(is_terminal),
        },
        glyphs: if is_terminal && !shows_utf8() { &Glyphs::ASCII } else { &Glyphs::UNICODE },
        unit: wording.unit.unit(),
        columns: layout.columns.clone(),
        full_chains: layout.full_chains,
        explain: layout.explain,
        exit_code: layout.exit_code,
    }
}

/// The number of lines that fit the screen above the next prompt, if text is printed to a terminal.
pub(crate) fn lines(layout: &LayoutArgs, target: &Target) -> Option<usize> {
    let is_shown =
        *target == Target::Stdout && layout.format == OutputFormat::Text && io::stdout().is_terminal();
    let (_, Height(height)) = terminal_size().filter(|_| is_shown)?;
    Some(usize::from(height).saturating_sub(1))
}

/// Follows the conventions of <https://no-color.org> and <https://bixense.com/clicolors>.
fn color_by_environment(is_terminal: bool) -> bool {
    let value = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    if value("NO_COLOR").is_some() {
        return false;
    }
    if value("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
        return true;
    }
    let wanted = value("CLICOLOR").is_none_or(|value| value != "0");
    wanted && is_terminal && !is_dumb()
}

fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the terminal displays UTF-8, judging by the locale.
fn shows_utf8() -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env::var(name).ok().filter(|v| !v.is_empty()));
    let is_utf8 = locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    is_utf8 && !is_dumb()
}
