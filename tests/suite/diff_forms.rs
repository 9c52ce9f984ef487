//! The output formats of a comparison for CI: a comment, annotations, a test report.

use std::collections::HashSet;

use crate::support::sides::{compare, compare_drawn, usual};
use insta::assert_snapshot;
use prof::output;
use prof::profile::{Profile, from_notation};
use prof::report::{Diff, DiffOutcome, DiffVerdict, Report, RowTest};
use prof::transform::Marks;
use prof::view::{BudgetLimit, BudgetRule};

/// Ten functions, of which `parse` has the given count and the others vary between runs like samples.
fn run(wobble: i64, parse: i64) -> String {
    let steady = [
        ("main;parse@src/parse.rs:12", parse),
        ("main;plan@src/plan.rs:3", 1501),
        ("main;sort<a|b>@src/sort.rs:40", 1210),
        ("main;hash", 811),
        ("main;read", 613),
        ("main;write", 719),
        ("main;log", 405),
        ("main;flush", 307),
        ("main;idle", 211),
    ];
    let line = |(number, (stack, count)): (usize, &(&str, i64))| {
        let shift = ((number as i64 * 7 + wobble * 5) % 11 - 5) * count.isqrt() / 8;
        format!("{stack} {}", count + shift)
    };
    steady.iter().enumerate().map(line).collect::<Vec<String>>().join("\n")
}

/// Three runs per side; `parse` costs 1.5 times as much on the new side.
fn regressed() -> Diff {
    let runs = |first: i64, parse: i64| -> Vec<Profile> {
        (first..first + 3).map(|wobble| from_notation(&run(wobble, parse))).collect()
    };
    let (old, new) = (runs(0, 2003), runs(3, 3010));
    let old: Vec<(&Profile, usize)> = old.iter().map(|profile| (profile, 0)).collect();
    let new: Vec<(&Profile, usize)> = new.iter().map(|profile| (profile, 0)).collect();
    let mut diff = compare(&old, &new, &usual());
    diff.old.inputs = vec!["main/".to_string()];
    diff.new.inputs = vec!["pr/".to_string()];
    diff
}

