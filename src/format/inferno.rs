//! Reads formats that the `inferno` crate converts to collapsed stacks: DTrace, Instruments (xctrace), GHC
//! cost centres, VTune, Visual Studio. This file detects them and builds profiles from the output.
//!
//! ``module`function`` becomes a function in a mapping, and the suffix `_[i]` an inlined frame.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hashbrown::HashMap;
use inferno::collapse::{Collapse, dtrace, ghcprof, vsprof, vtune, xctrace};

use crate::format::text::decimal;
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Mapping, Profile, ProfileBuilder};

/// Instruments' XML, as `xctrace export` writes it.
pub(super) static XCTRACE: Format =
    Format { name: "xctrace", title: "xctrace (Instruments) XML", sniff: sniff_xctrace, read: read_xctrace };

/// The report of GHC's `+RTS -p`.
pub(super) static GHC: Format =
    Format { name: "ghc", title: "GHC time and allocation report", sniff: sniff_ghc, read: read_ghc };

/// VTune's CSV of call stacks.
pub(super) static VTUNE: Format =
    Format { name: "vtune", title: "VTune CSV", sniff: sniff_vtune, read: read_vtune };

/// Visual Studio's CSV call tree.
pub(super) static VSPROF: Format =
    Format { name: "vsprof", title: "Visual Studio CSV", sniff: sniff_vsprof, read: read_vsprof };

/// The output of DTrace's `@[ustack()] = count()`.
pub(super) static DTRACE: Format =
    Format { name: "dtrace", title: "DTrace stacks", sniff: sniff_dtrace, read: read_dtrace };

fn when(condition: bool, confidence: Confidence) -> Confidence {
    if condition { confidence } else { Confidence::No }
}

fn contains(head: &[u8], text: &str) -> bool {
    memchr::memmem::find(head, text.as_bytes()).is_some()
}

fn sniff_xctrace(head: &[u8]) -> Confidence {
    when(
        head.trim_ascii_start().starts_with(b"<") && contains(head, "<trace-query-result"),
        Confidence::Certain,
    )
}

fn sniff_ghc(head: &[u8]) -> Confidence {
    let front = &head[..head.len().min(512)];
    when(contains(front, "Time and Allocation Profiling Report"), Confidence::Certain)
}

fn sniff_vtune(head: &[u8]) -> Confidence {
    let mut lines = head.split(|&byte| byte == b'\n').take(16);
    let warning = head.starts_with(b"war:Column filter");
    when(warning || lines.any(|line| line.starts_with(b"Function Stack,CPU Time:Self")), Confidence::Certain)
}

fn sniff_vsprof(head: &[u8]) -> Confidence {
    when(head.starts_with(b"Level,Function Name,Number of Calls,"), Confidence::Certain)
}

/// Requires a blank line, lines that are ``module`function`` or an address, and a count.
fn sniff_dtrace(head: &[u8]) -> Confidence {
    let mut lines =
        head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).skip_while(|line| !line.is_empty());
    let mut has_frames = false;
    let end = lines.find(|line| {
        let is_frame = line.contains(&b'`') || line.starts_with(b"0x");
        has_frames |= is_frame;
        !line.is_empty() && !is_frame
    });
    when(has_frames && end.is_some_and(|line| decimal(line).is_some()), Confidence::Likely)
}

fn read_xctrace(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut collected = Collected::new("xctrace", options);
    let text = source.read_all()?;
    collected.collapse(&text, ("samples", "count"), xctrace::Folder::default)?;
    collected.finish()
}

fn read_vtune(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut collected = Collected::new("vtune", options);
    let text = source.read_all()?;
    collected.collapse(&text, ("cpu", "milliseconds"), vtune::Folder::default)?;
    collected.finish()
}

fn read_vsprof(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut collected = Collected::new("vsprof", options);
    collected.has_modules = false;
    let text = source.read_all()?;
    collected.collapse(&text, ("calls", "count"), vsprof::Folder::default)?;
    collected.finish()
}

