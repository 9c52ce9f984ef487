//! Functions and the calls between them with their counts in every run, so that any part of the program can be tested
//! for a change: a function, its own code, or what one caller spends in it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;

use hashbrown::HashMap;

use crate::name::{is_built_in, is_nameless, library_version};
use crate::pattern::{is_collector, is_own, is_runtime};
use crate::profile::{Column, Frame, Id};
use crate::report::{Name, TotalGrowth, Upgrade};
use crate::stats::compare::{Cause, Comparison, Hypothesis};
use crate::stats::dispersion::RunCounts;
use crate::stats::model::{GONE, Model};
use crate::stats::{CountKind, Verdict};
use crate::tree::{Flat, KeyId, Subject, call_edges};
use crate::view::diff::stacks::{is_of_library, may_lack_callers, with_addresses};
use crate::view::diff::{CallCounts, DiffSides};

/// A caller and the function that it calls.
pub(super) type Edge = (usize, usize);

/// A call: how much of a function's total is spent below one of its callers.
pub(super) struct Call {
    pub(super) caller: usize,
    pub(super) callee: usize,
    counts: Vec<f64>,
    /// Found on first use: of thousands of calls, few are looked at.
    change: OnceCell<Change>,
}

/// What changed between the two sides in some part of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The growth as a fraction of the old total.
    pub(super) points: f64,
    /// The share of the old side, 0 to 1.
    pub(super) old_share: f64,
    /// The effective samples of all runs of the old side.
    pub(super) old_samples: f64,
    /// The share of the new side, rescaled so that unchanged code has the same share on both sides.
    pub(super) new_share: f64,
    /// ln of the cost ratio.
    pub(super) log_ratio: f64,
    /// The standard error of `log_ratio`.
    pub(super) standard_error: f64,
    /// How likely chance alone makes it grow as much.
    pub(super) p: f64,
}

impl Change {
    /// Whether the old side hardly has it: less than a tenth of what the new side has, and no more than a stray stack or two,
    /// as profilers record some. A function that it was seen in again and again was there, however much it grew.
    pub(super) fn is_new(&self) -> bool {
        self.is_nearly_new() && (self.old_samples < FEW_SAMPLES || self.old_share < NOTHING)
    }

    /// Whether the old side has less than a tenth of what the new side has, and next to nothing of the whole.
    pub(super) fn is_nearly_new(&self) -> bool {
        self.old_share < NEW * self.new_share && self.old_share < NEARLY_NOTHING
    }

    /// Whether it certainly grew.
    pub(super) fn grew(&self) -> bool {
        self.points > 0.0 && self.p < CERTAIN
    }

    /// Whether it certainly grew far more than `other`, as a ratio.
    pub(super) fn grew_more_than(&self, other: &Change) -> bool {
        let sure = self.log_ratio - 2.0 * self.standard_error;
        self.grew() && sure > other.log_ratio / ALIKE && sure > other.log_ratio + LEAST_GAP
    }

    /// Whether it certainly grew less than `other`, as a ratio; few samples do not tell.
    pub(super) fn grew_less_than(&self, other: &Change) -> bool {
        let error = self.standard_error.hypot(other.standard_error);
        let gap = other.log_ratio - self.log_ratio;
        gap > 2.0 * error && gap > LEAST_GAP && self.log_ratio < ALIKE * other.log_ratio
    }

    /// Whether it grew about as much as `other`, as a ratio, or may have, within a standard error.
    pub(super) fn grew_like(&self, other: &Change) -> bool {
        self.grew() && self.log_ratio + self.standard_error >= ALIKE * other.log_ratio
    }
}

