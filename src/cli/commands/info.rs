//! `prof info`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::show::write;
use crate::cli::input::request::{explain, load};
use crate::cli::options::args::InputArgs;
use crate::cli::options::layout::{LayoutArgs, OutputFormat, WordingArgs};
use crate::cli::options::many::ManyArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::profile::LoadOptions;
use crate::view::{info, unfit};

/// Contents of a profile: format, metrics, duration, labels, symbols
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof info heap.pb.gz      which metrics it has, and which one is the default
  prof info stacks.folded   what an unknown file contains")]
pub(crate) struct InfoCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    layout: LayoutArgs,
}

impl InfoCommand {
    pub(crate) fn run(self) -> Result<()> {
        let output = self.layout.output(&WordingArgs::default(), &self.input.profiles, self.input.quiet)?;
        output.check(&self.input.files()?)?;
        let needs = LoadOptions { labels: true, ..LoadOptions::LEAST };
        let request = self.input.given(&self.many, needs, false)?;
        // With --seconds, a server is to record.
        if !self.input.network.records() {
            let offers = request.offers().map_err(|error| explain(error, &request))?;
            if let Some(offers) = offers {
                return write(&offers.into(), &output, self.input.verbose);
            }
        }
        let mut loaded = load(&request)?;
        let mut clock = Clock::new(self.input.verbose);
        let [metric] = loaded.metrics[..] else {
            let message = "info explains one metric, but --metric was given several times";
            return Err(hinted(message, "info lists all metrics of the profile in any case"));
        };
        loaded.profile.meta.default_metric = loaded.default_metric;
        let mut found = info(&loaded.profile, metric, loaded.inputs, loaded.combined);
        found.warnings.extend(unfit(&loaded.profile, metric));
        if self.input.quiet && output.format == OutputFormat::Text {
            found.warnings.clear();
        }
        clock.step("view");
        write(&found.into(), &output, self.input.verbose)
    }
}
