//! Rules about the recorder.

use crate::lint::{Finding, Recorded};
use crate::report::Severity;
use crate::unit::plural;

/// Recorders that see a thread only at a safepoint.
const AT_SAFEPOINTS: &[&str] = &["hprof"];

pub(super) fn safepoints(recorded: &Recorded<'_>) -> Option<Finding> {
    let format = recorded.profile.meta.format;
    AT_SAFEPOINTS.contains(&format).then(|| Finding {
        level: Severity::Warning,
        says: format!("{format} records threads only at safepoints: loops and small functions look cheaper than they are"),
        remedy: "record with async-profiler, or with JFR's CPUTimeSample (Java 25)".to_string(),
        share: None,
    })
}

pub(super) fn impossible(recorded: &Recorded<'_>) -> Option<Finding> {
    let says = recorded.impossible.clone()?;
    let remedy = "shares are not affected; do not rely on durations and on numbers of CPUs".to_string();
    Some(Finding { level: Severity::Warning, says, remedy, share: None })
}

/// What the reader of the file found: samples that were lost, and records that are damaged.
pub(super) fn reader(recorded: &Recorded<'_>) -> Option<Finding> {
    // What lacks names is a rule of its own.
    let warnings = recorded.profile.meta.warnings.iter().filter(|text| !text.starts_with(UNRESOLVED));
    let warnings: Vec<&String> = warnings.collect();
    let first = warnings.first()?;
    let (more, remedy) = match warnings.len() {
        1 => (String::new(), "check how it was recorded, and whether the file is whole"),
        count => {
            let noun = plural(count as u64 - 1, "warning", "warnings");
            (format!(" (and {} more {noun})", count - 1), "prof info lists all of them")
        }
    };
    Some(Finding {
        level: Severity::Warning,
        says: format!("{first}{more}"),
        remedy: remedy.to_string(),
        share: None,
    })
}

/// How a warning begins that is about addresses without names.
const UNRESOLVED: &str = "functions without names have ";

#[cfg(test)]
mod tests {
    use crate::lint::{Recorded, problems};
    use crate::profile::from_notation;

    #[test]
    fn recorders() {
        let mut profile = from_notation("main;work 500");
        profile.meta.format = "hprof";
        profile.meta.warnings = vec!["3 samples were lost".to_string(), "a record is damaged".to_string()];
        let found = problems(&Recorded::new(&profile, 0, None, Some("no machine has 70 CPUs".to_string())));
        let says: Vec<&str> = found.iter().map(|problem| &*problem.says).collect();
        assert_eq!(
            says,
            [
                "hprof records threads only at safepoints: loops and small functions look cheaper than they are",
                "no machine has 70 CPUs",
                "3 samples were lost (and 1 more warning)",
            ]
        );
    }
}
