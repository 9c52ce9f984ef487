//! The line of the new source that a cause is about.

use std::collections::BTreeMap;

use crate::report::{CauseKind, DiffCause, Growth};
use crate::tree::KeyId;
use crate::view::diff::causes::flow::Flow;

/// Sets the file and the line of a cause: the line that grew most, of the caller if the cause is what it calls.
pub(super) fn locate(flow: &Flow<'_, '_>, cause: &mut DiffCause) {
    let is_in_caller = match cause.cause {
        CauseKind::NewPath | CauseKind::CalledMore => {
            cause.growth == Growth::OneCaller || !cause.path.is_empty()
        }
        _ => false,
    };
    let name = if is_in_caller { cause.path.first() } else { Some(&cause.function) };
    let keys = &flow.subject.keys;
    let Some(key) = keys.ids().find(|&key| Some(keys.name(key)) == name) else { return };
    let this = keys.get(key);
    cause.file.clone_from(&this.file);
    cause.line = grown_line(flow, key).or(this.line);
}

/// The line of a function on which most was added.
fn grown_line(flow: &Flow<'_, '_>, key: KeyId) -> Option<u32> {
    let (subject, symbols) = (flow.subject, &flow.subject.profile.symbols);
    if subject.calls.is_some() {
        return None;
    }
    let mut lines: BTreeMap<u32, f64> = BTreeMap::new();
    for stack in subject.stacks() {
        let frames = subject.profile.stacks.frames(stack);
        let Some(&frame) = frames.iter().rev().find(|&&frame| subject.keys.of_frame(frame) == key) else {
            continue;
        };
        let values: Vec<i64> = subject.values(stack).collect();
        *lines.entry(symbols.frames[frame].line).or_default() += flow.growth_of(&values);
    }
    lines.remove(&0);
    // The first of equal ones.
    lines.into_iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(line, _)| line)
}
