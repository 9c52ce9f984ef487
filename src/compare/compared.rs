//! Two sides on their way to a comparison: matched, aligned, folded and filtered.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::compare::remarks::remarks;
use crate::compare::{match_functions, match_functions_to_old, matched, upgrades};
use crate::filter::{FilterError, FilterKind, Filtered, Filters};
use crate::load::{Observer, Side, Sides, Unobserved};
use crate::profile::{Label, LabelValue, LoadOptions, Profile};
use crate::report::{BudgetReport, Diff, DiffSide, Folded, Message, Name};
use crate::stats::{Incomparable, TestOptions};
use crate::transform::{
    AlignError, AlignedInput, GivenError, Marks, MatchMethod, MatchOptions, Matching, align_owned,
    fold_leaves, foldable, stacks_by_row,
};
use crate::tree::By;
use crate::view::{
    BudgetRule, DiffOptions, DiffSides, SampleSize, align_owned_sides, check_budgets, count_calls, diff,
    usual_normalization,
};

/// How two sides become one profile.
#[derive(Clone)]
pub struct CompareOptions {
    /// What rows stand for.
    pub by: By,
    /// How functions are matched.
    pub matching: MatchOptions,
    /// Whether functions that only moved to another line are listed among the matches.
    pub all_matches: bool,
    /// Whether functions of both sides have the names of the old side, instead of those of the new one.
    pub old_names: bool,
    /// The labels and times that filters need.
    pub keep: LoadOptions,
    /// Who is told which steps are done: `match functions`, `combine the sides`, `filter`.
    pub observer: Arc<dyn Observer>,
}

impl Default for CompareOptions {
    /// By function.
    fn default() -> Self {
        CompareOptions {
            by: By::Function,
            matching: MatchOptions::default(),
            all_matches: false,
            old_names: false,
            keep: LoadOptions::LEAST,
            observer: Arc::new(Unobserved),
        }
    }
}

/// Two sides as one profile, filtered and ready for a comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The profile, with a column per input, the old ones first. Patterns that match nothing are among its warnings.
    pub profile: Profile,
    /// Which columns are whose.
    pub sides: DiffSides,
    /// Notes on patterns that were not used as typed.
    pub notes: Vec<String>,
    /// What speaks against the comparison although it is possible.
    pub remarks: Vec<Message>,
    /// The names of all metrics of the inputs, in alphabetical order.
    pub metrics: Vec<String>,
    /// Whether the metric that is compared is the one that views of the inputs show by default.
    pub is_default_metric: bool,
    /// Whether the new side has any value of the compared metric.
    pub has_new_values: bool,
    /// The functions that have another name on the new side, the old names first.
    pub renamed: Vec<(Name, Name)>,
    /// Whether samples have labels with text, which may tell kinds of work. Labels that were not read may be such.
    pub has_text_labels: bool,
    by: By,
    filters: Vec<String>,
    folded: Vec<Folded>,
    shifted: usize,
}

