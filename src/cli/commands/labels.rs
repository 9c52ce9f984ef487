//! `prof labels`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{
    CutArgs, InputArgs, LayoutArgs, NamesChoice, NodeArgs, UnitArgs, ViewArgs, WordingArgs,
};
use crate::cli::base::BaseArgs;
use crate::cli::calls::Shows;
use crate::cli::filters::FilterArgs;
use crate::cli::many::ManyArgs;
use crate::cli::marking::MarkArgs;
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
    input: InputArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    filters: FilterArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    unit: UnitArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    mark: MarkArgs,
    #[command(flatten)]
    rows: CutArgs,
    /// Accepted as in all views; there are no names of functions
    #[arg(long, hide = true)]
    names: Option<NamesChoice>,
}

/// Values of text for each key, unless told otherwise.
const VALUES: usize = 10;

const SHOWS: Shows =
    Shows::Stacks { why: "no samples that could carry labels", instead: "prof info says what is in it" };

impl LabelsCommand {
    pub(crate) fn run(self) -> Result<()> {
        // There are no functions in it: nothing to tell apart, and no names to shorten.
        let view = ViewArgs {
            input: self.input,
            many: self.many,
            filters: self.filters,
            node: NodeArgs::default(),
            layout: self.layout,
            wording: WordingArgs { unit: self.unit, names: self.names },
        };
        show(
            &view,
            &self.base,
            SHOWS,
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
            |profile, mut scope| {
                one_metric(&scope, "labels")?;
                self.mark.apply(profile, view.filters.fixed_strings, &mut scope)?;
                let options = LabelsOptions {
                    scope,
                    limit: self.rows.most.limit_or(&view.layout, VALUES),
                    min_share: self.rows.min_share_or(&view.layout, 0.0),
                };
                Ok(Report::Labels(labels(profile, &options)))
            },
        )
    }
}
