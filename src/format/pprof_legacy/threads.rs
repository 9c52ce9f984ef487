//! Thread profiles: the stacks of all threads of a process.
//!
//! ```text
//! --- threadz 1 ---
//!
//! --- Thread 7eff063d9940 (name: main/25376) stack: ---
//!   PC: 0xbc8f1c 0xbcae55
//!       creator: 0xa45b96 0xa48928
//! --- Thread 7eff04770700 (name: thread3/25382) stack: ---
//!     [same as previous thread]
//! ```
//!
//! Some programs print one address per line with the name of its function:
//!
//! ```text
//!   PC:  0x00bc8f1c: helper(arg*)
//!        0x0040be31: main
//! ```

use crate::format::labels::sample_labels;
use crate::format::pprof_legacy::maps::{self, MemoryMap};
use crate::format::pprof_legacy::recorder::{AddressSymbol, Recorder, Start};
use crate::format::pprof_legacy::{NAME, callers, to_call_addresses};
use crate::format::text::{Lines, Scan, decimal, hex};
use crate::format::{LoadError, ParseError};
use crate::name::demangle;
use crate::profile::{LabelSetId, Period, Profile};

/// A thread whose lines are being read.
#[derive(Default)]
struct ThreadStack {
    labels: LabelSetId,
    stack: Vec<u64>,
    /// Function names, with the index in the stack.
    names: Vec<(usize, String)>,
    same_as_previous: bool,
}

pub(super) fn read(mut lines: Lines<'_>, start: Start) -> Result<Profile, LoadError> {
    let mut recorder = Recorder::new(start, &[("thread", "count")]);
    recorder.builder.meta.period = Some(Period { name: "thread".into(), unit: "count".into(), value: 1 });
    let mut current: Option<ThreadStack> = None;
    let mut previous = Vec::new();
    let mut in_map = false;
    // The line that was read as the profile's header may be the first thread's.
    lines.push_back();
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        if maps::is_header(line) {
            in_map = true;
            break;
        }
        if line.starts_with(b"---- no stack trace for") {
            break;
        }
        if line.starts_with(b"--- threadz ") {
            continue;
        }
        if line.starts_with(b"---") {
            emit(&mut recorder, current.take(), &mut previous);
            let Some((name, tid)) = header(line) else {
                return Err(ParseError::at_line(NAME, lines.number(), "not a thread header").into());
            };
            let labels = labels(&mut recorder, &name, tid);
            current = Some(ThreadStack { labels, ..ThreadStack::default() });
        } else if let Some(thread) = &mut current {
            if memchr::memmem::find(line, b"same as previous thread").is_some() {
                thread.same_as_previous = true;
            } else {
                thread.line(line);
            }
        }
    }
    emit(&mut recorder, current, &mut previous);
    let mut map = MemoryMap::read(&mut lines, in_map)?;
    recorder.finish(&mut map)
}

fn emit(recorder: &mut Recorder, thread: Option<ThreadStack>, previous: &mut Vec<u64>) {
    let Some(mut thread) = thread else { return };
    if !thread.same_as_previous && !thread.stack.is_empty() {
        to_call_addresses(callers(&mut thread.stack));
        for (place, function) in thread.names {
            let symbol = AddressSymbol { function, file: String::new(), line: 0 };
            recorder.symbols(thread.stack[place], &[symbol]);
        }
        *previous = thread.stack;
    }
    recorder.sample(previous, thread.labels, &[1]);
}

/// Parses the name and id from `--- Thread 7eff063d9940 (name: main/25376) stack: ---`.
fn header(line: &[u8]) -> Option<(String, i64)> {
    let line = line.strip_prefix(b"--- Thread ")?;
    let start = memchr::memmem::find(line, b"(name: ")? + b"(name: ".len();
    let end = memchr::memmem::rfind(line, b") stack: ---")?;
    let name = line.get(start..end)?;
    let slash = memchr::memrchr(b'/', name)?;
    Some((String::from_utf8_lossy(&name[..slash]).into_owned(), decimal(&name[slash + 1..])?))
}

fn labels(recorder: &mut Recorder, name: &str, tid: i64) -> LabelSetId {
    sample_labels(&mut recorder.builder, |labels| {
        labels.text("thread", name);
        labels.number("tid", tid);
    })
}

impl ThreadStack {
    /// Adds the addresses of a line such as `PC: 0xbc8f1c 0xbcae55`, or the address and name of one such as
    /// `0x0040be31: main`.
    fn line(&mut self, line: &[u8]) {
        let mut scan = Scan(line);
        loop {
            let word = scan.word();
            if word.is_empty() {
                return;
            }
            let Some(number) = word.strip_prefix(b"0x") else { continue };
            let (number, is_named) =
                number.strip_suffix(b":").map_or((number, false), |number| (number, true));
            let Some(address) = hex(number) else { continue };
            self.stack.push(address);
            if is_named {
                let name = String::from_utf8_lossy(scan.0.trim_ascii());
                if !name.is_empty() {
                    self.names.push((self.stack.len() - 1, demangle(&name).into_owned()));
                }
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Source;
    use crate::profile::{LoadOptions, to_notation};

    #[test]
    fn lines_may_name_their_function() {
        let text = "--- threadz 1 ---\n\n\
                    --- Thread 7eff063d9940 (name: main/25376) stack: ---\n\
                    \x20 PC:  0x00bc8f1c: helper(arg*)\n\
                    \x20      0x0040be31: main\n\
                    \x20      0x00400001: \n\
                    --- Thread 7eff04770700 (name: other/25382) stack: ---\n\
                    \x20 PC: 0x0040be31 0x00bc8f1c\n";
        let mut source = Source::from_bytes(text.as_bytes().to_vec());
        let mut lines = Lines::new(&mut source);
        lines.advance().unwrap();
        let profile = read(lines, LoadOptions::ALL.into()).unwrap();
        // The address at which `main` was interrupted differs from the one of its call, so it has no name.
        assert_eq!(
            to_notation(&profile),
            "<unknown>;<unknown> 1 {thread=other tid=25382}\n\
             <unknown>;main;helper(arg*) 1 {thread=main tid=25376}"
        );
        let addresses: Vec<u64> = profile.symbols.frames.iter().map(|frame| frame.address).collect();
        assert!(addresses.contains(&0xBC_8F1C) && addresses.contains(&0x40_BE30), "{addresses:x?}");
    }
}
