//! Reads MOJO, austin's binary format: a stream of events, of which a sample is several.
//!
//! ```text
//! MOJ 3                      the version
//! metadata "mode" "wall"
//! stack 8374 0 "20b6"        a sample of process 8374, interpreter 0, thread 0x20b6
//! string 7 "/srv/app.py"     strings and frames are defined when they are needed first, per process
//! frame 9 7 8 92 …           frame 9 is line 92 of function (string) 8 in file (string) 7
//! frame reference 9          the stack, root first
//! time 10076
//! ```
//!
//! The format has no specification other than austin and its libraries (<https://github.com/P403n1x87/austin>). Version 1
//! (austin 3.4) has frames without columns and samples without an interpreter; from austin 4 on, a sample can repeat the stack
//! of the one before, and there are asyncio tasks.

use hashbrown::HashMap;

use crate::format::austin::INVALID;
use crate::format::austin::recording::{Measured, Mode, Recording, SampleStack};
use crate::format::ranges::Ranges;
use crate::format::recent::Recent;
use crate::format::text::lossy;
use crate::format::varint::first_number;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, unsupported_version};
use crate::profile::{Frame, FrameId, LoadOptions, MappingId, Profile, StackId};

/// The entry in the list of readable formats.
pub(in crate::format) static MOJO: Format = Format { name: NAME, title: "austin MOJO", sniff, read };

const NAME: &str = "mojo";
const MAGIC: &[u8] = b"MOJ";

/// The newest version that is known.
const NEWEST: u8 = 4;

/// The event for a frame of a stack.
const FRAME: u8 = 5;

fn sniff(head: &[u8]) -> Confidence {
    // The version is followed by an event.
    let is_mojo = head.starts_with(MAGIC) && head.get(3).is_some_and(|version| (1..32).contains(version));
    if is_mojo { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let recording = recording(&bytes, options, source.may_use_threads())?;
    // Making columns of the samples takes memory for a while.
    drop(bytes);
    Ok(recording.finish()?)
}

fn recording(bytes: &[u8], options: LoadOptions, may_use_threads: bool) -> Result<Recording, ParseError> {
    let version = bytes.get(MAGIC.len()).copied().unwrap_or_default();
    if !bytes.starts_with(MAGIC) || version == 0 {
        return Err(ParseError::at_byte(NAME, 0, "expected `MOJ` and a version"));
    }
    if version > NEWEST {
        return Err(ParseError::at_byte(NAME, 3, unsupported_version(version, 1, NEWEST)));
    }
    let mut reader = MojoReader {
        events: Events { bytes, at: MAGIC.len() + 1 },
        version,
        recording: Recording::new(NAME, options, may_use_threads),
        processes: vec![Defined::default()],
        recent: Recent::default(),
        redefines: false,
        places: HashMap::from_iter([(0, 0)]),
        place: 0,
        process: 0,
        stacks: HashMap::new(),
        extended: HashMap::new(),
        tasks: HashMap::new(),
        maps: Ranges::default(),
        start: 0,
        sample: None,
        frames_of_task: 0,
        ids: Vec::new(),
    };
    let mut is_cut = false;
    while reader.events.at < bytes.len() && !is_cut {
        reader.start = reader.events.at;
        if let Err(problem) = reader.event() {
            let start = reader.start;
            is_cut = problem == Problem::Truncated && reader.recording.has_samples();
            if !is_cut {
                return Err(ParseError::at_byte(NAME, start as u64, problem.message()));
            }
            let warning = format!("file is truncated at byte {start}, within an event");
            reader.recording.builder.warn(warning);
        }
    }
    reader.end_sample();
    // Austin writes the duration when it ends.
    if reader.recording.builder.meta.duration_ns.is_none() && !is_cut {
        if !reader.recording.has_samples() {
            let message = "file is truncated within its header: it has neither samples nor a duration";
            return Err(ParseError::whole(NAME, message));
        }
        let warning = "the end of the recording is missing: the file is truncated, or austin was killed";
        reader.recording.builder.warn(warning.to_string());
    }
    Ok(reader.recording)
}

/// Why an event cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Truncated,
    UnknownEvent(u8),
    NoSample,
    UnknownString,
    UnknownFrame,
    Number,
}

