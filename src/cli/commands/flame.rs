//! `prof flame`.

mod embedded;
mod timed;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum, ValueHint};

use crate::cli::commands::comparison::comparison;
use crate::cli::commands::flame::embedded::embedded;
#[cfg(feature = "ui")]
use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::Show;
use crate::cli::options::args::{NodeArgs, StackArgs, note};
use crate::cli::options::color_by::ColorByArgs;
use crate::cli::options::embed::EmbedArgs;
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{IgnoredArgs, Output, UnitArgs};
use crate::cli::options::pictures::{Drawing, has_ending};
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::filter::FocusPart;
use crate::output::{self, CLASSIC_PIXELS, ColorBy, HtmlOptions, SvgOptions, classic, html, svg};
use crate::pattern::Patterns;
use crate::profile::{LoadOptions, Profile};
use crate::report::{Diff, Direction, Header, Page, Report};
use crate::tree::By;
use crate::view::{FlameOptions, PageOptions, Scope, SiblingOrder, flame, page};

/// Flame graph: a picture (OUT.svg) or a page to explore (OUT.html)
///
/// An argument that ends in .svg or .html is the file to write; - is standard output. With --focus, the
/// picture shows the callers and the callees of a function.
#[derive(Args, Debug)]
#[command(override_usage = "prof flame [OPTIONS] OUT.svg|OUT.html [PROFILE]...")]
#[command(after_help = "Examples:
  prof flame cpu.svg cpu.pb.gz                       all stacks in one picture, to send or embed
  prof flame heap.html -m inuse_space heap.pb.gz     a page that zooms, searches and filters
  prof flame change.svg --base old.pb.gz new.pb.gz   what grew and what shrank
  prof flame order.svg --time app.cpuprofile         what was running when, on each thread")]
pub(crate) struct FlameCommand {
    #[command(flatten)]
    pub(super) stacks: StackArgs,
    #[command(flatten)]
    pub(super) node: NodeArgs,
    #[command(flatten)]
    pub(super) unit: UnitArgs,
    #[command(flatten)]
    pub(super) drawing: DrawingArgs,
    /// Title of the picture
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    #[command(flatten)]
    pub(super) code: CodeArgs,
    #[command(flatten)]
    pub(super) coloring: ColorByArgs,
    #[command(flatten)]
    pub(super) highlight: HighlightArgs,
    #[command(flatten)]
    pub(super) _ignored: IgnoredArgs,
}

/// Options for what is drawn, and where it is written.
#[derive(Args, Debug, Default)]
pub(super) struct DrawingArgs {
    /// Write the picture to this file (same as OUT); - is standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
    /// Overwrite the output file even if it is a profile; other files need no --force, inputs are never overwritten
    #[arg(long)]
    force: bool,
    /// Width of an SVG in pixels
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// Accepted only to explain that the extension of OUT chooses the format
    #[arg(short, long, hide = true)]
    format: Option<String>,
    /// Draw the root at the top instead of the bottom
    ///
    /// A page always opens with the root at the top, which can be changed there.
    #[arg(long)]
    icicle: bool,
    /// Draw a flame chart: from left to right is time, and each thread has a band of stacks
    #[arg(long)]
    time: bool,
    /// Draw a heat map: a column per second, and in it a cell per fiftieth of a second
    #[arg(long)]
    heatmap: bool,
    /// Draw callers on top of the functions they call
    #[arg(short, long, visible_alias = "invert")]
    bottom_up: bool,
    /// Order of frames with the same caller [default: weight in a page, alpha in a picture]
    #[arg(long, value_name = "HOW")]
    order: Option<SiblingOrder>,
    /// Style of an SVG [default: prof]
    #[arg(long, value_name = "STYLE")]
    style: Option<StyleChoice>,
}

impl DrawingArgs {
    /// What is drawn unless asked otherwise, written to this file.
    pub(super) fn to_file(out: PathBuf) -> Self {
        DrawingArgs { output: Some(out), ..DrawingArgs::default() }
    }
}

/// Options for what a picture or a page shows of the code.
#[derive(Args, Debug)]
pub(super) struct CodeArgs {
    /// Your own code, which gets colours (repeatable)
    ///
    /// All other functions are drawn as libraries. By default, own code is what is not known to be a library.
    #[arg(long, value_name = "RE")]
    own: Vec<String>,
    #[command(flatten)]
    embed: EmbedArgs,
}

/// Values of `--style`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StyleChoice {
    /// Colours with a meaning, a legend and notes
    Prof,
    /// The picture that the FlameGraph scripts draw
    Classic,
}

