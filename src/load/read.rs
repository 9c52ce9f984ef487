//! Reads many inputs side by side and adds them up as they arrive.

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::dataset;
use crate::format::{self, Inflate, LoadError, PositionedRead, Source};
use crate::load::paths::InputPath;
use crate::load::recorded_files::FilesOfRecording;
use crate::load::scripts::Scripts;
use crate::load::skipped::{Failed, SkippedInputs};
use crate::load::{Error, Observer, Request};
use crate::parallel;
use crate::profile::{LoadOptions, Meta, Profile, SharedTables};
use crate::source::{Opened, Origin};
use crate::transform::{MergeError, Sum, by_latency, compact, drop_frames, with_wall};

/// The inputs that were read, with names for their addresses and without the frames that they drop.
#[derive(Clone, Default)]
pub(super) struct ReadInputs {
    /// The metadata of each input, with its path.
    pub(super) metas: Vec<(String, Meta)>,
    /// The inputs that were skipped.
    pub(super) skipped: SkippedInputs,
    /// How many inputs there are, not counting those skipped.
    pub(super) found: usize,
    /// The profiles or sums of them. Profiles that are kept apart are in the order of the inputs.
    pub(super) parts: Vec<Result<Profile, MergeError>>,
}

/// What is kept of several inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Their sum: they are added up while they are read, so that memory holds only one profile per processor.
    Sum,
    /// Every profile.
    Each,
}

impl Request {
    /// Reads those of the inputs that `order` chooses: given their number, it returns their order and how many
    /// to read. The result has at least one profile.
    pub(super) fn read(
        &self,
        paths: &[InputPath],
        kept: Kept,
        order: impl FnOnce(usize) -> (Vec<usize>, usize),
    ) -> Result<ReadInputs, Error> {
        let (order, most) = order(paths.len());
        let files: Vec<&str> = order.iter().take(most).map(|&number| &*paths[number].name).collect();
        self.observer.begin(&files);
        if let Some(missing) = self.symbols.source_maps.given.iter().find(|path| !path.exists()) {
            return Err(Error::NoSourceMap(missing.clone()));
        }
        let scripts = Scripts::new(&self.symbols.source_maps, self.symbols.wanted);
        let read = Reader { request: self, paths, scripts: &scripts, kept }.read_order(order, most);
        self.observer.end();
        let mut read =
            read.map_err(|(number, error)| Error::Input { name: paths[number].name.clone(), error })?;
        self.observer.step("load");
        for (number, error) in &read.skipped {
            self.observer.skipped(&paths[*number].name, error);
        }
        if read.metas.is_empty() {
            return Err(self.nothing_read(read.skipped, paths));
        }
        let numbers: Vec<usize> = read.metas.iter().map(|(number, _)| *number).collect();
        let skipped = SkippedInputs::of(mem::take(&mut read.skipped), &numbers, paths, self.skip_broken)?;
        self.symbols.apply(read.profiles(), &self.observer)?;
        read.tell(&scripts);
        self.observer.step("symbols");
        self.drop_frames(&mut read);
        let found = paths.len() - skipped.count();
        let metas = read.metas.into_iter().map(|(number, meta)| (paths[number].name.clone(), meta));
        let parts = read.parts.into_iter().map(Part::into_profile);
        Ok(ReadInputs { metas: metas.collect(), skipped, found, parts: parts.collect() })
    }
}

