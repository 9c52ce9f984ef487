//! What `types` shows.

use serde::Serialize;

/// The known profile types.
#[derive(Clone, Debug, Serialize)]
pub struct Types {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The types asked for.
    pub types: Vec<TypeRow>,
    /// For the text: the language asked for.
    #[serde(skip)]
    pub language: Option<&'static str>,
    /// For the text: whether one type was asked for, which is then explained at length.
    #[serde(skip)]
    pub one: bool,
}

/// A profile type.
#[derive(Clone, Debug, Serialize)]
pub struct TypeRow {
    /// Its name.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: &'static str,
    /// The type that counts or weighs the same events, or the other end of their life.
    pub companion: Option<&'static str>,
    /// The languages whose profilers record it.
    pub languages: &'static [&'static str],
    /// When to read it.
    pub when: &'static str,
    /// What a wide block of it means.
    pub width: String,
    /// For the text: what it measures.
    #[serde(skip)]
    pub measures: &'static str,
}
