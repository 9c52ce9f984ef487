//! `--color-by`: what the colours of a picture mean.

use anyhow::Result;
use clap::Args;

use crate::cli::options::base::BaseArgs;
use crate::cli::terminal::failure::hinted;
use crate::output::ColorBy;

/// The option for the meaning of colours.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = None)]
pub(crate) struct ColorByArgs {
    /// What the colours show [default: package; with --base: delta]
    #[arg(long, value_name = "WHAT", alias = "colors")]
    color_by: Option<ColorBy>,
}

impl ColorByArgs {
    /// Whether the option was given.
    pub(crate) fn is_given(&self) -> bool {
        self.color_by.is_some()
    }

    /// The choice given; otherwise the change if two sides are compared, and the package if not. Colouring by the
    /// change needs two sides.
    pub(crate) fn color_by(&self, base: &BaseArgs) -> Result<ColorBy> {
        if self.color_by == Some(ColorBy::Delta) && !base.is_given() {
            let hint = "name the old side with --base OLD";
            return Err(hinted("--color-by delta needs two sides to compare", hint));
        }
        let usual = if base.is_given() { ColorBy::Delta } else { ColorBy::default() };
        Ok(self.color_by.unwrap_or(usual))
    }
}
