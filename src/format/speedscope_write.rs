//! Writes speedscope's format: one sampled profile per thread, with the values of one metric.
//!
//! A frame in such a file is a function. If executing lines were written, speedscope would show a function
//! with ten executing lines as ten functions.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::format::collapsed_write::decimal;
use crate::format::threads::{LabelledThread, rows_by};
use crate::format::write::{Part, Writer, no_second_metric, rows_in_time};
use crate::profile::{Id, LoadOptions, Metric, Profile};
use crate::unit::{Family, Unit};

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: "speedscope",
    title: "speedscope",
    endings: &[".speedscope.json", ".speedscope"],
    packed_endings: &[],
    packed: false,
    holds: &[Part::Threads, Part::Files, Part::Places, Part::Negatives],
    holds_calls: false,
    second_metric: no_second_metric,
    read_as: &[("wall", "nanoseconds"), ("bytes", "bytes"), ("samples", "count")],
    needs: LoadOptions { labels: true, times: true, ..LoadOptions::LEAST },
    write,
};

/// The exporter name in our files, before the version.
pub(super) const EXPORTER: &str = "prof ";

/// A row of `shared.frames`.
#[derive(Serialize)]
struct SharedFrame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// Written for functions that are distinguished by location, 0 if unknown. Functions without it are
    /// identified by name alone, and their line is their first line; our reader knows that from the exporter.
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<u32>,
}

fn write(profile: &Profile, metric: usize, mut out: &mut dyn Write) -> io::Result<Vec<String>> {
    let symbols = &profile.symbols;
    let exporter = format!("{EXPORTER}{}", env!("CARGO_PKG_VERSION"));
    write!(
        out,
        "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"{exporter}\",\
         \"shared\":{{\"frames\":["
    )?;
    for (id, function) in symbols.functions.enumerate() {
        let (name, file) = (symbols.function_name(id), symbols.function_file(id));
        let line = Some(function.line).filter(|&line| line > 0);
        let frame = SharedFrame { name, file, line, col: function.by_place.then_some(function.column) };
        out.write_all(if id.index() == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut out, &frame)?;
    }
    out.write_all(b"\n]},\"profiles\":[")?;
    let scale = SpeedscopeScale::of(&profile.meta.metrics[metric]);
    for (number, thread) in threads(profile, metric).iter().enumerate() {
        out.write_all(if number == 0 { b"\n" } else { b",\n" })?;
        write_thread(profile, metric, thread, &scale, out)?;
    }
    out.write_all(b"\n]}\n")?;
    Ok(Vec::new())
}

/// Converts values to a unit that the format supports.
struct SpeedscopeScale {
    unit: &'static str,
    factor: i128,
    divisor: u64,
}

impl SpeedscopeScale {
    fn of(metric: &Metric) -> SpeedscopeScale {
        let unit = Unit::parse(&metric.unit);
        let (name, target) = match (unit.family(), unit.name()) {
            (Family::Time, "ns") => ("nanoseconds", unit.clone()),
            (Family::Time, "µs") => ("microseconds", unit.clone()),
            (Family::Time, "ms") => ("milliseconds", unit.clone()),
            (Family::Time, _) => ("seconds", Unit::parse("s")),
            (Family::Bytes, _) => ("bytes", Unit::BYTES),
            _ => ("none", unit.clone()),
        };
        let factor = i128::from(unit.factor_to(&target).unwrap_or(1));
        SpeedscopeScale { unit: name, factor, divisor: metric.divisor }
    }

    fn decimal(&self, value: i128) -> String {
        decimal(value.saturating_mul(self.factor), self.divisor)
    }
}

/// The rows of each named thread, and one entry for all unnamed ones; never empty.
fn threads(profile: &Profile, metric: usize) -> Vec<(Cow<'_, str>, Vec<usize>)> {
    let names: Vec<Cow<str>> =
        profile.label_sets.ids().map(|set| LabelledThread::of(profile, set).name).collect();
    let name = |row: usize| names[profile.samples.labels[row].index()].clone();
    let mut threads = rows_by(rows_in_time(profile, &[metric]), name);
    if threads.is_empty() {
        threads.push((Cow::default(), Vec::new()));
    }
    threads
}

fn write_thread(
    profile: &Profile,
    metric: usize,
    (name, rows): &(Cow<str>, Vec<usize>),
    scale: &SpeedscopeScale,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    let (samples, values) = (&profile.samples, &profile.samples.values[metric]);
    let sum: i128 = rows.iter().map(|&row| i128::from(values[row])).sum();
    out.write_all(b"{\"type\":\"sampled\",\"name\":")?;
    serde_json::to_writer(&mut out, &**name)?;
    let (unit, end) = (scale.unit, scale.decimal(sum));
    write!(out, ",\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{end},\"samples\":[")?;
    for (index, &row) in rows.iter().enumerate() {
        out.write_all(if index == 0 { b"[" } else { b",[" })?;
        for (depth, &frame) in profile.stacks.frames(samples.stack[row]).iter().enumerate() {
            let comma = if depth == 0 { "" } else { "," };
            write!(out, "{comma}{}", profile.symbols.frames[frame].function.index())?;
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"],\"weights\":[")?;
    for (index, &row) in rows.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(out, "{comma}{}", scale.decimal(i128::from(values[row])))?;
    }
    out.write_all(b"]}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn threads_survive_a_round_trip() {
        let picture = " 4 {thread=two}\nmain 3 {thread=one}\nmain;work 2 {thread=two}\nmain;work 7";
        let mut profile = from_notation(picture);
        profile.meta.metrics[0].divisor = 10;
        let mut bytes = Vec::new();
        write(&profile, 0, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(r#""name":"two","unit":"none","startValue":0,"endValue":0.6"#), "{text}");
        let again = format::load(&mut Source::from_bytes(text.into()), LoadOptions::ALL, None).unwrap();
        assert_eq!(again.meta.format, "speedscope");
        assert_eq!(to_notation(&again), to_notation(&profile));
        assert_eq!(again.meta.metrics[0].divisor, 10);
    }
}
