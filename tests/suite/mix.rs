//! More or fewer requests of one kind are no change of the code.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::support::needs::shared;
use crate::support::prof;
use crate::support::sides::{compare_labelled, usual, verdicts};
use prof::report::{CauseKind, Diff, DiffOutcome, RowVerdict};
use prof::stats::Normalization;

/// How often each kind of request was answered, the number of requests that `auth` was called for, and the cost of one
/// function, each in percent.
#[derive(Clone, Copy)]
struct Run {
    list: i64,
    show: i64,
    auth_of_list: i64,
    sort: i64,
}

const USUAL: Run = Run { list: 100, show: 100, auth_of_list: 100, sort: 100 };

/// Samples of a server that answers requests of two kinds, with a label that says which; other samples have none.
/// `wobble` makes runs vary as samples do.
fn server(run: Run, label: Option<&str>, wobble: i64) -> String {
    let list = [
        ("list", 300),
        ("list;query", 900),
        ("list;query;match", 700),
        ("list;sort", 800),
        ("list;page", 500),
    ];
    let show = [
        ("show", 250),
        ("show;load", 650),
        ("show;load;parse", 450),
        ("show;render", 850),
        ("show;links", 350),
    ];
    let mut text = String::new();
    let mut number = 0_i64;
    let mut add = |kind: &str, stack: &str, value: i64| {
        number += 1;
        let value = value + ((number * 7 + wobble * 5) % 11 - 5) * value.isqrt() / 8;
        let label = label.map(|key| format!(" {{{key}={kind}}}")).unwrap_or_default();
        writeln!(text, "main;serve;{stack} {value}{label}").unwrap();
    };
    add("list", "auth", 600 * run.auth_of_list / 100);
    add("show", "auth", 500 * run.show / 100);
    for (stack, value) in list {
        let cost = if stack == "list;sort" { run.sort } else { 100 };
        add("list", stack, value * run.list * cost / 10_000);
    }
    for (stack, value) in show {
        add("show", stack, value * run.show / 100);
    }
    let idle = [("collect", 400), ("flush", 300), ("log", 350), ("stats", 200), ("timer", 250)];
    for (name, value) in idle {
        writeln!(text, "main;{name} {value}").unwrap();
    }
    text
}

fn compared(new: Run, label: Option<&str>) -> Diff {
    compared_by(new, label, Normalization::Core)
}

fn compared_by(new: Run, label: Option<&str>, normalize: Normalization) -> Diff {
    let runs = |run: Run, first: i64| {
        (first..first + 3).map(|wobble| server(run, label, wobble)).collect::<Vec<_>>()
    };
    let mut options = usual();
    options.test.normalize = normalize;
    compare_labelled(&runs(USUAL, 0), &runs(new, 3), &options)
}

/// The functions that changed and the kinds of work that did.
fn found(diff: &Diff) -> (Vec<String>, Vec<(String, String)>) {
    let is_change = |row: &String| row.starts_with("regressed") || row.starts_with("improved");
    let rows = verdicts(diff).into_iter().filter(is_change).collect();
    let kinds = diff.mix.iter().flat_map(|mix| &mix.kinds);
    let ratio = |ratio: Option<f64>| ratio.map_or("same".to_string(), |ratio| format!("{ratio:.1}"));
    (rows, kinds.map(|kind| (kind.name.to_string(), ratio(kind.ratio))).collect())
}

fn kinds(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(kind, ratio)| (kind.to_string(), ratio.to_string())).collect()
}

#[test]
fn requests_of_one_kind_for_requests_of_another() {
    let new = Run { list: 170, auth_of_list: 170, show: 50, ..USUAL };
    let diff = compared(new, Some("route"));
    let (changed, mix) = found(&diff);
    assert_eq!((changed, mix), (Vec::new(), kinds(&[("show", "0.5"), ("list", "1.7")])));
    assert_eq!(diff.outcome(), DiffOutcome::Passed);
    assert_eq!((diff.causes[0].cause, &*diff.causes[0].function), (CauseKind::Mix, "list"));
    let row = diff.rows.iter().find(|row| &*row.name == "list").unwrap();
    assert!(row.verdict == RowVerdict::Mix && (row.ratio.unwrap() - 1.0).abs() < 0.02, "{row:?}");
    // Of 8,350 samples, 3,800 were those of `list` with its part of `auth`: they became 1.7 times as many. The 3,050 of
    // `show` became half as many.
    let (list, show) = (3800.0 * 0.7, 3050.0 * 0.5);
    let percent = (list - show) / 8350.0 * 100.0;
    assert!((diff.causes[0].points - percent).abs() < 1.0, "{} {percent}", diff.causes[0].points);
}

