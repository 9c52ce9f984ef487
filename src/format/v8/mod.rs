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

use call_frame::{CallFrame, KnownFrames};
use tree::{NodeId, V8Tree};
