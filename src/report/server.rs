//! The report of `info` on a server.

use serde::Serialize;

/// What a server of profiles offers.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Kind and version of the document.
    pub schema: &'static str,
    /// The address, as it was given.
    pub address: String,
    /// What serves the profiles: `Go`, `Pyroscope` or `Parca`.
    pub server: &'static str,
    /// The profiles, or the types of profiles.
    pub profiles: Vec<ServerProfile>,
    /// The keys of the labels that profiles can be selected by.
    pub labels: Vec<String>,
}

/// A profile that a server offers.
#[derive(Clone, Debug, Serialize)]
pub struct ServerProfile {
    /// The name: `heap`, or `process_cpu:cpu:nanoseconds:cpu:nanoseconds`.
    pub name: String,
    /// The address to fetch it from.
    pub address: String,
}

impl ServerInfo {
    #[cfg(feature = "http")]
    pub(crate) fn new(
        address: &str,
        server: &'static str,
        profiles: Vec<ServerProfile>,
        labels: Vec<String>,
    ) -> Self {
        ServerInfo { schema: "prof.server.v1", address: address.to_string(), server, profiles, labels }
    }
}
