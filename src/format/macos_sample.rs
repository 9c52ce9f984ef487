//! Reads the report of `sample` on macOS, which Activity Monitor can also save: a call tree, root first.
//!
//! ```text
//! Call graph:
//!     825 Thread_15758523   DispatchQueue_1: com.apple.main-thread  (serial)
//!     + 825 start  (in libdyld.dylib) + 1  [0x7fff737cf3d5]
//!     +   500 main  (in rg) + 41  [0x10384b549]
//! ```
//!
//! A node's count includes those of its children. Each level is indented by two columns. If the line is known, it comes last:
//! `[0x1000017be]  main.cpp:353`.

use crate::format::labels::sample_labels;
use crate::format::text::{Lines, Scan, decimal};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static MACOS_SAMPLE: Format = Format { name: NAME, title: "macOS sample", sniff, read };

const NAME: &str = "macos-sample";

fn sniff(head: &[u8]) -> Confidence {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    // What people copy often begins with the graph.
    let has_graph = has(b"\nCall graph:") || (head.starts_with(b"Call graph:") && has(b" Thread_"));
    match head.starts_with(b"Analysis of sampling ") || head.starts_with(b"Sampling process ") {
        true => Confidence::Certain,
        false if has_graph => Confidence::Likely,
        false => Confidence::No,
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut lines = Lines::new(source);
    loop {
        if !lines.advance()? {
            return Err(ParseError::whole(NAME, "no `Call graph:` line").into());
        }
        if let Some(period) = period(lines.line()) {
            builder.meta.period = Some(period);
        }
        if lines.line().starts_with(b"Call graph:") {
            break;
        }
    }
    let mut tree = OpenNodes { builder, path: Vec::new(), labels: LabelSetId::default() };
    let mut is_whole = false;
    while lines.advance()? {
        let line = lines.line();
        if tree.path.is_empty() && line.trim_ascii().starts_with(b"...") {
            let message = "the call graph was left out of this report, and the table below it has no stacks; pass the whole report";
            return Err(ParseError::at_line(NAME, lines.number(), message).into());
        }
        if line.starts_with(b"    ") {
            tree.line(line).map_err(|what| ParseError::at_line(NAME, lines.number(), what))?;
        } else if line.starts_with(b"Total number in stack") {
            is_whole = true;
            break;
        } else if !line.trim_ascii().is_empty() {
            return Err(ParseError::at_line(NAME, lines.number(), "not a call graph line").into());
        }
    }
    tree.close(0);
    if !is_whole {
        tree.builder.warn("file is truncated within the call graph; the rest is missing".to_string());
    }
    Ok(finished(tree.builder)?)
}

/// `Analysis of sampling rg (pid 64751) every 1 millisecond`
fn period(line: &[u8]) -> Option<Period> {
    line.strip_prefix(b"Analysis of sampling ")?;
    let every = memchr::memmem::rfind(line, b" every ")?;
    let mut scan = Scan(&line[every + b" every ".len()..]);
    let value = scan.integer().filter(|&value| value > 0)?;
    let unit = match scan.word() {
        b"millisecond" | b"milliseconds" => "milliseconds",
        b"microsecond" | b"microseconds" => "microseconds",
        b"second" | b"seconds" => "seconds",
        _ => return None,
    };
    Some(Period { name: "wall".into(), unit: unit.into(), value })
}

/// The nodes from the root to the current one.
struct OpenNodes {
    builder: ProfileBuilder,
    path: Vec<OpenNode>,
    labels: LabelSetId,
}

struct OpenNode {
    /// `None` for a thread, which is not a frame.
    frame: Option<FrameId>,
    /// The count minus those of the children seen so far.
    own: i64,
}

impl OpenNodes {
    fn line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let text = &line[4..];
        let is_indent = |byte: &u8| b" +|:!".contains(byte);
        let indent = text.iter().take_while(|byte| is_indent(byte)).count();
        let text = text[indent..].trim_ascii_end();
        if text.is_empty() {
            return Err("empty call graph line");
        }
        if indent % 2 != 0 {
            return Err("indentation is not a multiple of two columns");
        }
        let depth = indent / 2;
        if depth > self.path.len() {
            return Err("indented by more than one level");
        }
        let mut scan = Scan(text);
        let count = decimal(scan.word()).filter(|&count| count >= 0).ok_or("count is not a number")?;
        self.close(depth);
        if let Some(parent) = self.path.last_mut() {
            // If the children add up to more than the node, its self count is zero.
            parent.own = parent.own.saturating_sub(count);
        }
        let node = scan.0.trim_ascii();
        let frame = match thread(node) {
            Some((tid, name)) if depth == 0 => {
                self.labels = self.thread_labels(tid, &name);
                None
            }
            _ => Some(self.frame(node)),
        };
        self.path.push(OpenNode { frame, own: count });
        Ok(())
    }

    /// Closes all nodes below `depth`; the count not covered by children is their self count.
    fn close(&mut self, depth: usize) {
        while self.path.len() > depth {
            let own = self.path.last().map_or(0, |node| node.own);
            if own > 0 {
                let frames: Vec<FrameId> = self.path.iter().filter_map(|node| node.frame).collect();
                let stack = self.builder.stack(&frames);
                self.builder.sample(stack, self.labels, None, &[own]);
            }
            self.path.pop();
        }
    }

    fn thread_labels(&mut self, tid: i64, name: &str) -> LabelSetId {
        sample_labels(&mut self.builder, |labels| {
            labels.text("thread", name);
            labels.number("tid", tid);
        })
    }

    /// `start  (in libdyld.dylib) + 1  [0x7fff737cf3d5]`
    fn frame(&mut self, node: &[u8]) -> FrameId {
        let builder = &mut self.builder;
        let text = String::from_utf8_lossy(node);
        let (name, rest) = text.rsplit_once("  (in ").unwrap_or((&text, ""));
        let module = rest.split_once(')').map_or("", |(module, _)| module);
        let mapping = builder.named_mapping(module);
        let (addresses, place) =
            rest.rsplit_once("[0x").and_then(|(_, rest)| rest.split_once(']')).unwrap_or_default();
        // Several addresses are several locations in one function.
        let address = u64::from_str_radix(addresses, 16).unwrap_or(0);
        let (file, line) = source_place(place);
        let function = if name == "???" {
            builder.unnamed_function(mapping)
        } else {
            builder.named_function(&demangle(name.trim_end()), file)
        };
        builder.frame(Frame { function, line, address, mapping, ..Frame::default() })
    }
}

