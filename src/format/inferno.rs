//! Reads formats that the `inferno` crate converts to collapsed stacks: VTune, Visual Studio.
//! This file detects them and builds profiles from the output. ``module`function`` becomes a function in a mapping.

use std::io;

use inferno::collapse::{Collapse, vsprof, vtune};

use crate::format::quietly::quietly;
use crate::format::text::{decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Mapping, Profile, ProfileBuilder};

/// VTune's CSV of call stacks.
pub(super) static VTUNE: Format =
    Format { name: "vtune", title: "VTune CSV", sniff: sniff_vtune, read: read_vtune };

/// Visual Studio's CSV call tree.
pub(super) static VSPROF: Format =
    Format { name: "vsprof", title: "Visual Studio CSV", sniff: sniff_vsprof, read: read_vsprof };

fn when(condition: bool, confidence: Confidence) -> Confidence {
    if condition { confidence } else { Confidence::No }
}

fn sniff_vtune(head: &[u8]) -> Confidence {
    let mut lines = head.split(|&byte| byte == b'\n').take(16);
    let warning = head.starts_with(b"war:Column filter");
    when(warning || lines.any(|line| line.starts_with(b"Function Stack,CPU Time:Self")), Confidence::Certain)
}

fn sniff_vsprof(head: &[u8]) -> Confidence {
    when(head.starts_with(b"Level,Function Name,Number of Calls,"), Confidence::Certain)
}

fn read_vtune(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let builder = ProfileBuilder::new("vtune", options);
    collapse(source, builder, ("cpu", "milliseconds"), Some('`'), vtune::Folder::default)
}

/// In .NET, a backtick is part of a generic's name.
fn read_vsprof(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let builder = ProfileBuilder::new("vsprof", options);
    collapse(source, builder, ("calls", "count"), None, vsprof::Folder::default)
}

/// Runs a collapser and builds a profile from its output. `tick` ends the names of modules.
fn collapse<F: Collapse>(
    source: &mut Source,
    mut builder: ProfileBuilder,
    (metric, unit): (&str, &str),
    tick: Option<char>,
    folder: impl Fn() -> F,
) -> Result<Profile, LoadError> {
    let format = builder.meta.format;
    let bytes = source.read_all()?;
    // The library expects UTF-8.
    let text = lossy(&bytes);
    let text = text.as_bytes();
    let mut printed = Vec::new();
    match quietly(|| folder().collapse(text, &mut printed)) {
        Some(Ok(())) => {}
        Some(Err(error)) => return Err(explained(format, text, &error, folder).into()),
        None => return Err(ParseError::whole(format, "the file is malformed").into()),
    }
    builder.metric(metric, unit);
    for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let (stack, value) = memchr::memrchr(b' ', line)
            .and_then(|at| Some((&line[..at], decimal(&line[at + 1..])?)))
            .ok_or_else(|| ParseError::whole(format, "a count does not fit in 64 bits"))?;
        let frames: Vec<FrameId> =
            lossy(stack).split(';').map(|frame| named_frame(&mut builder, frame, tick)).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, LabelSetId::default(), None, &[value]);
    }
    if builder.row_count() == 0 {
        let last = text.trim_ascii_end().split(|&byte| byte == b'\n').count() as u64;
        return Err(ParseError::at_line(format, last, "the file contains no stacks").into());
    }
    Ok(finished(builder)?)
}

/// The frame of ``module`function``.
fn named_frame(builder: &mut ProfileBuilder, text: &str, tick: Option<char>) -> FrameId {
    let (module, name) = tick.and_then(|tick| text.split_once(tick)).unwrap_or(("", text));
    let file = builder.string(module);
    let mapping = builder.mapping(Mapping { file, ..Mapping::default() });
    let function = builder.named_function(name, "");
    builder.frame(Frame { function, mapping, ..Frame::default() })
}

/// A collapser's error with its line number.
fn explained<F: Collapse>(
    format: &'static str,
    text: &[u8],
    error: &io::Error,
    folder: impl Fn() -> F,
) -> ParseError {
    let whole = error.to_string();
    let (what, _) = whole.split_once('\n').unwrap_or((&whole, ""));
    let mut what = what.trim_end_matches(':').to_string();
    if let Some(first) = what.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text).map(|at| at + 1).chain([text.len()]).collect();
    let fails = |end: usize| {
        let outcome = quietly(|| folder().collapse(&text[..end], io::sink()));
        matches!(outcome, Some(Err(found)) if found.to_string() == whole)
    };
    // Finds the line by bisection: text up to the malformed line fails in the same way, shorter text does
    // not.
    let index = ends.partition_point(|&end| !fails(end));
    if index < ends.len() {
        return ParseError::at_line(format, index as u64 + 1, what);
    }
    ParseError::whole(format, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn source(text: &str) -> Source {
        Source::from_bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn generics_of_dotnet_keep_their_class() {
        let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                    Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                    1,\"a.exe\",1,1.0,1.0,1.0,1.0,\"\",\n\
                    2,\"System.Collections.Generic.IEnumerator`1.get_Current()\",3,1.0,1.0,1.0,1.0,\"a.dll\",\n";
        let profile = read_vsprof(&mut source(text), LoadOptions::ALL).unwrap();
        assert_eq!(to_notation(&profile), "a.exe;System.Collections.Generic.IEnumerator`1.get_Current() 3");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let text = b"Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                     Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                     1,\"caf\xe9.exe\",2,1.0,1.0,1.0,1.0,\"\",\n";
        let profile = read_vsprof(&mut Source::from_bytes(text.to_vec()), LoadOptions::ALL).unwrap();
        assert_eq!(to_notation(&profile), "caf\u{fffd}.exe 2");
    }

    #[test]
    fn errors_report_the_line() {
        let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                    Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                    0,\"a.exe\",1,1.0,1.0,1.0,1.0,\"\",\n0\n";
        assert_eq!(sniff_vsprof(text.as_bytes()), Confidence::Certain);
        let error = read_vsprof(&mut source(text), LoadOptions::ALL).unwrap_err();
        assert!(error.to_string().contains("(line 3)"), "{error}");
    }
}
