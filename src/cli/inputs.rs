//! From paths to one profile: folders, standard input, `$PROF_PROFILE`, several inputs.

use std::env;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::cli::args::InputArgs;
use crate::cli::clock::Clock;
use crate::cli::failure::{hinted, meant, with_hint};
use crate::cli::gather::{Gathered, Gatherer};
use crate::cli::many::ManyArgs;
use crate::cli::progress::Progress;
use crate::format::{self, FORMATS, Format, Inflate, LoadError, Source};
use crate::profile::{Budget, LoadOptions, Meta, Metric, Profile};
use crate::report::InfoInput;
use crate::transform::{MergeError, drop_frames};

/// A profile, and what it was made of.
pub(crate) struct Loaded {
    /// All inputs combined.
    pub(crate) profile: Profile,
    /// The inputs as they were given.
    pub(crate) names: Vec<String>,
    /// What each loaded input is.
    pub(crate) inputs: Vec<InfoInput>,
    /// How several inputs were combined, in the words of the header; empty for one.
    pub(crate) combined: String,
    /// Numbers of the metrics to show.
    pub(crate) metrics: Vec<usize>,
}

/// Loads the inputs, gives names to their addresses, combines them, and finds the metrics asked for.
/// Frames that a profile itself says to drop go, unless `all_frames` are wanted.
pub(crate) fn load(args: &InputArgs, options: LoadOptions, all_frames: bool) -> Result<Loaded> {
    let options = args.within_memory(options);
    let names = names(&args.profiles)?;
    let format = args.input_format.as_deref().map(format_named).transpose()?;
    let paths = expand_folders(&names)?;
    let (order, most) = args.many.order(paths.len());
    let mut clock = Clock::new(args.verbose);
    let progress = Progress::start(order.iter().take(most).map(|&number| &*paths[number].name), args.quiet);
    let gatherer = Gatherer {
        paths: &paths,
        options,
        format,
        all_frames,
        skip_broken: args.skip_broken,
        symbols: &args.symbols,
        each: args.many.chooses(),
        progress: &progress,
    };
    let Gathered { metas, skipped, mut parts } = gatherer
        .gather(order, most)
        .map_err(|(number, error)| explain(&paths[number].name, error, options.budget, &args.profiles))?;
    clock.step_with("load", &progress.parts());
    drop(progress);
    args.symbols.apply(parts.iter_mut().filter_map(|part| part.one()))?;
    clock.step("symbols");
    if !all_frames {
        drop_from_each(parts.iter_mut().filter_map(|part| part.one()));
    }
    let (_, first) = metas.first().ok_or_else(|| no_profile(&names))?;
    let wanted = metrics_wanted(&args.metrics, first)?;
    for (number, meta) in &metas {
        check_metrics(meta, &paths[*number].name, &wanted)?;
    }
    let chosen = chosen(&args.many, &metas, &wanted[0]);
    let inputs: Vec<InfoInput> =
        chosen.iter().map(|&place| describe(&paths[metas[place].0].name, &metas[place].1)).collect();
    let found = paths.len() - skipped;
    let mut combined =
        if found > 1 || names.len() > 1 { args.many.describe(chosen.len(), found) } else { String::new() };
    if skipped > 0 && !combined.is_empty() {
        combined.push_str(&format!(", {skipped} skipped"));
    }
    let refused = |error: MergeError| {
        if options.budget.is_exceeded() { hinted(error.to_string(), MORE_MEMORY) } else { error.into() }
    };
    let mut parts: Vec<Profile> =
        parts.into_iter().map(|part| part.into_profile().map_err(refused)).collect::<Result<_>>()?;
    if args.many.chooses() {
        let mut place = 0..;
        parts.retain(|_| place.next().is_some_and(|place| chosen.binary_search(&place).is_ok()));
    }
    let several = parts.len() > 1;
    let mut profile = args.many.combine(parts)?;
    if several {
        clock.step("merge");
    }
    if skipped > 0 {
        profile.meta.warnings.push(skipped_text(skipped));
    }
    let metrics = wanted.iter().map(|key| key.place_in(&profile.meta)).collect::<Option<Vec<usize>>>();
    let metrics = metrics.context("a metric got lost in combining the inputs")?;
    for &metric in &metrics {
        refuse_too_large(&profile, metric)?;
    }
    let unresolved = args.symbols.warning([(&profile, metrics[0])].into_iter());
    profile.meta.warnings.extend(unresolved);
    Ok(Loaded { profile, names, inputs, combined, metrics })
}

/// Drops the frames that profiles say to drop: every input has its own idea of it, in the words of names.
pub(super) fn drop_from_each<'p>(profiles: impl Iterator<Item = &'p mut Profile>) {
    for profile in profiles {
        *profile = drop_frames(profile);
    }
}

/// Says that none of `names` is a profile.
pub(super) fn no_profile(names: &[String]) -> anyhow::Error {
    let hint = "name a profile, or a folder that holds one";
    hinted(format!("{}: no profile there", names.join(", ")), hint)
}

/// Says that some inputs were left out.
pub(super) fn skipped_text(skipped: usize) -> String {
    match skipped {
        1 => "1 input was skipped: it is no readable profile".to_string(),
        _ => format!("{skipped} inputs were skipped: they are no readable profiles"),
    }
}

/// The places of the profiles that go in.
fn chosen(many: &ManyArgs, metas: &[(usize, Meta)], metric: &MetricKey) -> Vec<usize> {
    let metrics: Vec<&Metric> =
        metas.iter().filter_map(|(_, meta)| Some(&meta.metrics[metric.place_in(meta)?])).collect();
    many.choose(&metrics)
}

