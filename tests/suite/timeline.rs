//! `prof timeline` on the command line.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// Exit code, output and messages.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = prof(folder, arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (code, output, messages) = run(folder, &[arguments, &["-f", "json"]].concat());
    assert_eq!(code, 0, "{messages}");
    serde_json::from_str(&output).unwrap()
}

/// A recording of `perf script` whose name has to be quoted: two threads, and a second in which `parse` runs before one in
/// which `render` does.
fn write_phases(folder: &Path) -> &'static str {
    let name = "it's two phases.txt";
    let mut text = String::new();
    for number in 0..2000_u32 {
        let (thread, tid) = if number % 4 == 0 { ("helper", 12) } else { ("main", 11) };
        let function = match (number < 1000, number % 10) {
            (_, 0) => "wait",
            (true, _) => "parse",
            (false, _) => "render",
        };
        let time = 50_000_000 + number * 1000;
        let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
        writeln!(text, "{thread} 10/{tid} {seconds}.{micros:06}: 1000000 cpu-clock:").unwrap();
        writeln!(text, "\t401000 {function} (/bin/app)\n\t400000 main (/bin/app)\n").unwrap();
    }
    fs::write(folder.join(name), text).unwrap();
    name
}

#[test]
#[cfg(unix)]
fn commands_for_phases_give_the_numbers_of_the_phase() {
    let folder = TempDir::new().unwrap();
    let file = write_phases(folder.path());
    for filters in
        [&[][..], &["--hide-stacks", "wait|it's", "-m", "samples"], &["--thread", "main", "--from", "0.3s"]]
    {
        let report = json(folder.path(), &[&["timeline", file], filters].concat());
        let phases = report["phases"].as_array().unwrap();
        let functions: Vec<&str> =
            phases.iter().map(|phase| phase["function"]["name"].as_str().unwrap()).collect();
        assert_eq!(functions, ["parse", "render"], "{filters:?}");
        for phase in phases {
            // `prof` is found in the first folder of the path.
            let script = format!("{} -f json", phase["command"].as_str().unwrap());
            let bin = Path::new(env!("CARGO_BIN_EXE_prof")).parent().unwrap();
            let output = Command::new("/bin/sh")
                .args(["-c", &script])
                .current_dir(folder.path())
                .env("PATH", bin)
                .output()
                .unwrap();
            let top: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
            assert_eq!(top["shown"], phase["total"], "{script}");
            let row =
                top["rows"].as_array().unwrap().iter().find(|row| row["name"] == phase["function"]["name"]);
            assert_eq!(row.unwrap()["total"], phase["function"]["total"], "{script}");
            assert_eq!(row.unwrap()["self"], phase["function"]["self"], "{script}");
        }
        let text = run(folder.path(), &[&["timeline", "--width", "40", file], filters].concat()).1;
        for phase in phases {
            let command = phase["command"].as_str().unwrap();
            assert!(
                text.lines().any(|line| line == command),
                "{command} is not on a line of its own in {text}"
            );
        }
    }
}

#[test]
fn a_thread_is_a_row() {
    let folder = TempDir::new().unwrap();
    let file = write_phases(folder.path());
    let report = json(folder.path(), &["timeline", "--bins", "4", file]);
    let rows = report["rows"].as_array().unwrap();
    let row = |number: usize| (&rows[number]["name"], &rows[number]["total"], &rows[number]["bins"]);
    // 1500 samples of 1 ms in 2 s; the last sample lasts until the end.
    let bins = |value: i64| Value::from(vec![value * 1_000_000; 4]);
    assert_eq!(row(0), (&"main".into(), &1_500_000_000_i64.into(), &bins(375)));
    assert_eq!(row(1), (&"helper".into(), &500_000_000_i64.into(), &bins(125)));
    assert_eq!(report["axis"]["bin_ns"], 500_000_000);
    let parse = json(folder.path(), &["timeline", "--bins", "4", "--show-stacks", "parse", file]);
    assert_eq!(parse["axis"], report["axis"], "a filter does not change the axis");
    let bins = parse["rows"][1]["bins"].as_array().unwrap();
    assert_eq!((&bins[2], &bins[3]), (&0.into(), &0.into()));
}

