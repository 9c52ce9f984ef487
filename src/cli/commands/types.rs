//! `prof types`.

use anyhow::Result;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::show::write;
use crate::cli::options::completion;
use crate::cli::options::layout::{LayoutArgs, WordingArgs};
use crate::cli::terminal::failure::{hinted, no_such};
use crate::kind::KINDS;
use crate::view::types;

/// Profile types: what each measures, and which languages record it
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof types               which languages record which types
  prof types inuse_space   when to use it, and what a wide function means")]
pub(crate) struct TypesCommand {
    /// A type or a metric [default: all types]
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(completion::types))]
    name: Option<String>,
    /// Show only types recorded for this language
    #[arg(long, value_name = "LANGUAGE", add = ArgValueCompleter::new(completion::languages))]
    language: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
}

impl TypesCommand {
    pub(crate) fn run(self) -> Result<()> {
        let output = self.layout.output(&WordingArgs::default(), &[], false)?;
        output.check::<&str>(&[])?;
        let types = types(self.name.as_deref(), self.language.as_deref());
        if types.types.is_empty() {
            return Err(self.nothing());
        }
        write(&types.into(), &output, false)
    }

    /// Explains which of the two names is wrong, and suggests similar names.
    fn nothing(&self) -> anyhow::Error {
        let mut languages: Vec<&str> = KINDS.iter().flat_map(|kind| kind.languages).copied().collect();
        languages.sort_unstable();
        languages.dedup();
        let is_known = |language: &String| languages.iter().any(|known| known.eq_ignore_ascii_case(language));
        match (&self.name, &self.language) {
            (_, Some(language)) if !is_known(language) => {
                no_such(format!("--language {language}: no such language"), language, "choices", &languages)
            }
            (Some(name), None) => {
                let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
                no_such(format!("{name}: no such profile type"), name, "choices", &names)
            }
            (name, language) => {
                let [name, language] = [name, language].map(|word| word.as_deref().unwrap_or_default());
                let message = format!("{name}: not recorded by profilers of {language}");
                hinted(message, format!("prof types --language {language} lists what they record"))
            }
        }
    }
}
