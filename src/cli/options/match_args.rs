//! `--match`: how functions of two builds are matched.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::cli::terminal::failure::hinted;
use crate::report::Matched;
use crate::transform::{GivenError, MatchOptions};
use crate::unit::first_of;

/// The option `--match`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct MatchArgs {
    /// How to match functions between the old and new profiles: auto, exact (same name and location), or
    /// the path of a file with lines `old = new`; `old =` and `= new` for functions without a match
    #[arg(long = "match", value_name = "HOW", default_value = "auto")]
    how: String,
}

impl MatchArgs {
    /// What was asked for. `least_share` is the minimum share, 0 to 1, of a function for which to search for a match under a
    /// different name.
    pub(crate) fn options(&self, least_share: f64) -> Result<MatchOptions> {
        let mut options = MatchOptions { least_share, ..MatchOptions::default() };
        match self.how.as_str() {
            "auto" => {}
            "exact" => options.exact = true,
            file => options.given = read_pairs(Path::new(file))?,
        }
        Ok(options)
    }

    /// The option, if it was given, as words of a command line.
    pub(crate) fn repeated(&self) -> Vec<String> {
        if self.how == "auto" { Vec::new() } else { vec!["--match".to_string(), self.how.clone()] }
    }

    /// Explains why pairs of functions cannot be matched.
    pub(crate) fn explain(&self, error: &GivenError) -> anyhow::Error {
        let hint = "prof top -n 0 --names full lists the names of a profile";
        hinted(format!("--match {}: {error}", self.how), hint)
    }
}

/// A sentence that lists the matches, so that the user can check them.
pub(crate) fn matched_note(matched: &[Matched]) -> Option<String> {
    let listed = first_of(matched.iter(), MAX_LISTED, " · ");
    (!matched.is_empty()).then(|| format!("matched: {listed}"))
}

/// The maximum number of matches listed in a note.
const MAX_LISTED: usize = 3;

/// The names of a line: `old = new`, or only one of them for a function without a match, `old =` or `= new`.
fn pair(line: &str) -> Option<(&str, &str)> {
    let alone = || line.strip_suffix(" =").map(|old| (old, ""));
    line.split_once(" = ").or_else(alone).or_else(|| line.strip_prefix("= ").map(|new| ("", new)))
}

/// Reads a file of lines `old = new`; empty lines and lines that start with `#` are skipped.
fn read_pairs(path: &Path) -> Result<Vec<(String, String)>> {
    let form = "the name on the old side, ` = `, and the name on the new side; `old =` or `= new` for a function without a match";
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let message = format!("--match {}: no such file", path.display());
            return Err(hinted(
                message,
                "expected auto, exact, or the path of a file with lines `old = new`",
            ));
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            let message = format!("--match {}: not a text file with lines `old = new`", path.display());
            return Err(hinted(message, form));
        }
        Err(error) => return Err(error).with_context(|| format!("--match {}", path.display())),
    };
    let mut pairs = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((old, new)) = pair(line) else {
            let message = format!("--match {}: line {} is not `old = new`", path.display(), number + 1);
            return Err(hinted(message, form));
        };
        pairs.push((old.trim().to_string(), new.trim().to_string()));
    }
    Ok(pairs)
}
