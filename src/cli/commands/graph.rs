//! `prof graph`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::cli::args::{OutputFormat, ViewArgs, percent};
use crate::cli::base::BaseArgs;
use crate::cli::calls::Shows;
use crate::cli::clock::Clock;
use crate::cli::coloring::ColoringArgs;
use crate::cli::failure::hinted;
use crate::cli::marking::MarkArgs;
use crate::cli::pictures::Drawing;
use crate::cli::run::{one_metric, report_of, write_timed};
use crate::cli::target::Target;
use crate::output::{self, ColorBy};
use crate::profile::LoadOptions;
use crate::report::{Graph, Report};
use crate::view::{GraphOptions, Sort, SortKey, graph};

/// Call graph: one node per function (OUT.svg, OUT.dot, or text)
///
/// The PROFILE that ends in .svg or .dot is the picture to write; without one the graph is listed as text.
/// An .svg is drawn by `dot` of Graphviz.
#[derive(Args, Debug)]
#[command(mut_arg("color_by", |option| {
    option.help("What the colours of a picture say [default: total, with --base delta]")
}))]
#[command(after_help = "Examples:
  prof graph calls.svg cpu.pb.gz        a picture of the 80 heaviest functions
  prof graph -n 20 cpu.pb.gz            the 20 heaviest as text, each with its callers and callees")]
pub(crate) struct GraphCommand {
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    base: BaseArgs,
    /// How many functions at most, the heaviest; 0 for all [default: 80; JSON and CSV: all]
    #[arg(short = 'n', long, value_name = "N", visible_alias = "max-nodes")]
    limit: Option<usize>,
    /// Leave out calls under this share of what is shown, in percent [default: 0.1; JSON and CSV: 0]
    #[arg(long, value_name = "P", value_parser = percent)]
    min_edge: Option<f64>,
    #[command(flatten)]
    coloring: ColoringArgs,
    #[command(flatten)]
    mark: MarkArgs,
    /// Order of functions, of which the first are shown: self, total, children, name, delta, old, new
    #[arg(short, long, value_name = "KEYS", allow_hyphen_values = true)]
    sort: Option<Sort>,
}

/// Nodes of what people look at, unless told otherwise.
const NODES: usize = 80;
/// The smallest share of their edges, in percent.
const MIN_EDGE: f64 = 0.1;

/// The form of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Picture {
    Dot,
    Svg,
}

impl GraphCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        let drawing = Drawing { command: "graph", endings: &["svg", "dot"], dash: false };
        let out = drawing.target(self.view.layout.output.take(), &mut self.view.input.profiles)?;
        self.view.layout.output.clone_from(&out);
        let picture = out.as_deref().and_then(picture);
        if picture.is_some() && self.view.layout.format != OutputFormat::Text {
            let hint = "write a picture and a report one after the other";
            return Err(hinted("graph --format: the ending of OUT says that a picture is drawn", hint));
        }
        if picture.is_none() && self.coloring.is_given() {
            let hint = "prof graph OUT.svg draws one, prof graph OUT.dot writes it for Graphviz";
            return Err(hinted("graph --color-by: only a picture has colours", hint));
        }
        let color_by = self.coloring.color_by(&self.base, ColorBy::Total)?;
        let target = Target::new(out.as_deref());
        let (base, needs) = (&self.base, LoadOptions::default());
        let sort = Sort::by(if self.base.is_given() { SortKey::Delta } else { SortKey::Total });
        let report = report_of(&self.view, base, Shows::Calls, needs, &target, |profile, mut scope| {
            one_metric(&scope, "graph")?;
            self.mark.apply(profile, self.view.filters.fixed_strings, &mut scope)?;
            let for_people = picture.is_some() || self.view.layout.format.is_for_people();
            let (nodes, min_edge) = if for_people { (NODES, MIN_EDGE) } else { (0, 0.0) };
            let most = || if for_people { self.view.layout.rows_or(nodes) } else { nodes };
            let options = GraphOptions {
                scope,
                sort: self.base.order(self.sort.as_ref(), sort.clone())?,
                max_nodes: Some(self.limit.unwrap_or_else(most)).filter(|&nodes| nodes > 0),
                min_edge: self.min_edge.unwrap_or(min_edge),
            };
            Ok(Report::Graph(graph(profile, &options)))
        })?;
        match (&report, picture) {
            (Report::Graph(graph), Some(picture)) => self.draw(graph, picture, color_by, &target),
            _ => {
                let ViewArgs { input, layout, wording, .. } = &self.view;
                write_timed(&report, input, layout, wording, &target)
            }
        }
    }

    fn draw(&self, graph: &Graph, picture: Picture, color_by: ColorBy, target: &Target) -> Result<()> {
        let mut clock = Clock::new(self.view.input.verbose);
        let mut dot = Vec::new();
        output::dot(graph, self.view.wording.unit.unit().as_ref(), color_by, &mut dot)??;
        let drawn = match picture {
            Picture::Dot => dot,
            Picture::Svg => render(&dot)?,
        };
        target.write(|out| Ok(out.write_all(&drawn)?))?;
        clock.step("draw");
        Ok(())
    }
}

/// What is drawn where the output ends like a picture.
fn picture(out: &Path) -> Option<Picture> {
    match out.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
        "svg" => Some(Picture::Svg),
        "dot" => Some(Picture::Dot),
        _ => None,
    }
}

/// Has Graphviz lay the graph out.
fn render(dot: &[u8]) -> Result<Vec<u8>> {
    let started = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "install Graphviz, or write a .dot file and have it drawn elsewhere";
            return Err(hinted("graph: an .svg is drawn by `dot` of Graphviz, which is not installed", hint));
        }
        started => started.context("graph: `dot` cannot be started")?,
    };
    let input = child.stdin.take();
    let done = thread::scope(|scope| {
        // It may answer before it has read all.
        let writer = scope.spawn(move || input.map_or(Ok(()), |mut input| input.write_all(dot)));
        let done = child.wait_with_output();
        // Where it has stopped reading, its exit code and message say why.
        let _ = writer.join();
        done
    });
    let done = done.context("graph: `dot` cannot be read")?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!("graph: `dot` failed: {}", crate::name::clean(said.trim()));
    }
    Ok(done.stdout)
}
