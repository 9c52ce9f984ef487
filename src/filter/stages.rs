//! Applies filters one after the other, and explains a pattern that matches nothing.

use std::collections::BTreeSet;

use crate::filter::{FilterError, FilterKind};
use crate::format::formats_with_times;
use crate::name::nearest;
use crate::pattern::{self, Aspect, Pattern, Patterns, regex_fault};
use crate::profile::{Column, FrameId, Label, LabelValue, Profile, TooLarge};
use crate::transform::{
    Factor, LabelFilter, Marks, RecordingSpan, Rename, THREAD_KEYS, TimeError, TimePoint, WhyEmpty,
    artefacts, by_label, collapse_recursion, fold_leaves, foldable, hide_frames, hide_labels, hide_stacks,
    label_leaf, label_root, prune_from, rename, show_frames, show_from, show_labels, show_stacks,
    show_threads, show_times, what_if, without_inlines,
};
use crate::tree::{By, marks};
use crate::unit::{Unit, human, label_number, plural};

/// A profile in the middle of being filtered.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The profile.
    pub profile: Profile,
    /// Notes on patterns that were not used as typed.
    pub notes: Vec<String>,
    /// For each metric, the value of the stacks that lost all their frames.
    pub(super) emptied: Vec<i64>,
    fixed: bool,
    /// What the view groups by: patterns match those names too.
    by: By,
}

/// Adds frames for the values of labels, and returns how many samples have each label.
type AddFrames = fn(&Profile, &[String]) -> Result<(Profile, Vec<usize>), TooLarge>;

/// The number of names or values that an error suggests.
const OFFERED: usize = 3;

impl Stages {
    /// Starts with a profile. Patterns are literal text if `fixed`, and match the names that `by` groups by, too.
    pub fn new(profile: Profile, fixed: bool, by: &By) -> Self {
        Stages { profile, notes: Vec::new(), emptied: Vec::new(), fixed, by: by.clone() }
    }

    /// Applies all filters of one kind. Times need both ends at once, changes of costs the metric of an old side, and for the
    /// focus and for hashes a view may need the stacks before: these are not applied here.
    pub(super) fn apply(&mut self, kind: FilterKind, texts: &[String]) -> Result<(), FilterError> {
        let option = kind.option();
        match kind {
            FilterKind::Fold => self.fold(texts),
            FilterKind::Rename => self.rename(texts),
            FilterKind::LabelRoot => self.label_frames(option, texts, label_root),
            FilterKind::LabelLeaf => self.label_frames(option, texts, label_leaf),
            FilterKind::Label => self.show_labels(texts),
            FilterKind::HideLabel => self.hide_labels(texts),
            FilterKind::Thread => self.show_threads(texts),
            FilterKind::ShowStacks => self.show(option, texts, show_stacks),
            FilterKind::HideStacks => self.hide(option, texts, hide_stacks),
            FilterKind::HideFrames => self.counting_emptied(|stages| stages.hide(option, texts, hide_frames)),
            FilterKind::ShowFrames => self.counting_emptied(|stages| stages.show(option, texts, show_frames)),
            FilterKind::ShowFrom => self.show(option, texts, show_from),
            FilterKind::PruneFrom => self.hide(option, texts, prune_from),
            FilterKind::NoInlines => {
                if !self.profile.symbols.frames.iter().any(|frame| frame.inlined) {
                    self.notes.push(format!("{option}: no frame of this profile is marked as inlined"));
                }
                self.profile = without_inlines(&self.profile);
                Ok(())
            }
            FilterKind::CollapseRecursion => {
                self.profile = collapse_recursion(&self.profile);
                Ok(())
            }
            FilterKind::From
            | FilterKind::To
            | FilterKind::WhatIf
            | FilterKind::Focus
            | FilterKind::Anonymize => Ok(()),
        }
    }

    /// Applies a filter, and adds the value of the stacks that lose all their frames to it.
    fn counting_emptied(
        &mut self,
        filter: impl FnOnce(&mut Self) -> Result<(), FilterError>,
    ) -> Result<(), FilterError> {
        let without_frames = |profile: &Profile| -> Vec<i64> {
            (0..profile.meta.metrics.len()).map(|metric| profile.no_stack(metric)).collect()
        };
        let before = without_frames(&self.profile);
        filter(self)?;
        self.emptied.resize(before.len(), 0);
        for (metric, after) in without_frames(&self.profile).into_iter().enumerate() {
            self.emptied[metric] += after.saturating_sub(before[metric]);
        }
        Ok(())
    }

