//! The examples in CONTRIBUTING.md compile: a format, a view, an option and an output, added to a copy of the sources.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::below;

/// The Rust blocks of a document.
fn blocks(document: &str) -> impl Iterator<Item = &str> {
    document.split("```rust\n").skip(1).map(|block| &block[..=block.find("\n```\n").unwrap()])
}

/// The path of a new file: ``**1. The report**: `src/report/depths.rs`, …``, then its block.
fn file_before<'d>(document: &'d str, block: &str) -> &'d str {
    let before = &document[..document.find(block).unwrap()];
    let (_, step) = before.rsplit_once("**: `").unwrap();
    step.split('`').next().unwrap()
}

/// Adds the lines of a block to existing files. `// src/report.rs` names the file; lines below it are declarations, which go
/// before those of their kind; ``// … after `Top(` `` or ``// … instead of `Top(` `` says which line the next lines go to.
fn add_lines(block: &str, root: &Path) {
    for part in block.split("// src/").skip(1) {
        let (file, lines) = part.split_once('\n').unwrap();
        let path = root.join("src").join(file);
        let mut text: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_string).collect();
        let mut place = None;
        for line in lines.lines().filter(|line| !line.is_empty()) {
            if let Some(rule) = line.strip_prefix("// … ") {
                let quoted = rule.split('`').nth(1).unwrap();
                let found: Vec<usize> = (0..text.len()).filter(|&at| text[at].contains(quoted)).collect();
                let [at] = found[..] else { panic!("{file}: `{quoted}` is on {} lines", found.len()) };
                if rule.starts_with("instead of ") {
                    text.remove(at);
                }
                place = Some(at + usize::from(rule.starts_with("after ")));
                continue;
            }
            let at = place.unwrap_or_else(|| {
                let kind = &line[..=line.find("mod ").or_else(|| line.find("use ")).unwrap() + 2];
                text.iter().position(|other| other.starts_with(kind)).unwrap()
            });
            text.insert(at, line.to_string());
            place = place.map(|place| place + 1);
        }
        fs::write(&path, text.join("\n") + "\n").unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

#[test]
fn examples_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for name in ["Cargo.toml", "Cargo.lock"] {
        copy(&root.join(name), &folder.path().join(name));
    }
    for part in ["src", "tests", "benches", "examples"] {
        for file in below(&root.join(part)) {
            copy(&root.join(part).join(&file), &folder.path().join(part).join(&file));
        }
    }
    let document = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let mut files = 0;
    for block in blocks(&document) {
        if block.starts_with("//!") {
            fs::write(folder.path().join(file_before(&document, block)), block).unwrap();
            files += 1;
        } else {
            add_lines(block, folder.path());
        }
    }
    assert_eq!(files, 6, "the reader of a format, the four files of a view, and the writer of an output");
    // Dependencies are compiled once, in the folder of this program.
    let program = PathBuf::from(env!("CARGO_BIN_EXE_prof"));
    let target = program.parent().and_then(Path::parent).unwrap();
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let checked = Command::new(cargo)
        .args(["check", "--offline", "--locked", "--quiet", "--lib", "--bin", "prof"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", target)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && !said.contains("warning"), "{said}");
}
