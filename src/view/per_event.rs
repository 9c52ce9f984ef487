//! `top --per-event`: what one event costs on average.

use std::cmp::Ordering;

use crate::kind::counts_of;
use crate::profile::Profile;
use crate::report::{Top, TopRow};
use crate::view::{Scope, TopOptions, top};

/// The number of the metric that counts what metric number `metric` weighs, where there is one: calls,
/// where they are counted, else what counts its events.
pub fn companion(profile: &Profile, metric: usize) -> Option<usize> {
    let meta = &profile.meta;
    if let Some(calls) = &profile.calls {
        return calls.calls_metric.filter(|&calls| calls != metric);
    }
    let named = |name: &&str| meta.metrics.iter().position(|other| other.name.eq_ignore_ascii_case(name));
    counts_of(&meta.metrics[metric].name).iter().find_map(named)
}

/// The flat view of a metric with the events that number `events` counts beside each row, sorted by
/// what one event costs. The values stay sums: who divides decides how to round.
pub fn top_per_event(profile: &Profile, options: &TopOptions, events: usize) -> Top {
    let metric = options.scope.metrics[0];
    let scope = Scope { metrics: vec![metric, events], ..options.scope.clone() };
    let mut found = top(profile, &TopOptions { scope, limit: None, ..options.clone() });
    found.header.metrics.clear();
    found.header.about.per_event = Some(profile.meta.metrics[events].name.clone());
    for row in &mut found.rows {
        let counted = row.values.values.take().and_then(|values| values.0.get(1).map(|&(_, pair)| pair));
        row.events = Some(counted.unwrap_or_default());
        row.candidate = false;
    }
    found.rows.sort_by(|a, b| by_mean(a, b).then_with(|| a.name.cmp(&b.name)));
    let rest = found.rows.split_off(found.rows.len().min(options.limit.unwrap_or(usize::MAX)));
    found.header.elided += rest.iter().map(|row| row.values.self_value).sum::<i64>();
    found.header.elided_rows += rest.len() as u64;
    found
}

/// The dearest first: by self of one event, then by total.
fn by_mean(a: &TopRow, b: &TopRow) -> Ordering {
    let events = |row: &TopRow| row.events.unwrap_or_default();
    let own = compare(b.values.self_value, events(b).self_value, a.values.self_value, events(a).self_value);
    own.then_with(|| compare(b.values.total, events(b).total, a.values.total, events(a).total))
}

/// Compares `x / m` with `y / n` exactly; what has no events counts as 0.
fn compare(x: i64, m: i64, y: i64, n: i64) -> Ordering {
    let [x, y] = [(x, m), (y, n)].map(|(value, events)| if events == 0 { (0, 1) } else { (value, events) });
    let product = |value: i64, events: i64| i128::from(value) * i128::from(events);
    product(x.0, y.1).cmp(&product(y.0, x.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_picture;

    #[test]
    fn the_dearest_event_comes_first() {
        let profile = from_picture("main;a 100 10\nmain;b 90 3\nmain 5 5");
        let mut options = TopOptions::new(Scope::metric(0));
        options.limit = Some(2);
        let top = top_per_event(&profile, &options, 1);
        let drawn: Vec<_> = top.rows.iter().map(|row| (&*row.name, row.events.unwrap().self_value)).collect();
        assert_eq!(drawn, [("b", 3), ("a", 10)]);
        assert_eq!((top.header.elided, top.header.elided_rows), (5, 1));
    }
}
