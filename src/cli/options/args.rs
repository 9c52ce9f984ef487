//! Arguments that several commands share.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion;
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::many::ManyArgs;
use crate::cli::options::memory;
use crate::cli::options::pictures::{has_ending, refuse_picture};
use crate::cli::options::symbols::SymbolArgs;
use crate::cli::terminal::messages::print_messages;
use crate::cli::terminal::target::Target;
use crate::output::{Explain, TextColumn};
use crate::profile::LoadOptions;
use crate::report::Message;
use crate::stats::Normalization;
use crate::tree::By;
use crate::unit::Unit;
use crate::view::Sort;

/// Options that every view of a profile shares.
#[derive(Args, Clone, Debug)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) many: ManyArgs,
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    #[command(flatten)]
    pub(crate) node: NodeArgs,
    #[command(flatten)]
    pub(crate) layout: LayoutArgs,
    #[command(flatten)]
    pub(crate) wording: WordingArgs,
}

/// The inputs, and which of their metrics to show.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputArgs {
    /// Profiles to read: paths, folders, or `-` for standard input
    #[arg(value_name = "PROFILE", help_heading = None, value_hint = ValueHint::AnyPath)]
    pub(crate) profiles: Vec<String>,
    /// Metric to show, by name or number
    #[arg(
        short, long = "metric", value_name = "NAME", aliases = ["sample-index", "sample_index", "type"],
        add = ArgValueCompleter::new(completion::metrics)
    )]
    pub(crate) metrics: Vec<String>,
    /// Read the input as FORMAT instead of detecting its format
    #[arg(long, value_name = "FORMAT", add = ArgValueCompleter::new(completion::formats))]
    pub(crate) input_format: Option<String>,
    /// Skip inputs that cannot be read, and report how many were skipped
    #[arg(long)]
    pub(crate) skip_broken: bool,
    /// Memory limit for profiles and rows, such as 2GiB [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    pub(crate) max_memory: Option<u64>,
    /// Do not print warnings and notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print how long each step took
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

impl InputArgs {
    /// Adds the memory limit to what a command needs to load.
    pub(crate) fn within_memory(&self, needs: LoadOptions) -> LoadOptions {
        LoadOptions { budget: memory::budget(self.max_memory), ..needs }
    }
}

/// Prints messages on standard error, unless `--quiet` was given.
pub(crate) fn say(messages: impl IntoIterator<Item = Message>, input: &InputArgs) {
    if !input.quiet {
        print_messages(messages);
    }
}

/// [`say`] for warnings.
pub(crate) fn warn(texts: &[String], input: &InputArgs) {
    say(texts.iter().map(Message::warning), input);
}

/// [`say`] for notes.
pub(crate) fn note(texts: &[String], input: &InputArgs) {
    say(texts.iter().map(Message::note), input);
}

/// Options that choose what a row or a node stands for.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)] // Otherwise the heading of the preceding arguments would carry over.
pub(crate) struct NodeArgs {
    /// Group by function, name, line, file, package, mapping, address or label:KEY
    #[arg(
        short = 'g', long, value_name = "KIND", default_value = "function", alias = "granularity",
        value_parser = by
    )]
    pub(crate) by: By,
    /// Same as --by line
    #[arg(long, hide = true, overrides_with = "by", aliases = ["line"])]
    lines: bool,
    /// Same as --by file
    #[arg(long, hide = true, overrides_with = "by")]
    files: bool,
    /// Same as --by address
    #[arg(long, hide = true, overrides_with = "by")]
    addresses: bool,
}

impl NodeArgs {
    /// What a row or a node stands for.
    pub(crate) fn by(&self) -> By {
        match self {
            NodeArgs { lines: true, .. } => By::Line,
            NodeArgs { files: true, .. } => By::File,
            NodeArgs { addresses: true, .. } => By::Address,
            _ => self.by.clone(),
        }
    }
}

/// Parses the value of `--by`. The plural forms of pprof are accepted too.
fn by(text: &str) -> Result<By, String> {
    if let Some(key) = text.strip_prefix("label:").filter(|key| !key.is_empty()) {
        return Ok(By::Label(key.to_string()));
    }
    match text {
        "function" | "functions" => Ok(By::Function),
        "name" | "names" => Ok(By::Name),
        "line" | "lines" => Ok(By::Line),
        "file" | "files" => Ok(By::File),
        "package" | "packages" => Ok(By::Package),
        "mapping" | "mappings" => Ok(By::Mapping),
        "address" | "addresses" => Ok(By::Address),
        _ => Err("expected function, name, line, file, package, mapping, address or label:KEY".to_string()),
    }
}

/// Options that choose the rows and their order.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct RowArgs {
    /// Sort by comma-separated keys; a leading - reverses (-total). Keys: self, total, children, name, delta, old, new
    #[arg(short, long, value_name = "KEYS", allow_hyphen_values = true)]
    pub(crate) sort: Option<Sort>,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
}

/// Options that choose the rows of a view whose order is fixed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct CutArgs {
    #[command(flatten)]
    pub(crate) most: LimitArgs,
    /// Hide rows below this percentage of the total after filters
    #[arg(long, value_name = "P", value_parser = percent)]
    pub(crate) min_share: Option<f64>,
}

