//! Filters as data: which stacks and frames to keep, always applied in the same order.
//!
//! ```
//! use prof::profile::{from_notation, to_notation};
//! use prof::{Filters, filter::FilterKind};
//!
//! let profile = from_notation("main;parse;runtime.gc 3\nmain;render 5\nmain;sleep 92");
//! let filters = Filters::new().hide_frames(r"runtime\..*")?.with(FilterKind::HideStacks, "^sleep$")?;
//! assert_eq!(filters.describe(), ["--hide-stacks '^sleep$'", r"--hide-frames 'runtime\..*'"]);
//! assert_eq!(to_notation(&filters.apply(profile)?), "main;parse 3\nmain;render 5");
//! # Ok::<(), prof::filter::FilterError>(())
//! ```

mod error;
mod kind;
mod stages;

pub use error::FilterError;
pub use kind::FilterKind;
pub use stages::{Stages, offer_labels};

use crate::name::quoted;
use crate::pattern::Pattern;
use crate::profile::{LoadOptions, OnlySamples, Profile};
use crate::transform::{
    Marks, anonymize, anonymous_input, end_before, prune_from, show_from, show_stacks, split_recorded,
};
use crate::tree::{By, join_adjacent};

/// One filter: what it does, and its pattern or value as it is typed. Flags have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// What it does.
    pub kind: FilterKind,
    /// Its pattern or value.
    pub text: String,
}

impl Filter {
    /// The words of the filter on a command line; secrets are left out.
    pub fn words(&self) -> Vec<String> {
        let option = self.kind.option().to_string();
        match self.kind {
            FilterKind::Fold if self.text.is_empty() => vec![option],
            FilterKind::Fold => vec![format!("{option}={}", self.text)],
            kind if kind.is_flag() => vec![option],
            _ if self.text.starts_with('-') => vec![format!("{option}={}", self.text)],
            _ => vec![option, self.text.clone()],
        }
    }

    /// The filter as it can be typed: `--hide-frames 'runtime\..*'`.
    pub fn describe(&self) -> String {
        let (option, text) = (self.kind.option(), &self.text);
        match self.kind {
            FilterKind::Fold if text.is_empty() => option.to_string(),
            FilterKind::Fold => format!("{option}={}", quoted(text)),
            kind if kind.is_flag() => option.to_string(),
            _ => format!("{option} {}", quoted(text)),
        }
    }
}

/// Filters, always applied in the order of [`FilterKind`].
#[derive(Clone, Debug, Default)]
pub struct Filters {
    list: Vec<Filter>,
    /// Whether patterns are literal text, not regular expressions.
    fixed: bool,
    /// The part of the stacks through [`FilterKind::Focus`] that is kept.
    focus_part: FocusPart,
    /// The metric that holds the old side of a comparison, which [`FilterKind::WhatIf`] does not change.
    old_metric: Option<usize>,
}

/// The part of the stacks through `--focus` that a view shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FocusPart {
    /// The whole stack.
    #[default]
    All,
    /// From the outermost match to the leaf.
    Callees,
    /// From the root to the innermost match.
    Callers,
    /// From the outermost match to the leaf and, separately, from the root to that match.
    Both,
    /// All stacks: the view applies the focus itself.
    Untouched,
}

/// A filtered profile, and what a report says about the filters.
#[derive(Clone, Debug)]
pub struct Filtered {
    /// The profile. Patterns that match nothing are among its warnings.
    pub profile: Profile,
    /// The filters as typed, in the order they were applied.
    pub filters: Vec<String>,
    /// The frames that [`FilterKind::Focus`] matches, if it was given.
    pub focus: Option<Marks>,
    /// The callers of the focus, for [`FocusPart::Both`].
    pub callers: Option<Profile>,
    /// Notes on patterns that were not used as typed.
    pub notes: Vec<String>,
    /// For each metric, the value of the stacks that lost all their frames to filters of frames.
    pub emptied: Vec<i64>,
    /// For each metric, what the samples that are left cost as recorded, if [`FilterKind::WhatIf`] changed that.
    pub recorded: Option<Vec<i64>>,
}

