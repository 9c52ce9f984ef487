//! One request and its answer, within limits of time and size, with credentials only where they belong.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::InconsistentKeys;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use serde::de::DeserializeOwned;
use ureq::http::Uri;
use ureq::http::header::{CONTENT_LENGTH, CONTENT_TYPE, LOCATION, TRANSFER_ENCODING};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::FetchError;
use super::address::{join, server_of, user_of};
use super::netrc::Netrc;
use super::options::{Event, NetworkOptions, Tls};

/// No more redirections than this are followed.
const MOST_REDIRECTIONS: usize = 5;
/// A server has this time to answer, in addition to the time that it records.
const PATIENCE: Duration = Duration::from_secs(30);

/// The hint if an answer is incomplete.
const CLOSED: &str = "try again; the server or a proxy closed the connection";

/// The hint if there is no answer.
const NO_ANSWER: &str = "check the port, and whether the server expects https";

/// Sends requests.
pub(super) struct Client {
    agent: Agent,
    headers: Vec<(String, String)>,
    netrc: Netrc,
    timeout: Option<Duration>,
    most_bytes: u64,
}

/// What a server answered.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

/// What is sent.
enum Method<'a> {
    Get,
    Post { content_type: &'a str, body: &'a [u8] },
}

impl Client {
    /// Fails if certificates cannot be read.
    pub(super) fn new(options: &NetworkOptions) -> Result<Self, FetchError> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Redirections are followed here, where credentials can be kept back.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("prof/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls(&options.tls)?)
            .build();
        Ok(Client {
            agent: config.new_agent(),
            headers: options.headers.clone(),
            netrc: options.netrc.as_deref().map(Netrc::read).transpose()?.unwrap_or_default(),
            timeout: options.timeout,
            most_bytes: options.most_bytes.unwrap_or(u64::MAX - 1),
        })
    }

    /// Gets what is at an address, which may record for a time before it answers.
    pub(super) fn get(
        &self,
        url: &Uri,
        recording: Option<Duration>,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Answer, FetchError> {
        tell(Event::Recording(recording.unwrap_or_default()));
        self.send(url, &Method::Get, recording, tell)
    }

    /// Posts a request to an address.
    pub(super) fn post(
        &self,
        url: &Uri,
        content_type: &str,
        body: &[u8],
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Answer, FetchError> {
        tell(Event::Recording(Duration::ZERO));
        self.send(url, &Method::Post { content_type, body }, None, tell)
    }

    fn send(
        &self,
        first: &Uri,
        method: &Method<'_>,
        recording: Option<Duration>,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Answer, FetchError> {
        let timeout = self.timeout.unwrap_or(recording.unwrap_or_default() + PATIENCE);
        let mut url = first.clone();
        for _ in 0..=MOST_REDIRECTIONS {
            let response = self.request(&url, first, method, timeout)?;
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let Some(to) = to.filter(|_| response.status().is_redirection()) else {
                return self.answer(response, timeout, tell);
            };
            let next = join(&url, to)?;
            if url.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
                let message = format!("{url} redirects to {next}, which is not encrypted");
                return Err(FetchError::new(message).hint("name that address if you trust the network"));
            }
            url = next;
        }
        let message = format!("more than {MOST_REDIRECTIONS} redirections, the last one to {url}");
        Err(FetchError::new(message))
    }

    /// Sends one request. Credentials go only to the server that was named.
    fn request(
        &self,
        url: &Uri,
        named: &Uri,
        method: &Method<'_>,
        timeout: Duration,
    ) -> Result<ureq::http::Response<Body>, FetchError> {
        let mut headers: Vec<(String, String)> = Vec::new();
        let basic = |user: &str| ("Authorization".to_string(), format!("Basic {}", STANDARD.encode(user)));
        if server_of(url) == server_of(named) {
            headers.extend(self.headers.iter().cloned());
            headers.extend(user_of(named).map(|user| basic(&user)));
        }
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
            headers.extend(self.netrc.user(url.host().unwrap_or_default()).map(|user| basic(&user)));
        }
        let plain = super::address::without_user(url);
        let sent = match method {
            Method::Get => {
                let request = headers
                    .iter()
                    .fold(self.agent.get(&plain), |request, (name, value)| request.header(name, value));
                request.config().timeout_global(Some(timeout)).build().call()
            }
            Method::Post { content_type, body } => {
                let request = self.agent.post(&plain).header(CONTENT_TYPE, *content_type);
                let request =
                    headers.iter().fold(request, |request, (name, value)| request.header(name, value));
                request.config().timeout_global(Some(timeout)).build().send(*body)
            }
        };
        sent.map_err(|error| not_sent(&error, &plain, timeout))
    }

    /// Reads an answer, which must be as long as the server says, and not too long.
    fn answer(
        &self,
        response: ureq::http::Response<Body>,
        timeout: Duration,
        tell: &(dyn Fn(Event) + Sync),
    ) -> Result<Answer, FetchError> {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let content_type = header(CONTENT_TYPE).unwrap_or_default().to_string();
        let is_chunked = header(TRANSFER_ENCODING).is_some();
        let announced: Option<u64> =
            header(CONTENT_LENGTH).filter(|_| !is_chunked).and_then(|length| length.parse().ok());
        let mut reader = response.into_body().into_reader().take(self.most_bytes + 1);
        let mut body = Vec::new();
        let mut block = vec![0; 64 * 1024];
        loop {
            let count = match reader.read(&mut block) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Err(not_read(&error, body.len(), timeout)),
            };
            body.extend_from_slice(&block[..count]);
            tell(Event::Bytes(count as u64));
        }
        if body.len() as u64 > self.most_bytes {
            let message = format!("the answer is larger than the memory limit of {} bytes", self.most_bytes);
            return Err(FetchError::new(message).hint("raise the limit with --max-memory"));
        }
        if announced.is_some_and(|announced| announced != body.len() as u64) {
            let message =
                format!("the answer ends after {} of {} bytes", body.len(), announced.unwrap_or_default());
            return Err(FetchError::new(message).hint(CLOSED));
        }
        Ok(Answer { status, content_type, body })
    }
}

