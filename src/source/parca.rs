//! Parca: profiles of a time range, merged by the server.
//!
//! Requests are those of `parca.query.v1alpha1.QueryService`, as its HTTP gateway takes them
//! (<https://github.com/parca-dev/parca/blob/main/proto/parca/query/v1alpha1/query.proto>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;

use super::FetchError;
use super::address::{Address, Query, below, shown};
use super::client::{Client, field, list};
use super::options::Event;
use crate::report::{ServerInfo, ServerProfile};
use crate::unit::timestamp_seconds;

/// Names of the format pprof, the newest first: it was renamed once.
const FORMATS: [&str; 2] = ["REPORT_TYPE_PPROF", "REPORT_TYPE_PPROF_UNSPECIFIED"];

/// Fetches the profiles of a query, added up.
pub(super) fn fetch(
    client: &Client,
    query: &Query,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<u8>, FetchError> {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let [from, until] = [query.from, query.until].map(|time| encoded(&rfc3339(time)));
    let mut refused = None;
    for format in FORMATS {
        let url = below(
            &query.base,
            &format!(
                "api/profiles/query?mode=MODE_MERGE&merge.query={}&merge.start={from}&merge.end={until}\
                 &report_type={format}",
                encoded(&query.text)
            ),
        )?;
        let answer = client.get(&url, None, tell)?;
        if answer.status != 400 {
            return pprof_in(&answer.profile()?);
        }
        refused = Some(answer.refusal());
    }
    Err(refused.unwrap_or_else(|| FetchError::new("no answer")))
}

/// The types of profiles and the labels that a database has; `None` if it is another server.
pub(super) fn offers(
    client: &Client,
    address: &Address,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Option<ServerInfo>, FetchError> {
    let server = address.database();
    let ask = |path: &str| client.get(&below(&server, &format!("api/profiles/{path}"))?, None, tell);
    let answer = ask("types")?;
    if answer.is_forbidden() {
        return Err(answer.refusal());
    }
    if !answer.is_success() || answer.is_page() {
        return Ok(None);
    }
    let types: Option<Vec<ProfileType>> = field(&answer, "types");
    let Some(types) = types else { return Ok(None) };
    let labels = list(&ask("labels")?, "labelNames");
    let page = |kind: ProfileType| {
        let name = kind.selector();
        let address = format!("{}/?expression_a={name}{{}}&from_a=now-1h&to_a=now", shown(&server));
        ServerProfile { name, address }
    };
    let profiles = types.into_iter().map(page).collect();
    Ok(Some(ServerInfo::new(&address.shown(), "Parca", profiles, labels)))
}

/// `parca.query.v1alpha1.ProfileType`, as JSON. What is empty is left out.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ProfileType {
    name: String,
    sample_type: String,
    sample_unit: String,
    period_type: String,
    period_unit: String,
    delta: bool,
}

impl ProfileType {
    /// `process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta`
    fn selector(&self) -> String {
        let ProfileType { name, sample_type, sample_unit, period_type, period_unit, delta } = self;
        let delta = if *delta { ":delta" } else { "" };
        format!("{name}:{sample_type}:{sample_unit}:{period_type}:{period_unit}{delta}")
    }
}

/// Milliseconds since 1970 as `2024-02-26T18:40:37Z`.
fn rfc3339(milliseconds: i64) -> String {
    timestamp_seconds(milliseconds.saturating_mul(1_000_000)).replacen(' ', "T", 1).replace(" UTC", "Z")
}

/// The profile in the answer `{"pprof": "H4sI…"}`.
fn pprof_in(answer: &[u8]) -> Result<Vec<u8>, FetchError> {
    let value: Value = serde_json::from_slice(answer)
        .map_err(|error| FetchError::new(format!("not an answer of Parca: {error}")))?;
    let text = value.get("pprof").and_then(Value::as_str).unwrap_or_default();
    let profile = STANDARD.decode(text).map_err(|error| {
        FetchError::new(format!("not an answer of Parca: the profile is not base64: {error}"))
    })?;
    if profile.is_empty() {
        return Err(FetchError::new("no profile matches in this time range")
            .hint("check the expression and the time range of the address"));
    }
    Ok(profile)
}
