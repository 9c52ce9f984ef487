//! Integers with seven bits per byte, the lowest first.

/// The number that starts with these bytes, and how many of them it takes. If it goes on after them, its first 56 bits, and 9.
///
/// All bytes are looked at together: one after another, the times of events took a tenth of the time of reading a trace.
#[inline]
pub(super) fn first_number(bytes: [u8; 8]) -> (u64, usize) {
    let word = u64::from_le_bytes(bytes);
    // The last byte is the first without its highest bit.
    let ends = !word & 0x8080_8080_8080_8080;
    // Up to the end: all bits below the lowest one that is set.
    let digits = word & (ends ^ ends.wrapping_sub(1)) & 0x7F7F_7F7F_7F7F_7F7F;
    let length = if ends == 0 { 9 } else { ends.trailing_zeros() as usize / 8 + 1 };
    // Pairs of 7 bits become 14, pairs of 14 become 28, and those 56.
    let pairs = (digits & 0x007F_007F_007F_007F) | (digits & 0x7F00_7F00_7F00_7F00) >> 1;
    let quarters = (pairs & 0x0000_3FFF_0000_3FFF) | (pairs & 0x3FFF_0000_3FFF_0000) >> 2;
    let number = (quarters & 0x0000_0000_0FFF_FFFF) | (quarters & 0x0FFF_FFFF_0000_0000) >> 4;
    (number, length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_those_of_their_bytes(bytes: [u8; 8]) {
            let length = bytes.iter().position(|byte| byte & 0x80 == 0).map_or(9, |last| last + 1);
            let digits = bytes.iter().take(length).zip(0..);
            let number = digits.fold(0, |number, (byte, place)| number | u64::from(byte & 0x7F) << (7 * place));
            prop_assert_eq!(first_number(bytes), (number, length));
        }
    }
}
