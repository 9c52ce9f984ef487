//! What keys do: each is a function from one state to the next.

use crate::report::{Flame, FlameNode, Name, Report};
use crate::ui::answer::{Answer, Line};
use crate::ui::draw::flame::{Block, blocks, first_row};
use crate::ui::keys::Key;
use crate::ui::question::{Choice, Question, View};
use crate::ui::search::{Match, Search};
use crate::ui::state::{BODY, Purpose, State, Typing};

/// What the program does besides changing the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Copy a text to the clipboard.
    Copy(String),
    /// Write the stacks shown to this file.
    Save(String),
    /// Suggest a name for the file to write.
    SuggestFile,
    /// Ask what this command asks.
    Follow(String),
    /// Read these options.
    Options(String),
    /// Read the profile again.
    Reload,
    /// Read the profile again every few seconds, or no longer.
    Watch,
    /// Stop computing.
    Cancel,
    /// Suspend.
    Suspend,
    /// Quit.
    Quit,
}

/// Presses a key.
pub(crate) fn press(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    if state.help.is_some() {
        return in_help(state, key);
    }
    if state.typing.is_some() {
        return in_typing(state, answer, key);
    }
    state.message = None;
    if answer.flame().is_some() && move_in_flame(state, answer, key) {
        return None;
    }
    if let Key::Click(_, row) = key {
        let effect = click(state, answer, row);
        state.settle();
        return effect;
    }
    if move_in_lines(state, answer, key) {
        state.settle();
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
        Key::Ctrl('z') => return Some(Effect::Suspend),
        _ => None,
    };
    let last = super::draw::help::lines(usize::from(state.size.0)).len().saturating_sub(page);
    state.help = state.help.map(|top| top.min(last));
    None
}

