//! The memory map after the samples, which maps addresses to binaries.
//!
//! There are two notations, that of `/proc/self/maps` and a brief one:
//!
//! ```text
//! 00400000-00fcb000 r-xp 00000000 08:01 1234   /bin/server
//!   00400000-00fcb000: /bin/server
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::format::LoadError;
use crate::format::text::{Lines, Scan, decimal};
use crate::name::base_name;
use crate::profile::{Mapping, MappingId, ProfileBuilder};

/// The address to which most x86-64 executables are linked.
const USUAL_START: u64 = 0x40_0000;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Region {
    start: u64,
    limit: u64,
    offset: u64,
    file: String,
}

/// The executable regions of a process.
#[derive(Debug, Default)]
pub(super) struct MemoryMap {
    regions: Vec<Region>,
    /// Indexes of regions by start address. Regions of a process do not overlap.
    by_start: BTreeMap<u64, usize>,
}

/// Whether a line starts the memory map.
pub(super) fn is_header(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.ends_with(b"MAPPED_LIBRARIES:") || line.ends_with(b"--- Memory map: ---")
}

impl MemoryMap {
    /// Reads the remaining input. If the map's header has not been read yet, lines before it are ignored.
    pub(super) fn read(lines: &mut Lines<'_>, mut in_map: bool) -> Result<Self, LoadError> {
        let mut map = MemoryMap::default();
        let mut variables = Variables::default();
        while lines.advance()? {
            if !in_map {
                in_map = is_header(lines.line());
                continue;
            }
            let line = String::from_utf8_lossy(lines.line().trim_ascii());
            match entry(variables.replaced(&line).as_bytes()) {
                Some((region, true)) => map.regions.push(region),
                Some((_, false)) => {}
                None => variables.define(&line),
            }
        }
        map.tidy();
        Ok(map)
    }

    /// Joins adjacent regions of the same file, moves the executable to the front, and corrects known errors of writers.
    fn tidy(&mut self) {
        let mut joined: Vec<Region> = Vec::new();
        for region in self.regions.drain(..) {
            match joined.last_mut() {
                Some(last) if last.continues_in(&region) => {
                    last.limit = region.limit;
                    if !region.file.is_empty() {
                        last.file = region.file;
                    }
                }
                _ => joined.push(region),
            }
        }
        if let Some(main) = joined.iter().position(Region::is_executable) {
            joined.swap(0, main);
        }
        // Parts of an executable that were moved to huge pages are listed before the rest of it.
        if let [first, second, ..] = &joined[..]
            && first.file.starts_with("/anon_hugepage")
            && first.limit == second.start
        {
            joined.remove(0);
        }
        if let Some(first) = joined.first_mut()
            && first.start.wrapping_sub(first.offset) == USUAL_START
        {
            (first.start, first.offset) = (USUAL_START, 0);
        }
        for (number, region) in joined.iter().enumerate() {
            self.by_start.entry(region.start).or_insert(number);
        }
        self.regions = joined;
    }

    /// Extends a region to contain `address` if possible: some writers omit the first part of a file, in which case its
    /// region has an offset.
    pub(super) fn include(&mut self, address: u64) {
        if address == 0 || self.region_of(address).is_some() {
            return;
        }
        let next = self.by_start.range(address..).next().map(|(_, &number)| number);
        let cut = next.filter(|&number| {
            let region = &self.regions[number];
            region.offset != 0 && region.start.wrapping_sub(region.offset) <= address
        });
        if let Some(number) = cut {
            let region = &mut self.regions[number];
            self.by_start.remove(&region.start);
            region.start -= region.offset;
            region.offset = 0;
            self.by_start.insert(region.start, number);
        }
    }

    pub(super) fn mapping_of(&self, builder: &mut ProfileBuilder, address: u64) -> MappingId {
        let Some(region) = self.region_of(address).filter(|_| address != 0) else {
            return MappingId::default();
        };
        let file = builder.string(&region.file);
        let (start, limit, offset) = (region.start, region.limit, region.offset);
        builder.mapping(Mapping { file, start, limit, offset, ..Mapping::default() })
    }

    fn region_of(&self, address: u64) -> Option<&Region> {
        let (_, &number) = self.by_start.range(..=address).next_back()?;
        Some(&self.regions[number]).filter(|region| address < region.limit)
    }
}

/// `build=/path` defines the value of `$build` in the regions that follow.
#[derive(Debug, Default)]
struct Variables(HashMap<String, String>);

impl Variables {
    /// A line becomes no longer than this, which is longer than any path: few variables could fill the memory.
    const MOST_BYTES: usize = 16 << 10;

    fn define(&mut self, line: &str) {
        if let Some((name, value)) = line.split_once('=') {
            self.0.insert(name.trim().to_string(), value.trim().to_string());
        }
    }

