//! Debug information from servers that have it by build ID (debuginfod), as Linux distributions run them. They are asked only if the
//! user names them.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::binary::{Binary, same_build_id};
use crate::load::Observer;
use crate::profile::Meta;
use crate::source::{Event, FetchError, Network};

/// Servers of debug information, and the folder that keeps what they sent. Clones share what is known of the servers.
#[derive(Clone, Debug)]
pub struct Debuginfod {
    servers: Vec<String>,
    cache: PathBuf,
    network: Network,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Files that no server has, and servers that do not answer.
    given_up: HashSet<String>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// What a server may have of a build.
#[derive(Clone, Copy, Debug)]
pub(super) enum FileKind {
    /// The program or library.
    Executable,
    /// The debug information that was separated from it.
    DebugInformation,
}

impl FileKind {
    /// The name in addresses, and in the cache.
    fn name(self) -> &'static str {
        match self {
            FileKind::Executable => "executable",
            FileKind::DebugInformation => "debuginfo",
        }
    }
}

impl Debuginfod {
    /// Asks these servers, in this order, and keeps what they send in a folder, as other programs that use debuginfod do.
    pub fn new(servers: Vec<String>, cache: PathBuf, network: Network) -> Self {
        Debuginfod { servers, cache, network, state: Arc::default() }
    }

    /// A file of a build: from the cache, or else from the first server that has it.
    pub(super) fn file(&self, build_id: &str, kind: FileKind, observer: &dyn Observer) -> Option<PathBuf> {
        // The build ID of a profile becomes a part of a path and of an address.
        let is_id =
            (8..=128).contains(&build_id.len()) && build_id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = build_id.to_ascii_lowercase();
        let kind = kind.name();
        let path = self.cache.join(&id).join(kind);
        if !is_id || path.is_file() {
            // An empty file means that no server had it.
            return fs::metadata(&path).is_ok_and(|about| is_id && about.len() > 0).then_some(path);
        }
        let mut state = self.state();
        let wanted = format!("{id}/{kind}");
        if state.given_up.contains(&wanted) {
            return None;
        }
        for server in &self.servers {
            if state.given_up.contains(server) {
                continue;
            }
            let address = format!("{}/buildid/{wanted}", server.trim_end_matches('/'));
            match self.download(&address, observer) {
                Ok(Some(bytes)) if is_build(&bytes, &id) => match keep(&path, &bytes) {
                    Ok(()) => {
                        state.notes.push(format!("the {kind} of build {id} is from {server}"));
                        return Some(path);
                    }
                    Err(error) => {
                        state.warnings.push(format!("{}: {error}", path.display()));
                        break;
                    }
                },
                Ok(Some(_)) => state.warnings.push(format!("{address} is not a file of that build")),
                Ok(None) => {}
                Err(error) => {
                    state.warnings.push(format!("no debug information from {server}: {error}"));
                    state.given_up.insert(server.clone());
                }
            }
        }
        state.given_up.insert(wanted);
        None
    }

    fn download(&self, address: &str, observer: &dyn Observer) -> Result<Option<Vec<u8>>, FetchError> {
        // The debug information of a library may be hundreds of megabytes.
        observer.recording(Duration::ZERO);
        let answer = self.network.download(address, &|event| {
            if let Event::Bytes(count) = event {
                observer.fetched(count);
            }
        });
        observer.fetch_over();
        answer
    }

    /// Adds what happened to the messages of a profile.
    pub(super) fn tell(&self, meta: &mut Meta) {
        let mut state = self.state();
        meta.notes.append(&mut state.notes);
        meta.warnings.append(&mut state.warnings);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_build(bytes: &[u8], id: &str) -> bool {
    let binary = Binary::parse(bytes).ok();
    binary.and_then(|binary| binary.build_id()).is_some_and(|found| same_build_id(id, &found))
}

/// Writes a file under its name only when it is complete.
fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let part = path.with_extension(format!("{}.part", process::id()));
    let kept = fs::write(&part, bytes).and_then(|()| fs::rename(&part, path));
    if kept.is_err() {
        // It is only a leftover.
        let _ = fs::remove_file(&part);
    }
    kept
}
