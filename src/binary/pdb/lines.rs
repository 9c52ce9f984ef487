//! Lines of compiled files.
//!
//! ```text
//! part: u32 kind  u32 length  content
//! lines (F2): u32 offset  u16 section  u16 flags  u32 size; blocks of one file: u32 file, lines, length; u32 offset  u32 line
//! files (F4): u32 name  u8 length of the checksum  u8 kind  checksum, filled up to 4 bytes
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use object::ReadRef;

use crate::binary::pdb::modules::Place;
use crate::binary::pdb::streams::{Streams, text_at, u16_at, u32_at};

const LINES: u32 = 0xF2;
const FILES: u32 = 0xF4;

/// Lines that stand for none: code that a debugger steps over.
const HIDDEN: [u32; 2] = [0x00F0_0F00, 0x00FE_EFEE];

/// The stream with the names of files.
pub(super) struct FileNames(Vec<u8>);

impl FileNames {
    /// Finds the stream called `/names` in the table of named streams.
    pub(super) fn of<'data, R: ReadRef<'data>>(about: &[u8], streams: &Streams<R>) -> Option<Self> {
        let names = about.get(32..)?.get(..u32_at(about, 28)? as usize)?;
        let table = about.get(32 + names.len()..)?;
        let count = u32_at(table, 0)?;
        // Two lists of bits say which entries are there, and which were deleted.
        let present = u32_at(table, 8)? as usize;
        let deleted_at = present.checked_mul(4)?.checked_add(12)?;
        let deleted = u32_at(table, deleted_at)? as usize;
        let entries = table.get(deleted.checked_mul(4)?.checked_add(deleted_at + 4)?..)?;
        let entry = |entry: &[u8]| {
            let name = text_at(names, u32_at(entry, 0)? as usize)?;
            (name == b"/names").then(|| u16::try_from(u32_at(entry, 4)?).ok())?
        };
        let stream = entries.chunks_exact(8).take(count as usize).find_map(entry)?;
        streams.read(stream).map(FileNames)
    }

    fn at(&self, offset: u32) -> Option<&[u8]> {
        text_at(self.0.get(12..)?, offset as usize)
    }
}

/// Lines by place.
#[derive(Default)]
pub(super) struct Lines {
    /// Where a line begins, and, with no line, where a function ends.
    starts: Vec<(Place, Option<Line>)>,
}

/// The file and the number of a line.
type Line = (Arc<str>, u32);

impl Lines {
    /// Adds the lines of a compiled file.
    pub(super) fn add(&mut self, bytes: &[u8], names: &FileNames) {
        let parts: Vec<(u32, &[u8])> = parts(bytes).collect();
        let files = parts.iter().find(|(kind, _)| *kind == FILES).map_or(&b""[..], |(_, files)| files);
        let mut known: BTreeMap<u32, Arc<str>> = BTreeMap::new();
        let mut file = |offset: u32| -> Option<Arc<str>> {
            if let Some(known) = known.get(&offset) {
                return Some(known.clone());
            }
            let name = names.at(u32_at(files, offset as usize)?)?;
            let name: Arc<str> = String::from_utf8_lossy(name).into();
            known.insert(offset, name.clone());
            Some(name)
        };
        for (_, part) in parts.iter().filter(|(kind, _)| *kind == LINES) {
            // What is cut is left out.
            let _ = self.function(part, &mut file);
        }
    }

    fn function(&mut self, part: &[u8], file: &mut impl FnMut(u32) -> Option<Arc<str>>) -> Option<()> {
        let (start, section) = (u32_at(part, 0)?, u16_at(part, 4)?);
        let place = |offset: u32| Some(Place { section, offset: start.checked_add(offset)? });
        let end = place(u32_at(part, 8)?)?;
        let mut rest = part.get(12..)?;
        while let (Some(name), Some(count), Some(length)) =
            (u32_at(rest, 0), u32_at(rest, 4), u32_at(rest, 8))
        {
            let block = rest.get(12..length as usize)?;
            rest = &rest[length as usize..];
            let Some(file) = file(name) else { continue };
            for entry in block.chunks_exact(8).take(count as usize) {
                let line = u32_at(entry, 4)? & 0x00FF_FFFF;
                let line = (!HIDDEN.contains(&line)).then(|| (file.clone(), line));
                self.starts.push((place(u32_at(entry, 0)?)?, line));
            }
        }
        self.starts.push((end, None));
        Some(())
    }

    /// Must be called before lines are looked up.
    pub(super) fn sort(&mut self) {
        // Where one function ends, another may begin.
        self.starts.sort_by_key(|(place, line)| (*place, line.is_some()));
    }

    /// The file and the line at a place.
    pub(super) fn at(&self, place: Place) -> Option<(&str, u32)> {
        let last = self.starts.partition_point(|(start, _)| *start <= place).checked_sub(1)?;
        let (start, line) = &self.starts[last];
        let (file, line) = line.as_ref().filter(|_| start.section == place.section)?;
        Some((file, *line))
    }
}

fn parts(bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (kind, length) = (u32_at(rest, 0)?, u32_at(rest, 4)? as usize);
        let part = rest.get(8..)?.get(..length)?;
        rest = rest[8..].get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, part))
    })
}
