//! The weight at the end of a line.

/// A decimal number, split at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Weight<'a> {
    negative: bool,
    whole: &'a [u8],
    pub(super) fraction: &'a [u8],
}

impl Weight<'_> {
    /// The number times 10^`decimals`, rounded half away from zero; saturates far outside of `i64`.
    pub(super) fn scaled(self, decimals: u32) -> i128 {
        let digit = |index: usize| self.fraction.get(index).map_or(0, |byte| i128::from(byte - b'0'));
        let mut value: i128 = 0;
        for &byte in self.whole {
            value = value.saturating_mul(10).saturating_add(i128::from(byte - b'0'));
        }
        for index in 0..decimals as usize {
            value = value.saturating_mul(10).saturating_add(digit(index));
        }
        value = value.saturating_add(i128::from(digit(decimals as usize) >= 5));
        if self.negative { -value } else { value }
    }
}

/// Splits a right-trimmed line at its last space into the stack and the weight.
pub(super) fn split_weight(line: &[u8]) -> Option<(&[u8], Weight<'_>)> {
    let at = memchr::memrchr2(b' ', b'\t', line)?;
    let (rest, number) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let (negative, digits) = match number {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (whole, fraction) = match memchr::memchr(b'.', digits) {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &digits[..0]),
    };
    let is_number = whole.len() + fraction.len() > 0 && whole.iter().chain(fraction).all(u8::is_ascii_digit);
    is_number.then_some((rest, Weight { negative, whole, fraction }))
}
