//! Functions that several tests share.

#![allow(dead_code, unreachable_pub, reason = "every test binary uses its own part")]

pub mod edges;
pub mod naive;
pub mod sides;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use prof::format::{LoadError, Source, load};
use prof::profile::{LoadOptions, Profile};

/// Whether a comparison says that something got slower.
pub fn has_regression(comparison: &prof::stats::compare::Comparison) -> bool {
    comparison.hypotheses.iter().any(|row| row.verdict == prof::stats::Verdict::Regressed)
}

/// `prof` in a folder, independent of the environment's `PROF_PROFILE`.
pub fn prof(folder: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prof"));
    command.args(arguments).current_dir(folder).env_remove("PROF_PROFILE");
    command
}

/// Loads a file with everything in it.
pub fn load_file(path: &std::path::Path) -> Result<Profile, LoadError> {
    let file = std::fs::File::open(path)?;
    load(&mut Source::open(Box::new(file))?, LoadOptions::ALL, None)
}

/// Loads a text that must be readable, without labels.
pub fn load_text(text: &str) -> Profile {
    let options = LoadOptions { labels: false, ..LoadOptions::ALL };
    load(&mut Source::from_bytes(text.into()), options, None)
        .unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Loads a file that must be readable.
pub fn load_well(path: &std::path::Path) -> Profile {
    load_file(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The corpus of real profiles, which stands beside the checkout and does not belong to it. `None`,
/// and a line that says so, where it is absent.
pub fn corpus_root() -> Option<PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    if root.is_dir() {
        return Some(root);
    }
    println!("skipped: ../shared/corpus is absent");
    None
}

/// The files of a folder of the corpus, in order; `None` where the corpus is absent.
pub fn corpus(folder: &str) -> Option<Vec<PathBuf>> {
    Some(files(&corpus_root()?.join(folder)))
}

/// The files directly in a folder, in order.
pub fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// All files below a folder, as paths from there.
pub fn below(root: &std::path::Path) -> BTreeSet<String> {
    let (mut folders, mut files) = (vec![root.to_path_buf()], BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    files
}

/// A fixture by its path below `fixtures/`.
pub fn fixture(path: &str) -> PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}
