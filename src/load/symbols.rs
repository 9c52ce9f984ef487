//! Looks up names for the addresses of profiles in the binaries that were recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::binary::{self, Address, CodePlace};
use crate::load::binaries::{Binaries, Files, Search, is_file_path};
use crate::load::scripts::has_scripts;
use crate::load::{Debuginfod, Error, Observer, SourceMaps, kernel};
use crate::name::base_name;
use crate::profile::{Mapping, MappingId, Profile};
use crate::transform::{
    CodePlaces, Contradiction, NamedAddresses, Unresolved, address_in_file, contradiction, named_addresses,
    symbolize, unnamed_addresses, unnamed_mappings, unresolved,
};
use crate::unit::first_of;

/// Where to look up names that profiles lack.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// Whether to look up names at all.
    pub wanted: bool,
    /// Binaries, and folders of them. They have to exist.
    pub binaries: Vec<PathBuf>,
    /// Further folders, which need not exist.
    pub folders: Vec<PathBuf>,
    /// Servers of debug information; `None` to ask nobody.
    pub debuginfod: Option<Debuginfod>,
    /// Where to look for source maps of scripts.
    pub source_maps: SourceMaps,
}

/// Names are looked up where the profile says that the binary is, if it is the one recorded.
impl Default for Symbols {
    fn default() -> Self {
        Symbols {
            wanted: true,
            binaries: Vec::new(),
            folders: Vec::new(),
            debuginfod: None,
            source_maps: SourceMaps::default(),
        }
    }
}

/// perf's name for the code that the kernel lends to programs, such as `clock_gettime`.
const LENT_BY_KERNEL: &str = "[vdso]";

/// A binary as a profile identifies it: the path of its file and its build ID.
type Key = (String, String);

/// An address in one of several profiles: the number of the profile, the mapping, the address.
type Spot = (usize, MappingId, u64);

impl Symbols {
    /// The files and folders that the user named.
    pub(super) fn places(&self) -> impl Iterator<Item = PathBuf> {
        self.binaries.iter().chain(&self.folders).cloned()
    }

    /// Adds the missing names to all `profiles`. Each binary is read only once, whatever the number of
    /// profiles.
    pub(super) fn apply<'p>(
        &self,
        profiles: impl Iterator<Item = &'p mut Profile>,
        observer: &Arc<dyn Observer>,
    ) -> Result<(), Error> {
        if let Some(missing) = self.binaries.iter().find(|path| !path.exists()) {
            return Err(Error::NoBinary(missing.clone()));
        }
        let mut profiles: Vec<&mut Profile> = profiles.collect();
        if !self.wanted {
            if profiles.iter().any(|profile| may_have_names(profile)) {
                observer.names_left_out();
            }
            return Ok(());
        }
        let binaries = Binaries::new(self.places().collect());
        let mut binaries = binaries.asking(self.debuginfod.clone(), observer.clone());
        // The tables of a profile are rebuilt only once, whatever the number of its binaries.
        let mut places: BTreeMap<usize, CodePlaces> = BTreeMap::new();
        let mut unproven: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        let mut named: BTreeMap<usize, NamedAddresses> = BTreeMap::new();
        for ((file, build_id), mut spots) in spots(profiles.iter().map(|profile| &**profile)) {
            match binaries.find(&file, &build_id) {
                Search::Found { files, is_proven } => {
                    if !is_proven {
                        let refused = refuse(&files, &mut spots, &profiles, &mut named);
                        for (number, warning) in refused {
                            profiles[number].meta.warnings.push(warning);
                        }
                    }
                    look_up(&files, &spots, &profiles, &mut places);
                }
                Search::Other { path, id } => {
                    let id = id.map_or("none".to_string(), |id| id.to_string());
                    let warning = format!(
                        "{} is not the build that was recorded, so no names are taken from it: its build ID is \
                         {id}, in the profile it is {build_id}",
                        path.display()
                    );
                    profiles[spots[0].0].meta.warnings.push(warning);
                }
                Search::Unproven => unproven.entry(spots[0].0).or_default().push(file),
                Search::Missing => {}
            }
        }
        for (number, profile) in profiles.iter().enumerate() {
            kernel::look_up(number, profile, &self.binaries, &mut places);
        }
        if let (Some(debuginfod), Some(first)) = (&self.debuginfod, profiles.first_mut()) {
            debuginfod.tell(&mut first.meta);
        }
        for (number, files) in unproven {
            profiles[number].meta.warnings.push(describe_unproven(&files));
        }
        for (number, places) in places {
            let named = symbolize(profiles[number], &places).map_err(Error::Names)?;
            *profiles[number] = named;
        }
        Ok(())
    }

    /// Whether a profile has code without names that a binary may have.
    pub(super) fn concern(&self, profile: &Profile) -> bool {
        self.wanted && has_unnamed_code(profile)
    }

    /// A warning about the share of code without names, if it is large enough and something can be done about
    /// it. Each profile comes with the number of the metric that the share is of.
    pub(super) fn warning<'p>(&self, profiles: impl Iterator<Item = (&'p Profile, usize)>) -> Option<String> {
        if !self.wanted {
            return None;
        }
        let mut profiles = profiles.peekable();
        let metric = profiles.peek().map(|(profile, metric)| profile.meta.metrics[*metric].name.clone())?;
        describe(&unresolved(profiles), &metric)
    }
}