/// One pair, too small for a verdict.
fn undecided() -> Diff {
    compare_drawn(&["main;a 30\nmain;b 21"], &["main;a 20\nmain;b 33"], &usual())
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn markdown(diff: Diff) -> String {
    written(|out| {
        output::markdown(&Report::Diff(Box::new(diff)), &output::Style::plain(), out).unwrap();
    })
}

#[test]
fn a_comment_starts_with_the_regressions() {
    assert_snapshot!(markdown(regressed()), @r#"
    ### ❌ samples: 1 function regressed

    +12.9% in total (95% CI 10.1 to 15.9): 1 cause explains 100% of it:

    1. `parse` more expensive ×1.50 (1.44–1.57), +13.0pt
       <br>in its own code: more work per call, or more calls
       <br>`prof focus parse --base main/ pr/`

    detectable with 80% power: 1.15× for a function with a 10% share, 1.32× with a 2% share

    <details><summary>What was compared</summary>

    |     | inputs | contents                            |
    |-----|--------|-------------------------------------|
    | old | main/  | 3 profiles together: 23,332 samples |
    | new | pr/    | 3 profiles together: 26,373 samples |

    - 1 function regressed, 0 improved · 10 values tested · alpha 1%, thresholds 1.05× and 1.0pt
    - OLD and NEW are values per run as recorded, OLD% and NEW% shares of each side's own total; COST and Δ compare the sides after the old one is multiplied by 1.001, so that unchanged code costs the same on both sides; Δ is in points of the old total
    - REGRESSED: costs more than noise explains · inherits: the reason is not its own code, but a function that it calls · \~: not significant · (self): own code only, other rows include callees

    |               |  COST |    95% CI |   OLD% |   NEW% |   OLD |   NEW |       Δ |          q | FUNCTION                |
    |---------------|------:|----------:|-------:|-------:|------:|------:|--------:|-----------:|-------------------------|
    | **REGRESSED** | ×1.50 | 1.44–1.57 |  25.8% |  34.3% | 2,003 | 3,013 | +13.0pt | &lt;0.0001 | `parse` (self)          |
    | inherits      | ×1.13 | 1.09–1.17 | 100.0% | 100.0% | 7,777 | 8,791 | +12.9pt | &lt;0.0001 | `main`                  |
    | \~            | ×0.99 | 0.92–1.05 |  10.5% |   9.2% |   820 |   809 |  −0.2pt |          1 | `hash` (self)           |
    | \~            | ×1.02 | 0.95–1.10 |   7.8% |   7.1% |   609 |   621 |  +0.1pt |          1 | `read` (self)           |
    | \~            | ×0.98 | 0.90–1.07 |   5.3% |   4.6% |   409 |   401 |  −0.1pt |          1 | `log` (self)            |
    | \~            | ×1.03 | 0.91–1.17 |   2.7% |   2.4% |   206 |   213 |  +0.1pt |          1 | `idle` (self)           |
    | \~            | ×1.00 | 0.95–1.05 |  19.3% |  17.1% | 1,499 | 1,501 |   0.0pt |          1 | `plan` (self)           |
    | \~            | ×1.00 | 0.93–1.07 |   9.2% |   8.1% |   714 |   715 |   0.0pt |          1 | `write` (self)          |
    | \~            | ×1.00 | 0.90–1.11 |   4.0% |   3.5% |   310 |   310 |   0.0pt |          1 | `flush` (self)          |
    | \~            | ×1.00 | 0.95–1.06 |  15.5% |  13.7% | 1,207 | 1,208 |   0.0pt |          1 | sort&lt;a\|b&gt; (self) |

    </details>
    "#);
}

#[test]
fn a_comment_without_a_verdict_says_what_is_needed_for_one() {
    assert_snapshot!(markdown(undecided()), @r#"
    ### ⚠️ samples: no verdict

    no verdict: too few samples. For a function with a 10% share, only changes above 15.6× are detectable. Detecting 1.2× takes one run per side with about 7,890 samples, or 5 with about 1,950 each (more in all, because they also have to show how much runs differ); testing a single function (--function) takes fewer

    only one run per side, so run-to-run noise is unknown; to gate a build, give 3 or more profiles per side

    <details><summary>What was compared</summary>

    |     | inputs | contents              |
    |-----|--------|-----------------------|
    | old |        | 1 profile, 51 samples |
    | new |        | 1 profile, 53 samples |

    - 0 functions regressed, 0 improved · 3 values tested · alpha 1%, thresholds 1.05× and 1.0pt
    - OLD and NEW are values per run as recorded, OLD% and NEW% shares of each side's own total; COST and Δ compare the sides after the old one is multiplied by 1.039, so that unchanged code costs the same on both sides; Δ is in points of the old total
    - \~: not significant · (self): own code only, other rows include callees

    |    |  COST |    95% CI |   OLD% |   NEW% | OLD | NEW |       Δ |    q | FUNCTION   |
    |----|------:|----------:|-------:|-------:|----:|----:|--------:|-----:|------------|
    | \~ | ×1.50 | 0.69–3.26 |  41.2% |  62.3% |  21 |  33 | +21.1pt | 0.47 | `b` (self) |
    | \~ | ×0.65 | 0.29–1.45 |  58.8% |  37.7% |  30 |  20 | −21.1pt | 0.44 | `a` (self) |
    | \~ | ×1.00 | 0.56–1.79 | 100.0% | 100.0% |  51 |  53 |   0.0pt |    1 | `main`     |

    </details>
    "#);
}

#[test]
fn annotations_are_placed_at_the_function() {
    assert_snapshot!(written(|out| output::github(&regressed(), out).unwrap()), @r#"
    ::error file=src/parse.rs,line=12,title=cause of a performance regression::parse costs 1.50× as much relative to unchanged code (self; 95%25 CI 1.44–1.57; +13.0pt); 25.8%25 of the old total, 34.3%25 of the new; in its own code: more work per call, or more calls
    ::notice title=prof diff::1 function regressed, 0 improved · 10 values tested · alpha 1%25, thresholds 1.05× and 1.0pt%0Adetectable with 80%25 power: 1.15× for a function with a 10%25 share, 1.32× with a 2%25 share
    "#);
}

#[test]
fn annotations_without_a_verdict_warn() {
    assert_snapshot!(written(|out| output::github(&undecided(), out).unwrap()), @r#"
    ::warning title=prof diff::only one run per side, so run-to-run noise is unknown; to gate a build, give 3 or more profiles per side
    ::warning title=prof diff::0 functions regressed, 0 improved · 3 values tested · alpha 1%25, thresholds 1.05× and 1.0pt%0Ano verdict: too few samples. For a function with a 10%25 share, only changes above 15.6× are detectable. Detecting 1.2× takes one run per side with about 7,890 samples, or 5 with about 1,950 each (more in all, because they also have to show how much runs differ); testing a single function (--function) takes fewer
    "#);
}

#[test]
fn junit_reports_have_one_test_per_function() {
    let report = written(|out| output::junit(&regressed(), out).unwrap());
    assert_snapshot!(report, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites tests="11" failures="1" skipped="0">
      <testsuite name="prof diff" tests="11" failures="1" skipped="0">
        <testcase classname="prof diff" name="evidence"/>
        <testcase classname="prof diff" name="self of parse" file="src/parse.rs">
          <failure message="parse costs 1.50× as much relative to unchanged code (self; 95% CI 1.44–1.57; +13.0pt); 25.8% of the old total, 34.3% of the new; in its own code: more work per call, or more calls"/>
        </testcase>
        <testcase classname="prof diff" name="total of main"/>
        <testcase classname="prof diff" name="self of hash"/>
        <testcase classname="prof diff" name="self of read"/>
        <testcase classname="prof diff" name="self of log"/>
        <testcase classname="prof diff" name="self of idle"/>
        <testcase classname="prof diff" name="self of plan" file="src/plan.rs"/>
        <testcase classname="prof diff" name="self of write"/>
        <testcase classname="prof diff" name="self of flush"/>
        <testcase classname="prof diff" name="self of sort&lt;a|b&gt;" file="src/sort.rs"/>
        <system-out>1 function regressed, 0 improved · 10 values tested · alpha 1%, thresholds 1.05× and 1.0pt; detectable with 80% power: 1.15× for a function with a 10% share, 1.32× with a 2% share; parse costs 1.50× as much relative to unchanged code (self; 95% CI 1.44–1.57; +13.0pt); 25.8% of the old total, 34.3% of the new; in its own code: more work per call, or more calls</system-out>
      </testsuite>
    </testsuites>
    "#);
    // Escaped names are read back unchanged.
    let mut reader = quick_xml::Reader::from_str(&report);
    let mut names = HashSet::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Empty(element) | quick_xml::events::Event::Start(element) => {
                for attribute in element.attributes() {
                    let attribute = attribute.unwrap();
                    if attribute.key.as_ref() == "name" {
                        names.insert(attribute.value.into_owned());
                    }
                }
            }
            _ => {}
        }
    }
    assert!(names.contains("self of sort&lt;a|b&gt;"), "{names:?}");
}

#[test]
fn every_row_has_the_documented_keys_and_finite_numbers() {
    let new = run(1, 0).replace("main;parse@src/parse.rs:12 0", "main;fresh 2000");
    let diff = compare_drawn(&[&run(0, 2000)], &[&new], &usual());
    let json = written(|out| output::json(&Report::Diff(Box::new(diff)), out).unwrap());
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let row = [
        "name",
        "file",
        "old",
        "new",
        "delta",
        "test",
        "ratio",
        "ratio_low",
        "ratio_high",
        "points",
        "p",
        "q",
        "verdict",
        "line",
        "samples",
        "tested",
        "moved",
    ];
    for found in document["rows"].as_array().unwrap() {
        assert_eq!(keys(found), row);
    }
    let fresh = document["rows"].as_array().unwrap().iter().find(|row| row["name"] == "fresh").unwrap();
    assert!(fresh["ratio"].is_null() && fresh["p"].is_number());
    assert_eq!(document["schema"], "prof.diff.v1");
    assert_eq!(keys(&document["old"]), ["inputs", "profiles", "total", "samples", "chosen", "duration_ns"]);
    assert_eq!(keys(&document["normalize"]), ["method", "ratio"]);
    assert_eq!(keys(&document["noise"]), ["phi", "tau"]);
    assert_eq!(keys(&document["detectable"][0]), ["share", "ratio"]);
}

#[test]
fn budgets_are_checked_on_the_new_side() {
    let (old, new) = (run(0, 2003), run(1, 2003));
    let profile = from_notation(&format!("{old}\n{new}"));
    let rule = |measure: RowTest, limit: BudgetLimit| BudgetRule {
        // All profiles built from these drawings have the same frame ids.
        functions: Some(Marks::new(
            &profile,
            &prof::pattern::Patterns::parse(&["^parse$"], false).unwrap().0,
        )),
        pattern: "^parse$".to_string(),
        measure,
        limit,
        rule: "total of `^parse$` at most …".to_string(),
        owner: Some("parsing".to_string()),
    };
    for (limit, exceeded) in [
        (BudgetLimit::Percent(20.0), true),
        (BudgetLimit::Percent(30.0), false),
        (BudgetLimit::Value(1900.0), true),
        (BudgetLimit::Value(2100.0), false),
    ] {
        let options = prof::view::DiffOptions { budgets: vec![rule(RowTest::Total, limit)], ..usual() };
        let diff = compare_drawn(&[&old], &[&new], &options);
        assert_eq!(diff.budgets[0].exceeded, exceeded, "{limit:?}: {}", diff.budgets[0].value);
        assert_eq!(diff.outcome() == DiffOutcome::Failed, exceeded);
        assert_ne!(diff.verdict, DiffVerdict::Regressed);
        assert_eq!(written(|out| output::github(&diff, out).unwrap()).contains("::error"), exceeded);
    }
}
