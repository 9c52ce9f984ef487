//! Telling someone what happens while inputs are read.

use std::path::Path;
use std::time::Duration;

use crate::format::{LoadError, Times};

/// Someone who is told what happens while inputs are read. The methods are called from several threads at once; by
/// default, they do nothing. The sides of a comparison are read at once, so another one may begin before one ends.
pub trait Observer: Send + Sync {
    /// A server was asked for a profile or for debug information, and records for so long before it answers; not at all if that is 0.
    fn recording(&self, _time: Duration) {}

    /// So many further bytes arrived from servers.
    fn fetched(&self, _count: u64) {}

    /// Everything is fetched, or something failed.
    fn fetch_over(&self) {}

    /// What a server recorded was saved in this file.
    fn saved(&self, _path: &Path) {}

    /// Something that a user should know.
    fn note(&self, _text: &str) {}

    /// Reading of these files begins.
    fn begin(&self, _files: &[&str]) {}

    /// So many further bytes were read.
    fn bytes(&self, _count: u64) {}

    /// An input was read, and its parts took so long.
    fn input(&self, _took: Times) {}

    /// Names are not looked up, because the request does not want it, although there may be some: those of code without names, or
    /// the original names of a script.
    fn names_left_out(&self) {}

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
