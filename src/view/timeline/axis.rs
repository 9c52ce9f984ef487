//! Bins: their width, and how the values of samples are distributed among them.

use crate::report::TimeAxis;
use crate::unit::saturated;

/// A value and the time in which it was spent. Moments are nanoseconds from the start of the recording.
#[derive(Clone, Copy, Debug)]
pub(in crate::view) struct Moment {
    pub(in crate::view) start: i64,
    pub(in crate::view) end: i64,
    pub(in crate::view) value: i64,
}

/// Bins from one moment to another, at most `most` of them. Their width has at most two digits that are not 0, so that their
/// edges can be typed.
pub(in crate::view) fn axis(from_ns: i64, to_ns: i64, most: usize) -> TimeAxis {
    let length = to_ns.saturating_sub(from_ns).max(1);
    let bin_ns = round_up(length.unsigned_abs().div_ceil(most.max(1) as u64));
    let bins = length.unsigned_abs().div_ceil(bin_ns.unsigned_abs()) as usize;
    TimeAxis { from_ns, to_ns, bin_ns, bins }
}

/// The smallest number with two digits and zeros that is at least this large.
fn round_up(number: u64) -> i64 {
    let mut unit = 1_u64;
    while number / unit >= 100 {
        unit *= 10;
    }
    saturated(number.div_ceil(unit).saturating_mul(unit))
}

/// The number of the bin that a moment is in; the last one for later moments.
pub(in crate::view) fn bin_at(axis: &TimeAxis, moment: i64) -> usize {
    let since = moment.saturating_sub(axis.from_ns).max(0);
    usize::try_from(since / axis.bin_ns).unwrap_or(usize::MAX).min(axis.bins - 1)
}

/// Where a bin begins.
pub(in crate::view) fn edge(axis: &TimeAxis, bin: usize) -> i64 {
    let bin = saturated(bin);
    axis.from_ns.saturating_add(axis.bin_ns.saturating_mul(bin))
}

/// Passes the value of a sample to the bins in which it lasts, in proportion to the time that it spends in each. The parts
/// add up to the value, but for what lies outside the axis.
pub(in crate::view) fn spread(moment: Moment, axis: &TimeAxis, mut add: impl FnMut(usize, i64)) {
    let Moment { start, end, value } = moment;
    let (first, last) = (bin_at(axis, start), bin_at(axis, end.saturating_sub(1).max(start)));
    let is_cut = end > axis.to_ns || start < axis.from_ns;
    if first == last && (!is_cut || start == end) {
        add(first, value);
        return;
    }
    let length = i128::from(end) - i128::from(start);
    let until = |moment: i64| {
        let passed = (i128::from(moment) - i128::from(start)).clamp(0, length);
        if length == 0 { value } else { (i128::from(value) * passed / length) as i64 }
    };
    let mut before = until(axis.from_ns);
    for bin in first..=last {
        // The difference of two rounded sums: the parts add up.
        let after = until(edge(axis, bin + 1).min(axis.to_ns).min(end));
        add(bin, after - before);
        before = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_round() {
        for (length, most, want) in [(100, 10, 10), (101, 10, 11), (1_234_567, 10, 130_000), (1, 60, 1)] {
            let axis = axis(0, length, most);
            assert_eq!(axis.bin_ns, want, "{length} {most}");
            assert!(axis.bins <= most && edge(&axis, axis.bins) >= length);
        }
        // A recording as long as the clock allows.
        let longest = axis(0, i64::MAX, 7);
        assert!(longest.bins <= 7 && bin_at(&longest, i64::MAX) < longest.bins);
    }

    #[test]
    fn a_span_is_divided_among_its_bins() {
        let axis = axis(100, 200, 10);
        let parts = |start, end, value| {
            let mut bins = vec![0; axis.bins];
            spread(Moment { start, end, value }, &axis, |bin, part| bins[bin] += part);
            bins
        };
        assert_eq!(parts(105, 125, 20), [5, 10, 5, 0, 0, 0, 0, 0, 0, 0]);
        // A third of 10 each, rounded: 3, 6 and 10 up to each edge.
        assert_eq!(parts(100, 130, 10), [3, 3, 4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(110, 110, 7), [0, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
        // Half of it lies after the end.
        assert_eq!(parts(190, 210, 8), [0, 0, 0, 0, 0, 0, 0, 0, 0, 4]);
        // Or before the start.
        assert_eq!(parts(90, 120, 9), [3, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(parts(0, 300, 30), [1; 10]);
        assert_eq!(parts(100, 200, -30), [-3; 10]);
    }
}
