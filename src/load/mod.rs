//! Reading inputs: files and folders side by side, names for their addresses, and several added up or kept apart.
//!
//! ```text
//! names ──expand──► files ──read, side by side──► profiles ──name addresses──► drop frames ──► one profile, or each
//! ```
//!
//! Nothing is printed here: an [`Observer`] is told what happens, and what is to be said travels with the profiles.

mod apart;
mod binaries;
mod cache;
mod code;
mod combine;
mod debuginfod;
mod error;
#[cfg(feature = "parquet")]
mod export;
mod kernel;
mod metrics;
mod observer;
mod pair;
mod paths;
mod prepared;
mod read;
mod recorded_files;
mod scripts;
mod series;
mod skipped;
mod sources;
mod symbols;
mod together;
mod warnings;

use std::sync::Arc;

pub use apart::{Side, SideInput, Sides, builds, one_side, sides, sides_of_runs};
pub use cache::Cache;
pub use code::{CodeError, code};
pub use combine::{Combine, Merge, Sampling};
pub use debuginfod::Debuginfod;
pub use error::{Error, shown};
#[cfg(feature = "parquet")]
pub use export::{ExportedInputs, ExportingError};
pub use metrics::MetricKey;
pub use observer::{Observer, Unobserved};
#[cfg(feature = "cli")]
pub(crate) use paths::is_hidden;
pub use prepared::Prepared;
pub use scripts::SourceMaps;
pub use series::{LoadedSeries, SeriesError, SeriesOptions};
pub use sources::Sources;
pub use symbols::Symbols;
pub use together::{Loaded, Unmerged};

use crate::format::Format;
use crate::profile::{LoadOptions, Profile};
use crate::report::ServerInfo;
use crate::source::{Event, Network, is_url, without_passwords};

/// What to read, and how.
#[derive(Clone)]
pub struct Request {
    /// Paths of files and folders, and addresses (`http://…`); `-` is standard input.
    pub inputs: Vec<String>,
    /// What to keep of each profile, and the memory limit.
    pub needs: LoadOptions,
    /// The format of the inputs; `None` to detect it.
    pub format: Option<&'static Format>,
    /// Whether to skip inputs that cannot be read. In folders, files of unknown formats are always skipped.
    pub skip_broken: bool,
    /// Whether to keep the frames that a profile itself marks as to be dropped.
    pub all_frames: bool,
    /// Whether to divide the values of each sample by the number of threads that were running when it was taken. The input has
    /// to say when, and on which threads, its samples were taken.
    pub latency: bool,
    /// Whether to add the metric `wall`, the time on processors and waiting, and show it by default.
    pub wall: bool,
    /// Where to look up names that the profiles lack.
    pub symbols: Symbols,
    /// The metrics to show, by name, by profile type or by number; none for the default of the profiles.
    pub metrics: Vec<String>,
    /// Which of several inputs are combined into one profile, and how.
    pub combine: Combine,
    /// How inputs that are addresses are fetched.
    pub network: Network,
    /// Who is told what happens meanwhile.
    pub observer: Arc<dyn Observer>,
    /// Where profiles of files stay in memory, if there are further requests.
    pub cache: Option<Arc<Cache>>,
}

impl Request {
    /// Reads these inputs whole, and adds them up.
    pub fn new(inputs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Request {
            inputs: inputs.into_iter().map(Into::into).collect(),
            needs: LoadOptions::ALL,
            format: None,
            skip_broken: false,
            all_frames: false,
            latency: false,
            wall: false,
            symbols: Symbols::default(),
            metrics: Vec::new(),
            combine: Combine::default(),
            network: Network::default(),
            observer: Arc::new(Unobserved),
            cache: None,
        }
    }

    /// What the server at the only input offers; `None` if the inputs are profiles. Nothing is recorded.
    pub fn offers(&self) -> Result<Option<ServerInfo>, Error> {
        let [name] = &self.inputs[..] else { return Ok(None) };
        if !is_url(name) {
            return Ok(None);
        }
        let offers = self.network.offers(name, &|event| self.tell(event));
        self.observer.fetch_over();
        offers.map_err(|error| Error::Fetch { name: without_passwords(name), error })
    }

    /// Fetches the addresses among several lists of inputs that were not fetched yet, at the same time if they are on
    /// different servers. Loading does this, too; a comparison asks for both sides first, so that they are recorded at the same time.
    pub fn fetch(&self, lists: &[&[String]]) -> Result<(), Error> {
        let fetched = self.network.fetch(lists, &|event| self.tell(event));
        self.observer.fetch_over();
        fetched.map_err(|(name, error)| Error::Fetch { name: without_passwords(&name), error })
    }

    fn tell(&self, event: Event) {
        match event {
            Event::Recording(time) => self.observer.recording(time),
            Event::Bytes(count) => self.observer.fetched(count),
            Event::Saved(path) => self.observer.saved(&path),
            Event::Note(text) => self.observer.note(&text),
        }
    }

    /// The inputs as reports name them: without the passwords of addresses.
    pub(crate) fn names(&self) -> Vec<String> {
        self.inputs.iter().map(|input| without_passwords(input)).collect()
    }
}

/// Reads profiles from files and folders, and adds them up; see [`Request`] for everything else that can be
/// asked for.
///
/// ```
/// use prof::profile::LoadOptions;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let [monday, tuesday] = ["monday.folded", "tuesday.folded"].map(|name| folder.path().join(name).display().to_string());
/// # std::fs::write(&monday, "main;work 3\n").unwrap();
/// # std::fs::write(&tuesday, "main;work 4\nmain;rest 1\n").unwrap();
/// let profile = prof::load([monday, tuesday], LoadOptions::default())?;
/// assert_eq!(profile.meta.metrics[0].total, 8);
/// # Ok::<(), prof::load::Error>(())
/// ```
pub fn load(
    inputs: impl IntoIterator<Item = impl Into<String>>,
    needs: LoadOptions,
) -> Result<Profile, Error> {
    Ok(Request { needs, ..Request::new(inputs) }.load()?.profile)
}
