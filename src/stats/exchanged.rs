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
use super::call_paths::{
    COVERS, ExcludedStacks, Side, StackSource, column, nearest_common_caller, nearest_old_caller,
};
use super::compare::{Comparison, Hypothesis, RemovedCount};
use super::dispersion::RunCounts;
use super::model::Model;
use super::trades::SURE;

/// If counts are so many times as probable with growth as without, the code grew.
pub(super) const EVIDENCE: f64 = 5.0;
/// How many functions that are gone are looked at, the heaviest first.
const CANDIDATES: usize = 64;

/// New functions and functions that are gone, by the function of both sides that called them, directly or through others of them.
pub(super) struct Exchanges {
    appeared: HashMap<usize, Vec<usize>>,
    vanished: HashMap<usize, Vec<usize>>,
}

impl Exchanges {
    pub(super) fn new(comparison: &Comparison, model: &Model, stacks: &impl StackSource) -> Self {
        let mut found = Exchanges { appeared: HashMap::new(), vanished: HashMap::new() };
        for row in comparison.hypotheses.iter().filter(|row| row.is_new_code()) {
            if let Some(caller) = nearest_old_caller(row, COVERS * row.new * row.unit, model, stacks) {
                found.appeared.entry(caller).or_default().push(row.function);
            }
        }
        if found.appeared.is_empty() {
            return found;
        }
        let is_own = |gone: &&RemovedCount| gone.measure == CountKind::SelfCount;
        let mut gone: Vec<&RemovedCount> = comparison.removed.iter().filter(is_own).collect();
        gone.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.function.cmp(&b.function)));
        for RemovedCount { function, measure, .. } in gone.into_iter().take(CANDIDATES) {
            let counts = stacks.counts(*function, *measure, ExcludedStacks::default());
            let enough = COVERS * counts.iter().sum::<f64>();
            // What is gone deeper down was none of the caller's.
            let nearest = nearest_common_caller(*function, *measure, Side::Old, enough, model, stacks);
            if let Some(caller) = nearest.filter(|caller| found.appeared.contains_key(caller)) {
                found.vanished.entry(caller).or_default().push(*function);
            }
        }
        found
    }

    /// Whether own code of a new function may be what its caller did before, or what did that is gone below that.
    pub(super) fn may_be_exchanged(
        &self,
        row: &Hypothesis,
        caller: usize,
        model: &Model,
        stacks: &impl StackSource,
    ) -> bool {
        let Some(appeared) = self.appeared.get(&caller).filter(|found| found.contains(&row.function)) else {
            return false;
        };
        // What a library does was no part of the program.
        let may_be_own = !stacks.is_library(row.function) || stacks.is_library(caller);
        let vanished = self.vanished.get(&caller).into_iter().flatten();
        let own = may_be_own.then_some(&caller);
        let mut all = Vec::new();
        for function in appeared.iter().chain(vanished).chain(own) {
            let counts = stacks.counts(*function, CountKind::SelfCount, ExcludedStacks::default());
            all.resize(counts.len(), 0.0);
            all.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let all = column(all, row.unit);
        model.test(&all, CountKind::SelfCount).increase.0 > SURE
            && likelihood_of_growth(model, &all, row.points) < EVIDENCE
    }
}

/// How many times as probable the counts are if the code grew by this fraction of the old total as if it did not.
pub(super) fn likelihood_of_growth(model: &Model, code: &RunCounts, by: f64) -> f64 {
    let tested = model.test(code, CountKind::SelfCount);
    let grown = (by / model.old_share(code)).ln_1p();
    ((tested.log_ratio * grown - grown * grown / 2.0) / tested.standard_error.powi(2)).exp()
}
