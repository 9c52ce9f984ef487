//! `prof source`.

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::binary::NoCode;
use crate::cli::commands::focus::{check_order, explain};
use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{LimitArgs, ViewArgs};
use crate::cli::options::completion::functions;
use crate::cli::options::embed::SourcePathArgs;
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::hinted;
use crate::filter::Filters;
use crate::load::{CodeError, Sources, code};
use crate::report::Report;
use crate::tree::By;
use crate::view::{CodeSpot, NoAssembly, SourceOptions, assembly, source};

/// Source lines of a function, with self and total values per line
#[derive(Args, Debug)]
#[command(visible_alias = "list")]
#[command(mut_arg("by", |option| {
    option.help("Treat functions of one name in different files as several functions (function) or as one (name)")
}))]
#[command(mut_arg("limit", |option| {
    option.help("Show at most N functions; 0 for all [default: as many as fit the screen, or 5; JSON and CSV: all]")
}))]
#[command(after_help = "Examples:
  prof source 'Ledger.*Place' cpu.pb.gz                     which lines cost the time
  prof source -m alloc_space 'Catalog.*Search' heap.pb.gz   which lines allocate
  prof source --asm order --binary sorting sorting.pb.gz    which instructions cost the time")]
pub(crate) struct SourceCommand {
    /// Function name or pattern; each matching function is shown
    ///
    /// If a function has exactly this name, only that one is meant, although the pattern may match others. To
    /// match all whose name ends in init, write `init$`.
    #[arg(value_name = "FUNC", add = ArgValueCompleter::new(functions))]
    function: String,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    rows: LimitArgs,
    /// Show the instructions of the function; source lines are between them
    #[arg(long)]
    asm: bool,
    #[command(flatten)]
    paths: SourcePathArgs,
}

/// The default number of functions in text.
const FUNCTIONS: usize = 5;

impl SourceCommand {
    pub(crate) fn run(self) -> Result<()> {
        check_order("source", &self.function, &self.view.stacks.input.profiles)?;
        if !matches!(self.view.node.by(), By::Function | By::Name) {
            let message = "source shows lines by function: --by can only be function or name";
            return Err(hinted(message, "prof top --by line lists the lines of all functions"));
        }
        let output = self.view.output()?;
        write(&self.report(&output, None)?, &output, self.view.stacks.input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let sources = self.paths.sources();
        if self.asm {
            return self.instructions(output, keep, &sources);
        }
        let show = Show {
            limit: Some(self.rows.or(FUNCTIONS)),
            keep,
            ..Show::new(&self.view, output, Requirement::Lines)
        };
        let filters = show.filters();
        show.report(|profile, scope, limit| {
            one_metric(&scope, "source")?;
            let (function, fixed) = (self.function.clone(), self.view.stacks.filters.fixed_strings);
            let options = SourceOptions { scope, function, fixed, limit };
            let found = source(profile, &options, &|file, last_line| {
                let copy = profile.meta.sources.get(file);
                sources.text_or_copy(file, last_line, copy.map(|copy| &**copy))
            });
            let found = found.map_err(|error| explain(&self.function, &filters, error))?;
            // Source files are inputs too, but are known only now.
            let read = found.functions.iter().filter_map(|function| function.origin.path());
            output.check(&read.collect::<Vec<_>>())?;
            Ok(found.into())
        })
    }

    /// Instructions instead of lines.
    fn instructions(&self, output: &Output, keep: Option<&Keep>, sources: &Sources) -> Result<Report> {
        if self.view.stacks.base.is_given() {
            let message =
                "--asm: the instructions of two builds have nothing in common, so --base cannot compare them";
            return Err(hinted(message, "prof source --base compares the lines of a function"));
        }
        let symbols = self.view.stacks.input.symbols.symbols();
        let show = Show {
            limit: Some(self.rows.or(FUNCTIONS)),
            keep,
            ..Show::new(&self.view, output, INSTRUCTIONS)
        };
        let filters = show.filters();
        show.report(|profile, scope, limit| {
            one_metric(&scope, "source")?;
            let (function, fixed) = (self.function.clone(), self.view.stacks.filters.fixed_strings);
            let options = SourceOptions { scope, function, fixed, limit };
            let code_of = |spots: &[CodeSpot]| code(profile, &symbols, spots);
            let found =
                assembly(profile, &options, &code_of, &|file, last_line| sources.text_of(file, last_line));
            let format = profile.meta.format;
            Ok(found.map_err(|error| self.explain_assembly(error, &filters, format))?.into())
        })
    }

    fn explain_assembly(
        &self,
        error: NoAssembly<CodeError>,
        filters: &Filters,
        format: &str,
    ) -> anyhow::Error {
        match error {
            NoAssembly::Function(error) => explain(&self.function, filters, error),
            NoAssembly::Addresses(name) => hinted(
                format!("this {format} profile has no addresses of {name}, so its instructions are unknown"),
                "prof source without --asm shows its lines; perf.data and pprof have addresses",
            ),
            NoAssembly::Inlined(name, hosts) => {
                let hosts: Vec<&str> = hosts.iter().map(|host| &**host).collect();
                let hosts = hosts.join(", ");
                hinted(
                    format!("{name} was always inlined, so it has no instructions of its own"),
                    format!(
                        "prof source --asm shows them in the functions that it was inlined into: {hosts}"
                    ),
                )
            }
            NoAssembly::Code(error) => {
                let hint = match &error {
                    CodeError::NoFile(_) => "only code in a program or library can be disassembled",
                    CodeError::NoCode(_, NoCode::Architecture(_)) => {
                        "objdump -d, of the tools for that machine, disassembles it"
                    }
                    CodeError::NoCode(_, NoCode::NotBuilt) => "build prof with its default features",
                    CodeError::NoCode(_, NoCode::NoSymbol) => {
                        "name a binary that is not stripped, or a folder with its debug information, with --binary PATH"
                    }
                    _ => {
                        "name the binary that was recorded, or a folder that contains it, with --binary PATH"
                    }
                };
                hinted(format!("no instructions of {}: {error}", self.function), hint)
            }
        }
    }
}

/// Profiles of calls have no addresses.
const INSTRUCTIONS: Requirement = Requirement::Stacks {
    why: "there are no addresses of instructions",
    instead: "prof source without --asm shows the lines of the function",
};
