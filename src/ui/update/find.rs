//! Searching in lines, trees and flame graphs.

use std::cmp::Reverse;

use crate::report::{FlameNode, Name, Report};
use crate::ui::answer::{Answer, Line};
use crate::ui::search::{Match, Search};
use crate::ui::state::State;
use crate::ui::update::blocks::is_below;

/// Whether the selected line or node matches.
pub(super) fn matches(state: &State, answer: &Answer, search: &Search) -> bool {
    match answer.flame() {
        Some(flame) => flame
            .nodes
            .get(state.cursor.node as usize)
            .is_some_and(|node| answer.finds_name(search, &node.name)),
        None => state.line().is_some_and(|line| answer.finds(search, line)),
    }
}

/// Goes to the best match: a whole name before a whole word before a part of one, the heaviest among equals.
pub(super) fn find_best(state: &mut State, answer: &Answer) {
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
    let found = ranked.filter_map(|(rank, weight, place)| Some((rank?, weight, Reverse(place))));
    found.max().map(|(.., place)| place.0)
}

/// Goes to the next match.
pub(super) fn find_next(state: &mut State, answer: &Answer, forward: bool) {
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
    let block = answer.block(&state.lines, state.cursor.selected);
    let from = if forward { block.end - 1 } else { block.start };
    if let Some(place) = next(state.lines.len(), from, forward, finds) {
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

pub(super) fn select(state: &mut State, line: Line) {
    if let Some(place) = state.lines.iter().position(|other| *other == line) {
        state.cursor.selected = place;
    }
}