impl Request {
    /// Reads the inputs in batches, and takes each batch while the next ones are read; memory holds at most four. Profiles
    /// have names for their addresses, and lack the frames that they drop. The first batch is a single input.
    pub(super) fn read_in_batches<E: From<Error> + Send>(
        &self,
        order: BatchOrder,
        take: impl FnMut(Vec<(String, Profile)>) -> Result<(), E> + Send,
    ) -> Result<SkippedInputs, E> {
        let paths = self.paths()?;
        self.observer.begin(&paths.iter().map(|path| &*path.name).collect::<Vec<&str>>());
        let scripts = Scripts::new(&self.symbols.source_maps, self.symbols.wanted);
        let reader = Reader { request: self, paths: &paths, scripts: &scripts, kept: Kept::Each };
        let sizes: Vec<u64> = paths.iter().map(|path| path.origin.size()).collect();
        let (mut skipped, mut done) = (Vec::new(), Vec::new());
        let read_all = |hand_on: &mut dyn FnMut(Vec<(String, Profile)>) -> bool| -> Result<(), E> {
            for batch in order.batches(&sizes) {
                let mut read = Progress::default();
                let failed =
                    |(number, error): Failed| Error::Input { name: paths[number].name.clone(), error };
                reader.read(&batch, &mut read).map_err(failed)?;
                read.sort(true);
                skipped.append(&mut read.skipped);
                self.symbols.apply(read.profiles(), &self.observer)?;
                self.drop_frames(&mut read);
                done.extend(read.metas.iter().map(|(number, _)| *number));
                let names = read.metas.into_iter().map(|(number, _)| paths[number].name.clone());
                let profiles: Result<Vec<Profile>, _> =
                    read.parts.into_iter().map(Part::into_profile).collect();
                let mut batch: Vec<_> = names.zip(profiles.map_err(Error::from)?).collect();
                if order == BatchOrder::LastFirst {
                    batch.reverse();
                }
                if !hand_on(batch) {
                    break;
                }
            }
            Ok(())
        };
        let result = parallel::relay(read_all, take);
        self.observer.end();
        result?;
        for (number, error) in &skipped {
            self.observer.skipped(&paths[*number].name, error);
        }
        if done.is_empty() {
            return Err(self.nothing_read(skipped, &paths).into());
        }
        Ok(SkippedInputs::of(skipped, &done, &paths, self.skip_broken)?)
    }

    /// Why no input could be read: the first broken one says more than that there is no profile.
    fn nothing_read(&self, skipped: Vec<Failed>, paths: &[InputPath]) -> Error {
        let skip_broken = false;
        match SkippedInputs::of(skipped, &[], paths, skip_broken) {
            Err(error) => error,
            Ok(_) => Error::NoProfile(self.names()),
        }
    }

    /// Each profile has its own list of frames to drop, which matches names.
    fn drop_frames(&self, read: &mut Progress) {
        if !self.all_frames {
            read.profiles().for_each(|profile| *profile = drop_frames(profile));
        }
    }
}

/// The order in which inputs are read in batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BatchOrder {
    /// For exports alone.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code))]
    FirstFirst,
    LastFirst,
}

impl BatchOrder {
    /// The numbers of the inputs in each batch, ascending, given the sizes of all inputs.
    fn batches(self, sizes: &[u64]) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        if self == BatchOrder::LastFirst {
            order.reverse();
        }
        let mut batches: Vec<Vec<usize>> = Vec::new();
        let mut rest = &order[..];
        while !rest.is_empty() {
            let sizes = rest.iter().map(|&number| sizes[number]);
            let length = if batches.is_empty() { 1 } else { length_of_batch(sizes) };
            let (batch, others) = rest.split_at(length);
            batches.push(batch.to_vec());
            rest = others;
        }
        for batch in &mut batches {
            batch.sort_unstable();
        }
        batches
    }
}

/// How many of the inputs with these sizes are read in one batch. Profiles of a batch share their tables, so batches of small
/// inputs are longer.
fn length_of_batch(sizes: impl Iterator<Item = u64>) -> usize {
    let processors = parallel::processors();
    let mut bytes = 0;
    let fits = |&(number, size): &(usize, u64)| {
        bytes += size;
        number < LEAST * processors || (number < MOST * processors && bytes <= LARGE_BATCH)
    };
    sizes.enumerate().take_while(fits).count()
}

/// How many profiles are read at once per processor, at least and at most.
const LEAST: usize = 4;
const MOST: usize = 8;

/// The size in bytes from which on a batch is large.
const LARGE_BATCH: u64 = 8 << 20;

/// Reads the inputs of a request.
struct Reader<'a> {
    request: &'a Request,
    paths: &'a [InputPath],
    scripts: &'a Scripts<'a>,
    kept: Kept,
}

/// What was read so far.
#[derive(Default)]
struct Progress {
    /// The metadata of each input, with its number.
    metas: Vec<(usize, Meta)>,
    /// The inputs that were skipped.
    skipped: Vec<Failed>,
    /// The profiles and sums of profiles.
    parts: Vec<Part>,
}

