//! When waits begin.

use crate::profile::{Lengths, Metric};

/// The metric whose samples have the time when the thread was back on its processor, as eBPF profilers write them. In a
/// profile, a wait has the time when it began.
const OFF_CPU: &str = "off_cpu";

/// How long the waits of a metric last, if the times of its samples are those of their ends.
pub(super) fn ended(metric: &Metric) -> Option<Lengths> {
    if metric.name == OFF_CPU { Lengths::of(metric) } else { None }
}
