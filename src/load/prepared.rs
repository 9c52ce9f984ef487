//! A loaded profile after its filters: what a view counts, and what its report says about where that came from.

use crate::filter::{FilterError, Filtered, Filters};
use crate::load::Loaded;
use crate::profile::Profile;
use crate::report::{Combined, Report};
use crate::tree::By;
use crate::view::Scope;

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
}

impl Loaded {
    /// Applies filters, for a view that groups frames by `by`.
    pub fn filtered(self, filters: &Filters, by: By) -> Result<Prepared, FilterError> {
        let Loaded { profile, names, combined, metrics, base, .. } = self;
        let Filtered { profile, filters, focus, callers, notes, emptied } = filters.apply_by(profile, &by)?;
        let emptied = metrics.first().and_then(|&metric| emptied.get(metric)).copied().unwrap_or_default();
        let scope = Scope { metrics, by, focus, callers, base, highlight: None };
        Ok(Prepared { profile, scope, notes, inputs: names, combined, filters, emptied })
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
        }
        report
    }
}
