//! Budgets: a file with limits on the cost of functions.
//!
//! ```toml
//! [[budget]]
//! function = "^serde"    # a pattern, as everywhere
//! total = "12 %"         # or self; percent, or a value such as "250 ms"
//! owner = "parsing"      # printed if the limit is exceeded
//! metric = "cpu"         # checked only where this metric is compared; an input must have it
//! optional = true        # fine if no function matches, or if no input has the metric
//! ```

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cli::input::request::they_are;
use crate::cli::options::filters::explain;
use crate::cli::terminal::failure::{hinted, meant};
use crate::compare::Compared;
use crate::filter::Stages;
use crate::kind::may_mean;
use crate::profile::Metric;
use crate::report::RowTest;
use crate::unit::{Family, Quantity, Unit};
use crate::view::{BudgetLimit, BudgetRule};

/// The file. It may have other tables, which are ignored.
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
    #[serde(default)]
    optional: bool,
}

/// The hint for a wrong rule: an example of a correct one.
const EXAMPLE: &str = r#"a budget is a table [[budget]] with the lines function = "^serde" and total = "12 %" (or self = "250 ms")"#;

/// Reads the rules of a file for a comparison, whose functions are found in `stages`. Fails if a rule would check nothing and is not marked
/// `optional`: a build must not pass because of a typo.
pub(crate) fn rules(path: &Path, on: &Compared, stages: &mut Stages) -> Result<Vec<BudgetRule>> {
    let place = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| unreadable(&place, error))?;
    let file: BudgetFile =
        toml::from_str(&text).map_err(|error| hinted(format!("{place}: {error}"), EXAMPLE))?;
    if file.budget.is_empty() {
        return Err(hinted(format!("{place}: no [[budget]] in this file"), EXAMPLE));
    }
    let count = file.budget.len();
    let metric = &on.profile.meta.metrics[0];
    let mut rules = Vec::new();
    let mut others = 0;
    for rule in file.budget {
        if is_for(&rule, &metric.name, &place, &on.metrics)? {
            rules.extend(read_rule(&rule, &place, metric, on.has_new_values, stages)?);
        } else {
            others += 1;
        }
    }
    if others > 0 {
        let name = &metric.name;
        stages
            .notes
            .push(format!("{place}: {others} of {count} budgets not checked: not for the metric {name}"));
    }
    Ok(rules)
}

/// The error for a file that cannot be read.
fn unreadable(place: &str, error: io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::NotFound {
        let hint = "prof diff --init writes prof.toml, a file with an example of a budget";
        return hinted(format!("--budget {place}: no such file"), hint);
    }
    anyhow::Error::new(error).context(format!("--budget {place}"))
}

/// Whether a rule is for the metric `compared`. Metrics have the names that `--metric` accepts. Fails for a name that no
/// input has, unless the rule is optional.
fn is_for(rule: &Rule, compared: &str, place: &str, of_inputs: &[String]) -> Result<bool> {
    let Some(name) = &rule.metric else { return Ok(true) };
    if of_inputs.contains(name) {
        return Ok(name == compared);
    }
    let is_meant = |metric: &str| metric.eq_ignore_ascii_case(name) || may_mean(name, metric);
    if rule.optional || of_inputs.iter().any(|metric| is_meant(metric)) {
        return Ok(is_meant(compared));
    }
    let names: Vec<&str> = of_inputs.iter().map(String::as_str).collect();
    let message =
        format!("{place}: the budget of `{}` is for the metric {name}, which no input has", rule.function);
    let hint = format!(
        "{}{}; add `optional = true` if the budgets are also for other profiles",
        meant(name, &names),
        they_are("the inputs'", of_inputs)
    );
    Err(hinted(message, hint))
}

/// The limits of one rule.
fn read_rule(
    rule: &Rule,
    place: &str,
    metric: &Metric,
    has_values: bool,
    stages: &mut Stages,
) -> Result<Vec<BudgetRule>> {
    let function = &rule.function;
    if !has_values && !rule.optional {
        let message = format!(
            "{place}: cannot check the budget of `{function}`: the new side has no values of {}",
            metric.name
        );
        return Err(hinted(message, "add `optional = true` to the budget to allow that"));
    }
    let budget = format!("{place}: the budget of `{function}`");
    let functions = if rule.optional {
        stages.marks(function).context(budget)?
    } else {
        Some(stages.matches(&budget, function).map_err(explain)?)
    };
    let limits = [("total", RowTest::Total, &rule.total), ("self", RowTest::SelfCount, &rule.self_value)];
    let mut rules = Vec::new();
    for (word, measure, limit) in limits {
        let Some(limit) = limit else { continue };
        let parsed = read_limit(limit, metric).ok_or_else(|| {
            let message = format!("{place}: {word} = \"{limit}\": not a valid limit for {}", metric.name);
            hinted(message, format!("use a percentage (12 %) or a value in {}", unit_word(metric)))
        })?;
        if let (BudgetLimit::Value(_), Some(example)) = (&parsed, missing_unit(limit, metric)) {
            let message = format!("{place}: {word} = \"{limit}\": the unit is missing");
            return Err(hinted(
                message,
                format!("write a value of {} like this: {word} = \"{example}\"", metric.name),
            ));
        }
        rules.push(BudgetRule {
            pattern: function.clone(),
            functions: functions.clone(),
            measure,
            limit: parsed,
            rule: format!("{word} of `{function}` at most {limit}"),
            owner: rule.owner.clone(),
        });
    }
    if rules.is_empty() {
        let message = format!("{place}: the budget of `{function}` has neither total nor self");
        return Err(hinted(message, EXAMPLE));
    }
    Ok(rules)
}

