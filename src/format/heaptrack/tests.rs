use super::*;
use crate::profile::{LoadOptions, to_notation};

fn load(text: &str) -> Result<Profile, LoadError> {
    assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
    read(&mut Source::from_bytes(text.into()), LoadOptions::default())
}

const V3: &str = include_str!("../../../tests/hostile/seeds/heaptrack/v3.txt");
const V1: &str = include_str!("../../../tests/hostile/seeds/heaptrack/v1.txt");
const V0: &str = include_str!("../../../tests/hostile/seeds/heaptrack/v0.txt");
const RAW: &str = include_str!("../../../tests/hostile/seeds/heaptrack/raw.txt");

#[test]
fn costs_by_stack() {
    let profile = load(V3).unwrap();
    let names: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
    assert_eq!(names, ["allocations", "alloc_space", "temporary", "peak", "leaked"]);
    // As `heaptrack_print` says: the kind 0 was released twice, once right after another release.
    let expected = "main@shop.cc:10;<unknown> 1 8 1 0 0\n\
        main@shop.cc:10;fill@shop.cc:30;+append@shop.cc:32;operator new(unsigned long) 3 300 2 200 100\n\
        main@shop.cc:10;known_leak 1 10 0 0 0";
    assert_eq!(to_notation(&profile), expected);
    assert_eq!(profile.meta.duration_ns, Some(20_000_000));
    assert_eq!(
        profile.meta.comments,
        ["/srv/shop --all", "10 leaked bytes are suppressed: not counted, as in heaptrack's reports"]
    );
    assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
}

#[test]
fn old_versions_have_lines_as_strings_and_pointers() {
    let profile = load(V1).unwrap();
    assert_eq!(to_notation(&profile), "main 2 32 1 32 16");
    let module = profile.symbols.mappings.ids().last().unwrap();
    assert_eq!(profile.symbols.mapping_file(module), "/srv/my shop");
    // The release of a pointer that is not known is ignored; the last allocation is temporary.
    assert_eq!(to_notation(&load(V0).unwrap()), "main 3 64 1 48 32");
}

#[test]
fn raw_recordings_have_addresses_within_modules() {
    let profile = load(RAW).unwrap();
    assert_eq!(
        to_notation(&profile),
        "[libc.so];[shop] 1 32 0 32 32\n[libc.so];[shop] 2 32 1 16 0\n[shop] 1 5 0 0 5"
    );
    let symbols = &profile.symbols;
    let mut places: Vec<(&str, u64)> = symbols
        .frames
        .ids()
        .map(|frame| &symbols.frames[frame])
        .map(|frame| (symbols.mapping_file(frame.mapping), frame.address))
        .collect();
    places.sort_unstable();
    // The same code at another place in memory is the same frame.
    assert_eq!(places, [("/lib/libc.so", 0x100), ("/srv/shop", 0x1010), ("/srv/shop", 0x1020)]);
}

#[test]
fn truncated_and_unknown_files_are_told() {
    let cut = load(&V3[..V3.len() - 30]).unwrap();
    assert_eq!(cut.meta.warnings, ["file is truncated: heaptrack's last lines are missing"]);
    let error = load(&V3.replacen("10550 3", "10550 4", 1)).unwrap_err().to_string();
    assert_eq!(error, "heaptrack: unsupported version 4; versions up to 3 are supported (line 1)");
    let error = load("v 10550 3\nX ./shop\n? 1\n? 2\n? 3\n").unwrap_err().to_string();
    assert_eq!(error, "heaptrack: not a line of heaptrack's format (line 3)");
    assert_eq!(sniff(b"v 1.0\nvn 0 0 1\n"), Confidence::No);
}
