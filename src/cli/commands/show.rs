//! The flow of every view: bytes → profile → profile → report → bytes.

use std::io::Write;

use anyhow::Result;

use crate::cli::commands::requirement::{Requirement, note_of_lines};
use crate::cli::options::args::{InputArgs, LayoutArgs, OutputFormat, ViewArgs, WordingArgs, warn};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::filters::explain;
use crate::cli::options::screen;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::pager;
use crate::cli::terminal::target::Target;
use crate::filter::Filtered;
use crate::output;
use crate::profile::{LoadOptions, Profile};
use crate::report::Report;
use crate::tree::By;
use crate::view::Scope;

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
    let (by, filters) = (args.node.by(), args.filters.filters());
    let needs = needs.or(filters.needs()).or(LoadOptions {
        labels: matches!(by, By::Label(_)),
        times: false,
        ..LoadOptions::LEAST
    });
    target.check(&[args.input.files()?, base.files()].concat(), args.layout.force)?;
    let mut loaded = args.input.load(&args.many, needs, args.filters.all_frames)?;
    requirement.check(&loaded.profile, &by, &loaded.metrics)?;
    if by == By::Line || requirement == Requirement::Lines {
        warn("note", note_of_lines([&loaded.profile].into_iter()).as_slice(), &args.input);
    }
    let mut clock = Clock::new(args.input.verbose);
    let base = base.add_old_side(&mut loaded, args, needs)?;
    if base.is_some() {
        clock.step("load the old side");
    }
    let filtered = filters.apply_by(loaded.profile, &by).map_err(explain)?;
    clock.step("filter");
    warn("warning", &filtered.profile.meta.warnings, &args.input);
    warn("note", &filtered.notes, &args.input);
    let Filtered { profile, filters, focus, callers, notes: filter_notes, emptied } = filtered;
    let scope = Scope { metrics: loaded.metrics, by, focus, callers, base, highlight: None };
    // Warnings of the profile are printed already, so only those of the view follow. Text reports mention an
    // approximation themselves.
    let said = profile.meta.warnings.len();
    let make = || {
        let mut report = view(&profile, scope.clone())?;
        let mut notes = Vec::new();
        if let Some(header) = report.header_mut() {
            let is_said =
                usize::from(header.approximation.is_some() && args.layout.format == OutputFormat::Text);
            notes = header.warnings[said + is_said..].to_vec();
            header.inputs.clone_from(&loaded.names);
            header.combined.clone_from(&loaded.combined);
            header.filters.clone_from(&filters);
            header.emptied = emptied.get(scope.metrics[0]).copied().unwrap_or_default();
        }
        Ok((report, notes))
    };
    let (report, notes) = match screen::lines(&args.layout, target) {
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
    let style = screen::style(&args.layout, &args.wording, true);
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

/// Writes a report in the chosen format.
pub(crate) fn write_report(
    report: &Report,
    layout: &LayoutArgs,
    wording: &WordingArgs,
    target: &Target,
) -> Result<()> {
    let style = screen::style(layout, wording, *target == Target::Stdout);
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
            OutputFormat::Markdown => output::markdown(report, &style, out)??,
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
