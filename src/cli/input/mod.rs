//! Which files are read, and what is done with them before a view sees them.

pub(crate) mod budget;
pub(crate) mod noise;
pub(crate) mod paths;
pub(crate) mod request;
pub(crate) mod sets;
