//! The recordings of memray, a memory profiler for Python (versions 9 to 13, which memray has written since 1.3).
//!
//! ```text
//! "memray\0", i32 version, i32 Python's version (from 12 on), u8 native stacks, u8 format (from 10 on)
//! u64 allocations, u64 frames, i64 start and end in ms, command, i32 pid, u64 main thread, u64 frames of memray's own
//! u8 allocator, u8 trace allocators (from 11 on), u8 objects (from 12 on), libraries, packages, modules (from 13 on)
//! ```
//!
//! What follows is every allocation and release ([`records`]), or, with `--aggregate`, their sums ([`sums`]). Files are usually compressed
//! with lz4. The metrics are those of memray's reports: what was in use when the program used the most, and what was never released.

mod allocator;
mod frames;
mod lines;
mod records;
mod sums;

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::labels::sample_labels;
use crate::format::memray::allocator::Site;
use crate::format::text::lossy;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{LoadOptions, Profile, ProfileBuilder};
use crate::unit::group_thousands;

/// The entry in the list of readable formats.
pub(super) static MEMRAY: Format = Format { name: NAME, title: "memray recording", sniff, read };

const NAME: &str = "memray";
const MAGIC: &[u8] = b"memray\0";

/// The versions that are read.
const OLDEST: u32 = 9;
const NEWEST: u32 = 13;

/// From this version on, frames refer to code objects, and records have more compact forms.
const COMPACT: u32 = 12;

/// What was allocated in all, what was never released, and what was in use when the program used the most.
const METRICS: [(&str, &str); 6] = [
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("leaked_objects", "count"),
    ("leaked_space", "bytes"),
    ("peak_objects", "count"),
    ("peak_space", "bytes"),
];

/// The first of them that a file of sums has.
const SUMMED: usize = 2;

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut fields = Fields::new(&bytes, false);
    let header = Header::parse(&mut fields).map_err(|error| match error {
        Unreadable::Version(version) => ParseError::whole(
            NAME,
            format!(
                "{}; convert it with `memray transform csv FILE`",
                unsupported_version(version, OLDEST, NEWEST)
            ),
        ),
        Unreadable::Truncated => ParseError::whole(NAME, "file is truncated within the header"),
    })?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let metrics = if header.is_summed { &METRICS[SUMMED..] } else { &METRICS[..] };
    for (name, unit) in metrics {
        builder.meta.default_metric = builder.metric(name, unit);
    }
    builder.meta.time_ns = header.start_ms.checked_mul(1_000_000);
    builder.meta.duration_ns = header
        .end_ms
        .checked_sub(header.start_ms)
        .and_then(|milliseconds| milliseconds.checked_mul(1_000_000))
        .filter(|&duration| duration > 0);
    let mut recording =
        Recording { builder, group: SampleGroup::default(), threads: HashMap::new(), native: 0 };
    let read = if header.is_summed { sums::read } else { records::read };
    let end = read(&header, &mut fields, &mut recording)
        .map_err(|what| ParseError::at_byte(NAME, (bytes.len() - fields.len()) as u64, what))?;
    recording.group.write(&mut recording.builder);
    if end == End::Missing {
        recording.builder.warn(
            "the recording does not end: the program was still running or crashed, or the file is truncated"
                .to_string(),
        );
    }
    if recording.native > 0 {
        recording.builder.warn(format!(
            "frames of C, C++ and Rust are left out of the stacks of {} allocations; `memray flamegraph` shows them",
            group_thousands(recording.native.into())
        ));
    }
    // Making columns of the samples takes memory for a while.
    drop(bytes);
    Ok(finished(recording.builder)?)
}

/// Whether the last record says that the recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Found,
    Missing,
}

/// Why a header cannot be used.
enum Unreadable {
    Version(u32),
    Truncated,
}

/// What the first bytes say.
#[derive(Debug)]
struct Header {
    version: u32,
    /// The version of Python, such as 3.11.
    python: (u8, u8),
    has_native: bool,
    /// Whether there are sums instead of allocations.
    is_summed: bool,
    start_ms: i64,
    end_ms: i64,
    main_thread: u64,
    /// The frames of the main thread that are memray's own.
    own_frames: u64,
}

