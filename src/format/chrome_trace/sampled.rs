//! Samples of a trace whose stacks are next to its events.
//!
//! ```text
//! {"traceEvents": [{"ph": "P", "name": "sample", "pid": 1, "tid": 10, "ts": 350, "sf": "2"}],
//!  "samples": [{"pid": 1, "tid": 10, "ts": 450, "sf": "1", "weight": 1}],
//!  "stackFrames": {"1": {"name": "main"}, "2": {"name": "parse", "parent": "1"}}}
//! ```
//!
//! Hermes writes `samples`; events are the older form.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::chrome_trace::event::TraceEvent;
use crate::format::chrome_trace::{ThreadKey, Threads};
use crate::format::decimals::Decimals;
use crate::format::json::Json;
use crate::format::numbering::Numbering;
use crate::format::v8::call_frame::CallFrame;
use crate::format::v8::samples::{SampleWriter, declare_metrics};
use crate::format::v8::tree::V8Tree;
use crate::profile::{FrameId, ProfileBuilder};
use crate::unit::{group_thousands, plural};

/// The samples of a trace: those of the list `samples`, and those that are events.
#[derive(Default)]
pub(super) struct Samples<'a> {
    /// The position of `samples`.
    pub(super) listed: Option<usize>,
    /// The position of `stackFrames`.
    pub(super) frames: Option<usize>,
    /// The numbers of the ids of stacks, which are any text: `1`, or `12:5` in traces of several processes.
    ids: Numbering<Cow<'a, str>>,
    /// The samples that are events, each with the number of its thread.
    events: Vec<(usize, Sample)>,
}

impl<'a> Samples<'a> {
    /// Adds a sample that is an event.
    pub(super) fn event(&mut self, event: TraceEvent<'a>, thread: usize) {
        let node = self.number(event.stack);
        let moment = event.time.unwrap_or(0.0) as i64;
        self.events.push((thread, Sample { moment, node, event: 0, weight: 1.0 }));
    }

    /// Whether the trace has samples and their stacks.
    pub(super) fn are_any(&self) -> bool {
        self.frames.is_some() && (self.listed.is_some() || !self.events.is_empty())
    }

    /// A warning about samples that are events and are not shown.
    pub(super) fn left_out(&self, why: &str) -> Option<String> {
        let count = self.events.len();
        let events = plural(count as u64, "sample event is", "sample events are");
        (count > 0).then(|| format!("{} {events} left out, {why}", group_thousands(count as i128)))
    }

    fn number(&mut self, id: Cow<'a, str>) -> i64 {
        self.ids.number(id, |_| ()).into()
    }

    /// Adds the samples, whose `sf` refers to `stackFrames`. As in V8 CPU profiles, a sample lasts until the
    /// next sample of its thread. Where samples have weights, these are a metric that is called like what was sampled.
    pub(super) fn write(
        mut self,
        json: &Json<'a>,
        builder: &mut ProfileBuilder,
        threads: &Threads<'a>,
    ) -> Result<(), ParseError> {
        declare_metrics(builder);
        let mut tree = self.read_frames(json, builder)?;
        let mut weights = Weights::default();
        let mut by_thread = self.by_thread(json, &mut weights, threads)?;
        let mut metrics = weights.declare(builder);
        for (_, of_thread) in &mut by_thread {
            for sample in of_thread.iter() {
                metrics.keep(builder, sample);
            }
            of_thread.sort_by_key(|sample| sample.moment);
        }
        for (key, of_thread) in by_thread {
            let mut writer = SampleWriter::new(0).labelled(&threads.thread_of(&key), builder);
            for sample in of_thread {
                writer.sample(builder, &mut tree, (sample.node, 0), sample.moment)?;
                metrics.set(builder, &sample, &mut writer);
            }
            writer.finish(builder, None);
        }
        Ok(())
    }

    fn read_frames(
        &mut self,
        json: &Json<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<V8Tree<'a>, ParseError> {
        let mut tree = V8Tree::default();
        let Some(mut frames) = self.frames.map(|at| json.at(at)) else { return Ok(tree) };
        frames.object()?;
        while let Some(id) = frames.key()? {
            self.read_frame(&mut frames, id, &mut tree, builder)?;
        }
        tree.link();
        Ok(tree)
    }

