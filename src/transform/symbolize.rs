//! Replacing addresses by the functions at them.

use std::mem::take;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::binary::{Address, CodePlace};
use crate::profile::{
    Addresses, Column, Frame, FrameId, Function, FunctionId, Mapping, MappingId, Profile, StackId,
    StackTable, SymbolTable, TooLarge,
};
use crate::transform::engine::restack;

/// The functions at addresses of mappings, innermost first; all but the last were inlined.
pub type CodePlaces = HashMap<(MappingId, u64), Vec<CodePlace>>;

/// The mappings that have addresses without a name, in order.
pub fn unnamed_mappings(profile: &Profile) -> Vec<MappingId> {
    let mappings = &profile.symbols.mappings;
    let mut has_unnamed = Column::<MappingId, bool>::filled(false, mappings.len());
    unnamed(profile, |mapping, _| has_unnamed[mapping] = true);
    mappings.ids().filter(|&mapping| has_unnamed[mapping]).collect()
}

/// The addresses without a name in mappings that are wanted, by mapping, sorted and without duplicates.
pub fn unnamed_addresses(
    profile: &Profile,
    wanted: impl Fn(MappingId) -> bool,
) -> Vec<(MappingId, Vec<u64>)> {
    let mappings = &profile.symbols.mappings;
    let wanted: Column<MappingId, bool> = mappings.ids().map(wanted).collect();
    let mut addresses = Column::<MappingId, Vec<u64>>::filled(Vec::new(), mappings.len());
    unnamed(profile, |mapping, address| {
        if wanted[mapping] {
            addresses[mapping].push(address);
        }
    });
    let of_mapping = |mapping| {
        let mut some = take(&mut addresses[mapping]);
        some.sort_unstable();
        some.dedup();
        Some((mapping, some)).filter(|(_, some)| !some.is_empty())
    };
    mappings.ids().filter_map(of_mapping).collect()
}

/// Calls `add` for each frame with an address but without a name.
fn unnamed(profile: &Profile, mut add: impl FnMut(MappingId, u64)) {
    let symbols = &profile.symbols;
    let unnamed = symbols.unnamed_frames();
    for (_, frame) in symbols.frames.enumerate().filter(|&(id, frame)| unnamed[id] && !frame.inlined) {
        add(frame.mapping, frame.address);
    }
}

/// Where `address` of a mapping is in the mapping's file. `None` if it is outside the mapping.
pub fn address_in_file(mapping: &Mapping, address: u64) -> Option<Address> {
    match mapping.addresses {
        Addresses::File => Some(Address::File(address)),
        Addresses::Image => Some(Address::Image(address)),
        // Recorders that resolve the position of a binary themselves write the linker's addresses, in a mapping that
        // covers all memory.
        Addresses::Memory
            if mapping.start == 0 && mapping.offset == 0 && [0, u64::MAX].contains(&mapping.limit) =>
        {
            Some(Address::Linked(address))
        }
        Addresses::Memory => {
            address.checked_sub(mapping.start)?.checked_add(mapping.offset).map(Address::File)
        }
    }
}

/// Replaces frames without a name by the functions at their address, including inlined ones. Addresses that are
/// not in `places` are kept, and profiles of calls are returned unchanged.
///
/// ```text
/// [server]@1064 3    →    main;work;+helper 3
/// ```
pub fn symbolize(profile: &Profile, places: &CodePlaces) -> Result<Profile, TooLarge> {
    if places.is_empty() || profile.calls.is_some() {
        return Ok(profile.clone());
    }
    let (symbols, replacements) = named(profile, places);
    let used = profile.used_stacks();
    let mut table = StackTable::default();
    let mut new_stack = Column::<StackId, StackId>::filled(StackId::default(), profile.stacks.len());
    let mut frames: Vec<FrameId> = Vec::new();
    for stack in profile.stacks.ids().filter(|&stack| used[stack]) {
        frames.clear();
        for &frame in profile.stacks.frames(stack) {
            let (start, end) = replacements.range[frame];
            frames.extend_from_slice(&replacements.frames[start..end]);
        }
        new_stack[stack] = table.intern(&frames).ok_or(TooLarge::Ids)?;
    }
    let rows = profile.samples.stack.iter().enumerate();
    let samples = restack(profile, rows.map(|(row, &stack)| (row, new_stack[stack])));
    Ok(Profile { symbols: Arc::new(symbols), stacks: Arc::new(table.stacks), samples, ..profile.clone() })
}

/// The replacement of each frame, outermost first.
struct Replacements {
    range: Column<FrameId, (usize, usize)>,
    frames: Vec<FrameId>,
}

