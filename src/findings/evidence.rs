//! What the rules look at: groups of samples with one stack, and who has taken them.

use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::name::is_standard_library;
use crate::pattern::{contains, is_added, is_own};
use crate::profile::{Column, FrameId, FunctionId, Profile, StackId};
use crate::report::{Evidence, Name, Sentence};
use crate::tree::{Flat, KeyId, Subject, flat};
use crate::unit;

/// What the values are, as far as it matters for what to say about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Time that something runs, or another cost of running.
    Time,
    /// Memory that was allocated.
    Allocated,
    /// Memory that is in use.
    InUse,
    /// Memory that was in use when most of it was.
    AtPeak,
    /// Time that something waits, or how often it waits.
    Waiting,
    /// The same for those who hold a lock that others wait for.
    Holding,
    /// Anything else.
    Other,
}

impl Cost {
    /// Whether it is a kind of waiting.
    pub fn is_waiting(self) -> bool {
        matches!(self, Cost::Waiting | Cost::Holding)
    }

    /// Whether it is memory.
    pub fn is_memory(self) -> bool {
        matches!(self, Cost::Allocated | Cost::InUse | Cost::AtPeak)
    }
}

/// The samples that have one stack, or those of them that waited.
#[derive(Clone, Copy, Debug)]
pub struct SampleGroup<'p> {
    /// The stack, root first.
    pub frames: &'p [FrameId],
    /// The same by its number; none in a profile of calls.
    pub stack: Option<StackId>,
    /// Whether the thread is known to have waited.
    pub waits: bool,
    /// The sum of their values.
    pub value: i64,
    /// The same on the old side of a comparison.
    pub old: i64,
}

/// A value, on both sides of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// On the new side.
    pub value: i64,
    /// On the old side, as recorded.
    pub old: i64,
}

/// All samples, and which of them support no finding yet.
pub struct Samples<'s, 'p> {
    /// The counted profile.
    pub subject: &'s Subject<'p>,
    /// The samples by stack.
    pub groups: Vec<SampleGroup<'s>>,
    /// What the values are.
    pub cost: Cost,
    /// Self and total of every function.
    pub flat: Flat,
    /// The sum of all values.
    pub whole: i64,
    /// Whether a value may be that of a thread that waited, although no sample says so: in a profile of elapsed time.
    pub may_wait: bool,
    is_taken: Vec<bool>,
    is_own: Column<FrameId, bool>,
    is_nameless: Column<KeyId, bool>,
    /// The frames that only allocate memory, in profiles of memory: what is below them is done for whoever allocates.
    is_allocator: Option<Column<FrameId, bool>>,
    /// The values of all sites, the smallest first.
    site_values: OnceLock<Vec<i64>>,
}

/// What a rule suggests.
#[derive(Debug)]
pub struct Candidate {
    /// The samples that support it.
    pub groups: Vec<usize>,
    /// The smallest value of its samples with which it is worth a finding of its own.
    pub least_value: i64,
    /// What the evidence shows.
    pub measured: Measured,
    /// The command that shows it.
    pub evidence: Evidence,
    /// What to say.
    pub says: Sentence,
    /// What else is known.
    pub details: Vec<Sentence>,
    /// Whether the program would gain if it cost nothing: not if threads wait for work.
    pub has_ceiling: bool,
    /// The function that it is about.
    pub function: Option<Name>,
    /// The file and the line that it is about.
    pub place: Option<(Name, u32)>,
}

impl Candidate {
    /// A candidate about samples that `evidence` shows.
    pub(super) fn new(groups: Vec<usize>, measured: Measured, evidence: Evidence, says: Sentence) -> Self {
        let (details, function, place) = (Vec::new(), None, None);
        let (least_value, has_ceiling) = (0, true);
        Candidate { groups, least_value, measured, evidence, says, details, has_ceiling, function, place }
    }

    /// About what nobody gains from.
    pub(super) fn without_ceiling(mut self) -> Self {
        self.has_ceiling = false;
        self
    }

    /// With more to say.
    pub(super) fn detail(mut self, detail: Option<Sentence>) -> Self {
        self.details.extend(detail);
        self
    }

    /// About this function.
    pub(super) fn about(mut self, function: &Name) -> Self {
        self.function = Some(function.clone());
        self
    }
}

/// `prof focus` of a function or a named set.
pub(super) fn focus(name: &str) -> Evidence {
    Evidence { words: vec!["focus".to_string()], subject: Some(name.to_string()) }
}

