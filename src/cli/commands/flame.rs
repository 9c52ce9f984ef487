//! `prof flame`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::ViewArgs;

/// Flame graph: a static picture (.svg)
#[derive(Args, Debug)]
pub(crate) struct FlameCommand {
    #[command(flatten)]
    view: ViewArgs,
}

impl FlameCommand {
    pub(crate) fn run(self) -> Result<()> {
        let _ = self.view;
        anyhow::bail!("not there yet")
    }
}
