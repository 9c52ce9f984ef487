//! Loads the old side of `--base` and adds it to the loaded profile.

use anyhow::{Result, bail};

use crate::cli::options::args::{InputArgs, ViewArgs, warn};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::match_args::{matched, matched_note};
use crate::cli::terminal::failure::hinted;
use crate::load::Loaded;
use crate::profile::{LoadOptions, Profile};
use crate::report::{DiffSide, Rescaling};
use crate::stats::Normalization;
use crate::transform::{ProfileMetric, align, artefacts, fold_leaves};
use crate::tree::By;
use crate::view::{BaseSide, DiffOptions, DiffSides, align_sides, diff, recording};

impl BaseArgs {
    /// Loads the old side and adds it to the loaded profile as its second metric.
    pub(crate) fn add_old_side(
        &self,
        loaded: &mut Loaded,
        args: &ViewArgs,
        needs: LoadOptions,
    ) -> Result<Option<BaseSide>> {
        if self.base.is_empty() {
            return Ok(None);
        }
        let [metric] = loaded.metrics[..] else {
            bail!("--base compares one metric, but --metric was given several times");
        };
        let name = loaded.profile.meta.metrics[metric].name.clone();
        let input = InputArgs { profiles: self.base.clone(), metrics: vec![name], ..args.input.clone() };
        let mut old = input.load(&args.many, needs, args.filters.all_frames)?;
        let old_metric = old.metrics[0];
        let both = ((&old.profile, old_metric), (&loaded.profile, metric));
        let (renamed_old, renamed_new, matching) = self.matching.apply(both.0, both.1, &args.node.by())?;
        (old.profile, loaded.profile) = (renamed_old, renamed_new);
        let matched = matched(&matching, args.input.verbose);
        warn("note", matched_note(&matched).as_slice(), &args.input);
        let new = &loaded.profile;
        let parts = [(new, metric), (&old.profile, old_metric)];
        let parts = parts.map(|(profile, metric)| ProfileMetric { profile, metric, extra: None });
        let recording = recording(&old.profile, old_metric);
        let mut whole = align(&parts, needs).map_err(|error| {
            hinted(
                error.to_string(),
                format!("--base {} must record the same kind of values", self.base.join(" ")),
            )
        })?;
        let ratio = self.ratio((&old.profile, old_metric), (new, metric))?;
        // Differences of scaled sums have to fit 64 bits too.
        let scaled = old.profile.meta.metrics[old_metric].total as f64 * ratio;
        if scaled + new.meta.metrics[metric].total as f64 >= i64::MAX as f64 {
            let message = format!("the old side does not fit 64 bits when rescaled by {ratio:e}");
            return Err(hinted(message, "--normalize none compares the recorded values"));
        }
        // The unit may have become finer, which multiplies all values by the same integer.
        let (made, recorded) = (&mut whole.meta.metrics[0], &new.meta.metrics[metric]);
        made.idle = recorded.idle * made.total.checked_div(recorded.total).unwrap_or(1);
        whole.meta.processors = new.meta.processors;
        whole.meta.duration_ns = new.meta.duration_ns;
        whole.meta.time_ns = new.meta.time_ns;
        whole.meta.profiles = new.meta.profiles;
        let base = BaseSide {
            inputs: old.names,
            combined: old.combined,
            metric: 1,
            recording,
            normalize: Rescaling { method: self.method(), ratio },
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

    /// The factor that rescales sums of the old side.
    fn ratio(&self, old: (&Profile, usize), new: (&Profile, usize)) -> Result<f64> {
        let total = |(profile, metric): (&Profile, usize)| profile.meta.metrics[metric].total;
        let ratio = match self.normalize {
            Normalization::Run => 1.0,
            Normalization::Per { old, new } => new / old,
            Normalization::Total => total(new) as f64 / total(old) as f64,
            Normalization::Core if new.0.calls.is_some() => {
                let message = "--normalize core needs samples of stacks to find the unchanged code";
                let hint = "--normalize total compares shares, --normalize none the recorded values";
                return Err(hinted(message, hint));
            }
            Normalization::Core => {
                let (whole, size) = align_sides(&[old, new], LoadOptions::default())?;
                let side = |side| DiffSide { profiles: 1, total: total(side), ..DiffSide::default() };
                let sides = DiffSides::new(side(old), side(new), size);
                let found =
                    diff(&fold_leaves(&whole, &artefacts(&whole)).0, sides, &DiffOptions::new(By::Function))?;
                if let Some(why) = found.about.untestable {
                    let hint = "--normalize total compares shares, --normalize none the recorded values";
                    return Err(hinted(
                        format!("--normalize core cannot find the unchanged code: {why}"),
                        hint,
                    ));
                }
                found.header.normalize.map_or(1.0, |normalize| normalize.ratio)
            }
        };
        if !(ratio.is_finite() && ratio > 0.0) {
            let hint = "--normalize none compares the recorded values";
            return Err(hinted("a side without samples cannot be rescaled", hint));
        }
        Ok(ratio)
    }
}
