//! Method traces of Android's runtime (ART, and Dalvik before it), by `Debug.startMethodTracing` and Android Studio.
//!
//! Every method that is entered or left is recorded with the clocks of the thread (`cpu`) and the wall (`wall`), or
//! one of them. Sampled traces look the same: methods are entered or left when a sample differs from the last. The time
//! until a thread's next record belongs to its stack.
//!
//! A text with `*version`, `*threads`, `*methods` and `*end` precedes the records, or, in streamed traces, methods, threads
//! and the summary are between the records, as records of the thread 0:
//!
//! ```text
//! "SLOW", u16 version (| 0xF0 if streamed), u16 offset of the records, u64 start in µs, u16 size of a record (version 3)
//! u16 thread (u8 in version 1), u32 method | action (0 entered, 1 left, 2 left by an exception), u32 µs, u32 µs
//! ```
//!
//! Versions 4 and 5 consist of [`packets`].

mod packets;

use hashbrown::HashMap;

use packets::{Packet, Packets, Records, are_packets};

use crate::format::fields::Fields;
use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::paths::{EMPTY, PathId, Paths};
use crate::format::text::{hex, lossy};
use crate::format::threads::Thread;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{plural, saturated};

/// The entry in the list of readable formats.
pub(super) static ART_TRACE: Format = Format { name: NAME, title: "ART method trace", sniff, read };

const NAME: &str = "art-trace";
const TEXT: &[u8] = b"*version\n";
const MAGIC: &[u8] = b"SLOW";
const END: &[u8] = b"*end\n";

/// The bits of the version that say that a trace is streamed.
const STREAMED: u16 = 0xF0;

fn sniff(head: &[u8]) -> Confidence {
    // Versions that do not exist yet get an error that names them.
    let is_binary = matches!(head, [b'S', b'L', b'O', b'W', 4..0x10 | 0xF0.., 0, ..]);
    if head.starts_with(TEXT) || is_binary { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut reader = ArtTraceReader::new(bytes.len(), options, source.may_use_threads());
    if bytes.starts_with(TEXT) {
        reader.read_whole(&bytes)?;
    } else {
        reader.read_streamed(&bytes)?;
    }
    // Making columns of the samples takes memory for a while.
    drop(bytes);
    Ok(finished(reader.finish())?)
}

/// What the text of a trace says about all of it.
#[derive(Default)]
struct Summary {
    version: u16,
    clock: String,
    process: String,
    /// The number of records.
    records: Option<u64>,
    has_overflow: bool,
}

impl Summary {
    /// Reads a line such as `clock=dual`.
    fn setting(&mut self, line: &str) {
        match line.split_once('=') {
            Some(("clock", clock)) => self.clock = clock.into(),
            Some(("pid", process)) => self.process = process.into(),
            Some(("num-method-calls", records)) => self.records = records.parse().ok(),
            Some(("data-file-overflow", overflow)) => self.has_overflow = overflow == "true",
            _ => {}
        }
    }
}

/// The binary header.
struct Header {
    version: u16,
    /// Where the records start.
    records: usize,
    start: u64,
    record_size: usize,
}

impl Header {
    fn read(bytes: &[u8], at: usize) -> Result<Header, ParseError> {
        let truncated = || ParseError::at_byte(NAME, at as u64, "file is truncated within its header");
        let mut fields = Fields::new(bytes.get(at..).unwrap_or_default(), false);
        if fields.take(4).ok_or_else(truncated)? != MAGIC {
            return Err(ParseError::at_byte(NAME, at as u64, "expected `SLOW`"));
        }
        let mut header = || {
            let (version, offset, start) = (fields.u16()?, fields.u16()?, fields.u64()?);
            Some((version, usize::from(offset), start, fields.u16()))
        };
        let (version, offset, start, size) = header().ok_or_else(truncated)?;
        let version = if version >= STREAMED { version ^ STREAMED } else { version };
        check_version(version, at + 4)?;
        if are_packets(version) {
            // The start is in nanoseconds, and there is neither an offset nor a size.
            let start = Fields::new(bytes, false).part(at as u64 + 6, 8).u64().unwrap_or(0) / 1000;
            let record_size = if version == 5 { 14 } else { 10 };
            return Ok(Header { version, records: 0, start, record_size });
        }
        let record_size = match version {
            1 => 9,
            2 => 10,
            _ => usize::from(size.ok_or_else(truncated)?),
        };
        if record_size < 9 + usize::from(version > 1) || offset < 16 {
            return Err(ParseError::at_byte(NAME, at as u64, "the sizes in the header are too small"));
        }
        Ok(Header { version, records: at + offset, start, record_size })
    }
}

fn check_version(version: u16, at: usize) -> Result<(), ParseError> {
    if (1..=5).contains(&version) {
        return Ok(());
    }
    Err(ParseError::at_byte(NAME, at as u64, unsupported_version(version, 1, 5)))
}

/// What a record says.
#[derive(Clone, Copy)]
struct Record {
    thread: u32,
    method: u64,
    action: u32,
    /// The first and the second time, in microseconds; since version 4, in nanoseconds.
    times: [u64; 2],
}

impl Record {
    fn read(record: &[u8], version: u16) -> Option<Record> {
        let mut fields = Fields::new(record, false);
        let thread = if version == 1 { fields.u8()?.into() } else { fields.u16()?.into() };
        let method = fields.u32()?;
        let first = fields.u32()?;
        let times = [first.into(), fields.u32().unwrap_or(first).into()];
        Some(Record { thread, method: u64::from(method & !3), action: method & 3, times })
    }
}

/// A part of a streamed trace.
enum Entry<'a> {
    Record(&'a [u8]),
    /// A method (1), the name of a thread (2), or the summary (3).
    Text {
        kind: u8,
        thread: u32,
        text: &'a [u8],
    },
}

/// The parts of a streamed trace with their positions, up to the first that is not complete.
struct Entries<'a> {
    rest: Fields<'a>,
    end: usize,
    version: u16,
    record_size: usize,
}

