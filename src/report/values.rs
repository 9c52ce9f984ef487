//! The values of a row.

use serde::{Serialize, Serializer};

use crate::report::Name;

/// Self and total of one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
}

impl Pair {
    /// The change since `old`.
    #[must_use]
    pub fn minus(self, old: Pair) -> Pair {
        Pair { self_value: self.self_value - old.self_value, total: self.total - old.total }
    }
}

/// Self and total of a row, and those of the old side in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PairBySide {
    /// The new side, or the only one.
    #[serde(flatten)]
    pub new: Pair,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
}

impl PairBySide {
    /// Both sides, or one.
    pub fn new(new: Pair, old: Option<Pair>) -> Self {
        PairBySide { new, old, delta: old.map(|old| new.minus(old)) }
    }
}

/// The values of one row: those of the first metric, and of the further metrics.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Values {
    /// Self.
    #[serde(rename = "self")]
    pub self_value: i64,
    /// Total.
    pub total: i64,
    /// Total − self.
    pub children: i64,
    /// The old side of a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Pair>,
    /// New − old.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<Pair>,
    /// Every metric by name in the requested order, if there are several.
    #[serde(serialize_with = "as_map", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(Name, Pair)>,
}

impl Values {
    /// Self and total of the new side, or of the only one.
    pub(crate) fn new_pair(&self) -> Pair {
        Pair { self_value: self.self_value, total: self.total }
    }

    /// Those of one of several metrics; zero if only one was requested.
    pub(crate) fn of_metric(&self, index: usize) -> Pair {
        self.values.get(index).map_or_else(Pair::default, |(_, pair)| *pair)
    }
}

/// Serialises pairs as an object, in their order.
pub(super) fn as_map<S: Serializer, V: Serialize>(
    pairs: &[(Name, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, value)| (&**name, value)))
}
