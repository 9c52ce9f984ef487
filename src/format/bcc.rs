//! Reads the stacks that tools of bcc print: `profile`, `offcputime`, `offwaketime`, `wakeuptime` and `stackcount`.
//!
//! ```text
//! Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.
//! ^C
//!     vfs_read
//!     entry_SYSCALL_64_fastpath
//!     --
//!     read
//!     -                dd (25036)
//!         9
//! ```
//!
//! The title says what was measured. After it, a block has the frames of a stack, leaf first, the thread or the process, and
//! the value. With `-d`, a line separates the kernel's frames from those of the program.

use crate::format::labels::sample_labels;
use crate::format::off_cpu::OFF_CPU;
use crate::format::text::{BadLines, Lines, decimal, hex, is_binary, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LoadOptions, MappingId, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static BCC: Format = Format { name: NAME, title: "bcc's tools", sniff, read };

const NAME: &str = "bcc";

/// Stands between the stack of a thread that waited and the one that woke it, as in the collapsed stacks of `offwaketime`.
const WOKEN_BY: &str = "--";

/// Requires a title, and a value after it that follows another line of its block. Other tools have similar titles.
fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let mut lines =
        lines.skip_while(|line| Tool::of_title(&lossy(line.trim_ascii_start())).is_none()).skip(1);
    let mut is_in_block = false;
    let has_value = lines.any(|line| {
        let is_value = is_in_block && is_indented(line) && decimal(line.trim_ascii()).is_some();
        is_in_block = is_indented(line);
        is_value
    });
    if has_value { Confidence::Likely } else { Confidence::No }
}

/// Whether a line belongs to a block: what the tools say besides is not indented.
fn is_indented(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.starts_with(b"\t")
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = BccReader {
        builder: ProfileBuilder::new(NAME, options),
        title: None,
        block: Block::default(),
        good: 0,
        bad: BadLines::default(),
    };
    let mut lines = Lines::new(source);
    while lines.advance()? {
        reader.line(lines.line(), lines.number())?;
    }
    Ok(reader.finish()?)
}

/// The tools that print stacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tool {
    Profile,
    OffCpu,
    /// `offcputime` of 2016, whose examples have the name of the thread below the frames like another frame.
    FirstOffCpu,
    OffWake,
    Wakeup,
    StackCount,
}

impl Tool {
    /// The tool that prints a title, and the name and unit of what it measures.
    fn of_title(line: &str) -> Option<(Tool, &str, &'static str)> {
        if line.starts_with("Sampling at ") && line.contains(" stack") {
            return Some((Tool::Profile, "samples", "count"));
        }
        let rest = line.strip_prefix("Tracing ")?;
        if let Some(rest) = rest.strip_prefix("off-CPU time (us)") {
            let tool = if rest.starts_with(" by ") { Tool::FirstOffCpu } else { Tool::OffCpu };
            return Some((tool, OFF_CPU, "microseconds"));
        }
        if let Some(rest) = rest.strip_prefix("blocked time (us)") {
            let is_wait = rest.contains("off-CPU and waker stack");
            // The stacks of `wakeuptime` are those of the threads that did not wait.
            let (tool, name) = if is_wait { (Tool::OffWake, OFF_CPU) } else { (Tool::Wakeup, "blocked") };
            return Some((tool, name, "microseconds"));
        }
        let (_, pattern) = rest.split_once(" functions for \"")?;
        let (pattern, _) = pattern.rsplit_once('"')?;
        Some((Tool::StackCount, unquoted(pattern), "count"))
    }

    /// The label of the number after the name of a thread. `profile` and `stackcount` print the process.
    fn number(self) -> &'static str {
        if matches!(self, Tool::Profile | Tool::StackCount) { "process" } else { "tid" }
    }
}

/// Names that Python 3 prints as `b'vfs_read'`, which many versions of the tools forgot to decode.
fn unquoted(name: &str) -> &str {
    name.strip_prefix("b'").and_then(|name| name.strip_suffix('\'')).unwrap_or(name)
}

