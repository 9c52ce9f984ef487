//! The flow of every command: bytes → profile → profile → report → bytes.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::cli::args::{InputArgs, LayoutArgs, OutputFormat, ViewArgs, WordingArgs};
use crate::cli::base::BaseArgs;
use crate::cli::clock::Clock;
use crate::cli::commands::{self, Command, Prof};
use crate::cli::completion;
use crate::cli::failure::{describe, hinted, is_closed_pipe, wrapped};
use crate::cli::filters::Filtered;
use crate::cli::go_pprof;
use crate::cli::inputs::load;
use crate::cli::pager;
use crate::cli::paths;
use crate::cli::requirement::{Requirement, lacks_lines};
use crate::cli::short_help;
use crate::cli::target::Target;
use crate::cli::terminal;
use crate::cli::usage;
use crate::name::nearest;
use crate::output;
use crate::profile::{LoadOptions, Profile};
use crate::report::Report;
use crate::tree::By;
use crate::view::Scope;

/// Exit code for wrong usage, unreadable input, or a name that matches nothing.
pub(super) const FAILURE: u8 = 2;

/// The exit code of a command that ran to its end: 0 for success, 1 for a failed check, 3 for not enough
/// evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(pub(crate) u8);

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome(0)
    }
}

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    match completion::answer() {
        Ok(false) => {}
        Ok(true) => return ExitCode::SUCCESS,
        Err(_) => return ExitCode::from(FAILURE),
    }
    let mut words = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    if let (Some("help"), Some(topic)) =
        (words.next().as_deref(), words.next().as_deref().and_then(short_help::topic))
    {
        usage::print_help(&topic);
        return ExitCode::SUCCESS;
    }
    let result = match with_command(env::args_os().collect()) {
        Ok(words) => match Prof::try_parse_from(&words) {
            Err(error) => return usage::explain(error, &words),
            Ok(prof) => run(prof),
        },
        Err(error) => Err(error),
    };
    match result {
        Ok(Outcome(code)) => ExitCode::from(code),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed too, there is nowhere to report it.
            let _ = writeln!(std::io::stderr(), "{}", wrapped(&describe(&error)));
            ExitCode::from(FAILURE)
        }
    }
}

fn run(prof: Prof) -> Result<Outcome> {
    match prof.command {
        Command::Top(command) => command.run().map(Outcome::from),
        Command::Tree(command) => command.run().map(Outcome::from),
        Command::Focus(command) => command.run().map(Outcome::from),
        Command::Hot(command) => command.run().map(Outcome::from),
        Command::Graph(command) => command.run().map(Outcome::from),
        Command::Flame(command) => command.run().map(Outcome::from),
        Command::Source(command) => command.run().map(Outcome::from),
        Command::Labels(command) => command.run().map(Outcome::from),
        Command::Traces(command) => command.run().map(Outcome::from),
        Command::Types(command) => command.run().map(Outcome::from),
        Command::Info(command) => command.run().map(Outcome::from),
        Command::Diff(command) => command.run(),
        Command::Convert(command) => command.run().map(Outcome::from),
        Command::Completions(command) => command.run().map(Outcome::from),
        Command::Man(command) => command.run().map(Outcome::from),
    }
}

