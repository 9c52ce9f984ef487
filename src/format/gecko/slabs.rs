//! JsonSlabs (`.jslb`), a container in which samply and the Firefox Profiler store profiles: JSON text whose
//! columns of numbers are arrays of bytes elsewhere in the file.
//!
//! ```text
//! DC DF 'JSLB' 01 00 │ version │ number of slabs │ root slab │ type, start, length of each slab │ slabs …
//!                                                    └ {"samples": {"stack": {"$s": 3}, …}, "shared": {"$s": 4}}
//! ```
//!
//! A slab is either numbers of one type or JSON text, which `{"$s": N}` in another JSON text stands for. The
//! reader splices all JSON slabs into a single text and leaves the numbers where they are.

use hashbrown::HashSet;

use crate::format::gecko::NAME;
use crate::format::json::Json;
use crate::format::{ParseError, unsupported_version};

pub(super) const MAGIC: &[u8] = b"\xDC\xDF\x4A\x53\x4C\x42\x01\x00";

/// The only version of the container.
const VERSION: u32 = 1;

/// Offset of the list of slabs.
const LIST: usize = 20;

/// Length of an entry of the list: type, start and length.
const ENTRY: usize = 12;

/// The type of slabs that contain JSON.
const JSON: u32 = 10;

/// The slabs of a file; a profile that is plain JSON has none.
#[derive(Clone, Copy, Default)]
pub(super) struct Slabs<'a> {
    file: &'a [u8],
    count: u32,
    root: u32,
}

/// A slab.
#[derive(Clone, Copy)]
pub(super) struct Slab<'a> {
    kind: u32,
    bytes: &'a [u8],
}

impl<'a> Slabs<'a> {
    pub(super) fn open(file: &'a [u8]) -> Result<Slabs<'a>, ParseError> {
        let header = |at: usize| {
            word(file, at).ok_or_else(|| error(at, "file is truncated within the header of the container"))
        };
        let version = header(8)?;
        if version != VERSION {
            return Err(error(8, unsupported_version(version, VERSION, VERSION)));
        }
        let slabs = Slabs { file, count: header(12)?, root: header(16)? };
        let end = LIST as u64 + ENTRY as u64 * u64::from(slabs.count);
        if end > file.len() as u64 {
            return Err(error(12, format!("a list of {} slabs does not fit in the file", slabs.count)));
        }
        Ok(slabs)
    }

    /// The slab number `index`.
    pub(super) fn slab(&self, index: u32) -> Result<Slab<'a>, ParseError> {
        if index >= self.count {
            return Err(error(12, format!("slab {index} does not exist; the file has {}", self.count)));
        }
        let at = LIST + ENTRY * index as usize;
        let field = |at: usize| word(self.file, at).unwrap_or_default();
        let (kind, start, length) = (field(at), field(at + 4) as usize, field(at + 8) as usize);
        let bytes = self.file.get(start..start.saturating_add(length));
        let bytes = bytes.ok_or_else(|| error(at, format!("slab {index} ends after the end of the file")))?;
        if kind > JSON {
            return Err(error(at, format!("slab {index} has the unknown type {kind}")));
        }
        Ok(Slab { kind, bytes })
    }

    /// The JSON of the profile, with all JSON slabs in their places. Each may be used once, so the text is no longer
    /// than the file.
    pub(super) fn text(&self) -> Result<Vec<u8>, ParseError> {
        let root = self.slab(self.root)?;
        if root.kind != JSON {
            return Err(error(16, "the root slab does not contain JSON"));
        }
        let mut used: HashSet<u32> = HashSet::from_iter([self.root]);
        let mut text = Vec::new();
        let mut open = vec![root.bytes];
        while let Some(rest) = open.pop() {
            let Some(place) = self.next_json(rest)? else {
                text.extend_from_slice(rest);
                continue;
            };
            if !used.insert(place.slab) {
                return Err(error(LIST, format!("slab {} is used more than once", place.slab)));
            }
            text.extend_from_slice(place.before);
            open.push(place.after);
            open.push(self.slab(place.slab)?.bytes);
        }
        Ok(text)
    }

    /// The first reference to a JSON slab in `text`.
    fn next_json<'t>(&self, text: &'t [u8]) -> Result<Option<Reference<'t>>, ParseError> {
        // Within a string, the quotes of such a text would be escaped.
        for at in memchr::memmem::find_iter(text, b"\"$s\"") {
            let before = text[..at].trim_ascii_end();
            let Some(before) = before.strip_suffix(b"{") else { continue };
            let mut json = Json::new(NAME, text).at(before.len());
            let Some(slab) = placeholder(&mut json)? else { continue };
            if self.slab(slab)?.kind == JSON {
                return Ok(Some(Reference { before, slab, after: &text[json.position()..] }));
            }
        }
        Ok(None)
    }
}

