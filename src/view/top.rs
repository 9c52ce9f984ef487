//! `top`: the flat view.

use crate::pattern::waits;
use crate::profile::{Column, FunctionId, Profile};
use crate::report::{Top, TopRow};
use crate::transform::{idle_stacks, waits_of_stacks};
use crate::tree::{By, Flat, KeyCalls, KeyId, Subject};
use crate::view::values::{CountedKeys, MinTotals, RowValues};
use crate::view::{Scope, Sort, SortKey, SortRow};

/// Options for `top`.
#[derive(Clone, Debug)]
pub struct TopOptions {
    /// Metrics and nodes.
    pub scope: Scope,
    /// The order of rows.
    pub sort: Sort,
    /// The maximum number of rows; `None` for all.
    pub limit: Option<usize>,
    /// Rows whose total is a smaller share of the shown total are left out, in percent.
    pub min_share: f64,
}

impl TopOptions {
    /// All rows, by self.
    pub fn new(scope: Scope) -> Self {
        TopOptions { scope, sort: Sort::by(SortKey::SelfValue), limit: None, min_share: 0.0 }
    }
}

/// The flat view: self and total of every function.
pub fn top(profile: &Profile, options: &TopOptions) -> Top {
    top_of_keys(profile, options).0
}

/// The same, with what was counted and the key of each row.
pub(super) fn top_of_keys<'p>(profile: &'p Profile, options: &TopOptions) -> (Top, Subject<'p>, Vec<KeyId>) {
    let (subject, mut header) = options.scope.open(profile, "prof.top.v1");
    header.warnings.extend(options.scope.note_of_bounds(&subject));
    let row_values = RowValues::new(&header);
    let counted = CountedKeys::new(&subject, &row_values);
    let flat = &counted.flat;
    let min_totals = MinTotals::of_shown(&header, options.min_share);
    let mut heavy: Vec<(SortRow<'_>, KeyId)> = Vec::new();
    for key in subject.keys.ids().filter(|&key| has_value(flat, key)) {
        if min_totals.keep(flat.total.iter().map(|total| total[key])) {
            heavy.push((counted.sort_row(key), key));
        } else {
            header.elide(flat.self_value.iter().map(|own| own[key]));
        }
    }
    let order = |(a, _): &(SortRow<'_>, KeyId), (b, _): &(SortRow<'_>, KeyId)| options.sort.compare(*a, *b);
    // Selecting the first twenty of thousands is faster than sorting all.
    if let Some(limit) = options.limit.filter(|&limit| limit < heavy.len()) {
        heavy.select_nth_unstable_by(limit, order);
        for (_, key) in heavy.drain(limit..) {
            header.elide(flat.self_value.iter().map(|own| own[key]));
        }
    }
    heavy.sort_by(order);
    let keys: Vec<KeyId> = heavy.iter().map(|&(_, key)| key).collect();
    let report = |&key: &KeyId| report_row(&counted, &options.scope.by, key, header.total);
    let mut rows: Vec<TopRow> = keys.iter().map(report).collect();
    unmark_idle(&subject, options.scope.metrics[0], &keys, &mut rows, header.total);
    drop(heavy);
    (Top { header, rows, calls_divisor: 1 }, subject, keys)
}

fn has_value(counted: &Flat, key: KeyId) -> bool {
    counted.total.iter().chain(&counted.self_value).any(|column| column[key] != 0)
}

fn report_row(counted: &CountedKeys<'_, '_>, by: &By, key: KeyId, whole: i64) -> TopRow {
    let CountedKeys { subject, row_values, flat } = counted;
    let this = subject.keys.get(key);
    // A call of a function is not a call of its callees, so self and total are equal.
    let counts_calls = subject.calls.as_ref().is_some_and(KeyCalls::counts_calls);
    // What a row stands for may have callees, but the value of a label has none, so its self and total are equal.
    let calls_others = !matches!(by, By::Label(_));
    let values = row_values.values(
        flat.self_value.iter().map(|column| column[key]),
        flat.total.iter().map(|column| column[key]),
    );
    let artefact = row_values.is_artefact(&this.name);
    TopRow {
        name: this.name.clone(),
        function: this.function.clone(),
        file: this.file.clone(),
        line: this.line,
        candidate: calls_others
            && !counts_calls
            && !artefact
            && is_candidate(values.self_value, values.total, whole),
        values,
        upper_bound: subject.calls.as_ref().is_some_and(|calls| calls.is_bound(key)),
        artefact,
        events: None,
        calls: None,
        per_call: None,
        files: Some(this.files).filter(|&files| files > 1),
    }
}

/// Unmarks rows that are marked only because of waiting: idle stacks, functions that wait, and V8's
/// `(program)`, which stands for everything that is not JavaScript.
fn unmark_idle(subject: &Subject<'_>, metric: usize, keys: &[KeyId], rows: &mut [TopRow], whole: i64) {
    if subject.calls.is_some() || rows.iter().all(|row| !row.candidate) {
        return;
    }
    let (profile, symbols) = (subject.profile, &subject.profile.symbols);
    let marked = keys.iter().zip(rows.iter()).filter(|(_, row)| row.candidate).map(|(&key, _)| key);
    let is_marked = Column::marking(marked, subject.keys.len());
    // Few functions are marked, so that few names need to be looked at.
    let mut of_functions = Column::<FunctionId, Option<bool>>::filled(None, symbols.functions.len());
    let of_stacks = idle_stacks(profile, metric);
    let recorded = waits_of_stacks(profile, metric);
    let mut idle = Column::<KeyId, i64>::filled(0, subject.keys.len());
    for (stack, &value) in subject.series[0].enumerate() {
        let Some(&leaf) = profile.stacks.frames(stack).last() else { continue };
        let key = subject.keys.of_frame(leaf);
        if !is_marked[key] {
            continue;
        }
        let function = symbols.frames[leaf].function;
        let waits = || {
            let (name, file) = (symbols.function_name(function), symbols.function_file(function));
            name == "(program)" || waits(name, file)
        };
        if *of_functions[function].get_or_insert_with(waits)
            || of_stacks.as_ref().is_some_and(|idle| idle.contain(stack))
        {
            idle[key] += value;
        } else if let Some(recorded) = &recorded {
            idle[key] += recorded[stack];
        }
    }
    for (&key, row) in keys.iter().zip(rows) {
        let work = row.values.self_value - idle[key];
        row.candidate &= is_candidate(work, row.values.total, whole);
    }
}

/// Whether a function is leaf-heavy: self is at least 90 % of total and 1 % of all.
fn is_candidate(self_value: i64, total: i64, whole: i64) -> bool {
    let [own, total, whole] = [self_value, total, whole].map(|value| u128::from(value.unsigned_abs()));
    own > 0 && own * 10 >= total * 9 && own * 100 >= whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn rows(picture: &str, sort: &str) -> Vec<String> {
        let mut options = TopOptions::new(Scope::metric(0));
        options.sort = sort.parse().unwrap();
        let top = top(&from_notation(picture), &options);
        let mark = |row: &TopRow| if row.candidate { "*" } else { "" };
        top.rows
            .iter()
            .map(|row| format!("{} {}/{}{}", row.name, row.values.self_value, row.values.total, mark(row)))
            .collect()
    }

    #[test]
    fn first_worked_example() {
        let picture = "main 4\nmain;foo1 3\nmain;foo1;bar 5\nmain;foo2 1\nmain;foo2;bar 5";
        assert_eq!(rows(picture, "total"), ["main 4/18", "bar 10/10*", "foo1 3/8", "foo2 1/6"]);
    }

    #[test]
    fn second_worked_example() {
        let picture =
            "main;report;top5;qsort;cmp 60\nmain;report;top5;qsort 30\nmain;report;top5 2\nmain;render 8";
        let expected = ["main 0/100", "top5 2/92", "report 0/92", "qsort 30/90", "cmp 60/60*", "render 8/8*"];
        assert_eq!(rows(picture, "total,self"), expected);
    }

    #[test]
    fn third_worked_example() {
        let picture = "main;a;a;a 4\nmain;a;b;a 3\nmain;a;b 2\nmain;b 1";
        assert_eq!(rows(picture, "name"), ["a 7/9", "b 3/6", "main 0/10"]);
    }

    #[test]
    fn waiting_functions_are_not_candidates() {
        let picture = "main;work 4\n(idle) 8\n(program) 2\nmain;runtime.gopark 3\nmain;wait@threading.py 3\nswapper;cpuidle_enter;hypercall 2";
        let expected = [
            "(idle) 8/8",
            "work 4/4*",
            "runtime.gopark 3/3",
            "wait 3/3",
            "(program) 2/2",
            "hypercall 2/2",
            "main 0/10",
            "cpuidle_enter 0/2",
            "swapper 0/2",
        ];
        assert_eq!(rows(picture, "self"), expected);
    }

    #[test]
    fn cut_rows_are_counted() {
        let mut options = TopOptions::new(Scope::metric(0));
        options.limit = Some(1);
        let top = top(&from_notation("a 5\nb 3\nc 2\n 1"), &options);
        let header = &top.header;
        assert_eq!((header.elided, header.elided_rows, header.no_stack, header.shown), (5, 2, 1, 11));
    }
}
