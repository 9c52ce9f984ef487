//! The keys, and what they do.

/// A key, or what the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A character while Ctrl is held.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// Esc.
    Esc,
    /// Tab.
    Tab,
    /// Tab while Shift is held.
    BackTab,
    /// An arrow.
    Up,
    /// An arrow.
    Down,
    /// An arrow.
    Left,
    /// An arrow.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
    /// A click on a cell of the screen: column and row.
    Click(u16, u16),
    /// The mouse was moved to a cell while its button is held.
    Drag(u16, u16),
    /// The mouse wheel was turned by so many lines.
    Wheel(i32),
    /// No key: as much time passes as it takes until a watched profile is read again. Only `--keys` has it.
    Wait,
}

/// What a key does, as the help lists it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyHelp {
    /// The keys.
    pub(crate) keys: &'static str,
    /// What they do.
    pub(crate) what: &'static str,
}

const fn key(keys: &'static str, what: &'static str) -> KeyHelp {
    KeyHelp { keys, what }
}

/// All keys, by topic. `docs/ui.md` has the same table.
pub(crate) const KEYS: &[(&str, &[KeyHelp])] = &[
    (
        "Moving",
        &[
            key(
                "↑ ↓ k j",
                "one line up or down, in a report one finding; in a flame graph, to the caller or the heaviest callee",
            ),
            key(
                "← →",
                "close or open a row of a tree, → again to go to the row below it; in a flame graph, to the neighbour",
            ),
            key("PgUp PgDn ^B ^F ^U ^D Space", "one page, or half a page"),
            key("g G Home End", "first or last line"),
            key("/", "search while typing; lower case ignores case, upper case does not"),
            key("n N", "next or previous match"),
            key("&", "show only the lines that match, while typing; & and Enter shows all again"),
            key(
                "Enter",
                "callers and callees of the function; in a tree, open or close the row; in a flame graph, zoom; in labels and timelines, keep only that label or thread; in a report, show the evidence",
            ),
            key("Backspace u", "back to the previous screen (undo)"),
            key(
                "mouse",
                "a click selects, a second one does what Enter does; on a tab, it shows the view; on the title of a column, it sorts; the wheel scrolls; with Shift, the terminal selects text",
            ),
        ],
    ),
    (
        "Views",
        &[
            key("1 … 9", "top, tree, flame, callers, source, hot, timeline, labels, report"),
            key("Tab Shift-Tab", "next or previous view"),
            key("c", "callers and callees of the selected function, or of the one of the view before"),
            key("b", "tree or flame graph with the callers below each function"),
            key("t", "threads and labels; Enter keeps only the selected one"),
            key("H", "the heaviest path below the selected row of a tree or flame graph"),
        ],
    ),
    (
        "Questions",
        &[
            key("f", "keep only the stacks through the selected function"),
            key("x", "drop the stacks through the selected function"),
            key("h", "hide the frames of the selected function: its self moves to its callers"),
            key("X", "remove all filters; other options stay"),
            key("m", "next metric of the profile"),
            key("o", "sort by self, total or name; with --base also by change, old or new"),
            key("p", "rows are functions, packages, files, lines or binaries"),
            key("d", "with --base: sort by change, new or old"),
            key(
                ":",
                "any option of the command line, such as `:--base old.pb.gz` to compare with an older profile; Tab completes it, and the same option again removes it",
            ),
            key(
                "r",
                "read the profile again; an address records again, and the old recording becomes the baseline",
            ),
            key("w", "watch: read the profile again whenever it changes, or record again every few seconds"),
        ],
    ),
    (
        "Other",
        &[
            key(
                "y",
                "copy the name of the function, or else the command of the line, to the clipboard (OSC 52)",
            ),
            key("Y", "copy the command at the bottom"),
            key("s", "save the stacks shown as a page (.html) or a picture (.svg)"),
            key("Esc", "stop computing; leave what is being typed; show all lines again; forget the search"),
            key("^Z", "suspend; `fg` comes back"),
            key("^L", "draw the screen again"),
            key("?", "this list"),
            key("q ^C", "quit"),
        ],
    ),
];

/// Reads keys as the option `--keys` spells them: characters, and names such as `<enter>`; `<lt>` is `<`.
pub(crate) fn parse(text: &str) -> Result<Vec<Key>, String> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first != '<' {
            keys.push(Key::Char(first));
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (name, after) =
            rest[1..].split_once('>').ok_or("`<` starts the name of a key, such as <enter>")?;
        keys.push(named(name).ok_or_else(|| format!("no key is called <{name}>"))?);
        rest = after;
    }
    Ok(keys)
}

fn named(name: &str) -> Option<Key> {
    Some(match name {
        "lt" => Key::Char('<'),
        "enter" => Key::Enter,
        "backspace" => Key::Backspace,
        "esc" => Key::Esc,
        "tab" => Key::Tab,
        "backtab" => Key::BackTab,
        "up" => Key::Up,
        "down" => Key::Down,
        "left" => Key::Left,
        "right" => Key::Right,
        "pageup" => Key::PageUp,
        "pagedown" => Key::PageDown,
        "home" => Key::Home,
        "end" => Key::End,
        "wait" => Key::Wait,
        _ => return None,
    })
}
