//! Code that a process compiled while it ran, as virtual machines list it for `perf`.
//!
//! ```text
//! 7febcafe4800 100 JS:^fib /srv/fib.js:1:13
//! ```
//!
//! `/tmp/perf-PID.map` has a function per line: its start, its size, its name. A jitdump (`dump.rs`) also has times, because code
//! is moved and replaced, and source lines.

use std::fmt;
use std::io::{self, BufRead, Read};

use hashbrown::HashMap;

use crate::format::ranges::Ranges;
use crate::profile::{Budget, Reservation, TooLarge};

/// The functions that a process compiled.
#[derive(Debug)]
pub struct JitCode {
    functions: Vec<JitFunction>,
    /// When they were where, oldest first.
    events: Vec<Event>,
    /// How many of the events are in `ranges`.
    applied: usize,
    /// The code in memory: the number of the function, and the address at which it starts.
    ranges: Ranges<(usize, u64)>,
    /// Whether the events have times of the monotonic clock.
    has_times: bool,
    /// The source files that lines refer to.
    files: Vec<Box<str>>,
    /// The memory of all this.
    _reservation: Reservation,
}

#[derive(Debug)]
struct JitFunction {
    name: Box<str>,
    /// In the order of their offsets.
    lines: Vec<SourceLine>,
}

/// The source line of the code at an offset in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourceLine {
    pub(super) offset: u64,
    /// The number of the source file.
    pub(super) file: usize,
    pub(super) line: u32,
}

/// A function is at an address from some time on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) time: u64,
    pub(super) start: u64,
    pub(super) size: u64,
    pub(super) function: usize,
}

/// A function at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JitPlace<'c> {
    /// Tells apart functions of the same name.
    pub(super) number: usize,
    /// Its name, as the virtual machine writes it.
    pub(super) name: &'c str,
    /// The source file; empty if unknown.
    pub(super) file: &'c str,
    /// The line of the address; 0 if unknown.
    pub(super) line: u32,
}

impl JitCode {
    /// Finds the function that was at `address` at a time of the monotonic clock, or at the end if the time is unknown. Times
    /// of successive calls must not decrease.
    pub(super) fn at(&mut self, address: u64, time: Option<u64>) -> Option<JitPlace<'_>> {
        let time = time.filter(|_| self.has_times).unwrap_or(u64::MAX);
        while let Some(event) = self.events.get(self.applied).filter(|event| event.time <= time) {
            let end = event.start.saturating_add(event.size);
            self.ranges.insert(event.start, end, (event.function, event.start));
            self.applied += 1;
        }
        let &(number, start) = self.ranges.at(address)?;
        let function = &self.functions[number];
        let behind = function.lines.partition_point(|line| line.offset <= address - start);
        let line = behind.checked_sub(1).map(|before| function.lines[before]);
        let (file, line) = line.map_or(("", 0), |found| (&*self.files[found.file], found.line));
        Some(JitPlace { number, name: &function.name, file, line })
    }

    /// Reads `perf-PID.map`. Lines that are not functions are skipped. Where functions overlap, the later line wins, because
    /// memory is used again for other code.
    pub fn read_map(mut input: impl BufRead, budget: &Budget) -> Result<JitCode, JitError> {
        /// A longer line is not a function.
        const LONGEST: u64 = 64 << 10;
        let mut listed = Listed::new(budget);
        let mut line = Vec::new();
        loop {
            line.clear();
            if input.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                return Ok(listed.finish(false));
            }
            if let Some((start, size, name)) = map_line(&String::from_utf8_lossy(&line)) {
                let function = listed.function(name, Vec::new())?;
                listed.event(Event { time: 0, start, size, function })?;
            }
        }
    }
}

/// `START SIZE NAME`, the numbers in hexadecimal, with or without `0x`.
fn map_line(line: &str) -> Option<(u64, u64, &str)> {
    let (start, rest) = line.trim_end().split_once(' ')?;
    let (size, name) = rest.split_once(' ')?;
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
    Some((number(start)?, number(size)?, name)).filter(|(_, _, name)| !name.is_empty())
}

