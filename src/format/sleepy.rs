//! Reads recordings of Very Sleepy, a sampling profiler for Windows: a zip archive, which arrives here as one text with a line before
//! each file.
//!
//! ```text
//! Symbols.txt     sym131 "OPENGL32" "OS::queryVirtualAddress" "z:\apitrace\os_win32.cpp" 131
//! Callstacks.txt  0.065085 sym15 sym18 sym131          seconds, and the stack from the leaf
//! ```
//!
//! Newer versions write addresses instead of `sym15`.

use hashbrown::HashMap;

use crate::format::source::MEMBER;
use crate::format::text::{BadLines, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Mapping, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static SLEEPY: Format = Format { name: NAME, title: "Very Sleepy recording", sniff, read };

const NAME: &str = "sleepy";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MEMBER) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("wall", "nanoseconds");
    // The symbols may come after the stacks.
    let text = source.read_all()?;
    let (mut symbols, mut bad, mut good) = (HashMap::new(), BadLines::default(), 0);
    for line in lines(&text, b"Symbols.txt") {
        if let Some((id, frame)) = symbol(line, &mut builder) {
            symbols.insert(id, frame);
        }
    }
    for (number, line) in (1..).zip(lines(&text, b"Callstacks.txt")) {
        match add(line, &symbols, &mut builder) {
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    bad.settle(&mut builder, good, "expected seconds and symbols that Symbols.txt lists in Callstacks.txt")?;
    if good == 0 {
        return Err(
            ParseError::whole(NAME, "the archive has no stacks: Callstacks.txt is missing or empty").into()
        );
    }
    if let Some(duration) = lines(&text, b"Stats.txt").find_map(|line| line.strip_prefix(b"Duration: ")) {
        builder.meta.duration_ns = nanoseconds(&lossy(duration));
    }
    Ok(finished(builder)?)
}

/// The lines of a file of the archive that are not blank.
fn lines<'a>(text: &'a [u8], file: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut is_inside = false;
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let file = file.to_vec();
    lines.filter(move |line| {
        if let Some(name) = line.strip_prefix(MEMBER) {
            is_inside = name == file;
            return false;
        }
        is_inside && !line.is_empty()
    })
}

/// `sym131 "OPENGL32" "OS::queryVirtualAddress" "z:\apitrace\os_win32.cpp" 131`
fn symbol<'a>(line: &'a [u8], builder: &mut ProfileBuilder) -> Option<(&'a [u8], FrameId)> {
    let space = memchr::memchr(b' ', line)?;
    let (id, rest) = line.split_at(space);
    let text = lossy(rest);
    let mut parts = text.trim_start().split('"');
    let (_, module, _, name, _, file) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let line = parts.next().and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0);
    let known = |text: &str| if text == "[unknown]" { String::new() } else { text.to_string() };
    let module = builder.string(&known(module));
    let mapping = builder.mapping(Mapping { file: module, ..Mapping::default() });
    let function = if known(name).is_empty() {
        builder.unnamed_function(mapping)
    } else {
        builder.named_function(name, &known(file))
    };
    Some((id, builder.frame(Frame { function, line, mapping, ..Frame::default() })))
}

/// `0.065085 sym15 sym18 sym131`
fn add(line: &[u8], symbols: &HashMap<&[u8], FrameId>, builder: &mut ProfileBuilder) -> Option<()> {
    let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let time = nanoseconds(&lossy(words.next()?))?;
    let mut frames: Vec<FrameId> = words.map(|id| symbols.get(id).copied()).collect::<Option<_>>()?;
    if frames.is_empty() {
        return None;
    }
    frames.reverse();
    let stack = builder.stack(&frames);
    builder.sample(stack, LabelSetId::default(), None, &[time]);
    Some(())
}

fn nanoseconds(seconds: &str) -> Option<i64> {
    let nanoseconds = (seconds.trim().parse::<f64>().ok()? * 1e9).round();
    (nanoseconds.abs() < i64::MAX as f64).then_some(nanoseconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        let text = text.replace('^', std::str::from_utf8(MEMBER).unwrap());
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn symbols_may_come_after_stacks() {
        let text = "^Stats.txt\r\nFilename: C:\\a.exe\r\nDuration: 1.5\r\n^IPCounts.txt\n3.5\n0x5cd535e 0.5 \"[unknown]\" 0\n\
            ^Callstacks.txt\n0.5 sym2 sym1\n0.25 sym3 sym2 sym1\n0.1 sym9\n\
            ^Symbols.txt\nsym1 \"shop\" \"main\" \"c:\\shop\\main.cpp\" 12\nsym2 \"shop\" \"pay<int>\" \"[unknown]\" 0\n\
            sym3 \"ntdll\" \"[unknown]\" \"[unknown]\" 0\n^Version 0.82 required\n0.82";
        let profile = load(text).unwrap();
        assert_eq!(
            to_notation(&profile),
            "main@c:\\shop\\main.cpp:12;pay<int> 500000000\nmain@c:\\shop\\main.cpp:12;pay<int>;[ntdll] 250000000"
        );
        assert_eq!(profile.meta.duration_ns, Some(1_500_000_000));
        assert!(profile.meta.warnings[0].starts_with("1 line was skipped, the first at line 3"));
    }

    #[test]
    fn an_archive_without_stacks_is_refused() {
        assert!(load("^Callstacks.txt\n0.5\n").is_err());
        let error = load("^Stats.txt\nDuration: 1.5\n").unwrap_err().to_string();
        assert_eq!(error, "sleepy: the archive has no stacks: Callstacks.txt is missing or empty");
    }
}
