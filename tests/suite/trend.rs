//! `prof trend`: steps, leaks, and series that are not what they seem.

use std::fs;
use std::path::Path;

use prof::stats::random::Random;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::needs::shared;
use crate::support::series::{HOUR, START, noise, steady, write, write_nightly};
use crate::support::{fixture, prof};

const CPU: (&str, &str) = ("cpu", "milliseconds");

/// Exit code, output and messages.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = prof(folder, &[&["trend"], arguments].concat()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The document of a run, and its messages.
fn json(folder: &Path, arguments: &[&str]) -> (Value, String) {
    let (code, output, messages) = run(folder, &[&["-f", "json"], arguments].concat());
    let report: Value =
        serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}{messages}"));
    let failed = ["leak", "regressed"].contains(&report["verdict"].as_str().unwrap());
    assert_eq!(code, i32::from(failed), "{messages}");
    (report, messages)
}

/// The names of the functions with a verdict.
fn with_verdict<'r>(report: &'r Value, verdict: &str) -> Vec<&'r str> {
    let rows = report["rows"].as_array().unwrap().iter();
    rows.filter(|row| row["verdict"] == verdict).map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn a_step_has_a_place_and_a_size() {
    let folder = TempDir::new().unwrap();
    write_nightly(&folder.path().join("nightly"), 40);
    let (report, messages) = json(folder.path(), &["nightly"]);
    assert_eq!(messages, "");
    assert_eq!((&report["order"], &report["relative_to"]), (&"time".into(), &"core".into()));
    assert_eq!(with_verdict(&report, "regressed"), ["main.parse"]);
    let row = &report["rows"][0];
    let step = &row["step"];
    // Files are in the order of their times, and 18 of them are before the step.
    assert_eq!(row["steps"].as_array().unwrap(), &[Value::from(18)]);
    assert_eq!(step["after"], Path::new("nightly").join("night-18.pb.gz").display().to_string().as_str());
    assert_eq!(step["since_ns"], START + 18 * 24 * HOUR);
    let mean = |nights: std::ops::Range<usize>, base: usize| -> f64 {
        nights.clone().map(|night| (base + noise(7 * night)) as f64).sum::<f64>() / nights.len() as f64
    };
    let ratio = mean(18..40, 1500) / mean(0..18, 1000);
    let found = |key: &str| step[key].as_f64().unwrap();
    assert!((found("ratio") - ratio).abs() < 0.01, "{} {ratio}", found("ratio"));
    assert!(found("ratio_low") < ratio && ratio < found("ratio_high"));
    assert!(found("p") < 0.01 / 13.0 && found("q") < 0.01);
    assert_eq!(report["series"].as_array().unwrap().len(), 40);

    let (code, text, _) = run(folder.path(), &["nightly"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("REGRESSED") && text.contains("2026-10-19 02:00 UTC") && text.contains("exit 1"),
        "{text}"
    );
    // After the step, there is none.
    let (report, messages) = json(folder.path(), &["nightly", "--since", "2026-10-19"]);
    assert_eq!((&report["verdict"], report["series"].as_array().unwrap().len()), (&"none".into(), 22));
    assert!(messages.contains("note: 18 older profiles are left out"), "{messages}");
}

#[test]
fn improvements_pass() {
    let folder = TempDir::new().unwrap();
    for night in 0..24 {
        let cost = if night < 12 { 2000 } else { 1000 } + noise(night);
        let text = format!("{}main;cheap {cost}", steady(night));
        write(&folder.path().join(format!("{night:02}.pb")), CPU, &text, Some(START + night as i64 * HOUR));
    }
    let (report, _) = json(folder.path(), &["."]);
    assert_eq!((&report["verdict"], with_verdict(&report, "improved")), (&"improved".into(), vec!["cheap"]));
}

/// Heaps of a program that leaks by design (fixtures/programs/leak), one a second: 16 sessions of 16 KiB are added before
/// each, a cache is emptied every 13 seconds, and a table is loaded once.
#[test]
fn heaps_of_a_go_program_that_leaks() {
    let heaps = fixture("trend/heaps").display().to_string();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (report, messages) = json(root, &["-m", "inuse_space", &heaps]);
    assert_eq!(messages, "");
    assert_eq!(report["verdict"], "leak");
    assert_eq!(with_verdict(&report, "leak"), ["main.newSession"]);
    let rise = &report["rows"][0]["rise"];
    let times: Vec<i64> =
        report["series"].as_array().unwrap().iter().map(|point| point["time_ns"].as_i64().unwrap()).collect();
    let hours = (times[39] - times[0]) as f64 / HOUR as f64;
    let expected = f64::from(39 * 16 * (16 << 10)) / hours;
    let per_hour = rise["per_hour"].as_f64().unwrap();
    assert!((per_hour / expected - 1.0).abs() < 0.02, "{per_hour} {expected}");
    let [low, high] = ["low", "high"].map(|end| rise[end].as_f64().unwrap());
    assert!(0.95 < low && low < 1.0 && 1.0 < high && high < 1.05, "{low} {high}");
    let held = f64::from(40 * 16 * (16 << 10));
    let in_a_day = rise["in_a_day"].as_f64().unwrap();
    assert!((in_a_day / (held + 24.0 * expected) - 1.0).abs() < 0.02, "{in_a_day}");
    // Objects leak as bytes do, and callers are followed on request.
    let (objects, _) = json(root, &["-m", "inuse_objects", &heaps]);
    assert_eq!(with_verdict(&objects, "leak"), ["main.newSession"]);
    let (callers, _) = json(root, &["-m", "inuse_space", "--value", "total", &heaps]);
    assert!(with_verdict(&callers, "leak").contains(&"main.(*server).openSession"));
    // What was allocated in all is no level.
    let (allocated, _) = json(root, &["-m", "alloc_space", &heaps]);
    assert_eq!(allocated["leaking"], 0);
}

/// Real runs of one build in random orders raise no alarm.
#[test]
#[needs(Runs)]
fn runs_of_one_build_raise_no_alarm() {
    let runs = shared("ab/aa-steady");
    let mut paths: Vec<String> = fs::read_dir(runs)
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.ends_with(".pb.gz"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 100);
    let mut random = Random::new(1);
    for number in 0..8 {
        random.shuffle(&mut paths);
        let chosen: Vec<&str> = paths[..40].iter().map(String::as_str).collect();
        let (report, _) = json(Path::new("."), &[&["--order", "given"], &chosen[..]].concat());
        assert_eq!((&report["verdict"], &report["matched"]), (&"none".into(), &Value::Null), "draw {number}");
        assert!(report["tested"].as_u64().unwrap() >= 15);
    }
}

/// Twelve runs of a build, then six in which `main.fnv` does 20% more work.
#[test]
#[needs(Runs)]
fn a_real_slowdown_is_found_where_it_began() {
    let mut runs: Vec<String> = Vec::new();
    for kind in ["A-", "B20-"] {
        let all = fs::read_dir(shared("ab/long250")).unwrap().map(|entry| entry.unwrap().path());
        let of_kind = all.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(kind) && name.ends_with(".pb.gz")
        });
        let mut of_kind: Vec<String> = of_kind.map(|path| path.display().to_string()).collect();
        of_kind.sort();
        runs.extend(of_kind);
    }
    assert_eq!(runs.len(), 18);
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let (report, _) = json(Path::new("."), &[&["--order", "given"], &runs[..]].concat());
    assert_eq!(with_verdict(&report, "regressed"), ["main.fnv"]);
    let row = &report["rows"][0];
    assert_eq!(row["steps"].as_array().unwrap(), &[Value::from(12)]);
    let [low, high] = ["ratio_low", "ratio_high"].map(|end| row["step"][end].as_f64().unwrap());
    assert!(low < 1.2 && 1.2 < high, "{low} {high}");
}

