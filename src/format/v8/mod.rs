//! The formats of V8: CPU profiles (`.cpuprofile`), sampled heap allocations (`.heapprofile`), and the call tree
//! that both share with Chrome's traces.

pub(super) mod call_frame;
pub(super) mod cpuprofile;
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

/// Whether a text is such an answer.
fn is_answer(text: &[u8]) -> bool {
    let keys = json::keys(&text[..text.len().min(HEAD)]);
    let wraps = |(key, kind): &(String, Option<Kind>)| {
        key == "id" || WRAPPERS.contains(&&**key) && *kind == Some(Kind::Object)
    };
    !keys.is_empty() && keys.iter().all(wraps)
}

/// Enters the profile of an answer; other texts are left as they are.
fn enter_profile(json: &mut Json<'_>) -> Result<(), ParseError> {
    // `rest` is all of the text.
    if !is_answer(json.rest()) {
        return Ok(());
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
    Ok(())
}
