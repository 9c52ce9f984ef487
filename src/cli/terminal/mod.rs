//! What is printed where: the pager, the progress line, messages and their words, and files that are written.

pub(crate) mod clock;
pub(crate) mod failure;
pub(crate) mod messages;
pub(crate) mod pager;
pub(crate) mod progress;
pub(crate) mod session;
pub(crate) mod target;
pub(crate) mod temporary;
pub(crate) mod words;