/// Whether a profile has code without names that a binary or a source map may have.
fn may_have_names(profile: &Profile) -> bool {
    has_unnamed_code(profile) || has_scripts(profile)
}

/// Whether a profile has code without names that a binary may have.
fn has_unnamed_code(profile: &Profile) -> bool {
    let may_have_names = |mapping| has_file(profile, mapping) || kernel::is_of_kernel(profile, mapping);
    profile.calls.is_none() && unnamed_mappings(profile).into_iter().any(may_have_names)
}

/// The addresses without names, by binary.
fn spots<'p>(profiles: impl Iterator<Item = &'p Profile>) -> BTreeMap<Key, Vec<Spot>> {
    let mut spots: BTreeMap<Key, Vec<Spot>> = BTreeMap::new();
    for (number, profile) in profiles.enumerate().filter(|(_, profile)| profile.calls.is_none()) {
        for (mapping, addresses) in unnamed_addresses(profile, |mapping| has_file(profile, mapping)) {
            let (file, build_id) = file_and_id(profile, mapping);
            let of_mapping = addresses.into_iter().map(|address| (number, mapping, address));
            spots.entry((file.to_string(), build_id.to_string())).or_default().extend(of_mapping);
        }
    }
    spots
}

/// Whether the code of a mapping is in a file that may be found.
fn has_file(profile: &Profile, mapping: MappingId) -> bool {
    let (file, build_id) = file_and_id(profile, mapping);
    // The file of a module does not say where its functions are in memory.
    kernel::module(profile, mapping).is_none()
        && (is_file_path(file) || (file.is_empty() || file == LENT_BY_KERNEL) && !build_id.is_empty())
}

fn file_and_id(profile: &Profile, mapping: MappingId) -> (&str, &str) {
    let symbols = &profile.symbols;
    let row = symbols.mappings[mapping];
    (symbols.strings.get(row.file), symbols.strings.get(row.build_id))
}

/// Looks up each address in a binary once, and adds the results to the places of each profile.
fn look_up(
    files: &Files,
    spots: &[Spot],
    profiles: &[&mut Profile],
    places: &mut BTreeMap<usize, CodePlaces>,
) {
    let address = |spot: &Spot| spot_in_file(spot, profiles);
    let mut wanted: Vec<Address> = spots.iter().filter_map(address).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let found = functions(files, &wanted);
    let known: HashMap<Address, &Vec<CodePlace>> = wanted.iter().copied().zip(&found).collect();
    for spot in spots {
        let at = address(spot).and_then(|address| known.get(&address).copied());
        if let Some(at) = at.filter(|at| !at.is_empty()) {
            places.entry(spot.0).or_default().insert((spot.1, spot.2), at.clone());
        }
    }
}

fn spot_in_file(&(number, mapping, address): &Spot, profiles: &[&mut Profile]) -> Option<Address> {
    let mapping: &Mapping = &profiles[number].symbols.mappings[mapping];
    address_in_file(mapping, address)
}

/// So many of the names that a profile has in a binary are compared with what the binary says.
const MOST_COMPARED: usize = 256;

/// Takes out the spots of profiles whose names contradict a binary, which is another build of it then, and
/// returns a warning for each of these profiles. Builds may differ between profiles: `diff` has two sides.
fn refuse(
    files: &Files,
    spots: &mut Vec<Spot>,
    profiles: &[&mut Profile],
    named: &mut BTreeMap<usize, NamedAddresses>,
) -> Vec<(usize, String)> {
    let mut numbers: Vec<usize> = spots.iter().map(|spot| spot.0).collect();
    numbers.dedup();
    let mut refused = Vec::new();
    for number in numbers {
        let named = named.entry(number).or_insert_with(|| named_addresses(profiles[number]));
        let mut mappings: Vec<MappingId> =
            spots.iter().filter(|spot| spot.0 == number).map(|spot| spot.1).collect();
        mappings.dedup();
        if let Some(found) = contradicts(files, number, &mappings, named, profiles) {
            spots.retain(|spot| spot.0 != number);
            refused.push((number, describe_contradiction(files, &found)));
        }
    }
    refused
}

