//! Compares `focus` and `graph` with brute force on real profiles, function by function.

use std::collections::BTreeMap;

use crate::support::edges::{Node, nodes, stacks};
use crate::support::{corpus, load_file};
use prof::profile::Profile;
use prof::report::{Focus, Neighbour, NeighbourKind};
use prof::view::{FocusOptions, GraphOptions, Scope, focus, graph};

/// Folders of the corpus whose files contain stacks.
const FOLDERS: [&str; 9] =
    ["pprof", "collapsed", "cpuprofile", "speedscope", "perf-script", "gecko", "jfr", "stackprof", "austin"];

/// `focus` goes through all stacks for each function, so in larger files only some functions are compared.
const MOST_FRAMES: usize = 300_000;

/// Files with more frames take too long by brute force.
const MOST_FRAMES_OF_A_FILE: usize = 200_000;

#[test]
#[needs(Corpus)]
fn focus_and_graph_of_real_profiles_agree_with_brute_force() {
    let (mut files, mut functions, mut edges) = (0, 0, 0);
    for folder in FOLDERS {
        let paths = corpus(folder);
        for path in paths {
            // Some files of the corpus are corrupt on purpose, or too large for a test.
            if path.metadata().unwrap().len() > 2_000_000 {
                continue;
            }
            let Ok(profile) = load_file(&path) else { continue };
            if profile.calls.is_some() || frames(&profile) > MOST_FRAMES_OF_A_FILE {
                continue;
            }
            let metric = profile.meta.default_metric;
            let expected = nodes(&stacks(&profile, metric));
            let file = path.display().to_string();
            functions += compare_focus(&profile, &expected, &file);
            edges += compare_graph(&profile, &expected, &file);
            files += 1;
        }
    }
    println!("{files} files, {functions} functions, {edges} edges");
    assert!(files > 100 && functions > 5_000, "only {functions} functions of {files} files were compared");
}

/// The frames of all samples.
fn frames(profile: &Profile) -> usize {
    profile.samples.stack.iter().map(|&stack| profile.stacks.frames(stack).len()).sum()
}

/// Compares `focus` of every function, or of as many as are quick; returns their number.
fn compare_focus(profile: &Profile, expected: &BTreeMap<String, Node>, file: &str) -> usize {
    let step = (expected.len() * frames(profile)).div_ceil(MOST_FRAMES).max(1);
    let mut compared = 0;
    for (name, node) in expected.iter().step_by(step) {
        let scope = Scope::metric(profile.meta.default_metric);
        let options = FocusOptions { fixed: true, ..FocusOptions::new(scope, name) };
        let Ok(found) = focus(profile, &options) else {
            let has_value = (node.total, node.self_value) != (0, 0);
            assert!(!has_value || name.is_empty(), "{file}: {name} is not found");
            continue;
        };
        // The name of one function may be the short name of another, such as `main`.
        if let [only] = &found.matches[..]
            && *only.name == **name
        {
            assert_eq!(node_of(&found), *node, "{file}: {name}");
            compared += 1;
        }
    }
    compared
}

fn node_of(focus: &Focus) -> Node {
    let functions = |rows: &[Neighbour]| -> BTreeMap<String, i64> {
        let functions = rows.iter().filter(|row| row.kind == NeighbourKind::Function);
        functions.map(|row| (row.name.to_string(), row.value)).collect()
    };
    let special = |rows: &[Neighbour], kind: NeighbourKind| {
        rows.iter().find(|row| row.kind == kind).map_or(0, |row| row.value)
    };
    let itself = special(&focus.callers, NeighbourKind::Itself);
    assert_eq!(itself, special(&focus.callees, NeighbourKind::Itself));
    Node {
        total: focus.values.new.total,
        self_value: focus.values.new.self_value,
        callers: functions(&focus.callers),
        callees: functions(&focus.callees),
        itself,
        root: special(&focus.callers, NeighbourKind::Root),
    }
}

/// Compares all edges of `graph`, which has no self-edges; returns their number.
fn compare_graph(profile: &Profile, expected: &BTreeMap<String, Node>, file: &str) -> usize {
    let found = graph(profile, &GraphOptions::new(Scope::metric(profile.meta.default_metric)));
    let pair = |caller: &str, callee: &str| (caller.to_string(), callee.to_string());
    let edges: BTreeMap<(String, String), i64> =
        found.edges.iter().map(|edge| (pair(&edge.caller, &edge.callee), edge.value)).collect();
    let shown = |name: &str| found.nodes.iter().any(|node| *node.name == *name);
    let mut counted = BTreeMap::new();
    for (callee, node) in expected {
        counted.extend(node.callers.iter().map(|(caller, &value)| (pair(caller, callee), value)));
    }
    // In a heap profile with values of both signs, an edge may have a value although its functions have none.
    counted.retain(|(caller, callee), _| {
        edges.contains_key(&pair(caller, callee)) || shown(caller) && shown(callee)
    });
    assert_eq!(edges, counted, "{file}");
    edges.len()
}
