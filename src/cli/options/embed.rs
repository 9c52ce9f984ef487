//! Options for source lines.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::cli::terminal::session;
use crate::load::Sources;

/// Options that say where source files are.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct SourcePathArgs {
    /// Look for source files in this folder (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    source_path: Vec<PathBuf>,
    /// Remove this prefix from source paths (repeatable)
    #[arg(long, value_name = "PREFIX")]
    trim_path: Vec<String>,
}

impl SourcePathArgs {
    /// Where to look for source files.
    pub(crate) fn sources(&self) -> Sources {
        match session::of_session(|session| session.folders.clone()) {
            Some(folders) => Sources::within(folders, &self.trim_path),
            None => Sources::new(&self.source_path, &self.trim_path),
        }
    }
}

/// Options for what a page contains besides stacks.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
#[command(mut_arg("source_path", |option| option.requires("embed_source")))]
#[command(mut_arg("trim_path", |option| option.requires("embed_source")))]
pub(crate) struct EmbedArgs {
    /// Put source lines into a page
    ///
    /// They are those of the heaviest functions whose source files are found.
    #[arg(long)]
    pub(crate) embed_source: bool,
    #[command(flatten)]
    pub(crate) paths: SourcePathArgs,
    /// Put the times of all samples into a page
    ///
    /// By default, a page has them, and with them its timeline, only if they take at most a fifth of it.
    #[arg(long)]
    pub(crate) embed_times: bool,
}
