//! Loads many inputs in parallel and adds them up as they arrive.

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use crate::cli::input::paths::InputPath;
use crate::cli::options::symbols::SymbolArgs;
use crate::cli::terminal::progress::Progress;
use crate::format::{self, Format, Inflate, LoadError, Source};
use crate::parallel;
use crate::profile::{LoadOptions, Meta, Profile};
use crate::transform::{MergeError, Sum, drop_frames};

/// Loads inputs: what to read, and how.
pub(crate) struct Loader<'a> {
    pub(crate) paths: &'a [InputPath],
    pub(crate) options: LoadOptions,
    pub(crate) format: Option<&'a Format>,
    pub(crate) all_frames: bool,
    pub(crate) skip_broken: bool,
    pub(crate) symbols: &'a SymbolArgs,
    /// Whether to keep every profile separate. Otherwise profiles are added up while they are read, so that
    /// memory holds only one per processor.
    pub(crate) each: bool,
    pub(crate) progress: &'a Progress,
}

/// The inputs that were loaded.
#[derive(Default)]
pub(crate) struct LoadedInputs {
    /// The metadata of each input, with its number.
    pub(crate) metas: Vec<(usize, Meta)>,
    /// The inputs that were skipped.
    pub(crate) skipped: Vec<Skipped>,
    /// The profiles, in the order of the inputs.
    pub(crate) parts: Vec<LoadedPart>,
}

/// One profile as it was read, or the sum of several.
pub(crate) enum LoadedPart {
    Single(Profile),
    Sum(Result<Profile, MergeError>),
}

/// The number of an input that could not be read, and why.
pub(crate) type Failed = (usize, LoadError);

/// The number of an input that was skipped, and why.
pub(crate) type Skipped = Failed;

impl LoadedPart {
    /// The profile, if it is not a sum: its addresses may still need names.
    fn one(&mut self) -> Option<&mut Profile> {
        match self {
            LoadedPart::Single(profile) => Some(profile),
            LoadedPart::Sum(_) => None,
        }
    }

    pub(crate) fn into_profile(self) -> Result<Profile, MergeError> {
        match self {
            LoadedPart::Single(profile) => Ok(profile),
            LoadedPart::Sum(sum) => sum,
        }
    }
}

impl LoadedInputs {
    /// The profiles that are not sums.
    pub(crate) fn profiles(&mut self) -> impl Iterator<Item = &mut Profile> {
        self.parts.iter_mut().filter_map(LoadedPart::one)
    }

    /// Sorts what was read in the order of the inputs.
    fn sort(&mut self, each: bool) {
        if !each {
            return self.metas.sort_unstable_by_key(|(number, _)| *number);
        }
        // There is one part per input, in the same order.
        let mut read: Vec<_> = self.metas.drain(..).zip(self.parts.drain(..)).collect();
        read.sort_unstable_by_key(|((number, _), _)| *number);
        (self.metas, self.parts) = read.into_iter().unzip();
    }

    fn add(&mut self, other: LoadedInputs) {
        self.metas.extend(other.metas);
        self.skipped.extend(other.skipped);
        self.parts.extend(other.parts);
    }
}

impl Loader<'_> {
    /// Reads inputs in the given order until `most` are read.
    pub(crate) fn load(&self, order: Vec<usize>, most: usize) -> Result<LoadedInputs, Failed> {
        let mut order = order.into_iter();
        let mut all = LoadedInputs::default();
        loop {
            // Other inputs replace those that were skipped.
            let mut numbers: Vec<usize> = order.by_ref().take(most - all.metas.len()).collect();
            if numbers.is_empty() {
                all.sort(self.each);
                return Ok(all);
            }
            numbers.sort_unstable();
            self.read(&numbers, &mut all)?;
        }
    }

    fn read(&self, mut numbers: &[usize], all: &mut LoadedInputs) -> Result<(), Failed> {
        // The first profile determines the metrics of a sum.
        while let (None, Some((&number, others))) = (all.metas.first(), numbers.split_first()) {
            numbers = others;
            all.add(self.run(&[number], Inflate::OnThread, None)?);
        }
        let Some((_, first)) = all.metas.first() else { return Ok(()) };
        let sizes: Vec<u64> = numbers.iter().map(|&number| self.paths[number].size()).collect();
        let runs = parallel::balanced(&sizes);
        // If every processor already reads a file, a second thread per file would only slow things down.
        let inflate = if runs.len() < parallel::processors() { Inflate::OnThread } else { Inflate::Here };
        for run in parallel::each(runs, |run| self.run(&numbers[run], inflate, Some(first))) {
            all.add(run?);
        }
        Ok(())
    }

    /// Reads some inputs one after the other. Those that are complete are added up to sums with the metrics
    /// of `first`.
    fn run(&self, numbers: &[usize], inflate: Inflate, first: Option<&Meta>) -> Result<LoadedInputs, Failed> {
        let mut run = LoadedInputs::default();
        let mut sum: Option<Sum> = None;
        for &number in numbers {
            let profile = match self.load_input(number, inflate)? {
                Ok(profile) => profile,
                Err(skipped) => {
                    run.skipped.push(skipped);
                    continue;
                }
            };
            run.metas.push((number, profile.meta.clone()));
            if let Some(first) = first.filter(|_| self.is_complete(&profile)) {
                // Each profile has its own list of frames to drop.
                let profile = if self.all_frames { profile } else { drop_frames(&profile) };
                sum.get_or_insert_with(|| Sum::like(first, self.options)).add(&profile);
            } else {
                run.parts.extend(sum.take().map(|sum| LoadedPart::Sum(sum.finish())));
                run.parts.push(LoadedPart::Single(profile));
            }
        }
        run.parts.extend(sum.map(|sum| LoadedPart::Sum(sum.finish())));
        Ok(run)
    }

    /// Whether a profile can be added up right away. It cannot if names for its addresses are still to be
    /// looked up (when all inputs are read, so that each binary is read once), or if it records calls, whose
    /// values cannot be rescaled.
    fn is_complete(&self, profile: &Profile) -> bool {
        !self.each && profile.calls.is_none() && !self.symbols.concern(profile)
    }

    /// Reads one input. The outer result fails if the input may not be skipped.
    fn load_input(&self, number: usize, inflate: Inflate) -> Result<Result<Profile, Skipped>, Failed> {
        let path = &self.paths[number];
        match load_one(&path.name, inflate, self.options, self.format, self.progress) {
            Ok(profile) => Ok(Ok(profile)),
            Err(error) if path.is_skipped(&error, self.skip_broken) => Ok(Err((number, error))),
            Err(error) => Err((number, error)),
        }
    }
}

/// Reads one input.
fn load_one(
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