/// One profile as it was read, or the sum of several.
enum Part {
    Single(Profile),
    Sum(Result<Profile, MergeError>),
}

impl Part {
    /// The profile, if it is not a sum: its addresses may still need names.
    fn one(&mut self) -> Option<&mut Profile> {
        match self {
            Part::Single(profile) => Some(profile),
            Part::Sum(_) => None,
        }
    }

    fn into_profile(self) -> Result<Profile, MergeError> {
        match self {
            Part::Single(profile) => Ok(profile),
            Part::Sum(sum) => sum,
        }
    }
}

impl Progress {
    /// The profiles that are not sums.
    fn profiles(&mut self) -> impl Iterator<Item = &mut Profile> {
        self.parts.iter_mut().filter_map(Part::one)
    }

    /// Adds to the first profile what is to be said about source maps.
    fn tell(&mut self, scripts: &Scripts) {
        let first = self.parts.iter_mut().find_map(|part| match part {
            Part::Single(profile) => Some(profile),
            Part::Sum(sum) => sum.as_mut().ok(),
        });
        if let Some(first) = first {
            let (notes, warnings) = scripts.messages();
            first.meta.notes.extend(notes);
            first.meta.warnings.extend(warnings);
        }
    }

    /// Sorts what was read in the order of the inputs.
    fn sort(&mut self, apart: bool) {
        if !apart {
            return self.metas.sort_unstable_by_key(|(number, _)| *number);
        }
        // There is one part per input, in the same order.
        let mut read: Vec<_> = self.metas.drain(..).zip(self.parts.drain(..)).collect();
        read.sort_unstable_by_key(|((number, _), _)| *number);
        (self.metas, self.parts) = read.into_iter().unzip();
    }

    fn add(&mut self, other: Progress) {
        self.metas.extend(other.metas);
        self.skipped.extend(other.skipped);
        self.parts.extend(other.parts);
    }
}

