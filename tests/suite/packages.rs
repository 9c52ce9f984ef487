//! Packages: all have the same version and name files that exist, and each can be installed and run.

use std::fs;
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;

fn root(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
        .unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn toml(file: &str) -> toml::Table {
    root(file).parse().unwrap()
}

fn npm() -> Value {
    serde_json::from_str(&root("packages/npm/package.json")).unwrap()
}

/// The list of texts at a key of `Cargo.toml`'s package.
fn texts<'t>(package: &'t toml::Value, key: &str) -> Vec<&'t str> {
    package[key].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The version of the crate is either written there and nowhere else, or the same everywhere.
#[test]
fn versions_agree() {
    let version = env!("CARGO_PKG_VERSION");
    let pyproject = toml("pyproject.toml");
    assert!(texts(&pyproject["project"], "dynamic").contains(&"version"));
    assert!(pyproject["project"].get("version").is_none());
    assert!(npm().get("version").is_none(), "scripts/package.py adds the version of Cargo.toml");

    let flake = root("flake.nix");
    assert!(flake.contains("crate = (lib.importTOML ./Cargo.toml).package;"));
    assert!(flake.contains("inherit (crate) version;"));
    assert!(!Regex::new(r"\d+\.\d+\.\d+").unwrap().is_match(&flake), "{flake}");

    let formula = root("packages/homebrew/prof-cli.rb");
    assert!(formula.contains(&format!("/refs/tags/v{version}.tar.gz\"")), "{formula}");
}

#[test]
fn descriptions_agree() {
    let manifest = toml("Cargo.toml");
    let (package, npm) = (&manifest["package"], npm());
    for key in ["name", "description", "license"] {
        assert_eq!(npm[key].as_str(), package[key].as_str(), "{key}");
    }
    let keywords: Vec<&str> =
        npm["keywords"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert_eq!(keywords, texts(package, "keywords"));
    assert_eq!(toml("pyproject.toml")["project"]["name"].as_str(), package["name"].as_str());
}

/// Files that build the program use the version of Rust that `Cargo.toml` asks for.
#[test]
fn versions_of_rust_agree() {
    let rust = toml("Cargo.toml")["package"]["rust-version"].as_str().unwrap().to_string();
    for (file, before, count) in [
        ("Dockerfile", "FROM rust:", 1),
        ("flake.nix", "# Rust ", 1),
        (".github/workflows/ci.yml", "toolchain install ", 2),
        (".github/workflows/release.yml", "toolchain install ", 2),
        (".github/workflows/site.yml", "toolchain install ", 1),
    ] {
        let text = root(file);
        let pattern = Regex::new(&format!(r"{before}(\d+\.\d+)")).unwrap();
        let found: Vec<&str> =
            pattern.captures_iter(&text).map(|found| found.get(1).unwrap().as_str()).collect();
        assert_eq!(found, vec![rust.as_str(); count], "{file}");
    }
}

#[test]
fn files_that_are_named_exist() {
    let mut names = vec!["packages/README.md".to_string()];
    let manifest = toml("Cargo.toml");
    names.extend(texts(&manifest["package"], "exclude").iter().map(|path| path[1..].to_string()));
    names.push(toml("pyproject.toml")["project"]["readme"].as_str().unwrap().to_string());
    names.push(format!("packages/npm/{}", npm()["bin"]["prof"].as_str().unwrap()));
    for line in root("Dockerfile").lines() {
        if let Some(files) = line.strip_prefix("COPY ").filter(|files| !files.starts_with("--from")) {
            let files: Vec<&str> = files.split_whitespace().collect();
            names.extend(files[..files.len() - 1].iter().map(|file| (*file).to_string()));
        }
    }
    let page = root("docs/packaging.md");
    let (_, table) = page.split_once("| file | for |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    for row in table.lines().skip(2) {
        let files = row.split('|').nth(1).unwrap();
        names.extend(files.split('`').skip(1).step_by(2).map(str::to_string));
    }
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let exists = Path::new(env!("CARGO_MANIFEST_DIR")).join(&name).exists();
        assert!(exists, "{name}");
    }
}

/// Packages the program under test, installs each package into an empty place, and runs it there. Packing is
/// kept short: what serves debugging is left out, and dpkg-deb presses less hard.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
#[test]
#[needs(Python, Pip, Npm, Dpkg)]
fn packages_can_be_installed() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("prof");
    let stripped = Command::new("strip").arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_prof")).status();
    assert!(stripped.unwrap().success());
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/package.py"))
        .arg("--binary")
        .arg(&program)
        .args(["--try", "--dist"])
        .arg(folder.path().join("dist"))
        .env("DPKG_DEB_COMPRESSOR_LEVEL", "0")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    for form in ["archive", "wheel", "npm", "debian"] {
        assert!(printed.contains(&format!("{form}: installed and run")), "{printed}");
    }
}
