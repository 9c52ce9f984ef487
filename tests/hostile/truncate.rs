//! Truncated inputs: missing data must be reported.

use prof::format::Format;
use prof::profile::Profile;

use crate::check::{Outcome, check};
use crate::seeds::Seed;
use crate::watch;

/// Formats that are lists without an end marker: truncated after a line (or a record), a file looks like a shorter
/// recording, so truncation cannot be detected.
const OPEN_ENDED: &[&str] = &[
    "collapsed",
    "perf-script",
    "austin",
    "goroutine",
    "rprof",
    "massif",
    "gprof",
    "gmon",
    "hprof",
    "coz",
    "memray-csv",
    "xperf",
    // Packets follow each other, and nothing says which is the last.
    "memtrace",
    "perfetto",
    // A file may have several traces.
    "xdebug",
    "phpspy",
    "v8-log",
    "bpftrace",
    "bcc",
    "async-profiler",
    "dtrace",
    "ghc",
    "vtune",
    "vsprof",
    "pprof-legacy",
    "callgrind",
    "instruments-copy",
    "pmcstat",
    "oprofile",
    // The archive of Very Sleepy is cut before it becomes the text that this seed is.
    "sleepy",
    // Only interpreted recordings end with a comment.
    "heaptrack",
    // Chrome's lists of events may lack their closing bracket.
    "chrome-trace",
];

/// Truncates a short input at every length, and a long one at `most` lengths. Calls `done` with each result and its
/// violation, if any.
pub fn every(format: &'static Format, seed: &Seed, most: usize, done: &mut dyn FnMut(&[u8], Option<String>)) {
    let whole = match check(Some(format), &seed.bytes, None) {
        Ok(Outcome::Read(profile)) => profile,
        Ok(Outcome::Rejected(message)) => {
            panic!("{}: the seed {} is rejected: {message}", format.name, seed.name)
        }
        Err(wrong) => return done(&seed.bytes, Some(wrong)),
    };
    let length = seed.bytes.len();
    let step = if length <= most.max(300) { 1 } else { (length / most).max(1) };
    for cut in (0..length).step_by(step) {
        let bytes = &seed.bytes[..cut];
        watch::case(format.name, bytes);
        let wrong = match check(Some(format), bytes, None) {
            Ok(Outcome::Read(part)) if !is_open_ended(format, seed) => silent_loss(&whole, &part)
                .map(|what| format!("cut: {} at byte {cut} of {length} loads silently: {what}", seed.name)),
            Ok(_) => None,
            Err(wrong) => Some(wrong),
        };
        done(bytes, wrong);
    }
}

/// Whether truncation cannot be detected. This includes `perf record` through a pipe: files contain their length, piped
/// output does not.
fn is_open_ended(format: &Format, seed: &Seed) -> bool {
    OPEN_ENDED.contains(&format.name) || (format.name == "perf-data" && seed.name.contains("pipe"))
}

/// Describes what a truncated input has less of than the whole one, if there is no additional warning.
fn silent_loss(whole: &Profile, part: &Profile) -> Option<String> {
    if part.meta.warnings.len() > whole.meta.warnings.len() || part.meta.warnings != whole.meta.warnings {
        return None;
    }
    let totals =
        |profile: &Profile| -> Vec<i64> { profile.meta.metrics.iter().map(|metric| metric.total).collect() };
    let (want, have) = (totals(whole), totals(part));
    (want != have).then(|| format!("totals {have:?} instead of {want:?}"))
}
