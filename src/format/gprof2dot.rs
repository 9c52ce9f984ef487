//! Reads the JSON of gprof2dot, which memray (`memray transform gprof2dot`) and others write for it.
//!
//! ```text
//! {"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}],
//!  "functions": [{"name": "parse", "module": "a.py"}, …], "events": [{"callchain": [3, 0], "cost": [1340]}, …]}
//! ```
//!
//! A chain lists the numbers of functions, the leaf first.

use crate::format::decimals::Decimals;
use crate::format::json::{self, Json, Kind};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static GPROF2DOT: Format = Format { name: NAME, title: "JSON for gprof2dot", sniff, read };

const NAME: &str = "gprof2dot";

/// The only version that there is.
const VERSION: i64 = 0;

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let is_list = |name: &str| keys.iter().any(|(key, kind)| key == name && *kind == Some(Kind::Array));
    if is_list("costs") && (is_list("events") || is_list("functions")) {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut json = Json::new(NAME, &text);
    let (mut costs, mut functions, mut events) = (None, None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "version" => {
                let version = json.integer()?;
                if version != VERSION {
                    return Err(json.error(unsupported_version(version, VERSION, VERSION)).into());
                }
                continue;
            }
            "costs" => costs = Some(json.position()),
            "functions" => functions = Some(json.position()),
            "events" => events = Some(json.position()),
            _ => {}
        }
        json.skip()?;
    }
    json.end()?;
    let place = |at: Option<usize>, name: &str| {
        at.map(|at| json.at(at)).ok_or_else(|| ParseError::whole(NAME, format!("missing `{name}`")))
    };
    place(costs, "costs")?.list(|json| read_cost(json, &mut builder))?;
    let functions = place(functions, "functions")?.list(|json| read_function(json, &mut builder))?;
    let mut events = place(events, "events")?;
    let mut decimals = Decimals::default();
    events.array()?;
    while events.element()? {
        read_event(&mut events, &functions, &mut decimals, &mut builder)?;
    }
    Ok(finished(builder)?)
}

fn read_cost(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
    let (mut name, mut unit) = (None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "description" => name = json.text_if_any()?,
            "unit" => unit = json.text_if_any()?,
            _ => json.skip()?,
        }
    }
    builder.metric(&name.unwrap_or_default(), &unit.unwrap_or_default());
    Ok(())
}

fn read_function(json: &mut Json<'_>, builder: &mut ProfileBuilder) -> Result<FrameId, ParseError> {
    let (mut name, mut module) = (None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "name" => name = json.text_if_any()?,
            "module" => module = json.text_if_any()?,
            _ => json.skip()?,
        }
    }
    let (name, module) = (name.unwrap_or_default(), module.unwrap_or_default());
    // A module is a file of a script, or a binary.
    let is_source = module
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ["py", "js", "rb", "c", "cc", "cpp"].contains(&ending));
    let function = builder.named_function(&name, if is_source { &module } else { "" });
    let mapping = if is_source || module.is_empty() {
        crate::profile::MappingId::default()
    } else {
        builder.named_mapping(&module)
    };
    Ok(builder.frame(crate::profile::Frame { function, mapping, ..crate::profile::Frame::default() }))
}

fn read_event(
    json: &mut Json<'_>,
    functions: &[FrameId],
    decimals: &mut Decimals,
    builder: &mut ProfileBuilder,
) -> Result<(), ParseError> {
    let (mut chain, mut costs) = (Vec::new(), Vec::new());
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "callchain" => chain = json.list(Json::row)?,
            "cost" => costs = json.list(Json::number)?,
            _ => json.skip()?,
        }
    }
    if costs.len() != builder.meta.metrics.len() {
        let message = format!("an event has {} costs, expected {}", costs.len(), builder.meta.metrics.len());
        return Err(json.error(message));
    }
    let mut frames = Vec::new();
    for number in chain.into_iter().rev() {
        let frame = number.and_then(|number| functions.get(number));
        frames.push(*frame.ok_or_else(|| json.error("an event refers to a function that does not exist"))?);
    }
    let stack = builder.stack(&frames);
    for (metric, &cost) in costs.iter().enumerate() {
        decimals.keep(builder, metric, cost);
    }
    let values: Vec<i64> =
        costs.iter().enumerate().map(|(metric, &cost)| decimals.integer(builder, metric, cost)).collect();
    builder.sample(stack, LabelSetId::default(), None, &values);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn the_leaf_comes_first() {
        let text = r#"{"version": 0, "costs": [{"description": "Time", "unit": "s"}], "events": [{"callchain": [1, 0], "cost": [0.5]},
            {"callchain": [0], "cost": [2]}], "functions": [{"name": "main", "module": "a.py"}, {"name": "f", "module": "libx.so"}]}"#;
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let read = |text: &str| {
            read(&mut Source::from_bytes(text.into()), LoadOptions { times: false, ..LoadOptions::ALL })
        };
        let profile = read(text).unwrap();
        assert_eq!(to_notation(&profile), "main@a.py:0 20\nmain@a.py:0;f 5");
        assert_eq!(profile.meta.metrics[0].divisor, 10);
        assert!(read(&text.replace("[1, 0]", "[1, 9]")).unwrap_err().to_string().contains("does not exist"));
        assert!(read(&text.replace("[0.5]", "[]")).unwrap_err().to_string().contains("0 costs, expected 1"));
        assert!(
            read(&text.replace("\"version\": 0", "\"version\": 1"))
                .unwrap_err()
                .to_string()
                .contains("version 1")
        );
    }
}