impl<'s, 'p> Samples<'s, 'p> {
    /// The samples of a profile. In a profile of calls, each function is a stack by itself: one of `lone`. The values of
    /// the old side are as recorded.
    pub fn new(subject: &'s Subject<'p>, lone: &'s [FrameId], cost: Cost) -> Self {
        let profile = subject.profile;
        let flat = flat(subject);
        let series = |values: &mut dyn Iterator<Item = i64>| {
            (values.next().unwrap_or_default(), values.next().unwrap_or_default())
        };
        let of_stack = |stack| {
            let (value, old) = series(&mut subject.values(stack));
            SampleGroup { frames: profile.stacks.frames(stack), stack: Some(stack), waits: false, value, old }
        };
        let mut groups: Vec<SampleGroup<'s>> = subject.stacks().map(of_stack).collect();
        if subject.calls.is_some() {
            let mut seen = Column::<KeyId, bool>::filled(false, subject.keys.len());
            let is_first =
                |frame: &&FrameId| !std::mem::replace(&mut seen[subject.keys.of_frame(**frame)], true);
            let firsts: Vec<&FrameId> = lone.iter().filter(is_first).collect();
            groups.extend(firsts.into_iter().map(|frame| {
                let key = subject.keys.of_frame(*frame);
                let (value, old) = series(&mut flat.self_value.iter().map(|values| values[key]));
                let frames = std::slice::from_ref(frame);
                SampleGroup { frames, stack: None, waits: false, value, old }
            }));
        }
        groups.retain(|group| group.value != 0 || group.old != 0);
        let whole = groups.iter().map(|group| group.value).sum();
        let is_taken = vec![false; groups.len()];
        let is_own: Column<FrameId, bool> = of_functions(profile, |name, file| {
            is_own(name, file) && !is_standard_library(name, file) && !is_added(name, file)
        });
        // Names such as `__schedule` say nothing; the binary that they are in does.
        let symbols = &profile.symbols;
        let is_system = symbols.system_mappings();
        let is_system = |frame: FrameId| is_system[symbols.frames[frame].mapping];
        // Functions of one name are one function: it is the program's if any of them is.
        let mut own_keys = Column::<KeyId, bool>::filled(false, subject.keys.len());
        for (frame, _) in is_own.enumerate().filter(|&(frame, is_own)| *is_own && !is_system(frame)) {
            own_keys[subject.keys.of_frame(frame)] = true;
        }
        let is_own = is_own.ids().map(|frame| own_keys[subject.keys.of_frame(frame)]).collect();
        let is_allocator = cost.is_memory().then(|| set(profile, "@alloc"));
        let nameless = symbols.frames.enumerate().filter(|(_, frame)| symbols.is_nameless(frame.function));
        let nameless = nameless.map(|(frame, _)| subject.keys.of_frame(frame));
        let is_nameless = Column::marking(nameless, subject.keys.len());
        Samples {
            subject,
            groups,
            cost,
            flat,
            whole,
            may_wait: false,
            is_taken,
            is_own,
            is_nameless,
            is_allocator,
            site_values: OnceLock::new(),
        }
    }

    /// The same, given how long each stack waited: on the new side, and on the old one if there is one.
    #[must_use]
    pub fn with_waits(mut self, waits: &[Column<StackId, i64>]) -> Self {
        let [of_new, of_old] = [waits.first(), waits.get(1)];
        let mut waiting = Vec::new();
        for group in &mut self.groups {
            let part = |waits: Option<&Column<StackId, i64>>| {
                waits.zip(group.stack).map_or(0, |(waits, stack)| waits[stack])
            };
            let (value, old) = (part(of_new).min(group.value), part(of_old).min(group.old));
            waiting.push(SampleGroup { waits: true, value, old, ..*group });
            (group.value, group.old) = (group.value - value, group.old - old);
        }
        self.groups.append(&mut waiting);
        self.groups.retain(|group| group.value != 0 || group.old != 0);
        self.is_taken = vec![false; self.groups.len()];
        self
    }

