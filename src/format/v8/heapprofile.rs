//! Reads sampled heap allocations of V8, as written by Chrome's memory panel ("allocation sampling") and
//! `node --heap-prof`.
//!
//! ```text
//! {"head": {"callFrame": {…}, "selfSize": 0, "id": 1, "children": [{…}, …]}, "samples": […]}
//! ```
//!
//! `selfSize` is the memory that the node allocated and that is still alive, estimated from the samples.
//!
//! "Allocations on timeline" have stacks, too, in another form (`heap_timeline.rs`).

use crate::format::json::{self, Json, Kind};
use crate::format::v8::nodes::{OwnValues, read_nested};
use crate::format::v8::tree::V8Tree;
use crate::format::v8::{HEAD, enter_profile, has, heap_timeline};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(in crate::format) static HEAPPROFILE: Format =
    Format { name: NAME, title: "V8 heap profile", sniff, read };

const NAME: &str = "heapprofile";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let fits = has(head, &keys, "head") && json::mentions(head, "\"selfSize\"");
    if fits || heap_timeline::has_stacks(head) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    if heap_timeline::has_stacks(&text[..text.len().min(HEAD)]) {
        return Ok(heap_timeline::read(NAME, &text, builder)?);
    }
    builder.metric("inuse_space", "bytes");
    let mut json = Json::new(NAME, &text);
    let (mut found, mut samples) = (false, None);
    let is_answer = enter_profile(&mut json)?;
    json.object()?;
    while let Some(key) = json.key()? {
        if key == "head" && json.kind()? == Kind::Object {
            found = true;
            read_into(&mut json, &mut builder)?;
        } else if key == "samples" && json.kind()? == Kind::Array {
            samples = Some(json.list(Json::skip)?.len() as u64);
        } else {
            json.skip()?;
        }
    }
    if !is_answer {
        json.end()?;
    }
    if !found {
        return Err(ParseError::whole(NAME, "missing `head`").into());
    }
    let mut profile = finished(builder)?;
    profile.meta.metrics[0].effective_samples = samples.filter(|&samples| samples > 0);
    Ok(profile)
}

fn read_into(json: &mut Json, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    let (mut tree, mut sizes) = (V8Tree::default(), OwnValues::new());
    read_nested(json, builder, &mut tree, &mut sizes)?;
    for (node, &size) in sizes.enumerate().filter(|(_, size)| **size != 0) {
        let stack = tree.stack(builder, node)?;
        builder.sample(stack, LabelSetId::default(), None, &[size]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn each_node_is_a_stack() {
        let text = r#"{"head": {"callFrame": {"functionName": "(root)", "url": "", "lineNumber": -1, "columnNumber": -1}, "selfSize": 8, "children": [
            {"callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 2, "columnNumber": 4}, "children": [
                {"callFrame": {"functionName": "", "url": "a.js", "lineNumber": 3, "columnNumber": 4}, "selfSize": 100, "children": []},
                {"callFrame": {"functionName": "f", "url": "a.js", "lineNumber": 2, "columnNumber": 4}, "selfSize": 20, "children": []}], "selfSize": 3}]}}"#;
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
        let expected = " 8\nf@a.js:0 3\nf@a.js:0;(anonymous)@a.js:0 100\nf@a.js:0;f@a.js:0 20";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.symbols.functions.len(), 2);
        assert_eq!(profile.meta.metrics[0].effective_samples, None);
        let counted = format!(
            r#"{}, "samples": [{{"size": 8, "nodeId": 1}}, {{"size": 100, "nodeId": 2}}]}}"#,
            &text[..text.len() - 1]
        );
        let counted = read(&mut Source::from_bytes(counted.into()), LoadOptions::default()).unwrap();
        assert_eq!(counted.meta.metrics[0].effective_samples, Some(2));
        for answer in
            [format!(r#"{{"profile": {text}}}"#), format!(r#"{{"id": 7, "result": {{"profile": {text}}}}}"#)]
        {
            assert_eq!(sniff(answer.as_bytes()), Confidence::Certain);
            let profile = read(&mut Source::from_bytes(answer.into()), LoadOptions::default()).unwrap();
            assert_eq!(to_notation(&profile), expected);
        }
    }
}
