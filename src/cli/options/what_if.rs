//! `--what-if`: changes what functions cost.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::functions;
use crate::filter::FilterKind;

/// The option that changes what functions cost.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Filters")]
pub(crate) struct WhatIfArgs {
    /// Show the profile as if the stacks with a matching frame cost FACTOR times as much: 0.5 or 50% for half, 0 for nothing. If several match a stack, it gets their product
    #[arg(long, value_name = "RE=FACTOR", add = ArgValueCompleter::new(functions))]
    pub(crate) what_if: Vec<String>,
}

impl WhatIfArgs {
    /// The changes given, as filters.
    pub(crate) fn filters(&self) -> impl Iterator<Item = (FilterKind, String)> + '_ {
        self.what_if.iter().map(|text| (FilterKind::WhatIf, text.clone()))
    }
}
