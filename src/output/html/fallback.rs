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

/// The picture and the table as HTML.
pub(super) fn fallback(page: &Page, scale: &Scale) -> String {
    let Some(values) = page.values.get(page.default_metric) else { return String::new() };
    let metric = &page.metrics[page.default_metric];
    let counted = Counted::of(page, values);
    let title = clean(&page.title);
    let value = format!("{} {}", metric.metric.name, scale.format(metric.total));
    let about = headline::recording(value.trim(), &metric.recording, true).join(" · ");
    let mut out = String::new();
    let _ = write!(out, "<h1>{}</h1><p>{}</p>", escape(&*title), escape(&*clean(&about)));
    let functions = table(page, &counted, scale, metric.total);
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

/// The blocks of the graph, and self and total of every name.
struct Counted {
    blocks: Vec<Block>,
    whole: u64,
    self_value: Vec<i64>,
    total: Vec<i64>,
}

impl Counted {
    /// Neighbouring stacks share blocks as far as their names are the same.
    fn of(page: &Page, values: &[i64]) -> Self {
        let names = page.names.len();
        let mut counted =
            Counted { blocks: Vec::new(), whole: 0, self_value: vec![0; names], total: vec![0; names] };
        let mut seen = vec![usize::MAX; names];
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut start = 0;
        for (index, (&end, &value)) in page.ends.iter().zip(values).enumerate() {
            let stack = &page.frames[start..end as usize];
            start = end as usize;
            if value == 0 {
                continue;
            }
            let name_of = |place: &u32| page.places[*place as usize].name;
            let common =
                open.iter().zip(stack).take_while(|((name, _), place)| *name == name_of(place)).count();
            counted.close(&mut open, common);
            for place in stack {
                let name = name_of(place) as usize;
                if std::mem::replace(&mut seen[name], index) != index {
                    counted.total[name] = counted.total[name].saturating_add(value);
                }
            }
            if let Some(leaf) = stack.last() {
                let own = &mut counted.self_value[name_of(leaf) as usize];
                *own = own.saturating_add(value);
            }
            open.extend(stack[common..].iter().map(|place| (name_of(place), counted.whole)));
            counted.whole = counted.whole.saturating_add(value.unsigned_abs());
        }
        counted.close(&mut open, 0);
        counted
    }

    /// Ends the open blocks from a depth on.
    fn close(&mut self, open: &mut Vec<(u32, u64)>, depth: usize) {
        let end = self.whole;
        for (depth, (name, start)) in open.drain(depth..).enumerate().map(|(at, block)| (depth + at, block)) {
            if depth < DEEPEST {
                self.blocks.push(Block { depth, name, start, end });
            }
        }
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
    let pixels = |value: u64| value as f64 / whole.max(1) as f64 * WIDTH;
    blocks.retain(|block| pixels(block.end - block.start) >= NARROWEST);
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
        let left = pixels(block.start).round();
        let width = pixels(block.end).round() - left;
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

fn table(page: &Page, counted: &Counted, scale: &Scale, whole: i64) -> String {
    let mut ids: Vec<usize> = (0..page.names.len()).filter(|&id| counted.self_value[id] != 0).collect();
    ids.sort_by_key(|&id| (std::cmp::Reverse(counted.self_value[id].unsigned_abs()), id));
    let mut out = String::from("<table><tr><th>Self<th>%<th>Total<th>%<th>Function");
    for id in ids.into_iter().take(FUNCTIONS) {
        let (own, total) = (counted.self_value[id], counted.total[id]);
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
