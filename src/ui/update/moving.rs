//! Moving through lines, and opening rows of a tree.

use std::cmp::Reverse;

use crate::report::Report;
use crate::ui::answer::{Answer, Line};
use crate::ui::draw::{sort_key_at, tab_at};
use crate::ui::keys::Key;
use crate::ui::state::{BODY, State};
use crate::ui::update::asking::{enter, show_view, sort_by};
use crate::ui::update::effect::Effect;
use crate::ui::update::find::select;

/// Moves through lines. Returns whether the key does that.
pub(super) fn move_in_lines(state: &mut State, answer: &Answer, key: Key) -> bool {
    let page = state.page();
    let block = answer.block(&state.lines, state.cursor.selected);
    let cursor = &mut state.cursor;
    let last = state.lines.len().saturating_sub(1);
    match key {
        Key::Down | Key::Char('j') => {
            let is_title = matches!(state.lines.get(block.end), Some(Line::Title(_)));
            cursor.selected = (block.end + usize::from(is_title)).min(last);
        }
        Key::Up | Key::Char('k') => {
            let above = block.start.saturating_sub(1);
            let is_title = matches!(state.lines.get(above), Some(Line::Title(_)));
            cursor.selected =
                if is_title && above == 0 { cursor.selected } else { above - usize::from(is_title) };
            cursor.selected = answer.block(&state.lines, cursor.selected).start;
        }
        Key::PageDown | Key::Char(' ') | Key::Ctrl('f') => {
            cursor.selected = (cursor.selected + page).min(last);
        }
        Key::PageUp | Key::Ctrl('b') => cursor.selected = cursor.selected.saturating_sub(page),
        Key::Ctrl('d') => cursor.selected = (cursor.selected + page / 2).min(last),
        Key::Ctrl('u') => cursor.selected = cursor.selected.saturating_sub(page / 2),
        Key::Home | Key::Char('g') => cursor.selected = 0,
        Key::End | Key::Char('G') => cursor.selected = last,
        Key::Wheel(by) => cursor.selected = cursor.selected.saturating_add_signed(by as isize).min(last),
        Key::Left => return close(state, answer),
        Key::Right => return open(state, answer),
        Key::Char('H') => return heaviest_rows(state, answer),
        _ => return false,
    }
    true
}

/// Shows the view whose tab was clicked.
pub(super) fn click_tab(state: &mut State, answer: &Answer, x: u16) {
    if let Some(view) = tab_at(state, usize::from(x)) {
        show_view(state, answer, view);
    }
}

/// Sorts by the column whose title was clicked, or selects the line that was clicked. A second click does what Enter does.
pub(super) fn click(state: &mut State, answer: &Answer, x: u16, row: u16) -> Option<Effect> {
    if usize::from(row) + 1 == BODY {
        if let Some(key) = sort_key_at(state, answer, x) {
            sort_by(state, key);
        }
        return None;
    }
    let place = usize::from(row).checked_sub(BODY)? + state.cursor.top;
    let is_on_screen = usize::from(row) < BODY + state.page();
    if place >= state.lines.len() || !is_on_screen || matches!(state.lines[place], Line::Title(_)) {
        return None;
    }
    if answer.block(&state.lines, state.cursor.selected).contains(&place) {
        return enter(state, answer);
    }
    state.cursor.selected = place;
    None
}

/// Opens a row of a tree, or goes to its first child.
fn open(state: &mut State, answer: &Answer) -> bool {
    let Some(Line::Tree(row)) = state.line() else { return matches!(*answer.report, Report::Tree(_)) };
    if !answer.has_children(row) {
        return true;
    }
    if state.cursor.open.insert(row) {
        state.lay_out(answer);
    } else {
        state.cursor.selected += 1;
    }
    true
}

/// Closes a row of a tree, or goes to its parent.
fn close(state: &mut State, answer: &Answer) -> bool {
    let Report::Tree(tree) = &*answer.report else { return false };
    match state.line() {
        Some(Line::Tree(row)) if state.cursor.open.remove(&row) && answer.has_children(row) => {
            state.lay_out(answer);
        }
        Some(Line::Tree(row)) => {
            if let Some(parent) = tree.rows[row as usize].parent {
                select(state, Line::Tree(parent));
            }
        }
        Some(Line::Cut(Some(parent), _)) => select(state, Line::Tree(parent)),
        _ => {}
    }
    true
}

/// Follows the heaviest callee of the selected row while it keeps half of its caller's total, and opens the way.
fn heaviest_rows(state: &mut State, answer: &Answer) -> bool {
    let Report::Tree(tree) = &*answer.report else { return false };
    let Some(Line::Tree(mut row)) = state.line() else { return true };
    loop {
        let weight = |child: &u32| tree.rows[*child as usize].values.total.unsigned_abs();
        let Some(child) = answer.children(row).max_by_key(|child| (weight(child), Reverse(*child))) else {
            break;
        };
        if weight(&child) * 2 < weight(&row) {
            break;
        }
        state.cursor.open.insert(row);
        row = child;
    }
    state.lay_out(answer);
    select(state, Line::Tree(row));
    let last = &tree.rows[row as usize];
    let name = answer.shown(&last.name);
    let listed = answer.children(row).map(|child| tree.rows[child as usize].values.total);
    let left = last.values.total - last.values.self_value - listed.sum::<i64>();
    let has_heavy = last.cut == 1 && left.unsigned_abs() >= last.values.total.unsigned_abs().div_ceil(2);
    state.message = Some(if has_heavy {
        format!("the heaviest path goes on below {name}, but not all rows are listed; :--limit 0 lists them")
    } else {
        format!("the heaviest path ends at {name}: none of its callees has half of it")
    });
    true
}

/// Selects the line to which the mouse was dragged.
pub(super) fn drag(state: &mut State, row: u16) {
    let first = state.cursor.top;
    let last = (first + state.page()).min(state.lines.len()).saturating_sub(1);
    let place = first + usize::from(row).saturating_sub(BODY);
    state.cursor.selected = place.min(last);
}
