//! `focus`: one function, who calls it and what it calls.

use crate::profile::{Column, Id, Profile};
use crate::report::{
    CountedFrom, CutRows, Focus, FocusMatch, Message, Name, Neighbour, NeighbourKind, Overlap, Pair,
    PairBySide,
};
use crate::tree::{KeyCalls, KeyId, Neighbours, Subject, flat, neighbours};
use crate::view::find::find;
use crate::view::values::RowValues;
use crate::view::{NotFound, Scope, Sort, SortKey, SortRow, threshold};

/// Options for `focus`.
#[derive(Clone, Debug)]
pub struct FocusOptions {
    /// Metric and nodes.
    pub scope: Scope,
    /// The function, as typed.
    pub function: String,
    /// Whether it is literal text rather than a regular expression.
    pub fixed: bool,
    /// The order of callers and callees.
    pub sort: Sort,
    /// The maximum number of callers, and of callees; `None` for all.
    pub limit: Option<usize>,
    /// Rows with a smaller share of the function's total are left out, in percent.
    pub min_share: f64,
}

impl FocusOptions {
    /// All callers and callees of a function, by total.
    pub fn new(scope: Scope, function: &str) -> Self {
        FocusOptions {
            scope,
            function: function.to_string(),
            fixed: false,
            sort: Sort::by(SortKey::Total),
            limit: None,
            min_share: 0.0,
        }
    }
}

/// A function with its callers and callees, wherever on a stack they call each other. Several matching
/// functions are counted as one, and calls among them are the row `(itself)`. Fails if no function matches,
/// or if no matching function has a value.
pub fn focus(profile: &Profile, options: &FocusOptions) -> Result<Focus, NotFound> {
    let (subject, mut header) = options.scope.open(profile, "prof.focus.v1");
    let found = find(&subject, &options.scope.by, &options.function, options.fixed)?;
    header.warnings.extend(found.note.map(Message::note));

    let counted = neighbours(&subject, &found.wanted, 0);
    let is_set = found.wanted.iter().filter(|&&wanted| wanted).count() > 1;
    if counted.is_called_back && is_set {
        let name = options.function.escape_debug();
        header.warnings.push(Message::note(format!(
            "{name}: the total is an upper bound, because of recursion through other functions"
        )));
    }
    let row_values = RowValues::new(&header);
    let last = subject.series.len() - 1;
    let old = row_values.compares().then(|| neighbours(&subject, &found.wanted, last));
    let old_pair = old.as_ref().map(|old| row_values.old(Some(old.self_value), Some(old.total)));
    let heavier = counted.total.saturating_abs().max(old_pair.map_or(0, |old| old.total.saturating_abs()));
    let smallest = threshold(heavier, options.min_share);
    let sides = NeighbourLists { subject: &subject, row_values: &row_values, options, smallest };
    let (mut callers, more_callers) = sides.list(&counted, old.as_ref(), |side| &side.callers);
    let (mut callees, more_callees) = sides.list(&counted, old.as_ref(), |side| &side.callees);
    let itself = sides.special(NeighbourKind::Itself, &counted, old.as_ref(), |side| side.itself);
    callers.extend(itself.clone());
    callers.extend(sides.special(NeighbourKind::Root, &counted, old.as_ref(), |side| side.root));
    callees.extend(itself);
    header.elided = more_callers.value + more_callees.value;
    header.elided_rows = more_callers.rows + more_callees.rows;

    let keys: Vec<KeyId> = subject.keys.ids().filter(|&key| found.wanted[key]).collect();
    let (name, file) = match keys[..] {
        [one] => (subject.keys.name(one).clone(), subject.keys.get(one).file.clone()),
        _ => (Name::from(options.function.as_str()), None),
    };
    let new = Pair { self_value: counted.self_value, total: counted.total };
    Ok(Focus {
        header,
        name,
        values: PairBySide::new(new, old_pair),
        callers,
        callees,
        more_callers,
        more_callees,
        overlap: overlap(&counted),
        old_overlap: old.as_ref().map(|old| sides.scaled(overlap(old))),
        counts_calls: subject.calls.as_ref().is_some_and(KeyCalls::counts_calls),
        counted_from: counted_from(&subject, &counted),
        matches: matches(&subject, &keys),
        file,
    })
}

/// What the lists of callers and callees have in common.
struct NeighbourLists<'s, 'p> {
    subject: &'s Subject<'p>,
    row_values: &'s RowValues,
    options: &'s FocusOptions,
    smallest: u64,
}