/// Why a list of code cannot be read.
#[derive(Debug)]
pub enum JitError {
    /// Reading failed.
    Read(io::Error),
    /// It is not a jitdump, or it is corrupt.
    Malformed,
    /// It was written by this process, not by the one that was recorded.
    OtherProcess(u32),
    /// It exceeds the memory limit.
    TooLarge(TooLarge),
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitError::Read(error) => write!(f, "{error}"),
            JitError::Malformed => f.write_str("not a valid jitdump"),
            JitError::OtherProcess(pid) => {
                write!(f, "written by process {pid}, which is not the recorded one")
            }
            JitError::TooLarge(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for JitError {
    fn from(error: io::Error) -> Self {
        JitError::Read(error)
    }
}

impl From<TooLarge> for JitError {
    fn from(error: TooLarge) -> Self {
        JitError::TooLarge(error)
    }
}

/// The functions while they are read.
pub(super) struct Listed {
    functions: Vec<JitFunction>,
    events: Vec<Event>,
    files: Vec<Box<str>>,
    file_numbers: HashMap<Box<str>, usize>,
    reservation: Reservation,
    /// The bytes reserved.
    bytes: u64,
}

impl Listed {
    pub(super) fn new(budget: &Budget) -> Listed {
        Listed {
            functions: Vec::new(),
            events: Vec::new(),
            files: Vec::new(),
            file_numbers: HashMap::new(),
            reservation: budget.reservation(),
            bytes: 0,
        }
    }

    fn reserve(&mut self, bytes: usize) -> Result<(), TooLarge> {
        self.bytes += bytes as u64;
        self.reservation.set(self.bytes)
    }

    /// Adds a function, whose lines are sorted, and returns its number.
    pub(super) fn function(&mut self, name: &str, lines: Vec<SourceLine>) -> Result<usize, TooLarge> {
        self.reserve(2 * size_of::<JitFunction>() + name.len() + size_of_val(&*lines))?;
        self.functions.push(JitFunction { name: name.into(), lines });
        Ok(self.functions.len() - 1)
    }

    /// An event takes up to three ranges.
    pub(super) fn event(&mut self, event: Event) -> Result<(), TooLarge> {
        self.reserve(2 * size_of::<Event>() + 3 * size_of::<(u64, u64, u64, u64)>())?;
        self.events.push(event);
        Ok(())
    }

    /// The number of a source file.
    pub(super) fn file(&mut self, name: &str) -> Result<usize, TooLarge> {
        if let Some(&known) = self.file_numbers.get(name) {
            return Ok(known);
        }
        self.reserve(2 * (size_of::<Box<str>>() + name.len()))?;
        self.files.push(name.into());
        self.file_numbers.insert(name.into(), self.files.len() - 1);
        Ok(self.files.len() - 1)
    }

    pub(super) fn finish(mut self, has_times: bool) -> JitCode {
        // Threads write when they have compiled something, which is not in the order of time.
        self.events.sort_by_key(|event| event.time);
        JitCode {
            functions: self.functions,
            events: self.events,
            applied: 0,
            ranges: Ranges::default(),
            has_times,
            files: self.files,
            _reservation: self.reservation,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_lists_functions_and_the_last_one_at_an_address_wins() {
        let text =
            "100 10 first\n0x200 0x20 Lapp/Main;::run\nnot a function\n108 4 second part\r\n300 0 empty\n";
        let mut code = JitCode::read_map(text.as_bytes(), &Budget::UNLIMITED).unwrap();
        let mut name = |address| code.at(address, Some(0)).map(|place| place.name.to_string());
        assert_eq!(name(0x107).as_deref(), Some("first"));
        assert_eq!(name(0x10b).as_deref(), Some("second part"));
        assert_eq!(name(0x10c).as_deref(), Some("first"));
        assert_eq!(name(0x21f).as_deref(), Some("Lapp/Main;::run"));
        assert_eq!([name(0x220), name(0x300), name(0xff)], [None, None, None]);
    }

    #[test]
    fn a_map_larger_than_the_memory_limit_is_refused() {
        let text = "100 10 f\n".repeat(10_000);
        assert!(matches!(
            JitCode::read_map(text.as_bytes(), &Budget::of(100_000)),
            Err(JitError::TooLarge(_))
        ));
        // A line without an end, and without a function.
        let endless = io::repeat(b'x').take(1 << 24);
        let mut code = JitCode::read_map(io::BufReader::new(endless), &Budget::of(100_000)).unwrap();
        assert_eq!(code.at(0, None), None);
    }
}
