//! Reads the inputs, looks up names for their addresses, and explains why an input cannot be read.

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use anyhow::Result;

use crate::cli::args::InputArgs;
use crate::cli::clock::Clock;
use crate::cli::failure::{hinted, meant, with_hint};
use crate::cli::loader::{LoadedInputs, Loader};
use crate::cli::paths::{self, InputPath, expand_folders, no_profile};
use crate::cli::progress::Progress;
use crate::cli::run::print_messages;
use crate::format::{self, FORMATS, Format, Inflate, LoadError, Source};
use crate::profile::{Budget, LoadOptions, Profile};
use crate::transform::drop_frames;

/// Options for reading inputs.
pub(super) struct Reading<'a> {
    pub(super) args: &'a InputArgs,
    /// Paths and folders as given.
    pub(super) names: &'a [String],
    pub(super) options: LoadOptions,
    /// Whether to keep the frames that a profile itself marks as to be dropped.
    pub(super) all_frames: bool,
    /// Whether to keep every profile separate.
    pub(super) each: bool,
}

impl Reading<'_> {
    /// Reads the inputs that `order` chooses: given the number of inputs, it returns their order and how many
    /// to read. The result has at least one profile.
    pub(super) fn read(
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
pub(super) fn skipped_text(skipped: usize) -> String {
    match skipped {
        1 => "1 input skipped: not a readable profile".to_string(),
        _ => format!("{skipped} inputs skipped: not readable profiles"),
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

/// The hint for an exceeded memory limit.
pub(super) const MORE_MEMORY: &str = "raise the memory limit, for example with --max-memory 8GiB";

/// Explains what is wrong with an input, and what may have been meant.
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
            let hint = hint
                .unwrap_or_else(|| format!("tried {}; use --input-format to choose one", known.join(", ")));
            hinted(format!("{shown}: {error}", error = LoadError::Unrecognized { hint: None }), hint)
        }
        error => anyhow::Error::new(error).context(shown.to_string()),
    }
}

/// The hint for a missing file, which may be a command in the wrong place or a URL.
fn not_found_hint(name: &str, given: &[String]) -> Option<String> {
    let commands = crate::cli::commands::names();
    if commands.iter().any(|command| command == name) {
        let others: Vec<&str> = given.iter().map(String::as_str).filter(|other| *other != name).collect();
        return Some(format!("the command comes first: prof {name} {}", others.join(" ")));
    }
    if name.contains("://") {
        return Some(
            "URLs are not fetched: download the profile first, or pipe it in (curl URL | prof top)"
                .to_string(),
        );
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
