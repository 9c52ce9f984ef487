//! What others wrote: justified in one table, under licences and from sources that are allowed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

fn names(table: &str) -> BTreeSet<String> {
    let manifest: toml::Table = root("Cargo.toml").parse().unwrap();
    manifest[table].as_table().unwrap().keys().cloned().collect()
}

#[test]
fn the_table_names_every_dependency_once() {
    let text = root("ARCHITECTURE.md");
    let (_, section) = text.split_once("## Dependencies").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| crate"));
    let words = rows.flat_map(|row| row.split('|').nth(1).unwrap().split([',', ' ']).map(str::trim));
    // "flate2 with zlib-rs" names a feature.
    let listed: Vec<String> =
        words.filter(|word| !["", "with", "zlib-rs"].contains(word)).map(str::to_string).collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unique.len(), listed.len(), "named twice: {listed:?}");
    let manifest: toml::Table = root("Cargo.toml").parse().unwrap();
    let targets = manifest["target"].as_table().unwrap().values();
    let of_targets = targets.flat_map(|target| target["dependencies"].as_table().unwrap().keys().cloned());
    assert_eq!(unique, names("dependencies").into_iter().chain(of_targets).collect());
    for name in names("dev-dependencies") {
        assert!(section.contains(&name), "{name} is not in ARCHITECTURE.md");
    }
}

/// The packages of this repository.
const OWN: [&str; 2] = [env!("CARGO_PKG_NAME"), "test-macros"];

#[test]
fn everything_comes_from_the_registry_with_a_checksum() {
    let lock: toml::Table = root("Cargo.lock").parse().unwrap();
    for package in lock["package"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        if OWN.contains(&name) {
            continue;
        }
        let source = package.get("source").and_then(toml::Value::as_str);
        assert_eq!(source, Some("registry+https://github.com/rust-lang/crates.io-index"), "{name}");
        assert!(package.get("checksum").is_some(), "{name}");
    }
}

/// As in `deny.toml`.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "Zlib",
    "CDDL-1.0",
    "ISC",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "CC0-1.0",
];

#[test]
fn licences_are_allowed() {
    let deny: toml::Table = root("deny.toml").parse().unwrap();
    let listed: Vec<&str> =
        deny["licenses"]["allow"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(listed, ALLOWED);
    let version = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(metadata.status.success(), "{}", String::from_utf8_lossy(&metadata.stderr));
    let metadata: Value = serde_json::from_slice(&metadata.stdout).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or_default();
        let is_allowed =
            |all: &str| all.split(" AND ").all(|one| ALLOWED.contains(&one.trim_matches(['(', ')', ' '])));
        assert!(
            is_allowed(licence)
                || licence.split(" OR ").any(is_allowed)
                || licence.split('/').any(is_allowed),
            "{}: {licence}",
            package["name"]
        );
    }
}
