//! Samples stored next to the events of a trace, as written by Hermes.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::chrome_trace::{ThreadKey, Threads};
use crate::format::decimals::Decimals;
use crate::format::json::Json;
use crate::format::numbering::Numbering;
use crate::format::v8::call_frame::CallFrame;
use crate::format::v8::samples::{SampleWriter, declare_metrics};
use crate::format::v8::tree::V8Tree;
use crate::profile::{FrameId, ProfileBuilder};

/// Adds the `samples`, whose `sf` refers to `stackFrames`. As in V8 CPU profiles, a sample lasts until the
/// next sample of its thread. Where samples have weights, these are a metric that is called like what was sampled.
pub(super) fn write(
    mut samples: Json,
    mut frames: Json,
    builder: &mut ProfileBuilder,
    threads: &Threads,
) -> Result<(), ParseError> {
    declare_metrics(builder);
    let mut tree = V8Tree::default();
    frames.object()?;
    while let Some(number) = frames.key()? {
        let number = number.parse().map_err(|_| frames.error("stack frame id is not a number"))?;
        read_frame(&mut frames, number, &mut tree, builder)?;
    }
    tree.link();
    let mut order: Vec<ThreadKey> = Vec::new();
    let mut by_thread: HashMap<ThreadKey, Vec<Sample>> = HashMap::new();
    let mut weights = Weights::default();
    samples.array()?;
    while samples.element()? {
        let (key, sample) = read_sample(&mut samples, &mut weights)?;
        let of_thread = by_thread.entry(key).or_insert_with_key(|key| {
            order.push(key.clone());
            Vec::new()
        });
        of_thread.push(sample);
    }
    let mut metrics = weights.declare(builder);
    for sample in by_thread.values().flatten() {
        metrics.keep(builder, sample);
    }
    for key in order {
        let mut of_thread = by_thread.remove(&key).unwrap_or_default();
        of_thread.sort_by_key(|sample| sample.moment);
        let mut writer = SampleWriter::new(0).labelled(&threads.thread_of(&key), builder);
        for sample in of_thread {
            writer.sample(builder, &mut tree, (sample.node, 0), sample.moment)?;
            metrics.set(builder, &sample, &mut writer);
        }
        writer.finish(builder, None);
    }
    Ok(())
}

/// A sample of `samples`.
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

impl Weights<'_> {
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

fn read_sample<'a>(
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
            "sf" => sample.node = json.number_if_any()?.unwrap_or(-1.0) as i64,
            _ => json.skip()?,
        }
    }
    sample.event = weights.numbers.number(event, |event| weights.events.push(event.clone()));
    weights.any |= (sample.weight - 1.0).abs() > f64::EPSILON;
    Ok((key, sample))
}

fn read_frame(
    json: &mut Json,
    number: i64,
    tree: &mut V8Tree,
    builder: &mut ProfileBuilder,
) -> Result<(), ParseError> {
    let node = tree.node(None);
    tree.number(node, number);
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
                if let Some(parent) = json.number_if_any()? {
                    tree.parent(node, parent as i64);
                }
            }
            _ => json.skip()?,
        }
    }
    tree.set_frame(node, frame(&name, &category, definition, builder));
    Ok(())
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
