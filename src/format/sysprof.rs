//! The XML files of sysprof 1: a call tree whose nodes refer to each other by number.
//!
//! ```text
//! <profile><size>3</size><call_tree>1</call_tree>
//!  <objects><object id="2"><name>"main"</name><total>3</total><self>1</self></object> …</objects>
//!  <nodes><node id="1"><object>2</object><siblings>0</siblings><children>3</children><parent>0</parent>
//!   <total>3</total><self>1</self><toplevel>1</toplevel></node> …</nodes></profile>
//! ```

use hashbrown::HashMap;
use quick_xml::events::Event;

use crate::format::text::{character, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static SYSPROF_XML: Format = Format { name: NAME, title: "sysprof 1 XML", sniff, read };

const NAME: &str = "sysprof-xml";

fn sniff(head: &[u8]) -> Confidence {
    let front = &head[..head.len().min(1024)];
    let is_it = head.trim_ascii_start().starts_with(b"<profile>")
        && memchr::memmem::find(front, b"<call_tree>").is_some();
    if is_it { Confidence::Certain } else { Confidence::No }
}

/// A node of the call tree.
#[derive(Clone, Copy, Default)]
struct Node {
    object: u64,
    parent: u64,
    own: i64,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let (mut frames, mut nodes) = (HashMap::new(), HashMap::new());
    let mut order = Vec::new();
    let xml = lossy(&bytes);
    let mut xml = quick_xml::Reader::from_str(&xml);
    let mut id = 0;
    let (mut node, mut name) = (Node::default(), String::new());
    let mut text = String::new();
    let mut is_whole = false;
    loop {
        let at = xml.buffer_position();
        let event = xml.read_event().map_err(|error| ParseError::at_byte(NAME, at, error.to_string()))?;
        match event {
            Event::Start(start) => {
                text.clear();
                if matches!(start.name().as_ref(), "object" | "node")
                    && let Ok(Some(attribute)) = start.try_get_attribute("id")
                {
                    id = attribute.value.parse().unwrap_or(0);
                    node = Node::default();
                    name.clear();
                }
            }
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(reference) => {
                text.push_str(character(&reference));
            }
            Event::End(end) => {
                let value = text.trim();
                match end.name().as_ref() {
                    "name" => value.trim_matches('"').clone_into(&mut name),
                    "self" => node.own = value.parse().unwrap_or(0),
                    "parent" => node.parent = value.parse().unwrap_or(0),
                    "object" if name.is_empty() => node.object = value.parse().unwrap_or(0),
                    "object" => {
                        frames.insert(id, builder.named_frame(&demangle(&name)));
                        name.clear();
                    }
                    "node" => {
                        order.push(id);
                        nodes.insert(id, node);
                    }
                    "profile" => is_whole = true,
                    _ => {}
                }
                text.clear();
            }
            Event::Eof => break,
            _ => {}
        }
    }
    for id in order {
        add(&mut builder, &frames, &nodes, id)?;
    }
    if !is_whole {
        builder.warn("file is truncated: the end of `<profile>` is missing".into());
    }
    Ok(finished(builder)?)
}

/// Adds the samples of a node, whose callers are its parents.
fn add(
    builder: &mut ProfileBuilder,
    frames: &HashMap<u64, FrameId>,
    nodes: &HashMap<u64, Node>,
    id: u64,
) -> Result<(), ParseError> {
    let own = nodes[&id].own;
    let (mut stack, mut next) = (Vec::new(), id);
    while own > 0
        && let Some(node) = nodes.get(&next)
    {
        if stack.len() > nodes.len() {
            return Err(ParseError::whole(NAME, format!("node {id} is its own caller")));
        }
        let frame = frames.get(&node.object).copied();
        stack.push(frame.unwrap_or_else(|| builder.named_frame("<unknown>")));
        next = node.parent;
    }
    stack.reverse();
    if own > 0 {
        let stack = builder.stack(&stack);
        builder.sample(stack, LabelSetId::default(), None, &[own]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const SEED: &str = include_str!("../../tests/hostile/seeds/sysprof-xml/tree.xml");

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn nodes_are_found_by_number() {
        assert_eq!(
            to_notation(&load(SEED).unwrap()),
            "main 1\nmain;f<int>(a & b) 4\nmain;f<int>(a & b);read 2"
        );
        let cut = load(&SEED[..SEED.len() - 30]).unwrap().meta.warnings;
        assert_eq!(cut, ["file is truncated: the end of `<profile>` is missing"]);
        let circle = SEED.replace("<parent>0<", "<parent>3<");
        assert_eq!(load(&circle).unwrap_err().to_string(), "sysprof-xml: node 1 is its own caller");
    }
}
