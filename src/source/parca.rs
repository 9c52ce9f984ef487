//! Parca: profiles of a time range, merged by the server.
//!
//! Requests are those of `parca.query.v1alpha1.QueryService`, as its HTTP gateway takes them
//! (<https://github.com/parca-dev/parca/blob/main/proto/parca/query/v1alpha1/query.proto>).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::FetchError;
use super::address::{Query, join};
use super::client::Client;
use super::options::Event;
use crate::unit::timestamp_seconds;

/// Names of the format pprof, the newest first: it was renamed once.
const FORMATS: [&str; 2] = ["REPORT_TYPE_PPROF", "REPORT_TYPE_PPROF_UNSPECIFIED"];

/// Fetches the profiles of a query, added up.
pub(super) fn fetch(
    client: &Client,
    query: &Query,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Vec<u8>, FetchError> {
    let base = query.base.path().trim_end_matches('/');
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let [from, until] = [query.from, query.until].map(|time| encoded(&rfc3339(time)));
    let mut refused = None;
    for format in FORMATS {
        let url = join(
            &query.base,
            &format!(
                "{base}/api/profiles/query?mode=MODE_MERGE&merge.query={}&merge.start={from}&merge.end={until}\
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
