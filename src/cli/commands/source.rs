//! `prof source`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::focus::{check_order, explain};
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric};
use crate::cli::input::sources::Sources;
use crate::cli::options::args::{LimitArgs, ViewArgs};
use crate::cli::options::base::BaseArgs;
use crate::cli::options::completion::functions;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::terminal::failure::hinted;
use crate::report::Origin;
use crate::tree::By;
use crate::view::{SourceOptions, source};

/// Source lines of a function, with self and total values per line
#[derive(Args, Debug)]
#[command(visible_alias = "list")]
#[command(after_help = "Examples:
  prof source 'Ledger.*Place' cpu.pb.gz                     which lines cost the time
  prof source -m alloc_space 'Catalog.*Search' heap.pb.gz   which lines allocate")]
pub(crate) struct SourceCommand {
    /// Function name or pattern; each matching function is shown
    #[arg(value_name = "FUNC", add = ArgValueCompleter::new(functions))]
    function: String,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
    #[command(flatten)]
    rows: LimitArgs,
    /// Look for source files in this folder (repeatable)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    source_path: Vec<PathBuf>,
    /// Remove this prefix from source paths (repeatable)
    #[arg(long, value_name = "PREFIX")]
    trim_path: Vec<String>,
}

/// The default number of functions in text.
const FUNCTIONS: usize = 5;

impl SourceCommand {
    pub(crate) fn run(self) -> Result<()> {
        check_order("source", &self.function, &self.view.input.profiles)?;
        if !matches!(self.view.node.by(), By::Function | By::Name) {
            let message = "source shows lines by function: --by can only be function or name";
            return Err(hinted(message, "prof top --by line lists the lines of all functions"));
        }
        let output = self.view.output()?;
        let sources = Sources::new(&self.source_path, &self.trim_path);
        let show = Show {
            base: Some(&self.base),
            highlight: Some(&self.highlight),
            limit: Some(self.rows.or(FUNCTIONS)),
            ..Show::new(&self.view, &output, Requirement::Lines)
        };
        show.run(|profile, scope, limit| {
            one_metric(&scope, "source")?;
            let (function, fixed) = (self.function.clone(), self.view.filters.fixed_strings);
            let options = SourceOptions { scope, function, fixed, limit };
            let found = source(profile, &options, &|file| {
                let copy = profile.meta.sources.get(file);
                sources.text_or_copy(file, copy.map(|copy| &**copy))
            });
            let found = found.map_err(|error| explain(&self.function, error))?;
            // Source files are inputs too, but are known only now.
            let read = found.functions.iter().filter_map(|function| match &function.origin {
                Origin::Found(path) => Some(path),
                Origin::Missing(_) => None,
            });
            output.check(&read.collect::<Vec<_>>())?;
            Ok(found.into())
        })
    }
}