/// The option that limits the number of rows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct LimitArgs {
    /// Show at most N rows; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// Parses a share in percent, with or without the percent sign.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        // `-0` would be printed with its sign.
        Ok(share) if (0.0..=100.0).contains(&share) => Ok(share.abs()),
        _ => Err("expected a percentage from 0 to 100".to_string()),
    }
}

/// Parses the value of `--normalize`.
pub(crate) fn normalize(text: &str) -> Result<Normalization, String> {
    let wrong = || "expected core, total, none, or per=OLD,NEW such as per=1000,1200".to_string();
    match text {
        "core" => Ok(Normalization::Core),
        "total" => Ok(Normalization::Total),
        "none" => Ok(Normalization::Run),
        _ => {
            let (old, new) =
                text.strip_prefix("per=").and_then(|work| work.split_once(',')).ok_or_else(wrong)?;
            let work = |text: &str| {
                text.trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|work| *work > 0.0 && work.is_finite())
                    .ok_or_else(wrong)
            };
            Ok(Normalization::Per { old: work(old)?, new: work(new)? })
        }
    }
}

impl LimitArgs {
    /// The limit given; otherwise `text` for text and Markdown, and no limit for other formats.
    pub(crate) fn limit_or(&self, layout: &LayoutArgs, text: usize) -> Option<usize> {
        let default = || if layout.format.is_for_people() { layout.rows_or(text) } else { 0 };
        Some(self.limit.unwrap_or_else(default)).filter(|&limit| limit > 0)
    }
}

impl CutArgs {
    /// The smallest share given; otherwise `text` for text and Markdown, and 0 for other formats.
    pub(crate) fn min_share_or(&self, layout: &LayoutArgs, text: f64) -> f64 {
        self.min_share.unwrap_or(if layout.format.is_for_people() { text } else { 0.0 })
    }
}

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
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// When to page text through $PAGER
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) pager: PagerChoice,
    /// Overwrite the output file even if it is a profile; inputs are never overwritten
    #[arg(long)]
    pub(crate) force: bool,
    /// The number of rows that fit the screen, if there is one. A view takes it when no limit was given.
    #[arg(skip)]
    pub(crate) rows: Cell<Option<usize>>,
    /// The columns of the text, of commands that let them be chosen.
    #[arg(skip)]
    pub(crate) columns: Vec<TextColumn>,
    /// Whether chains of calls are written in full, of commands that let this be chosen.
    #[arg(skip)]
    pub(crate) full_chains: bool,
    /// Which causes are listed, of `diff`.
    #[arg(skip)]
    pub(crate) explain: Explain,
    /// The exit code, once it is known, of commands whose text mentions it.
    #[arg(skip)]
    pub(crate) exit_code: Option<u8>,
}

impl LayoutArgs {
    /// The default number of rows: as many as fit the screen, or `text` if there is none.
    pub(crate) fn rows_or(&self, text: usize) -> usize {
        self.rows.take().unwrap_or(text)
    }

    /// Where the report is written. Fails if the extension of the file asks for a picture of `profiles`.
    pub(crate) fn target(&self, profiles: &[String], quiet: bool) -> anyhow::Result<Target> {
        if let Some(out) = &self.output {
            refuse_picture(out, profiles)?;
        }
        self.warn_of_extension(quiet);
        Ok(Target::new(self.output.as_deref()))
    }

    /// Notes that the extension of the output file does not choose the format: `-o top.json` alone writes text.
    pub(crate) fn warn_of_extension(&self, quiet: bool) {
        let Some(out) = self.output.as_deref().filter(|_| !quiet) else { return };
        let extensions = [
            (OutputFormat::Json, "json", "json"),
            (OutputFormat::Csv, "csv", "csv"),
            (OutputFormat::Markdown, "md", "markdown"),
        ];
        let other = extensions
            .iter()
            .find(|(format, extension, _)| has_ending(out, extension) && *format != self.format);
        if let Some((_, _, name)) = other {
            let shown = out.display();
            let note = format!("-o {shown} does not choose the format: add --format {name}");
            print_messages([Message::note(note)]);
        }
    }

    /// The layout of a picture, which has neither columns nor a pager.
    pub(crate) fn of_picture(output: Option<PathBuf>, force: bool) -> Self {
        let (format, color, pager) = (OutputFormat::Text, ColorChoice::Never, PagerChoice::Never);
        LayoutArgs {
            format,
            output,
            width: None,
            color,
            pager,
            force,
            rows: Cell::default(),
            columns: Vec::new(),
            full_chains: false,
            explain: Explain::default(),
            exit_code: None,
        }
    }

    /// Whether the output may be shown in a pager.
    pub(crate) fn may_page(&self) -> bool {
        self.format == OutputFormat::Text && self.pager == PagerChoice::Auto && io::stdout().is_terminal()
    }
}

/// Options without effect on this command, accepted because scripts pass the same options to every view.
#[derive(Args, Clone, Debug)]
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

/// The option for the unit of values.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct UnitArgs {
    /// Unit of values: auto, or a unit such as ms or MiB [default: auto]
    #[arg(long, value_name = "U")]
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
    /// Whether the format is read by people, who want the most important rows rather than all of them.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, OutputFormat::Text | OutputFormat::Markdown)
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
