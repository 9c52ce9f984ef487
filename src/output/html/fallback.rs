//! The part of the page that needs no script: the heaviest blocks as a still picture, and the heaviest functions. It is
//! seen until the script has counted, and where scripts are blocked: in mail, in the strict policies of CI servers.
//! Colours are attributes, because such policies block styles too.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::color::LIGHT;
use crate::output::headline;
use crate::report::{Page, PageName};
use crate::unit::{self, Scale, saturated};

const WIDTH: f64 = 1200.0;
const ROW: usize = 18;
const DEEPEST: usize = 80;
/// The width of a letter, which depends on the fonts of the reader: this is the widest usual one.
const LETTER: f64 = 6.9;
/// Blocks narrower than this many pixels are left out.
const NARROWEST: f64 = 2.0;
/// The picture ends at about this many bytes; the widest blocks come first.
const LARGEST: usize = 7_000;
const FUNCTIONS: usize = 20;

/// What to do where scripts are blocked; a page with scripts removes it with the rest.
const BLOCKED: &str =
    "<p>If this stays a still picture, scripts are blocked here: save the page and open it from disk.</p>";

/// The picture and the table as HTML. `below` has what each name costs besides its self.
pub(super) fn fallback(page: &Page, below: &[i64], scale: &Scale) -> String {
    let Some(values) = page.values.get(page.default_metric) else { return String::new() };
    let metric = &page.metrics[page.default_metric];
    let counted = Counted::of(page, values);
    let title = clean(&page.title);
    let value = format!("{} {}", metric.metric.name, scale.format(metric.total));
    let about = headline::recording(value.trim(), &metric.recording, true).join(" · ");
    let mut out = String::new();
    let _ = write!(out, "<h1>{}</h1><p>{}</p>", escape(&*title), escape(&*clean(&about)));
    let functions = table(page, &counted.self_value, below, scale, metric.total);
    out += &picture(page, counted.blocks, counted.whole, scale);
    out + &functions + BLOCKED
}

/// A block of the picture. Positions are sums of values.
struct Block {
    depth: usize,
    name: u32,
    start: u64,
    end: u64,
}

impl Block {
    /// The width in a picture of the whole, in pixels.
    fn width(&self, whole: u64) -> f64 {
        pixels(self.end - self.start, whole)
    }
}

fn pixels(value: u64, whole: u64) -> f64 {
    value as f64 / whole.max(1) as f64 * WIDTH
}

/// The blocks of the graph that are wide enough to be seen, and the self of every name.
struct Counted {
    blocks: Vec<Block>,
    whole: u64,
    self_value: Vec<i64>,
}

impl Counted {
    /// Neighbouring stacks share blocks as far as their names are the same.
    fn of(page: &Page, values: &[i64]) -> Self {
        let whole = values.iter().fold(0_u64, |sum, value| sum.saturating_add(value.unsigned_abs()));
        let mut counted = Counted { blocks: Vec::new(), whole, self_value: vec![0; page.names.len()] };
        let name_of = |place: &u32| page.places[*place as usize].name;
        let mut open: Vec<(u32, u64)> = Vec::new();
        let (mut start, mut at) = (0, 0_u64);
        for (&end, &value) in page.ends.iter().zip(values) {
            let stack = &page.frames[start..end as usize];
            start = end as usize;
            if value == 0 {
                continue;
            }
            let common =
                open.iter().zip(stack).take_while(|((name, _), place)| *name == name_of(place)).count();
            counted.close(&mut open, common, at);
            if let Some(leaf) = stack.last() {
                let own = &mut counted.self_value[name_of(leaf) as usize];
                *own = own.saturating_add(value);
            }
            open.extend(stack[common..].iter().map(|place| (name_of(place), at)));
            at = at.saturating_add(value.unsigned_abs());
        }
        counted.close(&mut open, 0, at);
        counted
    }

    /// Ends the open blocks from a depth on.
    fn close(&mut self, open: &mut Vec<(u32, u64)>, depth: usize, end: u64) {
        let closed = open.drain(depth..).zip(depth..DEEPEST);
        let blocks = closed.map(|((name, start), depth)| Block { depth, name, start, end });
        self.blocks.extend(blocks.filter(|block| block.width(self.whole) >= NARROWEST));
    }
}

