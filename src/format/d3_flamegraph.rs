//! Reads the JSON that d3-flame-graph draws, which `perf script report flamegraph -f json` and others write: a call tree.
//!
//! ```text
//! {"name": "root", "value": 100, "children": [{"name": "main", "value": 75, "children": [{"name": "parse", "value": 60}]}]}
//! {"n": "all", "l": "root", "v": 0, "c": [{"n": "sh (42)", "l": "", "v": 1, "c": [{"n": "do_idle", "l": "kernel", "v": 3, "c": []}]}]}
//! ```
//!
//! Flink puts the time around it: `{"endTimestamp": 1710000000123, "data": {"name": "root", …}}`.
//!
//! A value is what a node and all below it have, or what the node itself has: the program that draws it is told which (`selfValue`), and
//! the file does not say. If the children of a node have more than the node, values are those of the nodes themselves.

use crate::format::decimals::Decimals;
use crate::format::json::{self, Json, Kind};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, MappingId, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static D3_FLAMEGRAPH: Format = Format { name: NAME, title: "JSON of d3-flame-graph", sniff, read };

const NAME: &str = "d3-flamegraph";

/// What the node is called that has all stacks; it is no function.
const ROOTS: [&str; 4] = ["", "all", "root", "total"];

/// The kernel's code, as in other formats of perf.
const KERNEL: &str = "[kernel.kallsyms]";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let has = |wanted: &[&str]| json::has(&keys, wanted);
    let is_tree = has(&["name", "value", "children"]) || has(&["n", "v", "c"]);
    let mentions = |words: [&str; 3]| words.into_iter().all(|word| json::mentions(head, word));
    if is_tree || (is_wrapped(head) && mentions(["\"name\"", "\"value\"", "\"children\""])) {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

/// Whether the tree is the member `data` of an object, as Flink writes it.
fn is_wrapped(head: &[u8]) -> bool {
    let keys = json::keys(head);
    let has_tree =
        keys.iter().any(|(key, kind)| key == "data" && kind.is_none_or(|kind| kind == Kind::Object));
    has_tree && json::has(&keys, &["endTimestamp"])
}

/// Moves to the tree.
fn find_tree(json: &mut Json<'_>) -> Result<(), ParseError> {
    json.object()?;
    while let Some(key) = json.key()? {
        if key == "data" {
            return Ok(());
        }
        json.skip()?;
    }
    Err(json.error("missing `data`"))
}

/// A node of the tree; `parent` is its row.
#[derive(Default)]
struct Node {
    parent: Option<usize>,
    name: String,
    value: f64,
    is_kernel: bool,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let nodes = if is_wrapped(&text) {
        find_tree(&mut json)?;
        read_nodes(&mut json)?
    } else {
        let nodes = read_nodes(&mut json)?;
        json.end()?;
        nodes
    };
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let frames: Vec<Option<FrameId>> = nodes.iter().map(|node| frame(node, &mut builder)).collect();
    let own = own_values(&nodes);
    let mut decimals = Decimals::default();
    for &value in &own {
        decimals.keep(&mut builder, 0, value);
    }
    let mut stack = Vec::new();
    for (row, &value) in own.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        stack.clear();
        let mut next = Some(row);
        while let Some(at) = next {
            stack.extend(frames[at]);
            next = nodes[at].parent;
        }
        stack.reverse();
        let value = decimals.integer(&mut builder, 0, value);
        let stack = builder.stack(&stack);
        builder.sample(stack, LabelSetId::default(), None, &[value]);
    }
    Ok(finished(builder)?)
}

/// Reads the nodes, parents first. Does not recurse, because the nesting is as deep as the stacks of the program.
fn read_nodes(json: &mut Json<'_>) -> Result<Vec<Node>, ParseError> {
    json.object()?;
    let mut nodes = vec![Node::default()];
    let mut open = vec![0];
    while let Some(&at) = open.last() {
        match json.key()? {
            Some(key) => match &*key {
                "children" | "c" if json.kind()? == Kind::Array => json.array()?,
                key => {
                    member(key, &mut nodes[at], json)?;
                    continue;
                }
            },
            None => {
                open.pop();
            }
        }
        // The cursor is in the children of the innermost open node, if there is one.
        if let Some(&parent) = open.last()
            && json.element()?
        {
            json.object()?;
            open.push(nodes.len());
            nodes.push(Node { parent: Some(parent), ..Node::default() });
        }
    }
    Ok(nodes)
}

