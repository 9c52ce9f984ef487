//! Moving through the blocks of a flame graph.

use std::cmp::Reverse;

use crate::report::{Flame, FlameNode};
use crate::ui::answer::Answer;
use crate::ui::draw::flame::{Block, blocks, first_row};
use crate::ui::keys::Key;
use crate::ui::state::{BODY, State};
use crate::unit::group_thousands;

/// Moves through the blocks of a flame graph. Returns whether the key does that.
pub(super) fn move_in_flame(state: &mut State, answer: &Answer, key: Key) -> bool {
    let Some(flame) = answer.flame() else { return false };
    let nodes = &flame.nodes;
    let node = state.cursor.node;
    let parent = |node: u32| nodes.get(node as usize).map_or(0, |node| node.parent);
    let children = |node: u32| answer.children(node);
    let weight = |node: &u32| nodes[*node as usize].width.unsigned_abs();
    let heaviest = |node: u32| children(node).max_by_key(|child| (weight(child), Reverse(*child)));
    state.cursor.node = match key {
        Key::Up | Key::Char('k') | Key::Wheel(..=0) => parent(node),
        Key::Down | Key::Char('j') | Key::Wheel(_) => heaviest(node).unwrap_or(node),
        Key::Left => children(parent(node)).take_while(|&other| other < node).last().unwrap_or(node),
        Key::Right => children(parent(node)).find(|&other| other > node).unwrap_or(node),
        Key::Home | Key::Char('g') => state.cursor.zoom,
        Key::End | Key::Char('G' | 'H') => {
            let mut node = node;
            while let Some(child) = heaviest(node).filter(|child| weight(child) * 2 >= weight(&node)) {
                node = child;
            }
            let name = nodes.get(node as usize).map_or("", |node| answer.shown(&node.name));
            let is_last = |deepest: &u32| depth(nodes, node) == *deepest;
            state.message = Some(match flame.deepest.filter(is_last) {
                Some(deepest) => format!(
                    "the flame graph ends at {name}, {} levels deep; the call tree goes on",
                    group_thousands(deepest.into())
                ),
                None => format!("the heaviest path ends at {name}: none of its callees has half of it"),
            });
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
        Key::Drag(x, y) => clicked(state, flame, x, y).unwrap_or(node),
        _ => return false,
    };
    // Above the zoomed block, the picture shows its callers.
    if !is_below(nodes, state.cursor.node, state.cursor.zoom) {
        state.cursor.zoom = state.cursor.node;
    }
    true
}

/// How many levels a node is below the root.
fn depth(nodes: &[FlameNode], node: u32) -> u32 {
    let parent = |node: &u32| nodes.get(*node as usize).map(|node| node.parent);
    let above = std::iter::successors(Some(node), parent);
    above.take_while(|&node| node > 0).map(|_| 1).sum()
}

fn clicked(state: &State, flame: &Flame, x: u16, y: u16) -> Option<u32> {
    let row = usize::from(y).checked_sub(BODY - 1)? + first_row(flame, &state.cursor, state.page() + 1);
    let is_hit = |block: &Block| block.row == row && (block.from..block.to).contains(&usize::from(x));
    blocks(flame, &state.cursor, usize::from(state.size.0)).into_iter().find(is_hit).map(|block| block.node)
}

/// Whether a node is `above` or one of its descendants.
pub(super) fn is_below(nodes: &[FlameNode], mut node: u32, above: u32) -> bool {
    while node != above && node != 0 {
        node = nodes.get(node as usize).map_or(0, |node| node.parent);
    }
    node == above
}

pub(super) fn zoom(state: &mut State) {
    if state.cursor.zoom != state.cursor.node {
        state.remember();
        state.cursor.zoom = state.cursor.node;
    }
}
