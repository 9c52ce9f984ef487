//! The recipes of the documents: every line in a block of `sh` that starts `prof`, or pipes into it, is
//! run as it stands, in a folder that holds what it names. Other programs are stood in for by a
//! recording of theirs.

#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::files;

/// What the names in the recipes stand for.
const FILES: [(&str, &str); 24] = [
    ("cpu.pb.gz", "pprof/go-cpu.pb.gz"),
    ("heap.pb.gz", "pprof/go-heap.pb.gz"),
    ("monday.heap.pb.gz", "pprof/go-heap-earlier.pb.gz"),
    ("tuesday.heap.pb.gz", "pprof/go-heap.pb.gz"),
    ("goroutine.pb.gz", "pprof/go-goroutine.pb.gz"),
    ("mutex.pb.gz", "pprof/go-mutex.pb.gz"),
    ("block.pb.gz", "pprof/go-block.pb.gz"),
    ("old.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("new.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("monday.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("tuesday.pb.gz", "pprof/go-cpu.pb.gz"),
    ("old/1.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("old/2.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("old/3.pb.gz", "pprof/go-cpu.pb.gz"),
    ("new/1.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("new/2.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("new/3.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("fleet/a.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("fleet/b.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("node.cpuprofile", "cpuprofile/node.cpuprofile"),
    ("node.heapprofile", "heapprofile/node.heapprofile"),
    ("app.jfr", "jfr/java.jfr"),
    ("perf.data", "perf-data/rust.perf.data"),
    ("out.folded", "collapsed/python.folded"),
];

/// The sources of the program that was recorded.
const SOURCES: [&str; 2] = ["catalog/catalog.go", "orders/orders.go"];

/// Programs that pipe into `prof`, and what they wrote.
const PROGRAMS: [(&str, &str); 2] = [("perf", "perf-script/rust.perf.txt"), ("curl", "pprof/go-cpu.pb.gz")];

#[test]
fn recipes_run() {
    let mut failed = String::new();
    let mut count = 0;
    for document in documents() {
        for block in blocks(&fs::read_to_string(&document).unwrap()) {
            let folder = folder();
            for written in block.iter().filter_map(|line| line.split(" -o ").nth(1)?.split(' ').next()) {
                // A recipe that writes a profile starts without it.
                let _ = fs::remove_file(folder.path().join(written));
            }
            count += block.iter().filter(|line| !line.starts_with("export ")).count();
            let output = Command::new("sh")
                .args(["-c", &script(&block)])
                .current_dir(folder.path())
                .env("PATH", path(folder.path()))
                .env_remove("PROF_PROFILE")
                .output()
                .unwrap();
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                writeln!(failed, "{}: {}\n{said}", document.display(), block.join("\n")).unwrap();
            }
        }
    }
    assert!(failed.is_empty(), "{failed}");
    assert!(count >= 60, "only {count} lines were run");
}

/// Crates that documents install and that are published.
const PUBLISHED: [&str; 2] = ["cargo-deb", "inferno"];

/// Whoever has this repository and nothing else can run what the documents say: what they install can be
/// had, and the tests, benches, profiles and scripts that they name exist.
#[test]
fn commands_that_are_not_run_name_what_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let others = ["ARCHITECTURE.md", "CONTRIBUTING.md", "TESTING.md", "BENCHMARKS.md", "SECURITY.md"];
    let (mut wrong, mut count) = (String::new(), 0);
    for document in documents().into_iter().chain(others.map(|name| root.join(name))) {
        let text = fs::read_to_string(&document).unwrap();
        for line in commands(&text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            for (place, word) in words.iter().enumerate() {
                let next = words.get(place + 1).copied().unwrap_or_default();
                let exists = match *word {
                    "install" if words[..place].contains(&"cargo") => {
                        can_be_installed(&words[place + 1..], &text)
                    }
                    "--test" | "--bench" => ["tests", "benches"].iter().any(|folder| {
                        root.join(folder).join(next).is_dir()
                            || root.join(folder).join(format!("{next}.rs")).exists()
                    }),
                    "--profile" if words.contains(&"cargo") => {
                        next == "minimal" || manifest.contains(&format!("[profile.{next}]"))
                    }
                    "suite" => {
                        next.starts_with('#')
                            || next.is_empty()
                            || root.join(format!("tests/suite/{}.rs", next.trim_end_matches(':'))).exists()
                    }
                    path if path.starts_with("scripts/") || path.starts_with(".ci/") => {
                        root.join(path).metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
                    }
                    _ => continue,
                };
                count += 1;
                if !exists {
                    writeln!(wrong, "{}: {line}: {word} {next}", document.display()).unwrap();
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 20, "only {count} were looked at");
}

/// This crate comes from a checkout, or from a repository that the document says to publish; others come
/// from the registry.
fn can_be_installed(words: &[&str], document: &str) -> bool {
    if words.contains(&"--git") {
        return words.contains(&"\"$PROF_REPOSITORY\"") && document.contains("Publish this repository");
    }
    words.windows(2).any(|pair| pair == ["--path", "."]) || words.iter().any(|word| PUBLISHED.contains(word))
}

/// The lines of all blocks, and the commands within the text, of a document.
fn commands(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            lines.extend(line.split(" && ").map(str::to_string));
        } else {
            lines.extend(line.split('`').skip(1).step_by(2).map(str::to_string));
        }
    }
    lines
}

/// The README and the pages of the guide.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages =
        files(&root.join("docs")).into_iter().filter(|page| page.extension().is_some_and(|e| e == "md"));
    std::iter::once(root.join("README.md")).chain(pages).collect()
}

/// For each block of `sh`, the lines that have to do with `prof`.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<String>> = None;
    for line in text.lines() {
        match (&mut block, line) {
            (None, "```sh" | "```yaml") => block = Some(Vec::new()),
            (None, _) => {}
            (Some(_), "```") => blocks.extend(block.take().filter(|lines| !lines.is_empty())),
            (Some(lines), line) => {
                // Build servers keep the exit code for later; here it is looked at.
                let line = line.trim_start().split(" || ").next().unwrap_or_default();
                let is_ours = line.starts_with("prof ") || line.contains("| prof ");
                if is_ours || line.starts_with("export PROF_PROFILE") {
                    lines.push(line.to_string());
                }
            }
        }
    }
    blocks
}

/// Runs the lines in one shell, and stops at the first that fails. A comparison that finds a regression,
/// which it says with 1, has not failed.
fn script(lines: &[String]) -> String {
    let mut script = String::new();
    for line in lines {
        let most = u8::from(line.starts_with("prof diff"));
        writeln!(
            script,
            "{line}\ncode=$?; [ $code -le {most} ] || {{ echo \"exit code $code\" >&2; exit 1; }}"
        )
        .unwrap();
    }
    script
}

/// A folder with what the recipes name, and the programs they use.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (name, fixture) in FILES {
        let copy = folder.path().join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(fixtures.join(fixture), copy).unwrap();
    }
    for source in SOURCES {
        let copy = folder.path().join("shop").join(source);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(fixtures.join("programs/shop").join(source), copy).unwrap();
    }
    let budget = "[[budget]]\nfunction = \"Discounted\"\ntotal = \"99 %\"\n";
    fs::write(folder.path().join("prof.toml"), budget).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    for (name, fixture) in PROGRAMS {
        let program = folder.path().join("bin").join(name);
        fs::write(&program, format!("#!/bin/sh\nexec cat '{}'\n", fixtures.join(fixture).display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Where the shell finds `prof`, and what stands in for other programs.
fn path(folder: &Path) -> std::ffi::OsString {
    let prof = Path::new(env!("CARGO_BIN_EXE_prof")).parent().unwrap().to_path_buf();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.join("bin"), prof].into_iter().chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}
