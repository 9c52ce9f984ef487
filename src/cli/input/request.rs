//! What the options ask to be read, and why it cannot be.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;

use crate::cli::input::paths::names;
use crate::cli::options::args::InputArgs;
use crate::cli::options::many::ManyArgs;
use crate::cli::terminal::failure::{hinted, meant, no_such};
use crate::cli::terminal::progress::Progress;
use crate::cli::terminal::session;
use crate::dataset::dataset_around;
use crate::format::{self, FORMATS, Format, LoadError, TIMED_FORMATS};
use crate::load::{Combine, Error, Loaded, Request, Symbols, is_hidden, shown};
use crate::parallel;
use crate::profile::LoadOptions;
use crate::source::FetchError;

/// Loads the inputs of a request, combined into one profile.
pub(crate) fn load(request: &Request) -> Result<Loaded> {
    request.load().map_err(|error| explain(error, request))
}

impl InputArgs {
    /// The request for the inputs given.
    pub(crate) fn given(&self, many: &ManyArgs, needs: LoadOptions, all_frames: bool) -> Result<Request> {
        self.request(names(&self.profiles)?, many.combine(), needs, all_frames)
    }

    /// The request to read `inputs`.
    pub(crate) fn request(
        &self,
        inputs: Vec<String>,
        combine: Combine,
        needs: LoadOptions,
        all_frames: bool,
    ) -> Result<Request> {
        if let Some(threads) = self.threads {
            parallel::limit(threads);
        }
        let needs = self.within_memory(needs);
        let limit = needs.budget.limit();
        Ok(Request {
            inputs,
            network: self.network.network(limit)?,
            needs,
            format: self.input_format.as_deref().map(format_named).transpose()?,
            skip_broken: self.skip_broken,
            all_frames,
            latency: self.latency,
            wall: self.wall,
            symbols: Symbols {
                debuginfod: self.network.debuginfod(self.symbols.debuginfod(), limit),
                ..self.symbols.symbols()
            },
            metrics: self.metrics.clone(),
            combine,
            observer: Arc::new(Progress::new(self.quiet || session::is_inside(), self.verbose)),
            cache: session::of_session(|session| session.cache.clone()).flatten(),
        })
    }
}

fn format_named(name: &str) -> Result<&'static Format> {
    format::named(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        no_such(format!("--input-format {name}: no such format"), name, "formats", &known)
    })
}

/// An input that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("{}: no such file", shown(name))]
pub(crate) struct NoSuchFile {
    /// Its name.
    pub(crate) name: String,
    /// All inputs given, this one included.
    pub(crate) given: Vec<String>,
}

/// The hint for an exceeded memory limit.
const MORE_MEMORY: &str = "raise the memory limit, for example with --max-memory 8GiB";

/// Which metric to choose if an input lacks the one that was asked for.
pub(crate) fn metric_hint(known: &[String], common: &[String]) -> String {
    match (known, common) {
        (known, []) => {
            format!("{}; the inputs have no metric in common", they_are("its", known))
        }
        (_, [one]) => format!("use --metric {one}, the only metric that all inputs have"),
        (_, several) => format!("choose one that all inputs have with --metric: {}", several.join(", ")),
    }
}

/// `its metrics are samples, cpu`
pub(crate) fn they_are(whose: &str, metrics: &[String]) -> String {
    match metrics {
        [one] => format!("{whose} metric is {one}"),
        several => format!("{whose} metrics are {}", several.join(", ")),
    }
}

/// The first folder in a folder.
fn first_subfolder(folder: &Path) -> Option<String> {
    let paths = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    paths.filter(|path| path.is_dir() && !is_hidden(path)).min().map(|path| path.display().to_string())
}

/// Whether the content of an input is to blame.
fn is_content(error: &LoadError) -> bool {
    matches!(error, LoadError::Unrecognized { .. } | LoadError::Parse(_))
}