fn contradicts(
    files: &Files,
    number: usize,
    mappings: &[MappingId],
    named: &NamedAddresses,
    profiles: &[&mut Profile],
) -> Option<Contradiction> {
    let of_mapping =
        |&mapping: &MappingId| named.get(&mapping).into_iter().flatten().map(move |at| (mapping, at));
    let count: usize = mappings.iter().filter_map(|mapping| named.get(mapping)).map(BTreeMap::len).sum();
    let known = mappings.iter().flat_map(of_mapping).step_by(count.div_ceil(MOST_COMPARED).max(1));
    let (addresses, names): (Vec<Address>, Vec<(u64, &Vec<_>)>) = known
        .filter_map(|(mapping, (&address, functions))| {
            let in_file = spot_in_file(&(number, mapping, address), profiles)?;
            Some((in_file, (address, functions)))
        })
        .unzip();
    if addresses.is_empty() {
        return None;
    }
    let found = functions(files, &addresses);
    let symbols = &profiles[number].symbols;
    contradiction(names.into_iter().zip(&found).map(|((address, functions), places)| {
        let names = functions.iter().map(|&function| symbols.function_name(function)).collect();
        (address, names, &places[..])
    }))
}

/// Why a binary is another build than the one recorded, judged by the names that a profile has in the mappings of these spots.
pub(super) fn contradiction_of(
    files: &Files,
    profile: &Profile,
    spots: &[(MappingId, u64)],
) -> Option<String> {
    let named = named_addresses(profile);
    let mut mappings: Vec<MappingId> = spots.iter().map(|spot| spot.0).collect();
    mappings.sort_unstable();
    mappings.dedup();
    let found = contradicts(files, 0, &mappings, &named, &[&mut profile.clone()])?;
    Some(describe_contradiction(files, &found))
}

fn describe_contradiction(files: &Files, found: &Contradiction) -> String {
    let Contradiction { compared, different, address, recorded, found } = found;
    format!(
        "{} is another build than the one recorded, and gives no names: at {different} of {compared} addresses \
         it does not have the function that the profile names, such as {recorded} at {address:#x}, where it \
         has {found}",
        files.binary.display()
    )
}

fn describe_unproven(files: &[String]) -> String {
    let named = first_of(files.iter().map(|file| base_name(file)), NAMED, ", ");
    format!(
        "names were not looked up in this machine's {named}: the profile has no build ID to prove that it is the \
         recorded build; if it is, use --binary PATH"
    )
}

/// The functions at addresses of a binary; none if the file is gone by now.
fn functions(files: &Files, addresses: &[Address]) -> Vec<Vec<CodePlace>> {
    let in_binary = files.with_debug_files(|binary, debug| binary::functions(binary, debug, addresses));
    let Some(mut found) = files.in_pdb(addresses) else { return in_binary.unwrap_or_default() };
    // What the PDB file lacks, the program may have: the functions that a library offers to others.
    for (place, other) in found.iter_mut().zip(in_binary.unwrap_or_default()) {
        if place.is_empty() {
            *place = other;
        }
    }
    found
}

/// A smaller share without names is not worth a warning.
const SMALL: f64 = 0.01;

/// The number of binaries that a warning names.
const NAMED: usize = 3;

