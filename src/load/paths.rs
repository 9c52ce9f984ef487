//! The files to read: those named, and those in folders.

use std::fs;
use std::path::Path;

use crate::format::LoadError;
use crate::load::Error;

/// A file to read.
pub(super) struct InputPath {
    pub(super) name: String,
    /// Whether it was found in a folder, which may also hold other files.
    pub(super) in_folder: bool,
}

impl InputPath {
    /// Whether to skip an input that cannot be read. A folder may hold any files, so files of unknown formats
    /// in it are always skipped.
    pub(super) fn is_skipped(&self, error: &LoadError, skip_broken: bool) -> bool {
        skip_broken || (self.in_folder && matches!(error, LoadError::Unrecognized { .. }))
    }

    /// The size of the file, or 1 if it is not known.
    pub(super) fn size(&self) -> u64 {
        fs::metadata(&self.name).map_or(1, |file| file.len().max(1))
    }
}

/// The files to read. Folders are replaced with the files in them.
pub(super) fn expand_folders(names: &[String]) -> Result<Vec<InputPath>, Error> {
    let mut paths = Vec::new();
    for name in names {
        if name == "-" || !Path::new(name).is_dir() {
            paths.push(InputPath { name: name.clone(), in_folder: false });
            continue;
        }
        let unreadable = |error| Error::Folder { name: name.clone(), error };
        let mut files = Vec::new();
        for entry in fs::read_dir(name).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
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