/// What the old side has less of than this fraction of the new side is new.
const NEW: f64 = 0.1;
/// What was worth at least this fraction of a call elsewhere before is what the call does now.
const PLACE: f64 = 0.25;
/// Stacks that are less than this fraction of a function's are stray ones.
const STRAY: f64 = 0.02;
/// What has a larger share of the old side than this was there before, however much it grew.
const NEARLY_NOTHING: f64 = 0.01;
/// What has a smaller share of the old side than this is noise, whatever the number of samples.
const NOTHING: f64 = 0.0005;
/// Fewer samples than these do not show that something was there before.
const FEW_SAMPLES: f64 = 5.0;
/// The p-value below which a part of a function that is known to have grown is taken to have grown itself.
const CERTAIN: f64 = 0.01;
/// Parts have grown alike if each has at least this fraction of the growth of the whole, on a logarithmic scale.
const ALIKE: f64 = 0.7;

/// Less than this between two growths, on a logarithmic scale, does not tell them apart.
const LEAST_GAP: f64 = 0.1;

/// The counts of a comparison, indexed by function.
pub(super) struct Flow<'a, 'p> {
    pub(super) subject: &'a Subject<'p>,
    pub(super) comparison: &'a Comparison,
    model: &'a Model,
    counted: &'a Flat,
    /// How many series are profiles.
    profiles: usize,
    /// How much of the metric makes one sample.
    size: f64,
    calls: Vec<Call>,
    calls_of: HashMap<usize, Vec<usize>>,
    calls_to: HashMap<usize, Vec<usize>>,
    /// The size of an effective sample of a function, where it differs between functions.
    units: HashMap<usize, f64>,
    /// How often functions were called, if that is known.
    call_counts: Option<&'a CallCounts>,
    /// The libraries of which the sides have different versions.
    upgrades: &'a [Upgrade],
    /// The functions by name, on first use.
    of_name: OnceCell<HashMap<&'a str, usize>>,
    /// The functions that are not only in the kernel and the libraries of the operating system, on first use.
    outside_system: OnceCell<Column<KeyId, bool>>,
    inlined: OnceCell<Vec<(usize, usize, CountKind)>>,
    /// The functions of which addresses are known, on first use.
    with_addresses: OnceCell<Column<KeyId, bool>>,
    /// What was computed before: following growth up and down comes by the same functions again and again.
    changes: RefCell<HashMap<(usize, CountKind), Change>>,
    grew_as_a_whole: RefCell<HashMap<usize, bool>>,
}

impl<'a, 'p> Flow<'a, 'p> {
    /// The flow of a comparison; `None` if nothing was tested.
    pub(super) fn new(
        subject: &'a Subject<'p>,
        counted: &'a Flat,
        comparison: &'a Comparison,
        size: f64,
        sides: &'a DiffSides,
    ) -> Option<Self> {
        let model = comparison.model.as_ref()?;
        let profiles = comparison.profiles.0 + comparison.profiles.1;
        let units = comparison.hypotheses.iter().map(|row| (row.function, row.unit)).collect();
        let mut flow = Flow {
            subject,
            comparison,
            model,
            counted,
            profiles,
            size,
            calls: Vec::new(),
            calls_of: HashMap::new(),
            calls_to: HashMap::new(),
            units,
            call_counts: sides.calls.as_ref(),
            upgrades: &sides.upgrades,
            of_name: OnceCell::new(),
            outside_system: OnceCell::new(),
            inlined: OnceCell::new(),
            with_addresses: OnceCell::new(),
            changes: RefCell::default(),
            grew_as_a_whole: RefCell::default(),
        };
        // If nothing changed, there is nothing to follow.
        if comparison.hypotheses.iter().any(|row| row.verdict != Verdict::Unchanged) {
            flow.add_calls();
        }
        Some(flow)
    }

