//! Loads the profiles of the two sides of a comparison, each on its own, and finds the metric to compare.

use crate::load::metrics::{
    MetricKey, add_missing, check_metrics, metrics_wanted, note_of_default, refuse_too_large,
};
use crate::load::pair::read_both;
use crate::load::paths::InputPath;
use crate::load::read::{Kept, ReadInputs};
use crate::load::skipped::SkippedInputs;
use crate::load::together::Unmerged;
use crate::load::warnings::InputWarnings;
use crate::load::{Error, Request};
use crate::profile::{LoadOptions, Meta, Profile};
use crate::report::Selection;
use crate::transform::SideProfile;

/// The profiles of both sides.
#[derive(Clone, Debug)]
pub struct Sides {
    /// Those before the change.
    pub old: Side,
    /// Those after it.
    pub new: Side,
    /// Whether one file holds both sides, so that their functions have the same names.
    pub share_a_file: bool,
}

/// The profiles of one side.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// The inputs, as given.
    pub names: Vec<String>,
    /// The profiles, never added up; at least one, unless budgets are checked without an old side.
    pub inputs: Vec<SideInput>,
    /// How they were chosen, if not all were used.
    pub chosen: Option<Selection>,
}

/// One profile of a side.
#[derive(Clone, Debug)]
pub struct SideInput {
    /// Its path.
    pub name: String,
    /// The profile.
    pub profile: Profile,
    /// The number of the metric that is compared.
    pub metric: usize,
}

/// Loads both sides and finds the metric in all profiles. Without a new side, the old one has to hold both sides, as
/// two values per line. The metrics that `old` asks for count.
pub fn sides(old: &Request, new: Option<&Request>) -> Result<Sides, Error> {
    let Some(new) = new else {
        // Collapsed stacks hold names only, so that there is nothing to say about names.
        return two_metrics(&old.names(), &read_side(old)?.profiles);
    };
    two_sides(builds(&[old, new])?, old)
}

/// The sides of two builds.
fn two_sides(builds: Vec<Side>, old: &Request) -> Result<Sides, Error> {
    let mut both = builds.into_iter();
    match (both.next(), both.next()) {
        (Some(old), Some(new)) => Ok(Sides { old, new, share_a_file: false }),
        _ => Err(Error::OneSide(old.names().join(", "))),
    }
}

/// Loads several builds, and finds the metric in all their profiles. The metrics that the first one asks for count.
pub fn builds(requests: &[&Request]) -> Result<Vec<Side>, Error> {
    let Some(first) = requests.first() else { return Ok(Vec::new()) };
    let lists: Vec<&[String]> = requests.iter().map(|request| &request.inputs[..]).collect();
    first.fetch(&lists)?;
    let read = match requests {
        [old, new] => {
            let (old, new) = read_both(old, new, read_paths)?;
            vec![old, new?]
        }
        _ => requests.iter().map(|request| read_side(request)).collect::<Result<Vec<_>, Error>>()?,
    };
    comparable(requests, read)
}

/// The sides of inputs that were read with [`Request::read_with_base`] to be tested, and will also be combined. Their requests come with
/// them.
pub fn sides_of_runs(old: (&Request, &Unmerged), new: (&Request, &Unmerged)) -> Result<Sides, Error> {
    let read = [old, new].map(|(request, Unmerged(read))| ReadSide::new(request, read.clone()));
    let read = read.into_iter().collect::<Result<Vec<_>, Error>>()?;
    two_sides(comparable(&[old.0, new.0], read)?, old.0)
}

