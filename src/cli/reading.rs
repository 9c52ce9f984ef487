//! Inputs read side by side, with names for their addresses, and what is said where one cannot be read.

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use anyhow::Result;

use crate::cli::args::InputArgs;
use crate::cli::clock::Clock;
use crate::cli::failure::{hinted, meant, with_hint};
use crate::cli::gather::{Gathered, Gatherer};
use crate::cli::paths::{self, InputPath, expand_folders, no_profile};
use crate::cli::progress::Progress;
use crate::cli::run::say;
use crate::format::{self, FORMATS, Format, Inflate, LoadError, Source};
use crate::profile::{Budget, LoadOptions, Profile};
use crate::transform::drop_frames;

/// What to read, and how.
pub(super) struct Reading<'a> {
    pub(super) args: &'a InputArgs,
    /// Paths and folders, as given.
    pub(super) names: &'a [String],
    pub(super) options: LoadOptions,
    /// Whether frames that a profile itself says to drop are wanted too.
    pub(super) all_frames: bool,
    /// Whether every profile is kept for itself.
    pub(super) each: bool,
}

impl Reading<'_> {
    /// Reads the inputs that `order` chooses, given how many there are: their numbers, and how many to
    /// read. What it returns holds one profile at least.
    pub(super) fn read(
        &self,
        order: impl FnOnce(usize) -> (Vec<usize>, usize),
    ) -> Result<(Vec<InputPath>, Gathered)> {
        let (args, budget) = (self.args, self.options.budget);
        let format = args.input_format.as_deref().map(format_named).transpose()?;
        let paths = expand_folders(self.names)?;
        let (order, most) = order(paths.len());
        let mut clock = Clock::new(args.verbose);
        let watched = order.iter().take(most).map(|&number| &*paths[number].name);
        let progress = Progress::start(watched, args.quiet);
        let gatherer = Gatherer {
            paths: &paths,
            options: self.options,
            format,
            all_frames: self.all_frames,
            skip_broken: args.skip_broken,
            symbols: &args.symbols,
            each: self.each,
            progress: &progress,
        };
        let mut gathered = gatherer
            .gather(order, most)
            .map_err(|(number, error)| explain(&paths[number].name, error, budget, self.names))?;
        clock.step_with("load", &progress.parts());
        drop(progress);
        if args.verbose {
            say(
                "skipped",
                gathered.skipped.iter().map(|(number, error)| format!("{}: {error}", paths[*number].shown())),
            );
        }
        if gathered.metas.is_empty() {
            return Err(no_profile(self.names));
        }
        args.symbols.apply(gathered.profiles())?;
        clock.step("symbols");
        if !self.all_frames {
            // Every input has its own idea of what to drop, in the words of names.
            gathered.profiles().for_each(|profile| *profile = drop_frames(profile));
        }
        Ok((paths, gathered))
    }
}

/// Says that some inputs were left out.
pub(super) fn skipped_text(skipped: usize) -> String {
    match skipped {
        1 => "1 input was skipped: it is no readable profile".to_string(),
        _ => format!("{skipped} inputs were skipped: they are no readable profiles"),
    }
}

/// Reads one input.
pub(crate) fn load_one(
    name: &str,
    inflate: Inflate,
    options: LoadOptions,
    format: Option<&Format>,
    progress: &Progress,
) -> Result<Profile, LoadError> {
    let reader: Box<dyn Read + Send> =
        if name == "-" { Box::new(io::stdin()) } else { Box::new(File::open(name)?) };
    let start = Instant::now();
    let mut source = Source::open_with(progress.watch(reader), inflate, options.budget)?;
    source.set_name(name);
    let profile = format::load(&mut source, options, format)?;
    progress.loaded(source.times(start.elapsed()));
    Ok(profile)
}

/// What to do where the budget is exceeded.
pub(super) const MORE_MEMORY: &str = "--max-memory 8GiB allows that much, or as much as you say";

/// Says what is wrong with an input, and what may have been meant.
fn explain(name: &str, error: LoadError, budget: Budget, given: &[String]) -> anyhow::Error {
    let shown = paths::shown(name);
    if budget.is_exceeded() {
        return hinted(format!("{shown}: {error}"), MORE_MEMORY);
    }
    match error {
        LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            with_hint(format!("{shown}: no such file"), not_found_hint(name, given))
        }
        LoadError::Unrecognized { hint } => {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let hint =
                hint.unwrap_or_else(|| format!("tried {}; --input-format names one", known.join(", ")));
            hinted(format!("{shown}: {error}", error = LoadError::Unrecognized { hint: None }), hint)
        }
        error => anyhow::Error::new(error).context(shown.to_string()),
    }
}

/// A missing file may be a command in the wrong place.
fn not_found_hint(name: &str, given: &[String]) -> Option<String> {
    let commands = crate::cli::commands::names();
    if commands.iter().any(|command| command == name) {
        let others: Vec<&str> = given.iter().map(String::as_str).filter(|other| *other != name).collect();
        return Some(format!("the command comes first: prof {name} {}", others.join(" ")));
    }
    if name.contains("://") {
        return Some("addresses are not fetched: download the profile, or pipe it in".to_string());
    }
    None
}

fn format_named(name: &str) -> Result<&'static Format> {
    format::named(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = format!("{}the formats are {}", meant(name, &known), known.join(", "));
        hinted(format!("--input-format {name}: no such format"), hint)
    })
}
