//! What an address means: a profile, a server of profiles, or a page of Pyroscope or Parca.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use ureq::http::Uri;
use ureq::http::uri::{PathAndQuery, Scheme};

use super::FetchError;
use crate::unit::{parse_rfc3339, saturated};

/// Pages of databases, and their older interface, whose addresses begin with that of the database.
const PAGES: [&str; 9] = [
    "/pyroscope/render",
    "/render",
    "/explore",
    "/explorer",
    "/single",
    "/tag-explorer",
    "/comparison",
    "/comparison-diff",
    "/profiles",
];

/// Where programs serve their profiles.
const PROFILES: &str = "/debug/pprof/";

/// ASCII characters that have no place in an address.
const NO_PLACE: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'{')
    .add(b'}')
    .add(b'|')
    .add(b'\\')
    .add(b'^')
    .add(b'`');

/// An address, as it was typed.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) name: String,
    uri: Uri,
}

/// What to ask which server for.
#[derive(Debug)]
pub(super) enum Target {
    /// A profile, which the server records first for some time.
    Plain {
        url: Uri,
        recording: Option<Duration>,
    },
    /// A program that serves Go's profiles; this is their list.
    GoServer {
        url: Uri,
    },
    Pyroscope(Query),
    Parca(Query),
}

/// Profiles of a time range in a database.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// The address of the database.
    pub(super) base: Uri,
    /// The type of profile, and labels to select by, in the language of the database.
    pub(super) text: String,
    /// Both ends, in milliseconds since 1970.
    pub(super) from: i64,
    pub(super) until: i64,
}

impl Address {
    pub(super) fn parse(name: &str) -> Result<Self, FetchError> {
        // What browsers show and copy may hold characters that have no place in an address.
        let escaped = utf8_percent_encode(name, NO_PLACE).to_string();
        let address = escaped.split('#').next().unwrap_or_default();
        let uri: Uri =
            address.parse().map_err(|error| FetchError::new(format!("not a valid address: {error}")))?;
        if uri.host().is_none_or(str::is_empty) {
            return Err(FetchError::new("not a valid address: it names no host"));
        }
        let port =
            uri.authority().and_then(|authority| authority.as_str().rsplit_once(':')).map(|(_, port)| port);
        if uri.port().is_none() && port.is_some_and(|port| !port.contains([']', '@'])) {
            return Err(FetchError::new("not a valid address: its port is not a number"));
        }
        Ok(Address { name: name.to_string(), uri })
    }

