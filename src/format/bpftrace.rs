//! Reads the maps that bpftrace prints, if stacks are among their keys.
//!
//! ```text
//! Attaching 1 probe...
//!
//! @bytes[nginx,
//!     malloc+0
//!     main+45
//! ]: 4096
//! ```
//!
//! Each stack is printed on separate, indented lines, leaf first; a kernel stack comes before the user stack
//! that it continues. Each map becomes a metric with the map's name, or `samples` if it has none. Keys that
//! are not stacks become labels: `key`, `key2` and so on.

use std::rc::Rc;

use hashbrown::HashMap;

use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, Lines, decimal, hex, is_binary};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Mapping, MappingId, Profile, ProfileBuilder};
use crate::unit::{Family, Unit, plural};

/// The entry in the list of readable formats.
pub(super) static BPFTRACE: Format = Format { name: NAME, title: "bpftrace", sniff, read };

const NAME: &str = "bpftrace";

/// A limit on the number of maps, because each one costs a column of values. Real programs have a few.
const MAX_MAPS: usize = 64;

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let is_stack = |line: &[u8]| line.starts_with(b" ") || line.starts_with(b"\t");
    // An entry whose keys continue on the next line with a frame.
    let any = lines.any(|line| Entry::open(line).is_some_and(|(_, rest)| split_value(rest).is_none()));
    if any && lines.next().is_some_and(is_stack) { Confidence::Likely } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = BpftraceReader {
        builder: ProfileBuilder::new(NAME, options),
        entries: Vec::new(),
        frames: FrameLines::default(),
        good: 0,
        bad: BadLines::default(),
        without_stack: 0,
    };
    let mut lines = Lines::new(source);
    while lines.advance()? {
        let line = lines.line().trim_ascii_end();
        let Some((map, rest)) = Entry::open(line) else {
            if !is_status_line(line) {
                reader.bad.add(lines.number());
            }
            continue;
        };
        let mut entry = Entry { map: map.to_vec(), ..Entry::default() };
        let first = lines.number();
        let mut value = entry.keys(rest);
        while value.is_none() {
            if !lines.advance()? {
                return Err(
                    ParseError::at_line(NAME, first, "file is truncated within this map entry").into()
                );
            }
            value = entry.line(lines.line().trim_ascii_end(), &mut reader.frames);
        }
        match value.as_deref().and_then(decimal) {
            Some(value) => reader.take(entry, value),
            None => reader.bad.add(lines.number()),
        }
    }
    Ok(reader.finish()?)
}

/// Whether a line is bpftrace's own output around the maps.
fn is_status_line(line: &[u8]) -> bool {
    let said = [&b"Attach"[..], b"Detach", b"WARNING", b"Lost ", b"Tracing "];
    line.is_empty() || line == b"^C" || said.iter().any(|start| line.starts_with(start))
}

/// One entry of a map.
#[derive(Default)]
struct Entry {
    map: Vec<u8>,
    /// Whether one of the keys is a stack, possibly an empty one.
    has_stack: bool,
    /// The numbers of lines in [`FrameLines`], leaf first.
    frames: Vec<u32>,
    keys: Vec<String>,
}

/// The distinct lines of frames: maps repeat few of them many times.
#[derive(Default)]
struct FrameLines {
    lines: Vec<Rc<[u8]>>,
    numbers: HashMap<Rc<[u8]>, u32>,
}

impl FrameLines {
    fn number(&mut self, line: &[u8]) -> u32 {
        if let Some(&known) = self.numbers.get(line) {
            return known;
        }
        let number = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        let line: Rc<[u8]> = line.into();
        self.lines.push(Rc::clone(&line));
        self.numbers.insert(line, number);
        number
    }
}

impl Entry {
    /// Splits `@bytes[nginx, ` into the name of the map and its keys.
    fn open(line: &[u8]) -> Option<(&[u8], &[u8])> {
        // bpftrace is usually stopped with Ctrl-C, which the terminal echoes before the first entry.
        let line = line.strip_prefix(b"^C").unwrap_or(line).strip_prefix(b"@")?;
        let name = line.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        Some((&line[..name], line[name..].strip_prefix(b"[")?))
    }