fn in_typing(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    let typing = state.typing.as_mut()?;
    match key {
        Key::Char(c) => typing.text.push(c),
        Key::Backspace if typing.text.is_empty() => state.typing = None,
        Key::Backspace => drop(typing.text.pop()),
        Key::Ctrl('u') => typing.text.clear(),
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
    if let Some(Typing { purpose: purpose @ (Purpose::Search | Purpose::Only), text, from }) =
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
fn show_only(state: &mut State, answer: &Answer, text: &str) {
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

/// Whether the selected line or node matches.
fn matches(state: &State, answer: &Answer, search: &Search) -> bool {
    match answer.flame() {
        Some(flame) => flame
            .nodes
            .get(state.cursor.node as usize)
            .is_some_and(|node| answer.finds_name(search, &node.name)),
        None => state.line().is_some_and(|line| answer.finds(search, line)),
    }
}

/// Goes to the best match: a whole name before a whole word before a part of one, the heaviest among equals.
fn find_best(state: &mut State, answer: &Answer) {
    let Some(search) = state.search.clone() else { return };
    let rank = |name: &Name| search.rank(answer.shown(name)).max(search.rank(name));
    if let Some(flame) = answer.flame() {
        let nodes = flame.nodes.iter().enumerate().skip(1);
        let ranked = nodes.map(|(place, node)| (rank(&node.name), node.width.unsigned_abs(), place));
        if let Some(node) = best(ranked) {
            select_node(state, &flame.nodes, node);
        }
        return;
    }
    if let Report::Tree(tree) = &*answer.report {
        let rows = tree.rows.iter().enumerate();
        let ranked = rows.map(|(place, row)| (rank(&row.name), row.values.total.unsigned_abs(), place));
        if let Some(row) = best(ranked) {
            select_row(state, answer, row);
        }
        return;
    }
    // Other views are sorted, so the first is the heaviest.
    let name_rank = |line: Line| match line {
        Line::Text(_) => None,
        line => answer.name_of(line).and_then(|name| search.rank(name)),
    };
    let lines = state.lines.iter().enumerate();
    let ranked =
        lines.map(|(place, &line)| (search.rank(&answer.text_of(line)).max(name_rank(line)), 0, place));
    if let Some(place) = best(ranked) {
        state.cursor.selected = place;
    }
}

/// The place of what matches best and is heaviest; the first of several.
fn best(ranked: impl Iterator<Item = (Option<Match>, u64, usize)>) -> Option<usize> {
    let found = ranked.filter_map(|(rank, weight, place)| Some((rank?, weight, std::cmp::Reverse(place))));
    found.max().map(|(.., place)| place.0)
}

/// Goes to the next match.
fn find_next(state: &mut State, answer: &Answer, forward: bool) {
    let Some(search) = state.search.clone() else { return };
    if let Some(flame) = answer.flame() {
        let finds = |place: usize| place > 0 && answer.finds_name(&search, &flame.nodes[place].name);
        if let Some(node) = next(flame.nodes.len(), state.cursor.node as usize, forward, finds) {
            select_node(state, &flame.nodes, node);
        }
        return;
    }
    if let Report::Tree(tree) = &*answer.report {
        // Rows that are not open are searched, too.
        let row = state.lines.iter().take(state.cursor.selected + 1).rev().find_map(|line| match line {
            Line::Tree(row) => Some(*row),
            _ => None,
        });
        let finds = |place: usize| answer.finds_name(&search, &tree.rows[place].name);
        if let Some(row) = next(tree.rows.len(), row.unwrap_or(0) as usize, forward, finds) {
            select_row(state, answer, row);
        }
        return;
    }
    let finds = |place: usize| answer.finds(&search, state.lines[place]);
    if let Some(place) = next(state.lines.len(), state.cursor.selected, forward, finds) {
        state.cursor.selected = place;
    }
}

/// Selects a block of a flame graph, and shows the whole picture if the block is not on the screen.
fn select_node(state: &mut State, nodes: &[FlameNode], node: usize) {
    state.cursor.node = node as u32;
    if !is_below(nodes, node as u32, state.cursor.zoom) {
        state.cursor.zoom = 0;
    }
}

/// Selects a row of a tree, and opens the way to it.
fn select_row(state: &mut State, answer: &Answer, row: usize) {
    let Report::Tree(tree) = &*answer.report else { return };
    let mut above = tree.rows[row].parent;
    while let Some(row) = above {
        state.cursor.open.insert(row);
        above = tree.rows[row as usize].parent;
    }
    // Whoever searches for a row wants to see it.
    let is_left_out = |search: &Search| !answer.finds_name(search, &tree.rows[row].name);
    if state.cursor.only.as_ref().is_some_and(is_left_out) {
        state.cursor.only = None;
    }
    state.lay_out(answer);
    select(state, Line::Tree(row as u32));
}

/// The next place that is found, around the end.
fn next(count: usize, from: usize, forward: bool, finds: impl Fn(usize) -> bool) -> Option<usize> {
    let place =
        |step: usize| if forward { (from + step) % count } else { (from + count - step % count) % count };
    (1..=count).map(place).find(|&place| finds(place))
}

fn select(state: &mut State, line: Line) {
    if let Some(place) = state.lines.iter().position(|other| *other == line) {
        state.cursor.selected = place;
    }
}

/// Moves through lines. Returns whether the key does that.
fn move_in_lines(state: &mut State, answer: &Answer, key: Key) -> bool {
    let page = state.page();
    let cursor = &mut state.cursor;
    let last = state.lines.len().saturating_sub(1);
    match key {
        Key::Down | Key::Char('j') => {
            let is_title = matches!(state.lines.get(cursor.selected + 1), Some(Line::Title(_)));
            cursor.selected = (cursor.selected + 1 + usize::from(is_title)).min(last);
        }
        Key::Up | Key::Char('k') => {
            let above = cursor.selected.saturating_sub(1);
            let is_title = matches!(state.lines.get(above), Some(Line::Title(_)));
            cursor.selected =
                if is_title && above == 0 { cursor.selected } else { above - usize::from(is_title) };
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

/// Selects the line that was clicked. A second click does what Enter does.
fn click(state: &mut State, answer: &Answer, row: u16) -> Option<Effect> {
    let place = usize::from(row).checked_sub(BODY)? + state.cursor.top;
    let is_on_screen = usize::from(row) < BODY + state.page();
    if place >= state.lines.len() || !is_on_screen || matches!(state.lines[place], Line::Title(_)) {
        return None;
    }
    if place == state.cursor.selected {
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
        let children =
            (row + 1..answer.end_of(row)).filter(|&child| tree.rows[child as usize].parent == Some(row));
        let weight = |child: &u32| tree.rows[*child as usize].values.total.unsigned_abs();
        let Some(child) = children.max_by_key(|child| (weight(child), std::cmp::Reverse(*child))) else {
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
    let name = answer.shown(&tree.rows[row as usize].name);
    state.message = Some(format!("the heaviest path ends at {name}: none of its callees has half of it"));
    true
}

/// Moves through the blocks of a flame graph. Returns whether the key does that.
fn move_in_flame(state: &mut State, answer: &Answer, key: Key) -> bool {
    let Some(flame) = answer.flame() else { return false };
    let nodes = &flame.nodes;
    let node = state.cursor.node;
    let parent = |node: u32| nodes.get(node as usize).map_or(0, |node| node.parent);
    let children = |node: u32| (1..nodes.len() as u32).filter(move |&child| parent(child) == node);
    let weight = |node: &u32| nodes[*node as usize].width.unsigned_abs();
    let heaviest = |node: u32| children(node).max_by_key(|child| (weight(child), std::cmp::Reverse(*child)));
    state.cursor.node = match key {
        Key::Up | Key::Char('k') | Key::Wheel(..=0) => parent(node),
        Key::Down | Key::Char('j') | Key::Wheel(_) => heaviest(node).unwrap_or(node),
        Key::Left => children(parent(node)).take_while(|&other| other != node).last().unwrap_or(node),
        Key::Right => children(parent(node)).skip_while(|&other| other != node).nth(1).unwrap_or(node),
        Key::Home | Key::Char('g') => state.cursor.zoom,
        Key::End | Key::Char('G' | 'H') => {
            let mut node = node;
            while let Some(child) = heaviest(node).filter(|child| weight(child) * 2 >= weight(&node)) {
                node = child;
            }
            node
        }
        Key::PageDown | Key::Char(' ') | Key::Ctrl('f' | 'd') => {
            (0..state.page() / 2).fold(node, |node, _| heaviest(node).unwrap_or(node))
        }
        Key::PageUp | Key::Ctrl('b' | 'u') => (0..state.page() / 2).fold(node, |node, _| parent(node)),
        Key::Click(x, y) => match clicked(state, flame, x, y) {
            Some(clicked) if clicked == node => {
                zoom(state);
                node
            }
            Some(clicked) => clicked,
            None => node,
        },
        _ => return false,
    };
    // Above the zoomed block, the picture shows its callers.
    if !is_below(nodes, state.cursor.node, state.cursor.zoom) {
        state.cursor.zoom = state.cursor.node;
    }
    true
}

fn clicked(state: &State, flame: &Flame, x: u16, y: u16) -> Option<u32> {
    let row = usize::from(y).checked_sub(BODY - 1)? + first_row(flame, &state.cursor, state.page() + 1);
    let is_hit = |block: &Block| block.row == row && (block.from..block.to).contains(&usize::from(x));
    blocks(flame, &state.cursor, usize::from(state.size.0)).into_iter().find(is_hit).map(|block| block.node)
}

/// Whether a node is `above` or one of its descendants.
fn is_below(nodes: &[FlameNode], mut node: u32, above: u32) -> bool {
    while node != above && node != 0 {
        node = nodes.get(node as usize).map_or(0, |node| node.parent);
    }
    node == above
}

fn zoom(state: &mut State) {
    if state.cursor.zoom != state.cursor.node {
        state.remember();
        state.cursor.zoom = state.cursor.node;
    }
}

/// What Enter does with the selected line.
fn enter(state: &mut State, answer: &Answer) -> Option<Effect> {
    if answer.flame().is_some() {
        zoom(state);
        return None;
    }
    let line = state.line()?;
    match line {
        Line::Tree(row) => {
            if !state.cursor.open.remove(&row) && answer.has_children(row) {
                state.cursor.open.insert(row);
            }
            state.lay_out(answer);
        }
        Line::Cut(None, _) if answer.is_bottom_up() => {
            let roots =
                state.lines.iter().filter(|line| matches!(line, Line::Tree(row) if answer.is_root(*row)));
            let more = (roots.count() * 4).to_string();
            let mut question = state.question.clone();
            question.choose(Choice::single("--limit", more));
            state.ask(question);
        }
        Line::Cut(..) => {
            state.message =
                Some("these are too light to be listed; :--min-share 0 lists all of them".to_string());
        }
        Line::Key(_) | Line::Label(..) => {
            let label = answer.label_of(line)?;
            let mut question = state.question.clone();
            question.choose(Choice::repeated("--label", label));
            question.view = last_view(state);
            state.ask(question);
        }
        Line::Top(_) | Line::Caller(_) | Line::Callee(_) | Line::Subject | Line::Itself => {
            show_function(state, answer, View::Focus);
        }
        Line::Text(_) => return enter_text(state, answer, line),
        Line::Title(_) => {}
    }
    None
}

/// What Enter does with a line of a view that is shown as text.
fn enter_text(state: &mut State, answer: &Answer, line: Line) -> Option<Effect> {
    if let Some(filter) = answer.row_filter(line) {
        let mut question = state.question.clone();
        question.choose(filter);
        state.ask(question);
        return None;
    }
    let command = answer.command_of(line);
    if command.is_none() {
        let why = match state.question.view {
            View::Report => "Enter shows the evidence of a finding: select one first",
            View::Timeline => "Enter keeps a row or a phase: select one first",
            View::Hot => "Enter does nothing here; 2 shows the tree, where H opens the heaviest path",
            _ => "Enter does nothing here; 4 shows the callers and the callees of this function",
        };
        state.message = Some(why.to_string());
    }
    command.map(Effect::Follow)
}

/// The view before the list of labels.
fn last_view(state: &State) -> View {
    let mut views = state.before.iter().rev().map(|(question, _)| question.view);
    views.find(|view| *view != View::Labels).unwrap_or(View::Top)
}

/// Shows a view of the selected function.
fn show_function(state: &mut State, answer: &Answer, view: View) {
    let selected = state.selected(answer).map(str::to_string).or_else(|| state.question.subject.clone());
    let Some(name) = selected else {
        let what = if view == View::Focus { "callers are" } else { "source lines are" };
        state.message = Some(format!("{what} those of one function: select it first, in view 1, 2 or 3"));
        return;
    };
    let question = Question { view, subject: Some(name), ..state.question.clone() };
    state.ask(question);
}

/// The pattern that matches exactly the selected function.
fn exactly(state: &mut State, answer: &Answer) -> Option<String> {
    let Some(name) = state.selected(answer) else {
        state.message = Some("select a function first".to_string());
        return None;
    };
    let escaped = format!("^{}$", regex::escape(name).replace('…', r"\x{2026}"));
    match state.question.value("--by").unwrap_or("function") {
        "function" | "name" => Some(escaped),
        kind @ ("file" | "package" | "mapping") => Some(format!("{kind}:{escaped}")),
        kind => {
            state.message = Some(format!("rows are by {kind}; press p until they are functions"));
            None
        }
    }
}

/// Asks something else; says why if that would change nothing.
fn ask(state: &mut State, question: Question, option: &str) {
    let view = question.view;
    if view == state.question.view
        && question != state.question
        && question.options(&state.grammar) == state.question.options(&state.grammar)
    {
        state.message = Some(format!("prof {} has no {option}: press it in another view", view.command()));
        return;
    }
    if question == state.question {
        state.message = Some(format!("{option} says that already"));
    }
    state.ask(question);
}

/// Keys that ask something else, or have another effect.
fn command(state: &mut State, answer: &Answer, key: Key) -> Option<Effect> {
    let mut question = state.question.clone();
    match key {
        Key::Char('q') | Key::Ctrl('c') => return Some(Effect::Quit),
        Key::Ctrl('z') => return Some(Effect::Suspend),
        Key::Esc => return Some(Effect::Cancel),
        Key::Char('r') => return Some(Effect::Reload),
        Key::Char('w') => return Some(Effect::Watch),
        Key::Char('?') => state.help = Some(0),
        Key::Enter => return enter(state, answer),
        Key::Backspace | Key::Char('u') => {
            let is_back = state.back();
            state.lay_out(answer);
            state.message = (!is_back).then(|| "this is where you started".to_string());
        }
        Key::Char('/') => start_typing(state, Purpose::Search),
        Key::Char('&') if answer.flame().is_some() => {
            state.message = Some("a flame graph has no lines to choose from: / searches".to_string());
        }
        Key::Char('&') => {
            start_typing(state, Purpose::Only);
            show_only(state, answer, "");
            state.settle();
        }
        Key::Char(':') => start_typing(state, Purpose::Options),
        Key::Char('s') => return Some(Effect::SuggestFile),
        Key::Char('n' | 'N') => {
            if state.search.is_none() {
                state.message = Some("nothing was searched for yet: press /".to_string());
            }
            find_next(state, answer, key == Key::Char('n'));
            state.settle();
        }
        Key::Char('y') => match state.selected(answer) {
            Some(name) => return Some(Effect::Copy(name.to_string())),
            None => state.message = Some("select a function first".to_string()),
        },
        Key::Char('Y') => return Some(Effect::Copy(state.command_line())),
        Key::Char('c') => show_function(state, answer, View::Focus),
        Key::Char(digit @ '1'..='9') => show_view(state, answer, View::ALL[digit as usize - '1' as usize]),
        Key::Tab => turn(state, answer, 1),
        Key::BackTab => turn(state, answer, View::ALL.len() - 1),
        Key::Char('t') => show_view(state, answer, View::Labels),
        Key::Char('b') => {
            if matches!(question.view, View::Tree | View::Flame) && question.has("--bottom-up") {
                question.drop("--bottom-up");
            } else {
                question.choose(Choice::flag("--bottom-up"));
                question.view = if question.view == View::Flame { View::Flame } else { View::Tree };
            }
            state.ask(question);
        }
        Key::Char(filter @ ('f' | 'x' | 'h')) => filter_by_selected(state, answer, filter),
        Key::Char('X') => {
            for filter in FILTERS {
                question.drop(filter);
            }
            if question == state.question {
                state.message = Some("there are no filters to remove".to_string());
            }
            state.ask(question);
        }
        Key::Char('m') => next_metric(state, answer),
        Key::Char('o') => next_order(state),
        Key::Char('d') => {
            if question.has("--base") {
                question.choose(Choice::single(
                    "--sort",
                    cycle(question.value("--sort"), &["delta", "new", "old"]),
                ));
                ask(state, question, "--sort");
            } else {
                state.message = Some("nothing to compare with: :--base OLD names a baseline".to_string());
            }
        }
        Key::Char('p') => next_kind_of_rows(state),
        Key::Left | Key::Right | Key::Char('H') => {
            state.message = Some("this key is for trees and flame graphs: 2 and 3 show them".to_string());
        }
        Key::Char(c) => state.message = Some(format!("{c} does nothing; ? lists the keys")),
        _ => {}
    }
    None
}

/// Keeps or drops the stacks through the selected function, or hides its frames.
fn filter_by_selected(state: &mut State, answer: &Answer, key: char) {
    let Some(pattern) = exactly(state, answer) else { return };
    let option = match key {
        'f' => "--focus",
        'x' => "--hide-stacks",
        _ => "--hide-frames",
    };
    let mut question = state.question.clone();
    question.choose(Choice::repeated(option, pattern));
    if matches!(question.view, View::Focus | View::Source) && key != 'f' {
        question.view = View::Top;
    }
    ask(state, question, option);
}

/// Makes rows of something else.
fn next_kind_of_rows(state: &mut State) {
    let mut question = state.question.clone();
    let kinds: &[&str] = if question.view == View::Timeline {
        &["thread", "process", "package"]
    } else {
        &["function", "package", "file", "line", "mapping"]
    };
    let kind = cycle(question.value("--by").or(kinds.first().copied()), kinds);
    question.choose(Choice::single("--by", kind));
    ask(state, question, "--by");
}

/// The options that `X` removes.
const FILTERS: [&str; 14] = [
    "--show-stacks",
    "--hide-stacks",
    "--show-frames",
    "--hide-frames",
    "--show-from",
    "--prune-from",
    "--focus",
    "--label",
    "--hide-label",
    "--thread",
    "--from",
    "--to",
    "--highlight",
    "--min-share",
];

fn start_typing(state: &mut State, purpose: Purpose) {
    state.typing = Some(Typing { purpose, text: String::new(), from: state.cursor.clone() });
}

fn show_view(state: &mut State, answer: &Answer, view: View) {
    if view.has_subject() {
        return show_function(state, answer, view);
    }
    let question = Question { view, ..state.question.clone() };
    if question == state.question {
        state.message = Some(format!("this is {} already", view.title()));
    }
    state.ask(question);
}

/// Shows the view that is so many tabs to the right.
fn turn(state: &mut State, answer: &Answer, by: usize) {
    let place = View::ALL.iter().position(|view| *view == state.question.view).unwrap_or(0);
    show_view(state, answer, View::ALL[(place + by) % View::ALL.len()]);
}

/// The word after this one, around the end; the first if there is none.
fn cycle(now: Option<&str>, words: &[&str]) -> String {
    let place = now.and_then(|now| words.iter().position(|word| *word == now));
    words[place.map_or(0, |place| (place + 1) % words.len())].to_string()
}

fn next_metric(state: &mut State, answer: &Answer) {
    let metrics = &answer.metrics;
    let Some(shown) = answer.report.header().map(|header| header.metric.name.as_str()) else { return };
    if metrics.len() < 2 {
        state.message = Some(format!("the profile has no other metric than {shown}"));
        return;
    }
    let place = metrics.iter().position(|metric| metric == shown).unwrap_or(0);
    let mut question = state.question.clone();
    question.drop("--metric");
    // It is a unit of the metric that was shown.
    question.drop("--unit");
    question.choose(Choice::repeated("--metric", metrics[(place + 1) % metrics.len()].clone()));
    state.ask(question);
}

/// Sorts by the next key. The first press leaves the default order of the view.
fn next_order(state: &mut State) {
    let question = &state.question;
    let is_tree = question.view == View::Tree && !question.has("--bottom-up");
    let keys: &[&str] = match (question.has("--base"), is_tree || question.view == View::Focus) {
        (true, _) => &["delta", "self", "total", "name", "old", "new"],
        (false, true) => &["total", "self", "name"],
        (false, false) => &["self", "total", "name"],
    };
    let mut question = question.clone();
    let key = cycle(question.value("--sort").or(keys.first().copied()), keys);
    state.message = Some(format!("sorted by {key}"));
    question.choose(Choice::single("--sort", key));
    ask(state, question, "--sort");
}