impl Header {
    fn parse(fields: &mut Fields<'_>) -> Result<Header, Unreadable> {
        fields.take(MAGIC.len()).ok_or(Unreadable::Truncated)?;
        let version = fields.u32().ok_or(Unreadable::Truncated)?;
        if !(OLDEST..=NEWEST).contains(&version) {
            return Err(Unreadable::Version(version));
        }
        Header::rest(version, fields).ok_or(Unreadable::Truncated)
    }

    fn rest(version: u32, fields: &mut Fields<'_>) -> Option<Header> {
        let python = if version >= COMPACT { fields.u32()? } else { 0 };
        let [_, _, minor, major] = python.to_le_bytes();
        let has_native = fields.u8()? != 0;
        let is_summed = version >= 10 && fields.u8()? != 0;
        fields.skip_longs(2)?;
        let [start_ms, end_ms] = [fields.u64()?, fields.u64()?].map(u64::cast_signed);
        let _command = fields.text();
        let _process = fields.u32()?;
        let [main_thread, own_frames] = [fields.u64()?, fields.u64()?];
        let flags = 1 + usize::from(version >= 11) + usize::from(version >= 12);
        fields.take(flags)?;
        if version >= 13 {
            let _libraries = fields.text();
            // Two lists of folders, which end with an empty one.
            for _ in 0..2 {
                while !fields.text().is_empty() {}
            }
        }
        let header = Header {
            version,
            python: (major, minor),
            has_native,
            is_summed,
            start_ms,
            end_ms,
            main_thread,
            own_frames,
        };
        Some(header)
    }
}

/// The profile that is being made.
struct Recording {
    builder: ProfileBuilder,
    group: SampleGroup,
    /// The names of threads.
    threads: HashMap<u64, String>,
    /// Number of allocations whose native frames are left out.
    native: u64,
}

impl Recording {
    fn name_thread(&mut self, thread: u64, name: &[u8]) {
        self.threads.insert(thread, lossy(name).into_owned());
    }

    /// Warns of stacks that were cut, given the depth of the first one.
    fn warn_of_cut(&mut self, depth: Option<usize>) {
        if let Some(depth) = depth {
            self.builder.warn(format!("stacks deeper than {depth} frames are cut"));
        }
    }

    /// Adds the sums of a place in the program.
    fn add(&mut self, site: &Site, stack: GroupedStack, values: &[i64]) {
        let name = self.threads.get(&site.thread).map_or("", String::as_str);
        let labels = sample_labels(&mut self.builder, |labels| {
            labels.text_if_known("allocator", site.allocator.name());
            labels.text_if_known("thread", name);
            labels.text("tid", &site.thread.to_string());
        });
        self.group.sample(stack, labels, None, values, &mut self.builder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_versions_and_cut_recordings() {
        let load = |bytes: &[u8]| read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL);
        for version in [8, 14] {
            let bytes = [MAGIC, &[version, 0, 0, 0]].concat();
            assert_eq!(sniff(&bytes), Confidence::Certain);
            let error = load(&bytes).unwrap_err().to_string();
            let expected = format!("memray: unsupported version {version}; versions 9 to 13 are supported");
            assert!(error.starts_with(&expected), "{error}");
        }
        let header = [MAGIC, &[9, 0, 0, 0, 0], &[0; 32], b"python\0", &[0; 21]].concat();
        assert_eq!(load(&header).unwrap().meta.warnings.len(), 1);
        assert_eq!(load(&[&header[..], &[0x10]].concat()).unwrap().meta.warnings, [""; 0]);
        for (record, what) in [
            (&[0x0F][..], "a record has an unknown kind (byte 73)"),
            (&[0x09], "more functions are left than were entered (byte 73)"),
            (&[0x04, 2], "a function is entered that is not listed (byte 74)"),
        ] {
            let error = load(&[&header[..], record].concat()).unwrap_err().to_string();
            assert_eq!(error, format!("memray: {what}"));
        }
        assert_eq!(
            load(&header[..20]).unwrap_err().to_string(),
            "memray: file is truncated within the header"
        );
    }
}
