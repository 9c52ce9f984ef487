//! Pyroscope: profiles of a time range, merged by the server.
//!
//! Requests are those of `querier.v1.QuerierService` (<https://github.com/grafana/pyroscope/blob/main/api/querier/v1/querier.proto>).
//! Servers before version 1.0 have `/render` instead.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use prost::Message;
use serde::Deserialize;
use ureq::http::Uri;

use super::FetchError;
use super::address::{Address, Query, below, shown};
use super::client::{Answer, Client, field, list};
use super::options::Event;
use crate::report::{ServerInfo, ServerProfile};

/// `querier.v1.SelectMergeProfileRequest`; the answer is a pprof profile. Without a limit on its nodes, nothing is left out.
#[derive(Clone, PartialEq, Message)]
struct SelectMergeProfile {
    /// `process_cpu:cpu:nanoseconds:cpu:nanoseconds`
    #[prost(string, tag = "1")]
    profile_type: String,
    /// `{service_name="api"}`
    #[prost(string, tag = "2")]
    label_selector: String,
    /// Milliseconds since 1970.
    #[prost(int64, tag = "3")]
    start: i64,
    #[prost(int64, tag = "4")]
    end: i64,
}

/// Fetches the profiles of a query, added up.
pub(super) fn fetch(
    client: &Client,
    query: &Query,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<u8>, FetchError> {
    let (kind, selector) = split(&query.text);
    let is_typed = kind.split(':').count() >= 5;
    if is_typed {
        let url = below(&query.base, "querier.v1.QuerierService/SelectMergeProfile")?;
        let request = SelectMergeProfile {
            profile_type: kind.to_string(),
            label_selector: selector.to_string(),
            start: query.from,
            end: query.until,
        };
        let answer = client.post(&url, "application/proto", &request.encode_to_vec(), tell)?;
        if answer.status != 404 {
            return merged(answer);
        }
    }
    let encoded = utf8_percent_encode(&query.text, NON_ALPHANUMERIC);
    let range = format!("from={}&until={}", query.from / 1000, query.until / 1000);
    let mut last = None;
    for path in ["pyroscope/render", "render"] {
        let url = below(&query.base, &format!("{path}?query={encoded}&{range}&format=pprof"))?;
        let answer = client.get(&url, None, tell)?;
        if answer.status != 404 {
            return merged(answer);
        }
        last = Some(answer);
    }
    let refused = last.map_or_else(|| FetchError::new("no answer"), |answer| answer.refusal());
    Err(FetchError::new(format!("not a Pyroscope server: {refused}"))
        .hint("check the host and the port of the address"))
}

/// The types of profiles and the labels that a database has in the time range of an address; `None` if it is another server.
pub(super) fn offers(
    client: &Client,
    address: &Address,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Option<ServerInfo>, FetchError> {
    let server = address.database();
    let (from, until) = address.range()?;
    let request = format!("{{\"start\":{from},\"end\":{until}}}");
    let ask = |method: &str| {
        let url = below(&server, &format!("querier.v1.QuerierService/{method}"))?;
        client.post(&url, "application/json", request.as_bytes(), tell)
    };
    let answer = ask("ProfileTypes")?;
    if answer.is_forbidden() {
        return Err(answer.refusal());
    }
    if !answer.is_success() || answer.is_page() {
        return old_offers(client, address, tell);
    }
    let types: Option<Vec<ProfileType>> = field(&answer, "profileTypes");
    let Some(types) = types else { return Ok(None) };
    let labels = list(&ask("LabelNames")?, "names");
    let profiles = types.into_iter().map(|kind| page(&server, kind.id)).collect();
    Ok(Some(ServerInfo::new(&address.shown(), "Pyroscope", profiles, labels)))
}

/// The same for a server before version 1.0, whose profiles have the name of a program.
fn old_offers(
    client: &Client,
    address: &Address,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Option<ServerInfo>, FetchError> {
    let server = address.database();
    let answer = client.get(&below(&server, "label-values?label=__name__")?, None, tell)?;
    let names: Option<Vec<String>> = serde_json::from_slice(&answer.body).ok();
    let Some(names) = names.filter(|_| answer.is_success()) else { return Ok(None) };
    let profiles = names.into_iter().map(|name| page(&server, name)).collect();
    Ok(Some(ServerInfo::new(&address.shown(), "Pyroscope", profiles, Vec::new())))
}

/// `types.v1.ProfileType`, as JSON.
#[derive(Deserialize)]
struct ProfileType {
    #[serde(rename = "ID")]
    id: String,
}

/// A type of profile, with the address of its page.
fn page(server: &Uri, name: String) -> ServerProfile {
    ServerProfile { address: format!("{}/?query={name}{{}}&from=now-1h&until=now", shown(server)), name }
}

/// The profile in an answer. An empty message, or a flame graph for the browser, is none.
fn merged(answer: Answer) -> Result<Vec<u8>, FetchError> {
    if answer.is_success() && answer.body.is_empty() {
        return Err(FetchError::new("no profile matches in this time range")
            .hint("check the labels, and from and until in the address"));
    }
    if answer.content_type.contains("json") && answer.is_success() {
        return Err(FetchError::new(
            "the server sends a flame graph, which lacks functions, instead of a profile",
        )
        .hint("this version of Pyroscope cannot export pprof; export the profile in the browser"));
    }
    answer.profile()
}

/// The type of profile and the selector of labels of a query: `cpu{job="x"}` is `cpu` and `{job="x"}`.
fn split(query: &str) -> (&str, &str) {
    match query.find('{') {
        Some(start) => query.split_at(start),
        None => (query, "{}"),
    }
}