/// With `-P`, a report has ticks and bytes; with `-p`, only percentages of the time.
fn read_ghc(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut collected = Collected::new("ghc", options);
    let text = source.read_all()?;
    let table = text
        .split(|&byte| byte == b'\n')
        .find(|line| line.starts_with(b"COST CENTRE") && contains(line, "entries"));
    let has_ticks = table.is_some_and(|line| contains(line, "ticks") && contains(line, "bytes"));
    if !has_ticks {
        collected.collapse(&text, ("time", "%"), || ghc_folder(ghcprof::Source::PercentTime))?;
        // The report has one decimal, which inferno keeps by counting in tenths.
        collected.builder.meta.metrics[0].divisor = 10;
        return collected.finish();
    }
    collected.collapse(&text, ("ticks", "count"), || ghc_folder(ghcprof::Source::Ticks))?;
    collected.collapse(&text, ("alloc", "bytes"), || ghc_folder(ghcprof::Source::Bytes))?;
    collected.finish()
}

fn ghc_folder(source: ghcprof::Source) -> ghcprof::Folder {
    let mut options = ghcprof::Options::default();
    options.source = source;
    options.into()
}

fn read_dtrace(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut collected = Collected::new("dtrace", options);
    let text = source.read_all()?;
    let (text, without_stack) = dtrace_without_bare_counts(&text);
    // Use one thread, because otherwise inferno's order of lines depends on timing.
    let mut dtrace_options = dtrace::Options::default();
    dtrace_options.nthreads = 1;
    collected.collapse(&text, ("samples", "count"), || dtrace::Folder::from(dtrace_options.clone()))?;
    if without_stack > 0 {
        let stack = collected.builder.stack(&[]);
        collected.add(stack_key(&[]), stack, 0, without_stack);
    }
    collected.finish()
}

/// DTrace prints a bare count if it could not walk the stack, and inferno fails on it. Removes these counts
/// and adds them up.
fn dtrace_without_bare_counts(text: &[u8]) -> (Vec<u8>, i64) {
    let (mut kept, mut bare) = (Vec::with_capacity(text.len() + 1), 0_i64);
    let (mut in_header, mut has_frames) = (true, false);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let trimmed = line.trim_ascii();
        if in_header {
            in_header = !trimmed.is_empty();
        } else if let Some(count) = decimal(trimmed) {
            if !has_frames {
                bare = bare.saturating_add(count);
                continue;
            }
            has_frames = false;
        } else if !trimmed.is_empty() {
            has_frames = true;
        }
        kept.extend_from_slice(line);
    }
    (kept, bare)
}

/// Identifies a stack while metrics are being joined.
type StackKey = Box<[FrameId]>;

fn stack_key(frames: &[FrameId]) -> StackKey {
    frames.into()
}

/// Stacks with one value per metric, filled one metric after the other.
struct Collected {
    builder: ProfileBuilder,
    /// Whether a backtick ends the name of a module. In .NET it is part of a generic's name.
    has_modules: bool,
    rows: Vec<(crate::profile::StackId, Vec<i64>)>,
    row_of: HashMap<StackKey, usize>,
}

impl Collected {
    fn new(format: &'static str, options: LoadOptions) -> Collected {
        let builder = ProfileBuilder::new(format, options);
        Collected { builder, has_modules: true, rows: Vec::new(), row_of: HashMap::new() }
    }

