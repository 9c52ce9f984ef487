//! `prof hot`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{RowLimit, ViewArgs, percent};
use crate::cli::options::chains::ChainArgs;
use crate::cli::options::layout::Output;
use crate::cli::terminal::failure::hinted;
use crate::report::Report;
use crate::view::{HotOptions, hot};

/// The heaviest call path, and call sequences with several callers
#[derive(Args, Debug)]
#[command(visible_alias = "sequences")]
#[command(after_help = "Examples:
  prof hot cpu.pb.gz                               where the time goes, and which calls recur
  prof hot --min-length 3 --contexts 5 cpu.pb.gz   longer sequences, called in many contexts")]
pub(crate) struct HotCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    chains: ChainArgs,
    /// Shortest sequence to list, in functions
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least::<2>)]
    min_length: usize,
    /// Longest sequence to list, in functions; 0 for any length
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_length: usize,
    /// List sequences called from at least N contexts; a context is a distinct call path to the sequence
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = at_least::<1>)]
    contexts: usize,
    /// Hide sequences that depend on few contexts
    ///
    /// A sequence is hidden if less than this percentage of its total remains without its N-1 heaviest contexts, where N is the
    /// value of --contexts. By default: if one context alone has more than 95 %.
    #[arg(long, value_name = "P", default_value = "5", value_parser = percent)]
    context_share: f64,
    /// Hide sequences that a longer one replaces
    ///
    /// A sequence is hidden if a sequence one function longer has nearly the same total: at most P % less.
    #[arg(long, value_name = "P", default_value = "10", value_parser = percent)]
    tolerance: f64,
    /// Show at most N sequences; 0 for all [default: as many as fit the screen, or 10; JSON and CSV: all]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// Hide sequences below this share, in percent of what is shown
    #[arg(long, value_name = "P", default_value = "1", value_parser = percent)]
    min_share: f64,
}

/// The default number of sequences in text.
const SEQUENCES: usize = 10;

/// Parses a number that is at least `LEAST`.
fn at_least<const LEAST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= LEAST => Ok(number),
        _ => Err(format!("expected a number of at least {LEAST}")),
    }
}

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "the contexts of a sequence are unknown",
    instead: "prof focus FUNC and prof graph show the calls, prof tree approximates the call paths",
};

impl HotCommand {
    pub(crate) fn run(self) -> Result<()> {
        let mut output = self.view.output()?;
        output.style.full_chains = self.chains.is_full();
        write(&self.report(&output, None)?, &output, self.view.stacks.input.verbose)
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        self.check_lengths()?;
        let show = Show {
            limit: Some(RowLimit { given: self.limit, text: SEQUENCES }),
            keep,
            ..Show::new(&self.view, output, REQUIREMENT)
        };
        show.report(|profile, scope, limit| {
            one_metric(&scope, "hot")?;
            let options = HotOptions {
                scope,
                min_length: self.min_length,
                max_length: Some(self.max_length).filter(|&length| length > 0),
                contexts: self.contexts,
                context_share: self.context_share,
                tolerance: self.tolerance,
                limit,
                min_share: self.min_share,
            };
            Ok(hot(profile, &options).into())
        })
    }

    /// Fails if no sequence is long enough and short enough.
    fn check_lengths(&self) -> Result<()> {
        let Self { min_length, max_length, .. } = self;
        if *max_length == 0 || max_length >= min_length {
            return Ok(());
        }
        let message = format!("--max-length {max_length} is less than --min-length {min_length}");
        Err(hinted(message, "no sequence has such a length; --max-length 0 allows any above the minimum"))
    }
}