/// Finds the metric in all profiles of several builds.
fn comparable(requests: &[&Request], mut read: Vec<ReadSide>) -> Result<Vec<Side>, Error> {
    let Some(first) = requests.first() else { return Ok(Vec::new()) };
    let missing = add_missing(&first.metrics, read.iter_mut().flat_map(|side| &mut side.profiles).collect());
    let all = read.iter().flat_map(|side| &side.profiles);
    let named: Vec<(&str, &Meta)> = all.map(|(name, profile)| (name.as_str(), &profile.meta)).collect();
    let metas: Vec<&Meta> = named.iter().map(|(_, meta)| *meta).collect();
    let wanted = metrics_wanted(&first.metrics, &metas)?;
    check_metrics(&named, &wanted)?;
    let note = note_of_default(&first.metrics, &metas);
    let warnings = InputWarnings::of(named.iter().copied());
    for (_, profile) in read.iter_mut().flat_map(|side| &mut side.profiles) {
        warnings.name_inputs(&mut profile.meta);
    }
    read.iter_mut().for_each(ReadSide::tell_skipped);
    read[0].profiles[0].1.meta.warnings.extend(note.into_iter().chain(missing));
    let are_alike = read.windows(2).all(|pair| pair[0].unresolved == pair[1].unresolved);
    for (number, side) in read.iter_mut().enumerate() {
        // Text that is the same for all sides is said once.
        let name = if are_alike || requests.len() > 2 { "" } else { ["old side: ", "new side: "][number] };
        let text = side.unresolved.take().map(|text| format!("{name}{text}"));
        if let Some(text) = text {
            side.profiles[0].1.meta.warn_of_fault(text);
        }
    }
    let [wanted] = &wanted[..] else { return Err(Error::SeveralMetrics) };
    read.into_iter().zip(requests).map(|(side, request)| side.side(&request.names(), wanted)).collect()
}

/// Loads runs that are not compared, each on its own, and finds the metric in all of them.
pub fn one_side(request: &Request) -> Result<Side, Error> {
    let mut read = read_side(request)?;
    read.tell_skipped();
    let unresolved = read.unresolved.take();
    if let Some(text) = unresolved {
        read.profiles[0].1.meta.warn_of_fault(text);
    }
    let metas: Vec<&Meta> = read.profiles.iter().map(|(_, profile)| &profile.meta).collect();
    let wanted = metrics_wanted(&request.metrics, &metas)?;
    let named: Vec<(&str, &Meta)> =
        read.profiles.iter().map(|(name, profile)| (&**name, &profile.meta)).collect();
    check_metrics(&named, &wanted)?;
    let [wanted] = &wanted[..] else { return Err(Error::SeveralMetrics) };
    read.side(&request.names(), wanted)
}

/// The profiles of a side before their metric is found; at least one.
struct ReadSide {
    profiles: Vec<(String, Profile)>,
    skipped: SkippedInputs,
    chosen: Option<Selection>,
    /// A warning about functions without names.
    unresolved: Option<String>,
}

/// Reads a side.
fn read_side(side: &Request) -> Result<ReadSide, Error> {
    read_paths(side, &side.paths()?)
}

/// Reads a side whose inputs are listed.
fn read_paths(side: &Request, paths: &[InputPath]) -> Result<ReadSide, Error> {
    let order = |count| side.combine.sampling.order(count);
    let read = side.with_sizes().read(paths, Kept::Each, order)?;
    ReadSide::new(side, read)
}

impl ReadSide {
    fn new(side: &Request, read: ReadInputs) -> Result<Self, Error> {
        let sampling = side.combine.sampling;
        let mut profiles = Vec::new();
        for ((name, _), part) in read.metas.into_iter().zip(read.parts) {
            profiles.push((name, part?));
        }
        let metric_of = |profile: &Profile| side.first_metric(&profile.meta);
        let metrics = profiles.iter().filter_map(|(_, profile)| Some((profile, metric_of(profile)?)));
        let unresolved = side.symbols.warning(metrics);
        let chosen = sampling.describe(profiles.len(), read.found);
        Ok(ReadSide { profiles, skipped: read.skipped, chosen, unresolved })
    }

    /// Adds what there is to say about files that were skipped.
    fn tell_skipped(&mut self) {
        self.skipped.tell(&mut self.profiles[0].1.meta);
    }
}

impl Request {
    /// The same with the sizes of allocations, which the statistics of heaps need.
    pub(super) fn with_sizes(&self) -> Request {
        Request { needs: LoadOptions { sizes: true, ..self.needs.clone() }, ..self.clone() }
    }

