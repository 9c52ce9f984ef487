//! The destination of a report: standard output, or a file that is replaced atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use same_file::Handle;

use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::session;
use crate::cli::terminal::temporary;
use crate::format::{self, Source};

/// The destination of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file, or a device or pipe at that path.
    Path(PathBuf),
}

impl Target {
    /// The target of `-o`; standard output for `-` or if there is none.
    pub(crate) fn new(path: Option<&Path>) -> Target {
        match path {
            Some(path) if path != Path::new("-") => Target::Path(path.to_path_buf()),
            _ => Target::Stdout,
        }
    }

    /// Fails if writing would destroy something: see [`may_write`].
    pub(crate) fn check<P: AsRef<Path>>(&self, inputs: &[P], force: bool) -> Result<()> {
        match self {
            Target::Stdout => Ok(()),
            Target::Path(path) => may_write(path, Kind::File, inputs, force),
        }
    }

    /// Writes the output of `write`. A file gets its name only once it is complete, so that a failure leaves
    /// the old file intact.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
        self.write_boxed(Box::new(write))
    }

    /// Compiled once for all commands.
    fn write_boxed(&self, write: Writing) -> Result<()> {
        let at = |place: &dyn Fn() -> String, error: anyhow::Error| {
            if error.is::<io::Error>() { error.context(place()) } else { error }
        };
        let Target::Path(path) = self else {
            if session::is_inside() {
                let mut text = Vec::new();
                write(&mut text)?;
                session::of_session(|session| session.output.append(&mut text));
                return Ok(());
            }
            let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
            let written = write(&mut out).and_then(|()| Ok(out.flush()?));
            return written.map_err(|error| at(&|| "standard output".to_string(), error));
        };
        let place = || path.display().to_string();
        // /dev/stdout or a named pipe cannot be replaced, so they are written directly.
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let mut out = BufWriter::with_capacity(BUFFER, File::create(path).with_context(place)?);
            write(&mut out).map_err(|error| at(&place, error))?;
            return out.flush().with_context(place);
        }
        // Follow a link, so that its target is replaced and not the link.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let temporary = temporary::create(folder).with_context(place)?;
        let mut out = BufWriter::with_capacity(BUFFER, temporary);
        write(&mut out).map_err(|error| at(&place, error))?;
        let temporary = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(place)?;
        if let Ok(old) = fs::metadata(&real) {
            temporary.as_file().set_permissions(old.permissions()).with_context(place)?;
        }
        temporary::persist(temporary, &real).with_context(place)
    }
}

/// What writes the output.
type Writing<'a> = Box<dyn FnOnce(&mut dyn Write) -> Result<()> + 'a>;

const BUFFER: usize = 256 << 10;

/// The kind of output that a command is about to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One file.
    File,
    /// A folder of files.
    Folder,
}

/// Decides for all commands what may be overwritten: an input never, by whatever path; a readable profile or a
/// folder that is not empty only with `--force`. Other files, such as an earlier report, are replaced without
/// asking.
pub(crate) fn may_write<P: AsRef<Path>>(path: &Path, kind: Kind, inputs: &[P], force: bool) -> Result<()> {
    let shown = path.display();
    if is_input(path, inputs) {
        let message = format!("{shown}: not overwritten, because this file is also an input");
        return Err(hinted(message, "write to another path"));
    }
    match (kind, path.is_dir()) {
        (Kind::File, true) => {
            return Err(hinted(format!("{shown}: is a folder"), "give the path of a file to write"));
        }
        (Kind::Folder, false) if path.exists() => {
            return Err(hinted(format!("{shown}: is not a folder"), "give the path of a folder to write to"));
        }
        (Kind::Folder, true) if !force && !is_empty(path) => {
            let hint = "write to another folder, or add --force to write into this one";
            return Err(hinted(format!("{shown}: this folder is not empty"), hint));
        }
        _ => {}
    }
    let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| kind == Kind::File && !parent.is_dir()) {
        let message = format!("{}: no such folder", parent.display());
        return Err(hinted(message, format!("create the folder, or choose another path than {shown}")));
    }
    if !force && let Some(format) = profile_format(path) {
        let message = format!("{shown}: a profile ({format}) already exists there");
        return Err(hinted(message, "write to another path, or add --force to replace it"));
    }
    Ok(())
}

/// Whether `path` is one of the inputs or in a folder of inputs: by the same path, through a link, or under
/// another name.
fn is_input<P: AsRef<Path>>(path: &Path, inputs: &[P]) -> bool {
    // Opening a pipe would block, and writing to it destroys nothing.
    if !path.is_file() {
        return false;
    }
    let Ok(target) = Handle::from_path(path) else { return false };
    inputs.iter().map(AsRef::as_ref).any(|input| {
        if input == Path::new("-") {
            return Handle::stdin().is_ok_and(|stdin| stdin == target);
        }
        if input.is_dir() {
            let files = fs::read_dir(input).into_iter().flatten().flatten().map(|entry| entry.path());
            return files.into_iter().any(|file| is_same(&file, &target));
        }
        is_same(input, &target)
    })
}

fn is_same(file: &Path, target: &Handle) -> bool {
    file.is_file() && Handle::from_path(file).is_ok_and(|file| file == *target)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// The format of the file at `path`, if its first bytes are those of a profile.
fn profile_format(path: &Path) -> Option<&'static str> {
    // Opening a pipe would block.
    if !path.is_file() {
        return None;
    }
    let mut source = Source::open(Box::new(File::open(path).ok()?)).ok()?;
    format::recognize_source(&mut source).ok()?.map(|(format, _)| format.name)
}
