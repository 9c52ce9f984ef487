//! Matching the functions of an old build with those of a new one.
//!
//! Functions are identified by their names, and in some languages by file and line; all of these may differ between
//! builds. Before profiles are compared, each old function is matched with at most one new function. The strongest
//! evidence is used first, and matched functions are not considered again.
//!
//! 1. *same*: the names agree, and so do the places if they are needed to distinguish functions.
//! 2. *shifted*: name and file agree, but the line differs.
//! 3. *relocated*: the name agrees and is unique among the remaining functions; the file or package differs.
//! 4. *normalised*: the names agree except for what compilers add (see [`crate::name::normalized`]).
//! 5. *renamed*: the names differ, but the place is the same, a whole class or namespace was renamed, or callers, callees and
//!    cost agree. A function whose name another one has taken, which calls it, is separated from that.
//!
//! Comparing names and files takes time proportional to the number of functions. Only functions that remain after
//! that, and that are heavy enough to be tested, are compared by callers and callees.

mod given;
mod in_place;
mod lines;
mod names;
mod neighbours;
mod places;
mod pool;
mod renames;
mod same;
mod wrapped;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::name::library_version;
use crate::parallel;
use crate::profile::{Function, FunctionId, Profile};

pub use given::GivenError;
use neighbours::NeighbourShares;
use pool::{EntryId, Pool};

/// Options for matching the functions of two builds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MatchOptions {
    /// The minimum share of its side, from 0 to 1, for a function to be searched for under other names.
    pub least_share: f64,
    /// Whether names and places must be identical.
    pub exact: bool,
    /// Known pairs: the name on the old side and the name on the new side. An empty name stands for no function: the other
    /// one has no match.
    pub given: Vec<(String, String)>,
}

impl Default for MatchOptions {
    fn default() -> Self {
        MatchOptions { least_share: 0.005, exact: false, given: Vec::new() }
    }
}

/// How two functions were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MatchMethod {
    /// The user gave the pair.
    Given,
    /// Name and place agree.
    Same,
    /// Name and file agree, but the line differs.
    Shifted,
    /// The name agrees, but the file or package differs.
    Relocated,
    /// The names agree except for what compilers add.
    Normalised,
    /// The names differ, but the place is the same, or callers, callees and cost agree.
    Renamed,
}

impl MatchMethod {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            MatchMethod::Given => "given",
            MatchMethod::Same => "same",
            MatchMethod::Shifted => "shifted",
            MatchMethod::Relocated => "relocated",
            MatchMethod::Normalised => "normalised",
            MatchMethod::Renamed => "renamed",
        }
    }
}

/// A function of the old side and its match on the new side.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionMatch {
    /// The unique name on the old side, as views show it.
    pub old: String,
    /// The unique name on the new side.
    pub new: String,
    /// How they were matched.
    pub how: MatchMethod,
    /// How similar they are, from 0 to 1; always 1 unless renamed.
    pub similarity: f64,
    /// The larger of their shares of their sides, from 0 to 1.
    pub share: f64,
}

/// A library that both sides have, in different versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LibraryUpgrade {
    /// Its name, as its folder has it.
    pub library: String,
    /// The version on the old side.
    pub old: String,
    /// The version on the new side, which may be an earlier one.
    pub new: String,
}

impl LibraryUpgrade {
    /// The upgrade that the files of a function on the two sides show: `…/rack-2.2.8/…` and `…/rack-3.0.0/…`.
    fn between(old: &str, new: &str) -> Option<Self> {
        if old == new {
            return None;
        }
        let (library, before) = library_version(old)?;
        let (other, after) = library_version(new)?;
        (library == other && before != after).then(|| LibraryUpgrade {
            library: library.to_owned(),
            old: before.to_owned(),
            new: after.to_owned(),
        })
    }
}

/// A profile of one side, and the number of the metric that determines which functions are heavy.
pub type SideProfile<'p> = (&'p Profile, usize);

/// A mapping from the functions of old profiles to those of new ones.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// The matches whose names or places differ, the heaviest first.
    pub matches: Vec<FunctionMatch>,
    /// The libraries of which the sides have different versions, in alphabetical order.
    pub upgrades: Vec<LibraryUpgrade>,
    old: Replacements,
    new: Replacements,
}

/// The functions of a side whose names and places are replaced.
#[derive(Clone, Debug, Default)]
struct Replacements {
    /// For each table of functions, which several profiles may share.
    of_table: Vec<Replaced>,
    /// For each profile, the number of its table.
    table_of: Vec<usize>,
}

