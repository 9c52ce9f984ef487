//! `prof top`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{one_metric, show};
use crate::cli::options::args::{RowArgs, ViewArgs};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::columns::ColumnArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::terminal::failure::hinted;
use crate::profile::{LoadOptions, Profile};
use crate::report::Report;
use crate::view::{Scope, Sort, SortKey, TopOptions, companion, top_per_event, top_with_calls};

/// Flat view: self and total of every function
#[derive(Args, Debug)]
#[command(visible_alias = "flat")]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name or number (repeatable)")
}))]
#[command(after_help = "Examples:
  prof top -n 10 cpu.pb.gz                    which functions have the largest self time
  prof top -n 10 -m alloc_space heap.pb.gz    who allocates the most, whether freed or not
  prof top -n 10 --base old.pb.gz new.pb.gz   what changed the most")]
pub(crate) struct TopCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Show averages per event: delay per contention, space per object, CPU per sample, other metrics per call
    #[arg(long, alias = "mean", conflicts_with_all = ["base", "columns"])]
    per_event: bool,
}

/// The default number of rows in text.
const ROWS: usize = 20;

impl TopCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        self.view.layout.columns = self.columns.columns();
        let sort = if self.base.is_given() {
            Sort::by(SortKey::Delta).of_self(true)
        } else {
            Sort::by(SortKey::SelfValue)
        };
        show(&self.view, &self.base, Requirement::Costs, LoadOptions::default(), |profile, mut scope| {
            self.highlight.apply(profile, self.view.filters.fixed_strings, &mut scope)?;
            self.columns.check(self.base.is_given(), scope.metrics.len(), "top")?;
            let options = TopOptions {
                scope,
                sort: self.base.order(self.rows.sort.as_ref(), sort.clone())?,
                limit: self.rows.cut.most.limit_or(&self.view.layout, ROWS),
                min_share: self.rows.cut.min_share_or(&self.view.layout, 0.0),
            };
            if !self.per_event {
                return Ok(Report::Top(top_with_calls(profile, &options)));
            }
            let events = events_of(profile, &options.scope, "top --per-event")?;
            Ok(Report::Top(top_per_event(profile, &options, events)))
        })
    }
}

/// The number of the metric that counts the events of the metric shown. Fails if there is none.
pub(crate) fn events_of(profile: &Profile, scope: &Scope, command: &str) -> Result<usize> {
    one_metric(scope, command)?;
    companion(profile, scope.metrics[0]).ok_or_else(|| {
        let metric = &profile.meta.metrics[scope.metrics[0]].name;
        hinted(
            format!("--per-event: the profile has no event count for {metric}"),
            "choose another metric with --metric",
        )
    })
}
