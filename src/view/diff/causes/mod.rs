//! Why costs changed: the causes behind the rows of a comparison.
//!
//! Rows say which functions cost more; a change of one line can make ten of them cost more. So their growth is led back
//! to where it began ([`origins`]), each origin is told apart by its callers and callees ([`kinds`]), and what only moved
//! is listed for itself ([`moves`]). The causes share out the growth of self, so nothing is counted twice.

mod above;
mod collector;
mod distant;
mod flow;
mod hidden;
mod inlined;
mod kinds;
mod merge;
mod moves;
mod origins;
mod recursion;
mod site;
mod sites;
mod users;

use crate::report::{DiffCause, TotalGrowth};
use crate::stats::compare::Comparison;
use crate::tree::{Flat, Subject};
use crate::view::diff::DiffSides;
use crate::view::diff::mix::Mix;

use collector::merge_collection;
use flow::Flow;
use hidden::of_hidden_call;
use kinds::cause;
use merge::{merge_callers, merge_parts};
use moves::moves;
use origins::{Origin, origins};
use site::locate;
use users::{is_library_itself, of_users};

/// The causes of a comparison, and how much more the new side costs.
#[derive(Default)]
pub(super) struct Causes {
    /// The largest first; then what only moved.
    pub(super) causes: Vec<DiffCause>,
    /// How much more the new side costs.
    pub(super) growth: Option<TotalGrowth>,
    /// The part of it, from 0 to 1, that no cause explains; `None` if there may be no growth.
    pub(super) unexplained: Option<f64>,
}

/// Explains a comparison.
pub(super) fn explain(
    (subject, counted): (&Subject<'_>, &Flat),
    comparison: Option<&Comparison>,
    sides: &DiffSides,
    mix: Option<&Mix<'_>>,
) -> Causes {
    let size = mix.map_or(sides.size, |mix| mix.size).of_sample();
    let flow = comparison.and_then(|found| Flow::new(subject, counted, found, size, sides));
    let Some(flow) = flow else {
        return Causes::default();
    };
    let mut causes: Vec<DiffCause> =
        origins(&flow).into_iter().flat_map(|origin| causes_of(&flow, origin)).collect();
    merge_callers(&flow, &mut causes);
    merge_parts(&flow, &mut causes);
    merge_collection(&flow, &mut causes);
    causes.extend(mix.map(|mix| mix.cause.clone()));
    causes.sort_by(|a, b| b.points.total_cmp(&a.points));
    let growth = mix.map_or_else(|| flow.growth(), |mix| mix.growth);
    let explained: f64 = causes.iter().map(|cause| cause.points.max(0.0)).sum();
    // If other code became cheaper, the causes add up to more than the growth of the whole.
    let whole = growth.percent.max(explained);
    for cause in &mut causes {
        cause.explains = if whole > 0.0 { cause.points.max(0.0) / whole } else { 0.0 };
    }
    locate(&flow, &mut causes);
    let moved = moves(&flow, &sides.matched, &causes);
    causes.extend(moved);
    let unexplained = (growth.low > 0.0 && whole > 0.0).then(|| (whole - explained) / whole);
    Causes { causes, growth: Some(growth), unexplained }
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