/// A reference to a slab, and the text around it.
struct Reference<'t> {
    before: &'t [u8],
    slab: u32,
    after: &'t [u8],
}

/// The index in `{"$s": 3}`; `None` for any other object. Advances past the object.
pub(super) fn placeholder(json: &mut Json) -> Result<Option<u32>, ParseError> {
    let mut index = None;
    let mut others = false;
    json.object()?;
    while let Some(key) = json.key()? {
        if key == "$s" {
            index = json.number_if_any()?.filter(|index| (0.0..=f64::from(u32::MAX)).contains(index));
        } else {
            others = true;
            json.skip()?;
        }
    }
    Ok(index.filter(|_| !others).map(|index| index as u32))
}

impl Slab<'_> {
    /// The number at `index`; `None` after the last one.
    pub(super) fn number(&self, index: usize) -> Option<f64> {
        fn at<const N: usize>(bytes: &[u8], index: usize) -> Option<[u8; N]> {
            bytes.get(index.checked_mul(N)?..)?.first_chunk().copied()
        }
        let bytes = self.bytes;
        Some(match self.kind {
            0 => f64::from(i8::from_le_bytes(at(bytes, index)?)),
            1 => f64::from(u8::from_le_bytes(at(bytes, index)?)),
            2 => f64::from(i16::from_le_bytes(at(bytes, index)?)),
            3 => f64::from(u16::from_le_bytes(at(bytes, index)?)),
            4 => f64::from(i32::from_le_bytes(at(bytes, index)?)),
            5 => f64::from(u32::from_le_bytes(at(bytes, index)?)),
            6 => f64::from(f32::from_le_bytes(at(bytes, index)?)),
            7 => f64::from_le_bytes(at(bytes, index)?),
            8 => i64::from_le_bytes(at(bytes, index)?) as f64,
            9 => u64::from_le_bytes(at(bytes, index)?) as f64,
            _ => return None,
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word))
}

fn error(at: usize, message: impl Into<String>) -> ParseError {
    ParseError::at_byte(NAME, at as u64, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of slabs of the given types; the root is the last.
    fn file(slabs: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        for number in [1, slabs.len() as u32, slabs.len() as u32 - 1] {
            file.extend(number.to_le_bytes());
        }
        let mut start = LIST + ENTRY * slabs.len();
        for (kind, bytes) in slabs {
            for number in [*kind, start as u32, bytes.len() as u32] {
                file.extend(number.to_le_bytes());
            }
            start += bytes.len();
        }
        for (_, bytes) in slabs {
            file.extend_from_slice(bytes);
        }
        file
    }

    #[test]
    fn json_slabs_are_spliced_and_numbers_stay() {
        let bytes = file(&[
            (4, &[1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
            (JSON, br#"[{"$s":0}, "{\"$s\":1}"]"#),
            (JSON, br#"{"a": { "$s" : 1 }, "b": {"$s":0}, "c": {"$s": 0, "d": 1}}"#),
        ]);
        let slabs = Slabs::open(&bytes).unwrap();
        let text = String::from_utf8(slabs.text().unwrap()).unwrap();
        assert_eq!(text, r#"{"a": [{"$s":0}, "{\"$s\":1}"], "b": {"$s":0}, "c": {"$s": 0, "d": 1}}"#);
        let slab = slabs.slab(0).unwrap();
        assert_eq!([slab.number(0), slab.number(1), slab.number(2)], [Some(1.0), Some(-1.0), None]);
    }

    #[test]
    fn malformed_containers_are_rejected() {
        let error = |bytes: &[u8]| {
            let opened = Slabs::open(bytes).and_then(|slabs| slabs.text());
            opened.unwrap_err().to_string()
        };
        let twice = file(&[(JSON, br#"{"$s":1}"#), (JSON, br#"[{"$s":0}, {"$s":0}]"#)]);
        assert_eq!(error(&twice), "gecko: slab 1 is used more than once (byte 20)");
        let missing = file(&[(JSON, br#"{"$s":9}"#)]);
        assert_eq!(error(&missing), "gecko: slab 9 does not exist; the file has 1 (byte 12)");
        let mut newer = missing.clone();
        newer[8] = 2;
        assert_eq!(error(&newer), "gecko: unsupported version 2; only version 1 is supported (byte 8)");
        assert_eq!(error(&missing[..30]), "gecko: a list of 1 slabs does not fit in the file (byte 12)");
        assert_eq!(error(&missing[..36]), "gecko: slab 0 ends after the end of the file (byte 20)");
        assert_eq!(error(&file(&[(0, b"1")])), "gecko: the root slab does not contain JSON (byte 16)");
    }
}
