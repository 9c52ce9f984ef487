//! The cursor that walks JSON text.

use std::borrow::Cow;

use crate::format::ParseError;
use crate::format::json::escapes::unescape;
use crate::format::json::known_text::KnownText;
use crate::format::json::nested;

/// What kind of value comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum Kind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// `-1.5e3`
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// So many times eight bytes of a string are looked at before it counts as long.
const SHORT: usize = 4;

/// Integers of so many digits always fit in an `i64`.
const MOST_DIGITS: usize = 18;

/// All integers below are exact as `f64`.
const LARGEST_EXACT: i64 = 1 << f64::MANTISSA_DIGITS;

/// Powers of ten, which are exact as `f64` up to 10^22.
const POWERS_OF_TEN: [f64; MOST_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

/// Powers of ten up to that of eight digits.
const INTEGER_POWERS: [i64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// A cursor over JSON text. Every method that reads a value advances past it.
///
/// ```text
/// json.object()?;
/// while let Some(key) = json.key()? {
///     match &*key {
///         "samples" => {
///             json.array()?;
///             while json.element()? {
///                 sum += json.integer()?;
///             }
///         }
///         _ => json.skip()?,
///     }
/// }
/// ```
///
/// A copy is a second cursor over the same text; two of them read two columns of a table in parallel.
#[derive(Clone)]
pub(in crate::format) struct Json<'a> {
    format: &'static str,
    bytes: &'a [u8],
    at: usize,
    /// Whether an object or array was just opened, so that no comma is expected.
    fresh: bool,
}

impl<'a> Json<'a> {
    /// A cursor at the start of `bytes`; `format` names the format in errors.
    pub(in crate::format) fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Json { format, bytes, at: 0, fresh: false }
    }

    /// A cursor over the same text at `at`, a place that [`Json::position`] gave before a value.
    pub(in crate::format) fn at(&self, at: usize) -> Self {
        Json { format: self.format, bytes: self.bytes, at, fresh: false }
    }

    /// The offset of the next value.
    #[inline]
    pub(in crate::format) fn position(&mut self) -> usize {
        self.blanks();
        self.at
    }

    /// The text from the next value on. A reader may recognize text that it has read before.
    #[inline]
    pub(in crate::format) fn rest(&mut self) -> &'a [u8] {
        self.blanks();
        &self.bytes[self.at..]
    }

    /// Advances past `length` bytes of a known value.
    #[inline]
    pub(in crate::format) fn advance(&mut self, length: usize) {
        self.at += length;
        self.fresh = false;
    }

    /// Whether an object or array was just opened.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// What comes between the place of `before`, an earlier copy of the cursor, and here, where a member's value comes next.
    pub(in crate::format) fn known_text(&self, before: &Json<'a>) -> KnownText<'a> {
        KnownText::new(&self.bytes[before.at..self.at], before.fresh)
    }

    /// Advances past `known` if it comes next: what was between two places in the text before.
    #[inline]
    pub(in crate::format) fn repeats(&mut self, known: &KnownText) -> bool {
        let rest = &self.bytes[self.at..];
        let is_next = self.fresh == known.fresh && known.starts(rest);
        if is_next {
            self.at += known.text.len();
            self.fresh = false;
        }
        is_next
    }

    /// The text from `start`, a place that [`Json::position`] gave, up to the end of what was read.
    #[inline]
    pub(in crate::format) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.at]
    }

    /// The length of the text, which is the position of errors about truncated input.
    pub(in crate::format) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// An error at the current position.
    pub(in crate::format) fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError::at_byte(self.format, self.at as u64, message)
    }

    /// Whether only whitespace is left.
    pub(in crate::format) fn is_at_end(&mut self) -> bool {
        self.blanks();
        self.at == self.bytes.len()
    }

    /// Checks that nothing follows.
    pub(in crate::format) fn end(&mut self) -> Result<(), ParseError> {
        if self.is_at_end() { Ok(()) } else { Err(self.error("unexpected data after the end of the JSON")) }
    }

    /// Advances past `token` if it comes next. Useful for text that is nearly always written the same way: a
    /// reader tries the usual form on a copy of the cursor and keeps the copy if it matches.
    #[inline]
    pub(in crate::format) fn token(&mut self, token: &str) -> bool {
        self.blanks();
        let is_next = self.bytes[self.at..].starts_with(token.as_bytes());
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    /// The kind of the next value.
    #[inline]
    pub(in crate::format) fn kind(&mut self) -> Result<Kind, ParseError> {
        self.blanks();
        match self.bytes.get(self.at) {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            Some(_) => Err(self.error("expected a JSON value")),
            None => Err(self.ended()),
        }
    }

    /// Enters an object; [`Json::key`] goes through it.
    #[inline]
    pub(in crate::format) fn object(&mut self) -> Result<(), ParseError> {
        self.open(b'{', "an object")
    }

    /// Enters an array; [`Json::element`] goes through it.
    #[inline]
    pub(in crate::format) fn array(&mut self) -> Result<(), ParseError> {
        self.open(b'[', "an array")
    }

    /// Enters the next value if it is an object, otherwise skips it.
    pub(in crate::format) fn object_if_any(&mut self) -> Result<bool, ParseError> {
        if self.kind()? == Kind::Object { self.object().map(|()| true) } else { self.skip().map(|()| false) }
    }

    /// Enters the next value if it is an array, otherwise skips it.
    pub(in crate::format) fn array_if_any(&mut self) -> Result<bool, ParseError> {
        if self.kind()? == Kind::Array { self.array().map(|()| true) } else { self.skip().map(|()| false) }
    }

    /// The next key of the object, whose value must be read or skipped next; `None` after the last one.
    #[inline]
    pub(in crate::format) fn key(&mut self) -> Result<Option<Cow<'a, str>>, ParseError> {
        if !self.another(b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.blanks();
        if self.bytes.get(self.at) != Some(&b':') {
            return Err(self.expected("`:`"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Whether the array has another element, which must be read or skipped next.
    #[inline]
    pub(in crate::format) fn element(&mut self) -> Result<bool, ParseError> {
        self.another(b']')
    }

    /// A string. Bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD.
    pub(in crate::format) fn string(&mut self) -> Result<Cow<'a, str>, ParseError> {
        self.blanks();
        if self.bytes.get(self.at) != Some(&b'"') {
            return Err(self.expected("a string"));
        }
        let start = self.at + 1;
        let escaped = self.string_end()?;
        let bytes = &self.bytes[start..self.at - 1];
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        if !escaped {
            return Ok(text);
        }
        match unescape(&text) {
            Some(text) => Ok(Cow::Owned(text)),
            None => Err(ParseError::at_byte(self.format, start as u64, "invalid escape in a string")),
        }
    }

    /// A number.
    #[inline]
    pub(in crate::format) fn number(&mut self) -> Result<f64, ParseError> {
        if let Some(number) = self.plain_decimal() {
            return Ok(number);
        }
        let start = self.at;
        let text = self.number_text()?;
        text.parse().map_err(|_| ParseError::at_byte(self.format, start as u64, "not a number"))
    }

    /// A number, rounded to an integer.
    #[inline]
    pub(in crate::format) fn integer(&mut self) -> Result<i64, ParseError> {
        if let Some(integer) = self.plain_integer() {
            return Ok(integer);
        }
        let start = self.at;
        let text = self.number_text()?;
        let exact = text.parse::<i64>().ok();
        let rounded = || text.parse::<f64>().ok().map(f64::round).filter(|value| value.abs() < 9.2e18);
        exact
            .or_else(|| rounded().map(|value| value as i64))
            .ok_or_else(|| ParseError::at_byte(self.format, start as u64, "number out of range"))
    }

    /// A row index; `None` for `null` and negative numbers.
    #[inline]
    pub(in crate::format) fn row(&mut self) -> Result<Option<usize>, ParseError> {
        if self.null()? {
            return Ok(None);
        }
        Ok(usize::try_from(self.integer()?).ok())
    }

    /// A number, possibly in quotes; `None` for anything else.
    pub(in crate::format) fn number_if_any(&mut self) -> Result<Option<f64>, ParseError> {
        match self.kind()? {
            Kind::Number => self.number().map(Some),
            Kind::String => Ok(self.string()?.parse().ok().filter(|value: &f64| value.is_finite())),
            _ => self.skip().map(|()| None),
        }
    }

    /// A string, or a number as it is written; `None` for anything else.
    pub(in crate::format) fn text_if_any(&mut self) -> Result<Option<Cow<'a, str>>, ParseError> {
        match self.kind()? {
            Kind::String => self.string().map(Some),
            Kind::Number => self.number_text().map(|text| Some(Cow::Borrowed(text))),
            _ => self.skip().map(|()| None),
        }
    }

    /// Advances past `null` if it comes next.
    pub(in crate::format) fn null(&mut self) -> Result<bool, ParseError> {
        if self.kind()? != Kind::Null {
            return Ok(false);
        }
        self.skip().map(|()| true)
    }

    /// Whether `true` comes next; advances past the value.
    pub(in crate::format) fn is_true(&mut self) -> Result<bool, ParseError> {
        self.blanks();
        let is_true = self.bytes[self.at..].starts_with(b"true");
        self.skip().map(|()| is_true)
    }

    /// The elements of an array, each read by `read`; empty if the next value is not an array.
    pub(in crate::format) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut list = Vec::new();
        if self.array_if_any()? {
            while self.element()? {
                list.push(read(self)?);
            }
        }
        Ok(list)
    }

    /// Skips the next value, whatever it is. Only brackets and strings are checked in a skipped value.
    pub(in crate::format) fn skip(&mut self) -> Result<(), ParseError> {
        self.fresh = false;
        match self.kind()? {
            Kind::String => self.string_end().map(|_| ()),
            Kind::Object | Kind::Array => self.skip_nested(),
            Kind::Number => self.number_text().map(|_| ()),
            Kind::Bool | Kind::Null => {
                let rest = &self.bytes[self.at..];
                let word = ["true", "false", "null"].iter().find(|word| rest.starts_with(word.as_bytes()));
                let word = word.ok_or_else(|| self.expected("a JSON value"))?;
                self.at += word.len();
                Ok(())
            }
        }
    }

    fn skip_nested(&mut self) -> Result<(), ParseError> {
        match nested::end(&self.bytes[self.at..]) {
            Some(length) => {
                self.at += length;
                Ok(())
            }
            None => {
                self.at = self.bytes.len();
                Err(self.ended())
            }
        }
    }

    #[inline]
    fn open(&mut self, bracket: u8, name: &str) -> Result<(), ParseError> {
        self.blanks();
        if self.bytes.get(self.at) != Some(&bracket) {
            return Err(self.expected(name));
        }
        self.at += 1;
        self.fresh = true;
        Ok(())
    }

    /// Advances to the next member of an object or array, or past its closing bracket.
    #[inline]
    fn another(&mut self, close: u8) -> Result<bool, ParseError> {
        self.blanks();
        let fresh = std::mem::take(&mut self.fresh);
        match self.bytes.get(self.at) {
            Some(&byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if fresh => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.expected("`,` or a closing bracket")),
        }
    }

    /// Advances past the string that starts here; returns whether it has escapes.
    fn string_end(&mut self) -> Result<bool, ParseError> {
        self.at += 1;
        // Most strings are short, for which setting up a search costs more than looking at eight bytes at a time.
        for _ in 0..SHORT {
            let Some(eight) = self.bytes[self.at..].first_chunk() else { break };
            let special = first_of(u64::from_le_bytes(*eight), b'"', b'\\');
            self.at += special;
            if special < 8 {
                if self.bytes[self.at] == b'\\' {
                    break;
                }
                self.at += 1;
                return Ok(false);
            }
        }
        let mut escaped = false;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &self.bytes[self.at..]) {
            self.at += found + 1;
            if self.bytes[self.at - 1] == b'"' {
                return Ok(escaped);
            }
            escaped = true;
            self.at += 1;
            if self.at > self.bytes.len() {
                break;
            }
        }
        self.at = self.bytes.len();
        Err(self.ended())
    }

    /// Reads an integer that is short enough not to overflow; does not move for anything else.
    #[inline]
    fn plain_integer(&mut self) -> Option<i64> {
        self.blanks();
        let text = &self.bytes[self.at..];
        let negative = text.first() == Some(&b'-');
        let digits = &text[usize::from(negative)..];
        let (value, count) = digits_of(digits, 0);
        if count == 0 || count > MOST_DIGITS || matches!(digits.get(count), Some(b'.' | b'e' | b'E')) {
            return None;
        }
        self.at += usize::from(negative) + count;
        self.fresh = false;
        Some(if negative { -value } else { value })
    }

    /// Reads a number that is the quotient of two numbers that are exact as `f64`: it rounds like any other, but takes a
    /// fraction of the time. Does not move for anything else.
    #[inline]
    fn plain_decimal(&mut self) -> Option<f64> {
        self.blanks();
        let text = &self.bytes[self.at..];
        let negative = text.first() == Some(&b'-');
        let rest = &text[usize::from(negative)..];
        let (mut value, whole) = digits_of(rest, 0);
        let (mut rest, mut decimals) = (&rest[whole..], 0);
        if let [b'.', fraction @ ..] = rest {
            (value, decimals) = digits_of(fraction, value);
            rest = &fraction[decimals..];
        }
        let is_exact = whole + decimals <= MOST_DIGITS && (decimals == 0 || value < LARGEST_EXACT);
        if whole == 0 || !is_exact || matches!(rest, [b'e' | b'E' | b'.', ..]) {
            return None;
        }
        self.at = self.bytes.len() - rest.len();
        self.fresh = false;
        let value = value as f64 / POWERS_OF_TEN[decimals];
        Some(if negative { -value } else { value })
    }

    fn number_text(&mut self) -> Result<&'a str, ParseError> {
        self.blanks();
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.iter().take_while(|byte| is_part(byte)).count();
        match std::str::from_utf8(&rest[..length]) {
            Ok(text) if length > 0 => {
                self.at += length;
                self.fresh = false;
                Ok(text)
            }
            _ => Err(self.expected("a number")),
        }
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> ParseError {
        if self.at >= self.bytes.len() { self.ended() } else { self.error(format!("expected {what}")) }
    }

    fn ended(&self) -> ParseError {
        ParseError::at_byte(
            self.format,
            self.bytes.len() as u64,
            "unexpected end of JSON; the file is truncated",
        )
    }
}