    /// The first of the metrics asked for in a profile that is read alone.
    pub(super) fn first_metric(&self, meta: &Meta) -> Option<usize> {
        metrics_wanted(&self.metrics, &[meta]).ok()?.first()?.place_in(meta)
    }
}

impl ReadSide {
    fn side(self, names: &[String], wanted: &MetricKey) -> Result<Side, Error> {
        let mut inputs = Vec::new();
        for (name, profile) in self.profiles {
            let metric = wanted.place_in(&profile.meta).unwrap_or_default();
            refuse_too_large(&profile, metric)?;
            inputs.push(SideInput { name, profile, metric });
        }
        Ok(Side { names: names.to_vec(), inputs, chosen: self.chosen })
    }
}

impl Side {
    /// The profiles of the side, each with the number of its metric.
    pub fn profiles(&self) -> Vec<SideProfile<'_>> {
        self.inputs.iter().map(|input| (&input.profile, input.metric)).collect()
    }
}

impl Sides {
    /// All profiles, old ones first.
    pub fn all(&self) -> impl Iterator<Item = &SideInput> {
        self.old.inputs.iter().chain(&self.new.inputs)
    }
}

/// Splits a file of collapsed stacks with two values per line into the two sides.
fn two_metrics(names: &[String], read: &[(String, Profile)]) -> Result<Sides, Error> {
    if let [(name, profile)] = read {
        let metrics = &profile.meta.metrics;
        if let (Some(old), Some(new)) = (profile.meta.metric_named("old"), profile.meta.metric_named("new"))
            && metrics.len() == 2
        {
            let side = |metric: usize| -> Result<Side, Error> {
                refuse_too_large(profile, metric)?;
                let mut profile = profile.clone();
                // The metric has to have the same name on both sides.
                profile.meta.metrics[metric].name = "samples".to_string();
                let inputs = vec![SideInput { name: name.clone(), profile, metric }];
                Ok(Side { names: names.to_vec(), inputs, chosen: None })
            };
            return Ok(Sides { old: side(old)?, new: side(new)?, share_a_file: true });
        }
    }
    Err(Error::OneSide(read.first().map(|(name, _)| name.clone()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::format::writer_named;
    use crate::parallel;
    use crate::profile::{Frame, Mapping, from_notation, to_notation};

    /// Writes a profile of the binary at `start`, as the profiler of Go does.
    fn write(path: &std::path::Path, notation: &str, start: u64) {
        let mut profile = from_notation(notation);
        let symbols = Arc::make_mut(&mut profile.symbols);
        let file = symbols.strings.intern("/bin/shop");
        let mapping = Mapping { file, start, limit: start + 0x1000, ..Mapping::default() };
        let mapping = symbols.mappings.push(mapping);
        let frames = symbols.frames.map(|frame| Frame { mapping, ..*frame });
        symbols.frames = frames;
        let mut bytes = Vec::new();
        writer_named("pprof").unwrap().write_to(&profile, 0, false, &mut bytes).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn runs_of_one_binary_share_their_tables() {
        let folder = tempfile::tempdir().unwrap();
        let runs = ["main;a 1\nmain;b 2", "main;a 3", "main;b 4\nmain;c 5", "main;c 6\nmain;d 7"];
        for (number, run) in runs.iter().enumerate() {
            // The last run was loaded somewhere else.
            let start = if number == 3 { 0x9000 } else { 0x1000 };
            write(&folder.path().join(format!("{number}.pb")), run, start);
        }
        let side = one_side(&Request::new([folder.path().display().to_string()])).unwrap();
        let profiles: Vec<&Profile> = side.inputs.iter().map(|input| &input.profile).collect();
        let read: Vec<String> = profiles.iter().map(|profile| to_notation(profile)).collect();
        assert_eq!(read, runs);
        let share = |one: usize, other: usize| Arc::ptr_eq(&profiles[one].stacks, &profiles[other].stacks);
        // The first is read before the others, which are divided among the processors.
        assert_eq!(share(1, 2), parallel::processors() < 3);
        assert!(!share(2, 3));
        assert_eq!(profiles[3].symbols.mappings.len(), 2, "only its own binary");
    }
}
