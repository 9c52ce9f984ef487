//! The call graph as input for Graphviz.

use std::io::{self, Write};

use hashbrown::{HashMap, HashSet};

use crate::name::{clean, short_names};
use crate::output::color::{self, Color, ColorBy, GREY, LIGHT};
use crate::output::error::Error;
use crate::output::headline;
use crate::output::tables::graph::left_out;
use crate::report::{Graph, GraphEdge, GraphNode, Tier};
use crate::unit::{self, Scale, Unit};

/// Writes the graph in the DOT language. The colours of boxes depend on `color_by`: a larger share is
/// darker, growth is red and shrinkage blue, and packages and files have the colours of a flame graph. The font size
/// grows with self. Fails if the requested unit is of another kind than the metric's unit.
pub fn dot(graph: &Graph, unit: Option<&Unit>, color_by: ColorBy, out: &mut dyn Write) -> Result<(), Error> {
    let header = &graph.header;
    let metric = &header.metric;
    let scale = crate::output::scale(metric, header.shown, unit)?;
    let names: Vec<&str> = graph.nodes.iter().map(|node| &*node.name).collect();
    let shade = |node: &GraphNode| match color_by {
        ColorBy::SelfValue => node.values.new.self_value.saturating_abs(),
        _ => node.values.new.total.saturating_abs(),
    };
    let darkest = graph.nodes.iter().map(shade).max().unwrap_or(0);
    let deltas =
        graph.nodes.iter().filter_map(|node| node.values.delta).map(|delta| delta.total.saturating_abs());
    let largest_delta = deltas.max().unwrap_or(0);
    let short = short_names(&names);
    let files = ranked_files(graph);
    let drawing = Drawing { graph, scale, short, color_by, files, darkest, largest_delta };
    Ok(drawing.write(out)?)
}

struct Drawing<'g> {
    graph: &'g Graph,
    scale: Scale,
    short: Vec<String>,
    color_by: ColorBy,
    /// The source files, the largest first.
    files: Vec<&'g str>,
    /// The largest total, or the largest self when colouring by self: its box is the darkest.
    darkest: i64,
    /// The largest change in a total of a comparison: its box is the reddest or bluest.
    largest_delta: i64,
}

