//! Reads call trees of V8 profiles, which are either flat or nested.

use crate::format::ParseError;
use crate::format::decimals::rounded;
use crate::format::json::{Json, Kind, KnownKeys};
use crate::format::v8::call_frame::FunctionKey;
use crate::format::v8::{CallFrame, NodeId, V8Tree};
use crate::profile::{Column, FrameId, ProfileBuilder};

/// The `hitCount` or the `selfSize` (allocated bytes) of each node.
pub(in crate::format) type OwnValues = Column<NodeId, i64>;

/// The keys of the objects that make up a call tree, as they were written so far.
#[derive(Default)]
pub(super) struct NodeKeys<'a> {
    of_nodes: KnownKeys<'a, NodeKey>,
    of_ticks: KnownKeys<'a, TickKey>,
}

/// A member of a node.
#[derive(Clone, Copy)]
enum NodeKey {
    Id,
    CallFrame,
    Own,
    SelfTime,
    Ticks,
    Children,
    Parent,
    /// It describes the function, as in the format without `callFrame`.
    Function(FunctionKey),
    Other,
}

impl NodeKey {
    fn of(key: &str) -> NodeKey {
        match key {
            "id" => NodeKey::Id,
            "callFrame" => NodeKey::CallFrame,
            "hitCount" | "selfSize" => NodeKey::Own,
            "selfTime" => NodeKey::SelfTime,
            "positionTicks" => NodeKey::Ticks,
            "children" => NodeKey::Children,
            "parent" => NodeKey::Parent,
            _ => FunctionKey::of(key).map_or(NodeKey::Other, NodeKey::Function),
        }
    }
}

/// A member of an entry of `positionTicks`.
#[derive(Clone, Copy)]
enum TickKey {
    Line,
    Ticks,
    Other,
}

impl TickKey {
    fn of(key: &str) -> TickKey {
        match key {
            "line" => TickKey::Line,
            "ticks" => TickKey::Ticks,
            _ => TickKey::Other,
        }
    }
}

/// A node that is being read.
struct Draft<'a> {
    node: NodeId,
    function: NodeFunction<'a>,
}

/// The function of a node.
enum NodeFunction<'a> {
    /// Its members are next to those of the node, as in the oldest format.
    Members(CallFrame<'a>),
    /// The frame of its `callFrame`.
    Frame(Option<FrameId>),
}

impl Draft<'_> {
    fn finish(self, builder: &mut ProfileBuilder, tree: &mut V8Tree) {
        let frame = match self.function {
            NodeFunction::Members(function) => function.frame(builder),
            NodeFunction::Frame(frame) => frame,
        };
        tree.set_frame(self.node, frame);
    }
}

/// Reads an array of nodes that refer to their children or parents by id.
pub(in crate::format) fn read_flat<'a>(
    json: &mut Json<'a>,
    builder: &mut ProfileBuilder,
    tree: &mut V8Tree<'a>,
    own: &mut OwnValues,
) -> Result<(), ParseError> {
    json.array()?;
    while json.element()? {
        let mut draft = start(json, tree, own, None)?;
        let node = draft.node;
        while let Some(key) = tree.keys.of_nodes.key(json, NodeKey::of)? {
            match key {
                NodeKey::Children if json.kind()? == Kind::Array => {
                    json.array()?;
                    while json.element()? {
                        tree.child(node, json.integer()?);
                    }
                }
                NodeKey::Parent if json.kind()? == Kind::Number => tree.parent(node, json.integer()?),
                _ => member(key, json, &mut draft, builder, tree, own)?,
            }
        }
        draft.finish(builder, tree);
    }
    Ok(())
}

/// Reads a tree of nested nodes. Does not recurse, because the nesting is as deep as the stacks of the program.
pub(in crate::format) fn read_nested<'a>(
    json: &mut Json<'a>,
    builder: &mut ProfileBuilder,
    tree: &mut V8Tree<'a>,
    own: &mut OwnValues,
) -> Result<(), ParseError> {
    let mut open = vec![start(json, tree, own, None)?];
    while let Some(draft) = open.last_mut() {
        match tree.keys.of_nodes.key(json, NodeKey::of)? {
            Some(NodeKey::Children) if json.kind()? == Kind::Array => json.array()?,
            Some(key) => {
                member(key, json, draft, builder, tree, own)?;
                continue;
            }
            None => {
                if let Some(draft) = open.pop() {
                    draft.finish(builder, tree);
                }
            }
        }
        // The cursor is in the children of the topmost open node, if there is one.
        if let Some(parent) = open.last().map(|draft| draft.node)
            && json.element()?
        {
            open.push(start(json, tree, own, Some(parent))?);
        }
    }
    Ok(())
}

/// Starts a node.
fn start<'a>(
    json: &mut Json<'a>,
    tree: &mut V8Tree,
    own: &mut OwnValues,
    parent: Option<NodeId>,
) -> Result<Draft<'a>, ParseError> {
    json.object()?;
    own.push(0);
    Ok(Draft { node: tree.node(parent), function: NodeFunction::Members(CallFrame::default()) })
}

/// Reads a member that does not refer to other nodes.
fn member<'a>(
    key: NodeKey,
    json: &mut Json<'a>,
    draft: &mut Draft<'a>,
    builder: &mut ProfileBuilder,
    tree: &mut V8Tree<'a>,
    own: &mut OwnValues,
) -> Result<(), ParseError> {
    match key {
        NodeKey::Id => tree.number(draft.node, json.integer()?),
        NodeKey::CallFrame => draft.function = NodeFunction::Frame(tree.known_frames.read(json, builder)?),
        NodeKey::Own => own[draft.node] = json.integer()?,
        NodeKey::SelfTime if json.kind()? == Kind::Number => {
            tree.self_times.push((draft.node, rounded(json.number()? * 1000.0)));
        }
        NodeKey::Ticks if json.kind()? == Kind::Array => {
            json.array()?;
            while json.element()? {
                read_ticks(json, draft.node, tree)?;
            }
        }
        NodeKey::Function(key) => match &mut draft.function {
            // Recorders of the format without `callFrame` write 0 for every script, so that says nothing about a function.
            // This format counts lines from 1.
            NodeFunction::Members(function) if key != FunctionKey::Script => function.member(key, json, 0)?,
            _ => json.skip()?,
        },
        _ => json.skip()?,
    }
    Ok(())
}

/// Reads how often one line of a node's function was running: `{"line": 12, "ticks": 3}`.
fn read_ticks<'a>(json: &mut Json<'a>, node: NodeId, tree: &mut V8Tree<'a>) -> Result<(), ParseError> {
    let (mut line, mut ticks) = (0, 0);
    json.object()?;
    while let Some(key) = tree.keys.of_ticks.key(json, TickKey::of)? {
        match key {
            TickKey::Line => line = json.integer()?,
            TickKey::Ticks => ticks = json.integer()?,
            TickKey::Other => json.skip()?,
        }
    }
    if let (Ok(line @ 1..), Ok(ticks @ 1..)) = (u32::try_from(line), u32::try_from(ticks)) {
        tree.line_ticks(node, line, ticks.into());
    }
    Ok(())
}
