//! `prof focus`.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{RowArgs, ViewArgs};
use crate::cli::options::completion::functions;
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::{hinted, with_hint};
use crate::cli::terminal::session;
use crate::filter::Filters;
use crate::report::Report;
use crate::view::{FocusOptions, NotFound, SortKey, focus};

/// Callers and callees of one function
#[derive(Args, Debug)]
#[command(visible_aliases = ["peek", "sandwich"])]
#[command(mut_arg("limit", |option| {
    option.help("Show at most N callers and N callees; 0 for all [default: as many as fit the screen, or 10; JSON and CSV: all]")
}))]
#[command(mut_arg("min_share", |option| {
    option.help("Hide callers and callees below this percentage of the function [default: 0]")
}))]
#[command(after_help = "Examples:
  prof focus runtime.mallocgc cpu.pb.gz          which functions allocate, and at what cost
  prof focus 'package:encoding/json' cpu.pb.gz   a whole package as one function
  prof focus -m calls report python.pstats       how often each caller calls a function")]
pub(crate) struct FocusCommand {
    /// Function name or pattern; if several functions match, they count as one
    ///
    /// If a function has exactly this name, only that one is meant, although the pattern may match others. To
    /// match all whose name ends in init, write `init$`.
    #[arg(value_name = "FUNC", add = ArgValueCompleter::new(functions))]
    function: String,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: RowArgs,
}

/// The default number of callers and of callees in text.
const ROWS: usize = 10;

impl FocusCommand {
    pub(crate) fn run(self) -> Result<()> {
        check_order("focus", &self.function, &self.view.stacks.input.profiles)?;
        let output = self.view.output()?;
        write(&self.report(&output, None)?, &output, self.view.stacks.input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let sort = self.view.stacks.base.order(self.rows.sort.as_ref(), SortKey::Total)?;
        let min_share = self.rows.cut.min_share_or(output.format, 0.0);
        let show = Show {
            limit: Some(self.rows.cut.most.or(ROWS)),
            keep,
            ..Show::new(&self.view, output, Requirement::Calls)
        };
        let filters = show.filters();
        show.report(|profile, scope, limit| {
            one_metric(&scope, "focus")?;
            let (function, fixed) = (self.function.clone(), self.view.stacks.filters.fixed_strings);
            let options = FocusOptions { scope, function, fixed, sort: sort.clone(), limit, min_share };
            Ok(focus(profile, &options).map_err(|error| explain(&self.function, &filters, error))?.into())
        })
    }
}

/// Fails if a file is in the place of the function: either the order is wrong, or the function is missing.
pub(crate) fn check_order(command: &str, function: &str, profiles: &[String]) -> Result<()> {
    // A server must not tell which files exist.
    if session::is_inside() || !Path::new(function).is_file() {
        return Ok(());
    }
    match profiles {
        [] => {
            let hint = format!("the function comes first: prof {command} FUNC {function}");
            Err(hinted(format!("{command}: no function given"), hint))
        }
        [only] if only != "-" && !Path::new(only).exists() => {
            let hint = format!("the function comes first: prof {command} '{only}' {function}");
            Err(hinted(format!("{only}: no such file"), hint))
        }
        _ => Ok(()),
    }
}

/// Explains why no function was found after these filters, and suggests similar names.
pub(crate) fn explain(function: &str, filters: &Filters, error: NotFound) -> anyhow::Error {
    match error {
        NotFound::Pattern(error) => error.into(),
        NotFound::Nothing(near) => {
            let hint = (!near.is_empty()).then(|| format!("the nearest names are {}", near.join(", ")));
            let hint = hint.or_else(|| Some("prof top -n 0 PROFILE lists all names".to_string()));
            with_hint(format!("{function}: no function matches"), hint)
        }
        NotFound::NoValue(names) if filters.is_empty() => hinted(
            format!("{function}: {} has no value in the metric shown", names.join(", ")),
            "choose another metric with --metric; prof info lists them",
        ),
        NotFound::NoValue(names) => hinted(
            format!("{function}: {} has no value after {}", names.join(", "), filters.describe().join(" ")),
            "leave filters out, or choose another metric with --metric; prof info lists them",
        ),
    }
}
