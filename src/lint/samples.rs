//! Rules about the samples: how many there are, and what they stand for.

use crate::kind;
use crate::lint::{Finding, Recorded};
use crate::pattern::waits;
use crate::report::Severity;
use crate::unit::{group_thousands, plural, share};

pub(super) fn empty(recorded: &Recorded<'_>) -> Option<Finding> {
    let name = &recorded.profile.meta.metrics[recorded.metric].name;
    (recorded.whole == 0).then(|| Finding {
        level: Severity::Error,
        says: format!("there are no values of {name}"),
        remedy: "choose another metric with --metric, or record while the program works".to_string(),
        share: None,
    })
}

/// With fewer samples, even a share of a half may be off by more than 20 points.
const FEWEST: i64 = 24;

/// With fewer samples, a share of a tenth may be off by more than a third of itself.
const FEW: i64 = 300;

/// A function is seen if this many samples hit it.
const SEEN: i64 = 5;

pub(super) fn few(recorded: &Recorded<'_>) -> Option<Finding> {
    // A difference does not say how many samples it is of.
    let is_known = !recorded.profile.has_negatives(recorded.metric);
    let samples = recorded.samples.filter(|samples| is_known && (1..FEW).contains(samples))?;
    let level = if samples < FEWEST { Severity::Error } else { Severity::Warning };
    let count = group_thousands(samples.into());
    let says = if samples <= SEEN {
        let noun = plural(samples.unsigned_abs(), "is only 1 sample", "samples");
        let many = format!("are only {count} {noun}");
        let what = if samples == 1 { noun.to_string() } else { many };
        format!("there {what}: no share means anything")
    } else {
        format!(
            "there are only {count} samples: what has less than {} is hit by fewer than {SEEN} of them",
            share(SEEN, samples)
        )
    };
    let remedy =
        "record for longer, at a higher rate, or several times (prof adds up several files)".to_string();
    Some(Finding { level, says, remedy, share: None })
}

pub(super) fn negative(recorded: &Recorded<'_>) -> Option<Finding> {
    recorded.profile.has_negatives(recorded.metric).then(|| Finding {
        level: Severity::Warning,
        says: "some values are negative, as in a difference of two profiles: shares mean little".to_string(),
        remedy: "compare the two profiles themselves: prof diff OLD NEW".to_string(),
        share: None,
    })
}

/// From this share on, waiting hides what runs.
const IDLE: i64 = 30;

pub(super) fn idle(recorded: &Recorded<'_>) -> Option<Finding> {
    let metric = &recorded.profile.meta.metrics[recorded.metric];
    // In a profile of waiting, that is what was asked for; `cpu` of V8 and of others counts idle time, too.
    if !["cpu", "samples"].iter().any(|kind| kind::is(&metric.name, kind)) {
        return None;
    }
    let profile = recorded.profile;
    let symbols = &profile.symbols;
    let waiting = symbols
        .functions
        .ids()
        .map(|function| waits(symbols.function_name(function), symbols.function_file(function)));
    let waiting: crate::profile::Column<crate::profile::FunctionId, bool> = waiting.collect();
    let is_idle =
        |stack| profile.stacks.frames(stack).iter().any(|&frame| waiting[symbols.frames[frame].function]);
    let value = recorded.sum(is_idle);
    (recorded.percent(value) >= IDLE as f64).then(|| Finding {
        level: Severity::Warning,
        says: format!(
            "{} of {} is waiting, in functions that do no work (@idle)",
            recorded.share(value),
            metric.name
        ),
        remedy: "leave them out: --hide-stacks @idle".to_string(),
        share: Some(recorded.percent(value)),
    })
}

/// With fewer stacks, it is no surprise that all objects are still in use.
const FEWEST_STACKS: usize = 5;

/// Go counts as in use what the last collection left. If there was none, that is all that was ever allocated.
pub(super) fn before_collection(recorded: &Recorded<'_>) -> Option<Finding> {
    let meta = &recorded.profile.meta;
    let shown = &meta.metrics[recorded.metric].name;
    let other = shown.strip_prefix("inuse_").map(|what| format!("alloc_{what}"))?;
    let allocated = meta.metric_named(&other)?;
    let values = &recorded.profile.samples.values;
    let is_all = values[recorded.metric] == values[allocated];
    let stacks = recorded.stacks().count();
    (is_all && stacks >= FEWEST_STACKS && recorded.whole > 0).then(|| Finding {
        level: Severity::Warning,
        says: "everything that was ever allocated is still in use: no garbage had been collected when the heap was recorded"
            .to_string(),
        remedy: "collect before recording (runtime.GC(), or ?gc=1 in the address), or look at what was allocated"
            .to_string(),
        share: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::drawn;
    use crate::lint::{Recorded, problems};
    use crate::profile::from_notation;
    use crate::report::Severity;

    #[test]
    fn what_samples_may_lack() {
        assert!(
            drawn(&from_notation("main 0"))[0].starts_with("error empty: there are no values of samples")
        );
        assert!(drawn(&from_notation("main 500\nwork -20"))[0].starts_with("warning negative"));
        let idle = drawn(&from_notation("main;work 50\npool;runtime.gopark 50"));
        assert_eq!(idle, ["warning idle: 50.0% of samples is waiting, in functions that do no work (@idle)"]);
        assert!(drawn(&from_notation("main;work 500")).is_empty());
    }

    #[test]
    fn a_heap_without_a_collection() {
        let heap = |in_use_of_last: i64| {
            let stacks: Vec<String> = (0..9).map(|number| format!("main;f{number} 64 64")).collect();
            let mut profile = from_notation(&format!("{}\nmain;last {in_use_of_last} 64", stacks.join("\n")));
            for (metric, name) in profile.meta.metrics.iter_mut().zip(["inuse_space", "alloc_space"]) {
                (metric.name, metric.unit) = (name.to_string(), "bytes".to_string());
            }
            drawn(&profile)
        };
        assert!(heap(64)[0].starts_with("warning before-collection: everything that was ever allocated"));
        assert!(heap(32).is_empty(), "something was freed");
    }

    #[test]
    fn few_samples() {
        let profile = from_notation("main;work 500");
        for (samples, expected) in [
            (1, "error: there is only 1 sample: no share means anything"),
            (3, "error: there are only 3 samples: no share means anything"),
            (20, "error: there are only 20 samples: what has less than 25.0% is hit by fewer than 5 of them"),
            (
                100,
                "warning: there are only 100 samples: what has less than 5.0% is hit by fewer than 5 of them",
            ),
        ] {
            let found = problems(&Recorded::new(&profile, 0, Some(samples), None), Severity::Note);
            assert_eq!(format!("{}: {}", found[0].level.word(), found[0].says), expected);
        }
        assert!(problems(&Recorded::new(&profile, 0, Some(300), None), Severity::Note).is_empty());
    }
}