impl Reader<'_> {
    /// Reads inputs in the given order until `most` are read.
    fn read_order(&self, order: Vec<usize>, most: usize) -> Result<Progress, Failed> {
        let mut order = order.into_iter();
        let mut all = Progress::default();
        loop {
            // Other inputs replace those that were skipped.
            let mut numbers: Vec<usize> = order.by_ref().take(most - all.metas.len()).collect();
            if numbers.is_empty() {
                all.sort(self.kept != Kept::Sum);
                return Ok(all);
            }
            numbers.sort_unstable();
            self.read(&numbers, &mut all)?;
        }
    }

    fn read(&self, mut numbers: &[usize], all: &mut Progress) -> Result<(), Failed> {
        // If there is no other processor, or every one already reads a file, a second thread per file would only slow
        // things down.
        let inflate = |files| if files < parallel::processors() { Inflate::OnThread } else { Inflate::Here };
        // The first profile determines the metrics of a sum.
        while let (None, Some((&number, others))) = (all.metas.first(), numbers.split_first()) {
            numbers = others;
            all.add(self.run(&[number], inflate(1), None)?);
        }
        let Some((_, first)) = all.metas.first() else { return Ok(()) };
        let sizes: Vec<u64> = numbers.iter().map(|&number| self.paths[number].origin.size()).collect();
        let runs = parallel::balanced(&sizes);
        let inflate = inflate(runs.len());
        for run in parallel::each(runs, |run| self.run(&numbers[run], inflate, Some(first))) {
            all.add(run?);
        }
        Ok(())
    }

    /// Reads some inputs one after the other. Those that are complete are added up to sums with the metrics
    /// of `first`.
    fn run(&self, numbers: &[usize], inflate: Inflate, first: Option<&Meta>) -> Result<Progress, Failed> {
        let mut run = Progress::default();
        let mut sum: Option<Sum> = None;
        let may_share = self.kept == Kept::Each || self.request.cache.is_none();
        let shared = (may_share && numbers.len() > 1).then(SharedTables::default);
        let mut sharing = Vec::new();
        for &number in numbers {
            let (profile, shares_tables) = match self.read_input(number, inflate, shared.as_ref()) {
                Ok(profile) => profile,
                Err(error) if self.request.skip_broken || self.paths[number].may_be_any_file(&error) => {
                    run.skipped.push((number, error));
                    continue;
                }
                Err(error) => return Err((number, error)),
            };
            run.metas.push((number, profile.meta.clone()));
            let is_complete = self.kept == Kept::Sum && (shares_tables || self.is_complete(&profile));
            if let Some(first) = first.filter(|_| is_complete) {
                let sum = sum.get_or_insert_with(|| self.new_sum(first, shared.as_ref()));
                if shares_tables {
                    sum.add_sharing(&profile);
                } else {
                    // Each profile has its own list of frames to drop.
                    sum.add(&if self.request.all_frames { profile } else { drop_frames(&profile) });
                }
            } else {
                run.parts.extend(sum.take().map(|sum| Part::Sum(sum.finish())));
                sharing.push(shares_tables);
                run.parts.push(Part::Single(profile));
            }
        }
        if self.kept == Kept::Each
            && let Some(shared) = shared
        {
            give_tables(&shared, run.profiles().zip(sharing));
        }
        run.parts.extend(sum.map(|sum| Part::Sum(sum.finish())));
        Ok(run)
    }

    /// An empty sum, whose tables are those that the profiles are read into, if they share them.
    fn new_sum(&self, first: &Meta, shared: Option<&SharedTables>) -> Sum {
        let sum = Sum::like(first, self.request.needs.clone());
        match shared {
            Some(shared) => sum.sharing(shared.clone()),
            None => sum,
        }
    }

    /// Whether a profile can be added up right away. It cannot if names for its addresses are still to be
    /// looked up (when all inputs are read, so that each binary is read once), or if it records calls, whose
    /// values cannot be rescaled.
    fn is_complete(&self, profile: &Profile) -> bool {
        profile.calls.is_none() && !self.request.symbols.concern(profile)
    }

    /// Reads an input, unless it is in the cache, and returns whether its profile still needs the shared tables.
    fn read_input(
        &self,
        number: usize,
        inflate: Inflate,
        shared: Option<&SharedTables>,
    ) -> Result<(Profile, bool), LoadError> {
        let Request { needs, format, latency, wall, cache, .. } = self.request;
        match (cache, &self.paths[number].origin) {
            // Loads with other metrics, or other values, are not the same.
            (Some(cache), Origin::File(path)) if shared.is_none() && !latency && !wall => {
                let load = |needs: LoadOptions| {
                    self.load_input(number, inflate, None, &needs).map(|loaded| loaded.0)
                };
                Ok((cache.profile(path, needs, format.map(|format| format.name), load)?, false))
            }
            _ => self.load_input(number, inflate, shared, needs),
        }
    }

    /// Loads an input, and returns whether its profile still needs the shared tables.
    fn load_input(
        &self,
        number: usize,
        inflate: Inflate,
        shared: Option<&SharedTables>,
        needs: &LoadOptions,
    ) -> Result<(Profile, bool), LoadError> {
        let Request { format, latency, observer, cache, .. } = self.request;
        let path = &self.paths[number];
        // Samples that are left out cannot be added to those of other inputs, nor be cached for other filters.
        let only = needs.only.clone().filter(|_| self.paths.len() == 1 && cache.is_none());
        if let Some(profile) = read_tables(path, &LoadOptions { only, ..needs.clone() })? {
            if *latency {
                let why = "a dataset adds up recordings, and which of their threads ran at once is lost";
                return Err(LoadError::NoLatency(why.to_string()));
            }
            return Ok((self.in_wall_time(profile)?, false));
        }
        let Opened { input, file } = path.origin.open()?;
        let start = Instant::now();
        let watched = Watched { input, observer: observer.clone() };
        // Starting a thread takes longer than decompressing a small file.
        let inflate = if (2..=SMALL_FILE).contains(&path.origin.size()) { Inflate::Here } else { inflate };
        let mut source = Source::open_with(Box::new(watched), inflate, needs.budget.clone())?;
        if let Some(file) = file {
            source.set_positioned(Arc::new(Watched { input: file, observer: observer.clone() }));
        }
        let name = &*path.name;
        source.set_name(name);
        if path.in_folder {
            source.found_in_folder();
        }
        let files = self.request.symbols.wanted.then(|| Arc::new(self.files_of(name)));
        if let Some(files) = &files {
            source.set_files(files.clone());
        }
        if let Some(shared) = shared {
            source.share_tables(shared.clone());
        }
        let of_samples =
            LoadOptions { labels: *latency, times: *latency, switches: *latency, ..LoadOptions::LEAST };
        let mut profile =
            self.in_wall_time(format::load(&mut source, needs.clone().or(of_samples), *format)?)?;
        if *latency {
            // Before anything is filtered or added: neither changes how many threads of this recording were running.
            let weighed = by_latency(&profile, needs);
            profile = weighed.map_err(|error| LoadError::NoLatency(error.to_string()))?;
        }
        profile.meta.warnings.extend(files.iter().flat_map(|files| files.take_warnings()));
        observer.input(source.times(start.elapsed()));
        if shared.is_some() && source.take_tables().is_none() {
            // Formats that share tables do not know the columns of functions, by which source maps are searched.
            return Ok((profile, true));
        }
        Ok((self.scripts.apply(profile), false))
    }

    /// The profile with the metric `wall`, if that was asked for.
    fn in_wall_time(&self, profile: Profile) -> Result<Profile, LoadError> {
        if !self.request.wall {
            return Ok(profile);
        }
        with_wall(profile).map_err(|error| LoadError::NoWall(error.to_string()))
    }
}

