//! Why code became cheaper: what would have made it more expensive if the new side were the old one.

use crate::report::{CauseKind, DiffCause, TotalGrowth};
use crate::stats::compare::Comparison;
use crate::stats::{Incomparable, Normalization, TestOptions};
use crate::tree::{Flat, Subject};
use crate::view::diff::causes::flow::Flow;
use crate::view::diff::causes::growing::growing;
use crate::view::diff::causes::site::locate_functions;
use crate::view::diff::options::{DiffOptions, DiffSides};
use crate::view::diff::significance::{counts, test};

/// The causes of what became cheaper, the largest first, given the comparison of the sides as they are and how much the whole
/// grew. Both comparisons take the same code to be unchanged.
pub(crate) fn savings(
    (subject, counted): (&Subject<'_>, &Flat),
    sides: &DiffSides,
    options: &DiffOptions,
    comparison: &Comparison,
    growth: TotalGrowth,
) -> Result<Vec<DiffCause>, Incomparable> {
    let order = reversed_series(sides, counted.total.len());
    let subject = Subject::new(subject.profile, &options.by, &order);
    let counted = reordered(counted, &order);
    let sides = sides.reversed();
    let core = comparison.model.as_ref().map(|model| (-model.location, model.location_variance));
    let normalize = match options.test.normalize {
        Normalization::Per { old, new } => Normalization::Per { old: new, new: old },
        other => other,
    };
    let options =
        DiffOptions { test: TestOptions { normalize, core, ..options.test.clone() }, ..options.clone() };
    let all = counts(&counted, &sides);
    let (reversed, _) = test((&subject, &counted), &all, &sides, &options)?;
    let flow = reversed
        .as_ref()
        .and_then(|found| Flow::new(&subject, &counted, found, sides.size.of_sample(), &sides));
    let Some(flow) = flow else { return Ok(Vec::new()) };
    // Points are relative to the old side, which is the new one there.
    let scale = 1.0 + growth.percent / 100.0;
    let mut found: Vec<DiffCause> =
        growing(&flow).into_iter().map(|cause| reversed_cause(cause, scale)).collect();
    // If the new side costs next to nothing, so does what it does not.
    found.retain(|cause| cause.points < 0.0);
    found.sort_by(|a, b| a.points.total_cmp(&b.points));
    locate_functions(&flow, &mut found);
    let saved: f64 = found.iter().map(|cause| -cause.points).sum();
    let whole = saved.max(-growth.percent);
    for cause in &mut found {
        cause.explains = if whole > 0.0 { -cause.points / whole } else { 0.0 };
    }
    Ok(found)
}

/// The profiles of the new side, those of the old side, and what else is counted.
fn reversed_series(sides: &DiffSides, series: usize) -> Vec<usize> {
    let (old, all) = (sides.old.profiles, sides.old.profiles + sides.new.profiles);
    (old..all).chain(0..old).chain(all..series).collect()
}

fn reordered(counted: &Flat, order: &[usize]) -> Flat {
    Flat {
        self_value: order.iter().map(|&series| counted.self_value[series].clone()).collect(),
        total: order.iter().map(|&series| counted.total[series].clone()).collect(),
    }
}

/// What made code more expensive made it cheaper, seen from the other side.
fn reversed_cause(cause: DiffCause, scale: f64) -> DiffCause {
    let inverse = |ratio: Option<f64>| ratio.map(f64::recip);
    DiffCause {
        cause: match cause.cause {
            CauseKind::Dearer => CauseKind::Cheaper,
            CauseKind::CalledMore | CauseKind::NewPath => CauseKind::CalledLess,
            other => other,
        },
        points: -cause.points * scale,
        caller_points: cause.caller_points.map(|points| -points * scale),
        ratio: inverse(cause.ratio),
        ratio_low: inverse(cause.ratio_high),
        ratio_high: inverse(cause.ratio_low),
        calls: cause.calls.map(|[old, new]| [new, old]),
        ..cause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::DiffSide;
    use crate::view::SampleSize;

    #[test]
    fn what_else_is_counted_stays_at_the_end() {
        let side = |profiles| DiffSide { profiles, ..DiffSide::default() };
        let sides = DiffSides::new(side(2), side(3), SampleSize::Unknown);
        assert_eq!(reversed_series(&sides, 6), [2, 3, 4, 0, 1, 5]);
        assert_eq!(sides.reversed().old.profiles, 3);
    }
}
