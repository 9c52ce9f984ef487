//! Timestamps.

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::speedscope::ThreadScale;

/// Not all integers from here on are exact as `f64`.
const INEXACT: f64 = 9_007_199_254_740_992.0;

/// A timestamp.
#[derive(Clone, Copy, Default)]
pub(super) struct Moment {
    pub(super) value: f64,
    /// The same if it is written as an integer and may not be exact as `f64`, such as nanoseconds since 1970.
    pub(super) whole: Option<i64>,
}

impl Moment {
    #[inline]
    pub(super) fn read(json: &mut Json) -> Result<Moment, ParseError> {
        let start = json.position();
        let value = json.number()?;
        let whole = if value.abs() < INEXACT { None } else { integer(json.since(start)) };
        Ok(Moment { value, whole })
    }

    #[inline]
    pub(super) fn is_before(self, other: Moment) -> bool {
        match (self.whole, other.whole) {
            (Some(one), Some(other)) => one < other,
            _ => self.value < other.value,
        }
    }

    /// In nanoseconds, if it is a time.
    #[inline]
    pub(super) fn time(self, scale: &ThreadScale) -> Option<i64> {
        let nanoseconds = scale.nanoseconds?;
        Some(match self.whole {
            Some(whole) => whole.saturating_mul(nanoseconds as i64),
            None => (self.value * nanoseconds) as i64,
        })
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.whole {
            Some(whole) => whole.fmt(to),
            None => self.value.fmt(to),
        }
    }
}

#[cold]
fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
