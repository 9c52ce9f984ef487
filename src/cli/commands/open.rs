//! `prof open`: the interactive page in the browser.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use clap::Args;

use crate::cli::commands::flame::{CodeArgs, DrawingArgs, FlameCommand};
use crate::cli::options::args::{NodeArgs, StackArgs};
use crate::cli::options::color_by::ColorByArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{IgnoredArgs, UnitArgs};
use crate::cli::terminal::failure::unwritten;

/// The interactive page of a profile or a comparison, in the browser
///
/// Writes the page of `prof flame OUT.html` to a temporary file and opens it with $BROWSER or the system's browser. Without a
/// browser, as over ssh, it prints the path of the file.
#[derive(Args, Debug)]
#[command(visible_alias = "web")]
#[command(after_help = "Examples:
  prof open cpu.pb.gz                     where does the time go
  prof open --base old.pb.gz new.pb.gz    what became slower")]
pub(crate) struct OpenCommand {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    unit: UnitArgs,
    /// Title of the page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    code: CodeArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
}

impl OpenCommand {
    pub(crate) fn run(self) -> Result<()> {
        let folder =
            tempfile::Builder::new().prefix("prof-").tempdir().map_err(|error| unwritten(error.into()))?;
        let page = folder.path().join(file_name(&self.stacks.input.profiles));
        let OpenCommand { stacks, node, unit, title, code, highlight } = self;
        let drawing = DrawingArgs::to_file(page.clone());
        let coloring = ColorByArgs::default();
        let flame = FlameCommand {
            stacks,
            node,
            unit,
            drawing,
            title,
            code,
            coloring,
            highlight,
            _ignored: IgnoredArgs::default(),
        };
        flame.run()?;
        // From here on, the browser needs the file.
        let _ = folder.keep();
        if !is_opened(&page) {
            println!("{}", page.display());
        }
        Ok(())
    }
}

/// The name of the page: that of the profile, if there is one.
fn file_name(profiles: &[String]) -> PathBuf {
    let name = match profiles {
        [one] if one != "-" => Path::new(one).file_name(),
        _ => None,
    };
    let mut name = name.map_or_else(|| "profile".into(), std::ffi::OsStr::to_os_string);
    name.push(".html");
    name.into()
}

/// Opens a file in the browser. Returns whether there is one.
fn is_opened(page: &Path) -> bool {
    browser().is_some_and(|mut browser| browser.arg(page).stdin(Stdio::null()).spawn().is_ok())
}

/// `$BROWSER`, else the program that opens files with the application that the user chose.
fn browser() -> Option<Command> {
    if let Some(chosen) = env::var_os("BROWSER").filter(|chosen| !chosen.is_empty()) {
        return Some(Command::new(chosen));
    }
    if cfg!(target_os = "macos") {
        return is_at_screen().then(|| Command::new("open"));
    }
    if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        return Some(command);
    }
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    has_screen.then(|| Command::new("xdg-open"))
}

/// Whether the user sits at the machine: over ssh, the browser would open where nobody sees it.
fn is_at_screen() -> bool {
    env::var_os("SSH_CONNECTION").is_none()
}
