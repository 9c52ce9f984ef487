//! The old side of a view, as a second column of its profile.

use crate::compare::{match_functions, matched};
use crate::load::{Loaded, Side, SideInput, Sides};
use crate::profile::{LoadOptions, Profile};
use crate::report::{Base, DiffSide, Rescaling};
use crate::stats::{Incomparable, Normalization, TestOptions};
use crate::transform::{
    AlignError, GivenError, MatchOptions, ProfileMetric, align, artefacts, fold_leaves, waiting_of,
};
use crate::tree::By;
use crate::view::{
    BaseSide, DiffOptions, DiffSides, Reconciled, SampleSize, align_sides, diff, normalization_name,
    reconcile_counts, recording,
};

/// How an old side is compared with.
#[derive(Clone, Debug)]
pub struct BaseOptions {
    /// What the view groups by.
    pub by: By,
    /// How functions are matched.
    pub matching: MatchOptions,
    /// Whether functions that only moved to another line are listed among the matches.
    pub all_matches: bool,
    /// How the old side is rescaled.
    pub normalize: Normalization,
    /// The labels and times that filters and the view need.
    pub keep: LoadOptions,
}

/// Why an old side cannot be compared with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseError {
    /// A pair of functions that was given does not exist.
    #[error("{0}")]
    Given(#[source] GivenError),
    /// The sides record different kinds of values.
    #[error("{0}")]
    Align(#[from] AlignError),
    /// Unchanged code can only be found in stacks.
    #[error("--normalize core needs samples of stacks to find the unchanged code")]
    NeedsStacks,
    /// Unchanged code cannot be found.
    #[error("--normalize core cannot find the unchanged code: {0}")]
    NoCore(String),
    /// The comparison that looks for unchanged code failed.
    #[error("{0}")]
    Incomparable(#[source] Incomparable),
    /// The rescaled values do not fit in 64 bits. The number is the factor.
    #[error("the old side does not fit 64 bits when rescaled by {0:e}")]
    TooLarge(f64),
    /// A side has no samples.
    #[error("a side without samples cannot be rescaled")]
    NoSamples,
}

/// Adds the first metric of an old side to a loaded profile as its second column, next to the first of the metrics to
/// show, which stays the only one.
pub fn add_base(loaded: Loaded, old: Loaded, options: &BaseOptions) -> Result<Loaded, BaseError> {
    let side = |profile: Profile, metric| Side {
        names: Vec::new(),
        inputs: vec![SideInput { name: String::new(), profile, metric }],
        chosen: None,
    };
    let (metric, old_metric) = (loaded.metrics[0], old.metrics[0]);
    let mut sides =
        Sides { old: side(old.profile, old_metric), new: side(loaded.profile, metric), share_a_file: false };
    let matching = match_functions(&mut sides, &options.by, &options.matching).map_err(BaseError::Given)?;
    let inputs = sides.old.inputs.iter_mut().chain(&mut sides.new.inputs);
    let mut counts: Vec<_> = inputs.map(|input| (&mut input.profile, input.metric)).collect();
    let reconciled = reconcile_counts(&mut counts);
    let (old_profile, new) = (&sides.old.inputs[0].profile, &sides.new.inputs[0].profile);
    let sides_compared = [(new, metric), (old_profile, old_metric)];
    let waiting = sides_compared.map(|(profile, metric)| waiting_of(&profile.meta.metrics, metric));
    let waiting = match waiting {
        [Some(of_new), Some(of_old)] => vec![(new, of_new), (old_profile, of_old)],
        _ => Vec::new(),
    };
    let parts = sides_compared.iter().chain(&waiting);
    let parts: Vec<ProfileMetric<'_>> =
        parts.map(|&(profile, metric)| ProfileMetric { profile, metric, extra: None }).collect();
    let mut whole = align(&parts, options.keep.clone())?;
    // Columns have the name of the first one.
    for (made, (profile, waiting)) in whole.meta.metrics[2..].iter_mut().zip(&waiting) {
        made.name.clone_from(&profile.meta.metrics[*waiting].name);
    }
    whole.meta.warnings.extend(reconciled.as_ref().map(|found| found.warning().to_string()));
    let are_shares = matches!(reconciled, Some(Reconciled::Shares(_)));
    let normalize = rescaling(options.normalize, (old_profile, old_metric), (new, metric), are_shares)?;
    whole.meta.warnings.extend(normalize.reason.as_ref().map(|why| {
        format!(
            "the old side is rescaled to the total of the new one instead of to unchanged code, because {why}"
        )
    }));
    let ratio = normalize.ratio;
    // Differences of scaled sums have to fit 64 bits too.
    let scaled = old_profile.meta.metrics[old_metric].total as f64 * ratio;
    if scaled + new.meta.metrics[metric].total as f64 >= i64::MAX as f64 {
        return Err(BaseError::TooLarge(ratio));
    }
    // The unit may have become finer, which multiplies all values by the same integer.
    let (made, recorded) = (&mut whole.meta.metrics[0], &new.meta.metrics[metric]);
    made.idle = recorded.idle * made.total.checked_div(recorded.total).unwrap_or(1);
    whole.meta.processors = new.meta.processors;
    whole.meta.duration_ns = new.meta.duration_ns;
    whole.meta.time_ns = new.meta.time_ns;
    whole.meta.profiles = new.meta.profiles;
    let about = Base {
        inputs: old.names,
        combined: old.combined,
        recording: recording(old_profile, old_metric),
        matched: matched(&matching, options.all_matches),
        ..Base::default()
    };
    let base = BaseSide { metric: 1, normalize, about };
    Ok(Loaded { profile: whole, metrics: vec![0], base: Some(base), ..loaded })
}

/// How sums of the old side are rescaled, as `prof diff` would do it. If both sides were given the same total, only their
/// shares mean something.
fn rescaling(
    normalize: Normalization,
    old: (&Profile, usize),
    new: (&Profile, usize),
    are_shares: bool,
) -> Result<Rescaling, BaseError> {
    let total = |(profile, metric): (&Profile, usize)| profile.meta.metrics[metric].total;
    let (ratio, reason) = match normalize {
        Normalization::Run => (1.0, None),
        Normalization::Per { old, new } => (new / old, None),
        Normalization::Total => (total(new) as f64 / total(old) as f64, None),
        Normalization::Core if new.0.calls.is_some() => return Err(BaseError::NeedsStacks),
        Normalization::Core => {
            let (whole, size) = align_sides(&[old, new], LoadOptions::default())?;
            let size = if are_shares { SampleSize::Unknown } else { size };
            let side = |side| DiffSide { profiles: 1, total: total(side), ..DiffSide::default() };
            let sides = DiffSides::new(side(old), side(new), size);
            let folded = fold_leaves(&whole, &artefacts(&whole)).0;
            let test = TestOptions { check_scale: true, ..TestOptions::default() };
            let options = DiffOptions { test, ..DiffOptions::new(By::Function) };
            let found = diff(&folded, sides, &options).map_err(BaseError::Incomparable)?;
            // Of a pair that is too noisy for a verdict, costs relative to unchanged code are known all the same.
            let is_known = found.rows.iter().any(|row| row.ratio.is_some());
            if let Some(why) = found.untestable.filter(|_| !is_known) {
                return Err(BaseError::NoCore(why));
            }
            found.header.normalize.map_or((1.0, None), |normalize| (normalize.ratio, normalize.reason))
        }
    };
    if ratio.is_finite() && ratio > 0.0 {
        Ok(Rescaling { method: normalization_name(normalize), ratio, reason })
    } else {
        Err(BaseError::NoSamples)
    }
}
