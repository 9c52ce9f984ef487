//! The legend below the picture: what the colours stand for.

use hashbrown::HashMap;

use crate::name::fit;
use crate::output::color::{self, Color, ColorBy};
use crate::output::svg::options::printable;
use crate::output::svg::wording::Wording;
use crate::report::{Direction, Flame, FlameNode};

/// Colours and what they stand for.
pub(super) struct Legend {
    pub(super) entries: Vec<(Color, String)>,
    by: ColorBy,
    largest_delta: i64,
    whole: i64,
    inverted: bool,
}

/// Maximum number of packages or files in the legend.
const ENTRIES: usize = 12;

/// Maximum number of characters of a name.
const NAME: usize = 27;

impl Legend {
    pub(super) fn new(flame: &Flame, by: ColorBy, wording: &Wording<'_>) -> Self {
        let nodes = flame.nodes.iter().chain(&flame.callers);
        let largest_delta = nodes.map(|node| delta(node).saturating_abs()).max().unwrap_or(0);
        let mut entries = match by {
            ColorBy::Package | ColorBy::File => most_seen(flame, by, wording),
            ColorBy::SelfValue | ColorBy::Total => shares(),
            ColorBy::Delta => vec![
                (color::of_delta(1, 1), "grew".to_string()),
                (color::of_delta(-1, 1), "shrank".to_string()),
                (color::of_delta(0, 1), "unchanged".to_string()),
            ],
        };
        if let Some(highlight) = &flame.header.highlight {
            let matches = format!("{} {}", wording.share(highlight.total), highlight.pattern);
            entries.insert(0, (color::MATCHED, fit(&printable(&matches), NAME, "…")));
        }
        let inverted = flame.direction == Direction::BottomUp;
        Legend { entries, by, largest_delta, whole: flame.header.shown, inverted }
    }

    /// The line that explains the entries.
    pub(super) fn title(&self) -> &'static str {
        match self.by {
            ColorBy::Package => "colour: package, with its share of self",
            ColorBy::File => "colour: source file, with its share of self",
            ColorBy::SelfValue => "colour: self as a share of what is shown",
            ColorBy::Total => "colour: total as a share of what is shown",
            ColorBy::Delta => "colour: change in total",
        }
    }

    pub(super) fn color(&self, node: &FlameNode) -> Color {
        match self.by {
            ColorBy::Package | ColorBy::File => color::of_name(group(node, self.by)),
            // In a bottom-up graph, the total of a block is self of the function at the root.
            ColorBy::SelfValue if self.inverted => color::of_share(node.total, self.whole),
            ColorBy::SelfValue => color::of_share(node.self_value, self.whole),
            ColorBy::Total => color::of_share(node.total, self.whole),
            ColorBy::Delta => color::of_delta(delta(node), self.largest_delta),
        }
    }
}

fn shares() -> Vec<(Color, String)> {
    [0, 1, 10, 50].iter().map(|&percent| (color::of_share(percent, 100), format!("{percent}%"))).collect()
}

fn delta(node: &FlameNode) -> i64 {
    node.old.map_or(0, |old| node.total.saturating_sub(old.total))
}

fn group(node: &FlameNode, by: ColorBy) -> &str {
    if by == ColorBy::File { node.file.as_deref().unwrap_or_default() } else { &node.package }
}

/// The packages or files with the largest area in the picture, with their share of self.
fn most_seen(flame: &Flame, by: ColorBy, wording: &Wording<'_>) -> Vec<(Color, String)> {
    let mut areas: HashMap<&str, i64> = HashMap::new();
    for node in flame.nodes.iter().skip(1).chain(flame.callers.iter().skip(1)) {
        let area = areas.entry(group(node, by)).or_default();
        *area = area.saturating_add(node.width);
    }
    let mut areas: Vec<(&str, i64)> = areas.into_iter().collect();
    areas.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let more = areas.len().saturating_sub(ENTRIES);
    let (selfs, noun) =
        if by == ColorBy::File { (&flame.files, "files") } else { (&flame.packages, "packages") };
    let selfs: HashMap<&str, i64> = selfs.iter().map(|(name, own)| (&**name, *own)).collect();
    let entry = |&(name, _): &(&str, i64)| {
        let shown = if name.is_empty() { "unknown" } else { name };
        let own = selfs.get(name).copied().filter(|&own| own != 0);
        let own = own.map(|own| format!(" {}", wording.share(own))).unwrap_or_default();
        (color::of_name(name), format!("{}{own}", fit(&printable(shown), NAME, "…")))
    };
    let mut entries: Vec<(Color, String)> = areas.iter().take(ENTRIES).map(entry).collect();
    if more > 0 {
        entries.push((color::WHITE, format!("… {more} more {noun}")));
    }
    entries
}
