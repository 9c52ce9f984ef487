//! Symbolization: compared with GNU addr2line, with binaries in several places, and with corrupt ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prof::binary::{Address, Binary, CodePlace, DebugFiles, SplitPart, functions};
use prof::name::demangle;

use crate::support::fixture;

/// The fixtures: a binary, and the file to which its debug information was moved.
const BINARIES: &[(&str, Option<&str>)] =
    &[("sorting", Some("sorting.debug")), ("shapes", None), ("libprices.so", None)];

fn bytes(name: &str) -> Vec<u8> {
    fs::read(fixture("symbols").join(name)).unwrap()
}

/// A function, its source file, and the line (0 if unknown).
type Line = (String, String, u32);

/// What `addr2line -a -f -i` printed: for each address, functions innermost first.
fn addr2line(name: &str) -> Vec<(u64, Vec<Line>)> {
    let text = String::from_utf8(bytes(&format!("{name}.addr2line"))).unwrap();
    let mut found: Vec<(u64, Vec<Line>)> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(address) = line.strip_prefix("0x") {
            found.push((u64::from_str_radix(address, 16).unwrap(), Vec::new()));
            continue;
        }
        let place = lines.next().unwrap().split(" (discriminator").next().unwrap();
        let (file, number) = place.rsplit_once(':').unwrap();
        let file = if file == "??" { "" } else { file };
        // If debug information has no linkage name, addr2line prints the symbol, including suffixes of copies.
        let name = demangle(line).into_owned();
        let name = name.split("(int) [clone").next().unwrap().to_string();
        let line = (name, file.to_string(), number.parse().unwrap_or(0));
        found.last_mut().unwrap().1.push(line);
    }
    found
}

fn look_up(binary: &[u8], debug: Option<&[u8]>, addresses: &[Address]) -> Vec<Vec<CodePlace>> {
    let Ok(binary) = Binary::parse(binary) else { return Vec::new() };
    let debug = debug.and_then(|debug| Binary::parse(debug).ok());
    functions(&binary, &DebugFiles { debug: debug.as_ref(), ..DebugFiles::NONE }, addresses)
}

#[test]
fn functions_and_lines_agree_with_addr2line() {
    for &(name, debug) in BINARIES {
        let expected = addr2line(name);
        let addresses: Vec<Address> = expected.iter().map(|&(address, _)| Address::Linked(address)).collect();
        let found = look_up(&bytes(name), debug.map(bytes).as_deref(), &addresses);
        for ((address, want), found) in expected.into_iter().zip(found) {
            let found: Vec<Line> =
                found.into_iter().map(|place| (place.function, place.file, place.line)).collect();
            assert_eq!(found, want, "{name} {address:#x}");
        }
    }
}

/// The debug information of one program in files of its own, packed, or shared with another program: always the same answers.
#[test]
fn debug_information_in_other_files_agrees_with_addr2line() {
    let expected = addr2line("split");
    let addresses: Vec<Address> = expected.iter().map(|&(address, _)| Address::Linked(address)).collect();
    for (name, package, common) in [
        ("split-5", None, None),
        ("split-5", Some("split-5.dwp"), None),
        ("split-5", Some("split-5.dwp"), None),
        ("split-4", Some("split-4.dwp"), None),
        ("shared", None, Some("shared.debug")),
    ] {
        let binary = bytes(name);
        let [package, common] = [package, common].map(|name| name.map(bytes));
        let [package, common] =
            [&package, &common].map(|bytes| bytes.as_deref().map(|bytes| Binary::parse(bytes).unwrap()));
        let part = |path: &str| {
            assert!(package.is_none(), "{path} is in the package");
            assert!(package.is_none(), "{path} is in the package");
            let name = path.strip_prefix("/srv/split/").unwrap();
            assert!(["split-5.dwo", "other-5.dwo"].contains(&name), "{path}");
            SplitPart::of(&Binary::parse(&*bytes(name)).unwrap())
        };
        let files =
            DebugFiles { debug: None, common: common.as_ref(), package: package.as_ref(), part: &part };
        let found = functions(&Binary::parse(&*binary).unwrap(), &files, &addresses);
        for ((address, want), found) in expected.iter().zip(found) {
            let found: Vec<Line> =
                found.into_iter().map(|place| (place.function, place.file, place.line)).collect();
            assert_eq!(found, *want, "{name} {address:#x}");
        }
        if name == "shared" {
            continue;
        }
        // What belongs to another program is not used.
        let wrong = |_: &str| SplitPart::of(&Binary::parse(&*bytes("other-5.dwo")).unwrap());
        let files = DebugFiles { part: &wrong, ..DebugFiles::NONE };
        let crunch = expected.iter().find(|(_, lines)| lines.len() == 2 && lines[1].0 == "crunch").unwrap();
        let found = functions(&Binary::parse(&*binary).unwrap(), &files, &[Address::Linked(crunch.0)]);
        assert_eq!(found[0].len(), 1, "{name} {found:?}");
    }
}

