//! The legend below the picture: what the colours stand for.

use hashbrown::HashMap;

use crate::name::fit;
use crate::output::color::{self, Color, ColorBy, DARK, LIGHT, WHITE};
use crate::output::svg::options::printable;
use crate::output::svg::wording::Wording;
use crate::report::{ColorGroup, Direction, Flame, FlameNode, Name, RowVerdict, Tier};
use crate::unit::plural;

/// Colours and what they stand for.
pub(super) struct Legend {
    pub(super) entries: Vec<(Color, String)>,
    by: ColorBy,
    group_colors: Vec<Color>,
    /// The rank of every file by area.
    file_rank: HashMap<Name, usize>,
    largest_delta: i64,
    /// What the test says about functions, if there is one.
    verdicts: HashMap<Name, RowVerdict>,
    whole: i64,
    inverted: bool,
}

/// Maximum number of packages or files in the legend.
const ENTRIES: usize = 12;

/// All groups from this rank on share a colour.
const REST: usize = 16;

/// Maximum number of characters of a name.
const NAME: usize = 27;

impl Legend {
    pub(super) fn new(flame: &Flame, by: ColorBy, wording: &Wording<'_>) -> Self {
        let nodes = flame.nodes.iter().chain(&flame.callers);
        let largest_delta = nodes.map(|node| delta(node).saturating_abs()).max().unwrap_or(0);
        let mut file_rank = HashMap::new();
        let mut entries = match by {
            ColorBy::Package => of_groups(flame, wording),
            ColorBy::File => {
                let (entries, ranks) = of_files(flame, wording);
                file_rank = ranks;
                entries
            }
            ColorBy::SelfValue | ColorBy::Total => shares(),
            ColorBy::Delta => changes(!flame.verdicts.is_empty()),
        };
        if let Some(highlight) = &flame.header.highlight {
            let matches = format!("{} {}", wording.share(highlight.total), highlight.pattern);
            entries.insert(0, (color::MATCHED, fit(&printable(&matches), NAME, "…")));
        }
        let inverted = flame.direction == Direction::BottomUp;
        let groups = flame.groups.iter().enumerate();
        let group_colors = groups.map(|(rank, group)| LIGHT.of_group(rank, group)).collect();
        let verdicts = flame.verdicts.iter().cloned().collect();
        let whole = flame.header.shown;
        Legend { entries, by, group_colors, file_rank, largest_delta, verdicts, whole, inverted }
    }

    /// The line that explains the entries.
    pub(super) fn title(&self) -> &'static str {
        match self.by {
            ColorBy::Package => {
                "colour: package, or the function if it has none, with its share of self; grey: standard library and runtime"
            }
            ColorBy::File => "colour: source file, with its share of self",
            ColorBy::SelfValue => "colour: self as a share of what is shown",
            ColorBy::Total => "colour: total as a share of what is shown",
            ColorBy::Delta if self.verdicts.is_empty() => "colour: change in total",
            ColorBy::Delta => "colour: change in total of functions whose change is more than noise",
        }
    }

    pub(super) fn color(&self, node: &FlameNode) -> Color {
        match self.by {
            ColorBy::Package => self.group_colors[node.group as usize],
            ColorBy::File => {
                let rank = node.file.as_ref().and_then(|file| self.file_rank.get(file));
                rank.map_or(color::GREY, |&rank| LIGHT.of_rank(rank))
            }
            // In a bottom-up graph, the total of a block is self of the function at the root.
            ColorBy::SelfValue if self.inverted => color::of_share(node.total, self.whole),
            ColorBy::SelfValue => color::of_share(node.self_value, self.whole),
            ColorBy::Total => color::of_share(node.total, self.whole),
            ColorBy::Delta if self.verdicts.is_empty() => color::of_delta(delta(node), self.largest_delta),
            ColorBy::Delta => self.tested(node),
        }
    }

    /// The colour of a change by what the test says. A function that was not tested has one if it is new or gone, and large
    /// enough to be seen.
    fn tested(&self, node: &FlameNode) -> Color {
        let change = delta(node);
        if change.unsigned_abs() as f64 <= NOTABLE_CHANGE * self.whole as f64 {
            return color::of_delta(0, 1);
        }
        let only_one_side = node.total == 0 || node.old.is_some_and(|old| old.total == 0);
        let largest = match self.verdicts.get(&node.name) {
            None if only_one_side => 1,
            Some(RowVerdict::Regressed | RowVerdict::Improved | RowVerdict::New | RowVerdict::Removed) => 1,
            Some(RowVerdict::Moved | RowVerdict::Inherits) => INHERITED,
            _ => return color::of_delta(0, 1),
        };
        color::of_delta(change.signum(), largest)
    }
}

/// Changes below this part of the whole are not coloured: samples vary as much.
const NOTABLE_CHANGE: f64 = 0.003;

/// A change that comes from a function below has half the colour of its own: the square root of a fourth.
const INHERITED: i64 = 4;

