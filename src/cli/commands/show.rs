//! The flow of every command: request → loaded → filtered → report → written.

mod base;

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;

use crate::cli::commands::fit::{Attempt, fitted};
use crate::cli::commands::keep::{Keep, KeptProfile};
use crate::cli::commands::requirement::Requirement;
use crate::cli::input::request::load;
use crate::cli::options::args::{InputArgs, RowLimit, StackArgs, ViewArgs, note, say, warn};
use crate::cli::options::filters::explain;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{Output, OutputFormat};
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::cli::terminal::pager;
use crate::filter::{Filters, FocusPart};
use crate::load::{Loaded, Prepared, Sides};
use crate::output::{self, Style};
use crate::profile::{LoadOptions, Meta, Profile};
use crate::report::{Message, MessageKind, Report};
use crate::tree::By;
use crate::view::Scope;

/// A view, before anything is read: what to show, and where.
pub(crate) struct Show<'a> {
    pub(crate) stacks: &'a StackArgs,
    /// The part of the stacks through `--focus` that is shown.
    pub(crate) focus_part: FocusPart,
    /// What a row stands for.
    pub(crate) by: By,
    pub(crate) highlight: &'a HighlightArgs,
    pub(crate) requirement: Requirement,
    /// What the view needs of the profile.
    pub(crate) needs: LoadOptions,
    /// How many rows are shown, by views that have a limit.
    pub(crate) limit: Option<RowLimit>,
    pub(crate) output: &'a Output,
    /// Profiles that were loaded before, for a program that asks one question after the other; it also takes the notes.
    pub(crate) keep: Option<&'a Keep>,
}

/// What makes the report of a profile, with at most so many rows.
type ViewOf<'v> = &'v dyn Fn(&Profile, Scope, Option<usize>) -> Result<Report>;

impl<'a> Show<'a> {
    /// A view of whole stacks without a limit on rows.
    pub(crate) fn new(view: &'a ViewArgs, output: &'a Output, requirement: Requirement) -> Self {
        Show { by: view.node.by(), ..Show::of_functions(&view.stacks, &view.highlight, output, requirement) }
    }

    /// The same by function.
    pub(crate) fn of_functions(
        stacks: &'a StackArgs,
        highlight: &'a HighlightArgs,
        output: &'a Output,
        requirement: Requirement,
    ) -> Self {
        let (focus_part, needs) = (FocusPart::All, LoadOptions::LEAST);
        let (by, limit, keep) = (By::Function, None, None);
        Show { stacks, focus_part, by, highlight, requirement, needs, limit, output, keep }
    }

    /// Loads, filters, and returns the report that `view` makes of the profile with at most so many rows.
    pub(crate) fn report(
        self,
        view: impl Fn(&Profile, Scope, Option<usize>) -> Result<Report>,
    ) -> Result<Report> {
        Ok(self.report_and_compare::<()>(false, |_, _| None, &view)?.0)
    }

    /// [`Show::report`], and what `compare` makes of the runs of both sides, if there are two and it is asked for.
    pub(crate) fn report_and_compare<T>(
        self,
        is_asked: bool,
        compare: impl FnOnce(&Self, Sides) -> Option<T>,
        view: ViewOf,
    ) -> Result<(Report, Option<T>)> {
        let filters = self.filters();
        let mut sides = None;
        let asked = is_asked.then_some(&mut sides);
        let kept = match self.keep {
            Some(keep) => Some((keep, self.key(&filters)?)),
            None => None,
        };
        let loaded = match &kept {
            Some((keep, key)) => self.kept(keep, key, &filters, asked)?,
            None => self.load(&filters, asked)?,
        };
        let compared = sides.and_then(|sides| compare(&self, sides));
        let input = &self.stacks.input;
        let mut clock = Clock::new(input.verbose);
        let mut prepared = match kept {
            Some((keep, key)) => {
                // What two views have in common that show the same of a profile.
                let key = format!("{key} {:?} {filters:?} {:?}", input.metrics, self.by);
                let prepared = keep.prepared(key, || prepare(loaded, &filters, self.by.clone(), input))?;
                keep.note(prepared.notes.iter().map(Message::note));
                prepared
            }
            None => prepare(loaded, &filters, self.by, input)?,
        };
        clock.step("filter");
        let marking = self.highlight.apply(&prepared.profile, &filters, &mut prepared.scope)?;
        note(&marking, input);
        let Output { format, lines, style, .. } = self.output;
        let make = |fitting: Option<usize>| {
            let rows = self.limit.and_then(|limit| limit.rows(*format, fitting));
            let report = prepared.report(view(&prepared.profile, prepared.scope.clone(), rows)?);
            Ok(Attempt { notes: notes_of_view(&report, &prepared.profile, *format), report })
        };
        let is_fitted = self.limit.is_some_and(|limit| limit.given.is_none());
        let Attempt { report, notes } = match lines.filter(|_| is_fitted) {
            Some(lines) => {
                let Meta { warnings, notes, .. } = &prepared.profile.meta;
                let lines = lines.saturating_sub(warnings.len() + notes.len() + prepared.notes.len());
                fitted(style, lines, lines.max(1), 1, &mut |rows| make(Some(rows)))?
            }
            None => make(None)?,
        };
        clock.step("view");
        say(notes, input);
        Ok((report, compared))
    }

