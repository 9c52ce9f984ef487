//! Loads the old side of `--base` and adds it to the loaded profile.

use anyhow::{Result, bail};

use crate::cli::input::request::{explain, metric_hint};
use crate::cli::options::args::{InputArgs, ViewArgs, note};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::match_args::matched_note;
use crate::cli::terminal::failure::hinted;
use crate::compare::{BaseError, BaseOptions, add_base};
use crate::load::{Error, Loaded, Request};
use crate::profile::{LoadOptions, Profile};
use crate::transform::MatchOptions;
use crate::view::BaseSide;

impl BaseArgs {
    /// Loads the old side, if there is one, and adds it to the loaded profile as its second metric.
    pub(crate) fn add_old_side(
        &self,
        loaded: Loaded,
        args: &ViewArgs,
        needs: LoadOptions,
    ) -> Result<(Loaded, Option<BaseSide>)> {
        if self.base.is_empty() {
            return Ok((loaded, None));
        }
        let [metric] = loaded.metrics[..] else {
            bail!("--base compares one metric, but --metric was given several times");
        };
        let name = loaded.profile.meta.metrics[metric].name.clone();
        let input = InputArgs { metrics: vec![name], ..args.input.clone() };
        let request =
            input.request(self.base.clone(), args.many.combine(), needs, args.filters.all_frames)?;
        let old = request.load().map_err(|error| self.not_loaded(error, &request, &loaded.profile))?;
        let options = BaseOptions {
            by: args.node.by(),
            matching: self.matching.options(MatchOptions::default().least_share)?,
            all_matches: args.input.verbose,
            normalize: self.normalize,
            keep: needs,
        };
        let (loaded, base) = add_base(loaded, old, &options).map_err(|error| self.explain(error))?;
        note(matched_note(&base.matched).as_slice(), &args.input);
        Ok((loaded, Some(base)))
    }

    /// Explains why the old side cannot be loaded. It may lack the metric of the new side.
    fn not_loaded(&self, error: Error, request: &Request, new: &Profile) -> anyhow::Error {
        let Error::UnknownMetric { name, known } = &error else { return explain(error, request) };
        let common = known.iter().filter(|metric| new.meta.metric_named(metric).is_some()).cloned();
        let hint = metric_hint(known, &common.collect::<Vec<String>>());
        hinted(format!("--base {}: no metric named {name}", self.base.join(" ")), hint)
    }

    fn explain(&self, error: BaseError) -> anyhow::Error {
        let message = error.to_string();
        match error {
            BaseError::Given(error) => self.matching.explain(&error),
            BaseError::Align(_) => {
                hinted(message, format!("--base {} must record the same kind of values", self.base.join(" ")))
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
}
