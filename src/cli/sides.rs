//! The two sides of a comparison: which profiles, and which of their metrics.

use anyhow::{Context, Result};

use crate::cli::args::ViewArgs;
use crate::cli::failure::hinted;
use crate::cli::inputs::{check_metrics, metrics_wanted, refuse_too_large};
use crate::cli::reading::{Read, read_all};
use crate::profile::{LoadOptions, Profile};
use crate::transform::DiffError;
use crate::view::is_sampled_heap;

/// The profiles of both sides.
pub(crate) struct Sides {
    /// Those before the change.
    pub(crate) old: Vec<SideInput>,
    /// Those after it.
    pub(crate) new: Vec<SideInput>,
}

/// One profile of a side.
pub(crate) struct SideInput {
    /// Its path.
    pub(crate) name: String,
    /// The profile.
    pub(crate) profile: Profile,
    /// The number of the metric that is compared.
    pub(crate) metric: usize,
}

impl Sides {
    /// Loads both sides and finds the metric in all profiles. Without new inputs the one file holds both
    /// sides, as two weights a line.
    pub(crate) fn load(args: &ViewArgs, old: &[String], new: &[String], needs: LoadOptions) -> Result<Sides> {
        let names: Vec<String> = [old, new].concat();
        // What comes through a pipe cannot be read again with its labels.
        let piped = names.iter().any(|name| name == "-");
        let needs = needs.or(LoadOptions { labels: piped, times: false, ..LoadOptions::LEAST });
        let sides = Self::load_with(args, old, new, needs)?;
        let is_heap = |input: &SideInput| is_sampled_heap(&input.profile, input.metric);
        if !needs.labels && sides.all().all(is_heap) {
            // The size of a heap's records is a label: without it records of all sizes are one row.
            return Self::load_with(args, old, new, LoadOptions { labels: true, ..needs });
        }
        Ok(sides)
    }

    fn load_with(args: &ViewArgs, old: &[String], new: &[String], needs: LoadOptions) -> Result<Sides> {
        let all_frames = args.filters.all_frames;
        let Read { profiles: old_read, skipped } = read_all(&args.input, old, needs, all_frames)?;
        if new.is_empty() {
            return two_metrics(&old_read);
        }
        let Read { profiles: new_read, skipped: also } = read_all(&args.input, new, needs, all_frames)?;
        let wanted = metrics_wanted(&args.input.metrics, &old_read[0].1.meta)?;
        let [wanted] = &wanted[..] else {
            let message = "diff compares one metric, and --metric was given several times";
            return Err(hinted(message, "run it once for each metric"));
        };
        let side = |read: Vec<(String, Profile)>, skipped: Option<String>| -> Result<Vec<SideInput>> {
            let mut side = Vec::new();
            for (name, mut profile) in read {
                check_metrics(&profile.meta, &name, std::slice::from_ref(wanted))?;
                let metric = wanted.place_in(&profile.meta).context("a metric got lost")?;
                refuse_too_large(&profile, metric)?;
                if side.is_empty() {
                    profile.meta.warnings.extend(skipped.clone());
                }
                side.push(SideInput { name, profile, metric });
            }
            Ok(side)
        };
        Ok(Sides { old: side(old_read, skipped)?, new: side(new_read, also)? })
    }

    /// All profiles, the old ones first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SideInput> {
        self.old.iter().chain(&self.new)
    }

    /// Says which profile does not fit.
    pub(crate) fn explain(&self, error: &DiffError) -> anyhow::Error {
        let hint = match error {
            DiffError::Periods(_, _, number) => {
                let names: Vec<&str> = self.all().map(|input| input.name.as_str()).collect();
                format!(
                    "{} and {}: record both sides alike",
                    names.first().copied().unwrap_or_default(),
                    names.get(*number).copied().unwrap_or_default()
                )
            }
            DiffError::Merge(_) => "choose another metric with --metric".to_string(),
            DiffError::Overflow(_) => "choose another metric with --metric, or fewer inputs".to_string(),
        };
        hinted(error.to_string(), hint)
    }
}

/// The sides of a file of collapsed stacks with two weights a line.
fn two_metrics(read: &[(String, Profile)]) -> Result<Sides> {
    if let [(name, profile)] = read {
        let metrics = &profile.meta.metrics;
        if let (Some(old), Some(new)) = (profile.meta.metric_named("old"), profile.meta.metric_named("new"))
            && metrics.len() == 2
        {
            let side = |metric: usize| -> Result<Vec<SideInput>> {
                refuse_too_large(profile, metric)?;
                let mut profile = profile.clone();
                // On either side they count the same.
                profile.meta.metrics[metric].name = "samples".to_string();
                Ok(vec![SideInput { name: name.clone(), profile, metric }])
            };
            return Ok(Sides { old: side(old)?, new: side(new)? });
        }
    }
    let name = read.first().map(|(name, _)| name.as_str()).unwrap_or_default();
    let hint =
        format!("prof diff {name} NEW; one file alone has to be collapsed stacks with two weights a line");
    Err(hinted("diff: one side is missing", hint))
}
