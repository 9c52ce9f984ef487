//! Reads DHAT heap profiles, as written by Valgrind and the `dhat` crate.
//!
//! ```text
//! {"dhatFileVersion": 2, "mode": "heap", "cmd": "./maze", "pps": [{"tb": 93025, "tbk": 25, …, "fs": [1, 2]}, …],
//!  "ftbl": ["[root]", "0x48417B4: malloc (in /usr/lib/vgpreload_dhat.so)", "0x109316: new_maze (maze.c:44)", …]}
//! ```
//!
//! A program point (`pps`) is a stack, leaf first, with the memory allocated there: in total (`tb` bytes in
//! `tbk` blocks), at its own peak (`mb`), at the peak of the whole heap (`gb`), and at exit (`eb`). Program
//! points peak at different times, so `max_space` adds up to more than was ever in use.

use crate::format::allocators::MALLOC;
use crate::format::json::{self, Json, Kind};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static DHAT: Format = Format { name: NAME, title: "DHAT", sniff, read };

const NAME: &str = "dhat";

/// The members of a program point in a heap profile, with the metric each becomes.
const HEAP: &[(&str, &str, &str)] = &[
    ("tb", "alloc_space", "bytes"),
    ("tbk", "alloc_objects", "count"),
    ("gb", "peak_space", "bytes"),
    ("gbk", "peak_objects", "count"),
    ("eb", "inuse_space", "bytes"),
    ("ebk", "inuse_objects", "count"),
    ("mb", "max_space", "bytes"),
    ("mbk", "max_objects", "count"),
    ("rb", "read", "bytes"),
    ("wb", "written", "bytes"),
];

/// The same for a copy profile.
const COPY: &[(&str, &str, &str)] = &[("tb", "copied_space", "bytes"), ("tbk", "copies", "count")];

/// The same for ad hoc events.
const AD_HOC: &[(&str, &str, &str)] = &[("tb", "units", "count"), ("tbk", "events", "count")];

/// Functions between the C++ or Rust library and the allocator. Containers are not in the list: they call
/// code of the program, which would be dropped with them.
const LIBRARY_ALLOCATORS: &str = "(std|__gnu_cxx)::(__)?(new_)?allocator(_traits)?<.*>::allocate|.*::_M_allocate|\
    __r(ust|dl|g)_(alloc|realloc)\\w*|alloc::alloc::.*|<alloc::alloc::Global as .*|alloc::raw_vec::.*";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    if json::has(&keys, &["dhatFileVersion"]) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut json = Json::new(NAME, &text);
    let (points, metrics) = read_head(&mut json, &mut builder)?;
    let frames = points.frames.map_or(Ok(Vec::new()), |at| read_frames(&mut json.at(at), &mut builder))?;
    for (_, name, unit) in metrics {
        builder.metric(name, unit);
    }
    let at = points.points.ok_or_else(|| ParseError::whole(NAME, "missing `pps`"))?;
    let mut json = json.at(at);
    let mut reader = DhatReader { builder, frames, metrics, numbers: Vec::new(), stack: Vec::new() };
    json.array()?;
    while json.element()? {
        reader.read_point(&mut json)?;
    }
    let builder = reader.builder;
    Ok(finished(builder)?)
}

/// Positions of the tables in the text.
#[derive(Default)]
struct DhatTables {
    points: Option<usize>,
    frames: Option<usize>,
}

type MetricMembers = &'static [(&'static str, &'static str, &'static str)];

