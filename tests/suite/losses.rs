//! What a format cannot hold is said, for every pair of a format that is read and one that is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use prof::format::{FORMATS, Part, Source, WRITERS, Writer, load, named, recognize_source};
use prof::profile::{FrameId, LabelValue, LoadOptions, Profile};
use prof::transform::compact;
use prof::unit::Unit;

use crate::support::{below, fixture};

/// What a profile has of a part, as text.
fn facts(profile: &Profile, metric: usize, part: Part) -> BTreeSet<String> {
    let (meta, symbols) = (&profile.meta, &profile.symbols);
    let text = |id| symbols.strings.get(id);
    // A file of one metric has only the stacks with a value.
    let values = &profile.samples.values[metric];
    let rows = (0..profile.samples.len()).filter(|&row| values[row] != 0);
    let stacks: BTreeSet<_> = rows.map(|row| profile.samples.stack[row]).collect();
    let used: BTreeSet<_> =
        stacks.into_iter().flat_map(|stack| profile.stacks.frames(stack).iter().copied()).collect();
    let has_calls = profile.calls.is_some();
    let frames =
        || symbols.frames.ids().filter(|id| has_calls || used.contains(id)).map(|id| symbols.frames[id]);
    let labels = |wanted: &dyn Fn(&str) -> bool| {
        let mut values = BTreeSet::new();
        for set in profile.label_sets.ids() {
            for label in profile.label_sets.labels(set).iter().filter(|label| wanted(text(label.key))) {
                let value = match label.value {
                    LabelValue::Text(value) => text(value).to_string(),
                    LabelValue::Number(number, _) => number.to_string(),
                };
                values.insert(format!("{}={value}", text(label.key)));
            }
        }
        values
    };
    let one = |fact: Option<String>| fact.into_iter().collect();
    match part {
        Part::Metrics => {
            let others = meta.metrics.iter().enumerate().filter(|(number, _)| *number != metric);
            others.filter(|(_, metric)| metric.total != 0).map(|(_, metric)| metric.name.clone()).collect()
        }
        Part::MetricNames => one(meta.metrics.get(metric).map(|metric| metric.name.clone())),
        Part::MetricUnits => {
            // Units of a kind are converted.
            one(meta.metrics.get(metric).map(|metric| format!("{:?}", Unit::parse(&metric.unit).family())))
        }
        Part::Labels => labels(&|key| !["thread", "tid", "process"].contains(&key)),
        Part::Threads => labels(&|key| key == "thread"),
        Part::Processes => labels(&|key| ["tid", "process"].contains(&key)),
        Part::Files => {
            let used = frames().map(|frame| symbols.functions[frame.function].file);
            used.map(text).filter(|file| !file.is_empty()).map(str::to_string).collect()
        }
        Part::Lines => {
            let lines = frames().map(|frame| (frame.line, symbols.functions[frame.function].line));
            lines
                .filter(|(line, start)| *line != 0 && line != start)
                .map(|(line, _)| line.to_string())
                .collect()
        }
        Part::Places => {
            one(frames().any(|frame| symbols.functions[frame.function].by_place).then(|| "any".into()))
        }
        // Addresses may become relative to their binary.
        Part::Addresses => one(frames().any(|frame| frame.address != 0).then(|| "any".into())),
        Part::Inlining => {
            let is_inlined = |pair: &[FrameId]| {
                let [caller, frame] = [pair[0], pair[1]].map(|id| symbols.frames[id]);
                frame.inlined && (frame.address, frame.mapping) == (caller.address, caller.mapping)
            };
            let any = profile.stacks.iter().any(|stack| stack.windows(2).any(is_inlined));
            one((!has_calls && any).then(|| "any".into()))
        }
        Part::DropFrames => one(Some(meta.drop_frames.clone()).filter(|text| !text.is_empty())),
        Part::Comments => {
            meta.comments.iter().flat_map(|text| text.split("; ")).map(str::to_string).collect()
        }
        Part::Recording => {
            let period = meta.period.as_ref().map(|period| {
                let factor = Unit::parse(&period.unit).factor_to(&Unit::NANOSECONDS).unwrap_or(1);
                format!("period {}", i128::from(period.value) * i128::from(factor))
            });
            meta.time_ns.map(|time| format!("time {time}")).into_iter().chain(period).collect()
        }
        Part::Times => one(profile.samples.time.is_some().then(|| "any".into())),
        Part::Negatives => {
            let values = profile.samples.values.get(metric);
            one(values.is_some_and(|values| values.iter().any(|value| *value < 0)).then(|| "any".into()))
        }
    }
}

fn read(path: &Path, options: &LoadOptions) -> Option<Profile> {
    let mut source = Source::open(Box::new(std::fs::File::open(path).ok()?)).ok()?;
    load(&mut source, options.clone(), None).ok()
}

