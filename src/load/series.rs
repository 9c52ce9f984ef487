//! Loads a series of profiles, of which only the sums of their functions are kept.
//!
//! ```text
//! batch of files ──read, name──► profiles ──match, fold, filter──► sums of functions ──► History
//! ```

use std::collections::BTreeMap;

use crate::filter::{FilterError, Filtered, Filters};
use crate::load::metrics::{MetricKey, check_metrics, metrics_wanted, refuse_too_large};
use crate::load::read::BatchOrder;
use crate::load::{Error, Request};
use crate::parallel;
use crate::profile::Profile;
use crate::report::{Matched, Message};
use crate::transform::{GivenError, MatchMethod, MatchOptions, Matching, artefacts, fold_leaves};
use crate::tree::By;
use crate::view::{History, HistoryError, Snapshot};

/// What a series is made of.
#[derive(Clone, Debug)]
pub struct SeriesOptions {
    /// What rows stand for.
    pub by: By,
    /// The filters, which are applied to each profile.
    pub filters: Filters,
    /// How the functions of different builds are matched.
    pub matching: MatchOptions,
    /// Profiles that were recorded before this time, in nanoseconds since 1970, are left out.
    pub since: Option<i64>,
}

/// A series of profiles.
#[derive(Clone, Debug)]
pub struct LoadedSeries {
    /// The sums of each profile, in the order of the inputs.
    pub history: History,
    /// One of the profiles: functions have the names that they have there.
    pub reference: Profile,
    /// The number of the metric in the reference.
    pub metric: usize,
    /// The inputs as they were given.
    pub inputs: Vec<String>,
    /// Functions of single profiles that seem to have other names in the reference: old functions that were replaced, or
    /// functions that happen to be absent from one of the two ([`LoadedSeries::join`]).
    replaced: Vec<Matched>,
    /// How many profiles are older than wanted.
    pub older: usize,
    /// The filters as typed.
    pub filters: Vec<String>,
    /// What there is to say about the profiles.
    pub messages: Vec<Message>,
}

