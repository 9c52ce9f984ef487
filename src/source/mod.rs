//! What can be named as a profile: standard input, a file, or an address on the network.
//!
//! An address is fetched before anything is read, and kept in memory, since a recording cannot be repeated. Nothing is
//! fetched unless an address was given.

#[cfg(feature = "http")]
mod address;
#[cfg(feature = "http")]
mod client;
mod error;
#[cfg(feature = "http")]
mod fetch;
#[cfg(feature = "http")]
mod go;
#[cfg(feature = "http")]
mod netrc;
mod network;
mod options;
#[cfg(feature = "http")]
mod parca;
#[cfg(feature = "http")]
mod pyroscope;
#[cfg(feature = "http")]
mod save;

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use error::FetchError;
pub use network::Network;
pub use options::{Event, NetworkOptions, Tls};

/// What an input is read from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// Standard input.
    StandardInput,
    /// A file.
    File(PathBuf),
    /// What a server answered.
    Fetched(Arc<[u8]>),
}

/// An input that was opened.
pub struct Opened {
    /// Its bytes, one after the other.
    pub input: Box<dyn Read + Send>,
    /// The same input, to be read at any position, if it is a file that is read from its start.
    pub file: Option<Arc<File>>,
}

impl Origin {
    /// Opens it for reading. Fails if a file cannot be opened, or if standard input was opened before.
    pub fn open(&self) -> io::Result<Opened> {
        Ok(match self {
            Origin::StandardInput => Opened { input: Box::new(standard_input()?), file: None },
            Origin::File(path) => {
                let mut file = Arc::new(File::open(path)?);
                // `/dev/fd/3` may be a file of which another program has read a part.
                let is_at_start = file.stream_position().is_ok_and(|position| position == 0);
                Opened { input: Box::new(file.clone()), file: is_at_start.then_some(file) }
            }
            Origin::Fetched(bytes) => Opened { input: Box::new(Cursor::new(bytes.clone())), file: None },
        })
    }

    /// The number of bytes, or 1 if it is not known.
    pub fn size(&self) -> u64 {
        match self {
            Origin::StandardInput => 1,
            Origin::File(path) => fs::metadata(path).map_or(1, |file| file.len().max(1)),
            Origin::Fetched(bytes) => bytes.len().max(1) as u64,
        }
    }
}

/// Standard input, once: for the second `-` of `prof diff - -`, nothing would be left.
fn standard_input() -> io::Result<io::Stdin> {
    static IS_OPENED: AtomicBool = AtomicBool::new(false);
    if IS_OPENED.swap(true, Ordering::Relaxed) {
        return Err(io::Error::other("`-` can be given only once, because there is one standard input"));
    }
    Ok(io::stdin())
}

/// Whether an input is an address on the network.
///
/// ```
/// use prof::source::is_url;
///
/// assert!(is_url("http://localhost:6060") && is_url("HTTPS://example.org/cpu.pb.gz"));
/// assert!(!is_url("http/cpu.pb.gz") && !is_url("-"));
/// ```
pub fn is_url(name: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| name.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// A text with the user names and passwords of addresses in it replaced by an ellipsis.
///
/// ```
/// use prof::source::without_passwords;
///
/// assert_eq!(without_passwords("http://me:secret@host/heap: 404"), "http://…@host/heap: 404");
/// assert_eq!(without_passwords("http://host/a@b"), "http://host/a@b");
/// ```
pub fn without_passwords(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://").map(|place| place + 3) {
        let (before, after) = rest.split_at(start);
        shown.push_str(before);
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        rest = match authority.rfind('@') {
            Some(at) => {
                shown.push('…');
                &after[at..]
            }
            None => after,
        };
    }
    shown + rest
}
