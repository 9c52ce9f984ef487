//! Function names: demangling, shortening, packages, fitting into a line, fuzzy lookup, and safe printing.
//! Everything here works on the text of a name alone.

mod artefact;
mod brackets;
mod chain;
mod clean;
mod demangle;
mod fit;
mod forms;
mod identity;
mod label;
mod library;
mod library_version;
mod nameless;
mod natural;
mod nearest;
mod package;
mod parts;
mod place;
mod quoted;
mod rust_escapes;
mod script;
mod short;

pub use artefact::is_artefact;
pub use chain::{Anchor, Chain};
pub use clean::clean;
pub(crate) use clean::is_unprintable;
pub use demangle::demangle;
pub(crate) use demangle::is_mangled;
pub use fit::{display_width, fit, fit_distinct};
pub use forms::{is_screen_form, screen_forms};
pub(crate) use identity::without_hash;
pub use identity::{enclosing, identifiers, is_anonymous, normalized, without_numbers, without_run};
pub(crate) use library::is_built_in;
pub use library::{is_library, is_standard_library, is_system_binary};
pub use library_version::library_version;
pub use nameless::is_nameless;
pub(crate) use natural::natural;
pub use nearest::nearest;
pub use package::package;
pub(crate) use parts::{prefix, split_library, type_of};
pub(crate) use place::base_name;
pub use place::{BlockLabel, block_labels, split_place, split_shown};
pub use quoted::quoted;
#[cfg(feature = "cli")]
pub(crate) use quoted::shell_words;
pub(crate) use rust_escapes::escape as rust_escape;
pub(crate) use script::{is_python, is_script};
pub use short::{NAMELESS, short_name, short_names};
