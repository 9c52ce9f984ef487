//! Values near the limits of 64 bits are exact or rejected with a message; they never wrap around.

use std::fs;
use std::path::Path;

use crate::support::prof;
use serde_json::Value;

/// Exit code, standard output and standard error.
fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = prof(folder, arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const VIEWS: &[&[&str]] = &[
    &["top"],
    &["tree"],
    &["tree", "--bottom-up"],
    &["focus", "main"],
    &["hot"],
    &["graph"],
    &["labels"],
    &["traces"],
    &["info"],
    &["source", "main"],
    &["flame", "-o", "-"],
    &["flame", "out.html", "--force"],
    &["convert", "-o", "out.pb.gz"],
    &["convert", "-o", "out.folded"],
    &["convert", "-o", "out.speedscope.json"],
    &["convert", "-o", "out.cpuprofile"],
    &["convert", "-o", "out.callgrind"],
];

/// Collapsed stacks with these values, one per stack.
fn folded(folder: &Path, name: &str, values: &[&str]) {
    let line = |(number, value): (usize, &&str)| format!("main;f{number} {value}\n");
    fs::write(folder.join(name), values.iter().enumerate().map(line).collect::<String>()).unwrap();
}

#[test]
fn the_largest_values_are_exact_in_every_view() {
    let folder = tempfile::tempdir().unwrap();
    // Together 2⁶³ − 2, the largest total that can be distinguished from a saturated one.
    let values = ["4611686018427387903", "4611686018427387902", "1"];
    folded(folder.path(), "large.folded", &values);
    folded(folder.path(), "small.folded", &["1", "0", "-1"]);
    for view in VIEWS {
        for form in ["text", "json", "csv", "markdown"] {
            if form != "text" && matches!(view[0], "flame" | "convert") {
                continue;
            }
            let form = if matches!(view[0], "flame" | "convert") { vec![] } else { vec!["-f", form] };
            let (code, _, errors) = run(folder.path(), &[*view, &["large.folded"], &form].concat());
            assert_eq!(code, Some(0), "{view:?}: {errors}");
        }
    }
    let (_, text, _) = run(folder.path(), &["top", "-f", "json", "large.folded"]);
    let top: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(top["total"], i64::MAX - 1);
    let row = |name: &str| top["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("f0")["self"], 4_611_686_018_427_387_903_i64);
    assert_eq!(row("main")["total"], i64::MAX - 1);
    // Both sides of a comparison have to fit together.
    let (code, _, errors) = run(folder.path(), &["diff", "large.folded", "large.folded"]);
    assert!(code == Some(2) && errors.contains("64 bits"), "{errors}");
    let (code, _, errors) = run(folder.path(), &["top", "--base", "large.folded", "large.folded"]);
    assert!(code == Some(2) && errors.contains("64 bits"), "{errors}");
    let scaled = ["top", "--base", "small.folded", "--normalize", "per=1,1e18", "large.folded"];
    let (code, _, errors) = run(folder.path(), &scaled);
    assert!(code == Some(2) && errors.contains("64 bits"), "{errors}");
    for merged in [&["top", "large.folded", "large.folded"][..], &["top", "large.folded", "small.folded"]] {
        let (code, _, errors) = run(folder.path(), merged);
        assert!(code == Some(2) && errors.contains("64 bits"), "{errors}");
    }
}

#[test]
fn totals_beyond_64_bits_are_rejected_in_every_view() {
    let folder = tempfile::tempdir().unwrap();
    let cases: &[&[&str]] = &[
        &["9223372036854775807"],
        &["-9223372036854775808"],
        &["9223372036854775808"],
        &["18446744073709551615"],
        &["18446744073709551616"],
        &["99999999999999999999999999999999999999999999"],
        &["9223372036854775806", "2"],
        &["9223372036854775806", "-2"],
        &["9223372036854775806", "0.000001"],
    ];
    for (number, values) in cases.iter().enumerate() {
        let name = format!("{number}.folded");
        folded(folder.path(), &name, values);
        for view in VIEWS {
            let (code, text, errors) = run(folder.path(), &[*view, &[name.as_str()]].concat());
            assert!(code == Some(2) && text.is_empty(), "{view:?} of {values:?}: {text}{errors}");
            assert!(errors.contains("64 bits"), "{view:?} of {values:?}: {errors}");
        }
    }
}

#[test]
fn totals_of_zero_and_values_of_both_signs_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (name, values) in [
        ("zero.folded", &["0", "0"][..]),
        ("both.folded", &["4611686018427387000", "-4611686018427387000"]),
        ("negative.folded", &["-5", "-7"]),
        ("fractions.folded", &["0.000001", "-0.5", "1e3"]),
    ] {
        folded(folder.path(), name, values);
        for view in VIEWS {
            let (code, _, errors) = run(folder.path(), &[*view, &[name]].concat());
            let refused_in_words = code == Some(2) && errors.starts_with("error: ");
            assert!(code == Some(0) || refused_in_words, "{view:?} of {name}: {errors}");
        }
    }
    let (_, text, _) = run(folder.path(), &["top", "-f", "json", "both.folded"]);
    let top: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(top["total"], 9_223_372_036_854_774_000_i64);
    assert_eq!(top["rows"][0]["self"].as_i64().map(i64::abs), Some(4_611_686_018_427_387_000));
}

#[test]
fn invalid_weights_in_json_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let speedscope = |weight: &str| {
        format!(
            r#"{{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{{"frames":[{{"name":"main"}}]}},
            "profiles":[{{"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":1,"samples":[[0],[0]],"weights":[1,{weight}]}}]}}"#
        )
    };
    for weight in
        ["NaN", "Infinity", "-Infinity", "1e400", "1e300", "-1e300", "9223372036854775807", "null", "\"1\""]
    {
        let path = folder.path().join("weights.json");
        fs::write(path, speedscope(weight)).unwrap();
        let (code, text, errors) = run(folder.path(), &["top", "weights.json"]);
        assert!(
            code == Some(2) && text.is_empty() && errors.starts_with("error: "),
            "{weight}: {text}{errors}"
        );
    }
    fs::write(folder.path().join("weights.json"), speedscope("2.25")).unwrap();
    let (code, text, _) = run(folder.path(), &["top", "-f", "json", "weights.json"]);
    let top: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (code, &top["total"], &top["metric"]["divisor"]),
        (Some(0), &Value::from(325), &Value::from(100))
    );
}