impl Filters {
    /// No filters. Patterns are regular expressions.
    pub fn new() -> Self {
        Filters::default()
    }

    /// No filters. Patterns are literal text.
    pub fn literal() -> Self {
        Filters { fixed: true, ..Filters::default() }
    }

    /// Filters as they were typed, in any order. Their patterns are checked when they are applied.
    pub fn typed(filters: impl IntoIterator<Item = (FilterKind, String)>, fixed: bool) -> Self {
        let list = filters.into_iter().map(|(kind, text)| Filter { kind, text }).collect();
        let mut filters = Filters { list, fixed, ..Filters::default() };
        filters.list.sort_by_key(|filter| filter.kind);
        filters
    }

    /// Adds a filter. Fails if its pattern is not valid.
    pub fn with(mut self, kind: FilterKind, text: impl Into<String>) -> Result<Self, FilterError> {
        let text = text.into();
        if kind.takes_pattern() {
            Pattern::parse(&text, self.fixed)?;
        }
        self.list.push(Filter { kind, text });
        self.list.sort_by_key(|filter| filter.kind);
        Ok(self)
    }

    /// Keeps only stacks with a matching frame.
    pub fn show_stacks(self, pattern: impl Into<String>) -> Result<Self, FilterError> {
        self.with(FilterKind::ShowStacks, pattern)
    }

    /// Drops stacks with a matching frame.
    pub fn hide_stacks(self, pattern: impl Into<String>) -> Result<Self, FilterError> {
        self.with(FilterKind::HideStacks, pattern)
    }

    /// Keeps only matching frames; the self value of removed frames moves to the caller.
    pub fn show_frames(self, pattern: impl Into<String>) -> Result<Self, FilterError> {
        self.with(FilterKind::ShowFrames, pattern)
    }

    /// Removes matching frames; their self value moves to the caller.
    pub fn hide_frames(self, pattern: impl Into<String>) -> Result<Self, FilterError> {
        self.with(FilterKind::HideFrames, pattern)
    }

    /// The same filters, of which a view shows this part of the stacks through the focus.
    #[must_use]
    pub fn focused(self, focus_part: FocusPart) -> Self {
        Filters { focus_part, ..self }
    }

    /// The same filters for a comparison whose old side is this metric.
    #[must_use]
    pub fn comparing(self, old_metric: Option<usize>) -> Self {
        Filters { old_metric, ..self }
    }

    /// The same filters without those of one kind.
    #[must_use]
    pub fn without(mut self, kind: FilterKind) -> Self {
        self.list.retain(|filter| filter.kind != kind);
        self
    }

    /// Whether there are no filters.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The filters in the order they are applied.
    pub fn list(&self) -> &[Filter] {
        &self.list
    }

    /// What has to be loaded for these filters.
    pub fn needs(&self) -> LoadOptions {
        self.list.iter().fold(LoadOptions::LEAST, |needs, filter| needs.or(filter.kind.needs()))
    }

    /// What a reader may leave out because `--label`, `--from` and `--to` drop it. Filters that are applied before these may have
    /// something to say about every sample.
    pub fn only(&self) -> Option<OnlySamples> {
        let last = |kind| self.texts(kind).pop();
        if self.list.iter().any(|filter| filter.kind < FilterKind::Label) {
            return None;
        }
        let only = OnlySamples {
            labels: self.texts(FilterKind::Label),
            fixed: self.fixed,
            from: last(FilterKind::From),
            to: last(FilterKind::To),
        };
        (only != OnlySamples::default()).then_some(only)
    }

    /// The filters as they could be typed, in the order they are applied. A focus that the view applies itself is not one
    /// of them.
    pub fn describe(&self) -> Vec<String> {
        let is_left =
            |filter: &&Filter| filter.kind != FilterKind::Focus || self.focus_part != FocusPart::Untouched;
        self.list.iter().filter(is_left).map(Filter::describe).collect()
    }

