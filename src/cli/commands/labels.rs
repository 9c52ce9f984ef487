//! `prof labels`.

use std::cell::OnceCell;

use anyhow::Result;
use clap::Args;

use crate::cli::commands::keep::Keep;
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{CutArgs, StackArgs};
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::{LayoutArgs, NamesChoice, Output, UnitArgs, WordingArgs};
use crate::cli::options::pictures::Drawing;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::filter::offer_labels;
use crate::output;
use crate::profile::{LoadOptions, Profile};
use crate::report::{Outliers, Report};
use crate::view::{LabelsOptions, NoOutliers, labels, limit_outliers, outliers};

/// Label keys and values, with their shares
#[derive(Args, Debug)]
#[command(visible_alias = "tags")]
#[command(mut_arg("limit", |option| {
    option.help("Show at most N values per key; 0 for all [default: as many as fit the screen, or 10; JSON and CSV: all]")
}))]
#[command(mut_arg("min_share", |option| option.help("Hide values below this percentage of what is shown [default: 0]")))]
#[command(after_help = "Examples:
  prof labels cpu.pb.gz                           which requests cost the most
  prof labels -n 3 --show-stacks json cpu.pb.gz   the same for stacks that encode JSON
  prof labels --outliers endpoint cpu.pb.gz       which endpoints differ, and in what functions")]
pub(crate) struct LabelsCommand {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    unit: UnitArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
    #[command(flatten)]
    rows: CutArgs,
    /// Find values of KEY that differ from the others; with OUT.svg or OUT.html, as a picture or a page
    #[arg(long, value_name = "KEY", conflicts_with = "base")]
    outliers: Option<String>,
    /// Accepted as in all views, without effect: there are no function names
    #[arg(long, hide = true)]
    names: Option<NamesChoice>,
}

/// The default number of values per key in text.
const VALUES: usize = 10;

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "calls have no labels",
    instead: "prof info describes the contents of the profile",
};

impl LabelsCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        // Differences can be drawn; the list of all values cannot.
        let drawing = Drawing { command: "labels", endings: &["svg", "html"], dash: false };
        let picture = match &self.outliers {
            Some(_) => self.layout.picture(&drawing, &mut self.stacks.input.profiles)?,
            None => None,
        };
        let wording = WordingArgs { unit: self.unit.clone(), names: self.names };
        let input = &self.stacks.input;
        let output = match &picture {
            Some(out) => Output::picture(out, self.layout.force),
            None => self.layout.output(&wording, &input.profiles, input.quiet)?,
        };
        let report = self.report(&output, None)?;
        let (Some(out), Report::Outliers(found)) = (&picture, &report) else {
            return write(&report, &output, input.verbose);
        };
        let mut drawn = Vec::new();
        let is_page = out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"));
        let written = if is_page {
            output::outliers_page(found, &output.style, &mut drawn)
        } else {
            output::outliers_svg(found, &mut drawn)
        };
        written.map_err(unwritten)?;
        output.target.write(|file| Ok(file.write_all(&drawn)?))
    }

    /// What the command shows. Profiles in `keep` are not loaded again.
    pub(crate) fn report(&self, output: &Output, keep: Option<&Keep>) -> Result<Report> {
        let min_share = self.rows.min_share_or(output.format, 0.0);
        let show = Show {
            needs: LoadOptions { labels: true, ..LoadOptions::LEAST },
            limit: Some(self.rows.most.or(VALUES)),
            keep,
            ..Show::of_functions(&self.stacks, &self.highlight, output, REQUIREMENT)
        };
        // A terminal asks several times, for fewer and fewer rows.
        let found = OnceCell::new();
        show.report(|profile, scope, limit| {
            one_metric(&scope, "labels")?;
            if let Some(key) = &self.outliers {
                let mut found: Outliers = match found.get() {
                    Some(found) => Outliers::clone(found),
                    None => {
                        let made = outliers(profile, &scope, key).map_err(|error| explain(error, profile))?;
                        found.get_or_init(|| made).clone()
                    }
                };
                limit_outliers(&mut found, limit, min_share);
                return Ok(found.into());
            }
            Ok(labels(profile, &LabelsOptions { scope, limit, min_share }).into())
        })
    }
}

fn explain(error: NoOutliers, profile: &Profile) -> anyhow::Error {
    match error {
        NoOutliers::NoLabel(key) => hinted(
            format!("--outliers {key}: no sample has this label"),
            offer_labels(profile, &key).unwrap_or_else(|| "the profile has no labels".to_string()),
        ),
        error @ NoOutliers::Incomparable(_) => error.into(),
    }
}
