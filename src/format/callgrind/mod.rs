//! Reads callgrind's output, which other tools write too (xdebug, pprof, lsprof converters): the self cost of
//! each function and the inclusive cost of its calls.
//!
//! ```text
//! events: Ir
//! fl=(1) file1.c
//! fn=(1) main
//! 16 20
//! cfn=(2) func1
//! calls=1 50
//! 16 400
//! ```
//!
//! `(2) func1` assigns a number to a name, and `(2)` refers to it later. A line of numbers is a position
//! (`16`, or relative to the previous one: `+1`, `-3`, `*`) followed by costs; after `calls=` these are the
//! inclusive cost of the call. Recursive calls appear as separate functions (`dig'2`). They are merged into
//! the function here, because a function counts once per stack however often it recurs. The cost of `dig'2`
//! is part of a call of `dig`, so the total is the inclusive cost of `dig`.

mod costs;
mod events;
mod names;
mod positions;
mod reader;
mod syntax;

use crate::format::callgrind::reader::CallgrindReader;
use crate::format::callgrind::syntax::{NAME, header, spec};
use crate::format::{Confidence, Format, LoadError, Source};
use crate::profile::{LoadOptions, Profile};

/// The entry in the list of readable formats.
pub(super) static CALLGRIND: Format = Format { name: NAME, title: "callgrind", sniff, read };

/// Requires header lines up to `events:`. Cachegrind's output is similar, but it has no calls and describes caches instead of naming
/// its creator.
fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(b"# callgrind format") {
        return Confidence::Certain;
    }
    let (mut has_events, mut is_described, mut is_callgrind) = (false, false, false);
    for line in head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        match header(line) {
            _ if line.is_empty() || line.starts_with(b"#") => {}
            Some((b"version" | b"creator" | b"positions" | b"part", _)) => is_callgrind = true,
            Some((b"desc", _)) if !has_events => is_described = true,
            Some((b"events", _)) => has_events = true,
            Some(_) => {}
            None if has_events && spec(line).is_some() => {
                let is_cachegrind = is_described && !is_callgrind && !has_calls(head);
                return if is_cachegrind { Confidence::No } else { Confidence::Certain };
            }
            None => return Confidence::No,
        }
    }
    if has_events && (is_callgrind || !is_described) { Confidence::Likely } else { Confidence::No }
}

/// Whether a text has a line about a call.
pub(super) fn has_calls(head: &[u8]) -> bool {
    memchr::memmem::find(head, b"\ncalls=").is_some()
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = CallgrindReader::new(options);
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        reader.line(line.trim_ascii(), number)?;
    }
    Ok(reader.finish()?)
}

#[cfg(test)]
mod tests;
