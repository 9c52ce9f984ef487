//! Rules about the recorder.

use crate::kind;
use crate::lint::{Finding, Recorded};
use crate::report::Severity;
use crate::unit::{group_thousands, plural};

/// Recorders that see a thread only at a safepoint.
const AT_SAFEPOINTS: &[&str] = &["hprof"];

pub(super) fn safepoints(recorded: &Recorded<'_>) -> Option<Finding> {
    let format = recorded.profile.meta.format;
    let metric = &recorded.profile.meta.metrics[recorded.metric].name;
    let is_cpu = ["cpu", "samples"].iter().any(|kind| kind::is(metric, kind));
    if recorded.profile.meta.faults.skips_code && is_cpu {
        return Some(Finding {
            level: Severity::Note,
            says: "JFR's ExecutionSample sees at most a few threads at a time, only in Java code, and only where the virtual \
                   machine knows the line: the costs of short methods and of native code are wrong"
                .to_string(),
            remedy: "record with jdk.CPUTimeSample (Java 25, Linux) or async-profiler".to_string(),
            share: None,
        });
    }
    AT_SAFEPOINTS.contains(&format).then(|| Finding {
        level: Severity::Warning,
        says: format!("{format} records threads only at safepoints: loops and small functions look cheaper than they are"),
        remedy: "record with async-profiler, or with JFR's CPUTimeSample (Java 25)".to_string(),
        share: None,
    })
}

/// From these shares of lost samples on, it is worth a note, a warning and an error.
const LOST: [f64; 3] = [0.0, 1.0, 50.0];

pub(super) fn lost(recorded: &Recorded<'_>) -> Option<Finding> {
    let meta = &recorded.profile.meta;
    let lost = meta.faults.lost;
    let taken = recorded.samples.map_or(meta.rows, i64::unsigned_abs);
    let share = 100.0 * lost as f64 / (lost.saturating_add(taken)).max(1) as f64;
    let level = match share {
        share if share >= LOST[2] => Severity::Error,
        share if share >= LOST[1] => Severity::Warning,
        _ => Severity::Note,
    };
    (lost > 0).then(|| Finding {
        level,
        says: format!(
            "the recorder lost {} of {} samples ({share:.1}%), mostly where the program was busiest",
            group_thousands(lost.into()),
            group_thousands(i128::from(lost) + i128::from(taken))
        ),
        remedy: "record at a lower rate, with smaller stacks, or with larger buffers (perf record -m)"
            .to_string(),
        share: Some(share),
    })
}

pub(super) fn throttled(recorded: &Recorded<'_>) -> Option<Finding> {
    let times = recorded.profile.meta.faults.throttled;
    (times > 0).then(|| Finding {
        level: Severity::Warning,
        says: format!(
            "the kernel throttled sampling {} {}: what ran then looks cheaper than it is",
            group_thousands(times.into()),
            plural(times, "time", "times")
        ),
        remedy: "record at a lower rate (perf record -F 99)".to_string(),
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
    let meta = &recorded.profile.meta;
    let mut warnings: Vec<&String> =
        meta.warnings.iter().filter(|text| !meta.faults.said.contains(text)).collect();
    // One damaged record of a million changes nothing, so the largest problem comes first.
    let of_all = |text: &str| counted(text).map_or(1.0, |count| count as f64 / meta.rows.max(1) as f64);
    warnings.sort_by(|a, b| of_all(b).total_cmp(&of_all(a)));
    let first = warnings.first()?;
    let level = if of_all(first) < SMALL { Severity::Note } else { Severity::Warning };
    let (more, remedy) = match warnings.len() {
        // Most warnings say what is wrong, but not why, so advice would be a guess.
        1 if first.contains("truncated") => (String::new(), "copy the file again, or record to the end"),
        1 => (String::new(), ""),
        count => {
            let noun = plural(count as u64 - 1, "warning", "warnings");
            (format!(" (and {} more {noun})", count - 1), "prof info lists all of them")
        }
    };
    Some(Finding { level, says: format!("{first}{more}"), remedy: remedy.to_string(), share: None })
}

/// A problem of a smaller part of the samples, from 0 to 1, is no more than a note.
pub(super) const SMALL: f64 = 0.01;

/// The number with which a warning begins, such as `1,204 samples have no stack`.
fn counted(warning: &str) -> Option<u64> {
    let number = warning.split(' ').next()?.replace(',', "");
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::lint::{Recorded, problems};
    use crate::profile::from_notation;
    use crate::report::Severity;

    #[test]
    fn recorders() {
        let mut profile = from_notation("main;work 500");
        profile.meta.format = "hprof";
        profile.meta.warnings = vec!["3 samples were lost".to_string(), "a record is damaged".to_string()];
        let found = problems(
            &Recorded::new(&profile, 0, None, Some("no machine has 70 CPUs".to_string())),
            Severity::Note,
        );
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

    fn found(profile: &crate::profile::Profile) -> Vec<String> {
        let found = problems(&Recorded::new(profile, 0, Some(500), None), Severity::Note);
        found
            .iter()
            .map(|problem| format!("{} {}: {}", problem.level.word(), problem.rule, problem.says))
            .collect()
    }

    #[test]
    fn lost_samples_and_pauses() {
        let mut profile = from_notation("main;work 500");
        profile.meta.faults.lost = 2;
        profile.meta.warn_of_fault("2 samples were lost by the recorder".to_string());
        let says = |level: &str, lost: &str, all: &str, share: &str| {
            format!(
                "{level} lost: the recorder lost {lost} of {all} samples ({share}%), mostly where the program was busiest"
            )
        };
        assert_eq!(found(&profile), [says("note", "2", "502", "0.4")]);
        profile.meta.faults.lost = 50;
        assert_eq!(found(&profile), [says("warning", "50", "550", "9.1")]);
        profile.meta.faults.lost = 1500;
        assert_eq!(found(&profile), [says("error", "1,500", "2,000", "75.0")]);
        (profile.meta.faults.lost, profile.meta.faults.throttled) = (0, 3);
        assert_eq!(
            found(&profile),
            [
                "warning throttled: the kernel throttled sampling 3 times: what ran then looks cheaper than it is"
            ]
        );
    }

    #[test]
    fn small_problems_are_notes() {
        let mut profile = from_notation("main;work 500");
        profile.meta.rows = 1_000;
        for (warning, level) in [
            ("9 samples have no stack", "note"),
            ("10 samples have no stack", "warning"),
            ("it is damaged", "warning"),
        ] {
            profile.meta.warnings = vec![warning.to_string()];
            assert_eq!(found(&profile), [format!("{level} reader: {warning}")]);
        }
    }

    #[test]
    fn advice_fits_the_warning() {
        let mut profile = from_notation("main;work 500");
        for (warnings, remedy) in [
            (&["file is truncated: 3 bytes are missing"][..], "copy the file again, or record to the end"),
            (&["a record is damaged"], ""),
            (&["a record is damaged", "file is truncated"], "prof info lists all of them"),
        ] {
            profile.meta.warnings = warnings.iter().map(ToString::to_string).collect();
            let found = problems(&Recorded::new(&profile, 0, Some(500), None), Severity::Note);
            assert_eq!(found[0].remedy, remedy, "{warnings:?}");
        }
    }
}