#[test]
fn functions_start_at_their_line_in_the_source() {
    let at = |name: &str, debug: Option<&str>, address| {
        let found = look_up(&bytes(name), debug.map(bytes).as_deref(), &[Address::Linked(address)]);
        found[0].iter().map(|place| (place.function.clone(), place.start_line)).collect::<Vec<_>>()
    };
    let crunch = addr2line("sorting").into_iter().find(|(_, lines)| lines.len() == 3).unwrap().0;
    let want = [("mix", 5), ("twice", 10), ("crunch", 13)];
    assert_eq!(
        at("sorting", Some("sorting.debug"), crunch),
        want.map(|(name, line)| (name.to_string(), line))
    );
}

#[test]
fn file_offsets_are_converted_to_addresses() {
    // In this library, addresses of code differ from its offsets in the file.
    let library = bytes("libprices.so");
    let found =
        look_up(&library, None, &[Address::File(0x400), Address::Image(0x1400), Address::Linked(0x1400)]);
    assert!(found[0].iter().any(|place| place.function == "basket_total"), "{found:?}");
    assert!(found.iter().all(|places| *places == found[0]), "{found:?}");
    // There is nothing after the last segment.
    assert_eq!(look_up(&library, None, &[Address::File(1 << 40)]), [[]]);
}

#[test]
fn a_stripped_binary_only_has_its_exported_functions() {
    let found = look_up(&bytes("sorting"), None, &[Address::Linked(0x1100), Address::Linked(u64::MAX)]);
    assert_eq!(found, [[], []]);
}

/// A random number generator that produces the same corrupt binaries on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn corrupt_binaries_do_not_panic_or_hang() {
    let (mut random, mut found) = (Random(1), 0);
    for &(name, debug) in BINARIES {
        let (whole, debug) = (bytes(name), debug.map(bytes));
        let mut addresses: Vec<Address> = addr2line(name)
            .into_iter()
            .flat_map(|(address, _)| {
                [Address::Linked(address), Address::File(address), Address::Image(address)]
            })
            .step_by(7)
            .collect();
        addresses.extend([Address::Linked(u64::MAX), Address::Image(u64::MAX), Address::File(u64::MAX)]);
        for _ in 0..300 {
            let (mut binary, mut debug) = (whole.clone(), debug.clone());
            for _ in 0..=random.below(8) {
                for bytes in [Some(&mut binary), debug.as_mut()].into_iter().flatten() {
                    let at = random.below(bytes.len());
                    bytes[at] = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(6)];
                }
            }
            if random.below(8) == 0 {
                binary.truncate(random.below(whole.len()));
            }
            let places = look_up(&binary, debug.as_deref(), &addresses);
            assert!(places.is_empty() || places.len() == addresses.len(), "{name}");
            found += places.iter().flatten().count();
        }
    }
    assert!(found > 1000, "most of the binary is still readable: {found}");
}