    /// The filters given; of the stacks through `--focus`, the part that the view shows.
    pub(crate) fn filters(&self) -> Filters {
        self.stacks.filters.filters_with(&self.stacks.what_if).focused(self.focus_part)
    }

    /// Loads the profile, and the old side if there is one. If asked for `sides`, sets them to the runs of both, which are
    /// read only once.
    fn load(&self, filters: &Filters, sides: Option<&mut Option<Sides>>) -> Result<Loaded> {
        let StackArgs { input, many, filters: filter_args, base, .. } = self.stacks;
        self.output.check(&[input.files()?, base.files()].concat())?;
        let mut needs = self.needs(filters);
        // A profile that is kept is shown with other filters later, and two sides are compared as a whole.
        if self.keep.is_none() && !base.is_given() && !self.needs.times {
            needs.only = filters.only().map(Arc::new);
        }
        let request = input.given(many, needs.clone(), filter_args.all_frames)?;
        if base.is_given() {
            return self.load_with_base(&request, needs, sides);
        }
        let loaded = load(&request)?;
        self.check(&loaded)?;
        Ok(loaded)
    }

    /// The profile, loaded now or earlier. If asked for `sides`, sets them to the runs of both.
    fn kept(
        &self,
        keep: &Keep,
        key: &str,
        filters: &Filters,
        sides: Option<&mut Option<Sides>>,
    ) -> Result<Loaded> {
        let loaded = if let Some(sides) = sides {
            // The runs take as much memory again, so they are kept only for views that compare them.
            let load = || {
                let mut sides = None;
                Ok(KeptProfile { loaded: self.load(filters, Some(&mut sides))?, sides })
            };
            let kept = keep.get(format!("{key} and runs"), load)?;
            *sides = kept.sides;
            kept.loaded
        } else {
            let (key, load) = (key.to_string(), || self.load(filters, None));
            if self.depends_on_metric() {
                keep.get(key, || load().map(KeptProfile::from))?.loaded
            } else {
                keep.get_showing(key, &self.stacks.input.metrics, load)?
            }
        };
        self.check(&loaded)?;
        Ok(loaded)
    }

    /// What two views have in common that can show the same loaded profile.
    fn key(&self, filters: &Filters) -> Result<String> {
        let stacks = self.stacks;
        let mut input = stacks.input.clone();
        if !self.depends_on_metric() {
            input.metrics = Vec::new();
        }
        let needs = self.needs(filters);
        // Which functions of two sides are the same depends on what a row stands for.
        let by = if stacks.base.is_given() { self.by.clone() } else { By::Function };
        let words = [input.repeated(), stacks.many.repeated(), stacks.base.repeated()];
        let flags = (needs.labels, needs.sizes, needs.times, stacks.filters.all_frames);
        Ok(format!("{:?} {words:?} {by:?} {flags:?}", input.files()?))
    }

    /// Whether what is loaded depends on the metric that is shown.
    fn depends_on_metric(&self) -> bool {
        self.stacks.base.is_given() || self.stacks.many.combine().chooses()
    }

