//! From series of counted values to the values of a report's row.

use crate::report::{ByMetric, Header, Name, Pair, Values};

/// Makes the values of rows: of one metric, or of several side by side.
pub(super) struct Measure {
    names: Vec<Name>,
}

impl Measure {
    /// The measure of the metrics that `header` names.
    pub(super) fn new(header: &Header) -> Self {
        Measure { names: header.metrics.iter().map(|metric| metric.metric.name.as_str().into()).collect() }
    }

    /// The values of a row whose self and total are given a series.
    pub(super) fn values(
        &self,
        self_value: impl Iterator<Item = i64>,
        total: impl Iterator<Item = i64>,
    ) -> Values {
        let pairs: Vec<Pair> =
            self_value.zip(total).map(|(self_value, total)| Pair { self_value, total }).collect();
        let first = pairs.first().copied().unwrap_or_default();
        let values =
            (!self.names.is_empty()).then(|| ByMetric(self.names.iter().cloned().zip(pairs).collect()));
        Values {
            self_value: first.self_value,
            total: first.total,
            children: first.total - first.self_value,
            values,
            ..Values::default()
        }
    }
}
