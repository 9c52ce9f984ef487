//! The tables of Python's code objects that lead from instructions to lines.

/// The line of each instruction.
pub(super) struct LineTable {
    /// The offset in bytes from which on a line applies.
    starts: Vec<(i64, i64)>,
    /// The offset at which the code ends.
    end: i64,
}

impl LineTable {
    /// Decodes the table of a version of Python; its form changed in 3.10 and in 3.11.
    pub(super) fn decode(table: &[u8], first_line: i64, python: (u8, u8)) -> LineTable {
        let mut lines = LineTable { starts: Vec::new(), end: 0 };
        match python {
            (3, 11..) | (4.., _) => lines.decode_locations(table, first_line),
            (3, 10) => lines.decode_ranges(table, first_line),
            _ => lines.decode_increments(table, first_line),
        }
        lines
    }

    /// Three bits of length (in pairs of bytes), four of a form, and what the form needs.
    fn decode_locations(&mut self, table: &[u8], mut line: i64) {
        let mut rest = table;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            let form = first >> 3 & 15;
            let delta = match form {
                // No place.
                15 => None,
                // Lines and columns.
                14 => {
                    let delta = signed(&mut rest);
                    for _ in 0..3 {
                        unsigned(&mut rest);
                    }
                    Some(delta)
                }
                // No columns.
                13 => Some(signed(&mut rest)),
                10..=12 => {
                    rest = rest.get(2..).unwrap_or_default();
                    Some(i64::from(form) - 10)
                }
                _ => {
                    rest = rest.get(1..).unwrap_or_default();
                    Some(0)
                }
            };
            line = line.saturating_add(delta.unwrap_or(0));
            self.add(2 * (i64::from(first & 7) + 1), if delta.is_some() { line } else { 0 });
        }
    }

    /// Pairs of a length in bytes and a difference of lines, where -128 means no line.
    fn decode_ranges(&mut self, table: &[u8], mut line: i64) {
        for pair in table.chunks_exact(2) {
            let delta = pair[1].cast_signed();
            if delta != i8::MIN {
                line = line.saturating_add(delta.into());
            }
            self.add(pair[0].into(), if delta == i8::MIN { 0 } else { line });
        }
    }

    /// Pairs of a length in bytes and the difference of lines after it.
    fn decode_increments(&mut self, table: &[u8], mut line: i64) {
        for pair in table.chunks_exact(2) {
            self.add(pair[0].into(), line);
            line = line.saturating_add(pair[1].cast_signed().into());
        }
        self.add(i64::MAX / 2, line);
    }

    fn add(&mut self, length: i64, line: i64) {
        if length > 0 {
            self.starts.push((self.end, line));
            self.end += length;
        }
    }

    /// The line of the instruction at `offset`; 0 if it has none.
    pub(super) fn line_at(&self, offset: i64) -> i64 {
        if !(0..self.end).contains(&offset) {
            return 0;
        }
        let after = self.starts.partition_point(|&(start, _)| start <= offset);
        after.checked_sub(1).map_or(0, |at| self.starts[at].1)
    }
}

/// A number in groups of six bits, lowest first.
fn unsigned(rest: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0u32, 0);
    while let Some((&byte, after)) = rest.split_first() {
        *rest = after;
        number |= u32::from(byte & 63).checked_shl(shift).unwrap_or(0);
        shift += 6;
        if byte & 64 == 0 {
            break;
        }
    }
    number
}

/// A number whose lowest bit is its sign.
fn signed(rest: &mut &[u8]) -> i64 {
    let number = unsigned(rest);
    let size = i64::from(number >> 1);
    if number & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_of_python_has_its_own_table() {
        // `def f():` on line 7 and two lines below it; from `dis` of Python 3.11: 7 at 0, 8 at 2, 9 at 12.
        let table = b"\x80\x00\xd8\x08\x0c\x8c\x01\xd8\x04\x0d";
        let lines = LineTable::decode(table, 7, (3, 11));
        let at = |offset| lines.line_at(offset);
        assert_eq!([at(0), at(2), at(4), at(6)], [7, 8, 8, 8]);
        // Without a place, no columns, and lines and columns.
        let lines = LineTable::decode(&[0xF8, 0xE9, 3, 0xF0, 4, 0, 1, 1], 10, (3, 12));
        assert_eq!([0, 2, 4, 6, 8, -1].map(|offset| lines.line_at(offset)), [0, 9, 9, 11, 0, 0]);
        // 4 bytes of line 10, 2 without a line, 6 of line 12.
        let lines = LineTable::decode(&[4, 0, 2, 0x80, 6, 2], 10, (3, 10));
        assert_eq!([0, 3, 4, 6, 11, 12].map(|offset| lines.line_at(offset)), [10, 10, 0, 12, 12, 0]);
        // Line 10 up to 4, then 12, then 11.
        let lines = LineTable::decode(&[4, 2, 6, 0xFF], 10, (3, 8));
        assert_eq!([0, 3, 4, 9, 10, 500].map(|offset| lines.line_at(offset)), [10, 10, 12, 12, 11, 11]);
    }
}
