//! `--base OLD`: compares what a view shows with an old side.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::cli::options::args::normalize;
use crate::cli::options::match_args::MatchArgs;
use crate::cli::terminal::failure::hinted;
use crate::stats::Normalization;
use crate::view::Sort;

/// Options for comparing a view with a baseline.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct BaseArgs {
    /// Compare with this baseline (repeatable; several are summed)
    #[arg(long, value_name = "OLD", aliases = ["diff-base", "diff_base"], value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<String>,
    /// Rescale the old side to make it comparable with the new: core (unchanged code costs the same), total (equal totals), per=OLD,NEW (units of work done on each side), or none
    #[arg(long, value_name = "HOW", default_value = "none", requires = "base", value_parser = normalize)]
    pub(crate) normalize: Normalization,
    #[command(flatten)]
    pub(crate) matching: MatchArgs,
}

impl BaseArgs {
    /// Whether there is an old side.
    pub(crate) fn is_given(&self) -> bool {
        !self.base.is_empty()
    }

    /// The files of the old side.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.base.iter().map(PathBuf::from).collect()
    }

    /// The order given, or `default`. An order that compares two sides needs an old side.
    pub(crate) fn order(&self, asked: Option<&Sort>, default: Sort) -> Result<Sort> {
        if !self.is_given() && asked.is_some_and(Sort::compares_sides) {
            let hint = "name the old side with --base OLD";
            return Err(hinted("--sort: delta, old and new need two sides to compare", hint));
        }
        Ok(asked.cloned().unwrap_or(default))
    }
}