fn prof(arguments: &[&str], search: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prof"));
    command
        .args(arguments)
        .env_remove("PROF_BINARY_PATH")
        .env_remove("PROF_PROFILE")
        .env_remove("DEBUGINFOD_URLS");
    // perf keeps copies of what it recorded in the home folder.
    command.env("HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(path) = search {
        command.env("PROF_BINARY_PATH", path);
    }
    command.output().unwrap()
}

/// The name and self value of each function that `top` shows.
fn top(profile: &str, options: &[&str], search: Option<&Path>) -> (Vec<(String, i64)>, String) {
    let profile = fixture("symbols").join(profile).to_string_lossy().into_owned();
    let output = prof(&[&["top", "-f", "json", &profile], options].concat(), search);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = |row: &serde_json::Value| {
        (row["function"].as_str().unwrap().to_string(), row["self"].as_i64().unwrap())
    };
    (report["rows"].as_array().unwrap().iter().map(row).collect(), errors)
}

fn names(rows: &[(String, i64)]) -> Vec<&str> {
    rows.iter().map(|(name, _)| name.as_str()).collect()
}

/// An empty folder that is removed after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn copy(&self, fixture_name: &str, to: &str) -> PathBuf {
        let to = self.0.join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(fixture("symbols").join(fixture_name), &to).unwrap();
        to
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const BUILD_ID: &str = "730bced02b1084335fc406e5f3fbf7e59e28ed09";

#[test]
fn binaries_are_found_by_name_build_id_and_path() {
    let found = |profile: &str, options: &[&str], search: Option<&Path>| {
        let (rows, errors) = top(profile, options, search);
        let named = names(&rows).contains(&"order") && names(&rows).contains(&"sort_some");
        assert_ne!(named, names(&rows).contains(&"[sorting]"), "{rows:?} {errors}");
        named
    };
    let fixtures = fixture("symbols");
    let binary = fixtures.join("sorting");
    assert!(!found("sorting.pb.gz", &[], None));
    for place in [&binary, &fixtures] {
        assert!(found("sorting.pb.gz", &["--binary", place.to_str().unwrap()], None));
    }
    assert!(found("sorting.pb.gz", &[], Some(&fixtures)));
    assert!(!found("sorting.pb.gz", &["--symbolize", "never"], Some(&fixtures)));
    // Under another name, it can only be found by its build id, which the perf.data file has.
    let by_id = Folder::new("by-id");
    let renamed = by_id.copy("sorting", "renamed");
    by_id.copy("sorting.debug", &format!(".build-id/{}/{}.debug", &BUILD_ID[..2], &BUILD_ID[2..]));
    for place in [&by_id.0, &renamed] {
        assert!(found("sorting.perf.data", &["--binary", place.to_str().unwrap()], Some(&by_id.0)));
        assert!(!found("sorting.pb.gz", &["--binary", place.to_str().unwrap()], None));
    }
    // A folder may contain files of another machine under their original paths.
    let root = Folder::new("root");
    root.copy("sorting", "srv/sorting/sorting");
    root.copy("sorting.debug", "srv/sorting/.debug/sorting.debug");
    // Debug information of macOS is in a bundle, which may be named itself.
    let (alone, bundles) = (Folder::new("alone"), Folder::new("bundles"));
    let binary = alone.copy("sorting", "sorting");
    bundles.copy("sorting.debug", "sorting.dSYM/Contents/Resources/DWARF/sorting");
    let binary = binary.to_str().unwrap();
    assert!(!found("sorting.perf.data", &["--binary", binary], None));
    for place in [bundles.0.clone(), bundles.0.join("sorting.dSYM")] {
        assert!(found("sorting.perf.data", &["--binary", binary, "--binary", place.to_str().unwrap()], None));
    }
    assert!(found("sorting.pb.gz", &["--binary", root.0.to_str().unwrap()], None));
}