impl Problem {
    fn message(self) -> String {
        match self {
            Problem::Truncated => "file is truncated within an event".to_string(),
            Problem::UnknownEvent(event) => format!("unknown kind of event: {event}"),
            Problem::NoSample => "event outside of a sample".to_string(),
            Problem::UnknownString => "event refers to a string that is not defined".to_string(),
            Problem::UnknownFrame => "event refers to a frame that is not defined".to_string(),
            Problem::Number => "number of more than 64 bits".to_string(),
        }
    }
}

/// The parts of events.
struct Events<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Events<'a> {
    fn byte(&mut self) -> Result<u8, Problem> {
        let byte = self.bytes.get(self.at).copied().ok_or(Problem::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    /// A number: six bits and the sign in the first byte, then seven bits per byte, the lowest first.
    #[inline]
    fn number(&mut self) -> Result<i64, Problem> {
        let first = self.byte()?;
        if first & 0xC0 == 0 {
            return Ok(first.into());
        }
        if let (true, Some(bytes)) = (first & 0x80 != 0, self.bytes[self.at..].first_chunk())
            && let (high, length @ ..9) = first_number(*bytes)
        {
            self.at += length;
            let number = (high << 6 | u64::from(first & 0x3F)).cast_signed();
            return Ok(if first & 0x40 != 0 { -number } else { number });
        }
        self.other_number(first)
    }

    /// A negative number, a large one, or one among the last bytes.
    fn other_number(&mut self, first: u8) -> Result<i64, Problem> {
        let (mut number, mut shift, mut byte) = (u64::from(first & 0x3F), 6, first);
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift >= 63 && bits >> (64 - shift.min(64)) != 0 {
                return Err(Problem::Number);
            }
            number |= bits.checked_shl(shift).unwrap_or(0);
            shift = (shift + 7).min(64);
        }
        // Numbers of frames are addresses, which may use all bits.
        let number = number.cast_signed();
        Ok(if first & 0x40 != 0 { number.wrapping_neg() } else { number })
    }

    /// A text, which ends with a zero.
    fn text(&mut self) -> Result<&'a [u8], Problem> {
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr(0, rest).ok_or(Problem::Truncated)?;
        self.at += length + 1;
        Ok(&rest[..length])
    }
}

/// A frame, and whether it is native code: those above Python's own are not repeated.
#[derive(Clone, Copy)]
struct MojoFrame {
    frame: FrameId,
    is_native: bool,
}

/// The sample that is being read.
struct Sample<'a> {
    process: i64,
    thread: &'a [u8],
    /// Whether the frames extend the stack of the thread's previous sample.
    repeats: bool,
    frames: Vec<MojoFrame>,
    measured: Measured,
    task: i64,
}

/// The stack of a thread's previous sample, without the native code that Python had called.
enum LastStack {
    /// Its frames. A stack is made of them only if it is repeated.
    Frames(Vec<FrameId>),
    Whole(StackId),
}

/// Tasks have numbers per process.
type Key = (i64, i64);

/// The strings and frames of a process, by their numbers.
#[derive(Default)]
struct Defined<'a> {
    strings: HashMap<i64, &'a [u8]>,
    frames: HashMap<i64, MojoFrame>,
}

