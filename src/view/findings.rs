//! `report`: what can be concluded from a profile.

use hashbrown::HashMap;

use crate::findings::{
    Cost, Found, Measured, Objects, Samples, accuracy, ceiling, find, lone_frames, remarks, small_objects,
};
use crate::kind::{Kind, counts_of, of_metric};
use crate::profile::Profile;
use crate::report::{
    Ceiling, Evidence, Finding, Findings, Header, Problem, Remark, Rest, Sentence, Severity, rescaled,
};
use crate::transform::{artefacts, fold_leaves, foldable, waits_of_stacks};
use crate::tree::{KeyId, Subject};
use crate::unit::{Family, Unit};
use crate::view::lint::{found_in_samples, recorded_samples};
use crate::view::{Scope, effective_samples};

/// The conclusions from the first metric, by function. The profile must have been loaded with labels.
pub fn findings(profile: &Profile, scope: &Scope) -> Findings {
    let recorded = profile;
    let folded = folded(profile, scope);
    let profile = folded.as_ref().unwrap_or(profile);
    let (subject, header) = scope.open(profile, "prof.report.v1");
    let metric = scope.metrics[0];
    let cost = cost(profile, metric, &subject);
    let mut report = Findings {
        verdict: nothing_to_conclude(&subject, &header),
        findings: Vec::new(),
        rest: Rest::default(),
        remarks: Vec::new(),
        accuracy: sample_count(profile, metric, &header).map(accuracy),
        recording_says: recording(recorded, metric, scope.base.is_some(), &header),
        saves: saves(profile, metric),
        changes: None,
        folds: folded.is_some(),
        common: String::new(),
        is_short: false,
        header,
    };
    if report.verdict.is_some() {
        report.rest.value = report.header.shown;
        return report;
    }
    let lone = lone_frames(&subject);
    let mut samples = Samples::new(&subject, &lone, cost);
    let old_metric = scope.base.as_ref().map(|base| base.metric);
    let waits: Option<Vec<_>> =
        [metric].into_iter().chain(old_metric).map(|metric| waits_of_stacks(profile, metric)).collect();
    match waits {
        Some(waits) => samples = samples.with_waits(&waits),
        None => samples.may_wait = is_elapsed(profile, metric),
    }
    let (found, left) = find(samples);
    let objects = objects(profile, metric, cost);
    let gain = Gain::of(profile, metric, cost, &report.header);
    let ratio = report.header.normalize.as_ref().map(|normalize| normalize.ratio);
    let detailed = |mut found: Found| {
        let detail = objects.as_ref().and_then(|objects| objects.detail(&left, &found.candidate.groups));
        found.candidate.details.extend(detail);
        finding(found, &gain, ratio)
    };
    report.findings = found.into_iter().map(detailed).collect();
    report.rest = rest(&left, &report.header);
    if report.findings.is_empty() {
        report.verdict = Some(spread(&report.rest, left.whole));
    }
    let labels = || Evidence { words: vec!["labels".to_string()], subject: None };
    let remark = |rule, says, value, evidence| Remark { rule, says, value, evidence, command: String::new() };
    let of_labels = remarks(profile, metric, cost == Cost::Time).into_iter();
    let of_labels = of_labels.map(|(rule, says, value)| remark(rule.name, says, value, labels()));
    let small = objects.and_then(|objects| small_objects(&left, &objects));
    let small = small.map(|(says, value, evidence)| remark("small-objects", says, value, evidence));
    report.remarks = of_labels.chain(small).collect();
    report
}

/// Whether a value may be time that a thread waited, and the recording does not say so.
fn is_elapsed(profile: &Profile, metric: usize) -> bool {
    let kinds = ["wall", "wall_samples", "native_samples", "call_duration"];
    kind(profile, metric).is_some_and(|kind| kinds.contains(&kind.name))
}