/// `perf record` keeps copies of what it recorded.
#[test]
fn binaries_are_found_in_the_cache_of_perf() {
    let home = Folder::new("home");
    home.copy("sorting", &format!(".debug/.build-id/{}/{}/elf", &BUILD_ID[..2], &BUILD_ID[2..]));
    home.copy("sorting.debug", &format!(".debug/.build-id/{}/{}/debug", &BUILD_ID[..2], &BUILD_ID[2..]));
    let recording = fixture("symbols").join("sorting.perf.data");
    let top = crate::support::prof(&home.0, &["top", recording.to_str().unwrap()])
        .env("HOME", &home.0)
        .env_remove("PROF_BINARY_PATH")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&top.stdout);
    assert!(text.contains("order") && text.contains("sorting.c") && !text.contains("[sorting]"), "{text}");
}

/// `nm` of the binary before it was stripped: `mix` at 401010, `descend` at 401040.
#[test]
fn stripped_binaries_may_have_their_symbols_in_a_packed_section() {
    let name = |binary: &[u8], address: u64| {
        let found = look_up(binary, None, &[Address::Linked(address)]);
        found[0].first().map(|place| place.function.clone())
    };
    let whole = bytes("unwinding.mini");
    assert_eq!(name(&whole, 0x40_1010).as_deref(), Some("mix"));
    assert_eq!(name(&whole, 0x40_1040).as_deref(), Some("descend"));
    // Corrupt sections give no names.
    let magic = whole.windows(6).position(|bytes| bytes == b"\xFD7zXZ\0").unwrap();
    for at in magic..magic + 468 {
        for byte in [0, 0x7F, 0xFF] {
            let mut corrupt = whole.clone();
            corrupt[at] = byte;
            let found = name(&corrupt, 0x40_1010);
            assert!(found.is_none() || found.as_deref() == Some("mix"), "{at}: {found:?}");
        }
    }
}

#[test]
fn addresses_in_firefox_profiles_are_relative_to_the_image() {
    // The address of `order` as nm has it; the library's own start is 0.
    let folder = Folder::new("firefox");
    let text = r#"{"meta": {"preprocessedProfileVersion": 49, "interval": 1},
        "libs": [{"name": "sorting", "path": "/srv/sorting/sorting", "codeId": "BUILD_ID"}],
        "threads": [{"name": "main", "stringArray": ["0x11b0"],
            "resourceTable": {"lib": [0], "name": [0]},
            "funcTable": {"name": [0], "isJS": [false], "resource": [0]},
            "frameTable": {"address": [4528], "func": [0]},
            "stackTable": {"prefix": [null], "frame": [0]},
            "samples": {"weightType": "samples", "stack": [0], "time": [1], "weight": null}}]}"#;
    let path = folder.0.join("profile.json");
    fs::write(&path, text.replace("BUILD_ID", BUILD_ID)).unwrap();
    let fixtures = fixture("symbols");
    let (rows, errors) =
        top(path.to_str().unwrap(), &["-m", "samples", "--binary", fixtures.to_str().unwrap()], None);
    assert_eq!((names(&rows), errors.as_str()), (vec!["order"], ""));
}

/// Output of `perf script` from another machine contains paths that also exist here, without evidence that the files are
/// the same.
#[test]
fn a_file_with_the_same_path_is_not_trusted_without_evidence() {
    let folder = Folder::new("unproven");
    let here = folder.copy("sorting", "sorting");
    folder.copy("sorting.debug", "sorting.debug");
    let text = format!("app 1 2.5: 1 cycles: \n\t 11b0 [unknown] ({})\n\n", here.display());
    let path = folder.0.join("perf.txt");
    fs::write(&path, text).unwrap();
    let profile = path.to_str().unwrap();
    let (rows, errors) = top(profile, &[], None);
    assert_eq!(names(&rows), ["[sorting]"]);
    assert!(errors.contains("names were not looked up in this machine's sorting"), "{errors}");
    let (rows, errors) = top(profile, &["--binary", here.to_str().unwrap()], None);
    assert_eq!((names(&rows), errors.as_str()), (vec!["order"], ""));
}

