//! What keys do: each is a function from one state to the next.

mod asking;
mod blocks;
mod effect;
mod find;
mod moving;
mod typing;

use crate::ui::answer::Answer;
use crate::ui::keys::Key;
use crate::ui::question::{Choice, View};
use crate::ui::state::{Purpose, State, TABS};
use crate::ui::update::asking::{
    FILTERS, ask, cycle, enter, filter_by_selected, next_kind_of_rows, next_metric, next_order,
    show_function, show_view, turn,
};
use crate::ui::update::blocks::move_in_flame;
pub(crate) use crate::ui::update::effect::Effect;
use crate::ui::update::find::find_next;
use crate::ui::update::moving::{click, click_tab, drag, move_in_lines};
use crate::ui::update::typing::{in_typing, show_only, start_typing};

/// Presses a key.
pub(crate) fn press(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    if state.help.is_some() {
        return in_help(state, key);
    }
    if state.typing.is_some() {
        return in_typing(state, answer, key);
    }
    state.message = None;
    if !matches!(key, Key::Tab | Key::BackTab) {
        state.tried = None;
    }
    if let Key::Click(x, TABS) = key {
        click_tab(state, answer, x);
        return None;
    }
    if answer.flame().is_some() && move_in_flame(state, answer, key) {
        return None;
    }
    if let Key::Click(x, row) = key {
        let effect = click(state, answer, x, row);
        state.settle_block(answer);
        return effect;
    }
    if let Key::Drag(_, row) = key {
        drag(state, row);
        state.settle_block(answer);
        return None;
    }
    if move_in_lines(state, answer, key) {
        state.settle_block(answer);
        return None;
    }
    command(state, answer, key)
}

fn in_help(state: &mut State, key: Key) -> Option<Effect> {
    let top = state.help.unwrap_or(0);
    let page = state.page();
    state.help = match key {
        Key::Down | Key::Char('j') => Some(top + 1),
        Key::Up | Key::Char('k') => Some(top.saturating_sub(1)),
        Key::PageDown | Key::Char(' ') | Key::Ctrl('f') => Some(top + page),
        Key::PageUp | Key::Ctrl('b') => Some(top.saturating_sub(page)),
        Key::Wheel(by) => Some(top.saturating_add_signed(by as isize)),
        Key::Ctrl('c') => return Some(Effect::Quit),
        Key::Ctrl('l') => return Some(Effect::Redraw),
        Key::Ctrl('z') => return Some(Effect::Suspend),
        _ => None,
    };
    let last = crate::ui::draw::help::lines(usize::from(state.size.0)).len().saturating_sub(page);
    state.help = state.help.map(|top| top.min(last));
    None
}

/// Keys that ask something else, or have another effect.
fn command(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    match key {
        Key::Char('q') | Key::Ctrl('c') => return Some(Effect::Quit),
        Key::Ctrl('l') => return Some(Effect::Redraw),
        Key::Ctrl('z') => return Some(Effect::Suspend),
        Key::Esc => return Some(Effect::Cancel),
        Key::Char('r') => return Some(Effect::Reload),
        Key::Char('w') => return Some(Effect::Watch),
        Key::Char('s') => return Some(Effect::SuggestFile),
        Key::Enter => return enter(state, answer),
        Key::Char('y') => return copy_selected(state, answer),
        Key::Char('Y') => return Some(Effect::Copy(state.command_line())),
        Key::Char('?') => state.help = Some(0),
        Key::Char('/') => start_typing(state, Purpose::Search),
        Key::Char(':') => start_typing(state, Purpose::Options),
        Key::Char('&') => choose_lines(state, answer),
        Key::Char('n' | 'N') => find_again(state, answer, key == Key::Char('n')),
        Key::Backspace | Key::Char('u') => go_back(state, answer),
        Key::Char('c') => show_function(state, answer, View::Focus),
        Key::Char(digit @ '1'..='9') => show_view(state, answer, View::ALL[digit as usize - '1' as usize]),
        Key::Tab => turn(state, answer, 1),
        Key::BackTab => turn(state, answer, View::ALL.len() - 1),
        Key::Char('t') => show_view(state, answer, View::Labels),
        Key::Char('b') => turn_around(state),
        Key::Char(filter @ ('f' | 'x' | 'h')) => filter_by_selected(state, answer, filter),
        Key::Char('X') => drop_filters(state),
        Key::Char('m') => next_metric(state, answer),
        Key::Char('o') => next_order(state),
        Key::Char('d') => next_order_of_changes(state),
        Key::Char('p') => next_kind_of_rows(state),
        Key::Left | Key::Right | Key::Char('H') => {
            state.message = Some("this key is for trees and flame graphs: 2 and 3 show them".to_string());
        }
        Key::Char(c) => state.message = Some(format!("{c} does nothing; ? lists the keys")),
        _ => {}
    }
    None
}

/// Copies the selected function, or the command of the selected line.
fn copy_selected(state: &mut State, answer: &Answer) -> Option<Effect> {
    let command = || answer.command_of(state.line()?);
    let Some(text) = state.selected(answer).or_else(command) else {
        state.message = Some("select a function first".to_string());
        return None;
    };
    Some(Effect::Copy(text.to_string()))
}

/// Begins to choose lines by what is typed.
fn choose_lines(state: &mut State, answer: &Answer) {
    if answer.flame().is_some() {
        state.message = Some("a flame graph has no lines to choose from: / searches".to_string());
        return;
    }
    start_typing(state, Purpose::Only);
    show_only(state, answer, "");
    state.settle();
}

fn find_again(state: &mut State, answer: &Answer, forwards: bool) {
    if state.search.is_none() {
        state.message = Some("nothing was searched for yet: press /".to_string());
    }
    find_next(state, answer, forwards);
    state.settle();
}

fn go_back(state: &mut State, answer: &Answer) {
    let is_back = state.back();
    state.lay_out(answer);
    state.message = (!is_back).then(|| "this is where you started".to_string());
}

/// Shows trees and flame graphs from the other end. Other views have none, so the tree is shown.
fn turn_around(state: &mut State) {
    let mut question = state.question.clone();
    if matches!(question.view, View::Tree | View::Flame) && question.has("--bottom-up") {
        question.drop("--bottom-up");
    } else {
        question.choose(Choice::flag("--bottom-up"));
        question.view = if question.view == View::Flame { View::Flame } else { View::Tree };
    }
    state.ask(question);
}

fn drop_filters(state: &mut State) {
    let mut question = state.question.clone();
    for filter in FILTERS {
        question.drop(filter);
    }
    if question == state.question {
        state.message = Some("there are no filters to remove".to_string());
    }
    state.ask(question);
}

/// Sorts a comparison by the next of its orders.
fn next_order_of_changes(state: &mut State) {
    let mut question = state.question.clone();
    if !question.has("--base") {
        state.message = Some("nothing to compare with: :--base OLD names a baseline".to_string());
        return;
    }
    let next = cycle(question.value("--sort"), &["delta", "new", "old"]);
    question.choose(Choice::single("--sort", next));
    ask(state, question, "--sort");
}
