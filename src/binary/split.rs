//! Debug information that compilers leave in files of their own (`-gsplit-dwarf`): one per object file (`.dwo`), or all of them packed
//! into one (`.dwp`). The program itself has a skeleton of each unit, with its addresses and lines.

use std::borrow::Cow;

use addr2line::gimli::{
    self, Dwarf, DwarfPackageSections, DwarfSections, DwoId, EndianSlice, RunTimeEndian, Section, SectionId,
    Unit, UnitType,
};
use object::ReadRef;

use crate::binary::file::Binary;

/// The debug information of one object file.
pub struct SplitPart(pub(super) DwarfSections<Cow<'static, [u8]>>);

impl SplitPart {
    /// Reads the sections of a `.dwo` file; `None` if it has none.
    pub fn of<'data, R: ReadRef<'data>>(file: &Binary<'data, R>) -> Option<Self> {
        if split_section(file, SectionId::DebugInfo).is_empty() {
            return None;
        }
        let section = |id: SectionId| {
            let bytes = split_section(file, id).into_owned();
            Ok::<Cow<'static, [u8]>, gimli::Error>(Cow::Owned(bytes))
        };
        Some(SplitPart(DwarfSections::load(section).ok()?))
    }
}

/// The sections of a package (`.dwp`). Its index refers to all of them.
pub(super) fn package<'data, R: ReadRef<'data>>(
    file: &Binary<'data, R>,
) -> Option<DwarfPackageSections<Cow<'data, [u8]>>> {
    DwarfPackageSections::load(|id| Ok::<_, gimli::Error>(split_section(file, id))).ok()
}

/// A section of a file with what was split off; its name ends with `.dwo`.
fn split_section<'data, R: ReadRef<'data>>(file: &Binary<'data, R>, id: SectionId) -> Cow<'data, [u8]> {
    id.dwo_name().map_or(Cow::Borrowed(&[]), |name| file.section(name))
}

type Bytes<'s> = EndianSlice<'s, RunTimeEndian>;

/// The files that have the units at some addresses of a program.
pub(super) fn parts_at(dwarf: &Dwarf<Bytes<'_>>, addresses: &[u64]) -> Vec<(DwoId, String)> {
    let mut parts = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        // Most programs have no skeletons, and reading a unit takes longer than reading its header.
        let may_be_skeleton = match header.type_() {
            UnitType::Skeleton(_) => true,
            UnitType::Compilation => header.version() < 5 && !dwarf.debug_addr.reader().is_empty(),
            _ => false,
        };
        if !may_be_skeleton {
            continue;
        }
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Some(id) = unit.dwo_id.filter(|_| has_any(dwarf, &unit, addresses)) else { continue };
        parts.extend(path(dwarf, &unit).map(|path| (id, path)));
    }
    parts
}

/// Whether a unit may contain one of the addresses.
fn has_any(dwarf: &Dwarf<Bytes<'_>>, unit: &Unit<Bytes<'_>>, addresses: &[u64]) -> bool {
    let Ok(mut ranges) = dwarf.unit_ranges(unit) else { return false };
    while let Ok(Some(range)) = ranges.next() {
        if addresses.iter().any(|address| (range.begin..range.end).contains(address)) {
            return true;
        }
    }
    false
}

/// The file of a skeleton, in the folder where the compiler was called.
fn path(dwarf: &Dwarf<Bytes<'_>>, unit: &Unit<Bytes<'_>>) -> Option<String> {
    let name = dwarf.attr_string(unit, unit.dwo_name().ok()??).ok()?;
    let name = name.to_string_lossy();
    let folder = unit.comp_dir.map(|folder| folder.to_string_lossy()).unwrap_or_default();
    Some(if name.starts_with('/') || folder.is_empty() {
        name.into_owned()
    } else {
        format!("{folder}/{name}")
    })
}
