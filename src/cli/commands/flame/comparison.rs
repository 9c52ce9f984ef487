//! The comparison behind a page with an old side: what `prof diff` would say of the same inputs.

use anyhow::Result;

use crate::cli::commands::show::{Show, needs};
use crate::cli::input::paths::names;
use crate::cli::options::base::BaseArgs;
use crate::compare::{CompareOptions, compare};
use crate::load::{Combine, Request, sides};
use crate::report::Diff;
use crate::stats::{Normalization, TestOptions};
use crate::view::DiffOptions;

/// Compares the runs of both sides, which the page shows added up. `None` if they cannot be tested, or not be read once
/// more.
pub(super) fn comparison(show: &Show<'_>) -> Option<Diff> {
    let base = show.base;
    let inputs = names(&show.input.profiles).ok()?;
    let is_piped = inputs.iter().chain(&base.base).any(|name| name == "-");
    if !base.is_given() || is_piped || show.many.combine().chooses() {
        return None;
    }
    compared(show, base, inputs).ok()
}

fn compared(show: &Show<'_>, base: &BaseArgs, inputs: Vec<String>) -> Result<Diff> {
    let filters = show.filters.filters().focused(show.focus_part);
    let needs = needs(&filters, &show.by);
    let combine = Combine { sampling: show.many.combine().sampling, ..Combine::default() };
    let old = show.input.request(base.base.clone(), combine, needs.clone(), show.filters.all_frames)?;
    let sides = sides(&old, Some(&Request { inputs, ..old.clone() }))?;
    let matching = base.matching.options(TestOptions::default().min_tested)?;
    let options = CompareOptions { by: show.by.clone(), matching, keep: needs, ..CompareOptions::default() };
    let compared = compare(sides, &filters, &options)?;
    let usual = compared.options();
    let normalize = match base.normalize {
        Normalization::Run => usual.test.normalize,
        given => given,
    };
    let test = TestOptions { normalize, ..usual.test.clone() };
    Ok(compared.report(&DiffOptions { test, ..usual })?)
}