impl Drawing<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "digraph calls {{")?;
        writeln!(out, "  graph [fontname=\"{FONT}\" nodesep=0.3 ranksep=0.45 tooltip=\" \"];")?;
        writeln!(out, "  node [shape=box style=filled fontname=\"{FONT}\" margin=\"0.12,0.06\"];")?;
        writeln!(out, "  edge [fontname=\"{FONT}\" fontsize=10 arrowsize=0.7];")?;
        writeln!(
            out,
            "  legend [shape=note fillcolor=white color=\"#888888\" fontsize=14 label=\"{}\" tooltip=\" \"];",
            self.legend()
        )?;
        self.write_colors(out)?;
        let largest =
            self.graph.nodes.iter().map(|node| node.values.new.self_value.unsigned_abs()).max().unwrap_or(0);
        for (index, node) in self.graph.nodes.iter().enumerate() {
            self.write_node(out, index, node, largest)?;
        }
        let number: HashMap<&str, usize> =
            self.graph.nodes.iter().enumerate().map(|(index, node)| (&*node.name, index)).collect();
        for edge in &self.graph.edges {
            if let (Some(&caller), Some(&callee)) = (number.get(&*edge.caller), number.get(&*edge.callee)) {
                self.write_edge(out, caller, callee, edge)?;
            }
        }
        writeln!(out, "}}")
    }

    /// The legend: what the graph shows, in left-aligned lines.
    fn legend(&self) -> String {
        let header = &self.graph.header;
        let mut lines = vec![headline::inputs(header)];
        let total = format!("{} {}", header.metric.name, self.scale.format(header.displayed_total()));
        lines.extend(headline::recording(total.trim_start(), &header.recording, true));
        if !header.filters.is_empty() {
            lines.push(headline::shown(header, &self.scale.format(header.displayed_shown())).join(" · "));
        }
        lines.extend(left_out(self.graph));
        if let Some(base) = &header.base {
            lines.push(format!("base {}", headline::base_inputs(header)));
            lines.extend(headline::base(header, &self.scale.format(base.total)));
        }
        let colour = match self.color_by {
            ColorBy::Package => "colour: package",
            ColorBy::File => "colour: source file",
            ColorBy::SelfValue => "colour: self",
            ColorBy::Total => "colour: total",
            ColorBy::Delta => "red: total grew, blue: total shrank",
        };
        let size = if header.base.is_some() { "self, new side" } else { "self" };
        lines.push(format!("{colour}; font size: {size}"));
        if self.graph.edges.iter().any(|edge| edge.bridged) {
            lines.push("dashed: a call through functions left out".to_string());
        }
        if let Some(highlight) = &self.graph.header.highlight {
            let share = unit::share(highlight.total, header.total);
            let at_most = if highlight.upper_bound { "at most " } else { "" };
            lines.push(format!("blue border: matches {}, {at_most}{share} of all", highlight.pattern));
        }
        lines.retain(|line| !line.is_empty());
        let ended: Vec<String> = lines.iter().map(|line| escape(line) + "\\l").collect();
        ended.concat()
    }

    /// The colours of own code are those of a flame graph; the standard library and the runtime are grey.
    fn color_of_group(&self, group: usize) -> Color {
        self.graph.groups.get(group).map_or(GREY, |of| LIGHT.of_group(group, of))
    }

    fn color_of_file(&self, file: &str) -> Color {
        self.files.iter().position(|other| *other == file).map_or(GREY, |rank| LIGHT.of_rank(rank))
    }

    /// What the colours of packages or files stand for: those of the nodes shown, the first of them.
    fn write_colors(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut entries: Vec<(Color, &str)> = Vec::new();
        match self.color_by {
            ColorBy::Package => {
                let shown: HashSet<u32> = self.graph.nodes.iter().map(|node| node.group).collect();
                let groups = self.graph.groups.iter().enumerate();
                let (own, other): (Vec<_>, Vec<_>) = groups
                    .filter(|(rank, _)| shown.contains(&(*rank as u32)))
                    .partition(|(_, group)| group.tier == Tier::Own);
                let chosen = own.into_iter().take(COLORS).chain(other);
                entries.extend(chosen.map(|(rank, group)| (LIGHT.of_group(rank, group), &*group.name)));
            }
            ColorBy::File => {
                let files = self.files.iter().enumerate().take(COLORS);
                entries.extend(files.map(|(rank, file)| (LIGHT.of_rank(rank), *file)));
            }
            _ => return Ok(()),
        }
        let row = |(color, name): &(Color, &str)| {
            let name = crate::name::fit(&clean(name), 40, "…");
            let name = quick_xml::escape::escape(&*name).into_owned();
            format!("<TR><TD BGCOLOR=\"{color}\" WIDTH=\"14\"></TD><TD ALIGN=\"LEFT\">{name}</TD></TR>")
        };
        let rows: String = entries.iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "  colors [shape=plain fillcolor=white tooltip=\" \" label=<<TABLE BORDER=\"0\" CELLSPACING=\"3\">{rows}</TABLE>>];"
        )
    }

    fn value(&self, value: i64) -> String {
        format!("{} ({})", self.scale.format(value), unit::share(value, self.graph.header.total))
    }

    /// The old value and the change, on a line of their own: `old 2.47s, +2.12s`.
    fn change(&self, old: i64, delta: i64) -> String {
        match (old, delta) {
            (0, _) => "\\nnew".to_string(),
            (_, delta) if delta == -old => format!("\\nold {}, removed", self.scale.format(old)),
            _ => format!("\\nold {}, {}", self.scale.format(old), self.scale.format_signed(delta)),
        }
    }

    fn write_node(
        &self,
        out: &mut dyn Write,
        index: usize,
        node: &GraphNode,
        largest: u64,
    ) -> io::Result<()> {
        let name = lines_of(&clean(&self.short[index])).iter().map(|line| escape(line)).collect::<Vec<_>>();
        let numbers = match (node.values.new.self_value, node.values.new.total) {
            (0, total) => self.value(total),
            (own, total) if own == total => format!("self {}", self.value(own)),
            (own, total) => format!("self {}\\nof {}", self.value(own), self.value(total)),
        };
        let change = match (node.values.old, node.values.delta) {
            (Some(old), Some(delta)) => self.change(old.total, delta.total),
            _ => String::new(),
        };
        let fill = match self.color_by {
            ColorBy::Package => self.color_of_group(node.group as usize),
            ColorBy::File => self.color_of_file(node.file.as_deref().unwrap_or_default()),
            ColorBy::SelfValue => color::of_share(node.values.new.self_value, self.darkest),
            ColorBy::Total => color::of_share(node.values.new.total, self.darkest),
            ColorBy::Delta => {
                color::of_delta(node.values.delta.map_or(0, |delta| delta.total), self.largest_delta)
            }
        };
        let (border, width) =
            if self.graph.header.is_highlighted(&node.name) { (HIGHLIGHT, 4) } else { (BORDER, 1) };
        writeln!(
            out,
            "  n{index} [label=\"{}\\n{numbers}{change}\" fontsize={} fillcolor=\"{fill}\" color=\"{border}\" \
             penwidth={width} tooltip=\"{} {}\"];",
            name.join("\\n"),
            font_size(node.values.new.self_value, largest),
            escape(&node.name),
            self.value(node.values.new.total),
        )
    }

    fn write_edge(
        &self,
        out: &mut dyn Write,
        caller: usize,
        callee: usize,
        edge: &GraphEdge,
    ) -> io::Result<()> {
        let share = share(edge.value, self.graph.header.total);
        let style = if edge.bridged { " style=dashed" } else { "" };
        let (stroke, change) = match (edge.old, edge.delta) {
            (Some(old), Some(delta)) => (changed(delta, self.largest_delta), self.change(old, delta)),
            _ => (darker(share), String::new()),
        };
        writeln!(
            out,
            "  n{caller} -> n{callee} [label=\" {}{change}\" weight={} penwidth={:.2} color=\"{}\"{style} \
             tooltip=\"{} -> {} {}\"];",
            escape(&self.scale.format(edge.value)),
            // Graphviz keeps edges with a large weight short and straight.
            1 + (share * 100.0) as u32,
            1.0 + share * 5.0,
            stroke,
            escape(&edge.caller),
            escape(&edge.callee),
            self.value(edge.value),
        )
    }
}

