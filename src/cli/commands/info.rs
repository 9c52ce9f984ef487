//! `prof info`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{InputArgs, LayoutArgs};
use crate::cli::clock::Clock;
use crate::cli::inputs::load;
use crate::cli::run::write_report;
use crate::cli::target::Target;
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::info;

/// What is in a profile: format, metrics, duration, labels, symbols
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof info heap.pb.gz      which metrics it has, and which one commands show
  prof info stacks.folded   what a file of unknown origin holds")]
pub(crate) struct InfoCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    layout: LayoutArgs,
}

impl InfoCommand {
    pub(crate) fn run(self) -> Result<()> {
        let target = Target::new(self.layout.output.as_deref());
        let loaded =
            load(&self.input, LoadOptions { labels: true, times: false, ..LoadOptions::LEAST }, true)?;
        target.check(&loaded.names, self.layout.force)?;
        let mut clock = Clock::new(self.input.verbose);
        let report = Report::Info(info(&loaded.profile, loaded.inputs));
        clock.step("view");
        write_report(&report, &self.layout, &target)?;
        clock.step("print");
        Ok(())
    }
}
