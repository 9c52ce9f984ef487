//! What to search for, and what is found.

use crate::tree::KeyId;
use crate::tree::prefixes::PrefixId;

/// A fraction in millionths, so that comparisons are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(pub(super) u32);

impl Fraction {
    const WHOLE: u32 = 1_000_000;

    /// A fraction given in percent, rounded to a millionth.
    pub fn percent(percent: f64) -> Self {
        Fraction((percent.clamp(0.0, 100.0) * 10_000.0).round() as u32)
    }

    /// One minus this fraction.
    #[must_use]
    pub fn rest(self) -> Self {
        Fraction(Self::WHOLE - self.0)
    }

    /// The smallest value that is at least this fraction of `whole`.
    pub(super) fn least_part(self, whole: u64) -> u64 {
        (u128::from(whole) * u128::from(self.0)).div_ceil(u128::from(Self::WHOLE)) as u64
    }

    /// Whether `part` is at least this fraction of `whole`, ignoring signs.
    pub fn is_reached_by(self, part: i64, whole: i64) -> bool {
        let [part, whole] = [part, whole].map(|value| u128::from(value.unsigned_abs()));
        part * u128::from(Self::WHOLE) >= whole * u128::from(self.0)
    }
}

/// Options for the search for sequences.
#[derive(Clone, Copy, Debug)]
pub struct SequenceSearch {
    /// The minimum absolute total; at least 1.
    pub min_total: u64,
    /// The minimum number of keys; at least 2.
    pub min_length: usize,
    /// The maximum number of keys.
    pub max_length: usize,
    /// The minimum number of contexts; at least 1.
    pub contexts: usize,
    /// The minimum fraction of the total outside the `contexts` − 1 heaviest contexts.
    pub context_share: Fraction,
    /// A chain is omitted if a chain one key longer has the same total within this fraction.
    pub tolerance: Fraction,
}

/// A sequence that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The value of the stacks that contain it; each stack counts once.
    pub total: i64,
    /// The part of `total` in which the last key is the leaf.
    pub self_value: i64,
    /// The number of distinct prefixes before it.
    pub contexts: u64,
    /// The callers of the first key, heaviest first, with the value of the stacks on which they call it.
    /// The key of the whole profile stands for stacks that start with the sequence.
    pub callers: Vec<(KeyId, i64)>,
    /// The number of keys.
    pub length: usize,
    /// One of the nodes where it ends.
    pub(super) place: PrefixId,
}

/// When chains are extended by many keys at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strides {
    /// The shortest step is 2^`least` keys; it is tried at lengths that are a multiple of that.
    pub(super) least: u32,
    /// Stacks with fewer keys than this are searched key by key.
    pub(super) depth: u32,
}

impl Strides {
    pub(super) const USUAL: Strides = Strides { least: 5, depth: 512 };
}
