//! Files are written completely or not at all, and never over a profile or an input.
#![cfg(unix)]
#![allow(clippy::format_collect, reason = "a large file is clearest line by line")]

use prof::format::WRITERS;

use crate::support::{files, fixture, load_file, prof};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OLD: &str = "the old file\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.folded"), "main;work 3\nmain;idle 4\n").unwrap();
    fs::write(folder.path().join("out.svg"), OLD).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    prof(folder, arguments).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn temporary(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains(".prof-")).collect()
}

fn is_old(folder: &Path) -> bool {
    fs::read_to_string(folder.join("out.svg")).unwrap() == OLD && temporary(folder).is_empty()
}

#[test]
fn a_file_is_replaced_as_a_whole_with_its_permissions_and_through_links() {
    let folder = folder();
    let out = folder.path().join("out.svg");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out.svg", folder.path().join("link.svg")).unwrap();
    let before = fs::metadata(&out).unwrap().ino();
    let output = run(folder.path(), &["flame", "link.svg", "in.folded"]);
    assert!(output.status.success(), "{}", errors(&output));
    let after = fs::metadata(&out).unwrap();
    assert_ne!(after.ino(), before, "a temporary file was renamed");
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.path().join("link.svg")).unwrap().is_symlink());
    assert!(fs::read_to_string(&out).unwrap().contains("<svg") && temporary(folder.path()).is_empty());
}

/// Command lines that write a file; `OUT` stands for its path. `every_command_that_writes_is_tried` checks that
/// none is missing.
const WRITING: [&str; 24] = [
    "top -o OUT in.pb.gz",
    "top --format json -o OUT in.pb.gz",
    "top --base old.pb.gz -o OUT in.pb.gz",
    "tree -o OUT in.pb.gz",
    "tree --bottom-up -o OUT in.pb.gz",
    "focus main -o OUT in.pb.gz",
    "hot -o OUT in.pb.gz",
    "graph -o OUT in.pb.gz",
    "graph OUT.dot in.pb.gz",
    "flame OUT.svg in.pb.gz",
    "flame -o OUT.html in.pb.gz",
    "source Discounted --source-path code -o OUT in.pb.gz",
    "labels -o OUT in.pb.gz",
    "traces -o OUT in.pb.gz",
    "types -o OUT",
    "info -o OUT in.pb.gz",
    "diff -o OUT old.pb.gz in.pb.gz",
    "report -o OUT in.pb.gz",
    "lint -o OUT in.pb.gz",
    "timeline -o OUT timed.jfr",
    "trend -o OUT old.pb.gz in.pb.gz",
    "trend OUT.svg old.pb.gz in.pb.gz",
    "convert -o OUT.pb.gz in.pb.gz",
    "convert -o OUT.folded in.pb.gz",
];

/// The words of a line of [`WRITING`], and the name of the file that it writes.
fn writing(line: &str, out: &str) -> (Vec<String>, String) {
    let words: Vec<String> = line.split(' ').map(|word| word.replace("OUT", out)).collect();
    let file = words.iter().find(|word| word.starts_with(out)).unwrap().clone();
    (words, file)
}

fn run_words(folder: &Path, words: &[String], more: &[&str]) -> Output {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(folder, &words)
}

fn profiles() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [("go-cpu.pb.gz", "in.pb.gz"), ("go-cpu-old.pb.gz", "old.pb.gz")] {
        fs::copy(fixture("pprof").join(from), folder.path().join(to)).unwrap();
    }
    fs::copy(fixture("jfr/java.jfr"), folder.path().join("timed.jfr")).unwrap();
    folder
}

#[test]
fn every_command_that_writes_is_tried() {
    let folder = profiles();
    let help = String::from_utf8(run(folder.path(), &["--help"]).stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).map_while(|line| {
        let name = line.strip_prefix("  ")?.split(' ').next()?;
        Some(name.to_string())
    });
    let mut tried = 0;
    // `man` writes a folder, which has a test of its own.
    for command in commands.filter(|name| !name.is_empty() && name != "man" && name != "help") {
        let help = String::from_utf8(run(folder.path(), &[&command, "--help"]).stdout).unwrap();
        let is_tried = WRITING.iter().any(|line| line.split(' ').next() == Some(command.as_str()));
        assert_eq!(help.contains("--output"), is_tried, "prof {command}");
        tried += usize::from(is_tried);
    }
    assert_eq!(tried, 17);
}