    /// Applies a filter that keeps matches. Each pattern has to match something.
    fn show(
        &mut self,
        option: &str,
        patterns: &[String],
        filter: impl Fn(&Profile, &Marks) -> (Profile, usize),
    ) -> Result<(), FilterError> {
        if let Some(marks) = self.matching(option, patterns)? {
            self.profile = filter(&self.profile, &marks).0;
        }
        Ok(())
    }

    /// The frames that match any of the patterns of an option, if there are any patterns. Each has to match something.
    pub fn matching(&mut self, option: &str, patterns: &[String]) -> Result<Option<Marks>, FilterError> {
        let mut all: Option<Marks> = None;
        for text in patterns {
            all = Some(either(all, self.matches(&format!("{option} {text}"), text)?));
        }
        Ok(all)
    }

    /// The frames that match a pattern. Fails if none does; the message says so of `what`, such as `--show-stacks main`.
    pub fn matches(&mut self, what: &str, text: &str) -> Result<Marks, FilterError> {
        let marks = self.marks(text).map_err(|error| error.said_of(what))?;
        marks.ok_or_else(|| self.matched_nothing(what, text))
    }

    /// Applies a filter that removes matches. A pattern without a match is only a warning.
    fn hide(
        &mut self,
        option: &str,
        patterns: &[String],
        filter: impl Fn(&Profile, &Marks) -> (Profile, usize),
    ) -> Result<(), FilterError> {
        let mut all: Option<Marks> = None;
        for text in patterns {
            match self.marks(text).map_err(|error| error.said_of(option))? {
                Some(marks) => all = Some(either(all, marks)),
                None => {
                    let sets = sets_meant(text).map(|sets| format!("; {sets}")).unwrap_or_default();
                    self.warn(format!("{option} {text}: nothing matches{sets}"));
                }
            }
        }
        if let Some(marks) = &all {
            self.profile = filter(&self.profile, marks).0;
        }
        Ok(())
    }

    /// The frames that match a pattern, first as a regular expression, then literally. `None` if none of the
    /// remaining frames matches.
    pub fn marks(&mut self, text: &str) -> Result<Option<Marks>, FilterError> {
        let (pattern, note) = Pattern::parse(text, self.fixed)?;
        let is_literal = self.fixed || note.is_some() || pattern.exact_name().is_some();
        // A function's name pasted as it is needs no note on how it was read.
        let symbols = &self.profile.symbols;
        let name = pattern.body();
        let is_name = symbols.functions.ids().any(|id| symbols.function_name(id) == name);
        self.notes.extend(note.filter(|_| !is_name));
        let marks_of = |pattern| marks(&self.profile, &Patterns::from_iter([pattern]), &self.by);
        let as_regex = marks_of(pattern);
        if as_regex.match_profile(&self.profile) {
            return Ok(Some(as_regex));
        }
        if is_literal {
            return Ok(None);
        }
        let literally = marks_of(Pattern::literal_of(text)?);
        if !literally.match_profile(&self.profile) {
            return Ok(None);
        }
        if !is_name {
            self.notes
                .push(format!("`{text}` matches nothing as a regular expression; matching it literally"));
        }
        Ok(Some(literally))
    }

    /// Folds artefacts of profilers, and functions that match a pattern, into their callers. An empty pattern
    /// stands for the artefacts alone. Does nothing without patterns.
    fn fold(&mut self, patterns: &[String]) -> Result<(), FilterError> {
        if patterns.is_empty() {
            return Ok(());
        }
        let marks = self.folded(patterns)?;
        self.profile = fold_leaves(&self.profile, &marks).0;
        Ok(())
    }

    /// The artefacts of profilers, and the frames that match a pattern.
    pub fn folded(&mut self, patterns: &[String]) -> Result<Marks, FilterError> {
        let mut all = artefacts(&self.profile);
        for text in patterns.iter().filter(|text| !text.is_empty()) {
            match self.marks(text)? {
                Some(marks) if !foldable(&self.profile, &marks, &self.all_metrics()).is_empty() => {
                    all = all.or(&marks);
                }
                Some(_) => self.warn(format!("--fold={text}: no matching function is at the end of a stack")),
                None => self.warn(format!("--fold={text}: nothing matches")),
            }
        }
        Ok(all)
    }

