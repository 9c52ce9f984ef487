//! The view of `flame`: the call tree as it is drawn.

use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;

use crate::pattern::Patterns;
use crate::profile::{Column, FrameId, Id, Profile, StackId};
use crate::report::{ColorGroup, Direction, Flame, FlameNode, Name};
use crate::tree::{KeyId, NodeId, Shape, Subject, TreeNode, call_tree, flat, inverted_tree};
use crate::view::groups::{Owned, first_frames, groups, owned};
use crate::view::values::RowValues;
use crate::view::{Scope, approximate};

/// Options for `flame`.
#[derive(Clone, Debug)]
pub struct FlameOptions {
    /// The metric and what nodes are. In a comparison, widths are those of the new side.
    pub scope: Scope,
    /// Title of the picture.
    pub title: String,
    /// The order of siblings.
    pub order: SiblingOrder,
    /// Whether the graph is top-down or bottom-up.
    pub direction: Direction,
    /// The width of the picture in pixels. Nodes narrower than a third of a pixel are omitted.
    pub pixels: u32,
    /// Patterns of the functions that are own code; `None` for what is not known to be a library.
    pub own: Option<Patterns>,
}

/// The order of siblings in a flame graph. Sorted by name, a function has the same position in every picture. The command
/// line offers these values, with these descriptions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SiblingOrder {
    /// By name
    #[default]
    #[cfg_attr(feature = "cli", value(name = "alpha"))]
    Alphabetical,
    /// The widest first
    Weight,
}

/// The maximum depth. No viewer can display a picture with a hundred thousand rows.
const MAX_DEPTH: usize = 2_000;

impl FlameOptions {
    /// A top-down graph in alphabetical order.
    pub fn new(scope: Scope) -> Self {
        FlameOptions {
            scope,
            title: String::new(),
            order: SiblingOrder::default(),
            direction: Direction::TopDown,
            pixels: 1180,
            own: None,
        }
    }
}

/// The call tree without nodes that are too narrow to draw. With a focus, its callers are a separate
/// tree.
pub fn flame(profile: &Profile, options: &FlameOptions) -> Flame {
    let scope = &options.scope;
    let mut header = scope.header(profile, "prof.flame.v1");
    approximate(&mut header, profile);
    let mut grower = FlameBuilder {
        options,
        row_values: RowValues::new(&header),
        smallest: header.shown.unsigned_abs().div_ceil(u64::from(options.pixels.max(1)) * 3).max(1),
        dropped: 0,
        deepest: None,
    };
    let below = FlameSubject::of(profile, scope);
    let above = scope.callers.as_ref().map(|callers| FlameSubject::of(callers, scope));
    let mut nodes = grower.grow(&below, options.direction);
    let mut callers = above.as_ref().map(|above| grower.grow(above, Direction::BottomUp)).unwrap_or_default();
    for node in &mut callers {
        // No stack ends above the focus.
        node.self_value = 0;
        node.old.iter_mut().for_each(|old| old.self_value = 0);
    }
    let subject = &below.subject;
    let parts: Vec<&Subject<'_>> =
        [Some(&below), above.as_ref()].into_iter().flatten().map(|w| &w.subject).collect();
    let areas = nodes.iter().chain(&callers).skip(1).map(|node| (&node.name, node.width));
    let colors = Colors::new(&parts, options.own.as_ref(), areas);
    nodes.iter_mut().chain(&mut callers).for_each(|node| node.group = colors.of(&node.name));
    if above.is_none() {
        header.no_stack = nodes[0].self_value;
    }
    header.highlight = scope.highlight(subject);
    let SelfSums { files, group_self } = SelfSums::of(subject, &colors);
    Flame {
        header,
        nodes,
        callers,
        direction: options.direction,
        title: options.title.clone(),
        groups: colors.groups,
        group_self,
        files,
        removed: if scope.base.is_some() { removed(&parts) } else { Vec::new() },
        verdicts: Vec::new(),
        deepest: grower.deepest,
        dropped: grower.dropped,
    }
}

