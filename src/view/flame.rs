//! `flame`: the call tree as it will be drawn.

use crate::profile::{Column, FrameId, Id, Profile};
use crate::report::{Direction, Flame, FlameNode, Name};
use crate::tree::{KeyId, Node, NodeId, Shape, Subject, call_tree, flat, inverted_tree, owner};
use crate::view::values::Measure;
use crate::view::{Scope, approximate};

/// What `flame` is told.
#[derive(Clone, Debug)]
pub struct FlameOptions {
    /// Metric and nodes. Beside an old side, widths are those of the new side.
    pub scope: Scope,
    /// Title of the picture.
    pub title: String,
    /// The order of siblings.
    pub order: Order,
    /// Callees on their callers, or the inverted graph.
    pub direction: Direction,
    /// How many pixels wide the picture is: what would be narrower than a third of one is left out.
    pub pixels: u32,
}

/// The order of siblings in a flame graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By name, so that a function stands at the same place in every picture.
    #[default]
    Alphabetical,
    /// The widest first.
    Weight,
}

/// No picture is higher: a stack a hundred thousand deep would make one that nothing can display.
const DEEPEST: usize = 2_000;

impl FlameOptions {
    /// Callees on their callers in alphabetical order.
    pub fn new(scope: Scope, title: String) -> Self {
        let direction = Direction::TopDown;
        FlameOptions { scope, title, order: Order::default(), direction, pixels: 1180 }
    }
}

/// The call tree without what is too small to be drawn.
pub fn flame(profile: &Profile, options: &FlameOptions) -> Flame {
    // The old side stands second, and widths last.
    let scope = Scope { metrics: vec![options.scope.metrics[0]], ..options.scope.clone() };
    let mut subject = scope.subject(profile);
    let signed = subject.series[0].iter().any(|&value| value < 0);
    if signed {
        let widths = subject.series[0].map(|value| value.abs());
        subject.series.push(widths);
    }
    let width = if signed { subject.series.len() - 1 } else { 0 };
    let mut header = options.scope.header(profile, "prof.flame.v1");
    approximate(&mut header, profile);
    let measure = Measure::new(&header);
    let third = u64::from(options.pixels.max(1)) * 3;
    let smallest = header.shown.unsigned_abs().div_ceil(third).max(1);
    let shape = Shape {
        keep: &|node| node.total[width].unsigned_abs() >= smallest,
        order: &|a, b| {
            let by_name = subject.keys.name(a.key).cmp(subject.keys.name(b.key));
            let weight = |node: Node<'_>| std::cmp::Reverse(node.total[width]);
            match options.order {
                Order::Alphabetical => by_name,
                Order::Weight => weight(a).cmp(&weight(b)).then(by_name),
            }
        },
        max_depth: DEEPEST,
    };
    let tree = match options.direction {
        Direction::TopDown => call_tree(&subject, &shape),
        Direction::BottomUp => inverted_tree(&subject, &shape),
    };
    header.no_stack = tree.self_value[0][NodeId::default()];
    header.highlight = options.scope.highlight(&subject);
    let facts = facts(&subject);
    let own = own(&subject);
    let packages = heaviest(own.enumerate().map(|(key, &own)| (facts[key].package.clone(), own)));
    let file_of = |key| subject.keys.get(key).file.clone().unwrap_or_default();
    let files = heaviest(own.enumerate().map(|(key, &own)| (file_of(key), own)));
    let node = |node: NodeId| {
        let key = tree.key[node];
        let this = subject.keys.get(key);
        let facts = &facts[key];
        FlameNode {
            parent: tree.parent[node].index() as u32,
            name: this.name.clone(),
            file: this.file.clone(),
            line: this.line,
            package: facts.package.clone(),
            inlined: facts.inlined,
            width: tree.total[width][node],
            total: tree.total[0][node],
            self_value: tree.self_value[0][node],
            old: measure
                .compares()
                .then(|| measure.old(Some(tree.self_value[1][node]), Some(tree.total[1][node]))),
        }
    };
    let nodes = tree.parent.ids().map(node).collect();
    let drawn: i64 = tree.self_value[width].iter().sum();
    Flame {
        header,
        nodes,
        direction: options.direction,
        title: options.title.clone(),
        packages,
        files,
        removed: if options.scope.base.is_some() { removed(&subject) } else { Vec::new() },
        deepest: tree.depths().iter().any(|&depth| depth as usize == DEEPEST).then_some(DEEPEST as u32),
        dropped: tree.cut.iter().map(|&cut| u64::from(cut)).sum(),
        dropped_width: tree.total[width][NodeId::default()] - drawn,
    }
}

