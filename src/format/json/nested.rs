//! Finding the end of an object or array without reading it.
//!
//! Readers skip much of a file: members they do not need, and tables whose columns are read side by side later. So text
//! is classified in blocks of 64 bytes: one bit per byte tells quotes, another brackets, and brackets within strings are
//! masked out.

/// The bytes of a block. Bit `i` of a mask stands for byte `i`.
const BLOCK: usize = 64;

/// The offset after the bracket that closes the object or array at the start of `text`; `None` if it is not closed.
pub(super) fn end(text: &[u8]) -> Option<usize> {
    let mut scan = Scan::default();
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        if let Some(at) = scan.block(block) {
            return Some(number * BLOCK + at);
        }
    }
    // Blanks change nothing.
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    scan.block(&last).map(|at| blocks.len() * BLOCK + at)
}

/// What is known after some blocks.
#[derive(Default)]
struct Scan {
    /// The number of open brackets.
    depth: u64,
    /// Whether the next block starts within a string.
    in_string: bool,
    /// Whether the next block starts with a character that a backslash escapes.
    escaped: bool,
}

impl Scan {
    /// Scans a block; returns the offset after the outermost closing bracket if that is in the block.
    fn block(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let counts = Counts::of(block);
        if !self.escaped && counts.quotes == 0 && counts.backslashes == 0 {
            if self.in_string {
                return None;
            }
            // Most of a profile is numbers, and counting is several times as fast as finding the brackets.
            if u64::from(counts.closing) < self.depth {
                self.depth = self.depth + u64::from(counts.opening) - u64::from(counts.closing);
                return None;
            }
        }
        let within = self.strings(block);
        let opening = mask(block, |byte| byte | 0x20 == b'{') & !within;
        let closing = mask(block, |byte| byte | 0x20 == b'}') & !within;
        if u64::from(closing.count_ones()) < self.depth {
            self.depth = self.depth + u64::from(opening.count_ones()) - u64::from(closing.count_ones());
            return None;
        }
        self.close(opening, closing)
    }

    /// Goes through the brackets of a block one by one.
    fn close(&mut self, opening: u64, closing: u64) -> Option<usize> {
        let mut brackets = opening | closing;
        while brackets != 0 {
            let at = brackets.trailing_zeros();
            brackets &= brackets - 1;
            if opening >> at & 1 == 1 {
                self.depth += 1;
            } else {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(at as usize + 1);
                }
            }
        }
        None
    }

    /// The bytes of a block that are within strings, opening quotes included.
    fn strings(&mut self, block: &[u8; BLOCK]) -> u64 {
        let escaped = self.escaped(mask(block, |byte| byte == b'\\'));
        let mut within = mask(block, |byte| byte == b'"') & !escaped;
        // Each quote flips all bytes from it on.
        for distance in [1, 2, 4, 8, 16, 32] {
            within ^= within << distance;
        }
        if self.in_string {
            within = !within;
        }
        self.in_string = within >> (BLOCK - 1) == 1;
        within
    }

    /// The bytes that a backslash escapes, given all backslashes: the second of two is itself escaped.
    fn escaped(&mut self, mut backslashes: u64) -> u64 {
        let mut escaped = u64::from(std::mem::take(&mut self.escaped));
        backslashes &= !escaped;
        while backslashes != 0 {
            let at = backslashes.trailing_zeros();
            if at as usize == BLOCK - 1 {
                self.escaped = true;
                break;
            }
            escaped |= 2 << at;
            backslashes &= !(3 << at);
        }
        escaped
    }
}

/// How many bytes of a kind a block has.
struct Counts {
    quotes: u8,
    backslashes: u8,
    opening: u8,
    closing: u8,
}

impl Counts {
    fn of(block: &[u8; BLOCK]) -> Counts {
        let mut counts = Counts { quotes: 0, backslashes: 0, opening: 0, closing: 0 };
        for &byte in block {
            // `{` and `[`, and `}` and `]`, differ in one bit.
            let bracket = byte | 0x20;
            counts.quotes += u8::from(byte == b'"');
            counts.backslashes += u8::from(byte == b'\\');
            counts.opening += u8::from(bracket == b'{');
            counts.closing += u8::from(bracket == b'}');
        }
        counts
    }
}

/// The bytes of a block for which `is_one` holds.
#[inline]
fn mask(block: &[u8; BLOCK], is_one: impl Fn(u8) -> bool) -> u64 {
    // Eight bytes that are 0 or 1, times this, have their bits next to each other in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut ones = [0u8; BLOCK];
    for (one, &byte) in ones.iter_mut().zip(block) {
        *one = u8::from(is_one(byte));
    }
    let mut mask = 0;
    for (number, eight) in ones.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * number);
    }
    mask
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same, byte by byte.
    fn slow_end(text: &[u8]) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped) = (0, false, false);
        for (at, &byte) in text.iter().enumerate() {
            if std::mem::take(&mut escaped) {
                continue;
            }
            match byte {
                b'\\' => escaped = true,
                b'"' => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn the_end_is_where_the_bytes_say(
            // Backslashes are in strings; anywhere else, the text is not JSON.
            text in r#"[\[{]([\[{}\]]|[ !#-\[^-~]|[a-z]{20,70}|[0-9,]{40,90}|"([ !#-\[^-~\]{}]|\\["\\n]){0,80}"){0,40}"#,
        ) {
            prop_assert_eq!(end(text.as_bytes()), slow_end(text.as_bytes()));
        }
    }

    #[test]
    fn strings_and_escapes_may_cross_blocks() {
        for blanks in 0..2 * BLOCK {
            let text = format!("[{}\"}}\\\\\\\"]{}\", {{}}]]", " ".repeat(blanks), "\\\\".repeat(blanks));
            assert_eq!(end(text.as_bytes()), Some(text.len() - 1), "{text}");
            assert_eq!(end(&text.as_bytes()[..text.len() - 2]), None, "{text}");
        }
    }
}