impl Answer {
    /// The profile that a server answered with. Fails if it is an error, or a page for people.
    pub(super) fn profile(self) -> Result<Vec<u8>, FetchError> {
        let hint = "if it is a page to log in, send credentials with --header 'Authorization: …' or a .netrc file; if it lists \
                    profiles, name one of them";
        self.content("a profile", hint)
    }

    /// The debug information that a server answered with. Fails like [`Answer::profile`].
    pub(super) fn debug_information(self) -> Result<Vec<u8>, FetchError> {
        self.content("debug information", "check the address of the server")
    }

    fn content(self, wanted: &str, hint: &str) -> Result<Vec<u8>, FetchError> {
        if !self.is_success() {
            return Err(self.refusal());
        }
        if self.is_page() {
            let message = format!("the server answers with a web page, not with {wanted}");
            return Err(FetchError::new(message).hint(hint));
        }
        if self.body.is_empty() {
            return Err(FetchError::new("the server answers with nothing"));
        }
        Ok(self.body)
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether the server wants credentials.
    pub(super) fn is_forbidden(&self) -> bool {
        self.status == 401 || self.status == 403
    }

    /// Whether it is a page for people.
    pub(super) fn is_page(&self) -> bool {
        let start = String::from_utf8_lossy(&self.body[..self.body.len().min(256)]).to_ascii_lowercase();
        let start = start.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        start.starts_with("<!doctype html") || start.starts_with("<html")
    }

    /// The text of an error: the message in it if it is JSON, as databases answer.
    fn message(&self) -> String {
        let start = &self.body[..self.body.len().min(2000)];
        let json: Option<serde_json::Value> = serde_json::from_slice(start).ok();
        let message = json.as_ref().and_then(|json| json.get("message").or_else(|| json.get("error")));
        match message.and_then(serde_json::Value::as_str) {
            Some(message) => message.to_string(),
            None => String::from_utf8_lossy(start).into_owned(),
        }
    }

    /// The error that the server answered with: its status, and the first line of its text.
    pub(super) fn refusal(&self) -> FetchError {
        let reason = ureq::http::StatusCode::from_u16(self.status).ok();
        let reason = reason.and_then(|status| status.canonical_reason()).unwrap_or_default();
        let text = self.message();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let said = if self.is_page() || line.is_empty() || line.eq_ignore_ascii_case(reason) {
            String::new()
        } else {
            format!(": {line}")
        };
        let error = FetchError::new(format!("the server answers {} {reason}{said}", self.status));
        match self.status {
            401 | 403 => error.hint("send credentials with --header 'Authorization: …' or a .netrc file"),
            404 => error.hint("check the path of the address"),
            500.. if line.contains("already in use") => {
                error.hint("the program records a profile for someone else; try again when that is done")
            }
            500.. => error.hint("the server failed; its own log may say why"),
            _ => error,
        }
    }
}

/// A field of an answer in JSON. A list that is empty may be left out.
pub(super) fn field<T: DeserializeOwned + Default>(answer: &Answer, name: &str) -> Option<T> {
    let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&answer.body).ok()?;
    match object.remove(name) {
        Some(value) => serde_json::from_value(value).ok(),
        None => object.is_empty().then(T::default),
    }
}

/// A list in an answer in JSON; empty if the server refuses to say.
pub(super) fn list(answer: &Answer, name: &str) -> Vec<String> {
    if answer.is_success() { field(answer, name).unwrap_or_default() } else { Vec::new() }
}

fn not_sent(error: &ureq::Error, url: &Uri, timeout: Duration) -> FetchError {
    match error {
        ureq::Error::Timeout(_) => too_slow(timeout),
        ureq::Error::HostNotFound => {
            FetchError::new(format!("no host named {}", url.host().unwrap_or_default()))
        }
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            FetchError::new("connection refused")
                .hint(format!("is the server running at {}?", server_of(url)))
        }
        ureq::Error::Io(error)
            if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) =>
        {
            FetchError::new("the server closed the connection without an answer").hint(NO_ANSWER)
        }
        ureq::Error::Io(error) => not_connected(error),
        error => not_connected(error),
    }
}

