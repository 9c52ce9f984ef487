//! The recipes in the documentation: every line of an `sh` block that starts `prof` or pipes into it is run
//! unchanged, in a folder with the files it names. Other programs are replaced with scripts that print a
//! recording.

#![cfg(unix)]

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::servers::go_server;

use crate::support::{copies, files};

/// The files that the recipes name, and the fixtures they are copies of.
const FILES: [(&str, &str); 25] = [
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
    ("experiment/1.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("fleet/a.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("fleet/b.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("node.cpuprofile", "cpuprofile/node.cpuprofile"),
    ("node.heapprofile", "heapprofile/node.heapprofile"),
    ("app.jfr", "jfr/java.jfr"),
    ("perf.data", "perf-data/rust.perf.data"),
    ("out.folded", "collapsed/python.folded"),
];

/// The sources of the recorded program.
const SOURCES: [&str; 2] = ["catalog/catalog.go", "orders/orders.go"];

/// Servers that the recipes name. One server stands for all of them.
const SERVERS: [&str; 6] = [
    "http://localhost:3000",
    "http://localhost:6060",
    "http://localhost:4040",
    "http://localhost:7070",
    "http://old:6060",
    "http://new:6060",
];

/// Programs that pipe into `prof`, and the fixtures with their output.
const PROGRAMS: [(&str, &str); 2] = [("perf", "perf-script/rust.perf.txt"), ("curl", "pprof/go-cpu.pb.gz")];

#[test]
fn recipes_run() {
    let mut failed = String::new();
    let mut count = 0;
    let server = go_server();
    for document in documents() {
        for block in blocks(&fs::read_to_string(&document).unwrap()) {
            let folder = folder();
            for written in block.iter().filter_map(|line| line.split(" -o ").nth(1)?.split(' ').next()) {
                // A recipe that writes a profile needs it not to exist.
                let _ = fs::remove_file(folder.path().join(written));
            }
            count += block.iter().filter(|line| !line.starts_with("export ")).count();
            let output = Command::new("sh")
                .args([
                    "-c",
                    &SERVERS
                        .iter()
                        .fold(script(&block), |script, name| script.replace(name, &server.url(""))),
                ])
                .current_dir(folder.path())
                .env("PATH", path(folder.path()))
                .env("XDG_CACHE_HOME", folder.path().join("cache"))
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

/// Published crates that the documentation installs.
const PUBLISHED: [&str; 2] = ["cargo-fuzz", "inferno"];

/// The commands in the documentation work with this repository and nothing else: packages can be installed, and
/// the tests, benches, build profiles and scripts exist.
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
                    // A variable stands for a benchmark of the reader.
                    "--test" | "--bench" if next.starts_with("\"$") => continue,
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

/// This crate is installed from a checkout, or from a repository that the document says to publish first; other
/// crates from the registry.
fn can_be_installed(words: &[&str], document: &str) -> bool {
    if words.contains(&"--git") {
        return words.contains(&"\"$PROF_REPOSITORY\"") && document.contains("Put this repository where");
    }
    words.windows(2).any(|pair| pair == ["--path", "."]) || words.iter().any(|word| PUBLISHED.contains(word))
}

/// The lines of all code blocks of a document, and the code within its text.
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

/// The lines of each `sh` block that use `prof`.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<String>> = None;
    for line in text.lines() {
        match (&mut block, line) {
            (None, "```sh" | "```yaml") => block = Some(Vec::new()),
            (None, _) => {}
            (Some(_), "```") => blocks.extend(block.take().filter(|lines| !lines.is_empty())),
            (Some(lines), line) => {
                // CI scripts keep the exit code for later; here it is checked.
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

/// A shell script that runs the lines and stops at the first failure. Exit code 1 of `prof diff`, a regression,
/// is not a failure.
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

/// A folder with the files and the programs that the recipes name.
fn folder() -> TempDir {
    let folder = copies(&FILES.map(|(name, fixture)| (fixture, name)));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
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

/// The `PATH` with `prof` and the replacements of other programs.
fn path(folder: &Path) -> std::ffi::OsString {
    let prof = Path::new(env!("CARGO_BIN_EXE_prof")).parent().unwrap().to_path_buf();
    let usual = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.join("bin"), prof].into_iter().chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}
