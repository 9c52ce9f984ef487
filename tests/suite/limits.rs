//! Inputs and patterns that would need too much memory or time are rejected with a message.

#![allow(clippy::format_collect, reason = "a thousand lines read best as what each is")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Output;

use crate::support::prof;
use flate2::Compression;
use flate2::write::GzEncoder;
use prof::format::{FORMATS, LoadError, Source, load};
use prof::profile::{Budget, LoadOptions, TooLarge};

fn run(folder: &Path, arguments: &[&str]) -> Output {
    prof(folder, arguments).output().unwrap()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "prof {arguments:?}: {errors}");
    assert!(errors.starts_with("error: ") && errors.len() < 2000, "{errors}");
    errors
}

/// `times` times `text`, compressed, without ever holding it.
fn bomb(text: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let block = text.repeat((64 << 10) / text.len());
    for _ in 0..times * text.len() / block.len() {
        encoder.write_all(&block).unwrap();
    }
    encoder.finish().unwrap()
}

fn too_large(bytes: Vec<u8>, limit: u64, format: Option<&str>) -> bool {
    let options = LoadOptions { budget: Budget::of(limit), ..LoadOptions::ALL };
    let mut source = match Source::open_within(Box::new(std::io::Cursor::new(bytes)), options.budget.clone())
    {
        Ok(source) => source,
        Err(error) => return matches!(error, LoadError::TooLarge(TooLarge::Memory { .. })),
    };
    let format = format.and_then(prof::format::named);
    let error = load(&mut source, options.clone(), format).err();
    options.budget.is_exceeded() && error.is_some()
}

#[test]
fn bombs_meet_the_limit_in_every_reader() {
    let line = bomb(b"main;", 40 << 20);
    let blanks = bomb(b"  ", 40 << 20);
    for format in FORMATS {
        for bytes in [&line, &blanks] {
            // What these two begin with is malformed, whatever follows.
            if let Some(place) = [("pprof", "(byte 0)"), ("hprof", "(line 1)")]
                .iter()
                .find_map(|(name, place)| (*name == format.name).then_some(place))
            {
                let error = load(&mut Source::from_bytes(bytes.clone()), LoadOptions::ALL, Some(format));
                let error = error.unwrap_err().to_string();
                assert!(error.ends_with(place), "{error}");
            } else {
                assert!(too_large(bytes.clone(), 8 << 20, Some(format.name)), "{}", format.name);
            }
        }
    }
    // UTF-16 is converted to UTF-8 as a whole.
    let mut wide = GzEncoder::new(Vec::new(), Compression::best());
    wide.write_all(&[0xff, 0xfe]).unwrap();
    wide.write_all(&b"a\0".repeat(16 << 20)).unwrap();
    assert!(too_large(wide.finish().unwrap(), 8 << 20, None));
}

#[test]
fn tables_meet_the_limit() {
    // 3,000 stacks, each one frame deeper than the one before, are 4.5 million frames.
    let mut text = String::new();
    let mut stack = String::from("f");
    for depth in 0..3000 {
        stack.push_str(";f");
        text.push_str(&format!("{stack} {depth}\n"));
    }
    assert!(too_large(text.clone().into_bytes(), 4 << 20, None));
    assert!(!too_large(text.into_bytes(), 256 << 20, None));
    let names: String = (0..200_000).map(|number| format!("function_{number} 1\n")).collect();
    assert!(too_large(names.into_bytes(), 4 << 20, None));
}

#[test]
fn the_command_says_what_was_too_much() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bomb.gz"), bomb(b"main;", 8 << 20)).unwrap();
    let errors = refused(folder.path(), &["top", "--max-memory", "4mb", "bomb.gz"]);
    assert!(errors.contains("needs more memory than the 4"), "{errors}");
    assert!(errors.contains("\nhint: raise the memory limit"), "{errors}");
    let errors = refused(folder.path(), &["top", "--max-memory", "much", "bomb.gz"]);
    assert!(errors.contains("expected a size such as 512mb"), "{errors}");
}

#[test]
fn rows_meet_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let deep: Vec<String> = (0..3000).map(|depth| format!("f{depth}")).collect();
    fs::write(folder.path().join("deep.folded"), format!("{} 1\n", deep.join(";"))).unwrap();
    let bottom_up = ["tree", "--bottom-up", "-f", "json", "--max-memory", "100mb", "deep.folded"];
    let errors = refused(folder.path(), &bottom_up);
    assert!(errors.contains("needs more memory than the 1"), "{errors}");
    assert!(errors.contains("\nhint: reduce the rows with --limit"), "{errors}");
    let fewer = run(folder.path(), &[&bottom_up[..], &["--limit", "10"]].concat());
    assert_eq!(fewer.status.code(), Some(0));
    let table = run(folder.path(), &["tree", "-f", "markdown", "deep.folded"]).stdout;
    assert!(table.len() < 2 << 20, "{} bytes", table.len());
}

#[test]
fn deep_stacks_are_shown_in_every_view() {
    let folder = tempfile::tempdir().unwrap();
    let deep: String = (0..100_000).map(|depth| format!("f{};", depth % 50_000)).collect();
    fs::write(folder.path().join("deep.folded"), format!("{deep}leaf 3\n{deep}other 4\n")).unwrap();
    for arguments in [
        &["top", "deep.folded"][..],
        &["tree", "deep.folded"],
        &["tree", "--bottom-up", "deep.folded"],
        &["hot", "deep.folded"],
        &["focus", "leaf", "deep.folded"],
        &["traces", "-f", "json", "deep.folded"],
        &["info", "deep.folded"],
        &["top", "--collapse-recursion", "--show-from", "f7", "deep.folded"],
        &["convert", "-o", "out.pb.gz", "deep.folded"],
        &["convert", "-o", "out.speedscope.json", "deep.folded"],
        &["flame", "out.svg", "deep.folded"],
        &["flame", "classic.svg", "--style", "classic", "deep.folded"],
        &["flame", "out.html", "deep.folded"],
    ] {
        let output = run(folder.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

#[test]
fn json_that_nests_deeply_is_no_profile() {
    for (open, close) in
        [("[", "]"), ("{\"a\":", "}"), ("{\"nodes\":[", "]}"), ("{\"head\":{\"children\":[", "")]
    {
        let text = open.repeat(100_000) + &close.repeat(100_000);
        for format in FORMATS {
            let mut source = Source::from_bytes(text.clone().into_bytes());
            // A list without events may be an empty trace.
            let rows =
                load(&mut source, LoadOptions::ALL, Some(format)).map_or(0, |profile| profile.meta.rows);
            assert_eq!(rows, 0, "{}", format.name);
        }
    }
}

#[test]
fn patterns_cannot_hang_or_grow() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.folded"), format!("{};b 1\n", "a".repeat(100_000))).unwrap();
    let evil = run(folder.path(), &["top", "--show-stacks", "(a+)+$|(a|aa)+c", "a.folded"]);
    let shown = String::from_utf8(evil.stdout).unwrap();
    assert!(evil.status.success() && shown.contains("shown 1, 100.0% of all"), "{shown}");
    let errors = refused(folder.path(), &["top", "--show-stacks", "((x{1000}){1000}){1000}", "a.folded"]);
    assert!(errors.contains("too large") || errors.contains("too big"), "{errors}");
    let huge = "(".repeat(20_000) + &")".repeat(20_000);
    let output = run(folder.path(), &["top", "--show-stacks", &huge, "a.folded"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let hint = "hint: it is not a valid regular expression (";
    assert!(errors.contains(&format!(": nothing matches\n{hint}")), "{errors}");
}