impl<'a> Entries<'a> {
    fn new(bytes: &'a [u8], header: &Header) -> Entries<'a> {
        let rest = Fields::new(bytes.get(header.records..).unwrap_or_default(), false);
        Entries { rest, end: bytes.len(), version: header.version, record_size: header.record_size }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (usize, Entry<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.end - self.rest.len();
        let rest = &mut self.rest;
        let is_record = match self.version {
            1 => *rest.bytes().first()? != 0,
            _ => rest.bytes().get(..2).is_some_and(|thread| thread != [0, 0]),
        };
        if is_record {
            return Some((at, Entry::Record(rest.take(self.record_size)?)));
        }
        rest.take(if self.version == 1 { 1 } else { 2 })?;
        let kind = rest.u8()?;
        let thread = if kind == 2 { u32::from(rest.u16()?) } else { 0 };
        let length = if kind == 3 { rest.u32()? as usize } else { rest.u16()?.into() };
        Some((at, Entry::Text { kind, thread, text: rest.take(length)? }))
    }
}

/// A thread, and the methods on its stack.
#[derive(Default)]
struct OpenStack {
    thread: u32,
    /// The path to the running method.
    path: PathId,
    /// How often each method is on the path, so that methods which are not need no search. Nearly always, the method that
    /// is left is the one that is running, so this is counted only once another was left, and until the path is empty.
    calls: Option<HashMap<u64, u32>>,
    /// The times of the last record.
    last: Option<[u64; 2]>,
}

impl OpenStack {
    fn enter(&mut self, method: u64, paths: &mut Paths) {
        self.path = paths.enter(self.path, method);
        if let Some(calls) = &mut self.calls {
            *calls.entry(method).or_default() += 1;
        }
    }

    /// Leaves a method and all that it called. False if it is not on the path.
    fn leave(&mut self, method: u64, paths: &Paths) -> bool {
        if self.path == EMPTY {
            return false;
        }
        let is_running = paths.method(self.path) == method;
        if !is_running {
            let calls = self.calls.get_or_insert_with(|| paths.calls(self.path));
            if calls.get(&method).is_none_or(|calls| *calls == 0) {
                return false;
            }
        }
        loop {
            let left = paths.method(self.path);
            self.path = paths.parent(self.path);
            if let Some(calls) = self.calls.as_mut().and_then(|calls| calls.get_mut(&left)) {
                *calls = calls.saturating_sub(1);
            }
            if left == method || self.path == EMPTY {
                break;
            }
        }
        if self.path == EMPTY {
            self.calls = None;
        }
        true
    }
}

struct ArtTraceReader {
    builder: ProfileBuilder,
    /// The samples that have not been added to the profile yet.
    group: SampleGroup,
    summary: Summary,
    /// The start in nanoseconds since 1970 or since the machine started.
    start: i64,
    /// The position in a record of the time of each metric.
    clocks: Vec<usize>,
    /// Nanoseconds per unit of the clocks, which start again if they have 32 bits.
    tick: i64,
    threads: HashMap<u32, String>,
    methods: HashMap<u64, FrameId>,
    paths: Paths,
    open: Vec<OpenStack>,
    /// The places of threads in `open`, and that of the last record.
    places: HashMap<u32, usize>,
    place: usize,
    labels: HashMap<u32, LabelSetId>,
    values: Vec<i64>,
    records: u64,
    is_truncated: bool,
    unmatched: u64,
}

impl ArtTraceReader {
    fn new(bytes: usize, options: LoadOptions, may_use_threads: bool) -> Self {
        ArtTraceReader {
            builder: ProfileBuilder::new(NAME, options),
            group: SampleGroup::on_thread(may_use_threads),
            summary: Summary::default(),
            start: 0,
            clocks: Vec::new(),
            tick: 1000,
            threads: HashMap::new(),
            methods: HashMap::new(),
            paths: Paths::new(bytes),
            open: Vec::new(),
            places: HashMap::new(),
            place: 0,
            labels: HashMap::new(),
            values: Vec::new(),
            records: 0,
            is_truncated: false,
            unmatched: 0,
        }
    }

    /// A trace whose text precedes its records.
    fn read_whole(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        let at = memchr::memmem::find(bytes, END).map(|at| at + END.len());
        let at = at.ok_or_else(|| ParseError::whole(NAME, "file is truncated: there is no line `*end`"))?;
        self.text(&bytes[..at])?;
        let header = Header::read(bytes, at)?;
        if header.version != self.summary.version {
            let message = format!(
                "the records have version {}, the text has version {}",
                header.version, self.summary.version
            );
            return Err(ParseError::at_byte(NAME, at as u64, message));
        }
        self.declare(&header);
        let records = bytes.get(header.records..).unwrap_or_default().chunks(header.record_size);
        for record in records {
            match Record::read(record, header.version).filter(|_| record.len() == header.record_size) {
                Some(record) => self.record(record),
                // Old versions do not say how many records there are.
                None => self.is_truncated = self.summary.records.is_none(),
            }
        }
        // Where the buffer was full, records are missing anyway.
        let announced = self.summary.records.unwrap_or(0);
        self.is_truncated |= self.records < announced && !self.summary.has_overflow;
        Ok(())
    }

    /// The sections of the text.
    fn text(&mut self, text: &[u8]) -> Result<(), ParseError> {
        let mut section = "";
        for line in lossy(text).lines() {
            match (section, line) {
                (_, "*version" | "*threads" | "*methods" | "*end") => {
                    section = ["*version", "*threads", "*methods"]
                        .into_iter()
                        .find(|name| *name == line)
                        .unwrap_or("");
                }
                ("*version", line) if self.summary.version == 0 => {
                    self.summary.version = line.parse().unwrap_or(u16::MAX);
                    check_version(self.summary.version, TEXT.len())?;
                }
                ("*version", line) => self.summary.setting(line),
                ("*threads", line) => {
                    if let Some((id, name)) = line.split_once('\t')
                        && let Ok(id) = id.parse::<u32>()
                    {
                        // The records have the lower half of the id.
                        self.threads.insert(id & 0xFFFF, name.into());
                    }
                }
                ("*methods", line) => self.method_line(line),
                _ => {}
            }
        }
        Ok(())
    }

    /// A trace in which everything stands between the records.
    fn read_streamed(&mut self, bytes: &[u8]) -> Result<(), ParseError> {
        let header = Header::read(bytes, 0)?;
        if are_packets(header.version) {
            return self.read_packets(bytes, &header);
        }
        // The summary, which names the clocks, comes last.
        let mut has_summary = false;
        for (at, entry) in Entries::new(bytes, &header) {
            match entry {
                Entry::Record(_) => {}
                Entry::Text { kind: 1, text, .. } => self.method_line(lossy(text).trim_end()),
                Entry::Text { kind: 2, thread, text } => {
                    self.threads.insert(thread, lossy(text).into_owned());
                }
                Entry::Text { kind: 3, text, .. } => {
                    self.text(text)?;
                    has_summary = true;
                    break;
                }
                Entry::Text { kind, .. } => {
                    let message = format!("unknown entry of kind {kind}");
                    return Err(ParseError::at_byte(NAME, at as u64, message));
                }
            }
        }
        self.is_truncated = !has_summary;
        self.declare(&header);
        for (_, entry) in Entries::new(bytes, &header) {
            match entry {
                Entry::Record(record) => {
                    if let Some(record) = Record::read(record, header.version) {
                        self.record(record);
                    }
                }
                Entry::Text { kind: 3, .. } => break,
                Entry::Text { .. } => {}
            }
        }
        Ok(())
    }

    /// A trace of packets is read in two passes, because the summary, which names the clocks, comes last.
    fn read_packets(&mut self, bytes: &[u8], header: &Header) -> Result<(), ParseError> {
        let mut packets = Packets::new(bytes);
        let mut has_summary = false;
        loop {
            let at = (bytes.len() - packets.rest.len()) as u64;
            let unknown = |kind| ParseError::at_byte(NAME, at, format!("unknown packet of kind {kind}"));
            match packets.next().map_err(unknown)? {
                Some(Packet::Thread(thread, name)) => {
                    self.threads.insert(thread, lossy(name).into_owned());
                }
                Some(Packet::Method(method, text)) => {
                    let text = lossy(text);
                    self.method(method, text.trim_end().split('\t'));
                }
                Some(Packet::Summary(text)) => {
                    self.text(text)?;
                    has_summary = true;
                }
                Some(Packet::Records(..)) => {}
                None => break,
            }
        }
        self.declare(header);
        self.is_truncated = packets.is_truncated || !has_summary;
        let mut packets = Packets::new(bytes);
        while let Ok(Some(packet)) = packets.next() {
            if let Packet::Records(thread, records) = packet {
                let mut records = Records::new(records, header.version);
                for (method, wall, cpu) in records.by_ref() {
                    let (method, action) = (method & !3, (method & 3) as u32);
                    self.record(Record { thread, method, action, times: [cpu, wall] });
                }
                self.is_truncated |= !records.is_at_end();
            }
        }
        Ok(())
    }

    /// `0x3f4 ↹ android.view.Window ↹ setTitle ↹ (Ljava/lang/String;)V ↹ Window.java`, perhaps with a line.
    fn method_line(&mut self, line: &str) {
        let mut columns = line.split('\t');
        let id = columns.next().unwrap_or_default();
        if let Some(id) = hex(id.strip_prefix("0x").unwrap_or(id).as_bytes()) {
            self.method(id, columns);
        }
    }

    /// The columns of a method after its number.
    fn method<'t>(&mut self, id: u64, mut columns: impl Iterator<Item = &'t str>) {
        let mut next = || columns.next().unwrap_or_default();
        let (class, method, _signature, file, line) = (next(), next(), next(), next(), next());
        // Dalvik wrote `java/lang/String`.
        let name = format!("{}.{method}", class.replace('/', "."));
        let (name, file) = (self.builder.string(&name), self.builder.string(file));
        let line = line.parse::<u32>().unwrap_or(0);
        let function = self.builder.function(Function { name, file, line, column: 0, by_place: false });
        self.methods.insert(id & !3, self.builder.frame(Frame { function, ..Frame::default() }));
    }

    fn declare(&mut self, header: &Header) {
        self.builder.meta.holds_spans = true;
        // Records of a single clock have a single time; of two, the clock of the thread comes first.
        let clocks: &[(&str, usize)] = match &*self.summary.clock {
            "wall" => &[("wall", 0)],
            "thread-cpu" => &[("cpu", 0)],
            // A streamed trace without its summary does not name its clocks.
            _ if header.record_size >= 14 => &[("wall", 1), ("cpu", 0)],
            _ => &[("cpu", 0)],
        };
        for (name, position) in clocks {
            self.builder.metric(name, "nanoseconds");
            self.clocks.push(*position);
        }
        if are_packets(header.version) {
            self.tick = 1;
        }
        let start = i64::try_from(header.start).ok().and_then(|start| start.checked_mul(1000)).unwrap_or(0);
        // ART counts from the start of the machine, Dalvik from 1970.
        if start > THE_YEAR_2000 {
            self.builder.meta.time_ns = Some(start);
            self.start = start;
        }
    }

    fn record(&mut self, record: Record) {
        self.records += 1;
        let thread = record.thread;
        // Records of a thread often follow each other.
        if self.open.get(self.place).is_none_or(|open| open.thread != thread) {
            self.place = *self.places.entry(thread).or_insert(self.open.len());
            if self.place == self.open.len() {
                self.open.push(OpenStack { thread, ..OpenStack::default() });
            }
        }
        let open = &mut self.open[self.place];
        let (path, last) = (open.path, open.last.replace(record.times));
        match record.action {
            0 => open.enter(record.method, &mut self.paths),
            // Else it was entered before the recording started.
            _ => self.unmatched += u64::from(!open.leave(record.method, &self.paths)),
        }
        if let Some(last) = last.filter(|_| path != EMPTY) {
            self.slice(thread, path, last, record.times);
        }
    }

    /// The stack of a path.
    fn stack(&mut self, path: PathId) -> GroupedStack {
        let methods = &self.methods;
        self.paths.stack(path, &mut self.group, &mut self.builder, |builder, method, frames| {
            frames.push(match methods.get(&method) {
                Some(&frame) => frame,
                None => builder.named_frame(&format!("<unknown method ID 0x{method:x}>")),
            });
        })
    }

    /// The time between two records of a thread.
    fn slice(&mut self, thread: u32, path: PathId, from: [u64; 2], to: [u64; 2]) {
        let tick = self.tick;
        let nanoseconds = |ticks: u64| saturated(ticks).saturating_mul(tick);
        // Clocks of 32 bits start again after 70 minutes; a step back is not time.
        let passed = |clock: usize| match to[clock].wrapping_sub(from[clock]) {
            ticks if tick == 1 => nanoseconds(if ticks >> 63 == 0 { ticks } else { 0 }),
            ticks => nanoseconds(Some(ticks & 0xFFFF_FFFF).filter(|ticks| *ticks < 0x8000_0000).unwrap_or(0)),
        };
        self.values.clear();
        for &clock in &self.clocks {
            self.values.push(passed(clock));
        }
        // Without time, a stack is not needed.
        if self.values.iter().all(|value| *value == 0) {
            return;
        }
        let time = self.start.saturating_add(nanoseconds(from[self.clocks[0]]));
        let stack = self.stack(path);
        let labels = self.labels(thread);
        self.group.sample(stack, labels, Some(time), &self.values, &mut self.builder);
    }

    fn labels(&mut self, thread: u32) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        if let Some(&known) = self.labels.get(&thread) {
            return known;
        }
        let name = self.threads.get(&thread).cloned().unwrap_or_default();
        let process = self.summary.process.clone();
        let set = Thread { process, name, tid: thread.to_string() }.labels(&mut self.builder);
        self.labels.insert(thread, set);
        set
    }

