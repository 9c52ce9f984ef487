//! Reads the JSON of GraalVM's sampler of guest languages (`--cpusampler --cpusampler.Output=json`): a call tree for each thread.
//!
//! ```text
//! {"tool": "cpusampler", "period": 10, "profile": [{"thread": "Thread[main,5,main]", "samples": [
//!   {"root_name": "main", "source_section": {"source_name": "a.js", "start_line": 1}, "self_hit_count": 4, "children": [
//!     {"root_name": "parse", "source_section": {"source_name": "a.js", "start_line": 9}, "self_hit_count": 6, "children": []}]}]}]}
//! ```
//!
//! `period` is in milliseconds. Threads are sampled whether they run or wait.

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Period, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static GRAALVM: Format = Format { name: NAME, title: "GraalVM CPU sampler", sniff, read };

const NAME: &str = "graalvm";

fn sniff(head: &[u8]) -> Confidence {
    let is_tool = json::has(&json::keys(head), &["tool"]) && json::mentions(head, "\"cpusampler\"");
    if is_tool { Confidence::Certain } else { Confidence::No }
}

/// A node of a call tree; `parent` is its row.
struct Node {
    parent: Option<usize>,
    thread: usize,
    name: String,
    file: String,
    line: u32,
    own: i64,
}

#[derive(Default)]
struct Sampled {
    threads: Vec<String>,
    nodes: Vec<Node>,
    /// In milliseconds.
    period: i64,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let sampled = Sampled::read(&mut json)?;
    json.end()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    if sampled.period > 0 {
        builder.meta.default_metric = builder.metric("wall", "milliseconds");
        let (name, unit) = ("wall".into(), "milliseconds".into());
        builder.meta.period = Some(Period { name, unit, value: sampled.period });
    }
    sampled.write(&mut builder);
    Ok(finished(builder)?)
}

impl Sampled {
    fn read(json: &mut Json<'_>) -> Result<Sampled, ParseError> {
        let mut sampled = Sampled::default();
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("period", Kind::Number) => sampled.period = json.integer()?.max(0),
                ("profile", Kind::Array) => sampled.read_threads(json)?,
                _ => json.skip()?,
            }
        }
        Ok(sampled)
    }

    fn read_threads(&mut self, json: &mut Json<'_>) -> Result<(), ParseError> {
        json.array()?;
        while json.element()? {
            let thread = self.threads.len();
            self.threads.push(String::new());
            json.object()?;
            while let Some(key) = json.key()? {
                match (&*key, json.kind()?) {
                    ("thread", _) => {
                        self.threads[thread] = json.text_if_any()?.unwrap_or_default().into_owned();
                    }
                    ("samples", Kind::Array) => self.read_nodes(json, thread)?,
                    _ => json.skip()?,
                }
            }
        }
        Ok(())
    }

    /// Reads the nodes of a thread, parents first. Does not recurse, because the nesting is as deep as the stacks of the program.
    fn read_nodes(&mut self, json: &mut Json<'_>, thread: usize) -> Result<(), ParseError> {
        json.array()?;
        let mut open: Vec<usize> = Vec::new();
        loop {
            // The cursor is in the list of the children of the innermost open node, or in that of the roots.
            if json.element()? {
                json.object()?;
                let parent = open.last().copied();
                open.push(self.nodes.len());
                self.nodes.push(Node {
                    parent,
                    thread,
                    name: String::new(),
                    file: String::new(),
                    line: 0,
                    own: 0,
                });
            } else if open.is_empty() {
                return Ok(());
            }
            while let Some(&at) = open.last() {
                match json.key()? {
                    Some(key) if key == "children" && json.kind()? == Kind::Array => {
                        json.array()?;
                        break;
                    }
                    Some(key) => self.nodes[at].member(&key, json)?,
                    None => {
                        open.pop();
                        break;
                    }
                }
            }
        }
    }

    fn write(&self, builder: &mut ProfileBuilder) {
        let frames: Vec<FrameId> = self.nodes.iter().map(|node| node.frame(builder)).collect();
        let mut stack = Vec::new();
        for (row, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.own > 0) {
            stack.clear();
            let mut next = Some(row);
            while let Some(at) = next {
                stack.push(frames[at]);
                next = self.nodes[at].parent;
            }
            stack.reverse();
            let stack = builder.stack(&stack);
            let thread = &self.threads[node.thread];
            let labels = sample_labels(builder, |labels| labels.text_if_known("thread", thread_name(thread)));
            let values = [node.own, node.own.saturating_mul(self.period)];
            let metrics = builder.meta.metrics.len();
            builder.sample(stack, labels, None, &values[..metrics]);
        }
    }
}