fn read_head(
    json: &mut Json,
    builder: &mut ProfileBuilder,
) -> Result<(DhatTables, MetricMembers), ParseError> {
    let (mut tables, mut mode, mut unit) = (DhatTables::default(), String::new(), String::new());
    let (mut lifetimes, mut accesses, mut end) = (false, false, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match (&*key, json.kind()?) {
            ("dhatFileVersion", Kind::Number) => match json.integer()? {
                2 => {}
                version => {
                    return Err(json.error(unsupported_version(version, 2, 2)));
                }
            },
            ("mode", Kind::String) => mode = json.string()?.into_owned(),
            ("tu", Kind::String) => unit = json.string()?.into_owned(),
            ("te", Kind::Number) => end = Some(json.integer()?),
            ("bklt", Kind::Bool) => lifetimes = json.is_true()?,
            ("bkacc", Kind::Bool) => accesses = json.is_true()?,
            ("cmd", Kind::String) => {
                let command = json.string()?;
                // The first mapping of a profile is assumed to be the program. Most frames of the program have a
                // source file instead of a binary, so the first frame that names a binary belongs to
                // Valgrind's own library.
                builder.named_mapping(command.split(' ').next().unwrap_or_default());
                builder.meta.comments.push(command.into_owned());
            }
            ("pps", Kind::Array) => {
                tables.points = Some(json.position());
                json.skip()?;
            }
            ("ftbl", Kind::Array) => {
                tables.frames = Some(json.position());
                json.skip()?;
            }
            _ => json.skip()?,
        }
    }
    json.end()?;
    // Valgrind counts instructions, the crate microseconds.
    builder.meta.duration_ns = end.filter(|_| unit == "µs").map(|end| end.saturating_mul(1000));
    if !matches!(&*mode, "ad-hoc" | "copy" | "rust-copy") {
        builder.meta.drop_frames = format!("{MALLOC}|{LIBRARY_ALLOCATORS}");
    }
    let metrics = match &*mode {
        "ad-hoc" => AD_HOC,
        "copy" | "rust-copy" => COPY,
        _ if !lifetimes => &HEAP[..2],
        _ if !accesses => &HEAP[..8],
        _ => HEAP,
    };
    Ok((tables, metrics))
}

fn read_frames(json: &mut Json, builder: &mut ProfileBuilder) -> Result<Vec<Option<TableFrame>>, ParseError> {
    json.list(|json| {
        let text = json.string()?;
        if text == "[root]" {
            return Ok(None);
        }
        let frame = read_frame(&text, builder);
        let (plain, inlined) = (builder.frame(frame), builder.frame(Frame { inlined: true, ..frame }));
        Ok(Some(TableFrame { address: frame.address, plain, inlined }))
    })
}

/// Reads a frame such as `0x109316: new_maze (maze.c:44)`, `0x10250148c: f (vec.rs:1469:9)` or
/// `0x484DE30: memalign (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)`.
fn read_frame(text: &str, builder: &mut ProfileBuilder) -> Frame {
    let (address, rest) = text
        .strip_prefix("0x")
        .and_then(|text| text.split_once(": "))
        .and_then(|(digits, rest)| Some((u64::from_str_radix(digits, 16).ok()?, rest)))
        .unwrap_or((0, text));
    let (name, place) = match rest.rfind(" (").filter(|_| rest.ends_with(')')) {
        Some(at) => (&rest[..at], &rest[at + 2..rest.len() - 1]),
        None => (rest, ""),
    };
    let mut frame = Frame { address, ..Frame::default() };
    let mut file = "";
    if let Some(path) = place.strip_prefix("in ") {
        frame.mapping = builder.named_mapping(path);
    } else {
        (file, frame.line) = split_place(place);
    }
    frame.function = match name {
        "???" => builder.unnamed_function(frame.mapping),
        name => builder.named_function(name, file),
    };
    frame
}

/// Splits `vec.rs:1469:9` into file and line; the column is not used.
fn split_place(place: &str) -> (&str, u32) {
    let number = |text: &str| text.parse::<u32>().ok();
    let last = place.rsplit_once(':').and_then(|(rest, last)| Some((rest, number(last)?)));
    let Some((rest, last)) = last else { return (place, 0) };
    match rest.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some(file_and_line) => file_and_line,
        None => (rest, last),
    }
}

struct DhatReader {
    builder: ProfileBuilder,
    frames: Vec<Option<TableFrame>>,
    metrics: MetricMembers,
    numbers: Vec<usize>,
    stack: Vec<FrameId>,
}

/// An entry of the frame table.
struct TableFrame {
    address: u64,
    plain: FrameId,
    inlined: FrameId,
}

