//! Joins the results of several readers of one input.

use hashbrown::HashMap;

use crate::format::collapsed::reader::{CollapsedReader, Position};
use crate::format::{ParseError, finished};
use crate::parallel;
use crate::profile::{Column, FrameId, HashIndex, Id, LabelSetId, LoadOptions, Profile, StackId};

/// So many stacks are worth another thread.
const LEAST: usize = 10_000;

/// Joins readers of input with one weight per line. Stacks and rows are ordered by their first line, so the
/// result does not depend on which reader got which block.
pub(super) fn join(
    readers: Vec<CollapsedReader>,
    options: LoadOptions,
) -> Result<CollapsedReader, ParseError> {
    let decimals = readers.iter().map(|reader| reader.decimals).max().unwrap_or(0);
    let mut joined = CollapsedReader::new(options, false, HashIndex::default());
    joined.rescale(decimals);
    let (mut rows, mut with_value) = (0, 0);
    let mut parts = Vec::new();
    for mut reader in readers {
        reader.rescale(decimals);
        joined.good += reader.good;
        joined.bad += reader.bad;
        joined.first_bad = [joined.first_bad, reader.first_bad].into_iter().flatten().min();
        joined.not_utf8 += reader.not_utf8;
        joined.rounded += reader.rounded;
        let profile = finished(reader.builder)?;
        rows += profile.meta.rows;
        with_value += profile.meta.metrics[0].rows;
        if profile.meta.metrics[0].too_large {
            joined.builder.overflow(0);
        }
        parts.push(JoinedPart {
            names: Column::new(),
            by_text: reader.by_text,
            hash_of: reader.hash_of,
            first_seen: reader.first_seen,
            first_of_row: reader.first_of_row,
            profile,
        });
    }
    number_names(&mut parts);
    let stacks = join_stacks(&mut joined, &parts);
    join_rows(&mut joined, &parts, &stacks);
    joined.builder.meta.rows = rows;
    joined.builder.meta.metrics[0].rows = with_value;
    Ok(joined)
}

/// Gives the frames of all parts numbers that are equal if their names are.
fn number_names(parts: &mut [JoinedPart]) {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let names: Vec<Column<FrameId, u32>> = parts
        .iter()
        .map(|part| {
            let symbols = &part.profile.symbols;
            let mut number = |frame| {
                let next = numbers.len() as u32;
                *numbers.entry(symbols.frame_name(frame)).or_insert(next)
            };
            symbols.frames.ids().map(&mut number).collect()
        })
        .collect();
    drop(numbers);
    for (part, names) in parts.iter_mut().zip(names) {
        part.names = names;
    }
}

/// Adds all stacks; returns the joined stack of each stack of each part.
fn join_stacks(joined: &mut CollapsedReader, parts: &[JoinedPart]) -> Vec<Column<StackId, Option<StackId>>> {
    let originals: Vec<Vec<(usize, StackId)>> =
        (0..parts.len()).map(|number| find_originals(parts, number)).collect();
    let names = parts.iter().flat_map(|part| &part.names).max().map_or(0, |&most| most as usize + 1);
    let mut frame_of: Vec<Option<FrameId>> = vec![None; names];
    let mut frames = Vec::new();
    let mut joined_as: Vec<Column<StackId, Option<StackId>>> =
        parts.iter().map(|part| Column::filled(None, part.hash_of.len())).collect();
    let seen: Vec<&[Position]> = parts.iter().map(|part| part.first_seen.as_slice()).collect();
    for (number, stack) in in_order(&seen) {
        let stack = StackId::new(stack);
        let (first, original) = originals[number][stack.index()];
        if let Some(known) = joined_as[first][original] {
            joined_as[number][stack] = Some(known);
            continue;
        }
        let part = &parts[number];
        frames.clear();
        frames.extend(part.profile.stacks.frames(stack).iter().map(|&frame| {
            let name = || joined.frame(part.profile.symbols.frame_name(frame));
            *frame_of[part.names[frame] as usize].get_or_insert_with(name)
        }));
        let id = Some(joined.builder.new_stack(&frames));
        joined_as[number][stack] = id;
        joined_as[first][original] = id;
    }
    joined_as
}

/// For each stack of a part, the first part that has it, and its id there.
fn find_originals(parts: &[JoinedPart], number: usize) -> Vec<(usize, StackId)> {
    let part = &parts[number];
    let find = |stack: StackId| {
        let hash = part.hash_of[stack];
        let in_part = |(first, other): (usize, &JoinedPart)| {
            let found = other.by_text.find(hash, |original| other.has_names_of(original, part, stack))?;
            Some((first, found))
        };
        parts[..number].iter().enumerate().find_map(in_part).unwrap_or((number, stack))
    };
    let found = parallel::ranges(part.hash_of.len(), LEAST, |range| {
        range.map(|stack| find(StackId::new(stack))).collect::<Vec<(usize, StackId)>>()
    });
    found.concat()
}

/// Goes through several sorted lists in the order of their positions: the number of the list, and the place in it.
fn in_order<'p>(lists: &'p [&[Position]]) -> impl Iterator<Item = (usize, usize)> + use<'p> {
    let mut next = vec![0; lists.len()];
    std::iter::from_fn(move || {
        let heads =
            lists.iter().enumerate().filter_map(|(number, list)| Some((*list.get(next[number])?, number)));
        let (_, number) = heads.min()?;
        next[number] += 1;
        Some((number, next[number] - 1))
    })
}

fn join_rows(
    joined: &mut CollapsedReader,
    parts: &[JoinedPart],
    stacks: &[Column<StackId, Option<StackId>>],
) {
    let first: Vec<&[Position]> = parts.iter().map(|part| &part.first_of_row[..]).collect();
    for (number, row) in in_order(&first) {
        let samples = &parts[number].profile.samples;
        let stack = stacks[number][samples.stack[row]].unwrap_or_default();
        joined.builder.sample(stack, LabelSetId::default(), None, &[samples.values[0][row]]);
    }
}

/// The result of one reader.
struct JoinedPart {
    profile: Profile,
    by_text: HashIndex<StackId>,
    hash_of: Column<StackId, u32>,
    /// Each reader takes later and later blocks, so that these are sorted.
    first_seen: Column<StackId, Position>,
    first_of_row: Vec<Position>,
    /// The number of each frame's name, which is the same in all parts.
    names: Column<FrameId, u32>,
}

impl JoinedPart {
    /// Whether a stack has the same names as a stack of another part.
    fn has_names_of(&self, stack: StackId, other: &JoinedPart, of: StackId) -> bool {
        let (one, two) = (self.profile.stacks.frames(stack), other.profile.stacks.frames(of));
        one.len() == two.len() && one.iter().zip(two).all(|(&one, &two)| self.names[one] == other.names[two])
    }
}
