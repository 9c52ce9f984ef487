//! Names for the addresses of the kernel, which has no file, and of its modules: they are in the list of symbols of the kernel that
//! was recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::binary::{BuildId, CodePlace, KernelSymbols, kernel_start, same_build_id};
use crate::name::base_name;
use crate::profile::{MappingId, Profile};
use crate::transform::{CodePlaces, unnamed_addresses, unnamed_mappings};

/// perf's name for the kernel.
const KERNEL: &str = "[kernel.kallsyms]";

/// The symbols of the running kernel, and its build ID.
const RUNNING: &str = "/proc/kallsyms";
const NOTES: &str = "/sys/kernel/notes";

/// Whether a profile has kernel code without names.
pub(super) fn is_concerned(profile: &Profile) -> bool {
    profile.calls.is_none()
        && unnamed_mappings(profile).into_iter().any(|mapping| is_of_kernel(profile, mapping))
}

/// Whether a mapping is the kernel or one of its modules.
pub(super) fn is_of_kernel(profile: &Profile, mapping: MappingId) -> bool {
    profile.symbols.mapping_file(mapping) == KERNEL || module(profile, mapping).is_some()
}

/// The name of the module in a mapping: `[virtio]`, or `/lib/modules/6.1.0/kernel/drivers/virtio/virtio.ko.xz`.
pub(super) fn module(profile: &Profile, mapping: MappingId) -> Option<String> {
    let is_above_programs = profile.symbols.mappings[mapping].start >> 63 == 1;
    let file =
        Some(profile.symbols.mapping_file(mapping)).filter(|file| is_above_programs && *file != KERNEL)?;
    let bracketed = file.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let name = bracketed.or_else(|| base_name(file).split_once(".ko").map(|(name, _)| name))?;
    Some(name.replace('-', "_"))
}

/// Adds the functions at the kernel addresses of profile number `number`. A list that the user names is taken as it is; others
/// must be of the recorded build. Addresses are counted from the start of the kernel, because each boot may load it elsewhere.
pub(super) fn look_up(
    number: usize,
    profile: &Profile,
    given: &[PathBuf],
    places: &mut BTreeMap<usize, CodePlaces>,
) {
    if !is_concerned(profile) {
        return;
    }
    let mappings = &profile.symbols.mappings;
    let is_kernel = |mapping: &MappingId| {
        profile.symbols.mapping_file(*mapping) == KERNEL && mappings[*mapping].start != 0
    };
    let Some(row) = mappings.ids().find(is_kernel).map(|kernel| mappings[kernel]) else { return };
    let Some(text) = list(profile.symbols.strings.get(row.build_id), given) else { return };
    let Some(start) = kernel_start(&text) else { return };
    for (mapping, addresses) in unnamed_addresses(profile, |mapping| is_of_kernel(profile, mapping)) {
        let symbols = match module(profile, mapping) {
            // Each boot loads modules elsewhere, and the kernel, too.
            Some(module) if row.start == start => KernelSymbols::of_module(&text, &module),
            None if is_kernel(&mapping) => KernelSymbols::parse(&text),
            _ => None,
        };
        let Some(symbols) = symbols else { continue };
        for address in addresses {
            let in_list = address.wrapping_sub(row.start).wrapping_add(start);
            if let Some(name) = symbols.at(in_list) {
                let place = CodePlace { function: name.to_string(), ..CodePlace::default() };
                places.entry(number).or_default().insert((mapping, address), vec![place]);
            }
        }
    }
}

/// The symbols of the kernel with this build ID: named by the user, kept by `perf buildid-cache`, or those of the running one.
fn list(build_id: &str, given: &[PathBuf]) -> Option<String> {
    let is_list = |path: &&PathBuf| path.to_str().is_some_and(|path| base_name(path).starts_with("kallsyms"));
    if let Some(path) = given.iter().find(is_list) {
        return read(path);
    }
    if build_id.is_empty() {
        return None;
    }
    let kept = std::env::var_os("HOME").map(|home| {
        let folder = Path::new(&home).join(".debug").join(KERNEL).join(build_id.trim_end_matches("000000"));
        folder.join("kallsyms")
    });
    kept.and_then(|path| read(&path)).or_else(|| {
        let running = std::fs::read(NOTES).ok().and_then(|notes| note_id(&notes))?;
        same_build_id(build_id, &running).then(|| read(Path::new(RUNNING)))?
    })
}

