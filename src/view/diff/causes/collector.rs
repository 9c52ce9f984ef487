//! The garbage collector: its growth is one cause, and the code that allocates more is what to look at.

use crate::pattern::is_collector;
use crate::report::{CauseKind, DiffCause};
use crate::stats::CountKind;
use crate::tree::KeyId;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::kinds::name;
use crate::view::diff::causes::users::users;

/// Makes one cause of those that are the garbage collector, and names the function whose allocations grew most.
pub(super) fn merge_collection(flow: &Flow<'_, '_>, causes: &mut Vec<DiffCause>) {
    let is_collection =
        |cause: &DiffCause| is_collector(&cause.function, cause.file.as_deref().unwrap_or_default());
    let Some(largest) = causes
        .iter()
        .filter(|cause| is_collection(cause))
        .max_by(|a, b| a.points.total_cmp(&b.points))
        .cloned()
    else {
        return;
    };
    let points: f64 = causes.iter().filter(|cause| is_collection(cause)).map(|cause| cause.points).sum();
    causes.retain(|cause| !is_collection(cause));
    let allocator = largest_allocator(flow);
    causes.push(DiffCause {
        cause: CauseKind::Gc,
        of: Some(largest.function.clone()),
        function: allocator.map_or(largest.function.clone(), |function| name(flow, function)),
        points,
        path: Vec::new(),
        ..largest
    });
}

/// The function of the program whose calls of the allocator grew most. Go calls `mallocgc`, or one of its forms for some sizes.
fn largest_allocator(flow: &Flow<'_, '_>) -> Option<usize> {
    let keys = &flow.subject.keys;
    let is_allocator = |key: &KeyId| keys.get(*key).function.starts_with("runtime.mallocgc");
    let allocators: Vec<KeyId> = keys.ids().filter(is_allocator).collect();
    let found = users(flow, &allocators, CountKind::Total);
    found.first().filter(|user| user.change.points > 0.0).map(|user| user.function)
}
