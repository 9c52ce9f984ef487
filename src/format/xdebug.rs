//! Reads Xdebug's traces of PHP functions, in the form for programs and in the one for people.
//!
//! ```text
//! File format: 4
//! TRACE START [2024-02-26 18:40:37.123456]
//! 1 \t 0 \t 0 \t 0.000312 \t 393528 \t {main} \t 1 \t \t /srv/a.php \t 0 \t 0      level, number, 0 = entry, time, memory, name …
//! 2 \t 1 \t 0 \t 0.000320 \t 393528 \t foo \t 1 \t \t /srv/a.php \t 9 \t 0
//! 2 \t 1 \t 1 \t 0.000340 \t 393600                                             1 = exit
//!
//! TRACE START [2015-12-06 02:48:13]
//!     0.0003     125892   -> {main}() /srv/a.php:0
//!     0.0006     125920     -> foo('x') /srv/a.php:30
//!     0.0007     125944      >=> 'y'                                               what it returned, where that is recorded
//!                              >=> 'y'                                             the same of an old version, without a time
//! ```
//!
//! The time between two lines is that of the functions that are running in between.

use std::collections::HashMap;

use crate::format::text::{BadLines, Lines, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static XDEBUG: Format = Format { name: NAME, title: "Xdebug trace", sniff, read };

const NAME: &str = "xdebug";

/// The first line of a trace; a file may have several.
const START: &[u8] = b"TRACE START [";
const END: &[u8] = b"TRACE END";

fn sniff(head: &[u8]) -> Confidence {
    let lines = head.split(|byte| *byte == b'\n').take(4);
    if lines.into_iter().any(|line| line.starts_with(START)) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("wall", "nanoseconds");
    builder.meta.holds_spans = true;
    let mut running = Running::default();
    let (mut bad, mut good) = (BadLines::default(), 0);
    let (mut is_trace, mut has_readable) = (false, false);
    let mut lines = Lines::new(source);
    while lines.advance()? {
        let line = lines.line();
        if line.starts_with(START) {
            running.restart();
            is_trace = true;
        } else if line.starts_with(END) {
            is_trace = false;
        }
        if !is_trace || line.starts_with(START) || line.trim_ascii().is_empty() {
            continue;
        }
        match event(&lossy(line)) {
            Some(event) => {
                running.add(&event, &mut builder);
                good += 1;
                has_readable |= !line.contains(&b'\t');
            }
            None => bad.add(lines.number()),
        }
    }
    bad.settle(&mut builder, good, "expected a time, and a function that is entered or left")?;
    if good == 0 {
        return Err(ParseError::whole(NAME, "the file has no trace").into());
    }
    if is_trace {
        builder.warn(
            "the trace does not end: the program was still running, or the file is truncated".to_string(),
        );
    }
    if running.lacks_ends {
        let message =
            "the trace does not say when each function returns; the time of some ends with the next call";
        // The form for programs has these times, unless somebody removed lines.
        let advice = if has_readable { ", so record with xdebug.trace_format=1" } else { "" };
        builder.warn(format!("{message}{advice}"));
    }
    if running.ends_in_call {
        builder.warn("the trace ends with a call, so how long that took is not known".to_string());
    }
    builder.meta.duration_ns = Some(running.total);
    Ok(finished(builder)?)
}

/// A line of a trace.
struct Event<'l> {
    /// In nanoseconds since the start.
    time: i64,
    what: What<'l>,
}

enum What<'l> {
    /// A function is entered, with so many others running.
    Enter(usize, &'l str),
    /// The function below so many others is left.
    Exit(usize),
    /// Something else happens, such as the end of the program.
    Other,
}

fn event(line: &str) -> Option<Event<'_>> {
    if line.contains('\t') { tabular(line) } else { readable(line) }
}

fn seconds(text: &str) -> Option<i64> {
    let seconds: f64 = text.trim().parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1e9).round() as i64)
}

/// A line of the form for programs.
fn tabular(line: &str) -> Option<Event<'_>> {
    let mut fields = line.split('\t');
    let (level, _, kind, time) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let depth = || level.parse::<usize>().ok()?.checked_sub(1);
    let what = match kind {
        "0" => What::Enter(depth()?, fields.nth(1)?),
        "1" => What::Exit(depth()?),
        // The end, or a value that was returned or assigned; these have no time.
        "" => What::Other,
        _ => return Some(Event { time: 0, what: What::Other }),
    };
    Some(Event { time: seconds(time)?, what })
}

