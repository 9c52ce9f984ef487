//! Loads the old side of `--base` and adds it to the loaded profile.

use anyhow::bail;

use crate::cli::input::request::{explain, metric_hint};
use crate::cli::options::args::{InputArgs, note};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::match_args::matched_note;
use crate::cli::terminal::failure::hinted;
use crate::compare::{BaseError, BaseOptions, add_base};
use crate::load::{Error, Loaded, Request, Unmerged};
use crate::profile::{LoadOptions, Profile};
use crate::transform::MatchOptions;
use crate::tree::By;

impl BaseArgs {
    /// The request for the old side, which is read as the new one.
    pub(crate) fn request(&self, new: &Request) -> Request {
        Request { inputs: self.base.clone(), ..new.clone() }
    }

    /// Adds the old side, which was read, to the new one as a second metric.
    pub(crate) fn add_old_side(
        &self,
        loaded: Loaded,
        old: Result<Unmerged, Error>,
        new: &Request,
        keep: LoadOptions,
        by: &By,
        input: &InputArgs,
    ) -> anyhow::Result<Loaded> {
        let [metric] = loaded.metrics[..] else {
            bail!("--base compares one metric, but --metric was given several times");
        };
        let metrics = vec![loaded.profile.meta.metrics[metric].name.clone()];
        let request = Request { metrics, ..self.request(new) };
        let old = old.and_then(|read| request.merge(read));
        let old = old.map_err(|error| self.not_loaded(error, &request, &loaded.profile))?;
        let options = BaseOptions {
            by: by.clone(),
            matching: self.matching.options(MatchOptions::default().least_share)?,
            all_matches: input.verbose,
            normalize: self.normalize,
            keep,
        };
        let loaded = add_base(loaded, old, &options).map_err(|error| self.explain(error))?;
        let matched = loaded.base.as_ref().and_then(|base| matched_note(&base.about.matched));
        note(matched.as_slice(), input);
        Ok(loaded)
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
