//! Reads the JSON format of stackprof, a sampling profiler for Ruby.
//!
//! ```text
//! {"mode": "wall", "interval": 1000, "samples": 3, "frames": {"701": {"name": "main", "file": "a.rb", "line": 1, …}, …},
//!  "raw": [2, 701, 702, 3, …], "raw_lines": [2, 1, 7, 3, …], "raw_timestamp_deltas": [1012, 998, 1003, …]}
//! ```
//!
//! `raw` is a list of stacks: the number of frames, the frames from the root, and the number of consecutive
//! samples with that stack. It is only present if recording was started with `raw: true`. Other files have no stacks, but
//! the samples of each function (`samples`, and `total_samples` with its callees) and of its calls (`edges`).

use hashbrown::HashMap;

use crate::format::json::{self, Json, Kind};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{
    Frame, FrameId, FunctionId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder, StackId,
};
use crate::unit::{group_thousands, plural};

/// The entry in the list of readable formats.
pub(super) static STACKPROF: Format = Format { name: NAME, title: "stackprof", sniff, read };

const NAME: &str = "stackprof";

/// The first bytes of Ruby's `Marshal` format: version 4.8 and the type tag of a hash.
const MARSHAL: &[u8] = b"\x04\x08{";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    // The frames may fill the whole head, which then does not include `raw`.
    if json::has(&keys, &["mode", "interval", "frames"]) {
        Confidence::Certain
    } else if head.starts_with(MARSHAL) && json::mentions(head, "gc_samples") {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    if text.starts_with(MARSHAL) {
        let message =
            "this is Ruby's binary Marshal format; convert it with `stackprof --json FILE > FILE.json`";
        return Err(ParseError::whole(NAME, message).into());
    }
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut json = Json::new(NAME, &text);
    let parts = StackprofParts::find(&mut json)?;
    json.end()?;
    parts.write(&json, &mut builder)?;
    // Of objects, those between two samples count as missed.
    if parts.missed > 0 && parts.mode != "object" {
        let samples = plural(parts.missed.unsigned_abs(), "sample was", "samples were");
        builder.meta.faults.lost = parts.missed.unsigned_abs();
        let missed = group_thousands(parts.missed.into());
        builder.meta.warn_of_fault(format!("{missed} {samples} missed by the recorder"));
    }
    Ok(finished(builder)?)
}

/// Positions of the parts of a profile in the text.
#[derive(Default)]
struct StackprofParts {
    mode: String,
    interval: i64,
    /// How many samples the recorder could not take.
    missed: i64,
    frames: Option<usize>,
    raw: Option<usize>,
    lines: Option<usize>,
    deltas: Option<usize>,
    stamps: Option<usize>,
}

/// The value of a sample, in addition to a count of 1.
#[derive(Clone, Copy, PartialEq)]
enum Worth {
    /// The microseconds that passed before it.
    Passed,
    /// The sampling interval.
    Interval,
    /// No other value.
    Nothing,
}

/// The newest version of the format.
const NEWEST: f64 = 1.2;

/// Checks the version that comes next, and does not move past it.
fn check_version(json: &Json) -> Result<(), ParseError> {
    let version = json.clone().number()?;
    if version > NEWEST {
        let message = format!("version {version} is newer than {NEWEST}, the newest that prof supports");
        return Err(json.error(message));
    }
    Ok(())
}