/// A line of the form for people: every level is indented by two blanks.
fn readable(line: &str) -> Option<Event<'_>> {
    // `=> $x = 7 /srv/a.php:30`: a value that was assigned, where that is recorded, and in old versions `>=> 7`, a value that was
    // returned. They have no time, so the function is only known to have ended when the next one is called.
    if ["=> ", ">=> "].iter().any(|arrow| line.trim_start().starts_with(arrow)) {
        return Some(Event { time: 0, what: What::Other });
    }
    let (time, rest) = line.trim_start().split_once(' ')?;
    let time = seconds(time)?;
    // Memory in use, perhaps with a sign.
    let rest = rest.trim_start();
    let rest = &rest[rest.find(' ').unwrap_or(rest.len())..];
    let text = rest.trim_start();
    let indent = rest.len() - text.len();
    let depth = |first: usize| indent.checked_sub(first).map(|blanks| blanks / 2);
    let what = if let Some(call) = text.strip_prefix("-> ") {
        What::Enter(depth(3)?, call[..call.find('(').unwrap_or(call.len())].trim_end())
    } else if text.starts_with(">=> ") {
        // One blank more than for the call, or as many if the text was edited.
        What::Exit(depth(3)?)
    } else {
        What::Other
    };
    Some(Event { time, what })
}

/// The functions that are running.
#[derive(Default)]
struct Running {
    stack: Vec<FrameId>,
    names: HashMap<String, FrameId>,
    /// When the last line was written.
    since: i64,
    /// The time of all traces together.
    total: i64,
    /// Whether a function ended without a line that says so.
    lacks_ends: bool,
    /// Whether the last line is a call, which has no time, then.
    ends_in_call: bool,
}

impl Running {
    fn restart(&mut self) {
        self.stack.clear();
        self.since = 0;
    }

