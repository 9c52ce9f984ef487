//! OTLP: the profiles of OpenTelemetry
//! (<https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto/profiles>).
//!
//! A file is one message: `ProfilesData`, or the request with which it is sent, which has the same fields. Files of several
//! messages have the length of each before it, in four bytes, the most significant first; JSON has one object after
//! another.
//!
//! ```text
//! ProfilesData
//!   resource_profiles   what was recorded (process.pid = 8374), and its profiles
//!     profiles          one metric, and samples: stack, values, times, attributes
//!   dictionary          tables that samples refer to: stacks, locations, functions, mappings, strings, attributes
//! ```
//!
//! The numbers of the fields changed twice without notice; [`numbering`] tells the versions apart.

mod attributes;
mod dictionary;
mod json;
mod numbering;
mod read;
mod sample;
mod shape;
mod write;

use crate::format::json as text;
use crate::format::write::{Part, Writer, no_second_metric};
use crate::format::{Confidence, Format};
use crate::profile::LoadOptions;

/// The entry in the list of readable formats.
pub(super) static OTLP: Format = Format { name: NAME, title: "OTLP profiles", sniff, read: read::read };

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: NAME,
    title: "OTLP profiles",
    endings: &[".otlp"],
    packed_endings: &[],
    packed: false,
    holds: &[
        Part::Metrics,
        Part::MetricNames,
        Part::Labels,
        Part::Threads,
        Part::Processes,
        Part::Files,
        Part::Lines,
        Part::Addresses,
        Part::Inlining,
        Part::Recording,
        Part::Negatives,
    ],
    holds_calls: false,
    second_metric: no_second_metric,
    read_as: &[],
    needs: LoadOptions::ALL,
    write: write::write,
};

const NAME: &str = "otlp";

fn sniff(head: &[u8]) -> Confidence {
    if is_json(head) {
        return Confidence::Certain;
    }
    let message = match framed(head) {
        Some(length) => &head[LENGTH..head.len().min(LENGTH + length)],
        None => head,
    };
    // Protobuf has no magic number.
    if shape::is_message(message) { Confidence::Likely } else { Confidence::No }
}

fn is_json(head: &[u8]) -> bool {
    let keys = text::keys(head);
    let has = |names: [&str; 2]| names.iter().any(|name| text::has(&keys, &[name]));
    has(["resourceProfiles", "resource_profiles"])
        || (text::has(&keys, &["dictionary"])
            && ["\"nameStrindex\"", "\"name_strindex\"", "\"stringTable\"", "\"string_table\""]
                .iter()
                .any(|key| text::mentions(head, key)))
}

/// The size of the length before each of several messages.
const LENGTH: usize = 4;

/// The length of the first of several messages. A single message does not start with a 0, and no message is longer than 16 MiB
/// where they are sent one by one.
fn framed(head: &[u8]) -> Option<usize> {
    let length = head.first_chunk::<LENGTH>().filter(|bytes| bytes[0] == 0)?;
    let length = u32::from_be_bytes(*length) as usize;
    (length > 0).then_some(length)
}