    /// The samples that support no finding yet, without those that are known to have waited: these say nothing about work.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> + '_ {
        self.all_left().filter(|&group| !self.groups[group].waits)
    }

    /// The samples that support no finding yet.
    pub fn all_left(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.groups.len()).filter(|&group| self.is_left(group))
    }

    /// Those of them that a named set is part of.
    pub(super) fn left_in(&self, set: &Column<FrameId, bool>) -> Vec<usize> {
        self.left().filter(|&group| self.touches(group, set)).collect()
    }

    /// Whether a frame of a sample is in a named set.
    pub(super) fn touches(&self, group: usize, set: &Column<FrameId, bool>) -> bool {
        self.groups[group].frames.iter().any(|&frame| set[frame])
    }

    pub(super) fn is_left(&self, group: usize) -> bool {
        !self.is_taken[group]
    }

    pub(super) fn take(&mut self, groups: &[usize]) {
        for &group in groups {
            self.is_taken[group] = true;
        }
    }

    /// The sum of the values of some samples.
    pub(super) fn sum(&self, groups: &[usize]) -> i64 {
        groups.iter().map(|&group| self.groups[group].value).sum()
    }

    /// A share of the whole, in percent.
    pub(super) fn percent(&self, value: i64) -> f64 {
        if self.whole == 0 { 0.0 } else { 100.0 * value as f64 / self.whole as f64 }
    }

    /// The same as text: `12.3%`.
    pub(super) fn share(&self, value: i64) -> String {
        unit::share(value, self.whole)
    }

    /// The frames of a named set. As in `prof focus`, a function belongs to it as a whole: in some formats, functions of one
    /// name in two files are one function.
    pub(super) fn set(&self, name: &str) -> Column<FrameId, bool> {
        let profile = self.subject.profile;
        let frames = set(profile, name);
        let mut keys = Column::<KeyId, bool>::filled(false, self.subject.keys.len());
        for &frame in profile.stacks.all_frames().iter().filter(|&&frame| frames[frame]) {
            keys[self.key(frame)] = true;
        }
        profile.symbols.frames.ids().map(|frame| keys[self.key(frame)]).collect()
    }

    pub(super) fn key(&self, frame: FrameId) -> KeyId {
        self.subject.keys.of_frame(frame)
    }

    pub(super) fn name(&self, key: KeyId) -> &Name {
        self.subject.keys.name(key)
    }

    /// Whether it is code without a name.
    pub(super) fn is_nameless(&self, key: KeyId) -> bool {
        self.is_nameless[key]
    }

    /// Whether a frame is part of the program, rather than of a library or the runtime.
    pub(super) fn is_own(&self, frame: FrameId) -> bool {
        self.is_own[frame]
    }

    /// Where on a stack the cost arises: at its leaf; memory is allocated by whoever calls the allocator.
    pub(super) fn site(&self, group: usize) -> Option<usize> {
        let frames = self.groups[group].frames;
        match &self.is_allocator {
            Some(is_allocator) => frames.iter().rposition(|&frame| !is_allocator[frame]),
            None => frames.len().checked_sub(1),
        }
    }

    /// The value of the samples with a frame for which `is` holds, taken or not.
    pub(super) fn measure(&self, is: impl Fn(FrameId) -> bool) -> Measured {
        let groups = self.groups.iter().filter(|group| group.frames.iter().any(|&frame| is(frame)));
        add(groups)
    }

    /// The total of a function.
    pub(super) fn total_of(&self, key: KeyId) -> Measured {
        self.measure(|frame| self.key(frame) == key)
    }

    /// The samples that are left and whose cost arises in a function, for each function: the site's key, the sum of all such
    /// samples, and those that are left.
    pub(super) fn by_site(&self, is: impl Fn(FrameId) -> bool) -> Vec<(KeyId, Measured, Vec<usize>)> {
        let mut sites: HashMap<KeyId, (Measured, Vec<usize>)> = HashMap::new();
        for (number, group) in self.groups.iter().enumerate() {
            let Some(frame) = self.site(number).map(|at| group.frames[at]) else { continue };
            if is(frame) {
                let (measured, left) = sites.entry(self.key(frame)).or_default();
                *measured = Measured { value: measured.value + group.value, old: measured.old + group.old };
                if self.is_left(number) && !group.waits {
                    left.push(number);
                }
            }
        }
        let mut sites: Vec<_> =
            sites.into_iter().map(|(key, (measured, left))| (key, measured, left)).collect();
        sites.sort_by_key(|(key, ..)| *key);
        sites
    }

    /// Whether a value stands out among those of all sites: in a flat profile, none does, and the largest is the largest by
    /// chance.
    pub(super) fn stands_out(&self, value: i64) -> bool {
        let values = self.site_values.get_or_init(|| {
            let sites = self.by_site(|_| true).into_iter();
            let mut values: Vec<i64> = sites.map(|(_, measured, _)| measured.value).collect();
            values.sort_unstable();
            values
        });
        let alike = values.len() - values.partition_point(|&other| other < value - value / 2);
        self.percent(value) >= LARGE || alike <= CROWD
    }

    /// The command that shows the self of a site.
    pub(super) fn focus_site(&self, key: KeyId) -> Evidence {
        let mut evidence = focus(self.name(key));
        let is_below = |is_allocator: &Column<FrameId, bool>| {
            self.groups.iter().any(|group| group.frames.iter().any(|&frame| is_allocator[frame]))
        };
        if self.is_allocator.as_ref().is_some_and(is_below) {
            evidence.words.extend(["--hide-frames", "@alloc"].map(str::to_string));
        }
        evidence
    }

    /// The innermost function of the program above position `below` of a stack, other than `not`.
    pub(super) fn own_caller(&self, group: usize, below: usize, not: Option<KeyId>) -> Option<KeyId> {
        let frames = self.groups[group].frames[..below].iter().rev();
        let mut keys = frames.filter(|&&frame| self.is_own(frame)).map(|&frame| self.key(frame));
        keys.find(|&key| Some(key) != not)
    }

    /// Who calls: `called by A (12.3%), B (4.5%) and 3 more`, or `called only by A`. `caller` says who that is for a group of
    /// samples.
    pub(super) fn callers(
        &self,
        [by, only_by]: [&str; 2],
        groups: &[usize],
        caller: impl Fn(usize) -> Option<KeyId>,
    ) -> Option<Sentence> {
        let mut sums: HashMap<KeyId, i64> = HashMap::new();
        let mut all = 0;
        for &group in groups {
            if let Some(key) = caller(group) {
                *sums.entry(key).or_default() += self.groups[group].value;
                all += self.groups[group].value;
            }
        }
        let mut sums: Vec<(KeyId, i64)> = sums.into_iter().filter(|(_, value)| *value > 0).collect();
        sums.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| self.name(a.0).cmp(self.name(b.0))));
        let (first, _) = sums.first()?;
        if sums.len() == 1 && all == self.sum(groups) {
            return Some(Sentence::new(format!("{only_by} ")).name(self.name(*first)));
        }
        let mut sentence = Sentence::new(format!("{by} "));
        let shown = sums
            .iter()
            .take(CALLERS)
            .take_while(|(_, value)| i128::from(*value) * 20 >= i128::from(all))
            .count()
            .max(1);
        for (number, (key, value)) in sums.iter().take(shown).enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            sentence = sentence.text(comma).name(self.name(*key)).text(format!(" ({})", self.share(*value)));
        }
        let more = sums.len() - shown;
        if more > 0 {
            sentence = sentence.text(format!(" and {more} more"));
        }
        let others = self.sum(groups) - all;
        if self.percent(others) >= OTHERS {
            sentence = sentence.text(format!("; {} from elsewhere", self.share(others)));
        }
        Some(sentence)
    }
}

