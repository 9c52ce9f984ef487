//! Artefacts of profilers: marked by views, folded by `--fold` and `diff`, with the same numbers everywhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{fixture, prof};

/// Self by function, worked out by hand below.
const PICTURE: &str = "main;work;runtime.asyncPreempt 2\n\
                       main;work 3\n\
                       main;work;runtime.asyncPreempt;runtime.asyncPreempt2 4\n\
                       main;runtime.asyncPreempt;runtime.schedule 5\n\
                       main;tick 6\n";

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = prof(folder, arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.folded"), PICTURE).unwrap();
    folder
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let (code, out, error) = run(folder, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {error}");
    serde_json::from_str(&out).unwrap()
}

fn self_values(document: &Value) -> BTreeMap<String, i64> {
    let rows = document["rows"].as_array().unwrap();
    rows.iter()
        .map(|row| (row["name"].as_str().unwrap().to_string(), row["self"].as_i64().unwrap()))
        .collect()
}

#[test]
fn fold_gives_the_self_of_artefacts_to_their_callers() {
    let folder = folder();
    let top = |arguments: &[&str]| {
        let mut all = vec!["top", "-f", "json"];
        all.extend(arguments);
        json(folder.path(), &all)
    };
    let plain = self_values(&top(&["a.folded"]));
    assert_eq!((plain["work"], plain["runtime.asyncPreempt"], plain["runtime.asyncPreempt2"]), (3, 2, 4));
    // The profile directly after the option is not taken for its value.
    let folded = self_values(&top(&["--fold", "a.folded"]));
    assert_eq!((folded["work"], folded["runtime.schedule"], folded["main"], folded["tick"]), (9, 5, 0, 6));
    // In the middle of a stack it has no self value, and is kept.
    assert_eq!(folded["runtime.asyncPreempt"], 0);
    let named = self_values(&top(&["--fold=^tick$", "a.folded"]));
    assert_eq!((named["work"], named["main"]), (9, 6));
    // Folding comes before all other filters, so that these see the same stacks.
    let leaf = self_values(&top(&["--prune-from", "work", "--fold", "a.folded"]));
    assert_eq!(leaf["work"], 9);
    let (code, _, error) = run(folder.path(), &["top", "--fold=nothing", "a.folded"]);
    assert_eq!(code, Some(0));
    assert!(error.contains("--fold=nothing: nothing matches"), "{error}");
}

#[test]
fn every_view_and_convert_fold_artefacts() {
    let folder = folder();
    for view in ["tree", "hot", "graph", "traces", "labels", "info", "top"] {
        let (code, out, error) = run(folder.path(), &[view, "--fold", "-f", "json", "a.folded"]);
        let unknown = error.contains("has no option --fold");
        assert!(code == Some(0) || view == "info" && unknown, "{view}: {error}");
        assert!(!out.contains("asyncPreempt2"), "{view}: {out}");
    }
    let (code, ..) = run(folder.path(), &["convert", "--fold", "-o", "folded.folded", "a.folded"]);
    assert_eq!(code, Some(0));
    let written = fs::read_to_string(folder.path().join("folded.folded")).unwrap();
    assert!(written.contains("main;work 9\n") && !written.contains("asyncPreempt2"), "{written}");
    let (code, ..) = run(folder.path(), &["flame", "--fold", "out.svg", "a.folded"]);
    assert_eq!(code, Some(0));
    assert!(!fs::read_to_string(folder.path().join("out.svg")).unwrap().contains("asyncPreempt2"));
    let (code, out, _) = run(folder.path(), &["focus", "work", "--fold", "-f", "json", "a.folded"]);
    assert_eq!((code, serde_json::from_str::<Value>(&out).unwrap()["self"].as_i64()), (Some(0), Some(9)));
}

#[test]
fn views_mark_artefacts_and_name_the_functions_they_interrupted() {
    let folder = folder();
    let document = json(folder.path(), &["top", "-f", "json", "a.folded"]);
    let artefacts = document["artefacts"].to_string();
    assert_eq!(
        artefacts,
        r#"[{"name":"runtime.asyncPreempt2","self":4},{"name":"runtime.asyncPreempt","self":2}]"#
    );
    for row in document["rows"].as_array().unwrap() {
        let expected = row["name"].as_str().unwrap().starts_with("runtime.asyncPreempt");
        assert_eq!(row["artefact"].as_bool().unwrap_or(false), expected, "{row}");
        assert!(!expected || row["candidate"] == false, "{row}");
    }
    let words = "profiler artefact: runtime.asyncPreempt2, self 4 (20.0%); runtime.asyncPreempt, self 2 (10.0%); \
                 this cost belongs to the callers, and --fold moves it there";
    for view in [
        &["top"][..],
        &["tree"],
        &["tree", "--bottom-up"],
        &["graph"],
        &["traces"],
        &["top", "-f", "markdown"],
    ] {
        let said =
            |more: &[&str]| run(folder.path(), &[view, more, &["a.folded"]].concat()).1.replace('\n', " ");
        assert!(said(&[]).contains(words), "{view:?}: {}", said(&[]));
        assert!(!said(&["--fold"]).contains("artefact"), "{view:?}: {}", said(&["--fold"]));
        if !view.contains(&"markdown") {
            assert!(said(&[]).contains("runtime.asyncPreempt2 †"), "{view:?}: {}", said(&[]));
        }
    }
}

/// Collects the name of each marked object, wherever it is in a document.
fn marked(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| marked(value, names)),
        Value::Object(fields) => {
            if fields.get("artefact").is_some_and(|artefact| artefact == true) {
                names.push(fields["name"].as_str().unwrap().trim_start_matches("runtime.").to_string());
            }
            fields.values().for_each(|value| marked(value, names));
        }
        _ => {}
    }
}