    /// The line with values instead of variables, or the line itself where that would be too long. Values are not looked at
    /// again.
    fn replaced<'l>(&self, line: &'l str) -> Cow<'l, str> {
        if self.0.is_empty() || !line.contains('$') {
            return line.into();
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut parts = line.split('$');
        let mut replaced = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (name, rest) = part.split_at(part.bytes().take_while(is_name).count());
            match self.0.get(name) {
                Some(value) => replaced.push_str(value),
                None => replaced.extend(["$", name]),
            }
            replaced.push_str(rest);
            if replaced.len() > Self::MOST_BYTES {
                return line.into();
            }
        }
        replaced.into()
    }
}

impl Region {
    fn continues_in(&self, next: &Region) -> bool {
        let same_file = self.file.is_empty() || next.file.is_empty() || self.file == next.file;
        let offsets_agree = self.offset == 0
            || next.offset == 0
            || self.offset.wrapping_add(self.limit.wrapping_sub(self.start)) == next.offset;
        same_file && offsets_agree && self.limit == next.start
    }

    /// Whether this looks like the program itself: a file that is not a library.
    fn is_executable(&self) -> bool {
        let file = self.file.strip_suffix("(deleted)").unwrap_or(&self.file).trim();
        let name = base_name(file);
        let is_library = name.split('.').any(|part| part == "so" || part.starts_with("so_"));
        !file.is_empty() && !file.starts_with('[') && !is_library
    }
}

/// Parses one line: a region, and whether it is executable.
fn entry(line: &[u8]) -> Option<(Region, bool)> {
    let mut scan = Scan(line);
    let start = scan.hex()?;
    scan.0 = scan.0.strip_prefix(b"-")?;
    let limit = scan.hex()?;
    if let Some(rest) = scan.0.strip_prefix(b":") {
        return Some((brief(start, limit, rest)?, true));
    }
    let permissions = scan.word();
    if permissions.is_empty() || !permissions.iter().all(|byte| b"-rwxps".contains(byte)) {
        return None;
    }
    let offset = scan.hex()?;
    // Device and inode.
    memchr::memchr(b':', scan.word())?;
    decimal(scan.word())?;
    let file = String::from_utf8_lossy(scan.word()).into_owned();
    Some((Region { start, limit, offset, file }, permissions.contains(&b'x')))
}

/// Parses the rest of a line in the brief notation: a file, and possibly `… @offset`.
fn brief(start: u64, limit: u64, rest: &[u8]) -> Option<Region> {
    let mut scan = Scan(rest);
    let file = String::from_utf8_lossy(scan.word()).into_owned();
    let offset = memchr::memrchr(b'@', scan.0).and_then(|at| Scan(&scan.0[at + 1..]).hex()).unwrap_or(0);
    (!file.is_empty()).then_some(Region { start, limit, offset, file })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Source;

    fn map(text: &str) -> MemoryMap {
        let mut source = Source::from_bytes(text.as_bytes().to_vec());
        MemoryMap::read(&mut Lines::new(&mut source), false).unwrap()
    }

    #[test]
    fn both_notations_are_read_and_variables_replaced() {
        let map = map("other section\nMAPPED_LIBRARIES:\nbuild=/src/out\n\
             7f00-8000 r-xp 00000100 08:01 12 /lib/libc.so.6\n\
             8000-9000 rw-p 00001000 08:01 12 /lib/libc.so.6\n\
             400000-500000: $build/server\n");
        let file = |address| map.region_of(address).map(|region| region.file.as_str());
        assert_eq!(file(0x40_0000), Some("/src/out/server"));
        assert_eq!(file(0x7FFF), Some("/lib/libc.so.6"));
        assert_eq!(file(0x8000), None);
        assert_eq!(map.regions[0].file, "/src/out/server");
    }

    #[test]
    fn variables_cannot_fill_the_memory() {
        let definitions: Vec<String> = (1..64).map(|n| format!("a{n}=$a{}$a{0}\n", n - 1)).collect();
        let definitions = definitions.concat();
        let long = format!("b={}\n4000-5000: {}\n", "x".repeat(8000), "$b".repeat(8000));
        let map = map(&format!("MAPPED_LIBRARIES:\na0=x\n{definitions}1000-2000: $a63\n{long}"));
        assert_eq!(map.regions[0].file, "$a62$a62");
        assert_eq!(map.regions[1].file, "$b".repeat(8000));
    }

    #[test]
    fn a_missing_first_part_is_added_when_an_address_needs_it() {
        let mut map = map("MAPPED_LIBRARIES:\n5000-6000 r-xp 00001000 08:01 12 /bin/server\n");
        map.include(0x4800);
        assert_eq!((map.regions[0].start, map.regions[0].offset), (0x4000, 0));
    }
}