    /// Adds the calls between functions that are heavy enough to matter.
    fn add_calls(&mut self) {
        let mut heavy = Column::filled(false, self.subject.keys.len());
        let least = self.comparison.options.min_tested / 2.0;
        // Most of a hundred thousand functions are light, and a test takes longer than a share.
        for key in self.subject.keys.ids() {
            let counts = self.counts(key.index(), CountKind::Total);
            let (old, new) = self.model.comparable_shares(&self.column(&counts, key.index()));
            heavy[key] = old.max(new) >= least && !self.is_gap(key.index());
        }
        for edge in call_edges(self.subject, &heavy) {
            let counts: Vec<f64> =
                edge.values[..self.profiles].iter().map(|&value| value as f64 / self.size).collect();
            let (caller, callee) = (edge.caller.index(), edge.callee.index());
            let call = Call { caller, callee, counts, change: OnceCell::new() };
            self.calls_of.entry(call.caller).or_default().push(self.calls.len());
            self.calls_to.entry(call.callee).or_default().push(self.calls.len());
            self.calls.push(call);
        }
    }

    /// The function that the row of this one's total names: of a chain of callers with the same counts, only one has a row.
    pub(super) fn of_row(&self, function: usize) -> usize {
        let is_row =
            |row: &&Hypothesis| row.measure == CountKind::Total && row.same_counts.contains(&function);
        self.comparison.hypotheses.iter().find(is_row).map_or(function, |row| row.function)
    }

    /// Whether a function is only a gap in stacks: nothing tells its name or its binary, and it has no samples of its own. Where
    /// the C library has no frame pointers, such a one stands between `malloc` and `_int_malloc`.
    fn is_gap(&self, function: usize) -> bool {
        let key = self.subject.keys.get(KeyId::new(function));
        let is_of_binary = key.function.starts_with('[') && &*key.function != "[unknown]";
        !is_of_binary
            && is_nameless(&key.function, key.file.as_deref().unwrap_or_default())
            && self.counts(function, CountKind::SelfCount).iter().all(|&count| count == 0.0)
    }

