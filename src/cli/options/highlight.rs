//! `--highlight`: rows that are marked, and the share of the stacks through them.

use std::slice;

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::functions;
use crate::cli::options::filters::explain;
use crate::filter::Filters;
use crate::profile::Profile;
use crate::view::{Marking, Scope};

/// The option that marks functions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct HighlightArgs {
    /// Mark matching functions and report their share
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    highlight: Option<String>,
}

impl HighlightArgs {
    /// Whether the option was given.
    pub(crate) fn is_given(&self) -> bool {
        self.highlight.is_some()
    }

    /// Adds the marked functions to the scope of a view, and returns notes on how the pattern was read. Fails if nothing matches.
    pub(crate) fn apply(
        &self,
        profile: &Profile,
        filters: &Filters,
        scope: &mut Scope,
    ) -> Result<Vec<String>> {
        let Some(pattern) = &self.highlight else { return Ok(Vec::new()) };
        let mut stages = filters.stages(profile.clone(), &scope.by);
        let marks = stages.matching("--highlight", slice::from_ref(pattern)).map_err(explain)?;
        scope.highlight = marks.map(|marks| Marking { pattern: pattern.clone(), marks });
        Ok(stages.notes)
    }
}