/// Why two sides cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A pair of functions that was given does not exist.
    #[error("{0}")]
    Given(#[source] GivenError),
    /// The inputs, old ones first, record different kinds of values.
    #[error("{0}")]
    Align(#[source] AlignError, Vec<String>),
    /// A filter cannot be applied.
    #[error("{0}")]
    Filter(#[from] FilterError),
}

/// Matches the functions of both sides, makes them one profile, folds what profilers left at the end of stacks, and applies
/// the filters. The old side may be empty: then there is nothing to match, and only budgets can be checked.
pub fn compare(
    mut sides: Sides,
    filters: &Filters,
    options: &CompareOptions,
) -> Result<Compared, CompareError> {
    let CompareOptions { by, observer, .. } = options;
    let is_alone = sides.old.inputs.is_empty();
    let remarks = if is_alone { Vec::new() } else { remarks(&sides) };
    let matching = match_sides(&mut sides, options).map_err(CompareError::Given)?;
    observer.step("match functions");
    let metrics = sides.all().flat_map(|input| {
        // In a file that holds both sides, the other metrics are the two sides.
        let all = &input.profile.meta.metrics;
        if sides.share_a_file { &all[input.metric..=input.metric] } else { &all[..] }
    });
    let metrics: BTreeSet<String> = metrics.map(|metric| metric.name.clone()).collect();
    let is_default_metric = sides.all().all(|input| input.metric == input.profile.meta.default_metric);
    let has_new_values = sides.new.profiles().iter().any(|(new, metric)| new.meta.metrics[*metric].total > 0);
    let has_text_labels = sides.all().any(|input| may_have_text_labels(&input.profile));
    let about = [&sides.old, &sides.new].map(|one| side(one, filters));
    let (old, new) = (sides.old.inputs.len(), sides.new.inputs.len());
    let given: Vec<(&Profile, usize)> = sides.all().map(|input| (&input.profile, input.metric)).collect();
    let calls = count_calls(&given, old, by);
    let (whole, size) = combine(sides, options.keep.clone())?;
    // What the recorder itself left at the end of stacks is always folded, so that is not one of the filters.
    let mut stages = filters.stages(whole, by);
    let leaves = stages.folded(&filters.texts(FilterKind::Fold))?;
    let (whole, folded) = fold(&stages.profile, &leaves, old, new);
    // With a column per run, a second copy of the values would double the memory of the comparison.
    let notes_of_fold = stages.notes;
    drop(stages.profile);
    let whole = stacks_by_row(whole);
    observer.step("combine the sides");
    let filtered = filters.clone().without(FilterKind::Fold).apply_by(whole, by)?;
    observer.step("filter");
    let Filtered { profile, filters, notes, .. } = filtered;
    let [old, new] = about;
    Ok(Compared {
        profile,
        metrics: metrics.into_iter().collect(),
        is_default_metric,
        has_new_values,
        has_text_labels,
        sides: DiffSides {
            calls,
            matched: matched(&matching, options.all_matches),
            upgrades: upgrades(&matching),
            ..DiffSides::new(old, new, size)
        },
        notes: notes_of_fold.into_iter().chain(notes).collect(),
        remarks,
        renamed: matching
            .matches
            .iter()
            // Functions that keep their old names have none but these.
            .filter(|_| !options.old_names)
            .map(|found| (found.old.as_str().into(), found.new.as_str().into()))
            .collect(),
        by: by.clone(),
        filters,
        folded,
        shifted: matching.matches.iter().filter(|found| found.how == MatchMethod::Shifted).count(),
    })
}

/// Gives the functions that both sides have the same names.
fn match_sides(sides: &mut Sides, options: &CompareOptions) -> Result<Matching, GivenError> {
    // One file that holds both sides has one name for each function.
    if sides.share_a_file || sides.old.inputs.is_empty() {
        Ok(Matching::default())
    } else if options.old_names {
        match_functions_to_old(sides, &options.by, &options.matching)
    } else {
        match_functions(sides, &options.by, &options.matching)
    }
}

/// Makes one profile of all inputs, which are dropped on the way, and finds how much of the metric makes one sample. That
/// matters only where sides are compared.
fn combine(sides: Sides, keep: LoadOptions) -> Result<(Profile, SampleSize), CompareError> {
    let names: Vec<String> = sides.all().map(|input| input.name.clone()).collect();
    let is_alone = sides.old.inputs.is_empty();
    let inputs = sides.old.inputs.into_iter().chain(sides.new.inputs);
    let profiles: Vec<(Profile, usize)> = inputs.map(|input| (input.profile, input.metric)).collect();
    let aligned = if is_alone {
        let parts = profiles.into_iter();
        let parts = parts.map(|(profile, metric)| AlignedInput { profile, metric, extra: None });
        align_owned(parts.collect(), keep).map(|whole| (whole, SampleSize::Unknown))
    } else {
        align_owned_sides(profiles, keep)
    };
    aligned.map_err(|error| CompareError::Align(error, names))
}

/// Folds these leaf frames of an aligned profile, whose first columns are `old` inputs and the next ones `new` inputs. Also
/// returns how much that was on either side.
fn fold(whole: &Profile, leaves: &Marks, old: usize, new: usize) -> (Profile, Vec<Folded>) {
    let columns: Vec<usize> = (0..old + new).collect();
    let folded = |(name, values): (String, Vec<i64>)| Folded {
        name: name.into(),
        old: values[..old].iter().sum(),
        new: values[old..].iter().sum(),
    };
    let folded = foldable(whole, leaves, &columns).into_iter().map(folded).collect();
    (fold_leaves(whole, leaves).0, folded)
}

/// Whether samples have labels with text. Labels that were not read may be such.
fn may_have_text_labels(profile: &Profile) -> bool {
    let sets = &profile.label_sets;
    let is_text = |label: &Label| matches!(label.value, LabelValue::Text(_));
    let were_skipped = profile.meta.skipped_kinds.unwrap_or(sets.len() <= 1);
    profile.meta.labelled_rows > 0
        && (were_skipped || sets.ids().any(|set| sets.labels(set).iter().any(is_text)))
}

/// What a report says about a side. Its values are counted once both sides are combined.
fn side(side: &Side, filters: &Filters) -> DiffSide {
    let durations = side.inputs.iter().filter_map(|input| input.profile.meta.duration_ns);
    DiffSide {
        profiles: side.inputs.len(),
        duration_ns: durations.reduce(i64::saturating_add),
        inputs: side.names.iter().map(|name| filters.input(name)).collect(),
        chosen: side.chosen.clone(),
        ..DiffSide::default()
    }
}

impl Compared {
    /// The usual options for these sides.
    pub fn options(&self) -> DiffOptions {
        let normalize = usual_normalization(&self.profile);
        let test = TestOptions { normalize, check_scale: true, ..TestOptions::default() };
        DiffOptions { test, ..DiffOptions::new(self.by.clone()) }
    }

    /// Compares the sides. Fails if an option is out of range, or if they have nothing in common.
    pub fn report(self, options: &DiffOptions) -> Result<Diff, Incomparable> {
        let mut diff = diff(&self.profile, self.sides, options)?;
        diff.header.filters = self.filters;
        diff.header.warnings.extend(self.remarks);
        diff.default_metric = self.is_default_metric;
        diff.folded = self.folded;
        diff.shifted = self.shifted;
        Ok(diff)
    }

    /// Checks budgets on the new side, where there is no old one.
    pub fn check_budgets(self, rules: &[BudgetRule]) -> BudgetReport {
        let mut report = check_budgets(&self.profile, self.sides.new, &self.by, rules);
        report.header.filters = self.filters;
        report.folded = self.folded;
        report
    }
}