fn member(key: &str, node: &mut Node, json: &mut Json<'_>) -> Result<(), ParseError> {
    match key {
        "name" | "n" => node.name = json.text_if_any()?.unwrap_or_default().into_owned(),
        "value" | "v" => node.value = json.number_if_any()?.unwrap_or_default(),
        "l" | "libtype" => node.is_kernel = json.text_if_any()?.is_some_and(|text| text == "kernel"),
        _ => json.skip()?,
    }
    Ok(())
}

fn frame(node: &Node, builder: &mut ProfileBuilder) -> Option<FrameId> {
    if node.parent.is_none() && ROOTS.contains(&node.name.as_str()) {
        return None;
    }
    let mapping = if node.is_kernel { builder.named_mapping(KERNEL) } else { MappingId::default() };
    let function = builder.named_function(&demangle(&node.name), "");
    Some(builder.frame(Frame { function, mapping, ..Frame::default() }))
}

/// What each node has itself.
fn own_values(nodes: &[Node]) -> Vec<f64> {
    let mut below = vec![0.0; nodes.len()];
    for node in nodes {
        if let Some(parent) = node.parent {
            below[parent] += node.value;
        }
    }
    // Fractions do not add up to the last digit.
    let is_own = nodes.iter().zip(&below).any(|(node, below)| *below > node.value + 1e-6 * below.abs());
    let own = |(node, below): (&Node, &f64)| if is_own { node.value } else { node.value - below };
    nodes.iter().zip(&below).map(own).map(|value| if value.abs() < 1e-9 { 0.0 } else { value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn a_value_is_that_of_a_node_with_all_below_it() {
        let text = r#"{"name": "root", "value": 100, "children": [
            {"children": [{"name": "parse", "value": 60.5, "tooltip": {"children": []}}], "name": "main", "value": 75}]}"#;
        let profile = load(text);
        assert_eq!(to_notation(&profile), " 250\nmain 145\nmain;parse 605");
        assert_eq!(profile.meta.metrics[0].divisor, 10);
    }

    #[test]
    fn flink_puts_the_time_around_the_tree() {
        let tree = r#"{"name": "root", "value": 100, "children": [{"name": "Task.run:1", "value": 75, "children": []}]}"#;
        let expected = " 25\nTask.run:1 75";
        for text in [
            format!(r#"{{"endTimestamp": 1710000000123, "data": {tree}}}"#),
            format!(r#"{{"data": {tree}, "endTimestamp": 1710000000123}}"#),
        ] {
            assert_eq!(to_notation(&load(&text)), expected, "{text}");
        }
        assert_eq!(sniff(format!(r#"{{"data": {tree}}}"#).as_bytes()), Confidence::No);
    }

    #[test]
    fn a_value_is_that_of_the_node_if_its_children_have_more() {
        let text = r#"{"n": "all", "l": "root", "v": 0, "c": [{"n": "sh (42)", "l": "", "v": 1, "c": [
            {"n": "do_idle", "l": "kernel", "v": 3, "c": []}]}]}"#;
        let profile = load(text);
        assert_eq!(to_notation(&profile), "sh (42) 1\nsh (42);do_idle 3");
        let kernel = profile
            .symbols
            .mappings
            .iter()
            .any(|mapping| profile.symbols.strings.get(mapping.file) == KERNEL);
        assert!(kernel);
    }

    #[test]
    fn deep_trees_do_not_recurse() {
        let deep = format!(
            "{}{}",
            r#"{"name": "f", "value": 1, "children": ["#.repeat(100_000),
            "]}".repeat(100_000)
        );
        assert_eq!(load(&deep).stacks.len(), 1);
    }
}
