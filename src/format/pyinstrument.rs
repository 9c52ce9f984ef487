//! Reads the sessions of pyinstrument, a profiler for Python, in its three forms of JSON.
//!
//! ```text
//! pyinstrument -r json:     {"duration": 6.3, "sample_count": 432, "root_frame": {"function": "main", "file_path": "a.py",
//!                             "line_no": 89, "time": 6.3, "children": […]}}
//! pyinstrument -r session:  {"duration": 5.5, "frame_records": [[["main\0a.py\01\1l8", …], 0.0016], …]}
//! its web page:             {"session": {…}, "frame_tree": {"identifier": "main\0a.py\01", "time": 6.3, "attributes": {"l92": 6.3},
//!                             "children": […]}}
//! ```
//!
//! Times are in seconds. In a tree, a frame has what its children do not account for. An identifier is the function, the file
//! and the line where it starts, and attributes: `l92` is the line that was executing, `c` the class.

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static PYINSTRUMENT: Format = Format { name: NAME, title: "pyinstrument session", sniff, read };

const NAME: &str = "pyinstrument";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let has = |wanted: &[&str]| json::has(&keys, wanted);
    // The frames of a session may come after the head.
    let is_session = has(&["sample_count", "duration"])
        && (has(&["root_frame"]) || has(&["frame_records"]) || has(&["start_call_stack"]));
    if is_session || has(&["session", "frame_tree"]) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("wall", "nanoseconds");
    let mut json = Json::new(NAME, &text);
    let mut found = false;
    json.object()?;
    while let Some(key) = json.key()? {
        found |= match &*key {
            "session" => {
                json.object()?;
                while let Some(key) = json.key()? {
                    about(&key, &mut json, &mut builder)?;
                }
                false
            }
            "root_frame" | "frame_tree" => read_tree(&mut json, &mut builder)?,
            "frame_records" => read_records(&mut json, &mut builder)?,
            key => about(key, &mut json, &mut builder)?,
        };
    }
    json.end()?;
    if !found {
        return Err(ParseError::whole(NAME, "the session has no frames").into());
    }
    Ok(finished(builder)?)
}

