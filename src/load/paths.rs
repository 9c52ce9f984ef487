//! The inputs to read: those named, and the files in folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dataset::is_dataset;
use crate::format::LoadError;
use crate::load::{Error, Request};
use crate::name::natural;
use crate::source::{Origin, is_url, without_passwords};

/// An input to read.
pub(super) struct InputPath {
    /// The name in messages and reports.
    pub(super) name: String,
    pub(super) origin: Origin,
    /// Whether it was found in a folder, which may also hold other files.
    pub(super) in_folder: bool,
    /// Whether it is the folder of a dataset.
    pub(super) is_dataset: bool,
}

impl InputPath {
    fn new(name: String, origin: Origin) -> Self {
        InputPath { name, origin, in_folder: false, is_dataset: false }
    }

    /// Whether an input that cannot be read may be a file that is not a profile, as there may be in any folder.
    pub(super) fn may_be_any_file(&self, error: &LoadError) -> bool {
        self.in_folder && matches!(error, LoadError::Unrecognized { .. })
    }
}

impl Request {
    /// The inputs to read. Addresses are fetched, and folders are replaced with the files in them.
    pub(super) fn paths(&self) -> Result<Vec<InputPath>, Error> {
        self.fetch(&[&self.inputs])?;
        let mut paths = Vec::new();
        for (number, name) in self.inputs.iter().enumerate() {
            if is_url(name) {
                let time = self.inputs[..number].iter().filter(|other| *other == name).count();
                let origin = self.network.origin(name, time);
                // A name that was fetched is known.
                let origin = origin.unwrap_or_else(|| Origin::File(PathBuf::from(name)));
                paths.push(InputPath::new(without_passwords(name), origin));
            } else if name == "-" {
                paths.push(InputPath::new(name.clone(), Origin::StandardInput));
            } else if !Path::new(name).is_dir() {
                paths.push(InputPath::new(name.clone(), Origin::File(name.into())));
            } else if is_dataset(Path::new(name)) {
                let dataset = InputPath::new(name.clone(), Origin::File(name.into()));
                paths.push(InputPath { is_dataset: true, ..dataset });
            } else {
                paths.extend(files_in(name)?);
            }
        }
        Ok(paths)
    }
}

/// Whether a file or folder is one that listings leave out: `.cache`.
pub(crate) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// The files in a folder, in the order of their names: `run-9` before `run-10`.
fn files_in(folder: &str) -> Result<Vec<InputPath>, Error> {
    let unreadable = |error| Error::Folder { name: folder.to_string(), error };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_file() && !is_hidden(&path) {
            let name = path.to_string_lossy().into_owned();
            files.push(InputPath { in_folder: true, ..InputPath::new(name, Origin::File(path)) });
        }
    }
    files.sort_by(|a, b| natural(&a.name, &b.name));
    Ok(files)
}
