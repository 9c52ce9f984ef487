//! The arguments that commands share.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion;
use crate::cli::filters::FilterArgs;
use crate::cli::many::ManyArgs;
use crate::cli::memory;
use crate::cli::paths;
use crate::cli::symbols::SymbolArgs;
use crate::profile::LoadOptions;
use crate::stats::Normalization;
use crate::tree::By;
use crate::unit::Unit;
use crate::view::Sort;

/// What all counting views share.
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

/// Inputs, and which of their values to show.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputArgs {
    /// Profiles: paths, folders, or `-` for standard input
    #[arg(value_name = "PROFILE", help_heading = None, value_hint = ValueHint::AnyPath)]
    pub(crate) profiles: Vec<String>,
    /// Metric to show, by name or number
    #[arg(
        short, long = "metric", value_name = "NAME", aliases = ["sample-index", "sample_index", "type"],
        add = ArgValueCompleter::new(completion::metrics)
    )]
    pub(crate) metrics: Vec<String>,
    /// Read the input as this format, whatever it looks like
    #[arg(long, value_name = "FORMAT", add = ArgValueCompleter::new(completion::formats))]
    pub(crate) input_format: Option<String>,
    /// Leave out inputs that cannot be read, and say how many
    #[arg(long)]
    pub(crate) skip_broken: bool,
    /// Most memory that profiles may take, or rows, such as 2GiB [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    pub(crate) max_memory: Option<u64>,
    /// Print no warnings
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print how long each step took
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
}

impl InputArgs {
    /// The files that are read: the profiles, and the binaries that give names to their addresses.
    pub(crate) fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let profiles = paths::names(&self.profiles)?.into_iter().map(PathBuf::from);
        Ok(profiles.chain(self.symbols.binaries().iter().cloned()).collect())
    }

    /// What is to be loaded, and how much memory that may take.
    pub(crate) fn within_memory(&self, needs: LoadOptions) -> LoadOptions {
        LoadOptions { budget: memory::budget(self.max_memory), ..needs }
    }
}

/// What the nodes are.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)] // Or the heading of the arguments before would go on.
pub(crate) struct NodeArgs {
    /// What to tell apart:
    /// function, name, line, file, package, mapping, address or label:KEY
    #[arg(
        short = 'g', long, value_name = "KIND", default_value = "function", alias = "granularity",
        value_parser = by, verbatim_doc_comment
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
    /// What the nodes are.
    pub(crate) fn by(&self) -> By {
        match self {
            NodeArgs { lines: true, .. } => By::Line,
            NodeArgs { files: true, .. } => By::File,
            NodeArgs { addresses: true, .. } => By::Address,
            _ => self.by.clone(),
        }
    }
}

/// Reads what `--by` takes; pprof's plurals are accepted.
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

/// Which rows, and in which order.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct RowArgs {
    /// Order: self, total, children, name, delta, old, new; a list of keys, `-` reverses
    #[arg(short, long, value_name = "KEYS", allow_hyphen_values = true)]
    pub(crate) sort: Option<Sort>,
    #[command(flatten)]
    pub(crate) cut: CutArgs,
}

/// Which rows, where their order is given.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct CutArgs {
    #[command(flatten)]
    pub(crate) most: LimitArgs,
    /// Cut rows under this share of what is shown, in percent
    #[arg(long, value_name = "P", value_parser = percent)]
    pub(crate) min_share: Option<f64>,
}

/// How many rows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct LimitArgs {
    /// How many rows at most; 0 for all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

/// A share in percent, with or without its sign.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        // `.abs()` for `-0`, which would be printed with its sign.
        Ok(share) if (0.0..=100.0).contains(&share) => Ok(share.abs()),
        _ => Err("expected a number of percent from 0 to 100".to_string()),
    }
}

/// What costs are relative to.
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
    /// The limit asked for, or `text` where text is written and nothing was asked for.
    pub(crate) fn limit_or(&self, layout: &LayoutArgs, text: usize) -> Option<usize> {
        let default = || if layout.format.is_for_people() { layout.rows_or(text) } else { 0 };
        Some(self.limit.unwrap_or_else(default)).filter(|&limit| limit > 0)
    }
}