    /// The filtered profile. Patterns match functions; what was not used as typed is among its warnings.
    pub fn apply(&self, profile: Profile) -> Result<Profile, FilterError> {
        let Filtered { mut profile, notes, .. } = self.apply_by(profile, &By::Function)?;
        profile.meta.warnings.extend(notes);
        Ok(profile)
    }

    /// A profile to which filters are applied one by one. Patterns are read as those of these filters.
    pub fn stages(&self, profile: Profile, by: &By) -> Stages {
        Stages::new(profile, self.fixed, by)
    }

    /// Applies the filters to a profile for a view that groups frames by `by`: patterns match those names too, and
    /// adjacent frames of one group become one.
    pub fn apply_by(&self, profile: Profile, by: &By) -> Result<Filtered, FilterError> {
        if profile.calls.is_some() {
            return self.apply_to_calls(profile, by);
        }
        let mut stages = self.stages(profile, by);
        let [from, to] = [FilterKind::From, FilterKind::To].map(|kind| self.texts(kind));
        for (kind, texts) in self.by_kind() {
            stages.apply(kind, &texts)?;
            if kind == FilterKind::WhatIf {
                stages.what_if(&texts, self.old_metric)?;
            }
            if kind == FilterKind::From || (kind == FilterKind::To && from.is_empty()) {
                // Both ends may be relative to those of the profile, so they are applied at once.
                stages.show_times(from.last().map(String::as_str), to.last().map(String::as_str))?;
            }
        }
        let mut focus = self.focus(&mut stages)?;
        let mut callers = None;
        if let Some(marks) = &focus {
            if self.focus_part == FocusPart::Both {
                callers = Some(end_before(&stages.profile, marks).0);
            }
            stages.profile = match self.focus_part {
                FocusPart::All | FocusPart::Untouched => stages.profile,
                FocusPart::Callees | FocusPart::Both => show_from(&stages.profile, marks).0,
                FocusPart::Callers => prune_from(&stages.profile, marks).0,
            };
        }
        if let Some(salt) = self.texts(FilterKind::Anonymize).first() {
            // Last, so that patterns match the original names.
            let hide = |profile: &Profile| anonymize(profile, salt);
            (stages.profile, callers) = (hide(&stages.profile), callers.as_ref().map(hide));
            stages.notes.extend(note_of_salt(salt));
        }
        match by {
            By::Label(key) => {
                stages.by_label(key)?;
                // The nodes are label values now, so there is no function to focus on.
                (focus, callers) = (None, None);
            }
            by => {
                let join = |profile: &Profile| join_adjacent(profile, by);
                (stages.profile, callers) = (join(&stages.profile), callers.as_ref().map(join));
            }
        }
        let Stages { mut profile, notes, emptied, .. } = stages;
        let mut recorded = None;
        if !self.texts(FilterKind::WhatIf).is_empty() {
            let (changed, before) = split_recorded(profile);
            (profile, recorded) = (changed, Some(before));
            callers = callers.map(|callers| split_recorded(callers).0);
        }
        Ok(Filtered { profile, filters: self.describe(), focus, callers, notes, emptied, recorded })
    }

    /// Keeps only the stacks through the focus, unless the view does so itself. Returns the matches.
    fn focus(&self, stages: &mut Stages) -> Result<Option<Marks>, FilterError> {
        let texts = self.texts(FilterKind::Focus);
        let marks = stages.matching(FilterKind::Focus.option(), &texts)?;
        if self.focus_part == FocusPart::Untouched {
            return Ok(None);
        }
        if let Some(marks) = &marks {
            stages.profile = show_stacks(&stages.profile, marks).0;
        }
        Ok(marks)
    }

