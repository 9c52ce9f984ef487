//! `hot`: the heaviest path, and the repeated call sequences.

use crate::profile::Profile;
use crate::report::{Hot, HotSequence, Name, Neighbour, PathStep};
use crate::tree::{KeyId, PathRow, SequenceSearch, Share, Subject, heaviest_path, sequences, whole};
use crate::view::{Scope, threshold};

/// What `hot` is told.
#[derive(Clone, Debug)]
pub struct HotOptions {
    /// Metric and nodes.
    pub scope: Scope,
    /// The fewest functions of a sequence; at least 2.
    pub min_length: usize,
    /// The most; `None` for any number.
    pub max_length: Option<usize>,
    /// In how many contexts a sequence has to stand; at least 1.
    pub contexts: usize,
    /// The share of its total, in percent, that has to lie outside its `contexts` − 1 heaviest ones.
    pub context_share: f64,
    /// A sequence is left out if one a function longer has all of its total but this share, in percent.
    pub tolerance: f64,
    /// How many sequences at most; `None` for all.
    pub limit: Option<usize>,
    /// The smallest share of what is shown that a sequence has to have, in percent.
    pub min_share: f64,
}

impl HotOptions {
    /// What is shown unless told otherwise.
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

/// The heaviest path, and the call sequences that recur in several contexts.
pub fn hot(profile: &Profile, options: &HotOptions) -> Hot {
    let subject = options.scope.subject(profile);
    let mut header = options.scope.header(profile, "prof.hot.v1");
    header.no_stack = subject.no_stack()[0];
    let search = SequenceSearch {
        min_total: threshold(header.shown, options.min_share).max(1),
        min_length: options.min_length.max(2),
        max_length: options.max_length.unwrap_or(usize::MAX),
        contexts: options.contexts.max(1),
        context_share: Share::percent(options.context_share),
        tolerance: Share::percent(options.tolerance),
    };
    let sequences = sequences(&subject, search);
    let limit = options.limit.unwrap_or(usize::MAX);
    header.elided_rows = sequences.found.len().saturating_sub(limit) as u64;
    let shown = sequences.found.iter().take(limit).map(|sequence| HotSequence {
        frames: sequences.keys(sequence).into_iter().map(|key| name(&subject, key)).collect(),
        total: sequence.total,
        self_value: sequence.self_value,
        contexts: sequence.contexts,
        callers: sequence
            .callers
            .iter()
            .map(|&(key, value)| Neighbour { name: name(&subject, key), value, old: None, delta: None })
            .collect(),
    });
    let shown = shown.collect();
    let step = |row: &PathRow| PathStep {
        name: name(&subject, row.key),
        self_value: row.self_value,
        total: row.total,
    };
    let path = heaviest_path(&subject);
    Hot {
        header,
        path: path.rows.iter().map(step).collect(),
        next: path.next.as_ref().map(step),
        sequences: shown,
        min_share: options.min_share,
    }
}

fn name(subject: &Subject<'_>, key: KeyId) -> Name {
    if key == whole() { Name::from("(root)") } else { subject.keys.name(key).clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_picture;

    #[test]
    fn path_and_sequences() {
        let profile = from_picture("main;a;x;y 60\nmain;b;x;y 30\nmain;b;x;z 9\nx 1");
        let hot = hot(&profile, &HotOptions { limit: Some(1), ..HotOptions::new(Scope::metric(0)) });
        let path: Vec<String> = hot.path.iter().map(|step| format!("{} {}", step.name, step.total)).collect();
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
}
