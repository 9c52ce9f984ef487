//! `--per-event`: what one event costs on average.

use std::cmp::Ordering;

use crate::kind::counts_of;
use crate::profile::Profile;
use crate::report::{Pair, PerEvent, Top, TopRow, Tree, Values};
use crate::unit;
use crate::view::top::top_of_keys;
use crate::view::{Scope, TopOptions, top};

/// The number of the metric that counts the events of metric number `metric`, if there is one: calls if they
/// are counted, else the companion metric.
pub fn companion(profile: &Profile, metric: usize) -> Option<usize> {
    let meta = &profile.meta;
    if let Some(calls) = &profile.calls {
        return calls.calls_metric().filter(|&calls| calls != metric);
    }
    let named = |name: &&str| meta.metrics.iter().position(|other| other.name.eq_ignore_ascii_case(name));
    counts_of(&meta.metrics[metric].name).iter().find_map(named)
}

/// The flat view of a metric with the number of events (metric number `events`) per row, sorted by the cost of
/// one event. Values remain sums; the output divides and rounds.
pub fn top_per_event(profile: &Profile, options: &TopOptions, events: usize) -> Top {
    let scope = with_events(options.scope.clone(), events);
    let mut found = top(profile, &TopOptions { scope, limit: None, ..options.clone() });
    found.header.metrics.clear();
    found.header.per_event = Some(per_event(profile, events));
    for row in &mut found.rows {
        row.events = Some(take_events(&mut row.values));
        row.candidate = false;
    }
    found.rows.sort_by(|a, b| by_mean(a, b).then_with(|| a.name.cmp(&b.name)));
    let rest = found.rows.split_off(found.rows.len().min(options.limit.unwrap_or(usize::MAX)));
    found.header.elided += rest.iter().map(|row| row.values.self_value).sum::<i64>();
    found.header.elided_rows += rest.len() as u64;
    found
}

/// The flat view with the number of calls and the cost of one call, if the profile holds calls and the only
/// metric shown is not the number of calls.
pub fn top_with_calls(profile: &Profile, options: &TopOptions) -> Top {
    let (mut found, subject, keys) = top_of_keys(profile, options);
    let is_alone = options.scope.metrics.len() == 1 && options.scope.base.is_none();
    let calls = companion(profile, options.scope.metrics[0]).filter(|_| is_alone);
    let counted = |calls| Some((subject.self_of_calls(&options.scope.by, calls)?, calls));
    let Some((counts, calls)) = calls.and_then(counted) else {
        return found;
    };
    found.calls_divisor = profile.meta.metrics[calls].divisor.max(1);
    let per = unit::saturated(found.calls_divisor);
    for (row, key) in found.rows.iter_mut().zip(keys) {
        let calls = counts[key];
        let mean = |value| unit::mean_in_parts(value, calls, per).unwrap_or(0);
        let pair = Pair { self_value: mean(row.values.self_value), total: mean(row.values.total) };
        // Nobody is known to call the first function, but what has costs was called: 0 is what the format does not say.
        let is_unknown = calls == 0 && row.values.total != 0;
        row.calls = Some(calls).filter(|_| !is_unknown);
        row.per_call = (calls != 0).then_some(pair);
    }
    found
}

/// The scope of a metric followed by the metric that counts its events.
#[must_use]
pub fn with_events(scope: Scope, events: usize) -> Scope {
    Scope { metrics: vec![scope.metrics[0], events], ..scope }
}

/// A tree of a metric, with the number of events (metric number `events`) per row; the scope comes from
/// [`with_events`]. Rows stay in the order of their sums, with callers before their callees.
#[must_use]
pub fn tree_per_event(mut found: Tree, profile: &Profile, events: usize) -> Tree {
    found.header.metrics.clear();
    found.header.per_event = Some(per_event(profile, events));
    for row in &mut found.rows {
        row.events = Some(take_events(&mut row.values));
    }
    found
}

fn per_event(profile: &Profile, events: usize) -> PerEvent {
    let metric = &profile.meta.metrics[events];
    PerEvent {
        metric: metric.name.clone(),
        events: profile.shown_total(events),
        divisor: metric.divisor.max(1),
    }
}

/// Removes the second of two metrics from the values of a row.
fn take_events(values: &mut Values) -> Pair {
    let events = values.of_metric(1);
    values.values.clear();
    events
}

/// The most expensive first: by self per event, then by total per event.
fn by_mean(a: &TopRow, b: &TopRow) -> Ordering {
    let events = |row: &TopRow| row.events.unwrap_or_default();
    let own = compare(b.values.self_value, events(b).self_value, a.values.self_value, events(a).self_value);
    own.then_with(|| compare(b.values.total, events(b).total, a.values.total, events(a).total))
}

