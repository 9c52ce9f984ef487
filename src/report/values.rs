//! The values of a row.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

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
    /// Every metric by name, if several were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<ByMetric>,
}

impl Values {
    /// Self and total of the new side, or of the only one.
    pub(crate) fn new_pair(&self) -> Pair {
        Pair { self_value: self.self_value, total: self.total }
    }

    /// Those of one of several metrics; zero if only one was requested.
    pub(crate) fn of_metric(&self, index: usize) -> Pair {
        let values = self.values.as_ref().and_then(|values| values.0.get(index));
        values.map_or_else(Pair::default, |(_, pair)| *pair)
    }
}

/// Values by metric, in the requested order.
#[derive(Clone, Debug, Default)]
pub struct ByMetric(pub Vec<(Name, Pair)>);

impl Serialize for ByMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        as_map(&self.0, serializer)
    }
}

/// Serialises pairs as an object, in their order.
pub(super) fn as_map<S: Serializer, V: Serialize>(
    pairs: &[(Name, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (name, value) in pairs {
        map.serialize_entry(&**name, value)?;
    }
    map.end()
}