fn describe(found: &Unresolved, metric: &str) -> Option<String> {
    let share = |value: i64| value as f64 / found.whole.max(1) as f64;
    if share(found.total) < SMALL {
        return None;
    }
    let percent = |value: i64| format!("{:.1}%", 100.0 * share(value));
    let mut heaviest: Vec<String> = Vec::new();
    for binary in found.binaries.iter().take(NAMED) {
        let name = if binary.file.is_empty() { "unknown binaries" } else { base_name(&binary.file) };
        let own =
            if binary.self_value == 0 { String::new() } else { format!(" {}", percent(binary.self_value)) };
        heaviest.push(format!("{name}{own}"));
    }
    let others = found.binaries.len().saturating_sub(NAMED);
    if others > 0 {
        heaviest.push(format!("{others} more"));
    }
    let [own, total] = [found.self_value, found.total].map(percent);
    let heaviest = heaviest.join(", ");
    let mut text = if own == total {
        format!("functions without names have {own} of {metric} in the whole profile: {heaviest}")
    } else {
        format!("code without names: self {own}, total {total} of {metric} in the whole profile ({heaviest})")
    };
    if found.binaries.iter().any(|binary| is_file_path(&binary.file)) {
        text.push_str("; name the binaries, or a folder of them, with --binary PATH");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use crate::profile::from_notation;
    use crate::transform::FRAMES_REBUILT;

    /// A profile with one frame in each of `count` binaries.
    fn profile(count: usize) -> Profile {
        // Where `order` is, as nm has it.
        let lines = (0..count).map(|number| format!("!/srv/lib{number}.so+0x11b0 1"));
        from_notation(&lines.collect::<Vec<_>>().join("\n"))
    }

    /// A profile as samply records it on Windows: addresses count from the start of the program, and the ID is that of the PDB file.
    #[test]
    fn names_come_from_pdb_files() {
        use crate::profile::{Addresses, Frame, LabelSetId, LoadOptions, ProfileBuilder};

        let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols");
        let id = "CDBC63032CEB15BB4C4C44205044422E";
        for (id, binaries, is_named) in [
            (id, vec![fixtures.clone()], true),
            (id, vec![fixtures.join("shop.exe")], true),
            (id, vec![fixtures.join("shop.pdb")], true),
            ("", vec![fixtures.join("shop.pdb")], true),
            ("00BC63032CEB15BB4C4C44205044422E", vec![fixtures.clone()], false),
        ] {
            let mut builder = ProfileBuilder::new("test", LoadOptions::default());
            builder.metric("samples", "count");
            let (file, build_id) = (builder.string("C:\\srv\\shop.exe"), builder.string(id));
            let addresses = Addresses::Image;
            let mapping = builder.mapping(Mapping { file, build_id, addresses, ..Mapping::default() });
            let function = builder.unnamed_function(mapping);
            let frame = Frame { function, address: 0x1029, mapping, ..Frame::default() };
            let frame = builder.frame(frame);
            let stack = builder.stack(&[frame]);
            builder.sample(stack, LabelSetId::default(), None, &[1]);
            let mut profile = builder.finish().unwrap();
            let arguments = Symbols { binaries, ..Symbols::default() };
            arguments.apply(iter::once(&mut profile), &unobserved()).unwrap();
            let stack = profile.stack_ids().last().unwrap();
            let name = profile.symbols.frame_name(profile.stacks.frames(stack)[0]);
            assert_eq!(name, if is_named { "shop::shop::discount" } else { "[shop.exe]" }, "{id}");
        }
    }

    #[test]
    fn a_warning_tells_self_from_stacks() {
        use crate::transform::UnresolvedBinary;

        let text = |self_value, total, file: &str| {
            let binaries = vec![UnresolvedBinary { file: file.into(), self_value, total }];
            describe(&Unresolved { whole: 1000, self_value, total, binaries }, "cpu")
        };
        let expected =
            "code without names: self 0.0%, total 100.0% of cpu in the whole profile (unknown binaries)";
        assert_eq!(text(0, 1000, "").unwrap(), expected);
        let expected = "functions without names have 20.0% of cpu in the whole profile: x.so 20.0%; name the binaries, or a folder of them, with --binary PATH";
        assert_eq!(text(200, 200, "/srv/x.so").unwrap(), expected);
        assert_eq!(text(2, 2, ""), None);
    }

    fn unobserved() -> Arc<dyn Observer> {
        Arc::new(crate::load::Unobserved)
    }

    /// `fixtures/symbols/split-5` was compiled in a folder that does not exist here, so its parts are looked for next to it.
    #[test]
    fn parts_of_debug_information_are_found_next_to_the_binary() {
        let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols");
        for binary in ["split-5", "split-4"] {
            let mut profile = from_notation(&format!("!/nowhere/{binary}+0x11e4 1"));
            let arguments = Symbols { binaries: vec![fixtures.join(binary)], ..Symbols::default() };
            arguments.apply(iter::once(&mut profile), &unobserved()).unwrap();
            let names: Vec<&str> = profile
                .stacks
                .frames(profile.stack_ids().last().unwrap())
                .iter()
                .map(|&frame| profile.symbols.frame_name(frame))
                .collect();
            assert_eq!(names, ["other", "mix", "shift"], "{binary}");
        }
    }

    #[test]
    fn twice_the_binaries_is_at_most_twice_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/symbols");
        let binary = fixtures.join("sorting");
        std::fs::copy(fixtures.join("sorting.debug"), folder.path().join("sorting.debug")).unwrap();
        for number in 0..16 {
            std::fs::copy(&binary, folder.path().join(format!("lib{number}.so"))).unwrap();
        }
        let arguments = Symbols { binaries: vec![folder.path().to_path_buf()], ..Symbols::default() };
        let steps = |count: usize| {
            let mut profile = profile(count);
            let before = FRAMES_REBUILT.get();
            arguments.apply(iter::once(&mut profile), &unobserved()).unwrap();
            assert!(unnamed_mappings(&profile).is_empty());
            FRAMES_REBUILT.get() - before
        };
        assert_eq!(steps(8), 8);
        assert_eq!(steps(16), 16);
    }
}
