//! Why costs changed: the causes behind the rows of a comparison.
//!
//! Rows say which functions cost more; a change of one line can make ten of them cost more. So their growth is led back
//! to where it began ([`origins`]), each origin is told apart by its callers and callees ([`kinds`]), and what only moved
//! is listed for itself ([`moves`]). The causes share out the growth of self, so nothing is counted twice.

mod above;
mod collector;
mod distant;
mod flow;
mod growing;
mod hidden;
mod inlined;
mod kinds;
mod merge;
mod moves;
mod origins;
mod recursion;
mod savings;
mod site;
mod sites;
mod users;

use crate::report::{DiffCause, TotalGrowth};
use crate::stats::compare::Comparison;
use crate::tree::{Flat, Subject};
use crate::view::diff::DiffSides;
use crate::view::diff::mix::Mix;

use flow::Flow;
use growing::growing;
use moves::moves;
pub(super) use savings::savings;
use site::locate;

/// Why the sides of a comparison differ, and by how much.
#[derive(Default)]
pub(super) struct Explanation {
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
) -> Explanation {
    let size = mix.map_or(sides.size, |mix| mix.size).of_sample();
    let flow = comparison.and_then(|found| Flow::new(subject, counted, found, size, sides));
    let Some(flow) = flow else {
        return Explanation::default();
    };
    let mut causes = growing(&flow);
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
    Explanation { causes, growth: Some(growth), unexplained }
}
