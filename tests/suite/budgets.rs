//! Budgets without an old side: `prof diff --budget FILE --new NEW...`.

use std::fs;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::prof;

/// Two runs, in which `parse` has 100 + 200 of 400 + 600 samples, and budgets of which one is exceeded.
fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("1.folded", "main;parse 100\nmain;draw 300\n");
    write("2.folded", "main;parse 200\nmain;draw 400\n");
    write(
        "budgets.toml",
        "[[budget]]\nfunction = \"^parse$\"\ntotal = \"25 %\"\nowner = \"parsing\"\n[[budget]]\nfunction = \"draw\"\nself = \"350\"\n",
    );
    write("kept.toml", "[[budget]]\nfunction = \"parse\"\ntotal = \"31 %\"\n");
    folder
}

/// The exit code, standard output and standard error.
fn check(folder: &TempDir, arguments: &str) -> (i32, String, String) {
    let words: Vec<&str> = std::iter::once("diff").chain(arguments.split_whitespace()).collect();
    let out = prof(folder.path(), &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

#[test]
fn budgets_are_checked_without_an_old_side() {
    let folder = folder();
    let (code, text, error) = check(&folder, "--budget budgets.toml --new 1.folded 2.folded");
    assert_eq!((code, &*error), (1, ""), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    // 300 of 1,000 samples; 700 in two runs.
    assert_eq!(
        lines[1..],
        [
            "budget exceeded: total of `^parse$` is 30.0%, limit 25% (owner: parsing)",
            "within budget: self of `draw` is 350, limit 350",
            "1 of 2 budgets exceeded · values are averages of 2 runs; the total above is their sum · exit 1",
        ]
    );
    let (code, text, _) = check(&folder, "--budget kept.toml --new 1.folded");
    assert!(code == 0 && text.ends_with("0 budgets exceeded · exit 0\n"), "{text}");
    assert!(text.contains("within budget: total of `parse` is 25.0%, limit 31%"), "{text}");
    // The value and the verdict are those of a comparison.
    let (code, text, _) = check(&folder, "--budget budgets.toml --old 1.folded --new 1.folded 2.folded");
    assert!(code == 1 && text.contains(lines[1]) && text.contains(lines[2]), "{text}");
}

/// What a comparison folds is folded here, too, so `draw` has 400 samples: the report has to say so.
#[test]
fn the_report_says_what_was_folded() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("go.folded", "main;parse 600\nmain;draw 300\nmain;draw;runtime.asyncPreempt 100\n");
    write("draw.toml", "[[budget]]\nfunction = \"^draw$\"\nself = \"39 %\"\n");
    let (code, text, _) = check(&folder, "--budget draw.toml --new go.folded");
    assert_eq!(
        (code, text.lines().skip(1).collect::<Vec<_>>()),
        (
            1,
            vec![
                "folded into the functions that call them: runtime.asyncPreempt (10.0%)",
                "budget exceeded: self of `^draw$` is 40.0%, limit 39%",
                "1 budget exceeded · exit 1",
            ]
        )
    );
    let (_, json, _) = check(&folder, "--budget draw.toml --new go.folded -f json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["folded"], serde_json::json!([{"name": "runtime.asyncPreempt", "old": 0, "new": 100}]));
}

#[test]
fn one_profile_without_new_gets_a_hint_at_it() {
    let (code, _, error) = check(&folder(), "--budget kept.toml 1.folded");
    assert_eq!(code, 2, "{error}");
    assert!(
        error.contains("hint: to check only budgets: prof diff --budget kept.toml --new 1.folded"),
        "{error}"
    );
}

#[test]
fn every_format_has_the_results() {
    let folder = folder();
    let budgets =
        |format: &str| check(&folder, &format!("--budget budgets.toml --new 1.folded 2.folded -f {format}"));
    let (code, json, _) = budgets("json");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((code, &json["schema"]), (1, &"prof.budgets.v1".into()));
    assert_eq!((&json["new"]["profiles"], &json["new"]["total"]), (&2.into(), &1000.into()));
    let first = &json["budgets"][0];
    assert_eq!(
        (&first["value"], &first["exceeded"], &first["cost"]),
        (&30.0.into(), &true.into(), &300.into())
    );
    assert_eq!(json["budgets"][1]["exceeded"], false);

    let (_, csv, _) = budgets("csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 3, "{csv}");
    assert!(lines[0].starts_with("rule,pattern,test,owner,value,limit,exceeded"), "{csv}");
    assert!(lines[1].contains("^parse$,total,parsing,30"), "{csv}");

    let (_, markdown, _) = budgets("markdown");
    assert!(
        markdown.contains("budget exceeded: total of") && markdown.contains("1 of 2 budgets"),
        "{markdown}"
    );
    let (_, github, _) = budgets("github");
    assert!(
        github.starts_with("::error title=performance budget exceeded::budget exceeded: total of"),
        "{github}"
    );
    assert!(github.contains("::notice title=within performance budget::"), "{github}");
    let (_, junit, _) = budgets("junit");
    assert!(junit.contains("tests=\"2\" failures=\"1\" skipped=\"0\""), "{junit}");
    assert_eq!(junit.matches("<testcase ").count(), 2, "{junit}");
    assert!(junit.trim_end().ends_with("</testsuites>"), "{junit}");
}

#[test]
fn what_needs_an_old_side_says_so() {
    let folder = folder();
    for (arguments, message) in [
        ("--new 1.folded", "--old is missing"),
        (
            "--budget kept.toml --strict --new 1.folded",
            "--strict is about a comparison, but there is no old side",
        ),
        ("--budget kept.toml --function parse --new 1.folded", "--function is about a comparison"),
    ] {
        let (code, text, error) = check(&folder, arguments);
        assert!(code == 2 && text.is_empty() && error.contains(message), "{arguments}: {error}");
    }
    fs::write(folder.path().join("typo.toml"), "[[budget]]\nfunction = \"prase\"\ntotal = \"1 %\"\n")
        .unwrap();
    let (code, _, error) = check(&folder, "--budget typo.toml --new 1.folded");
    assert!(code == 2 && error.contains("prase"), "{error}");
}
