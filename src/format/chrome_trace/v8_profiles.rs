//! V8 CPU profiles embedded in Chrome traces.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::chrome_trace::Threads;
use crate::format::chrome_trace::event::TraceEvent;
use crate::format::json::{Json, Kind};
use crate::format::threads::Thread;
use crate::format::v8::cpuprofile::CpuProfileParts;
use crate::format::v8::nodes::{OwnValues, read_flat};
use crate::format::v8::samples::{SampleWriter, declare_metrics};
use crate::format::v8::tree::V8Tree;
use crate::profile::ProfileBuilder;

/// Positions of the profiles in the text. A profile is either complete, in a `CpuProfile` event, or starts
/// with a `Profile` event and continues in `ProfileChunk` events with the same process and id. Chunks may be
/// written by another thread, and in any order.
#[derive(Default)]
pub(super) struct V8Profiles<'a> {
    profiles: Vec<V8Profile>,
    numbers: HashMap<(Cow<'a, str>, Cow<'a, str>), usize>,
}

#[derive(Default)]
struct V8Profile {
    /// The profiled thread; known once the `Profile` event has been read.
    thread: Option<usize>,
    /// In µs; `None` if the trace lacks the `Profile` event, which stores it.
    start: Option<i64>,
    end: Option<i64>,
    chunks: Vec<ProfileChunk>,
    /// The position of a profile that is not in chunks.
    whole: Option<CpuProfileParts>,
}

#[derive(Default)]
struct ProfileChunk {
    written: f64,
    nodes: Option<usize>,
    samples: Option<usize>,
    deltas: Option<usize>,
    /// The line that was running in each sample.
    lines: Option<usize>,
}

impl<'a> V8Profiles<'a> {
    /// Handles a `Profile`, `ProfileChunk` or `CpuProfile` event.
    pub(super) fn event(
        &mut self,
        event: TraceEvent<'a>,
        thread: usize,
        json: &Json,
    ) -> Result<(), ParseError> {
        let data = event.args.map_or(Ok(None), |args| member(json.at(args), "data"))?;
        if event.name == "CpuProfile" {
            let whole = data.map_or(Ok(None), |data| member(json.at(data), "cpuProfile"))?;
            let whole = whole.map(|at| CpuProfileParts::find(&mut json.at(at))).transpose()?;
            self.profiles.push(V8Profile { thread: Some(thread), whole, ..V8Profile::default() });
            return Ok(());
        }
        let number = *self.numbers.entry((event.pid, event.id)).or_insert_with(|| {
            self.profiles.push(V8Profile::default());
            self.profiles.len() - 1
        });
        let profile = &mut self.profiles[number];
        if event.name == "Profile" {
            profile.thread = Some(thread);
        }
        match data {
            Some(data) => profile.read_data(json.at(data), event.time.unwrap_or(0.0)),
            None => Ok(()),
        }
    }

    /// Whether any profile has samples: Chrome starts some profiles and stops them at once.
    pub(super) fn any_samples(&self) -> bool {
        self.profiles.iter().any(V8Profile::has_samples)
    }

    /// How many profiles lack their `Profile` event.
    fn cut(&self) -> usize {
        let is_cut = |profile: &&V8Profile| profile.whole.is_none() && profile.thread.is_none();
        self.profiles.iter().filter(|profile| profile.has_samples()).filter(is_cut).count()
    }

    /// Writes the samples of all profiles.
    pub(super) fn write(
        self,
        json: &Json,
        builder: &mut ProfileBuilder,
        threads: &Threads,
    ) -> Result<(), ParseError> {
        declare_metrics(builder);
        let cut = self.cut();
        if cut > 0 {
            let whose = if cut == 1 {
                "the start of 1 CPU profile is"
            } else {
                "the start of several CPU profiles is"
            };
            builder.warn(format!(
                "{whose} missing from the trace: functions declared there are unknown, and times are relative to the \
                 first remaining chunk"
            ));
        }
        for profile in self.profiles.into_iter().filter(V8Profile::has_samples) {
            let thread = profile.thread.map_or_else(Thread::default, |thread| threads.thread(thread));
            match &profile.whole {
                Some(whole) => whole.read_into(json, None, builder, &thread)?,
                None => profile.write(json, builder, &thread)?,
            }
        }
        Ok(())
    }
}

impl V8Profile {
    fn has_samples(&self) -> bool {
        self.whole.is_some() || self.chunks.iter().any(|chunk| chunk.samples.is_some())
    }

