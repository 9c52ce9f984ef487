//! The pauses of a garbage collector, in the bins of a timeline.

use crate::report::{TimeAxis, TimelinePauses};
use crate::view::timeline::axis::{Moment, spread};
use crate::view::timeline::moments::Moments;

/// The pauses in the range of `axis`; `None` if there are none.
pub(super) fn pauses(moments: &Moments<'_>, axis: &TimeAxis) -> Option<TimelinePauses> {
    let mut shown = moments.pauses();
    shown.retain(|&(start, end, _)| start < axis.to_ns && end > axis.from_ns);
    let &(longest_from_ns, longest_end, cause) =
        shown.iter().rev().max_by_key(|(start, end, _)| end.saturating_sub(*start))?;
    let mut bins = vec![0_i64; axis.bins];
    for &(start, end, _) in &shown {
        spread(Moment { start, end, value: end.saturating_sub(start) }, axis, |bin, part| {
            bins[bin] = bins[bin].saturating_add(part);
        });
    }
    Some(TimelinePauses {
        count: shown.len() as u64,
        total_ns: bins.iter().fold(0, |sum, part| sum.saturating_add(*part)),
        bins,
        longest_from_ns,
        longest_ns: longest_end.saturating_sub(longest_from_ns),
        longest_cause: cause.to_string(),
    })
}