/// Puts the widest sibling first, as the page does. The callers of all blocks are among them.
fn widest_first(blocks: &mut [Block]) {
    // Callers first.
    blocks.sort_by_key(|block| (block.start, block.depth));
    let mut path: Vec<usize> = Vec::new();
    let mut siblings = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        path.truncate(block.depth);
        // 0 is the whole, 1 the first block.
        let caller = path.last().map_or(0, |caller| caller + 1);
        siblings.push((caller, Reverse(block.end - block.start), index));
        path.push(index);
    }
    siblings.sort_unstable();
    let mut next = vec![0; blocks.len() + 1];
    for (caller, Reverse(width), index) in siblings {
        let start = next[caller];
        next[caller] += width;
        next[index + 1] = start;
        (blocks[index].start, blocks[index].end) = (start, start + width);
    }
}

fn picture(page: &Page, mut blocks: Vec<Block>, whole: u64, scale: &Scale) -> String {
    widest_first(&mut blocks);
    blocks.sort_by_key(|block| Reverse(block.end - block.start));
    // Blocks of one colour share an element, which keeps the page small.
    let mut shapes: BTreeMap<String, String> = BTreeMap::new();
    let (mut labels, mut length, mut rows) = (String::new(), 0, 0);
    for block in blocks {
        if length > LARGEST {
            break;
        }
        let row = &page.names[block.name as usize];
        // Rounded edges keep the gaps between blocks.
        let left = pixels(block.start, whole).round();
        let width = pixels(block.end, whole).round() - left;
        rows = rows.max(block.depth + 1);
        let top = block.depth * ROW;
        let group = row.group as usize;
        let fill = LIGHT.of_group(group, &page.groups[group]).to_string();
        let value = scale.format(saturated(block.end - block.start));
        let shape = format!(
            "<path d=\"M{left} {top}h{}v{}H{left}z\"><title>{} {}</title></path>",
            (width - 1.0).max(1.0),
            ROW - 1,
            escape(&*shown(row)),
            escape(&*value)
        );
        length += shape.len();
        *shapes.entry(fill).or_default() += &shape;
        let label = crate::name::BlockLabel { name: shown(row), place: String::new() };
        let label = label.fit(((width - 5.0).max(0.0) / LETTER) as usize);
        if !label.is_empty() {
            let text = format!("<text x=\"{}\" y=\"{}\">{}</text>", left + 3.0, top + 13, escape(&*label));
            length += text.len();
            labels += &text;
        }
    }
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {}\" width=\"100%\" font-family=\"sans-serif\" \
         font-size=\"11\" role=\"img\" aria-label=\"Flame graph\">",
        rows * ROW
    );
    for (fill, shapes) in shapes {
        let _ = write!(out, "<g fill=\"{fill}\">{shapes}</g>");
    }
    // The pointer finds the names of blocks, not the labels.
    out + "<g pointer-events=\"none\">" + &labels + "</g></svg>"
}

fn table(page: &Page, self_value: &[i64], below: &[i64], scale: &Scale, whole: i64) -> String {
    let mut ids: Vec<usize> = (0..page.names.len()).filter(|&id| self_value[id] != 0).collect();
    ids.sort_by_key(|&id| (Reverse(self_value[id].unsigned_abs()), id));
    let mut out = String::from("<table><tr><th>Self<th>%<th>Total<th>%<th>Function");
    for id in ids.into_iter().take(FUNCTIONS) {
        let own = self_value[id];
        let total = below[id].saturating_add(own);
        let _ = write!(
            out,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}",
            escape(&*scale.format(own)),
            unit::share(own, whole),
            escape(&*scale.format(total)),
            unit::share(total, whole),
            escape(&*shown(&page.names[id]))
        );
    }
    out + "</table>"
}

/// The name, at most 200 characters of it.
fn shown(row: &PageName) -> String {
    clean(&row.name).chars().take(200).collect()
}