type Replaced = Vec<(FunctionId, FunctionText, MatchMethod)>;

impl Replacements {
    fn new(pool: &Pool<'_>) -> Self {
        let table_of = pool.table_of().to_vec();
        let tables = table_of.last().map_or(0, |last| last + 1);
        Replacements { of_table: vec![Vec::new(); tables], table_of }
    }

    fn of_profile(&self, number: usize) -> Option<&Replaced> {
        self.of_table.get(*self.table_of.get(number)?)
    }
}

/// A function as text, because string ids differ between profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FunctionText {
    name: Arc<str>,
    file: Arc<str>,
    line: u32,
    column: u32,
    by_place: bool,
}

impl Matching {
    /// Matches the functions of the `old` profiles with those of the `new` ones.
    ///
    /// ```
    /// use prof::profile::{from_notation, to_notation};
    /// use prof::transform::{MatchMethod, MatchOptions, Matching};
    ///
    /// let old = from_notation("main;read;parseNum 30\nmain;write 70");
    /// let new = from_notation("main;read;parseNumber 31\nmain;write 69");
    /// let matching = Matching::find(&[(&old, 0)], &[(&new, 0)], &MatchOptions::default()).unwrap();
    /// let found = &matching.matches[0];
    /// assert_eq!((&*found.old, &*found.new, found.how), ("parseNum", "parseNumber", MatchMethod::Renamed));
    /// assert_eq!(to_notation(&matching.apply_old(0, &old)), "main;read;parseNumber 30\nmain;write 70");
    /// ```
    ///
    /// Fails if the given pairs contain an unknown function, a function twice, or a circle of functions that both sides have, or
    /// if they separate what has one name on both sides.
    pub fn find(
        old: &[SideProfile<'_>],
        new: &[SideProfile<'_>],
        options: &MatchOptions,
    ) -> Result<Matching, GivenError> {
        let (old, new) = parallel::both(|| Pool::new(old), || Pool::new(new));
        let mut pairs = MatchingState::new(&old, &new);
        let displaced = given::pair(&mut pairs, &options.given)?;
        same::pair_same(&mut pairs, options.exact);
        if !options.exact {
            places::pair_by_place(&mut pairs);
            names::pair_relocated(&mut pairs);
            names::pair_normalised(&mut pairs);
            in_place::pair_in_place(&mut pairs);
            renames::pair_renamed(&mut pairs, options.least_share);
            wrapped::pair_wrapped(&mut pairs, options.least_share);
        }
        displaced.check(&pairs)?;
        Ok(pairs.finish())
    }

    /// Old profile number `number` with the names and places that its functions have on the new side.
    #[must_use]
    pub fn apply_old(&self, number: usize, profile: &Profile) -> Profile {
        self.apply_old_by(number, profile, |_| true)
    }

    /// The same, but functions that were matched by other methods than these keep their names.
    #[must_use]
    pub fn apply_old_by(
        &self,
        number: usize,
        profile: &Profile,
        is_used: impl Fn(MatchMethod) -> bool,
    ) -> Profile {
        with_names(profile, self.old.of_profile(number), is_used)
    }

    /// New profile number `number`, with names from which parts that differ from run to run are removed.
    #[must_use]
    pub fn apply_new(&self, number: usize, profile: &Profile) -> Profile {
        with_names(profile, self.new.of_profile(number), |_| true)
    }
}

fn with_names(
    profile: &Profile,
    replaced: Option<&Replaced>,
    is_used: impl Fn(MatchMethod) -> bool,
) -> Profile {
    let replaced = replaced.into_iter().flatten().filter(|(.., how)| is_used(*how));
    let mut replaced = replaced.peekable();
    if replaced.peek().is_none() {
        return profile.clone();
    }
    let mut symbols = (*profile.symbols).clone();
    let replaced: Vec<_> = replaced.collect();
    lines::shift(&mut symbols, replaced.iter().map(|(function, text, _)| (*function, text.line)));
    for (function, text, _) in replaced {
        let (name, file) = (symbols.strings.intern(&text.name), symbols.strings.intern(&text.file));
        let (line, column, by_place) = (text.line, text.column, text.by_place);
        symbols.functions[*function] = Function { name, file, line, column, by_place };
    }
    Profile { symbols: Arc::new(symbols), ..profile.clone() }
}

/// Both sides, and the matches so far.
struct MatchingState<'a> {
    old: &'a Pool<'a>,
    new: &'a Pool<'a>,
    /// The new function of each old one.
    of_old: Vec<Option<Paired>>,
    /// The old function of each new one.
    of_new: Vec<Option<EntryId>>,
    /// The old and the new functions that are known to have no match.
    alone: [HashSet<EntryId>; 2],
    /// Callers and callees on both sides, counted on first use.
    neighbours: OnceCell<(NeighbourShares, NeighbourShares)>,
}

/// Functions with a smaller share of their side, from 0 to 1, are matched by name only.
const LEAST_SHARE: f64 = 0.0005;

#[derive(Clone, Copy, Debug)]
struct Paired {
    new: EntryId,
    how: MatchMethod,
    similarity: f64,
}

impl<'a> MatchingState<'a> {
    fn new(old: &'a Pool<'a>, new: &'a Pool<'a>) -> Self {
        MatchingState {
            old,
            new,
            of_old: vec![None; old.len()],
            of_new: vec![None; new.len()],
            alone: [HashSet::new(), HashSet::new()],
            neighbours: OnceCell::new(),
        }
    }

