//! `prof man`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, Command, ValueHint};
use clap_mangen::Man;

use crate::cli::terminal::failure::no_such;
use crate::cli::terminal::target::{Kind, Target, may_write};

/// Man pages, with the same contents as --help
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof man                     the page of prof itself
  prof man top                 the page of one command; read it with: prof man top | man -l -
  prof man -o man1             all pages, one file each: prof.1, prof-top.1 and so on")]
pub(crate) struct ManCommand {
    /// Name of a command [default: prof itself]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(short, long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Write into the folder even if it is not empty
    #[arg(long, requires = "output")]
    force: bool,
}

impl ManCommand {
    /// Writes the page of `prof` or of one of its commands, or all of them.
    pub(crate) fn run(self, prof: Command) -> Result<()> {
        let mut prof = prof.disable_help_subcommand(true);
        prof.build();
        let commands: Vec<&Command> =
            prof.get_subcommands().filter(|command| !command.is_hide_set()).collect();
        if let Some(folder) = &self.output {
            let place = || folder.display().to_string();
            may_write::<&str>(folder, Kind::Folder, &[], self.force)?;
            fs::create_dir_all(folder).with_context(place)?;
            for command in std::iter::once(&prof).chain(commands) {
                let path = folder.join(format!("{}.1", title(command)));
                Target::Path(path).write(|out| Ok(write_page(command, out)?))?;
            }
            return Ok(());
        }
        let command = match &self.command {
            None => &prof,
            Some(name) => {
                let is_it = |command: &&&Command| {
                    command.get_name() == name || command.get_all_aliases().any(|alias| alias == name)
                };
                let known = || commands.iter().map(|command| command.get_name()).collect::<Vec<_>>();
                let unknown = || no_such(format!("man {name}: no such command"), name, "commands", &known());
                *commands.iter().find(is_it).ok_or_else(unknown)?
            }
        };
        Target::Stdout.write(|out| Ok(write_page(command, out)?))
    }
}

/// `prof`, or `prof-top`.
fn title(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_string()
}

/// Writes the page of a command. The examples and exit codes at the end of the help are written here, because
/// `clap_mangen` would join their lines to a paragraph.
fn write_page(command: &Command, out: &mut dyn Write) -> io::Result<()> {
    let source = format!("prof {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).title(title(command)).manual("prof").source(source);
    man.render_title(out)?;
    man.render_name_section(out)?;
    // The synopsis of clap_mangen would list every option.
    let usage = command.clone().render_usage().to_string();
    writeln!(out, ".SH SYNOPSIS\n{}", escaped(usage.trim_start_matches("Usage:").trim()))?;
    writeln!(out, ".SH DESCRIPTION")?;
    let about = command.get_long_about().or_else(|| command.get_about()).map(ToString::to_string);
    for line in about.unwrap_or_default().lines() {
        match line.strip_prefix("  ") {
            _ if line.is_empty() => writeln!(out, ".PP")?,
            // Indented lines are code.
            Some(line) => writeln!(out, ".nf\n{}\n.fi", escaped(line))?,
            None => writeln!(out, "{}", escaped(line))?,
        }
    }
    man.render_options_section(out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (heading, lines) = match after.strip_prefix("Examples:\n") {
        Some(examples) => ("EXAMPLES", examples),
        None => ("EXIT STATUS", after.strip_prefix("Exit codes: ").unwrap_or(&after)),
    };
    if !lines.is_empty() {
        writeln!(out, ".SH {heading}")?;
        for line in lines.lines() {
            example(line, out)?;
        }
    }
    let others = if command.has_subcommands() { "prof\\-top(1), prof\\-diff(1)" } else { "prof(1)" };
    writeln!(out, ".SH SEE ALSO\n{others}")
}

/// An example, with its description below it, because both rarely fit on one line.
fn example(line: &str, out: &mut dyn Write) -> io::Result<()> {
    match line.trim().split_once("  ") {
        Some((command, remark)) => {
            writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(command), escaped(remark.trim()))
        }
        None => writeln!(out, "{}", escaped(line.trim())),
    }
}

/// Escapes text for roff.
fn escaped(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}