#[test]
fn profiles_are_put_in_order() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (name, hour) in [("run-10.pb", 1), ("run-9.pb", 3), ("run-8.pb", 2)] {
        write(&at(name), CPU, "main;f 5", Some(START + hour * HOUR));
    }
    let inputs = |arguments: &[&str]| {
        let (report, messages) = json(folder.path(), arguments);
        let series = report["series"].as_array().unwrap().iter();
        let names: Vec<String> = series.map(|point| point["input"].as_str().unwrap().to_string()).collect();
        (names.join(" "), messages)
    };
    let all = ["run-10.pb", "run-9.pb", "run-8.pb"];
    assert_eq!(inputs(&all).0, "run-10.pb run-8.pb run-9.pb");
    assert_eq!(inputs(&[&["--order", "name"], &all[..]].concat()).0, "run-8.pb run-9.pb run-10.pb");
    assert_eq!(inputs(&[&["--order", "given"], &all[..]].concat()).0, "run-10.pb run-9.pb run-8.pb");
    let (_, text, _) = run(folder.path(), &["run-10.pb"]);
    assert!(text.starts_with("1 profile: cpu"), "{text}");
    // Without times there is no order of time. Nobody gives the files of a folder one.
    let undated = TempDir::new_in(folder.path()).unwrap();
    for name in ["run-10.pb", "run-9.pb", "run-1.pb"] {
        write(&undated.path().join(name), CPU, "main;f 5", None);
    }
    let undated = undated.path().file_name().unwrap().to_str().unwrap();
    let names = ["run-1.pb", "run-9.pb", "run-10.pb"].map(|name| format!("{undated}/{name}"));
    assert_eq!(inputs(&[undated]).0, names.join(" "));
    assert!(run(folder.path(), &[undated]).1.starts_with("3 profiles in the order of their names: cpu"));
    write(&at("none.pb"), CPU, "main;f 5", None);
    let (names, messages) = inputs(&["run-10.pb", "none.pb", "run-9.pb"]);
    assert_eq!(names, "run-10.pb none.pb run-9.pb");
    assert!(
        messages
            .contains("none.pb does not say when it was recorded, so the profiles are in the order given")
    );
    let (code, _, messages) = run(folder.path(), &["--order", "time", "run-10.pb", "none.pb"]);
    assert!(
        code == 2 && messages.contains("--order time: none.pb does not say when it was recorded"),
        "{messages}"
    );
    let (code, _, messages) = run(folder.path(), &["--since", "30d", "run-10.pb", "none.pb"]);
    assert!(code == 2 && messages.contains("--since: none.pb does not say when"), "{messages}");
    let (code, _, messages) = run(folder.path(), &["--since", "2200-01-01", "run-10.pb", "run-9.pb"]);
    assert!(code == 2 && messages.contains("--since: all 2 profiles are older than that"), "{messages}");
    // A clock may be wrong.
    write(&at("future.pb"), CPU, "main;f 5", Some(START + 80 * 365 * 24 * HOUR));
    let (_, messages) = inputs(&["run-10.pb", "future.pb"]);
    assert!(messages.contains("warning: future.pb was recorded in the future, at 2106-"), "{messages}");
}

