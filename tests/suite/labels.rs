//! `prof labels --outliers` on the command line.

use std::path::Path;

use serde_json::Value;

use crate::support::prof;

const CPU: &str = "fixtures/pprof/go-cpu.pb.gz";

/// Exit code, output and messages.
fn run(arguments: &str) -> (i32, String, String) {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let out = prof(Path::new(env!("CARGO_MANIFEST_DIR")), &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

#[test]
fn outliers_have_the_values_of_top() {
    let (code, output, messages) = run(&format!("labels --outliers endpoint -f json {CPU}"));
    assert_eq!((code, &*messages), (0, ""));
    let found: Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&found["schema"], &found["key"]), (&"prof.outliers.v1".into(), &"endpoint".into()));
    let rows = found["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        for (side, endpoint) in [("inside", "/products"), ("outside", "/orders")] {
            let (_, top, _) = run(&format!("top -n 0 --label endpoint={endpoint} -f json {CPU}"));
            let top: Value = serde_json::from_str(&top).unwrap();
            let of_function = top["rows"].as_array().unwrap().iter().find(|one| one["name"] == row["name"]);
            let part = of_function.map_or(0, |one| one[row["test"].as_str().unwrap()].as_i64().unwrap());
            assert_eq!(
                (row[side]["part"].as_i64(), &row[side]["whole"]),
                (Some(part), &top["shown"]),
                "{row}"
            );
        }
    }
    let (_, csv, _) = run(&format!("labels --outliers endpoint -f csv {CPU}"));
    assert_eq!(csv.lines().count(), rows.len() + 1, "{csv}");
}

/// The endpoint that differs, the function, and the shares of the table: 0 of 1.77 s, and 2.52 of 2.73 s.
#[test]
fn outliers_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.svg", "out.html"] {
        let out = folder.path().join(name);
        let (code, output, messages) = run(&format!("labels --outliers endpoint {} {CPU}", out.display()));
        assert_eq!((code, output, messages), (0, String::new(), String::new()));
        let drawn = std::fs::read_to_string(&out).unwrap();
        let row = "/products · example.com/shop/catalog.(*Catalog).Discounted · not here · self";
        assert!(drawn.contains(row), "{drawn}");
        // Bars are 888 pixels wide at 100 %.
        assert!(drawn.contains("class=\"inside\" x=\"16\" y=\"60\" width=\"0.0\""), "{drawn}");
        let outside = format!("class=\"outside\" x=\"16\" y=\"74\" width=\"{:.1}\"", 888.0 * 252.0 / 273.0);
        assert!(drawn.contains(&outside) && drawn.contains("92.3% others"), "{drawn}");
        assert!(drawn.contains("1 value of endpoint differs from the others") && !drawn.contains("<script"));
        assert_eq!(name == "out.html", drawn.contains("<td>92.3%</td>"), "{drawn}");
    }
    let (code, _, messages) = run(&format!("labels --outliers endpoint out.png {CPU}"));
    assert!(code == 2 && messages.contains("labels: cannot write out.png"), "{messages}");
}

#[test]
fn outliers_that_cannot_be() {
    let (code, _, messages) = run(&format!("labels --outliers endpont {CPU}"));
    assert_eq!(code, 2);
    assert_eq!(
        messages,
        "error: --outliers endpont: no sample has this label\nhint: did you mean endpoint?\n"
    );
    let (_, _, messages) = run("labels --outliers region fixtures/collapsed/worked-1.folded");
    assert!(messages.ends_with("\nhint: the profile has no labels\n"), "{messages}");
    let (code, output, _) = run(&format!("labels --outliers endpoint --label endpoint=/orders {CPU}"));
    assert_eq!(code, 0);
    assert!(
        output.ends_with("endpoint has only one value, so there are no others to compare it with\n"),
        "{output}"
    );
    let (_, _, messages) = run(&format!("labels --outliers endpoint --base {CPU} {CPU}"));
    assert!(messages.starts_with("error: --outliers cannot be used with --base"), "{messages}");
}

#[test]
fn outliers_are_limited_and_filtered() {
    let (_, one, _) = run(&format!("labels --outliers endpoint -n 1 {CPU}"));
    assert!(one.contains("… 2 more differences\n") && !one.contains("ToLower"), "{one}");
    let (_, large, _) = run(&format!("labels --outliers endpoint --min-share 50 {CPU}"));
    assert!(large.contains("Discounted") && !large.contains("ToLower"), "{large}");
    let (_, hidden, _) = run(&format!("labels --outliers endpoint --hide-stacks Discounted {CPU}"));
    assert!(!hidden.contains("Discounted\n"), "{hidden}");
}

/// Sizes of allocations are labels, too, and their samples are not whole numbers.
#[test]
fn outliers_of_a_heap() {
    let (code, output, messages) = run("labels --outliers bytes fixtures/pprof/go-heap.pb.gz");
    assert_eq!((code, &*messages), (0, ""));
    assert!(output.contains("of bytes"), "{output}");
}
