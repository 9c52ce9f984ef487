//! New code in exchange for other code: what a function did itself before, or what functions did that are gone.
//!
//! With few samples, it is not certain that `parse` lost what `parse;readVar` has. It suffices that both together are not known to
//! have grown, and that it is not much more probable that they did:
//!
//! ```text
//! main;parse 100    →    main;parse 71
//!                        main;parse;readVar 38
//! ```

use hashbrown::HashMap;

use super::CountKind;
use super::call_paths::StackSource;
use super::compare::{Comparison, Hypothesis, RemovedCount};
use super::examiner::Examiner;

/// How many functions that are gone are looked at, the heaviest first.
const CANDIDATES: usize = 64;

/// New functions and functions that are gone, by the function of both sides that called them, directly or through others of them.
pub(super) struct Exchanges {
    appeared: HashMap<usize, Vec<usize>>,
    vanished: HashMap<usize, Vec<usize>>,
}

impl Exchanges {
    pub(super) fn new(comparison: &Comparison, examiner: Examiner<'_, impl StackSource>) -> Self {
        let mut found = Exchanges { appeared: HashMap::new(), vanished: HashMap::new() };
        for row in comparison.hypotheses.iter().filter(|row| row.is_new_code()) {
            if let Some(caller) = examiner.nearest_old_caller(row) {
                found.appeared.entry(caller).or_default().push(row.function);
            }
        }
        if found.appeared.is_empty() {
            return found;
        }
        let is_own = |gone: &&RemovedCount| gone.measure == CountKind::SelfCount;
        let mut gone: Vec<&RemovedCount> = comparison.removed.iter().filter(is_own).collect();
        gone.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.function.cmp(&b.function)));
        for gone in gone.into_iter().take(CANDIDATES) {
            // What is gone deeper down was none of the caller's.
            let callers = examiner.callers_of_gone(gone);
            let nearest = callers.into_iter().find(|&caller| examiner.is_common(caller));
            if let Some(caller) = nearest.filter(|caller| found.appeared.contains_key(caller)) {
                found.vanished.entry(caller).or_default().push(gone.function);
            }
        }
        found
    }

    /// Whether own code of a new function may be what its caller did before, or what did that is gone below that.
    pub(super) fn may_be_exchanged(
        &self,
        row: &Hypothesis,
        caller: usize,
        examiner: Examiner<'_, impl StackSource>,
    ) -> bool {
        let Some(appeared) = self.appeared.get(&caller).filter(|found| found.contains(&row.function)) else {
            return false;
        };
        // What a library does was no part of the program.
        let is_library = |function| examiner.stacks.is_library(function);
        let may_be_own = !is_library(row.function) || is_library(caller);
        let vanished = self.vanished.get(&caller).into_iter().flatten();
        let own = may_be_own.then_some(&caller);
        let others = appeared.iter().filter(|&&function| function != row.function);
        let mut all = examiner.own(row.function, row.unit);
        for function in others.chain(vanished).chain(own) {
            all.add(&examiner.own(*function, row.unit));
        }
        examiner.may_be_unchanged(&all, CountKind::SelfCount, row.points)
    }
}