    /// The scheme, host and port.
    pub(super) fn server(&self) -> String {
        server_of(&self.uri)
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// The address without secrets.
    pub(super) fn shown(&self) -> String {
        super::without_passwords(&self.name)
    }

    /// The host and port, for the name of a file.
    pub(super) fn host(&self) -> String {
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        self.uri.port_u16().map_or_else(|| host.to_string(), |port| format!("{host}-{port}"))
    }

    /// What the address asks for, where servers record for `seconds` if they can.
    pub(super) fn target(&self, seconds: Option<u64>) -> Result<Target, FetchError> {
        let database = match self.parca()? {
            None => self.pyroscope()?.map(Target::Pyroscope),
            parca => parca.map(Target::Parca),
        };
        if let Some(database) = database {
            if seconds.is_some() {
                let error =
                    FetchError::new("--seconds does not apply to a database, which records all the time");
                return Err(error.hint("the address says which time range, such as &from=now-1h&until=now"));
            }
            return Ok(database);
        }
        let path = self.uri.path();
        if ["", "/"].contains(&path) || path.trim_end_matches('/').ends_with(PROFILES.trim_end_matches('/')) {
            let list = if path.len() > 1 {
                format!("{}/", path.trim_end_matches('/'))
            } else {
                PROFILES.to_string()
            };
            return Ok(Target::GoServer { url: with_path(&self.uri, &list)? });
        }
        let asked = self.parameter("seconds").and_then(|text| text.parse::<f64>().ok());
        let url = match seconds.filter(|_| asked.is_none()) {
            Some(seconds) => with_parameter(&self.uri, "seconds", &seconds.to_string())?,
            None => self.uri.clone(),
        };
        // Go records as long as usual if it is asked for no time at all.
        let known = asked.filter(|&asked| asked > 0.0).or(seconds.map(|seconds| seconds as f64));
        let known = known.or_else(|| usual_seconds(path));
        let recording = known.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Ok(Target::Plain { url, recording })
    }

    /// The query of a page of Parca.
    fn parca(&self) -> Result<Option<Query>, FetchError> {
        let Some(text) = self.parameter("expression_a").or_else(|| self.parameter("expression")) else {
            return Ok(None);
        };
        if self.parameter("expression_b").is_some_and(|other| !other.is_empty()) {
            return Err(two_selections());
        }
        let of_side = |name: &str| self.parameter(&format!("{name}_a")).or_else(|| self.parameter(name));
        let (from, until) = range(of_side("from").as_deref(), of_side("to").as_deref())?;
        Ok(Some(Query { base: self.database(), text, from, until }))
    }

    /// The query of a page of Pyroscope, or of Grafana's pages for profiles.
    fn pyroscope(&self) -> Result<Option<Query>, FetchError> {
        if ["leftQuery", "rightQuery"].iter().any(|name| self.parameter(name).is_some())
            || self.parameter("explorationType").is_some_and(|kind| kind.starts_with("diff"))
        {
            return Err(two_selections());
        }
        let text = match self.parameter("query").filter(|_| !is_go_profile(&self.uri)) {
            Some(text) => text,
            None => match self.parameter("var-profileMetricId") {
                Some(kind) => kind + &self.grafana_labels()?,
                None => return Ok(None),
            },
        };
        let (from, until) = self.range()?;
        let base = match self.uri.path().split_once("/a/grafana-pyroscope-app/") {
            Some((grafana, _)) => self.grafana_source(grafana)?,
            None => self.database(),
        };
        Ok(Some(Query { base, text, from, until }))
    }

    /// The labels that Grafana's page selects: `{service_name="api", region="eu"}`.
    fn grafana_labels(&self) -> Result<String, FetchError> {
        if self.parameter("var-spanSelector").is_some_and(|span| !["", "undefined"].contains(&&*span)) {
            return Err(FetchError::new(
                "the address selects spans of a trace, whose profiles prof cannot fetch",
            )
            .hint("remove var-spanSelector from the address to get all profiles of the service"));
        }
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let service = self.parameter("var-serviceName").filter(|service| !service.is_empty());
        let mut labels: Vec<String> =
            service.iter().map(|service| format!("service_name={}", quoted(service))).collect();
        for filter in self.parameters("var-filters").filter(|filter| !filter.is_empty()) {
            let mut parts = filter.splitn(3, '|').map(|part| part.replace("__gfp__", "|"));
            let (Some(name), Some(operator), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(FetchError::new(format!("not a filter of Grafana: {filter}")));
            };
            if !["=", "!=", "=~", "!~"].contains(&&*operator) {
                return Err(FetchError::new(format!(
                    "the address filters with {operator}, which is not known"
                )));
            }
            labels.push(format!("{name}{operator}{}", quoted(&value)));
        }
        Ok(format!("{{{}}}", labels.join(", ")))
    }

    /// The database behind a page of Grafana, which passes requests on to it.
    fn grafana_source(&self, grafana: &str) -> Result<Uri, FetchError> {
        let Some(source) = self.parameter("var-dataSource").filter(|source| !source.is_empty()) else {
            return Err(FetchError::new("the address does not say which data source the page shows").hint(
                "choose a data source on the page, and copy the address again (with &var-dataSource=…)",
            ));
        };
        let source = utf8_percent_encode(&source, NON_ALPHANUMERIC);
        with_path(&self.uri, &format!("{grafana}/api/datasources/proxy/uid/{source}"))
    }

    /// The server of a database whose page this is: without query, the page itself, and the last slash.
    pub(super) fn database(&self) -> Uri {
        let mut path = self.uri.path().trim_end_matches('/');
        for page in PAGES {
            path = path.strip_suffix(page).unwrap_or(path);
        }
        with_path(&self.uri, if path.is_empty() { "/" } else { path }).unwrap_or_else(|_| self.uri.clone())
    }

    /// The time range in the address: the last hour if there is none.
    pub(super) fn range(&self) -> Result<(i64, i64), FetchError> {
        let until = self.parameter("until").or_else(|| self.parameter("to"));
        range(self.parameter("from").as_deref(), until.as_deref())
    }

    /// Whether the address is that of a server, and not of a profile.
    pub(super) fn is_server(&self) -> bool {
        match self.target(None) {
            Ok(Target::GoServer { .. }) => true,
            Ok(Target::Plain { url, .. }) => url.path().ends_with('/'),
            _ => false,
        }
    }

    /// Whether it is that of the page that lists Go's profiles.
    pub(super) fn is_go_list(&self) -> bool {
        self.uri.path().len() > 1 && matches!(self.target(None), Ok(Target::GoServer { .. }))
    }

    /// The value of a parameter in the query.
    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters(name).next()
    }

