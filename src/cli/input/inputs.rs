//! Loads the inputs and combines them into one profile.

use anyhow::{Context, Result};

use crate::cli::input::loader::LoadedInputs;
use crate::cli::input::metrics::{
    MetricKey, check_metrics, default_metric, metrics_wanted, note_of_default, refuse_too_large,
};
use crate::cli::input::paths::names;
use crate::cli::input::reading::{MORE_MEMORY, Reading, skipped_text};
use crate::cli::options::args::InputArgs;
use crate::cli::options::many::ManyArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::profile::{LoadOptions, Meta, Metric, Profile};
use crate::report::{Combined, InfoInput};
use crate::transform::{MergeError, note_idle};

/// The profile to show, and the inputs it was made from.
pub(crate) struct Loaded {
    /// All inputs combined.
    pub(crate) profile: Profile,
    /// The inputs as they were given.
    pub(crate) names: Vec<String>,
    /// A description of each loaded input.
    pub(crate) inputs: Vec<InfoInput>,
    /// How several inputs were combined.
    pub(crate) combined: Option<Combined>,
    /// Numbers of the metrics to show.
    pub(crate) metrics: Vec<usize>,
    /// The number of the metric that is shown by default.
    pub(crate) default_metric: usize,
}

/// Loads the inputs, looks up names for their addresses, combines them, and finds the metrics to show. Frames
/// that a profile itself marks as to be dropped are dropped unless `all_frames` is set.
pub(crate) fn load(
    args: &InputArgs,
    many: &ManyArgs,
    options: LoadOptions,
    all_frames: bool,
) -> Result<Loaded> {
    let options = args.within_memory(options);
    let names = names(&args.profiles)?;
    let reading = Reading { args, names: &names, options, all_frames, each: many.chooses() };
    let (paths, LoadedInputs { metas, skipped, parts }) = reading.read(|count| many.order(count))?;
    let read: Vec<&Meta> = metas.iter().map(|(_, meta)| meta).collect();
    let wanted = metrics_wanted(&args.metrics, &read)?;
    let note = note_of_default(&args.metrics, &read);
    let default = MetricKey::of(&metas[0].1, default_metric(&read));
    for (number, meta) in &metas {
        check_metrics(meta, &paths[*number].name, &wanted)?;
    }
    let chosen = chosen(many, &metas, &wanted[0]);
    let input = |&place: &usize| describe(&paths[metas[place].0].name, &metas[place].1, &wanted[0]);
    let inputs: Vec<InfoInput> = chosen.iter().map(input).collect();
    let (skipped, found) = (skipped.len(), paths.len() - skipped.len());
    let combined = (found > 1 || names.len() > 1).then(|| many.describe(chosen.len(), found, skipped));
    let mut clock = Clock::new(args.verbose);
    let refused = |error: MergeError| {
        if options.budget.is_exceeded() { hinted(error.to_string(), MORE_MEMORY) } else { error.into() }
    };
    let mut parts: Vec<Profile> =
        parts.into_iter().map(|part| part.into_profile().map_err(refused)).collect::<Result<_>>()?;
    if many.chooses() {
        let mut place = 0..;
        parts.retain(|_| place.next().is_some_and(|place| chosen.binary_search(&place).is_ok()));
    }
    let several = parts.len() > 1;
    let mut profile = many.combine(parts)?;
    if several {
        clock.step("merge");
    }
    if skipped > 0 {
        profile.meta.warnings.push(skipped_text(skipped));
    }
    let metrics = wanted.iter().map(|key| key.place_in(&profile.meta)).collect::<Option<Vec<usize>>>();
    let metrics = metrics.context("a metric was lost when combining the inputs")?;
    for &metric in &metrics {
        refuse_too_large(&profile, metric)?;
    }
    let unresolved = args.symbols.warning([(&profile, metrics[0])].into_iter());
    profile.meta.warnings.extend(unresolved);
    profile.meta.warnings.extend(note);
    let all: Vec<usize> = (0..profile.meta.metrics.len()).collect();
    note_idle(&mut profile, &all);
    let default_metric = default.place_in(&profile.meta).unwrap_or(metrics[0]);
    Ok(Loaded { profile, names, inputs, combined, metrics, default_metric })
}

/// The positions of the profiles to combine.
fn chosen(many: &ManyArgs, metas: &[(usize, Meta)], metric: &MetricKey) -> Vec<usize> {
    let metrics: Vec<&Metric> =
        metas.iter().filter_map(|(_, meta)| Some(&meta.metrics[metric.place_in(meta)?])).collect();
    many.choose(&metrics)
}

/// The description of an input for `info`.
fn describe(name: &str, meta: &Meta, shown: &MetricKey) -> InfoInput {
    let metric = shown.place_in(meta).map(|place| &meta.metrics[place]);
    InfoInput {
        name: name.to_string(),
        format: meta.format.to_string(),
        bytes: meta.bytes,
        total: metric.map_or(0, |metric| metric.total),
        unit: metric.map_or_else(Default::default, |metric| (metric.unit.clone(), metric.divisor)),
        time_ns: meta.time_ns,
        duration_ns: meta.duration_ns,
    }
}
