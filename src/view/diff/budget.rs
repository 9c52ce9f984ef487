//! Budgets: what functions may cost at most.

use crate::profile::StackId;
use crate::report::{BudgetCheck, RowTest};
use crate::transform::Marks;
use crate::tree::Subject;

/// A rule such as "total of `^serde` at most 12 %".
#[derive(Clone, Debug)]
pub struct BudgetRule {
    /// The functions meant; what they cost together counts.
    pub functions: Marks,
    /// What of them.
    pub measure: RowTest,
    /// How much they may have.
    pub limit: Limit,
    /// The rule in words.
    pub rule: String,
    /// Who answers for it.
    pub owner: Option<String>,
}

/// How much functions may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Percent of the total.
    Percent(f64),
    /// A value of the metric in its own unit, on average of the profiles.
    Value(f64),
}

/// Checks a rule on the series from `first` up to `end`, the new profiles, whose samples sum to `total`.
pub(super) fn check(
    rule: &BudgetRule,
    subject: &Subject<'_>,
    new: std::ops::Range<usize>,
    total: i64,
) -> BudgetCheck {
    let stacks = &subject.profile.stacks;
    let is_meant = |stack: &StackId| {
        let frames = stacks.frames(*stack);
        match rule.measure {
            RowTest::SelfValue => frames.last().is_some_and(|&leaf| rule.functions.contain(leaf)),
            RowTest::Total => rule.functions.touch(frames),
        }
    };
    let series = &subject.series[new];
    let value = |stack: StackId| series.iter().map(|series| i128::from(series[stack])).sum::<i128>() as f64;
    let sum: f64 = subject.stacks().filter(is_meant).map(value).sum();
    let divisor = subject.profile.meta.metrics.first().map_or(1, |metric| metric.divisor) as f64;
    let (value, limit, percent) = match rule.limit {
        Limit::Percent(limit) if total > 0 => (sum / total as f64 * 100.0, limit, true),
        Limit::Percent(limit) => (0.0, limit, true),
        Limit::Value(limit) => (sum / divisor / series.len().max(1) as f64, limit, false),
    };
    BudgetCheck {
        rule: rule.rule.clone(),
        owner: rule.owner.clone(),
        value,
        limit,
        exceeded: value > limit,
        percent,
    }
}
