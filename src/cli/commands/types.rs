//! `prof types`.

use anyhow::Result;
use clap::Args;

use crate::cli::args::LayoutArgs;
use crate::cli::failure::hinted;
use crate::cli::run::write_report;
use crate::cli::target::Target;
use crate::kind::KINDS;
use crate::report::Report;
use crate::view::types;

/// Profile types: what each measures, who records it, what a wide block means
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof types               which languages record what
  prof types inuse_space   when to read it, and what a wide block means")]
pub(crate) struct TypesCommand {
    /// A type or a metric; all where none is given
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Only types that profilers of this language record
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
}

impl TypesCommand {
    pub(crate) fn run(self) -> Result<()> {
        let target = Target::new(self.layout.output.as_deref());
        target.check(&[], self.layout.force)?;
        let types = types(self.name.as_deref(), self.language.as_deref());
        if types.types.is_empty() {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            return Err(hinted("no such profile type", format!("the types are {}", names.join(", "))));
        }
        write_report(&Report::Types(types), &self.layout, &target)
    }
}
