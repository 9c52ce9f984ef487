//! Telling someone what happens while inputs are read.

use crate::format::{LoadError, Times};

/// Someone who is told what happens while inputs are read. The methods are called from several threads at once; by
/// default, they do nothing. The sides of a comparison are read at once, so another one may begin before one ends.
pub trait Observer: Send + Sync {
    /// Reading of these files begins.
    fn begin(&self, _files: &[&str]) {}

    /// So many further bytes were read.
    fn bytes(&self, _count: u64) {}

    /// An input was read, and its parts took so long.
    fn input(&self, _took: Times) {}

    /// An input was skipped.
    fn skipped(&self, _name: &str, _why: &LoadError) {}

    /// Reading is over, whether it succeeded or not.
    fn end(&self) {}

    /// A step is done: `load`, `symbols`, `merge`.
    fn step(&self, _name: &'static str) {}
}

/// Nobody.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl Observer for Unobserved {}