/// What has been read of a block.
#[derive(Default)]
struct Block {
    /// The number of its first line; 0 if there is none.
    start: u64,
    /// Leaf first.
    frames: Vec<FrameId>,
    thread: String,
    id: Option<i64>,
    /// The label of the other thread, the one that woke this one or was woken by it, and its name.
    other: Option<(&'static str, String)>,
}

struct BccReader {
    builder: ProfileBuilder,
    /// The tool and the metric of the last title.
    title: Option<(Tool, usize)>,
    block: Block,
    good: u64,
    bad: BadLines,
}

impl BccReader {
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
        let text = lossy(line.trim_ascii());
        // Mails indent all lines, some with blanks and some with tabs.
        let title = Tool::of_title(&text);
        let is_interrupt = text == "^C" && self.block.start == 0;
        if is_indented(line) && !text.is_empty() && title.is_none() && !is_interrupt {
            let Some((tool, metric)) = self.title else { return Ok(()) };
            return self.block_line(tool, metric, &text, number);
        }
        self.end_incomplete();
        if let Some((tool, name, unit)) = title {
            self.title = Some((tool, self.builder.metric_once(name, unit)));
        } else if self.title.is_some() && !is_status(&text) {
            self.bad.add(number);
        }
        Ok(())
    }

    /// A block without a value is skipped.
    fn end_incomplete(&mut self) {
        if self.block.start > 0 {
            self.bad.add(self.block.start);
            self.block = Block::default();
        }
    }

    fn block_line(&mut self, tool: Tool, metric: usize, text: &str, number: u64) -> Result<(), ParseError> {
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let value = decimal(text.as_bytes());
            let value = value.ok_or_else(|| {
                ParseError::at_line(NAME, number, "the value of this stack does not fit in 64 bits")
            })?;
            self.sample(tool, metric, value);
            return Ok(());
        }
        let block = &mut self.block;
        if block.start == 0 {
            block.start = number;
        }
        if !is_separator(text) && !block.thread_line(tool, text) {
            let frame = frame(&mut self.builder, text);
            block.frames.push(frame);
        }
        Ok(())
    }

    fn sample(&mut self, tool: Tool, metric: usize, value: i64) {
        let Block { mut frames, mut thread, id, other, .. } = std::mem::take(&mut self.block);
        let builder = &mut self.builder;
        if tool == Tool::FirstOffCpu && thread.is_empty() {
            thread = frames.pop().map(|frame| builder.frame_name(frame).to_string()).unwrap_or_default();
        }
        frames.reverse();
        let stack = builder.stack(&frames);
        let labels = sample_labels(builder, |labels| {
            labels.text_if_known("thread", &thread);
            if let Some(id) = id {
                labels.number(tool.number(), id);
            }
            if let Some((key, name)) = &other {
                labels.text_if_known(key, name);
            }
        });
        let mut values = vec![0; builder.meta.metrics.len()];
        values[metric] = value;
        builder.sample(stack, labels, None, &values);
        self.good += 1;
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.title.is_none() {
            let message =
                "no line says what was measured, such as `Sampling at 49 Hertz of all threads by user stack`";
            return Err(ParseError::whole(NAME, message));
        }
        if self.block.start > 0 {
            let message = "file is truncated: this stack has no value";
            return Err(ParseError::at_line(NAME, self.block.start, message));
        }
        self.bad.settle(&mut self.builder, self.good, "not a stack with a value")?;
        if self.good == 0 {
            return Err(ParseError::whole(NAME, "the file contains no stacks"));
        }
        finished(self.builder)
    }
}

/// Whether a line that is not indented is something else that tools print, or where somebody left out lines.
fn is_status(line: &str) -> bool {
    let said = ["^C", "Detaching", "WARNING", "[...", "..."];
    let is_time = line.len() == 8 && line.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    line.is_empty() || is_time || said.iter().any(|start| line.starts_with(start))
}

/// Whether a line separates the kernel's frames from those of the program.
fn is_separator(text: &str) -> bool {
    text == "-" || text == "--"
}

