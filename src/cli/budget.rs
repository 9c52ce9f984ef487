//! Budgets: a file of what functions may cost at most.
//!
//! ```toml
//! [[budget]]
//! function = "^serde"    # a pattern, as everywhere
//! total = "12 %"         # or self; percent, or a value such as "250 ms"
//! owner = "parsing"      # who is to be told
//! metric = "cpu"         # checked only where this metric is compared
//! ```

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cli::failure::hinted;
use crate::pattern::{Pattern, Patterns};
use crate::profile::{Metric, Profile};
use crate::report::RowTest;
use crate::transform::Marks;
use crate::unit::{Quantity, Unit};
use crate::view::{BudgetRule, Limit};

/// The file; other tables in it belong to somebody else.
#[derive(Deserialize)]
struct BudgetFile {
    #[serde(default)]
    budget: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    function: String,
    total: Option<String>,
    #[serde(rename = "self")]
    self_value: Option<String>,
    owner: Option<String>,
    metric: Option<String>,
}

/// What is missing in a rule, and what one looks like.
const EXAMPLE: &str = r#"a rule is: [[budget]] function = "^serde" total = "12 %" (or self = "250 ms")"#;

/// Reads the rules of a file that are about the metric of `profile`, and what to say about them.
pub(crate) fn rules(path: &Path, profile: &Profile) -> Result<(Vec<BudgetRule>, Vec<String>)> {
    let place = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(place)?;
    let file: BudgetFile =
        toml::from_str(&text).map_err(|error| hinted(format!("{}: {error}", place()), EXAMPLE))?;
    if file.budget.is_empty() {
        return Err(hinted(format!("{}: holds no budget", place()), EXAMPLE));
    }
    let metric = &profile.meta.metrics[0];
    let mut rules = Vec::new();
    let mut notes = Vec::new();
    for rule in file.budget {
        if rule.metric.as_ref().is_some_and(|name| *name != metric.name) {
            continue;
        }
        let (pattern, note) = Pattern::parse(&rule.function, false)
            .with_context(|| format!("{}: function = \"{}\"", place(), rule.function))?;
        notes.extend(note);
        let functions = Marks::new(profile, &Patterns::from_iter([pattern]));
        if !functions.are_used(profile) {
            notes.push(format!("budget of `{}`: nothing matches", rule.function));
        }
        let limits = [(RowTest::Total, rule.total), (RowTest::SelfValue, rule.self_value)];
        let mut given = limits.into_iter().filter_map(|(measure, limit)| Some((measure, limit?))).peekable();
        if given.peek().is_none() {
            let message =
                format!("{}: the budget of `{}` has neither total nor self", place(), rule.function);
            return Err(hinted(message, EXAMPLE));
        }
        for (measure, limit) in given {
            let word = if measure == RowTest::Total { "total" } else { "self" };
            let parsed = read_limit(&limit, metric).ok_or_else(|| {
                let message = format!("{}: {word} = \"{limit}\": no limit for {}", place(), metric.name);
                hinted(message, format!("give percent (12 %), or a value in {}", unit_word(metric)))
            })?;
            rules.push(BudgetRule {
                functions: functions.clone(),
                measure,
                limit: parsed,
                rule: format!("{word} of `{}` at most {limit}", rule.function),
                owner: rule.owner.clone(),
            });
        }
    }
    Ok((rules, notes))
}

fn unit_word(metric: &Metric) -> &str {
    if metric.unit.is_empty() { "plain numbers" } else { &metric.unit }
}

/// `12 %`, or a value in a unit of the metric's kind.
fn read_limit(text: &str, metric: &Metric) -> Option<Limit> {
    let is_limit = |limit: &f64| limit.is_finite() && *limit >= 0.0;
    if let Some(number) = text.trim().strip_suffix('%') {
        return number.trim().parse().ok().filter(is_limit).map(Limit::Percent);
    }
    let own = Unit::parse(&metric.unit);
    let number = text.trim();
    let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
    let value: f64 = number[..end].parse().ok().filter(is_limit)?;
    let typed = Quantity::parse(number).ok()?;
    let unit = typed.unit().cloned().unwrap_or_else(|| own.clone());
    let factor = match (unit.factor_to(&own), own.factor_to(&unit)) {
        (Some(factor), _) => factor as f64,
        (None, Some(factor)) => 1.0 / factor as f64,
        (None, None) => return None,
    };
    Some(Limit::Value(value * factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_the_unit_of_the_metric() {
        let metric = |unit: &str| Metric { unit: unit.into(), ..Metric::default() };
        let read = |text: &str, unit: &str| read_limit(text, &metric(unit));
        assert_eq!(read("12 %", "nanoseconds"), Some(Limit::Percent(12.0)));
        assert_eq!(read("250 ms", "nanoseconds"), Some(Limit::Value(250e6)));
        assert_eq!(read("250us", "milliseconds"), Some(Limit::Value(0.25)));
        assert_eq!(read("1.5kb", "bytes"), Some(Limit::Value(1536.0)));
        assert_eq!(read("100", "count"), Some(Limit::Value(100.0)));
        assert_eq!(read("100 ms", "bytes"), None);
        assert_eq!(read("-1 %", "bytes"), None);
        assert_eq!(read("lots", "bytes"), None);
    }
}
