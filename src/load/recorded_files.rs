//! Finds the files that processes wrote for `perf` while they were recorded.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::binary::{Binary, UnwindTable};
use crate::format::{Inode, JitCode, JitError, RecordedFiles};
use crate::load::Symbols;
use crate::load::binaries::{Binaries, Search, is_own_path, open, open_file};
use crate::name::base_name;
use crate::profile::Budget;

/// The folder where virtual machines write `perf-PID.map`.
const MAPS: &str = "/tmp";

/// The files of one recording.
pub(super) struct FilesOfRecording {
    /// Files and folders that the user names.
    places: Vec<PathBuf>,
    binaries: Mutex<Binaries>,
    /// The recording itself.
    recording: PathBuf,
    /// When it was written, once that was asked.
    written: OnceLock<Option<SystemTime>>,
    budget: Budget,
    warnings: Mutex<Vec<String>>,
}

impl FilesOfRecording {
    /// The files of the recording at `path`.
    pub(super) fn new(symbols: &Symbols, path: &str, budget: &Budget) -> FilesOfRecording {
        FilesOfRecording {
            places: symbols.places().collect(),
            binaries: Mutex::new(Binaries::new(symbols.places().collect())),
            recording: PathBuf::from(path),
            written: OnceLock::new(),
            budget: budget.clone(),
            warnings: Mutex::default(),
        }
    }

    /// When the recording was written; `None` if unknown. Asked only for recordings that refer to files.
    fn written(&self) -> Option<SystemTime> {
        *self.written.get_or_init(|| fs::metadata(&self.recording).and_then(|about| about.modified()).ok())
    }

    /// What went wrong so far.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn warn(&self, warning: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// A file of this name among those that the user named.
    fn given(&self, name: &str) -> Option<PathBuf> {
        let path = |place: &PathBuf| if place.is_dir() { place.join(name) } else { place.clone() };
        let is_named = |path: &PathBuf| base_name(&path.to_string_lossy()) == name && path.is_file();
        self.places.iter().map(path).find(is_named)
    }

    /// Whether a file that nobody named belongs to the recording: it is of the same machine, and not newer. Ids of processes are
    /// used again.
    fn is_of_recording(&self, path: &Path, host: &str) -> bool {
        let Ok(about) = fs::metadata(path) else { return false };
        let is_newer = match (self.written(), about.created()) {
            (Some(written), Ok(created)) => created > written,
            _ => false,
        };
        let is_own = is_this_machine(host);
        if about.is_file() && (is_newer || !is_own) {
            let reason = if is_own { "is newer than the recording" } else { "may be of another machine" };
            self.warn(format!(
                "no names are taken from {}, which {reason}; if it belongs to the recording, use --binary {}",
                path.display(),
                path.display()
            ));
        }
        is_own && !is_newer
    }

    /// The code in a file; what is wrong with it becomes a warning.
    fn read(
        &self,
        path: &Path,
        read: impl Fn(BufReader<File>) -> Result<JitCode, JitError>,
    ) -> Option<JitCode> {
        let code = read(BufReader::new(open_file(path)?));
        code.map_err(|error| self.warn(format!("no names are taken from {}: {error}", path.display()))).ok()
    }
}

impl RecordedFiles for FilesOfRecording {
    fn perf_map(&self, pid: u32, host: &str) -> Option<JitCode> {
        let name = format!("perf-{pid}.map");
        let path = self.given(&name).or_else(|| {
            let path = Path::new(MAPS).join(&name);
            self.is_of_recording(&path, host).then_some(path)
        })?;
        self.read(&path, |input| JitCode::read_map(input, &self.budget))
    }

    fn jit_dump(&self, path: &str, pid: u32, host: &str) -> Option<JitCode> {
        if let Some(path) = self.given(base_name(path)) {
            // In a container, the process knows another number of its own.
            return self.read(&path, |input| JitCode::read_dump(input, None, &self.budget));
        }
        let own = Path::new(path);
        let may_open = is_own_path(path) && self.is_of_recording(own, host);
        may_open.then(|| self.read(own, |input| JitCode::read_dump(input, Some(pid), &self.budget)))?
    }

    fn unwind_table(&self, file: &str, build_id: &str) -> Option<UnwindTable> {
        let mut binaries = self.binaries.lock().unwrap_or_else(PoisonError::into_inner);
        let Search::Found { files, .. } = binaries.find(file, build_id) else { return None };
        let debug = files.debug.as_deref().and_then(open);
        let debug = debug.as_ref().and_then(|data| Binary::parse(data).ok());
        UnwindTable::new(&Binary::parse(&open(&files.binary)?).ok()?, debug.as_ref())
    }

    fn build_id(&self, path: &str, inode: Inode, host: &str) -> Option<String> {
        let own = Path::new(path);
        let about = fs::metadata(own).ok().filter(|_| is_own_path(path) && is_this_machine(host))?;
        let is_unchanged =
            about.modified().is_ok_and(|modified| self.written().is_some_and(|written| modified <= written));
        if !is_unchanged || !is_inode(&about, inode) {
            return None;
        }
        Some(Binary::parse(&open(own)?).ok()?.build_id()?.to_string())
    }
}

#[cfg(unix)]
fn is_inode(about: &fs::Metadata, inode: Inode) -> bool {
    use std::os::unix::fs::MetadataExt;

    // The two parts of a device's number are each split in two.
    let device = about.dev();
    let major = (device >> 8 & 0xFFF) | (device >> 32 & 0xFFFF_F000);
    let minor = (device & 0xFF) | (device >> 12 & 0xFFFF_FF00);
    inode == Inode { major: major as u32, minor: minor as u32, number: about.ino() }
}

#[cfg(not(unix))]
fn is_inode(_: &fs::Metadata, _: Inode) -> bool {
    false
}

/// Whether `host` is the name of this machine.
fn is_this_machine(host: &str) -> bool {
    let own = fs::read_to_string("/proc/sys/kernel/hostname");
    !host.is_empty() && own.is_ok_and(|own| own.trim_end() == host)
}
