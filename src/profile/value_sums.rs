//! Tables of sums, one column per metric.

/// Sums, one per row and metric. They are in one vector, because a vector per row would take three times as much
/// memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueSums {
    metrics: usize,
    sums: Vec<i64>,
}

impl ValueSums {
    /// Adds values to those of a row. The error is the metric whose sum does not fit in 64 bits.
    pub(crate) fn add(&mut self, row: usize, values: &[i64]) -> Result<(), usize> {
        if values.len() > self.metrics {
            self.widen(values.len());
        }
        let start = row * self.metrics;
        if self.sums.len() <= start {
            self.sums.resize(start, 0);
            self.sums.extend_from_slice(values);
            self.sums.resize(start + self.metrics, 0);
        } else {
            for (sum, &value) in self.sums[start..].iter_mut().zip(values) {
                *sum = sum.saturating_add(value);
            }
        }
        match self.sums[start..][..values.len()].iter().position(|sum| matches!(*sum, i64::MIN | i64::MAX)) {
            None => Ok(()),
            Some(metric) => Err(metric),
        }
    }

    /// Adds metrics; their sums are 0.
    fn widen(&mut self, metrics: usize) {
        let narrow = std::mem::take(&mut self.sums);
        for row in narrow.chunks_exact(self.metrics.max(1)) {
            self.sums.extend_from_slice(row);
            self.sums.resize(self.sums.len() + metrics - self.metrics, 0);
        }
        self.metrics = metrics;
    }

    /// The sum of a row; 0 if nothing was added.
    pub(crate) fn at(&self, row: usize, metric: usize) -> i64 {
        let sum = (metric < self.metrics).then(|| self.sums.get(row * self.metrics + metric));
        sum.flatten().copied().unwrap_or(0)
    }

    /// The sums of a row; empty if nothing was added to it or a later row.
    pub(crate) fn row(&self, row: usize) -> &[i64] {
        self.sums.get(row * self.metrics..(row + 1) * self.metrics).unwrap_or_default()
    }

    /// The sums of the first `rows` rows.
    pub(crate) fn column(&self, rows: usize, metric: usize) -> Vec<i64> {
        (0..rows).map(|row| self.at(row, metric)).collect()
    }

    pub(crate) fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i64>()
    }
}