/// Why a series cannot be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// An input cannot be read.
    #[error("{0}")]
    Load(#[from] Error),
    /// A filter cannot be applied to any of the profiles.
    #[error("{0}")]
    Filter(#[source] FilterError),
    /// A pair of functions that was given does not exist in any of the profiles.
    #[error("{0}")]
    Given(#[source] GivenError),
    /// A profile does not fit the others.
    #[error("{0}")]
    History(#[source] HistoryError),
    /// Profiles from some time on are wanted, but this one does not say when it was recorded.
    #[error("{0} does not say when it was recorded")]
    NoTime(String),
    /// All profiles are older than wanted. The number is how many there are.
    #[error("{}", if *.0 == 1 { "the profile is older than that".to_string() } else { format!("all {} profiles are older than that", .0) })]
    AllOlder(usize),
}

impl LoadedSeries {
    /// Joins functions that were replaced by ones with other names, as far as the order of the profiles agrees. Returns those
    /// that were joined.
    pub fn join(&mut self) -> Vec<Matched> {
        let history = &mut self.history;
        self.replaced.drain(..).filter(|found| history.join(&found.old, &found.new)).collect()
    }
}

impl Request {
    /// Loads the inputs as a series: each is read, matched, filtered and counted, and only its sums are kept. Functions get
    /// the names of the last input, which is read first.
    pub fn series(&self, options: &SeriesOptions) -> Result<LoadedSeries, SeriesError> {
        let mut loading = Loading::new(self, options);
        let skipped = self.read_in_batches(BatchOrder::LastFirst, |batch| loading.take(batch))?;
        let mut loaded = loading.finish()?;
        loaded.messages.extend(skipped.messages());
        Ok(loaded)
    }
}

/// A series that is being loaded.
struct Loading<'r> {
    request: &'r Request,
    options: &'r SeriesOptions,
    history: History,
    reference: Option<(Profile, MetricKey)>,
    /// Functions that may have replaced others.
    replaced: BTreeMap<(String, String), (MatchMethod, f64)>,
    copies: Vec<String>,
    older: usize,
    /// Texts to say, and in how many profiles they occur.
    warnings: BTreeMap<String, usize>,
    notes: BTreeMap<String, usize>,
    /// The filters as typed, once they were applied.
    filters: Option<Vec<String>>,
    /// The errors of profiles to which the filters, or the given pairs, do not apply.
    unfiltered: Option<FilterError>,
    unmatched: Option<GivenError>,
    is_matched: bool,
}

/// A profile that was counted.
struct Counted {
    snapshot: Snapshot,
    matching: Matching,
    unmatched: Option<GivenError>,
    filtered: Result<Vec<String>, FilterError>,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl<'r> Loading<'r> {
    fn new(request: &'r Request, options: &'r SeriesOptions) -> Self {
        Loading {
            request,
            options,
            history: History::default(),
            reference: None,
            replaced: BTreeMap::new(),
            copies: Vec::new(),
            older: 0,
            warnings: BTreeMap::new(),
            notes: BTreeMap::new(),
            filters: None,
            unfiltered: None,
            unmatched: None,
            is_matched: false,
        }
    }

    /// Counts some profiles, the last inputs first.
    fn take(&mut self, mut batch: Vec<(String, Profile)>) -> Result<(), SeriesError> {
        if let Some(since) = self.options.since {
            if let Some((name, _)) = batch.iter().find(|(_, profile)| profile.meta.time_ns.is_none()) {
                return Err(SeriesError::NoTime(name.clone()));
            }
            let before = batch.len();
            batch.retain(|(_, profile)| profile.meta.time_ns.is_none_or(|time| time >= since));
            self.older += before - batch.len();
        }
        let Some((name, first)) = batch.first() else { return Ok(()) };
        if self.reference.is_none() {
            let wanted = metrics_wanted(&self.request.metrics, &[&first.meta])?;
            check_metrics(&[(name, &first.meta)], &wanted)?;
            let [wanted] = &wanted[..] else { return Err(Error::SeveralMetrics.into()) };
            self.reference = Some((first.clone(), wanted.clone()));
        }
        let Some((reference, key)) = &self.reference else { return Ok(()) };
        let reference = (reference, key.place_in(&reference.meta).unwrap_or_default());
        let mut inputs = Vec::new();
        for (name, profile) in batch {
            check_metrics(&[(&name, &profile.meta)], std::slice::from_ref(key))?;
            let metric = key.place_in(&profile.meta).unwrap_or_default();
            refuse_too_large(&profile, metric)?;
            inputs.push((name, profile, metric));
        }
        let counted = parallel::each(inputs, |input| count(input, reference, self.options));
        for counted in counted {
            self.add(counted)?;
        }
        let mut reserved = self.request.needs.budget.reservation();
        let too_large = |_| SeriesError::History(HistoryError::TooMany(self.history.len()));
        reserved.set(self.history.bytes()).map_err(too_large)
    }

    fn add(&mut self, counted: Counted) -> Result<(), SeriesError> {
        let Counted { snapshot, matching, unmatched, filtered, warnings, notes } = counted;
        for found in matching.matches.into_iter().filter(|found| !is_certain(found.how)) {
            self.replaced.insert((found.old, found.new), (found.how, found.similarity));
        }
        self.is_matched |= unmatched.is_none();
        self.unmatched = self.unmatched.take().or(unmatched);
        match filtered {
            Ok(filters) => self.filters = Some(filters),
            Err(error) => self.unfiltered = Some(self.unfiltered.take().unwrap_or(error)),
        }
        for text in warnings {
            *self.warnings.entry(text).or_default() += 1;
        }
        for text in notes {
            *self.notes.entry(text).or_default() += 1;
        }
        let input = snapshot.input().to_string();
        if let Some(original) = self.history.add(snapshot).map_err(SeriesError::History)? {
            self.copies.push(format!("{input} is a copy of {original}"));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<LoadedSeries, SeriesError> {
        let Some((reference, key)) = self.reference.take() else {
            return Err(SeriesError::AllOlder(self.older));
        };
        let messages = self.messages();
        if let (None, Some(error)) = (&self.filters, self.unfiltered) {
            return Err(SeriesError::Filter(error));
        }
        if let (false, Some(error)) = (self.is_matched, self.unmatched) {
            return Err(SeriesError::Given(error));
        }
        self.history.reverse();
        Ok(LoadedSeries {
            metric: key.place_in(&reference.meta).unwrap_or_default(),
            reference,
            inputs: self.request.names(),
            replaced: self
                .replaced
                .into_iter()
                .map(|((old, new), (how, similarity))| Matched {
                    old: old.into(),
                    new: new.into(),
                    how: how.word(),
                    similarity,
                })
                .collect(),
            older: self.older,
            filters: self.filters.unwrap_or_default(),
            messages,
            history: self.history,
        })
    }

    /// What there is to say about all profiles. A text that does not apply to all says to how many it does.
    fn messages(&self) -> Vec<Message> {
        let all = self.history.len() + self.copies.len();
        let text = |(text, &count): (&String, &usize)| {
            if count >= all { text.clone() } else { format!("{text} ({count} of {all} profiles)") }
        };
        let notes = self.notes.iter().map(text).map(Message::note);
        let warnings = self.warnings.iter().map(text).map(Message::warning);
        let mut messages: Vec<Message> = warnings.chain(notes).collect();
        if let Some(first) = self.copies.first() {
            let more = match self.copies.len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more are copies of others"),
            };
            messages.push(Message::warning(format!("{first}{more}: counted once")));
        }
        let strangers = self.history.strangers();
        if let Some(first) = strangers.first() {
            let more = match strangers.len() - 1 {
                0 => "shares".to_string(),
                more => format!("and {more} more share"),
            };
            messages.push(Message::warning(format!(
                "{first} {more} almost no functions with the other profiles: is it another program?"
            )));
        }
        messages
    }
}

/// Whether one profile of each build suffices to match a function.
fn is_certain(how: MatchMethod) -> bool {
    matches!(how, MatchMethod::Same | MatchMethod::Shifted | MatchMethod::Given)
}

/// Matches the functions of a profile with those of the reference, folds what the profiler left at the end of stacks,
/// applies the filters, and sums up what is left.
fn count(
    (name, profile, metric): (String, Profile, usize),
    reference: (&Profile, usize),
    options: &SeriesOptions,
) -> Counted {
    let by = &options.by;
    let (matching, unmatched) = matched((&profile, metric), reference, options);
    // Other matches of a single profile may be chance: the series decides. But it knows functions only.
    let by_function = *by == By::Function;
    let profile = matching.apply_old_by(0, &profile, |how| !by_function || is_certain(how));
    let (profile, _) = fold_leaves(&profile, &artefacts(&profile));
    let recorded = (profile.meta.warnings.clone(), profile.meta.notes.clone());
    match options.filters.clone().apply_by(profile.clone(), by) {
        Ok(Filtered { profile, filters, notes, .. }) => Counted {
            snapshot: Snapshot::of(name, &profile, metric, by),
            matching,
            unmatched,
            filtered: Ok(filters),
            warnings: profile.meta.warnings,
            notes: profile.meta.notes.into_iter().chain(notes).collect(),
        },
        // A function that is shown alone may be absent from some profiles.
        Err(error) => Counted {
            snapshot: Snapshot::empty(name, &profile, metric),
            matching,
            unmatched,
            filtered: Err(error),
            warnings: recorded.0,
            notes: recorded.1,
        },
    }
}

/// The functions of a profile that have other names in the reference. Pairs that were given are left out if the profile lacks
/// their functions.
fn matched(
    profile: (&Profile, usize),
    reference: (&Profile, usize),
    options: &SeriesOptions,
) -> (Matching, Option<GivenError>) {
    // Labels, addresses and binaries are not renamed by builds.
    if matches!(options.by, By::Label(_) | By::Address | By::Mapping) {
        return (Matching::default(), None);
    }
    let find = |matching: &MatchOptions| Matching::find(&[profile], &[reference], matching);
    match find(&options.matching) {
        Ok(matching) => (matching, None),
        Err(error) => {
            let without = MatchOptions { given: Vec::new(), ..options.matching.clone() };
            (find(&without).unwrap_or_default(), Some(error))
        }
    }
}