/// Graphviz measures the text of boxes with the first font that it has, and so does the browser that draws it. The first ones
/// are wide and installed nearly everywhere: what stands for Helvetica is narrower in Graphviz than in many browsers.
const FONT: &str = "DejaVu Sans,Verdana,Helvetica,Arial,sans-serif";
const LINE: Color = Color::new(0x96_9696);
const BORDER: Color = Color::new(0x65_707c);
const HIGHLIGHT: Color = Color::new(0x1f_5fd0);

/// The most colours that the legend names.
const COLORS: usize = 12;

/// The source files of the nodes, those with the largest totals first.
fn ranked_files(graph: &Graph) -> Vec<&str> {
    let mut totals: HashMap<&str, i64> = HashMap::new();
    for node in &graph.nodes {
        if let Some(file) = &node.file {
            let sum = totals.entry(file).or_default();
            *sum = sum.saturating_add(node.values.new.total.saturating_abs());
        }
    }
    let mut files: Vec<(&str, i64)> = totals.into_iter().collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    files.into_iter().map(|(file, _)| file).collect()
}

/// The colour of an edge: grey for a small share, red for a large one.
fn darker(share: f64) -> Color {
    color::mix(LINE, Color::new(0xbe_2814), share.sqrt())
}

/// The colour of an edge in a comparison, from grey to red or blue. Darker than boxes, because lines are thin.
fn changed(delta: i64, largest: i64) -> Color {
    let full = if delta > 0 { Color::new(0xc8_3228) } else { Color::new(0x28_64c8) };
    color::mix(LINE, full, share(delta, largest).sqrt())
}

/// The absolute share, from 0 to 1.
fn share(value: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { (value as f64 / whole as f64).abs().min(1.0) }
}

/// The font size grows with the square root of self, so that the area of the text grows with self.
fn font_size(own: i64, largest: u64) -> u32 {
    const LEAST: f64 = 11.0;
    const GROWTH: f64 = 19.0;
    if largest == 0 {
        return LEAST as u32;
    }
    (LEAST + GROWTH * (own.unsigned_abs() as f64 / largest as f64).sqrt()).round() as u32
}

/// Breaks a name into lines after its packages and types, so that boxes stay narrow.
fn lines_of(name: &str) -> Vec<String> {
    const WIDE: usize = 22;
    let mut lines: Vec<String> = vec![String::new()];
    let bytes = name.as_bytes();
    let mut start = 0;
    for at in 1..=bytes.len() {
        let ends_part = at == bytes.len()
            || matches!((bytes[at - 1], bytes[at]), (b'.' | b':' | b'/', next) if next != b':')
            || (bytes[at - 1] == b' ' && at - start > WIDE / 2);
        if !ends_part || !name.is_char_boundary(at) {
            continue;
        }
        let part = &name[start..at];
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + part.chars().count() > WIDE {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last].push_str(part);
        start = at;
    }
    lines.into_iter().map(|line| cut(&line)).collect()
}

/// Truncates a very long line in the middle. The tooltip has the full name.
fn cut(line: &str) -> String {
    crate::name::fit(line, 60, "…")
}

/// Escapes the characters that are special in a quoted string of Graphviz.
fn escape(text: &str) -> String {
    clean(text).replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_break_after_packages() {
        for (name, expected) in [
            ("main", &["main"][..]),
            ("runtime.mallocgc", &["runtime.mallocgc"]),
            ("encoding/json.(*decodeState).object", &["encoding/json.", "(*decodeState).object"]),
            (
                "std::collections::hash_map::insert_unique",
                &["std::collections::", "hash_map::", "insert_unique"],
            ),
            ("", &[""]),
        ] {
            assert_eq!(lines_of(name), expected);
        }
    }

    #[test]
    fn hostile_names_stay_inside_their_quotes() {
        assert_eq!(escape("a\"]; evil [label=\"\\N"), "a\\\"]; evil [label=\\\"\\\\N");
    }

    #[test]
    fn sizes_follow_self() {
        assert_eq!((font_size(0, 0), font_size(0, 9), font_size(9, 9), font_size(-9, 9)), (11, 11, 30, 30));
    }
}
