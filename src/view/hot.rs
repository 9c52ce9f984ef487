//! `hot`: the heaviest path, and the repeated call sequences.

use std::cmp::Reverse;

use hashbrown::HashSet;

use crate::parallel;
use crate::profile::Profile;
use crate::report::{Hot, HotSequence, Name, Neighbour, NeighbourKind, Pair, PairBySide, PathStep};
use crate::tree::{
    Fraction, KeyId, PathRow, PreparedSearch, Sequence, SequenceSearch, Subject, along_path, count_chains,
    heaviest_path, whole,
};
use crate::view::values::RowValues;
use crate::view::{Scope, threshold};

/// Options for `hot`.
#[derive(Clone, Debug)]
pub struct HotOptions {
    /// Metric and nodes.
    pub scope: Scope,
    /// The minimum length of a sequence in functions; at least 2.
    pub min_length: usize,
    /// The maximum length; `None` for no limit.
    pub max_length: Option<usize>,
    /// In how many contexts a sequence must occur; at least 1.
    pub contexts: usize,
    /// The share of its total, in percent, that must be outside its `contexts` − 1 heaviest contexts.
    pub context_share: f64,
    /// A sequence is left out if one that is longer by one function has its total except for at most this share,
    /// in percent.
    pub tolerance: f64,
    /// The maximum number of sequences; `None` for all.
    pub limit: Option<usize>,
    /// The minimum share of the shown total that a sequence must have, in percent.
    pub min_share: f64,
}

impl HotOptions {
    /// The defaults of the command line.
    pub fn new(scope: Scope) -> Self {
        HotOptions {
            scope,
            min_length: 2,
            max_length: None,
            contexts: 2,
            context_share: 5.0,
            tolerance: 10.0,
            limit: None,
            min_share: 1.0,
        }
    }
}

/// The heaviest path, and the call sequences that recur in several contexts; in a comparison also those that
/// recur on the old side.
pub fn hot(profile: &Profile, options: &HotOptions) -> Hot {
    let scope = &options.scope;
    let (subject, mut header) = scope.open(profile, "prof.hot.v1");
    let rows = HotRows { subject: &subject, row_values: RowValues::new(&header) };
    let (path, search) = parallel::both(|| heaviest_path(&subject), || rows.search(options, header.shown));
    let mut found = rows.found(search);
    if let Some(base) = &scope.base {
        let old = Scope { metrics: vec![base.metric], base: None, ..scope.clone() };
        let old = old.subject(profile);
        let old = HotRows { subject: &old, row_values: RowValues::new(&header) };
        let gone = old.found(old.search(options, profile.shown_total(base.metric)));
        found = rows.compared(found, gone);
    }
    let limit = options.limit.unwrap_or(usize::MAX);
    header.elided_rows = found.len().saturating_sub(limit) as u64;
    let steps: Vec<PathRow> = path.rows.iter().chain(&path.next).copied().collect();
    let mut steps = rows.steps(&steps);
    let next = path.next.and_then(|_| steps.pop());
    Hot {
        header,
        path: steps,
        next,
        sequences: found.into_iter().take(limit).map(|chain| chain.row).collect(),
        min_share: options.min_share,
    }
}

/// A sequence and its keys.
struct HotChain {
    keys: Vec<KeyId>,
    row: HotSequence,
}

/// Makes the rows of the report.
struct HotRows<'s, 'p> {
    subject: &'s Subject<'p>,
    row_values: RowValues,
}

impl<'s, 'p> HotRows<'s, 'p> {
    /// The search for sequences of the first series.
    fn search(&self, options: &HotOptions, shown: i64) -> PreparedSearch<'s, 'p> {
        let search = SequenceSearch {
            min_total: threshold(shown, options.min_share).max(1),
            min_length: options.min_length.max(2),
            max_length: options.max_length.unwrap_or(usize::MAX),
            contexts: options.contexts.max(1),
            context_share: Fraction::percent(options.context_share),
            tolerance: Fraction::percent(options.tolerance),
        };
        PreparedSearch::new(self.subject, search)
    }

    /// The sequences, the heaviest first.
    fn found(&self, search: PreparedSearch<'_, '_>) -> Vec<HotChain> {
        let sequences = search.find();
        let caller = |&(key, value): &(KeyId, i64)| self.caller(key, value, None);
        let chain = |sequence: &Sequence| {
            let keys = sequences.keys(sequence);
            let row = HotSequence {
                frames: keys.iter().map(|&key| self.name(key)).collect(),
                total: sequence.total,
                self_value: sequence.self_value,
                old: None,
                delta: None,
                contexts: sequence.contexts,
                callers: sequence.callers.iter().map(caller).collect(),
            };
            HotChain { keys, row }
        };
        sequences.found.iter().map(chain).collect()
    }

