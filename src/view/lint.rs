//! `lint`: is a recording fit to conclude from?

use crate::kind;
use crate::lint::{RULES, Recorded, problems};
use crate::profile::Profile;
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
pub(super) fn found(profile: &Profile, metric: usize, least: Severity) -> Vec<Problem> {
    let shown = &profile.meta.metrics[metric];
    if shown.too_large {
        return Vec::new();
    }
    let is_count = kind::is(&shown.name, "samples") && shown.divisor == 1 && profile.calls.is_none();
    let count = samples(profile, metric).or(is_count.then_some(shown.total));
    problems(&Recorded::new(profile, metric, count, Activity::of(profile, metric).warning), least)
}
