//! `--chains`: how much of a row that several functions share is shown.

use clap::{Args, ValueEnum};

/// How rows that several functions share are written.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ChainArgs {
    /// Rows that several functions share: short hides functions that do not fit, full shows each of them
    #[arg(long, value_name = "FORM", default_value = "short")]
    chains: Chains,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chains {
    /// What does not fit on the line is counted: `a → … 3 … → b`
    Short,
    /// One function per line where they do not fit on one
    Full,
}

impl ChainArgs {
    /// Whether all functions are shown.
    pub(crate) fn is_full(&self) -> bool {
        self.chains == Chains::Full
    }
}