    /// Renames the functions of a profile that holds calls. All other filters need stacks and are refused.
    fn apply_to_calls(&self, profile: Profile, by: &By) -> Result<Filtered, FilterError> {
        let works = |filter: &&Filter| match filter.kind {
            FilterKind::Rename | FilterKind::Anonymize => true,
            // Profilers that count calls leave no artefacts, so `--fold` without a name has nothing to do.
            FilterKind::Fold => filter.text.is_empty(),
            FilterKind::Focus => self.focus_part == FocusPart::Untouched,
            _ => false,
        };
        if let Some(filter) = self.list.iter().find(|filter| !works(filter)) {
            let (filter, format) = (filter.describe(), profile.meta.format);
            let message = format!("{filter}: {format} records calls between functions, not whole stacks");
            let hint = "prof focus FUNC shows the callers and callees of a function";
            return Err(FilterError::hinted(message, hint));
        }
        let mut stages = self.stages(profile, by);
        stages.apply(FilterKind::Rename, &self.texts(FilterKind::Rename))?;
        if let Some(salt) = self.texts(FilterKind::Anonymize).first() {
            stages.profile = anonymize(&stages.profile, salt);
            stages.notes.extend(note_of_salt(salt));
        }
        let Stages { profile, notes, .. } = stages;
        let filters = self.describe();
        let emptied = Vec::new();
        Ok(Filtered { profile, filters, focus: None, callers: None, notes, emptied, recorded: None })
    }

    /// The name of an input as reports and datasets show it: hashed, like all names, if `--anonymize` is given.
    pub fn input(&self, name: &str) -> String {
        let salts = self.texts(FilterKind::Anonymize);
        salts.first().map_or_else(|| name.to_string(), |salt| anonymous_input(name, salt))
    }

    /// The patterns or values of the filters of one kind.
    pub fn texts(&self, kind: FilterKind) -> Vec<String> {
        let of_kind = self.list.iter().filter(|filter| filter.kind == kind);
        of_kind.map(|filter| filter.text.clone()).collect()
    }

    /// The kinds of filters in the order they are applied, with the patterns or values of each.
    fn by_kind(&self) -> impl Iterator<Item = (FilterKind, Vec<String>)> + '_ {
        self.list
            .chunk_by(|a, b| a.kind == b.kind)
            .map(|group| (group[0].kind, group.iter().map(|filter| filter.text.clone()).collect()))
    }
}

/// A note if names are hashed without a secret salt: whoever guesses a name can compare its hash.
fn note_of_salt(salt: &str) -> Option<String> {
    salt.is_empty().then(|| {
        "--anonymize: whoever guesses a name can check the guess against its hash; --salt SECRET prevents this"
            .to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn the_order_is_fixed() {
        let typed = |order: [usize; 3]| {
            let all = [
                (FilterKind::ShowFrom, "b".to_string()),
                (FilterKind::HideStacks, "c".to_string()),
                (FilterKind::Rename, "^a$=b".to_string()),
            ];
            Filters::typed(order.map(|place| all[place].clone()), false)
        };
        let profile = from_notation("a;x 1\nd;a;y 2\na;c 4");
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let filters = typed(order);
            assert_eq!(filters.describe(), ["--rename '^a$=b'", "--hide-stacks c", "--show-from b"]);
            // Renamed first: `--show-from b` finds what was called `a`.
            assert_eq!(to_notation(&filters.apply(profile.clone()).unwrap()), "b;x 1\nb;y 2");
        }
    }

    #[test]
    fn errors_name_the_filter() {
        let profile = from_notation("main;parse 1");
        let error = Filters::new().show_stacks("parsee").unwrap().apply(profile.clone()).unwrap_err();
        assert_eq!(error.to_string(), "--show-stacks parsee: nothing matches");
        assert_eq!(error.hint(), Some("did you mean parse?"));
        let hidden = Filters::new().hide_frames("parsee").unwrap().apply(profile).unwrap();
        assert_eq!(hidden.meta.warnings, ["--hide-frames parsee: nothing matches"]);
        assert!(Filters::new().hide_frames("").is_err());
    }

    #[test]
    fn filters_say_what_has_to_be_loaded() {
        let filters = Filters::new().with(FilterKind::HideLabel, "k=v").unwrap();
        assert_eq!((filters.needs().labels, filters.needs().times), (true, false));
        let filters = filters.with(FilterKind::From, "1s").unwrap();
        assert_eq!((filters.needs().labels, filters.needs().times), (true, true));
        assert_eq!(Filters::new().needs(), LoadOptions::LEAST);
    }
}