/// Inserts the command `top` if none was given: `prof PROFILE…` stands for `prof top PROFILE…`. A word that is
/// neither a command nor a file fails here, before clap can complain about options of another command.
fn with_command(mut arguments: Vec<OsString>) -> Result<Vec<OsString>> {
    if let Some(error) = go_pprof::answer(arguments.get(1..).unwrap_or_default()) {
        return Err(error);
    }
    let Some(first) = arguments.get(1) else {
        // Without arguments, show the profile from the environment or standard input, if any, or else the help.
        if paths::is_available() {
            arguments.push("top".into());
        }
        return Ok(arguments);
    };
    let word = first.to_string_lossy().into_owned();
    // Listing all names and aliases takes as long as inflating 100 kB, so the usual case avoids it.
    if Command::has_subcommand(&word) {
        return Ok(arguments);
    }
    let names = commands::names();
    if names.contains(&word) || matches!(&*word, "-h" | "--help" | "-V" | "--version") {
        return Ok(arguments);
    }
    let is_option = word.starts_with('-') && word != "-";
    if !is_option && !Path::new(first).exists() {
        if commands::RESERVED.contains(&word.as_str()) {
            let hint = format!("prof --help lists the commands; for a file of this name, type ./{word}");
            return Err(hinted(format!("prof {word}: this name is reserved for a future command"), hint));
        }
        let near = nearest(&word, names.iter().map(String::as_str), 1);
        if let (Some(near), false) = (near.first(), word.contains(['.', '/', '\\', ':'])) {
            let hint = format!("did you mean the command `prof {near}`?");
            return Err(hinted(format!("{word}: no such command or file"), hint));
        }
    }
    arguments.insert(1, "top".into());
    Ok(arguments)
}

/// Runs a view: loads, filters, adds the old side if one is given, makes the report, and writes it.
pub(crate) fn show(
    args: &ViewArgs,
    base: &BaseArgs,
    requirement: Requirement,
    needs: LoadOptions,
    view: impl Fn(&Profile, Scope) -> Result<Report>,
) -> Result<()> {
    let target = args.layout.target(&args.input.profiles, args.input.quiet)?;
    let report = report_of(args, base, requirement, needs, &target, view)?;
    write_timed(&report, &args.input, &args.layout, &args.wording, &target)
}

/// [`write_report`], timed.
pub(crate) fn write_timed(
    report: &Report,
    input: &InputArgs,
    layout: &LayoutArgs,
    wording: &WordingArgs,
    target: &Target,
) -> Result<()> {
    let mut clock = Clock::new(input.verbose);
    write_report(report, layout, wording, target)?;
    clock.step("print");
    Ok(())
}

/// [`show`] without the writing, for commands that write the report themselves.
pub(crate) fn report_of(
    args: &ViewArgs,
    base: &BaseArgs,
    requirement: Requirement,
    needs: LoadOptions,
    target: &Target,
    view: impl Fn(&Profile, Scope) -> Result<Report>,
) -> Result<Report> {
    let by = args.node.by();
    let needs = needs.or(args.filters.needs()).or(LoadOptions {
        labels: matches!(by, By::Label(_)),
        times: false,
        ..LoadOptions::LEAST
    });
    target.check(&[args.input.files()?, base.files()].concat(), args.layout.force)?;
    let mut loaded = load(&args.input, &args.many, needs, args.filters.all_frames)?;
    requirement.check(&loaded.profile, &by, &loaded.metrics)?;
    if (by == By::Line || requirement == Requirement::Lines) && lacks_lines(&loaded.profile) {
        let format = loaded.profile.meta.format;
        let note = format!("this {format} profile does not say what lines cost, only what functions cost");
        warn("note", &[note], &args.input);
    }
    let mut clock = Clock::new(args.input.verbose);
    let base = base.add_old_side(&mut loaded, args, needs)?;
    if base.is_some() {
        clock.step("load the old side");
    }
    let filtered = args.filters.apply(loaded.profile, &by)?;
    clock.step("filter");
    warn("warning", &filtered.profile.meta.warnings, &args.input);
    warn("note", &filtered.notes, &args.input);
    let Filtered { profile, typed, focus, callers, notes: filter_notes, emptied } = filtered;
    let scope = Scope { metrics: loaded.metrics, by, focus, callers, base, highlight: None };
    // Warnings of the profile are printed already, so only those of the view follow. Text reports mention an
    // approximation themselves.
    let said = profile.meta.warnings.len();
    let make = || {
        let mut report = view(&profile, scope.clone())?;
        let mut notes = Vec::new();
        if let Some(header) = report.header_mut() {
            let is_said =
                usize::from(header.about.approximation.is_some() && args.layout.format == OutputFormat::Text);
            notes = header.warnings[said + is_said..].to_vec();
            header.about.inputs.clone_from(&loaded.names);
            header.about.combined.clone_from(&loaded.combined);
            header.about.filters.clone_from(&typed);
            header.about.emptied = emptied.get(scope.metrics[0]).copied().unwrap_or_default();
        }
        Ok((report, notes))
    };
    let (report, notes) = match terminal::lines(&args.layout, target) {
        Some(lines) => fitted(args, lines.saturating_sub(said + filter_notes.len()), make)?,
        None => make()?,
    };
    clock.step("view");
    warn("note", &notes, &args.input);
    Ok(report)
}

