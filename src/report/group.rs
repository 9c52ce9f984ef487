//! The groups of functions that share a colour in flame graphs.

use serde::Serialize;

use crate::report::Name;

/// Whose code a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The program and the packages that it chose to use.
    Own,
    /// The standard library of the language.
    Library,
    /// The runtime of the language, the C library, the kernel, and what has no name.
    Runtime,
}

/// Functions that share a colour: a package, a file or a library of the program, or all of the standard library or
/// the runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColorGroup {
    /// The name of the package, file or library; `standard library` or `runtime`.
    pub name: Name,
    /// Whose code it is.
    pub tier: Tier,
}
