//! Imports go in one direction: each layer may use those above it in this list, never those below.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules of the crate, layer by layer. Modules of one layer may use each other only if `ALLOWED` says so.
const LAYERS: &[&[&str]] = &[
    &["unit", "name", "pattern", "report", "stats", "kind", "parallel"],
    &["profile", "binary"],
    &["format", "transform"],
    &["tree"],
    &["filter"],
    &["view", "output"],
    &["load"],
    &["cli"],
];

/// Exceptions: the user, and the module it may use.
const ALLOWED: &[(&str, &str)] = &[
    // Rows have the verdicts of the statistics.
    ("report", "stats"),
];

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for file in rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
        let module = module_of(&file);
        let Some(layer) = layer_of(&module) else { continue };
        let text = fs::read_to_string(&file).unwrap();
        for used in used_modules(&text) {
            let Some(used_layer) = layer_of(&used) else { continue };
            let meant = ALLOWED.contains(&(module.as_str(), used.as_str()));
            if used != module && used_layer >= layer && !meant {
                wrong.push(format!("{} uses crate::{used}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_layer() {
    let lib = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).unwrap();
    let modules = lib.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    let without_layer: Vec<&str> = modules.filter(|module| layer_of(module).is_none()).collect();
    assert!(without_layer.is_empty(), "not in the list of layers: {without_layer:?}");
}

/// Exceptions that are no longer needed must be removed.
#[test]
fn every_exception_is_used() {
    let files = rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
    for (module, used) in ALLOWED {
        let uses = |file: &&PathBuf| {
            module_of(file) == *module
                && used_modules(&fs::read_to_string(file).unwrap()).iter().any(|name| name == used)
        };
        assert!(files.iter().any(|file| uses(&file)), "{module} does not use {used}");
    }
}

/// Outputs see only reports and what these consist of.
#[test]
fn outputs_do_not_use_profiles() {
    for file in rust_files(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src/output"))) {
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            let is_hidden = ["profile", "binary", "format", "transform", "tree", "view", "cli"];
            assert!(!is_hidden.contains(&used.as_str()), "{} sees crate::{used}", file.display());
        }
    }
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

fn module_of(file: &Path) -> String {
    let below = file.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).unwrap();
    let first = below.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_string()
}

/// The modules that a file names as `crate::module`, not counting its tests.
fn used_modules(text: &str) -> Vec<String> {
    let production = text.split("#[cfg(test)]").next().unwrap_or_default();
    let after = production.split("crate::").skip(1);
    after.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

/// Whether a file holds only the tests of another file.
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
