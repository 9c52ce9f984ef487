//! Debug information in DWARF: lines and inlined functions.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use addr2line::gimli::{
    self, AttributeValue, Dwarf, DwarfPackage, DwarfPackageSections, DwarfSections, DwoId, EndianSlice,
    RunTimeEndian, SectionId, Unit, UnitOffset,
};
use addr2line::{Context, Frame, LookupContinuation, LookupResult};
use hashbrown::HashMap;
use object::ReadRef;

use crate::binary::debug_files::DebugFiles;
use crate::binary::file::Binary;
use crate::binary::place::CodePlace;
use crate::binary::split::{self, SplitPart};
use crate::name::demangle;

/// The maximum depth of functions inlined into each other; real code has fewer.
const MAX_INLINED: usize = 128;

/// The maximum nesting of entries, because reading them recurses.
const MAX_NESTED: isize = 512;

/// The maximum length of a chain of abstract origins.
const MAX_ORIGINS: usize = 16;

type Bytes<'s> = EndianSlice<'s, RunTimeEndian>;

/// The debug sections of a file, and those of others that it refers to.
pub(super) struct Sections<'data> {
    own: DwarfSections<Cow<'data, [u8]>>,
    /// The file that it shares with others.
    common: Option<DwarfSections<Cow<'data, [u8]>>>,
    /// The package of what was split off.
    package: Option<DwarfPackageSections<Cow<'data, [u8]>>>,
    /// What was split off and is not in the package.
    parts: HashMap<u64, SplitPart>,
    endian: RunTimeEndian,
}

impl<'data> Sections<'data> {
    /// The debug information of a binary, as far as these addresses need it; `None` if it has none.
    pub(super) fn of<R: ReadRef<'data>>(
        binary: &Binary<'data, R>,
        files: &DebugFiles<'_, 'data, R>,
        addresses: &[u64],
    ) -> Option<Self> {
        let debug = files.debug.unwrap_or(binary);
        if !debug.has_lines() {
            return None;
        }
        let load = |binary: &Binary<'data, R>| {
            let section = |id: SectionId| Ok::<_, gimli::Error>(wanted(binary, id));
            DwarfSections::load(section).ok()
        };
        let endian = if debug.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let mut sections = Sections {
            own: load(debug)?,
            common: files.common.and_then(load),
            package: files.package.and_then(split::package),
            parts: HashMap::new(),
            endian,
        };
        let parts = split::parts_at(&sections.dwarf(), addresses);
        let package = sections.package();
        let is_packed =
            |id: DwoId| package.as_ref().is_some_and(|package| package.cu_index.find(id.0).is_some());
        let alone = parts.into_iter().filter(|(id, _)| !is_packed(*id)).take(MAX_PARTS);
        let parts = alone.filter_map(|(id, path)| Some((id.0, (files.part)(&path)?))).collect();
        sections.parts = parts;
        Some(sections)
    }

    fn dwarf(&self) -> Dwarf<Bytes<'_>> {
        self.own.borrow_with_sup(self.common.as_ref(), |section| EndianSlice::new(section, self.endian))
    }

    fn package(&self) -> Option<DwarfPackage<Bytes<'_>>> {
        let slice = |bytes| EndianSlice::new(bytes, self.endian);
        self.package.as_ref()?.borrow(|section| slice(section), slice(&[])).ok()
    }
}

/// The maximum number of files with split debug information.
const MAX_PARTS: usize = 1 << 16;

/// The contents of a section if it is needed to look up lines; others, which may be large, are not loaded.
/// `.debug_aranges` is not needed because the units contain their addresses.
fn wanted<'data, R: ReadRef<'data>>(binary: &Binary<'data, R>, id: SectionId) -> Cow<'data, [u8]> {
    match id {
        SectionId::DebugAbbrev
        | SectionId::DebugAddr
        | SectionId::DebugInfo
        | SectionId::DebugLine
        | SectionId::DebugLineStr
        | SectionId::DebugRanges
        | SectionId::DebugRngLists
        | SectionId::DebugStr
        | SectionId::DebugStrOffsets => binary.section(id.name()),
        _ => Cow::Borrowed(&[]),
    }
}

/// Debug information, ready for lookups.
pub(super) struct LineTable<'s> {
    context: Context<Bytes<'s>>,
    /// Compilation units, in the order of the file.
    units: Vec<Unit<Bytes<'s>>>,
    /// The address ranges of units, sorted by start.
    ranges: Vec<UnitRange>,
    /// Whether a unit can be read without recursing too deeply, for units checked so far.
    sound: RefCell<HashMap<usize, bool>>,
    dwarf: Arc<Dwarf<Bytes<'s>>>,
    package: Option<DwarfPackage<Bytes<'s>>>,
    parts: &'s HashMap<u64, SplitPart>,
    /// What was split off, as far as it was needed.
    split: RefCell<HashMap<u64, Option<Rc<Split<'s>>>>>,
    endian: RunTimeEndian,
}