/// A binary given by the user is not used either if the profile names functions that it has at other addresses. (`nm`:
/// `order` is at 11b0, `main` at 1070.)
#[test]
fn a_binary_that_contradicts_the_names_of_the_profile_is_not_used() {
    let folder = Folder::new("contradicted");
    let here = folder.copy("sorting", "sorting");
    folder.copy("sorting.debug", "sorting.debug");
    let read = |name: &str| {
        let module = here.display();
        let text =
            format!("app 1 2.5: 1 cycles: \n\t 11b0 [unknown] ({module})\n\t 1090 {name} ({module})\n\n");
        let path = folder.0.join("perf.txt");
        fs::write(&path, text).unwrap();
        top(path.to_str().unwrap(), &["--binary", here.to_str().unwrap()], None)
    };
    let (rows, errors) = read("main");
    assert_eq!((names(&rows), errors.as_str()), (vec!["order", "main"], ""));
    let (rows, errors) = read("parse");
    assert_eq!(names(&rows), ["[sorting]", "parse"]);
    let warning = format!("{} is another build than the one recorded, and gives no names", here.display());
    assert_eq!(errors.matches(&warning).count(), 1, "{errors}");
    assert!(errors.contains("parse at 0x1090, where it has main"), "{errors}");
}

#[test]
fn another_build_is_rejected() {
    let other = Folder::new("other-build");
    let path = other.copy("shapes", "sorting");
    let (rows, errors) = top("sorting.perf.data", &["--binary", path.to_str().unwrap()], None);
    assert!(names(&rows).contains(&"[sorting]"), "{rows:?}");
    let id = Binary::parse(&bytes("shapes")[..]).unwrap().build_id().unwrap().to_string();
    assert!(errors.contains(&id) && errors.contains(BUILD_ID), "{errors}");
    // Its C library has names if this machine has the same one, which is in another sentence.
    let warnings = ["functions without names have ", "code without names: "];
    assert_eq!(warnings.map(|text| errors.matches(text).count()).iter().sum::<usize>(), 1, "{errors}");
}

#[test]
fn symbolization_does_not_change_values() {
    let fixtures = fixture("symbols");
    for profile in ["sorting.perf.data", "sorting.prof", "sorting.pb.gz"] {
        let sum = |rows: &[(String, i64)]| rows.iter().map(|(_, value)| value).sum::<i64>();
        let (bare, _) = top(profile, &["--symbolize", "never"], None);
        let (named, _) = top(profile, &["--binary", fixtures.to_str().unwrap()], None);
        assert!(sum(&bare) > 0 && sum(&bare) == sum(&named), "{profile}: {bare:?} {named:?}");
        let of = |rows: &[(String, i64)], names: &[&str]| {
            rows.iter()
                .filter(|(name, _)| names.contains(&name.as_str()))
                .map(|(_, value)| value)
                .sum::<i64>()
        };
        let parts = ["order", "sort_some", "crunch", "twice", "mix", "main", "_start"];
        assert_eq!(of(&bare, &["[sorting]"]), of(&named, &parts), "{profile}");
    }
}

/// The kernel of the list starts 16 MiB later than the recorded one, as after another boot.
#[test]
fn kernel_code_is_named_by_a_list_of_its_symbols() {
    let folder = tempfile::tempdir().unwrap();
    let list = "ffffffff82000000 T _text\nffffffff82b98000 T clear_pages\nffffffff82b99000 T after\n";
    fs::write(folder.path().join("kallsyms-host"), list).unwrap();
    let recording = fixture("perf-data/rust.perf.data");
    let recording = recording.to_str().unwrap();
    let output = crate::support::prof(
        folder.path(),
        &["traces", "--all-frames", "--binary", "kallsyms-host", "--show-stacks", "clear_pages", recording],
    )
    .output()
    .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("clear_pages"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
