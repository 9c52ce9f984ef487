//! `--color-by`: what the colours of a picture say.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cli::base::BaseArgs;
use crate::cli::failure::hinted;
use crate::output::ColorBy;

/// What colours say.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ColoringArgs {
    /// What colours say [default: package, with --base delta]
    #[arg(long, value_name = "WHAT", alias = "colors")]
    color_by: Option<ColoringChoice>,
}

/// What `--color-by` takes.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum ColoringChoice {
    /// The package, else the binary or the folder
    Package,
    /// The source file
    File,
    /// The share of self
    #[value(name = "self")]
    SelfValue,
    /// The share of total
    Total,
    /// The change between two profiles
    Delta,
}

impl ColoringArgs {
    /// Whether it was asked for.
    pub(crate) fn is_given(&self) -> bool {
        self.color_by.is_some()
    }

    /// What was asked for, else the change where two sides are compared, else `default`. The change is
    /// refused where there is only one side.
    pub(crate) fn color_by(&self, base: &BaseArgs, default: ColorBy) -> Result<ColorBy> {
        Ok(match self.color_by {
            Some(ColoringChoice::Package) => ColorBy::Package,
            Some(ColoringChoice::File) => ColorBy::File,
            Some(ColoringChoice::SelfValue) => ColorBy::SelfValue,
            Some(ColoringChoice::Total) => ColorBy::Total,
            Some(ColoringChoice::Delta) if !base.is_given() => {
                let hint = "--base OLD gives the old side";
                return Err(hinted("--color-by delta: it compares two sides, and there is one", hint));
            }
            Some(ColoringChoice::Delta) => ColorBy::Delta,
            None if base.is_given() => ColorBy::Delta,
            None => default,
        })
    }
}
