//! Where the code of each compiled file is, and its symbols.
//!
//! ```text
//! layout (stream 3): header of 64 bytes, modules, contributions to sections, …, numbers of further streams
//! module: u32  contribution (28)  u16 flags  u16 stream  u32 bytes of symbols, of old lines, of lines  … name, object file
//! contribution: u16 section  u16  u32 offset, size, flags  u16 module  …
//! ```

use object::ReadRef;

use crate::binary::pdb::streams::{Streams, text_at, u16_at, u32_at};

/// An offset in a section. Sections are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) section: u16,
    pub(super) offset: u32,
}

/// A function in a compiled file.
pub(super) struct Procedure {
    pub(super) start: Place,
    size: u32,
    pub(super) name: Vec<u8>,
}

impl Procedure {
    pub(super) fn holds(&self, place: Place) -> bool {
        place.section == self.start.section && place.offset - self.start.offset < self.size
    }
}

/// What the linker put where.
pub(super) struct Layout {
    /// Starts of the sections in memory, and their sizes.
    sections: Vec<(u32, u32)>,
    /// Start, size and module of each contribution, by start.
    contributions: Vec<(Place, u32, u16)>,
    /// The stream of each module, the bytes of its symbols, and those of its old and new lines.
    modules: Vec<(u16, [u32; 3])>,
    /// The stream of global symbols.
    symbols: u16,
}

/// No stream.
const NONE: u16 = u16::MAX;

/// The numbers of further streams: where code was moved to after linking, and the headers of sections.
const MOVED: usize = 4;
const SECTIONS: usize = 5;

/// Kinds of symbols.
const PUBLIC: u16 = 0x110E;
const PROCEDURES: [u16; 6] = [0x110F, 0x1110, 0x1146, 0x1147, 0x1155, 0x1156];

impl Layout {
    /// `None` if it is malformed, or if another program moved the code after linking, so that addresses need a map.
    pub(super) fn of<'data, R: ReadRef<'data>>(bytes: &[u8], streams: &Streams<R>) -> Option<Self> {
        let size = |at: usize| Some(u32_at(bytes, at)? as usize);
        let (modules, contributions) = (size(24)?, size(28)?);
        let further = size(32)?.checked_add(size(36)?)?.checked_add(size(40)?)?.checked_add(size(52)?)?;
        let (first, second) = (64, modules.checked_add(64)?);
        let third = second.checked_add(contributions)?;
        let modules = modules_in(bytes.get(first..second)?);
        let contributions = contributions_in(bytes.get(second..third)?);
        let streams_of_debug = bytes.get(third.checked_add(further)?..)?;
        let stream = |number: usize| u16_at(streams_of_debug, 2 * number).unwrap_or(NONE);
        if stream(MOVED) != NONE {
            return None;
        }
        let headers = streams.read(stream(SECTIONS))?;
        let header = |header: &[u8]| Some((u32_at(header, 12)?, u32_at(header, 8)?));
        let sections = headers.chunks_exact(40).filter_map(header).collect();
        Some(Layout { sections, contributions, modules, symbols: u16_at(bytes, 20)? })
    }

    /// Where an address is that counts from the start of the program.
    pub(super) fn place(&self, address: u32) -> Option<Place> {
        let within = |&(start, size): &(u32, u32)| address.checked_sub(start).filter(|offset| *offset < size);
        let (number, offset) = self
            .sections
            .iter()
            .enumerate()
            .find_map(|(number, section)| Some((number, within(section)?)))?;
        Some(Place { section: u16::try_from(number + 1).ok()?, offset })
    }

    /// The number of the module that a place belongs to.
    pub(super) fn module_at(&self, place: Place) -> Option<u16> {
        let last = self.contributions.partition_point(|(start, ..)| *start <= place).checked_sub(1)?;
        let (start, size, module) = self.contributions[last];
        (start.section == place.section && place.offset - start.offset < size).then_some(module)
    }