    /// Parses a continuation line; returns the text after the keys if they end on this line.
    fn line(&mut self, line: &[u8], frames: &mut FrameLines) -> Option<Vec<u8>> {
        let is_frame = line.starts_with(b" ") || line.starts_with(b"\t");
        if is_frame || line.is_empty() {
            self.has_stack = true;
            self.frames.extend(is_frame.then(|| frames.number(line.trim_ascii())));
            return None;
        }
        self.keys(line)
    }

    /// Parses the keys in `text`, such as `, nginx]: 12`; returns the text after them.
    fn keys(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let (keys, value) = match split_value(text) {
            Some((keys, value)) => (keys, Some(value.to_vec())),
            None => (text, None),
        };
        // A stack is on separate lines, between the brackets or between commas.
        self.has_stack |= keys.is_empty();
        let keys = String::from_utf8_lossy(keys);
        let keys = keys.split(", ").map(|key| key.trim_matches([',', ' '])).filter(|key| !key.is_empty());
        self.keys.extend(keys.map(str::to_string));
        value
    }
}

/// Splits `, nginx]: 12` after the keys.
fn split_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::rfind(text, b"]:")?;
    Some((&text[..at], text[at + 2..].trim_ascii()))
}

struct BpftraceReader {
    builder: ProfileBuilder,
    /// Parsed entries; the metrics are known only after all maps have been read.
    entries: Vec<(Entry, i64)>,
    frames: FrameLines,
    good: u64,
    bad: BadLines,
    without_stack: u64,
}

impl BpftraceReader {
    fn take(&mut self, entry: Entry, value: i64) {
        self.good += 1;
        if entry.has_stack {
            self.entries.push((entry, value));
        } else {
            self.without_stack += 1;
        }
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.entries.is_empty() && self.good > 0 {
            return Err(ParseError::whole(NAME, "none of the maps has a stack among its keys"));
        }
        self.bad.settle(&mut self.builder, self.good, "not a map entry with a number")?;
        if self.without_stack > 0 {
            let entries = plural(
                self.without_stack,
                "map entry without a stack was",
                "map entries without stacks were",
            );
            let warning = format!("{} {entries} skipped", self.without_stack);
            self.builder.warn(warning);
        }
        let mut maps: Vec<Vec<u8>> = Vec::new();
        for (entry, _) in &self.entries {
            if !maps.contains(&entry.map) {
                maps.push(entry.map.clone());
            }
            if maps.len() > MAX_MAPS {
                return Err(ParseError::whole(NAME, format!("more than {MAX_MAPS} maps")));
            }
        }
        for map in &maps {
            let name = String::from_utf8_lossy(map);
            let (name, unit) = if name.is_empty() { ("samples", "count") } else { (&*name, unit(&name)) };
            self.builder.metric(name, unit);
        }
        let lines = std::mem::take(&mut self.frames.lines);
        let frames: Vec<FrameId> = lines.iter().map(|line| frame(&mut self.builder, line)).collect();
        let mut values = vec![0; maps.len()];
        for (entry, value) in std::mem::take(&mut self.entries) {
            let map = maps.iter().position(|map| *map == entry.map).unwrap_or_default();
            values.fill(0);
            values[map] = value;
            self.sample(&entry, &frames, &values);
        }
        finished(self.builder)
    }

    fn sample(&mut self, entry: &Entry, frames: &[FrameId], values: &[i64]) {
        let builder = &mut self.builder;
        let known = entry.frames.iter().rev().filter_map(|&line| frames.get(line as usize).copied());
        let frames: Vec<FrameId> = known.collect();
        let stack = builder.stack(&frames);
        let labels = labels(builder, &entry.keys);
        builder.sample(stack, labels, None, values);
    }
}

/// The unit of a map's values, guessed from its name: `@bytes`, `@usecs`.
fn unit(name: &str) -> &str {
    match Unit::parse(name).family() {
        Family::Time | Family::Bytes => name,
        _ => "count",
    }
}

/// A parsed frame line.
struct FrameText<'a> {
    address: Option<u64>,
    name: &'a str,
    /// The binary.
    file: &'a str,
}

