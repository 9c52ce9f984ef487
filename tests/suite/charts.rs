//! `prof flame --time` and `--heatmap`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::Event;
use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// Exit code and messages.
fn run(folder: &Path, line: &str) -> (i32, String) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = prof(folder, &words).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// What a command writes to `out`.
fn written(folder: &Path, out: &str, line: &str) -> String {
    let (code, messages) = run(folder, &format!("flame -o {out} {line}"));
    assert_eq!(code, 0, "{line}: {messages}");
    fs::read_to_string(folder.join(out)).unwrap()
}

fn json(folder: &Path, line: &str) -> Value {
    serde_json::from_str(&written(folder, "out.json", line)).unwrap()
}

/// The blocks of a chart: thread, depth, function, from, to.
fn blocks(chart: &Value) -> Vec<(String, u64, String, i64, i64)> {
    let text = |list: &str, index: &Value| {
        chart[list][index.as_u64().unwrap() as usize]["name"].as_str().unwrap().to_string()
    };
    let block = |block: &Value| {
        let at = |key: &str| block[key].as_i64().unwrap();
        let depth = block["depth"].as_u64().unwrap();
        (
            text("bands", &block["band"]),
            depth,
            text("functions", &block["function"]),
            at("from_ns"),
            at("to_ns"),
        )
    };
    chart["blocks"].as_array().unwrap().iter().map(block).collect()
}

/// Fails if a picture is not well-formed XML.
fn check_xml(picture: &str) {
    let mut reader = Reader::from_str(picture);
    while reader.read_event().unwrap() != Event::Eof {}
}

const TRACE: &str = r#"{"traceEvents": [
    {"ph": "X", "name": "load", "pid": 1, "tid": 1, "ts": 100, "dur": 50},
    {"ph": "X", "name": "parse", "pid": 1, "tid": 1, "ts": 110, "dur": 20},
    {"ph": "X", "name": "load", "pid": 1, "tid": 1, "ts": 160, "dur": 5},
    {"ph": "B", "name": "wait", "pid": 1, "tid": 2, "ts": 120},
    {"ph": "E", "name": "wait", "pid": 1, "tid": 2, "ts": 165},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "idle"}}
]}"#;

#[test]
fn spans_are_drawn_where_the_trace_says() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("trace.json"), TRACE).unwrap();
    let chart = json(folder.path(), "--time trace.json");
    let start = 100_000;
    let want = [
        ("main", 0, "load", 100_000, 150_000),
        ("main", 0, "load", 160_000, 165_000),
        ("main", 1, "parse", 110_000, 130_000),
        ("idle", 0, "wait", 120_000, 165_000),
    ];
    let want = want.map(|(band, depth, name, from, to)| {
        (band.to_string(), depth, name.to_string(), from - start, to - start)
    });
    assert_eq!(blocks(&chart), want);
    assert_eq!(chart["column_ns"], Value::Null);
    // The picture has the same blocks at the same places.
    let picture = written(folder.path(), "out.svg", "--time trace.json");
    check_xml(&picture);
    let rect =
        Regex::new(r#"<rect x="([\d.]+)" width="([\d.]+)"[^>]*><title>(\w+)\nfrom (\S+) to (\S+) "#).unwrap();
    let drawn: Vec<(String, f64, f64, String, String)> = rect
        .captures_iter(&picture)
        .map(|found| {
            let pixels = |index: usize| found[index].parse::<f64>().unwrap();
            (found[3].to_string(), pixels(1), pixels(2), found[4].to_string(), found[5].to_string())
        })
        .collect();
    assert_eq!(drawn.len(), want.len(), "{picture}");
    for ((name, left, width, from, to), (_, _, want, at, end)) in drawn.iter().zip(&want) {
        let pixels = |ns: i64| ns as f64 / 65_000.0 * 1180.0;
        assert_eq!(name, want);
        assert!(
            (left - pixels(*at)).abs() < 1e-3 && (width - pixels(end - at)).abs() < 1e-3,
            "{name} {left} {width}"
        );
        let micros = |ns: i64| if ns == 0 { "0s".to_string() } else { format!("{}µs", ns / 1000) };
        assert_eq!((from, to), (&micros(*at), &micros(*end)));
    }
}

/// The last time was cut in half at the edge of the picture.
#[test]
fn times_of_the_axis_stay_in_the_picture() {
    let folder = TempDir::new().unwrap();
    let trace = r#"[{"ph": "X", "name": "load", "pid": 1, "tid": 1, "ts": 0, "dur": 100000}]"#;
    fs::write(folder.path().join("trace.json"), trace).unwrap();
    let picture = written(folder.path(), "out.svg", "--time trace.json");
    let (_, axis) = picture.split_once("<g class=\"axis\"").unwrap();
    let (axis, _) = axis.split_once("</g>").unwrap();
    let label = Regex::new(r#"<text x="([\d.]+)"[^>]*>([^<]+)</text>"#).unwrap();
    let labels: Vec<(f64, usize)> = label
        .captures_iter(axis)
        .map(|found| (found[1].parse().unwrap(), found[2].chars().count()))
        .collect();
    assert!(labels.len() > 3 && axis.contains(">100ms</text>"), "{axis}");
    for (middle, letters) in labels {
        let half = letters as f64 * 3.3;
        assert!(middle >= half && middle + half <= 1200.0, "{middle}: {axis}");
    }
}

#[test]
fn ranges_and_filters_select_what_is_drawn() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("trace.json"), TRACE).unwrap();
    let names = |line: &str| -> Vec<String> {
        blocks(&json(folder.path(), line))
            .into_iter()
            .map(|(band, _, name, from, to)| format!("{band} {name} {from}-{to}"))
            .collect()
    };
    assert_eq!(names("--time --thread idle trace.json"), ["idle wait 20000-65000"]);
    assert_eq!(
        names("--time --show-stacks parse trace.json"),
        ["main load 10000-30000", "main parse 10000-30000"]
    );
    // What is left out below has its value at its caller, which is one block again.
    assert_eq!(
        names("--time --hide-frames parse --thread main trace.json"),
        ["main load 0-50000", "main load 60000-65000"]
    );
    assert_eq!(
        names("--time --from 25us --to 62us --thread main trace.json"),
        ["main load 25000-50000", "main load 60000-62000", "main parse 25000-30000"]
    );
}