    /// The functions whose own code or total certainly grew, gaps aside, with what was tested, and by enough to matter.
    pub(super) fn grown(&self) -> impl Iterator<Item = (usize, CountKind)> + '_ {
        let options = &self.comparison.options;
        let rows = self.comparison.hypotheses.iter().filter(|row| {
            let is_change = matches!(row.verdict, Verdict::Regressed | Verdict::Small);
            is_change && row.increase.q < options.alpha && row.points >= options.min_points / 2.0
        });
        let rows = rows.filter(|row| !self.is_gap(row.function));
        rows.map(|row| (row.function, row.measure))
    }

    /// The callees of a function and what it spends in them, the largest growth first.
    pub(super) fn callees(&self, function: usize) -> Vec<(usize, Change)> {
        self.changes(self.calls_of.get(&function), |call| call.callee)
    }

    /// Whether more than a few stray stacks have a function below a caller, directly or not.
    pub(super) fn is_below(&self, caller: usize, function: usize) -> bool {
        // Without stacks, calls are all that is known.
        if self.subject.calls.is_some() || self.all_callers(function).any(|known| known == caller) {
            return true;
        }
        let (caller, function) = (KeyId::new(caller), KeyId::new(function));
        let (mut below, mut all) = (0.0, 0.0);
        for stack in self.subject.stacks() {
            let mut is_called = false;
            let mut keys = self.subject.stack_keys(stack).inspect(|&key| is_called |= key == caller);
            if keys.any(|key| key == function) {
                drop(keys);
                let value: f64 =
                    self.subject.values(stack).take(self.profiles).map(|value| value as f64).sum();
                all += value;
                below += if is_called { value } else { 0.0 };
            }
        }
        below > STRAY * all
    }

    /// All callees of a function, in no particular order.
    pub(super) fn all_callees(&self, function: usize) -> impl Iterator<Item = usize> {
        self.listed(self.calls_of.get(&function)).map(|call| call.callee)
    }

    /// All callers of a function, in no particular order.
    pub(super) fn all_callers(&self, function: usize) -> impl Iterator<Item = usize> {
        self.listed(self.calls_to.get(&function)).map(|call| call.caller)
    }

    /// The callees of a function in which it spends more.
    pub(super) fn growing_callees(&self, function: usize) -> impl Iterator<Item = usize> {
        let grew = |call: &&Call| {
            let (old, new) = self.model.comparable_shares(&self.column(&call.counts, call.callee));
            new - old > 0.0
        };
        self.listed(self.calls_of.get(&function)).filter(grew).map(|call| call.callee)
    }

    /// The callers of a function and what they spend in it, the largest growth first.
    pub(super) fn callers(&self, function: usize) -> Vec<(usize, Change)> {
        self.changes(self.calls_to.get(&function), |call| call.caller)
    }

    /// The calls with these numbers.
    fn listed(&self, calls: Option<&Vec<usize>>) -> impl Iterator<Item = &Call> {
        calls.into_iter().flatten().map(|&index| &self.calls[index])
    }

    fn changes(&self, calls: Option<&Vec<usize>>, end: fn(&Call) -> usize) -> Vec<(usize, Change)> {
        let change = |call: &Call| {
            *call.change.get_or_init(|| self.change(&call.counts, call.callee, CountKind::Total))
        };
        let mut changes: Vec<(usize, Change)> =
            self.listed(calls).map(|call| (end(call), change(call))).collect();
        changes.sort_by(|(a, of_a), (b, of_b)| of_b.points.total_cmp(&of_a.points).then(a.cmp(b)));
        changes
    }

    /// The change of the self or the total of a function.
    pub(super) fn of(&self, function: usize, kind: CountKind) -> Change {
        let find = || self.change(&self.counts(function, kind), function, kind);
        *self.changes.borrow_mut().entry((function, kind)).or_insert_with(find)
    }

    /// Whether a function grew as a whole, as `decide` finds out on first use.
    pub(super) fn grew_as_a_whole(&self, function: usize, decide: impl FnOnce() -> bool) -> bool {
        if let Some(&known) = self.grew_as_a_whole.borrow().get(&function) {
            return known;
        }
        let grew = decide();
        self.grew_as_a_whole.borrow_mut().insert(function, grew);
        grew
    }

    pub(super) fn own(&self, function: usize) -> Change {
        self.of(function, CountKind::SelfCount)
    }

    pub(super) fn total(&self, function: usize) -> Change {
        self.of(function, CountKind::Total)
    }

    /// The change of a function's total without what it spends in one callee, or without its own code.
    pub(super) fn rest(&self, function: usize, without: Option<usize>) -> Change {
        let mut counts = self.counts(function, CountKind::Total);
        let part = match without {
            Some(callee) => {
                let calls = self.calls_of.get(&function).into_iter().flatten();
                let call = calls.map(|&index| &self.calls[index]).find(|call| call.callee == callee);
                call.map_or_else(|| vec![0.0; counts.len()], |call| call.counts.clone())
            }
            None => self.counts(function, CountKind::SelfCount),
        };
        // Calls of a recursive function contain each other, so a part may exceed the whole.
        counts.iter_mut().zip(part).for_each(|(count, part)| *count = (*count - part).max(0.0));
        self.change(&counts, function, CountKind::Total)
    }

    /// The change of a function's total without what the caller `without` spends in it.
    pub(super) fn of_other_callers(&self, function: usize, without: usize) -> Change {
        let mut counts = self.counts(function, CountKind::Total);
        let calls = self.calls_to.get(&function).into_iter().flatten();
        for call in calls.map(|&index| &self.calls[index]).filter(|call| call.caller == without) {
            counts.iter_mut().zip(&call.counts).for_each(|(count, part)| *count = (*count - part).max(0.0));
        }
        self.change(&counts, function, CountKind::Total)
    }

    /// Whether any count of a function is known to have changed.
    pub(super) fn is_changed(&self, function: usize) -> bool {
        let is_changed = |row: &Hypothesis| {
            let is_row = row.function == function || row.same_counts.contains(&function);
            is_row && row.verdict != Verdict::Unchanged
        };
        self.comparison.hypotheses.iter().any(is_changed)
    }

    /// Whether a caller took the place of those that called a function before, rather than calling it in addition to them: the
    /// call itself costs nothing that the function did not cost before.
    ///
    /// ```text
    /// main;api;auth 80    →    main;gateway;auth 120
    /// ```
    pub(super) fn is_moved_call(&self, function: usize, caller: usize, call: &Change) -> bool {
        let others = self.of_other_callers(function, caller);
        others.old_share >= PLACE * call.new_share && others.new_share < GONE * others.old_share
    }

    /// Whether code that the old side did not have as a function was elsewhere before.
    pub(super) fn has_moved(&self, function: usize) -> bool {
        let rows = self.comparison.hypotheses.iter();
        let moved = |row: &Hypothesis| row.verdict == Verdict::Moved && row.old <= 0.0;
        let is_of = |row: &&Hypothesis| row.function == function || row.same_counts.contains(&function);
        rows.filter(is_of).any(moved)
    }

    /// The function that a new one replaced, if one did.
    pub(super) fn replaced(&self, function: usize) -> Option<usize> {
        self.comparison.hypotheses.iter().find_map(|row| match row.cause {
            Some(Cause::Moved { from, .. }) if row.function == function => from,
            _ => None,
        })
    }

    /// The functions that are gone because their code is in another one now, with that one, and whether it is the own code that is
    /// known to be there. The largest first.
    pub(super) fn inlined(&self) -> &[(usize, usize, CountKind)] {
        self.inlined.get_or_init(|| self.find_inlined())
    }

    fn find_inlined(&self) -> Vec<(usize, usize, CountKind)> {
        let mut rows: Vec<&Hypothesis> = self.comparison.hypotheses.iter().collect();
        rows.retain(|row| row.points < 0.0 && row.verdict == Verdict::Moved && self.is_own(row.function));
        rows.sort_by(|a, b| a.points.total_cmp(&b.points));
        let host = |row: &&Hypothesis| match row.cause {
            Some(Cause::Moved { caller: Some(host), from: None, .. }) => {
                Some((row.function, host, row.measure))
            }
            _ => None,
        };
        let mut found: Vec<(usize, usize, CountKind)> = rows.iter().filter_map(host).collect();
        // A function may have two rows.
        let mut seen = HashSet::new();
        found.retain(|(gone, ..)| seen.insert(*gone));
        found
    }

    /// The change of a function that replaced another one, both taken as one.
    pub(super) fn of_both(&self, function: usize, replaced: usize) -> Change {
        let mut counts = self.counts(function, CountKind::Total);
        let other = self.counts(replaced, CountKind::Total);
        counts.iter_mut().zip(other).for_each(|(count, other)| *count += other);
        self.change(&counts, function, CountKind::Total)
    }

    /// The change of a part of the self or the total of a function, given its value in every profile.
    pub(super) fn of_values(&self, values: &[i64], function: usize, kind: CountKind) -> Change {
        let counts: Vec<f64> =
            values[..self.profiles].iter().map(|&value| value as f64 / self.size).collect();
        self.change(&counts, function, kind)
    }

    /// What a function costs, with that of its neighbours that were put into it: to callees, its total belonged before.
    fn counts(&self, function: usize, kind: CountKind) -> Vec<f64> {
        let mut counts = self.recorded(function, kind);
        for &(gone, host, _) in self.inlined() {
            if host == function && !self.is_below(host, gone) {
                let parts = self.recorded(gone, kind);
                counts.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
        }
        counts
    }

    fn recorded(&self, function: usize, kind: CountKind) -> Vec<f64> {
        let columns = match kind {
            CountKind::SelfCount => &self.counted.self_value,
            CountKind::Total => &self.counted.total,
        };
        let values = columns[..self.profiles].iter().map(|column| column[KeyId::new(function)]);
        values.map(|value| value as f64 / self.size).collect()
    }

    fn change(&self, counts: &[f64], function: usize, kind: CountKind) -> Change {
        let column = self.column(counts, function);
        let tested = self.model.test(&column, kind);
        let (old_share, new_share) = self.model.comparable_shares(&column);
        Change {
            points: new_share - old_share,
            old_share,
            old_samples: column.counts[..self.comparison.profiles.0].iter().sum(),
            new_share,
            log_ratio: tested.log_ratio,
            standard_error: tested.standard_error,
            p: tested.increase.0,
        }
    }

    /// The name of a function.
    pub(super) fn name(&self, function: usize) -> &Name {
        self.subject.keys.name(KeyId::new(function))
    }

    /// The function with a name.
    pub(super) fn function(&self, name: &str) -> Option<usize> {
        let keys = &self.subject.keys;
        let of_name = || keys.ids().map(|key| (&**keys.name(key), key.index())).collect();
        self.of_name.get_or_init(of_name).get(name).copied()
    }

    /// Whether a function belongs to what may have changed between the builds, rather than to a library or the runtime. A
    /// library that was upgraded did change.
    pub(super) fn is_own(&self, function: usize) -> bool {
        let key = self.subject.keys.get(KeyId::new(function));
        let file = key.file.as_deref().unwrap_or_default();
        !is_built_in(&key.function)
            && (is_own(&key.function, file) || self.is_upgraded(file))
            && !self.is_of_system(function)
    }

    /// Whether a function is one of the program that calls others, rather than a gap in stacks.
    pub(super) fn is_user(&self, function: usize) -> bool {
        self.is_own(function) && !self.is_gap(function)
    }

    /// How many runs of both sides there are.
    pub(super) fn profiles(&self) -> usize {
        self.profiles
    }

    /// Whether a source file belongs to a library of which the sides have different versions.
    fn is_upgraded(&self, file: &str) -> bool {
        // Most comparisons have none.
        !self.upgrades.is_empty()
            && library_version(file).is_some_and(|(library, version)| {
                let is_this = |found: &Upgrade| {
                    found.library == library && (found.old == version || found.new == version)
                };
                self.upgrades.iter().any(is_this)
            })
    }

    /// Whether the addresses of a function's instructions are known, as those of compiled code are.
    pub(super) fn has_addresses(&self, function: usize) -> bool {
        self.with_addresses.get_or_init(|| with_addresses(self.subject))[KeyId::new(function)]
    }

    /// Whether a function is one of a library, which is no part of the program that calls it.
    pub(super) fn is_library(&self, function: usize) -> bool {
        is_of_library(self.subject, function)
    }

    /// Whether the callers of a function may be others than its stacks say.
    pub(super) fn may_lack_callers(&self, function: usize) -> bool {
        may_lack_callers(self.subject.keys.get(KeyId::new(function)), self.has_addresses(function))
    }

    /// Whether a function is one of compiled code, and its stacks may lack its caller.
    pub(super) fn lacks_callers(&self, function: usize) -> bool {
        self.subject.calls.is_none() && self.has_addresses(function) && self.may_lack_callers(function)
    }

    /// Whether a function is in the kernel or in a library of the operating system, and nowhere else.
    pub(super) fn is_of_system(&self, function: usize) -> bool {
        let find = || {
            let is_system = self.subject.profile.symbols.system_mappings();
            self.with_frames(|frame| !is_system[frame.mapping])
        };
        !self.outside_system.get_or_init(find)[KeyId::new(function)]
    }

    /// The functions with any such frame.
    fn with_frames(&self, is: impl Fn(&Frame) -> bool) -> Column<KeyId, bool> {
        self.subject.keys.of_frames(&self.subject.profile.symbols, is)
    }

    /// Whether a function belongs to the runtime of its language.
    pub(super) fn is_runtime(&self, function: usize) -> bool {
        let key = self.subject.keys.get(KeyId::new(function));
        is_runtime(&key.function, key.file.as_deref().unwrap_or_default())
    }

    /// Whether a function belongs to a garbage collector.
    pub(super) fn is_collector(&self, function: usize) -> bool {
        let key = self.subject.keys.get(KeyId::new(function));
        is_collector(&key.function, key.file.as_deref().unwrap_or_default())
    }

    /// How often a function was called on the old and on the new side, if that is known.
    pub(super) fn call_counts(&self, function: usize) -> Option<[f64; 2]> {
        self.call_counts?.of(self.name(function))
    }

    /// How much of a change is due to more calls, each of which costs what it did on average, as a fraction of the old total.
    pub(super) fn growth_by_calls(&self, function: usize, change: &Change) -> Option<f64> {
        let [old, new] = self.call_counts(function)?;
        let per_call = f64::midpoint(change.old_share / old, change.new_share / new);
        (old > 0.0).then_some((new - old) * per_call)
    }

    /// How often `caller` called `callee`.
    pub(super) fn edge_counts(&self, caller: usize, callee: usize) -> Option<[f64; 2]> {
        self.call_counts?.of_edge(self.name(caller), self.name(callee))
    }

    fn column(&self, counts: &[f64], function: usize) -> RunCounts {
        let unit = self.units.get(&function).copied().unwrap_or(self.comparison.unit);
        RunCounts { counts: counts.iter().map(|count| count / unit).collect(), unit }
    }

    /// The growth of a value, given for every profile, as a fraction of the old total.
    pub(super) fn growth_of(&self, values: &[i64]) -> f64 {
        let counts = values[..self.profiles].iter().map(|&value| value as f64 / self.size).collect();
        let (old, new) = self.model.comparable_shares(&RunCounts { counts, unit: 1.0 });
        new - old
    }

    /// A ratio, and the ends of its 95 % interval.
    pub(super) fn ratio(&self, change: &Change) -> [f64; 3] {
        let half_width = self.model.half_width(change.standard_error);
        [0.0, -half_width, half_width].map(|shift| (change.log_ratio + shift).exp())
    }

    /// How much more the whole program costs per unit of unchanged code.
    pub(super) fn growth(&self) -> TotalGrowth {
        let [percent, low, high] = self.model.growth().map(|growth| growth * 100.0 + 0.0);
        TotalGrowth { percent, low, high }
    }
}