struct MojoReader<'a> {
    events: Events<'a>,
    version: u8,
    recording: Recording,
    /// What each process defined. The first one is what was defined before the first sample.
    processes: Vec<Defined<'a>>,
    /// The frames that were on stacks last, by their numbers and the places of their processes.
    recent: Recent<(i64, usize), MojoFrame>,
    /// Whether frames are defined that may be those of other processes, so that no frame is kept as recent. No recorder does that.
    redefines: bool,
    /// The places of processes in `processes`, and that of the sample's.
    places: HashMap<i64, usize>,
    place: usize,
    /// The process of the sample; 0 before the first one.
    process: i64,
    /// The last stack of each thread.
    stacks: HashMap<(i64, &'a [u8]), LastStack>,
    /// A stack and the frames that extend it.
    extended: HashMap<(StackId, Vec<FrameId>), StackId>,
    /// The names of asyncio tasks.
    tasks: HashMap<Key, &'a [u8]>,
    maps: Ranges<MappingId>,
    /// Where the event that is read starts.
    start: usize,
    sample: Option<Sample<'a>>,
    /// How many of the next frames belong to the stack of a task rather than to the sample.
    frames_of_task: i64,
    /// The frames of the sample, for looking up its stack.
    ids: Vec<FrameId>,
}

impl<'a> MojoReader<'a> {
    fn event(&mut self) -> Result<(), Problem> {
        match self.events.byte()? {
            1 => {
                let (key, value) = (self.events.text()?, self.events.text()?);
                self.metadata(&lossy(key), &lossy(value));
            }
            2 => {
                let process = self.events.number()?;
                if self.version >= 3 {
                    self.events.number()?;
                }
                let thread = self.events.text()?;
                let mut frames = self.end_sample();
                frames.clear();
                if self.process != process {
                    self.place = *self.places.entry(process).or_insert(self.processes.len());
                    if self.place == self.processes.len() {
                        self.processes.push(Defined::default());
                    }
                }
                let measured = Measured::default();
                self.process = process;
                self.sample = Some(Sample { process, thread, repeats: false, frames, measured, task: 0 });
            }
            3 => self.define_frame()?,
            4 => self.state(INVALID)?,
            FRAME => self.frames()?,
            6 => {
                let name = lossy(self.events.text()?);
                let frame = self.recording.builder.named_frame(&name);
                self.sample()?.frames.push(MojoFrame { frame, is_native: true });
            }
            7 => self.state("GC")?,
            8 => self.sample()?.measured.is_idle = true,
            9 => self.sample()?.measured.time = self.events.number()?,
            10 => self.sample()?.measured.memory = self.events.number()?,
            11 => {
                let (key, text) = (self.events.number()?, self.events.text()?);
                self.processes[self.place].strings.insert(key, text);
            }
            12 => {
                self.events.number()?;
            }
            13 => self.sample()?.repeats = true,
            14 => {
                let (task, name) = (self.events.number()?, self.events.number()?);
                self.frames_of_task = self.events.number()?;
                if name != 0 {
                    let name = self.string(name)?;
                    self.tasks.insert((self.process, task), name);
                }
            }
            15 => {
                self.events.number()?;
                self.events.number()?;
            }
            16 => self.sample()?.task = self.events.number()?,
            event => return Err(Problem::UnknownEvent(event)),
        }
        Ok(())
    }

    /// Reads the frames of a stack, whose events follow each other.
    fn frames(&mut self) -> Result<(), Problem> {
        loop {
            let number = self.events.number()?;
            let key = (number, self.place);
            let frame = match self.recent.get(number.cast_unsigned(), key) {
                Some(frame) => frame,
                None => self.other_frame(number)?,
            };
            if self.frames_of_task > 0 {
                self.frames_of_task -= 1;
            } else {
                self.sample()?.frames.push(frame);
            }
            if self.events.bytes.get(self.events.at) != Some(&FRAME) {
                return Ok(());
            }
            self.start = self.events.at;
            self.events.at += 1;
        }
    }

    /// A frame that is not among the recent ones.
    fn other_frame(&mut self, number: i64) -> Result<MojoFrame, Problem> {
        let frame = self.defined(|defined| defined.frames.get(&number).copied());
        let frame = frame.ok_or(Problem::UnknownFrame)?;
        if !self.redefines {
            self.recent.set(number.cast_unsigned(), (number, self.place), frame);
        }
        Ok(frame)
    }