    /// The samples of each thread, in order of first appearance.
    fn by_thread(
        &mut self,
        json: &Json<'a>,
        weights: &mut Weights<'a>,
        threads: &Threads<'a>,
    ) -> Result<Vec<(ThreadKey<'a>, Vec<Sample>)>, ParseError> {
        let mut found: Vec<(ThreadKey, Vec<Sample>)> = Vec::new();
        let mut numbers: Numbering<ThreadKey> = Numbering::default();
        let mut add = |key: ThreadKey<'a>, sample| {
            let number = numbers.number(key, |key| found.push((key.clone(), Vec::new())));
            found[number as usize].1.push(sample);
        };
        if let Some(mut listed) = self.listed.map(|at| json.at(at)) {
            listed.array()?;
            while listed.element()? {
                let (key, sample) = self.read_sample(&mut listed, weights)?;
                add(key, sample);
            }
        }
        if !self.events.is_empty() {
            let event = weights.number(Cow::default());
            for (thread, sample) in std::mem::take(&mut self.events) {
                add(threads.keys[thread].clone(), Sample { event, ..sample });
            }
        }
        Ok(found)
    }

    fn read_sample(
        &mut self,
        json: &mut Json<'a>,
        weights: &mut Weights<'a>,
    ) -> Result<(ThreadKey<'a>, Sample), ParseError> {
        let mut key = ThreadKey::default();
        let mut sample = Sample { moment: 0, node: -1, event: 0, weight: 1.0 };
        let mut event = Cow::default();
        json.object()?;
        while let Some(member) = json.key()? {
            match &*member {
                "pid" => key.0 = json.text_if_any()?.unwrap_or_default(),
                "tid" => key.1 = json.text_if_any()?.unwrap_or_default(),
                "name" => event = json.text_if_any()?.unwrap_or_default(),
                "weight" => sample.weight = json.number_if_any()?.unwrap_or(1.0),
                "ts" => sample.moment = json.number_if_any()?.unwrap_or(0.0) as i64,
                "sf" => sample.node = json.text_if_any()?.map_or(-1, |id| self.number(id)),
                _ => json.skip()?,
            }
        }
        sample.event = weights.number(event);
        weights.any |= (sample.weight - 1.0).abs() > f64::EPSILON;
        Ok((key, sample))
    }

    fn read_frame(
        &mut self,
        json: &mut Json<'a>,
        id: Cow<'a, str>,
        tree: &mut V8Tree,
        builder: &mut ProfileBuilder,
    ) -> Result<(), ParseError> {
        let node = tree.node(None);
        tree.number(node, self.number(id));
        let (mut name, mut category) = Default::default();
        let mut definition = (0, 0);
        let number = |json: &mut Json| json.text_if_any().map(|text| text.and_then(|text| text.parse().ok()));
        json.object()?;
        while let Some(key) = json.key()? {
            match &*key {
                "name" => name = json.text_if_any()?.unwrap_or_default(),
                "category" => category = json.text_if_any()?.unwrap_or_default(),
                "funcLine" => definition.0 = number(json)?.unwrap_or(0),
                "funcColumn" => definition.1 = number(json)?.unwrap_or(0),
                "parent" => {
                    if let Some(parent) = json.text_if_any()? {
                        tree.parent(node, self.number(parent));
                    }
                }
                _ => json.skip()?,
            }
        }
        tree.set_frame(node, frame(&name, &category, definition, builder));
        Ok(())
    }
}

/// A sample.
struct Sample {
    /// In µs.
    moment: i64,
    node: i64,
    /// The number of what was sampled, among those of [`Weights`].
    event: u32,
    weight: f64,
}

/// What was sampled, and whether any weight is not 1.
#[derive(Default)]
struct Weights<'a> {
    events: Vec<Cow<'a, str>>,
    numbers: Numbering<Cow<'a, str>>,
    any: bool,
}

impl<'a> Weights<'a> {
    fn number(&mut self, event: Cow<'a, str>) -> u32 {
        self.numbers.number(event, |event| self.events.push(event.clone()))
    }

    /// Declares a metric for each event if the weights say more than the number of samples does.
    fn declare(&self, builder: &mut ProfileBuilder) -> Metrics {
        let events = if self.any { &self.events[..] } else { &[] };
        let name = |event: &str| if event.is_empty() { "weight".to_string() } else { event.to_string() };
        let of_events: Vec<usize> =
            events.iter().map(|event| builder.metric(&name(event), "count")).collect();
        if let Some(&first) = of_events.first() {
            builder.meta.default_metric = first;
        }
        Metrics { of_events, decimals: Decimals::default() }
    }
}

/// The metrics of the weights; none if all weights are 1.
struct Metrics {
    of_events: Vec<usize>,
    decimals: Decimals,
}

impl Metrics {
    /// Raises the divisor of the sample's metric to fit its weight.
    fn keep(&mut self, builder: &mut ProfileBuilder, sample: &Sample) {
        if let Some(&metric) = self.of_events.get(sample.event as usize) {
            self.decimals.keep(builder, metric, sample.weight);
        }
    }

    fn set(&mut self, builder: &mut ProfileBuilder, sample: &Sample, writer: &mut SampleWriter) {
        if let Some(&metric) = self.of_events.get(sample.event as usize) {
            writer.set(metric, self.decimals.integer(builder, metric, sample.weight));
        }
    }
}

/// Parses `function1(http://localhost/index.bundle:17:3)` or a plain name into a frame. The place in the name is the one that was
/// running, such as a call; newer versions of Hermes also say at which line and column the function is defined.
fn frame(
    name: &str,
    category: &str,
    definition: (u32, u32),
    builder: &mut ProfileBuilder,
) -> Option<FrameId> {
    let is_script = category == "JavaScript" && name.ends_with(')');
    let split = name.find('(').filter(|_| is_script).and_then(|at| {
        let mut parts = name[at + 1..name.len() - 1].rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (name, url) = (name[..at].into(), parts.next()?.into());
        let (line, column) = if definition.0 > 0 { definition } else { (line, column) };
        Some(CallFrame { name, url, line, column, is_native: false })
    });
    split.unwrap_or_else(|| CallFrame { name: name.into(), ..CallFrame::default() }).frame(builder)
}
