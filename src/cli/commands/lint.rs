//! `prof lint`.

use anyhow::Result;
use clap::Args;

use crate::cli::commands::outcome::{FAILED, Outcome};
use crate::cli::commands::show::write;
use crate::cli::input::request::load;
use crate::cli::options::args::{InputArgs, note};
use crate::cli::options::layout::{LayoutArgs, WordingArgs};
use crate::cli::options::many::ManyArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::hinted;
use crate::filter::Filters;
use crate::profile::LoadOptions;
use crate::report::{Report, Severity};
use crate::tree::By;
use crate::view::lint;

/// Whether the recording is fit to conclude from
///
/// Each problem has a level: an error means that nothing can be concluded, a warning that some conclusions are wrong, and a note is worth knowing. docs/lint.md explains the rules.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof lint cpu.pb.gz               what is wrong with the recording, and what to do about it
  prof lint --deny error cpu.pb.gz  the same, with exit code 1 if nothing can be concluded from it")]
pub(crate) struct LintCommand {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    many: ManyArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    /// Exit with code 1 for problems of LEVEL or above: note, warning, error
    #[arg(long, value_name = "LEVEL", hide_possible_values = true)]
    deny: Option<Severity>,
}

impl LintCommand {
    pub(crate) fn run(self) -> Result<Outcome> {
        let LintCommand { input, many, layout, deny } = self;
        let output = layout.output(&WordingArgs::default(), &input.profiles, input.quiet)?;
        output.check(&input.files()?)?;
        let needs = LoadOptions { labels: true, times: true, ..LoadOptions::LEAST };
        let loaded = load(&input.given(&many, needs, true)?)?;
        if loaded.metrics.len() > 1 {
            let hint = "run prof lint for each of them";
            return Err(hinted("lint judges one metric, but --metric was given several times", hint));
        }
        let mut clock = Clock::new(input.verbose);
        let prepared = loaded.filtered(&Filters::new(), By::Function)?;
        note(&prepared.profile.meta.notes, &input);
        let found = lint(&prepared.profile, &prepared.scope);
        let worst = found.problems.iter().map(|problem| problem.level).max();
        let is_denied = deny.is_some_and(|deny| worst >= Some(deny));
        let report: Report = prepared.report(found);
        clock.step("view");
        Outcome(if is_denied { FAILED } else { 0 }).after(write(&report, &output, input.verbose))
    }
}
