//! The flame graph: one line per frame, the root at the top, the background by package.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::name::{BlockLabel, display_width};
use crate::report::{Flame, Tier};
use crate::ui::answer::Answer;
use crate::ui::cursor::Cursor;
use crate::ui::draw::cells::put;
use crate::ui::draw::table::nothing;
use crate::ui::draw::theme::{Meaning, Palette, Theme};
use crate::ui::state::State;

/// A block of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its node.
    pub(crate) node: u32,
    /// Its line, from the root.
    pub(crate) row: usize,
    /// Its first column.
    pub(crate) from: usize,
    /// The column after it.
    pub(crate) to: usize,
}

/// The blocks of a picture of so many columns: the callers of the zoomed node, which take all of them, and what is below it.
/// Blocks narrower than a column are left out.
pub(crate) fn blocks(flame: &Flame, cursor: &Cursor, columns: usize) -> Vec<Block> {
    let nodes = &flame.nodes;
    let zoom = (cursor.zoom as usize).min(nodes.len().saturating_sub(1));
    if nodes.is_empty() {
        return Vec::new();
    }
    let mut callers = Vec::new();
    let mut above = zoom;
    while above != 0 {
        above = nodes[above].parent as usize;
        callers.push(above);
    }
    let mut found: Vec<Block> = callers
        .iter()
        .rev()
        .enumerate()
        .map(|(row, &node)| Block { node: node as u32, row, from: 0, to: columns })
        .collect();
    let whole = i128::from(nodes[zoom].width.max(1));
    let column = |offset: i128| ((offset * columns as i128) / whole) as usize;
    // Nodes are in preorder: those below the zoomed one follow it. For each, the line and the start of its next child.
    let mut starts: Vec<(usize, i128)> = vec![(callers.len(), 0)];
    found.push(Block { node: zoom as u32, row: callers.len(), from: 0, to: columns });
    starts[0].0 += 1;
    for (place, node) in nodes.iter().enumerate().skip(zoom + 1) {
        let parent = node.parent as usize;
        if parent < zoom {
            break;
        }
        let (row, offset) = starts[parent - zoom];
        let width = i128::from(node.width);
        starts[parent - zoom].1 += width;
        starts.push((row + 1, offset));
        let (from, to) = (column(offset), column(offset + width));
        if to > from {
            found.push(Block { node: place as u32, row, from, to });
        }
    }
    found
}

/// The first line of the picture on a screen of so many lines, so that the selected node is on it.
pub(crate) fn first_row(flame: &Flame, cursor: &Cursor, height: usize) -> usize {
    let (mut row, mut node) = (0_usize, cursor.node);
    while node != 0 {
        node = flame.nodes.get(node as usize).map_or(0, |node| node.parent);
        row += 1;
    }
    // A line below the selected one, to see where it goes on.
    let goes_on = flame.nodes.get(cursor.node as usize + 1).is_some_and(|next| next.parent == cursor.node);
    (row + 1 + usize::from(goes_on)).saturating_sub(height)
}

pub(super) fn draw(state: &State, answer: &Answer, theme: Theme, area: Rect, cells: &mut Buffer) {
    let Some(flame) = answer.flame() else { return };
    if flame.nodes.len() < 2 {
        put(cells, 0, area.y, nothing(answer), usize::from(area.width), theme.faint());
        return;
    }
    let height = usize::from(area.height);
    let first = first_row(flame, &state.cursor, height);
    for block in blocks(flame, &state.cursor, usize::from(area.width)) {
        if (first..first + height).contains(&block.row) {
            draw_block(state, answer, theme, block, area.y + (block.row - first) as u16, cells);
        }
    }
}

fn draw_block(state: &State, answer: &Answer, theme: Theme, block: Block, y: u16, cells: &mut Buffer) {
    let Some(flame) = answer.flame() else { return };
    let node = &flame.nodes[block.node as usize];
    let name = if block.node == 0 { "all" } else { answer.shown(&node.name) };
    let is_own = flame.groups.get(node.group as usize).is_some_and(|group| group.tier == Tier::Own);
    let meaning = match node.old {
        Some(old) => Meaning::Change(node.total.saturating_sub(old.total)),
        None if is_own => Meaning::Own(node.group as usize),
        None => Meaning::Library,
    };
    let color = answer.colors.get(block.node as usize).copied().unwrap_or([216; 3]);
    let mut style = theme.block(color, meaning);
    if state.search.as_ref().is_some_and(|search| search.finds(name)) {
        style = style.patch(Theme::found());
    }
    if block.node == state.cursor.node {
        style = style.add_modifier(Modifier::REVERSED | Modifier::BOLD);
    }
    let width = block.to - block.from;
    let edge = if theme.unicode { "▏" } else { "|" };
    let label = if block.node == 0 {
        BlockLabel { name: name.to_string(), place: String::new() }
    } else {
        answer.label(&node.name)
    };
    let label = if width > 3 { label.fit(width - 1) } else { String::new() };
    let label = if theme.unicode { label } else { label.replace('…', "~") };
    // Without colours, a line shows how far a block goes.
    let fill = match (theme.palette, theme.unicode) {
        (Palette::None, true) => "─",
        (Palette::None, false) => "-",
        _ => " ",
    };
    let rest = width.saturating_sub(1 + display_width(&label));
    let text = format!("{edge}{label}{}", fill.repeat(rest));
    put(cells, block.from as u16, y, &text, width, style);
}