    /// The sequences of both sides with the values of both, the largest change first.
    fn compared(&self, new: Vec<HotChain>, old: Vec<HotChain>) -> Vec<HotChain> {
        let known: HashSet<Vec<KeyId>> = new.iter().map(|chain| chain.keys.clone()).collect();
        let gone = old.into_iter().filter(|chain| !known.contains(&chain.keys));
        let mut chains: Vec<HotChain> = new.into_iter().chain(gone).collect();
        let keys: Vec<Vec<KeyId>> = chains.iter().map(|chain| chain.keys.clone()).collect();
        for (chain, count) in chains.iter_mut().zip(count_chains(self.subject, &keys)) {
            let values = self.row_values.values(count.self_value.into_iter(), count.total.into_iter());
            let row = &mut chain.row;
            (row.self_value, row.total) = (values.self_value, values.total);
            (row.old, row.delta) = (values.old, values.delta);
            let caller = |(&key, values): (&KeyId, &Vec<i64>)| {
                let old = self.row_values.old(Some(0), values.get(1).copied()).total;
                self.caller(key, values[0], Some(old))
            };
            row.callers = count.callers.iter().map(caller).collect();
            row.callers.sort_by(|a, b| {
                let weight =
                    |row: &Neighbour| Reverse((row.value.unsigned_abs(), row.old.map(i64::unsigned_abs)));
                weight(a).cmp(&weight(b)).then_with(|| a.name.cmp(&b.name))
            });
        }
        // Ties keep their order: the heaviest on the new side first.
        chains.sort_by_key(|chain| Reverse(chain.row.delta.map_or(0, |delta| delta.total.unsigned_abs())));
        chains
    }

    /// The rows of a path.
    fn steps(&self, rows: &[PathRow]) -> Vec<PathStep> {
        // Callees that are not on the path are left out like any other.
        let keys: Vec<KeyId> = rows.iter().map(|row| row.key).collect();
        let olds = if self.row_values.compares() { along_path(self.subject, &keys, 1) } else { Vec::new() };
        let step = |(index, row): (usize, &PathRow)| {
            let old = olds.get(index).map(|old| self.row_values.old(Some(old.self_value), Some(old.total)));
            let new = Pair { self_value: row.self_value, total: row.total };
            let name = self.name(row.key);
            PathStep { artefact: self.row_values.is_artefact(&name), name, values: PairBySide::new(new, old) }
        };
        rows.iter().enumerate().map(step).collect()
    }

    /// Who calls the first function of a sequence.
    fn caller(&self, key: KeyId, value: i64, old: Option<i64>) -> Neighbour {
        let kind = if key == whole() { NeighbourKind::Root } else { NeighbourKind::Function };
        let delta = old.map(|old| value - old);
        let name = self.name(key);
        Neighbour { artefact: self.row_values.is_artefact(&name), name, kind, value, old, delta }
    }

    fn name(&self, key: KeyId) -> Name {
        if key == whole() { Name::from("(root)") } else { self.subject.keys.name(key).clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn path_and_sequences() {
        let profile = from_notation("main;a;x;y 60\nmain;b;x;y 30\nmain;b;x;z 9\nx 1");
        let hot = hot(&profile, &HotOptions { limit: Some(1), ..HotOptions::new(Scope::metric(0)) });
        let path: Vec<String> =
            hot.path.iter().map(|step| format!("{} {}", step.name, step.values.new.total)).collect();
        assert_eq!(path, ["main 99", "a 60", "x 60", "y 60"]);
        assert_eq!((hot.next, hot.header.elided_rows), (None, 0));
        let sequence = &hot.sequences[0];
        let callers: Vec<(&str, i64)> = sequence.callers.iter().map(|row| (&*row.name, row.value)).collect();
        assert_eq!(
            (sequence.frames.join(" "), sequence.total, sequence.contexts),
            ("x y".to_string(), 90, 2)
        );
        assert_eq!(callers, [("a", 60), ("b", 30)]);
    }

    fn compared_hot(picture: &str, change: impl Fn(&mut HotOptions)) -> Hot {
        let mut options = HotOptions::new(Scope::compared());
        change(&mut options);
        hot(&from_notation(picture), &options)
    }

    #[test]
    fn sequences_of_either_side_have_the_values_of_both() {
        let hot = compared_hot(
            "main;a;x;y 60 40\nmain;b;x;y 30 30\nmain;n;m 10 0\nmain;b;n;m 5 0\nmain;o;p 0 20\nmain;b;o;p 0 9",
            |_| (),
        );
        let rows: Vec<String> = hot
            .sequences
            .iter()
            .map(|row| {
                let (old, delta) = (row.old.unwrap(), row.delta.unwrap());
                let caller = &row.callers[0];
                let callers = format!("{} {} {:?}", caller.name, caller.value, caller.old);
                format!("{} {} {} {:+} | {callers}", row.frames.join(";"), row.total, old.total, delta.total)
            })
            .collect();
        let expected = [
            "o;p 0 29 -29 | main 0 Some(20)",
            "x;y 90 70 +20 | a 60 Some(40)",
            "n;m 15 0 +15 | main 10 Some(0)",
        ];
        assert_eq!(rows, expected);
        let path: Vec<String> = hot
            .path
            .iter()
            .map(|step| format!("{} {} {}", step.name, step.values.new.total, step.values.old.unwrap().total))
            .collect();
        assert_eq!(path, ["main 105 99", "a 60 40", "x 60 40", "y 60 40"]);
    }

    #[test]
    fn recursion_counts_once_on_both_sides() {
        let hot = compared_hot("a;f;g;f;g 4 1\nb;f;g 3 2\nc;f;g;h 5 5", |options| options.tolerance = 0.0);
        let row = hot.sequences.iter().find(|row| row.frames.join(";") == "f;g").unwrap();
        assert_eq!((row.total, row.self_value), (12, 7));
        assert_eq!(row.old, Some(Pair { self_value: 3, total: 8 }));
    }
}