/// The counted values, with a series for the widths of blocks.
struct FlameSubject<'p> {
    /// The series: the values shown, those of the old side if there is one, and the absolute values if
    /// some are negative.
    subject: Subject<'p>,
    /// The index of the series for widths.
    width: usize,
}

impl<'p> FlameSubject<'p> {
    fn of(profile: &'p Profile, scope: &Scope) -> Self {
        // The old side is second, and widths are last.
        let scope = Scope { metrics: vec![scope.metrics[0]], ..scope.clone() };
        let mut subject = scope.subject(profile);
        let signed = subject.series[0].iter().any(|&value| value < 0);
        if signed {
            let widths: Column<StackId, i64> = subject.series[0].iter().map(|value| value.abs()).collect();
            subject.series.push(widths.into());
        }
        let width = if signed { subject.series.len() - 1 } else { 0 };
        FlameSubject { subject, width }
    }
}

/// Builds the trees of a picture, and counts the nodes that are omitted.
struct FlameBuilder<'o> {
    options: &'o FlameOptions,
    row_values: RowValues,
    /// The smallest value of a node that is drawn.
    smallest: u64,
    dropped: u64,
    deepest: Option<u32>,
}

impl FlameBuilder<'_> {
    fn grow(&mut self, widths: &FlameSubject<'_>, direction: Direction) -> Vec<FlameNode> {
        let FlameSubject { subject, width } = widths;
        // A node that only the old side has is removed, not too narrow.
        let gone = AtomicU64::new(0);
        let keep = |node: TreeNode<'_>| {
            if node.total[*width] == 0 {
                gone.fetch_add(1, Ordering::Relaxed);
            }
            node.total[*width].unsigned_abs() >= self.smallest
        };
        let shape = Shape {
            keep: &keep,
            order: &|a, b| {
                let by_name = subject.keys.name(a.key).cmp(subject.keys.name(b.key));
                let weight = |node: TreeNode<'_>| std::cmp::Reverse(node.total[*width]);
                match self.options.order {
                    SiblingOrder::Alphabetical => by_name,
                    SiblingOrder::Weight => weight(a).cmp(&weight(b)).then(by_name),
                }
            },
            max_depth: MAX_DEPTH,
        };
        let tree = match direction {
            Direction::TopDown => call_tree(subject, &shape),
            Direction::BottomUp => inverted_tree(subject, &shape),
        };
        let node = |node: NodeId| {
            let key = tree.key[node];
            let this = subject.keys.get(key);
            let old = || self.row_values.old(Some(tree.self_value[1][node]), Some(tree.total[1][node]));
            FlameNode {
                parent: tree.parent[node].index() as u32,
                name: this.name.clone(),
                function: this.function.clone(),
                file: this.file.clone(),
                line: this.line,
                group: 0,
                inlined: tree.inlined[node],
                width: tree.total[*width][node],
                total: tree.total[0][node],
                self_value: tree.self_value[0][node],
                old: self.row_values.compares().then(old),
            }
        };
        let nodes = tree.parent.ids().map(node).collect();
        self.dropped += tree.cut.iter().map(|&cut| u64::from(cut)).sum::<u64>() - gone.into_inner();
        if tree.depths().iter().any(|&depth| depth as usize == MAX_DEPTH) {
            self.deepest = Some(MAX_DEPTH as u32);
        }
        nodes
    }
}

/// The groups of functions that share a colour, for the names in a picture.
pub(super) struct Colors {
    pub(super) groups: Vec<ColorGroup>,
    of_name: HashMap<Name, u32>,
}

