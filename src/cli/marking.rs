//! `--highlight`: rows that are marked, and what runs through them.

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::completion::functions;
use crate::cli::matching::Stages;
use crate::profile::Profile;
use crate::view::{Marking, Scope};

/// What to mark.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct MarkArgs {
    /// Mark the functions that match, and report their share
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    highlight: Option<String>,
}

impl MarkArgs {
    /// Tells a view what to mark. Fails where nothing matches.
    pub(crate) fn apply(&self, profile: &Profile, fixed: bool, scope: &mut Scope) -> Result<()> {
        let Some(pattern) = &self.highlight else { return Ok(()) };
        let mut stages = Stages::new(profile.clone(), fixed, &scope.by);
        let as_it_is = |profile: &Profile, _: &_| (profile.clone(), 0);
        let marks = stages.show("--highlight", std::slice::from_ref(pattern), as_it_is)?;
        scope.highlight = marks.map(|marks| Marking { pattern: pattern.clone(), marks });
        Ok(())
    }
}
