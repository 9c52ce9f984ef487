//! `prof flame`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::{InputArgs, LayoutArgs, NodeArgs};

/// Flame graph: a static picture (.svg)
#[derive(Args, Debug)]
pub(crate) struct FlameCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    layout: LayoutArgs,
}

impl FlameCommand {
    pub(crate) fn run(self) -> Result<()> {
        let _ = (self.input, self.node, self.layout);
        anyhow::bail!("not there yet")
    }
}
