//! `prof mcp`: a server for programs that work with profiles.

mod answer;
mod arguments;
mod roots;
mod server;
mod tools;

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueHint};

use crate::cli::commands::Describe;
use crate::cli::commands::mcp::answer::Answerer;
use crate::cli::commands::mcp::roots::Roots;
use crate::cli::options::memory;
use crate::cli::terminal::failure::hinted;

/// A server for programs: the Model Context Protocol on standard input and output
///
/// A client starts it and asks with tools, which have the options of the commands.
#[derive(Args, Debug)]
#[command(long_about = long_about())]
#[command(after_help = "Examples:
  prof mcp                   serve the profiles in this folder and those below it
  prof mcp --allow-network   fetch profiles from addresses, too")]
pub(crate) struct McpCommand {
    /// Folder that may be read, with its subfolders (repeatable); paths are relative to the first [default: the working directory]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Vec<PathBuf>,
    /// Fetch profiles from addresses (http://…), too
    #[arg(long)]
    allow_network: bool,
    /// Memory limit for profiles, such as 2GiB [default: half of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::size)]
    max_memory: Option<u64>,
}

/// The long help, which lists the tools.
fn long_about() -> String {
    format!(
        "A server for programs: the Model Context Protocol on standard input and output\n\nA client starts it and asks with the \
         tools {}, which have the options of the commands. Profiles stay loaded between calls. It reads only files in its folders, \
         writes nothing, and runs nothing. docs/mcp.md explains how to set it up.",
        tools::names()
    )
}

impl McpCommand {
    /// Serves until the client goes away. `describe` says what is wrong with the options of a call.
    pub(crate) fn run(self, describe: Describe) -> Result<()> {
        if io::stdin().is_terminal() {
            let hint = "a client starts it, as docs/mcp.md describes; on a terminal, prof report PROFILE is the place to begin";
            return Err(hinted(
                "prof mcp: standard input is a terminal, but programs talk to this server",
                hint,
            ));
        }
        let roots = Roots::new(&self.root, self.allow_network)?;
        env::set_current_dir(&roots.folders()[0])
            .with_context(|| format!("--root {}", roots.folders()[0].display()))?;
        server::serve(Answerer::new(roots, self.max_memory, describe))
    }
}
