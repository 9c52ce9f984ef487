//! A loaded profile after its filters: what a view counts, and what its report says about where that came from.

use crate::filter::{FilterError, FilterKind, Filtered, Filters};
use crate::load::Loaded;
use crate::profile::Profile;
use crate::report::{Combined, Report, WhatIf};
use crate::tree::By;
use crate::view::{Scope, recording};

/// A loaded and filtered profile, ready for a view.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The profile. Patterns that match nothing are among its warnings.
    pub profile: Profile,
    /// What to show of it.
    pub scope: Scope,
    /// Notes on patterns that were not used as typed.
    pub notes: Vec<String>,
    inputs: Vec<String>,
    combined: Option<Combined>,
    filters: Vec<String>,
    emptied: i64,
    what_if: Option<WhatIf>,
    /// How many samples were recorded, if what they cost was changed.
    samples: Option<i64>,
}

impl Loaded {
    /// Applies filters, for a view that groups frames by `by`.
    pub fn filtered(self, filters: &Filters, by: By) -> Result<Prepared, FilterError> {
        let Loaded { profile, names, combined, metrics, mut base, .. } = self;
        if let Some(base) = &mut base {
            base.about.inputs.iter_mut().for_each(|name| *name = filters.input(name));
        }
        let is_changed = !filters.texts(FilterKind::WhatIf).is_empty();
        let recorded_samples =
            metrics.first().filter(|_| is_changed).map(|&metric| recording(&profile, metric).samples);
        let filters = filters.clone().comparing(base.as_ref().map(|base| base.metric));
        let Filtered { profile, filters: typed, focus, callers, mut notes, emptied, recorded } =
            filters.apply_by(profile, &by)?;
        let shown = metrics.iter().copied().chain(base.as_ref().map(|base| base.metric));
        if let Some(metric) =
            shown.map(|metric| &profile.meta.metrics[metric]).find(|metric| metric.too_large)
        {
            return Err(FilterError::too_large(&metric.name));
        }
        if base.is_none() && profile.calls.is_none() && !filters.is_empty() {
            notes.extend(nothing_left(&profile, &metrics));
        }
        let emptied = metrics.first().and_then(|&metric| emptied.get(metric)).copied().unwrap_or_default();
        let what_if =
            recorded.zip(metrics.first()).map(|(recorded, &metric)| WhatIf { before: recorded[metric] });
        let samples = recorded_samples.flatten();
        let scope = Scope { metrics, by, focus, callers, base, highlight: None };
        let inputs = names.iter().map(|name| filters.input(name)).collect();
        Ok(Prepared { profile, scope, notes, inputs, combined, filters: typed, emptied, what_if, samples })
    }
}

impl Prepared {
    /// The report of a view of this profile, which also says what was loaded and filtered.
    pub fn report(&self, found: impl Into<Report>) -> Report {
        let mut report = found.into();
        if let Some(header) = report.header_mut() {
            header.inputs.clone_from(&self.inputs);
            header.combined.clone_from(&self.combined);
            header.filters.clone_from(&self.filters);
            header.emptied = self.emptied;
            header.what_if.clone_from(&self.what_if);
            // Values are other ones now, and no longer say how many samples there were.
            if self.what_if.is_some() {
                header.recording.samples = self.samples;
            }
        }
        report
    }
}

/// A note that the filters removed all values of the metrics to show, with the metrics that still have values. A thread
/// that only waits has no CPU time, for example.
fn nothing_left(profile: &Profile, shown: &[usize]) -> Option<String> {
    let has_values = |metric: usize| profile.samples.values[metric].iter().any(|&value| value != 0);
    if shown.iter().any(|&metric| has_values(metric)) {
        return None;
    }
    let name = |metric: usize| profile.meta.metrics[metric].name.as_str();
    let none: Vec<&str> = shown.iter().map(|&metric| name(metric)).collect();
    let others: Vec<&str> =
        (0..profile.meta.metrics.len()).filter(|&metric| has_values(metric)).map(name).collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(", only of {} (choose with --metric)", others.join(", "))
    };
    Some(format!("no values of {} are left after filtering{others}", none.join(" or ")))
}