impl Block {
    /// Reads `-   dd (25036)`, `tar [15069]`, `target:   sshd` and the like; returns false for other lines.
    fn thread_line(&mut self, tool: Tool, text: &str) -> bool {
        let after =
            |word: &str| text.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t'])).map(str::trim);
        let (name, id) = if tool == Tool::StackCount {
            match text.strip_suffix(']').and_then(|text| text.rsplit_once(" [")).and_then(with_number) {
                Some((name, id)) => (name, Some(id)),
                None => return false,
            }
        } else if let Some(waker) = after("waker:") {
            if tool == Tool::OffWake {
                self.other = Some(("waker", waker.to_string()));
                return true;
            }
            (waker, None)
        } else if let Some(target) = after("target:") {
            if tool == Tool::Wakeup {
                self.other = Some(("target", target.to_string()));
                return true;
            }
            let found = target.rsplit_once(' ').and_then(with_number);
            found.map_or((target, None), |(name, id)| (name, Some(id)))
        } else if let Some(thread) = after("-").filter(|thread| *thread != "-") {
            let found =
                thread.strip_suffix(')').and_then(|thread| thread.rsplit_once('(')).and_then(with_number);
            found.map_or((thread, None), |(name, id)| (name, Some(id)))
        } else {
            return false;
        };
        self.thread = unquoted(name).to_string();
        self.id = id;
        true
    }
}

fn with_number<'a>((name, number): (&'a str, &str)) -> Option<(&'a str, i64)> {
    Some((name.trim(), decimal(number.as_bytes())?))
}

/// The frame of a line such as `vfs_read`, `vfs_read+0xb8`, or `ffffffff812331b8 vfs_read`.
fn frame(builder: &mut ProfileBuilder, text: &str) -> FrameId {
    let (address, name) = split_address(text);
    let name = unquoted(name);
    let offset = name.rsplit_once("+0x").filter(|(_, offset)| hex(offset.as_bytes()).is_some());
    let name = offset.map_or(name, |(name, _)| name);
    let function = if name == "[unknown]" {
        builder.unnamed_function(MappingId::default())
    } else if name.split_whitespace().all(|word| word == "--" || word == "-") {
        builder.named_function(WOKEN_BY, "")
    } else {
        builder.named_function(&demangle(name), "")
    };
    builder.frame(Frame { function, address, ..Frame::default() })
}

