//! Naive counting: goes through samples one by one, with maps of names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use prost::Message;

/// One sample: its stack leaf first, and its values.
pub struct Sample {
    pub stack: Vec<String>,
    pub values: Vec<i64>,
}

/// Samples and the names of their values.
pub struct Profile {
    pub metrics: Vec<String>,
    pub samples: Vec<Sample>,
}

/// Σ |value|, and self and total of every function.
pub fn flat(profile: &Profile, metric: usize) -> (i64, BTreeMap<String, (i64, i64)>) {
    let mut whole = 0;
    let mut rows: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for sample in &profile.samples {
        let value = sample.values[metric];
        whole += value.abs();
        if let Some(leaf) = sample.stack.first() {
            rows.entry(leaf.clone()).or_default().0 += value;
        }
        for name in sample.stack.iter().collect::<BTreeSet<_>>() {
            rows.entry(name.clone()).or_default().1 += value;
        }
    }
    rows.retain(|_, row| *row != (0, 0));
    (whole, rows)
}

/// Reads a pprof profile by decoding all of it with prost.
pub fn read_pprof(bytes: &[u8]) -> Result<Profile, String> {
    let mut bytes = bytes.to_vec();
    while bytes.starts_with(&[0x1F, 0x8B]) {
        let mut inflated = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
        decoder.read_to_end(&mut inflated).map_err(|error| error.to_string())?;
        bytes = inflated;
    }
    let raw = proto::Profile::decode(&bytes[..]).map_err(|error| error.to_string())?;
    if raw.drop_frames != 0 {
        return Err("drop_frames".to_string());
    }
    let string = |index: i64| String::from_utf8_lossy(&raw.string_table[index as usize]).into_owned();
    let files: BTreeMap<u64, String> = raw.mapping.iter().map(|m| (m.id, string(m.filename))).collect();
    let functions: BTreeMap<u64, &proto::Function> = raw.function.iter().map(|f| (f.id, f)).collect();
    let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for location in &raw.location {
        let file = files.get(&location.mapping_id).cloned().unwrap_or_default();
        let base = file.rsplit('/').next().unwrap_or_default();
        let unnamed = if base.is_empty() { "<unknown>".to_string() } else { format!("[{base}]") };
        let mut lines = Vec::new();
        for line in &location.line {
            let function = functions.get(&line.function_id).ok_or("no such function")?;
            let name = string(function.name);
            lines.push(if name.is_empty() { unnamed.clone() } else { name });
        }
        names.insert(location.id, if lines.is_empty() { vec![unnamed] } else { lines });
    }
    let sample = |sample: &proto::Sample| Sample {
        stack: sample.location_id.iter().flat_map(|id| names[id].clone()).collect(),
        values: sample.value.clone(),
    };
    Ok(Profile {
        metrics: raw.sample_type.iter().map(|metric| string(metric.r#type)).collect(),
        samples: raw.sample.iter().map(sample).collect(),
    })
}

/// Reads collapsed stacks with one integer weight per line.
pub fn read_collapsed(text: &str) -> Result<Profile, String> {
    let mut samples = Vec::new();
    // Symbols of C++ are shown as in the source.
    let name = |frame: &str| {
        if frame.starts_with("_Z") { prof::name::demangle(frame).into_owned() } else { frame.to_string() }
    };
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        let Some((stack, weight)) = line.trim_end().rsplit_once(' ') else { continue };
        if weight.contains('.') {
            return Err("fractional weights".to_string());
        }
        let Ok(weight) = weight.parse() else { continue };
        let stack = stack.trim_end();
        if stack.rsplit_once(' ').is_some_and(|(_, last)| last.parse::<i64>().is_ok()) {
            return Err("two weights a line".to_string());
        }
        samples.push(Sample { stack: stack.split(';').rev().map(name).collect(), values: vec![weight] });
    }
    Ok(Profile { metrics: vec!["samples".to_string()], samples })
}

mod proto {
    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Profile {
        #[prost(message, repeated, tag = "1")]
        pub sample_type: Vec<ValueType>,
        #[prost(message, repeated, tag = "2")]
        pub sample: Vec<Sample>,
        #[prost(message, repeated, tag = "3")]
        pub mapping: Vec<Mapping>,
        #[prost(message, repeated, tag = "4")]
        pub location: Vec<Location>,
        #[prost(message, repeated, tag = "5")]
        pub function: Vec<Function>,
        #[prost(bytes = "vec", repeated, tag = "6")]
        pub string_table: Vec<Vec<u8>>,
        #[prost(int64, tag = "7")]
        pub drop_frames: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ValueType {
        #[prost(int64, tag = "1")]
        pub r#type: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Sample {
        #[prost(uint64, repeated, tag = "1")]
        pub location_id: Vec<u64>,
        #[prost(int64, repeated, tag = "2")]
        pub value: Vec<i64>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Mapping {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "5")]
        pub filename: i64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Location {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(uint64, tag = "2")]
        pub mapping_id: u64,
        #[prost(message, repeated, tag = "4")]
        pub line: Vec<Line>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Line {
        #[prost(uint64, tag = "1")]
        pub function_id: u64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Function {
        #[prost(uint64, tag = "1")]
        pub id: u64,
        #[prost(int64, tag = "2")]
        pub name: i64,
    }
}
