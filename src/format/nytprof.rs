//! Reads recordings of Perl's `Devel::NYTProf`: when each subroutine returned, and how much time it took.
//!
//! ```text
//! NYTProf 5 0                      then lines of text: #comment, :attribute=value, !option=value
//! z                                from here on, all is deflated
//! < depth inclusive exclusive name a subroutine returned
//! s fid name first-line last-line  where a subroutine is defined
//! @ fid … name                     the path of a file
//! ```
//!
//! A caller returns after its callees, so the returns are kept, and make stacks when they are followed backwards.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read};

use flate2::read::ZlibDecoder;
use hashbrown::HashMap;

use crate::format::text::lossy;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, Function, LabelSetId, LoadOptions, Profile, ProfileBuilder, StringId};

/// The entry in the list of readable formats.
pub(super) static NYTPROF: Format = Format { name: NAME, title: "NYTProf recording", sniff, read };

const NAME: &str = "nytprof";
const MAGIC: &[u8] = b"NYTProf ";
const VERSION: &str = "5";

/// The longest line of text that is read.
const LONGEST: u64 = 1 << 16;

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut recording = Recording::new(&bytes, options);
    recording.check_version()?;
    let is_whole = match recording.read() {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
        Err(error) => {
            let message =
                format!("the recording is malformed after {} returns: {error}", recording.returns.len());
            return Err(ParseError::whole(NAME, message).into());
        }
    };
    Ok(recording.finish(is_whole)?)
}

/// A subroutine that returned.
struct Return {
    name: StringId,
    /// 1 for what the main program called.
    depth: u32,
    /// Time without the subroutines that it called.
    ticks: f64,
}

/// Where a subroutine is defined.
#[derive(Clone, Copy)]
struct Place {
    file: u32,
    line: u32,
}

struct Recording<'a> {
    input: Box<dyn BufRead + 'a>,
    builder: ProfileBuilder,
    returns: Vec<Return>,
    files: HashMap<u32, StringId>,
    places: HashMap<StringId, Place>,
    ticks_per_second: f64,
    float_size: String,
    text: Vec<u8>,
    has_ended: bool,
}

/// Bytes that stand for nothing that is known.
fn malformed(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidData, what.to_string())
}

impl<'a> Recording<'a> {
    fn new(bytes: &'a [u8], options: LoadOptions) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        builder.metric("calls", "count");
        builder.meta.default_metric = builder.metric("time", "nanoseconds");
        Recording {
            input: Box::new(bytes),
            builder,
            returns: Vec::new(),
            files: HashMap::new(),
            places: HashMap::new(),
            ticks_per_second: 1e6,
            float_size: "8".to_string(),
            text: Vec::new(),
            has_ended: false,
        }
    }

    fn check_version(&mut self) -> Result<(), ParseError> {
        let read = self.line();
        let text = lossy(&self.text);
        let version = text.trim().strip_prefix("NYTProf ").unwrap_or_default().replace(' ', ".");
        if read.is_err() || version.split('.').next() != Some(VERSION) {
            let unsupported = unsupported_version(version, VERSION, VERSION);
            let message = format!("{unsupported}, which Devel::NYTProf 5 and 6 write");
            return Err(ParseError::at_line(NAME, 1, message));
        }
        Ok(())
    }

    fn read(&mut self) -> std::io::Result<()> {
        while let Some(tag) = self.tag()? {
            match tag {
                b'#' => self.line()?,
                b':' | b'!' => self.attribute()?,
                b'z' => {
                    let packed = std::mem::replace(&mut self.input, Box::new(&b""[..]));
                    self.input = Box::new(BufReader::with_capacity(1 << 16, ZlibDecoder::new(packed)));
                }
                b'<' => self.add_return()?,
                b's' => self.subroutine()?,
                b'@' => self.file()?,
                b'P' => {
                    self.integers::<2>()?;
                    let start = self.float()?;
                    self.builder.meta.time_ns = nanoseconds(start, 1.0);
                }
                b'p' => {
                    self.integers::<1>()?;
                    let end = nanoseconds(self.float()?, 1.0);
                    let start = self.builder.meta.time_ns;
                    self.builder.meta.duration_ns =
                        end.zip(start).map(|(end, start)| end.saturating_sub(start));
                    self.has_ended = true;
                }
                // The time of a statement, of a block, and what is not to be counted.
                b'+' => drop(self.integers::<3>()?),
                b'*' => drop(self.integers::<5>()?),
                b'-' => {}
                // A call begins; only its end says of what.
                b'>' => drop(self.integers::<2>()?),
                b'S' => {
                    self.integers::<2>()?;
                    self.string()?;
                }
                b'c' => self.skip_caller()?,
                other => return Err(malformed(format_args!("unknown tag {:?}", char::from(other)))),
            }
        }
        Ok(())
    }