impl Node {
    fn member(&mut self, key: &str, json: &mut Json<'_>) -> Result<(), ParseError> {
        match key {
            "root_name" => self.name = json.text_if_any()?.unwrap_or_default().into_owned(),
            "self_hit_count" => self.own = json.number_if_any()?.map_or(0, |count| count as i64),
            "source_section" if json.kind()? == Kind::Object => {
                json.object()?;
                while let Some(key) = json.key()? {
                    match &*key {
                        "source_name" => self.file = json.text_if_any()?.unwrap_or_default().into_owned(),
                        "start_line" => self.line = json.number_if_any()?.map_or(0, |line| line as u32),
                        _ => json.skip()?,
                    }
                }
            }
            _ => json.skip()?,
        }
        Ok(())
    }

    fn frame(&self, builder: &mut ProfileBuilder) -> FrameId {
        let function = builder.script_function(&self.name, &self.file, self.line);
        builder.frame(Frame { function, ..Frame::default() })
    }
}

/// The name in `Thread[main,5,main]`, how Java prints a thread.
fn thread_name(text: &str) -> &str {
    let inner = text.strip_prefix("Thread[").and_then(|rest| rest.strip_suffix(']'));
    // The priority and the group come last, and since Java 19 the number first: `Thread[#1,main,5,main]`.
    let name = inner.and_then(|inner| inner.rsplitn(3, ',').nth(2));
    let numbered = |name: &'_ str| name.starts_with('#') && name.contains(',');
    match name {
        Some(name) if numbered(name) => name.split_once(',').map_or(name, |(_, name)| name),
        Some(name) => name,
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn a_sample_is_worth_the_period() {
        let profile = load(
            r#"{"tool": "cpusampler", "version": "0.4.0", "sample_count": 13, "period": 10, "profile": [
            {"thread": "Thread[#1,main,5,main]", "samples": [
              {"root_name": "main", "source_section": {"source_name": "a.js", "start_line": 1}, "hit_count": 10, "self_hit_count": 4, "children": [
                {"root_name": "parse", "source_section": {"source_name": "a.js", "start_line": 9}, "self_hit_count": 6, "children": []}]},
              {"root_name": "end", "source_section": null, "self_hit_count": 1, "children": []}]},
            {"thread": "Thread[pool, 2,5,main]", "samples": [{"root_name": "main", "self_hit_count": 2, "children": []}]}]}"#,
        );
        let totals: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        assert_eq!(totals, [("samples", 13), ("wall", 130)]);
        let notation = to_notation(&profile);
        let lines: Vec<&str> = notation.lines().collect();
        assert_eq!(lines.len(), 4, "{notation}");
        assert!(lines[0].starts_with("end 1 10 {thread=main}"), "{notation}");
        assert!(notation.contains("parse") && notation.contains("{thread=pool, 2}"), "{notation}");
    }

    #[test]
    fn deep_trees_do_not_recurse() {
        let deep = format!(
            r#"{{"tool": "cpusampler", "profile": [{{"samples": [{}{}]}}]}}"#,
            r#"{"root_name": "f", "children": ["#.repeat(50_000)
                + r#"{"root_name": "g", "self_hit_count": 1}"#,
            "]}".repeat(50_000)
        );
        assert_eq!(load(&deep).stacks.len(), 1);
    }
}
