//! `prof convert`.

mod dataset;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::show::prepare;
use crate::cli::input::request::load;
use crate::cli::options::args::{InputArgs, warn};
use crate::cli::options::completion::written_formats;
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::many::ManyArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::target::Target;
use crate::format::{self, Part, WRITERS, Writer, writer_for, writer_named};
use crate::load::Prepared;
use crate::profile::{LATENCY, Profile};
use crate::transform::{TimePoint, compact, pick_metrics};
use crate::tree::By;

/// Write profiles in another format, filtered or combined into one
#[derive(Args, Debug)]
#[command(mut_arg("metrics", |option| option.help("Metric to write, by name, profile type or number (repeatable)")))]
#[command(mut_arg("to", |option| {
    option
        .value_name("F|T")
        .help("Format to write, short for --output-format F; or a time such as 1.5s: keep only samples taken before T")
}))]
#[command(
    visible_alias = "merge",
    after_help = "Examples:
  prof convert -o cpu.folded cpu.pb.gz                          for the flame graph scripts
  prof convert -o default.pgo monday.pb.gz tuesday.pb.gz        several combined, for go build -pgo
  prof convert -o small.pb.gz --show-from order cpu.pb.gz       only the handler and its callees
  prof convert -o - --output-format speedscope cpu.pb.gz        to standard output
  prof convert -q -o fleet/ --to parquet cpu.pb.gz new.pb.gz    a dataset for SQL; see prof sql"
)]
pub(crate) struct ConvertCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    filters: FilterArgs,
    /// Write to this file, in the format of its extension; - is standard output
    #[arg(short, long, value_name = "OUT", help_heading = "Output", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Format to write: a name or a file extension; --to F is short for it [default: that of the extension of OUT]
    #[arg(long, value_name = "F", help_heading = "Output", add = ArgValueCompleter::new(written_formats))]
    output_format: Option<String>,
    /// Overwrite the output file even if it is a profile; other files need no --force, inputs are never overwritten
    #[arg(long, help_heading = "Output")]
    force: bool,
}

impl ConvertCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        let out = self.out()?;
        let named = self.named_format()?;
        if dataset::is_wanted(named.as_deref(), &out) {
            return self.export(named.as_deref(), &out);
        }
        let (writer, packed) = writer_of(named, &out)?;
        let target = Target::new(Some(&out));
        // If the format can store which frames to drop, keep both these frames and that information. An
        // unfiltered conversion should change nothing.
        let filters = self.filters.filters();
        let is_filtered = !filters.is_empty();
        let keeps_frames = writer.holds.contains(&Part::DropFrames) && !is_filtered;
        let needs = writer.needs.clone().or(filters.needs());
        target.check(&self.input.files()?, self.force)?;
        let all_frames = keeps_frames || self.filters.all_frames;
        let loaded = load(&self.input.given(&self.many, needs, all_frames)?)?;
        let mut clock = Clock::new(self.input.verbose);
        let Prepared { mut profile, scope, .. } = prepare(loaded, &filters, By::Function, &self.input)?;
        clock.step("filter");
        if profile.calls.is_some() && !writer.holds_calls {
            return Err(holds_calls(&profile, writer));
        }
        if !keeps_frames {
            profile.meta.drop_frames.clear();
            profile.meta.keep_frames.clear();
        }
        let metric = *scope.metrics.first().context("the profile has no metric")?;
        if profile.meta.is_latency && !profile.meta.comments.iter().any(|comment| comment == LATENCY) {
            profile.meta.comments.push(LATENCY.to_string());
        }
        let (profile, metric) = match (&self.input.metrics[..], writer.holds.contains(&Part::Metrics)) {
            ([_, _, ..], false) => {
                let message =
                    format!("{} holds one metric, but --metric was given several times", writer.name);
                return Err(hinted(
                    message,
                    "write one file per metric, or write pprof, which holds several metrics",
                ));
            }
            ([_, ..], true) if profile.calls.is_none() => (pick_metrics(&profile, &scope.metrics), 0),
            ([], true) if profile.meta.is_latency => self.without_parts_of_counts(&profile, metric),
            _ => (profile, metric),
        };
        refuse_overflow(&profile, writer)?;
        let profile = compact(&profile)?;
        warn(&losses(&profile, metric, writer), &self.input);
        let mut changes = Vec::new();
        target.write(|out| {
            changes = writer.write_to(&profile, metric, packed, out)?;
            Ok(())
        })?;
        clock.step("write");
        warn(&changes, &self.input);
        Ok(())
    }

    /// A profile of latency without the metrics that count: half a sample is written as 500 of 1000, and would be read as 500
    /// samples. The metric that is shown stays.
    fn without_parts_of_counts(&self, profile: &Profile, shown: usize) -> (Profile, usize) {
        let metrics = &profile.meta.metrics;
        let is_kept = |&metric: &usize| metric == shown || metrics[metric].divisor == 1;
        let (kept, dropped): (Vec<usize>, Vec<usize>) = (0..metrics.len()).partition(is_kept);
        if !dropped.is_empty() {
            let names: Vec<&str> = dropped.iter().map(|&metric| &*metrics[metric].name).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            let text = format!(
                "{} {are} left out: by latency, a sample counts less than 1 (choose with --metric)",
                names.join(", ")
            );
            warn(&[text], &self.input);
        }
        let place = kept.iter().position(|&metric| metric == shown).unwrap_or(0);
        let mut picked = pick_metrics(profile, &kept);
        picked.meta.default_metric = place;
        (picked, place)
    }

    fn out(&mut self) -> Result<PathBuf> {
        self.output.take().ok_or_else(|| {
            // The output file usually does not exist yet.
            let is_out = |path: &String| !Path::new(path).exists() && writer_for(path).is_some();
            let (outs, profiles): (Vec<_>, Vec<_>) = self.input.profiles.drain(..).partition(is_out);
            let out = outs.first().map_or("OUT", String::as_str);
            let corrected = format!("prof convert -o {out} {}", profiles.join(" "));
            hinted("convert: no output file given", format!("try: {}", corrected.trim_end()))
        })
    }

    /// The format that is named. `--to` is also the end of a range of time, as in all commands: what is not a time is a format.
    fn named_format(&mut self) -> Result<Option<String>> {
        let to = self.filters.to.take_if(|to| TimePoint::parse(to).is_err());
        match (self.output_format.take(), to) {
            (Some(format), Some(to)) => Err(hinted(
                format!("--to {to} and --output-format {format} both name the format to write"),
                "give one of them; --to is the end of a range of time only if its value is a time, such as 1.5s",
            )),
            (format, to) => Ok(format.or(to)),
        }
    }
}