impl CutArgs {
    /// The smallest share asked for, or `text` where text is written and nothing was asked for.
    pub(crate) fn min_share_or(&self, layout: &LayoutArgs, text: f64) -> f64 {
        self.min_share.unwrap_or(if layout.format.is_for_people() { text } else { 0.0 })
    }
}

/// How the report looks and where it goes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct LayoutArgs {
    /// Form of the report
    #[arg(short, long, value_name = "F", default_value = "text")]
    pub(crate) format: OutputFormat,
    /// Write the report to a file
    #[arg(short, long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Lay text out for this many columns
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,
    /// When to colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorChoice,
    /// Whether text longer than the screen is shown by $PAGER
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) pager: PagerChoice,
    /// Replace the output file even if it is a profile (but never an input)
    #[arg(long)]
    pub(crate) force: bool,
    /// How many rows fit the screen, where there is one; taken by a view whose number of rows is not given.
    #[arg(skip)]
    pub(crate) rows: Cell<Option<usize>>,
}

impl LayoutArgs {
    /// How many rows text has by default: what fits the screen, else `text`.
    pub(crate) fn rows_or(&self, text: usize) -> usize {
        self.rows.take().unwrap_or(text)
    }

    /// That of a picture, which has neither columns nor a pager.
    pub(crate) fn of_picture(output: Option<PathBuf>, force: bool) -> Self {
        let (format, color, pager) = (OutputFormat::Text, ColorChoice::Never, PagerChoice::Never);
        LayoutArgs { format, output, width: None, color, pager, force, rows: Cell::default() }
    }

    /// Whether a pager may show what is written to a terminal.
    pub(crate) fn may_page(&self) -> bool {
        self.format == OutputFormat::Text && self.pager == PagerChoice::Auto && io::stdout().is_terminal()
    }
}

/// Options that all views share and that say nothing here: accepted, since scripts give every view the same.
#[derive(Args, Clone, Debug)]
pub(crate) struct UnheededArgs {
    #[arg(long, hide = true)]
    names: Option<NamesChoice>,
    #[arg(long, hide = true)]
    color: Option<ColorChoice>,
    #[arg(long, hide = true)]
    pager: Option<PagerChoice>,
}

/// How values and names are written; by default as fits them.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct WordingArgs {
    #[command(flatten)]
    pub(crate) unit: UnitArgs,
    /// Whether names lose import paths, generic arguments and parameters [default: short on a terminal]
    #[arg(long, value_name = "HOW")]
    pub(crate) names: Option<NamesChoice>,
}

/// The unit of values.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct UnitArgs {
    /// Unit of the values: auto, or one of the same kind [default: auto]
    #[arg(long, value_name = "U")]
    unit: Option<String>,
}

impl UnitArgs {
    /// The unit asked for; `None` for the one that fits.
    pub(crate) fn unit(&self) -> Option<Unit> {
        self.unit.as_deref().filter(|unit| *unit != "auto").map(Unit::parse)
    }
}

/// What `--format` takes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// For people
    Text,
    /// For scripts
    Json,
    /// For spreadsheets
    Csv,
    /// For comments and documents
    Markdown,
    /// Annotations for GitHub Actions (diff only)
    Github,
    /// Test results for build servers (diff only)
    Junit,
}

impl OutputFormat {
    /// Whether people read it, who want the most important rows rather than all.
    pub(crate) fn is_for_people(self) -> bool {
        matches!(self, OutputFormat::Text | OutputFormat::Markdown)
    }
}

/// What `--names` takes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamesChoice {
    /// Without import paths, generic arguments and parameters
    Short,
    /// As the profile has them
    Full,
}

/// What `--color` takes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment says otherwise
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What `--pager` takes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PagerChoice {
    /// For text on a terminal
    Auto,
    /// Never
    Never,
}
