//! Options for the source lines of a page.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Options for the source lines of a page.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct EmbedArgs {
    /// Put source lines into a page
    ///
    /// They are those of the heaviest functions whose source files are found.
    #[arg(long)]
    pub(crate) embed_source: bool,
    /// Look for source files in this folder (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "embed_source")]
    pub(crate) source_path: Vec<PathBuf>,
    /// Remove this prefix from source paths (repeatable)
    #[arg(long, value_name = "PREFIX", requires = "embed_source")]
    pub(crate) trim_path: Vec<String>,
}
