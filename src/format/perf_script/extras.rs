//! What some fields of `perf script -F` add after the frames of a sample: on the line of its only frame, or on a line of their own
//! below its stack.
//!
//! ```text
//!  insn: 89 d0                                          insn, insnlen
//!  0x401140/0x401130/P/-/-/0  0x40113c/0x40112a/P/-/-/0 brstack, brstacksym
//!  ABI:2    AX:0x2a    BX:0x0                           iregs, uregs
//!   BPF output: 0000: 0f b4 7c 81                       bpf-output, and below it, `0008: 00 00`
//! ```
//!
//! With `disasm`, the instruction follows the module of the frame, after two tabs: `ret`.

use std::borrow::Cow;

use memchr::memmem;

use crate::format::perf_script::flat;
use crate::format::text::hex;

/// Words that start such a text.
const STARTS: [&[u8]; 5] = [b" insn: ", b" ilen: ", b" ABI:", BPF_OUTPUT, b" BPF string: "];

/// What is written before the data of an event that a BPF program wrote.
const BPF_OUTPUT: &[u8] = b" BPF output: ";

/// What a terminal shows for a tab.
const TAB: &[u8] = b"        ";

/// The line up to the first such text.
pub(super) fn without_extras(line: &[u8]) -> &[u8] {
    if is_dump(line) {
        return b"";
    }
    let named = STARTS.iter().filter_map(|start| memmem::find(line, start));
    let end = named.chain(branches(line)).chain(instruction(line)).min().unwrap_or(line.len());
    line[..end].trim_ascii_end()
}

/// Whether a line is the beginning of what a BPF program wrote.
pub(super) fn is_bpf_output(line: &[u8]) -> bool {
    line.starts_with(b" ") && line.trim_ascii_start().starts_with(BPF_OUTPUT.trim_ascii_start())
}

/// Whether a line continues a dump of bytes: `                  0008: 00 00 00 00`.
fn is_dump(line: &[u8]) -> bool {
    let Some([a, b, c, d, b':', b' ', byte @ ..]) = line.strip_prefix(TAB).map(<[u8]>::trim_ascii_start)
    else {
        return false;
    };
    hex(&[*a, *b, *c, *d]).is_some() && byte.get(..2).is_some_and(|byte| hex(byte).is_some())
}

/// Where the disassembled instruction of a line begins: after the module of its only frame and a tab, or the blanks that stand for
/// it in copied text.
fn instruction(line: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b')', line).map(|at| at + 1).find(|&end| {
        let (frame, rest) = line.split_at(end);
        let text = rest.trim_ascii_start();
        let blanks = &rest[..rest.len() - text.len()];
        let is_apart = blanks.contains(&b'\t') || blanks.starts_with(TAB);
        is_apart && text.first().is_some_and(u8::is_ascii_alphabetic) && flat::address(frame).is_some()
    })
}

/// Where the first branch of a line starts: `0x401140/0x401130/P/-/-/0`, or with names, `main+0x1c/leaf+0x0/M/-/-/12`.
fn branches(line: &[u8]) -> Option<usize> {
    let slashes = memmem::find_iter(line, b"/-/").chain(memmem::find_iter(line, b"/X/"));
    let flags = slashes.filter(|&at| is_branch(line, at)).min()?;
    let before = &line[..flags];
    Some(before.iter().rposition(|&byte| byte == b' ').map_or(0, |blank| blank + 1))
}

/// Whether the flag at `at` is the second one of a branch: `P`, `M` or `-` comes before it, and `A` or `-` after it.
fn is_branch(line: &[u8], at: usize) -> bool {
    let before = at >= 2 && line[at - 2] == b'/' && matches!(line[at - 1], b'P' | b'M' | b'-');
    let after = matches!(line[at + 3..], [b'A' | b'-', b'/', ..]);
    before && after && memchr::memchr_iter(b'/', &line[..at]).count() >= 2
}

/// The lines of the head without such texts. A line of which nothing is left is blank, as the one that it stands for: what follows
/// a stack takes the place of the blank line between samples.
pub(super) fn clean_head(head: &[u8]) -> Cow<'_, [u8]> {
    if !has_extras(head) {
        return Cow::Borrowed(head);
    }
    let mut clean = Vec::with_capacity(head.len());
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        clean.extend_from_slice(without_extras(line));
        clean.extend(line.ends_with(b"\n").then_some(b'\n'));
    }
    Cow::Owned(clean)
}

/// Whether a text has them.
pub(super) fn has_extras(text: &[u8]) -> bool {
    let has_instruction = || text.split(|&byte| byte == b'\n').any(|line| instruction(line).is_some());
    STARTS.iter().any(|start| memmem::find(text, start).is_some())
        || branches(text).is_some()
        || has_instruction()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_after_a_frame_is_cut() {
        for (line, kept) in [
            (" insn: 89 d0", ""),
            ("     563e57c5714a leaf (/srv/w) insn: 83 c2 01", "     563e57c5714a leaf (/srv/w)"),
            ("     563e57c5714a ilen: 3", "     563e57c5714a"),
            ("     563e57c5714a  0x401140/0x401130/P/-/-/0 ", "     563e57c5714a"),
            (" main+0x1c/leaf+0x0/M/-/-/12/COND/-  f+0x1/g+0x2/P/X/A/3", ""),
            ("\t  563e57c5714a leaf (/srv/P/-/x)", "\t  563e57c5714a leaf (/srv/P/-/x)"),
            (" ABI:2    AX:0x2a    BX:0x0", ""),
            ("      BPF output: 0000: 0f b4 7c 81", ""),
            ("                  0008: 00 00           ....", ""),
            (
                "     563e57c5714a leaf+0x3 (/srv/w)\t\tmovq (%rsi), %rdi",
                "     563e57c5714a leaf+0x3 (/srv/w)",
            ),
            (
                "w 12 [001] 2.5:      563e57c5714a leaf (x)+0x3 (/srv/w)            ret     IPC: 0.04 (2/41)",
                "w 12 [001] 2.5:      563e57c5714a leaf (x)+0x3 (/srv/w)",
            ),
            // The name of a thread.
            (
                "        (sd-pam)            cycles:      563e57c5714a leaf",
                "        (sd-pam)            cycles:      563e57c5714a leaf",
            ),
        ] {
            assert_eq!(String::from_utf8_lossy(without_extras(line.as_bytes())), kept, "{line}");
        }
    }
}