#[test]
fn cells_of_a_heat_map_are_those_of_a_count_by_hand() {
    let folder = TempDir::new().unwrap();
    let mut text = String::new();
    let mut want: BTreeMap<(u64, u64), (i64, u64)> = BTreeMap::new();
    // FlameScope's rule: the column is the second, the row the fiftieth of it.
    for number in 0..3000_u64 {
        let micros = (number * 7919 * 13) % 20_000_000;
        writeln!(text, "app 1/1 {}.{:06}: 4000000 cpu-clock:", 50 + micros / 1_000_000, micros % 1_000_000)
            .unwrap();
        writeln!(text, "\t401000 work (/bin/app)\n").unwrap();
    }
    let times: Vec<u64> = (0..3000_u64).map(|number| (number * 7919 * 13) % 20_000_000).collect();
    let first = *times.iter().min().unwrap();
    for time in times {
        let since = time - first;
        let cell = want.entry((since / 1_000_000, since % 1_000_000 / 20_000)).or_default();
        *cell = (cell.0 + 4_000_000, cell.1 + 1);
    }
    fs::write(folder.path().join("perf.txt"), text).unwrap();
    let map = json(folder.path(), "--heatmap perf.txt");
    let cell = |cell: &Value| {
        let number = |key: &str| cell[key].as_u64().unwrap();
        ((number("column"), number("row")), (cell["value"].as_i64().unwrap(), number("samples")))
    };
    let cells: BTreeMap<_, _> = map["cells"].as_array().unwrap().iter().map(cell).collect();
    assert_eq!((&map["column_ns"], &map["rows"]), (&1_000_000_000.into(), &50.into()));
    assert_eq!(cells, want);
    let picture = written(folder.path(), "out.svg", "--heatmap perf.txt");
    check_xml(&picture);
    let titles = Regex::new(r"<title>[\d.]+\S+ in (\d+) samples?\n--from (\S+) --to (\S+)</title>").unwrap();
    assert_eq!(titles.captures_iter(&picture).count(), want.len());
    // The range of a cell selects its samples.
    let found = titles.captures_iter(&picture).max_by_key(|found| found[1].parse::<u64>().unwrap()).unwrap();
    let line = format!("top -f json --from {} --to {} perf.txt", &found[2], &found[3]);
    let words: Vec<&str> = line.split_whitespace().collect();
    let output = prof(folder.path(), &words).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["shown"].as_i64().unwrap(), found[1].parse::<i64>().unwrap() * 4_000_000);
}

#[test]
fn options_that_do_not_apply_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::copy(fixture("jfr/java.jfr"), folder.path().join("app.jfr")).unwrap();
    for (line, reason) in [
        ("flame out.html --time app.jfr", "a page has it in its tab Timeline without --time"),
        ("flame out.html --heatmap app.jfr", "a heat map is an .svg, or a .json with its data"),
        ("flame out.svg --time --heatmap app.jfr", "run the command once for each"),
        ("flame out.svg --time --bottom-up app.jfr", "--bottom-up does not apply"),
        ("flame out.svg --time --icicle app.jfr", "--icicle does not apply"),
        ("flame out.svg --time --order weight app.jfr", "the order is that of time"),
        ("flame out.svg --time --style classic app.jfr", "--style classic does not apply"),
        ("flame out.svg --time --base app.jfr app.jfr", "a picture of its own"),
        ("flame out.svg --heatmap --highlight main app.jfr", "a heat map shows no functions"),
        ("flame out.svg --heatmap --color-by file app.jfr", "darker is more"),
        ("flame out.json app.jfr", "does not end in .svg or .html"),
    ] {
        let (code, messages) = run(folder.path(), line);
        assert_eq!(code, 2, "{line}: {messages}");
        assert!(messages.contains(reason), "{line}: {messages}");
        assert!(!folder.path().join("out.svg").exists(), "{line}");
    }
    for (file, reason) in
        [("pprof/go-cpu.pb.gz", "formats with times: perf.data"), ("callgrind/c.callgrind", "not stacks")]
    {
        for option in ["--time", "--heatmap"] {
            let (code, messages) =
                run(folder.path(), &format!("flame out.svg {option} {}", fixture(file).display()));
            assert_eq!(code, 2, "{file} {option}");
            assert!(messages.contains(reason), "{file} {option}: {messages}");
        }
    }
}

/// Names and threads that would end an element or an attribute.
#[test]
fn hostile_names_do_no_harm() {
    let folder = TempDir::new().unwrap();
    let text = TRACE
        .replace("parse", "</title><script>alert(1)</script>")
        .replace(r#""main""#, r#""]]>\u0007<b>&""#);
    fs::write(folder.path().join("trace.json"), text).unwrap();
    for option in ["--time", "--heatmap"] {
        let picture = written(folder.path(), "out.svg", &format!("{option} --title <&\"> trace.json"));
        check_xml(&picture);
        assert!(!picture.contains("<script>alert") && !picture.contains("<b>"), "{option}");
    }
}