/// Parses `main.cpp:353`. After several addresses there are several lines, `main.cpp:353,361,...`, of which none is the one.
fn source_place(text: &str) -> (&str, u32) {
    let (file, lines) = text.trim().rsplit_once(':').unwrap_or_default();
    let is_lines =
        !lines.is_empty() && lines.bytes().all(|byte| byte.is_ascii_digit() || b",.".contains(&byte));
    if is_lines { (file, lines.parse().unwrap_or(0)) } else { ("", 0) }
}

/// Parses the id and name in `Thread_1086631: PortServerThread`, or the queue in
/// `Thread_15758523   DispatchQueue_1: com.apple.main-thread  (serial)`.
fn thread(node: &[u8]) -> Option<(i64, String)> {
    let mut scan = Scan(node.strip_prefix(b"Thread_")?);
    let tid = scan.integer()?;
    let name = memchr::memmem::find(scan.0, b": ").map_or(&b""[..], |at| scan.0[at + 2..].trim_ascii());
    let kind = [b"(serial)".as_slice(), b"(concurrent)"].into_iter().find_map(|kind| name.strip_suffix(kind));
    let name = kind.unwrap_or(name).trim_ascii();
    let name =
        if name.is_empty() { format!("Thread_{tid}") } else { String::from_utf8_lossy(name).into_owned() };
    Some((tid, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(graph: &str) -> Result<Profile, LoadError> {
        let text = format!(
            "Analysis of sampling rg (pid 7) every 1 millisecond\n\nCall graph:\n{graph}\nTotal number in stack\n"
        );
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(
            &mut Source::from_bytes(text.into_bytes()),
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
        )
    }

    #[test]
    fn self_counts_are_what_the_children_leave() {
        let profile = load(
            "    10 Thread_1: worker\n    + 10 start  (in libdyld.dylib) + 1  [0x10]\n\
             \x20   +   6 _ZN3foo3barEv  (in rg) + 1  [0x20]\n    +   ! 2 read  (in libc) + 1  [0x30,0x34]\n\
             \x20   +   3 ???  (in rg)  load address 0x1 + 0x2  [0x40]\n    2 Thread_2\n",
        )
        .unwrap();
        assert_eq!(
            to_notation(&profile),
            " 2 {thread=Thread_2 tid=2}\nstart 1 {thread=worker tid=1}\nstart;[rg] 3 {thread=worker tid=1}\n\
             start;foo::bar() 4 {thread=worker tid=1}\nstart;foo::bar();read 2 {thread=worker tid=1}"
        );
    }

    #[test]
    fn queues_and_source_lines() {
        let profile = load(
            "    9 Thread_1   DispatchQueue_1: com.apple.main-thread  (serial)  \n\
             \x20   + 9 main  (in a) + 91  [0x1000017be]  main.cpp:353  \n\
             \x20   +   9 wait(int (*) [2])  (in a) + 16,83,...  [0x20,0x30,...]  b.cpp:18,20,...\n\
             \x20   +     9 read  (in libc) + 1  [0x40]\n",
        )
        .unwrap();
        let expected =
            "main@main.cpp:353;wait(int (*) [2])@b.cpp:0;read 9 {thread=com.apple.main-thread tid=1}";
        assert_eq!(to_notation(&profile), expected);
        assert!(profile.symbols.frames.iter().any(|frame| frame.address == 0x1_0000_17BE));
    }

    #[test]
    fn a_graph_without_what_comes_before_it_is_recognized() {
        assert_eq!(
            sniff(b"Call graph:\n    9 Thread_1\n    + 9 main  (in a) + 1  [0x1]\n"),
            Confidence::Likely
        );
        // The text of gprof, and anything else with such a title.
        assert_eq!(
            sniff(b"Call graph:\n\nindex % time    self  children    called     name\n"),
            Confidence::No
        );
    }

    #[test]
    fn wrong_indentation_is_rejected() {
        let message = |graph| load(graph).unwrap_err().to_string();
        assert!(message("    1 Thread_1\n     1 f\n").contains("not a multiple"));
        assert!(message("    1 Thread_1\n        1 f\n").contains("more than one level"));
        assert!(message("    1 Thread_1\n    + !\n").contains("(line 5)"));
        assert!(message("    x Thread_1\n").contains("count is not a number"));
        assert!(message("    ... (tree omitted) ...\n").contains("the call graph was left out"));
    }
}
