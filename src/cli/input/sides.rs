//! Loads the profiles of the two sides of a comparison, and finds the metric to compare.

use anyhow::{Context, Result};

use crate::cli::input::loader::LoadedInputs;
use crate::cli::input::metrics::{
    MetricKey, check_metrics, metrics_wanted, note_of_default, refuse_too_large,
};
use crate::cli::input::reading::{Reading, skipped_text};
use crate::cli::options::args::InputArgs;
use crate::cli::options::many::SamplingArgs;
use crate::cli::terminal::failure::hinted;
use crate::profile::{LoadOptions, Meta, Profile};
use crate::report::Selection;
use crate::transform::{AlignError, SideProfile};
use crate::view::is_sampled_heap;

/// The profiles of both sides.
pub(crate) struct Sides {
    /// Those before the change.
    pub(crate) old: SideInputs,
    /// Those after it.
    pub(crate) new: SideInputs,
}

/// The profiles of one side.
pub(crate) struct SideInputs {
    /// The profiles, never added up.
    pub(crate) inputs: Vec<SideInput>,
    /// How they were chosen, if not all were used.
    pub(crate) chosen: Option<Selection>,
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

/// Options for reading the sides.
#[derive(Clone, Copy)]
pub(crate) struct SideReader<'a> {
    pub(crate) args: &'a InputArgs,
    pub(crate) choice: &'a SamplingArgs,
    pub(crate) all_frames: bool,
}

impl SideReader<'_> {
    /// Loads both sides and finds the metric in all profiles. Without new inputs, the old one has to hold both
    /// sides, as two values per line.
    pub(crate) fn read(self, old: &[String], new: &[String], needs: LoadOptions) -> Result<Sides> {
        // A pipe cannot be read a second time with labels.
        let piped = old.iter().chain(new).any(|name| name == "-");
        let needs = needs.or(LoadOptions { labels: piped, times: false, ..LoadOptions::LEAST });
        let sides = self.read_with(old, new, needs)?;
        let is_heap = |input: &SideInput| is_sampled_heap(&input.profile, input.metric);
        if !needs.labels && sides.all().all(is_heap) {
            // In heap profiles the size of an allocation is a label; without it, all sizes merge into one row.
            return self.read_with(old, new, LoadOptions { labels: true, ..needs });
        }
        Ok(sides)
    }

    fn read_with(self, old: &[String], new: &[String], needs: LoadOptions) -> Result<Sides> {
        let mut old_read = self.read_side(old, needs)?;
        if new.is_empty() {
            return two_metrics(&old_read.profiles);
        }
        let new_read = self.read_side(new, needs)?;
        let metas: Vec<&Meta> =
            old_read.profiles.iter().chain(&new_read.profiles).map(|(_, profile)| &profile.meta).collect();
        let wanted = metrics_wanted(&self.args.metrics, &metas)?;
        let note = note_of_default(&self.args.metrics, &metas);
        old_read.profiles[0].1.meta.warnings.extend(note);
        let [wanted] = &wanted[..] else {
            let message = "diff compares one metric, but --metric was given several times";
            return Err(hinted(message, "run diff once for each metric"));
        };
        Ok(Sides { old: old_read.side(wanted)?, new: new_read.side(wanted)? })
    }

    fn read_side(self, names: &[String], needs: LoadOptions) -> Result<ReadSide> {
        let options = self.args.within_memory(needs);
        let reading = Reading { args: self.args, names, options, all_frames: self.all_frames, each: true };
        let (paths, LoadedInputs { metas, skipped, parts }) =
            reading.read(|count| self.choice.order(count))?;
        let mut profiles = Vec::new();
        for ((number, _), part) in metas.iter().zip(parts) {
            profiles.push((paths[*number].name.clone(), part.into_profile()?));
        }
        let metric_of = |profile: &Profile| {
            let wanted = metrics_wanted(&self.args.metrics, &[&profile.meta]).ok()?;
            wanted.first()?.place_in(&profile.meta)
        };
        let metrics = profiles.iter().filter_map(|(_, profile)| Some((profile, metric_of(profile)?)));
        let unresolved = self.args.symbols.warning(metrics);
        let warnings = &mut profiles[0].1.meta.warnings;
        warnings.extend(unresolved);
        warnings.extend((!skipped.is_empty()).then(|| skipped_text(skipped.len())));
        let chosen = self.choice.describe(profiles.len(), paths.len() - skipped.len());
        Ok(ReadSide { profiles, chosen })
    }
}

/// The profiles of a side before their metric is found; at least one.
struct ReadSide {
    profiles: Vec<(String, Profile)>,
    chosen: Option<Selection>,
}

impl ReadSide {
    fn side(self, wanted: &MetricKey) -> Result<SideInputs> {
        let mut inputs = Vec::new();
        for (name, profile) in self.profiles {
            check_metrics(&profile.meta, &name, std::slice::from_ref(wanted))?;
            let metric = wanted.place_in(&profile.meta).context("a metric was lost")?;
            refuse_too_large(&profile, metric)?;
            inputs.push(SideInput { name, profile, metric });
        }
        Ok(SideInputs { inputs, chosen: self.chosen })
    }
}

impl SideInputs {
    /// The profiles of the side, each with the number of its metric.
    pub(crate) fn profiles(&self) -> Vec<SideProfile<'_>> {
        self.inputs.iter().map(|input| (&input.profile, input.metric)).collect()
    }
}

impl Sides {
    /// All profiles, old ones first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SideInput> {
        self.old.inputs.iter().chain(&self.new.inputs)
    }

    /// Explains which profiles cannot be compared.
    pub(crate) fn explain(&self, error: &AlignError) -> anyhow::Error {
        let hint = match error {
            AlignError::Periods(_, _, number) => {
                let names: Vec<&str> = self.all().map(|input| input.name.as_str()).collect();
                format!(
                    "record {} and {} with the same settings",
                    names.first().copied().unwrap_or_default(),
                    names.get(*number).copied().unwrap_or_default()
                )
            }
            AlignError::Merge(_) => "choose another metric with --metric".to_string(),
            AlignError::Overflow(_) => "choose another metric with --metric, or use fewer inputs".to_string(),
        };
        hinted(error.to_string(), hint)
    }
}

/// Splits a file of collapsed stacks with two values per line into the two sides.
fn two_metrics(read: &[(String, Profile)]) -> Result<Sides> {
    if let [(name, profile)] = read {
        let metrics = &profile.meta.metrics;
        if let (Some(old), Some(new)) = (profile.meta.metric_named("old"), profile.meta.metric_named("new"))
            && metrics.len() == 2
        {
            let side = |metric: usize| -> Result<SideInputs> {
                refuse_too_large(profile, metric)?;
                let mut profile = profile.clone();
                // The metric has to have the same name on both sides.
                profile.meta.metrics[metric].name = "samples".to_string();
                Ok(SideInputs {
                    inputs: vec![SideInput { name: name.clone(), profile, metric }],
                    chosen: None,
                })
            };
            return Ok(Sides { old: side(old)?, new: side(new)? });
        }
    }
    let name = read.first().map(|(name, _)| name.as_str()).unwrap_or_default();
    let hint =
        format!("prof diff {name} NEW; a single file has to hold collapsed stacks with two values per line");
    Err(hinted("diff: the new side is missing", hint))
}