/// Splits an address from the name. Its column is 16 digits wide.
fn split_address(text: &str) -> (u64, &str) {
    let columns = text.split_at_checked(16).filter(|(_, rest)| rest.starts_with(' '));
    let parts =
        columns.and_then(|(address, rest)| Some((hex(address.trim_end().as_bytes())?, rest.trim_start())));
    parts.unwrap_or((0, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    fn metrics(profile: &Profile) -> Vec<(&str, &str, u128)> {
        profile
            .meta
            .metrics
            .iter()
            .map(|metric| (&*metric.name, &*metric.unit, metric.total as u128))
            .collect()
    }

    #[test]
    fn samples_have_the_thread_and_its_process() {
        let text = "$ profile -d\nSampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n\
                    \x20   b'vfs_read'\n    entry_64_[k]\n    --\n    [unknown]\n    -                Web Content (12)\n        9\n\n\
                    \x20   _ZN1a1fEv\n    -                sh (7)\n        1\n\n    -                idle (0)\n        2\n\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let profile = load(text).unwrap();
        let expected = " 2 {process=0 thread=idle}\n<unknown>;entry_64_[k];vfs_read 9 {process=12 thread=Web Content}\n\
                        a::f() 1 {process=7 thread=sh}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(metrics(&profile), [("samples", "count", 12)]);
    }

    #[test]
    fn all_lines_may_be_indented() {
        let text = "    $ offcputime -uU\n    Tracing off-CPU time (us) of user threads by user stack... Hit Ctrl-C to end.\n\n    ^C\n\
                    \twrite\n\tmain\n\t-                sh (7)\n\t8\n\n\tmmap\n\t-                sh (7)\n\t16\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "main;write 8 {thread=sh tid=7}\nmmap 16 {thread=sh tid=7}");
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn waits_are_those_of_threads() {
        let text = "Tracing off-CPU time (us) of all threads by kernel stack for 5 secs.\n\n\
                    \x20   ffffffff810a9581 schedule\n    4005d0           f\n    -                bash (24)\n        49\n\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "f;schedule 49 {thread=bash tid=24}");
        assert_eq!(metrics(&profile), [("off_cpu", "microseconds", 49)]);
        let frame = profile.symbols.frames.ids().next().unwrap();
        assert_eq!(profile.symbols.frames[frame].address, 0xffff_ffff_810a_9581);
        let first = "Tracing off-CPU time (us) by kernel stack... Hit Ctrl-C to end.\n^C\n    schedule\n    page_fault\n    chmod\n        13\n\n\
                     \x20   schedule\n    -                bash\n        4\n";
        assert_eq!(
            to_notation(&load(first).unwrap()),
            "page_fault;schedule 13 {thread=chmod}\nschedule 4 {thread=bash}"
        );
    }

    #[test]
    fn wakers_are_told_from_those_that_wait() {
        let text = "Tracing blocked time (us) by kernel stack... Hit Ctrl-C to end.\n^C\n    target:          sshd\n    pollwake\n    irq_exit\n    \
                    waker:           swapper/0\n        7\n\nDetaching...\n\
                    Tracing blocked time (us) by user + kernel off-CPU and waker stack for 2 secs.\n\n\
                    \x20   waker:           kworker/0 5\n    kthread\n    -\n    wake_up\n    --               --\n    schedule\n    main\n    \
                    target:          my sql 18\n        3\n\n";
        let profile = load(text).unwrap();
        let expected = "irq_exit;pollwake 7 0 {target=sshd thread=swapper/0}\n\
                        main;schedule;--;wake_up;kthread 0 3 {thread=my sql tid=18 waker=kworker/0 5}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(metrics(&profile), [("blocked", "microseconds", 7), ("off_cpu", "microseconds", 3)]);
    }

    #[test]
    fn counts_are_those_of_the_function() {
        let text = "Tracing 1 functions for \"b'submit_bio'\"... Hit Ctrl-C to end.\n\n06:05:14\n  submit_bio+0x1\n  f\n    --\n    \
                    jbd2/xvda1-8 [405]\n    5\n\n06:05:15\n    parprimes [11]\n  submit_bio+0x1\n    7\n\nDetaching...\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let profile = load(text).unwrap();
        let expected =
            "f;submit_bio 5 {process=405 thread=jbd2/xvda1-8}\nsubmit_bio 7 {process=11 thread=parprimes}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(metrics(&profile), [("submit_bio", "count", 12)]);
        assert!(profile.meta.warnings.is_empty());
    }

    #[test]
    fn other_tables_are_not_recognized() {
        let counts = "Tracing 2 functions for \"tcp_*\"... Hit Ctrl-C to end.\n^C\nFUNC       COUNT\ntcp_push       3\n";
        let waits = "Tracing off-CPU time (us)... Hit Ctrl-C to end.\n@us[\n    schedule+1\n]: 12\n";
        for text in [counts, waits, "  f\n    9\n", "Sampling at 49 Hertz of all threads by user stack\n"] {
            assert_eq!(sniff(text.as_bytes()), Confidence::No, "{text}");
        }
    }

    #[test]
    fn malformed_files_are_rejected() {
        let title = "Sampling at 49 Hertz of PID 1 by user stack... Hit Ctrl-C to end.\n";
        let error = |text: &str| load(&format!("{title}{text}")).unwrap_err().to_string();
        assert_eq!(error("^C\n"), "bcc: the file contains no stacks");
        assert_eq!(error("  f\n  g"), "bcc: file is truncated: this stack has no value (line 2)");
        assert_eq!(error("  f\n\n  g\n"), "bcc: file is truncated: this stack has no value (line 4)");
        assert_eq!(
            error("  f\n  9223372036854775808\n"),
            "bcc: the value of this stack does not fit in 64 bits (line 3)"
        );
        assert_eq!(error("what\n"), "bcc: not a stack with a value (line 2)");
        assert!(load("  f\n    9\n").unwrap_err().to_string().contains("no line says"));
        let profile = load(&format!("{title}  f\n    9\n\n  g\n\n")).unwrap();
        assert_eq!(
            profile.meta.warnings,
            ["1 line was skipped, the first at line 5: not a stack with a value"]
        );
    }
}
