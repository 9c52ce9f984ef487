//! All distinct functions of one side, which may have several profiles.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashMap;

use super::{FunctionText, SideProfile};
use crate::name::{is_built_in, is_standard_library, normalized, without_run};
use crate::pattern::is_runtime;
use crate::profile::{CallTable, Column, FrameId, Function, FunctionId, StackId, Symbols};

/// The number of a function in the pool of its side.
pub(super) type EntryId = usize;

/// The functions of a side.
pub(super) struct Pool<'p> {
    profiles: Vec<SideProfile<'p>>,
    /// The tables of the profiles, which may share them, and for each profile the number of its table.
    tables: Vec<&'p Symbols>,
    table_of: Vec<usize>,
    entries: Vec<PoolEntry<'p>>,
    /// For each entry, its functions in the tables: the number of the table, and the id there.
    functions: Vec<Vec<(usize, FunctionId)>>,
    /// The entry of each function of each table.
    of_function: Vec<Column<FunctionId, EntryId>>,
    /// The entry with each key.
    by_key: HashMap<EntryKey<'p>, EntryId>,
    /// The normalised names that were asked for; `None` where it is the name itself.
    normalized: Vec<OnceCell<Option<Box<str>>>>,
    shares: OnceCell<Vec<f64>>,
    of_system: OnceCell<Vec<bool>>,
    has_places: OnceCell<bool>,
}

/// Everything that distinguishes a function within its side: name, file, line, column, and whether the place counts.
type EntryKey<'p> = (Cow<'p, str>, &'p str, u32, u32, bool);

/// A function as its profile has it.
#[derive(PartialEq, Eq)]
struct Recorded<'p> {
    place: (u32, u32, bool),
    name: &'p str,
    file: &'p str,
}

impl<'p> Recorded<'p> {
    fn new(symbols: &'p Symbols, function: &Function) -> Self {
        let (name, file) = (symbols.strings.get(function.name), symbols.strings.get(function.file));
        Recorded { place: (function.line, function.column, function.by_place), name, file }
    }
}

/// A distinct function of a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PoolEntry<'p> {
    /// Its name without its place and without parts that differ from run to run.
    pub(super) name: Cow<'p, str>,
    /// Its file; empty if unknown.
    pub(super) file: &'p str,
    pub(super) line: u32,
    pub(super) column: u32,
    /// Whether functions with the same name are distinguished by file, line and column.
    pub(super) by_place: bool,
    /// The place at the end of the recorded name, as in py-spy's `total (shop.py:12)`; usually empty.
    place_in_name: &'p str,
}

impl<'p> PoolEntry<'p> {
    fn new(symbols: &'p Symbols, function: &Function) -> Self {
        let (recorded, file) = (symbols.strings.get(function.name), symbols.strings.get(function.file));
        if let Some(entry) = Self::with_written_place(recorded).filter(|_| file.is_empty()) {
            return entry;
        }
        let place = place_in_name(recorded, file, function.line);
        let name = without_run(&recorded[..recorded.len() - place.len()]);
        let by_place = function.by_place || !place.is_empty();
        PoolEntry { name, file, line: function.line, column: function.column, by_place, place_in_name: place }
    }