/// What the options ask for.
struct Plan {
    is_page: bool,
    is_classic: bool,
    /// Whether a page has a timeline.
    times: bool,
    own: Option<Patterns>,
    direction: Direction,
    order: SiblingOrder,
    focus_part: FocusPart,
    svg: SvgOptions,
}

impl FlameCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        if self.drawing.format.is_some() {
            let hint = "prof tree -f json has the same data";
            return Err(hinted(
                "flame has no --format: the extension of OUT, .svg or .html, chooses it",
                hint,
            ));
        }
        let out = self.out()?;
        if self.drawing.time || self.drawing.heatmap {
            return self.run_timed(&out);
        }
        let plan = self.plan(&out)?;
        let output = Output::picture(&out, self.drawing.force);
        let show = Show {
            focus_part: plan.focus_part,
            by: self.node.by(),
            // A page filters by labels.
            needs: LoadOptions { labels: plan.is_page, times: plan.times, ..LoadOptions::LEAST },
            ..Show::of_functions(&self.stacks, &self.highlight, &output, Requirement::Paths)
        };
        let shows_verdicts = plan.is_page || (plan.svg.color_by == ColorBy::Delta && !plan.is_classic);
        let view = |profile: &Profile, scope: Scope, _: Option<usize>| {
            if plan.is_page {
                return self.page(&plan, profile, scope, &output);
            }
            let options = FlameOptions {
                title: self.title.clone().unwrap_or_default(),
                order: plan.order,
                direction: plan.direction,
                pixels: if plan.is_classic { CLASSIC_PIXELS } else { plan.svg.frames_width() as u32 },
                own: plan.own.clone(),
                ..FlameOptions::new(scope)
            };
            Ok(flame(profile, &options).into())
        };
        let (report, compared) = show.report_and_compare(shows_verdicts, comparison, &view)?;
        let mut clock = Clock::new(self.stacks.input.verbose);
        output.target.write(|out| self.draw(plan, report, compared, out))?;
        clock.step("draw");
        Ok(())
    }

    /// Checks that the options fit together, and finds what they ask for.
    fn plan(&self, out: &Path) -> Result<Plan> {
        let is_page = has_ending(out, "html");
        if is_page && self.drawing.width.is_some() {
            let hint = "omit --width, or write an .svg";
            return Err(hinted("flame --width: a page is as wide as the browser window", hint));
        }
        // A page opens with the root at the top and the widest first, as a table is read.
        let usual_order = if is_page { SiblingOrder::Weight } else { SiblingOrder::Alphabetical };
        Ok(Plan {
            is_page,
            times: self.embedded(is_page)?,
            own: self.own()?,
            is_classic: self.is_classic(is_page)?,
            direction: if self.drawing.bottom_up { Direction::BottomUp } else { Direction::TopDown },
            order: self.drawing.order.unwrap_or(usual_order),
            focus_part: self.focus_part(is_page),
            svg: SvgOptions {
                icicle: self.drawing.icicle || is_page,
                color_by: self.coloring.color_by(&self.stacks.base)?,
                unit: self.unit.unit(),
                width: self.drawing.width,
            },
        })
    }

    /// The page of a profile, with the source lines of its functions if they are asked for.
    fn page(&self, plan: &Plan, profile: &Profile, scope: Scope, output: &Output) -> Result<Report> {
        let EmbedArgs { embed_source, paths, .. } = &self.code.embed;
        let title = self.title.clone().unwrap_or_default();
        let options = PageOptions {
            scope: scope.clone(),
            title,
            own: plan.own.clone(),
            lines: *embed_source,
            times: plan.times,
        };
        let mut page = page(profile, &options);
        if *embed_source {
            page.sources = embedded(profile, scope, &paths.sources());
            // The files that were read are inputs, which are never overwritten.
            let read = page.sources.iter().filter_map(|function| function.origin.path());
            output.check(&read.collect::<Vec<_>>())?;
        }
        note(&self.not_embedded(profile, &page), &self.stacks.input);
        Ok(page.into())
    }

    /// What was asked for and cannot be in the page.
    fn not_embedded(&self, profile: &Profile, page: &Page) -> Vec<String> {
        let EmbedArgs { embed_source, embed_times, .. } = self.code.embed;
        let mut notes = Vec::new();
        if embed_source && page.sources.is_empty() {
            notes.push(
                "--embed-source: no source file was found; --source-path DIR says where they are".to_string(),
            );
        }
        if embed_times && page.times.is_none() {
            notes.push(match &profile.samples.time {
                None => "--embed-times: the profile does not say when its samples were taken".to_string(),
                Some(_) => {
                    "--embed-times: only a page of one recording, without --from and --to, has a timeline"
                        .to_string()
                }
            });
        }
        notes
    }

    /// Writes the picture or the page, with the verdicts of the comparison if there is one.
    fn draw(&self, plan: Plan, report: Report, compared: Option<Diff>, out: &mut dyn Write) -> Result<()> {
        let Plan { is_classic, direction, order, focus_part, svg: options, .. } = plan;
        let drawn = match report {
            Report::Flame(mut flame) => {
                name_it(&mut flame.title, &flame.header);
                let rows = compared.iter().flat_map(|diff| &diff.rows).filter(|row| row.tested);
                flame.verdicts = rows.map(|row| (row.name.clone(), row.verdict)).collect();
                let draw = if is_classic { classic } else { svg };
                draw(&flame, &options, out)
            }
            Report::Page(mut page) => {
                name_it(&mut page.title, &page.header);
                page.comparison = compared.map(Box::new);
                let is_focus_of_page = focus_part == FocusPart::Untouched;
                let options = HtmlOptions {
                    icicle: options.icicle,
                    by_weight: order == SiblingOrder::Weight,
                    direction,
                    color_by: options.color_by,
                    focus: if is_focus_of_page { focus_of_page(&self.stacks.filters) } else { Vec::new() },
                    embeds_times: self.code.embed.embed_times,
                    unit: options.unit,
                };
                html(&page, &options, out)
            }
            _ => Ok(()),
        };
        drawn.map_err(unwritten)
    }

    /// The flame graph as a terminal shows it: the widest first. Blocks that are too narrow for `pixels` are left out. Profiles in `keep`
    /// are not loaded again.
    #[cfg(feature = "ui")]
    pub(super) fn graph(self, output: &Output, keep: &Keep, pixels: u32) -> Result<Report> {
        let (direction, focus_part) = if self.drawing.bottom_up {
            (Direction::BottomUp, FocusPart::Callers)
        } else {
            (Direction::TopDown, FocusPart::Callees)
        };
        let own = self.own()?;
        let show = Show {
            focus_part,
            by: self.node.by(),
            keep: Some(keep),
            ..Show::of_functions(&self.stacks, &self.highlight, output, Requirement::Paths)
        };
        let order = self.drawing.order.unwrap_or(SiblingOrder::Weight);
        show.report(|profile, scope, _| {
            let own = own.clone();
            let options = FlameOptions { order, direction, pixels, own, ..FlameOptions::new(scope) };
            Ok(flame(profile, &options).into())
        })
    }

    /// Checks what is to be embedded in a page, and returns whether times are.
    fn embedded(&self, is_page: bool) -> Result<bool> {
        let EmbedArgs { embed_source, embed_times, .. } = self.code.embed;
        let lines_by = matches!(self.node.by(), By::Function | By::Name);
        let refused = [
            (
                embed_source && !is_page,
                "--embed-source: a picture has no source lines",
                "write an .html, or see prof source",
            ),
            (
                embed_source && !lines_by,
                "--embed-source shows lines by function",
                "omit --by, or omit --embed-source",
            ),
            (
                embed_times && !is_page,
                "--embed-times: only a page has a timeline",
                "write an .html, or see prof timeline",
            ),
            (
                embed_times && self.stacks.base.is_given(),
                "--embed-times: the page of a comparison has no timeline",
                "omit --base, or omit --embed-times",
            ),
        ];
        refuse(&refused, |why| format!("flame {why}"))?;
        // In the page, another range would be added, and a command takes only one.
        let filters = &self.stacks.filters;
        let is_range = filters.from.is_some() || filters.to.is_some();
        Ok(is_page && !is_range && (embed_times || self.may_have_times()))
    }

    /// Whether a page has a timeline without being asked for it. Several profiles were not recorded at the same time, and
    /// some formats say either when a function was running, or on which line.
    fn may_have_times(&self) -> bool {
        let shows_lines = self.code.embed.embed_source || !matches!(self.node.by(), By::Function | By::Name);
        self.stacks.input.profiles.len() < 2 && !self.stacks.base.is_given() && !shows_lines
    }

    /// The patterns of own code.
    fn own(&self) -> Result<Option<Patterns>> {
        if self.code.own.is_empty() {
            return Ok(None);
        }
        let parsed = Patterns::parse(&self.code.own, self.stacks.filters.fixed_strings);
        let (patterns, notes) = parsed.map_err(|error| anyhow::anyhow!("--own: {error}"))?;
        note(&notes, &self.stacks.input);
        Ok(Some(patterns))
    }

    /// Whether the picture is a classic one. Fails if another option does not apply to that.
    fn is_classic(&self, is_page: bool) -> Result<bool> {
        if self.drawing.style.is_some() && is_page {
            return Err(hinted("flame --style: a page has only one style", "omit --style, or write an .svg"));
        }
        if self.drawing.style != Some(StyleChoice::Classic) {
            return Ok(false);
        }
        let has_focus = !self.stacks.filters.focus.is_empty() && !self.drawing.bottom_up;
        let refused = [
            (
                self.coloring.is_given(),
                "--color-by",
                "omit it: classic colours are random, or show the change with --base",
            ),
            (self.highlight.is_given(), "--highlight", "omit it, and search in the picture"),
            (!self.code.own.is_empty(), "--own", "omit it: classic colours are random"),
            (
                self.unit.unit().is_some(),
                "--unit",
                "omit it: a classic picture shows values in the unit of the metric",
            ),
            (
                has_focus,
                "--focus",
                "add --bottom-up to draw only callers, or use --show-from RE to draw only callees",
            ),
        ];
        let said = |option: &str| format!("flame --style classic: {option} does not apply to this style");
        refuse(&refused, said)?;
        Ok(true)
    }

    /// A picture shows the callers and callees of `--focus`. A page has all stacks and applies the focus when it
    /// opens, unless the names in it differ from those that patterns match here.
    fn focus_part(&self, is_page: bool) -> FocusPart {
        let names_are_kept = !self.stacks.filters.anonymize
            && matches!(self.node.by(), By::Function | By::Name | By::Line | By::Address);
        match (self.drawing.bottom_up, is_page) {
            (true, _) => FocusPart::Callers,
            (false, false) => FocusPart::Both,
            (false, true) if names_are_kept => FocusPart::Untouched,
            (false, true) => FocusPart::Callees,
        }
    }

    /// The output file: `-o`, or the argument with the extension of a picture.
    fn out(&mut self) -> Result<PathBuf> {
        let is_timed = self.drawing.time || self.drawing.heatmap;
        let endings: &[&str] = if is_timed { &["svg", "html", "json"] } else { &["svg", "html"] };
        let drawing = Drawing { command: "flame", endings, dash: true };
        let given = drawing.target(self.drawing.output.take(), &mut self.stacks.input.profiles)?;
        let out = given.ok_or_else(|| {
            let profiles = &self.stacks.input.profiles;
            // `prof flame picture cpu.pb.gz`: a name that is no file was probably meant as the output.
            let meant = profiles.iter().find(|path| !Path::new(path).exists());
            if let Some(meant) = meant.filter(|_| profiles.iter().any(|path| Path::new(path).exists())) {
                let message = format!("flame: {meant} does not end in .svg or .html, and is not a profile");
                let rest = profiles.iter().filter(|path| *path != meant).cloned().collect::<Vec<_>>();
                return hinted(message, format!("try: prof flame {meant}.svg {}", rest.join(" ")));
            }
            let corrected = format!("prof flame flame.svg {}", self.stacks.input.profiles.join(" "));
            hinted("flame: no output file given", format!("try: {}", corrected.trim_end()))
        })?;
        if out.extension().is_some() && !drawing.writes(&out) {
            let message = format!("flame: {}: flame writes only .svg and .html files", out.display());
            let out = out.with_extension("svg");
            let hint = format!("try: prof flame {} {}", out.display(), self.stacks.input.profiles.join(" "));
            return Err(hinted(message, hint));
        }
        Ok(out)
    }
}

