//! Compares profiles of calls between functions with the same profiles as stacks: flat values and edges are exact, and
//! trees are exact if every function has one caller.

use prof::profile::{FunctionId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use prof::report::{CountedFrom, Direction, Focus, Overlap, Tree};
use prof::view::{
    FlameOptions, FocusOptions, GraphOptions, Scope, TopOptions, TreeOptions, bottom_up, flame, focus, graph,
    top, tree,
};
use proptest::prelude::*;

use crate::support::{fixture, prof};

/// Samples: a stack of functions, root first, and a value.
type Drawn = Vec<(Vec<usize>, i64)>;

fn as_stacks(drawn: &Drawn) -> Profile {
    let mut builder = ProfileBuilder::new("drawn", LoadOptions::default());
    builder.metric("samples", "count");
    for (stack, value) in drawn {
        let frames: Vec<_> = stack.iter().map(|f| builder.named_frame(&format!("f{f}"))).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[*value]);
    }
    builder.finish().unwrap()
}

/// The calls on the same stacks, in which no function occurs twice.
fn as_calls(drawn: &Drawn) -> Profile {
    let (mut selfs, mut edges) = (Vec::new(), Vec::new());
    for (stack, value) in drawn {
        selfs.extend(stack.last().map(|&leaf| (leaf, *value)));
        edges.extend(stack.windows(2).map(|pair| (pair[0], pair[1], *value)));
    }
    calls(&selfs, &edges)
}

fn calls(selfs: &[(usize, i64)], edges: &[(usize, usize, i64)]) -> Profile {
    let mut builder = ProfileBuilder::new("drawn", LoadOptions::default());
    builder.metric("samples", "count");
    let calls = builder.metric("calls", "count");
    builder.calls_metric(calls);
    let function = |builder: &mut ProfileBuilder, f: usize| -> FunctionId {
        builder.named_function(&format!("f{f}"), "")
    };
    for &(leaf, value) in selfs {
        let leaf = function(&mut builder, leaf);
        builder.call_node(leaf, &[value, 0]);
    }
    for &(caller, callee, value) in edges {
        let (caller, callee) = (function(&mut builder, caller), function(&mut builder, callee));
        builder.call_node(callee, &[0, 1]);
        builder.call_edge(caller, callee, None, &[value, 1]);
    }
    builder.finish().unwrap()
}

/// A report as JSON, without its warnings.
fn json(report: &impl serde::Serialize) -> serde_json::Value {
    let mut value = serde_json::to_value(report).unwrap();
    value["warnings"] = serde_json::Value::Null;
    for key in ["approximation", "counted_from"] {
        value.as_object_mut().unwrap().remove(key);
    }
    value
}

fn callees(focus: &Focus) -> Vec<(String, i64)> {
    focus.callees.iter().map(|row| (row.name.to_string(), row.value)).collect()
}

fn scope() -> Scope {
    Scope::metric(0)
}

/// Stacks without recursion: every function calls only those with a higher number.
fn without_recursion() -> impl Strategy<Value = Drawn> {
    let stack = prop::collection::btree_set(0..8_usize, 1..6).prop_map(|set| set.into_iter().collect());
    prop::collection::vec((stack, 1..100_i64), 1..20)
}

/// Stacks of a program in which every function has one caller and the first one is the root of all stacks.
fn with_one_caller() -> impl Strategy<Value = Drawn> {
    prop::collection::vec((any::<prop::sample::Index>(), 1..100_000_i64), 1..30).prop_map(|functions| {
        let mut stacks: Drawn = Vec::new();
        for (number, (caller, value)) in functions.into_iter().enumerate() {
            let mut stack = match number {
                0 => Vec::new(),
                _ => stacks[caller.index(number)].0.clone(),
            };
            stack.push(number);
            stacks.push((stack, value));
        }
        stacks
    })
}

#[test]
fn direct_recursion_is_a_separate_row() {
    // f0 calls f1, which calls itself and f2. Of f1's cost of 8, 3 are its own and 5 are f2's.
    let profile = calls(&[(0, 2), (1, 3), (2, 5)], &[(0, 1, 8), (1, 1, 20), (1, 2, 5)]);
    let found = focus(&profile, &FocusOptions::new(scope(), "f1")).unwrap();
    assert_eq!((found.values.new.total, found.values.new.self_value), (8, 3));
    let callers: Vec<_> = found.callers.iter().map(|row| (row.name.to_string(), row.value)).collect();
    // Inner calls include each other; together they cost no more than the function.
    assert_eq!(callers, [("f0".to_string(), 8), ("(itself)".to_string(), 8)]);
    assert_eq!(callees(&found), [("f2".to_string(), 5), ("(itself)".to_string(), 8)]);
    assert_eq!(
        (found.overlap, found.counted_from),
        (Overlap { callers: 8, callees: 8 }, CountedFrom::RecursiveCalls)
    );
    let graph = graph(&profile, &GraphOptions::new(scope()));
    let edges: Vec<_> =
        graph.edges.iter().map(|edge| format!("{} {} {}", edge.caller, edge.callee, edge.value)).collect();
    assert_eq!(edges, ["f0 f1 8", "f1 f2 5"]);
}

