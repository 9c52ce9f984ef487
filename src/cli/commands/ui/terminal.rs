//! The terminal: entering and leaving the screen, keys, colours, the clipboard, suspending.
//!
//! Whatever ends the program leaves the terminal as it was: quitting, an error, a panic, a signal.

use std::env;
use std::io::{self, Write};
use std::panic;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{cursor, execute, terminal};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::cli::commands::ui::session::{Request, Session};
use crate::cli::options::screen;
use crate::cli::terminal::temporary::before_interrupted;
use crate::ui::{Key, Palette, Theme};

/// The size of the terminal.
pub(super) fn size() -> Result<(u16, u16)> {
    terminal::size().context("the size of the terminal is unknown")
}

/// What the terminal can show, judging by the environment.
pub(super) fn theme(is_terminal: bool) -> Theme {
    let has = |name: &str, words: &[&str]| {
        let value = env::var(name).unwrap_or_default();
        words.iter().any(|word| value.contains(word))
    };
    let palette = if !screen::color_by_environment(is_terminal) {
        Palette::None
    } else if has("COLORTERM", &["truecolor", "24bit"]) {
        Palette::Full
    } else if has("TERM", &["256color"]) || cfg!(windows) {
        Palette::Indexed
    } else {
        Palette::Sixteen
    };
    Theme { palette, unicode: !is_terminal || screen::shows_utf8() }
}

/// Whether the terminal shows the screen of this program.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);

/// Leaves the screen when it is dropped.
struct Entered;

impl Entered {
    fn new() -> Result<Entered> {
        enter().context("the terminal cannot be used")?;
        Ok(Entered)
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() -> io::Result<()> {
    IS_ENTERED.store(true, Ordering::SeqCst);
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, cursor::Hide)
}

/// Makes the terminal what it was.
fn leave() {
    if IS_ENTERED.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        // There is nobody to tell if this fails.
        let _ = execute!(out, DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
        let _ = out.flush();
    }
}

/// Leaves the screen before a panic is reported. Threads in the background say nothing: whoever waits for them shows that they
/// failed, and the program goes on.
fn leave_before_panics() {
    let usual = panic::take_hook();
    let drawing = thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == drawing {
            leave();
        }
        if !IS_ENTERED.load(Ordering::SeqCst) {
            usual(info);
        }
    }));
}

/// A screen to draw on.
type Screen = Terminal<CrosstermBackend<io::Stdout>>;

/// Shows something on a screen, and leaves the terminal as it was however that ends.
fn on_screen<T>(show: impl FnOnce(&mut Screen) -> Result<T>) -> Result<T> {
    leave_before_panics();
    before_interrupted(leave);
    continued::watch();
    let _entered = Entered::new()?;
    show(&mut Terminal::new(CrosstermBackend::new(io::stdout()))?)
}

/// Shows the session until the user quits.
pub(super) fn run(session: &mut Session) -> Result<()> {
    on_screen(|screen| run_on(screen, session))
}

fn run_on(terminal: &mut Screen, session: &mut Session) -> Result<()> {
    loop {
        terminal.draw(|frame| {
            let area = frame.area();
            session.draw(area, frame.buffer_mut());
        })?;
        match next(session)? {
            Some(Request::Quit) => {
                session.finish();
                return Ok(());
            }
            Some(Request::Copy(text)) => copy(&text)?,
            Some(Request::Redraw) => blank(terminal)?,
            Some(Request::Suspend) => {
                suspend()?;
                continued::forget();
                blank(terminal)?;
                session.resize(size()?);
            }
            None => {}
        }
        // Whoever stopped the program has used the terminal in between.
        if continued::forget() {
            leave();
            enter()?;
            blank(terminal)?;
            session.resize(size()?);
        }
    }
}

/// Empties the screen, so that the next drawing is of all of it. `Terminal::clear` would ask the terminal where the cursor is, and
/// fail if the answer takes long.
fn blank(screen: &mut Screen) -> Result<()> {
    execute!(io::stdout(), terminal::Clear(terminal::ClearType::All))?;
    *screen = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    Ok(())
}

/// Waits until there is something to draw.
fn next(session: &mut Session) -> Result<Option<Request>> {
    loop {
        session.tick();
        if !event::poll(session.rest())? {
            if session.receive(Duration::ZERO) || !session.is_busy() {
                return Ok(None);
            }
            continue;
        }
        // A wheel sends many events at once; the screen is drawn after the last of them.
        let mut request = None;
        while request.is_none() && event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Resize(width, height) => session.resize((width, height)),
                // Elsewhere, what is pasted would press keys.
                Event::Paste(text) if session.is_typing() => {
                    for c in text.chars().filter(|c| !c.is_control()) {
                        request = request.or(session.press(Key::Char(c)));
                    }
                }
                other => {
                    if let Some(key) = key(&other) {
                        request = session.press(key);
                    }
                }
            }
        }
        return Ok(request);
    }
}