/// A unit that was split off.
struct Split<'s> {
    dwarf: Arc<Dwarf<Bytes<'s>>>,
    unit: Unit<Bytes<'s>>,
}

struct UnitRange {
    begin: u64,
    end: u64,
    /// The last address of this range and all previous ones, where a backward search can stop.
    reach: u64,
    unit: usize,
}

impl<'s> LineTable<'s> {
    /// `None` if the sections are corrupt.
    pub(super) fn new(sections: &'s Sections<'_>) -> Option<Self> {
        let endian = sections.endian;
        let mut dwarf = sections.dwarf();
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::All);
        let (mut units, mut ranges) = (Vec::new(), Vec::new());
        let mut headers = dwarf.units();
        while let Some(header) = headers.next().ok()? {
            let Ok(unit) = dwarf.unit(header) else { continue };
            let known = ranges.len();
            let mut of_unit = dwarf.unit_ranges(&unit).ok()?;
            while let Some(range) = of_unit.next().ok()? {
                if range.begin < range.end {
                    ranges.push(UnitRange {
                        begin: range.begin,
                        end: range.end,
                        reach: 0,
                        unit: units.len(),
                    });
                }
            }
            if ranges.len() == known {
                // It may be anywhere.
                ranges.push(UnitRange { begin: 0, end: u64::MAX, reach: 0, unit: units.len() });
            }
            units.push(unit);
        }
        ranges.sort_by_key(|range| range.begin);
        let mut reach = 0;
        for range in &mut ranges {
            reach = range.end.max(reach);
            range.reach = reach;
        }
        let dwarf = Arc::new(dwarf);
        let context = Context::from_arc_dwarf(dwarf.clone()).ok()?;
        let package = sections.package();
        let (sound, split) = Default::default();
        Some(LineTable {
            context,
            units,
            ranges,
            sound,
            dwarf,
            package,
            parts: &sections.parts,
            split,
            endian,
        })
    }

    /// The functions at an address, innermost first. Missing names are empty.
    pub(super) fn at(&self, address: u64) -> Vec<CodePlace> {
        let units = self.units_at(address);
        // The highest address would overflow.
        if address == u64::MAX || !units.iter().all(|&unit| self.is_sound(unit)) {
            return Vec::new();
        }
        // Partial results from corrupt debug information would be misleading.
        self.places(address, &units).unwrap_or_default()
    }

    fn places(&self, address: u64, units: &[usize]) -> Result<Vec<CodePlace>, gimli::Error> {
        let mut places = Vec::new();
        let mut found = self.context.find_frames(address);
        let mut frames = loop {
            match found {
                LookupResult::Output(frames) => break frames?,
                LookupResult::Load { load, continuation } => {
                    let split = self.split(load.dwo_id);
                    found = continuation.resume(split.map(|split| split.dwarf.clone()));
                }
            }
        };
        while let Some(frame) = frames.next()? {
            if places.len() > MAX_INLINED {
                return Ok(Vec::new());
            }
            let mut place = place(&frame);
            if let (Some(entry), &[unit]) = (frame.dw_die_offset, units) {
                let unit = &self.units[unit];
                let start = match unit.dwo_id.and_then(|id| self.split(id)) {
                    Some(split) => self.start_line(&split.unit, entry),
                    None => self.start_line(unit, entry),
                };
                let start = start.unwrap_or(0);
                // A line before the start belongs to a macro, which may be in another file.
                place.start_line = if start <= place.line { start } else { 0 };
            }
            places.push(place);
        }
        Ok(places)
    }

    /// The units that may contain an address.
    fn units_at(&self, address: u64) -> Vec<usize> {
        let after = self.ranges.partition_point(|range| range.begin <= address);
        let near = self.ranges[..after].iter().rev().take_while(|range| address < range.reach);
        let mut units: Vec<usize> =
            near.filter(|range| address < range.end).map(|range| range.unit).collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    fn is_sound(&self, unit: usize) -> bool {
        *self.sound.borrow_mut().entry(unit).or_insert_with(|| is_shallow(&self.units[unit]).unwrap_or(false))
    }

    /// The unit with this id that was split off, if its file is there and belongs to the program.
    fn split(&self, id: DwoId) -> Option<Rc<Split<'s>>> {
        let load = || {
            let mut dwarf = match &self.package {
                Some(package) => package.find_cu(id, &self.dwarf).ok()?,
                None => None,
            };
            if dwarf.is_none() {
                let part = &self.parts.get(&id.0)?.0;
                let mut single = part.borrow(|section| EndianSlice::new(section, self.endian));
                single.make_dwo(&self.dwarf);
                dwarf = Some(single);
            }
            let dwarf = dwarf?;
            let unit = dwarf.unit(dwarf.units().next().ok()??).ok()?;
            let is_sound = unit.dwo_id == Some(id) && is_shallow(&unit).unwrap_or(false);
            is_sound.then(|| Rc::new(Split { dwarf: Arc::new(dwarf), unit }))
        };
        self.split.borrow_mut().entry(id.0).or_insert_with(load).clone()
    }

    /// The line at which a function starts, from its entry or that entry's abstract origin.
    fn start_line<'a>(&'a self, unit: &'a Unit<Bytes<'s>>, entry: UnitOffset) -> Option<u32> {
        let (mut unit, mut entry) = (unit, entry);
        for _ in 0..MAX_ORIGINS {
            let row = unit.entry(entry).ok()?;
            if let Some(line) = row.attr_value(gimli::DW_AT_decl_line) {
                return u32::try_from(line.udata_value()?).ok();
            }
            let origin = row.attr_value(gimli::DW_AT_abstract_origin);
            match origin.or_else(|| row.attr_value(gimli::DW_AT_specification))? {
                AttributeValue::UnitRef(other) => entry = other,
                // What was split off refers only to itself.
                AttributeValue::DebugInfoRef(_) if unit.dwo_id.is_some() => return None,
                AttributeValue::DebugInfoRef(other) => {
                    let start = |unit: &Unit<Bytes<'s>>| unit.header.debug_info_offset();
                    let after = self.units.partition_point(|unit| start(unit) <= Some(other));
                    unit = &self.units[after.checked_sub(1)?];
                    entry = other.to_unit_offset(&unit.header)?;
                }
                _ => return None,
            }
        }
        None
    }
}