/// The inputs given, else `$PROF_PROFILE`, else standard input.
pub(crate) fn names(given: &[String]) -> Result<Vec<String>> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    if let Some(value) = env::var_os("PROF_PROFILE").filter(|value| !value.is_empty()) {
        let text = value.to_string_lossy().into_owned();
        if text.contains("://") {
            return Ok(vec![text]);
        }
        return Ok(env::split_paths(&value).map(|path| path.to_string_lossy().into_owned()).collect());
    }
    if io::stdin().is_terminal() {
        let hint = "name a profile (prof top cpu.pb.gz), pipe one in (prof top < cpu.pb.gz), \
                    or set PROF_PROFILE=cpu.pb.gz";
        return Err(hinted("no profile was given", hint));
    }
    Ok(vec!["-".to_string()])
}

/// A path to load.
pub(super) struct InputPath {
    pub(super) name: String,
    /// Whether it was found in a folder, where other files may stand too.
    pub(super) in_folder: bool,
}

impl InputPath {
    /// Whether an input that cannot be read is left out: what stands in a folder may be anything.
    pub(super) fn is_skipped(&self, error: &LoadError, skip_broken: bool) -> bool {
        skip_broken || (self.in_folder && matches!(error, LoadError::Unrecognized { .. }))
    }

    /// The size of the file; inputs of no known size count alike.
    pub(super) fn size(&self) -> u64 {
        fs::metadata(&self.name).map_or(1, |file| file.len().max(1))
    }
}

pub(super) fn expand_folders(names: &[String]) -> Result<Vec<InputPath>> {
    let mut paths = Vec::new();
    for name in names {
        if name == "-" || !Path::new(name).is_dir() {
            paths.push(InputPath { name: name.clone(), in_folder: false });
            continue;
        }
        let mut files = Vec::new();
        for entry in fs::read_dir(name).with_context(|| name.clone())? {
            let path = entry.with_context(|| name.clone())?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_file() && !hidden {
                files.push(InputPath { name: path.to_string_lossy().into_owned(), in_folder: true });
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        paths.extend(files);
    }
    Ok(paths)
}

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
    let profile = format::load(&mut source, options, format)?;
    progress.loaded(source.times(start.elapsed()));
    Ok(profile)
}

/// What to do where the budget is exceeded.
const MORE_MEMORY: &str = "--max-memory 8GiB allows that much, or as much as you say";

/// Says what is wrong with an input, and what may have been meant.
pub(super) fn explain(name: &str, error: LoadError, budget: Budget, given: &[String]) -> anyhow::Error {
    let shown = if name == "-" { "standard input" } else { name };
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

pub(super) fn format_named(name: &str) -> Result<&'static Format> {
    format::named(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        let hint = format!("{}the formats are {}", meant(name, &known), known.join(", "));
        hinted(format!("--input-format {name}: no such format"), hint)
    })
}

fn describe(name: &str, meta: &Meta) -> InfoInput {
    InfoInput {
        name: name.to_string(),
        format: meta.format.to_string(),
        bytes: meta.bytes,
        total: meta.metrics.get(meta.default_metric).map_or(0, |metric| metric.total),
        time_ns: meta.time_ns,
        duration_ns: meta.duration_ns,
    }
}

/// The names of the metrics asked for, or of the default one. A number stands for the metric at
/// that place.
pub(super) fn metrics_wanted(asked: &[String], meta: &Meta) -> Result<Vec<MetricKey>> {
    if meta.metrics.is_empty() {
        bail!("the profile has no metric");
    }
    if asked.is_empty() {
        return Ok(vec![MetricKey::of(meta, meta.default_metric)]);
    }
    let mut wanted: Vec<MetricKey> = Vec::new();
    for name in asked {
        let exact = meta.metric_named(name);
        let alike = || meta.metrics.iter().position(|metric| metric.name.eq_ignore_ascii_case(name));
        let number = || name.parse::<usize>().ok().filter(|&number| number < meta.metrics.len());
        let metric = exact.or_else(alike).or_else(number).ok_or_else(|| unknown_metric(name, meta))?;
        let key = MetricKey::of(meta, metric);
        if !wanted.contains(&key) {
            wanted.push(key);
        }
    }
    Ok(wanted)
}

fn unknown_metric(name: &str, meta: &Meta) -> anyhow::Error {
    let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
    hinted(
        format!("--metric {name}: no such metric"),
        format!("{}this profile has {}", meant(name, &names), names.join(", ")),
    )
}

/// How a metric is found again in another profile: by name, or by place where names repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricKey {
    name: String,
    place: usize,
}

impl MetricKey {
    fn of(meta: &Meta, metric: usize) -> Self {
        MetricKey { name: meta.metrics[metric].name.clone(), place: metric }
    }

    /// The number of the metric it stands for in a profile.
    pub(super) fn place_in(&self, meta: &Meta) -> Option<usize> {
        let same_place = meta.metrics.get(self.place).is_some_and(|metric| metric.name == self.name);
        if same_place { Some(self.place) } else { meta.metric_named(&self.name) }
    }
}

pub(super) fn check_metrics(meta: &Meta, name: &str, wanted: &[MetricKey]) -> Result<()> {
    for key in wanted {
        if key.place_in(meta).is_none() {
            let names: Vec<&str> = meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
            let hint = format!("it has {}; choose one that all inputs have with --metric", names.join(", "));
            return Err(hinted(format!("{name}: has no metric {}", key.name), hint));
        }
    }
    Ok(())
}

pub(super) fn refuse_too_large(profile: &Profile, metric: usize) -> Result<()> {
    let metric = &profile.meta.metrics[metric];
    if metric.too_large {
        let message = format!("the values of {} sum to more than 64 bits hold", metric.name);
        return Err(hinted(message, "choose another metric with --metric, or fewer inputs"));
    }
    Ok(())
}