    fn add(&mut self, event: &Event<'_>, builder: &mut ProfileBuilder) {
        let passed = event.time.saturating_sub(self.since);
        if passed > 0 {
            if !self.stack.is_empty() {
                let stack = builder.stack(&self.stack);
                builder.sample(stack, LabelSetId::default(), Some(self.total), &[passed]);
            }
            self.since = event.time;
            self.total = self.total.saturating_add(passed);
        }
        self.ends_in_call = matches!(event.what, What::Enter(..));
        match event.what {
            What::Enter(depth, name) => {
                self.lacks_ends |= depth < self.stack.len();
                self.stack.truncate(depth);
                let frame = match self.names.get(name) {
                    Some(frame) => *frame,
                    None => {
                        let frame = builder.named_frame(name);
                        self.names.insert(name.to_string(), frame);
                        frame
                    }
                };
                self.stack.push(frame);
            }
            What::Exit(depth) => self.stack.truncate(depth),
            What::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        read(&mut Source::from_bytes(text.into()), options).unwrap()
    }

    #[test]
    fn both_forms_say_the_same() {
        let table = "Version: 3.2.0\nFile format: 4\nTRACE START [2024-02-26 18:40:37.1]\n\
            1\t0\t0\t0.001\t393528\t{main}\t1\t\t/a.php\t0\t0\n2\t1\t0\t0.002\t393528\tA->f\t1\t\t/a.php\t9\t1\t$x = 'a\\tb'\n\
            2\t1\t1\t0.005\t393600\n2\t1\tR\t\t\t7\n2\t2\t0\t0.006\t393528\tg\t0\t\t/a.php\t9\t0\n2\t2\t1\t0.0065\t1\n1\t0\t1\t0.007\t1\n\
            \t\t\t0.009\t1\nTRACE END   [2024-02-26 18:40:37.2]\n";
        let text = "TRACE START [2024-02-26 18:40:37]\n    0.0010     125892   -> {main}() /a.php:0\n    0.0020     125920     -> A->f('a (b') /a.php:9\n\
            \x20                            => $x = 7 /a.php:9\n    0.0050     125944      >=> 7\n    0.0060     125920     -> g() /a.php:9\n    0.0065     125948      >=> NULL\n    0.0070  1    >=> 1\n    0.0090       8340\n\
            TRACE END   [2024-02-26 18:40:37]\n";
        let expected = "{main} 2500000\n{main};A->f 3000000\n{main};g 500000";
        assert_eq!(to_notation(&load(table)), expected);
        assert_eq!(to_notation(&load(text)), expected);
        assert!(load(text).meta.warnings.is_empty());
        // The second trace of a file starts anew.
        assert_eq!(load(&format!("{text}\n{text}")).meta.metrics[0].total, 12_000_000);
    }

    #[test]
    fn without_returns_a_function_ends_with_the_next_call() {
        let text = "TRACE START [x]\n    0.0010  1   -> {main}() /a.php:0\n    0.0020  1     -> f() /a.php:9\n    0.0050  1     -> g() /a.php:9\n\
            \x20   0.0060  1   -> h() /a.php:9\n    0.0070       8340\nTRACE END   [x]\n";
        let profile = load(text);
        assert_eq!(to_notation(&profile), "h 1000000\n{main} 1000000\n{main};f 3000000\n{main};g 1000000");
        assert!(profile.meta.warnings[0].contains("xdebug.trace_format=1"), "{:?}", profile.meta.warnings);
        // The form for programs is the one that would be recommended.
        let table = "TRACE START [x]\n1\t0\t0\t0.001\t1\t{main}\t1\t\t/a.php\t0\t0\n2\t1\t0\t0.002\t1\tf\t1\t\t/a.php\t9\t0\n\
            2\t2\t0\t0.005\t1\tg\t1\t\t/a.php\t9\t0\n\t\t\t0.009\t1\nTRACE END   [x]\n";
        let warnings = load(table).meta.warnings;
        assert!(warnings[0].ends_with("of some ends with the next call"), "{warnings:?}");
        let cut = text.split("TRACE END").next().unwrap();
        assert!(load(cut).meta.warnings[0].contains("does not end"));
        let empty = read(&mut Source::from_bytes("TRACE START [x]\n".into()), LoadOptions::ALL);
        assert_eq!(empty.err().unwrap().to_string(), "xdebug: the file has no trace");
    }

    #[test]
    fn a_return_may_be_indented_like_its_call() {
        let text = "TRACE START [x]\n    0.0010  1   -> {main}() /a.php:0\n    0.0020  1     -> f() /a.php:9\n    0.0030  1       -> g() /a.php:9\n\
            \x20   0.0040  1       >=> 1\n    0.0060  1     >=> 1\n    0.0090  1   >=> 1\nTRACE END   [x]\n";
        let profile = load(text);
        assert_eq!(to_notation(&profile), "{main} 4000000\n{main};f 3000000\n{main};f;g 1000000");
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn a_call_at_the_end_is_reported() {
        let text = "TRACE START [x]\n1\t0\t0\t0.001\t1\t{main}\t1\t\t/a.php\t0\t0\n2\t1\t0\t0.002\t1\tf\t1\t\t/a.php\t9\t0\nTRACE END   [x]\n";
        let profile = load(text);
        assert_eq!(to_notation(&profile), "{main} 1000000");
        assert_eq!(profile.meta.warnings, ["the trace ends with a call, so how long that took is not known"]);
    }

    /// As Xdebug 2.0 writes them with `xdebug.collect_return`: 20 blanks, two per level, and the arrow.
    #[test]
    fn returned_values_may_have_no_time() {
        let text = "TRACE START [2008-05-19 17:12:49]\n    0.0010      52360   -> {main}() /a.php:0\n    0.0020      52568     -> f() /a.php:10\n\
            \x20   0.0030      52640       -> trim() /a.php:5\n                             >=> 'test'\n                           >=> 'test'\n\
            \x20   0.0060      52568     -> g() /a.php:11\n                           >=> 1\n                         >=> 1\n\
            \x20   0.0080      14992\nTRACE END   [2008-05-19 17:12:49]\n";
        let profile = load(text);
        let expected = "{main} 1000000\n{main};f 1000000\n{main};f;trim 3000000\n{main};g 2000000";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.meta.warnings.len(), 1, "{:?}", profile.meta.warnings);
    }
}