/// Fails with the first of some problems that there is: whether there is one, what it is, and what to do.
fn refuse(problems: &[(bool, &str, &str)], said: impl Fn(&str) -> String) -> Result<()> {
    match problems.iter().find(|(is_given, ..)| *is_given) {
        Some((_, problem, hint)) => Err(hinted(said(problem), *hint)),
        None => Ok(()),
    }
}

/// The patterns of the focus that a page opens with.
fn focus_of_page(filters: &FilterArgs) -> Vec<String> {
    let literal = |text: &String| {
        // In a group, `file:` is not taken for a prefix.
        let escape = |c| {
            let special = r".*+?^${}()|[]\/".contains(c).then_some('\\');
            special.into_iter().chain([c])
        };
        let escaped: String = text.chars().flat_map(escape).collect();
        format!("(?:{escaped})")
    };
    let shown = |text: &String| if filters.fixed_strings { literal(text) } else { text.clone() };
    filters.focus.iter().map(shown).collect()
}

/// Sets the title of a picture, unless it has one, to the name of its input or how several were combined.
fn name_it(title: &mut String, header: &Header) {
    if !title.is_empty() {
        return;
    }
    *title = match (&header.combined, &header.inputs[..]) {
        (Some(combined), _) => output::combined(combined),
        (None, [one]) if one != "-" => {
            Path::new(one).file_name().map_or(one.clone(), |name| name.to_string_lossy().into_owned())
        }
        _ => "Flame graph".to_string(),
    };
}
