//! The output of `perf script -F` with few fields: any part of a header may be missing, even all of them.
//!
//! ```text
//! words
//! →           48076 words::count
//! →           4786a words::main
//!
//! ```
//!
//! Frames follow a tab, and their addresses take sixteen columns, which no other format has.

use crate::format::perf_script::frame;
use crate::format::perf_script::header::{ids, known, seconds};
use crate::format::text::{Scan, decimal, hex};

/// The columns of an address.
const ADDRESS: usize = 16;

/// What a terminal shows for a tab.
const TAB: &[u8] = b"        ";

/// The columns of a period, if it is shorter. Those of an id are fewer.
const PERIOD: usize = 10;

/// The digits from which on a number is an address, if a name follows.
const LONG: usize = 8;

/// What a header says; there may be none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BriefHeader<'a> {
    pub(super) comm: &'a [u8],
    pub(super) tid: Option<i64>,
    pub(super) pid: Option<i64>,
    /// Nanoseconds since boot.
    pub(super) time: Option<i64>,
    pub(super) period: Option<i64>,
    pub(super) event: Option<&'a [u8]>,
    /// The stack, if it is on the same line.
    pub(super) frame: Option<&'a [u8]>,
}

/// Whether the text consists of such samples: blocks that end with a blank line, each of frames below at most one header. Samples
/// without a stack have neither frames nor a blank line.
pub(super) fn is_brief(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(&b""[..], |end| &head[..end]);
    let (mut frames, mut blocks, mut others, mut all) = (0, 0, 0, 0);
    for line in whole.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#")) {
        if line.trim_ascii().is_empty() {
            blocks += usize::from(frames > 0);
            frames = 0;
        } else if is_frame(line) {
            (frames, all) = (frames + 1, all + 1);
        } else if frames == 0 {
            others += 1;
        } else if !line.starts_with(b"  ") {
            // Below a frame there may be its source line.
            return false;
        }
    }
    blocks > 0 && others <= all
}

/// Whether a line is a frame: a tab, or the blanks that stand for it in copied text, an address in its columns, and perhaps a name.
pub(super) fn is_frame(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"\t").or_else(|| line.strip_prefix(TAB)) else { return false };
    let Some(columns) = rest.get(..ADDRESS) else { return false };
    let ends = rest.get(ADDRESS).is_none_or(u8::is_ascii_whitespace);
    ends && columns.last() != Some(&b' ') && hex(columns.trim_ascii_start()).is_some()
}

/// Reads a header.
pub(super) fn parse(line: &[u8]) -> BriefHeader<'_> {
    let mut header = BriefHeader::default();
    let mut scan = Scan(line);
    let mut is_comm = true;
    loop {
        let start = scan;
        let word = scan.word();
        let before = line.len() - start.0.len();
        let name = word.strip_suffix(b":").filter(|name| !name.is_empty());
        if word.is_empty() {
            return header;
        } else if let Some(time) = name.and_then(seconds) {
            header.time = known(time);
        } else if let Some(event) = name {
            header.event = Some(event);
            header.frame = Some(scan.0.trim_ascii()).filter(|text| is_address(text));
            return header;
        } else if is_address(start.0) && !names_event(scan) {
            header.frame = Some(start.0.trim_ascii());
            return header;
        } else if let Some((pid, tid)) = ids(word) {
            // One blank divides the fields.
            let blanks = start.0.len() - start.0.trim_ascii_start().len() - usize::from(before > 0);
            let is_period = header.time.is_some() || blanks + word.len() >= PERIOD;
            if is_period {
                header.period = decimal(word);
            } else {
                // Names may end with numbers: the last one is the id.
                if header.tid.is_some() && is_comm {
                    header.comm = line[..before].trim_ascii();
                }
                (header.pid, header.tid) = (pid, Some(tid));
                continue;
            }
        } else if is_comm && !is_processor(word) {
            header.comm = line[..line.len() - scan.0.len()].trim_ascii();
            // What was taken for an id belongs to the name.
            (header.pid, header.tid) = (None, None);
            continue;
        }
        is_comm = false;
    }
}

/// Whether a text starts with a long address that a name follows.
fn is_address(text: &[u8]) -> bool {
    let mut scan = Scan(text);
    let word = scan.word();
    word.len() >= LONG && hex(word).is_some() && !scan.word().is_empty() && frame::split(text).is_some()
}

/// Whether the next word is an event.
fn names_event(mut scan: Scan<'_>) -> bool {
    scan.word().ends_with(b":")
}

/// `[002]`
fn is_processor(word: &[u8]) -> bool {
    let number = word.strip_prefix(b"[").and_then(|word| word.strip_suffix(b"]"));
    number.is_some_and(|number| decimal(number).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_any_of_the_fields() {
        let none = BriefHeader::default();
        let words = BriefHeader { comm: b"words", ..none };
        for (line, header) in [
            ("", none),
            ("words ", words),
            ("Web Content ", BriefHeader { comm: b"Web Content", ..none }),
            ("16499 ", BriefHeader { tid: Some(16499), ..none }),
            ("  10101010 ", BriefHeader { period: Some(10_101_010), ..none }),
            ("words   10101010 ", BriefHeader { period: Some(10_101_010), ..words }),
            ("words 16499 ", BriefHeader { tid: Some(16499), ..words }),
            ("pool 2 31/32 [001] ", BriefHeader { comm: b"pool 2", pid: Some(31), tid: Some(32), ..none }),
            ("pool 2 run ", BriefHeader { comm: b"pool 2 run", ..none }),
            ("words   877.743991: ", BriefHeader { time: Some(877_743_991_000), ..words }),
            ("cpu-clock:u: ", BriefHeader { event: Some(b"cpu-clock:u"), ..none }),
            (
                "  877.5:   10101010 cpu-clock: ",
                BriefHeader {
                    time: Some(877_500_000_000),
                    period: Some(10_101_010),
                    event: Some(b"cpu-clock"),
                    ..none
                },
            ),
            (
                "sh      7f16285ab0ce strpbrk ",
                BriefHeader { comm: b"sh", frame: Some(b"7f16285ab0ce strpbrk"), ..none },
            ),
        ] {
            assert_eq!(parse(line.as_bytes()), header, "{line}");
        }
    }

    #[test]
    fn other_formats_are_not_brief() {
        let frame = "\t           49fa1 [unknown]\n";
        for text in [
            format!("\n{frame}{frame}\n"),
            format!("sh \nwords \n{frame}{frame}\nwords \n{frame}  w.rs:12\n\n"),
        ] {
            assert!(is_brief(text.as_bytes()), "{text}");
        }
        for text in [
            // Without an end, as in a format whose stacks end otherwise.
            format!("@[\n{frame}{frame}"),
            format!("@[\n{frame}]: 12\n\n"),
            "main.main()\n\t/srv/main.go:12 +0x1d\n\n".to_string(),
            "\tadd one\n\n".to_string(),
            "a\nb\nc\n\n".to_string(),
        ] {
            assert!(!is_brief(text.as_bytes()), "{text}");
        }
    }
}
