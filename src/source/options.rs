//! How addresses are fetched, and what is told meanwhile.

use std::path::PathBuf;
use std::time::Duration;

/// How addresses are fetched. By default, nothing is sent but the request, and nothing is saved.
#[derive(Clone, Debug, Default)]
pub struct NetworkOptions {
    /// How long servers record; `None` for as long as they do without being asked.
    pub seconds: Option<u64>,
    /// Headers of each request, by name. They are sent to the servers in the addresses given, but not to others that these
    /// redirect to.
    pub headers: Vec<(String, String)>,
    /// The longest time for an answer; `None` for 30 seconds more than the server records.
    pub timeout: Option<Duration>,
    /// How servers and we prove who we are.
    pub tls: Tls,
    /// The file with user names and passwords of servers, as curl reads it.
    pub netrc: Option<PathBuf>,
    /// The folder that everything fetched is saved in.
    pub save_in: Option<PathBuf>,
    /// The largest answer in bytes; `None` for no limit.
    pub most_bytes: Option<u64>,
}

/// Certificates for `https`.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// PEM file of the authorities to trust instead of the usual ones.
    pub ca: Option<PathBuf>,
    /// PEM file of our own certificate.
    pub cert: Option<PathBuf>,
    /// PEM file of its key; by default, the file of the certificate holds both.
    pub key: Option<PathBuf>,
    /// Whether to trust any server.
    pub insecure: bool,
}

/// What happens while addresses are fetched.
#[derive(Clone, Debug)]
pub enum Event {
    /// A server begins to record for this time.
    Recording(Duration),
    /// So many bytes arrived.
    Bytes(u64),
    /// A profile was saved in this file.
    Saved(PathBuf),
    /// Something to tell the user.
    Note(String),
}
