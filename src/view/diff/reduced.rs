//! Stacks without the functions that a question is not about. Many stacks are then equal and become one.

use std::ops::Range;

use crate::parallel;
use crate::profile::{Column, HashIndex, Id, StackId};
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
    /// Its number among the stacks.
    pub(super) number: usize,
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
    /// The stacks of a subject, whose first series are `profiles`, with those functions that are `kept`. Also returns which of
    /// them each stack has become.
    pub(super) fn of_subject(
        subject: &Subject<'_>,
        profiles: usize,
        kept: Column<KeyId, bool>,
    ) -> (Self, Column<StackId, Option<u32>>) {
        let count = subject.profile.stacks.len();
        let parts = parallel::ranges(count, 20_000, |stacks| slice(subject, profiles, &kept, stacks));
        let mut parts = parts.into_iter();
        let Some(Slice { mut builder, mut of_stack }) = parts.next() else {
            return (Builder::new(profiles).finish(kept), Column::new());
        };
        of_stack.reserve(count - of_stack.len());
        for part in parts {
            let numbers = builder.add_all(&part.builder.made);
            of_stack.extend(
                part.of_stack.into_iter().map(|number| number.map(|number| numbers[number as usize])),
            );
        }
        (builder.finish(kept), of_stack.into_iter().collect())
    }

    /// How many stacks there are.
    pub(super) fn count(&self) -> usize {
        self.end.len()
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

    /// Calls `act` once for each function of each stack, with the number of the stack.
    fn each_member(&self, mut act: impl FnMut(KeyId, u32)) {
        let mut seen: Column<KeyId, u32> = Column::filled(u32::MAX, self.kept.len());
        for number in 0..self.count() {
            for &function in self.stack(number).functions {
                if std::mem::replace(&mut seen[function], number as u32) != number as u32 {
                    act(function, number as u32);
                }
            }
        }
    }

    fn stack(&self, number: usize) -> ReducedStack<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.end[before]);
        let functions = &self.functions[start..self.end[number]];
        ReducedStack { functions, has_leaf: self.has_leaf[number], number }
    }
}

/// Some consecutive stacks of a subject.
struct Slice {
    builder: Builder,
    /// What each of them has become.
    of_stack: Vec<Option<u32>>,
}

fn slice(subject: &Subject<'_>, profiles: usize, kept: &Column<KeyId, bool>, stacks: Range<usize>) -> Slice {
    let mut builder = Builder::new(profiles);
    let mut functions: Vec<KeyId> = Vec::new();
    let reduce = |stack: StackId| {
        functions.clear();
        let mut is_kept = false;
        for key in subject.stack_keys(stack) {
            is_kept = kept[key];
            if is_kept {
                functions.push(key);
            }
        }
        // The rest is about none of the functions.
        if functions.is_empty() || !subject.has_value(stack) {
            return None;
        }
        Some(builder.add(&functions, is_kept, |profile| subject.series[profile][stack]))
    };
    let of_stack = stacks.map(StackId::new).map(reduce).collect();
    Slice { builder, of_stack }
}

/// Builds [`ReducedStacks`].
struct Builder {
    made: ReducedStacks,
    index: HashIndex<u32>,
}

impl Builder {
    fn new(profiles: usize) -> Self {
        let made = ReducedStacks {
            kept: Column::new(),
            functions: Vec::new(),
            end: Vec::new(),
            has_leaf: Vec::new(),
            values: vec![Vec::new(); profiles],
            start: Vec::new(),
            numbers: Vec::new(),
        };
        Builder { made, index: HashIndex::default() }
    }

    /// Adds a stack, and returns its number.
    fn add(&mut self, functions: &[KeyId], has_leaf: bool, value: impl Fn(usize) -> i64) -> u32 {
        let hash = self.index.hash(&(functions, has_leaf));
        let is_equal = |number: u32| {
            let stack = self.made.stack(number as usize);
            stack.has_leaf == has_leaf && stack.functions == functions
        };
        if let Some(number) = self.index.find(hash, is_equal) {
            for (profile, values) in self.made.values.iter_mut().enumerate() {
                let sum = &mut values[number as usize];
                *sum = sum.saturating_add(value(profile));
            }
            return number;
        }
        // There are as many as stacks of a profile at most.
        let number = self.made.count() as u32;
        self.index.insert(hash, number);
        self.made.functions.extend_from_slice(functions);
        self.made.end.push(self.made.functions.len());
        self.made.has_leaf.push(has_leaf);
        for (profile, values) in self.made.values.iter_mut().enumerate() {
            values.push(value(profile));
        }
        number
    }

    /// Adds stacks of the same profiles, and returns their numbers.
    fn add_all(&mut self, stacks: &ReducedStacks) -> Vec<u32> {
        let add = |number: usize| {
            let stack = stacks.stack(number);
            self.add(stack.functions, stack.has_leaf, |profile| stacks.values[profile][number])
        };
        (0..stacks.count()).map(add).collect()
    }

    /// Lists the stacks of each function: counting first takes less memory than a list for each.
    fn finish(self, kept: Column<KeyId, bool>) -> ReducedStacks {
        let mut made = ReducedStacks { kept, ..self.made };
        let keys = made.kept.len();
        let mut start = vec![0; keys + 2];
        made.each_member(|function, _| start[function.index() + 2] += 1);
        for index in 2..start.len() {
            start[index] += start[index - 1];
        }
        let mut numbers = vec![0; start[keys + 1]];
        made.each_member(|function, number| {
            let place = &mut start[function.index() + 1];
            numbers[*place] = number;
            *place += 1;
        });
        (made.start, made.numbers) = (start, numbers);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::tree::By;

    #[test]
    fn slices_make_the_same_stacks_as_the_whole() {
        let profile = from_notation("a;b;c 1\na;x;b 2\nb;y 4\nx 8\na;b;y 16\na;b 32\nc 64\nb 128");
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let is_kept = |key: &KeyId| matches!(&**subject.keys.name(*key), "a" | "b");
        let kept = Column::marking(subject.keys.ids().filter(is_kept), subject.keys.len());
        let drawn = |stacks: &ReducedStacks| -> Vec<String> {
            let stack = |number: usize| {
                let stack = stacks.stack(number);
                let names = stack.functions.iter().map(|&key| subject.keys.name(key).to_string());
                let leaf = if stack.has_leaf { "" } else { ";…" };
                format!("{}{leaf} {}", names.collect::<Vec<String>>().join(";"), stacks.values[0][number])
            };
            (0..stacks.count()).map(stack).collect()
        };
        let expected = ["a;b;… 17", "a;b 34", "b;… 4", "b 128"];
        let (whole, of_stack) = ReducedStacks::of_subject(&subject, 1, kept.clone());
        assert_eq!(drawn(&whole), expected);
        let numbers: Vec<Option<u32>> = of_stack.iter().copied().collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), None, Some(0), Some(1), None, Some(3)]);
        for at in 0..=8 {
            let Slice { mut builder, .. } = slice(&subject, 1, &kept, 0..at);
            builder.add_all(&slice(&subject, 1, &kept, at..8).builder.made);
            assert_eq!(drawn(&builder.finish(kept.clone())), expected, "{at}");
        }
    }
}