    fn sample(&mut self) -> Result<&mut Sample<'a>, Problem> {
        self.sample.as_mut().ok_or(Problem::NoSample)
    }

    /// What the sample's process defined. In austin 3.4, definitions may come before the first sample.
    fn defined<T>(&self, get: impl Fn(&Defined<'a>) -> Option<T>) -> Option<T> {
        get(&self.processes[self.place]).or_else(|| get(&self.processes[0]))
    }

    fn string(&self, number: i64) -> Result<&'a [u8], Problem> {
        match number {
            0 => Ok(b""),
            1 => Ok(b"<unknown>"),
            _ => {
                let text = self.defined(|defined| defined.strings.get(&number).copied());
                text.ok_or(Problem::UnknownString)
            }
        }
    }

    fn metadata(&mut self, key: &str, value: &str) {
        match key {
            "map" => {
                self.map(value);
            }
            // What samples have does not change after the first one.
            "mode" if self.recording.has_samples() => {}
            _ => self.recording.metadata(key, value),
        }
    }

    /// `400000-423000 /usr/bin/python3.8`
    fn map(&mut self, text: &str) -> Option<()> {
        let (range, file) = text.split_once(' ')?;
        let (start, limit) = range.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let limit = u64::from_str_radix(limit, 16).ok()?;
        let builder = &mut self.recording.builder;
        let mapping = builder.named_mapping(file);
        self.maps.insert(start, limit, mapping);
        Some(())
    }

    fn define_frame(&mut self) -> Result<(), Problem> {
        let [key, file, name, line] = [(); 4].map(|()| self.events.number());
        let (key, file, name, line) = (key?, self.string(file?)?, self.string(name?)?, line?);
        if self.version >= 2 {
            for _ in 0..3 {
                self.events.number()?;
            }
        }
        let (file, name) = (lossy(file), lossy(name));
        let is_special = file.starts_with('<') && file.ends_with('>');
        let is_native = !file.ends_with(".py") && !is_special;
        let address = file.strip_prefix("native@").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let frame = match address {
            Some(address) => {
                let mapping = self.maps.at(address).copied().unwrap_or_default();
                let builder = &mut self.recording.builder;
                let function = match &*name {
                    "" | "<unknown>" => builder.unnamed_function(mapping),
                    name => builder.named_function(name, ""),
                };
                Frame { function, address, mapping, ..Frame::default() }
            }
            None => {
                let function = self.recording.builder.script_function(&name, &file, 0);
                Frame { function, line: u32::try_from(line).unwrap_or(0), ..Frame::default() }
            }
        };
        let frame = self.recording.builder.frame(frame);
        // Frames of the first place may be those of other processes.
        if self.place == 0 && self.processes.len() > 1 && !self.redefines {
            self.redefines = true;
            self.recent = Recent::default();
        }
        let frame = MojoFrame { frame, is_native };
        self.processes[self.place].frames.insert(key, frame);
        if !self.redefines {
            self.recent.set(key.cast_unsigned(), (key, self.place), frame);
        }
        Ok(())
    }

    /// A frame for what the interpreter is doing. Like native code, it is not repeated.
    fn state(&mut self, name: &str) -> Result<(), Problem> {
        let frame = self.recording.builder.named_frame(name);
        self.sample()?.frames.push(MojoFrame { frame, is_native: true });
        Ok(())
    }

    /// Keeps the stack of a sample for those that repeat it. `ids` are its frames.
    fn keep(&mut self, sample: &Sample<'a>) {
        let kept = &self.ids[..kept(sample)];
        match self.stacks.entry((sample.process, sample.thread)).or_insert(LastStack::Frames(Vec::new())) {
            LastStack::Frames(frames) => {
                frames.clear();
                frames.extend_from_slice(kept);
            }
            last @ LastStack::Whole(_) => *last = LastStack::Frames(kept.to_vec()),
        }
    }

    /// The stack of a sample that repeats one. Its work is in proportion to the frames of the sample itself, not to those it repeats: a
    /// file of a few bytes per sample may repeat a stack of thousands of frames. `ids` are the frames of the sample itself.
    fn repeated(&mut self, sample: &Sample<'a>) -> StackId {
        let key = (sample.process, sample.thread);
        let builder = &mut self.recording.builder;
        let base = match self.stacks.get(&key) {
            Some(LastStack::Whole(stack)) => *stack,
            Some(LastStack::Frames(frames)) => builder.stack(frames),
            None => builder.stack(&[]),
        };
        let kept = kept(sample);
        let ids = std::mem::take(&mut self.ids);
        let stack = self.extend(base, &ids);
        let last = if kept == 0 { base } else { self.extend(base, &ids[..kept]) };
        self.stacks.insert(key, LastStack::Whole(last));
        self.ids = ids;
        stack
    }

    /// The stack with more frames at its leaf.
    fn extend(&mut self, base: StackId, frames: &[FrameId]) -> StackId {
        if frames.is_empty() {
            return base;
        }
        let builder = &mut self.recording.builder;
        *self.extended.entry((base, frames.to_vec())).or_insert_with(|| {
            let all = [builder.stack_frames(base), frames].concat();
            builder.stack(&all)
        })
    }

    /// Adds the sample, and returns the memory of its frames.
    fn end_sample(&mut self) -> Vec<MojoFrame> {
        let Some(sample) = self.sample.take() else { return Vec::new() };
        self.frames_of_task = 0;
        self.ids.clear();
        self.ids.extend(sample.frames.iter().map(|frame| frame.frame));
        let stack = if sample.repeats {
            self.recording.write();
            SampleStack::Known(self.repeated(&sample))
        } else {
            self.keep(&sample);
            SampleStack::Frames(&self.ids)
        };
        let is_working = !(sample.measured.is_idle && self.recording.mode() == Mode::Cpu);
        if is_working {
            let tasks = &self.tasks;
            self.recording.sample(stack, sample.measured, |labels| {
                labels.number("process", sample.process);
                // Threads have hexadecimal numbers.
                let thread = std::str::from_utf8(sample.thread).ok();
                match thread.and_then(|hex| i64::from_str_radix(hex, 16).ok()) {
                    Some(number) => labels.number("tid", number),
                    None => labels.text("tid", &lossy(sample.thread)),
                }
                if let Some(task) = tasks.get(&(sample.process, sample.task)) {
                    labels.text_if_known("task", &lossy(task));
                }
            });
        } else if let SampleStack::Frames(frames) = stack {
            self.recording.stack(frames);
        }
        sample.frames
    }
}