impl Colors {
    /// Ranks the groups by the areas that names take.
    pub(super) fn new<'n>(
        parts: &[&Subject<'_>],
        own: Option<&Patterns>,
        areas: impl Iterator<Item = (&'n Name, i64)>,
    ) -> Self {
        let mut area: HashMap<&Name, u64> = HashMap::new();
        for (name, width) in areas {
            let sum = area.entry(name).or_default();
            *sum = sum.saturating_add(width.unsigned_abs());
        }
        let mut names = Vec::new();
        let mut functions = Vec::new();
        for subject in parts {
            for (key, function) in owned(subject) {
                let name = subject.keys.name(key);
                names.push(name.clone());
                functions.push(Owned { area: area.remove(name).unwrap_or(0), ..function });
            }
        }
        let (groups, group_of) = groups(&functions, own);
        let mut of_name = HashMap::new();
        for (name, group) in names.into_iter().zip(group_of) {
            of_name.entry(name).or_insert(group);
        }
        Colors { groups, of_name }
    }

    pub(super) fn of(&self, name: &Name) -> u32 {
        self.of_name.get(name).copied().unwrap_or(0)
    }
}

/// The self of what legends list.
pub(super) struct SelfSums {
    /// Of every source file, the heaviest first.
    pub(super) files: Vec<(Name, i64)>,
    /// Of every group.
    pub(super) group_self: Vec<i64>,
}

impl SelfSums {
    pub(super) fn of(subject: &Subject<'_>, colors: &Colors) -> Self {
        let own = self_values(subject);
        let file_of = |key| subject.keys.get(key).file.clone().unwrap_or_default();
        let files = heaviest(own.enumerate().map(|(key, &own)| (file_of(key), own)));
        let mut group_self = vec![0_i64; colors.groups.len()];
        for (key, &own) in own.enumerate() {
            // A profile without samples has no groups.
            if let Some(sum) = group_self.get_mut(colors.of(subject.keys.name(key)) as usize) {
                *sum = sum.saturating_add(own);
            }
        }
        SelfSums { files, group_self }
    }
}

/// The package of every key, taken from its first frame.
pub(super) fn packages(subject: &Subject<'_>) -> Column<KeyId, Name> {
    let symbols = &subject.profile.symbols;
    let frame_of = first_frames(subject);
    let mut packages = hashbrown::HashSet::<Name>::new();
    let package_of = |frame: &Option<FrameId>| {
        let package = frame.map(|frame| symbols.owner(&symbols.frames[frame])).unwrap_or_default();
        packages.get_or_insert_with(&*package, |package| package.into()).clone()
    };
    frame_of.iter().map(package_of).collect()
}

/// The self of every key.
fn self_values(subject: &Subject<'_>) -> Column<KeyId, i64> {
    if subject.calls.is_some() {
        return flat(subject).self_value.swap_remove(0);
    }
    let mut own = Column::filled(0, subject.keys.len());
    for stack in subject.stacks() {
        if let Some(leaf) = subject.stack_keys(stack).next_back() {
            own[leaf] += subject.series[0][stack];
        }
    }
    own
}

/// The names that only the old side has, with their old totals. For a name both above and below a
/// focus, the greater total is used.
fn removed(parts: &[&Subject<'_>]) -> Vec<(Name, i64)> {
    let mut totals = HashMap::<Name, [i64; 2]>::new();
    for subject in parts {
        let counted = flat(subject);
        for key in subject.keys.ids() {
            let [new, old] = totals.entry(subject.keys.name(key).clone()).or_default();
            let greater = |a: i64, b: i64| if b.unsigned_abs() > a.unsigned_abs() { b } else { a };
            (*new, *old) = (greater(*new, counted.total[0][key]), greater(*old, counted.total[1][key]));
        }
    }
    heaviest(totals.into_iter().filter(|(_, [new, _])| *new == 0).map(|(name, [_, old])| (name, old)))
}

/// Adds up the values of equal names and sorts them, the heaviest first.
fn heaviest(values: impl Iterator<Item = (Name, i64)>) -> Vec<(Name, i64)> {
    let mut sums = HashMap::<Name, i64>::new();
    for (name, value) in values.filter(|&(_, value)| value != 0) {
        *sums.entry(name).or_default() += value;
    }
    let mut sums: Vec<(Name, i64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.unsigned_abs().cmp(&a.1.unsigned_abs()).then_with(|| a.0.cmp(&b.0)));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn drawn(picture: &str, change: impl Fn(&mut FlameOptions)) -> Vec<String> {
        let mut options = FlameOptions::new(Scope::metric(0));
        change(&mut options);
        let flame = flame(&from_notation(picture), &options);
        let row = |node: &FlameNode| format!("{}<{} {}", node.name, node.parent, node.width);
        flame.nodes.iter().map(row).collect()
    }

    #[test]
    fn orders_and_directions() {
        let picture = "main;a 1\nmain;b 3";
        assert_eq!(drawn(picture, |_| ()), ["(all)<0 4", "main<0 4", "a<1 1", "b<1 3"]);
        let by_weight = drawn(picture, |options| options.order = SiblingOrder::Weight);
        assert_eq!(by_weight[2..], ["b<1 3", "a<1 1"]);
        let inverted = drawn(picture, |options| options.direction = Direction::BottomUp);
        assert_eq!(inverted, ["(all)<0 4", "a<0 1", "main<1 1", "b<0 3", "main<3 3"]);
    }

    #[test]
    fn callers_of_a_focus_are_a_separate_tree() {
        let profile = from_notation("main;a;x 3\nmain;a;a 2\nb;a 1");
        let (patterns, _) = crate::pattern::Patterns::parse(&["^a$"], false).unwrap();
        let marks = crate::transform::Marks::new(&profile, &patterns);
        let mut options = FlameOptions::new(Scope::metric(0));
        options.scope.callers = Some(crate::transform::end_before(&profile, &marks).0);
        let flame = flame(&crate::transform::show_from(&profile, &marks).0, &options);
        let row =
            |node: &FlameNode| format!("{}<{} {}/{}", node.name, node.parent, node.self_value, node.total);
        let rows = |nodes: &[FlameNode]| nodes.iter().map(row).collect::<Vec<_>>();
        assert_eq!(rows(&flame.nodes), ["(all)<0 0/6", "a<0 1/6", "a<1 2/2", "x<1 3/3"]);
        assert_eq!(rows(&flame.callers), ["(all)<0 0/6", "b<0 0/1", "main<0 0/5"]);
    }

    #[test]
    fn a_block_is_inlined_if_it_is_in_all_of_its_stacks() {
        let flame = flame(
            &from_notation("main;a;+h 3\nmain;b;h 2\nmain;c;+h 1\nmain;c;h 1"),
            &FlameOptions::new(Scope::metric(0)),
        );
        let inlined: Vec<bool> =
            flame.nodes.iter().filter(|node| &*node.name == "h").map(|node| node.inlined).collect();
        assert_eq!(inlined, [true, false, false]);
    }

    #[test]
    fn nodes_too_narrow_to_draw_are_counted() {
        let mut options = FlameOptions::new(Scope::metric(0));
        options.pixels = 1;
        let flame = flame(&from_notation("a 9\nb 2\nc;d 1\n 3"), &options);
        assert_eq!((flame.nodes.len(), flame.dropped), (2, 2));
        assert_eq!(flame.header.no_stack, 3);
    }

    #[test]
    fn widths_ignore_signs() {
        assert_eq!(drawn("a;b 5\na;c -5", |_| ()), ["(all)<0 10", "a<0 10", "b<1 5", "c<1 5"]);
    }

    #[test]
    fn a_comparison_has_old_values_and_lists_removed_functions() {
        let mut options = FlameOptions::new(Scope::metric(0));
        let base = crate::view::BaseSide { metric: 1, ..Default::default() };
        options.scope.base = Some(base);
        let flame = flame(&from_notation("main;a 3 1\nmain;b 2 5\nmain;gone 0 4"), &options);
        let olds: Vec<(i64, i64)> =
            flame.nodes.iter().map(|node| (node.width, node.old.unwrap().total)).collect();
        assert_eq!(olds, [(5, 10), (5, 10), (3, 1), (2, 5)]);
        assert_eq!(flame.removed, [("gone".into(), 4)]);
        assert_eq!(flame.dropped, 0);
    }
}