/// Reads a dataset, or the result of a query that names stacks by their ids in the dataset next to it; `None` for any other
/// input.
fn read_tables(path: &InputPath, needs: &LoadOptions) -> Result<Option<Profile>, LoadError> {
    let Origin::File(file) = &path.origin else { return Ok(None) };
    if path.is_dataset {
        return dataset::read(file, needs).map(Some);
    }
    let folder = file.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder });
    let is_result = file.extension().is_some_and(|extension| extension == "parquet");
    match folder.filter(|folder| is_result && dataset::is_dataset(folder)) {
        Some(folder) => dataset::read_result(file, folder, needs.clone()),
        None => Ok(None),
    }
}

/// Gives profiles the tables that they share.
fn give_tables<'p>(shared: &SharedTables, profiles: impl Iterator<Item = (&'p mut Profile, bool)>) {
    let mut profiles: Vec<&mut Profile> =
        profiles.filter_map(|(profile, shares)| shares.then_some(profile)).collect();
    shared.give_to(profiles.iter_mut().map(|profile| &mut **profile));
    if shared.has_remains() {
        for profile in profiles {
            if let Ok(own) = compact(profile) {
                *profile = own;
            }
        }
    }
}

impl Reader<'_> {
    /// The files that an input may refer to.
    fn files_of(&self, name: &str) -> FilesOfRecording {
        FilesOfRecording::new(&self.request.symbols, name, &self.request.needs.budget)
    }
}

/// The size of a small file, in bytes.
const SMALL_FILE: u64 = 32 << 10;

/// An input whose bytes are counted while they are read.
struct Watched<I> {
    input: I,
    observer: Arc<dyn Observer>,
}

impl PositionedRead for Watched<Arc<File>> {
    fn size(&self) -> Option<u64> {
        self.input.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = PositionedRead::read_at(&*self.input, buffer, offset)?;
        self.observer.bytes(count as u64);
        Ok(count)
    }
}

impl Read for Watched<Box<dyn Read + Send>> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.observer.bytes(count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_each_input_once() {
        let processors = parallel::processors();
        for size in [0, 1, LARGE_BATCH / 4, u64::MAX >> 20] {
            for count in [0, 1, 2, 1000] {
                let sizes = vec![size; count];
                let forwards = BatchOrder::FirstFirst.batches(&sizes);
                assert_eq!(forwards.concat(), (0..count).collect::<Vec<usize>>());
                assert!(forwards.first().is_none_or(|first| first.len() == 1));
                let most = if size > 1 { LEAST } else { MOST } * processors;
                assert!(forwards.iter().all(|batch| batch.len() <= most.max(4)));
                let mut backwards = BatchOrder::LastFirst.batches(&sizes);
                assert!(backwards.first().is_none_or(|first| *first == [count - 1]));
                backwards.reverse();
                assert_eq!(backwards.concat(), forwards.concat());
            }
        }
    }
}
