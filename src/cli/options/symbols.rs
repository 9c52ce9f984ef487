//! `--binary` and `--symbolize`: looking up names for addresses.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options for looking up names that the profile lacks.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Symbols")]
pub(crate) struct SymbolArgs {
    /// Binary to look up names in, or a folder of binaries (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: Vec<PathBuf>,
    /// Look up names where the profile has only addresses: auto (if the binary is found) or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    pub(crate) symbolize: Symbolize,
}

/// Values of `--symbolize`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symbolize {
    /// If names are missing and binaries are found.
    Auto,
    Never,
}

impl SymbolArgs {
    /// The binaries given, and folders of them.
    pub(crate) fn binaries(&self) -> &[PathBuf] {
        &self.binary
    }
}