impl StackprofParts {
    fn find(json: &mut Json) -> Result<StackprofParts, ParseError> {
        let mut parts = StackprofParts::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let at = Some(json.position());
            match (&*key, json.kind()?) {
                ("version", Kind::Number) => check_version(json)?,
                ("mode", Kind::String) => parts.mode = json.clone().string()?.into_owned(),
                ("interval", Kind::Number) => parts.interval = json.clone().integer()?,
                ("missed_samples", Kind::Number) => parts.missed = json.clone().integer()?,
                ("frames", Kind::Object) => parts.frames = at,
                ("raw", Kind::Array) => parts.raw = at,
                ("raw_lines", Kind::Array) => parts.lines = at,
                ("raw_timestamp_deltas", Kind::Array) => parts.deltas = at,
                ("raw_sample_timestamps", Kind::Array) => parts.stamps = at,
                _ => {}
            }
            json.skip()?;
        }
        Ok(parts)
    }

    fn write(&self, json: &Json, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        let frames = self.frames.ok_or_else(|| ParseError::whole(NAME, "missing `frames`"))?;
        let functions = read_frames(&mut json.at(frames), builder)?;
        let Some(raw) = self.raw else {
            self.declare_metrics(builder);
            return self.write_calls(json.at(frames), &functions, builder);
        };
        let worth = self.declare_metrics(builder);
        let column = |at: Option<usize>| {
            at.map(|at| {
                let mut json = json.at(at);
                json.array().map(|()| json)
            })
            .transpose()
        };
        if self.stamps.is_some() {
            builder.skipped_times();
        }
        let mut raw = RawColumns {
            stacks: json.at(raw),
            lines: column(self.lines)?,
            deltas: column(self.deltas.filter(|_| worth == Worth::Passed))?,
            stamps: column(self.stamps.filter(|_| builder.options().times))?,
            functions,
            interval: self.interval,
            worth,
        };
        raw.stacks.array()?;
        while raw.stack(builder)? {}
        Ok(())
    }

    /// Writes the samples of functions and calls, of a file without stacks.
    fn write_calls(
        &self,
        mut json: Json,
        functions: &HashMap<i64, FunctionId>,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        let has_worth = builder.meta.metrics.len() > 1;
        let values = |samples: i64| -> Vec<i64> {
            let worth = samples.saturating_mul(self.interval);
            if has_worth { vec![samples, worth] } else { vec![samples] }
        };
        json.object()?;
        while let Some(key) = json.key()? {
            let function = known(functions, &key, &json)?;
            let (mut own, mut total) = (0, 0);
            json.object()?;
            while let Some(key) = json.key()? {
                match &*key {
                    "samples" => own = samples(&mut json)?,
                    "total_samples" => total = samples(&mut json)?,
                    "edges" => {
                        let has_edges = json.object_if_any()?;
                        while let Some(callee) = if has_edges { json.key()? } else { None } {
                            let callee = known(functions, &callee, &json)?;
                            builder.call_edge(function, callee, None, &values(samples(&mut json)?));
                        }
                    }
                    _ => json.skip()?,
                }
            }
            builder.call_node(function, &values(own));
            builder.call_total(function, &values(total));
        }
        Ok(())
    }

    /// Declares the metrics of the mode, with the default metric last.
    fn declare_metrics(&self, builder: &mut ProfileBuilder) -> Worth {
        builder.metric("samples", "count");
        let (worth, name, unit) = match &*self.mode {
            "cpu" => (Worth::Interval, "cpu", "microseconds"),
            "wall" if self.deltas.is_some() => (Worth::Passed, "wall", "microseconds"),
            "wall" => (Worth::Interval, "wall", "microseconds"),
            "object" => (Worth::Interval, "alloc_objects", "count"),
            _ => return Worth::Nothing,
        };
        builder.meta.default_metric = builder.metric(name, unit);
        if self.interval > 0 {
            builder.meta.period = Some(Period { name: name.into(), unit: unit.into(), value: self.interval });
        }
        worth
    }
}

/// The columns of the stacks, read in parallel.
struct RawColumns<'a> {
    stacks: Json<'a>,
    lines: Option<Json<'a>>,
    deltas: Option<Json<'a>>,
    stamps: Option<Json<'a>>,
    functions: HashMap<i64, FunctionId>,
    interval: i64,
    worth: Worth,
}

