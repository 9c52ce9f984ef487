//! Reads the inputs, looks up names for their addresses, and explains why an input cannot be read.

use std::fmt;
use std::io;

use anyhow::Result;

use crate::cli::input::loader::{LoadedInputs, Loader};
use crate::cli::input::paths::{self, InputPath, expand_folders, no_profile};
use crate::cli::options::args::InputArgs;
use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::failure::{hinted, meant};
use crate::cli::terminal::messages::print_messages;
use crate::cli::terminal::progress::Progress;
use crate::format::{self, FORMATS, Format, LoadError};
use crate::profile::{Budget, LoadOptions};
use crate::transform::drop_frames;

/// An input that does not exist.
#[derive(Debug)]
pub(crate) struct NoSuchFile {
    /// Its name.
    pub(crate) name: String,
    /// All inputs given, this one included.
    pub(crate) given: Vec<String>,
}

impl fmt::Display for NoSuchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no such file", paths::shown(&self.name))
    }
}

impl std::error::Error for NoSuchFile {}

/// Options for reading inputs.
pub(crate) struct Reading<'a> {
    pub(crate) args: &'a InputArgs,
    /// Paths and folders as given.
    pub(crate) names: &'a [String],
    pub(crate) options: LoadOptions,
    /// Whether to keep the frames that a profile itself marks as to be dropped.
    pub(crate) all_frames: bool,
    /// Whether to keep every profile separate.
    pub(crate) each: bool,
}

impl Reading<'_> {
    /// Reads the inputs that `order` chooses: given the number of inputs, it returns their order and how many
    /// to read. The result has at least one profile.
    pub(crate) fn read(
        &self,
        order: impl FnOnce(usize) -> (Vec<usize>, usize),
    ) -> Result<(Vec<InputPath>, LoadedInputs)> {
        let (args, budget) = (self.args, self.options.budget);
        let format = args.input_format.as_deref().map(format_named).transpose()?;
        let paths = expand_folders(self.names)?;
        let (order, most) = order(paths.len());
        let mut clock = Clock::new(args.verbose);
        let watched = order.iter().take(most).map(|&number| &*paths[number].name);
        let progress = Progress::start(watched, args.quiet);
        let loader = Loader {
            paths: &paths,
            options: self.options,
            format,
            all_frames: self.all_frames,
            skip_broken: args.skip_broken,
            symbols: &args.symbols,
            each: self.each,
            progress: &progress,
        };
        let mut inputs = loader
            .load(order, most)
            .map_err(|(number, error)| explain(&paths[number].name, error, budget, self.names))?;
        clock.step_with("load", &progress.parts());
        drop(progress);
        if args.verbose {
            print_messages(
                "skipped",
                inputs.skipped.iter().map(|(number, error)| format!("{}: {error}", paths[*number].shown())),
            );
        }
        if inputs.metas.is_empty() {
            return Err(no_profile(self.names));
        }
        args.symbols.apply(inputs.profiles())?;
        clock.step("symbols");
        if !self.all_frames {
            // Each profile has its own list of frames to drop, which matches names.
            inputs.profiles().for_each(|profile| *profile = drop_frames(profile));
        }
        Ok((paths, inputs))
    }
}

/// The warning that some inputs were skipped.
pub(crate) fn skipped_text(skipped: usize) -> String {
    match skipped {
        1 => "1 input skipped: not a readable profile".to_string(),
        _ => format!("{skipped} inputs skipped: not readable profiles"),
    }
}

/// The hint for an exceeded memory limit.
pub(crate) const MORE_MEMORY: &str = "raise the memory limit, for example with --max-memory 8GiB";

/// Explains what is wrong with an input, and what may have been meant.
fn explain(name: &str, error: LoadError, budget: Budget, given: &[String]) -> anyhow::Error {
    let shown = paths::shown(name);
    if budget.is_exceeded() {
        return hinted(format!("{shown}: {error}"), MORE_MEMORY);
    }
    match error {
        LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            NoSuchFile { name: name.to_string(), given: given.to_vec() }.into()
        }
        LoadError::Unrecognized { hint } => {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let hint = hint
                .unwrap_or_else(|| format!("tried {}; use --input-format to choose one", known.join(", ")));
            hinted(format!("{shown}: {error}", error = LoadError::Unrecognized { hint: None }), hint)
        }
        error => anyhow::Error::new(error).context(shown.to_string()),
    }
}

fn format_named(name: &str) -> Result<&'static Format> {
    format::named(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = format!("{}the formats are {}", meant(name, &known), known.join(", "));
        hinted(format!("--input-format {name}: no such format"), hint)
    })
}