/// The verb for callers of a function.
pub(super) const CALLED: [&str; 2] = ["called by", "called only by"];

/// The verb for those who need some kind of work.
pub(super) const ASKED_FOR: [&str; 2] = ["asked for by", "asked for only by"];

/// The verb for code from which something in a library is reached.
pub(super) const REACHED: [&str; 2] = ["reached from", "reached only from"];

/// A function with this share, in percent, is worth a look even if others are as heavy.
const LARGE: f64 = 10.0;

/// A function does not stand out if more than so many, it among them, have at least half of its value.
const CROWD: usize = 10;

/// From this share on, a sentence says that there are others than those who call.
const OTHERS: f64 = 0.5;

/// How many callers a sentence names.
const CALLERS: usize = 3;

pub(super) fn add<'g, 'p: 'g>(groups: impl Iterator<Item = &'g SampleGroup<'p>>) -> Measured {
    groups.fold(Measured::default(), |sum, group| Measured {
        value: sum.value + group.value,
        old: sum.old + group.old,
    })
}

/// The frames of a named set.
fn set(profile: &Profile, name: &str) -> Column<FrameId, bool> {
    of_functions(profile, |function, file| contains(name, function, file))
}

/// The frames of the functions for whose names and files `is` holds.
fn of_functions(profile: &Profile, is: impl Fn(&str, &str) -> bool) -> Column<FrameId, bool> {
    let symbols = &profile.symbols;
    let functions: Column<FunctionId, bool> = symbols
        .functions
        .ids()
        .map(|function| is(symbols.function_name(function), symbols.function_file(function)))
        .collect();
    symbols.frames.map(|frame| functions[frame.function])
}