#[test]
fn inputs_that_do_not_belong_are_told() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_nightly(&at("nightly"), 20);
    fs::copy(at("nightly/night-3.pb.gz"), at("nightly/copy.pb.gz")).unwrap();
    let (report, messages) = json(folder.path(), &["nightly"]);
    assert_eq!(report["series"].as_array().unwrap().len(), 20, "a copy counts once");
    let copy = Path::new("nightly").join("copy.pb.gz").display().to_string();
    assert!(
        messages.contains(&copy) && messages.contains("is a copy of") && messages.contains("counted once"),
        "{messages}"
    );

    write(&at("other/a.pb"), CPU, "other;g 5", Some(START));
    let (_, messages) = json(folder.path(), &["nightly", "other/a.pb"]);
    assert!(messages.contains("shares almost no functions with the other profiles"), "{messages}");

    // Units are converted, kinds of units are not.
    write(&at("other/b.pb"), ("cpu", "bytes"), "main;f0 5", Some(START));
    let (code, _, messages) = run(folder.path(), &["nightly", "other/b.pb"]);
    assert!(code == 2 && messages.contains("in other profiles it is in bytes"), "{messages}");
    write(&at("other/c.pb"), ("wall", "milliseconds"), "main;f0 5", Some(START));
    let (code, _, messages) = run(folder.path(), &["other/c.pb", "nightly"]);
    assert!(code == 2 && messages.contains("other/c.pb: no metric named cpu"), "{messages}");

    fs::write(at("nightly/notes.md"), "# no profile\n").unwrap();
    let (_, messages) = json(folder.path(), &["nightly"]);
    assert!(messages.contains("note: 1 file skipped: not a profile"), "{messages}");
    fs::write(at("broken.pb.gz"), &fs::read(at("nightly/night-1.pb.gz")).unwrap()[..40]).unwrap();
    let (code, _, messages) = run(folder.path(), &["nightly", "broken.pb.gz"]);
    assert!(code == 2 && messages.contains("broken.pb.gz: "), "{messages}");
    let (report, messages) = json(folder.path(), &["--skip-broken", "nightly", "broken.pb.gz"]);
    assert_eq!(report["series"].as_array().unwrap().len(), 20);
    assert!(
        messages.contains("warning: 1 input skipped: not a readable profile (broken.pb.gz)"),
        "{messages}"
    );
    let (code, _, messages) = run(folder.path(), &["-m", "cpu", "-m", "samples", "nightly"]);
    assert!(code == 2 && messages.contains("trend follows one metric"), "{messages}");
}

