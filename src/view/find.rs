//! Finding the functions that the user asked for: `prof focus FUNC`, `prof source FUNC`.

use crate::name::{is_screen_form, nearest, screen_forms, short_name};
use crate::pattern::{Aspect, FrameNames, Pattern, PatternError, without_file_count};
use crate::profile::{Column, FrameId};
use crate::tree::{By, KeyId, Subject, marks};

/// The functions that were found.
#[derive(Clone, Debug)]
pub(super) struct FoundKeys {
    /// Whether each key is one of them.
    pub(super) wanted: Column<KeyId, bool>,
    /// How the text was interpreted, if that is not obvious.
    pub(super) note: Option<String>,
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// The text cannot be used as a pattern.
    Pattern(PatternError),
    /// Nothing matches. These names are the most similar ones.
    Nothing(Vec<String>),
    /// These functions match, but have no value in the metric shown.
    NoValue(Vec<String>),
}

/// The number of names that an error suggests.
const OFFERED: usize = 3;

/// The keys that `text` refers to: those shown on the screen as exactly this text, else all that match it as
/// a pattern, else all that contain it literally. With `fixed` the text is always literal.
pub(super) fn find(subject: &Subject<'_>, by: &By, text: &str, fixed: bool) -> Result<FoundKeys, NotFound> {
    let candidates = Candidates::new(subject, by);
    let (pattern, mut note) = Pattern::parse(text, fixed).map_err(NotFound::Pattern)?;
    let name = if pattern.aspect() == Aspect::Function { pattern.body() } else { text };
    let mut found = candidates.named(name);
    if found.is_empty() {
        found = candidates.matching(&pattern);
    } else {
        note = None;
    }
    if found.is_empty() && !fixed && note.is_none() {
        found = candidates.matching(&Pattern::literal_of(text).map_err(NotFound::Pattern)?);
        note = Some(format!(
            "`{}` matches nothing as a regular expression; matching it literally",
            text.escape_debug()
        ));
    }
    let name = |&key: &KeyId| subject.keys.name(key).to_string();
    if found.is_empty() {
        let names = candidates.keys.iter().map(|&key| &**subject.keys.name(key));
        let near = nearest(pattern.body(), names, OFFERED);
        return Err(NotFound::Nothing(near.into_iter().map(str::to_string).collect()));
    }
    let valued: Vec<KeyId> = found.iter().copied().filter(|&key| candidates.valued[key]).collect();
    if valued.is_empty() {
        return Err(NotFound::NoValue(found.iter().map(name).take(OFFERED).collect()));
    }
    let wanted = Column::marking(valued, subject.keys.len());
    Ok(FoundKeys { wanted, note })
}

/// The keys that occur on any stack.
struct Candidates<'s> {
    subject: &'s Subject<'s>,
    by: &'s By,
    keys: Vec<KeyId>,
    /// Whether a key occurs on a stack that has a value.
    valued: Column<KeyId, bool>,
    frames: Vec<FrameId>,
}

impl<'s> Candidates<'s> {
    fn new(subject: &'s Subject<'s>, by: &'s By) -> Self {
        let profile = subject.profile;
        let mut valued = Column::filled(false, subject.keys.len());
        let mut occurs = Column::<FrameId, bool>::filled(false, profile.symbols.frames.len());
        if let (Some(calls), Some(counted)) = (&profile.calls, subject.calls.as_ref()) {
            for (_, frame) in calls.functions() {
                let key = subject.keys.of_frame(frame);
                occurs[frame] = true;
                valued[key] = counted.has_value(key);
            }
        }
        for stack in profile.stacks.ids() {
            let has_value = subject.values(stack).any(|value| value != 0);
            for &frame in profile.stacks.frames(stack) {
                occurs[frame] = true;
                if has_value {
                    valued[subject.keys.of_frame(frame)] = true;
                }
            }
        }
        let frames: Vec<FrameId> = occurs.ids().filter(|&frame| occurs[frame]).collect();
        let mut keys: Vec<KeyId> = frames.iter().map(|&frame| subject.keys.of_frame(frame)).collect();
        keys.sort_unstable();
        keys.dedup();
        Candidates { subject, by, keys, valued, frames }
    }

    /// The keys with exactly this full name; else those of functions with this name in any file; else
    /// those whose shortened name it is.
    fn named(&self, name: &str) -> Vec<KeyId> {
        let plain = without_file_count(name).unwrap_or(name);
        let is = |own: &str| own == name || own == plain;
        let key = |&id: &KeyId| self.subject.keys.get(id);
        let tests: [&dyn Fn(&KeyId) -> bool; 3] =
            [&|id| is(&key(id).name), &|id| is(&key(id).function), &|id| {
                [&key(id).name, &key(id).function].iter().any(|own| is_screen_form(own, plain))
            }];
        let found = tests.iter().map(|test| self.keys_where(test));
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    fn keys_where(&self, test: impl Fn(&KeyId) -> bool) -> Vec<KeyId> {
        self.keys.iter().copied().filter(test).collect()
    }

    fn matching(&self, pattern: &Pattern) -> Vec<KeyId> {
        if matches!(self.by, By::Function | By::Name | By::Line | By::Address) {
            return self.matching_frames(pattern);
        }
        self.keys_where(|&key| {
            let key = self.subject.keys.get(key);
            let file = key.file.as_deref().unwrap_or_default();
            let short = short_name(&key.name);
            pattern.matches(FrameNames { function: &key.name, short: &short, file, ..FrameNames::default() })
                || pattern.matches_displayed(&key.name, screen_forms)
        })
    }

    /// The keys of the frames that match.
    fn matching_frames(&self, pattern: &Pattern) -> Vec<KeyId> {
        let marks = marks(self.subject.profile, &std::iter::once(pattern.clone()).collect(), self.by);
        let matching = self.frames.iter().filter(|&&frame| marks.contain(frame));
        let mut keys: Vec<KeyId> = matching.map(|&frame| self.subject.keys.of_frame(frame)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