    fn finish(mut self) -> ProfileBuilder {
        self.group.write(&mut self.builder);
        if self.summary.has_overflow {
            let message = "the buffer was full before the end of the recording; record with a larger one";
            self.builder.warn(message.into());
        }
        if let Some(depth) = self.paths.cut {
            let message = format!(
                "stacks of {depth} and more frames are cut: together they would need too much memory"
            );
            self.builder.warn(message);
        }
        if self.is_truncated {
            self.builder.warn("file is truncated: records are missing".into());
        }
        if self.unmatched > 0 {
            let calls = plural(self.unmatched, "call had", "calls had");
            let message = format!(
                "{} {calls} begun before the recording; their stacks lack these callers",
                self.unmatched
            );
            self.builder.warn(message);
        }
        self.builder
    }
}

/// In nanoseconds since 1970.
const THE_YEAR_2000: i64 = 946_684_800_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    macro_rules! seed {
        ($name:literal) => {
            include_bytes!(concat!("../../../tests/hostile/seeds/art-trace/", $name)).as_slice()
        };
    }

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.into()), LoadOptions { labels: true, ..LoadOptions::LEAST })
    }

    /// The same calls in each version. Thread 7: `main` from 0 to 100 µs, in it `draw` from 10 to 40 and from 50 to 60, the
    /// second left by an exception; it ran half of the time. Thread 8 is left from a method that it did not enter, then
    /// runs an unknown method for 5 µs.
    #[test]
    fn time_belongs_to_the_stack_until_the_next_record() {
        let dual = "<unknown method ID 0x30> 5000 5000 {process=7 thread=worker tid=8}\n\
            shop.Main.main@Main.java:0 60000 30000 {process=7 thread=main tid=7}\n\
            shop.Main.main@Main.java:0;shop.View.draw@View.java:0 40000 20000 {process=7 thread=main tid=7}";
        let warning = "1 call had begun before the recording; their stacks lack these callers";
        for bytes in
            [seed!("v3.trace"), seed!("v3-streamed.trace"), seed!("v5.trace"), seed!("v5-streamed.trace")]
        {
            let profile = load(bytes).unwrap();
            assert_eq!(to_notation(&profile), dual);
            let names: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
            assert_eq!(names, ["wall", "cpu"]);
            assert_eq!(profile.meta.warnings, [warning]);
        }
        for (bytes, clock) in
            [(seed!("v1.trace"), "cpu"), (seed!("v2.trace"), "wall"), (seed!("v4.trace"), "wall")]
        {
            let profile = load(bytes).unwrap();
            assert_eq!(profile.meta.metrics[0].name, clock);
            let half = if clock == "cpu" { 2 } else { 1 };
            let totals: Vec<i64> = profile.samples.values[0].clone();
            assert_eq!(totals.iter().sum::<i64>(), 100_000 / half + 5_000, "{clock}");
        }
    }

    #[test]
    fn leaving_a_method_leaves_all_that_it_called() {
        let (mut paths, mut open) = (Paths::new(0), OpenStack::default());
        for method in [1, 2, 1, 3] {
            open.enter(method, &mut paths);
        }
        assert!(!open.leave(9, &paths));
        assert!(open.leave(2, &paths));
        assert_eq!((paths.method(open.path), paths.parent(open.path)), (1, EMPTY));
        assert!(!open.leave(2, &paths) && !open.leave(3, &paths));
        open.enter(3, &mut paths);
        assert!(open.leave(1, &paths));
        assert!(open.path == EMPTY && !open.leave(1, &paths));
    }

    #[test]
    fn truncated_and_unknown_files_are_told() {
        let bytes = seed!("v3.trace");
        let cut = load(&bytes[..bytes.len() - 20]).unwrap();
        assert!(cut.meta.warnings.contains(&"file is truncated: records are missing".to_string()));
        let error = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
        assert_eq!(
            error(b"*version\n6\n*end\nSLOW"),
            "art-trace: unsupported version 6; versions 1 to 5 are supported (byte 9)"
        );
        let mut newer = seed!("v4.trace").to_vec();
        newer[4] = 6;
        assert_eq!(sniff(&newer), Confidence::Certain);
        assert_eq!(error(&newer), "art-trace: unsupported version 6; versions 1 to 5 are supported (byte 4)");
        let mut newer = seed!("v3-streamed.trace").to_vec();
        newer[4] = 0xF6;
        assert_eq!(error(&newer), "art-trace: unsupported version 6; versions 1 to 5 are supported (byte 4)");
        assert_eq!(error(b"*version\n3\n"), "art-trace: file is truncated: there is no line `*end`");
    }
}