/// How many frames of a sample are kept for samples that repeat it: native code that Python has called will have returned by then.
fn kept(sample: &Sample<'_>) -> usize {
    sample.frames.iter().rposition(|frame| !frame.is_native).map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL)
    }

    #[test]
    fn austin_4_repeats_stacks_and_names_tasks() {
        let mut bytes = b"MOJ\x04\x01mode\0wall\0\x02\x07\x00a\0".to_vec();
        bytes.extend(
            b"\x0b\x02a.py\0\x0b\x03main\0\x0b\x04work\0\x0b\x05poll\0\x0b\x06Task-1\0\x0b\x08lib.so\0",
        );
        // main at line 5, work at line 6, and poll in native code.
        bytes.extend(b"\x03\x0a\x02\x03\x05\0\0\0\x05\x0a\x03\x0b\x02\x04\x06\0\0\0\x05\x0b\x03\x0c\x08\x05\x00\0\0\0\x05\x0c");
        // 10 µs; the stack of a task is not the sample's.
        bytes.extend(b"\x0e\x01\x06\x01\x05\x0a\x10\x01\x09\x0a");
        // Again, but without the native code, and after 65 µs.
        bytes.extend(b"\x02\x07\x00a\0\x0d\x09\x81\x01");
        let samples = bytes.len();
        bytes.extend(b"\x01duration\x0075\0");
        let expected = "main@a.py:5;work@a.py:6 65 {process=7 tid=10}\n\
                        main@a.py:5;work@a.py:6;poll@lib.so:0 10 {process=7 task=Task-1 tid=10}";
        assert_eq!(to_notation(&load(&bytes).unwrap()), expected);
        assert_eq!(load(&bytes).unwrap().meta.warnings, Vec::<String>::new());
        // A truncated file keeps its whole events.
        let cut = load(&bytes[..samples - 1]).unwrap();
        let warning = format!("file is truncated at byte {}, within an event", samples - 3);
        assert_eq!((cut.meta.metrics[0].total, cut.meta.warnings), (10, vec![warning]));
        let cut = load(&bytes[..samples]).unwrap();
        assert_eq!((cut.meta.metrics[0].total, cut.meta.warnings.len()), (75, 1));
    }

    #[test]
    fn a_file_cut_within_its_header_is_refused() {
        let header = b"MOJ\x04\x01austin\x004.0.0\0\x01mode\0wall\0";
        for cut in [4, 18, header.len()] {
            let error = load(&header[..cut]);
            assert!(cut < 18 || error.is_err());
            let error = read(&mut Source::from_bytes(header[..cut].to_vec()), LoadOptions::ALL).unwrap_err();
            assert!(error.to_string().contains("file is truncated within"), "{cut}: {error}");
        }
    }

    #[test]
    fn the_mode_does_not_change_after_a_sample() {
        let bytes = b"MOJ\x03\x01mode\0wall\0\x02\x07\0a\0\x09\x05\x02\x07\0a\0\x01mode\0full\0\x09\x05\x01duration\x009\0";
        let profile = load(bytes).unwrap();
        assert_eq!((profile.meta.metrics.len(), profile.meta.metrics[0].total), (1, 10));
    }

    /// A repeated stack costs nothing: the garbage collector is not repeated, and what extends the stack is.
    #[test]
    fn repeats_extend_the_last_stack_of_python() {
        let mut bytes = b"MOJ\x04\x01mode\0wall\0\x02\x07\x00a\0".to_vec();
        bytes.extend(
            b"\x0b\x02a.py\0\x0b\x03main\0\x0b\x04work\0\x03\x0a\x02\x03\x05\0\0\0\x03\x0b\x02\x04\x06\0\0\0",
        );
        // main, collecting garbage; then again, and again; then main calls work; then that again.
        bytes.extend(b"\x05\x0a\x07\x09\x01\x02\x07\x00a\0\x0d\x07\x09\x02\x02\x07\x00a\0\x0d\x09\x04");
        bytes.extend(b"\x02\x07\x00a\0\x0d\x05\x0b\x09\x08\x02\x07\x00a\0\x0d\x09\x10\x01duration\x009\0");
        let expected = "main@a.py:5 4 {process=7 tid=10}\nmain@a.py:5;GC 1 {process=7 tid=10}\n\
                        main@a.py:5;GC 2 {process=7 tid=10}\nmain@a.py:5;work@a.py:6 16 {process=7 tid=10}\n\
                        main@a.py:5;work@a.py:6 8 {process=7 tid=10}";
        assert_eq!(to_notation(&load(&bytes).unwrap()), expected);
    }

    #[test]
    fn newer_versions_and_unknown_events_are_refused() {
        let error = load(b"MOJ\x05\x01a\0b\0").unwrap_err().to_string();
        assert!(error.contains("unsupported version 5; versions 1 to "), "{error}");
        let error = load(b"MOJ\x03\x63").unwrap_err().to_string();
        assert_eq!(error, "mojo: unknown kind of event: 99 (byte 4)");
        let error = load(b"MOJ\x03\x05\x01").unwrap_err().to_string();
        assert_eq!(error, "mojo: event refers to a frame that is not defined (byte 4)");
    }
}