/// The format to write, and whether to compress it.
fn writer_of(named: Option<String>, out: &Path) -> Result<(&'static Writer, bool)> {
    let file = Some(&*out.to_string_lossy()).filter(|out| *out != "-").map(str::to_string);
    if let Some(name) = named {
        return format_of(&name, file.as_deref());
    }
    let writer = file.as_deref().and_then(writer_for).ok_or_else(|| {
        let extension = out.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let message = match (&file, format::named(&extension)) {
            (None, _) => "convert: cannot tell the format: standard output has no file extension".to_string(),
            (Some(file), Some(read)) => {
                format!("{file}: prof reads {} but does not write it", read.title)
            }
            (Some(file), None) => format!("{file}: cannot tell the format from the file extension"),
        };
        hinted(
            message,
            format!("name the format with --output-format, or use another extension; {}", known()),
        )
    })?;
    Ok((writer, writer.is_packed(file.as_deref())))
}

/// Parses the format for `--to`: a name (`collapsed`) or a file extension (`folded`, `.pb.gz`).
fn format_of(name: &str, file: Option<&str>) -> Result<(&'static Writer, bool)> {
    if let Some(writer) = writer_named(name) {
        return Ok((writer, writer.is_packed(file)));
    }
    let as_file = format!("x.{}", name.trim_start_matches('.'));
    if let Some(writer) = writer_for(&as_file) {
        // The extension also decides whether to compress; so does that of the file, if there is one.
        let packed = match file {
            Some(file) => writer.is_packed(Some(file)) || as_file.to_ascii_lowercase().ends_with(".gz"),
            None => writer.is_packed(Some(&as_file)),
        };
        return Ok((writer, packed));
    }
    let message = match format::named(name) {
        Some(read) => format!("--to {name}: prof reads {} but does not write it", read.title),
        None => format!("--to {name}: not a format that prof writes, nor a file extension of one"),
    };
    Err(hinted(message, known()))
}

/// Lists the formats that can be written, with their file extensions.
fn known() -> String {
    let of = |writer: &&Writer| {
        let mut endings: Vec<&str> = writer.endings.to_vec();
        endings.extend(writer.packed_endings);
        format!("{} ({})", writer.name, endings.join(" "))
    };
    let formats: Vec<String> = WRITERS.iter().map(of).collect();
    format!(
        "the formats and their extensions, each also with .gz: {}; and --to parquet, which writes a folder of tables",
        formats.join(", ")
    )
}

fn holds_calls(profile: &Profile, writer: &Writer) -> anyhow::Error {
    let format = profile.meta.format;
    let message = format!("{format} records calls, but {} can hold only stacks", writer.name);
    let holding: Vec<&str> =
        WRITERS.iter().filter(|writer| writer.holds_calls).map(|writer| writer.name).collect();
    hinted(message, format!("choose a format that can hold calls: {}", holding.join(", ")))
}

/// Fails if a metric to be written does not fit 64 bits. All metrics are written, not only the first.
fn refuse_overflow(profile: &Profile, writer: &Writer) -> Result<()> {
    if !writer.holds.contains(&Part::Metrics) {
        return Ok(());
    }
    match profile.meta.metrics.iter().find(|metric| metric.too_large) {
        Some(metric) => {
            let message = format!("the sum of the values of {} does not fit 64 bits", metric.name);
            Err(hinted(message, "choose the metrics to write with --metric"))
        }
        None => Ok(()),
    }
}

/// Describes what is lost because the format cannot hold it.
fn losses(profile: &Profile, metric: usize, writer: &Writer) -> Vec<String> {
    let mut texts = Vec::new();
    let metrics = &profile.meta.metrics;
    let mut lost = writer.losses(profile, metric);
    if lost.contains(&Part::Metrics) {
        lost.retain(|&part| part != Part::Metrics);
        let others = writer.left_out(profile, metric);
        texts.push(format!(
            "{} holds one metric: {} is written, {} left out (choose with --metric)",
            writer.name,
            metrics[metric].name,
            others.join(", ") + if others.len() == 1 { " is" } else { " are" },
        ));
    }
    if !lost.is_empty() {
        let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
        texts.push(format!("lost in {}: {}", writer.name, lost.join(", ")));
    }
    if profile.samples.is_empty() && profile.calls.is_none() {
        texts.push("the written profile has no samples".to_string());
    }
    texts
}
