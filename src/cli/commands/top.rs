//! `prof top`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{RowArgs, ViewArgs};
use crate::cli::base::BaseArgs;
use crate::cli::run::show_beside;
use crate::report::Report;
use crate::view::{Sort, SortKey, TopOptions, top};

/// Flat view: self and total of every function
#[derive(Args, Debug)]
#[command(visible_alias = "flat")]
pub(crate) struct TopCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    rows: RowArgs,
}

/// Rows of text, unless told otherwise.
const ROWS: usize = 20;

impl TopCommand {
    pub(crate) fn run(self) -> Result<()> {
        let sort = if self.base.is_given() {
            Sort::by(SortKey::Delta).of_self(true)
        } else {
            Sort::by(SortKey::SelfValue)
        };
        show_beside(&self.view, &self.base, |profile, scope| {
            let options = TopOptions {
                scope,
                sort: self.rows.sort.clone().unwrap_or(sort),
                limit: self.rows.limit_or(&self.view.layout, ROWS),
                min_share: self.rows.min_share_or(&self.view.layout, 0.0),
            };
            Ok(Report::Top(top(profile, &options)))
        })
    }
}
