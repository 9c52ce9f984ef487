//! Groups of options that commands share: what may be typed, and what it means.

pub(crate) mod args;
pub(crate) mod base;
pub(crate) mod chains;
pub(crate) mod color_by;
pub(crate) mod columns;
pub(crate) mod completion;
pub(crate) mod embed;
pub(crate) mod filters;
pub(crate) mod highlight;
pub(crate) mod layout;
pub(crate) mod many;
pub(crate) mod match_args;
pub(crate) mod memory;
pub(crate) mod network;
pub(crate) mod pictures;
pub(crate) mod screen;
pub(crate) mod symbols;
pub(crate) mod unused;
pub(crate) mod what_if;
