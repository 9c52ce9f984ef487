//! `--base OLD`: an old side beside what a view shows.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, ValueHint};

use crate::cli::args::{InputArgs, ViewArgs, normalize};
use crate::cli::failure::hinted;
use crate::cli::inputs::{Loaded, load};
use crate::cli::match_args::{MatchArgs, matched, matched_note};
use crate::cli::run::warn;
use crate::profile::{LoadOptions, Profile};
use crate::report::{self, About, DiffSide};
use crate::stats::Normalization;
use crate::transform::{ProfileMetric, align, artefacts, fold_leaves};
use crate::tree::By;
use crate::view::{BaseSide, DiffOptions, DiffSides, Sort, about, align_sides, diff};

/// What to show beside.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct BaseArgs {
    /// Show what changed since these profiles (added up, where there are several)
    #[arg(long, value_name = "OLD", aliases = ["diff-base", "diff_base"], value_hint = ValueHint::AnyPath)]
    base: Vec<String>,
    /// What makes the old side comparable: core (unchanged code), total, per=OLD,NEW (work done), none
    #[arg(long, value_name = "HOW", default_value = "none", requires = "base", value_parser = normalize)]
    normalize: Normalization,
    #[command(flatten)]
    matching: MatchArgs,
}

impl BaseArgs {
    /// Whether there is an old side.
    pub(crate) fn is_given(&self) -> bool {
        !self.base.is_empty()
    }

    /// The files of the old side.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.base.iter().map(PathBuf::from).collect()
    }

    /// The order asked for, or else `default`. One that compares two sides is refused where there is
    /// only one.
    pub(crate) fn order(&self, asked: Option<&Sort>, default: Sort) -> Result<Sort> {
        if !self.is_given() && asked.is_some_and(Sort::compares_sides) {
            let hint = "--base OLD gives the old side";
            return Err(hinted("--sort: delta, old and new compare two sides, and there is one", hint));
        }
        Ok(asked.cloned().unwrap_or(default))
    }

    /// Lays the old side beside the profile that was loaded, as its second metric.
    pub(crate) fn lay_beside(
        &self,
        loaded: &mut Loaded,
        args: &ViewArgs,
        needs: LoadOptions,
    ) -> Result<Option<BaseSide>> {
        if self.base.is_empty() {
            return Ok(None);
        }
        let [metric] = loaded.metrics[..] else {
            bail!("--base compares one metric, and --metric was given several times");
        };
        let name = loaded.profile.meta.metrics[metric].name.clone();
        let input = InputArgs { profiles: self.base.clone(), metrics: vec![name], ..args.input.clone() };
        let mut old = load(&input, &args.many, needs, args.filters.all_frames)?;
        let old_metric = old.metrics[0];
        let both = ((&old.profile, old_metric), (&loaded.profile, metric));
        let (renamed_old, renamed_new, matching) = self.matching.apply(both.0, both.1, &args.node.by())?;
        (old.profile, loaded.profile) = (renamed_old, renamed_new);
        let matched = matched(&matching, args.input.verbose);
        warn("note", matched_note(&matched).as_slice(), &args.input);
        let new = &loaded.profile;
        let parts = [(new, metric), (&old.profile, old_metric)];
        let parts = parts.map(|(profile, metric)| ProfileMetric { profile, metric, extra: None });
        let recording = About { combined: old.combined, ..about(&old.profile, old_metric) };
        let mut whole = align(&parts, needs).map_err(|error| {
            hinted(error.to_string(), format!("--base {} has to match", self.base.join(" ")))
        })?;
        let ratio = self.ratio((&old.profile, old_metric), (new, metric))?;
        // Differences are of scaled sums too, and have to fit like those of the sums themselves.
        let scaled = old.profile.meta.metrics[old_metric].total as f64 * ratio;
        if scaled + new.meta.metrics[metric].total as f64 >= i64::MAX as f64 {
            let message = format!("the old side, multiplied by {ratio:e}, does not fit 64 bits");
            return Err(hinted(message, "--normalize none compares the values as they are"));
        }
        // Units may have become finer, by the same whole number for all values.
        let (made, recorded) = (&mut whole.meta.metrics[0], &new.meta.metrics[metric]);
        made.idle = recorded.idle * made.total.checked_div(recorded.total).unwrap_or(1);
        whole.meta.processors = new.meta.processors;
        whole.meta.duration_ns = new.meta.duration_ns;
        whole.meta.time_ns = new.meta.time_ns;
        whole.meta.profiles = new.meta.profiles;
        let base = BaseSide {
            inputs: old.names,
            metric: 1,
            recording,
            normalize: report::Normalize { method: self.method(), ratio },
            matched,
        };
        (loaded.profile, loaded.metrics) = (whole, vec![0]);
        Ok(Some(base))
    }

    fn method(&self) -> &'static str {
        match self.normalize {
            Normalization::Core => "core",
            Normalization::Total => "total",
            Normalization::Per { .. } => "per",
            Normalization::Run => "none",
        }
    }

    /// What sums of the old side are multiplied by.
    fn ratio(&self, old: (&Profile, usize), new: (&Profile, usize)) -> Result<f64> {
        let total = |(profile, metric): (&Profile, usize)| profile.meta.metrics[metric].total;
        let ratio = match self.normalize {
            Normalization::Run => 1.0,
            Normalization::Per { old, new } => new / old,
            Normalization::Total => total(new) as f64 / total(old) as f64,
            Normalization::Core if new.0.calls.is_some() => {
                let message = "--normalize core: what code did not change is told from samples of stacks";
                let hint = "--normalize total compares shares, none the values as they are";
                return Err(hinted(message, hint));
            }
            Normalization::Core => {
                let (whole, size) = align_sides(&[old, new], LoadOptions::default())?;
                let side = |side| DiffSide { profiles: 1, total: total(side), ..DiffSide::default() };
                let sides = DiffSides { old: side(old), new: side(new), size };
                let found =
                    diff(&fold_leaves(&whole, &artefacts(&whole)).0, sides, &DiffOptions::new(By::Function))?;
                if let Some(why) = found.about.untestable {
                    let hint = "--normalize total compares shares, none the values as they are";
                    return Err(hinted(format!("what code did not change cannot be told: {why}"), hint));
                }
                found.header.normalize.map_or(1.0, |normalize| normalize.ratio)
            }
        };
        if !(ratio.is_finite() && ratio > 0.0) {
            let hint = "--normalize none compares the values as they are";
            return Err(hinted("a side without samples cannot be made comparable", hint));
        }
        Ok(ratio)
    }
}