/// The sizes of objects, if this is a metric of memory and the profile has its other half: bytes for objects, objects for bytes.
fn objects(profile: &Profile, metric: usize, cost: Cost) -> Option<Objects> {
    let metrics = &profile.meta.metrics;
    if !cost.is_memory() || profile.calls.is_some() {
        return None;
    }
    let is_bytes = |metric: usize| Unit::parse(&metrics[metric].unit).family() == Family::Bytes;
    let counted_by = |bytes: usize| {
        let names = counts_of(&metrics[bytes].name);
        names.into_iter().find_map(|name| profile.meta.metric_named(name))
    };
    let bytes = if is_bytes(metric) {
        metric
    } else {
        (0..metrics.len()).find(|&bytes| is_bytes(bytes) && counted_by(bytes) == Some(metric))?
    };
    Objects::of(profile, bytes, counted_by(bytes)?)
}

/// The profile without what the profiler put at the end of stacks: under load, that may be most of a profile of Go. `None` if
/// there is nothing of the kind.
fn folded(profile: &Profile, scope: &Scope) -> Option<Profile> {
    let marks = artefacts(profile);
    // Both sides alike: a share of one that was folded is not comparable with one of the other that was not.
    let columns: Vec<usize> = scope
        .metrics
        .first()
        .copied()
        .into_iter()
        .chain(scope.base.as_ref().map(|base| base.metric))
        .collect();
    let is_there = profile.calls.is_none() && !foldable(profile, &marks, &columns).is_empty();
    is_there.then(|| fold_leaves(profile, &marks).0)
}

/// What is wrong with the recording, as far as it limits what can be concluded.
fn recording(profile: &Profile, metric: usize, has_old: bool, header: &Header) -> Vec<Sentence> {
    // The two sides of a comparison are expected to be two builds.
    let is_expected = |problem: &Problem| has_old && problem.rule == "mixed-builds";
    // A share of what filters left is as uncertain as that of a recording with as many samples.
    let samples = recorded_samples(profile, metric).map(|samples| part_shown(samples, header).round() as i64);
    let problems = found_in_samples(profile, metric, samples, Severity::Note).into_iter();
    let problems = problems.filter(|problem| problem.level > Severity::Note && !is_expected(problem));
    problems.map(|problem| Sentence::new(problem.says)).collect()
}

/// What the values of a metric are.
fn cost(profile: &Profile, metric: usize, subject: &Subject<'_>) -> Cost {
    let shown = &profile.meta.metrics[metric];
    let Some(kind) = kind(profile, metric) else {
        return match Unit::parse(&shown.unit).family() {
            Family::Bytes => Cost::Allocated,
            Family::Time => Cost::Time,
            _ if profile.meta.metrics.len() == 1 => Cost::Time,
            _ => Cost::Other,
        };
    };
    match kind.name {
        "cpu" | "samples" | "wall" | "wall_samples" | "native_samples" | "instructions" | "call_duration" => {
            Cost::Time
        }
        "heap" => Cost::InUse,
        "calls" | "exceptions" => Cost::Other,
        name if ["alloc_", "malloc_", "temporary"].iter().any(|start| name.starts_with(start)) => {
            Cost::Allocated
        }
        name if ["inuse_", "old_"].iter().any(|start| name.starts_with(start)) => Cost::InUse,
        name if name.starts_with("peak_") => Cost::AtPeak,
        _ if names_holders(subject) => Cost::Holding,
        _ => Cost::Waiting,
    }
}

/// Whether stacks of waiting end where a lock is released: then they show who held it. Go's mutex profiles do.
fn names_holders(subject: &Subject<'_>) -> bool {
    let (mut unlocks, mut all) = (0_i128, 0_i128);
    for stack in subject.stacks() {
        let Some(&leaf) = subject.profile.stacks.frames(stack).last() else { continue };
        let value = i128::from(subject.values(stack).next().unwrap_or_default());
        let name = subject.profile.symbols.frame_name(leaf);
        all += value;
        unlocks += if name.to_ascii_lowercase().contains("unlock") { value } else { 0 };
    }
    unlocks * 2 > all
}

