//! The `mappings` of a source map: lines separated by `;`, segments by `,`, and numbers in base 64, most of them relative to
//! the previous segment.

/// A position in a file, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in UTF-16 code units.
    pub column: u32,
}

/// A piece of generated code: it starts here, and lasts until the next segment of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The generated line, from 0.
    pub line: u32,
    /// The generated column, from 0.
    pub column: u32,
    /// The number of the source; `None` for code that the tool added.
    pub source: Option<u32>,
    /// The line in the source, from 0.
    pub original_line: u32,
    /// The column in the source, from 0.
    pub original_column: u32,
    /// The number of the name that the code has in the source, if it was changed.
    pub name: Option<u32>,
}

/// Calls `add` for every segment. `counts` are those of the sources and names, and the limits of the numbers of these.
pub(super) fn decode(text: &[u8], counts: [u32; 2], mut add: impl FnMut(Segment)) -> Result<(), String> {
    // The state: source, original line, original column, name.
    let mut state = [0_i64; 4];
    for (number, of_line) in text.split(|&byte| byte == b';').enumerate() {
        let line = u32::try_from(number).map_err(|_| "it has too many lines")?;
        let mut column = 0_i64;
        for segment in of_line.split(|&byte| byte == b',') {
            let (fields, count) = fields(segment).ok_or_else(|| broken(line, segment))?;
            if count == 0 {
                continue;
            }
            column += fields[0];
            for (field, state) in fields[1..count].iter().zip(&mut state) {
                *state += field;
            }
            let number = |value: i64| u32::try_from(value).map_err(|_| broken(line, segment));
            let index =
                |value: i64, count: u32| Ok::<_, String>(Some(number(value)?).filter(|&at| at < count));
            let mut made = Segment {
                line,
                column: number(column)?,
                source: None,
                original_line: 0,
                original_column: 0,
                name: None,
            };
            match count {
                1 => {}
                4 | 5 => {
                    made.source = index(state[0], counts[0])?;
                    made.original_line = number(state[1])?;
                    made.original_column = number(state[2])?;
                    made.name = if count == 5 { index(state[3], counts[1])? } else { None };
                }
                _ => return Err(broken(line, segment)),
            }
            add(made);
        }
    }
    Ok(())
}

fn broken(line: u32, segment: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(segment).chars().take(16).collect();
    format!("its mappings of line {} are broken at `{shown}`", u64::from(line) + 1)
}

/// The numbers of a segment, and how many there are. `None` if it is no segment.
fn fields(segment: &[u8]) -> Option<([i64; 5], usize)> {
    let (mut fields, mut count) = ([0; 5], 0);
    let (mut value, mut shift) = (0_u64, 0);
    for &byte in segment {
        let digit = u64::from(digit(byte)?);
        // Numbers have 32 bits: more digits than that are no number.
        if shift > 30 {
            return None;
        }
        value |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            let size = (value >> 1) as i64;
            *fields.get_mut(count)? = if value & 1 == 1 { -size } else { size };
            count += 1;
            (value, shift) = (0, 0);
        }
    }
    (shift == 0).then_some((fields, count))
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