/// Explains why a request failed, in the terms of the command line, and what may have been meant.
pub(crate) fn explain(error: Error, request: &Request) -> anyhow::Error {
    let message = error.to_string();
    let is_full = request.needs.budget.is_exceeded();
    match error {
        Error::Input { .. } | Error::Merge(_) if is_full => hinted(message, MORE_MEMORY),
        Error::Input { name, error } => explain_unreadable(name, error, message, request),
        Error::Fetch { error: FetchError { hint: Some(hint), .. }, .. } => hinted(message, hint),
        Error::NoProfile(names) => hinted(message, what_to_name(&names)),
        Error::NoBinary(_) => {
            hinted(format!("--binary {message}"), "name a program, a library, or a folder that contains them")
        }
        Error::NoSourceMap(_) => {
            hinted(format!("--sourcemaps {message}"), "name a source map, or a folder that contains them")
        }
        Error::UnknownMetric { name, known } => {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let hint = format!("{}{}", meant(&name, &names), they_are("the profile's", &known));
            hinted(format!("--metric {message}"), hint)
        }
        Error::MissingMetric { known, common, .. } => hinted(message, metric_hint(&known, &common)),
        Error::MetricTooLarge(_) => {
            hinted(message, "choose another metric with --metric, or use fewer inputs")
        }
        Error::SeveralMetrics => hinted(
            "diff compares one metric, but --metric was given several times",
            "run diff once for each metric",
        ),
        Error::OneSide(_) => {
            let is_folder = request.inputs.iter().any(|input| Path::new(input).is_dir());
            let both = if is_folder {
                "a folder is one side; name the other side, too"
            } else {
                "a single file works only if it holds both sides: collapsed stacks with two values per line"
            };
            hinted(format!("diff: {message}"), format!("prof diff OLD NEW; {both}"))
        }
        error => anyhow::Error::msg(error.to_string()),
    }
}

/// Explains why an input could not be read. Of a folder, the files that have the extension of a profile are read as well.
fn explain_unreadable(name: String, error: LoadError, message: String, request: &Request) -> anyhow::Error {
    match error {
        LoadError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            NoSuchFile { name, given: request.inputs.clone() }.into()
        }
        error if !request.inputs.contains(&name) && is_content(&error) => {
            let hint = match error {
                LoadError::Unrecognized { hint } => {
                    hint.unwrap_or_else(|| "other files with this extension are profiles".to_string())
                }
                _ => "record it again".to_string(),
            };
            hinted(message, format!("{hint}; --skip-broken leaves out files that cannot be read"))
        }
        LoadError::Unrecognized { hint } => {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
            let otherwise = || format!("tried {}; use --input-format to choose one", known.join(", "));
            hinted(message, hint.unwrap_or_else(otherwise))
        }
        LoadError::NoWall(_) => hinted(
            message,
            "--wall needs events of waiting: a JFR recording, or perf record -c 1 --switch-events -e sched:sched_switch -e sched:sched_waking -e cpu-clock/freq=499/ -g",
        ),
        LoadError::NoLatency(_) => {
            let formats = TIMED_FORMATS.iter().filter(|format| format.has_threads).map(|format| format.title);
            let formats = formats.collect::<Vec<_>>().join(", ");
            hinted(
                message,
                format!("--latency needs the time and the thread of each sample, as in {formats}"),
            )
        }
        _ => anyhow::Error::msg(message),
    }
}

/// What to name instead of folders without a profile.
fn what_to_name(names: &[String]) -> String {
    if let Some(dataset) = names.iter().find_map(|name| dataset_around(Path::new(name))) {
        let shown = if dataset == Path::new("") { Path::new(".") } else { dataset };
        return format!("this is a part of a dataset: name the whole, {}", shown.display());
    }
    names.iter().find_map(|name| first_subfolder(Path::new(name))).map_or_else(
        || "name a profile, or a folder that contains one".to_string(),
        |inner| format!("of a folder, only its own files are read, not its subfolders: name {inner}"),
    )
}
