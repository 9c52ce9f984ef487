//! What the terminal can display: its size, colours and characters.

use std::env;

use terminal_size::{Height, Width, terminal_size};

/// The width of the screen in columns, if standard output is one.
pub(crate) fn width() -> Option<usize> {
    terminal_size().map(|(Width(width), _)| usize::from(width))
}

/// The height of the screen in lines, if standard output is one.
pub(crate) fn height() -> Option<usize> {
    terminal_size().map(|(_, Height(height))| usize::from(height))
}

/// Follows the conventions of <https://no-color.org> and <https://bixense.com/clicolors>.
pub(crate) fn color_by_environment(is_terminal: bool) -> bool {
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

/// Whether the terminal can only write one line after the other.
pub(crate) fn is_dumb() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Whether the terminal displays UTF-8, judging by the locale.
pub(crate) fn shows_utf8() -> bool {
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
