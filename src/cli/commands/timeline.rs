//! `prof timeline`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{notes_of_view, prepare, write};
use crate::cli::input::request::load;
use crate::cli::options::args::{InputArgs, LimitArgs, say, shell_words};
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::layout::{LayoutArgs, Output, WordingArgs};
use crate::cli::options::many::ManyArgs;
use crate::cli::options::memory;
use crate::cli::options::what_if::WhatIfArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::format::formats_with_times;
use crate::profile::{LoadOptions, Profile};
use crate::report::Report;
use crate::transform::{TimeError, TimePoint};
use crate::tree::By;
use crate::view::{NoTimeline, TimelineOptions, TimelineRows, timeline};

/// Activity of each thread over time, and phases
#[derive(Args, Debug)]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name, profile type or number (repeatable)")
}))]
#[command(mut_arg("limit", |option| {
    option.help("Show at most N rows, the heaviest; 0 for all [default: 20; JSON and CSV: all]")
}))]
// Only pprof profiles have frames to drop, and those have no times.
#[command(mut_arg("all_frames", |option| option.hide(true)))]
#[command(after_help = "Examples:
  prof timeline app.cpuprofile                          when the program was busy, and its phases
  prof timeline --from 0.5s --by package app.cpuprofile   packages, after half a second")]
pub(crate) struct TimelineCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    filters: FilterArgs,
    /// One row per thread, process, package or label:KEY
    #[arg(
        short = 'g', long, value_name = "KIND", default_value = "thread", help_heading = None,
        value_parser = rows_by
    )]
    by: TimelineRows,
    /// Divide the time into at most N bins [default: as many as fit; JSON and CSV: 100]
    #[arg(long, value_name = "N", help_heading = None, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    bins: Option<u32>,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    wording: WordingArgs,
    #[command(flatten)]
    rows: LimitArgs,
}

/// The default number of rows in text.
const ROWS: usize = 20;

/// The default number of bins for programs.
const BINS: usize = 100;

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "when they were made is not recorded",
    instead: "prof top and prof focus show the functions",
};

/// Parses the value of `--by`.
fn rows_by(text: &str) -> Result<TimelineRows, String> {
    match text {
        "thread" | "threads" => Ok(TimelineRows::Thread),
        "process" | "processes" => Ok(TimelineRows::Process),
        "package" | "packages" => Ok(TimelineRows::Package),
        _ => match text.strip_prefix("label:").filter(|key| !key.is_empty()) {
            Some(key) => Ok(TimelineRows::Label(key.to_string())),
            None => Err("expected thread, process, package or label:KEY".to_string()),
        },
    }
}

impl TimelineCommand {
    pub(crate) fn run(self) -> Result<()> {
        let input = &self.input;
        let output = self.layout.output(&self.wording, &input.profiles, input.quiet)?;
        output.check(&input.files()?)?;
        write(&self.report(&output, None)?, &output, input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let input = &self.input;
        let filters = self.filters.filters();
        let needs = LoadOptions { labels: true, times: true, ..LoadOptions::LEAST }.or(filters.needs());
        let read = || load(&input.given(&self.many, needs, self.filters.all_frames)?);
        let loaded = match keep {
            Some(keep) => keep.get_showing(self.key()?, &input.metrics, read)?,
            None => read()?,
        };
        REQUIREMENT.check(&loaded.profile, &By::Function, &loaded.metrics)?;
        if loaded.profile.samples.time.is_none() && !loaded.profile.samples.is_empty() {
            return Err(explain(&NoTimeline::Time(TimeError::NoTimes), &loaded.profile));
        }
        let mut clock = Clock::new(input.verbose);
        let prepared = prepare(loaded, &filters, By::Function, input)?;
        clock.step("filter");
        let options = TimelineOptions {
            rows_by: self.by.clone(),
            bins: self.bins.map_or_else(|| bins_that_fit(output), |bins| bins as usize),
            range: range(&self.filters)?,
            limit: self.rows.or(ROWS).rows(output.format, None),
            command: self.command(),
            budget: memory::budget(input.max_memory),
            ..TimelineOptions::new(prepared.scope.clone())
        };
        let found = timeline(&prepared.profile, &options);
        let report = prepared.report(found.map_err(|error| explain(&error, &prepared.profile))?);
        clock.step("view");
        say(notes_of_view(&report, &prepared.profile, output.format), input);
        Ok(report)
    }

    /// What two timelines have in common that can show the same loaded profile.
    fn key(&self) -> Result<String> {
        // Which profiles are the heaviest depends on the metric.
        let metrics = if self.many.combine().chooses() { self.input.metrics.clone() } else { Vec::new() };
        let input = InputArgs { metrics, ..self.input.clone() };
        let words = [input.repeated(), self.many.repeated()];
        Ok(format!("timeline {:?} {words:?}", input.files()?))
    }

    /// What a command for a part of the time has after the range: the options and inputs of this one, quoted for a shell.
    fn command(&self) -> String {
        let filters = FilterArgs { from: None, to: None, ..self.filters.clone() };
        let metrics = self.input.metrics.iter().take(1).cloned().collect();
        let input = InputArgs { metrics, ..self.input.clone() };
        let options =
            [input.repeated(), self.many.repeated(), filters.repeated(&WhatIfArgs::default())].concat();
        shell_words(options.iter(), self.input.profiles.iter())
    }
}

/// The range of time that is shown. The filters check it, too.
pub(super) fn range(filters: &FilterArgs) -> Result<[Option<TimePoint>; 2], TimeError> {
    let point = |text: &Option<String>| text.as_deref().map(TimePoint::parse).transpose();
    Ok([point(&filters.from)?, point(&filters.to)?])
}

/// As many bins as leave space for the numbers and the names.
fn bins_that_fit(output: &Output) -> usize {
    if output.format.is_for_people() { output.style.room_for_bins() } else { BINS }
}

/// The error in the terms of the command line.
pub(super) fn explain(error: &NoTimeline, profile: &Profile) -> anyhow::Error {
    match error {
        NoTimeline::Time(TimeError::NoTimes) if profile.samples.is_empty() => {
            hinted("this profile has no samples", "prof info PROFILE shows what it has")
        }
        NoTimeline::Time(TimeError::NoTimes) => hinted(
            format!("this profile ({}) does not say when its samples were taken", profile.meta.format),
            formats_with_times(),
        ),
        NoTimeline::NoLabel(key) => hinted(
            format!("--by label:{key}: no sample has this label"),
            "prof labels PROFILE lists the labels",
        ),
        NoTimeline::TooLarge(_) => {
            hinted(error.to_string(), "reduce the rows with --limit or the bins with --bins")
        }
        NoTimeline::Time(_) => hinted(format!("--from, --to: {error}"), "give a time such as 1.5s"),
    }
}
