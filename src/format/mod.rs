//! Reading and writing profiles: format detection, and one file per format.
//!
//! [`load`] decompresses the input, asks every entry of [`FORMATS`] how well it matches, and reads it with the best match.
//! File names are ignored, because real files named `.pb.gz` may not be compressed, and `.prof` has five meanings. The
//! only exception is `folded` or `collapsed` in the name of a list of names and numbers, whose content is ambiguous.

mod allocators;
mod art_trace;
mod async_profiler;
mod austin;
mod bcc;
mod bpftrace;
mod by_number;
mod call_counts;
mod callgrind;
mod callgrind_write;
mod chrome_trace;
mod collapsed;
mod collapsed_write;
mod copied;
mod coz;
mod d3_flamegraph;
mod dart;
mod decimals;
mod dhat;
mod dtrace;
mod error;
mod event_metrics;
mod fields;
mod gecko;
mod ghc;
mod ghc_json;
mod gmon;
mod goroutine;
mod gprof;
mod gprof2dot;
mod graalvm;
mod group;
mod heap;
mod heaptrack;
mod hints;
mod hprof;
mod indented_tree;
mod instruments_copy;
mod jfr;
mod jit;
mod json;
mod labels;
mod macos_sample;
mod massif;
mod memray;
mod memray_csv;
mod memtrace;
mod nettrace;
mod nim;
mod numbering;
mod nytprof;
mod off_cpu;
mod oprofile;
mod otlp;
mod papyrus;
pub(crate) mod parquet;
mod paths;
mod perf_data;
mod perf_script;
mod perfetto;
mod phpspy;
mod pmcstat;
mod pprof;
mod pprof_legacy;
mod pstats;
mod py_spy;
mod pyinstrument;
mod quietly;
mod ranges;
mod recent;
mod recorded_files;
mod rprof;
mod safari;
mod scalene;
mod sentry;
mod simpleperf;
mod sleepy;
mod source;
mod spans;
mod speedscope;
mod speedscope_write;
mod stackprof;
mod sysprof;
mod tachyon;
mod text;
mod threads;
mod v8;
mod varint;
mod vsprof;
mod vtune;
mod vtune_gprof;
mod wire;
mod write;
mod writers;
mod xctrace;
mod xdebug;
mod xhprof;
mod xperf;

use error::unsupported_version;
pub use error::{LoadError, ParseError, Place};
pub use gmon::UNNAMED_PROGRAM;
pub use jit::{JitCode, JitError};
pub use recorded_files::{Inode, RecordedFiles};
pub use source::{Inflate, PositionedRead, Source, Times};
pub use write::{Part, Writer};
pub use writers::{WRITERS, writer_for, writer_named};

use crate::profile::{LATENCY, LoadOptions, Profile, ProfileBuilder};

/// A format that can be read.
pub struct Format {
    /// Name on the command line and in errors, such as `pprof`.
    pub name: &'static str,
    /// Name in prose, such as `pprof protobuf`.
    pub title: &'static str,
    /// How well the first bytes of an input match this format.
    pub sniff: fn(head: &[u8]) -> Confidence,
    /// Reads an input.
    pub read: fn(&mut Source, LoadOptions) -> Result<Profile, LoadError>,
}

/// How well the first bytes of an input match a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// It is a different format.
    No,
    /// There is no evidence against it.
    Maybe,
    /// There is strong evidence for it.
    Likely,
    /// It has the format's magic number or keys.
    Certain,
}

