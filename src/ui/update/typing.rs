//! Typing: a search, which lines are shown, options, the name of a file.

use crate::ui::answer::Answer;
use crate::ui::keys::Key;
use crate::ui::offers::{complete, offers};
use crate::ui::search::Search;
use crate::ui::state::{Purpose, State, Typing};
use crate::ui::update::effect::Effect;
use crate::ui::update::find::{find_best, matches};

pub(super) fn in_typing(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    let typing = state.typing.as_mut()?;
    match key {
        Key::Tab if typing.purpose == Purpose::Options => {
            let found = offers(&state.grammar, state.question.view, answer, &typing.text);
            complete(&mut typing.text, &found);
        }
        Key::Up | Key::Down => recall(state, key == Key::Up),
        Key::Ctrl('w') => {
            let kept = typing.text.trim_end().rfind(' ').map_or(0, |place| place + 1);
            typing.text.truncate(kept);
        }
        Key::Char(c) => typing.text.push(c),
        Key::Backspace if typing.text.is_empty() => state.typing = None,
        Key::Backspace => drop(typing.text.pop()),
        Key::Ctrl('u') => typing.text.clear(),
        Key::Ctrl('l') => return Some(Effect::Redraw),
        Key::Ctrl('z') => return Some(Effect::Suspend),
        Key::Esc | Key::Ctrl('c') => {
            let Typing { purpose, from, .. } = state.typing.take()?;
            if matches!(purpose, Purpose::Search | Purpose::Only) {
                state.cursor = from;
                state.lay_out(answer);
            }
        }
        Key::Enter => {
            let Typing { purpose, text, .. } = state.typing.take()?;
            state.typed.retain(|typed| *typed != (purpose, text.clone()));
            if !text.trim().is_empty() {
                state.typed.push((purpose, text.clone()));
            }
            match purpose {
                Purpose::Search | Purpose::Only => {
                    state.message = typed_in_vain(state, answer, purpose, &text);
                }
                _ if text.trim().is_empty() => {}
                Purpose::Options => return Some(Effect::Options(text)),
                Purpose::Save => return Some(Effect::Save(text)),
            }
        }
        _ => {}
    }
    if let Some(Typing { purpose: purpose @ (Purpose::Search | Purpose::Only), text, from, .. }) =
        state.typing.clone()
    {
        state.cursor = from;
        if purpose == Purpose::Only {
            show_only(state, answer, &text);
        } else {
            state.lay_out(answer);
            state.search = Search::new(&text);
            find_best(state, answer);
        }
        state.settle();
    }
    None
}

/// What to say after a search or a filter was typed; nothing if it is seen.
fn typed_in_vain(state: &mut State, answer: &Answer, purpose: Purpose, text: &str) -> Option<String> {
    let nothing = || Some(format!("nothing matches {text}"));
    if purpose == Purpose::Search {
        let search = state.search.as_ref().filter(|_| !text.is_empty())?;
        return if matches(state, answer, search) { None } else { nothing() };
    }
    let search = state.cursor.only.clone()?;
    let count = state.lines.iter().filter(|line| answer.finds(&search, **line)).count();
    if count == 0 {
        state.cursor.only = None;
        state.lay_out(answer);
        state.settle();
        return nothing();
    }
    let noun = if count == 1 { "line matches" } else { "lines match" };
    Some(format!("{count} {noun} {text}; & and Enter shows all again"))
}

/// Shows only the lines that match.
pub(super) fn show_only(state: &mut State, answer: &Answer, text: &str) {
    state.cursor.only = Search::new(text);
    if let Some(search) = &state.cursor.only {
        state.cursor.open.extend(answer.rows_to(search));
    }
    let line = state.line();
    state.lay_out(answer);
    let place = state.lines.iter().position(|other| Some(*other) == line);
    let first = || {
        state
            .lines
            .iter()
            .position(|line| state.cursor.only.as_ref().is_none_or(|search| answer.finds(search, *line)))
    };
    state.cursor.selected = place.or_else(first).unwrap_or(0);
    state.cursor.top = 0;
}

pub(super) fn start_typing(state: &mut State, purpose: Purpose) {
    state.typing = Some(Typing { purpose, text: String::new(), from: state.cursor.clone(), recalled: 0 });
}

/// Replaces what is being typed with what was typed before for the same purpose.
fn recall(state: &mut State, is_older: bool) {
    let Some(typing) = state.typing.as_mut().filter(|typing| is_older || typing.recalled > 0) else { return };
    let typed: Vec<&String> =
        state.typed.iter().filter(|(purpose, _)| *purpose == typing.purpose).map(|(_, text)| text).collect();
    typing.recalled =
        if is_older { (typing.recalled + 1).min(typed.len()) } else { typing.recalled.saturating_sub(1) };
    let place = typed.len() - typing.recalled;
    typing.text = typed.get(place).map(|text| (*text).clone()).unwrap_or_default();
}
