//! `prof traces`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::show;
use crate::cli::options::args::{CutArgs, ViewArgs};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::{TracesOptions, traces};

/// Every distinct stack with its values and labels
#[derive(Args, Debug)]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name or number (repeatable)")
}))]
#[command(after_help = "Examples:
  prof traces -n 1 --by line cpu.pb.gz   the heaviest stack with lines, leaf first
  prof traces -n 3 goroutine.pb.gz       what most goroutines wait for")]
pub(crate) struct TracesCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
    #[command(flatten)]
    rows: CutArgs,
}

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "which calls were on the stack together is not recorded",
    instead: "prof focus FUNC and prof graph show the calls, prof tree approximates the call paths",
};

impl TracesCommand {
    pub(crate) fn run(self) -> Result<()> {
        show(
            &self.view,
            &self.base,
            REQUIREMENT,
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
            |profile, mut scope| {
                self.highlight.apply(profile, self.view.filters.fixed_strings, &mut scope)?;
                let options = TracesOptions {
                    scope,
                    limit: self.rows.most.limit_or(&self.view.layout, 0),
                    min_share: self.rows.min_share_or(&self.view.layout, 0.0),
                };
                Ok(Report::Traces(traces(profile, &options)))
            },
        )
    }
}