impl NeighbourLists<'_, '_> {
    /// The callers or callees in order, and what was left out.
    fn list(
        &self,
        counted: &Neighbours,
        old: Option<&Neighbours>,
        side: impl Fn(&Neighbours) -> &Column<KeyId, i64>,
    ) -> (Vec<Neighbour>, CutRows) {
        let (values, old) = (side(counted), old.map(side));
        let valued = |key: &KeyId| values[*key] != 0 || old.is_some_and(|old| old[*key] != 0);
        let keys = (0..values.len()).map(KeyId::new);
        let mut all: Vec<Neighbour> = keys
            .filter(valued)
            .map(|key| {
                let name = self.subject.keys.name(key).clone();
                self.row(NeighbourKind::Function, name, values[key], old.map(|old| old[key]))
            })
            .collect();
        let both = |value: i64| Pair { self_value: value, total: value };
        let row = |row: &Neighbour| (both(row.value), both(row.old.unwrap_or(0)));
        all.sort_by(|a, b| {
            let ((new, old), (other, other_old)) = (row(a), row(b));
            let a = SortRow { new, old, name: &a.name };
            self.options.sort.compare(a, SortRow { new: other, old: other_old, name: &b.name })
        });
        let limit = self.options.limit.unwrap_or(usize::MAX);
        let mut more = CutRows { old: old.map(|_| 0), ..CutRows::default() };
        let mut shown = Vec::new();
        for neighbour in all {
            let heavier = neighbour.value.unsigned_abs().max(neighbour.old.unwrap_or(0).unsigned_abs());
            if heavier >= self.smallest && shown.len() < limit {
                shown.push(neighbour);
            } else {
                more.rows += 1;
                more.value += neighbour.value;
                more.old = more.old.map(|old| old + neighbour.old.unwrap_or(0));
            }
        }
        (shown, more)
    }

    /// A row that is not a function, if it has a value. It is never left out.
    fn special(
        &self,
        kind: NeighbourKind,
        counted: &Neighbours,
        old: Option<&Neighbours>,
        value: impl Fn(&Neighbours) -> i64,
    ) -> Option<Neighbour> {
        let (value, old) = (value(counted), old.map(value));
        let has_value = value != 0 || old.is_some_and(|old| old != 0);
        kind.name().filter(|_| has_value).map(|name| self.row(kind, name, value, old))
    }

    fn row(&self, kind: NeighbourKind, name: Name, value: i64, old: Option<i64>) -> Neighbour {
        let old = old.map(|old| self.scaled_value(old));
        let artefact = self.row_values.is_artefact(&name);
        Neighbour { name, kind, value, old, delta: old.map(|old| value - old), artefact }
    }

    /// A value of the old side, rescaled for the comparison.
    fn scaled_value(&self, old: i64) -> i64 {
        self.row_values.old(Some(old), Some(old)).total
    }

    fn scaled(&self, old: Overlap) -> Overlap {
        Overlap { callers: self.scaled_value(old.callers), callees: self.scaled_value(old.callees) }
    }
}

fn counted_from(subject: &Subject<'_>, counted: &Neighbours) -> CountedFrom {
    match subject.calls {
        None => CountedFrom::Stacks,
        Some(_) if counted.itself != 0 || counted.is_called_back => CountedFrom::RecursiveCalls,
        Some(_) => CountedFrom::Calls,
    }
}

fn overlap(counted: &Neighbours) -> Overlap {
    Overlap { callers: counted.callers_excess, callees: counted.callees_excess }
}

