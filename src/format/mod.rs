//! Reading profiles: finding the format from the content, and one file a format.
//!
//! [`load`] takes compression off, asks every row of [`FORMATS`] how sure it is, and lets the surest
//! read. Names and endings of files are never looked at: real files called `.pb.gz` are not
//! compressed, and `.prof` has five meanings.

mod allocators;
mod austin;
mod bpftrace;
mod callgrind;
mod callgrind_write;
mod chrome_trace;
mod collapsed;
mod collapsed_write;
mod decimals;
mod dhat;
mod error;
mod event_metrics;
mod gecko;
mod ghc_json;
mod hints;
mod inferno;
mod jfr;
mod json;
mod macos_sample;
mod perf_data;
mod perf_script;
mod pprof;
mod pprof_legacy;
mod pstats;
mod source;
mod speedscope;
mod speedscope_write;
mod stackprof;
mod text;
mod threads;
mod v8;
mod wire;
mod write;

pub use error::{LoadError, ParseError, Place};
pub use source::{Inflate, Source, Times};
pub use write::{Part, WRITERS, Writer, writer_for, writer_named};

use crate::profile::{LoadOptions, Profile, ProfileBuilder};

/// A format that can be read.
pub struct Format {
    /// Name on the command line and in errors, such as `pprof`.
    pub name: &'static str,
    /// Name in prose, such as `pprof protobuf`.
    pub title: &'static str,
    /// How sure the first bytes of an input make us that it is this format.
    pub sniff: fn(head: &[u8]) -> Confidence,
    /// Reads an input.
    pub read: fn(&mut Source, LoadOptions) -> Result<Profile, LoadError>,
}

/// How sure the first bytes of an input make us of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is something else.
    No,
    /// Nothing speaks against it.
    Maybe,
    /// Much speaks for it.
    Likely,
    /// It has the format's magic number or keys.
    Certain,
}

impl Confidence {
    /// The word for it in reports.
    fn word(self) -> &'static str {
        match self {
            Confidence::No => "no",
            Confidence::Maybe => "maybe",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// All formats, the more telling first: of equally sure ones the first wins.
#[rustfmt::skip] // One row a format.
pub static FORMATS: &[&Format] = &[
    &jfr::JFR,
    &perf_data::PERF_DATA,
    &v8::cpuprofile::CPUPROFILE,
    &v8::heapprofile::HEAPPROFILE,
    &gecko::GECKO,
    &speedscope::SPEEDSCOPE,
    &chrome_trace::CHROME_TRACE,
    &stackprof::STACKPROF,
    &dhat::DHAT,
    &pprof_legacy::PPROF_LEGACY,
    &perf_script::PERF_SCRIPT,
    &callgrind::CALLGRIND,
    &pstats::PSTATS,
    &macos_sample::MACOS_SAMPLE,
    &inferno::XCTRACE,
    &inferno::GHC,
    &ghc_json::GHC_JSON,
    &inferno::VTUNE,
    &inferno::VSPROF,
    &inferno::DTRACE,
    &austin::AUSTIN,
    &bpftrace::BPFTRACE,
    &collapsed::COLLAPSED,
    &pprof::PPROF,
];

/// How many bytes at the front formats are told by.
const HEAD: usize = 64 << 10;

/// The format called `name`.
pub fn named(name: &str) -> Option<&'static Format> {
    let name = plain_name(name);
    FORMATS.iter().copied().find(|format| format.name.eq_ignore_ascii_case(name))
}

/// What a format is called here that goes by several names.
fn plain_name(name: &str) -> &str {
    // The Firefox Profiler's format was that of Gecko, Firefox' engine, and samply writes it too.
    if ["firefox", "samply"].iter().any(|other| name.eq_ignore_ascii_case(other)) { "gecko" } else { name }
}

/// Loads a profile: with `format`, or with the one that the content speaks for. Fails where no format
/// recognizes the content, or where the reader cannot make sense of it: the error names the format and
/// the byte or line.
pub fn load(
    source: &mut Source,
    options: LoadOptions,
    format: Option<&Format>,
) -> Result<Profile, LoadError> {
    source.limit(options.budget);
    let head = head(source)?;
    let (format, confidence) = match format {
        Some(format) => (format, "given"),
        None => {
            let found = recognize(head).ok_or_else(|| LoadError::Unrecognized { hint: hint(head) })?;
            (found.0, found.1.word())
        }
    };
    let mut profile = (format.read)(source, options)?;
    profile.meta.confidence = confidence;
    profile.meta.encoding = source.encoding().to_vec();
    profile.meta.bytes = source.bytes_read();
    Ok(profile)
}

/// The first bytes of an input, by which its format is told.
fn head(source: &mut Source) -> Result<&[u8], LoadError> {
    let head = source.head(HEAD)?;
    // The window may hold a whole block: looking at all of it took 8 % of the time of a small profile.
    // Where not even the first line ends that early, such as that of one very deep stack, all is needed.
    let first = &head[..head.len().min(HEAD)];
    Ok(if memchr::memchr(b'\n', first).is_some() { first } else { head })
}

/// [`recognize`] for an input of which nothing has been read yet.
pub fn recognize_source(source: &mut Source) -> Result<Option<(&'static Format, Confidence)>, LoadError> {
    Ok(recognize(head(source)?))
}

/// The format that the first bytes of an input speak for, and how clearly.
pub fn recognize(head: &[u8]) -> Option<(&'static Format, Confidence)> {
    let mut best: Option<(&Format, Confidence)> = None;
    for &format in FORMATS {
        let confidence = (format.sniff)(head);
        if confidence > best.map_or(Confidence::No, |(_, confidence)| confidence) {
            best = Some((format, confidence));
        }
    }
    best
}

/// The profile that a reader filled; what it outgrew is an error of the reader's format.
fn finished(builder: ProfileBuilder) -> Result<Profile, ParseError> {
    let format = builder.meta.format;
    builder.finish().map_err(|error| ParseError::whole(format, error.to_string()))
}

/// What an input that no format recognizes is, where that is known.
fn hint(head: &[u8]) -> Option<String> {
    hints::hint(head).map(str::to_string).or_else(|| json::hint(head))
}