#[test]
fn no_command_replaces_a_profile_unless_forced() {
    for line in WRITING {
        let folder = profiles();
        let (words, out) = writing(line, "there");
        let there = folder.path().join(&out);
        fs::copy(folder.path().join("old.pb.gz"), &there).unwrap();
        let before = fs::read(&there).unwrap();
        let output = run_words(folder.path(), &words, &[]);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let error = errors(&output);
        assert!(
            error.contains("a profile (pprof) already exists there") && error.contains("--force"),
            "{error}"
        );
        assert_eq!(fs::read(&there).unwrap(), before, "{line}");

        let output = run_words(folder.path(), &words, &["--force"]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", errors(&output));
        assert_ne!(fs::read(&there).unwrap(), before, "{line}");
    }
}

#[test]
fn no_command_replaces_an_input_even_if_forced() {
    for line in WRITING {
        let folder = profiles();
        let inputs: Vec<&str> =
            line.split(' ').filter(|word| word.ends_with("b.gz") && !word.contains("OUT")).collect();
        let (words, out) = writing(line, "there");
        let there = folder.path().join(&out);
        for input in inputs {
            let before = fs::read(folder.path().join(input)).unwrap();
            for link in [true, false] {
                if link {
                    symlink(input, &there).unwrap();
                } else {
                    fs::hard_link(folder.path().join(input), &there).unwrap();
                }
                for more in [&[][..], &["--force"]] {
                    let output = run_words(folder.path(), &words, more);
                    assert_eq!(output.status.code(), Some(2), "{line} {more:?}");
                    assert!(errors(&output).contains("file is also an input"), "{line}: {}", errors(&output));
                    assert_eq!(fs::read(folder.path().join(input)).unwrap(), before, "{line}");
                }
                fs::remove_file(&there).unwrap();
            }
        }
    }
}

#[test]
fn every_file_that_is_read_is_an_input() {
    let folder = profiles();
    let root = folder.path();
    fs::create_dir(root.join("runs")).unwrap();
    fs::copy(root.join("old.pb.gz"), root.join("runs/1.pb.gz")).unwrap();
    fs::write(root.join("prof.toml"), "[[budget]]\nfunction = \"main\"\ntotal = \"100 %\"\n").unwrap();
    fs::create_dir_all(root.join("code/orders")).unwrap();
    fs::copy(fixture("programs/shop/orders/orders.go"), root.join("code/orders/orders.go")).unwrap();
    fs::copy(fixture("symbols/sorting"), root.join("sorting")).unwrap();
    fs::copy(fixture("symbols/sorting.pb.gz"), root.join("sorting.pb.gz")).unwrap();
    for line in [
        "top -o ./in.pb.gz in.pb.gz",
        "convert -o in.pb.gz in.pb.gz",
        "convert -o runs/1.pb.gz runs",
        "top -o runs/1.pb.gz --base runs in.pb.gz",
        "diff -o runs/1.pb.gz runs in.pb.gz",
        "diff -o prof.toml --budget prof.toml old.pb.gz in.pb.gz",
        "top -o sorting --binary sorting sorting.pb.gz",
        "source Ledger.*Place --source-path code -o code/orders/orders.go in.pb.gz",
    ] {
        let out = line.split_once("-o ").unwrap().1.split(' ').next().unwrap();
        let before = fs::read(root.join(out)).unwrap();
        let words: Vec<&str> = line.split(' ').chain(["--force"]).collect();
        let output = run(root, &words);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", errors(&output));
        assert!(errors(&output).contains("file is also an input"), "{line}: {}", errors(&output));
        assert_eq!(fs::read(root.join(out)).unwrap(), before, "{line}");
    }
    // The same for a file that is redirected to standard input or named in the environment.
    let redirected = fs::File::open(root.join("in.pb.gz")).unwrap();
    let output =
        prof(root, &["convert", "--force", "-o", "in.pb.gz", "-"]).stdin(redirected).output().unwrap();
    assert!(errors(&output).contains("file is also an input"), "{}", errors(&output));
    let named =
        prof(root, &["top", "--force", "-o", "in.pb.gz"]).env("PROF_PROFILE", "in.pb.gz").output().unwrap();
    assert!(errors(&named).contains("file is also an input"), "{}", errors(&named));
}

#[test]
fn folders_are_not_replaced_by_files_nor_filled_unasked() {
    let folder = folder();
    fs::create_dir(folder.path().join("folder.svg")).unwrap();
    for (arguments, words) in [
        (&["flame", "folder.svg", "in.folded"][..], "is a folder"),
        (&["flame", "--force", "folder.svg", "in.folded"], "is a folder"),
        (&["flame", "no/such/folder/out.svg", "in.folded"], "no such folder"),
        (&["man", "-o", "out.svg"], "is not a folder"),
        (&["man", "-o", "."], "is not empty"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains(words), "{arguments:?}: {}", errors(&output));
    }
    assert!(is_old(folder.path()));
    assert!(run(folder.path(), &["man", "-o", "folder.svg"]).status.success(), "an empty folder will do");
    assert!(folder.path().join("folder.svg/prof.1").exists());
    assert!(run(folder.path(), &["man", "--force", "-o", "folder.svg"]).status.success());
}

/// People edit these files, so unlike reports they are never replaced unasked. If one is in the way, none is written.
#[test]
fn init_replaces_nothing_unless_forced() {
    for there in ["prof.toml", ".github/workflows/performance.yml"] {
        let folder = folder();
        let root = folder.path();
        fs::write(root.join("go.mod"), "module shop\n").unwrap();
        fs::create_dir_all(root.join(".github/workflows")).unwrap();
        fs::write(root.join(there), OLD).unwrap();
        let other = ["prof.toml", ".github/workflows/performance.yml"]
            .into_iter()
            .find(|file| *file != there)
            .unwrap();
        let output = run(root, &["diff", "--init"]);
        assert_eq!(output.status.code(), Some(2), "{there}");
        let error = errors(&output);
        assert!(
            error.contains(&format!("error: {there} already exists")) && error.contains("--force"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(root.join(there)).unwrap(), OLD);
        assert!(!root.join(other).exists(), "{there}");

        let output = run(root, &["diff", "--init", "--force"]);
        assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
        for file in [there, other] {
            assert!(fs::read_to_string(root.join(file)).unwrap().contains("prof diff"), "{file}");
        }
        assert!(temporary(root).is_empty());
    }
}

/// Every format that `prof` reads is recognised as a profile that must not be replaced.
#[test]
fn profiles_of_every_format_are_kept() {
    let (mut count, mut unread) = (0, 0);
    for format in fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path()) {
        // These folders hold other files, too.
        let others = ["diff", "programs", "sourcemaps", "symbols", "trend"];
        if !format.is_dir() || others.iter().any(|name| format.ends_with(name)) {
            continue;
        }
        for file in files(&format) {
            let folder = folder();
            let name = file.file_name().unwrap();
            if load_file(&file).is_err() {
                unread += 1;
                continue;
            }
            fs::copy(&file, folder.path().join(name)).unwrap();
            let output = run(folder.path(), &["top", "-o", name.to_str().unwrap(), "in.folded"]);
            assert!(
                errors(&output).contains("already exists there"),
                "{}: {}",
                file.display(),
                errors(&output)
            );
            count += 1;
        }
    }
    assert!(count > 25 && unread == 0, "{count}, {unread}");
}

/// Reports are not profiles: a script can write the same one every night without `--force`.
#[test]
fn reports_are_replaced_without_asking() {
    let folder = profiles();
    for line in WRITING.iter().filter(|line| !line.starts_with("convert") && !line.contains("json")) {
        for format in ["text", "json", "csv", "markdown"] {
            let (words, out) = writing(line, "report");
            let is_picture = out.contains('.');
            let more: &[&str] = if is_picture { &[] } else { &["--format", format] };
            for _ in 0..2 {
                let output = run_words(folder.path(), &words, more);
                assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", errors(&output));
            }
            fs::remove_file(folder.path().join(out)).unwrap();
        }
    }
}

/// `--to` takes the name of a format and every file extension of one; these are what `WRITERS` lists.
#[test]
fn the_format_to_write_is_named_by_name_or_extension() {
    let folder = profiles();
    let convert = |to: &str| run(folder.path(), &["convert", "-q", "-o", "-", "--to", to, "in.pb.gz"]);
    for writer in WRITERS {
        let named = convert(writer.name);
        assert!(named.status.success(), "{}", errors(&named));
        for ending in writer.endings.iter().chain(writer.packed_endings) {
            for to in [
                ending.to_string(),
                ending.trim_start_matches('.').to_ascii_uppercase(),
                format!("{ending}.gz"),
            ] {
                let output = convert(&to);
                assert!(output.status.success(), "{to}: {}", errors(&output));
                let is_packed = to == format!("{ending}.gz") || writer.packed_endings.contains(ending);
                assert_eq!(output.stdout.starts_with(&[0x1f, 0x8b]), is_packed, "{to}");
                fs::write(folder.path().join("written"), &output.stdout).unwrap();
                let info = run(folder.path(), &["info", "written"]);
                let about = String::from_utf8(info.stdout).unwrap();
                let first = about.lines().next().unwrap();
                assert!(first.contains(&format!(" {}", writer.name)), "{to}: {about}");
            }
        }
    }
    for (arguments, words) in [
        (&["-o", "-", "--to", "jfr"][..], "prof reads Java Flight Recorder but does not write it"),
        (&["-o", "-", "--to", "xyz"], "not a format that prof writes"),
        (&["-o", "-"], "standard output has no file extension"),
        (&["-o", "x.xyz"], "x.xyz: cannot tell the format from the file extension"),
    ] {
        let output = run(folder.path(), &[&["convert"], arguments, &["in.pb.gz"]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = errors(&output);
        assert!(error.contains(words) && error.contains("collapsed (.folded .collapsed .txt)"), "{error}");
    }
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder();
    // More than the limit on the size of files that the shell sets below.
    let names: String = (0..20_000).map(|number| format!("main;function_{number} 1\n")).collect();
    fs::write(folder.path().join("large.folded"), names).unwrap();
    fs::write(folder.path().join("out.json"), OLD).unwrap();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    for arguments in [
        &["convert", "--to", "collapsed", "-o", "out.svg", "large.folded"][..],
        &["top", "-n", "0", "-f", "json", "-o", "out.json", "large.folded"],
    ] {
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_prof")])
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
        let out = arguments[arguments.len() - 2];
        assert!(errors(&output).starts_with(&format!("error: {out}: ")), "{}", errors(&output));
        assert!(is_old(folder.path()), "{arguments:?}");
        assert_eq!(fs::read_to_string(folder.path().join(out)).unwrap(), OLD, "{arguments:?}");
    }
    if Path::new("/dev/full").exists() {
        let output = run(folder.path(), &["top", "-o", "/dev/full", "in.folded"]);
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = prof(folder.path(), &["top", "in.folded"]).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        assert!(Path::new("/dev/full").exists());
    }
}

#[test]
#[needs(OrdinaryUser)]
fn a_folder_that_cannot_be_written_to_is_an_error() {
    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    let output = run(folder.path(), &["flame", "closed/out.svg", "in.folded"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("ermission denied"), "{}", errors(&output));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = folder();
    let names: String = (0..50_000).map(|number| format!("main;function_{number} 1\n")).collect();
    fs::write(folder.path().join("large.folded"), names).unwrap();
    for form in ["text", "json", "csv", "markdown"] {
        let mut child = prof(folder.path(), &["top", "-n", "0", "-f", form, "large.folded"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), errors(&output).as_str()), (Some(0), ""), "{form}");
    }
}

#[test]
fn an_interrupt_leaves_the_old_file_and_no_other() {
    let folder = folder();
    // Enough to be in the middle of: every stack differs, and is written one by one.
    let mut file = fs::File::create(folder.path().join("large.folded")).unwrap();
    let deep = "main;step;".repeat(40);
    for number in 0..60_000 {
        writeln!(file, "{deep}function_{number} 1").unwrap();
    }
    drop(file);
    for signal in ["INT", "TERM"] {
        let arguments = ["convert", "--to", "speedscope", "-o", "out.svg", "large.folded"];
        let mut child = prof(folder.path(), &arguments).stderr(Stdio::piped()).spawn().unwrap();
        let end = Instant::now() + Duration::from_mins(2);
        while temporary(folder.path()).is_empty() && child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < end, "no temporary file appears");
            sleep(Duration::from_millis(1));
        }
        let sent = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.success() {
            // It was done before the signal came.
            println!("{signal} came too late: {sent}");
            fs::write(folder.path().join("out.svg"), OLD).unwrap();
        } else {
            assert_eq!(output.status.code(), Some(130), "{signal}: {}", errors(&output));
        }
        assert!(is_old(folder.path()), "{signal}");
    }
}
