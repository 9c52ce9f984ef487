//! The garbage collector: its growth is one cause, and the code that allocates more is what to look at.

use hashbrown::HashMap;

use crate::pattern::{is_collector, is_runtime};
use crate::profile::Id;
use crate::report::{CauseKind, DiffCause};
use crate::tree::{KeyId, Series};
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::kinds::name;

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

/// The function whose calls of the allocator grew most: the nearest one above it that is not part of the runtime.
fn largest_allocator(flow: &Flow<'_, '_>) -> Option<usize> {
    let subject = flow.subject;
    let is_runtime = |key: KeyId| {
        let key = subject.keys.get(key);
        is_runtime(&key.function, key.file.as_deref().unwrap_or_default())
    };
    let allocates = KeyId::new(flow.function("runtime.mallocgc")?);
    let old = flow.comparison.profiles.0;
    let mut grown: HashMap<usize, i64> = HashMap::new();
    for stack in subject.stacks() {
        let keys: Vec<KeyId> = subject.stack_keys(stack).collect();
        let Some(at) = keys.iter().rposition(|&key| key == allocates) else { continue };
        let Some(user) = keys[..at].iter().rev().find(|&&key| !is_runtime(key)) else { continue };
        let sum = |series: &[Series<'_>]| -> i64 {
            series.iter().map(|values| values[stack]).fold(0, i64::saturating_add)
        };
        let profiles = old + flow.comparison.profiles.1;
        let growth = sum(&subject.series[old..profiles]).saturating_sub(sum(&subject.series[..old]));
        let entry = grown.entry(user.index()).or_default();
        *entry = entry.saturating_add(growth);
    }
    grown
        .into_iter()
        .filter(|(_, growth)| *growth > 0)
        .max_by_key(|&(function, growth)| (growth, function))
        .map(|(function, _)| function)
}
