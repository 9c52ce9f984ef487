//! Joins the results of several readers of one input.

use crate::format::collapsed::reader::{CollapsedReader, Position};
use crate::format::{ParseError, finished};
use crate::profile::{Column, FrameId, LabelSetId, LoadOptions, Profile, StackId};

/// Joins readers of input with one weight per line. Stacks and rows are ordered by their first line, so the
/// result does not depend on which reader got which block.
pub(super) fn join(
    readers: Vec<CollapsedReader>,
    options: LoadOptions,
) -> Result<CollapsedReader, ParseError> {
    let decimals = readers.iter().map(|reader| reader.decimals).max().unwrap_or(0);
    let mut joined = CollapsedReader::new(options, false);
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
        parts.push(JoinedPart::new(profile, reader.first_seen, reader.first_of_row));
    }
    join_stacks(&mut joined, &mut parts);
    join_rows(&mut joined, &parts);
    joined.builder.meta.rows = rows;
    joined.builder.meta.metrics[0].rows = with_value;
    Ok(joined)
}

fn join_stacks(joined: &mut CollapsedReader, parts: &mut [JoinedPart]) {
    let mut order: Vec<(Position, usize, StackId)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        order.extend(part.first_seen.enumerate().map(|(stack, &at)| (at, number, stack)));
    }
    order.sort_unstable();
    let mut frames = Vec::new();
    for (_, number, stack) in order {
        let part = &mut parts[number];
        frames.clear();
        frames.extend(part.profile.stacks.frames(stack).iter().map(|&frame| {
            let name = part.profile.symbols.frame_name(frame);
            *part.frames[frame].get_or_insert_with(|| joined.frame(name))
        }));
        part.stacks[stack] = joined.builder.stack(&frames);
    }
}

fn join_rows(joined: &mut CollapsedReader, parts: &[JoinedPart]) {
    let mut order: Vec<(Position, StackId, i64)> = Vec::new();
    for part in parts {
        let samples = &part.profile.samples;
        let rows = samples.stack.iter().zip(&samples.values[0]).zip(&part.first_of_row);
        order.extend(rows.map(|((&stack, &value), &at)| (at, part.stacks[stack], value)));
    }
    order.sort_unstable();
    for (_, stack, value) in order {
        joined.builder.sample(stack, LabelSetId::default(), None, &[value]);
    }
}

/// The result of one reader.
struct JoinedPart {
    profile: Profile,
    first_seen: Column<StackId, Position>,
    first_of_row: Vec<Position>,
    /// Maps each frame to the frame of the joined profile, once looked up.
    frames: Column<FrameId, Option<FrameId>>,
    /// Maps each stack to the stack of the joined profile, once all are joined.
    stacks: Column<StackId, StackId>,
}

impl JoinedPart {
    fn new(profile: Profile, first_seen: Column<StackId, Position>, first_of_row: Vec<Position>) -> Self {
        let frames = Column::filled(None, profile.symbols.frames.len());
        let stacks = Column::filled(StackId::default(), profile.stacks.len());
        JoinedPart { profile, first_seen, first_of_row, frames, stacks }
    }
}