    fn tag(&mut self) -> std::io::Result<Option<u8>> {
        let tag = self.input.fill_buf()?.first().copied();
        self.input.consume(usize::from(tag.is_some()));
        Ok(tag)
    }

    fn line(&mut self) -> std::io::Result<()> {
        self.text.clear();
        let count = (&mut self.input).take(LONGEST).read_until(b'\n', &mut self.text)?;
        if self.text.last() == Some(&b'\n') {
            return Ok(());
        }
        Err(if count as u64 == LONGEST {
            malformed("a line does not end")
        } else {
            ErrorKind::UnexpectedEof.into()
        })
    }

    /// `ticks_per_sec=10000000`
    fn attribute(&mut self) -> std::io::Result<()> {
        self.line()?;
        let text = lossy(&self.text);
        let Some((key, value)) = text.trim_end().split_once('=') else { return Ok(()) };
        match key {
            "ticks_per_sec" => {
                let ticks = value.parse().ok().filter(|ticks: &f64| *ticks >= 1.0);
                self.ticks_per_second = ticks.ok_or_else(|| malformed("ticks_per_sec is not a number"))?;
            }
            "nv_size" => self.float_size = value.to_string(),
            "application" => self.builder.meta.comments.push(value.to_string()),
            _ => {}
        }
        Ok(())
    }

    fn add_return(&mut self) -> std::io::Result<()> {
        let [depth] = self.integers()?;
        self.float()?;
        let ticks = self.float()?;
        let name = self.string()?;
        self.returns.push(Return { name, depth, ticks });
        if self.returns.len().is_multiple_of(1 << 16) {
            self.builder.options().budget.check().map_err(malformed)?;
        }
        Ok(())
    }

    fn subroutine(&mut self) -> std::io::Result<()> {
        let [file] = self.integers()?;
        let name = self.string()?;
        let [line, _] = self.integers()?;
        self.places.insert(name, Place { file, line });
        Ok(())
    }

    fn file(&mut self) -> std::io::Result<()> {
        let [id, ..] = self.integers::<6>()?;
        let name = self.string()?;
        self.files.insert(id, name);
        Ok(())
    }

    /// The sums per caller: the returns have all that they say.
    fn skip_caller(&mut self) -> std::io::Result<()> {
        self.integers::<2>()?;
        self.string()?;
        self.integers::<1>()?;
        for _ in 0..3 {
            self.float()?;
        }
        self.integers::<1>()?;
        self.string().map(drop)
    }

    /// Whole numbers, of which the first byte says how long they are.
    fn integers<const N: usize>(&mut self) -> std::io::Result<[u32; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            let mut first = [0];
            self.input.read_exact(&mut first)?;
            let [first] = first;
            let (high, length) = match first {
                0..0x80 => (first, 0),
                0x80..0xC0 => (first & 0x7F, 1),
                0xC0..0xE0 => (first & 0x1F, 2),
                0xE0..0xFF => (first & 0x0F, 3),
                0xFF => (0, 4),
            };
            let mut rest = [0; 4];
            self.input.read_exact(&mut rest[..length])?;
            *number =
                rest[..length].iter().fold(u32::from(high), |number, byte| number << 8 | u32::from(*byte));
        }
        Ok(numbers)
    }

    /// A number as Perl has it in memory.
    fn float(&mut self) -> std::io::Result<f64> {
        if self.float_size != "8" {
            return Err(malformed(format_args!("numbers of {} bytes are not supported", self.float_size)));
        }
        let mut bytes = [0; 8];
        self.input.read_exact(&mut bytes)?;
        Ok(f64::from_le_bytes(bytes))
    }

    fn string(&mut self) -> std::io::Result<StringId> {
        let mut tag = [0];
        self.input.read_exact(&mut tag)?;
        if !matches!(tag, [b'\'' | b'"']) {
            return Err(malformed("expected a text"));
        }
        let [length] = self.integers()?;
        self.text.clear();
        (&mut self.input).take(length.into()).read_to_end(&mut self.text)?;
        if self.text.len() < length as usize {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(self.builder.string(&lossy(&self.text)))
    }

    fn finish(mut self, is_whole: bool) -> Result<Profile, ParseError> {
        if self.returns.is_empty() {
            let message = "the recording has no calls of subroutines; record them with `NYTPROF=calls=1 perl -d:NYTProf SCRIPT`";
            return Err(ParseError::whole(NAME, message));
        }
        let mut frames: HashMap<StringId, FrameId> = HashMap::new();
        let mut stack: Vec<FrameId> = Vec::new();
        let mut cut = 0u64;
        for returned in self.returns.iter().rev() {
            let above = (returned.depth as usize).saturating_sub(1);
            // Subroutines that had not returned when the recording ended have no names.
            cut += u64::from(stack.len() < above);
            stack.truncate(above);
            let builder = &mut self.builder;
            stack.push(*frames.entry(returned.name).or_insert_with(|| {
                let place = self.places.get(&returned.name);
                let file = place.and_then(|place| self.files.get(&place.file)).copied().unwrap_or_default();
                let line = place.map_or(0, |place| place.line);
                let function = builder.function(Function {
                    name: returned.name,
                    file,
                    line,
                    column: 0,
                    by_place: false,
                });
                builder.frame(Frame { function, ..Frame::default() })
            }));
            let time = nanoseconds(returned.ticks, self.ticks_per_second).unwrap_or(i64::MAX);
            let id = builder.stack(&stack);
            builder.sample(id, LabelSetId::default(), None, &[1, time]);
        }
        if cut > 0 {
            self.builder
                .warn("callers that had not returned when the recording ended are missing".to_string());
        }
        if !is_whole || !self.has_ended {
            self.builder.warn("file is truncated: the end of the process is missing".to_string());
        }
        finished(self.builder)
    }
}