/// What a picture shows of a key besides its name.
pub(super) struct Facts {
    pub(super) package: Name,
    pub(super) inlined: bool,
}

/// The facts of every key: the package of the first of its frames, and whether all are inlined.
pub(super) fn facts(subject: &Subject<'_>) -> Column<KeyId, Facts> {
    let symbols = &subject.profile.symbols;
    let mut frame_of: Column<KeyId, Option<FrameId>> = Column::filled(None, subject.keys.len());
    let mut inlined = Column::<KeyId, bool>::filled(true, subject.keys.len());
    for (id, frame) in symbols.frames.enumerate() {
        let key = subject.keys.of_frame(id);
        frame_of[key].get_or_insert(id);
        inlined[key] &= frame.inlined;
    }
    let mut packages = hashbrown::HashSet::<Name>::new();
    let mut facts = Column::new();
    for (key, frame) in frame_of.enumerate() {
        let package = frame.map(|frame| owner(symbols, &symbols.frames[frame])).unwrap_or_default();
        let package = packages.get_or_insert_with(&*package, |package| package.into()).clone();
        facts.push(Facts { package, inlined: frame.is_some() && inlined[key] });
    }
    facts
}

/// The self of every key.
fn own(subject: &Subject<'_>) -> Column<KeyId, i64> {
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

/// What the old side has and the new side has not, by its old total.
fn removed(subject: &Subject<'_>) -> Vec<(Name, i64)> {
    let counted = flat(subject);
    let is_gone = |key: &KeyId| counted.total[0][*key] == 0 && counted.total[1][*key] != 0;
    let gone = subject.keys.ids().filter(is_gone);
    heaviest(gone.map(|key| (subject.keys.name(key).clone(), counted.total[1][key])))
}

/// Adds up what has one name, and puts the heaviest first.
fn heaviest(values: impl Iterator<Item = (Name, i64)>) -> Vec<(Name, i64)> {
    let mut sums = hashbrown::HashMap::<Name, i64>::new();
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
    use crate::profile::from_picture;

    fn drawn(picture: &str, change: impl Fn(&mut FlameOptions)) -> Vec<String> {
        let mut options = FlameOptions::new(Scope::metric(0), String::new());
        change(&mut options);
        let flame = flame(&from_picture(picture), &options);
        let row = |node: &FlameNode| format!("{}<{} {}", node.name, node.parent, node.width);
        flame.nodes.iter().map(row).collect()
    }

    #[test]
    fn orders_and_directions() {
        let picture = "main;a 1\nmain;b 3";
        assert_eq!(drawn(picture, |_| ()), ["(all)<0 4", "main<0 4", "a<1 1", "b<1 3"]);
        let by_weight = drawn(picture, |options| options.order = Order::Weight);
        assert_eq!(by_weight[2..], ["b<1 3", "a<1 1"]);
        let inverted = drawn(picture, |options| options.direction = Direction::BottomUp);
        assert_eq!(inverted, ["(all)<0 4", "a<0 1", "main<1 1", "b<0 3", "main<3 3"]);
    }

    #[test]
    fn what_is_too_narrow_is_counted() {
        let mut options = FlameOptions::new(Scope::metric(0), String::new());
        options.pixels = 1;
        let flame = flame(&from_picture("a 9\nb 2\nc;d 1\n 3"), &options);
        assert_eq!((flame.nodes.len(), flame.dropped, flame.dropped_width), (2, 2, 3));
        assert_eq!(flame.header.no_stack, 3);
    }

    #[test]
    fn widths_ignore_signs() {
        assert_eq!(drawn("a;b 5\na;c -5", |_| ()), ["(all)<0 10", "a<0 10", "b<1 5", "c<1 5"]);
    }

    #[test]
    fn a_comparison_has_old_values_and_says_what_is_gone() {
        let mut options = FlameOptions::new(Scope::metric(0), String::new());
        let normalize = crate::report::Normalize { method: "none", ratio: 1.0 };
        let base = crate::view::BaseSide { inputs: Vec::new(), metric: 1, duration_ns: None, normalize };
        options.scope.base = Some(base);
        let flame = flame(&from_picture("main;a 3 1\nmain;b 2 5\nmain;gone 0 4"), &options);
        let olds: Vec<(i64, i64)> =
            flame.nodes.iter().map(|node| (node.width, node.old.unwrap().total)).collect();
        assert_eq!(olds, [(5, 10), (5, 10), (3, 1), (2, 5)]);
        assert_eq!(flame.removed, [("gone".into(), 4)]);
    }
}