/// The matching functions, one by one.
fn matches(subject: &Subject<'_>, keys: &[KeyId]) -> Vec<FocusMatch> {
    let counted = flat(subject);
    let mut matches: Vec<FocusMatch> = keys
        .iter()
        .map(|&key| FocusMatch {
            name: subject.keys.name(key).clone(),
            self_value: counted.self_value[0][key],
            total: counted.total[0][key],
        })
        .collect();
    matches.sort_by(|a, b| {
        b.total.unsigned_abs().cmp(&a.total.unsigned_abs()).then_with(|| a.name.cmp(&b.name))
    });
    matches
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::profile::from_notation;
    use proptest::prelude::*;

    const FIRST: &str = "main 4\nmain;foo1 3\nmain;foo1;bar 5\nmain;foo2 1\nmain;foo2;bar 5";
    const SECOND: &str =
        "main;report;top5;qsort;cmp 60\nmain;report;top5;qsort 30\nmain;report;top5 2\nmain;render 8";
    const THIRD: &str = "main;a;a;a 4\nmain;a;b;a 3\nmain;a;b 2\nmain;b 1";

    const FOURTH: &str =
        "main;http;parse;object;parse;object;parse;lex 90\nmain;http;parse 10\nmain;cli;parse;lex 20";

    fn focused(picture: &str, function: &str) -> Result<Focus, NotFound> {
        focus(&from_notation(picture), &FocusOptions::new(Scope::metric(0), function))
    }

    /// `callers > name self/total > callees`
    fn drawn(picture: &str, function: &str) -> String {
        let focus = focused(picture, function).unwrap();
        let side = |side: &[Neighbour]| {
            let drawn: Vec<String> = side.iter().map(|row| format!("{} {}", row.name, row.value)).collect();
            drawn.join(", ")
        };
        format!(
            "{} > {} {}/{} > {}",
            side(&focus.callers),
            focus.name,
            focus.values.new.self_value,
            focus.values.new.total,
            side(&focus.callees)
        )
    }

    #[test]
    fn worked_examples() {
        for (picture, function, expected) in [
            (FIRST, "bar", "foo1 5, foo2 5 > bar 10/10 > "),
            (FIRST, "foo1", "main 8 > foo1 3/8 > bar 5"),
            (FIRST, "main", "(root) 18 > main 4/18 > foo1 8, foo2 6"),
            (SECOND, "qsort", "top5 90 > qsort 30/90 > cmp 60"),
            (SECOND, "top5", "report 92 > top5 2/92 > qsort 90"),
            (THIRD, "a", "main 9, b 3, (itself) 4 > a 7/9 > b 5, (itself) 4"),
            (THIRD, "b", "a 5, main 1 > b 3/6 > a 3"),
            (THIRD, "main", "(root) 10 > main 0/10 > a 9, b 1"),
            (FOURTH, "parse", "http 100, object 90, cli 20 > parse 10/120 > lex 110, object 90"),
        ] {
            assert_eq!(drawn(picture, function), expected);
        }
    }

    #[test]
    fn several_matches_are_one() {
        // foo1 and foo2 together; `bar` is what both call.
        assert_eq!(drawn(FIRST, "foo"), "main 14 > foo 4/14 > bar 10");
        let focus = focused(FIRST, "foo").unwrap();
        let matches: Vec<&str> = focus.matches.iter().map(|row| &*row.name).collect();
        assert_eq!(matches, ["foo1", "foo2"]);
        // Calls from one to another are a row of their own; `z` stands between two of them.
        let picture = "main;x1;x2;y 2\nmain;x1 1\nx2;z;x1 4";
        let expected = "z 4, main 3, (itself) 2, (root) 4 > x 5/7 > z 4, y 2, (itself) 2";
        assert_eq!(drawn(picture, "x"), expected);
        assert_eq!(focused(picture, "x").unwrap().overlap, Overlap { callers: 6, callees: 6 });
    }

    #[test]
    fn an_exact_name_wins_and_text_may_be_literal() {
        let picture = "main;run 1\nmain;runner 2\nmain;f(*x) 4";
        assert_eq!(drawn(picture, "run"), "main 1 > run 1/1 > ");
        assert_eq!(drawn(picture, "function:run"), "main 1 > run 1/1 > ");
        assert_eq!(drawn(picture, "^run"), "main 3 > ^run 3/3 > ");
        assert_eq!(drawn(picture, "(*x)"), "main 4 > f(*x) 4/4 > ");
        let note = focused("main;g[x].y 1", "g[x]").unwrap();
        assert_eq!((&*note.name, note.header.warnings.len()), ("g[x].y", 1));
    }

    #[test]
    fn nothing_found_offers_names() {
        let nearest = NotFound::Nothing(vec!["runner".to_string()]);
        assert_eq!(focused("main;runner 1", "rumner").unwrap_err(), nearest);
        let profile = from_notation("main;old 1 0\nmain;new 1 2");
        let options = FocusOptions::new(Scope::metric(1), "old");
        assert_eq!(focus(&profile, &options).unwrap_err(), NotFound::NoValue(vec!["old".to_string()]));
    }

    #[test]
    fn truncation_is_reported() {
        let picture = "a;f 5\nb;f 4\nc;f;x 3\nd;f;y 2";
        let options = FocusOptions { limit: Some(2), ..FocusOptions::new(Scope::metric(0), "f") };
        let focus = focus(&from_notation(picture), &options).unwrap();
        assert_eq!(focus.callers.len(), 2);
        assert_eq!(focus.more_callers, CutRows { rows: 2, value: 5, old: None });
        assert_eq!(focus.more_callees, CutRows::default());
        assert_eq!((focus.header.elided, focus.header.elided_rows), (5, 2));
    }

    #[test]
    fn only_functions_are_cut() {
        let picture = "a;f;f;x 5\nb;f 4\nc;f;y 3\nf;z 2";
        let options =
            FocusOptions { limit: Some(1), min_share: 30.0, ..FocusOptions::new(Scope::metric(0), "f") };
        let focus = focus(&from_notation(picture), &options).unwrap();
        let names = |rows: &[Neighbour]| rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&focus.callers), ["a", "(itself)", "(root)"]);
        assert_eq!(focus.more_callers, CutRows { rows: 2, value: 7, old: None });
        assert_eq!(names(&focus.callees), ["x", "(itself)"]);
        assert_eq!(focus.more_callees, CutRows { rows: 2, value: 5, old: None });
    }

    #[test]
    fn an_old_side_has_rows_of_its_own() {
        let picture = "main;f;g;f 1 4\nf;f 0 2\nmain;f;h 3 0";
        let options = FocusOptions::new(Scope::compared(), "f");
        let focus = focus(&from_notation(picture), &options).unwrap();
        let side = |rows: &[Neighbour]| {
            let row = |row: &Neighbour| format!("{} {} {:?} {:?}", row.name, row.value, row.old, row.delta);
            rows.iter().map(row).collect::<Vec<_>>()
        };
        let callers = [
            "main 4 Some(4) Some(0)",
            "g 1 Some(4) Some(-3)",
            "(itself) 0 Some(2) Some(-2)",
            "(root) 0 Some(2) Some(-2)",
        ];
        assert_eq!(side(&focus.callers), callers);
        let callees = ["h 3 Some(0) Some(3)", "g 1 Some(4) Some(-3)", "(itself) 0 Some(2) Some(-2)"];
        assert_eq!(side(&focus.callees), callees);
        assert_eq!(focus.overlap, Overlap { callers: 1, callees: 1 });
        assert_eq!(focus.old_overlap, Some(Overlap { callers: 6, callees: 6 }));
    }

    proptest! {
        /// Every number as counted sample by sample, with sets of names.
        #[test]
        fn equals_a_count_by_hand(
            stacks in proptest::collection::vec((proptest::collection::vec(0..4_usize, 0..7), -9..9_i64), 1..12),
            regex in prop::sample::select(vec!["^f0$", "f1", "f[12]", "f"]),
        ) {
            let names = ["f0", "f1", "f2", "f3"];
            let text = |stack: &[usize]| stack.iter().map(|&f| names[f]).collect::<Vec<_>>().join(";");
            let picture: Vec<String> = stacks.iter().map(|(s, v)| format!("{} {v}", text(s))).collect();
            let compiled = regex::Regex::new(regex).unwrap();
            let (mut total, mut own) = (0, 0);
            let (mut callers, mut callees) = (BTreeMap::new(), BTreeMap::new());
            for (stack, value) in &stacks {
                let stack: Vec<&str> = stack.iter().map(|&f| names[f]).collect();
                let label = |name: &str| if compiled.is_match(name) { "(itself)" } else { name }.to_string();
                let (mut above, mut below) = (BTreeSet::new(), BTreeSet::new());
                for at in (0..stack.len()).filter(|&at| compiled.is_match(stack[at])) {
                    above.insert(if at == 0 { "(root)".to_string() } else { label(stack[at - 1]) });
                    below.insert(stack.get(at + 1).map_or("(self)".to_string(), |below| label(below)));
                }
                if !above.is_empty() {
                    total += value;
                    own += if below.contains("(self)") { *value } else { 0 };
                }
                for name in above {
                    *callers.entry(name).or_insert(0) += value;
                }
                for name in below {
                    *callees.entry(name).or_insert(0) += value;
                }
            }
            callees.remove("(self)");
            callers.retain(|_, value| *value != 0);
            callees.retain(|_, value| *value != 0);
            let Ok(focus) = focused(&picture.join("\n"), regex) else {
                // No function that matches has a value.
                return Ok(());
            };
            let sums = |side: &[Neighbour]| side.iter().map(|row| row.value).sum::<i64>();
            let side = |side: &[Neighbour]| side.iter().map(|row| (row.name.to_string(), row.value)).collect();
            prop_assert_eq!(focus.values.new, Pair { self_value: own, total });
            prop_assert_eq!(callers, side(&focus.callers));
            prop_assert_eq!(callees, side(&focus.callees));
            prop_assert_eq!(sums(&focus.callers), total + focus.overlap.callers);
            prop_assert_eq!(own + sums(&focus.callees), total + focus.overlap.callees);
        }
    }
}
