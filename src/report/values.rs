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

/// Values by metric, in the requested order.
#[derive(Clone, Debug, Default)]
pub struct ByMetric(pub Vec<(Name, Pair)>);

impl Serialize for ByMetric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, pair) in &self.0 {
            map.serialize_entry(&**name, pair)?;
        }
        map.end()
    }
}
