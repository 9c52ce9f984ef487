//! Filling the stacks and samples of a profile apart from its names, on another thread.

use crate::profile::ProfileBuilder;
use crate::profile::rows::RowTable;

impl ProfileBuilder {
    /// Another builder that takes over the stacks and samples, while this one goes on with names, labels and metrics.
    /// `None` if the stacks are shared with other profiles.
    ///
    /// Until [`ProfileBuilder::attach_samples`] gives it back, stacks and samples may only be added to it, and only with ids of
    /// frames and labels that this one returned; metrics may be declared here, but not rescaled.
    pub(crate) fn detach_samples(&mut self) -> Option<ProfileBuilder> {
        if self.shares_tables() || self.calls.is_some() || !self.parts.is_empty() {
            return None;
        }
        let mut samples = ProfileBuilder::new(self.meta.format, self.options.clone());
        samples.declare(self.totals.len());
        std::mem::swap(&mut samples.tables.stacks, &mut self.tables.stacks);
        let rows = RowTable::new(self.totals.len(), self.options.times);
        samples.rows = std::mem::replace(&mut self.rows, rows);
        self.measure();
        samples.measure();
        Some(samples)
    }

    /// Declares metrics without names, so that there are as many as in the builder that has the names.
    pub(crate) fn declare(&mut self, metrics: usize) {
        while self.totals.len() < metrics {
            self.metric("", "");
        }
    }

    /// Takes back the stacks and samples.
    pub(crate) fn attach_samples(&mut self, mut samples: ProfileBuilder) {
        samples.declare(self.totals.len());
        std::mem::swap(&mut samples.tables.stacks, &mut self.tables.stacks);
        self.rows = std::mem::take(&mut samples.rows);
        for (total, more) in self.totals.iter_mut().zip(&samples.totals) {
            *total = total.saturating_add(*more);
        }
        for (metric, counted) in self.meta.metrics.iter_mut().zip(&samples.meta.metrics) {
            metric.rows += counted.rows;
        }
        self.meta.rows += samples.meta.rows;
        self.meta.labelled_rows += samples.meta.labelled_rows;
        self.meta.has_times |= samples.meta.has_times;
        self.misdated += samples.misdated;
        self.too_large = self.too_large.take().or(samples.too_large.take());
        // What it has reserved for the same tables is released first.
        drop(samples);
        self.measure();
    }
}

#[cfg(test)]
mod tests {
    use crate::profile::{Budget, LabelSetId, LoadOptions, ProfileBuilder, SharedTables, to_notation};

    fn add(builder: &mut ProfileBuilder, frames: &[crate::profile::FrameId], values: &[i64]) {
        let stack = builder.stack(frames);
        builder.sample(stack, LabelSetId::default(), Some(7), values);
    }

    #[test]
    fn samples_are_added_apart_from_names() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("samples", "count");
        let main = builder.named_frame("main");
        add(&mut builder, &[main], &[1]);
        let mut samples = builder.detach_samples().unwrap();
        let work = builder.named_frame("work");
        add(&mut samples, &[main, work], &[2]);
        builder.metric("bytes", "bytes");
        samples.declare(2);
        add(&mut samples, &[main], &[3, 30]);
        builder.metric("big", "bytes");
        builder.overflow(2);
        builder.attach_samples(samples);
        add(&mut builder, &[main, work], &[4, 40, 0]);
        let profile = builder.finish().unwrap();
        assert_eq!(to_notation(&profile), "main 4 30 0\nmain;work 6 40 0");
        let metrics = &profile.meta.metrics;
        assert_eq!([metrics[0].total, metrics[1].total], [10, 70]);
        assert_eq!([metrics[0].rows, metrics[1].rows, metrics[2].rows], [4, 2, 0]);
        assert!(metrics[2].too_large && profile.meta.has_times);
        assert_eq!(profile.meta.rows, 4);
    }

    #[test]
    fn memory_counts_once_when_samples_come_back() {
        let build = |budget: Budget| {
            let options = LoadOptions { budget, ..LoadOptions::default() };
            let mut builder = ProfileBuilder::new("test", options);
            builder.metric("samples", "count");
            let frames: Vec<_> = (0..100).map(|number| builder.named_frame(&number.to_string())).collect();
            let mut samples = builder.detach_samples().unwrap();
            for number in 0..50_000 {
                let path = [number % 100, number / 100 % 100, number / 10_000].map(|at| frames[at]);
                add(&mut samples, &path.repeat(20), &[1]);
            }
            builder.attach_samples(samples);
            builder
        };
        let builder = build(Budget::UNLIMITED);
        let size = builder.tables.growth() + builder.rows.size();
        let limit = Budget::of(size as u64 * 3 / 2);
        build(limit.clone()).finish().unwrap();
        assert!(!limit.is_exceeded());
    }

    #[test]
    fn shared_stacks_are_not_detached() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.share_tables(SharedTables::default());
        assert!(builder.detach_samples().is_none());
    }
}
