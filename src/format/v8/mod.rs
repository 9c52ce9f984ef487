//! The formats of V8: CPU profiles (`.cpuprofile`), sampled heap allocations (`.heapprofile`), and the call tree
//! that both share with Chrome's traces.

pub(super) mod call_frame;
pub(super) mod cpuprofile;
mod heap_timeline;
pub(super) mod heapprofile;
pub(super) mod log;
pub(super) mod log_json;
mod log_names;
pub(super) mod nodes;
pub(super) mod samples;
pub(super) mod tree;
pub(in crate::format) mod write;

use crate::format::ParseError;
use crate::format::json::{self, Json, Kind};

use call_frame::{CallFrame, KnownFrames};
use tree::{NodeId, V8Tree};

/// How the answers of the protocol of DevTools begin, `{"id": 7, "result": {"profile": {…}}}`. People save all of one, or what is
/// from `result` or from `profile` on.
const WRAPPERS: [&str; 3] = ["id", "result", "profile"];

/// How much of a text shows whether it is such an answer.
const HEAD: usize = 16 * 1024;

/// The top-level keys of a text with the kinds of their values.
type Keys = [(String, Option<Kind>)];

/// Whether a text with these keys is such an answer.
fn is_answer(keys: &Keys) -> bool {
    let wraps = |(key, kind): &(String, Option<Kind>)| {
        key == "id" || WRAPPERS.contains(&&**key) && *kind == Some(Kind::Object)
    };
    !keys.is_empty() && keys.iter().all(wraps)
}

/// Whether the profile at the head of a text, possibly in an answer, has this key.
fn has(head: &[u8], keys: &Keys, key: &str) -> bool {
    json::has(keys, &[key]) || (is_answer(keys) && json::mentions(head, &format!("\"{key}\"")))
}

/// Enters the profile of an answer; other texts are left as they are. Returns whether it is an answer.
fn enter_profile(json: &mut Json<'_>) -> Result<bool, ParseError> {
    // `rest` is all of the text.
    let text = json.rest();
    if !is_answer(&json::keys(&text[..text.len().min(HEAD)])) {
        return Ok(false);
    }
    for wrapper in &WRAPPERS[1..] {
        let mut inner = json.clone();
        inner.object()?;
        while let Some(key) = inner.key()? {
            if key == *wrapper {
                let at = inner.position();
                *json = inner.at(at);
                break;
            }
            inner.skip()?;
        }
    }
    Ok(true)
}
