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

/// Requires header lines up to `events:`, and one line that cachegrind's similar output does not have.
fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(b"# callgrind format") {
        return Confidence::Certain;
    }
    let (mut has_events, mut is_cachegrind) = (false, false);
    for line in head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        match header(line) {
            _ if line.is_empty() || line.starts_with(b"#") => {}
            Some((b"version" | b"creator" | b"positions" | b"part", _)) => is_cachegrind = false,
            Some((b"desc", _)) if !has_events => is_cachegrind = true,
            Some((b"events", _)) => has_events = true,
            Some(_) => {}
            None if has_events && !is_cachegrind && spec(line).is_some() => return Confidence::Certain,
            None => return Confidence::No,
        }
    }
    if has_events && !is_cachegrind { Confidence::Likely } else { Confidence::No }
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
