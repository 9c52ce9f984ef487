//! `prof top`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{RowArgs, ViewArgs};
use crate::cli::options::columns::ColumnArgs;
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::hinted;
use crate::profile::Profile;
use crate::report::Report;
use crate::view::{Scope, Sort, SortKey, TopOptions, companion, top_per_event, top_with_calls};

/// Flat view: self and total of every function
#[derive(Args, Debug)]
#[command(visible_alias = "flat")]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name, profile type or number (repeatable)")
}))]
#[command(after_help = "Examples:
  prof top -n 10 cpu.pb.gz                    which functions have the largest self time
  prof top -n 10 -m alloc_space heap.pb.gz    who allocates the most, whether freed or not
  prof top -n 10 --base old.pb.gz new.pb.gz   what changed the most")]
pub(crate) struct TopCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    /// Show averages per event: delay per contention, space per object, CPU per sample, other metrics per call
    #[arg(long, alias = "mean", conflicts_with_all = ["base", "columns"])]
    per_event: bool,
}

/// The default number of rows in text.
const ROWS: usize = 20;

impl TopCommand {
    pub(crate) fn run(self) -> Result<()> {
        let mut output = self.view.output()?;
        output.style.columns = self.columns.columns();
        output.style.by_children = self.rows.sort.as_ref().is_some_and(Sort::is_by_children);
        write(&self.report(&output, None)?, &output, self.view.stacks.input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let sort = self.view.stacks.base.order(self.rows.sort.as_ref(), SortKey::SelfValue)?;
        let min_share = self.rows.cut.min_share_or(output.format, 0.0);
        let show = Show {
            limit: Some(self.rows.cut.most.or(ROWS)),
            keep,
            ..Show::new(&self.view, output, Requirement::Costs)
        };
        show.report(|profile, scope, limit| {
            self.columns.check(self.view.stacks.base.is_given(), scope.metrics.len(), "top")?;
            let options = TopOptions { scope, sort: sort.clone(), limit, min_share };
            if !self.per_event {
                return Ok(top_with_calls(profile, &options).into());
            }
            let events = events_of(profile, &options.scope, "top --per-event")?;
            Ok(top_per_event(profile, &options, events).into())
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
