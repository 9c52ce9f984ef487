//! The CPU profiles that V8 puts into Chrome's traces.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::chrome_trace::Threads;
use crate::format::chrome_trace::event::Event;
use crate::format::json::{Json, Kind};
use crate::format::threads::Thread;
use crate::format::v8::cpuprofile::Parts;
use crate::format::v8::nodes::{OwnValues, read_flat};
use crate::format::v8::samples::{SampleWriter, declare_metrics};
use crate::format::v8::tree::Tree;
use crate::profile::ProfileBuilder;

/// Where in the text the profiles are. A profile is either whole, in an event `CpuProfile`, or
/// starts with an event `Profile` and goes on in events `ProfileChunk` of the same process and id,
/// which another thread may write, and in any order.
#[derive(Default)]
pub(super) struct V8Profiles<'a> {
    profiles: Vec<V8Profile>,
    numbers: HashMap<(Cow<'a, str>, Cow<'a, str>), usize>,
}

#[derive(Default)]
struct V8Profile {
    /// The thread that was profiled, where the event `Profile` has come.
    thread: Option<usize>,
    /// In µs; `None` where the event `Profile`, which has it, is not in the trace.
    start: Option<i64>,
    end: Option<i64>,
    chunks: Vec<Chunk>,
    /// A profile that is not in chunks.
    whole: Option<Parts>,
}

#[derive(Default)]
struct Chunk {
    written: f64,
    nodes: Option<usize>,
    samples: Option<usize>,
    deltas: Option<usize>,
}

impl<'a> V8Profiles<'a> {
    /// Takes an event `Profile`, `ProfileChunk` or `CpuProfile`.
    pub(super) fn event(&mut self, event: Event<'a>, thread: usize, json: &Json) -> Result<(), ParseError> {
        let data = event.args.map_or(Ok(None), |args| member(json.at(args), "data"))?;
        if event.name == "CpuProfile" {
            let whole = data.map_or(Ok(None), |data| member(json.at(data), "cpuProfile"))?;
            let whole = whole.map(|at| Parts::find(&mut json.at(at))).transpose()?;
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

    /// Whether any of the profiles has samples: Chrome starts some that it ends right away.
    pub(super) fn any_samples(&self) -> bool {
        self.profiles.iter().any(V8Profile::has_samples)
    }

    /// Writes the samples of all profiles.
    pub(super) fn write(
        self,
        json: &Json,
        builder: &mut ProfileBuilder,
        threads: &Threads,
    ) -> Result<(), ParseError> {
        declare_metrics(builder);
        let is_cut = |profile: &&V8Profile| profile.whole.is_none() && profile.start.is_none();
        let cut = self.profiles.iter().filter(|profile| profile.has_samples()).filter(is_cut).count();
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
                Some(whole) => whole.write(json, builder, &thread)?,
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
        let mut chunk = Chunk { written, ..Chunk::default() };
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("startTime", Kind::Number) => self.start = Some(json.integer()?),
                ("endTime", Kind::Number) => self.end = Some(json.integer()?),
                ("timeDeltas", Kind::Array) => {
                    chunk.deltas = Some(json.position());
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
        let mut tree = Tree::default();
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
            let mut deltas = chunk.deltas.map(|at| json.at(at));
            if let Some(deltas) = &mut deltas {
                deltas.array()?;
            }
            samples.array()?;
            while samples.element()? {
                if let Some(json) = &mut deltas {
                    if json.element()? {
                        moment = moment.saturating_add(json.integer()?);
                    } else {
                        deltas = None;
                    }
                }
                writer.sample(builder, &mut tree, samples.integer()?, moment)?;
            }
        }
        writer.finish(builder, self.end);
        Ok(())
    }

    /// Where the start of a profile is not in the trace, as when the trace's buffer was too small: the first
    /// chunk that is there was written right after the last of its samples. All times of a trace count from
    /// when the machine started, so a profile that started at 0 would last for days.
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

/// Where the member `name` of an object is, if it is an object.
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
