//! Arguments that several commands share.

use std::num::NonZero;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::base::BaseArgs;
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{LayoutArgs, Output, OutputFormat, WordingArgs};
use crate::cli::options::many::ManyArgs;
use crate::cli::options::network::NetworkArgs;
use crate::cli::options::symbols::SymbolArgs;
use crate::cli::options::what_if::WhatIfArgs;
use crate::cli::options::{completion, memory};
use crate::cli::terminal::messages::print_messages;
pub(crate) use crate::name::shell_words;
use crate::profile::LoadOptions;
use crate::report::Message;
use crate::tree::By;
use crate::view::Sort;

/// Options that every view of a profile shares.
#[derive(Args, Clone, Debug)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) stacks: StackArgs,
    #[command(flatten)]
    pub(crate) node: NodeArgs,
    #[command(flatten)]
    pub(crate) layout: LayoutArgs,
    #[command(flatten)]
    pub(crate) wording: WordingArgs,
    #[command(flatten)]
    pub(crate) highlight: HighlightArgs,
}

/// The options that say which stacks a view or a picture shows: what is read, what is left of it, and what it is compared
/// with.
#[derive(Args, Clone, Debug)]
pub(crate) struct StackArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) many: ManyArgs,
    #[command(flatten)]
    pub(crate) filters: FilterArgs,
    #[command(flatten)]
    pub(crate) what_if: WhatIfArgs,
    #[command(flatten)]
    pub(crate) base: BaseArgs,
}

impl StackArgs {
    /// The options given, as words of a command line that shows something else of the same stacks.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let filters = self.filters.repeated(&self.what_if);
        [self.input.repeated(), self.many.repeated(), filters, self.base.repeated()].concat()
    }
}

impl ViewArgs {
    /// Where and how the report is written.
    pub(crate) fn output(&self) -> anyhow::Result<Output> {
        self.layout.output(&self.wording, &self.stacks.input.profiles, self.stacks.input.quiet)
    }
}

/// The inputs, and which of their metrics to show.
#[derive(Args, Clone, Debug)]
pub(crate) struct InputArgs {
    /// Profiles to read: paths, folders (their files, not subfolders), addresses (http://…), or `-` for standard input
    #[arg(value_name = "PROFILE", help_heading = None, value_hint = ValueHint::AnyPath)]
    pub(crate) profiles: Vec<String>,
    /// Metric to show, by name, profile type or number
    #[arg(
        short, long = "metric", value_name = "NAME", aliases = ["sample-index", "sample_index", "type"],
        add = ArgValueCompleter::new(completion::metrics)
    )]
    pub(crate) metrics: Vec<String>,
    /// Show what makes the program take long rather than what uses CPUs: each sample counts 1 ÷ the number of threads running at that moment
    #[arg(long)]
    pub(crate) latency: bool,
    /// Show CPU time and waiting time (locks, sleeps, sockets, files, the scheduler) together, as the metric wall
    #[arg(long)]
    pub(crate) wall: bool,
    /// Read the input as FORMAT instead of detecting its format
    #[arg(long, value_name = "FORMAT", add = ArgValueCompleter::new(completion::formats))]
    pub(crate) input_format: Option<String>,
    /// Skip inputs that cannot be read, and report how many were skipped
    #[arg(long)]
    pub(crate) skip_broken: bool,
    /// Memory limit for profiles and rows, such as 2GiB [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    pub(crate) max_memory: Option<u64>,
    /// Number of threads to use at most [default: one per processor]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Do not print warnings and notes
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print how long each step took
    #[arg(short, long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) symbols: SymbolArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
}

impl InputArgs {
    /// The options given, as words of a command line that reads the same.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let mut words: Vec<String> =
            self.metrics.iter().flat_map(|metric| ["-m".to_string(), metric.clone()]).collect();
        let format = self.input_format.iter();
        words.extend(format.flat_map(|format| ["--input-format".to_string(), format.clone()]));
        words.extend(self.wall.then(|| "--wall".to_string()));
        words.extend(self.latency.then(|| "--latency".to_string()));
        words.extend(self.skip_broken.then(|| "--skip-broken".to_string()));
        words.extend(self.symbols.repeated());
        words
    }

    /// Adds the memory limit to what a command needs to load.
    pub(crate) fn within_memory(&self, mut needs: LoadOptions) -> LoadOptions {
        needs.budget = memory::budget(self.max_memory);
        needs
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
    /// Group by function, name (functions of one name, in any file), line, file, package, mapping (executable or library), address or label:KEY
    #[arg(
        short = 'g', long, value_name = "KIND", default_value = "function", alias = "granularity",
        value_parser = by, add = ArgValueCompleter::new(completion::kinds_of_rows)
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
        _ => Err(format!("expected {} or label:KEY", By::WORDS.join(", "))),
    }
}

/// Options that choose the rows and their order.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct RowArgs {
    /// Sort by comma-separated keys; a leading - reverses (-total). Keys: self, total, children, name, delta, old, new
    #[arg(
        short, long, value_name = "KEYS", allow_hyphen_values = true,
        add = ArgValueCompleter::new(completion::sort_keys)
    )]
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
    /// Hide rows below this percentage of what is shown, in every metric [default: 0]
    #[arg(long, value_name = "P", value_parser = percent)]
    pub(crate) min_share: Option<f64>,
}

/// The option that limits the number of rows.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct LimitArgs {
    /// Show at most N rows; 0 for all [default: as many as fit the screen, or 20; JSON and CSV: all]
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

/// Parses a probability: `0.01` or `1%`.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    let value = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    match value {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("expected a number between 0 and 1, or a percentage".to_string()),
    }
}

/// How many rows a view shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowLimit {
    /// The number given.
    pub(crate) given: Option<usize>,
    /// The number in text and Markdown otherwise; other formats have all rows. 0 for all.
    pub(crate) text: usize,
}

impl RowLimit {
    /// The largest number of rows, where `that_fit` are those that fit the screen; `None` for all.
    pub(crate) fn rows(self, format: OutputFormat, that_fit: Option<usize>) -> Option<usize> {
        let default = if format.is_for_people() { that_fit.unwrap_or(self.text) } else { 0 };
        Some(self.given.unwrap_or(default)).filter(|&rows| rows > 0)
    }
}

impl LimitArgs {
    /// The limit given; otherwise `text` rows in text and Markdown, and no limit in other formats.
    pub(crate) fn or(&self, text: usize) -> RowLimit {
        RowLimit { given: self.limit, text }
    }
}

impl CutArgs {
    /// The smallest share given; otherwise `text` for text and Markdown, and 0 for other formats.
    pub(crate) fn min_share_or(&self, format: OutputFormat, text: f64) -> f64 {
        self.min_share.unwrap_or(if format.is_for_people() { text } else { 0.0 })
    }
}
