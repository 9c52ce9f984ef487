//! Asking servers for a recording, and for another one later.
//!
//! What a server recorded is saved in a file, and the questions are about that file: the command on the last line shows the same
//! numbers, while one that names the server would record anew.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;

use crate::cli::input::request::explain;
use crate::cli::options::args::InputArgs;
use crate::cli::terminal::progress::Progress;
use crate::load::{Combine, Observer};
use crate::profile::LoadOptions;
use crate::source::is_url;

/// The servers that record.
#[derive(Clone, Debug)]
pub(super) struct Recorder {
    addresses: Vec<String>,
    input: InputArgs,
}

impl Recorder {
    /// The recorder, if all inputs are addresses.
    pub(super) fn of(inputs: &[String], input: &InputArgs) -> Option<Recorder> {
        let are_addresses = !inputs.is_empty() && inputs.iter().all(|input| is_url(input));
        are_addresses.then(|| Recorder { addresses: inputs.to_vec(), input: input.clone() })
    }

    /// The first recording, while its progress is shown.
    pub(super) fn record_first(&self) -> Result<Vec<String>> {
        self.files(&self.input)
    }

    /// Another recording, in the background.
    pub(super) fn record(&self) -> Result<Vec<String>> {
        self.files(&InputArgs { quiet: true, ..self.input.clone() })
    }

    /// The files of a recording; the addresses themselves if nothing is saved.
    fn files(&self, input: &InputArgs) -> Result<Vec<String>> {
        let observer = Arc::new(SavedFiles {
            progress: Progress::new(input.quiet, input.verbose),
            files: Mutex::default(),
        });
        let (inputs, combine) = (self.addresses.clone(), Combine::default());
        let mut request = input.request(inputs, combine, LoadOptions::LEAST, false)?;
        request.observer = observer.clone();
        request.network = request.network.anew();
        request.fetch(&[&self.addresses]).map_err(|error| explain(error, &request))?;
        let files = observer.files.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(if files.is_empty() { self.addresses.clone() } else { files })
    }
}

/// Remembers which files were saved.
struct SavedFiles {
    progress: Progress,
    files: Mutex<Vec<String>>,
}

impl Observer for SavedFiles {
    fn recording(&self, time: Duration) {
        self.progress.recording(time);
    }

    fn fetched(&self, count: u64) {
        self.progress.fetched(count);
    }

    fn fetch_over(&self) {
        self.progress.fetch_over();
    }

    fn saved(&self, path: &Path) {
        self.progress.saved(path);
        let path = path.display().to_string();
        self.files.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }

    fn note(&self, text: &str) {
        self.progress.note(text);
    }
}
