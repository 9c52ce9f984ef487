//! Stacks without the functions that a question is not about. Many stacks are then equal and become one.

use crate::profile::{Column, HashIndex};
use crate::tree::{KeyId, Subject};

/// Stacks that hold only some functions, with their values in every profile.
pub(super) struct ReducedStacks {
    kept: Column<KeyId, bool>,
    /// The functions of all stacks, each root first.
    functions: Vec<KeyId>,
    /// Where the functions of each stack end.
    end: Vec<usize>,
    /// Whether the last function of a stack was the leaf.
    has_leaf: Vec<bool>,
    /// The values of all stacks, by profile.
    values: Vec<Vec<i64>>,
    /// The stacks with key k are `numbers[start[k]..start[k + 1]]`.
    start: Vec<usize>,
    numbers: Vec<u32>,
}

/// A stack of [`ReducedStacks`].
#[derive(Clone, Copy)]
pub(super) struct ReducedStack<'s> {
    /// The functions, root first.
    pub(super) functions: &'s [KeyId],
    /// Whether the last of them was the leaf.
    pub(super) has_leaf: bool,
    number: usize,
}

impl ReducedStack<'_> {
    /// Whether the leaf is `function`.
    pub(super) fn ends_with(&self, function: KeyId) -> bool {
        self.has_leaf && self.functions.last() == Some(&function)
    }

    /// The functions below the outermost occurrence of `function`.
    pub(super) fn below(&self, function: KeyId) -> &[KeyId] {
        let outermost = self.functions.iter().position(|&other| other == function);
        outermost.map_or(&[], |at| &self.functions[at + 1..])
    }
}

impl ReducedStacks {
    /// The stacks of a subject, whose first series are `profiles`, with those functions that are `kept`.
    pub(super) fn of_subject(subject: &Subject<'_>, profiles: usize, kept: Column<KeyId, bool>) -> Self {
        let mut builder = Builder::new(profiles, kept);
        for stack in subject.stacks() {
            let frames = subject.profile.stacks.frames(stack).iter();
            let functions = frames.map(|&frame| subject.keys.of_frame(frame));
            builder.add(functions, true, |profile| subject.series[profile][stack]);
        }
        builder.finish()
    }

    /// The same stacks with fewer functions.
    pub(super) fn with(&self, kept: Column<KeyId, bool>) -> Self {
        let mut builder = Builder::new(self.values.len(), kept);
        for number in 0..self.end.len() {
            let stack = self.stack(number);
            let functions = stack.functions.iter().copied();
            builder.add(functions, stack.has_leaf, |profile| self.values[profile][number]);
        }
        builder.finish()
    }

    /// Whether stacks have their occurrences of a function.
    pub(super) fn keeps(&self, function: usize) -> bool {
        self.kept.as_slice()[function]
    }

    /// The stacks that contain a function.
    pub(super) fn through(&self, function: usize) -> impl Iterator<Item = ReducedStack<'_>> {
        let numbers = &self.numbers[self.start[function]..self.start[function + 1]];
        numbers.iter().map(|&number| self.stack(number as usize))
    }

    /// The values of a stack, one per profile.
    pub(super) fn values(&self, stack: ReducedStack<'_>) -> impl Iterator<Item = i64> {
        self.values.iter().map(move |values| values[stack.number])
    }

    fn stack(&self, number: usize) -> ReducedStack<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.end[before]);
        let functions = &self.functions[start..self.end[number]];
        ReducedStack { functions, has_leaf: self.has_leaf[number], number }
    }
}

/// Builds [`ReducedStacks`].
struct Builder {
    made: ReducedStacks,
    index: HashIndex<u32>,
    /// The functions of the stack that is added.
    functions: Vec<KeyId>,
}

impl Builder {
    fn new(profiles: usize, kept: Column<KeyId, bool>) -> Self {
        let made = ReducedStacks {
            kept,
            functions: Vec::new(),
            end: Vec::new(),
            has_leaf: Vec::new(),
            values: vec![Vec::new(); profiles],
            start: Vec::new(),
            numbers: Vec::new(),
        };
        Builder { made, index: HashIndex::default(), functions: Vec::new() }
    }

    fn add(&mut self, all: impl Iterator<Item = KeyId>, has_leaf: bool, value: impl Fn(usize) -> i64) {
        self.functions.clear();
        let mut is_kept = false;
        for function in all {
            is_kept = self.made.kept[function];
            if is_kept {
                self.functions.push(function);
            }
        }
        // The rest is about none of the functions.
        if self.functions.is_empty() {
            return;
        }
        let has_leaf = has_leaf && is_kept;
        let hash = self.index.hash(&(&self.functions, has_leaf));
        let is_equal = |number: u32| {
            let stack = self.made.stack(number as usize);
            stack.has_leaf == has_leaf && stack.functions == self.functions
        };
        if let Some(number) = self.index.find(hash, is_equal) {
            for (profile, values) in self.made.values.iter_mut().enumerate() {
                let sum = &mut values[number as usize];
                *sum = sum.saturating_add(value(profile));
            }
            return;
        }
        // There are as many as stacks of a profile at most.
        self.index.insert(hash, self.made.end.len() as u32);
        self.made.functions.extend_from_slice(&self.functions);
        self.made.end.push(self.made.functions.len());
        self.made.has_leaf.push(has_leaf);
        for (profile, values) in self.made.values.iter_mut().enumerate() {
            values.push(value(profile));
        }
    }

    /// Lists the stacks of each function: counting first takes less memory than a list for each.
    fn finish(self) -> ReducedStacks {
        let mut made = self.made;
        let keys = made.kept.len();
        let mut seen: Column<KeyId, u32> = Column::filled(u32::MAX, keys);
        let mut start = vec![0; keys + 2];
        for number in 0..made.end.len() {
            for &function in made.stack(number).functions {
                if std::mem::replace(&mut seen[function], number as u32) != number as u32 {
                    start[crate::profile::Id::index(function) + 2] += 1;
                }
            }
        }
        for index in 2..start.len() {
            start[index] += start[index - 1];
        }
        let mut numbers = vec![0; start[keys + 1]];
        let mut seen: Column<KeyId, u32> = Column::filled(u32::MAX, keys);
        for number in 0..made.end.len() {
            for &function in made.stack(number).functions {
                if std::mem::replace(&mut seen[function], number as u32) != number as u32 {
                    let place = &mut start[crate::profile::Id::index(function) + 1];
                    numbers[*place] = number as u32;
                    *place += 1;
                }
            }
        }
        (made.start, made.numbers) = (start, numbers);
        made
    }
}