    /// The values of a parameter in the query, which may have several.
    fn parameters(&self, name: &str) -> impl Iterator<Item = String> {
        let decoded =
            |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        let pairs = self.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(move |(key, _)| decoded(key) == name).map(move |(_, value)| decoded(value))
    }
}

fn two_selections() -> FetchError {
    FetchError::new("the address compares two selections")
        .hint("prof diff URL URL compares the profiles of two addresses")
}

/// Both ends of a time range, in milliseconds since 1970. Both are relative to the same now, so that an hour is an hour.
fn range(from: Option<&str>, until: Option<&str>) -> Result<(i64, i64), FetchError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    let now = saturated(now);
    let from = time(from.unwrap_or("now-1h"), now)?;
    let until = time(until.unwrap_or("now"), now)?;
    if from >= until {
        return Err(FetchError::new("the time range of the address is empty"));
    }
    Ok((from, until))
}

impl Target {
    /// What is fetched, for the name of a file.
    pub(super) fn kind(&self) -> String {
        match self {
            Target::Plain { url, .. } => {
                let last = url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                last.split('.').next().unwrap_or_default().to_string()
            }
            Target::GoServer { .. } => "profile".to_string(),
            Target::Pyroscope(query) | Target::Parca(query) => {
                query.text.split('{').next().unwrap_or_default().to_string()
            }
        }
    }
}

/// Whether an address names one of Go's profiles.
pub(super) fn is_go_profile(url: &Uri) -> bool {
    url.path()
        .rsplit_once('/')
        .is_some_and(|(folder, name)| !name.is_empty() && format!("{folder}/").ends_with(PROFILES))
}

/// How long a profile is recorded if nobody says how long.
fn usual_seconds(path: &str) -> Option<f64> {
    path.ends_with("/debug/pprof/profile").then_some(30.0)
}

/// The scheme, host and port of an address: who is asked.
pub(super) fn server_of(uri: &Uri) -> String {
    let scheme = uri.scheme_str().unwrap_or_default();
    let host = uri.host().unwrap_or_default().to_ascii_lowercase();
    let usual = if scheme == "https" { 443 } else { 80 };
    format!("{scheme}://{host}:{}", uri.port_u16().unwrap_or(usual))
}

/// The user name and password in an address.
pub(super) fn user_of(uri: &Uri) -> Option<String> {
    let (user, _) = uri.authority()?.as_str().rsplit_once('@')?;
    Some(percent_decode_str(user).decode_utf8_lossy().into_owned())
}

/// The address without user name and password.
pub(super) fn without_user(uri: &Uri) -> Uri {
    let Some((_, host)) = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')) else {
        return uri.clone();
    };
    let mut parts = uri.clone().into_parts();
    parts.authority = host.parse().ok();
    Uri::from_parts(parts).unwrap_or_else(|_| uri.clone())
}

/// The address of a server as users type it: without its user name and password, and without the last slash.
pub(super) fn shown(server: &Uri) -> String {
    without_user(server).to_string().trim_end_matches('/').to_string()
}

/// The address that another one refers to: `/heap`, `heap`, or a whole address.
pub(super) fn join(uri: &Uri, reference: &str) -> Result<Uri, FetchError> {
    let wrong = || FetchError::new(format!("the server redirects to {reference}, which is not an address"));
    if reference.contains("://") {
        let next: Uri = reference.parse().map_err(|_| wrong())?;
        let is_known = next.scheme() == Some(&Scheme::HTTP) || next.scheme() == Some(&Scheme::HTTPS);
        return if is_known && next.host().is_some() { Ok(next) } else { Err(wrong()) };
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{}://{rest}", uri.scheme_str().unwrap_or("http")).parse().map_err(|_| wrong());
    }
    let folder = uri.path().rsplit_once('/').map_or("", |(folder, _)| folder);
    let path =
        if reference.starts_with('/') { reference.to_string() } else { format!("{folder}/{reference}") };
    with_path(uri, &path)
}