    fn all_metrics(&self) -> Vec<usize> {
        (0..self.profile.meta.metrics.len()).collect()
    }

    fn rename(&mut self, renames: &[String]) -> Result<(), FilterError> {
        for text in renames {
            let parsed = Rename::parse(text, self.fixed).ok_or_else(|| wrong_rename(text, self.fixed))?;
            let (profile, matched) = rename(&self.profile, &parsed);
            self.profile = profile;
            if matched == 0 {
                let names = Pattern::parse(text, self.fixed).is_ok_and(|(pattern, _)| pattern.is_of_places());
                let hint =
                    if names { "; it changes names of functions, so it looks only for these" } else { "" };
                self.warn(format!("--rename {text}: nothing matches{hint}"));
            }
        }
        Ok(())
    }

    fn label_frames(&mut self, option: &str, keys: &[String], add: AddFrames) -> Result<(), FilterError> {
        let (profile, matched) = add(&self.profile, keys)?;
        if let Some(missing) = matched.iter().position(|&matched| matched == 0) {
            return Err(self.no_such_label(option, &keys[missing], &keys[missing]));
        }
        self.profile = profile;
        Ok(())
    }

    /// Replaces each stack with the value of a label: `--by label:KEY`.
    pub(super) fn by_label(&mut self, key: &str) -> Result<(), FilterError> {
        let (profile, matched) = by_label(&self.profile, key)?;
        if matched == 0 {
            return Err(self.no_such_label("--by", &format!("label:{key}"), key));
        }
        self.profile = profile;
        Ok(())
    }

    fn show_labels(&mut self, texts: &[String]) -> Result<(), FilterError> {
        let filters = self.label_filters(texts)?;
        let (profile, matched) = show_labels(&self.profile, &filters);
        if let Some(missed) = matched.iter().position(|&matched| matched == 0) {
            let filter = &filters[missed];
            return Err(self.no_such_label("--label", filter.text(), filter.key()));
        }
        if !filters.is_empty() && profile.samples.is_empty() {
            return Err(FilterError::new(
                format!("no sample has all of the labels --label {}", texts.join(" --label ")),
                None,
            ));
        }
        self.profile = profile;
        Ok(())
    }

    fn hide_labels(&mut self, texts: &[String]) -> Result<(), FilterError> {
        let filters = self.label_filters(texts)?;
        let (profile, matched) = hide_labels(&self.profile, &filters);
        self.profile = profile;
        for (filter, _) in filters.iter().zip(matched).filter(|(_, matched)| *matched == 0) {
            self.warn(format!("--hide-label {}: nothing matches", filter.text()));
        }
        Ok(())
    }

    fn label_filters(&mut self, texts: &[String]) -> Result<Vec<LabelFilter>, FilterError> {
        let mut filters = Vec::new();
        for text in texts {
            let (filter, note) = LabelFilter::parse(text, self.fixed)?;
            filters.push(filter);
            self.notes.extend(note);
        }
        Ok(filters)
    }

    fn show_threads(&mut self, texts: &[String]) -> Result<(), FilterError> {
        if texts.is_empty() {
            return Ok(());
        }
        for text in texts {
            let (pattern, _) = Pattern::parse(text, self.fixed)?;
            if show_threads(&self.profile, &Patterns::from_iter([pattern])).1 == 0 {
                let hint = offer(text, &self.thread_names(), ["the only thread is", "the threads are"]);
                let hint = hint.unwrap_or_else(|| "the profile has no thread names".to_string());
                let hint = self.how_matched(text) + &hint;
                return Err(FilterError::hinted(format!("--thread {text}: nothing matches"), hint));
            }
        }
        let (patterns, notes) = Patterns::parse(texts, self.fixed)?;
        self.notes.extend(notes);
        self.profile = show_threads(&self.profile, &patterns).0;
        Ok(())
    }

    /// What people call the threads: their names, or their numbers if they have no names.
    fn thread_names(&self) -> BTreeSet<String> {
        let mut of_keys = THREAD_KEYS.iter().map(|key| values(&self.profile, key));
        of_keys.find(|names| !names.is_empty()).unwrap_or_default()
    }

