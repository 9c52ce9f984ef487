//! Reads the stacks of V8's "allocations on timeline", which are next to a snapshot of the heap.
//!
//! ```text
//! {"snapshot": {"meta": {"trace_function_info_fields": ["function_id", "name", …], "trace_node_fields": ["id", …], …},
//!    "trace_function_count": 2}, "nodes": […], "edges": […],
//!  "trace_function_infos": [0, 2, 1, 0, 0, 0, …], "trace_tree": [1, 0, 0, 0, [2, 1, 7, 280, []]], …, "strings": ["", "(root)", …]}
//! ```
//!
//! A node of the tree is its id, its function, how many objects that function allocated there and how many bytes, and the functions
//! called from it. This counts all allocations of the recording, whether the objects are still there or not. Function infos refer to
//! strings, which come last.

use hashbrown::HashMap;

use crate::format::json::{self, Json, Kind};
use crate::format::v8::call_frame::CallFrame;
use crate::format::{ParseError, finished};
use crate::profile::{FrameId, LabelSetId, Profile, ProfileBuilder};

/// The members of a function info and of a node, as V8 has written them since 2014.
const FUNCTION: [&str; 6] = ["function_id", "name", "script_name", "script_id", "line", "column"];
const NODE: [&str; 5] = ["id", "function_info_index", "count", "size", "children"];

/// Whether a snapshot of the heap has the stacks of allocations: then it counts their functions.
pub(super) fn has_stacks(head: &[u8]) -> bool {
    const COUNT: &[u8] = b"\"trace_function_count\":";
    let is_counted = memchr::memmem::find(head, COUNT).is_some_and(|at| {
        let number = head[at + COUNT.len()..].trim_ascii_start();
        matches!(number.first(), Some(b'1'..=b'9'))
    });
    is_counted && json::has(&json::keys(head), &["snapshot"])
}

/// Reads the stacks.
pub(super) fn read(
    format: &'static str,
    text: &[u8],
    mut builder: ProfileBuilder,
) -> Result<Profile, ParseError> {
    builder.metric("alloc_objects", "count");
    builder.meta.default_metric = builder.metric("alloc_space", "bytes");
    let mut json = Json::new(format, text);
    let (mut functions, mut tree, mut strings) = (None, None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        let at = Some(json.position());
        match (&*key, json.kind()?) {
            ("snapshot", Kind::Object) => {
                check_fields(&mut json)?;
                continue;
            }
            ("trace_function_infos", Kind::Array) => functions = at,
            ("trace_tree", Kind::Array) => tree = at,
            ("strings", Kind::Array) => strings = at,
            _ => {}
        }
        json.skip()?;
    }
    json.end()?;
    let (Some(functions), Some(tree), Some(strings)) = (functions, tree, strings) else {
        return Err(ParseError::whole(format, "the snapshot lacks its `trace_tree`, functions or strings"));
    };
    let frames = read_functions(json.at(functions), json.at(strings), &mut builder)?;
    read_tree(json.at(tree), &frames, &mut builder)?;
    finished(builder)
}

/// Checks in the description of the snapshot that functions and nodes have the members that are expected.
fn check_fields(json: &mut Json<'_>) -> Result<(), ParseError> {
    json.object()?;
    while let Some(key) = json.key()? {
        if key != "meta" || json.kind()? != Kind::Object {
            json.skip()?;
            continue;
        }
        json.object()?;
        while let Some(key) = json.key()? {
            let expected: &[&str] = match &*key {
                "trace_function_info_fields" => &FUNCTION,
                "trace_node_fields" => &NODE,
                _ => {
                    json.skip()?;
                    continue;
                }
            };
            let fields = json.list(|json| Ok(json.text_if_any()?.unwrap_or_default()))?;
            if fields != expected {
                return Err(json.error(format!("`{key}` are not {}", expected.join(", "))));
            }
        }
    }
    Ok(())
}

