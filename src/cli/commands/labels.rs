//! `prof labels`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{CutArgs, ViewArgs};
use crate::cli::calls::Shows;
use crate::cli::run::{one_metric, show};
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::{LabelsOptions, labels};

/// Label keys and values, with their share
#[derive(Args, Debug)]
#[command(visible_alias = "tags")]
#[command(after_help = "Examples:
  prof labels cpu.pb.gz                           which requests cost the most
  prof labels -n 3 --show-stacks json cpu.pb.gz   and which of them for encoding")]
pub(crate) struct LabelsCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: CutArgs,
}

/// Values of text for each key, unless told otherwise.
const VALUES: usize = 10;

const SHOWS: Shows =
    Shows::Stacks { why: "no samples that could carry labels", instead: "prof info says what is in it" };

impl LabelsCommand {
    pub(crate) fn run(self) -> Result<()> {
        show(
            &self.view,
            SHOWS,
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
            |profile, scope| {
                one_metric(&scope, "labels")?;
                let options = LabelsOptions {
                    scope,
                    limit: self.rows.most.limit_or(&self.view.layout, VALUES),
                    min_share: self.rows.min_share_or(&self.view.layout, 0.0),
                };
                Ok(Report::Labels(labels(profile, &options)))
            },
        )
    }
}
