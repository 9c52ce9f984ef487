//! The flow of every view: bytes → profile → profile → report → bytes.

use std::io::Write;

use anyhow::Result;

use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::requirement::{Requirement, note_of_lines};
use crate::cli::options::args::{
    InputArgs, LayoutArgs, OutputFormat, ViewArgs, WordingArgs, note, say, warn,
};
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
use crate::report::{Message, MessageKind, Report};
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
    let loaded = args.input.load(&args.many, needs, args.filters.all_frames)?;
    requirement.check(&loaded.profile, &by, &loaded.metrics)?;
    if by == By::Line || requirement == Requirement::Lines {
        note(note_of_lines([&loaded.profile].into_iter()).as_slice(), &args.input);
    }
    let mut clock = Clock::new(args.input.verbose);
    let (loaded, base) = base.add_old_side(loaded, args, needs)?;
    if base.is_some() {
        clock.step("load the old side");
    }
    let filtered = filters.apply_by(loaded.profile, &by).map_err(explain)?;
    clock.step("filter");
    warn(&filtered.profile.meta.warnings, &args.input);
    note(&filtered.notes, &args.input);
    let Filtered { profile, filters, focus, callers, notes: filter_notes, emptied } = filtered;
    let scope = Scope { metrics: loaded.metrics, by, focus, callers, base, highlight: None };
    let printed = profile.meta.warnings.len() + filter_notes.len();
    let make = |rows: Option<usize>| {
        args.layout.rows.set(rows);
        let mut report = view(&profile, scope.clone())?;
        // The view takes the number unless a limit was given.
        let is_fixed = args.layout.rows.take().is_some();
        let mut notes = Vec::new();
        if let Some(header) = report.header_mut() {
            // The warnings are printed already, and text mentions an approximation itself.
            let is_text = args.layout.format == OutputFormat::Text;
            let is_said =
                |message: &&Message| is_text && header.approximation.as_ref() == Some(&message.text);
            let of_view = header.warnings.iter().filter(|message| message.kind == MessageKind::Note);
            notes = of_view.filter(|message| !is_said(message)).cloned().collect();
            header.inputs.clone_from(&loaded.names);
            header.combined.clone_from(&loaded.combined);
            header.filters.clone_from(&filters);
            header.emptied = emptied.get(scope.metrics[0]).copied().unwrap_or_default();
        }
        Ok(Attempt { report, notes, is_fixed })
    };
    let Attempt { report, notes, .. } = match screen::lines(&args.layout, target) {
        Some(lines) => {
            let lines = lines.saturating_sub(printed);
            let style = screen::style(&args.layout, &args.wording, true);
            fitted(&style, lines, lines.max(1), 1, |rows| make(Some(rows)))?
        }
        None => make(None)?,
    };
    clock.step("view");
    say(notes, &args.input);
    Ok(report)
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