impl RawColumns<'_> {
    /// Reads one stack and adds its samples; returns false at the end.
    fn stack(&mut self, builder: &mut ProfileBuilder) -> Result<bool, ParseError> {
        if !self.stacks.element()? {
            return Ok(false);
        }
        let height = self.stacks.integer()?;
        next(&mut self.lines)?;
        let mut frames: Vec<FrameId> = Vec::new();
        for _ in 0..height {
            let number = self.number()?;
            let line = next(&mut self.lines)?.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
            let function = self.functions.get(&number).copied();
            let function = function.ok_or_else(|| self.stacks.error("frame id is not in `frames`"))?;
            frames.push(builder.frame(Frame { function, line, ..Frame::default() }));
        }
        let count = self.number()?;
        next(&mut self.lines)?;
        let stack = builder.stack(&frames);
        let mut left = count;
        while left > 0 && (self.deltas.is_some() || self.stamps.is_some()) {
            // stackprof's timestamps are µs of the monotonic clock.
            let time = next(&mut self.stamps)?.map(|stamp| stamp.saturating_mul(1000));
            let passed = next(&mut self.deltas)?;
            self.check_time(passed)?;
            self.write(builder, stack, time, 1, passed.unwrap_or(self.interval));
            left -= 1;
        }
        if left > 0 {
            self.check_time(None)?;
            self.write(builder, stack, None, left, left.saturating_mul(self.interval));
        }
        Ok(true)
    }

    fn write(&self, builder: &mut ProfileBuilder, stack: StackId, time: Option<i64>, count: i64, worth: i64) {
        let values = [count, worth];
        let metrics = if self.worth == Worth::Nothing { 1 } else { 2 };
        builder.sample(stack, LabelSetId::default(), time, &values[..metrics]);
    }

    fn check_time(&self, passed: Option<i64>) -> Result<(), ParseError> {
        if self.worth == Worth::Passed && passed.is_none() {
            return Err(self.stacks.error("fewer timestamps than samples"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<i64, ParseError> {
        if !self.stacks.element()? {
            return Err(self.stacks.error("`raw` ends within a stack"));
        }
        self.stacks.integer()
    }
}

/// The function of an id, which is a key.
fn known(functions: &HashMap<i64, FunctionId>, key: &str, json: &Json) -> Result<FunctionId, ParseError> {
    let function = key.parse().ok().and_then(|number: i64| functions.get(&number).copied());
    function.ok_or_else(|| json.error("frame id is not in `frames`"))
}

/// How many samples something has.
fn samples(json: &mut Json) -> Result<i64, ParseError> {
    let count = json.integer()?;
    if count < 0 { Err(json.error("a number of samples is negative")) } else { Ok(count) }
}

/// The next number of a column that may be missing or too short.
fn next(column: &mut Option<Json>) -> Result<Option<i64>, ParseError> {
    let Some(json) = column else { return Ok(None) };
    if !json.element()? {
        *column = None;
        return Ok(None);
    }
    if json.null()? { Ok(None) } else { json.integer().map(Some) }
}

fn read_frames(
    json: &mut Json,
    builder: &mut ProfileBuilder,
) -> Result<HashMap<i64, FunctionId>, ParseError> {
    let mut functions = HashMap::new();
    json.object()?;
    while let Some(key) = json.key()? {
        let number = key.parse().map_err(|_| json.error(format!("frame id `{key}` is not a number")))?;
        functions.insert(number, read_function(json, builder)?);
    }
    Ok(functions)
}

fn read_function(json: &mut Json, builder: &mut ProfileBuilder) -> Result<FunctionId, ParseError> {
    let (mut name, mut file, mut line) = (None, None, 0);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?,
            "file" => file = json.text_if_any()?,
            "line" => line = json.number_if_any()?.map_or(0, |line| line as u32),
            _ => json.skip()?,
        }
    }
    let (name, file) = (name.unwrap_or_default(), file.unwrap_or_default());
    let name = if name.is_empty() { "<unknown>" } else { &*name };
    Ok(builder.script_function(name, &file, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const TEXT: &str = r#"{"version": 1.2, "mode": "wall", "interval": 1000, "samples": 3, "gc_samples": 0,
        "frames": {"7": {"name": "main", "file": "a.rb", "line": 1, "edges": {"8": 3}}, "8": {"name": null, "file": "", "line": null}},
        "raw": [2, 7, 8, 2, 1, 7, 1], "raw_lines": [2, 5, 0, 2, 1, 6, 1], "raw_timestamp_deltas": [1010, 990, 1001]}"#;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert!(sniff(text.as_bytes()) >= Confidence::Likely);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn stacks_are_followed_by_their_sample_counts() {
        let profile = load(TEXT).unwrap();
        assert_eq!(to_notation(&profile), "main@a.rb:5;<unknown> 2 2000\nmain@a.rb:6 1 1001");
        assert_eq!(profile.meta.default_metric, 1);
        let cpu = load(&TEXT.replace("wall", "cpu")).unwrap();
        assert_eq!(to_notation(&cpu), "main@a.rb:5;<unknown> 2 2000\nmain@a.rb:6 1 1000");
        let custom = load(&TEXT.replace("wall", "custom")).unwrap();
        assert_eq!(to_notation(&custom), "main@a.rb:5;<unknown> 2\nmain@a.rb:6 1");
    }

    #[test]
    fn samples_that_were_missed_are_told() {
        let meta = load(&TEXT.replace("\"gc_samples\": 0", "\"missed_samples\": 232")).unwrap().meta;
        assert_eq!(
            (meta.faults.lost, meta.warnings),
            (232, vec!["232 samples were missed by the recorder".to_string()])
        );
        assert_eq!(load(&TEXT.replace("gc_samples", "missed_samples")).unwrap().meta.warnings, [""; 0]);
        let objects = TEXT.replace("\"gc_samples\": 0", "\"missed_samples\": 9").replace("wall", "object");
        assert_eq!(load(&objects).unwrap().meta.warnings, [""; 0]);
    }

    #[test]
    fn files_without_stacks_have_calls() {
        let text = r#"{"version": 1.2, "mode": "cpu", "interval": 1000, "samples": 3, "frames": {
            "7": {"name": "main", "file": "a.rb", "line": 1, "total_samples": 3, "samples": 1, "edges": {"8": 2}, "lines": {"2": [3, 1]}},
            "8": {"name": "f", "file": "a.rb", "line": 5, "total_samples": 2, "samples": 2}}}"#;
        let profile = load(text).unwrap();
        let calls = profile.calls.as_ref().unwrap();
        let columns = [&calls.self_values[1], &calls.totals[1]];
        let columns = columns.map(|column| column.iter().copied().collect::<Vec<i64>>());
        assert_eq!((columns, &calls.edge_values[1]), ([vec![1000, 2000], vec![3000, 2000]], &vec![2000]));
        assert_eq!(profile.meta.metrics[0].total, 3);
        let error = load(&text.replace("{\"8\": 2}", "{\"9\": 2}")).unwrap_err().to_string();
        assert!(error.contains("frame id is not in `frames`"), "{error}");
        let error = load(&text.replace("\"samples\": 2", "\"samples\": -2")).unwrap_err().to_string();
        assert!(error.contains("a number of samples is negative"), "{error}");
    }

    #[test]
    fn unreadable_files_are_rejected_with_advice() {
        let error = load("\u{4}\u{8}{\u{e}:\u{c}version:\u{f}gc_samples").unwrap_err().to_string();
        assert!(error.contains("stackprof --json"), "{error}");
        let error = load(&TEXT.replace("1010, 990, 1001", "1")).unwrap_err().to_string();
        assert!(error.contains("fewer timestamps than samples"), "{error}");
    }

    #[test]
    fn newer_versions_are_rejected() {
        let error = load(&TEXT.replace("\"version\": 1.2", "\"version\": 1.3")).unwrap_err().to_string();
        assert_eq!(
            error,
            "stackprof: version 1.3 is newer than 1.2, the newest that prof supports (byte 12)"
        );
    }
}
