//! The report of `types`.

use serde::Serialize;

/// The known profile types.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Types {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The requested types.
    pub types: Vec<TypeRow>,
    /// The type or metric asked for; null for all.
    pub name: Option<String>,
    /// The language asked for; null for all.
    pub language: Option<&'static str>,
}

/// A profile type.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TypeRow {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// The type that measures the same events in another way: their number, their size, or their other end.
    pub companion: Option<&'static str>,
    /// The languages whose profilers record it.
    pub languages: &'static [&'static str],
    /// When to use it.
    pub when: &'static str,
    /// What it means that a function is wide in its flame graph.
    pub width: String,
    /// What it measures.
    pub measures: &'static str,
}
