//! `--chains`: how rows that stand for a chain of functions are written.

use clap::{Args, ValueEnum};

/// The option for rows that stand for a chain of functions.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ChainArgs {
    /// How to write rows that stand for a chain of calls
    #[arg(long, value_name = "FORM", default_value = "short")]
    chains: Chains,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chains {
    /// Count functions that do not fit on the line: `a → … 3 … → b`
    Short,
    /// Show all functions, one per line if they do not fit on one line
    Full,
}

impl ChainArgs {
    /// Whether all functions of a chain are shown.
    pub(crate) fn is_full(&self) -> bool {
        self.chains == Chains::Full
    }
}
