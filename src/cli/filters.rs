//! The filters that every view shares, in the order in which they are applied.

use anyhow::Result;
use clap::Args;

use crate::profile::{LoadOptions, Profile};

/// Which stacks and frames to look at.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct FilterArgs {}

/// A filtered profile, and the filters as typed.
pub(crate) struct Filtered {
    pub(crate) profile: Profile,
    pub(crate) typed: Vec<String>,
}

impl FilterArgs {
    /// What the filters need to have loaded.
    pub(crate) fn needs(&self) -> LoadOptions {
        LoadOptions::default()
    }

    /// Applies the filters, whatever the order they were typed in.
    pub(crate) fn apply(&self, profile: Profile) -> Result<Filtered> {
        Ok(Filtered { profile, typed: Vec::new() })
    }
}
