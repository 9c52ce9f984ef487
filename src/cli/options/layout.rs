//! The form of a report: format, width, colours, names, and where it is written.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::one_of;
use crate::cli::options::pictures::{Drawing, has_ending, refuse_picture};
use crate::cli::options::screen;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::messages::print_messages;
use crate::cli::terminal::session;
use crate::cli::terminal::target::Target;
use crate::output::{Glyphs, Style};
use crate::report::Message;
use crate::unit::Unit;

/// Options for the form of the report and where it is written.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct LayoutArgs {
    /// Output format
    #[arg(short, long, value_name = "F", default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Write the report to this file
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Text width in columns [default: the width of the terminal]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(MIN_WIDTH..=1_000_000))]
    pub(crate) width: Option<usize>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// When to page text through $PAGER
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) pager: PagerChoice,
    /// Overwrite the output file even if it is a profile; other files need no --force, inputs are never overwritten
    #[arg(long)]
    pub(crate) force: bool,
}

/// In fewer columns, a table would have no names.
const MIN_WIDTH: u64 = 20;

/// Where and how a report is written.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Where.
    pub(crate) target: Target,
    /// In which format.
    pub(crate) format: OutputFormat,
    /// How its text looks.
    pub(crate) style: Style,
    /// The number of lines that fit the screen above the next prompt, for text that is printed to a terminal.
    pub(crate) lines: Option<usize>,
    /// Whether it may be shown in a pager.
    pub(crate) may_page: bool,
    force: bool,
}

impl LayoutArgs {
    /// Where and how the report is written. Fails if the extension of the file asks for a picture of `profiles`.
    pub(crate) fn output(&self, wording: &WordingArgs, profiles: &[String], quiet: bool) -> Result<Output> {
        if let Some(out) = &self.output {
            refuse_picture(out, profiles)?;
        }
        if !quiet {
            print_messages(self.note_of_extension().map(Message::note));
        }
        let target = Target::new(self.output.as_deref());
        let is_terminal = target == Target::Stdout && !session::is_inside() && io::stdout().is_terminal();
        let is_text = self.format == OutputFormat::Text;
        Ok(Output {
            format: self.format,
            style: self.style(wording, is_terminal),
            lines: (is_terminal && is_text).then(|| Some(screen::height()?.saturating_sub(1))).flatten(),
            may_page: is_terminal && is_text && self.pager == PagerChoice::Auto,
            force: self.force,
            target,
        })
    }

    /// The picture to draw instead of a report, if one is given; it may be one of the positional arguments.
    pub(crate) fn picture(
        &mut self,
        drawing: &Drawing,
        positionals: &mut Vec<String>,
    ) -> Result<Option<PathBuf>> {
        self.output = drawing.target(self.output.take(), positionals)?;
        let picture = self.output.clone().filter(|out| drawing.writes(out));
        if picture.is_some() && self.format != OutputFormat::Text {
            let command = drawing.command;
            let message = format!("{command} --format: OUT is a picture, so there is no report to format");
            let hint = format!("run prof {command} once for the picture and once for the report");
            return Err(hinted(message, hint));
        }
        if picture.is_some() && self.width.is_some() {
            let message = format!("{} --width: a picture is as large as what is in it", drawing.command);
            return Err(hinted(message, "omit --width"));
        }
        Ok(picture)
    }

    fn style(&self, wording: &WordingArgs, is_terminal: bool) -> Style {
        Style {
            width: self.width.or_else(|| if is_terminal { screen::width() } else { None }),
            short_names: wording.names.map_or(is_terminal, |names| names == NamesChoice::Short),
            full_names: wording.names == Some(NamesChoice::Full),
            color: match self.color {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => !session::is_inside() && screen::color_by_environment(is_terminal),
            },
            glyphs: if is_terminal && !screen::shows_utf8() { &Glyphs::ASCII } else { &Glyphs::UNICODE },
            unit: wording.unit.unit(),
            ..Style::plain()
        }
    }

