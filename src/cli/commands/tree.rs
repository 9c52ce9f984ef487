//! `prof tree` and `prof tree --bottom-up`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, write};
use crate::cli::commands::top::events_of;
use crate::cli::options::args::{RowArgs, ViewArgs};
use crate::cli::options::chains::ChainArgs;
use crate::cli::options::columns::{ColumnArgs, columns_of_trees};
use crate::cli::options::layout::{Output, OutputFormat};
use crate::cli::options::memory;
use crate::cli::terminal::failure::hinted;
use crate::filter::FocusPart;
use crate::report::Report;
use crate::view::{SortKey, TreeOptions, bottom_up, tree, tree_per_event, with_events};

/// Call tree: callees below their callers, or callers below callees
#[derive(Args, Debug)]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name, profile type or number (repeatable)")
}))]
#[command(mut_arg("limit", |option| {
    option.help("Show at most N rows, or with --bottom-up N functions; 0 for all [default: as many as fit the screen, or 40, with --bottom-up 10; JSON and CSV: all]")
}))]
#[command(mut_arg("min_share", |option| {
    option.help("Hide rows below this percentage of what is shown, in every metric; with --bottom-up, callers below this percentage of the function at the top [default: 0.5, with --bottom-up 20; JSON and CSV: 0]")
}))]
#[command(mut_arg("columns", |option| option.value_parser(columns_of_trees())))]
#[command(after_help = "Examples:
  prof tree -n 10 --label endpoint=/orders cpu.pb.gz   where one kind of request spends its time
  prof tree --bottom-up -n 2 mutex.pb.gz               which callers make others wait for locks")]
pub(crate) struct TreeCommand {
    #[command(flatten)]
    view: ViewArgs,
    /// Start at each function and show its callers
    #[arg(short, long, visible_alias = "invert")]
    bottom_up: bool,
    /// Show at most N levels
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    chains: ChainArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Show averages per event: delay per contention, space per object, CPU per sample, other metrics per call
    #[arg(long, alias = "mean", conflicts_with_all = ["base", "columns"])]
    per_event: bool,
}

/// The default number of rows in text, top-down.
const ROWS: usize = 40;
/// The default smallest share of these rows in what is shown, in percent.
const MIN_SHARE: f64 = 0.5;
/// The default number of functions in text, bottom-up.
const FUNCTIONS: usize = 10;
/// The default smallest share of their callers, in percent of the function.
const MIN_CALLER_SHARE: f64 = 20.0;

/// The hint for a tree with too many rows.
const FEWER_ROWS: &str =
    "reduce the rows with --limit, --depth or --min-share, or raise the limit with --max-memory 8GiB";

impl TreeCommand {
    pub(crate) fn run(self) -> Result<()> {
        let mut output = self.view.output()?;
        output.style.columns = self.columns.columns();
        output.style.full_chains = self.chains.is_full();
        write(&self.report(&output, None)?, &output, self.view.stacks.input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let (sort, rows, min_share, focus_part) = if self.bottom_up {
            (SortKey::SelfValue, FUNCTIONS, MIN_CALLER_SHARE, FocusPart::All)
        } else {
            (SortKey::Total, ROWS, MIN_SHARE, FocusPart::Callees)
        };
        let sort = self.view.stacks.base.order(self.rows.sort.as_ref(), sort)?;
        let min_share = self.rows.cut.min_share_or(output.format, min_share);
        let show = Show {
            focus_part,
            limit: Some(self.rows.cut.most.or(rows)),
            keep,
            ..Show::new(&self.view, output, Requirement::Paths)
        };
        show.report(|profile, scope, limit| {
            self.columns.check(self.view.stacks.base.is_given(), scope.metrics.len(), "tree")?;
            let events =
                self.per_event.then(|| events_of(profile, &scope, "tree --per-event")).transpose()?;
            let options = TreeOptions {
                scope: events.map_or_else(|| scope.clone(), |events| with_events(scope.clone(), events)),
                sort: sort.clone(),
                limit,
                min_share,
                depth: self.depth,
                join: output.format == OutputFormat::Text,
                budget: memory::budget(self.view.stacks.input.max_memory),
            };
            let mut tree = if self.bottom_up {
                bottom_up(profile, &options).map_err(|error| hinted(error.to_string(), FEWER_ROWS))?
            } else {
                tree(profile, &options)
            };
            if let Some(events) = events {
                tree = tree_per_event(tree, profile, events);
            }
            Ok(tree.into())
        })
    }
}