/// The key of an event, if it is one that has a meaning.
fn key(event: &Event) -> Option<Key> {
    match event {
        Event::Key(KeyEvent { kind: KeyEventKind::Release, .. }) => None,
        Event::Key(KeyEvent { code, modifiers, .. }) => key_of(*code, *modifiers),
        Event::Mouse(MouseEvent { kind, column, row, .. }) => match kind {
            MouseEventKind::Down(MouseButton::Left) => Some(Key::Click(*column, *row)),
            MouseEventKind::Drag(MouseButton::Left) => Some(Key::Drag(*column, *row)),
            MouseEventKind::ScrollDown => Some(Key::Wheel(3)),
            MouseEventKind::ScrollUp => Some(Key::Wheel(-3)),
            _ => None,
        },
        _ => None,
    }
}

fn key_of(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
    Some(match code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => Key::Ctrl(c.to_ascii_lowercase()),
        KeyCode::Char(_) if modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

/// Asks the terminal to copy a text (OSC 52), which works over ssh, too.
fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    write!(out, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
    out.flush()
}

/// Programs that were stopped by somebody else, without ^Z: `kill -STOP`, a debugger, a batch system.
#[cfg(unix)]
mod continued {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use signal_hook::consts::{SIGCONT, SIGWINCH};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::raise;

    static IS_CONTINUED: AtomicBool = AtomicBool::new(false);

    /// Notes when the program continues, and wakes whoever waits for events: the terminal may have another size, too.
    pub(super) fn watch() {
        // Without it, ^L draws the screen again.
        let Ok(mut signals) = Signals::new([SIGCONT]) else { return };
        thread::spawn(move || {
            for _ in signals.forever() {
                IS_CONTINUED.store(true, Ordering::SeqCst);
                let _ = raise(SIGWINCH);
            }
        });
    }

    /// Whether the program has continued since the last call.
    pub(super) fn forget() -> bool {
        IS_CONTINUED.swap(false, Ordering::SeqCst)
    }
}

#[cfg(not(unix))]
mod continued {
    pub(super) fn watch() {}

    pub(super) fn forget() -> bool {
        false
    }
}

/// Gives the terminal back to the shell until it continues the program.
fn suspend() -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    leave();
    // The standard library cannot send a signal; every Unix has this program. As the terminal does, it suspends the whole job, such
    // as a script that runs this program: group 0 is the one of the process itself.
    let sent = process::Command::new("kill").args(["-TSTP", "0"]).status();
    enter()?;
    sent.map(|_| ()).context("kill, which suspends, cannot be run")
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;

    use super::*;

    /// Set for the part of the test that runs on a terminal of its own.
    const ON_SCREEN: &str = "PROF_TEST_ON_SCREEN";

    #[test]
    fn a_panic_leaves_the_terminal_as_it_was() {
        if env::var_os(ON_SCREEN).is_some() {
            let shown = on_screen(|_| -> Result<()> {
                let background = thread::spawn(|| panic!("in the background"));
                assert!(background.join().is_err() && IS_ENTERED.load(Ordering::SeqCst));
                panic!("on the screen")
            });
            return shown.unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let this = env::current_exe().unwrap();
        let test = "cli::commands::ui::terminal::tests::a_panic_leaves_the_terminal_as_it_was";
        let run = format!("{ON_SCREEN}=1 '{}' --exact {test} --nocapture", this.display());
        let line = format!("stty rows 24 cols 80; stty -a > before; {run}; echo $? > code; stty -a > after");
        let mut script = process::Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(folder.path()).stdin(process::Stdio::null());
        let output = script.output().expect("script gives the test a terminal; it is part of util-linux");
        let shown = String::from_utf8_lossy(&output.stdout);
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("after"), read("before"), "{}", shown.escape_debug());
        assert_eq!(read("code"), "101\n", "{}", shown.escape_debug());
        let place =
            |text: &str| shown.rfind(text).unwrap_or_else(|| panic!("{text}: {}", shown.escape_debug()));
        for (on, off) in [("?1049h", "?1049l"), ("?1000h", "?1000l"), ("?2004h", "?2004l"), ("?25l", "?25h")]
        {
            assert!(place(on) < place(off), "{}", shown.escape_debug());
            assert!(place(off) < place("on the screen"), "the message is on the usual screen");
        }
        assert!(!shown.contains("in the background"), "{}", shown.escape_debug());
    }
}
