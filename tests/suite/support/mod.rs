//! Functions that several tests share.

#![allow(dead_code, unreachable_pub, reason = "every test binary uses its own part")]

pub mod edges;
pub mod imports;
pub mod naive;
pub mod needs;
pub mod series;
pub mod sides;
pub mod sums;
pub mod trial;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use prof::format::{LoadError, Source, load};
use prof::profile::{LoadOptions, Profile};

/// Whether a comparison found a regression.
pub fn has_regression(comparison: &prof::stats::compare::Comparison) -> bool {
    comparison.hypotheses.iter().any(|row| row.verdict == prof::stats::Verdict::Regressed)
}

/// `prof` in a folder, independent of the environment's `PROF_PROFILE`.
pub fn prof(folder: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prof"));
    command.args(arguments).current_dir(folder).env_remove("PROF_PROFILE").env_remove("DEBUGINFOD_URLS");
    command
}

/// What `prof` shows in a terminal of 24 lines, given its arguments as a line of shell. A test that calls this is
/// marked with `#[needs(Script)]`.
#[cfg(target_os = "linux")]
pub fn in_terminal(folder: &std::path::Path, columns: usize, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_prof");
    let line = format!("stty rows 24 cols {columns}; {program} {arguments}");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(folder).stdin(Stdio::null());
    let output = script.env_remove("PROF_PROFILE").env("NO_COLOR", "1").output().unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

/// Loads a file with labels and times.
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

/// The corpus of real profiles. A test that calls this is marked with `#[needs(Corpus)]`.
pub fn corpus_root() -> PathBuf {
    needs::shared("corpus")
}

/// The files of a folder of the corpus, in order.
pub fn corpus(folder: &str) -> Vec<PathBuf> {
    files(&corpus_root().join(folder))
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

/// A folder with copies of fixtures, each with the path that it has there.
pub fn copies(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::TempDir::new().unwrap();
    for (from, to) in files {
        let to = folder.path().join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(fixture(from), to).unwrap();
    }
    folder
}
