//! The output of `perf script -F` for recordings without call chains: each line is a sample, and ends with its only frame.
//!
//! ```text
//!      7f35c84ff0c0 do_lookup_x
//!  ffffffff8158c0a1 next_uptodate_folio
//! ```
//!
//! Before the address there may be a header, as brief as those of samples with stacks. The address takes sixteen columns and follows
//! a blank, which distinguishes it from other numbers.

use crate::format::text::hex;

/// The columns of an address with the blank before it.
const COLUMNS: usize = 17;

/// Where the address of a line begins. Of several, such as that of data, the last one is that of the code.
pub(super) fn address(line: &[u8]) -> Option<usize> {
    if line.starts_with(b"\t") {
        // A frame below a header.
        return None;
    }
    let (mut found, mut end) = (None, 0);
    while let Some(blanks) = line[end..].iter().position(|&byte| byte != b' ') {
        let start = end + blanks;
        let length = line[start..].iter().position(|&byte| byte == b' ').unwrap_or(line.len() - start);
        end = start + length;
        if blanks > 0 && blanks + length >= COLUMNS && is_address(&line[start..end]) {
            found = Some(start);
        }
    }
    found
}

fn is_address(word: &[u8]) -> bool {
    hex(word).is_some() && !word.iter().any(u8::is_ascii_uppercase)
}

/// Whether every line is such a sample, or, in the line below it, where its source is. Numbers without any letter might count something.
pub(super) fn is_flat(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(&b""[..], |end| &head[..end]);
    let (mut has_letters, mut is_sample) = (false, false);
    for line in whole.split(|&byte| byte == b'\n').filter(|line| !line.starts_with(b"#")) {
        let Some(at) = address(line) else {
            if !std::mem::take(&mut is_sample) || !line.starts_with(b"  ") {
                return false;
            }
            continue;
        };
        is_sample = true;
        has_letters |= line[at..].iter().take_while(|&&byte| byte != b' ').any(u8::is_ascii_alphabetic);
    }
    has_letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_their_columns() {
        for (line, at) in [
            ("     7f35c84ff0c0 do_lookup_x", Some(5)),
            (" ffffffff8135d97e do_exit+0x43e", Some(1)),
            ("           401136", Some(11)),
            ("            sort 29403      7f35c84ff0c0 operator new (/lib/x.so)", Some(28)),
            ("cpu-clock:  ffffffff8158c0a1 [unknown]", Some(12)),
            // The address of data comes first.
            ("      7ffe6c2b2a30     55d5c8b9a1e0 main", Some(23)),
            ("   2000000  ffffffff8158c0a1 f", Some(12)),
            ("ffffffff8135d97e do_exit", None),
            ("      12 main", None),
            ("                 main", None),
            ("\t     7f35c84ff0c0 main", None),
            ("", None),
        ] {
            assert_eq!(address(line.as_bytes()), at, "{line}");
        }
    }

    #[test]
    fn other_formats_are_not_flat() {
        let line = "     7f35c84ff0c0 do_lookup_x\n";
        for text in [line.repeat(3), format!("# started\n{line}  dl-lookup.c:413\n{line}cut")] {
            assert!(is_flat(text.as_bytes()), "{text}");
        }
        for text in [
            format!("{line}\n{line}"),
            format!("{line}main;f 12\n"),
            format!("  dl-lookup.c:413\n{line}"),
            format!("\t{line}"),
            line.trim_end().to_string(),
            // A sum, as DTrace prints it.
            "               12 main\n                7 f\n".to_string(),
            String::new(),
        ] {
            assert!(!is_flat(text.as_bytes()), "{text}");
        }
    }
}