    /// Keeps only samples taken in a range of time.
    pub(super) fn show_times(&mut self, from: Option<&str>, to: Option<&str>) -> Result<(), FilterError> {
        if from.is_none() && to.is_none() {
            return Ok(());
        }
        let [from_point, to_point] = [time_point(FilterKind::From, from)?, time_point(FilterKind::To, to)?];
        let (profile, matched) = show_times(&self.profile, from_point, to_point).map_err(|error| {
            let hint = match error {
                TimeError::NoDate => Some("give a time relative to the start, such as 1.5s".to_string()),
                TimeError::NoTimes => Some(formats_with_times()),
                TimeError::TimePoint(_) => None,
            };
            FilterError::new(format!("--from, --to: {error}"), hint)
        })?;
        if matched == 0 {
            let spans = RecordingSpan::of_all(&self.profile).unwrap_or_default();
            let why = spans.first().and_then(|span| span.why_empty(from_point, to_point));
            return Err(empty_range(why, from, to));
        }
        let recordings = profile.meta.recordings.len();
        let is_empty =
            |&metric: &usize| profile.shown_total(metric) == 0 && self.profile.shown_total(metric) != 0;
        let empty = (0..recordings).filter(is_empty).count();
        self.profile = profile;
        if empty > 0 {
            let have = plural(empty as u64, "has", "have");
            self.warn(format!(
                "--from, --to: {empty} of {recordings} recordings {have} no samples in that time range"
            ));
        }
        Ok(())
    }

    /// Changes what the samples with a matching frame cost. Each pattern has to match something.
    pub(super) fn what_if(&mut self, texts: &[String], old_metric: Option<usize>) -> Result<(), FilterError> {
        let option = FilterKind::WhatIf.option();
        let mut changes = Vec::new();
        for text in texts {
            let parts = text.rsplit_once('=').filter(|(pattern, _)| !pattern.is_empty());
            let parsed = parts.and_then(|(pattern, factor)| Some((pattern, Factor::parse(factor)?)));
            let (pattern, factor) = parsed.ok_or_else(|| {
                FilterError::hinted(
                    format!("{option} {text}: expected RE=FACTOR"),
                    format!(
                        "for example {option} 'parse=0.5' (half the cost), 'parse=0' (no cost) or 'parse=120%'; \
                         up to 6 decimals"
                    ),
                )
            })?;
            changes.push((self.matches(&format!("{option} {pattern}"), pattern)?, factor));
        }
        self.profile = what_if(&self.profile, &changes, old_metric)?;
        Ok(())
    }

    fn warn(&mut self, warning: String) {
        self.profile.meta.warnings.push(warning);
    }

    fn matched_nothing(&self, what: &str, text: &str) -> FilterError {
        let message = format!("{what}: nothing matches");
        if self.profile.samples.is_empty() && self.profile.calls.is_none() {
            return FilterError::hinted(message, "the filters applied before it left no samples");
        }
        if self.is_left_out(text) {
            return FilterError::hinted(message, "the filters applied before it left no samples of it");
        }
        if let Some(sets) = sets_meant(text) {
            return FilterError::hinted(message, sets);
        }
        if pattern::sets().any(|set| set == text) {
            let hint = if self.fixed {
                format!("with -F, `{text}` is literal text; without -F, it stands for a set of functions")
            } else {
                "no function of this profile is in this set; prof top -n 0 PROFILE lists all names"
                    .to_string()
            };
            return FilterError::hinted(message, hint);
        }
        let names = names_in_use(&self.profile, text);
        let body = Pattern::literal_of(text).map_or(text.to_string(), |pattern| pattern.body().to_string());
        let near = nearest(&body, names.iter().map(String::as_str), OFFERED);
        let hint = match &near[..] {
            [] => "prof top -n 0 PROFILE lists all names".to_string(),
            near => format!("did you mean {}?", near.join(", ")),
        };
        FilterError::hinted(message, self.how_matched(text) + &hint)
    }

    /// Whether a pattern that matches nothing matches stacks without samples, of a profile that has lost samples to filters.
    fn is_left_out(&self, text: &str) -> bool {
        let profile = &self.profile;
        let mut metrics = profile.meta.metrics.iter().enumerate();
        let lost = metrics.any(|(number, metric)| profile.shown_total(number) < metric.total);
        let is_on_stack = |pattern| {
            let marks = marks(profile, &Patterns::from_iter([pattern]), &self.by);
            profile.stacks.ids().any(|stack| marks.match_any(profile.stacks.frames(stack)))
        };
        lost && Pattern::parse(text, self.fixed).is_ok_and(|(pattern, _)| is_on_stack(pattern))
    }

