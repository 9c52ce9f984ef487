//! `lint`: is a recording fit to conclude from?

use crate::kind;
use crate::lint::{RULES, Recorded, problems};
use crate::profile::{Profile, WALL};
use crate::report::{Lint, Problem, Severity};
use crate::view::activity::Activity;
use crate::view::{Scope, samples};

/// What is wrong with a recording, judged by the first metric. The profile must have been loaded with labels, and without
/// filters.
pub fn lint(profile: &Profile, scope: &Scope) -> Lint {
    let (_, header) = scope.open(profile, "prof.lint.v1");
    Lint { header, rules: RULES.len() as u64, problems: found(profile, scope.metrics[0], Severity::Note) }
}

/// The problems of a recording because of which nothing can be concluded from it, as sentences with their remedies.
pub fn unfit(profile: &Profile, metric: usize) -> Vec<String> {
    let errors = found(profile, metric, Severity::Error);
    errors.iter().map(in_words).collect()
}

/// The same for a comparison, whose test says itself whether there are enough samples.
pub fn unfit_to_compare(profile: &Profile, metric: usize) -> Vec<String> {
    let errors = found(profile, metric, Severity::Error);
    errors.iter().filter(|problem| !["empty", "few-samples"].contains(&problem.rule)).map(in_words).collect()
}

fn in_words(problem: &Problem) -> String {
    format!("{} ({})", problem.says, problem.remedy)
}

/// The problems of a recording that are at least so severe.
fn found(profile: &Profile, metric: usize, least: Severity) -> Vec<Problem> {
    found_in_samples(profile, metric, recorded_samples(profile, metric), least)
}

/// The same for a profile of which filters left so many samples.
pub(super) fn found_in_samples(
    profile: &Profile,
    metric: usize,
    samples: Option<i64>,
    least: Severity,
) -> Vec<Problem> {
    if profile.meta.metrics[metric].too_large {
        return Vec::new();
    }
    problems(&Recorded::new(profile, metric, samples, Activity::of(profile, metric).warning), least)
}

/// How many samples the values of a metric stand for, before any filter, if that is known.
pub(super) fn recorded_samples(profile: &Profile, metric: usize) -> Option<i64> {
    let shown = &profile.meta.metrics[metric];
    // By latency, a sample counts a part of one, but each has a row, since it has a time of its own.
    if profile.meta.is_latency {
        return i64::try_from(shown.rows).ok().filter(|_| shown.name != WALL);
    }
    let is_count = kind::is(&shown.name, "samples") && shown.divisor == 1 && profile.calls.is_none();
    samples(profile, metric).or(is_count.then_some(shown.total))
}