/// Tells apart, by their words, errors that have no kind of their own.
fn not_connected(error: &dyn std::fmt::Display) -> FetchError {
    let text = error.to_string();
    if text.contains("CaUsedAsEndEntity") {
        // What `openssl req -x509` makes: a certificate that is its own authority.
        return FetchError::new("the certificate of the server is that of an authority")
            .hint("--tls-insecure trusts any server; a certificate that such an authority signs can be trusted with --tls-ca");
    }
    if text.contains("InvalidContentType") {
        return FetchError::new("the server does not encrypt its answer")
            .hint("try the address with http://");
    }
    if text.contains("CertificateRequired") {
        return FetchError::new("the server wants a certificate of its clients")
            .hint("--tls-cert FILE sends one, with the key that is in it or in --tls-key FILE");
    }
    let is_distrust = text.contains("certificate");
    let error = FetchError::new(text.trim_start_matches("io: "));
    if is_distrust {
        return error
            .hint("--tls-ca FILE trusts the authority of a certificate; --tls-insecure trusts any server");
    }
    error
}

fn not_read(error: &io::Error, count: usize, timeout: Duration) -> FetchError {
    let is_slow = error.kind() == io::ErrorKind::TimedOut
        || error
            .get_ref()
            .and_then(|cause| cause.downcast_ref())
            .is_some_and(|cause| matches!(cause, ureq::Error::Timeout(_)));
    if is_slow {
        return too_slow(timeout);
    }
    // Its words, "Peer disconnected", say the same again.
    let why = if error.kind() == io::ErrorKind::UnexpectedEof { String::new() } else { format!(": {error}") };
    FetchError::new(format!("the connection breaks after {count} bytes{why}")).hint(CLOSED)
}

fn too_slow(timeout: Duration) -> FetchError {
    FetchError::new(format!("the server does not finish within {} s", timeout.as_secs_f64()))
        .hint("--timeout SECONDS waits longer")
}

/// The certificates of both sides.
fn tls(tls: &Tls) -> Result<TlsConfig, FetchError> {
    let mut config = TlsConfig::builder().disable_verification(tls.insecure);
    if let Some(path) = &tls.ca {
        let certificates = certificates(path)?;
        config = config.root_certs(RootCerts::Specific(Arc::new(certificates)));
    }
    if let Some(path) = &tls.cert {
        let key_path = tls.key.as_deref().unwrap_or(path);
        let (certificates, key) = (certificates(path)?, private_key(key_path)?);
        check_own(path, &certificates, key_path, &key)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&certificates, key)));
    }
    Ok(config.build())
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, FetchError> {
    let certificates: Vec<_> = items(path)?
        .into_iter()
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(FetchError::new(format!("{}: no certificate in PEM format", path.display())));
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKey<'static>, FetchError> {
    let key = items(path)?.into_iter().find_map(|item| match item {
        PemItem::PrivateKey(key) => Some(key),
        _ => None,
    });
    key.ok_or_else(|| {
        FetchError::new(format!("{}: no private key in PEM format", path.display()))
            .hint("name it with --tls-key")
    })
}

/// Whether our certificate can be sent, and the key is its own, which ureq takes for granted.
fn check_own(
    path: &Path,
    certificates: &[Certificate<'_>],
    key_path: &Path,
    key: &PrivateKey<'_>,
) -> Result<(), FetchError> {
    let chain = certificates.iter().map(|certificate| CertificateDer::from(certificate.der()).into_owned());
    let checked = PrivateKeyDer::try_from(key.der())
        .map_err(|error| rustls::Error::General(error.to_string()))
        .and_then(|key| {
            CertifiedKey::from_der(
                chain.collect(),
                key.clone_key(),
                &rustls::crypto::ring::default_provider(),
            )
        });
    match checked {
        Ok(_) => Ok(()),
        Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            let message = format!("{}: the key is not that of {}", key_path.display(), path.display());
            Err(FetchError::new(message).hint("name the key of the certificate with --tls-key"))
        }
        // For example one of version 1, as `openssl x509 -req` makes without extensions.
        Err(rustls::Error::InvalidCertificate(error)) => {
            let message = format!("{}: the certificate cannot be used: {error:?}", path.display());
            Err(FetchError::new(message).hint("a certificate of X.509 version 3 is needed, in PEM format"))
        }
        Err(error) => Err(FetchError::new(format!("{}: {error}", key_path.display()))),
    }
}

fn items(path: &Path) -> Result<Vec<PemItem<'static>>, FetchError> {
    let wrong = |error: &dyn std::fmt::Display| FetchError::new(format!("{}: {error}", path.display()));
    let text = std::fs::read(path).map_err(|error| wrong(&error))?;
    parse_pem(&text).collect::<Result<_, _>>().map_err(|error| wrong(&error))
}