#[test]
fn json_of_every_view_marks_artefacts() {
    let folder = folder();
    for (view, expected) in [
        (&["graph"][..], &["asyncPreempt", "asyncPreempt2"][..]),
        (&["focus", "^work$"], &["asyncPreempt"]),
        (&["focus", "^runtime.asyncPreempt2$"], &["asyncPreempt"]),
        // What holds no self of its own in these stacks is not marked.
        (&["hot", "--show-stacks", "Preempt2"], &["asyncPreempt2"]),
    ] {
        let names = |more: &[&str]| {
            let mut names = Vec::new();
            marked(&json(folder.path(), &[view, more, &["-f", "json", "a.folded"]].concat()), &mut names);
            names.sort();
            names.dedup();
            names
        };
        assert_eq!(names(&[]), expected, "{view:?}");
    }
}

#[test]
fn pictures_mark_artefacts_in_tooltips() {
    let folder = folder();
    let tooltips = |fold: &str| {
        let arguments = ["flame", "a.svg", "a.folded", fold];
        let arguments = &arguments[..if fold.is_empty() { 3 } else { 4 }];
        assert_eq!(run(folder.path(), arguments).0, Some(0));
        fs::read_to_string(folder.path().join("a.svg")).unwrap()
    };
    let words = "profiler artefact: its self belongs to the caller";
    // Below `work`, below that, and below `main`.
    assert_eq!(tooltips("").matches(words).count(), 3);
    assert_eq!(tooltips("--fold").matches(words).count(), 0);
}

#[test]
fn diff_reports_what_it_folded_and_agrees_with_top() {
    let folder = folder();
    for (name, format) in [("go-cpu-old", "json"), ("go-cpu-new", "json")] {
        let profile = fixture(&format!("pprof/{name}.pb.gz")).display().to_string();
        let plain = json(folder.path(), &["top", "-f", format, &profile]);
        let folded = self_values(&json(folder.path(), &["top", "--fold", "-f", format, &profile]));
        let diff = json(folder.path(), &["diff", "-q", "-n", "0", "-f", "json", &profile, &profile]);
        for row in diff["rows"].as_array().unwrap() {
            assert_eq!(row["old"]["self"].as_i64(), Some(folded[row["name"].as_str().unwrap()]), "{row}");
        }
        let self_of = |value: &Value, key: &str| -> i64 {
            let all = value.as_array().map(Vec::as_slice).unwrap_or_default();
            all.iter().map(|row| row[key].as_i64().unwrap()).sum()
        };
        let folded = self_of(&diff["folded"], "old");
        assert_eq!(folded, self_of(&plain["artefacts"], "self"), "{name}");
        assert_eq!(folded, self_of(&diff["folded"], "new"), "{name}");
    }
    // 6 of 20 in the artefacts on both sides; `--fold NAME` adds to them.
    for (arguments, words) in [
        (
            &["diff", "-q"][..],
            "runtime.asyncPreempt2 (20.0% of old, 20.0% of new), runtime.asyncPreempt (10.0% of old",
        ),
        (
            &["diff", "-q", "--fold", "^tick$"],
            "tick (30.0% of old, 30.0% of new), runtime.asyncPreempt2 (20.0% of old",
        ),
        (
            &["diff", "-q", "-f", "markdown"],
            "folded into the functions that call them: runtime.asyncPreempt2 (20.0%",
        ),
    ] {
        let (_, out, error) = run(folder.path(), &[arguments, &["a.folded", "a.folded"]].concat());
        assert!(out.replace('\n', " ").contains(words), "{arguments:?}: {out}{error}");
    }
}