    /// Runs a collapser and adds its output as the values of another metric.
    fn collapse<F: Collapse>(
        &mut self,
        text: &[u8],
        (metric, unit): (&str, &str),
        folder: impl Fn() -> F,
    ) -> Result<(), ParseError> {
        let format = self.builder.meta.format;
        let mut printed = Vec::new();
        // The library may panic on malformed input.
        let outcome = catch_unwind(AssertUnwindSafe(|| folder().collapse(text, &mut printed)));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(explained(format, text, &error, folder)),
            Err(_) => {
                return Err(ParseError::whole(format, "the file is malformed"));
            }
        }
        let column = self.builder.metric(metric, unit);
        for line in printed.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let (stack, value) = memchr::memrchr(b' ', line)
                .and_then(|at| Some((&line[..at], decimal(&line[at + 1..])?)))
                .ok_or_else(|| ParseError::whole(format, "a count does not fit in 64 bits"))?;
            let frames: Vec<FrameId> =
                String::from_utf8_lossy(stack).split(';').map(|frame| self.frame(frame)).collect();
            let stack = self.builder.stack(&frames);
            self.add(frames.into(), stack, column, value);
        }
        if self.rows.is_empty() {
            let last = text.trim_ascii_end().split(|&byte| byte == b'\n').count() as u64;
            return Err(ParseError::at_line(format, last, "the file contains no stacks"));
        }
        Ok(())
    }

    fn add(&mut self, key: StackKey, stack: crate::profile::StackId, column: usize, value: i64) {
        let rows = &mut self.rows;
        let row = *self.row_of.entry(key).or_insert_with(|| {
            rows.push((stack, Vec::new()));
            rows.len() - 1
        });
        let values = &mut rows[row].1;
        values.resize(values.len().max(column + 1), 0);
        values[column] = values[column].saturating_add(value);
    }

    /// ``module`function_[i]``
    fn frame(&mut self, text: &str) -> FrameId {
        let (text, inlined) = text.strip_suffix("_[i]").map_or((text, false), |text| (text, true));
        let (module, name) = text.split_once('`').filter(|_| self.has_modules).unwrap_or(("", text));
        let file = self.builder.string(module);
        let mapping = self.builder.mapping(Mapping { file, ..Mapping::default() });
        let function = self.builder.named_function(name, "");
        self.builder.frame(Frame { function, mapping, inlined, ..Frame::default() })
    }

    fn finish(mut self) -> Result<Profile, LoadError> {
        let metrics = self.builder.meta.metrics.len();
        for (stack, mut values) in self.rows {
            values.resize(metrics, 0);
            self.builder.sample(stack, LabelSetId::default(), None, &values);
        }
        let format = self.builder.meta.format;
        self.builder.finish().map_err(|error| ParseError::whole(format, error.to_string()).into())
    }
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
        let outcome = catch_unwind(AssertUnwindSafe(|| folder().collapse(&text[..end], io::sink())));
        matches!(outcome, Ok(Err(found)) if found.to_string() == whole)
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
    fn dtrace_counts_without_a_stack_are_kept() {
        let text = "CPU ID\n\n  5\n\n  unix`trap+0x2c7\n  unix`main->inner\n  3\n  4\n";
        assert_eq!(sniff_dtrace(b"x\n\n a`b\n 1\n"), Confidence::Likely);
        let profile = read_dtrace(&mut source(text), LoadOptions::ALL).unwrap();
        assert_eq!(to_notation(&profile), " 9\nmain;+inner;trap 3");
    }

    #[test]
    fn a_file_without_stacks_is_an_error() {
        let error = read_dtrace(&mut source("no stacks\n"), LoadOptions::ALL).unwrap_err();
        assert_eq!(error.to_string(), "dtrace: the file contains no stacks (line 1)");
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
    fn errors_report_the_line() {
        let text = "Level,Function Name,Number of Calls,Elapsed Inclusive Time %,Elapsed Exclusive Time %,\
                    Avg Elapsed Inclusive Time,Avg Elapsed Exclusive Time,Module Name,\n\
                    0,\"a.exe\",1,1.0,1.0,1.0,1.0,\"\",\n0\n";
        assert_eq!(sniff_vsprof(text.as_bytes()), Confidence::Certain);
        let error = read_vsprof(&mut source(text), LoadOptions::ALL).unwrap_err();
        assert!(error.to_string().contains("(line 3)"), "{error}");
    }
}
