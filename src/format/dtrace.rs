//! DTrace's aggregations of stacks, as `@[ustack()] = count()` prints them: after a header and a blank line, the
//! frames of a stack, leaf first, and its count.
//!
//! ```text
//! CPU     ID                    FUNCTION:NAME
//!   0  64091                        :tick-60s
//!
//!               unix`trap+0x2c7
//!               java`Lorders/Shop;->price
//!                 3
//! ```
//!
//! A frame is a module and a function; `->` comes before a function that is inlined into the one before it. A count
//! without frames is of stacks that DTrace could not walk. A script that prints repeatedly, or several outputs in one file,
//! repeat the header. Where a part of an output was copied, there may be none, and a stack comes first.

use crate::format::text::{Lines, Scan, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::{demangle, rust_escape};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static DTRACE: Format = Format { name: NAME, title: "DTrace stacks", sniff, read };

const NAME: &str = "dtrace";

/// Requires a blank line, lines that are ``module`function`` or an address, and a count.
fn sniff(head: &[u8]) -> Confidence {
    let lines = head.split(|&byte| byte == b'\n').skip_while(|line| is_header(line));
    let mut lines = lines.map(<[u8]>::trim_ascii);
    let mut has_frames = false;
    let end = lines.find(|line| {
        let is_frame = is_frame(line);
        let is_bare_count = !has_frames && decimal(line).is_some();
        has_frames |= is_frame;
        !line.is_empty() && !is_frame && !is_bare_count && !is_header_line(line)
    });
    let is_it = has_frames && end.is_some_and(|line| decimal(line).is_some());
    if is_it { Confidence::Likely } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut lines = Lines::new(source);
    let mut in_header = true;
    // Leaf first; of an inlined function and its caller, the caller comes later.
    let mut frames: Vec<FrameId> = Vec::new();
    let (mut any, mut started) = (false, 0);
    while lines.advance()? {
        in_header &= is_header(lines.line());
        let line = lines.line().trim_ascii();
        if in_header || is_header_line(line) {
            // Where the next output starts.
        } else if let Some(count) = decimal(line) {
            frames.reverse();
            let stack = builder.stack(&frames);
            builder.sample(stack, LabelSetId::default(), None, &[count]);
            any |= !frames.is_empty();
            frames.clear();
        } else if !line.is_empty() && line.iter().all(u8::is_ascii_digit) {
            return Err(ParseError::at_line(NAME, lines.number(), "the count does not fit in 64 bits").into());
        } else if !line.is_empty() {
            started = if frames.is_empty() { lines.number() } else { started };
            push_frames(&mut builder, &mut frames, &lossy(line));
        }
    }
    if !frames.is_empty() {
        return Err(ParseError::at_line(NAME, started, "file is truncated: this stack has no count").into());
    }
    if !any {
        return Err(ParseError::at_line(NAME, lines.number(), "the file contains no stacks").into());
    }
    Ok(finished(builder)?)
}

/// Whether a line still belongs to what comes before the first stack: it is not blank, and no indented frame.
fn is_header(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let is_stack = text.is_empty() || (line[0].is_ascii_whitespace() && is_frame(text));
    !is_stack
}

/// Whether a line is ``module`function`` or an address.
fn is_frame(line: &[u8]) -> bool {
    line.contains(&b'`') || line.starts_with(b"0x")
}

/// Whether a line is `CPU     ID                    FUNCTION:NAME`, or names the probe that printed what follows, with its
/// processor and its number: `2  29684                        :tick-60s`.
fn is_header_line(line: &[u8]) -> bool {
    let mut scan = Scan(line);
    let [cpu, id, probe] = [scan.word(), scan.word(), scan.word()];
    let is_title = [cpu, id, probe] == [b"CPU".as_slice(), b"ID", b"FUNCTION:NAME"];
    is_title || (decimal(cpu).is_some() && decimal(id).is_some() && probe.contains(&b':'))
}

/// Adds the frames of a line: a function, and those inlined into it.
fn push_frames(builder: &mut ProfileBuilder, frames: &mut Vec<FrameId>, line: &str) {
    let text = without_offset(line);
    let text = if text.contains("::") { without_arguments(text) } else { text };
    let is_inlined = text.contains("->");
    let (module, function) = text.split_once('`').unwrap_or(("", text));
    let function = rust_name(function);
    // Inlined code is in the module of the function that it was inlined into.
    let mapping = builder.named_mapping(module);
    let callee = frames.len();
    for (number, name) in function.split("->").enumerate() {
        // The class of a Java method: `Lorders/Shop;`.
        let name = if is_inlined { name.trim_start_matches('L') } else { name };
        let name = if name.is_empty() && module.is_empty() { "-" } else { name };
        let function = builder.named_function(&demangle(name).replace(';', ":"), "");
        let frame = Frame { function, mapping, inlined: number > 0, ..Frame::default() };
        frames.insert(callee, builder.frame(frame));
    }
}

/// ``unix`trap`` of ``unix`trap+0x2c7``.
fn without_offset(line: &str) -> &str {
    line.rfind('+').map_or(line, |at| &line[..at])
}

/// A C++ name without its arguments, or those of its template.
fn without_arguments(text: &str) -> &str {
    let scope = text.find("::").map_or(0, |at| at + 2);
    text[scope..].rfind(['(', '<']).map_or(text, |at| &text[..scope + at])
}

/// Length of the hash of a Rust symbol: `h` and 16 digits.
const HASH: usize = 17;

/// A Rust name, of which DTrace undoes only a part of the mangling: `_$LT$F$u20$as$u20$core..fmt..Debug$GT$::fmt` and
/// a hash is `<F as core::fmt::Debug>::fmt`. Other names are returned unchanged.
fn rust_name(name: &str) -> String {
    let text = name.trim_end();
    let hash = text.len().checked_sub(HASH).and_then(|at| text.split_at_checked(at));
    let is_hash =
        |hash: &str| hash.starts_with('h') && hash[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some((text, _)) = hash.filter(|(_, hash)| is_hash(hash)) else { return name.to_string() };
    let text = text.strip_suffix("::").unwrap_or(text);
    let mut rest = if text.starts_with("_$") { &text[1..] } else { text };
    let mut out = String::with_capacity(rest.len());
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("..") {
            out.push_str("::");
            rest = after;
        } else if let Some((decoded, after)) = rust_escape(rest) {
            out.push(decoded);
            rest = after;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &[u8]) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.to_vec()), LoadOptions::default())
    }

    #[test]
    fn counts_without_a_stack_are_kept() {
        let text = b"CPU ID\n\n  5\n\n  unix`trap+0x2c7\n  unix`main->inner\n  3\n  4\n";
        assert_eq!(sniff(text), Confidence::Likely);
        assert_eq!(to_notation(&load(text).unwrap()), " 9\nmain;+inner;trap 3");
    }

    #[test]
    fn a_stack_may_come_first() {
        let text = b"  genunix`mutex_enter\n  unix`trap+0x1\n  5\n\n  unix`main\n  3\n";
        assert_eq!(sniff(text), Confidence::Likely);
        assert_eq!(to_notation(&load(text).unwrap()), "main 3\ntrap;mutex_enter 5");
    }

    #[test]
    fn names_are_shortened_and_decoded() {
        let text = b"h\n\n a`_$LT$T$u20$as$u20$x..Y$GT$::call::h0123456789abcdef+0x1\n a`std::vector<int>::push_back(int)+0x2\n \
                     a`Lshop/Orders;->Lshop/Price;\n 0x1234\n 2\n";
        let frames = "0x1234;shop/Orders:;+shop/Price:;std::vector<int>::push_back;<T as x::Y>::call 2";
        assert_eq!(to_notation(&load(text).unwrap()), frames);
    }

    #[test]
    fn headers_of_later_outputs_are_not_frames() {
        let header =
            "CPU     ID                    FUNCTION:NAME\n  2  29684                        :tick-60s \n";
        let text = format!(
            "{header}\n\n  a`f+0x1\n  a`main\n  1\n{header}\n\n  a`g\n  2\n\n  0  7  main:entry \n\n  a`h\n  3\n"
        );
        assert_eq!(to_notation(&load(text.as_bytes()).unwrap()), "g 2\nh 3\nmain;f 1");
        let nothing_at_first = format!("{header}\n\n{header}\n\n  a`g\n  2\n");
        assert_eq!(sniff(nothing_at_first.as_bytes()), Confidence::Likely);
    }

    #[test]
    fn symbols_are_demangled() {
        let text =
            b"h\n\n a`_ZN4node5StartEiPPc+0x196\n a`_ZN1a1f17h0123456789abcdefE+0x2\n a`_start+0x6c\n 2\n";
        assert_eq!(to_notation(&load(text).unwrap()), "_start;a::f;node::Start(int, char**) 2");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept_out_of_names() {
        let text = b"h\n\n a`\xff\xfe+0x1\n a`caf\xe9::f(\xe9\n 2\n";
        assert_eq!(to_notation(&load(text).unwrap()), "caf\u{fffd}::f;\u{fffd}\u{fffd} 2");
    }

    #[test]
    fn malformed_files_are_rejected() {
        let error = |text: &str| load(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(error("no stacks\n"), "dtrace: the file contains no stacks (line 1)");
        assert_eq!(
            error("h\n\n a`b\n 1\n a`c\n a`d\n"),
            "dtrace: file is truncated: this stack has no count (line 5)"
        );
        assert_eq!(
            error("h\n\n a`b\n 9223372036854775808\n"),
            "dtrace: the count does not fit in 64 bits (line 4)"
        );
    }
}