/// Reads a property of the session.
fn about(key: &str, json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<bool, ParseError> {
    match (key, json.kind()?) {
        ("start_time", Kind::Number) => builder.meta.time_ns = Some(nanoseconds(json.number()?)),
        ("duration", Kind::Number) => builder.meta.duration_ns = Some(nanoseconds(json.number()?)),
        ("target_description", Kind::String) => {
            let text = json.string()?.into_owned();
            builder.meta.comments.extend(Some(text).filter(|text| !text.is_empty()));
        }
        _ => json.skip()?,
    }
    Ok(false)
}

fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// The child that stands for its parent's own code.
const SELF: &str = "[self]";

/// A frame, or the thread below which all of its frames are, or the code of the caller itself.
enum Place {
    Frame(FrameId),
    Caller,
    Thread(String),
}

/// `main\0/srv/a.py\089\1l92\1cShop`
fn place(identifier: &str, builder: &mut ProfileBuilder) -> Place {
    let (identifier, attributes) = identifier.split_once('\u{1}').unwrap_or((identifier, ""));
    let mut parts = identifier.split('\0');
    let (name, file, line) = (parts.next(), parts.next(), parts.next());
    let (name, file) = (name.unwrap_or_default(), file.unwrap_or_default());
    if name == SELF {
        return Place::Caller;
    }
    if file == "<thread>" {
        return Place::Thread(name.to_string());
    }
    let mut executing = 0;
    for attribute in attributes.split('\u{1}') {
        if let Some(number) = attribute.strip_prefix('l') {
            executing = number.parse().unwrap_or(0);
        }
    }
    let start = line.and_then(|line| line.parse().ok()).unwrap_or(0);
    Place::Frame(frame(name, file, start, executing, builder))
}

fn frame(name: &str, file: &str, start: u32, line: u32, builder: &mut ProfileBuilder) -> FrameId {
    let function = builder.script_function(name, file, start);
    builder.frame(Frame { function, line, ..Frame::default() })
}

/// Reads a list of samples: the stack, root first, and the time.
fn read_records(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<bool, ParseError> {
    json.array()?;
    let mut frames = Vec::new();
    while json.element()? {
        frames.clear();
        let mut thread = String::new();
        json.array()?;
        if json.element()? {
            json.array()?;
            while json.element()? {
                match place(&json.string()?, builder) {
                    Place::Frame(frame) => frames.push(frame),
                    Place::Thread(name) => thread = name,
                    Place::Caller => {}
                }
            }
        }
        let time = if json.element()? { nanoseconds(json.number()?) } else { 0 };
        while json.element()? {
            json.skip()?;
        }
        let stack = builder.stack(&frames);
        let labels = thread_labels(&thread, builder);
        builder.sample(stack, labels, None, &[time]);
    }
    Ok(true)
}

fn thread_labels(thread: &str, builder: &mut ProfileBuilder) -> LabelSetId {
    if thread.is_empty() {
        return LabelSetId::default();
    }
    sample_labels(builder, |labels| labels.text("thread", thread))
}

/// A node of a tree whose fields are being read.
#[derive(Default)]
struct Open {
    name: String,
    file: String,
    line: u32,
    executing: u32,
    identifier: Option<String>,
    thread: Option<String>,
    time: i64,
}

/// A node that was read: its parent, what it is, and the time that its children do not account for.
struct Node {
    parent: usize,
    place: Option<Place>,
    left: i64,
}

/// The parent of the root.
const NONE: usize = usize::MAX;

/// Reads a tree without recursion: frames nest as deeply as calls.
fn read_tree(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<bool, ParseError> {
    if json.kind()? != Kind::Object {
        json.skip()?;
        return Ok(false);
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut open: Vec<(usize, Open)> = Vec::new();
    json.object()?;
    nodes.push(Node { parent: NONE, place: None, left: 0 });
    open.push((0, Open::default()));
    while let Some((number, fields)) = open.last_mut() {
        let number = *number;
        match json.key()? {
            Some(key) if key == "children" => {
                if json.array_if_any()? && json.element()? {
                    json.object()?;
                    nodes.push(Node { parent: number, place: None, left: 0 });
                    open.push((nodes.len() - 1, Open::default()));
                }
            }
            Some(key) => fields.read(&key, json)?,
            None => {
                if let Some((_, fields)) = open.pop() {
                    let time = fields.time;
                    nodes[number].left = nodes[number].left.saturating_add(time);
                    let parent = nodes[number].parent;
                    if let Some(parent) = nodes.get_mut(parent) {
                        parent.left = parent.left.saturating_sub(time);
                    }
                    nodes[number].place = Some(fields.place(builder));
                }
                if !open.is_empty() && json.element()? {
                    json.object()?;
                    let parent = nodes[number].parent;
                    nodes.push(Node { parent, place: None, left: 0 });
                    open.push((nodes.len() - 1, Open::default()));
                }
            }
        }
    }
    add_nodes(&nodes, builder);
    Ok(true)
}

fn add_nodes(nodes: &[Node], builder: &mut ProfileBuilder) {
    let mut frames = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        // Rounding may make children larger than their parent by a microsecond.
        if node.left <= 0 {
            continue;
        }
        frames.clear();
        let (mut at, mut thread) = (number, "");
        while let Some(node) = nodes.get(at) {
            match &node.place {
                Some(Place::Frame(frame)) => frames.push(*frame),
                Some(Place::Thread(name)) => thread = name,
                Some(Place::Caller) | None => {}
            }
            at = node.parent;
        }
        frames.reverse();
        let stack = builder.stack(&frames);
        let labels = thread_labels(thread, builder);
        builder.sample(stack, labels, None, &[node.left]);
    }
}

impl Open {
    fn read(&mut self, key: &str, json: &mut Json<'_>) -> Result<(), ParseError> {
        match (key, json.kind()?) {
            ("function", Kind::String) => self.name = json.string()?.into_owned(),
            ("file_path", Kind::String) => self.file = json.string()?.into_owned(),
            ("line_no", Kind::Number) => self.line = json.number()? as u32,
            ("identifier", Kind::String) => self.identifier = Some(json.string()?.into_owned()),
            ("thread_name", Kind::String) => self.thread = Some(json.string()?.into_owned()),
            ("time", Kind::Number) => self.time = nanoseconds(json.number()?),
            ("attributes", Kind::Object) => {
                let mut lines = Vec::new();
                json.object()?;
                while let Some(key) = json.key()? {
                    lines.extend(key.strip_prefix('l').and_then(|line| line.parse::<u32>().ok()));
                    json.skip()?;
                }
                // Several lines called the children; which one is not known.
                if let [line] = lines[..] {
                    self.executing = line;
                }
            }
            _ => json.skip()?,
        }
        Ok(())
    }

    fn place(self, builder: &mut ProfileBuilder) -> Place {
        if let Some(thread) = self.thread {
            return Place::Thread(thread);
        }
        match self.identifier {
            None if self.name == SELF => Place::Caller,
            None => Place::Frame(frame(&self.name, &self.file, self.line, self.executing, builder)),
            Some(identifier) => {
                let line =
                    if self.executing == 0 { String::new() } else { format!("\u{1}l{}", self.executing) };
                place(&format!("{identifier}{line}"), builder)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        read(&mut Source::from_bytes(text.into()), options).unwrap()
    }

    #[test]
    fn three_forms_of_one_session() {
        let expected = "main@a.py:0 1000000 {thread=Main}\nmain@a.py:0;f@b.py:9 2000000 {thread=Main}";
        let records = r#"{"start_time": 1.5, "duration": 0.003, "sample_count": 2, "frame_records": [
            [["Main\u0000<thread>\u00007", "main\u0000a.py\u00001"], 0.001],
            [["Main\u0000<thread>\u00007", "main\u0000a.py\u00001", "f\u0000b.py\u00005\u0001cShop\u0001l9"], 0.002]]}"#;
        assert_eq!(to_notation(&load(records)), expected);
        let page = r#"{"session": {"duration": 0.003}, "frame_tree": {"identifier": "Main\u0000<thread>\u00007", "time": 0.003, "attributes": {},
            "children": [{"identifier": "main\u0000a.py\u00001", "time": 0.003, "attributes": {"l3": 0.002, "l4": 0.001}, "children":
            [{"identifier": "f\u0000b.py\u00005", "time": 0.002, "attributes": {"l9": 0.002}, "children": []}]}]}}"#;
        assert_eq!(to_notation(&load(page)), expected);
        let tree = r#"{"duration": 0.003, "sample_count": 2, "root_frame": {"function": "main", "file_path": "a.py", "line_no": 1,
            "children": [{"function": "f", "file_path": "b.py", "line_no": 5, "time": 0.002, "children": []}], "time": 0.003}}"#;
        assert_eq!(to_notation(&load(tree)), "main@a.py:0 1000000\nmain@a.py:0;f@b.py:0 2000000");
    }
}
