//! Reads the logs of `node --prof` and `d8 --prof`: which code was created where, and ticks with addresses.
//!
//! ```text
//! v8-version,10,8,168,25,-node.11,0
//! shared-library,/usr/local/bin/node,0x10245c000,0x10384d348,38109184
//! code-creation,JS,10,113500,0x3d3fcec9733e,37,push node:internal/fixed_queue:75:7,0x30fe37a3e310,~
//! tick,0x1963e286c,20709,0,0x0,3,0x0,0x223a13e374f0,0x223a13e35e8e
//! ```
//!
//! A tick has the address that was executing, the time in µs (the stack pointer in old logs), whether it was in a callback and
//! of which function, the state of the virtual machine, and the return addresses, the innermost first. Code moves and is
//! deleted, so names are looked up in the order of the log. Native code is named by its library.

use std::collections::BTreeMap;

use crate::format::labels::sample_labels;
use crate::format::text::lossy;
use crate::format::v8::log_names::{GARBAGE_COLLECTION, script_frame};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Mapping, MappingId, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(in crate::format) static V8_LOG: Format = Format { name: NAME, title: "node --prof log", sniff, read };

const NAME: &str = "v8-log";

fn sniff(head: &[u8]) -> Confidence {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    // Logs start with the V8 version; old ones start with the shared libraries.
    let is_log = head.starts_with(b"v8-version,")
        || (head.starts_with(b"shared-library,") && (has(b"\nprofiler,") || has(b"\ncode-creation,")));
    if is_log { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut log =
        Log { builder, code: BTreeMap::new(), libraries: Vec::new(), frames: Vec::new(), last_time: 0 };
    while let Some(line) = source.line()? {
        let text = lossy(line);
        let fields = fields(&text);
        // Lines of other kinds, and cut ones at the end of a log, say nothing about ticks.
        let _ = log.line(&fields);
    }
    if log.last_time > 0 {
        log.builder.meta.duration_ns = Some(log.last_time);
    }
    if log.builder.meta.rows == 0 {
        return Err(ParseError::whole(NAME, "the log has no ticks; record with `node --prof`").into());
    }
    Ok(finished(log.builder)?)
}

/// The fields of a line; a quoted one may contain commas.
fn fields(line: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let end = match rest.strip_prefix('"') {
            Some(quoted) => quoted
                .find("\",")
                .map(|end| end + 2)
                .or_else(|| quoted.strip_suffix('"').map(|q| q.len() + 2)),
            None => rest.find(','),
        };
        let Some(end) = end.filter(|&end| end < rest.len()) else {
            fields.push(rest.trim_matches('"'));
            return fields;
        };
        fields.push(rest[..end].trim_matches('"'));
        rest = &rest[end + 1..];
    }
}

fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Code that V8 created.
#[derive(Clone, Copy)]
struct Code {
    size: u64,
    frame: FrameId,
    is_script: bool,
}

/// A shared library and its addresses.
struct Library {
    start: u64,
    end: u64,
    mapping: MappingId,
}

/// What is at an address.
#[derive(Clone, Copy)]
struct Found {
    frame: FrameId,
    is_script: bool,
}

struct Log {
    builder: ProfileBuilder,
    code: BTreeMap<u64, Code>,
    libraries: Vec<Library>,
    frames: Vec<FrameId>,
    last_time: i64,
}

impl Log {
    /// Reads a line; `None` if it is malformed or of no interest.
    fn line(&mut self, fields: &[&str]) -> Option<()> {
        match *fields {
            ["shared-library", name, start, end, ..] => {
                let (start, end) = (address(start)?, address(end)?);
                let file = self.builder.string(name);
                let mapping = Mapping { file, start, limit: end, ..Mapping::default() };
                let mapping = self.builder.mapping(mapping);
                self.libraries.push(Library { start, end, mapping });
            }
            ["code-creation", kind, ref rest @ ..] => self.create(kind, rest)?,
            ["code-move", from, to, ..] => {
                let (from, to) = (address(from)?, address(to)?);
                let code = self.code.remove(&from)?;
                self.insert(to, code);
            }
            ["code-delete", start, ..] => {
                self.code.remove(&address(start)?);
            }
            ["tick", pc, time, is_callback, top, state, ref stack @ ..] => {
                self.tick(address(pc)?, time, is_callback, top, state, stack)?;
            }
            _ => {}
        }
        Some(())
    }

    /// `code-creation,Type,address,size,name`, since 2014 with a kind before the address, since 2017 also with a time.
    fn create(&mut self, kind: &str, rest: &[&str]) -> Option<()> {
        let at = rest.iter().take(3).position(|field| field.starts_with("0x"))?;
        let (start, size, name) = (address(rest[at])?, rest.get(at + 1)?, rest.get(at + 2)?);
        let size = size.parse().ok().or_else(|| address(size))?;
        let is_script = ["JS", "LazyCompile", "Function", "Script", "Eval"].contains(&kind);
        let name = unescape(name);
        let frame = if is_script {
            script_frame(&name, &mut self.builder)
        } else {
            self.builder.named_frame(&format!("{kind}: {name}"))
        };
        self.insert(start, Code { size, frame, is_script });
        Some(())
    }

