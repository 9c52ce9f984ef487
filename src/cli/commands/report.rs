//! `prof report`.

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::cli::commands::comparison::comparison;
use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, render, write};
use crate::cli::options::args::{StackArgs, shell_words};
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{LayoutArgs, Output, WordingArgs};
use crate::cli::options::what_if::WhatIfArgs;
use crate::output::cause_sentence;
use crate::profile::LoadOptions;
use crate::report::{Changes, Diff, DiffCause, Evidence, ExplainedCause, Findings, Report};
use crate::view::findings;

/// Conclusions: what matters, why, and how much could be gained
///
/// The findings come from written rules; docs/findings.md explains them. Each sample supports one finding, so the shares of
/// the findings and of what is not conclusive add up to 100 %. Each finding ends with the command that shows its number.
#[derive(Args, Debug)]
#[command(visible_alias = "advise")]
#[command(after_help = "Examples:
  prof report cpu.pb.gz                     what to look at first
  prof report -m alloc_space heap.pb.gz     who allocates
  prof report --base old.pb.gz new.pb.gz    what changed, why, and what matters now
  prof report --budget 500 cpu.pb.gz        in at most 500 tokens, for a program that reads it
  prof report --guide                       how to work with prof, on one page")]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    wording: WordingArgs,
    /// Profiles before a change: what changed, and why, comes first (as --base, for several)
    #[arg(long, value_name = "PROFILE", num_args = 1.., value_hint = ValueHint::AnyPath, requires = "new", conflicts_with = "base")]
    old: Vec<String>,
    /// Profiles after it
    #[arg(long, value_name = "PROFILE", num_args = 1.., value_hint = ValueHint::AnyPath, requires = "old", conflicts_with = "profiles")]
    new: Vec<String>,
    /// Fit into N tokens of 4 characters; 0: no limit [default: one screen; JSON and CSV: no limit]
    #[arg(long, value_name = "N")]
    budget: Option<usize>,
    /// Print one page on how to work with prof
    #[arg(long)]
    guide: bool,
}

/// The page of `--guide`.
const GUIDE: &str = include_str!("report/guide.txt");

/// The lines of a report that is not printed to a terminal.
const LINES: usize = 40;

/// The characters of a token.
pub(crate) const TOKEN: usize = 4;

impl ReportCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        // The sides as `diff` takes them.
        self.stacks.base.base.append(&mut self.old);
        self.stacks.input.profiles.append(&mut self.new);
        let input = &self.stacks.input;
        let output = self.layout.output(&self.wording, &input.profiles, input.quiet)?;
        if self.guide {
            return output.target.write(|out| Ok(out.write_all(GUIDE.as_bytes())?));
        }
        let report = match self.report(&output, None)? {
            Report::Findings(report) => within_budget(*report, self.budget, &output)?,
            report => report,
        };
        write(&report, &output, input.verbose)
    }

    /// All that the command has to say. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let highlight = HighlightArgs::default();
        let show = Show {
            needs: LoadOptions { labels: true, ..LoadOptions::LEAST },
            keep,
            ..Show::of_functions(&self.stacks, &highlight, output, Requirement::Costs)
        };
        // What would be has no causes.
        let is_compared = self.stacks.base.is_given() && self.stacks.what_if.what_if.is_empty();
        let (mut report, compared) =
            show.report_and_compare(is_compared, comparison, &|profile, scope, _| {
                one_metric(&scope, "report")?;
                Ok(findings(profile, &scope).into())
            })?;
        if let Report::Findings(report) = &mut report {
            let mut common = self.stacks.repeated();
            let is_folded = common.iter().any(|word| word.starts_with("--fold"));
            common.extend((report.folds && !is_folded).then(|| "--fold".to_string()));
            name_commands(report, &common);
            report.changes = compared.map(|diff| self.changes(diff));
        }
        Ok(report)
    }

    /// What changed, with the command that shows all of it.
    fn changes(&self, diff: Diff) -> Changes {
        let StackArgs { input, filters, base, .. } = &self.stacks;
        let explained = |cause: &DiffCause| ExplainedCause::new(cause.clone(), cause_sentence(&diff, cause));
        let causes = diff.causes.iter().map(explained).collect();
        let filters = filters.repeated(&WhatIfArgs::default());
        let words = [input.repeated(), filters, base.how_repeated()].concat();
        let (old, new) = (&base.base[..], &input.profiles[..]);
        let (options, sides) = if old.len() == 1 && new.len() == 1 {
            (words, [old, new].concat())
        } else {
            let [before, after] = ["--old", "--new"].map(|option| vec![option.to_string()]);
            ([&words[..], &before, old, &after, new].concat(), Vec::new())
        };
        let command = format!("prof diff {}", shell_words(options.iter(), sides.iter()));
        Changes::new(diff, causes, command)
    }
}

/// Completes the commands with the options and inputs of this one.
fn name_commands(report: &mut Findings, common: &[String]) {
    let inputs = report.header.inputs.clone();
    for finding in &mut report.findings {
        finding.command = command(&finding.evidence, common, &inputs);
    }
    for remark in &mut report.remarks {
        remark.command = command(&remark.evidence, common, &inputs);
    }
}

/// A command line for a shell: options first, then the function and the inputs.
fn command(evidence: &Evidence, common: &[String], inputs: &[String]) -> String {
    // Evidence of another metric replaces the one that was asked for.
    let has_metric = evidence.words.iter().any(|word| word == "-m");
    let is_metric = |at: usize| common[at] == "-m" || at > 0 && common[at - 1] == "-m";
    let common = (0..common.len()).filter(|&at| !has_metric || !is_metric(at)).map(|at| &common[at]);
    let options = evidence.words.iter().chain(common);
    format!("prof {}", shell_words(options, evidence.subject.iter().chain(inputs)))
}

/// The report with as many findings as the budget allows.
fn within_budget(report: Findings, budget: Option<usize>, output: &Output) -> Result<Report> {
    let is_for_people = output.format.is_for_people();
    if budget == Some(0) || (budget.is_none() && !is_for_people) {
        return Ok(report.into());
    }
    let lines = output.lines.unwrap_or(LINES);
    let count = report.findings.len();
    // The first finding is always there, in its shortest form if need be.
    for shorter in (1..=count).rev().map(|count| report.first(count)).chain([report.shortest()]) {
        let is_shortest = shorter.is_short;
        let shorter = Report::from(shorter);
        let mut text = Vec::new();
        render(&shorter, output.format, &output.style, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let fits = match budget {
            Some(tokens) => text.chars().count() <= tokens.saturating_mul(TOKEN),
            None => text.lines().count() <= lines,
        };
        if fits || is_shortest {
            return Ok(shorter);
        }
    }
    Ok(report.into())
}
