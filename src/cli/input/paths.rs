//! Finds the input files: paths, folders, standard input, `$PROF_PROFILE`.

use std::env;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::options::args::InputArgs;
use crate::cli::terminal::failure::hinted;
use crate::format::LoadError;

/// The inputs given, or else `$PROF_PROFILE`, or else standard input.
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
        return Err(hinted("no profile given", hint));
    }
    Ok(vec!["-".to_string()])
}

/// Whether there is a profile although none was named: in `$PROF_PROFILE` or on standard input.
pub(crate) fn is_available() -> bool {
    env::var_os("PROF_PROFILE").is_some_and(|value| !value.is_empty()) || !io::stdin().is_terminal()
}

impl InputArgs {
    /// All files that are read: the profiles, and the binaries that supply names for their addresses.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let profiles = names(&self.profiles)?.into_iter().map(PathBuf::from);
        Ok(profiles.chain(self.symbols.binaries().iter().cloned()).collect())
    }
}

/// A path to load.
pub(crate) struct InputPath {
    pub(crate) name: String,
    /// Whether it was found in a folder, which may also hold other files.
    pub(crate) in_folder: bool,
}

impl InputPath {
    /// Whether to skip an input that cannot be read. A folder may hold any files, so files of unknown formats
    /// in it are always skipped.
    pub(crate) fn is_skipped(&self, error: &LoadError, skip_broken: bool) -> bool {
        skip_broken || (self.in_folder && matches!(error, LoadError::Unrecognized { .. }))
    }

    /// The name of the input in messages.
    pub(crate) fn shown(&self) -> &str {
        shown(&self.name)
    }

    /// The size of the file, or 1 if it is not known.
    pub(crate) fn size(&self) -> u64 {
        fs::metadata(&self.name).map_or(1, |file| file.len().max(1))
    }
}

/// The name of an input in messages.
pub(crate) fn shown(name: &str) -> &str {
    if name == "-" { "standard input" } else { name }
}

/// The files to load. Folders are replaced with the files in them.
pub(crate) fn expand_folders(names: &[String]) -> Result<Vec<InputPath>> {
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

/// The error if none of `names` is a profile.
pub(crate) fn no_profile(names: &[String]) -> anyhow::Error {
    let hint = "name a profile, or a folder that contains one";
    hinted(format!("{}: no profile found", names.join(", ")), hint)
}
