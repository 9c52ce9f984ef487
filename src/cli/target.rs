//! Where a report goes: standard output, or a file that is replaced as a whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cli::failure::hinted;
use crate::cli::unfinished;
use crate::format::{self, Confidence, Source};

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file, or what else stands at that path.
    Path(PathBuf),
}

impl Target {
    /// The target that `-o` names; `-` and nothing are standard output.
    pub(crate) fn new(path: Option<&Path>) -> Target {
        match path {
            Some(path) if path != Path::new("-") => Target::Path(path.to_path_buf()),
            _ => Target::Stdout,
        }
    }

    /// Refuses a target that is an input, or that is a readable profile already.
    pub(crate) fn check(&self, inputs: &[String], force: bool) -> Result<()> {
        let Target::Path(path) = self else { return Ok(()) };
        if fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            return Err(hinted(
                format!("{}: is a folder", path.display()),
                "give the path of a file to write",
            ));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let message = format!("{}: no such folder", folder.display());
            return Err(hinted(message, format!("make it, or write {} elsewhere", path.display())));
        }
        for input in inputs {
            if same_file(path, Path::new(input)) {
                let message = format!("{}: is one of the inputs and would be overwritten", path.display());
                return Err(hinted(message, "give another path with -o"));
            }
        }
        if !force && is_profile(path) {
            let message = format!("{}: is a profile and would be overwritten", path.display());
            return Err(hinted(message, "give another path, or --force if it may go"));
        }
        Ok(())
    }

    /// Writes what `write` gives. A file appears under its name only once it is complete, so a
    /// failure leaves the old one whole.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        let at = |place: &dyn Fn() -> String, error: anyhow::Error| {
            if error.is::<io::Error>() { error.context(place()) } else { error }
        };
        let Target::Path(path) = self else {
            let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
            let written = write(&mut out).and_then(|()| Ok(out.flush()?));
            return written.map_err(|error| at(&|| "standard output".to_string(), error));
        };
        let place = || path.display().to_string();
        // What is there and no regular file cannot be replaced: /dev/stdout, a named pipe.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let mut out = BufWriter::with_capacity(BUFFER, File::create(path).with_context(place)?);
            write(&mut out).map_err(|error| at(&place, error))?;
            return out.flush().with_context(place);
        }
        // A link is followed, so that it is not the link that is replaced.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = unfinished::create(folder).with_context(place)?;
        let mut out = BufWriter::with_capacity(BUFFER, temporary);
        write(&mut out).map_err(|error| at(&place, error))?;
        let temporary = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(place)?;
        if let Ok(old) = fs::metadata(&real) {
            temporary.as_file().set_permissions(old.permissions()).with_context(place)?;
        }
        unfinished::persist(temporary, &real).with_context(place)
    }
}

/// Takes the path that ends like an output out of the positional arguments, wherever it stands.
pub(crate) fn take_target(positionals: &mut Vec<String>, endings: &[&str]) -> Option<PathBuf> {
    let is_target = |path: &String| {
        let ending = Path::new(path).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        ending.is_some_and(|ending| endings.contains(&ending.as_str()))
    };
    let place = positionals.iter().position(is_target)?;
    Some(PathBuf::from(positionals.remove(place)))
}

/// The one of the two ways to say where a picture goes that was used.
pub(crate) fn one_target(
    command: &str,
    given: Option<PathBuf>,
    positional: Option<PathBuf>,
) -> Result<Option<PathBuf>> {
    if let (Some(one), Some(other)) = (&given, &positional) {
        let message = format!("{command}: both {} and {} are to be written", one.display(), other.display());
        return Err(hinted(message, "run it once for each"));
    }
    Ok(given.or(positional))
}

const BUFFER: usize = 256 << 10;

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether the file at `path` is there and would load: by its first bytes.
fn is_profile(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let Ok(mut source) = Source::open(Box::new(file)) else { return false };
    let Ok(head) = source.head(HEAD) else { return false };
    // Any text whose lines end in numbers may pass for collapsed stacks: only what is clearly a
    // profile is protected, or a report written before could not be replaced.
    format::recognize(head).is_some_and(|(format, confidence)| {
        confidence >= Confidence::Likely
            || (confidence == Confidence::Maybe && format.name != "collapsed")
            || head_is_stacks(head)
    })
}

/// Whether lines hold stacks of several frames and end in weights: collapsed stacks without doubt.
fn head_is_stacks(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    line.contains(&b';') && line.trim_ascii_end().last().is_some_and(u8::is_ascii_digit)
}

const HEAD: usize = 64 << 10;