proptest! {
    #[test]
    fn functions_and_calls_are_exact(drawn in without_recursion()) {
        let (stacks, calls) = (as_stacks(&drawn), as_calls(&drawn));
        let options = TopOptions::new(scope());
        prop_assert_eq!(json(&top(&calls, &options)), json(&top(&stacks, &options)));
        let options = GraphOptions::new(scope());
        prop_assert_eq!(json(&graph(&calls, &options)), json(&graph(&stacks, &options)));
        for function in 0..8 {
            let options = FocusOptions::new(scope(), &format!("f{function}"));
            match (focus(&calls, &options), focus(&stacks, &options)) {
                // A difference of one per caller is accepted as rounding.
                (Ok(calls), Ok(stacks)) if stacks.callers.iter().all(|row| &*row.name != "(root)" || row.value > 8) => {
                    prop_assert_eq!(json(&calls), json(&stacks));
                }
                (Ok(calls), Ok(stacks)) => prop_assert_eq!(callees(&calls), callees(&stacks)),
                (calls, stacks) => prop_assert_eq!(calls.is_err(), stacks.is_err()),
            }
        }
    }

    /// A total that calls cannot tell is an upper bound, wherever stacks start: never less than what the stacks say. All
    /// others are exact.
    #[test]
    fn totals_of_recursive_functions_are_never_too_small(
        drawn in prop::collection::vec((prop::collection::vec(0..6_usize, 1..7), 1..100_i64), 1..20),
        is_each in any::<bool>(),
    ) {
        let (mut selfs, mut edges) = (Vec::new(), Vec::new());
        for (stack, value) in &drawn {
            selfs.extend(stack.last().map(|&leaf| (leaf, *value)));
            let mut calls: Vec<_> = stack.windows(2).map(|pair| (pair[0], pair[1], *value)).collect();
            if !is_each {
                // A call that recurs counts once per sample.
                calls.sort_unstable();
                calls.dedup();
            }
            edges.extend(calls);
        }
        let rows = |profile: &Profile| {
            let mut rows = top(profile, &TopOptions::new(scope())).rows;
            rows.sort_by(|a, b| a.name.cmp(&b.name));
            rows
        };
        let whole: i64 = drawn.iter().map(|(_, value)| value).sum();
        for (of_stacks, of_calls) in rows(&as_stacks(&drawn)).iter().zip(&rows(&calls(&selfs, &edges))) {
            let (name, exact, total) = (&of_stacks.name, of_stacks.values.total, of_calls.values.total);
            prop_assert_eq!(name, &of_calls.name);
            prop_assert!(exact <= total && total <= whole, "{name}: {exact} {total} of {whole}");
            prop_assert!(exact == total || of_calls.upper_bound, "{name}: {exact} {total}");
        }
    }

    #[test]
    fn trees_are_exact_if_every_function_has_one_caller(drawn in with_one_caller()) {
        let (stacks, calls) = (as_stacks(&drawn), as_calls(&drawn));
        let options = TreeOptions { min_share: 2.0, ..TreeOptions::new(scope()) };
        prop_assert_eq!(json(&tree(&calls, &options)), json(&tree(&stacks, &options)));
        prop_assert_eq!(json(&bottom_up(&calls, &options).unwrap()), json(&bottom_up(&stacks, &options).unwrap()));
        for direction in [Direction::TopDown, Direction::BottomUp] {
            let options = FlameOptions { direction, ..FlameOptions::new(scope()) };
            let nodes = |profile: &Profile| {
                let flame = flame(profile, &options);
                let node = |node: &prof::report::FlameNode| {
                    (node.name.clone(), node.parent, node.total, node.self_value, node.width)
                };
                flame.nodes.iter().map(node).collect::<Vec<_>>()
            };
            prop_assert_eq!(nodes(&calls), nodes(&stacks));
        }
    }

    /// Even if the calls are inconsistent or contain cycles.
    #[test]
    fn trees_of_any_calls_add_up(
        selfs in prop::collection::vec((0..9_usize, 0..1_000_000_i64), 1..12),
        edges in prop::collection::vec((0..9_usize, 0..9_usize, 0..1_000_000_i64), 0..30),
    ) {
        let profile = calls(&selfs, &edges);
        let whole = profile.meta.metrics[0].total;
        let options = TreeOptions::new(scope());
        let top_down = tree(&profile, &options);
        let total: i64 = top_down.rows.iter().filter(|row| row.depth == 0).map(|row| row.values.total).sum();
        let own: i64 = top_down.rows.iter().map(|row| row.values.self_value).sum();
        prop_assert!(total <= whole);
        prop_assert_eq!(own + top_down.header.elided, whole);
        callees_fit(&top_down)?;
        let from_below = bottom_up(&profile, &options).unwrap();
        callees_fit(&from_below)?;
        let flat = top(&profile, &TopOptions::new(scope()));
        for row in from_below.rows.iter().filter(|row| row.depth == 0) {
            let exact = flat.rows.iter().find(|exact| exact.name == row.name).unwrap();
            prop_assert_eq!((row.values.self_value, row.values.total), (exact.values.self_value, exact.values.total));
        }
        for row in &flat.rows {
            prop_assert!(row.values.self_value <= row.values.total && row.values.total <= whole);
        }
    }
}

