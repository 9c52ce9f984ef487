//! Reads the profiles of coz, a causal profiler: experiments in which a line of code is sped up virtually, and how many samples
//! each line had.
//!
//! ```text
//! startup     time=1605571855909059600
//! experiment  selected=src/a.c:319   speedup=0.45   duration=485645000   selected-samples=32
//! throughput-point    name=src/main.c:12   delta=3
//! runtime     time=591593300
//! samples     location=src/a.c:102   count=2
//! ```
//!
//! A stack is one line. What speeding it up would gain is for `coz plot` to say; here are the samples, and the experiments with
//! their speedups as labels.

use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, lossy};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::name::base_name;
use crate::profile::{Frame, LoadOptions, Profile, ProfileBuilder, StackId};

/// The entry in the list of readable formats.
pub(super) static COZ: Format = Format { name: NAME, title: "coz profile", sniff, read };

const NAME: &str = "coz";

fn sniff(head: &[u8]) -> Confidence {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let starts = |text: &[u8]| first.starts_with(text);
    if starts(b"startup\ttime=") || starts(b"experiment\tselected=") {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

const SAMPLES: usize = 0;
const SELECTED: usize = 1;
const TIME: usize = 2;
const PROGRESS: usize = 3;

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    for (name, unit) in [
        ("samples", "count"),
        ("selected_samples", "count"),
        ("experiment_time", "nanoseconds"),
        ("progress", "count"),
    ] {
        builder.metric(name, unit);
    }
    let mut reader = CozReader { builder, experiment: None };
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 0);
    while let Some(line) = source.line()? {
        number += 1;
        let text = lossy(line);
        match reader.line(&text) {
            _ if text.trim().is_empty() => {}
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    let mut builder = reader.builder;
    bad.settle(
        &mut builder,
        good,
        "expected an event of coz, such as `samples` with a location and a count",
    )?;
    if builder.meta.metrics[SAMPLES].rows == 0 {
        builder.meta.default_metric = SELECTED;
    }
    let note = "a causal profile: what a line would gain by being faster is shown by `coz plot`";
    builder.meta.comments.push(note.to_string());
    Ok(finished(builder)?)
}

/// The experiment that is going on: its line, and by how much it is sped up.
struct Experiment {
    stack: StackId,
    speedup: String,
}

struct CozReader {
    builder: ProfileBuilder,
    experiment: Option<Experiment>,
}

impl CozReader {
    /// Reads a line; `None` if it is malformed.
    fn line(&mut self, text: &str) -> Option<()> {
        let mut parts = text.split('\t');
        let kind = parts.next()?;
        let parts: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let part = |key: &str| parts.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
        // Durations below 0 wrap around.
        let number =
            |key: &str| part(key)?.parse::<u64>().ok().map(|number| i64::try_from(number).unwrap_or(0));
        match kind {
            "experiment" => {
                let stack = self.stack(part("selected")?);
                let speedup = part("speedup")?.to_string();
                let mut values = [0; 4];
                // JCoz, which does the same for Java, leaves it out.
                values[SELECTED] = number("selected-samples").unwrap_or(0);
                values[TIME] = number("duration")?;
                self.add(stack, &speedup, "", values);
                self.experiment = Some(Experiment { stack, speedup });
            }
            "samples" => {
                let stack = self.stack(part("location")?);
                let mut values = [0; 4];
                values[SAMPLES] = number("count")?;
                self.add(stack, "", "", values);
            }
            "throughput-point" | "progress-point" => {
                let (name, delta) = (part("name")?, number("delta")?);
                let experiment = self.experiment.as_ref()?;
                let (stack, speedup) = (experiment.stack, experiment.speedup.clone());
                let mut values = [0; 4];
                values[PROGRESS] = delta;
                self.add(stack, &speedup, name, values);
            }
            "startup" => {
                let time = number("time");
                let start = &mut self.builder.meta.time_ns;
                *start = start.or(time);
            }
            "runtime" => {
                let time = number("time")?;
                let duration = &mut self.builder.meta.duration_ns;
                *duration = Some(duration.unwrap_or(0).saturating_add(time));
            }
            "latency-point" | "shutdown" => {}
            _ => return None,
        }
        Some(())
    }

    /// The stack of `src/a.c:319`.
    fn stack(&mut self, location: &str) -> StackId {
        let (file, line) = match location.rsplit_once(':') {
            Some((file, line)) => (file, line.parse().unwrap_or(0)),
            None => (location, 0),
        };
        let base = base_name(location);
        let function = self.builder.named_function(base, file);
        let frame = self.builder.frame(Frame { function, line, ..Frame::default() });
        self.builder.stack(&[frame])
    }

    fn add(&mut self, stack: StackId, speedup: &str, point: &str, values: [i64; 4]) {
        let labels = sample_labels(&mut self.builder, |labels| {
            labels.text_if_known("speedup", speedup);
            labels.text_if_known("point", point);
        });
        self.builder.sample(stack, labels, None, &values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn experiments_have_speedups_and_progress() {
        let text = "startup\ttime=160\nexperiment\tselected=src/a.c:319\tspeedup=0.45\tduration=485\tselected-samples=32\n\
                    throughput-point\tname=main.c:12\tdelta=3\nruntime\ttime=591\nsamples\tlocation=src/a.c:102\tcount=2\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let profile = read(&mut Source::from_bytes(text.into()), options).unwrap();
        assert_eq!((profile.meta.time_ns, profile.meta.duration_ns), (Some(160), Some(591)));
        assert_eq!(
            to_notation(&profile),
            "a.c:102@src/a.c:102 2 0 0 0\na.c:319@src/a.c:319 0 0 0 3 {point=main.c:12 speedup=0.45}\n\
             a.c:319@src/a.c:319 0 32 485 0 {speedup=0.45}"
        );
    }
}