#[test]
fn more_requests_of_one_kind_only() {
    let diff = compared(Run { list: 180, auth_of_list: 180, ..USUAL }, Some("route"));
    assert_eq!(found(&diff), (Vec::new(), kinds(&[("list", "1.8"), ("show", "same")])));
    // If every run is said to have handled as many of each kind as before, they became dearer.
    let same = compared_by(Run { list: 180, auth_of_list: 180, ..USUAL }, Some("route"), Normalization::Run);
    assert!(same.mix.is_none() && same.outcome() == DiffOutcome::Failed, "{:?}", verdicts(&same));
}

#[test]
fn more_requests_of_one_kind_that_shares_no_code_with_others() {
    let without_auth = |run: Run, wobble: i64| -> String {
        let text = server(run, Some("route"), wobble);
        text.split_inclusive('\n').filter(|line| !line.contains("auth")).collect()
    };
    let runs =
        |run: Run, first: i64| (first..first + 3).map(|wobble| without_auth(run, wobble)).collect::<Vec<_>>();
    let diff = compare_labelled(&runs(USUAL, 0), &runs(Run { list: 180, ..USUAL }, 3), &usual());
    assert_eq!(found(&diff), (Vec::new(), kinds(&[("list", "1.8"), ("show", "same")])));
    assert_eq!(diff.outcome(), DiffOutcome::Passed);
}

/// If the collector has five times as much to do, what seems to be more requests may be larger data.
#[test]
fn a_collector_that_is_much_busier_speaks_against_more_requests() {
    let with_collector = |run: Run, first: i64, collector: i64| {
        let runs = (first..first + 3).map(|wobble| {
            format!(
                "{}runtime.gcBgMarkWorker;runtime.gcDrain {collector}\n",
                server(run, Some("route"), wobble)
            )
        });
        runs.collect::<Vec<_>>()
    };
    let has_mix = |collector: i64| {
        let (old, new) = (
            with_collector(USUAL, 0, 200),
            with_collector(Run { list: 150, auth_of_list: 150, ..USUAL }, 3, collector),
        );
        compare_labelled(&old, &new, &usual()).mix.is_some()
    };
    assert!(has_mix(300));
    assert!(!has_mix(1000));
}

#[test]
fn a_function_that_became_dearer_while_the_mix_changed() {
    let diff = compared(Run { list: 170, auth_of_list: 170, show: 50, sort: 220 }, Some("route"));
    let (changed, mix) = found(&diff);
    assert_eq!((changed, mix.len()), (vec!["regressed sort (self)".to_string()], 2));
    assert_eq!(diff.outcome(), DiffOutcome::Failed);
    let mut causes: Vec<_> = diff.causes.iter().map(|cause| (cause.cause, &*cause.function)).collect();
    causes.sort_unstable();
    assert_eq!(causes, [(CauseKind::Dearer, "sort"), (CauseKind::Mix, "list")]);
}

#[test]
fn a_request_that_does_its_work_twice_is_not_two_requests() {
    // `auth` was called as often as before.
    let diff = compared(Run { list: 200, ..USUAL }, Some("route"));
    assert!(diff.mix.is_none() && diff.outcome() == DiffOutcome::Failed, "{:?}", verdicts(&diff));
}

#[test]
fn more_work_of_one_thread_may_be_dearer_code() {
    let diff = compared(Run { list: 180, auth_of_list: 180, ..USUAL }, Some("thread"));
    assert!(diff.mix.is_none() && diff.outcome() == DiffOutcome::Failed, "{:?}", verdicts(&diff));
}

