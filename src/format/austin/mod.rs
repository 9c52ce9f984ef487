//! Austin, a sampling profiler for Python: its text and its binary form.

pub(super) mod mojo;
mod recording;
pub(super) mod text;
