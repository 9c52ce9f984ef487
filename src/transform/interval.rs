//! How often a thread is sampled.

/// The time between two samples of a thread that keeps running: a quarter of the gaps between samples of a thread are at most this
/// long. Threads that mostly wait have longer gaps than `length`, the time that a sample stands for if that is known; profilers
/// that skip samples have gaps of up to three times as much. `None` if neither is known.
pub(crate) fn sampling_interval(gaps: Vec<i64>, length: Option<i64>) -> Option<i64> {
    let gap = quantile(gaps, 4);
    match (gap, length.filter(|&length| length > 0)) {
        (Some(gap), Some(length)) => Some(gap.clamp(length, length.saturating_mul(3))),
        (gap, length) => gap.or(length),
    }
}

/// The value below which one in `part` is.
pub(crate) fn quantile(mut values: Vec<i64>, part: usize) -> Option<i64> {
    let place = values.len() / part;
    (place < values.len()).then(|| *values.select_nth_unstable(place).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_and_skipped_samples_do_not_matter_much() {
        let interval = |gaps: &[i64], length| sampling_interval(gaps.to_vec(), length);
        assert_eq!(interval(&[10, 10, 10, 500, 9000], None), Some(10));
        assert_eq!(interval(&[20, 20, 20, 500], Some(10)), Some(20), "every other sample is skipped");
        assert_eq!(interval(&[500, 700, 900], Some(10)), Some(30), "the thread mostly waits");
        assert_eq!(interval(&[1, 1, 9], Some(10)), Some(10), "two events are sampled");
        assert_eq!(
            (interval(&[], Some(7)), interval(&[], Some(0)), interval(&[], None)),
            (Some(7), None, None)
        );
    }
}
