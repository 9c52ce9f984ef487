//! Reads profiles and answers where the time or the memory goes.

pub mod cli;
pub mod format;
pub mod kind;
pub mod name;
pub mod output;
pub mod pattern;
pub mod profile;
pub mod report;
pub mod stats;
pub mod transform;
pub mod tree;
pub mod unit;
pub mod view;
