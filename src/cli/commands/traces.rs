//! `prof traces`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, write};
use crate::cli::options::args::{CutArgs, ViewArgs};
use crate::profile::LoadOptions;
use crate::view::{TracesOptions, traces};

/// Every distinct stack with its values and labels
#[derive(Args, Debug)]
#[command(mut_arg("metrics", |option| {
    option.help("Metric to show, by name, profile type or number (repeatable)")
}))]
#[command(mut_arg("limit", |option| option.help("Show at most N stacks; 0 for all [default: all]")))]
#[command(mut_arg("min_share", |option| {
    option.help("Hide stacks below this percentage of what is shown, in every metric [default: 0]")
}))]
#[command(after_help = "Examples:
  prof traces -n 1 --by line cpu.pb.gz   the heaviest stack with lines, leaf first
  prof traces -n 3 goroutine.pb.gz       what most goroutines wait for")]
pub(crate) struct TracesCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: CutArgs,
}

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "which calls were on the stack together is not recorded",
    instead: "prof focus FUNC and prof graph show the calls, prof tree approximates the call paths",
};

impl TracesCommand {
    pub(crate) fn run(self) -> Result<()> {
        let output = self.view.output()?;
        let min_share = self.rows.min_share_or(output.format, 0.0);
        let show = Show {
            limit: Some(self.rows.most.or(0)),
            needs: LoadOptions { labels: true, ..LoadOptions::LEAST },
            ..Show::new(&self.view, &output, REQUIREMENT)
        };
        let report = show.report(|profile, scope, limit| {
            Ok(traces(profile, &TracesOptions { scope, limit, min_share }).into())
        })?;
        write(&report, &output, self.view.stacks.input.verbose)
    }
}
