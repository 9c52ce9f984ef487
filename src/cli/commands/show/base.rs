//! Loads what a view shows with the old side of `--base`, whose values are a second column of the profile.

use anyhow::bail;

use crate::cli::commands::show::Show;
use crate::cli::input::request::{explain as explain_load, metric_hint};
use crate::cli::options::args::{StackArgs, note};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::match_args::matched_note;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::compare::{BaseError, BaseOptions, add_base};
use crate::load::{Error, Loaded, Request, Sides, sides_of_runs};
use crate::profile::{LoadOptions, Profile};
use crate::stats::Normalization;
use crate::transform::MatchOptions;

impl Show<'_> {
    /// Loads both sides. If asked for `sides`, sets them to the runs of both, which are read only once.
    pub(super) fn load_with_base(
        &self,
        request: &Request,
        keep: LoadOptions,
        sides: Option<&mut Option<Sides>>,
    ) -> anyhow::Result<Loaded> {
        let StackArgs { input, base, .. } = self.stacks;
        let explained = |error| explain_load(error, request);
        // Servers record both sides at the same time.
        request.fetch(&[&request.inputs, &base.base]).map_err(explained)?;
        let mut old_request = Request { inputs: base.base.clone(), ..request.clone() };
        // Runs that are chosen by their weight are no random sample, so they cannot be tested.
        let sides = sides.filter(|_| !request.combine.chooses());
        let (new, old) = request.read_with_base(&old_request, sides.is_some()).map_err(explained)?;
        if let (Some(sides), Ok(old)) = (sides, &old) {
            *sides = sides_of_runs((&old_request, old), (request, &new)).ok();
        }
        let new = request.merge(new).map_err(explained)?;
        self.check(&new)?;
        if let Some(keep) = self.keep {
            keep.remember_metrics(&new);
        }
        let mut clock = Clock::new(input.verbose);
        let [metric] = new.metrics[..] else {
            bail!("--base compares one metric, but --metric was given several times");
        };
        old_request.metrics = vec![new.profile.meta.metrics[metric].name.clone()];
        let old = old.and_then(|read| old_request.merge(read));
        let old = old.map_err(|error| not_loaded(error, &old_request, &new.profile))?;
        let options = BaseOptions {
            by: self.by.clone(),
            matching: base.matching.options(MatchOptions::default().least_share)?,
            all_matches: input.verbose,
            normalize: base.normalize.unwrap_or(Normalization::Run),
            keep,
        };
        let both = add_base(new, old, &options).map_err(|error| explain(error, base))?;
        let matched = both.base.as_ref().and_then(|base| matched_note(&base.about.matched));
        note(matched.as_slice(), input);
        clock.step("add the old side");
        Ok(both)
    }
}

/// Explains why the old side cannot be loaded. It may lack the metric of the new side.
fn not_loaded(error: Error, old: &Request, new: &Profile) -> anyhow::Error {
    let Error::UnknownMetric { name, known } = &error else { return explain_load(error, old) };
    let common = known.iter().filter(|metric| new.meta.metric_named(metric).is_some()).cloned();
    let hint = metric_hint(known, &common.collect::<Vec<String>>());
    hinted(format!("--base {}: no metric named {name}", old.inputs.join(" ")), hint)
}

/// Explains why the sides cannot be compared.
fn explain(error: BaseError, base: &BaseArgs) -> anyhow::Error {
    let message = error.to_string();
    match error {
        BaseError::Given(error) => base.matching.explain(&error),
        BaseError::Align(_) => {
            hinted(message, format!("--base {} must record the same kind of values", base.base.join(" ")))
        }
        BaseError::NeedsStacks | BaseError::NoCore(_) => {
            let hint = "--normalize total compares shares, --normalize none the recorded values";
            hinted(message, hint)
        }
        BaseError::TooLarge(_) | BaseError::NoSamples => {
            hinted(message, "--normalize none compares the recorded values")
        }
        error => anyhow::Error::new(error),
    }
}
