//! `prof flame`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cli::args::ViewArgs;
use crate::cli::failure::hinted;
use crate::cli::filters::AroundFocus;
use crate::cli::run::report_of;
use crate::cli::target::{Target, take_target};
use crate::output::{ColorBy, SvgOptions, svg};
use crate::profile::LoadOptions;
use crate::report::{Direction, Report};
use crate::view::{FlameOptions, Order, flame};

/// Flame graph: a picture of all stacks (OUT.svg)
///
/// The PROFILE that ends in .svg is where the picture goes.
#[derive(Args, Debug)]
pub(crate) struct FlameCommand {
    #[command(flatten)]
    view: ViewArgs,
    /// The root on top rather than at the bottom
    #[arg(long)]
    icicle: bool,
    /// Draw callers on the functions they call
    #[arg(short, long, visible_alias = "invert")]
    bottom_up: bool,
    /// Order of siblings
    #[arg(long, value_name = "HOW", default_value = "alpha")]
    order: OrderChoice,
    /// Title of the picture
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// What colours say
    #[arg(long, value_name = "WHAT", default_value = "package", alias = "colors")]
    color_by: ColorChoice,
}

/// What `--order` takes.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum OrderChoice {
    /// By name
    Alpha,
    /// The widest first
    Weight,
}

/// What `--color-by` takes.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum ColorChoice {
    /// The package, else the file
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

impl FlameCommand {
    pub(crate) fn run(mut self) -> Result<()> {
        let out = self.out()?;
        let target = Target::new(Some(&out));
        self.view.layout.output = Some(out);
        let (direction, around_focus) = if self.bottom_up {
            (Direction::BottomUp, AroundFocus::Callers)
        } else {
            (Direction::TopDown, AroundFocus::Callees)
        };
        self.view.filters.around_focus = around_focus;
        let order = match self.order {
            OrderChoice::Alpha => Order::Alphabetical,
            OrderChoice::Weight => Order::Weight,
        };
        let report = report_of(&self.view, LoadOptions::default(), &target, |profile, scope| {
            let title = self.title.clone().unwrap_or_default();
            let options = FlameOptions { order, direction, ..FlameOptions::new(scope, title) };
            Ok(Report::Flame(flame(profile, &options)))
        })?;
        let Report::Flame(mut flame) = report else { return Ok(()) };
        if flame.title.is_empty() {
            flame.title = title(&flame.header.about.inputs);
        }
        let options =
            SvgOptions { icicle: self.icicle, color_by: self.color_by(), unit: self.view.layout.unit() };
        target.write(|out| Ok(svg(&flame, &options, out)??))
    }

    /// Where the picture goes: `-o`, or the positional that ends like a picture.
    fn out(&mut self) -> Result<PathBuf> {
        let positional = take_target(&mut self.view.input.profiles, &["svg"]);
        self.view.layout.output.take().or(positional).ok_or_else(|| {
            let corrected = format!("prof flame flame.svg {}", self.view.input.profiles.join(" "));
            hinted("flame: nothing says where the picture goes", format!("try: {}", corrected.trim_end()))
        })
    }

    fn color_by(&self) -> ColorBy {
        match self.color_by {
            ColorChoice::Package => ColorBy::Package,
            ColorChoice::File => ColorBy::File,
            ColorChoice::SelfValue => ColorBy::SelfValue,
            ColorChoice::Total => ColorBy::Total,
            ColorChoice::Delta => ColorBy::Delta,
        }
    }
}

/// The title of a picture of these inputs.
fn title(inputs: &[String]) -> String {
    match inputs {
        [one] if one != "-" => {
            Path::new(one).file_name().map_or(one.clone(), |name| name.to_string_lossy().into_owned())
        }
        [_] => "Flame graph".to_string(),
        several => format!("{} profiles", several.len()),
    }
}
