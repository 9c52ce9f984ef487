//! How much could be gained, and how certain that is.

use crate::report::Ceiling;

/// The factor of the normal distribution for 95 %.
const Z: f64 = 1.96;

/// Amdahl's bound for a part of a whole that costs nothing any more, with the 95 % interval (Wilson's) that the number of
/// samples in the whole allows. `None` if nothing else is left.
///
/// ```
/// let ceiling = prof::findings::ceiling(354, 1000, Some(723.0)).unwrap();
/// let [low, high] = [ceiling.low, ceiling.high].map(|bound| (bound.unwrap() * 100.0).round() / 100.0);
/// assert_eq!(((ceiling.ratio * 100.0).round() / 100.0, low, high), (1.55, 1.47, 1.64));
/// ```
pub fn ceiling(part: i64, whole: i64, samples: Option<f64>) -> Option<Ceiling> {
    if part >= whole {
        return None;
    }
    let share = part as f64 / whole as f64;
    let gain = |share: f64| 1.0 / (1.0 - share);
    let interval = samples.filter(|samples| *samples >= 1.0).map(|samples| {
        let z = Z * Z / samples;
        let middle = (share + z / 2.0) / (1.0 + z);
        let half = (Z / (1.0 + z)) * (share * (1.0 - share) / samples + z / (4.0 * samples)).sqrt();
        (middle - half, middle + half)
    });
    Some(Ceiling {
        ratio: gain(share),
        low: interval.map(|(low, _)| gain(low.max(0.0))),
        high: interval.map(|(_, high)| gain(high.min(1.0))).filter(|high| high.is_finite()),
        is_elapsed_time: false,
        is_estimate: false,
    })
}

/// How far a share may be off, in percentage points: half of the 95 % interval of a share of 50 %, the least certain one. It cannot
/// be off by more than these 50 points.
///
/// ```
/// assert_eq!(prof::findings::accuracy(9_604.0), 1.0);
/// assert_eq!(prof::findings::accuracy(2.0), 50.0);
/// ```
pub fn accuracy(samples: f64) -> f64 {
    (100.0 * Z * (0.25 / samples).sqrt()).min(50.0)
}