    /// The start of a hint for a pattern that is not a valid regular expression; otherwise empty.
    fn how_matched(&self, pattern: &str) -> String {
        Pattern::fault(pattern, self.fixed).map_or(String::new(), |fault| {
            format!("it is not a valid regular expression ({fault}), so it was matched literally; ")
        })
    }

    fn no_such_label(&self, option: &str, text: &str, key: &str) -> FilterError {
        let message = format!("{option} {text}: nothing matches");
        let of_key = values(&self.profile, key);
        let wanted = text.split_once('=').map_or(text, |(_, value)| value);
        let hint = if of_key.is_empty() {
            offer_labels(&self.profile, key)
        } else if let Some(numbers) = numbers(&self.profile, key).filter(|_| !wanted.starts_with('~')) {
            Some(offer_numbers(key, &numbers))
        } else {
            let values = offer(
                wanted,
                &of_key,
                [&format!("the only value of {key} is"), &format!("the values of {key} are")],
            );
            let how = wanted.strip_prefix('~').map_or(String::new(), |pattern| self.how_matched(pattern));
            values.map(|values| how + &values)
        };
        FilterError::new(message, Some(hint.unwrap_or_else(|| "the profile has no labels".to_string())))
    }
}

/// The error for a value of `--rename` that cannot be used.
fn wrong_rename(text: &str, fixed: bool) -> FilterError {
    let fault = text.rsplit_once('=').filter(|_| !fixed).and_then(|(old, _)| Some((old, regex_fault(old)?)));
    match fault {
        Some((old, fault)) => FilterError::hinted(
            format!("--rename {text}: `{old}` is not a valid regular expression ({fault})"),
            "-F takes it as literal text, and all other patterns, too",
        ),
        None => FilterError::hinted(
            format!("--rename {text}: expected RE=NEW"),
            r"for example --rename '\[.*\]=[…]'; $1 in NEW stands for the first group of the match",
        ),
    }
}

/// The value of `--from` or `--to`.
fn time_point(kind: FilterKind, text: Option<&str>) -> Result<Option<TimePoint>, FilterError> {
    let wrong = |text: &str| {
        FilterError::hinted(
            format!("{} {text}: not a point in time", kind.option()),
            "give a time such as 1.5s (after the start), -1.5s (before the end) or 2024-02-26T18:40:37Z",
        )
    };
    text.map(|text| TimePoint::parse(text).map_err(|_| wrong(text))).transpose()
}

/// The error for a range of time without samples.
fn empty_range(why: Option<WhyEmpty>, from: Option<&str>, to: Option<&str>) -> FilterError {
    let (from, to) = (from.unwrap_or("0s"), to.unwrap_or("-0s"));
    match why {
        Some(WhyEmpty::Backwards) => {
            let hint = if from == to {
                "nothing lies between a time and itself; --to is the first time that is left out".to_string()
            } else {
                format!("did you mean --from {to} --to {from}?")
            };
            FilterError::hinted(format!("--from {from} is not before --to {to}"), hint)
        }
        Some(WhyEmpty::TooLate(length)) => {
            // The recording itself may be longer: it starts before the first sample.
            let last = human(length, &Unit::NANOSECONDS, 1);
            let hint = format!("times are counted from the first sample, and the last one is at {last}");
            FilterError::hinted(format!("--from {from} is after the last sample"), hint)
        }
        Some(WhyEmpty::TooEarly) => {
            let hint = "times are counted from the first sample; -1.5s is 1.5s before the end";
            FilterError::hinted(format!("--to {to} is not after the start of the recording"), hint)
        }
        Some(WhyEmpty::Gap) | None => FilterError::hinted(
            "--from, --to: no samples in that time range",
            "prof timeline shows when there are samples",
        ),
    }
}

/// Lists the named sets, for a pattern that looks like one.
fn sets_meant(text: &str) -> Option<String> {
    let sets: Vec<&str> = pattern::sets().chain(pattern::added_sets()).collect();
    let looks_like_one = text.starts_with('@') && !sets.contains(&text);
    looks_like_one.then(|| format!("the named sets are {}", sets.join(", ")))
}