#[test]
fn a_filter_has_to_match_in_some_profile() {
    let folder = TempDir::new().unwrap();
    for number in 0..12 {
        let extra = if number > 5 { "main;rare 100" } else { "" };
        let path = folder.path().join(format!("{number:02}.pb"));
        write(&path, CPU, &format!("{}{extra}", steady(number)), Some(START + number as i64 * HOUR));
    }
    let (report, messages) = json(folder.path(), &["--show-stacks", "rare", "--normalize", "none", "."]);
    assert_eq!(messages, "");
    let rare =
        &report["rows"].as_array().unwrap().iter().find(|row| row["name"] == "rare").unwrap()["values"];
    let values: Vec<i64> = rare.as_array().unwrap().iter().map(|value| value.as_i64().unwrap()).collect();
    assert_eq!(values, [&[0; 6][..], &[100; 6]].concat());
    assert_eq!(report["filters"][0], "--show-stacks rare");
    let (code, _, messages) = run(folder.path(), &["--show-stacks", "nothing", "."]);
    assert!(code == 2 && messages.contains("nothing"), "{messages}");
}

#[test]
fn a_renamed_function_is_no_step() {
    let folder = TempDir::new().unwrap();
    for number in 0..24 {
        let name = if number < 12 { "parseNum" } else { "parseNumber" };
        let text = format!("{}main;read;{name} {}\nmain;read 500", steady(number), 1000 + noise(number));
        write(&folder.path().join(format!("{number:02}.pb")), CPU, &text, Some(START + number as i64 * HOUR));
    }
    let (report, _) = json(folder.path(), &["."]);
    assert_eq!((&report["verdict"], &report["matched"][0]["old"]), (&"none".into(), &"parseNum".into()));
    let (report, _) = json(folder.path(), &["--match", "exact", "."]);
    assert_eq!(with_verdict(&report, "regressed"), ["parseNumber"]);
    assert_eq!(with_verdict(&report, "improved"), ["parseNum"]);
    // A function that is new has no ratio.
    assert_eq!(report["rows"][0]["step"]["ratio"], Value::Null);
}

#[test]
fn memory_does_not_grow_with_the_length_of_profiles() {
    let folder = TempDir::new().unwrap();
    // Each profile has 3,000 stacks, but only 40 functions.
    for number in 0..30 {
        let stack = |i: usize| format!("main;a{};b{};c{} {}\n", i % 13, i % 17, i % 7, 1 + noise(i));
        let stacks = (0..3000).map(stack).collect::<Vec<_>>().concat();
        write(&folder.path().join(format!("{number:02}.pb")), CPU, &stacks, Some(START + number * HOUR));
    }
    let (code, _, messages) = run(folder.path(), &["--max-memory", "8MiB", "--threads", "1", "."]);
    assert_eq!((code, messages.as_str()), (0, ""));
    let (code, _, messages) = run(folder.path(), &["--max-memory", "20KiB", "."]);
    assert!(code == 2 && messages.contains("--max-memory"), "{messages}");
}