    /// The extension of the output file does not choose the format: `-o top.json` alone writes text.
    fn note_of_extension(&self) -> Option<String> {
        let out = self.output.as_deref()?;
        let is_meant =
            |format: &&OutputFormat| format.extension().is_some_and(|ending| has_ending(out, ending));
        let meant = OutputFormat::value_variants().iter().find(is_meant)?;
        let value = meant.to_possible_value().filter(|_| *meant != self.format)?;
        let what = if self.format == OutputFormat::Text { "add" } else { "use" };
        let (out, name) = (out.display(), value.get_name());
        Some(format!("-o {out} does not choose the format: {what} --format {name}"))
    }
}

impl Output {
    /// The file of a picture.
    pub(crate) fn picture(out: &Path, force: bool) -> Self {
        Output {
            target: Target::new(Some(out)),
            format: OutputFormat::Text,
            style: Style::plain(),
            lines: None,
            may_page: false,
            force,
        }
    }

    /// A report that is not written, but kept whole.
    #[cfg(feature = "ui")]
    pub(crate) fn kept() -> Self {
        Output {
            target: Target::Stdout,
            format: OutputFormat::Json,
            style: Style::plain(),
            lines: None,
            may_page: false,
            force: false,
        }
    }

    /// Fails if writing would destroy something.
    pub(crate) fn check<P: AsRef<Path>>(&self, inputs: &[P]) -> Result<()> {
        self.target.check(inputs, self.force)
    }
}

/// Options without effect on this command, accepted because scripts pass the same options to every view.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct IgnoredArgs {
    #[arg(long, hide = true)]
    names: Option<NamesChoice>,
    #[arg(long, hide = true)]
    color: Option<ColorChoice>,
    #[arg(long, hide = true)]
    pager: Option<PagerChoice>,
}

/// Options for how values and names are written.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct WordingArgs {
    #[command(flatten)]
    pub(crate) unit: UnitArgs,
    /// How to print function names: short or full [default: short on a terminal, full elsewhere]
    #[arg(long, value_name = "HOW")]
    pub(crate) names: Option<NamesChoice>,
}

/// The units that people ask for; others are understood, too.
const UNITS: [&str; 12] = ["auto", "ns", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "count"];

/// The option for the unit of values.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct UnitArgs {
    /// Unit of values: auto, or a unit such as ms or MiB [default: auto]
    #[arg(long, value_name = "U", add = ArgValueCompleter::new(one_of(&UNITS)))]
    unit: Option<String>,
}

impl UnitArgs {
    /// The unit given; `None` for the best fit.
    pub(crate) fn unit(&self) -> Option<Unit> {
        self.unit.as_deref().filter(|unit| *unit != "auto").map(Unit::parse)
    }
}

/// Values of `--format`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// A table to read on a terminal
    Text,
    /// JSON, complete and with exact values, for scripts
    Json,
    /// Comma-separated values, for spreadsheets
    Csv,
    /// A Markdown table, for comments and documents
    Markdown,
    /// Annotations for GitHub Actions
    #[value(hide = true)]
    Github,
    /// A JUnit test report for CI servers
    #[value(hide = true)]
    Junit,
}

impl OutputFormat {
    /// The extension of a file that can only be meant to have this format.
    fn extension(self) -> Option<&'static str> {
        match self {
            OutputFormat::Json => Some("json"),
            OutputFormat::Csv => Some("csv"),
            OutputFormat::Markdown => Some("md"),
            OutputFormat::Text | OutputFormat::Github | OutputFormat::Junit => None,
        }
    }

    /// Whether the format is read by people, who want the most important rows rather than all of them.
    pub(crate) fn is_for_people(self) -> bool {
        match self {
            OutputFormat::Text | OutputFormat::Markdown => true,
            OutputFormat::Json | OutputFormat::Csv | OutputFormat::Github | OutputFormat::Junit => false,
        }
    }
}

/// Values of `--names`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamesChoice {
    /// Without import paths, generic arguments and parameters
    Short,
    /// As they are in the profile
    Full,
}

/// Values of `--color`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless NO_COLOR or a similar variable is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Values of `--pager`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagerChoice {
    /// On a terminal, if the text is longer than the screen
    Auto,
    /// Never
    Never,
}