/// The union of the matches of an option's patterns.
fn either(all: Option<Marks>, marks: Marks) -> Marks {
    match all {
        Some(all) => all.or(&marks),
        None => marks,
    }
}

/// Suggests labels of the profile instead of one that no sample has: `did you mean endpoint?` `None` without labels.
pub fn offer_labels(profile: &Profile, key: &str) -> Option<String> {
    offer(key, &keys(profile), ["the only label is", "the labels are"])
}

/// Suggests the names nearest to what was typed, or else the first few names, after `the only label is` or `the labels are`.
fn offer(text: &str, names: &BTreeSet<String>, [is, are]: [&str; 2]) -> Option<String> {
    let near = nearest(text, names.iter().map(String::as_str), OFFERED);
    if !near.is_empty() {
        return Some(format!("did you mean {}?", near.join(", ")));
    }
    let more = if names.len() > OFFERED { " …" } else { "" };
    let first: Vec<&str> = names.iter().take(OFFERED).map(String::as_str).collect();
    let start = if names.len() == 1 { is } else { are };
    (!first.is_empty()).then(|| format!("{start} {}{more}", first.join(", ")))
}

/// The names that a pattern is matched against, for all remaining frames.
fn names_in_use(profile: &Profile, text: &str) -> BTreeSet<String> {
    let aspect = Pattern::literal_of(text).map_or(Aspect::Any, |pattern| pattern.aspect());
    let symbols = &profile.symbols;
    let name = |frame: FrameId| {
        let frame = &symbols.frames[frame];
        match aspect {
            Aspect::Any | Aspect::Function | Aspect::Exact => {
                symbols.function_name(frame.function).to_string()
            }
            Aspect::File => symbols.function_file(frame.function).to_string(),
            Aspect::Mapping => symbols.mapping_file(frame.mapping).to_string(),
            Aspect::Package => symbols.owner(frame).into_owned(),
        }
    };
    let used_stacks = profile.used_stacks();
    let mut used = Column::<FrameId, bool>::filled(false, symbols.frames.len());
    for stack in profile.stacks.ids().filter(|&stack| used_stacks[stack]) {
        for &frame in profile.stacks.frames(stack) {
            used[frame] = true;
        }
    }
    used.enumerate().filter(|(_, used)| **used).map(|(frame, _)| name(frame)).collect()
}

/// The keys of all labels.
fn keys(profile: &Profile) -> BTreeSet<String> {
    let strings = &profile.symbols.strings;
    let sets = profile.label_sets.ids();
    sets.flat_map(|set| profile.label_sets.labels(set))
        .map(|label| strings.get(label.key).to_string())
        .collect()
}

/// The values of a label that has only numbers, smallest first, as `prof labels` shows them; `None` if some value is a text.
fn numbers(profile: &Profile, key: &str) -> Option<Vec<String>> {
    let strings = &profile.symbols.strings;
    let sets = profile.label_sets.ids();
    let of_key =
        sets.flat_map(|set| profile.label_sets.labels(set)).filter(|label| strings.get(label.key) == key);
    let number = |label: &Label| match label.value {
        LabelValue::Number(number, unit) => Some((strings.get(unit), number)),
        LabelValue::Text(_) => None,
    };
    let numbers: Option<BTreeSet<(&str, i64)>> = of_key.map(number).collect();
    Some(numbers?.into_iter().map(|(unit, number)| label_number(key, number, unit)).collect())
}

/// `the values of bytes are from 16B to 1MiB; prof labels lists them`: a number that is similar to another one means nothing.
fn offer_numbers(key: &str, numbers: &[String]) -> String {
    match numbers {
        [one] => format!("the only value of {key} is {one}"),
        [first, .., last] if numbers.len() > OFFERED => {
            format!("the values of {key} are from {first} to {last}; prof labels lists them")
        }
        few => format!("the values of {key} are {}", few.join(", ")),
    }
}

/// The values of a label; numbers have their units.
fn values(profile: &Profile, key: &str) -> BTreeSet<String> {
    let strings = &profile.symbols.strings;
    let sets = profile.label_sets.ids();
    let labels = sets.flat_map(|set| profile.label_sets.labels(set));
    labels
        .filter(|label| strings.get(label.key) == key)
        .map(|label| profile.label_text(label.value))
        .collect()
}