impl Confidence {
    /// The name used in reports.
    fn word(self) -> &'static str {
        match self {
            Confidence::No => "no",
            Confidence::Maybe => "maybe",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// A format whose files usually say when samples were taken.
#[derive(Clone, Copy, Debug)]
pub struct TimedFormat {
    /// [`Format::name`].
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Whether its files also say on which of several threads samples were taken, and do not hold spans.
    pub has_threads: bool,
}

const fn timed(name: &'static str, title: &'static str) -> TimedFormat {
    TimedFormat { name, title, has_threads: false }
}

const fn threaded(name: &'static str, title: &'static str) -> TimedFormat {
    TimedFormat { name, title, has_threads: true }
}

/// A hint that names the [`TIMED_FORMATS`].
pub(crate) fn formats_with_times() -> String {
    let titles: Vec<&str> = TIMED_FORMATS.iter().map(|format| format.title).collect();
    format!("formats with times: {}", titles.join(", "))
}

/// The formats whose files usually say when samples were taken.
pub const TIMED_FORMATS: &[TimedFormat] = &[
    threaded("perf-data", "perf.data"),
    threaded("perf-script", "perf script"),
    threaded("jfr", "JFR"),
    threaded("gecko", "Firefox Profiler"),
    // Most hold spans only.
    timed("chrome-trace", "Chrome traces"),
    threaded("dart", "Dart"),
    threaded("perfetto", "Perfetto"),
    timed("cpuprofile", "V8 CPU profiles"),
    timed("v8-log", "V8 logs"),
    timed("v8-log-json", "processed V8 logs"),
    threaded("speedscope", "speedscope"),
    threaded("otlp", "OTLP"),
    threaded("nettrace", ".nettrace"),
    threaded("simpleperf", "simpleperf"),
    timed("art-trace", "ART traces"),
    threaded("sentry", "Sentry"),
    timed("safari", "Safari"),
    threaded("tachyon", "Tachyon"),
    timed("stackprof", "stackprof"),
    threaded("xperf", "xperf"),
    timed("xdebug", "Xdebug"),
    timed("papyrus", "Papyrus"),
];

/// All readable formats. If several match equally well, the first one wins, so the most specific come first.
#[rustfmt::skip] // One format per line.
pub static FORMATS: &[&Format] = &[
    &parquet::PARQUET,
    &jfr::JFR,
    &perf_data::PERF_DATA,
    &austin::mojo::MOJO,
    &nettrace::NETTRACE,
    &simpleperf::SIMPLEPERF,
    &art_trace::ART_TRACE,
    &v8::cpuprofile::CPUPROFILE,
    &v8::heapprofile::HEAPPROFILE,
    &v8::log::V8_LOG,
    &v8::log_json::V8_LOG_JSON,
    &gecko::GECKO,
    &speedscope::SPEEDSCOPE,
    &dart::DART,
    &chrome_trace::CHROME_TRACE,
    &stackprof::STACKPROF,
    &pyinstrument::PYINSTRUMENT,
    &scalene::SCALENE,
    &sentry::SENTRY,
    &safari::SAFARI,
    &gprof2dot::GPROF2DOT,
    &d3_flamegraph::D3_FLAMEGRAPH,
    &xhprof::XHPROF,
    &graalvm::GRAALVM,
    &dhat::DHAT,
    &pprof_legacy::PPROF_LEGACY,
    &heaptrack::HEAPTRACK,
    &instruments_copy::INSTRUMENTS_COPY,
    &pmcstat::PMCSTAT,
    &sysprof::SYSPROF_XML,
    &tachyon::TACHYON,
    &nytprof::NYTPROF,
    &sleepy::SLEEPY,
    &memray::MEMRAY,
    &memray_csv::MEMRAY_CSV,
    &memtrace::MEMTRACE,
    &papyrus::PAPYRUS,
    &vtune_gprof::VTUNE_GPROF,
    &xperf::XPERF,
    &xdebug::XDEBUG,
    &nim::NIM,
    &phpspy::PHPSPY,
    &gmon::GMON,
    &hprof::HPROF,
    &coz::COZ,
    &goroutine::GOROUTINE,
    &rprof::RPROF,
    &massif::MASSIF,
    &gprof::GPROF,
    &oprofile::OPROFILE,
    &perf_script::PERF_SCRIPT,
    &callgrind::CALLGRIND,
    &pstats::PSTATS,
    &macos_sample::MACOS_SAMPLE,
    &xctrace::XCTRACE,
    &ghc::GHC,
    &ghc_json::GHC_JSON,
    &vtune::VTUNE,
    &vsprof::VSPROF,
    &bcc::BCC,
    &async_profiler::ASYNC_PROFILER,
    &dtrace::DTRACE,
    &austin::text::AUSTIN,
    &bpftrace::BPFTRACE,
    &collapsed::COLLAPSED,
    &perfetto::PERFETTO,
    &otlp::OTLP,
    &pprof::PPROF,
];

/// Number of bytes used to detect the format.
const HEAD: usize = 64 << 10;

/// The format called `name`.
pub fn named(name: &str) -> Option<&'static Format> {
    let name = plain_name(name);
    FORMATS.iter().copied().find(|format| format.name.eq_ignore_ascii_case(name))
}

/// Maps other names of a format to its name here.
fn plain_name(name: &str) -> &str {
    // The Firefox Profiler format comes from Gecko, Firefox's engine, and samply writes it too.
    if ["firefox", "samply"].iter().any(|other| name.eq_ignore_ascii_case(other)) { "gecko" } else { name }
}

/// Loads a profile in the given format, or in the detected one. Fails if no format matches or if the input is
/// malformed; the error then names the format and the byte or line.
pub fn load(
    source: &mut Source,
    options: LoadOptions,
    format: Option<&Format>,
) -> Result<Profile, LoadError> {
    source.limit(&options.budget);
    let (format, confidence) = match format {
        Some(format) => (format, "given"),
        None => match recognize_source(source)? {
            Some((format, confidence)) => (format, confidence.word()),
            None => return load_copied(source, options),
        },
    };
    let mut profile = (format.read)(source, options)?;
    profile.meta.confidence = confidence;
    profile.meta.encoding = source.encoding().to_vec();
    profile.meta.bytes = source.bytes_read();
    profile.meta.is_latency |= profile.meta.comments.iter().any(|comment| comment == LATENCY);
    Ok(profile)
}

/// Loads a profile from a text that is none as it stands but has one in it, such as a mail.
fn load_copied(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let hint = hint(head(source)?);
    let may_be_copied = hint.is_none() && !source.is_in_folder();
    let copied = if may_be_copied { copied::find(head(source)?) } else { None };
    let Some(copied) = copied else { return Err(LoadError::Unrecognized { hint }) };
    let mut text = Source::from_bytes(copied.text(&source.read_all()?));
    text.set_name(source.name());
    if let Some(files) = source.files() {
        text.set_files(files);
    }
    let mut profile = load(&mut text, options, Some(copied.format))?;
    profile.meta.warnings.insert(0, copied.warning());
    profile.meta.confidence = copied.confidence.word();
    profile.meta.encoding = source.encoding().to_vec();
    profile.meta.bytes = source.bytes_read();
    Ok(profile)
}

/// The first bytes of an input, for format detection.
fn head(source: &mut Source) -> Result<&[u8], LoadError> {
    let head = source.head(HEAD)?;
    // The window may hold a whole block, and examining all of it took 8 % of the time of a small profile. If
    // the first line is longer than `HEAD`, as with one very deep stack, the whole window is needed.
    let first = &head[..head.len().min(HEAD)];
    Ok(if memchr::memchr(b'\n', first).is_some() { first } else { head })
}

/// [`recognize`] for an input that has not been read yet.
pub fn recognize_source(source: &mut Source) -> Result<Option<(&'static Format, Confidence)>, LoadError> {
    let head = head(source)?;
    let is_json = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start().starts_with(b"{");
    if let Some(found) = recognize(head) {
        return Ok(Some(found));
    }
    if is_json {
        // JSON formats are recognized by their keys, and the decisive one may come after a long list.
        return Ok(recognize(source.head(usize::MAX)?));
    }
    let is_folded = source.is_called(collapsed::NAMES) && collapsed::has_weights(source.bytes());
    Ok(is_folded.then_some((&collapsed::COLLAPSED, Confidence::Maybe)))
}

/// The format that best matches the first bytes of an input, and how well it matches.
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

/// Finishes a reader's profile; exceeding a limit is reported as an error of the reader's format.
fn finished(builder: ProfileBuilder) -> Result<Profile, ParseError> {
    let format = builder.meta.format;
    builder.finish().map_err(|error| ParseError::whole(format, error.to_string()))
}

/// The hint for an input that no format recognizes, if there is one.
fn hint(head: &[u8]) -> Option<String> {
    hints::hint(head).map(str::to_string).or_else(|| json::hint(head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_after_a_long_list_is_found() {
        let long = "x".repeat(HEAD + 10);
        let text = format!(
            r#"{{"notes": ["{long}"], "profile": {{"meta": {{}}, "threads": [{{"stringArray": ["f"],
            "funcTable": {{"name": [0]}}, "frameTable": {{"func": [0]}},
            "stackTable": {{"prefix": [null], "frame": [0]}}, "samples": {{"stack": [0]}}}}]}}}}"#
        );
        let profile = load(&mut Source::from_bytes(text.into()), LoadOptions::default(), None).unwrap();
        assert_eq!((profile.meta.format, profile.meta.metrics[0].total), ("gecko", 1));
        let other = format!(r#"{{"notes": ["{long}"]}}"#);
        assert!(load(&mut Source::from_bytes(other.into()), LoadOptions::default(), None).is_err());
    }

    #[test]
    fn the_file_name_breaks_a_tie() {
        let load_as = |name: &str, text: &str| {
            let mut source = Source::from_bytes(text.into());
            source.set_name(name);
            load(&mut source, LoadOptions::default(), None).map(|profile| profile.meta.metrics[0].total)
        };
        let frames = "read file 3\nwrite file 4\n";
        assert!(load_as("x.txt", frames).is_err());
        assert!(load_as("folded/x.txt", frames).is_err());
        for name in ["x.folded", "x.folded.gz", "X.COLLAPSED", "a/perf-collapsed-all.txt"] {
            assert_eq!(load_as(name, frames).unwrap(), 7, "{name}");
        }
        assert!(load_as("x.folded", "no numbers\n").is_err());
        // Names that look like code need no extension.
        assert_eq!(load_as("", "operator new(unsigned long)+0x131 3\nmain+0x2 4\n").unwrap(), 7);
    }
}