fn read(path: &Path) -> Option<String> {
    let text = std::fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The build ID among ELF notes: the sizes of name and content, the kind, `GNU`, the ID.
fn note_id(notes: &[u8]) -> Option<BuildId> {
    const BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let (sizes, after) = rest.split_first_chunk::<12>()?;
        let number = |at: usize| u32::from_ne_bytes([sizes[at], sizes[at + 1], sizes[at + 2], sizes[at + 3]]);
        let (name_size, size, kind) = (number(0) as usize, number(4) as usize, number(8));
        let (name, after) = after.split_at_checked(name_size.checked_next_multiple_of(4)?)?;
        let (content, after) = after.split_at_checked(size.checked_next_multiple_of(4)?)?;
        if kind == BUILD_ID && name == b"GNU\0" {
            return BuildId::new(&content[..size]);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Frame, LabelSetId, LoadOptions, Mapping, ProfileBuilder, to_notation};
    use crate::transform::symbolize;

    fn profile(build_id: &str) -> Profile {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("samples", "count");
        let (file, build_id) = (builder.string(KERNEL), builder.string(build_id));
        let mapping = builder.mapping(Mapping { file, build_id, start: 0xFFFF_0000, ..Mapping::default() });
        let function = builder.unnamed_function(mapping);
        for address in [0xFFFF_0110, 0xFFFF_0010] {
            let frame = builder.frame(Frame { function, address, mapping, ..Frame::default() });
            let stack = builder.stack(&[frame]);
            builder.sample(stack, LabelSetId::default(), None, &[1]);
        }
        builder.finish().unwrap()
    }

    /// In the list, the kernel starts elsewhere than in the recording.
    #[test]
    fn addresses_are_counted_from_the_start_of_the_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kallsyms-6.1");
        std::fs::write(&path, "1000 T _text\n1100 T vfs_read\n1200 T _etext\n").unwrap();
        let named = |given: &[PathBuf]| {
            let profile = profile("0123456789abcdef");
            assert!(is_concerned(&profile));
            let mut places = BTreeMap::new();
            look_up(0, &profile, given, &mut places);
            to_notation(&symbolize(&profile, &places.remove(&0).unwrap_or_default()).unwrap())
        };
        assert_eq!(named(&[path]), "_text 1\nvfs_read 1");
        // The running kernel has another build ID.
        assert_eq!(named(&[]), "[kernel.kallsyms] 1\n[kernel.kallsyms] 1");
    }

    #[test]
    fn modules_have_names_if_the_list_is_of_the_same_boot() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("samples", "count");
        let start = 0xFFFF_FFFF_8100_0000;
        for (file, start, address) in [
            (KERNEL, start, start + 0x10),
            ("/lib/modules/6.1/kernel/virtio-net.ko.xz", 0xFFFF_FFFF_C000_0000, 0xFFFF_FFFF_C000_0018),
            ("[virtio]", 0xFFFF_FFFF_C000_1000, 0xFFFF_FFFF_C000_1000),
        ] {
            let file = builder.string(file);
            let mapping = builder.mapping(Mapping { file, start, ..Mapping::default() });
            let function = builder.unnamed_function(mapping);
            let frame = builder.frame(Frame { function, address, mapping, ..Frame::default() });
            let stack = builder.stack(&[frame]);
            builder.sample(stack, LabelSetId::default(), None, &[1]);
        }
        let profile = builder.finish().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let named = |text_start: &str| {
            let path = folder.path().join("kallsyms");
            let list = format!(
                "{text_start} T _text\n{text_start} T do_idle\nffffffff82000000 T _etext\n\
                 ffffffffc0000010 t xmit\t[virtio_net]\nffffffffc0000100 t probe\t[virtio_net]\n\
                 ffffffffc0001000 t init_queue\t[virtio]\n"
            );
            std::fs::write(&path, list).unwrap();
            let mut places = BTreeMap::new();
            look_up(0, &profile, std::slice::from_ref(&path), &mut places);
            to_notation(&symbolize(&profile, &places.remove(&0).unwrap_or_default()).unwrap())
        };
        assert_eq!(named("ffffffff81000000"), "do_idle 1\ninit_queue 1\nxmit 1");
        assert_eq!(named("ffffffff81200000"), "[virtio-net.ko.xz] 1\n[virtio] 1\ndo_idle 1");
    }

    #[test]
    fn the_id_is_in_a_note() {
        let notes = [6_u32, 4, 0].iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
        let notes = [&notes[..], b"Linux\0\0\0", &[1; 4]].concat();
        let id = [4_u32, 3, 3].iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
        let notes = [&notes[..], &id, b"GNU\0", &[0xAB, 0xCD, 0xEF, 0]].concat();
        assert_eq!(note_id(&notes).map(|id| id.to_string()), Some("abcdef".to_string()));
        assert!(note_id(&notes[..30]).is_none());
    }
}
