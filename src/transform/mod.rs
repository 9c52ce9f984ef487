//! From profile to profile.

mod merge;

pub use merge::{MergeError, merge};
