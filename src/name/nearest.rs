//! Finds the names nearest to a pattern that matched nothing, for "did you mean".

use std::collections::BTreeSet;

/// The maximum number of bytes of a pattern that are compared: one bit of a machine word each.
const LONGEST: usize = 64;

/// Up to `count` distinct names that contain something similar to `pattern`, best first: with the fewest edits
/// between the pattern and a part of the name, ignoring case; of equal ones, the shortest. Names that differ in more
/// than a third of the pattern are left out. Linear in the total length of all names.
pub fn nearest<'a>(pattern: &str, names: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<&'a str> {
    let wanted = significant(pattern);
    let Some(matcher) = Matcher::new(&wanted) else { return Vec::new() };
    let mut best = BTreeSet::new();
    for name in names {
        let edits = matcher.edits(name);
        if edits as usize * 3 <= wanted.len() {
            best.insert((edits, name.len(), name));
            if best.len() > count {
                best.pop_last();
            }
        }
    }
    best.into_iter().map(|(_, _, name)| name).collect()
}

/// The literal text of a pattern, without regex syntax that names do not contain. The end of a long one is
/// kept, since names differ there (`github.com/…/gob.Decode`).
fn significant(pattern: &str) -> Vec<u8> {
    let plain = pattern.replace(".*", "").replace('…', "");
    let bytes: Vec<u8> =
        plain.bytes().filter(|b| !b"\\^$".contains(b)).map(|b| b.to_ascii_lowercase()).collect();
    bytes[bytes.len().saturating_sub(LONGEST)..].to_vec()
}

/// Myers' bit-parallel search: a column of the edit-distance matrix in two machine words. Bit i is set if row i is
/// one more (`plus`) or one less (`minus`) than row i − 1.
struct Matcher {
    /// For each byte, its positions in the pattern as a bit mask.
    positions: [u64; 256],
    length: u32,
}

impl Matcher {
    fn new(pattern: &[u8]) -> Option<Matcher> {
        if pattern.is_empty() {
            return None;
        }
        let mut positions = [0; 256];
        for (i, &byte) in pattern.iter().enumerate() {
            positions[usize::from(byte)] |= 1 << i;
        }
        Some(Matcher { positions, length: pattern.len() as u32 })
    }

    /// The minimum number of edits that turn the pattern into some part of `name`.
    fn edits(&self, name: &str) -> u32 {
        let last = 1_u64 << (self.length - 1);
        let (mut plus, mut minus) = (u64::MAX, 0_u64);
        let (mut edits, mut fewest) = (self.length, self.length);
        for byte in name.bytes() {
            let equal = self.positions[usize::from(byte.to_ascii_lowercase())];
            let diagonal = (((equal & plus).wrapping_add(plus)) ^ plus) | equal | minus;
            let across_plus = minus | !(diagonal | plus);
            let across_minus = plus & diagonal;
            if across_plus & last != 0 {
                edits += 1;
            } else if across_minus & last != 0 {
                edits -= 1;
            }
            // No 1 is shifted in, because a match may start anywhere in the name at no cost.
            let across_plus = across_plus << 1;
            plus = (across_minus << 1) | !(diagonal | across_plus);
            minus = across_plus & diagonal;
            fewest = fewest.min(edits);
        }
        fewest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NAMES: [&str; 6] = [
        "runtime.mallocgc",
        "runtime.memmove",
        "gpq.(*GPQ[…]).DeQueue",
        "gpq.(*GPQ[…]).DeQueue.func2",
        "gob.(*Decoder).Decode",
        "main",
    ];

    #[test]
    fn finds_what_was_meant() {
        for (pattern, want) in [
            ("Mallocgc", &["runtime.mallocgc"][..]),
            ("malocgc", &["runtime.mallocgc"]),
            ("\\.DeQeue$", &["gpq.(*GPQ[…]).DeQueue", "gpq.(*GPQ[…]).DeQueue.func2"]),
            ("decode", &["gob.(*Decoder).Decode"]),
            ("mian", &[]),
            ("man", &["main", "runtime.mallocgc"]),
            ("zzzzzz", &[]),
            ("", &[]),
            ("^$", &[]),
        ] {
            assert_eq!(nearest(pattern, NAMES, 3), want, "{pattern}");
        }
        assert_eq!(nearest("m", NAMES, 1), ["main"]);
        assert_eq!(nearest("m", ["m", "m"], 3), ["m"]);
        assert_eq!(nearest("m", NAMES, 0), [""; 0]);
    }

    /// The textbook algorithm. The first row of the matrix is zero because a match may start anywhere.
    fn slow(pattern: &[u8], name: &[u8]) -> u32 {
        let mut column: Vec<u32> = (0..=pattern.len() as u32).collect();
        let mut fewest = pattern.len() as u32;
        for &byte in name {
            let mut diagonal = column[0];
            for i in 1..=pattern.len() {
                let change = diagonal + u32::from(!pattern[i - 1].eq_ignore_ascii_case(&byte));
                diagonal = column[i];
                column[i] = change.min(column[i] + 1).min(column[i - 1] + 1);
            }
            fewest = fewest.min(column[pattern.len()]);
        }
        fewest
    }

    proptest! {
        #[test]
        fn fast_equals_slow(pattern in "[a-c]{1,64}", name in "[a-cA-C]{0,90}") {
            let matcher = Matcher::new(pattern.as_bytes()).unwrap();
            prop_assert_eq!(matcher.edits(&name), slow(pattern.as_bytes(), name.as_bytes()));
        }
    }
}