    /// Reads the `data` of an event. That of `Profile` may have samples as well.
    fn read_data(&mut self, mut json: Json, written: f64) -> Result<(), ParseError> {
        let mut chunk = ProfileChunk { written, ..ProfileChunk::default() };
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("startTime", Kind::Number) => self.start = Some(json.integer()?),
                ("endTime", Kind::Number) => self.end = Some(json.integer()?),
                ("timeDeltas", Kind::Array) => {
                    chunk.deltas = Some(json.position());
                    json.skip()?;
                }
                ("lines", Kind::Array) => {
                    chunk.lines = Some(json.position());
                    json.skip()?;
                }
                // Some programs that write traces themselves do not nest them in `cpuProfile`.
                ("samples", Kind::Array) => {
                    chunk.samples = Some(json.position());
                    json.skip()?;
                }
                ("nodes", Kind::Array) => {
                    chunk.nodes = Some(json.position());
                    json.skip()?;
                }
                ("cpuProfile", Kind::Object) => {
                    json.object()?;
                    while let Some(key) = json.key()? {
                        let at = Some(json.position());
                        match (&*key, json.kind()?) {
                            ("nodes", Kind::Array) => chunk.nodes = at,
                            ("samples", Kind::Array) => chunk.samples = at,
                            ("timeDeltas", Kind::Array) => chunk.deltas = at,
                            _ => {}
                        }
                        json.skip()?;
                    }
                }
                _ => json.skip()?,
            }
        }
        self.chunks.push(chunk);
        Ok(())
    }

    fn write(mut self, json: &Json, builder: &mut ProfileBuilder, thread: &Thread) -> Result<(), ParseError> {
        self.chunks.sort_by(|one, other| one.written.total_cmp(&other.written));
        let mut tree = V8Tree::default();
        let mut hits = OwnValues::new();
        for nodes in self.chunks.iter().filter_map(|chunk| chunk.nodes) {
            read_flat(&mut json.at(nodes), builder, &mut tree, &mut hits)?;
        }
        tree.link();
        let start = self.start.map_or_else(|| self.start_by_first_chunk(json), Ok)?;
        let mut writer = SampleWriter::new(start).labelled(thread, builder);
        let mut moment = start;
        for chunk in &self.chunks {
            let Some(samples) = chunk.samples else { continue };
            let mut samples = json.at(samples);
            let mut deltas = Numbers::new(json, chunk.deltas)?;
            let mut lines = Numbers::new(json, chunk.lines)?;
            samples.array()?;
            while samples.element()? {
                moment = moment.saturating_add(deltas.next()?.unwrap_or(0));
                let line = u32::try_from(lines.next()?.unwrap_or(0)).unwrap_or(0);
                writer.sample(builder, &mut tree, (samples.integer()?, line), moment)?;
            }
        }
        writer.finish(builder, self.end);
        Ok(())
    }

    /// Estimates the start of a profile whose `Profile` event is missing, for example because the trace
    /// buffer was too small. The first remaining chunk was written right after its last sample. Timestamps
    /// count from boot, so a profile that started at 0 would last for days.
    fn start_by_first_chunk(&self, json: &Json) -> Result<i64, ParseError> {
        let Some(first) = self.chunks.iter().find(|chunk| chunk.samples.is_some()) else { return Ok(0) };
        let mut passed = 0_i64;
        if let Some(deltas) = first.deltas {
            let mut deltas = json.at(deltas);
            deltas.array()?;
            while deltas.element()? {
                passed = passed.saturating_add(deltas.integer()?);
            }
        }
        Ok((first.written as i64).saturating_sub(passed))
    }
}

/// An array of numbers that a chunk may have next to its samples, and that may be shorter.
struct Numbers<'a>(Option<Json<'a>>);

impl<'a> Numbers<'a> {
    fn new(json: &Json<'a>, at: Option<usize>) -> Result<Self, ParseError> {
        let mut array = at.map(|at| json.at(at));
        if let Some(array) = &mut array {
            array.array()?;
        }
        Ok(Numbers(array))
    }

    /// The next number; `None` after the last.
    fn next(&mut self) -> Result<Option<i64>, ParseError> {
        let Some(array) = &mut self.0 else { return Ok(None) };
        if array.element()? {
            return array.integer().map(Some);
        }
        self.0 = None;
        Ok(None)
    }
}

/// The position of the member `name`, if that member is an object.
fn member(mut json: Json, name: &str) -> Result<Option<usize>, ParseError> {
    if json.object_if_any()? {
        while let Some(key) = json.key()? {
            if key == name && json.kind()? == Kind::Object {
                return Ok(Some(json.position()));
            }
            json.skip()?;
        }
    }
    Ok(None)
}