impl FrameText<'_> {
    /// Splits `malloc+45`, in perf's form `7f21 malloc+45 (/lib/libc.so.6)`, or a bare address.
    fn parse(text: &str) -> FrameText<'_> {
        if let Some(address) = address(text) {
            return FrameText { address: Some(address), name: "", file: "" };
        }
        let (address, name) = match text.split_once(' ') {
            Some((first, rest)) if address(first).is_some() => (address(first), rest),
            _ => (None, text),
        };
        let (name, file) = match name.rsplit_once(" (") {
            Some((name, file)) if file.ends_with(')') => (name, &file[..file.len() - 1]),
            _ => (name, ""),
        };
        let name =
            name.rsplit_once('+').filter(|(_, offset)| is_offset(offset)).map_or(name, |(name, _)| name);
        // bpftrace repeats the address if it has no symbol for it.
        let name = if name.starts_with("0x") { "" } else { name };
        FrameText { address, name, file: if file == "[unknown]" { "" } else { file } }
    }
}

fn frame(builder: &mut ProfileBuilder, text: &[u8]) -> FrameId {
    let text = String::from_utf8_lossy(text);
    let FrameText { address, name, file } = FrameText::parse(&text);
    let mapping = if file.is_empty() {
        MappingId::default()
    } else {
        let file = builder.string(file);
        builder.mapping(Mapping { file, ..Mapping::default() })
    };
    let function = if name.is_empty() {
        builder.unnamed_function(mapping)
    } else {
        builder.named_function(&demangle(name), "")
    };
    builder.frame(Frame { function, mapping, address: address.unwrap_or(0), ..Frame::default() })
}

/// Parses a hexadecimal number, with or without `0x`.
fn address(text: &str) -> Option<u64> {
    hex(text.strip_prefix("0x").unwrap_or(text).as_bytes())
}

fn is_offset(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn labels(builder: &mut ProfileBuilder, keys: &[String]) -> LabelSetId {
    if keys.is_empty() {
        return LabelSetId::default();
    }
    sample_labels(builder, |labels| {
        for (number, value) in keys.iter().enumerate() {
            let key = if number == 0 { "key".to_string() } else { format!("key{}", number + 1) };
            labels.text(&key, value);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    #[test]
    fn kernel_stacks_continue_user_stacks_and_other_keys_are_labels() {
        let text = "Attaching 1 probe...\n^C@[\n    vfs_read+1\n    do_syscall_64+91\n, \n    __read+20\n    \
                    _ZN3foo3barEv+4\n, nginx]: 12\n@[\n    0x7f01\n, \n, sh]: 3\n@[]: 4\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let profile = load(text).unwrap();
        let expected = " 4\n<unknown> 3 {key=sh}\nfoo::bar();__read;do_syscall_64;vfs_read 12 {key=nginx}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!((profile.meta.metrics[0].name.as_str(), profile.meta.metrics[0].total), ("samples", 19));
    }

    #[test]
    fn each_map_is_a_metric() {
        let profile =
            load("@bytes[a, 7,\n\tf09 malloc+0 (/lib/libc.so)\n]: 4096\n@n[\n    g+0x1f\n]: 2\n@x[sh]: 1\n");
        let profile = profile.unwrap();
        let metrics: Vec<_> = profile.meta.metrics.iter().map(|m| (&*m.name, &*m.unit, m.total)).collect();
        assert_eq!(metrics, [("bytes", "bytes", 4096), ("n", "count", 2)]);
        assert_eq!(to_notation(&profile), "g 0 2\nmalloc 4096 0 {key2=7 key=a}");
        assert_eq!(profile.meta.warnings, ["1 map entry without a stack was skipped"]);
    }

    #[test]
    fn files_without_stacks_are_rejected() {
        let message = |text| load(text).unwrap_err().to_string();
        assert!(message("@[sh]: 4\n").contains("none of the maps"));
        assert!(message("@[\n    f+1\n").contains("(line 1)"));
        assert!(message("@[\n    f+1\n]: \n[1] 3 |@@ |\n").contains("(line 3)"));
        assert_eq!(sniff(b"@@ -1,2 +1,2 @@\n a\n"), Confidence::No);
        assert_eq!(sniff(b"@[sh]: 4\n"), Confidence::No);
    }
}