    /// A function of which only the name is known, but with a place in it, as in collapsed stacks: `total (src/shop.js:12:5)`.
    fn with_written_place(recorded: &'p str) -> Option<Self> {
        let (name, place) = recorded.strip_suffix(')')?.rsplit_once(" (")?;
        let number =
            |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (rest, last) = place.rsplit_once(':')?;
        let last = number(last)?;
        let (file, line, column) =
            match rest.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
                Some((file, line)) => (file, line, last),
                None => (rest, last, 0),
            };
        let is_file = file.rsplit_once('.').is_some_and(|(_, ending)| {
            (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let place_in_name = &recorded[name.len()..];
        (!name.is_empty() && is_file).then(|| PoolEntry {
            name: without_run(name),
            file,
            line,
            column,
            by_place: true,
            place_in_name,
        })
    }

    /// Whether it is known where the function stands, as Go and JavaScript record it.
    pub(super) fn has_place(&self) -> bool {
        !self.file.is_empty() && self.line > 0
    }

    /// Whether views show the two as one row without matching.
    pub(super) fn is_same_row(&self, other: &PoolEntry<'_>) -> bool {
        self.key() == other.key() && self.place_in_name == other.place_in_name
    }

    fn key(&self) -> EntryKey<'p> {
        let (file, line, column) =
            if self.by_place { (self.file, self.line, self.column) } else { ("", 0, 0) };
        (self.name.clone(), file, line, column, self.by_place)
    }

    pub(super) fn text(&self) -> FunctionText {
        let name = format!("{}{}", self.name, self.place_in_name).into();
        let by_place = self.by_place && self.place_in_name.is_empty();
        FunctionText { name, file: self.file.into(), line: self.line, column: self.column, by_place }
    }

    /// Whether a profile has this name for the function, rather than one with parts that differ from run to run.
    pub(super) fn is_recorded_as(&self, name: &str) -> bool {
        name.strip_prefix(&*self.name) == Some(self.place_in_name)
    }

    /// The unique name as views show it.
    pub(super) fn display(&self) -> String {
        let mut name = self.name.clone().into_owned();
        name.push_str(self.place_in_name);
        if !self.by_place || self.file.is_empty() || !self.place_in_name.is_empty() {
            return name;
        }
        name.push(' ');
        name.push_str(self.file);
        for number in [self.line, self.column].into_iter().take_while(|&number| number != 0) {
            name.push_str(&format!(":{number}"));
        }
        name
    }
}

/// The end of a name if it repeats the place of the function: ` (shop.py:12)`.
fn place_in_name<'n>(name: &'n str, file: &str, line: u32) -> &'n str {
    if file.is_empty() || line == 0 || !name.ends_with(')') {
        return "";
    }
    let place = format!(" ({file}:{line})");
    if name.ends_with(&place) { &name[name.len() - place.len()..] } else { "" }
}

impl<'p> Pool<'p> {
    pub(super) fn new(profiles: &[SideProfile<'p>]) -> Self {
        let mut entries: Vec<PoolEntry<'p>> = Vec::new();
        let mut functions: Vec<Vec<(usize, FunctionId)>> = Vec::new();
        let most = profiles.iter().map(|(profile, _)| profile.symbols.functions.len()).max().unwrap_or(0);
        let mut by_key: HashMap<EntryKey<'p>, EntryId> = HashMap::with_capacity(most);
        let mut of_function = Vec::new();
        let mut recorded: Vec<Recorded<'p>> = Vec::new();
        let mut tables: Vec<&'p Symbols> = Vec::new();
        let mut table_of = Vec::new();
        for (profile, _) in profiles {
            let symbols: &'p Symbols = &profile.symbols;
            if tables.last().is_some_and(|last| std::ptr::eq(*last, symbols)) {
                table_of.push(tables.len() - 1);
                continue;
            }
            let number = tables.len();
            table_of.push(number);
            tables.push(symbols);
            let mut column = Column::new();
            // The tables of several runs are in much the same order, so the next function usually is the next entry.
            let mut next = 0;
            for (function, row) in symbols.functions.enumerate() {
                let known = Recorded::new(symbols, row);
                let id = if recorded.get(next) == Some(&known) {
                    next
                } else {
                    let entry = PoolEntry::new(symbols, row);
                    *by_key.entry(entry.key()).or_insert_with(|| {
                        entries.push(entry);
                        recorded.push(known);
                        functions.push(Vec::new());
                        entries.len() - 1
                    })
                };
                next = id + 1;
                functions[id].push((number, function));
                column.push(id);
            }
            of_function.push(column);
        }
        let profiles = profiles.to_vec();
        let normalized = vec![OnceCell::new(); entries.len()];
        Pool {
            profiles,
            tables,
            table_of,
            entries,
            functions,
            of_function,
            by_key,
            normalized,
            shares: OnceCell::new(),
            of_system: OnceCell::new(),
            has_places: OnceCell::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, entry: EntryId) -> &PoolEntry<'p> {
        &self.entries[entry]
    }

    /// The entry that has the name and the place of `entry`, which may be of another side.
    pub(super) fn same_as(&self, entry: &PoolEntry<'_>) -> Option<EntryId> {
        self.by_key.get(&entry.key()).copied()
    }

    /// The name of an entry without what compilers add, which is found out once.
    pub(super) fn normalized(&self, entry: EntryId) -> &str {
        let name = &self.entries[entry].name;
        let made = self.normalized[entry].get_or_init(|| {
            count_step();
            match normalized(name) {
                Cow::Borrowed(bare) if bare.len() == name.len() => None,
                bare => Some(bare.into()),
            }
        });
        made.as_deref().unwrap_or(name)
    }

    /// The functions of an entry, each with the number of its table.
    pub(super) fn functions(&self, entry: EntryId) -> &[(usize, FunctionId)] {
        &self.functions[entry]
    }

    /// The name of a function in its table.
    pub(super) fn recorded_name(&self, table: usize, function: FunctionId) -> &'p str {
        let symbols = self.tables[table];
        symbols.strings.get(symbols.functions[function].name)
    }

