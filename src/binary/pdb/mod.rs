//! PDB files: the debug information of programs for Windows, which are apart from these.
//!
//! Names come from the symbols of the compiled files, or else from the public ones; lines are those of the function, not of code that was
//! inlined into it. Only the parts for the addresses that are looked up are read.

mod lines;
mod modules;
mod streams;

use std::cell::LazyCell;

use object::ReadRef;

use crate::binary::build_id::BuildId;
use crate::binary::pdb::lines::{FileNames, Lines};
use crate::binary::pdb::modules::{Layout, Place, Procedure};
use crate::binary::pdb::streams::Streams;
use crate::binary::place::CodePlace;
use crate::name::demangle;

/// The streams with a fixed number.
const ABOUT: u16 = 1;
const LAYOUT: u16 = 3;

/// A PDB file.
pub struct Pdb<R> {
    streams: Streams<R>,
    id: BuildId,
}

impl<'data, R: ReadRef<'data>> Pdb<R> {
    /// Reads the headers; `None` if it is not a PDB file.
    pub fn parse(data: R) -> Option<Self> {
        let streams = Streams::of(data)?;
        let id = BuildId::new(streams.read(ABOUT)?.get(12..28)?)?;
        Some(Pdb { streams, id })
    }

    /// The identifier that the program has as well.
    pub fn build_id(&self) -> BuildId {
        self.id.clone()
    }

    /// The function at each of these addresses, which are relative to the start of the program in memory. Empty for unknown ones.
    pub fn functions(&self, addresses: &[Option<u32>]) -> Vec<Vec<CodePlace>> {
        let none = || addresses.iter().map(|_| Vec::new()).collect();
        let Some(layout) = self.streams.read(LAYOUT).and_then(|bytes| Layout::of(&bytes, &self.streams))
        else {
            return none();
        };
        let places: Vec<Option<Place>> = addresses.iter().map(|address| layout.place((*address)?)).collect();
        let mut modules: Vec<u16> =
            places.iter().flatten().filter_map(|place| layout.module_at(*place)).collect();
        modules.sort_unstable();
        modules.dedup();
        let mut procedures: Vec<Procedure> = Vec::new();
        let mut lines = Lines::default();
        let files = self.streams.read(ABOUT).and_then(|about| FileNames::of(&about, &self.streams));
        for module in modules {
            let Some(module) = layout.module(module, &self.streams) else { continue };
            procedures.extend(module.procedures());
            if let Some(files) = &files {
                lines.add(module.lines(), files);
            }
        }
        procedures.sort_by_key(|procedure| procedure.start);
        lines.sort();
        let public = LazyCell::new(|| layout.public_functions(&self.streams));
        let find = |place: &Option<Place>| {
            let place = (*place)?;
            let last = procedures.partition_point(|procedure| procedure.start <= place).checked_sub(1);
            let procedure = last.map(|last| &procedures[last]).filter(|procedure| procedure.holds(place));
            let (name, start) = match procedure {
                Some(procedure) => (&procedure.name, procedure.start),
                None => {
                    let last = public.partition_point(|(start, _)| *start <= place).checked_sub(1)?;
                    let (start, name) = &public[last];
                    // A public function ends where the next one begins, and is in one section.
                    (name, (start.section == place.section).then_some(*start)?)
                }
            };
            let at = lines.at(place);
            let (file, line) = at.map_or_else(Default::default, |(file, line)| (file.to_string(), line));
            let first = lines.at(start).filter(|(first, _)| *first == file);
            let start_line = first.map_or(0, |(_, line)| line);
            let function = demangle(&String::from_utf8_lossy(name)).into_owned();
            Some(vec![CodePlace { function, file, start_line, line }])
        };
        places
            .iter()
            .map(|place| find(place).filter(|places| !places[0].function.is_empty()))
            .map(Option::unwrap_or_default)
            .collect()
    }
}

#[cfg(test)]
mod tests;
