//! Imports go one way: each layer may use those above it in this list, never those below.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of the crate, layer by layer. Rooms of one layer may use each other only where it says so.
const LAYERS: &[&[&str]] = &[
    &["unit", "name", "pattern", "report", "stats", "kind", "parallel"],
    &["profile", "binary"],
    &["format", "transform"],
    &["tree"],
    &["view", "output"],
    &["cli"],
];

/// Uses within a layer, and the few across, that are meant.
const ALLOWED: &[(&str, &str)] = &[
    // The verdict on a row is what the statistics found.
    ("report", "stats"),
];

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for file in rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
        let room = room_of(&file);
        let Some(layer) = layer_of(&room) else { continue };
        let text = fs::read_to_string(&file).unwrap();
        for used in used_rooms(&text) {
            let Some(used_layer) = layer_of(&used) else { continue };
            let meant = ALLOWED.contains(&(room.as_str(), used.as_str()));
            if used != room && used_layer >= layer && !meant {
                wrong.push(format!("{} uses crate::{used}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_has_a_layer() {
    let lib = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    let rooms = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let homeless: Vec<&str> = rooms.filter(|room| layer_of(room).is_none()).collect();
    assert!(homeless.is_empty(), "not in the list of layers: {homeless:?}");
}

/// What is not needed any more is not allowed any more.
#[test]
fn every_allowance_is_used() {
    let files = rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    for (room, used) in ALLOWED {
        let uses = |file: &&PathBuf| {
            room_of(file) == *room
                && used_rooms(&fs::read_to_string(file).unwrap()).iter().any(|name| name == used)
        };
        assert!(files.iter().any(|file| uses(&file)), "{room} does not use {used}");
    }
}

/// Outputs see reports, and what these are made of, only.
#[test]
fn outputs_never_see_profiles() {
    for file in rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/output"))) {
        for used in used_rooms(&fs::read_to_string(&file).unwrap()) {
            let is_hidden = ["profile", "binary", "format", "transform", "tree", "view", "cli"];
            assert!(!is_hidden.contains(&used.as_str()), "{} sees crate::{used}", file.display());
        }
    }
}

fn layer_of(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
}

fn room_of(file: &Path) -> String {
    let below = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_string()
}

/// The rooms that a file names as `crate::room`, tests aside.
fn used_rooms(text: &str) -> Vec<String> {
    let production = text.split("#[cfg(test)]").next().unwrap_or_default();
    let after = production.split("crate::").skip(1);
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// Whether a file holds nothing but the tests of another.
fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test(&path) {
                files.push(path);
            }
        }
    }
    files
}
