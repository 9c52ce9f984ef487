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
//! The numbers of the fields changed twice without notice; [`versions`] tells the versions apart.

mod attributes;
mod dictionary;
mod frames;
mod json;
mod message;
mod numbering;
mod read;
mod sample;
mod shape;
mod sniff;
mod versions;
mod waits;
mod write;

use crate::format::Format;
use crate::format::write::{Part, Writer, no_second_metric};
use crate::profile::LoadOptions;

/// The entry in the list of readable formats.
pub(super) static OTLP: Format =
    Format { name: sniff::NAME, title: "OTLP profiles", sniff: sniff::sniff, read: read::read };

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: sniff::NAME,
    title: "OTLP profiles",
    endings: &[".otlp"],
    packed_endings: &[],
    packed: false,
    holds: &[
        Part::Metrics,
        Part::MetricNames,
        Part::MetricUnits,
        Part::Labels,
        Part::Threads,
        Part::Processes,
        Part::Files,
        Part::Lines,
        Part::Addresses,
        Part::Inlining,
        Part::Recording,
        Part::Times,
        Part::Negatives,
    ],
    holds_calls: false,
    second_metric: no_second_metric,
    read_as: &[],
    needs: LoadOptions::ALL,
    write: write::write,
};