/// Appends the digits at the start of `text` to `value`, and returns how many there are. The value wraps if there are more
/// than fit.
#[inline]
fn digits_of(text: &[u8], mut value: i64) -> (i64, usize) {
    let mut count = 0;
    while let Some(eight) = text[count..].first_chunk() {
        let (number, digits) = digits_of_eight(u64::from_le_bytes(*eight));
        value = value.wrapping_mul(INTEGER_POWERS[digits]).wrapping_add(number as i64);
        count += digits;
        if digits < 8 {
            return (value, count);
        }
    }
    while let Some(digit @ b'0'..=b'9') = text.get(count) {
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        count += 1;
    }
    (value, count)
}

/// A byte of each of eight.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each of eight bytes.
const HIGH: u64 = 0x80 * EACH;

/// The number that the digits at the start of eight bytes of text make, and how many they are. Looking at all of them at once
/// takes as long for one digit as for eight, so that it does not matter that the processor cannot foresee how many there are.
#[inline]
fn digits_of_eight(text: u64) -> (u64, usize) {
    let digits = text ^ (u64::from(b'0') * EACH);
    // The highest bit of a byte that is no digit. A carry only reaches bytes after it, which are cut off.
    let others = (digits.wrapping_add(0x76 * EACH) | digits) & HIGH;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    // With zeros before them, the digits are the last of eight; the first is in the lowest byte. Neighbours are added up to
    // numbers of two digits, these to numbers of four, and these to one.
    let padded = digits << (64 - 8 * count);
    let twos = (padded.wrapping_mul(10).wrapping_add(padded >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (twos.wrapping_mul(100).wrapping_add(twos >> 16)) & 0x0000_FFFF_0000_FFFF;
    let number = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xFFFF_FFFF;
    (number, count as usize)
}

/// The place of the first byte among eight that is `one` or `other`; 8 if none is.
#[inline]
fn first_of(text: u64, one: u8, other: u8) -> usize {
    // Bytes of 0, and possibly bytes after them, get their highest bit set.
    let zeros = |text: u64| text.wrapping_sub(EACH) & !text & HIGH;
    let found = zeros(text ^ (u64::from(one) * EACH)) | zeros(text ^ (u64::from(other) * EACH));
    found.trailing_zeros() as usize / 8
}

#[cfg(test)]
#[path = "cursor_tests.rs"]
mod tests;
