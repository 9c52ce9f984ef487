//! The causes of what grew: growth is led back to where it began, and each origin is told apart.

use crate::report::DiffCause;
use crate::view::diff::causes::collector::merge_collection;
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::hidden::of_hidden_call;
use crate::view::diff::causes::kinds::cause;
use crate::view::diff::causes::merge::{merge_callers, merge_parts, share_out};
use crate::view::diff::causes::origins::{Origin, origins};
use crate::view::diff::causes::users::{is_library_itself, of_users};

/// The causes of what grew.
pub(super) fn growing(flow: &Flow<'_, '_>) -> Vec<DiffCause> {
    let mut causes: Vec<DiffCause> =
        origins(flow).into_iter().flat_map(|origin| causes_of(flow, origin)).collect();
    merge_callers(flow, &mut causes);
    merge_parts(flow, &mut causes);
    share_out(flow, &mut causes);
    merge_collection(flow, &mut causes);
    causes
}

/// The cause of an origin, or those of the functions of the program that make a library do more.
fn causes_of(flow: &Flow<'_, '_>, origin: Origin) -> Vec<DiffCause> {
    let points = flow.of(origin.function, origin.kind).points * 100.0;
    if let Some(hidden) = of_hidden_call(flow, origin.function, points) {
        return vec![hidden];
    }
    let found = cause(flow, origin);
    let function = flow.function(&found.function);
    if let Some(hidden) = function.and_then(|function| of_hidden_call(flow, function, found.points)) {
        return vec![hidden];
    }
    if is_library_itself(flow, origin, &found)
        && let Some(users) = of_users(flow, origin)
    {
        return users;
    }
    vec![found]
}
