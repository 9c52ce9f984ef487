//! Reads profiles and answers where the time or the memory goes.
//!
//! This is the library of the `prof` command. A profile is a table of distinct stacks and columns of
//! integers, and data flows in one direction:
//!
//! ```text
//! bytes ──load──► Profile ──filter──► Profile ──view──► Report ──output──► bytes
//!       may fail           pure               pure            may fail
//! ```
//!
//! - [`Request`] reads files and folders and adds them up; [`format::load`] reads bytes in any of the formats.
//! - [`Filters`] select stacks and frames; [`transform`] makes new profiles from profiles: it renames, merges and aligns them.
//! - [`view`] counts: options and a profile become a [`report::Report`], plain data with raw integers.
//! - [`output`] writes a report as text, JSON, CSV, Markdown, or a picture.
//!
//! The `prof` command takes the same five steps:
//!
//! ```
//! use prof::output::{Style, text};
//! use prof::tree::By;
//! use prof::view::{TopOptions, top};
//! use prof::{Filters, Request};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("cpu.folded").display().to_string();
//! # std::fs::write(&file, "main;parse;read 3\nmain;render 5\nmain;sleep 92\n")?;
//! # let mut page = Vec::new();
//! // The file holds `main;parse;read 3`, `main;render 5` and `main;sleep 92`, one stack per line.
//! let loaded = Request::new([file]).load()?;
//! let awake = loaded.filtered(&Filters::new().hide_stacks("^sleep$")?, By::Function)?;
//! let functions = top(&awake.profile, &TopOptions::new(awake.scope.clone()));
//! let report = awake.report(functions);
//! text(&report, &Style::plain(), &mut page)?;
//!
//! let header = report.header().unwrap();
//! assert_eq!((header.total, header.shown), (100, 8));
//! assert!(String::from_utf8(page)?.contains("render"));
//! # Ok(())
//! # }
//! ```
//!
//! Two sides, each of which may be several runs, are compared in the same way; [`compare`] shows how.
//!
//! `examples/service.rs` reads untrusted uploads within a memory limit; `examples/gate.rs` fails on a regression. A
//! library that needs no command line turns off the default feature `cli`.
//!
//! Values are integers in the metric's own unit, as the profile has them, divided by the metric's
//! `divisor`; they are never rounded before they are printed. The **self** value of a function is the
//! sum of the samples that end in it; its **total** is the sum of the samples with the function anywhere on
//! the stack, each counted once.
//!
//! Errors come mainly from the two ends: [`format::LoadError`] names the format and the byte or line, and
//! outputs fail if they cannot write or if the requested unit does not suit the metric. Steps in between fail
//! only if their arguments do not fit together: profiles with different units, sums that do not fit in 64
//! bits, a name that no function has.

pub mod binary;
#[cfg(feature = "cli")]
pub mod cli;
pub mod compare;
pub mod dataset;
pub mod filter;
pub mod findings;
pub mod format;
pub mod kind;
pub mod lint;
pub mod load;
pub mod name;
pub mod output;
pub mod parallel;
pub mod pattern;
pub mod profile;
pub mod report;
pub mod source;
pub mod sourcemap;
pub mod stats;
pub mod transform;
pub mod tree;
#[cfg(feature = "ui")]
mod ui;
pub mod unit;
pub mod view;

pub use filter::Filters;
pub use load::{Request, load};
