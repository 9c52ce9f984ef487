//! Reads profiles and answers where the time or the memory goes.
//!
//! This is the library behind the command `prof`. A profile is a table of distinct stacks and columns of
//! integers, and data flow one way:
//!
//! ```text
//! bytes ──load──► Profile ──filter──► Profile ──view──► Report ──output──► bytes
//!       may fail            total             total, pure         may fail
//! ```
//!
//! - [`format::load`] finds the format of the bytes and reads them into a [`profile::Profile`].
//! - [`transform`] makes a profile of a profile: filters, renamings, several added up or laid beside.
//! - [`view`] counts: options and a profile become a [`report::Report`], plain data with raw integers.
//! - [`output`] writes a report as text, JSON, CSV, Markdown, or as a picture.
//!
//! ```
//! use prof::format::{Source, load};
//! use prof::output::{Style, text};
//! use prof::pattern::Patterns;
//! use prof::profile::LoadOptions;
//! use prof::report::Report;
//! use prof::transform::{Marks, hide_stacks};
//! use prof::view::{Scope, TopOptions, top};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // bytes → Profile: collapsed stacks here; the format is told by the content.
//! let bytes = b"main;parse;read 3\nmain;render 5\nmain;sleep 92\n".to_vec();
//! let profile = load(&mut Source::from_bytes(bytes), LoadOptions::default(), None)?;
//!
//! // Profile → Profile: the stacks that sleep go.
//! let (patterns, _) = Patterns::parse(&["^sleep$"], false)?;
//! let (awake, matched) = hide_stacks(&profile, &Marks::new(&profile, &patterns));
//! assert_eq!(matched, 1);
//!
//! // Profile → Report: self and total of every function.
//! let report = top(&awake, &TopOptions::new(Scope::metric(0)));
//! assert_eq!((report.header.total, report.header.shown), (100, 8));
//! let render = &report.rows[0];
//! assert_eq!((&*render.name, render.values.self_value, render.values.total), ("render", 5, 5));
//!
//! // Report → bytes.
//! let mut page = Vec::new();
//! text(&Report::Top(report), &Style::plain(), &mut page)??;
//! assert!(String::from_utf8(page)?.contains("render"));
//! # Ok(())
//! # }
//! ```
//!
//! Values are integers in the metric's own unit, as the profile has them, divided by the metric's
//! `divisor`; they are never rounded before they are printed. **Self** of a function is the value of the
//! samples that end in it, **total** of those on whose stack it stands, each counted once.
//!
//! Mostly the two ends fail: [`format::LoadError`] names the format and the byte or line, and outputs fail
//! where nothing can be written, or where a unit is asked for that is none of the metric's kind. In between
//! only what is given can fail to go together: profiles of different units, sums that leave 64 bits, a name
//! that no function has.

pub mod binary;
pub mod cli;
pub mod format;
pub mod kind;
pub mod name;
pub mod output;
pub mod parallel;
pub mod pattern;
pub mod profile;
pub mod report;
pub mod stats;
pub mod transform;
pub mod tree;
pub mod unit;
pub mod view;
