//! The file that is being written, so that an interrupt does not leave it behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::exit;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::NamedTempFile;

/// What a shell expects of a program that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// The temporary file of this process, if there is one. Who holds this lock makes the file, or gives it
/// its name, or removes it: an interrupt comes before or after, never between.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a temporary file in `folder`, which goes when the process is interrupted, terminated or hung up.
pub(super) fn create(folder: &Path) -> io::Result<NamedTempFile> {
    remove_when_interrupted();
    let mut unfinished = unfinished();
    let file = new_file(folder)?;
    *unfinished = Some(file.path().to_path_buf());
    Ok(file)
}

/// Gives a finished file its name, in place of what was there.
pub(super) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let mut unfinished = unfinished();
    file.persist(path).map_err(|error| error.error)?;
    *unfinished = None;
    Ok(())
}

fn remove_when_interrupted() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let installed = ctrlc::set_handler(|| {
            let unfinished = unfinished();
            if let Some(path) = &*unfinished {
                // Nothing can be done where it has gone already, or the disk has.
                let _ = fs::remove_file(path);
            }
            // The lock is held, so that nobody begins another file.
            exit(INTERRUPTED);
        });
        // Without a handler an interrupt ends the process as ever, and only the temporary file stays.
        drop(installed);
    });
}

/// A temporary file that other users may read as far as the umask allows, unlike the default.
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