    fn pair(&mut self, old: EntryId, new: EntryId, how: MatchMethod, similarity: f64) {
        debug_assert!(self.of_old[old].is_none() && self.of_new[new].is_none(), "at most one to one");
        self.of_old[old] = Some(Paired { new, how, similarity });
        self.of_new[new] = Some(old);
    }

    /// Callers and callees of the functions that were unmatched on first use. Functions too light to be compared are
    /// left out, which in most comparisons are nearly all of them.
    fn neighbours(&self) -> &(NeighbourShares, NeighbourShares) {
        self.neighbours.get_or_init(|| {
            let side = |pool: &Pool<'_>, left: Vec<EntryId>| {
                NeighbourShares::new(
                    pool,
                    left.into_iter().filter(|&entry| pool.shares()[entry] >= LEAST_SHARE),
                )
            };
            (side(self.old, self.old_left()), side(self.new, self.new_left()))
        })
    }

    /// Separates a pair.
    fn part(&mut self, old: EntryId, new: EntryId) {
        self.of_old[old] = None;
        self.of_new[new] = None;
    }

    /// The old functions that are not matched yet.
    fn old_left(&self) -> Vec<EntryId> {
        let is_left = |entry: &EntryId| self.of_old[*entry].is_none() && !self.alone[0].contains(entry);
        (0..self.old.len()).filter(is_left).collect()
    }

    /// The new functions that are not matched yet.
    fn new_left(&self) -> Vec<EntryId> {
        let is_left = |entry: &EntryId| self.of_new[*entry].is_none() && !self.alone[1].contains(entry);
        (0..self.new.len()).filter(is_left).collect()
    }

    fn finish(self) -> Matching {
        let mut matches = Vec::new();
        let mut upgrades = BTreeSet::new();
        let mut replaced_old = Replacements::new(self.old);
        let mut replaced_new = Replacements::new(self.new);
        for (old, paired) in self.of_old.iter().enumerate() {
            let Some(paired) = paired else {
                rename_runs(self.old, old, &mut replaced_old);
                continue;
            };
            let (before, after) = (self.old.get(old), self.new.get(paired.new));
            upgrades.extend(LibraryUpgrade::between(before.file, after.file));
            if before.is_same_row(after) {
                rename_runs(self.old, old, &mut replaced_old);
                continue;
            }
            let text = after.text();
            for &(table, function) in self.old.functions(old) {
                replaced_old.of_table[table].push((function, text.clone(), paired.how));
            }
            if paired.how != MatchMethod::Same {
                let share = self.old.shares()[old].max(self.new.shares()[paired.new]);
                let (how, similarity) = (paired.how, paired.similarity);
                matches.push(FunctionMatch {
                    old: before.display(),
                    new: after.display(),
                    how,
                    similarity,
                    share,
                });
            }
        }
        (0..self.new.len()).for_each(|new| rename_runs(self.new, new, &mut replaced_new));
        matches.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.new.cmp(&b.new)));
        Matching { matches, upgrades: upgrades.into_iter().collect(), old: replaced_old, new: replaced_new }
    }
}

/// Removes the parts of a function's name that differ from run to run.
fn rename_runs(pool: &Pool<'_>, entry: EntryId, replaced: &mut Replacements) {
    for &(table, function) in pool.functions(entry) {
        if !pool.get(entry).is_recorded_as(pool.recorded_name(table, function)) {
            replaced.of_table[table].push((function, pool.get(entry).text(), MatchMethod::Same));
        }
    }
}

#[cfg(test)]
mod tests;
