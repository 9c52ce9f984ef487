//! Many inputs, read side by side and added up as they come.

use crate::cli::paths::InputPath;
use crate::cli::progress::Progress;
use crate::cli::reading::load_one;
use crate::cli::symbols::SymbolArgs;
use crate::format::{Format, Inflate, LoadError};
use crate::parallel;
use crate::profile::{LoadOptions, Meta, Profile};
use crate::transform::{MergeError, Sum, drop_frames};

/// What to read, and how.
pub(super) struct Gatherer<'a> {
    pub(super) paths: &'a [InputPath],
    pub(super) options: LoadOptions,
    pub(super) format: Option<&'a Format>,
    pub(super) all_frames: bool,
    pub(super) skip_broken: bool,
    pub(super) symbols: &'a SymbolArgs,
    /// Whether every profile is kept for itself, for a choice among them; else they are added up while
    /// they are read, and memory holds one of them for each processor.
    pub(super) each: bool,
    pub(super) progress: &'a Progress,
}

/// What was read.
#[derive(Default)]
pub(super) struct Gathered {
    /// What each input says of itself, with its number.
    pub(super) metas: Vec<(usize, Meta)>,
    /// The inputs that were left out.
    pub(super) skipped: Vec<Skipped>,
    /// What the inputs hold, in their order.
    pub(super) parts: Vec<Piece>,
}

/// One profile as it was read, or the sum of some.
pub(super) enum Piece {
    One(Profile),
    Sum(Result<Profile, MergeError>),
}

/// The number of an input that could not be read, and why.
pub(super) type Failed = (usize, LoadError);

/// The same of one that may be left out.
pub(super) type Skipped = Failed;

impl Piece {
    /// The profile, where it still is as it was read: its addresses may need names.
    fn one(&mut self) -> Option<&mut Profile> {
        match self {
            Piece::One(profile) => Some(profile),
            Piece::Sum(_) => None,
        }
    }

    pub(super) fn into_profile(self) -> Result<Profile, MergeError> {
        match self {
            Piece::One(profile) => Ok(profile),
            Piece::Sum(sum) => sum,
        }
    }
}

impl Gathered {
    /// The profiles that are as they were read.
    pub(super) fn profiles(&mut self) -> impl Iterator<Item = &mut Profile> {
        self.parts.iter_mut().filter_map(Piece::one)
    }

    /// Puts what was read in the order of the inputs.
    fn sort(&mut self, each: bool) {
        if !each {
            return self.metas.sort_unstable_by_key(|(number, _)| *number);
        }
        // One part an input, read in the same order.
        let mut read: Vec<_> = self.metas.drain(..).zip(self.parts.drain(..)).collect();
        read.sort_unstable_by_key(|((number, _), _)| *number);
        (self.metas, self.parts) = read.into_iter().unzip();
    }

    fn add(&mut self, other: Gathered) {
        self.metas.extend(other.metas);
        self.skipped.extend(other.skipped);
        self.parts.extend(other.parts);
    }
}

impl Gatherer<'_> {
    /// Reads inputs in the given order until `most` are read.
    pub(super) fn gather(&self, order: Vec<usize>, most: usize) -> Result<Gathered, Failed> {
        let mut order = order.into_iter();
        let mut all = Gathered::default();
        loop {
            // Where some are skipped, others take their place.
            let mut numbers: Vec<usize> = order.by_ref().take(most - all.metas.len()).collect();
            if numbers.is_empty() {
                all.sort(self.each);
                return Ok(all);
            }
            numbers.sort_unstable();
            self.read(&numbers, &mut all)?;
        }
    }

    fn read(&self, mut numbers: &[usize], all: &mut Gathered) -> Result<(), Failed> {
        // The first profile says which metrics a sum has.
        while let (None, Some((&number, others))) = (all.metas.first(), numbers.split_first()) {
            numbers = others;
            all.add(self.run(&[number], Inflate::OnThread, None)?);
        }
        let Some((_, first)) = all.metas.first() else { return Ok(()) };
        let sizes: Vec<u64> = numbers.iter().map(|&number| self.paths[number].size()).collect();
        let runs = parallel::balanced(&sizes);
        // With as many files as processors at work, a second thread for each file is in the way.
        let inflate = if runs.len() < parallel::processors() { Inflate::OnThread } else { Inflate::Here };
        for run in parallel::each(runs, |run| self.run(&numbers[run], inflate, Some(first))) {
            all.add(run?);
        }
        Ok(())
    }

    /// Reads some inputs one after the other. Those that need no more than to be added up become sums
    /// like `first`.
    fn run(&self, numbers: &[usize], inflate: Inflate, first: Option<&Meta>) -> Result<Gathered, Failed> {
        let mut run = Gathered::default();
        let mut sum: Option<Sum> = None;
        for &number in numbers {
            let profile = match self.load(number, inflate)? {
                Ok(profile) => profile,
                Err(skipped) => {
                    run.skipped.push(skipped);
                    continue;
                }
            };
            run.metas.push((number, profile.meta.clone()));
            if let Some(first) = first.filter(|_| self.is_complete(&profile)) {
                // Every input has its own idea of what to drop.
                let profile = if self.all_frames { profile } else { drop_frames(&profile) };
                sum.get_or_insert_with(|| Sum::like(first, self.options)).add(&profile);
            } else {
                run.parts.extend(sum.take().map(|sum| Piece::Sum(sum.finish())));
                run.parts.push(Piece::One(profile));
            }
        }
        run.parts.extend(sum.map(|sum| Piece::Sum(sum.finish())));
        Ok(run)
    }

    /// Whether a profile can be added up at once. Not so where its code gets names only when all are
    /// read, so that each binary is read once; nor calls, whose values cannot be rescaled.
    fn is_complete(&self, profile: &Profile) -> bool {
        !self.each && profile.calls.is_none() && !self.symbols.concern(profile)
    }

    /// Reads one input, unless it is to be left out.
    fn load(&self, number: usize, inflate: Inflate) -> Result<Result<Profile, Skipped>, Failed> {
        let path = &self.paths[number];
        match load_one(&path.name, inflate, self.options, self.format, self.progress) {
            Ok(profile) => Ok(Ok(profile)),
            Err(error) if path.is_skipped(&error, self.skip_broken) => Ok(Err((number, error))),
            Err(error) => Err((number, error)),
        }
    }
}
