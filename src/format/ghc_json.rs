//! GHC's cost centre profile as JSON (`+RTS -pj`): a table of cost centres, and a call tree of them.
//!
//! ```text
//! {"program": "p", "tick_interval": 1000, "cost_centres": [{"id": 1, "label": "main", "module": "Main", …}],
//!  "profile": {"id": 1, "entries": 1, "alloc": 648, "ticks": 3, "children": [ … ]}}
//! ```

use hashbrown::HashMap;
use serde::Deserialize;

use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static GHC_JSON: Format =
    Format { name: NAME, title: "GHC time and allocation report as JSON", sniff, read };

const NAME: &str = "ghc-json";

fn sniff(head: &[u8]) -> Confidence {
    let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
    let is_it =
        head.trim_ascii_start().starts_with(b"{") && has(b"\"cost_centres\"") && has(b"\"total_ticks\"");
    if is_it { Confidence::Certain } else { Confidence::No }
}

#[derive(Deserialize)]
struct GhcReport {
    program: Option<String>,
    /// Microseconds between two ticks.
    tick_interval: Option<i64>,
    cost_centres: Vec<CostCentre>,
    profile: CostNode,
}

#[derive(Deserialize)]
struct CostCentre {
    id: i64,
    label: String,
    module: String,
    #[serde(default)]
    src_loc: String,
}

/// A node of the call tree: the self cost of a cost centre called this way.
#[derive(Deserialize)]
struct CostNode {
    id: i64,
    entries: i64,
    alloc: i64,
    ticks: i64,
    #[serde(default)]
    children: Vec<CostNode>,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let report: GhcReport = serde_json::from_slice(&bytes)
        .map_err(|error| ParseError::at_line(NAME, error.line() as u64, error.to_string()))?;
    let mut builder = ProfileBuilder::new(NAME, options);
    for (name, unit) in [("ticks", "count"), ("alloc", "bytes"), ("entries", "count")] {
        builder.metric(name, unit);
    }
    builder.meta.comments.extend(report.program);
    if let Some(value) = report.tick_interval.filter(|&value| value > 0) {
        builder.meta.period = Some(Period { name: "time".into(), unit: "microseconds".into(), value });
    }
    let frames: HashMap<i64, FrameId> = report
        .cost_centres
        .iter()
        .map(|centre| {
            let CostCentre { id, label, module, src_loc } = centre;
            (*id, centre_frame(&mut builder, module, label, src_loc))
        })
        .collect();
    // The nodes still to visit, each with its depth.
    let mut nodes = vec![(&report.profile, 0)];
    let mut path: Vec<FrameId> = Vec::new();
    while let Some((node, depth)) = nodes.pop() {
        let frame = frames.get(&node.id).ok_or_else(|| {
            ParseError::whole(NAME, format!("cost centre {} is not in `cost_centres`", node.id))
        })?;
        path.truncate(depth);
        path.push(*frame);
        let stack = builder.stack(&path);
        builder.sample(stack, LabelSetId::default(), None, &[node.ticks, node.alloc, node.entries]);
        nodes.extend(node.children.iter().map(|child| (child, depth + 1)));
    }
    Ok(finished(builder)?)
}

/// The frame of a cost centre.
pub(super) fn centre_frame(builder: &mut ProfileBuilder, module: &str, label: &str, source: &str) -> FrameId {
    let (file, line) = place(source);
    let (name, file) = (builder.string(&format!("{module}.{label}")), builder.string(file));
    let function = builder.function(Function { name, file, line, column: 0, by_place: false });
    builder.frame(Frame { function, ..Frame::default() })
}

/// The file and first line in `Main.hs:(20,1)-(33,3)` or `Main.hs:20:1-5`. `<built-in>` has neither.
fn place(location: &str) -> (&str, u32) {
    match location.split_once(':') {
        Some((file, rest)) if !location.starts_with('<') => {
            let digits = rest.trim_start_matches('(');
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            (file, digits[..end].parse().unwrap_or(0))
        }
        _ => ("", 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn the_costs_of_nodes_are_self_costs() {
        let text = br#"{"program": "p", "tick_interval": 1000, "total_ticks": 5, "cost_centres": [
            {"id": 1, "label": "MAIN", "module": "MAIN", "src_loc": "<built-in>"},
            {"id": 2, "label": "go", "module": "Main", "src_loc": "p.hs:(20,1)-(33,3)"}],
            "profile": {"id": 1, "entries": 0, "alloc": 8, "ticks": 0, "children": [
                {"id": 2, "entries": 3, "alloc": 16, "ticks": 5, "children": [
                    {"id": 2, "entries": 1, "alloc": 0, "ticks": 0, "children": []}]}]}}"#;
        assert_eq!(sniff(text), Confidence::Certain);
        let profile = read(&mut Source::from_bytes(text.to_vec()), LoadOptions::ALL).unwrap();
        assert_eq!(
            to_notation(&profile),
            "MAIN.MAIN 0 8 0\nMAIN.MAIN;Main.go@p.hs:0 5 16 3\nMAIN.MAIN;Main.go@p.hs:0;Main.go@p.hs:0 0 0 1"
        );
        assert_eq!(place("p.hs:20:1-5"), ("p.hs", 20));
    }
}