/// The frames of the functions, in the order of the file; `None` for the root.
fn read_functions(
    mut functions: Json<'_>,
    mut strings: Json<'_>,
    builder: &mut ProfileBuilder,
) -> Result<Vec<Option<FrameId>>, ParseError> {
    let numbers = functions.list(Json::integer)?;
    let rows: Vec<[i64; 6]> = numbers.as_chunks().0.to_vec();
    // Most strings are those of objects.
    let mut texts: HashMap<i64, String> =
        rows.iter().flat_map(|row| [row[1], row[2]]).map(|at| (at, String::new())).collect();
    let mut number = 0;
    strings.array()?;
    while strings.element()? {
        match texts.get_mut(&number) {
            Some(text) => *text = strings.text_if_any()?.unwrap_or_default().into_owned(),
            None => strings.skip()?,
        }
        number += 1;
    }
    let place = |number: i64| u32::try_from(number).unwrap_or(0);
    let text = |at: &i64| texts.get(at).map(String::as_str).unwrap_or_default();
    let frame = |[_, name, url, script, line, column]: &[i64; 6]| CallFrame {
        name: text(name).into(),
        url: text(url).into(),
        line: place(*line),
        column: place(*column),
        is_native: *script == 0,
    };
    Ok(rows.iter().map(|row| frame(row).frame(builder)).collect())
}

/// Adds the nodes of the tree. Does not recurse, because the nesting is as deep as the stacks of the program.
fn read_tree(
    mut json: Json<'_>,
    frames: &[Option<FrameId>],
    builder: &mut ProfileBuilder,
) -> Result<(), ParseError> {
    // The functions whose children are being read, root first.
    let mut path: Vec<Option<FrameId>> = Vec::new();
    let mut node = [0; 4];
    let mut known = 0;
    json.array()?;
    loop {
        if !json.element()? {
            if known > 0 {
                return Err(json.error("a node of `trace_tree` lacks its children"));
            }
            if path.pop().is_none() {
                return Ok(());
            }
            continue;
        }
        if known < node.len() {
            node[known] = json.integer()?;
            known += 1;
            continue;
        }
        let [_, function, count, size] = node;
        let frame = usize::try_from(function).ok().and_then(|function| frames.get(function));
        path.push(*frame.ok_or_else(|| json.error("a node of `trace_tree` refers to an unknown function"))?);
        if count != 0 || size != 0 {
            let frames: Vec<FrameId> = path.iter().flatten().copied().collect();
            let stack = builder.stack(&frames);
            builder.sample(stack, LabelSetId::default(), None, &[count.max(0), size.max(0)]);
        }
        json.array()?;
        known = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::format::v8::heapprofile::HEAPPROFILE;
    use crate::format::{Confidence, Source};
    use crate::profile::{LoadOptions, Profile, to_notation};

    const TEXT: &str = r#"{"snapshot":{"meta":{"node_fields":["type"],"trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],
        "trace_node_fields":["id","function_info_index","count","size","children"]},"node_count":1,"trace_function_count":3},"nodes":[9],
        "trace_function_infos":[0,1,0,0,0,0, 5,3,4,7,12,3, 6,0,4,7,20,1],
        "trace_tree":[1,0,1,16,[2,1,7,280,[3,2,2,64,[],4,1,0,0,[]]]],
        "strings":["","(root)","an object","f","a.js"]}"#;

    fn load(text: &str) -> Result<Profile, String> {
        assert_eq!((HEAPPROFILE.sniff)(text.as_bytes()), Confidence::Certain);
        let profile = (HEAPPROFILE.read)(&mut Source::from_bytes(text.into()), LoadOptions::default());
        profile.map_err(|error| error.to_string())
    }

    #[test]
    fn allocations_have_stacks() {
        let profile = load(TEXT).unwrap();
        assert_eq!(to_notation(&profile), " 1 16\nf@a.js:0 7 280\nf@a.js:0;(anonymous)@a.js:0 2 64");
        let functions: Vec<(u32, u32)> =
            profile.symbols.functions.iter().map(|function| (function.line, function.column)).collect();
        assert_eq!((functions, profile.meta.default_metric), (vec![(12, 3), (20, 1)], 1));
        let plain = TEXT.replace("\"trace_function_count\":3", "\"trace_function_count\":0");
        assert_eq!((HEAPPROFILE.sniff)(plain.as_bytes()), Confidence::No);
    }

    #[test]
    fn other_snapshots_are_refused() {
        let error = |from: &str, to: &str| load(&TEXT.replace(from, to)).unwrap_err();
        assert!(
            error("\"size\"", "\"bytes\"").contains("`trace_node_fields` are not id, function_info_index")
        );
        assert!(error("[1,0,1,16", "[1,9,1,16").contains("unknown function"));
        assert!(error("[2,1,7,280,", "[2,1,7,280,[],9,").contains("expected"));
        assert!(error("4,1,0,0,[]", "4,1").contains("lacks its children"));
        assert!(error("\"trace_tree\"", "\"tree\"").contains("lacks its `trace_tree`"));
    }
}