#[test]
fn without_labels_the_callees_of_a_function_tell_kinds_of_work() {
    // `auth`, which nothing tells apart by kind, has as much to do as before: 600 + 500 samples.
    let traded = compared(Run { list: 170, auth_of_list: 141, show: 50, ..USUAL }, None);
    let (changed, mix) = found(&traded);
    assert!(changed.is_empty(), "{changed:?}");
    let changed: Vec<_> = mix.into_iter().filter(|(_, ratio)| ratio != "same").collect();
    assert_eq!(changed, kinds(&[("show", "0.5"), ("list", "1.7")]));
    assert_eq!(traded.mix.unwrap().caller.as_deref(), Some("serve"));
    // `list` may be a stage of every request that is done twice now, if both sides are said to have done the same work.
    for normalize in [Normalization::Run, Normalization::Per { old: 3.0, new: 3.0 }] {
        let given = compared_by(Run { list: 170, auth_of_list: 141, show: 50, ..USUAL }, None, normalize);
        assert!(given.mix.is_none() && given.outcome() == DiffOutcome::Failed, "{:?}", verdicts(&given));
    }
    // Nothing was traded: the code of one kind is called more often.
    let more = compared(Run { list: 200, auth_of_list: 100, ..USUAL }, None);
    assert!(more.mix.is_none() && more.outcome() == DiffOutcome::Failed, "{:?}", verdicts(&more));
}

/// The report of `prof diff` on a recorded pair, and the exit code.
fn recorded(arguments: &[&str], format: &str) -> (String, Option<i32>) {
    let folder = shared("changes/go-mix-label");
    let arguments = [&["diff", "-q", "-f", format], arguments].concat();
    let out = prof(Path::new(&folder), &arguments).output().unwrap();
    (String::from_utf8(out.stdout).unwrap(), out.status.code())
}

#[test]
#[needs(Builds)]
fn a_recorded_server_with_another_mix_of_requests() {
    // Of 100 requests, 25 became 43 reports and 40 became 22 searches.
    let expected = [("/report", 43.0 / 25.0), ("/search", 22.0 / 40.0)];
    for (sides, is_reverse) in [(["old", "new"], false), (["new", "old"], true)] {
        let (report, code) = recorded(&sides, "json");
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!((code, &report["causes"][0]["cause"]), (Some(0), &"mix".into()), "{sides:?}");
        assert_eq!(report["mix"]["label"], "route");
        for (route, ratio) in expected {
            let kinds = report["mix"]["kinds"].as_array().unwrap();
            let kind = kinds.iter().find(|kind| kind["name"] == route).unwrap();
            let found = kind["ratio"].as_f64().unwrap();
            let ratio = if is_reverse { 1.0 / ratio } else { ratio };
            assert!((found / ratio).ln().abs() < 0.1, "{route} {found} {ratio}");
        }
    }
    // Heap profiles have no labels for requests.
    for metric in ["alloc_space", "alloc_objects"] {
        for sides in [["heap-old", "heap-new"], ["heap-new", "heap-old"]] {
            let (report, code) = recorded(&["-m", metric, sides[0], sides[1]], "json");
            let report: Value = serde_json::from_str(&report).unwrap();
            assert_eq!(
                (code, &report["mix"]["caller"]),
                (Some(0), &"main.(*server).handle".into()),
                "{metric}"
            );
        }
    }
}

#[test]
#[needs(Builds)]
fn every_output_says_that_the_mix_changed() {
    let sentence = "work per run: route=/report ×1.69, route=/search ×0.59";
    for (format, before) in [
        ("text", "main.(*server).report  different mix of work  +25.0pt"),
        ("markdown", "1. `main.(*server).report` different mix of work, +25.0pt"),
        (
            "github",
            "::notice title=different mix of work::main.(*server).report: different mix of work, +25.0pt",
        ),
        ("junit", "main.(*server).report: different mix of work, +25.0pt"),
    ] {
        let (report, _) = recorded(&["old", "new"], format);
        assert!(report.contains(before) && report.contains(sentence), "{format}\n{report}");
        assert!(!report.contains("REGRESSED") && !report.contains("::error") && !report.contains("<failure"));
    }
}
