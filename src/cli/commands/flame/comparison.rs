//! The comparison behind a page with an old side: what `prof diff` would say of the same inputs.

use anyhow::Result;

use crate::cli::commands::show::{Show, needs};
use crate::cli::input::paths::names;
use crate::cli::options::args::StackArgs;
use crate::compare::{CompareOptions, compare};
use crate::load::{Combine, Request, sides};
use crate::report::Diff;
use crate::stats::{Normalization, TestOptions};
use crate::view::DiffOptions;

/// Compares the runs of both sides, which the page shows added up. `None` if they cannot be tested, or not be read once
/// more.
pub(super) fn comparison(show: &Show<'_>) -> Option<Diff> {
    let StackArgs { input, many, base, .. } = show.stacks;
    let inputs = names(&input.profiles).ok()?;
    let is_piped = inputs.iter().chain(&base.base).any(|name| name == "-");
    if !base.is_given() || is_piped || many.combine().chooses() {
        return None;
    }
    compared(show, inputs).ok()
}

fn compared(show: &Show<'_>, inputs: Vec<String>) -> Result<Diff> {
    let StackArgs { input, many, base, .. } = show.stacks;
    let filters = show.filters();
    let needs = needs(&filters, &show.by);
    let combine = Combine { sampling: many.combine().sampling, ..Combine::default() };
    let all_frames = show.stacks.filters.all_frames;
    let old = input.request(base.base.clone(), combine, needs.clone(), all_frames)?;
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
