//! Files that are written: whole or not at all, whatever comes in between.
#![cfg(unix)]
#![allow(clippy::format_collect, reason = "a thousand lines read best as what each is")]

use crate::support::prof;
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
    assert_ne!(after.ino(), before, "written beside the old one, then renamed");
    assert_eq!(after.permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(folder.path().join("link.svg")).unwrap().is_symlink());
    assert!(fs::read_to_string(&out).unwrap().contains("<svg") && temporary(folder.path()).is_empty());
}

#[test]
fn inputs_and_folders_are_no_targets() {
    let folder = folder();
    symlink("in.folded", folder.path().join("in-link.folded")).unwrap();
    fs::create_dir(folder.path().join("folder.svg")).unwrap();
    for (arguments, words) in [
        (&["convert", "-o", "in.folded", "in.folded"][..], "is one of the inputs"),
        (&["convert", "-o", "in-link.folded", "in.folded"], "is one of the inputs"),
        (&["top", "-o", "./in.folded", "in.folded", "--force"], "is one of the inputs"),
        (&["top", "--base", "in-link.folded", "-o", "in.folded", "in.folded"], "is one of the inputs"),
        (&["flame", "folder.svg", "in.folded"], "is a folder"),
        (&["flame", "no/such/folder/out.svg", "in.folded"], "no such folder"),
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(errors(&output).contains(words), "{arguments:?}: {}", errors(&output));
    }
    assert_eq!(fs::read_to_string(folder.path().join("in.folded")).unwrap(), "main;work 3\nmain;idle 4\n");
    assert!(is_old(folder.path()));
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = folder();
    // More than the limit on the size of files that the shell sets below.
    let names: String = (0..20_000).map(|number| format!("main;function_{number} 1\n")).collect();
    fs::write(folder.path().join("large.folded"), names).unwrap();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    for arguments in [
        &["convert", "--to", "collapsed", "-o", "out.svg", "large.folded"][..],
        &["top", "-n", "0", "-f", "json", "-o", "out.svg", "large.folded"],
    ] {
        let output = Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_prof")])
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", errors(&output));
        assert!(errors(&output).starts_with("error: out.svg: "), "{}", errors(&output));
        assert!(is_old(folder.path()), "{arguments:?}");
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
fn a_folder_that_cannot_be_written_to_is_an_error() {
    let folder = folder();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(closed.join("probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
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
