//! heaptrack's recordings of memory allocations, interpreted (versions 0 to 3) or raw (`heaptrack --raw`).
//!
//! ```text
//! v 10550 3                     heaptrack 1.5.50, file version 3
//! X ./shop                      the command
//! s 4 main                      strings: the length, in hexadecimal like all numbers (from version 3 on), and the text
//! i 5d7ea53faa4f 1 5 6 d        an instruction: address, module, and innermost first function, file, line of each frame
//! t 7 6                         a trace: instruction and the trace of its caller
//! a 18 7                        a kind of allocation: size and trace
//! + 1                           an allocation of a kind
//! - 1                           it is freed
//! c 10                          milliseconds since the start
//! ```
//!
//! Raw recordings have the addresses in their traces, which modules are mapped where (`m`), and a pointer per allocation.
//! The metrics are those of `heaptrack_print`, and the number of allocated bytes.

mod costs;
mod raw;
mod suppressions;
mod traces;

use crate::format::allocators::MALLOC;
use crate::format::heaptrack::costs::{Costs, Kind};
use crate::format::heaptrack::raw::Modules;
use crate::format::heaptrack::suppressions::Suppressions;
use crate::format::heaptrack::traces::Traces;
use crate::format::text::{BadLines, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static HEAPTRACK: Format = Format { name: NAME, title: "heaptrack", sniff, read };

const NAME: &str = "heaptrack";

/// The newest version that is read.
const NEWEST: u64 = 3;

/// The metrics. `alloc_space` is not in heaptrack's reports.
const METRICS: [(&str, &str); 5] = [
    ("allocations", "count"),
    ("alloc_space", "bytes"),
    ("temporary", "count"),
    ("peak", "bytes"),
    ("leaked", "bytes"),
];

/// `v 10400 3`, followed by a line that starts with a letter or sign of this format.
fn sniff(head: &[u8]) -> Confidence {
    let mut lines = head.split(|&byte| byte == b'\n');
    let version = lines.next().and_then(|line| line.strip_prefix(b"v ")).map(<[u8]>::trim_ascii_end);
    let is_version = version.is_some_and(|version| {
        version.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b' ') && version.len() >= 4
    });
    let is_known = |line: &[u8]| {
        matches!(line, [b'x' | b'X' | b'I' | b'A' | b's' | b'S' | b'm' | b't' | b'c', b' ', ..])
    };
    match lines.next() {
        Some(line) if is_version && is_known(line) => Confidence::Certain,
        _ => Confidence::No,
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = HeaptrackReader::new(options);
    let mut text = Vec::new();
    while let Some(line) = source.line()? {
        reader.number += 1;
        if let Some(missing) = reader.missing(line) {
            // A string may contain line ends.
            text.clear();
            text.extend_from_slice(line);
            let length = line.len() + missing;
            while text.len() < length
                && let Some(more) = source.line()?
            {
                reader.number += 1;
                text.push(b'\n');
                text.extend_from_slice(more);
            }
            reader.line(&text)?;
        } else {
            reader.line(line)?;
        }
    }
    Ok(finished(reader.finish()?)?)
}

struct HeaptrackReader {
    builder: ProfileBuilder,
    version: u64,
    /// The number of the current line.
    number: u64,
    traces: Traces,
    costs: Costs,
    suppressions: Suppressions,
    /// The modules of a raw recording.
    modules: Option<Modules>,
    milliseconds: u64,
    /// Whether there is the comment with which `heaptrack_interpret` ends.
    is_whole: bool,
    bad: BadLines,
    good: u64,
}

impl HeaptrackReader {
    fn new(options: LoadOptions) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        for (name, unit) in METRICS {
            builder.metric(name, unit);
        }
        builder.meta.default_metric = 3;
        builder.meta.drop_frames = MALLOC.into();
        HeaptrackReader {
            builder,
            version: 0,
            number: 0,
            traces: Traces::default(),
            costs: Costs::default(),
            suppressions: Suppressions::default(),
            modules: None,
            milliseconds: 0,
            is_whole: false,
            bad: BadLines::default(),
            good: 0,
        }
    }

    /// How many bytes of the string on a line are on the lines that follow; `None` if it is whole.
    fn missing(&self, line: &[u8]) -> Option<usize> {
        if self.version < 3 || line.first() != Some(&b's') {
            return None;
        }
        let mut words = Words(line.get(1..)?);
        let length = usize::try_from(words.number()?).ok()?;
        length
            .checked_sub(words.0.len().checked_sub(1)?)
            .filter(|&missing| missing > 0 && missing <= MOST_MISSING)
    }

    fn line(&mut self, line: &[u8]) -> Result<(), ParseError> {
        let (&mode, rest) = line.split_first().unwrap_or((&b'#', b""));
        if mode == b'v' {
            return self.version(rest);
        }
        match self.entry(mode, rest) {
            Some(()) => self.good += 1,
            None => self.bad.add(self.number),
        }
        Ok(())
    }

    fn version(&mut self, rest: &[u8]) -> Result<(), ParseError> {
        let mut words = Words(rest);
        let program = words.number().unwrap_or(0);
        // The first version of files was written before they had a version of their own.
        self.version = words.number().unwrap_or(u64::from(program == 0x1_0200));
        if self.version > NEWEST {
            let message =
                format!("unsupported version {}; versions up to {NEWEST} are supported", self.version);
            return Err(ParseError::at_line(NAME, self.number, message));
        }
        Ok(())
    }

    fn entry(&mut self, mode: u8, rest: &[u8]) -> Option<()> {
        let mut words = Words(rest);
        match mode {
            b'+' => self.allocation(&mut words),
            b'-' => self.release(&mut words),
            b'a' => self.costs.add_kind(words.number()?, words.index()?),
            b't' => {
                let (place, parent) = (words.number()?, words.index()?);
                let instruction = match &mut self.modules {
                    Some(modules) => modules.instruction(&mut self.builder, &mut self.traces, place)?,
                    None => u32::try_from(place).ok()?,
                };
                self.traces.add(instruction, parent)
            }
            b'i' => {
                let (address, module) = (words.number()?, words.index()?);
                let mut places = Vec::new();
                // The file and the line may be missing.
                while let Some(function) = words.index() {
                    let (file, line) = (words.index().unwrap_or(0), words.number().unwrap_or(0));
                    places.push((function, file, u32::try_from(line).unwrap_or(0)));
                }
                self.traces.add_instruction(&mut self.builder, address, module, &places)
            }
            b's' => {
                let text = if self.version >= 3 { words.sized_text()? } else { rest.strip_prefix(b" ")? };
                let text = self.builder.string(&lossy(text));
                self.traces.strings.push(text);
                Some(())
            }
            b'c' => {
                self.milliseconds = words.number()?;
                Some(())
            }
            b'X' => {
                let command = lossy(rest.trim_ascii()).into_owned();
                if self.modules.is_none() {
                    // The first mapping of a profile is assumed to be the program.
                    self.builder.named_mapping(command.split(' ').next().unwrap_or_default());
                }
                self.builder.meta.comments.push(command);
                Some(())
            }
            b'S' => {
                self.suppressions.add(&lossy(rest));
                Some(())
            }
            b'x' => {
                let path = if self.version >= 3 { words.sized_text()? } else { rest.trim_ascii() };
                let program = self.builder.string(&lossy(path));
                self.modules = Some(Modules::new(&mut self.builder, program));
                Some(())
            }
            b'm' => {
                let path = if self.version >= 3 { words.sized_text()? } else { words.word() };
                let modules = self.modules.get_or_insert_default();
                if path == b"-" {
                    modules.clear();
                    return Some(());
                }
                let path = self.builder.string(&lossy(path));
                let start = words.number()?;
                let mut sections = Vec::new();
                while let (Some(offset), Some(size)) = (words.number(), words.number()) {
                    sections.push((offset, size));
                }
                modules.add(&mut self.builder, path, start, &sections);
                Some(())
            }
            b'#' => {
                self.is_whole |= rest.starts_with(b" strings:");
                Some(())
            }
            // The machine, resident memory, that it was attached to a running program.
            b'I' | b'R' | b'A' => Some(()),
            _ => None,
        }
    }

    fn allocation(&mut self, words: &mut Words<'_>) -> Option<()> {
        if self.version > 0 && self.modules.is_none() {
            return self.costs.allocate(words.index()?);
        }
        let (size, trace, pointer) = (words.number()?, words.index()?, words.number()?);
        let by_pointer = self.modules.is_none();
        self.costs.allocate_at(Kind { size, trace }, pointer, by_pointer)
    }

    fn release(&mut self, words: &mut Words<'_>) -> Option<()> {
        if self.version > 0 && self.modules.is_none() {
            return self.costs.release(words.index()?);
        }
        let by_pointer = self.modules.is_none();
        self.costs.release_at(words.number()?, by_pointer);
        Some(())
    }

    fn finish(mut self) -> Result<ProfileBuilder, ParseError> {
        let milliseconds = i64::try_from(self.milliseconds).unwrap_or(0);
        self.builder.meta.duration_ns = milliseconds.checked_mul(1_000_000).filter(|&ns| ns > 0);
        let suppressed = self.suppressions.matches(&self.builder, &self.traces);
        let mut suppressed_bytes = 0_i64;
        for site in self.costs.sites() {
            let stack = self.traces.stack(&mut self.builder, site.trace);
            let is_suppressed = suppressed.get(site.trace as usize).copied().unwrap_or(false);
            if is_suppressed {
                suppressed_bytes = suppressed_bytes.saturating_add(site.leaked);
            }
            let leaked = if is_suppressed { 0 } else { site.leaked };
            let values = [site.allocations, site.allocated, site.temporary, site.peak, leaked];
            self.builder.sample(stack, LabelSetId::default(), None, &values);
        }
        if suppressed_bytes > 0 {
            let comment = format!(
                "{suppressed_bytes} leaked bytes are suppressed: not counted, as in heaptrack's reports"
            );
            self.builder.meta.comments.push(comment);
        }
        // Raw recordings have no end marker.
        if !self.is_whole && self.version >= 2 && self.modules.is_none() {
            self.builder.warn("file is truncated: heaptrack's last lines are missing".into());
        }
        self.bad.settle(&mut self.builder, self.good, "not a line of heaptrack's format")?;
        Ok(self.builder)
    }
}

/// The longest continuation of a string on further lines.
const MOST_MISSING: usize = 1 << 20;

/// The rest of a line, as words separated by blanks.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// A number in hexadecimal digits.
    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut rest = self.0;
        while let [b' ', after @ ..] = rest {
            rest = after;
        }
        let (mut number, mut digits) = (0_u64, 0);
        while let [byte, after @ ..] = rest {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                b' ' => break,
                _ => return None,
            };
            number = number << 4 | u64::from(digit);
            digits += 1;
            rest = after;
        }
        self.0 = rest;
        (1..=16).contains(&digits).then_some(number)
    }

    fn index(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn word(&mut self) -> &'a [u8] {
        let text = self.0.trim_ascii_start();
        let end = text.iter().position(|&byte| byte == b' ').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        word
    }

    /// A string after its length.
    fn sized_text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.strip_prefix(b" ").unwrap_or_default().split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }
}

#[cfg(test)]
mod tests;
