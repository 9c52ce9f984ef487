//! Options for profiles on servers: how long to record, who we are, and whom to trust.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueHint};

use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::session;
use crate::load::Debuginfod;
use crate::source::{Network, NetworkOptions, Tls, is_url};

/// Headers for each request, one per line.
const HEADERS: &str = "PROF_HTTP_HEADER";
/// Servers of debug information, separated by blanks; other programs read it, too.
pub(crate) const DEBUGINFOD: &str = "DEBUGINFOD_URLS";
/// How long such a server is waited for, as other programs do.
const DEBUGINFOD_SECONDS: u64 = 90;

/// Options for inputs that are addresses, such as `http://localhost:6060`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Servers")]
pub(crate) struct NetworkArgs {
    /// Let servers record for N seconds [default: 30 for the CPU profile of Go]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,
    /// Header to send, such as 'Authorization: Bearer TOKEN' (repeatable)
    #[arg(long, value_name = "HEADER")]
    header: Vec<String>,
    /// Wait at most N seconds for a server [default: 30 more than it records]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=864_000))]
    timeout: Option<u64>,
    /// Trust servers with a certificate of this authority (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tls_ca: Option<PathBuf>,
    /// Send this certificate to servers that ask for one (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    tls_cert: Option<PathBuf>,
    /// Key of --tls-cert, if it is in a file of its own (PEM)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Trust any server, whatever its certificate
    #[arg(long)]
    tls_insecure: bool,
    /// Do not save what servers send
    #[arg(long)]
    no_save: bool,
}

impl NetworkArgs {
    /// Whether servers are to record for a time that was given.
    pub(crate) fn records(&self) -> bool {
        self.seconds.is_some()
    }

    /// The servers of debug information: those that were `named`, then those in `$DEBUGINFOD_URLS`. Headers are not for them.
    pub(crate) fn debuginfod(&self, named: &[String], most_bytes: Option<u64>) -> Option<Debuginfod> {
        let others = env::var(DEBUGINFOD).unwrap_or_default();
        let others = others.split_whitespace().filter(|server| is_url(server)).map(str::to_string);
        let servers: Vec<String> = named.iter().cloned().chain(others).collect();
        if servers.is_empty() || session::is_inside() || !cfg!(feature = "http") {
            return None;
        }
        let named = env::var_os("DEBUGINFOD_CACHE_PATH").map(PathBuf::from);
        let cache =
            named.filter(|path| path.is_absolute()).or_else(|| Some(caches()?.join("debuginfod_client")))?;
        let network = Network::new(NetworkOptions {
            timeout: Some(Duration::from_secs(self.timeout.unwrap_or(DEBUGINFOD_SECONDS))),
            tls: self.tls(),
            netrc: netrc(),
            most_bytes,
            ..NetworkOptions::default()
        });
        Some(Debuginfod::new(servers, cache, network))
    }

    fn tls(&self) -> Tls {
        Tls {
            ca: self.tls_ca.clone(),
            cert: self.tls_cert.clone(),
            key: self.tls_key.clone(),
            insecure: self.tls_insecure,
        }
    }

    /// What fetches addresses. Everything that is loaded shares it, so that nothing is fetched twice.
    pub(crate) fn network(&self, most_bytes: Option<u64>) -> Result<Network> {
        static NETWORK: OnceLock<Network> = OnceLock::new();
        if let Some(network) = NETWORK.get() {
            return Ok(network.clone());
        }
        let from_environment = env::var(HEADERS).unwrap_or_default();
        let lines = from_environment.lines().map(str::trim).filter(|line| !line.is_empty());
        let of_environment = lines.map(|line| (HEADERS, line));
        let given = self.header.iter().map(|header| ("--header", header.as_str()));
        let headers = of_environment.chain(given).map(|(origin, text)| header(origin, text));
        let network = Network::new(NetworkOptions {
            seconds: self.seconds,
            headers: headers.collect::<Result<_>>()?,
            timeout: self.timeout.map(Duration::from_secs),
            tls: self.tls(),
            netrc: netrc(),
            save_in: if self.no_save || session::is_inside() {
                None
            } else {
                caches().map(|caches| caches.join("prof"))
            },
            most_bytes,
        });
        Ok(NETWORK.get_or_init(|| network).clone())
    }
}

/// Splits `Name: value`. An error does not repeat the text, which may be a secret.
fn header(origin: &str, text: &str) -> Result<(String, String)> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    let parts = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    let valid = parts.filter(|(name, value)| {
        !name.is_empty() && name.chars().all(is_token) && !value.chars().any(char::is_control)
    });
    let Some((name, value)) = valid else {
        return Err(hinted(
            format!("{origin}: not a valid header"),
            "a header is a name and a value: --header 'Authorization: Bearer TOKEN'",
        ));
    };
    Ok((name.to_string(), value.to_string()))
}

fn home() -> Option<PathBuf> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    env::var_os(name).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The file with user names and passwords: `$NETRC`, or the one in the home folder.
fn netrc() -> Option<PathBuf> {
    let named = env::var_os("NETRC").filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(home()?.join(if cfg!(windows) { "_netrc" } else { ".netrc" })))
}

/// The folder where programs of this system keep what they can fetch again.
fn caches() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(if let Some(folder) = named("XDG_CACHE_HOME") {
        folder
    } else if cfg!(windows) {
        named("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        home()?.join("Library").join("Caches")
    } else {
        home()?.join(".cache")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_a_name_and_a_value() {
        let valid = header("--header", "Authorization:  Bearer a:b ").unwrap();
        assert_eq!(valid, ("Authorization".to_string(), "Bearer a:b".to_string()));
        for wrong in ["secret", ": secret", "a b: secret", "x: secret\r\nHost: evil", ""] {
            let error = header("--header", wrong).unwrap_err().to_string();
            assert_eq!(error, "--header: not a valid header", "{wrong}");
        }
    }
}
