//! The lines of the new source that causes are about.

use hashbrown::HashMap;

use crate::profile::Id;
use crate::report::{CauseKind, DiffCause, Growth, Name};
use crate::tree::KeyId;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::lines::values_by_line;

/// Sets the file and the line of causes: the line that grew most, of the caller if the cause is what it calls.
pub(super) fn locate(flow: &Flow<'_, '_>, causes: &mut [DiffCause]) {
    let function = |cause: &DiffCause| flow.function(site(cause)?).map(KeyId::new);
    let functions: Vec<Option<KeyId>> = causes.iter().map(function).collect();
    let lines = grown_lines(flow, &functions.iter().copied().flatten().collect::<Vec<_>>());
    for (cause, function) in causes.iter_mut().zip(functions) {
        let Some(key) = function else { continue };
        let this = flow.subject.keys.get(key);
        cause.file.clone_from(&this.file);
        cause.line = lines.get(&key).copied().or(this.line);
    }
}

/// Sets the file and the line of causes to those of functions: what is gone has no line in the new source.
pub(super) fn locate_functions(flow: &Flow<'_, '_>, causes: &mut [DiffCause]) {
    for cause in causes {
        let Some(key) = site(cause).and_then(|name| flow.function(name)).map(KeyId::new) else { continue };
        let this = flow.subject.keys.get(key);
        cause.file.clone_from(&this.file);
        cause.line = this.line;
    }
}

/// The function whose source a cause is about.
fn site(cause: &DiffCause) -> Option<&Name> {
    let is_in_caller = match cause.cause {
        CauseKind::NewPath | CauseKind::CalledMore | CauseKind::CalledLess => {
            cause.growth == Growth::OneCaller || !cause.path.is_empty()
        }
        _ => false,
    };
    if is_in_caller { cause.path.first() } else { Some(&cause.function) }
}

/// The line of each function on which most was added.
fn grown_lines(flow: &Flow<'_, '_>, functions: &[KeyId]) -> HashMap<KeyId, u32> {
    let subject = flow.subject;
    if subject.calls.is_some() {
        return HashMap::new();
    }
    let growth = |stack| flow.growth_of(&subject.values(stack).collect::<Vec<i64>>());
    let mut lines = HashMap::new();
    for (function, mut growth) in values_by_line(subject, functions, growth) {
        growth.remove(&0);
        // The first of equal ones.
        let most = growth.into_iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
        lines.extend(most.map(|(line, _)| (function, line)));
    }
    lines
}