impl DhatReader {
    fn read_point(&mut self, json: &mut Json) -> Result<(), ParseError> {
        let mut values = [0; HEAP.len()];
        self.numbers.clear();
        json.object()?;
        while let Some(key) = json.key()? {
            if key == "fs" {
                json.array()?;
                while json.element()? {
                    let number = json.row()?.filter(|&number| number < self.frames.len());
                    self.numbers
                        .push(number.ok_or_else(|| json.error("frame number is out of range of `ftbl`"))?);
                }
            } else if let Some(metric) = self.metrics.iter().position(|(member, ..)| *member == key) {
                values[metric] = json.integer()?;
            } else {
                json.skip()?;
            }
        }
        self.stack.clear();
        for (index, &number) in self.numbers.iter().enumerate() {
            let Some(frame) = &self.frames[number] else { continue };
            // Functions inlined at the same address are separate frames. A recursive call has the same
            // address as well, but also the same entry.
            let caller = self.numbers.get(index + 1).filter(|&&caller| caller != number);
            let caller = caller.and_then(|&caller| self.frames[caller].as_ref());
            let inlined = frame.address != 0 && caller.is_some_and(|caller| caller.address == frame.address);
            self.stack.push(if inlined { frame.inlined } else { frame.plain });
        }
        self.stack.reverse();
        let stack = self.builder.stack(&self.stack);
        self.builder.sample(stack, LabelSetId::default(), None, &values[..self.metrics.len()]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn program_points_are_stacks_listed_from_the_leaf() {
        let profile = load(
            r#"{"dhatFileVersion": 2, "mode": "rust-heap", "verb": "Allocated", "bklt": true, "bkacc": false, "tu": "µs", "te": 5,
            "cmd": "./maze", "pps": [{"tb": 10, "tbk": 2, "tl": 9, "mb": 8, "mbk": 1, "gb": 6, "gbk": 1, "eb": 0, "ebk": 0, "fs": [1, 2, 3, 3, 0]},
                                     {"tb": 4, "tbk": 1, "tl": 9, "mb": 4, "mbk": 1, "gb": 4, "gbk": 1, "eb": 4, "ebk": 1, "fs": [4]}],
            "ftbl": ["[root]", "0x10: malloc (in /lib/dhat.so)", "0x20: <T as X (y)>::f (vec.rs:14:9)", "0x20: main (main.rs:3)", "0x30: ??? (in /lib/libc.so.6)"]}"#,
        )
        .unwrap();
        let expected = "[libc.so.6] 4 1 4 1 4 1 4 1\nmain@main.rs:3;main@main.rs:3;+<T as X (y)>::f@vec.rs:14;malloc 10 2 6 1 0 0 8 1";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.meta.duration_ns, Some(5000));
        let programs = profile.symbols.mappings.ids().map(|id| profile.symbols.mapping_file(id));
        assert_eq!(programs.collect::<Vec<_>>(), ["", "./maze", "/lib/dhat.so", "/lib/libc.so.6"]);
        assert_eq!(profile.meta.metrics[0].name, "alloc_space");
    }

    #[test]
    fn other_modes_have_other_metrics() {
        let text = r#"{"dhatFileVersion": 2, "mode": "MODE", "bklt": false, "bkacc": false, "pps": [{"tb": 10, "tbk": 2, "fs": [0]}], "ftbl": ["0x1: f (a.c:1)"]}"#;
        let names = |mode: &str| -> Vec<String> {
            let profile = load(&text.replace("MODE", mode)).unwrap();
            profile.meta.metrics.iter().map(|metric| metric.name.clone()).collect()
        };
        assert_eq!(names("heap"), ["alloc_space", "alloc_objects"]);
        assert_eq!(names("ad-hoc"), ["units", "events"]);
        assert_eq!(names("copy"), ["copied_space", "copies"]);
    }

    #[test]
    fn malformed_files_are_rejected() {
        let error = load(r#"{"dhatFileVersion": 3}"#).unwrap_err().to_string();
        assert_eq!(error, "dhat: unsupported version 3; only version 2 is supported (byte 21)");
        let error = load(r#"{"dhatFileVersion": 2, "pps": [{"fs": [7]}]}"#).unwrap_err().to_string();
        assert_eq!(error, "dhat: frame number is out of range of `ftbl` (byte 40)");
    }
}