fn unit_word(metric: &Metric) -> &str {
    if metric.unit.is_empty() { "plain numbers" } else { &metric.unit }
}

/// An example of a limit with its unit, if `limit` has none and people would not agree on what it means: 250 of a metric in
/// nanoseconds reads like milliseconds. Zero needs no unit.
fn missing_unit(limit: &str, metric: &Metric) -> Option<&'static str> {
    let example = match Unit::parse(&metric.unit).family() {
        Family::Time => "250 ms",
        Family::Bytes => "64 MiB",
        Family::Gcu => "2 GCU",
        Family::Count | Family::Other => return None,
    };
    let number = limit.trim();
    let is_zero = number.parse() == Ok(0.0);
    (!is_zero && number.ends_with(|c: char| c.is_ascii_digit() || c == '.')).then_some(example)
}

/// Parses `12 %`, or a value in a unit of the metric's kind.
fn read_limit(text: &str, metric: &Metric) -> Option<BudgetLimit> {
    let is_limit = |limit: &f64| limit.is_finite() && *limit >= 0.0;
    if let Some(number) = text.trim().strip_suffix('%') {
        // `-0 %` would be printed with its sign.
        return number
            .trim()
            .parse()
            .ok()
            .filter(is_limit)
            .map(|limit: f64| BudgetLimit::Percent(limit.abs()));
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
    Some(BudgetLimit::Value(value * factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_in_the_unit_of_the_metric() {
        let metric = |unit: &str| Metric { unit: unit.into(), ..Metric::default() };
        let read = |text: &str, unit: &str| read_limit(text, &metric(unit));
        assert_eq!(read("12 %", "nanoseconds"), Some(BudgetLimit::Percent(12.0)));
        assert_eq!(read("250 ms", "nanoseconds"), Some(BudgetLimit::Value(250e6)));
        assert_eq!(read("250us", "milliseconds"), Some(BudgetLimit::Value(0.25)));
        assert_eq!(read("1.5kb", "bytes"), Some(BudgetLimit::Value(1536.0)));
        assert_eq!(read("100", "count"), Some(BudgetLimit::Value(100.0)));
        assert_eq!(read("100 ms", "bytes"), None);
        assert_eq!(read("-1 %", "bytes"), None);
        let Some(BudgetLimit::Percent(zero)) = read("-0 %", "bytes") else { panic!("0 is a limit") };
        assert!(zero.is_sign_positive());
        assert_eq!(read("lots", "bytes"), None);
    }

    #[test]
    fn a_number_alone_is_refused_where_it_could_be_of_any_unit() {
        let missing =
            |text: &str, unit: &str| missing_unit(text, &Metric { unit: unit.into(), ..Metric::default() });
        assert_eq!(missing("250", "nanoseconds"), Some("250 ms"));
        assert_eq!(missing("1.5 ", "bytes"), Some("64 MiB"));
        for (text, unit) in
            [("250 ms", "nanoseconds"), ("0", "bytes"), ("100", "count"), ("100", ""), ("7", "pages")]
        {
            assert_eq!(missing(text, unit), None, "{text} {unit}");
        }
    }

    #[test]
    fn a_budget_is_for_a_metric_that_an_input_has() {
        let inputs = ["samples", "cpu", "delay"].map(String::from);
        let check = |name: &str, optional: bool| {
            let rule = Rule {
                function: "f".into(),
                total: None,
                self_value: None,
                owner: None,
                metric: Some(name.into()),
                optional,
            };
            is_for(&rule, "cpu", "prof.toml", &inputs).map_err(|error| error.to_string())
        };
        assert_eq!(check("cpu", false), Ok(true));
        assert_eq!(check("samples", false), Ok(false));
        // What `prof types` calls the metric `delay`.
        assert_eq!(check("mutex_duration", false), Ok(false));
        assert!(check("alloc_space", false).unwrap_err().contains("alloc_space, which no input has"));
        assert_eq!(check("alloc_space", true), Ok(false));
    }
}