/// The tables of a profile with the names filled in. A placeholder function for unnamed code disappears once all
/// of that code has names.
fn named(profile: &Profile, places: &CodePlaces) -> (crate::profile::Symbols, Replacements) {
    #[cfg(test)]
    FRAMES_REBUILT.with(|frames| frames.set(frames.get() + profile.symbols.frames.len()));
    let old = &profile.symbols;
    let unnamed = old.unnamed_frames();
    let mut table = SymbolTable::default();
    table.symbols.strings = old.strings.clone();
    table.reserve(old.functions.len(), old.frames.len());
    let mappings: Column<MappingId, MappingId> = old.mappings.map(|&mapping| table.mapping(mapping));
    let mut functions: Column<FunctionId, Option<FunctionId>> = Column::filled(None, old.functions.len());
    let mut replacements = Replacements { range: Column::new(), frames: Vec::new() };
    for (id, &frame) in old.frames.enumerate() {
        let start = replacements.frames.len();
        let mapping = mappings[frame.mapping];
        match places.get(&(frame.mapping, frame.address)).filter(|_| unnamed[id] && !frame.inlined) {
            Some(places) if !places.is_empty() => {
                for (depth, place) in places.iter().rev().enumerate() {
                    let function = function_at(place, &mut table);
                    let inlined = depth > 0;
                    let made = Frame { function, line: place.line, address: frame.address, mapping, inlined };
                    replacements.frames.push(table.frame(made));
                }
            }
            _ => {
                let function = *functions[frame.function]
                    .get_or_insert_with(|| table.function(old.functions[frame.function]));
                let made = Frame { function, mapping, ..frame };
                // No other frame becomes one without a name, so there is no equal one to look for.
                replacements.frames.push(if unnamed[id] { table.new_frame(made) } else { table.frame(made) });
            }
        }
        replacements.range.push((start, replacements.frames.len()));
    }
    (table.symbols, replacements)
}

#[cfg(test)]
thread_local! {
    /// How many frames were put into new tables: the work of naming.
    pub(crate) static FRAMES_REBUILT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn function_at(place: &CodePlace, table: &mut SymbolTable) -> FunctionId {
    let strings = &mut table.symbols.strings;
    let (name, file) = (strings.intern(&place.function), strings.intern(&place.file));
    table.function(Function { name, file, line: place.start_line, column: 0, by_place: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    fn place(function: &str, line: u32) -> CodePlace {
        CodePlace { function: function.into(), file: "s.c".into(), start_line: 1, line }
    }

    #[test]
    fn frames_are_replaced_by_functions_at_their_addresses() {
        let [a, b, c] = [0x5010, 0x5020, 0x5030].map(|address| format!("main;!/bin/server+{address:#x}"));
        let profile = from_notation(&format!("{a} 1\n{b} 2\n{c} 4"));
        let [(mapping, addresses)] = &unnamed_addresses(&profile, |_| true)[..] else { panic!() };
        assert_eq!(*addresses, [0x5010, 0x5020, 0x5030]);
        assert_eq!(unnamed_addresses(&profile, |_| false), []);
        let mapping = *mapping;
        assert_eq!(unnamed_mappings(&profile), [mapping]);
        let places = CodePlaces::from_iter([
            ((mapping, 0x5010), vec![place("get", 7), place("work", 3)]),
            ((mapping, 0x5020), vec![]),
            ((mapping, 0x5030), vec![place("work", 4)]),
        ]);
        let named = symbolize(&profile, &places).unwrap();
        assert_eq!(to_notation(&named), "main;[server] 2\nmain;work@s.c:3;+get@s.c:7 1\nmain;work@s.c:4 4");
        assert_eq!(unnamed_addresses(&named, |_| true), [(mapping, vec![0x5020])]);
        assert_eq!(named.meta, profile.meta);
    }

    #[test]
    fn addresses_are_counted_from_where_the_mapping_says() {
        let mapping = Mapping { start: 0x5000, limit: 0x9000, offset: 0x1000, ..Mapping::default() };
        assert_eq!(address_in_file(&mapping, 0x5010), Some(Address::File(0x1010)));
        assert_eq!(address_in_file(&mapping, 0x4000), None);
        for limit in [0, u64::MAX] {
            let whole = Mapping { limit, ..Mapping::default() };
            assert_eq!(address_in_file(&whole, 0x5010), Some(Address::Linked(0x5010)));
        }
        let offsets = Mapping { addresses: Addresses::File, ..Mapping::default() };
        assert_eq!(address_in_file(&offsets, 0x10), Some(Address::File(0x10)));
        let relative = Mapping { addresses: Addresses::Image, ..Mapping::default() };
        assert_eq!(address_in_file(&relative, 0x10), Some(Address::Image(0x10)));
    }
}
