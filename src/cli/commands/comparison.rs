//! The comparison that explains a view with an old side: what `prof diff` would say of the same inputs.

use anyhow::Result;

use crate::cli::commands::show::{Show, needs};
use crate::cli::options::args::StackArgs;
use crate::compare::{CompareOptions, compare};
use crate::load::Sides;
use crate::output::summarise_causes;
use crate::profile::LoadOptions;
use crate::report::Diff;
use crate::stats::TestOptions;
use crate::view::DiffOptions;

/// Compares the runs of both sides, which the view shows added up. `None` if they cannot be tested.
pub(crate) fn comparison(show: &Show<'_>, sides: Sides) -> Option<Diff> {
    compared(show, sides).ok()
}

fn compared(show: &Show<'_>, sides: Sides) -> Result<Diff> {
    let StackArgs { base, filters: given, .. } = show.stacks;
    let filters = show.filters();
    // Labels may show that only the mix of work changed.
    let of_view = LoadOptions { labels: show.needs.labels, ..LoadOptions::LEAST };
    let needs = needs(&filters, &show.by).or(of_view);
    let matching = base.matching.options(TestOptions::default().min_tested)?;
    let options = CompareOptions { by: show.by.clone(), matching, keep: needs, ..CompareOptions::default() };
    let compared = compare(sides, &filters, &options)?;
    let usual = compared.options();
    let normalize = base.normalize.unwrap_or(usual.test.normalize);
    let test = TestOptions { normalize, ..usual.test.clone() };
    let mut diff = compared.report(&DiffOptions { test, ..usual })?;
    diff.options = [given.folds_repeated(), base.matching.repeated()].concat();
    summarise_causes(&mut diff);
    Ok(diff)
}
