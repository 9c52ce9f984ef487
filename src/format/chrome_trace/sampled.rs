//! Samples stored next to the events of a trace, as written by Hermes.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::chrome_trace::{ThreadKey, Threads};
use crate::format::json::Json;
use crate::format::v8::call_frame::CallFrame;
use crate::format::v8::samples::{SampleWriter, declare_metrics};
use crate::format::v8::tree::V8Tree;
use crate::profile::{FrameId, ProfileBuilder};

/// Adds the `samples`, whose `sf` refers to `stackFrames`. As in V8 CPU profiles, a sample lasts until the
/// next sample of its thread.
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
    let mut by_thread: HashMap<ThreadKey, Vec<(i64, i64)>> = HashMap::new();
    samples.array()?;
    while samples.element()? {
        let (key, moment, node) = read_sample(&mut samples)?;
        let of_thread = by_thread.entry(key).or_insert_with_key(|key| {
            order.push(key.clone());
            Vec::new()
        });
        of_thread.push((moment, node));
    }
    for key in order {
        let mut of_thread = by_thread.remove(&key).unwrap_or_default();
        of_thread.sort_by_key(|&(moment, _)| moment);
        let mut writer = SampleWriter::new(0).labelled(&threads.thread_of(&key), builder);
        for (moment, node) in of_thread {
            writer.sample(builder, &mut tree, (node, 0), moment)?;
        }
        writer.finish(builder, None);
    }
    Ok(())
}

fn read_sample<'a>(json: &mut Json<'a>) -> Result<(ThreadKey<'a>, i64, i64), ParseError> {
    let (mut key, mut moment, mut node) = (ThreadKey::default(), 0, -1);
    json.object()?;
    while let Some(member) = json.key()? {
        match &*member {
            "pid" => key.0 = json.text_if_any()?.unwrap_or_default(),
            "tid" => key.1 = json.text_if_any()?.unwrap_or_default(),
            "ts" => moment = json.number_if_any()?.unwrap_or(0.0) as i64,
            "sf" => node = json.number_if_any()?.unwrap_or(-1.0) as i64,
            _ => json.skip()?,
        }
    }
    Ok((key, moment, node))
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
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?.unwrap_or_default(),
            "category" => category = json.text_if_any()?.unwrap_or_default(),
            "parent" => {
                if let Some(parent) = json.number_if_any()? {
                    tree.parent(node, parent as i64);
                }
            }
            _ => json.skip()?,
        }
    }
    tree.set_frame(node, frame(&name, &category, builder));
    Ok(())
}

/// Parses `function1(http://localhost/index.bundle:17:3)` or a plain name into a frame.
fn frame(name: &str, category: &str, builder: &mut ProfileBuilder) -> Option<FrameId> {
    let is_script = category == "JavaScript" && name.ends_with(')');
    let split = name.find('(').filter(|_| is_script).and_then(|at| {
        let mut parts = name[at + 1..name.len() - 1].rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let (name, url) = (name[..at].into(), parts.next()?.into());
        Some(CallFrame { name, url, line, column, is_native: false })
    });
    split.unwrap_or_else(|| CallFrame { name: name.into(), ..CallFrame::default() }).frame(builder)
}