/// Checks that no row has a smaller total than its children together.
fn callees_fit(tree: &Tree) -> Result<(), TestCaseError> {
    let mut below = vec![0; tree.rows.len()];
    for row in &tree.rows {
        prop_assert!(row.values.self_value >= 0 && row.values.children >= 0);
        if let Some(parent) = row.parent {
            below[parent as usize] += row.values.total;
        }
    }
    let top_down = tree.direction == Direction::TopDown;
    for (row, below) in tree.rows.iter().zip(below) {
        let most = if top_down { row.values.children } else { row.values.total };
        prop_assert!(below <= most);
    }
    Ok(())
}

#[test]
fn recursive_calls_are_shown_once() {
    // main calls a, a and b call each other.
    let profile = calls(&[(0, 1), (1, 10), (2, 20)], &[(0, 1, 30), (1, 2, 28), (2, 1, 15)]);
    let rows = tree(&profile, &TreeOptions::new(scope())).rows;
    let drawn: Vec<_> =
        rows.iter().map(|row| (&*row.name, row.values.self_value, row.values.total)).collect();
    assert_eq!(drawn, [("f0", 1, 31), ("f1", 10, 30), ("f2", 20, 20)]);
}

#[test]
fn a_shared_callee_is_divided_by_the_cost_of_its_calls() {
    let profile =
        calls(&[(1, 1), (2, 1), (3, 40)], &[(0, 1, 31), (0, 2, 11), (1, 3, 30), (2, 3, 10), (3, 4, 8)]);
    let tree = tree(&profile, &TreeOptions::new(scope()));
    let drawn: Vec<String> = tree
        .rows
        .iter()
        .map(|row| format!("{}{} {}", " ".repeat(row.depth as usize), row.name, row.values.total))
        .collect();
    assert_eq!(drawn, ["f0 42", " f1 31", "  f3 30", " f2 11", "  f3 10"]);
    let warnings: Vec<&str> = tree.header.warnings.iter().map(|warning| &*warning.text).collect();
    // `f3` calls `f4`, which has no costs.
    assert!(
        warnings.iter().any(|text| text.starts_with("1 function has a total above the sum")),
        "{warnings:?}"
    );
    assert!(warnings.iter().any(|text| text.starts_with("approximated from calls")), "{warnings:?}");
}

#[test]
fn deep_and_wide_graphs_stay_small() {
    let deep = 40_000;
    let selfs: Vec<(usize, i64)> = (0..deep).map(|f| (f, 1)).collect();
    let chain: Vec<_> = (1..deep).map(|f| (f - 1, f, (deep - f) as i64)).collect();
    let rows = tree(&calls(&selfs, &chain), &TreeOptions::new(scope())).rows;
    assert_eq!(rows.last().unwrap().depth as usize, deep - 1);

    // 30 layers of 10 functions, each calling all of the next layer: 10³⁰ paths.
    let layer = |depth: usize| depth * 10..depth * 10 + 10;
    let pairs = |depth| layer(depth).flat_map(move |a| layer(depth + 1).map(move |b| (a, b)));
    let edges: Vec<_> = (0..29).flat_map(pairs).map(|(a, b)| (a, b, 1_000_000)).collect();
    let selfs: Vec<(usize, i64)> = layer(29).map(|f| (f, 10_000_000)).collect();
    let profile = calls(&selfs, &edges);
    let tree = tree(&profile, &TreeOptions::new(scope()));
    assert!(tree.rows.len() <= 50_000, "{}", tree.rows.len());
    assert!(tree.header.elided > 0);
    assert!(bottom_up(&profile, &TreeOptions::new(scope())).unwrap().rows.len() < 50_000);
}

/// The cost of one call is no part of a total.
#[test]
fn markdown_has_no_share_of_a_call() {
    for file in ["pstats/python.pstats", "callgrind/c.callgrind"] {
        let file = fixture(file).display().to_string();
        let output =
            prof(std::path::Path::new("."), &["top", "-n", "3", "-f", "markdown", &file]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let titles: Vec<&str> = text
            .lines()
            .find(|line| line.contains("| FUNCTION"))
            .unwrap()
            .split('|')
            .map(str::trim)
            .collect();
        let after = |title: &str| titles[titles.iter().position(|other| *other == title).unwrap() + 1];
        assert_eq!((after("SELF"), after("TOTAL")), ("%", "%"), "{text}");
        assert_eq!((after("CALLS"), after("PER CALL")), ("PER CALL", "FUNCTION"), "{text}");
    }
}