/// An address below the path at which a server answers: `api/labels` of `http://host/parca/`.
pub(super) fn below(server: &Uri, path: &str) -> Result<Uri, FetchError> {
    join(server, &format!("{}/{path}", server.path().trim_end_matches('/')))
}

/// The same server with another path and query.
pub(super) fn with_path(uri: &Uri, path: &str) -> Result<Uri, FetchError> {
    let mut parts = uri.clone().into_parts();
    let wrong = || FetchError::new(format!("{path} is not a valid path of an address"));
    parts.path_and_query = Some(PathAndQuery::try_from(path).map_err(|_| wrong())?);
    Uri::from_parts(parts).map_err(|_| wrong())
}

/// The address with another parameter.
pub(super) fn with_parameter(uri: &Uri, name: &str, value: &str) -> Result<Uri, FetchError> {
    let mark = if uri.query().is_some() { '&' } else { '?' };
    let path = uri.path_and_query().map_or("/", PathAndQuery::as_str);
    with_path(uri, &format!("{path}{mark}{name}={value}"))
}

/// A time as databases of profiles write it, in milliseconds since 1970: `now-1h`, a number of seconds or milliseconds,
/// or `2024-03-13T18:00:00.000Z`.
fn time(text: &str, now: i64) -> Result<i64, FetchError> {
    let wrong = || {
        FetchError::new(format!("{text} is not a time")).hint("use now, now-1h, or milliseconds since 1970")
    };
    if let Some(offset) = text.strip_prefix("now") {
        let Some(offset) = offset.strip_prefix('-') else {
            return if offset.is_empty() { Ok(now) } else { Err(wrong()) };
        };
        let unit_start = offset.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (count, unit) = offset.split_at(unit_start);
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            _ => return Err(wrong()),
        };
        let count: i64 = count.parse().map_err(|_| wrong())?;
        return count
            .checked_mul(seconds * 1000)
            .and_then(|offset| now.checked_sub(offset))
            .ok_or_else(wrong);
    }
    if let Ok(nanoseconds) = parse_rfc3339(text) {
        return Ok(nanoseconds / 1_000_000);
    }
    let number: i64 = text.parse().map_err(|_| wrong())?;
    // Seconds have fewer digits: 10^11 seconds are in the year 5138.
    if number.abs() < 100_000_000_000 { number.checked_mul(1000).ok_or_else(wrong) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str, seconds: Option<u64>) -> Target {
        Address::parse(name).unwrap().target(seconds).unwrap()
    }

    #[test]
    fn profiles_are_asked_for_as_they_are_named() {
        for (name, seconds, asked, recording) in [
            ("http://a:6060/debug/pprof/profile", None, "/debug/pprof/profile", Some(30)),
            ("http://a/debug/pprof/profile", Some(5), "/debug/pprof/profile?seconds=5", Some(5)),
            ("http://a/debug/pprof/profile?seconds=7", Some(5), "/debug/pprof/profile?seconds=7", Some(7)),
            ("http://a/debug/pprof/heap?gc=1", Some(5), "/debug/pprof/heap?gc=1&seconds=5", Some(5)),
            ("http://a/debug/pprof/profile?seconds=0", None, "/debug/pprof/profile?seconds=0", Some(30)),
            ("http://a/debug/pprof/heap", None, "/debug/pprof/heap", None),
            ("http://a/builds/12/cpu.pb.gz", None, "/builds/12/cpu.pb.gz", None),
        ] {
            let Target::Plain { url, recording: found } = target(name, seconds) else { panic!("{name}") };
            assert_eq!(url.path_and_query().unwrap().as_str(), asked, "{name}");
            assert_eq!(found.map(|time| time.as_secs()), recording, "{name}");
        }
    }

    #[test]
    fn a_server_alone_is_asked_what_it_offers() {
        for (name, list) in [
            ("http://a:6060", "http://a:6060/debug/pprof/"),
            ("http://a:6060/", "http://a:6060/debug/pprof/"),
            ("http://a/debug/pprof", "http://a/debug/pprof/"),
            ("http://a/admin/debug/pprof/", "http://a/admin/debug/pprof/"),
        ] {
            let Target::GoServer { url } = target(name, None) else { panic!("{name}") };
            assert_eq!(url.to_string(), list);
        }
    }

    #[test]
    fn pages_of_databases_are_queries() {
        let page = "http://a:4040/?query=process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}&from=1700000000&until=1700000600000";
        let Target::Pyroscope(query) = target(page, None) else { panic!("{page}") };
        assert_eq!(query.text, "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"api\"}");
        assert_eq!((query.from, query.until), (1_700_000_000_000, 1_700_000_600_000));
        assert_eq!(query.base.to_string(), "http://a:4040/");

        let page = "http://a:7070/?expression_a=memory%3Ainuse_space%3Abytes%3Aspace%3Abytes%7Bjob%3D%22x%22%7D&time_selection_a=relative:minute|15&from_a=1700000000000&to_a=1700000600000";
        let Target::Parca(query) = target(page, None) else { panic!("{page}") };
        assert_eq!(query.text, "memory:inuse_space:bytes:space:bytes{job=\"x\"}");
        assert_eq!((query.from, query.until), (1_700_000_000_000, 1_700_000_600_000));
        assert!(Address::parse(page).unwrap().target(Some(5)).unwrap_err().message.contains("--seconds"));
    }

    #[test]
    fn databases_are_where_their_pages_are() {
        for (page, base) in [
            ("http://a:4040/?query=x", "http://a:4040/"),
            ("http://a:4040/explore?query=x", "http://a:4040/"),
            ("http://a/pyroscope/render?query=x", "http://a/"),
            ("http://a/db/?query=x", "http://a/db"),
            ("http://a/db/render/?query=x", "http://a/db"),
        ] {
            assert_eq!(Address::parse(page).unwrap().database().path(), base.parse::<Uri>().unwrap().path());
        }
    }

    #[test]
    fn times_are_relative_or_absolute() {
        let time = |text| time(text, 1_700_003_600_000);
        assert_eq!(time("now").unwrap(), 1_700_003_600_000);
        assert_eq!(time("now-1h").unwrap(), 1_700_000_000_000);
        let (from, until) = range(None, None).unwrap();
        assert_eq!(until - from, 3_600_000);
        assert_eq!(time("1700000000").unwrap(), 1_700_000_000_000);
        assert_eq!(time("1700000000123").unwrap(), 1_700_000_000_123);
        assert_eq!(time("2023-11-14T22:13:20.500Z").unwrap(), 1_700_000_000_500);
        for wrong in ["", "yesterday", "now-", "now-1y", "now-99999999999999999h", "now+1h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn redirections_are_resolved() {
        let from: Uri = "http://me:pw@a:6060/debug/pprof/heap?gc=1".parse().unwrap();
        for (reference, to) in [
            ("/other", "http://me:pw@a:6060/other"),
            ("allocs?x=1", "http://me:pw@a:6060/debug/pprof/allocs?x=1"),
            ("https://b/heap", "https://b/heap"),
            ("//b/heap", "http://b/heap"),
        ] {
            assert_eq!(join(&from, reference).unwrap().to_string(), to);
        }
        assert!(join(&from, "ftp://b/heap").is_err() && join(&from, "file:///etc/passwd").is_err());
        assert_eq!(without_user(&from).to_string(), "http://a:6060/debug/pprof/heap?gc=1");
        assert_eq!(user_of(&from).unwrap(), "me:pw");
    }

    #[test]
    fn addresses_that_name_nothing_are_refused() {
        for wrong in ["http://", "http:///heap", "http://a:port/heap", "http://[::1"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn profiles_are_told_by_their_path() {
        let is = |text: &str| is_go_profile(&text.parse().unwrap());
        assert!(is("http://a/debug/pprof/heap?gc=1") && is("http://a/x/debug/pprof/profile"));
        assert!(!is("http://a/debug/pprof/") && !is("http://a/heap") && !is("http://a/"));
    }
}