    /// What has to be loaded.
    fn needs(&self, filters: &Filters) -> LoadOptions {
        self.needs.clone().or(needs(filters, &self.by))
    }

    /// Checks that the view can show a profile.
    fn check(&self, loaded: &Loaded) -> Result<()> {
        self.requirement.check(&loaded.profile, &self.by, &loaded.metrics)?;
        note(self.requirement.note([&loaded.profile].into_iter(), &self.by).as_slice(), &self.stacks.input);
        Ok(())
    }
}

/// What has to be loaded for filters and groups.
pub(crate) fn needs(filters: &Filters, by: &By) -> LoadOptions {
    filters.needs().or(LoadOptions { labels: matches!(by, By::Label(_)), ..LoadOptions::LEAST })
}

/// Applies the filters, and prints what there is to say about them and about the profile.
pub(crate) fn prepare(loaded: Loaded, filters: &Filters, by: By, input: &InputArgs) -> Result<Prepared> {
    let prepared = loaded.filtered(filters, by).map_err(explain)?;
    warn(&prepared.profile.meta.warnings, input);
    note(&prepared.profile.meta.notes, input);
    note(&prepared.notes, input);
    Ok(prepared)
}

/// The notes of a report that are printed next to it: warnings and notes on the profile are printed before, and text mentions
/// an approximation itself.
pub(super) fn notes_of_view(report: &Report, profile: &Profile, format: OutputFormat) -> Vec<Message> {
    let Some(header) = report.header() else { return Vec::new() };
    let is_said = |message: &&Message| {
        let is_in_text = format == OutputFormat::Text && header.approximation.as_ref() == Some(&message.text);
        is_in_text || profile.meta.notes.contains(&message.text)
    };
    let of_view = header.warnings.iter().filter(|message| message.kind == MessageKind::Note);
    of_view.filter(|message| !is_said(message)).cloned().collect()
}

/// Fails if several metrics were given to a command that shows only one.
pub(crate) fn one_metric(scope: &Scope, command: &str) -> Result<()> {
    if scope.metrics.len() > 1 {
        let message = format!("{command} shows one metric, but --metric was given several times");
        return Err(hinted(message, "prof top and prof tree show several metrics side by side"));
    }
    Ok(())
}

/// Writes a report in the chosen format, where it was asked for.
pub(crate) fn write(report: &Report, output: &Output, verbose: bool) -> Result<()> {
    let mut clock = Clock::new(verbose);
    let Output { target, format, style, .. } = output;
    if output.may_page {
        let mut text = Vec::new();
        render(report, *format, style, &mut text)?;
        if !(pager::is_needed(&text) && pager::show(&text)?) {
            target.write(|out| Ok(out.write_all(&text)?))?;
        }
    } else {
        target.write(|out| render(report, *format, style, out))?;
    }
    clock.step("print");
    Ok(())
}

/// Writes a report in a format. This is the only place that knows which function of `output` writes which format.
pub(super) fn render(
    report: &Report,
    format: OutputFormat,
    style: &Style,
    out: &mut dyn Write,
) -> Result<()> {
    match format {
        OutputFormat::Text => output::text(report, style, out).map_err(unwritten),
        OutputFormat::Json => Ok(output::json(report, out)?),
        OutputFormat::Csv => Ok(output::csv(report, out)?),
        OutputFormat::Markdown => output::markdown(report, style, out).map_err(unwritten),
        OutputFormat::Github | OutputFormat::Junit => write_check(report, format, out),
    }
}

/// Writes the result of a comparison for a CI server.
fn write_check(report: &Report, format: OutputFormat, out: &mut dyn Write) -> Result<()> {
    match (report, format) {
        (Report::Diff(diff), OutputFormat::Github) => Ok(output::github(diff, out)?),
        (Report::Diff(diff), _) => Ok(output::junit(diff, out)?),
        (Report::Budgets(budgets), OutputFormat::Github) => Ok(output::github_budgets(budgets, out)?),
        (Report::Budgets(budgets), _) => Ok(output::junit_budgets(budgets, out)?),
        _ => Err(hinted(
            "only prof diff writes the formats github and junit",
            "other formats are text, json, csv and markdown",
        )),
    }
}
