//! `prof focus`.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::args::{RowArgs, ViewArgs};
use crate::cli::base::BaseArgs;
use crate::cli::calls::Shows;
use crate::cli::completion::functions;
use crate::cli::failure::{hinted, with_hint};
use crate::cli::marking::MarkArgs;
use crate::cli::run::{one_metric, show_beside};
use crate::report::Report;
use crate::view::{FocusOptions, NotFound, Sort, SortKey, focus};

/// One function: who calls it, what it calls
#[derive(Args, Debug)]
#[command(visible_aliases = ["peek", "sandwich"])]
#[command(after_help = "Examples:
  prof focus runtime.mallocgc cpu.pb.gz          who allocates, and what that costs
  prof focus 'package:encoding/json' cpu.pb.gz   a whole package as one function")]
pub(crate) struct FocusCommand {
    /// The function: its name, or a pattern; several that match are counted as one
    #[arg(value_name = "FUNC", add = ArgValueCompleter::new(functions))]
    function: String,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    mark: MarkArgs,
}

/// Callers and callees of text, unless told otherwise.
const ROWS: usize = 10;

impl FocusCommand {
    pub(crate) fn run(self) -> Result<()> {
        self.check_order()?;
        let sort = Sort::by(if self.base.is_given() { SortKey::Delta } else { SortKey::Total });
        show_beside(&self.view, &self.base, Shows::Calls, |profile, mut scope| {
            one_metric(&scope, "focus")?;
            self.mark.apply(profile, self.view.filters.fixed_strings, &mut scope)?;
            let options = FocusOptions {
                scope,
                function: self.function.clone(),
                fixed: self.view.filters.fixed_strings,
                sort: self.rows.sort.clone().unwrap_or(sort),
                limit: self.rows.limit_or(&self.view.layout, ROWS),
                min_share: self.rows.min_share_or(&self.view.layout, 0.0),
            };
            let focus = focus(profile, &options).map_err(|error| explain(&self.function, error))?;
            Ok(Report::Focus(focus))
        })
    }

    /// A file where the function belongs, and no file where a profile belongs: the order is wrong.
    fn check_order(&self) -> Result<()> {
        let profiles = &self.view.input.profiles;
        let swapped = match &profiles[..] {
            [only] => !Path::new(only).exists() && only != "-" && Path::new(&self.function).is_file(),
            _ => false,
        };
        if swapped {
            let message = format!("{}: no such file", profiles[0]);
            let hint = format!("the function comes first: prof focus '{}' {}", profiles[0], self.function);
            return Err(hinted(message, hint));
        }
        Ok(())
    }
}

/// Says why no function was found, and what may have been meant.
pub(crate) fn explain(function: &str, error: NotFound) -> anyhow::Error {
    match error {
        NotFound::Pattern(error) => error.into(),
        NotFound::Nothing(near) => {
            let hint = (!near.is_empty()).then(|| format!("the nearest names are {}", near.join(", ")));
            let hint = hint.or_else(|| Some("prof top -n 0 lists all names".to_string()));
            with_hint(format!("{function}: no function matches"), hint)
        }
        NotFound::NoValue(names) => hinted(
            format!("{function}: {} has no value in the metric shown", names.join(", ")),
            "choose another metric with --metric; prof info lists them",
        ),
    }
}