/// The report with as many rows as fit on `lines` lines of the screen, unless the number of rows was given.
fn fitted(
    args: &ViewArgs,
    lines: usize,
    make: impl Fn() -> Result<(Report, Vec<String>)>,
) -> Result<(Report, Vec<String>)> {
    let style = terminal::style(&args.layout, &args.wording, true);
    let mut rows = lines.max(1);
    loop {
        args.layout.rows.set(Some(rows));
        let (report, notes) = make()?;
        let mut text = Vec::new();
        output::text(&report, &style, &mut text)??;
        let printed = memchr::memchr_iter(b'\n', &text).count() + notes.len();
        // The view takes the number unless a limit was given.
        let is_given = args.layout.rows.take().is_some();
        if printed <= lines || rows == 1 || is_given {
            return Ok((report, notes));
        }
        // A row takes several lines in trees where only the roots are counted.
        let lines_of_row = (printed / rows).max(1);
        rows = rows.saturating_sub((printed - lines).div_ceil(lines_of_row)).max(1);
    }
}

/// Fails if several metrics were given to a command that shows only one.
pub(crate) fn one_metric(scope: &Scope, command: &str) -> Result<()> {
    if scope.metrics.len() > 1 {
        let message = format!("{command} shows one metric, but --metric was given several times");
        return Err(hinted(message, "prof top and prof tree show several metrics side by side"));
    }
    Ok(())
}

/// Prints warnings or notes on standard error, unless `--quiet` was given.
pub(crate) fn warn(kind: &str, texts: &[String], input: &InputArgs) {
    if input.quiet {
        return;
    }
    print_messages(kind, texts.iter());
}

/// Prints messages of one kind (`warning`, `note`) on standard error.
pub(crate) fn print_messages(kind: &str, texts: impl Iterator<Item = impl AsRef<str>>) {
    for text in texts {
        // If standard error is closed, there is nowhere to report it.
        let message = format!("{kind}: {}", crate::name::clean(text.as_ref()));
        let _ = writeln!(std::io::stderr(), "{}", wrapped(&message));
    }
}

/// Writes a report in the chosen format.
pub(crate) fn write_report(
    report: &Report,
    layout: &LayoutArgs,
    wording: &WordingArgs,
    target: &Target,
) -> Result<()> {
    let style = terminal::style(layout, wording, *target == Target::Stdout);
    if *target == Target::Stdout && layout.may_page() {
        let mut text = Vec::new();
        output::text(report, &style, &mut text)??;
        if pager::is_needed(&text) && pager::show(&text)? {
            return Ok(());
        }
        return target.write(|out| Ok(out.write_all(&text)?));
    }
    target.write(|out| {
        match layout.format {
            OutputFormat::Text => output::text(report, &style, out)??,
            OutputFormat::Json => output::json(report, out)?,
            OutputFormat::Csv => output::csv(report, out)?,
            OutputFormat::Markdown => output::markdown(report, style.unit.as_ref(), out)??,
            OutputFormat::Github | OutputFormat::Junit => write_check(report, layout.format, out)?,
        }
        Ok(())
    })
}

/// Writes the result of a comparison for a CI server.
fn write_check(report: &Report, format: OutputFormat, out: &mut dyn Write) -> Result<()> {
    match (report, format) {
        (Report::Diff(diff), OutputFormat::Github) => Ok(output::github(diff, out)?),
        (Report::Diff(diff), _) => Ok(output::junit(diff, out)?),
        _ => Err(hinted(
            "only prof diff writes the formats github and junit",
            "other formats are text, json, csv and markdown",
        )),
    }
}