/// What is lost without being said when a file is converted.
fn silent(path: &Path, writer: &Writer) -> Option<Vec<String>> {
    let profile = read(path, &writer.needs)?;
    let has_all = profile.meta.metrics.iter().all(|metric| !metric.too_large);
    if (profile.calls.is_some() && !writer.holds_calls) || !has_all {
        return None;
    }
    let whole = compact(&read(path, &LoadOptions::ALL)?).unwrap();
    let profile = compact(&profile).unwrap();
    let metric = profile.meta.default_metric;
    if profile.meta.metrics.get(metric).is_none_or(|metric| metric.total == 0) {
        return None;
    }
    let mut bytes = Vec::new();
    let changes = writer.write_to(&profile, metric, false, &mut bytes).unwrap();
    let again = load(&mut Source::from_bytes(bytes), LoadOptions::ALL, named(writer.name)).unwrap();
    let name = &profile.meta.metrics[metric].name;
    let metric_again = again.meta.metric_named(name).unwrap_or(again.meta.default_metric);
    let said = writer.losses(&profile, metric);
    // Labels that were not loaded may be those of threads.
    let is_label = |part| [Part::Threads, Part::Processes].contains(&part) && said.contains(&Part::Labels);
    let unsaid = Part::ALL.iter().copied().filter(|part| !said.contains(part) && !is_label(*part));
    let lost = unsaid.filter_map(|part| {
        let mut after = facts(&again, metric_again, part);
        if part == Part::Lines {
            after.extend(again.symbols.frames.iter().map(|frame| frame.line.to_string()));
        }
        // The samples of the whole file are not merged, so that its lines may not be known.
        let before = match part {
            Part::Lines => facts(&profile, metric, part),
            _ => facts(&whole, metric, part),
        };
        let missing: Vec<&String> = before.difference(&after).collect();
        // Changes are messages of their own.
        let is_said = changes.iter().any(|change| change.starts_with(writer.name));
        let (first, count) = (missing.first()?, missing.len());
        (!is_said).then(|| format!("{part} ({count}, such as {first}; after: {:?})", after.first()))
    });
    let mut lost: Vec<String> = lost.collect();
    // Formats of calls have no stacks.
    let [before, after] = [stacks(&profile, metric), stacks(&again, metric_again)];
    if writer.name != "callgrind" && changes.is_empty() {
        let missing = before.iter().find(|stack| !after.contains(*stack));
        lost.extend(missing.map(|stack| format!("the stack {stack}")));
    }
    Some(lost)
}

/// The stacks with a positive value, by the names of their functions.
fn stacks(profile: &Profile, metric: usize) -> BTreeSet<String> {
    let values = &profile.samples.values[metric];
    let rows = (0..profile.samples.len()).filter(|&row| values[row] > 0);
    let name = |&frame: &FrameId| profile.symbols.frame_name(frame);
    rows.map(|row| {
        let frames = profile.stacks.frames(profile.samples.stack[row]).iter();
        frames.map(name).collect::<Vec<_>>().join(";")
    })
    .collect()
}

/// The smallest recorded and hand-written files of every format.
fn inputs() -> BTreeMap<&'static str, Vec<PathBuf>> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/seeds");
    let folders = [fixture(""), seeds];
    let paths = folders.iter().flat_map(|root| below(root).into_iter().map(move |file| root.join(file)));
    let mut inputs: BTreeMap<&str, Vec<PathBuf>> = BTreeMap::new();
    for path in paths.filter(|path| path.metadata().is_ok_and(|meta| meta.len() < 500_000)) {
        let Ok(mut source) = Source::open(Box::new(std::fs::File::open(&path).unwrap())) else { continue };
        if let Ok(Some((format, _))) = recognize_source(&mut source) {
            inputs.entry(format.name).or_default().push(path);
        }
    }
    for paths in inputs.values_mut() {
        paths.sort_by_key(|path| path.metadata().map_or(0, |meta| meta.len()));
        paths.truncate(3);
    }
    inputs
}

#[test]
fn what_is_lost_is_said_for_every_pair_of_formats() {
    let inputs = inputs();
    let (mut pairs, mut wrong) = (BTreeSet::new(), Vec::new());
    for (format, paths) in &inputs {
        for writer in WRITERS {
            for path in paths {
                let Some(lost) = silent(path, writer) else { continue };
                pairs.insert((*format, writer.name));
                let name = path.file_name().unwrap().to_string_lossy();
                wrong.extend(lost.iter().map(|lost| format!("{format} {name} as {}: {lost}", writer.name)));
            }
        }
    }
    let missing: Vec<&str> =
        FORMATS.iter().map(|format| format.name).filter(|name| !inputs.contains_key(name)).collect();
    assert!(missing.is_empty(), "no file of {missing:?}");
    assert!(wrong.is_empty(), "{} of {} pairs:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
    assert!(pairs.len() > 250, "{}", pairs.len());
}
