//! The stacks that counts were made from, as far as finding the origin of a change needs them.

use super::CountKind;

/// The fraction of a function's samples that a caller must cover to count as the place the function is
/// called from.
pub(super) const COVERS: f64 = 0.9;

/// A side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before the change.
    Old,
    /// After it.
    New,
}

/// Which stacks through a function to leave out of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExcludedStacks<'a> {
    /// Leave out stacks on which one of these functions is nearer to the leaf than the function's
    /// outermost occurrence.
    pub through: &'a [usize],
    /// Leave out stacks whose leaf is the function itself.
    pub ending: bool,
}

/// A caller of a function, direct or not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Caller {
    /// The caller.
    pub function: usize,
    /// How much of the function's count it covers.
    pub count: f64,
}

/// The stacks that the counts were made from. Functions have the same numbers, and counts the same unit,
/// as in the [`SampleCounts`](super::SampleCounts) that were compared.
pub trait StackSource {
    /// Says which functions will be asked for most.
    fn expect(&self, _functions: &[usize]) {}

    /// The count of `function` in every profile, old ones first, without the stacks that `cut` leaves
    /// out.
    fn counts(&self, function: usize, measure: CountKind, cut: ExcludedStacks<'_>) -> Vec<f64>;

    /// The total of `function` in every profile, without the stacks through each of `callees` in turn.
    fn totals_without_each(&self, function: usize, callees: &[usize]) -> Vec<Vec<f64>> {
        let without = |callee: &usize| {
            let cut = ExcludedStacks { through: std::slice::from_ref(callee), ending: false };
            self.counts(function, CountKind::Total, cut)
        };
        callees.iter().map(without).collect()
    }

    /// Whether the total of `function` in any profile includes something of `callee`, below it on the stack.
    fn includes(&self, function: usize, callee: usize) -> bool {
        let through = [callee];
        let without = ExcludedStacks { through: &through, ending: false };
        self.counts(function, CountKind::Total, without)
            != self.counts(function, CountKind::Total, ExcludedStacks::default())
    }

    /// The other functions above `function` in the stacks of `side` that count for it, nearest first,
    /// with their counts summed over the profiles. Each counts once per stack.
    fn callers(&self, function: usize, measure: CountKind, side: Side) -> Vec<Caller>;

    /// Whether the function is one of a library, which is no part of the program that calls it.
    fn is_library(&self, _function: usize) -> bool {
        false
    }

    /// Whether stacks of the function may lack its caller, as those of compiled code may that were followed by frame pointers:
    /// what is called from the same place as another function may be called by that.
    fn may_lack_callers(&self, _function: usize) -> bool {
        false
    }

    /// Whether both functions may be in one binary, as one that was inlined into another is: `parse` of the program is not in
    /// `memcmp` of the C library.
    fn may_be_of_one_binary(&self, _one: usize, _other: usize) -> bool {
        true
    }

    /// The function that a closure is in, if it is a closure and both sides together have that.
    fn enclosing(&self, _function: usize) -> Option<usize> {
        None
    }

    /// Which of these functions, which have equal counts, is nearest to the leaf.
    fn leafmost(&self, functions: &[usize]) -> usize;
}