#[test]
fn a_page_shows_every_function_and_what_each_point_is() {
    let folder = TempDir::new().unwrap();
    write_nightly(&folder.path().join("nightly"), 30);
    let (code, output, messages) = run(folder.path(), &["out.html", "nightly"]);
    assert_eq!((code, output, messages), (1, String::new(), String::new()));
    let page = fs::read_to_string(folder.path().join("out.html")).unwrap();
    assert_eq!(page.matches("<svg ").count(), 6, "a function with a verdict, and five others");
    assert_eq!(page.matches("<circle ").count(), 6 * 30);
    let point = format!("{} · 2026-10-01 02:00 UTC · ", Path::new("nightly").join("night-1.pb.gz").display());
    assert!(page.contains(&point), "{page}");
    let row = "<tr class=\"failed\"><td>REGRESSED</td>";
    assert!(page.contains(row) && page.contains("<a href=\"#f0\">main.parse</a>"), "{page}");
    assert!(page.contains("1 regressed among 13 functions") && !page.contains("<script"), "{page}");
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"), "{page}");
    // A name cannot add to the page.
    for number in 0..3 {
        let path = folder.path().join(format!("bad/{number}.pb"));
        write(&path, CPU, "main;<script>alert(1)</script> 5", Some(START + number * HOUR));
    }
    let (_, _, messages) = run(folder.path(), &["bad.html", "bad"]);
    let page = fs::read_to_string(folder.path().join("bad.html")).unwrap_or_else(|_| panic!("{messages}"));
    assert!(page.contains("&lt;script&gt;alert(1)") && !page.contains("<script"), "{page}");
}

/// The nightly job of docs/trend.md, run as it stands there: its exit code is 1 only while the last 30 days have a regression.
#[test]
#[cfg(unix)]
fn the_nightly_job_of_the_documentation_works() {
    use std::process::Command;
    use std::time::{SystemTime, UNIX_EPOCH};

    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trend.md")).unwrap();
    let job = text.lines().find_map(|line| line.strip_prefix("- run: prof trend --since 30d ")).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
    let nights = 60;
    // After which night parse becomes dearer, the exit code, and what trend.md says.
    for (dearer, code, said) in [
        (nights, 0, "no lasting change among 13 functions"),
        (nights - 12, 1, "1 regressed among 13 functions"),
        (nights - 45, 0, "no lasting change among 13 functions"),
    ] {
        let folder = TempDir::new().unwrap();
        for night in 0..nights {
            let parse = if night < dearer { 1000 } else { 1500 } + noise(7 * night);
            let path = folder.path().join(format!("nightly/{night:02}.pb.gz"));
            let text = format!("{}main;main.parse {parse}", steady(night));
            write(&path, CPU, &text, Some(now - (nights - night) as i64 * 24 * HOUR));
        }
        let program = Path::new(env!("CARGO_BIN_EXE_prof"));
        let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &format!("prof trend --since 30d {job}")]).env("PATH", path);
        let output = output.current_dir(folder.path()).output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{dearer}: {messages}");
        assert!(messages.contains("older profiles are left out"), "{messages}");
        let report = fs::read_to_string(folder.path().join("trend.md")).unwrap();
        assert!(report.contains(said), "{dearer}: {report}");
    }
}

#[test]
fn a_picture_shows_every_function() {
    let folder = TempDir::new().unwrap();
    write_nightly(&folder.path().join("nightly"), 30);
    let (code, output, messages) = run(folder.path(), &["out.svg", "nightly"]);
    assert_eq!((code, output, messages), (1, String::new(), String::new()));
    let picture = fs::read_to_string(folder.path().join("out.svg")).unwrap();
    let mut reader = Reader::from_str(&picture);
    let (mut depth, mut series) = (0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            Event::Empty(tag) => series += i32::from(tag.name().as_ref() == "polyline"),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((depth, series), (0, 6), "a function with a verdict, and five others");
    assert!(picture.contains(">main.parse</text>") && picture.contains("REGRESSED"));
    let (code, _, messages) = run(folder.path(), &["out.png", "nightly"]);
    assert!(code == 2 && messages.contains("prof trend out.svg nightly"), "{messages}");
    let (code, _, messages) = run(folder.path(), &["-f", "json", "out.svg", "nightly"]);
    assert!(code == 2 && messages.contains("trend --format: OUT is a picture"), "{messages}");
}
