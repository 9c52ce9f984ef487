//! Budgets: the maximum cost of functions.

use crate::profile::{Profile, StackId};
use crate::report::{BudgetCheck, BudgetReport, DiffSide, Header, RowTest};
use crate::transform::Marks;
use crate::tree::{By, Subject};
use crate::view::{grouping, metric_name, warnings_of};

/// A rule such as "total of `^serde` at most 12 %".
#[derive(Clone, Debug)]
pub struct BudgetRule {
    /// The pattern that names the functions.
    pub pattern: String,
    /// The functions whose combined cost is checked. `None` if no function matches and the budget is
    /// optional.
    pub functions: Option<Marks>,
    /// Whether their self or their total is checked.
    pub measure: RowTest,
    /// The maximum.
    pub limit: BudgetLimit,
    /// The rule as text.
    pub rule: String,
    /// The owner of the budget.
    pub owner: Option<String>,
}

/// The maximum cost of functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetLimit {
    /// Percent of the total.
    Percent(f64),
    /// A value of the metric in its own unit, as an average per profile.
    Value(f64),
}

/// Checks rules on a profile with a column for each profile of a side, without comparing it with anything.
pub fn check_budgets(profile: &Profile, side: DiffSide, by: &By, rules: &[BudgetRule]) -> BudgetReport {
    let columns: Vec<usize> = (0..side.profiles).collect();
    let subject = Subject::new(profile, by, &columns);
    let total = profile.meta.metrics[..side.profiles].iter().map(|metric| metric.total).sum();
    let budgets = rules.iter().map(|rule| check(rule, &subject, 0..side.profiles, total)).collect();
    BudgetReport {
        header: Header {
            schema: "prof.budgets.v1",
            metric: metric_name(profile, 0),
            total,
            shown: total,
            profiles: side.profiles as u32,
            warnings: warnings_of(profile).collect(),
            by: grouping(by),
            inputs: side.inputs.clone(),
            ..Header::default()
        },
        new: DiffSide { total, ..side },
        folded: Vec::new(),
        budgets,
    }
}

/// Checks a rule on the series of the new profiles, whose samples have the sum `total`.
pub(super) fn check(
    rule: &BudgetRule,
    subject: &Subject<'_>,
    new: std::ops::Range<usize>,
    total: i64,
) -> BudgetCheck {
    let profiles = new.len().max(1);
    let cost = rule.functions.as_ref().map_or(0, |functions| cost(functions, rule.measure, subject, new));
    let (value, limit, percent) = match rule.limit {
        BudgetLimit::Percent(limit) if total > 0 => (cost as f64 / total as f64 * 100.0, limit, true),
        BudgetLimit::Percent(limit) => (0.0, limit, true),
        BudgetLimit::Value(limit) => {
            let divisor = subject.profile.meta.metrics.first().map_or(1, |metric| metric.divisor);
            (cost as f64 / divisor as f64 / profiles as f64, limit, false)
        }
    };
    BudgetCheck {
        rule: rule.rule.clone(),
        pattern: rule.pattern.clone(),
        test: rule.measure,
        owner: rule.owner.clone(),
        value,
        limit,
        exceeded: value > limit,
        percent,
        matched: rule.functions.is_some(),
        cost,
    }
}

/// The combined cost of functions in some series; each stack counts once. It cannot overflow, being part
/// of Σ |value|.
fn cost(functions: &Marks, measure: RowTest, subject: &Subject<'_>, series: std::ops::Range<usize>) -> i64 {
    let stacks = &subject.profile.stacks;
    let is_match = |stack: &StackId| {
        let frames = stacks.frames(*stack);
        match measure {
            RowTest::SelfCount => frames.last().is_some_and(|&leaf| functions.contain(leaf)),
            RowTest::Total => functions.match_any(frames),
        }
    };
    let series = &subject.series[series];
    subject.stacks().filter(is_match).flat_map(|stack| series.iter().map(move |series| series[stack])).sum()
}
