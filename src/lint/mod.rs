//! The rules of `prof lint`: is a recording fit to conclude from?
//!
//! A rule looks at a whole recording and says what is wrong with it, how severe that is, and what to do. Rules about the same
//! part of a recording share a file; a new rule is a function and a line in [`RULES`]. `docs/lint.md` explains every rule.

mod labels;
mod names;
mod rate;
mod recording;
mod samples;
mod stacks;

use std::cmp::Reverse;

use crate::profile::{Column, Profile, StackId};
use crate::report::{Problem, Severity};
use crate::unit;

/// What the rules look at.
#[derive(Debug)]
pub struct Recorded<'p> {
    /// The profile, without filters.
    pub profile: &'p Profile,
    /// The metric that is shown.
    pub metric: usize,
    /// How many samples its values stand for, if that is known.
    pub samples: Option<i64>,
    /// Why its total and its duration cannot both be true, if they cannot.
    pub impossible: Option<String>,
    /// Σ |value| of each stack with a value, in the order of the samples: the table may also have the stacks of a hundred other runs.
    weights: Vec<(StackId, i64)>,
    whole: i64,
}

/// A rule.
#[derive(Debug)]
pub struct LintRule {
    /// Its name, as in JSON and in `docs/lint.md`.
    pub name: &'static str,
    /// How severe the problem is at worst.
    worst: Severity,
    find: fn(&Recorded<'_>) -> Option<Finding>,
}

/// What a rule found.
struct Finding {
    level: Severity,
    says: String,
    remedy: String,
    share: Option<f64>,
}

/// All rules.
pub static RULES: &[LintRule] = &[
    LintRule { name: "empty", worst: Severity::Error, find: samples::empty },
    LintRule { name: "few-samples", worst: Severity::Error, find: samples::few },
    LintRule { name: "negative", worst: Severity::Warning, find: samples::negative },
    LintRule { name: "idle", worst: Severity::Warning, find: samples::idle },
    LintRule { name: "truncated-stacks", worst: Severity::Error, find: stacks::truncated },
    LintRule { name: "shallow-stacks", worst: Severity::Warning, find: stacks::shallow },
    LintRule { name: "no-stacks", worst: Severity::Error, find: stacks::none },
    LintRule { name: "unnamed", worst: Severity::Error, find: names::unnamed },
    LintRule { name: "artefacts", worst: Severity::Warning, find: names::artefacts },
    LintRule { name: "profiler", worst: Severity::Warning, find: names::profiler },
    LintRule { name: "debug-build", worst: Severity::Warning, find: names::debug_build },
    LintRule { name: "mixed-builds", worst: Severity::Warning, find: names::mixed_builds },
    LintRule { name: "safepoints", worst: Severity::Warning, find: recording::safepoints },
    LintRule { name: "lost", worst: Severity::Error, find: recording::lost },
    LintRule { name: "throttled", worst: Severity::Warning, find: recording::throttled },
    LintRule { name: "intervals", worst: Severity::Warning, find: rate::intervals },
    LintRule { name: "clock", worst: Severity::Warning, find: rate::clock },
    LintRule { name: "in-step", worst: Severity::Warning, find: rate::in_step },
    LintRule { name: "before-collection", worst: Severity::Warning, find: samples::before_collection },
    LintRule { name: "impossible", worst: Severity::Warning, find: recording::impossible },
    LintRule { name: "reader", worst: Severity::Warning, find: recording::reader },
    LintRule { name: "labels", worst: Severity::Note, find: labels::as_many_as_samples },
];

/// The problems of a recording that are at least so severe, the most severe first. Rules whose problems never are take no
/// time: comparisons of a hundred runs ask only for errors.
pub fn problems(recorded: &Recorded<'_>, least: Severity) -> Vec<Problem> {
    let problem = |rule: &LintRule| {
        let Finding { level, says, remedy, share } = (rule.find)(recorded)?;
        debug_assert!(level <= rule.worst, "{}: {level:?}", rule.name);
        (level >= least).then_some(Problem { rule: rule.name, level, says, remedy, share })
    };
    let rules = RULES.iter().filter(|rule| rule.worst >= least);
    let mut problems: Vec<Problem> = rules.filter_map(problem).collect();
    problems.sort_by_key(|problem| Reverse(problem.level));
    problems
}

impl<'p> Recorded<'p> {
    /// A recording, as it was read.
    pub fn new(
        profile: &'p Profile,
        metric: usize,
        samples: Option<i64>,
        impossible: Option<String>,
    ) -> Self {
        let mut sums = Column::filled(0, profile.stacks.len());
        if !profile.meta.metrics[metric].too_large {
            for (&stack, &value) in profile.samples.stack.iter().zip(&profile.samples.values[metric]) {
                sums[stack] += value.abs();
            }
        }
        let mut weights = Vec::with_capacity(profile.samples.stack.len());
        for &stack in &profile.samples.stack {
            let value = std::mem::take(&mut sums[stack]);
            if value != 0 {
                weights.push((stack, value));
            }
        }
        let whole = profile.shown_total(metric);
        Recorded { profile, metric, samples, impossible, weights, whole }
    }

    /// The stacks with a value, and these values.
    fn stacks(&self) -> impl Iterator<Item = (StackId, i64)> + '_ {
        self.weights.iter().copied()
    }

    /// The value of the stacks for which `is` holds.
    fn sum(&self, is: impl Fn(StackId) -> bool) -> i64 {
        self.stacks().filter(|&(stack, _)| is(stack)).map(|(_, value)| value).sum()
    }

    /// A share of everything, in percent.
    fn percent(&self, value: i64) -> f64 {
        if self.whole == 0 { 0.0 } else { 100.0 * value as f64 / self.whole as f64 }
    }

    /// The same as text.
    fn share(&self, value: i64) -> String {
        unit::share(value, self.whole)
    }
}

/// A problem of `value`, a part of the profile, if it is at least `note` percent of it; at `warning` and `error` percent it is
/// more severe.
fn by_share(
    recorded: &Recorded<'_>,
    value: i64,
    [note, warning, error]: [f64; 3],
    says: impl FnOnce(&str) -> (String, String),
) -> Option<Finding> {
    let share = recorded.percent(value);
    let level = match share {
        share if share >= error => Severity::Error,
        share if share >= warning => Severity::Warning,
        share if share >= note => Severity::Note,
        _ => return None,
    };
    let (says, remedy) = says(&recorded.share(value));
    Some(Finding { level, says, remedy, share: Some(share) })
}

/// A share that no part reaches: for problems that are never so severe.
const NEVER: f64 = f64::INFINITY;

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and levels of the problems of a profile.
    pub(super) fn drawn(profile: &Profile) -> Vec<String> {
        let found = problems(&Recorded::new(profile, 0, None, None), Severity::Note);
        found
            .iter()
            .map(|problem| format!("{} {}: {}", problem.level.word(), problem.rule, problem.says))
            .collect()
    }

    #[test]
    fn rules_have_names_of_their_own() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