    /// Adds code; older code at the same addresses is gone.
    fn insert(&mut self, start: u64, code: Code) {
        let end = start.saturating_add(code.size);
        let before = self.code.range(..start).next_back();
        let overlapping =
            before.filter(|(at, before)| at.saturating_add(before.size) > start).map(|(at, _)| *at);
        let mut gone: Vec<u64> = self.code.range(start..end).map(|(at, _)| *at).collect();
        gone.extend(overlapping);
        for at in gone {
            self.code.remove(&at);
        }
        self.code.insert(start, code);
    }

    fn find(&mut self, address: u64) -> Option<Found> {
        if let Some((start, code)) = self.code.range(..=address).next_back()
            && address - start < code.size
        {
            return Some(Found { frame: code.frame, is_script: code.is_script });
        }
        let library =
            self.libraries.iter().find(|library| (library.start..library.end).contains(&address))?;
        let mapping = library.mapping;
        let function = self.builder.unnamed_function(mapping);
        let frame = self.builder.frame(Frame { function, address, mapping, ..Frame::default() });
        Some(Found { frame, is_script: false })
    }

    fn tick(
        &mut self,
        pc: u64,
        time: &str,
        is_callback: &str,
        top: &str,
        state: &str,
        stack: &[&str],
    ) -> Option<()> {
        let top = address(top)?;
        // In a callback, the address may be anywhere in it, but the function that called it is known.
        let (pc, top) = if is_callback == "1" { (top, 0) } else { (pc, top) };
        self.frames.clear();
        let leaf = match self.find(pc) {
            Some(found) => found.frame,
            None => self.builder.named_frame("<unknown>"),
        };
        self.frames.push(leaf);
        // A function without a frame of its own, which the top of the stack points to.
        if top != 0
            && let Some(found) = self.find(top).filter(|found| found.is_script)
        {
            self.frames.push(found.frame);
        }
        let mut previous = pc;
        for entry in stack {
            let at = match entry.as_bytes().first()? {
                b'+' => previous.wrapping_add(address(entry.get(1..)?)?),
                b'-' => previous.wrapping_sub(address(entry.get(1..)?)?),
                // `overflow`
                b'o' => continue,
                _ => address(entry)?,
            };
            if !entry.starts_with("0x") {
                previous = at;
            }
            if let Some(found) = self.find(at) {
                self.frames.push(found.frame);
            }
        }
        self.frames.reverse();
        let stack = self.builder.stack(&self.frames);
        let is_collecting = state.parse() == Ok(GARBAGE_COLLECTION);
        let labels = sample_labels(&mut self.builder, |labels| {
            if is_collecting {
                labels.text("state", "garbage collection");
            }
        });
        let time = time.parse::<i64>().ok().map(|time| time.saturating_mul(1000));
        self.last_time = self.last_time.max(time.unwrap_or(0));
        self.builder.sample(stack, labels, time, &[1]);
        Some(())
    }
}

/// Names have `\x2C` for a comma.
fn unescape(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("\\x") {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 2..at + 4).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match digits {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 4..];
            }
            None => {
                out.push_str("\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn code_has_names_until_it_moves() {
        let text = "v8-version,10,8,168,25,-node.11,0\nshared-library,/usr/bin/node,0x1000,0x2000,0\n\
            code-creation,Builtin,2,3334,0x5000,16,Call\ncode-creation,JS,10,99,0x6000,32,f a\\x2Cb.js:75:7,0x30,~\n\
            code-creation,JS,10,99,0x7000,32, a.js:1:1,0x31,~\ntick,0x6010,1000,0,0x0,0,0x7004\n\
            code-move,0x6000,0x8000\ntick,0x1234,2000,0,0x8001,1,0x7004,overflow\ntick,0x6010,3000,1,0x5001,0,+0x2\ntick,0x9,4000,0,0x0,0\n";
        let profile = load(text);
        assert_eq!(
            to_notation(&profile),
            "(anonymous)@a.js:0;f@a,b.js:0 1\n(anonymous)@a.js:0;f@a,b.js:0;[node] 1 {state=garbage collection}\n\
             <unknown> 1\nBuiltin: Call;Builtin: Call 1"
        );
        assert_eq!(profile.meta.duration_ns, Some(4_000_000));
    }

    #[test]
    fn old_logs_have_quotes_and_no_times() {
        let text = "shared-library,\"/d8\",0x1000,0x2000\nprofiler,\"begin\",1\n\
            code-creation,LazyCompile,0x6000,508,\"Install, native v8.js:48\",0x31f2d0d8,\ntick,0x6001,0xbf,0,0x0,2\n";
        let profile = load(text);
        assert_eq!(to_notation(&profile), "Install,@native v8.js:0 1");
        assert_eq!(profile.samples.time, None);
    }
}
