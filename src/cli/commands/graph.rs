//! `prof graph`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::commands::requirement::Requirement;
use crate::cli::commands::show::{Show, one_metric, write};
use crate::cli::options::args::{RowLimit, ViewArgs, percent};
use crate::cli::options::color_by::ColorByArgs;
use crate::cli::options::completion;
use crate::cli::options::layout::Output;
use crate::cli::options::pictures::{Drawing, has_ending};
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, unwritten};
use crate::cli::terminal::target::Target;
use crate::output::{self, ColorBy};
use crate::report::{Graph, Report};
use crate::view::{GraphOptions, Sort, SortKey, graph};

/// Call graph: one node per function (OUT.svg, OUT.dot, or text)
///
/// An argument that ends in .svg or .dot is the picture to write; without one, the graph is printed as text.
/// Writing .svg needs Graphviz (`dot`).
#[derive(Args, Debug)]
#[command(override_usage = "prof graph [OPTIONS] [OUT.svg|OUT.dot] [PROFILE]...")]
#[command(after_help = "Examples:
  prof graph calls.svg cpu.pb.gz        a picture of the 80 heaviest functions
  prof graph -n 20 cpu.pb.gz            the 20 heaviest as text, each with its callers and callees")]
pub(crate) struct GraphCommand {
    #[command(flatten)]
    view: ViewArgs,
    /// Show at most the N heaviest functions (or the first N by --sort); 0 for all [default: 80; JSON and CSV: all]
    #[arg(short = 'n', long, value_name = "N", visible_alias = "max-nodes")]
    limit: Option<usize>,
    /// Hide calls below this percentage of what is shown [default: 0.1; JSON and CSV: 0]
    #[arg(long, value_name = "P", value_parser = percent)]
    min_edge: Option<f64>,
    #[command(flatten)]
    coloring: ColorByArgs,
    /// Sort functions by comma-separated keys; --limit keeps the first ones. A leading - reverses (-total). Keys: self, total, children, name, delta, old, new
    #[arg(
        short, long, value_name = "KEYS", allow_hyphen_values = true,
        add = ArgValueCompleter::new(completion::sort_keys)
    )]
    sort: Option<Sort>,
}

/// The default number of nodes in pictures and text.
const NODES: usize = 80;
/// The default smallest share of an edge in pictures and text, in percent.
const MIN_EDGE: f64 = 0.1;

impl GraphCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        let drawing = Drawing { command: "graph", endings: &["svg", "dot"], dash: false };
        let picture = self.view.layout.picture(&drawing, &mut self.view.stacks.input.profiles)?;
        if picture.is_none() && self.coloring.is_given() {
            let hint = "prof graph OUT.svg draws a picture, prof graph OUT.dot writes one for Graphviz";
            return Err(hinted("graph --color-by: only pictures have colours", hint));
        }
        let color_by = self.coloring.color_by(&self.view.stacks.base)?;
        let output = match &picture {
            Some(out) => Output::picture(out, self.view.layout.force),
            None => self.view.output()?,
        };
        let sort = self.view.stacks.base.order(self.sort.as_ref(), SortKey::Total)?;
        let usual = if output.format.is_for_people() { MIN_EDGE } else { 0.0 };
        let min_edge = self.min_edge.unwrap_or(usual);
        let show = Show {
            limit: Some(RowLimit { given: self.limit, text: NODES }),
            ..Show::new(&self.view, &output, Requirement::Calls)
        };
        let report = show.report(|profile, scope, max_nodes| {
            one_metric(&scope, "graph")?;
            let grouped = picture.is_some();
            let options = GraphOptions { scope, sort: sort.clone(), max_nodes, min_edge, grouped };
            Ok(graph(profile, &options).into())
        })?;
        match (&report, &picture) {
            (Report::Graph(graph), Some(picture)) => self.draw(graph, picture, color_by, &output.target),
            _ => write(&report, &output, self.view.stacks.input.verbose),
        }
    }

    fn draw(&self, graph: &Graph, picture: &Path, color_by: ColorBy, target: &Target) -> Result<()> {
        let mut clock = Clock::new(self.view.stacks.input.verbose);
        let mut dot = Vec::new();
        let unit = self.view.wording.unit.unit();
        output::dot(graph, unit.as_ref(), color_by, &mut dot).map_err(unwritten)?;
        let drawn = if has_ending(picture, "svg") { render(&dot)? } else { dot };
        target.write(|out| Ok(out.write_all(&drawn)?))?;
        clock.step("draw");
        Ok(())
    }
}

/// Draws the graph with Graphviz.
fn render(dot: &[u8]) -> Result<Vec<u8>> {
    let started = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "install Graphviz, or write a .dot file and draw it on another machine";
            return Err(hinted("graph: writing .svg needs Graphviz, but `dot` is not installed", hint));
        }
        started => started.context("graph: cannot start `dot`")?,
    };
    let input = child.stdin.take();
    let done = thread::scope(|scope| {
        // `dot` may write output before it has read all of its input.
        let writer = scope.spawn(move || input.map_or(Ok(()), |mut input| input.write_all(dot)));
        let done = child.wait_with_output();
        // If `dot` stopped reading, its exit code and message explain why.
        let _ = writer.join();
        done
    });
    let done = done.context("graph: cannot read the output of `dot`")?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!("graph: `dot` failed: {}", crate::name::clean(said.trim()));
    }
    Ok(done.stdout)
}