    /// The symbols and lines of a module.
    pub(super) fn module<'data, R: ReadRef<'data>>(
        &self,
        number: u16,
        streams: &Streams<R>,
    ) -> Option<Module> {
        let &(stream, sizes) = self.modules.get(usize::from(number))?;
        let [symbols, old, _] = sizes.map(|size| size as usize);
        let bytes = if stream == NONE { return None } else { streams.read(stream)? };
        let lines = symbols.checked_add(old).filter(|lines| symbols >= 4 && *lines <= bytes.len())?;
        Some(Module { symbols: 4..symbols, lines: lines..bytes.len(), bytes })
    }

    /// The public functions by place.
    pub(super) fn public_functions<'data, R: ReadRef<'data>>(
        &self,
        streams: &Streams<R>,
    ) -> Vec<(Place, Vec<u8>)> {
        const FUNCTION: u32 = 2;
        let bytes = streams.read(self.symbols).unwrap_or_default();
        let public = |(kind, data): (u16, &[u8])| {
            let is_function = kind == PUBLIC && u32_at(data, 0)? & FUNCTION != 0;
            let place = Place { section: u16_at(data, 8)?, offset: u32_at(data, 4)? };
            is_function.then(|| Some((place, text_at(data, 10)?.to_vec())))?
        };
        let mut functions: Vec<_> = records(&bytes).filter_map(public).collect();
        functions.sort();
        functions
    }
}

/// The symbols and lines of a compiled file.
pub(super) struct Module {
    bytes: Vec<u8>,
    symbols: std::ops::Range<usize>,
    lines: std::ops::Range<usize>,
}

impl Module {
    /// Its functions.
    pub(super) fn procedures(&self) -> impl Iterator<Item = Procedure> + '_ {
        let procedures =
            records(&self.bytes[self.symbols.clone()]).filter(|(kind, _)| PROCEDURES.contains(kind));
        procedures.filter_map(|(_, data)| {
            let start = Place { section: u16_at(data, 32)?, offset: u32_at(data, 28)? };
            let name = text_at(data, 35)?.to_vec();
            Some(Procedure { start, size: u32_at(data, 12)?, name })
        })
    }

    /// The part that has lines.
    pub(super) fn lines(&self) -> &[u8] {
        &self.bytes[self.lines.clone()]
    }
}

/// The kinds and contents of symbols: `u16 length  u16 kind  content`.
fn records(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let (record, after) = rest.get(2..)?.split_at_checked(length)?;
        rest = after;
        Some((u16_at(record, 0)?, &record[2..]))
    })
}

fn modules_in(bytes: &[u8]) -> Vec<(u16, [u32; 3])> {
    let mut modules = Vec::new();
    let mut rest = bytes;
    while let (Some(stream), Some(symbols), Some(old), Some(lines)) =
        (u16_at(rest, 34), u32_at(rest, 36), u32_at(rest, 40), u32_at(rest, 44))
    {
        let Some(name) = text_at(rest, 64) else { break };
        let Some(object) = text_at(rest, 64 + name.len() + 1) else { break };
        modules.push((stream, [symbols, old, lines]));
        let end = (64 + name.len() + object.len() + 2).next_multiple_of(4);
        rest = rest.get(end..).unwrap_or_default();
    }
    modules
}

fn contributions_in(bytes: &[u8]) -> Vec<(Place, u32, u16)> {
    // The second version has four more bytes per entry.
    const SECOND: u32 = 0xEFFE_0000 + 20_140_516;
    let length = if u32_at(bytes, 0) == Some(SECOND) { 32 } else { 28 };
    let read = |entry: &[u8]| {
        let place = Place { section: u16_at(entry, 0)?, offset: u32_at(entry, 4)? };
        Some((place, u32_at(entry, 8)?, u16_at(entry, 16)?))
    };
    let mut found: Vec<_> =
        bytes.get(4..).unwrap_or_default().chunks_exact(length).filter_map(read).collect();
    found.sort_unstable();
    found
}
