//! The temporary file that is being written, which is removed if the process is interrupted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::NamedTempFile;

/// The exit code that shells expect after an interrupt: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;

/// The temporary file of this process, if there is one. The lock is held while the file is created, renamed
/// or removed, so that an interrupt cannot come in between.
static CURRENT: Mutex<Option<PathBuf>> = Mutex::new(None);

/// What else is done before the process ends because it is interrupted.
static BEFORE: Mutex<Option<fn()>> = Mutex::new(None);

/// Does something before the process ends because it is interrupted or terminated.
#[cfg(feature = "ui")]
pub(crate) fn before_interrupted(act: fn()) {
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(act);
    remove_when_interrupted();
}

fn current() -> MutexGuard<'static, Option<PathBuf>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates a temporary file in `folder`, which is removed if the process is interrupted, terminated or hung
/// up.
pub(crate) fn create(folder: &Path) -> io::Result<NamedTempFile> {
    remove_when_interrupted();
    let mut current = current();
    let file = new_file(folder)?;
    *current = Some(file.path().to_path_buf());
    Ok(file)
}

/// Renames a finished file to `path`, replacing what was there.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let mut current = current();
    file.persist(path).map_err(|error| error.error)?;
    *current = None;
    Ok(())
}

fn remove_when_interrupted() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let installed = ctrlc::set_handler(|| {
            let current = current();
            if let Some(path) = &*current {
                // The file may be gone already, and there is nobody to tell.
                let _ = fs::remove_file(path);
            }
            // The lock is still held, so that no other file can be created.
            if let Some(act) = *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) {
                act();
            }
            exit(INTERRUPTED);
        });
        // Without a handler, an interrupt still ends the process, but leaves the temporary file.
        drop(installed);
    });
}

/// A temporary file with the permissions of a normal file: `tempfile` would let only the owner read it.
fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".prof-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