fn kind(profile: &Profile, metric: usize) -> Option<&'static Kind> {
    of_metric(&profile.meta.metrics[metric].name)
}

/// What less of the metric is, in words.
fn saves(profile: &Profile, metric: usize) -> &'static str {
    match kind(profile, metric).map(|kind| kind.name) {
        Some("cpu" | "samples" | "wall") if profile.meta.is_latency => "elapsed time",
        Some("cpu") => "CPU time",
        Some("wall" | "call_duration") => "time",
        Some("instructions") => "instructions",
        _ => "samples",
    }
}

/// The number of samples that the values shown stand for, as far as it is known.
fn sample_count(profile: &Profile, metric: usize, header: &Header) -> Option<f64> {
    let counts = kind(profile, metric).is_some_and(|kind| kind.name == "samples");
    // Samples of different weights say less than as many of equal weight.
    let is_of_time = counts || kind(profile, metric).is_some_and(|kind| kind.name == "cpu");
    let is_weighed = profile.meta.is_latency && is_of_time;
    let weighed = effective_samples(&profile.meta.metrics[metric]).filter(|_| is_weighed);
    let is_exact = profile.calls.is_none() && header.metric.divisor == 1;
    let all = weighed.or(header.recording.samples).or((counts && is_exact).then_some(header.total))?;
    let count = part_shown(all, header);
    (count >= 1.0).then_some(count)
}

/// The part of so many samples that filters left.
fn part_shown(samples: i64, header: &Header) -> f64 {
    samples as f64 * header.shown as f64 / header.total.max(1) as f64
}

/// Why nothing can be concluded, if that is so.
fn nothing_to_conclude(subject: &Subject<'_>, header: &Header) -> Option<Sentence> {
    let name = &header.metric.name;
    let says = if header.total == 0 {
        format!("there is nothing to conclude: the profile has no values of {name}")
    } else if header.shown == 0 {
        format!("there is nothing to conclude: the filters leave nothing of {name}")
    } else if has_negative(subject) {
        format!(
            "there is nothing to conclude: some values of {name} are negative, as in a difference of two profiles, so shares \
             mean little; prof top shows the values"
        )
    } else {
        return None;
    };
    Some(Sentence::new(says))
}

fn has_negative(subject: &Subject<'_>) -> bool {
    let stacks = subject.stacks().flat_map(|stack| subject.values(stack));
    let calls = subject.calls.iter().flat_map(|calls| subject.keys.ids().map(|key| calls.self_value(key)));
    stacks.chain(calls).any(|value| value < 0)
}

/// What the cost of a metric has to do with its reduction.
struct Gain {
    whole: i64,
    samples: Option<f64>,
    is_known: bool,
    is_elapsed_time: bool,
    is_estimate: bool,
}

impl Gain {
    fn of(profile: &Profile, metric: usize, cost: Cost, header: &Header) -> Gain {
        let is_cpu = kind(profile, metric).is_some_and(|kind| kind.name == "cpu");
        Gain {
            whole: header.shown,
            samples: sample_count(profile, metric, header),
            is_known: cost == Cost::Time,
            is_elapsed_time: is_cpu && header.recording.is_of_one_processor(),
            is_estimate: profile.meta.is_latency,
        }
    }
}