/// A time in whole nanoseconds, if it fits.
fn nanoseconds(ticks: f64, per_second: f64) -> Option<i64> {
    let nanoseconds = (ticks * 1e9 / per_second).round();
    (nanoseconds.abs() < i64::MAX as f64).then_some(nanoseconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    /// Recorded with the default options; see fixtures/README.md.
    const RECORDED: &[u8] = include_bytes!("../../fixtures/nytprof/orders.out");

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.into()), LoadOptions::default())
    }

    /// A return, with whole numbers of ticks.
    fn returned(depth: u8, ticks: f64, name: &str) -> Vec<u8> {
        let times = [9.0_f64.to_le_bytes(), ticks.to_le_bytes()].concat();
        [&[b'<', depth], &times[..], &[b'\'', name.len() as u8], name.as_bytes()].concat()
    }

    fn recording(parts: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = b"NYTProf 5 0\n#a comment\n:ticks_per_sec=1000\n:nv_size=8\n!calls=1\n".to_vec();
        bytes.extend(parts.concat());
        bytes
    }

    fn end() -> Vec<u8> {
        [b"p\x07".to_vec(), 12.5_f64.to_le_bytes().to_vec()].concat()
    }

    #[test]
    fn callers_return_after_their_callees() {
        // main calls a, which calls b twice; then it calls b.
        let calls = [
            returned(2, 3.0, "b"),
            returned(2, 4.0, "b"),
            returned(1, 5.0, "a"),
            returned(1, 1.5, "b"),
            b"@\x01\0\0\0\0\0'\x04x.pls\x01'\x01b\x07\x09".to_vec(),
            end(),
        ];
        let profile = load(&recording(&calls)).unwrap();
        let ms = 1_000_000;
        let expected = format!("a 1 {}\na;b@x.pl:0 2 {}\nb@x.pl:0 1 {}", 5 * ms, 7 * ms, 3 * ms / 2);
        assert_eq!(to_notation(&profile), expected);
        assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
        let function = profile.symbols.functions.iter().find(|function| function.line > 0).unwrap();
        assert_eq!(function.line, 7);
    }

    #[test]
    fn a_cut_recording_says_so() {
        let calls = [returned(3, 2.0, "c"), returned(1, 5.0, "a")];
        let profile = load(&recording(&calls)).unwrap();
        assert_eq!(
            profile.meta.warnings,
            [
                "callers that had not returned when the recording ended are missing",
                "file is truncated: the end of the process is missing"
            ]
        );
        let cut = &RECORDED[..RECORDED.len() / 2];
        assert_eq!(
            load(cut).unwrap().meta.warnings.last().unwrap(),
            "file is truncated: the end of the process is missing"
        );
    }

    #[test]
    fn other_versions_and_recordings_without_calls_are_refused() {
        let error = |bytes: &[u8]| load(bytes).unwrap_err().to_string();
        assert_eq!(
            error(b"NYTProf 2 1\n# Perl"),
            "nytprof: unsupported version 2.1; only version 5 is supported, which Devel::NYTProf 5 and 6 write (line 1)"
        );
        assert!(error(&recording(&[end()])).contains("NYTPROF=calls=1"));
        assert!(error(&recording(&[b"?".to_vec()])).contains("unknown tag '?'"));
        assert!(error(b"NYTProf 5 0\n:nv_size=16\n<\x01").contains("numbers of 16 bytes"));
    }
}
