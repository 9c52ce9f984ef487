//! Finds the input files: paths, folders, standard input, `$PROF_PROFILE`.

use std::env;
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;

use anyhow::Result;

use crate::cli::options::args::InputArgs;
use crate::cli::terminal::failure::hinted;

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
    // What is read here stays in the buffer of standard input. An error is reported by whoever reads next.
    let is_empty = || io::stdin().lock().fill_buf().is_ok_and(<[u8]>::is_empty);
    env::var_os("PROF_PROFILE").is_some_and(|value| !value.is_empty())
        || !io::stdin().is_terminal() && !is_empty()
}

impl InputArgs {
    /// All files that are read: the profiles, and the binaries that supply names for their addresses.
    pub(crate) fn files(&self) -> Result<Vec<PathBuf>> {
        let profiles = names(&self.profiles)?.into_iter().map(PathBuf::from);
        Ok(profiles.chain(self.symbols.binaries().iter().cloned()).collect())
    }
}