fn finding(found: Found, gain: &Gain, old_ratio: Option<f64>) -> Finding {
    let Found { rule, candidate, value } = found;
    let Measured { value: measured, old } = candidate.measured;
    let has_ceiling = gain.is_known && candidate.has_ceiling;
    let ceiling = has_ceiling.then(|| ceiling(measured, gain.whole, gain.samples)).flatten();
    let (file, line) = candidate.place.unzip();
    Finding {
        rule: rule.name,
        says: candidate.says,
        details: candidate.details,
        function: candidate.function,
        file,
        line,
        value,
        measured,
        old: old_ratio.map(|ratio| rescaled(old, ratio)),
        ceiling: ceiling.map(|ceiling| Ceiling {
            is_elapsed_time: gain.is_elapsed_time,
            is_estimate: gain.is_estimate,
            ..ceiling
        }),
        evidence: candidate.evidence,
        command: String::new(),
    }
}

/// What is left when all rules have been asked.
fn rest(left: &Samples<'_, '_>, header: &Header) -> Rest {
    let subject = left.subject;
    let symbols = &subject.profile.symbols;
    let mut functions: HashMap<KeyId, i64> = HashMap::new();
    let mut rest = Rest { no_stack: header.no_stack, ..Rest::default() };
    for group in left.all_left().map(|group| &left.groups[group]) {
        rest.value += group.value;
        let Some(&leaf) = group.frames.last() else { continue };
        if symbols.is_nameless(symbols.frames[leaf].function) {
            rest.unnamed += group.value;
        } else {
            *functions.entry(subject.keys.of_frame(leaf)).or_default() += group.value;
        }
    }
    // Without names or stacks, nothing can be said about a part of the profile; the other part is in these functions.
    functions.retain(|_, value| *value > 0);
    rest.functions = functions.len() as u64;
    rest.largest = functions.values().copied().max().unwrap_or_default();
    rest
}

/// Why there is no finding.
fn spread(rest: &Rest, whole: i64) -> Sentence {
    let share = |value| crate::unit::share(value, whole);
    Sentence::new(if rest.unnamed > whole - rest.unnamed {
        format!(
            "{} is in code without names, so nothing can be concluded; prof lint says what would name it",
            share(rest.unnamed)
        )
    } else if rest.no_stack > whole - rest.no_stack {
        format!("{} has no stack, so nothing can be concluded", share(rest.no_stack))
    } else {
        "the cost is spread: no function and no kind of work stands out".to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn what_the_profiler_put_there_is_given_back() {
        let text = "main;work;runtime.asyncPreempt 50\nmain;work 10\nmain;rest;runtime.asyncPreempt 40";
        let report = findings(&from_notation(text), &Scope::metric(0));
        let found: Vec<(String, i64)> =
            report.findings.iter().map(|finding| (finding.says.to_string(), finding.measured)).collect();
        assert_eq!(
            found,
            [("work does the work itself".to_string(), 60), ("rest does the work itself".to_string(), 40)]
        );
        assert!(report.folds && !findings(&from_notation("main;work 5"), &Scope::metric(0)).folds);
    }

    fn verdict(text: &str) -> (Option<String>, usize, i64) {
        let report = findings(&from_notation(text), &Scope::metric(0));
        let sum: i64 = report.findings.iter().map(|finding| finding.value).sum();
        (report.verdict.map(|says| says.to_string()), report.findings.len(), sum + report.rest.value)
    }

    #[test]
    fn odd_profiles_get_true_sentences() {
        let nothing = |text: &str| verdict(text).0.unwrap();
        assert!(nothing("main 0").contains("the profile has no values of samples"));
        assert!(nothing("main 3\nwork -2").contains("some values of samples are negative"));
        assert!(
            nothing("!/lib/libc.so+0x10 50\n!/lib/libm.so+0x20 50")
                .contains("100.0% is in code without names")
        );
        let spread: Vec<String> = (0..50).map(|number| format!("main;f{number} 2")).collect();
        assert_eq!(
            verdict(&spread.join("\n")),
            (Some("the cost is spread: no function and no kind of work stands out".to_string()), 0, 100)
        );
        assert_eq!(verdict("main 5"), (None, 1, 5));
        assert_eq!(verdict("pool;runtime.gopark 7"), (None, 1, 7));
    }
}
