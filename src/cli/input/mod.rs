//! Which files are read, and what is done with them before a view sees them.

pub(crate) mod base;
pub(crate) mod binaries;
pub(crate) mod budget;
pub(crate) mod inputs;
pub(crate) mod loader;
pub(crate) mod metrics;
pub(crate) mod paths;
pub(crate) mod reading;
pub(crate) mod sides;
pub(crate) mod sources;
pub(crate) mod symbols;
