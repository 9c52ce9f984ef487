//! The flow of every command: bytes → profile → profile → report → bytes.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::cli::args::{InputArgs, LayoutArgs, OutputFormat, ViewArgs};
use crate::cli::commands::{self, Command, Prof};
use crate::cli::failure::{describe, is_closed_pipe};
use crate::cli::inputs::load;
use crate::cli::target::Target;
use crate::output;
use crate::profile::{LoadOptions, Profile};
use crate::report::Report;
use crate::view::Scope;

/// Usage, unreadable input, or a name that matches nothing.
const FAILURE: u8 = 2;

/// Runs the command line and returns its exit code.
pub fn main() -> ExitCode {
    let Prof { command } = Prof::parse_from(with_command(env::args_os().collect()));
    let result = match command {
        Command::Top(command) => command.run(),
        Command::Tree(command) => command.run(),
        Command::Flame(command) => command.run(),
        Command::Info(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing can be done where standard error is closed too.
            let _ = writeln!(std::io::stderr(), "{}", describe(&error));
            ExitCode::from(FAILURE)
        }
    }
}

/// `prof PROFILE…` stands for `prof top PROFILE…`.
fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let names = commands::names();
    let is_command =
        |word: &str| names.iter().any(|name| name == word) || (word.starts_with('-') && word != "-");
    match arguments.get(1) {
        Some(first) if !first.to_str().is_some_and(is_command) => arguments.insert(1, "top".into()),
        _ => {}
    }
    arguments
}

/// Loads, filters, views, writes.
pub(crate) fn show(
    args: &ViewArgs,
    needs: LoadOptions,
    view: impl FnOnce(&Profile, Scope) -> Result<Report>,
) -> Result<()> {
    let target = Target::new(args.layout.output.as_deref());
    let report = report_of(args, needs, &target, view)?;
    write_report(&report, &args.layout, &target)
}

/// Loads, filters, views: all but the writing, for commands that write in a form of their own.
pub(crate) fn report_of(
    args: &ViewArgs,
    needs: LoadOptions,
    target: &Target,
    view: impl FnOnce(&Profile, Scope) -> Result<Report>,
) -> Result<Report> {
    let loaded = load(&args.input, needs.or(args.filters.needs()))?;
    target.check(&loaded.names, args.layout.force)?;
    let filtered = args.filters.apply(loaded.profile)?;
    warn(&filtered.profile, &args.input);
    let mut report = view(&filtered.profile, Scope { metrics: loaded.metrics, by: args.node.by.by() })?;
    if let Some(header) = report.header_mut() {
        header.about.inputs = loaded.names;
        header.about.combined = "summed".to_string();
        header.about.filters = filtered.typed;
    }
    Ok(report)
}

/// Prints what was odd about the inputs.
pub(crate) fn warn(profile: &Profile, input: &InputArgs) {
    if input.quiet {
        return;
    }
    for warning in &profile.meta.warnings {
        // Nothing can be done where standard error is closed.
        let _ = writeln!(std::io::stderr(), "warning: {}", crate::name::clean(warning));
    }
}

/// Writes a report in the form asked for.
pub(crate) fn write_report(report: &Report, layout: &LayoutArgs, target: &Target) -> Result<()> {
    let style = layout.style(*target == Target::Stdout);
    target.write(|out| {
        match layout.format {
            OutputFormat::Text => output::text(report, &style, out)??,
            OutputFormat::Json => output::json(report, out)?,
            OutputFormat::Csv => output::csv(report, out)?,
            OutputFormat::Markdown => output::markdown(report, out)?,
        }
        Ok(())
    })
}