/// Whether the entries of a unit are not nested too deeply.
fn is_shallow(unit: &Unit<Bytes<'_>>) -> Result<bool, gimli::Error> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        if entries.next_depth() > MAX_NESTED {
            return Ok(false);
        }
        if let Some(abbreviation) = entries.read_abbreviation()? {
            entries.skip_attributes(abbreviation.attributes())?;
        }
    }
    Ok(true)
}

fn place(frame: &Frame<'_, Bytes<'_>>) -> CodePlace {
    let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
    let location = frame.location.as_ref();
    CodePlace {
        function: name.map_or_else(String::new, |name| demangle(&name).into_owned()),
        file: location.and_then(|location| location.file).unwrap_or_default().to_string(),
        start_line: 0,
        line: location.and_then(|location| location.line).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Debug information of one unit with a function and `depth` functions inlined into each other.
    fn nested(depth: usize) -> Sections<'static> {
        // Codes 1 to 3: tag, children, attributes in pairs with their forms, and 0, 0.
        let abbreviations = [
            &[1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0][..], // unit: low_pc, high_pc as its size
            &[2, 0x2e, 1, 0x03, 8, 0x11, 1, 0x12, 6, 0, 0], // function: name, too
            &[3, 0x1d, 1, 0x03, 8, 0x11, 1, 0x12, 6, 0, 0], // inlined function
            &[0],
        ];
        let range = [&0x1000_u64.to_le_bytes()[..], &0x100_u32.to_le_bytes()].concat();
        let entry = |code: u8, name: &[u8]| [&[code], name, &range].concat();
        let mut entries = entry(1, b"");
        entries.extend(entry(2, b"outer\0"));
        for _ in 0..depth {
            entries.extend(entry(3, b"inner\0"));
        }
        entries.resize(entries.len() + depth + 2, 0);
        let header = [&4_u16.to_le_bytes()[..], &0_u32.to_le_bytes(), &[8]].concat();
        let length = (header.len() + entries.len()) as u32;
        let unit = [&length.to_le_bytes()[..], &header, &entries].concat();
        let section = |id: SectionId| {
            Ok::<_, gimli::Error>(Cow::Owned(match id {
                SectionId::DebugAbbrev => abbreviations.concat(),
                SectionId::DebugInfo => unit.clone(),
                _ => Vec::new(),
            }))
        };
        Sections {
            own: DwarfSections::load(section).unwrap(),
            common: None,
            package: None,
            parts: HashMap::new(),
            endian: RunTimeEndian::Little,
        }
    }

    #[test]
    fn any_nesting_is_read_without_overflowing_the_stack() {
        let names = |depth: usize, address: u64| {
            let sections = nested(depth);
            let places = LineTable::new(&sections).unwrap().at(address);
            places.into_iter().map(|place| place.function).collect::<Vec<_>>()
        };
        assert_eq!(names(2, 0x1010), ["inner", "inner", "outer"]);
        assert_eq!(names(0, 0x10ff), ["outer"]);
        assert!(names(0, 0x1100).is_empty() && names(0, u64::MAX).is_empty());
        for deep in [200, 600, 300_000] {
            assert!(names(deep, 0x1010).is_empty(), "{deep}");
        }
    }
}