/// What the colours of changes stand for.
fn changes(is_tested: bool) -> Vec<(Color, String)> {
    let mut entries = vec![(color::of_delta(1, 1), "grew".to_string())];
    if is_tested {
        entries.push((color::of_delta(1, INHERITED), "grew in what it calls".to_string()));
    }
    entries.push((color::of_delta(-1, 1), "shrank".to_string()));
    if is_tested {
        entries.push((color::of_delta(-1, INHERITED), "shrank in what it calls".to_string()));
    }
    let unchanged = if is_tested { "unchanged or noise" } else { "unchanged" };
    entries.push((color::of_delta(0, 1), unchanged.to_string()));
    entries
}

/// The root in both themes.
pub(super) const ROOT: (Color, Color) = (Color::new(0xe4_e7eb), Color::new(0x2a_2f36));

impl Legend {
    /// Rules that give groups and files the colours of the dark theme; empty for colours that stand for numbers.
    pub(super) fn dark_style(&self) -> String {
        if !matches!(self.by, ColorBy::Package | ColorBy::File) {
            return String::new();
        }
        let groups = (0..=REST).map(|rank| (LIGHT.of_rank(rank), DARK.of_rank(rank)));
        let others =
            [(LIGHT.library, DARK.library), (LIGHT.runtime, DARK.runtime), (color::GREY, ROOT.1), ROOT];
        let rule = |(light, dark): (Color, Color)| format!("[fill=\"{light}\"]{{fill:{dark}}}");
        let rules: String = groups.chain(others).map(rule).collect();
        // Text on a marked block stays dark, whether the block or its row names the colour.
        let marked = format!("[fill=\"{}\"]", color::MATCHED);
        let on_marked = format!(
            ".grouped .side .found+text,.grouped .side {marked}+text,.grouped .side {marked}>rect:not([fill])+text"
        );
        format!(
            "@media (prefers-color-scheme:dark){{{rules}.grouped .side text{{fill:#f2f4f7}}{on_marked}{{fill:#16191d}}}}\n"
        )
    }
}

fn shares() -> Vec<(Color, String)> {
    [0, 1, 10, 50].iter().map(|&percent| (color::of_share(percent, 100), format!("{percent}%"))).collect()
}

fn delta(node: &FlameNode) -> i64 {
    node.old.map_or(0, |old| node.total.saturating_sub(old.total))
}

/// The groups of own code with the largest area, and the library and the runtime, with their shares of self.
fn of_groups(flame: &Flame, wording: &Wording<'_>) -> Vec<(Color, String)> {
    let mut is_drawn = vec![false; flame.groups.len()];
    for node in flame.nodes.iter().skip(1).chain(flame.callers.iter().skip(1)) {
        is_drawn[node.group as usize] = true;
    }
    let ranked = flame.groups.iter().zip(&flame.group_self).enumerate().filter(|(rank, _)| is_drawn[*rank]);
    let (own, rest): (Vec<_>, Vec<_>) = ranked.partition(|(_, (group, _))| group.tier == Tier::Own);
    let more = own.len().saturating_sub(ENTRIES);
    let entry = |&(rank, (group, self_value)): &(usize, (&ColorGroup, &i64))| {
        let text = with_share(&group.name, *self_value, wording);
        (LIGHT.of_group(rank, group), text)
    };
    let mut entries: Vec<(Color, String)> = own.iter().take(ENTRIES).map(entry).collect();
    entries.extend((more > 0).then(|| {
        let noun = plural(more as u64, "package", "packages");
        (WHITE, format!("… {more} more {noun}"))
    }));
    entries.extend(rest.iter().map(entry));
    entries
}

/// The files with the largest area in the picture, and the rank of every file.
fn of_files(flame: &Flame, wording: &Wording<'_>) -> (Vec<(Color, String)>, HashMap<Name, usize>) {
    let mut areas: HashMap<&Name, i64> = HashMap::new();
    for node in flame.nodes.iter().skip(1).chain(flame.callers.iter().skip(1)) {
        if let Some(file) = &node.file {
            let area = areas.entry(file).or_default();
            *area = area.saturating_add(node.width);
        }
    }
    let mut areas: Vec<(&Name, i64)> = areas.into_iter().collect();
    areas.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let selfs: HashMap<&Name, i64> = flame.files.iter().map(|(name, own)| (name, *own)).collect();
    let entry = |(rank, &(name, _)): (usize, &(&Name, i64))| {
        (LIGHT.of_rank(rank), with_share(name, selfs.get(name).copied().unwrap_or(0), wording))
    };
    let mut entries: Vec<(Color, String)> = areas.iter().enumerate().take(ENTRIES).map(entry).collect();
    let more = areas.len().saturating_sub(ENTRIES);
    entries.extend((more > 0).then(|| {
        let noun = plural(more as u64, "file", "files");
        (WHITE, format!("… {more} more {noun}"))
    }));
    let unknown = selfs.get(&Name::default()).copied().unwrap_or(0);
    entries.extend((unknown != 0).then(|| (color::GREY, with_share("unknown", unknown, wording))));
    (entries, areas.iter().enumerate().map(|(rank, (name, _))| ((*name).clone(), rank)).collect())
}

/// A name with its share of self, if it has any.
fn with_share(name: &str, self_value: i64, wording: &Wording<'_>) -> String {
    let share = if self_value == 0 { String::new() } else { format!(" {}", wording.share(self_value)) };
    format!("{}{share}", fit(&printable(name), NAME, "…"))
}
