//! `flame --time` and `flame --heatmap`: pictures in which from left to right is time.

use std::path::Path;

use anyhow::Result;

use crate::cli::commands::flame::{FlameCommand, StyleChoice, name_it, refuse};
use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric};
use crate::cli::commands::timeline::{explain, range};
use crate::cli::options::layout::Output;
use crate::cli::options::pictures::has_ending;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::filter::{FilterKind, Filters};
use crate::output::{SvgOptions, chart_svg, heatmap_svg, json};
use crate::profile::LoadOptions;
use crate::report::Report;
use crate::view::{ChartOptions, HeatmapOptions, chart, heatmap};

const REQUIREMENT: Requirement = Requirement::Stacks {
    why: "when they were made is not recorded",
    instead: "omit --time and --heatmap, and costs are divided among callers approximately",
};

impl FlameCommand {
    /// Draws a flame chart or a heat map, or writes its data.
    pub(super) fn run_timed(&self, out: &Path) -> Result<()> {
        self.refuse_what_does_not_apply(out)?;
        let own = self.own()?;
        let options = SvgOptions {
            icicle: true,
            color_by: self.coloring.color_by(&self.stacks.base)?,
            unit: self.unit.unit(),
            width: self.drawing.width,
        };
        let output = Output::picture(out, self.drawing.force);
        let show = Show {
            by: self.node.by(),
            needs: LoadOptions { labels: self.drawing.time, times: true, ..LoadOptions::LEAST },
            ..Show::of_functions(&self.stacks, &self.highlight, &output, REQUIREMENT)
        };
        let range = range(&self.stacks.filters)?;
        // These keep or remove all of a stretch of time, or all of a thread.
        let whole = [FilterKind::From, FilterKind::To, FilterKind::Thread];
        let is_filtered = !whole.into_iter().fold(show.filters(), Filters::without).is_empty();
        let mut report = show.report(|profile, scope, _| {
            one_metric(&scope, "flame")?;
            let title = self.title.clone().unwrap_or_default();
            let drawn = if self.drawing.time {
                let pixels = options.frames_width() as u32;
                let own = own.clone();
                let chart_options =
                    ChartOptions { title, range, is_filtered, pixels, own, ..ChartOptions::new(scope) };
                chart(profile, &chart_options).map(Report::from)
            } else {
                let heatmap_options = HeatmapOptions { title, range, ..HeatmapOptions::new(scope) };
                heatmap(profile, &heatmap_options).map(Report::from)
            };
            drawn.map_err(|error| explain(&error, profile))
        })?;
        let is_data = has_ending(out, "json");
        let mut clock = Clock::new(self.stacks.input.verbose);
        match &mut report {
            Report::Chart(chart) => name_it(&mut chart.title, &chart.header),
            Report::Heatmap(heatmap) => name_it(&mut heatmap.title, &heatmap.header),
            _ => {}
        }
        output.target.write(|out| match &report {
            report if is_data => Ok(json(report, out)?),
            Report::Chart(chart) => chart_svg(chart, &options, out).map_err(unwritten),
            Report::Heatmap(heatmap) => heatmap_svg(heatmap, &options, out).map_err(unwritten),
            _ => Ok(()),
        })?;
        clock.step("draw");
        Ok(())
    }

    /// Fails if another option does not apply to pictures of time.
    fn refuse_what_does_not_apply(&self, out: &Path) -> Result<()> {
        let drawing = &self.drawing;
        let option = if drawing.time { "--time" } else { "--heatmap" };
        let functions = !drawing.time && (self.highlight.is_given() || !self.code.own.is_empty());
        if has_ending(out, "html") && drawing.time != drawing.heatmap {
            let (what, instead) = if drawing.time {
                ("a flame chart", "a page has it in its tab Timeline without --time; otherwise write an .svg")
            } else {
                ("a heat map", "write an .svg, or the data as -o OUT.json")
            };
            return Err(hinted(
                format!("flame {option}: {what} is an .svg, or a .json with its data"),
                instead,
            ));
        }
        let refused = [
            (drawing.time && drawing.heatmap, "--heatmap", "run the command once for each"),
            (self.stacks.base.is_given(), "--base", "draw each side in a picture of its own"),
            (drawing.bottom_up, "--bottom-up", "omit it: prof tree --bottom-up lists callers"),
            (drawing.icicle, "--icicle", "omit it: callers are always above the functions that they call"),
            (drawing.order.is_some(), "--order", "omit it: the order is that of time"),
            (drawing.style == Some(StyleChoice::Classic), "--style classic", "omit it"),
            (
                self.code.embed.embed_source,
                "--embed-source",
                "omit it, or write an .html without this option",
            ),
            (
                functions,
                "--highlight or --own",
                "omit it: a heat map shows no functions, but filters choose some",
            ),
            (!drawing.time && self.coloring.is_given(), "--color-by", "omit it: darker is more"),
        ];
        refuse(&refused, |other| format!("flame {option}: {other} does not apply to it"))
    }
}
