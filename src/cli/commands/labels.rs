//! `prof labels`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{one_metric, show};
use crate::cli::options::args::{
    CutArgs, InputArgs, LayoutArgs, NamesChoice, NodeArgs, UnitArgs, ViewArgs, WordingArgs,
};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::filters::FilterArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::many::ManyArgs;
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::{LabelsOptions, labels};

/// Label keys and values, with their shares
#[derive(Args, Debug)]
#[command(visible_alias = "tags")]
#[command(after_help = "Examples:
  prof labels cpu.pb.gz                           which requests cost the most
  prof labels -n 3 --show-stacks json cpu.pb.gz   the same for stacks that encode JSON")]
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
    highlight: HighlightArgs,
    #[command(flatten)]
    rows: CutArgs,
    /// Accepted as in all views, without effect: there are no function names
    #[arg(long, hide = true)]
    names: Option<NamesChoice>,
}

/// The default number of values per key in text.
const VALUES: usize = 10;

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "calls have no labels",
    instead: "prof info describes the contents of the profile",
};

impl LabelsCommand {
    pub(crate) fn run(self) -> Result<()> {
        // This view has no functions: nothing to group by, and no names to shorten.
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
            REQUIREMENT,
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
            |profile, mut scope| {
                one_metric(&scope, "labels")?;
                self.highlight.apply(profile, view.filters.fixed_strings, &mut scope)?;
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