#[test]
fn text_fits_narrow_and_plain_terminals() {
    let folder = TempDir::new().unwrap();
    let file = write_phases(folder.path());
    for width in [40, 80, 200] {
        let text = run(folder.path(), &["timeline", "--width", &width.to_string(), file]).1;
        let is_command = |line: &&str| line.starts_with("prof top");
        for line in text.lines().filter(|line| !is_command(line)) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
        assert!(text.contains("main") && text.contains("helper") && text.contains('█'), "{text}");
    }
    let (_, text, _) = run(folder.path(), &["timeline", "-n", "1", "--width", "80", file]);
    assert!(text.contains("… 1 more thread"), "{text}");
}

#[test]
fn profiles_without_times_are_refused() {
    let folder = TempDir::new().unwrap();
    for name in ["pprof/go-cpu.pb.gz", "collapsed/worked-1.folded"] {
        let path = fixture(name);
        let (code, _, messages) = run(folder.path(), &["timeline", path.to_str().unwrap()]);
        assert_eq!(code, 2);
        assert!(messages.contains("does not say when its samples were taken"), "{messages}");
        assert!(messages.contains("formats with times: perf.data, perf script, JFR"), "{messages}");
    }
    let path = fixture("callgrind/c.callgrind");
    let (code, _, messages) = run(folder.path(), &["timeline", path.to_str().unwrap()]);
    assert!(code == 2 && messages.contains("records calls between functions"), "{messages}");
    let path = fixture("jfr/java.jfr");
    let (code, _, messages) =
        run(folder.path(), &["timeline", "--by", "label:nosuch", path.to_str().unwrap()]);
    assert!(code == 2 && messages.contains("--by label:nosuch: no sample has this label"), "{messages}");
}

/// `jfr print` says the same: 47 pauses, of 427,663,729 ns in all, the longest at 09:49:28.642474781, 2.4907 s after the first
/// sample.
#[test]
fn pauses_of_the_garbage_collector_have_a_row() {
    let folder = TempDir::new().unwrap();
    let path = fixture("jfr/pauses.jfr.gz");
    let path = path.to_str().unwrap();
    let pauses = json(folder.path(), &["timeline", path])["pauses"].clone();
    assert_eq!((pauses["count"].as_u64(), pauses["longest_ns"].as_i64()), (Some(47), Some(91_730_963)));
    assert!((pauses["total_ns"].as_i64().unwrap() - 427_663_729).abs() <= 47, "{pauses}");
    assert_eq!(pauses["longest_cause"], "Allocation Failure");
    let bins: i64 = pauses["bins"].as_array().unwrap().iter().map(|bin| bin.as_i64().unwrap()).sum();
    assert_eq!(Some(bins), pauses["total_ns"].as_i64());
    // A range has the part of them that lies in it, whichever threads are shown.
    let from = pauses["longest_from_ns"].as_i64().unwrap();
    let range = [from + 10_000_000, from + 200_000_000].map(|time| format!("{time}ns"));
    let found = json(folder.path(), &["timeline", "--from", &range[0], "--to", &range[1], path]);
    let part = &found["pauses"];
    assert_eq!((part["count"].as_u64(), part["total_ns"].as_i64()), (Some(1), Some(81_730_963)));
    let (_, text, _) = run(folder.path(), &["timeline", "--width", "80", path]);
    assert!(text.contains("(GC pauses)") && text.contains("47 GC pauses, 427.66ms in all ("), "{text}");
    assert!(text.contains("(+91.73ms): Allocation Failure"), "{text}");
    let without = json(folder.path(), &["timeline", fixture("perf-script/rust.perf.txt").to_str().unwrap()]);
    assert!(without.get("pauses").is_none());
}

/// The width that a note asks for is enough: no column is missing there.
#[test]
fn the_width_that_a_note_names_shows_all_columns() {
    let folder = TempDir::new().unwrap();
    let file = write_phases(folder.path());
    for width in (20..100).step_by(3) {
        let text =
            |width: &str| run(folder.path(), &["timeline", file, "--width", width]).1.replace('\n', " ");
        let narrow = text(&width.to_string());
        for note in narrow.split("too narrow to show ").skip(1) {
            let (titles, rest) = note.split_once(": ").unwrap();
            let wanted = rest.split_whitespace().next().unwrap();
            let missing = format!("too narrow to show {}", titles.split(',').next().unwrap());
            assert!(!text(wanted).contains(&missing), "--width {width} asks for {wanted}: {}", text(wanted));
        }
    }
}