    /// For each profile of the side, the number of its table.
    pub(super) fn table_of(&self) -> &[usize] {
        &self.table_of
    }

    /// The entry of a function of table number `table`.
    pub(super) fn of_function(&self, table: usize, function: FunctionId) -> EntryId {
        self.of_function[table][function]
    }

    /// The entry of the function of a frame of table number `table`.
    pub(super) fn of_frame(&self, table: usize, frame: FrameId) -> EntryId {
        self.of_function(table, self.tables[table].frames[frame].function)
    }

    /// The profiles with calls, each with the number of its table and of its metric.
    pub(super) fn calls(&self) -> impl Iterator<Item = (usize, &'p CallTable, usize)> + '_ {
        let profiles = self.profiles.iter().zip(&self.table_of);
        profiles.filter_map(|(&(profile, metric), &table)| Some((table, &**profile.calls.as_ref()?, metric)))
    }

    /// Calls `add` with each stack: the number of its table, its frames, and the sum of its values in all profiles with this
    /// table, each without its sign. Profiles that share a table are looked at together, because they share most stacks.
    pub(super) fn each_stack(&self, mut add: impl FnMut(usize, &[FrameId], f64)) {
        let profiles: Vec<_> = self.profiles.iter().zip(&self.table_of).collect();
        let share = |a: &(&SideProfile<'p>, &usize), b: &(&SideProfile<'p>, &usize)| {
            a.1 == b.1 && Arc::ptr_eq(&a.0.0.stacks, &b.0.0.stacks)
        };
        for group in profiles.chunk_by(share) {
            let ((first, _), &table) = group[0];
            let mut weights = Column::<StackId, f64>::filled(0.0, first.stacks.len());
            let mut sums = Column::<StackId, i64>::filled(0, first.stacks.len());
            for ((profile, metric), _) in group {
                let samples = &profile.samples;
                let Some(values) = samples.values.get(*metric) else { continue };
                for (&stack, &value) in samples.stack.iter().zip(values) {
                    sums[stack] += value;
                }
                for &stack in &samples.stack {
                    weights[stack] += std::mem::take(&mut sums[stack]).abs() as f64;
                }
            }
            for (stack, &weight) in weights.enumerate().filter(|(_, weight)| **weight != 0.0) {
                add(table, first.stacks.frames(stack), weight);
            }
        }
    }

    /// Whether a function may have another name in another build. Those of the language and of the system keep their names: if
    /// only one side has `HashMap.getNode` and only the other one `HashMap.putVal`, few samples hit either. Where functions are
    /// told apart by their place in a file, those without one are the language's own, such as `slice` of Node.js.
    pub(super) fn may_be_renamed(&self, id: EntryId) -> bool {
        let entry = self.get(id);
        !self.is_of_system(id)
            && (!self.has_places() || !entry.file.is_empty())
            && !is_built_in(&entry.name)
            && !is_standard_library(&entry.name, entry.file)
            && !is_runtime(&entry.name, entry.file)
            && !entry.name.ends_with("@plt")
            && !entry.name.contains("@@")
    }

    /// Whether functions are told apart by their place in a file, as those of JavaScript are.
    pub(super) fn has_places(&self) -> bool {
        *self.has_places.get_or_init(|| self.entries.iter().any(|entry| entry.by_place))
    }

    /// Whether all code of an entry is in the kernel or in libraries of the operating system.
    pub(super) fn is_of_system(&self, entry: EntryId) -> bool {
        let of_system = self.of_system.get_or_init(|| {
            let mut found: Vec<Option<bool>> = vec![None; self.len()];
            for (table, symbols) in self.tables.iter().enumerate() {
                let is_system = symbols.system_mappings();
                for frame in &symbols.frames {
                    let found = &mut found[self.of_function(table, frame.function)];
                    *found = Some(found.unwrap_or(true) && is_system[frame.mapping]);
                }
            }
            found.into_iter().map(|found| found.unwrap_or(false)).collect()
        });
        of_system[entry]
    }

    /// The share of every function, counted on first use.
    pub(super) fn shares(&self) -> &[f64] {
        self.shares.get_or_init(|| {
            let mut totals = vec![0.0; self.len()];
            let mut stamps = vec![0_u32; self.len()];
            let mut stamp = 0;
            let mut whole = 0.0;
            for (profile, metric) in &self.profiles {
                whole += profile.shown_total(*metric) as f64;
            }
            for (table, calls, metric) in self.calls() {
                for (function, &total) in calls.totals[metric].enumerate() {
                    totals[self.of_function(table, function)] += total as f64;
                }
            }
            let entry_of: Vec<Column<FrameId, u32>> = (self.tables.iter().zip(&self.of_function))
                .map(|(symbols, entries)| symbols.frames.map(|frame| entries[frame.function] as u32))
                .collect();
            self.each_stack(|table, frames, weight| {
                stamp += 1;
                for &frame in frames {
                    let entry = entry_of[table][frame] as usize;
                    if stamps[entry] != stamp {
                        stamps[entry] = stamp;
                        totals[entry] += weight;
                    }
                }
            });
            let whole = if whole > 0.0 { whole } else { 1.0 };
            totals.iter().map(|total| total / whole).collect()
        })
    }
}

/// Counts a step of matching, for tests: time is not proportional to the number of functions on a busy machine.
#[inline]
pub(super) fn count_step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(test)]
thread_local! {
    /// How many names were normalised or grouped, and how many functions were compared.
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Groups entries by a key; groups are in the order of their first entries.
pub(super) fn grouped<K: Eq + Hash>(
    entries: impl IntoIterator<Item = EntryId>,
    key: impl Fn(EntryId) -> K,
) -> Groups<K> {
    let mut groups = Groups { places: HashMap::new(), lists: Vec::new() };
    for entry in entries {
        count_step();
        let place = *groups.places.entry(key(entry)).or_insert_with(|| {
            groups.lists.push(Vec::new());
            groups.lists.len() - 1
        });
        groups.lists[place].push(entry);
    }
    groups
}

/// Entries grouped by a key.
pub(super) struct Groups<K> {
    places: HashMap<K, usize>,
    lists: Vec<Vec<EntryId>>,
}

impl<K: Eq + Hash> Groups<K> {
    /// The entries with this key.
    pub(super) fn get(&self, key: &K) -> &[EntryId] {
        self.places.get(key).map_or(&[], |&place| &self.lists[place])
    }

    /// All groups.
    pub(super) fn lists(&self) -> &[Vec<EntryId>] {
        &self.lists
    }
}