/// Compares `x / m` with `y / n` exactly; rows without events count as 0.
fn compare(x: i64, m: i64, y: i64, n: i64) -> Ordering {
    let [x, y] = [(x, m), (y, n)].map(|(value, events)| if events == 0 { (0, 1) } else { (value, events) });
    let product = |value: i64, events: i64| i128::from(value) * i128::from(events);
    product(x.0, y.1).cmp(&product(y.0, x.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Function, LoadOptions, ProfileBuilder, from_notation};
    use crate::tree::By;
    use crate::view::{TreeOptions, tree};

    #[test]
    fn rows_are_sorted_by_cost_per_event() {
        let profile = from_notation("main;a 100 10\nmain;b 90 3\nmain 5 5");
        let mut options = TopOptions::new(Scope::metric(0));
        options.limit = Some(2);
        let top = top_per_event(&profile, &options, 1);
        let drawn: Vec<_> = top.rows.iter().map(|row| (&*row.name, row.events.unwrap().self_value)).collect();
        assert_eq!(drawn, [("b", 3), ("a", 10)]);
        assert_eq!((top.header.elided, top.header.elided_rows), (5, 1));
    }

    /// The mean of two profiles with 10 and 4 events: values and events are sums, and both are divided by 2.
    #[test]
    fn averaged_profiles_have_averaged_events() {
        let mut profile = from_notation("main;a 100 14");
        profile.meta.metrics.iter_mut().for_each(|metric| metric.divisor = 2);
        let found = top_per_event(&profile, &TopOptions::new(Scope::metric(0)), 1).header.per_event.unwrap();
        assert_eq!((found.events, found.divisor), (14, 2));
    }

    #[test]
    fn calls_are_those_of_what_a_row_stands_for() {
        let mut builder = ProfileBuilder::new("calls", LoadOptions::default());
        builder.metric("time", "nanoseconds");
        let calls = builder.metric("calls", "count");
        builder.calls_metric(calls);
        for (name, file, time, count) in [("g", "a.py", 1, 10), ("f", "a.py", 5, 2), ("f", "b.py", 7, 3)] {
            let (name, file) = (builder.string(name), builder.string(file));
            let function = builder.function(Function { name, file, line: 1, column: 0, by_place: true });
            builder.call_node(function, &[time, count]);
        }
        let profile = builder.finish().unwrap();
        let mut options = TopOptions::new(Scope::metric(0));
        let rows = |options: &TopOptions| -> Vec<(String, i64, Option<i64>)> {
            let row = |row: &TopRow| (row.name.to_string(), row.values.self_value, row.calls);
            top_with_calls(&profile, options).rows.iter().map(row).collect()
        };
        let row = |name: &str, own, calls| (name.to_string(), own, Some(calls));
        assert_eq!(rows(&options), [row("f b.py:1", 7, 3), row("f a.py:1", 5, 2), row("g a.py:1", 1, 10)]);
        (options.scope.by, options.limit) = (By::Name, Some(1));
        assert_eq!(rows(&options), [row("f", 12, 5)]);
    }

    /// yappi's callgrind has no number of calls for functions that a thread starts with.
    #[test]
    fn a_number_of_calls_that_is_not_known_is_no_zero() {
        let mut builder = ProfileBuilder::new("calls", LoadOptions::default());
        builder.metric("time", "nanoseconds");
        let calls = builder.metric("calls", "count");
        builder.calls_metric(calls);
        for (name, count) in [("run", 0), ("work", 3)] {
            let function = builder.named_function(name, "");
            builder.call_node(function, &[7, count]);
        }
        let profile = builder.finish().unwrap();
        let top = top_with_calls(&profile, &TopOptions::new(Scope::metric(0)));
        let calls: Vec<_> = top.rows.iter().map(|row| (&*row.name, row.calls)).collect();
        assert_eq!(calls, [("run", None), ("work", Some(3))]);
    }

    #[test]
    fn rows_of_a_tree_have_their_events() {
        let profile = from_notation("main;a 100 10\nmain;b 90 3\nmain 5 5");
        let scope = with_events(Scope::metric(0), 1);
        let found = tree_per_event(tree(&profile, &TreeOptions::new(scope)), &profile, 1);
        let drawn: Vec<_> = found.rows.iter().map(|row| (&*row.name, row.events.unwrap())).collect();
        let pair = |self_value, total| Pair { self_value, total };
        assert_eq!(drawn, [("main", pair(5, 18)), ("a", pair(10, 10)), ("b", pair(3, 3))]);
        assert_eq!((found.header.per_event.unwrap().events, found.header.metrics.len()), (18, 0));
    }
}
