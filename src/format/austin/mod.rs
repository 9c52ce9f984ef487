//! Austin, a sampling profiler for Python: its text and its binary form.

pub(super) mod mojo;
mod recording;
pub(super) mod text;

/// What stands for a frame that austin could not read, `:INVALID:`: names in brackets are those of no function.
const INVALID: &str = "[invalid]";