/// A function, and all that can be reached from it through these callees.
pub(super) fn reached<I: Iterator<Item = usize>>(
    function: usize,
    callees: impl Fn(usize) -> I,
) -> HashSet<usize> {
    let mut found = HashSet::from([function]);
    let mut open = vec![function];
    while let Some(caller) = open.pop() {
        open.extend(callees(caller).filter(|&callee| found.insert(callee)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_samples_do_not_tell_that_other_callers_grew_less() {
        let change = |log_ratio: f64, standard_error: f64| Change {
            points: 0.05,
            old_share: 0.1,
            old_samples: 100.0,
            new_share: 0.15,
            log_ratio,
            standard_error,
            p: 0.001,
        };
        let call = change(0.6, 0.05);
        assert!(change(0.1, 0.05).grew_less_than(&call));
        assert!(!change(0.1, 0.3).grew_less_than(&call));
        assert!(!change(0.55, 0.01).grew_less_than(&call));
    }

    #[test]
    fn what_was_seen_again_and_again_is_not_new() {
        let is_new = |old_share: f64, old_samples: f64| {
            let log_ratio = (0.06 / old_share).ln();
            Change {
                points: 0.06,
                old_share,
                old_samples,
                new_share: 0.06,
                log_ratio,
                standard_error: 0.2,
                p: 0.0,
            }
            .is_new()
        };
        assert!(is_new(0.003, 2.0) && is_new(0.0004, 40.0));
        assert!(!is_new(0.005, 17.0) && !is_new(0.02, 2.0));
    }
}
