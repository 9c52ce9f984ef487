//! `prof top`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{RowArgs, ViewArgs};
use crate::cli::run::show;
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::{Sort, SortKey, TopOptions, top};

/// Flat view: self and total of every function
#[derive(Args, Debug)]
#[command(visible_alias = "flat")]
pub(crate) struct TopCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: RowArgs,
}

/// Rows of text, unless told otherwise.
const ROWS: usize = 20;

impl TopCommand {
    pub(crate) fn run(self) -> Result<()> {
        show(&self.view, LoadOptions::default(), |profile, scope| {
            let options = TopOptions {
                scope,
                sort: self.rows.sort.clone().unwrap_or_else(|| Sort::by(SortKey::SelfValue)),
                limit: self.rows.limit_or(&self.view.layout, ROWS),
                min_share: self.rows.min_share_or(&self.view.layout, 0.0),
            };
            Ok(Report::Top(top(profile, &options)))
        })
    }
}
