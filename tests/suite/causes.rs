//! Why costs changed: each kind of cause on small programs whose change is known.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::tempdir;

use crate::support::prof;

/// The causes that `prof diff` finds between two texts of collapsed stacks, and what it prints for people.
fn causes(old: &str, new: &str) -> (Vec<Value>, String) {
    let folder = tempdir().unwrap();
    for (name, text) in [("old.folded", old), ("new.folded", new)] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |format: &str| {
        let arguments = ["diff", "-q", "--noise", "steady", "-f", format, "old.folded", "new.folded"];
        prof(folder.path(), &arguments).output().unwrap().stdout
    };
    let report: Value = serde_json::from_slice(&run("json")).unwrap();
    (report["causes"].as_array().unwrap().clone(), String::from_utf8(run("text")).unwrap())
}

/// Stacks of `work` and of eight functions that do not change, which `main` calls.
fn program(work: &str) -> String {
    let others = (1..=8).map(|number| format!("main;other{number} {}\n", 2000 + 100 * number));
    others.chain([work.to_string()]).collect()
}

fn check(old: &str, new: &str, kind: &str, function: &str, sentence: &str) {
    check_all(old, new, &[(kind, function)], sentence);
}

fn check_all(old: &str, new: &str, expected: &[(&str, &str)], sentence: &str) {
    let (causes, text) = causes(&program(old), &program(new));
    let found: Vec<(&str, &str)> = causes
        .iter()
        .filter(|cause| !is_saving(cause))
        .map(|cause| (cause["cause"].as_str().unwrap(), cause["function"].as_str().unwrap()))
        .collect();
    assert_eq!(found, expected, "{text}");
    for cause in &causes {
        check_summary(cause);
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(sentence), "{sentence}\n{text}");
}

/// What a script prints of a cause agrees with its details.
fn check_summary(cause: &Value) {
    let kind = if cause["cause"] == "gc" { "knock-on" } else { cause["cause"].as_str().unwrap() };
    assert_eq!((&cause["kind"], &cause["share"]), (&json!(kind), &cause["explains"]), "{cause}");
    let delta = cause["delta"].as_i64().unwrap();
    let points = cause["points"].as_f64().unwrap();
    assert_eq!((delta > 0, delta < 0), (points > 0.0, points < 0.0), "{cause}");
    assert_eq!(cause["low"].is_null(), cause["ratio_low"].is_null(), "{cause}");
    if let (Some(low), Some(high)) = (cause["low"].as_i64(), cause["high"].as_i64()) {
        assert!(low <= delta && delta <= high, "{cause}");
    }
    assert!(!cause["evidence"].as_str().unwrap().is_empty(), "{cause}");
    let command = cause["command"].as_str().unwrap();
    assert!(command.starts_with("prof ") && command.ends_with(" --base old.folded new.folded"), "{cause}");
}

#[test]
fn own_code_that_costs_more() {
    check(
        "main;run;hash 1000\nmain;run;pack 1000\n",
        "main;run;hash 1800\nmain;run;pack 1000\n",
        "dearer",
        "hash",
        "1 hash more expensive ×1.80",
    );
}

/// Whether something explains what became cheaper.
fn is_saving(cause: &Value) -> bool {
    cause["points"].as_f64() < Some(0.0)
}

/// Each change, and the same the other way round.
#[test]
fn what_became_cheaper_has_the_causes_that_it_would_have_if_it_had_become_more_expensive() {
    let cases = [
        (
            "main;run;hash 1000\nmain;run;pack 1000\n",
            "main;run;hash 1800\nmain;run;pack 1000\n",
            "cheaper",
            "hash",
            "less work per call, or fewer calls",
        ),
        (
            "main;get;hash 1000\nmain;put;hash 1000\nmain;get 300\nmain;put 300\n",
            "main;get;hash 2400\nmain;put;hash 1000\nmain;get 300\nmain;put 300\n",
            "called-less",
            "hash",
            "only when called from get",
        ),
        (
            "main;get;hash 1000\nmain;put;hash 1000\nmain;get 300\nmain;put 300\n",
            "main;get;hash 1900\nmain;put;hash 1900\nmain;get 300\nmain;put 300\n",
            "cheaper",
            "hash",
            "equally from all 2 callers, so the function itself changed",
        ),
        (
            "main;run;hash 1000\nmain;pack 600\n",
            "main;run;hash 1000\nmain;pack 600\nmain;pack;hash 1100\n",
            "called-less",
            "hash",
            "pack → hash",
        ),
        (
            "main;run 1000\nmain;pack 600\n",
            "main;run 1000\nmain;pack 600\nmain;pack;check 900\n",
            "cheaper",
            "pack",
            "it no longer calls check",
        ),
    ];
    for (old, new, kind, function, evidence) in cases {
        // Values without a common divisor are numbers of samples.
        let [old, new] = [old, new].map(|work| program(work) + "main;tick 1\n");
        let (grown, text) = causes(&old, &new);
        let (saved, reversed) = causes(&new, &old);
        let functions = |causes: &[Value], saves: bool| -> Vec<Value> {
            causes
                .iter()
                .filter(|cause| is_saving(cause) == saves)
                .map(|cause| cause["function"].clone())
                .collect()
        };
        assert_eq!(functions(&grown, false), functions(&saved, true), "{text}\n{reversed}");
        assert!(
            functions(&grown, true).is_empty() && functions(&saved, false).is_empty(),
            "{text}\n{reversed}"
        );
        assert!(!grown.is_empty() && !saved.is_empty(), "{text}\n{reversed}");
        let (up, down) = (&grown[0], &saved[0]);
        assert_eq!((&down["kind"], &down["function"]), (&json!(kind), &json!(function)), "{reversed}");
        assert!(down["evidence"].as_str().unwrap().contains(evidence), "{down}");
        check_summary(down);
        let number = |cause: &Value, key: &str| cause[key].as_f64().unwrap();
        assert!((number(up, "ratio") * number(down, "ratio") - 1.0).abs() < 1e-9, "{up}\n{down}");
        assert!((number(up, "ratio_low") * number(down, "ratio_high") - 1.0).abs() < 1e-9, "{up}\n{down}");
        // Both are values of the same recordings, here without rescaling.
        assert!((number(up, "delta") + number(down, "delta")).abs() <= 1.0, "{up}\n{down}");
        assert!((number(down, "share") - 1.0).abs() < 1e-9, "{down}");
        assert!(reversed.contains("−") && reversed.contains("in total (95% CI −"), "{reversed}");
    }
}

/// 800 of 26,000 samples; the summary says it in the metric's unit.
#[test]
fn the_summary_of_a_cause_has_what_it_costs_and_where_it_comes_from() {
    let (found, _) = causes(&program("main;run;hash 1000\n"), &program("main;run;hash 1800\n"));
    let [cause] = &found[..] else { panic!("{found:?}") };
    assert!((750..=850).contains(&cause["delta"].as_i64().unwrap()), "{cause}");
    assert_eq!(cause["from"], Value::Null);
    assert_eq!(cause["command"], "prof focus hash --base old.folded new.folded");
    let (found, _) =
        causes(&program("main;run;hash 1000\n"), &program("main;run;hash 1000\nmain;pack;hash 1000\n"));
    assert_eq!(
        (&found[0]["kind"], &found[0]["function"], &found[0]["from"]),
        (&json!("new-path"), &json!("hash"), &json!("main")),
        "{found:?}"
    );
    let (found, _) = causes(&program("main;run;hash 1000\n"), &program("main;run;digest 1000\n"));
    assert_eq!(
        (&found[0]["kind"], &found[0]["function"], &found[0]["from"]),
        (&json!("renamed"), &json!("digest"), &json!("hash")),
        "{found:?}"
    );
    assert_eq!(
        (&found[0]["delta"], &found[0]["evidence"]),
        (&json!(0), &json!("hash → digest (renamed)")),
        "{found:?}"
    );
}

/// `run` has no own code at all, so only the new functions that it calls cost more.
#[test]
fn several_new_callees_are_not_own_code_of_their_caller() {
    check(
        "main;run;old 500\n",
        "main;run;old 500\nmain;run;first 900\nmain;run;second 700\n",
        "dearer",
        "run",
        "it calls first, which was not seen before",
    );
}

#[test]
fn a_function_that_costs_more_whoever_calls_it() {
    check(
        "main;a;hash 600\nmain;b;hash 500\nmain;c;hash 550\nmain;a 900\nmain;b 900\nmain;c 900\n",
        "main;a;hash 1200\nmain;b;hash 1000\nmain;c;hash 1100\nmain;a 900\nmain;b 900\nmain;c 900\n",
        "dearer",
        "hash",
        "equally from all 3 callers, so the function itself changed",
    );
}

#[test]
fn a_function_that_costs_more_only_when_called_from_one_place() {
    check(
        "main;a;hash 600\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "main;a;hash 1500\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "called-more",
        "hash",
        "only when called from a",
    );
}

/// All calls of `parse` come from `render`, which `row` calls for the same work as before.
#[test]
fn a_function_whose_only_caller_is_called_for_more_work_further_up() {
    check(
        "main;row;render;parse 600\nmain;details;render;parse 600\nmain;row 900\nmain;details 900\n",
        "main;row;render;parse 600\nmain;details;render;parse 1500\nmain;row 900\nmain;details 900\n",
        "called-more",
        "parse",
        "only when called from details",
    );
}

/// What a compiled function costs in `trace` may be a call from `render` that was inlined; an interpreter knows who called.
#[test]
fn a_function_that_another_caller_calls_less_is_dearer_itself_if_calls_may_be_inlined() {
    let old = "main;render;hit 1201\nmain;trace;hit 803\nmain;render 900\nmain;trace 900\n";
    let new = "main;render;hit 203\nmain;trace;hit 4001\nmain;render 900\nmain;trace 900\n";
    check(old, new, "dearer", "hit", "hit more expensive ×2.10");
    let python = |stacks: &str| {
        ["render", "trace", "hit"].iter().fold(stacks.to_string(), |stacks, name| {
            stacks.replace(name, &format!("{name} (/srv/ray.py:{})", 10 * name.len()))
        })
    };
    let sentence = "only when called from trace (/srv/ray.py:50)";
    check(&python(old), &python(new), "called-more", "hit (/srv/ray.py:30)", sentence);
}

#[test]
fn the_ratio_is_that_of_the_function_however_many_callers_it_has() {
    // It costs 1200 and then 2100; the call that grew, 600 and then 1500.
    check(
        "main;a;hash 600\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "main;a;hash 1500\nmain;b;hash 600\nmain;a 900\nmain;b 900\n",
        "called-more",
        "hash",
        "hash more work ×1.75",
    );
}

#[test]
fn own_code_that_grew_far_more_than_the_rest_is_not_more_work() {
    let (causes, text) = causes(
        &program("main;publish 480\nmain;publish;render 4100\nmain;publish;read 1500\n"),
        &program("main;publish 1100\nmain;publish;render 4960\nmain;publish;read 1500\n"),
    );
    assert!(causes.iter().all(|cause| cause["cause"] == "dearer"), "{text}");
    let functions: Vec<&str> = causes.iter().filter_map(|cause| cause["function"].as_str()).collect();
    assert_eq!(functions, ["render", "publish"], "{text}");
}

#[test]
fn a_function_is_one_cause_even_if_its_own_code_and_a_callee_grew() {
    check(
        "main;a 900\nmain;b 1800\n",
        "main;a 900\nmain;b 2700\nmain;b;check 900\n",
        "dearer",
        "b",
        "in its own code and in check, which it calls",
    );
}

#[test]
fn a_function_that_does_all_it_does_more_often() {
    check(
        "main;run;load 500\nmain;run;load;read 700\nmain;run;load;parse 600\nmain;run 1500\n",
        "main;run;load 1000\nmain;run;load;read 1400\nmain;run;load;parse 1200\nmain;run 1500\n",
        "called-more",
        "load",
        "its own code and everything that it calls grew: more calls, or more work per call",
    );
}

/// `wrap` has no code of its own, and `parse` has nothing but `lex`: neither shows by itself where the growth began.
#[test]
fn a_wrapper_that_is_called_more_often_is_the_cause_rather_than_what_it_calls() {
    check(
        "main;serve;wrap;parse;lex 1400\nmain;serve;wrap;emit 240\n",
        "main;serve;wrap;parse;lex 2520\nmain;serve;wrap;emit 432\n",
        "called-more",
        "wrap",
        "1 wrap more work ×1.80",
    );
}

#[test]
fn a_heavy_part_of_a_wrapper_that_grew_alone_is_the_cause() {
    check(
        "main;serve;wrap;parse;lex 1400\nmain;serve;wrap;emit 240\n",
        "main;serve;wrap;parse;lex 2520\nmain;serve;wrap;emit 240\n",
        "dearer",
        "lex",
        "1 lex more expensive ×1.80",
    );
}

/// A few samples of a function on the old side show that it was there.
#[test]
fn a_light_function_that_became_heavy_is_not_new() {
    check(
        "main;run;weigh 61\nmain;run;pack 1501\n",
        "main;run;weigh 1211\nmain;run;pack 1501\n",
        "dearer",
        "weigh",
        "1 weigh more expensive ×",
    );
}

#[test]
fn a_call_from_where_there_was_none() {
    check(
        "main;a;format 900\nmain;b 900\n",
        "main;a;format 900\nmain;b;audit;format 900\nmain;b 900\n",
        "new-path",
        "format",
        "b → audit → format",
    );
}

/// Most of the growth is in `hash`, but `pack` called it before as well.
#[test]
fn a_new_call_path_ends_where_code_begins_that_was_there_before() {
    check(
        "main;a;pack 200\nmain;a;pack;hash 2000\nmain;b 900\n",
        "main;a;pack 200\nmain;a;pack;hash 2000\nmain;b 900\nmain;b;audit;pack 70\nmain;b;audit;pack;hash 900\n",
        "new-path",
        "pack",
        "b → audit → pack",
    );
}

/// `max` was called before, too, but who calls a built-in function does not tell where a path begins.
#[test]
fn a_new_call_path_begins_in_the_program() {
    let old = "main;a;<built-in method builtins.max> 900\nmain;a;like 1500\nmain;b 900\n";
    check(
        old,
        &format!("{old}main;b;probe;<built-in method builtins.max>;each;like 1200\n"),
        "new-path",
        "like",
        "b → each → like",
    );
}

#[test]
fn new_code_that_calls_a_library_is_a_new_call_path() {
    check(
        "main;a;encoding/json.Marshal 1500\nmain;b 900\n",
        "main;a;encoding/json.Marshal 1500\nmain;b 900\nmain;b;audit;encoding/json.Marshal 900\n",
        "new-path",
        "encoding/json.Marshal",
        "b → audit → encoding/json.Marshal",
    );
}

/// A function with the line where it begins and its ticks by line.
type V8Function<'a> = (&'a str, i64, &'a [(i64, i64)]);

/// A profile of V8: functions that `main` calls.
fn v8(functions: &[V8Function<'_>]) -> String {
    let frame = |name: &str, line: i64| json!({"functionName": name, "scriptId": "1", "url": "file:///srv/page.js", "lineNumber": line - 1, "columnNumber": 0});
    let mut samples = Vec::new();
    let mut nodes = vec![json!({"id": 1, "callFrame": frame("main", 90), "hitCount": 0, "children": []})];
    for (id, (name, line, ticks)) in (2..).zip(functions) {
        let count = ticks.iter().map(|(_, ticks)| ticks).sum::<i64>();
        let ticks: Vec<Value> =
            ticks.iter().map(|(line, ticks)| json!({"line": line, "ticks": ticks})).collect();
        samples.extend((0..count).map(|_| id));
        nodes[0]["children"].as_array_mut().unwrap().push(json!(id));
        nodes.push(
            json!({"id": id, "callFrame": frame(name, *line), "hitCount": count, "positionTicks": ticks}),
        );
    }
    let deltas = vec![1000; samples.len()];
    let end = 1000 * (samples.len() + 1);
    json!({"nodes": nodes, "startTime": 0, "endTime": end, "samples": samples, "timeDeltas": deltas})
        .to_string()
}

/// V8 put a new call of `slug`, which begins at line 15, into `render`, so only the lines that were running show it.
#[test]
fn a_new_call_that_was_compiled_into_its_caller_is_a_new_call_path() {
    let folder = tempdir().unwrap();
    let causes = |render: &[(i64, i64)]| -> Vec<Value> {
        for (side, ticks) in [("old", &[(65, 300)][..]), ("new", render)] {
            fs::create_dir_all(folder.path().join(side)).unwrap();
            for run in 0..3 {
                let others = [900 + 9 * run, 1100 - 8 * run, 800 + 7 * run, 1000 - 6 * run, 950 + 5 * run]
                    .map(|ticks| [(101, ticks)]);
                let slug = [(17, 90)];
                let names = ["read", "parse", "sort", "print", "log"];
                let mut functions: Vec<_> =
                    names.into_iter().zip(&others).map(|(name, ticks)| (name, 100, &ticks[..])).collect();
                functions.extend([("slug", 15, &slug[..]), ("render", 61, ticks)]);
                fs::write(folder.path().join(format!("{side}/{run}.cpuprofile")), v8(&functions)).unwrap();
            }
        }
        let output = prof(folder.path(), &["diff", "-q", "-f", "json", "old", "new"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["causes"].as_array().unwrap().clone()
    };
    let name = |function: &str| function.split(' ').next().unwrap().to_string();
    let kind = |cause: &Value| (cause["cause"].clone(), name(cause["function"].as_str().unwrap()));

    // 250 ticks of the 600 more are in `slug`.
    let found = causes(&[(17, 250), (65, 650)]);
    assert_eq!(found.iter().map(kind).collect::<Vec<_>>(), [("new-path".into(), "slug".to_string())]);
    let path: Vec<String> = found[0]["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|function| name(function.as_str().unwrap()))
        .collect();
    assert_eq!(path, ["render", "slug"]);
    let part = found[0]["caller_points"].as_f64().unwrap() / found[0]["points"].as_f64().unwrap();
    assert!((part - 350.0 / 600.0).abs() < 0.02, "{part}");

    // Lines after the beginning of `render` may be its own.
    let found = causes(&[(70, 250), (65, 650)]);
    assert_eq!(found.iter().map(kind).collect::<Vec<_>>(), [("dearer".into(), "render".to_string())]);
}

/// Where the kernel begins in the recordings of [`perf`].
const KERNEL: u64 = 0xffff_8000;
const LIBRARY: u64 = 0x7000_0000;

/// So many samples of `perf script` of each of the given stacks, leaf first: functions and their addresses.
fn perf(stacks: &[(&[(&str, u64)], i64)]) -> String {
    let sample = |stack: &[(&str, u64)]| {
        let frame = |&(name, address): &(&str, u64)| {
            let file = match address {
                KERNEL.. => "[kernel.kallsyms]",
                LIBRARY.. => "/usr/lib/x86_64-linux-gnu/libc.so.6",
                _ => "/srv/app",
            };
            format!("\t{address:x} {name}+0x4 ({file})\n")
        };
        let frames: Vec<String> = stack.iter().map(frame).collect();
        format!("app 7 1.000000: 2500000 cpu-clock:\n{}\n", frames.concat())
    };
    stacks.iter().map(|(stack, count)| sample(stack).repeat(*count as usize)).collect()
}

#[test]
fn a_call_in_a_second_place_is_more_calls() {
    let folder = tempdir().unwrap();
    // `count` calls `hash`; `draw` calls `count` at 0x110 and perhaps at 0x120.
    let hash =
        |count: u64, site: u64| [("hash", 0x300), ("count", 0x200 + count), ("draw", site), ("main", 0x10)];
    let found = |old: &[(u64, u64, i64)], new: &[(u64, u64, i64)]| {
        let (_, causes) = causes_of_runs(folder.path(), ["cause", "function", "grew"], |side, run| {
            let calls = if side == "old" { old } else { new };
            let others =
                ["read", "parse", "sort", "print", "log", "draw"].map(|name| [(name, 0x400), ("main", 0x10)]);
            let stacks: Vec<_> =
                calls.iter().map(|&(count, site, samples)| (hash(count, site), samples)).collect();
            let mut all: Vec<(&[(&str, u64)], i64)> =
                stacks.iter().map(|(stack, samples)| (&stack[..], *samples)).collect();
            let others = others.iter().zip(0..);
            all.extend(others.map(|(stack, number)| (&stack[..], 180 + 5 * ((run + number) % 3))));
            perf(&all)
        });
        causes.iter().map(|cause| cause.join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(
        found(&[(1, 0x110, 150)], &[(1, 0x114, 153), (1, 0x124, 148)]),
        ["called-more count further-call"]
    );
    assert_eq!(
        found(&[(1, 0x110, 150)], &[(1, 0x114, 153), (2, 0x114, 148)]),
        ["called-more hash further-call"]
    );
    // In one place as before, and in two that each cost more.
    assert_eq!(found(&[(1, 0x110, 150)], &[(1, 0x114, 301)]), ["dearer hash itself"]);
    assert_eq!(
        found(&[(1, 0x110, 80), (1, 0x120, 70)], &[(1, 0x114, 161), (1, 0x124, 139)]),
        ["dearer hash itself"]
    );
}

/// The report on three runs a side with the exit code, and its causes with some of their keys. `run` gives the samples of a run.
fn causes_of_runs<const N: usize>(
    folder: &Path,
    keys: [&str; N],
    run: impl Fn(&str, i64) -> String,
) -> ((Value, Option<i32>), Vec<[String; N]>) {
    for side in ["old", "new"] {
        fs::create_dir_all(folder.join(side)).unwrap();
        for number in 0..3 {
            fs::write(folder.join(format!("{side}/{number}.perf")), run(side, number)).unwrap();
        }
    }
    let output = prof(folder, &["diff", "-q", "-f", "json", "old", "new"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let causes = report["causes"].as_array().unwrap().iter();
    let causes = causes.map(|cause| keys.map(|key| cause[key].as_str().unwrap().to_string())).collect();
    ((report, output.status.code()), causes)
}

/// Samples of a run in which `main` calls these functions, besides seven that do not change; and these stacks.
fn run_with(parts: &[(&str, i64)], stacks: &[(&[(&str, u64)], i64)], run: i64) -> String {
    let others = ["read", "parse", "sort", "print", "log", "draw", "send"].map(|name| (name, 300));
    let called = others.iter().chain(parts).map(|(name, count)| ([(*name, 0x400), ("main", 0x10)], *count));
    let called: Vec<([(&str, u64); 2], i64)> = called.collect();
    let called = called.iter().map(|(stack, count)| (&stack[..], *count));
    let all = called.chain(stacks.iter().copied()).map(|(stack, count)| (stack, count + run));
    perf(&all.collect::<Vec<_>>())
}

/// Frame pointers show the caller of the function that calls a leaf, so `hash` and `index` seem to be called from one place.
#[test]
fn a_leaf_whose_caller_is_missing_was_inlined_into_a_function_called_from_the_same_place() {
    let folder = tempdir().unwrap();
    let ((report, code), found) = causes_of_runs(folder.path(), ["cause", "function", "of"], |side, run| {
        let parts = if side == "old" { vec![("hash", 200), ("index", 60)] } else { vec![("index", 260)] };
        run_with(&parts, &[], run)
    });
    assert_eq!(found, [["inlined", "index", "hash"]]);
    assert_eq!((&report["improved"], code), (&0.into(), Some(0)));
}

/// `price` had no own code before, but it was there.
#[test]
fn a_function_without_own_code_that_gets_that_of_its_callee_has_inlined_it() {
    check(
        "main;price;discount 1500\n",
        "main;price 1500\n",
        "inlined",
        "price",
        "discount inlined into price",
    );
}

/// Everything below `main` seems to grow, because one function that most of it calls costs more.
#[test]
fn a_function_that_many_call_is_the_cause_rather_than_who_calls_them() {
    let call = |part: usize, own: usize, cost: usize| {
        format!("main;part{part} {own}\nmain;part{part};hash {cost}\n")
    };
    let parts = |factor: usize| (1..=5).map(|part| call(part, 800, 150 * factor)).collect::<String>();
    let (causes, text) = causes(&program(&parts(1)), &program(&parts(3)));
    let found: Vec<&str> = causes.iter().filter_map(|cause| cause["function"].as_str()).collect();
    assert_eq!(found, ["hash"], "{text}");
}

#[test]
fn new_code_makes_its_caller_dearer() {
    check(
        "main;a 900\nmain;b 900\n",
        "main;a 900\nmain;b 900\nmain;b;check 700\n",
        "dearer",
        "b",
        "it calls check, which was not seen before",
    );
}

/// `check` became `test`, and a new `check` calls that for what it costs besides.
#[test]
fn a_new_function_with_an_old_name_is_not_what_had_the_name() {
    check_all(
        "main;a 901\nmain;a;check 103\nmain;a;check;scan 701\n",
        "main;a 901\nmain;a;check;test 103\nmain;a;check;test;scan 701\nmain;a;check 101\nmain;a;check;log 803\n",
        &[("dearer", "a"), ("renamed", "test")],
        "it calls check, which is new under this name",
    );
}

/// Half of the calls came from `worker`, which is gone: `serial` makes all of them now.
#[test]
fn what_takes_over_the_calls_of_code_that_is_gone_has_moved() {
    let old =
        "main;serial;read;scan 3001\nmain;serial;read 503\nworker;run;read;scan 2999\nworker;run;read 499\n";
    let new = "main;serial;read;scan 6003\nmain;serial;read 1001\n";
    let (found, text) = causes(&program(old), &program(new));
    assert!(found.iter().all(|cause| cause["cause"] == "moved"), "{text}");
    assert!(text.contains("what serial calls was called from elsewhere before"), "{text}");
    // What still makes its calls elsewhere became cheaper there, and dearer here.
    let less =
        "main;serial;read;scan 5803\nmain;serial;read 961\nworker;run;read;scan 401\nworker;run;read 41\n";
    let (causes, text) = causes(&program(old), &program(less));
    assert_ne!(causes[0]["cause"], "moved", "{text}");
}

/// `search` has little code of its own, but that grew, too, and nothing else makes it eighty times as much.
#[test]
fn a_function_that_is_called_eighty_times_as_often_is_the_cause_and_not_its_callee() {
    check(
        "main;read 1901\nmain;read;search;distance 23\nmain;read;search 1\n",
        "main;read 1903\nmain;read;search;distance 1847\nmain;read;search 79\n",
        "called-more",
        "search",
        "its own code and everything that it calls grew",
    );
    // If only what it calls grew, that changed.
    check(
        "main;read 1901\nmain;read;search;distance 23\nmain;read;search 77\n",
        "main;read 1903\nmain;read;search;distance 1847\nmain;read;search 79\n",
        "dearer",
        "distance",
        "in its own code",
    );
}

#[test]
fn code_that_only_moved_is_no_cause_of_growth() {
    check(
        "main;parse 3000\n",
        "main;parse 1200\nmain;parse;readHeader 1800\n",
        "extracted",
        "readHeader",
        "moved, but not significantly more expensive: readHeader extracted from parse",
    );
    check(
        "main;parse 1200\nmain;parse;token 1800\n",
        "main;parse 3000\n",
        "inlined",
        "parse",
        "token inlined into parse",
    );
}

/// What `prof diff` prints with some options.
fn rows(old: &str, new: &str, options: &[&str]) -> String {
    let folder = tempdir().unwrap();
    for (name, text) in [("old.folded", program(old)), ("new.folded", program(new))] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let arguments = [&["diff", "-q", "--noise", "steady"], options, &["old.folded", "new.folded"]].concat();
    String::from_utf8(prof(folder.path(), &arguments).output().unwrap().stdout).unwrap()
}

/// The half of a renamed function that is gone was an improvement.
#[test]
fn both_names_of_a_function_that_was_replaced_are_said_and_neither_improved() {
    let (old, new) = ("main;a 1500\nmain;b 1900\n", "main;x 1500\nmain;y 1900\n");
    // Two new functions below the same caller are too much alike to be matched.
    let text = rows(old, new, &[]);
    for row in ["a (self), is now x", "x (self), was a", "b (self), is now y", "y (self), was b"] {
        assert!(text.lines().any(|line| line.starts_with("moved ") && line.ends_with(row)), "{row}\n{text}");
    }
    let json: Value = serde_json::from_str(&rows(old, new, &["-f", "json"])).unwrap();
    let row = json["rows"].as_array().unwrap().iter().find(|row| row["name"] == "a").unwrap();
    assert_eq!((&row["verdict"], &row["moved"]["to"]), (&"moved".into(), &"x".into()));
    assert_eq!(json["improved"], 0);
}

/// `cost` is gone, and its caller calls `min()` instead: neither has become the other.
#[test]
fn what_a_built_in_function_does_now_was_not_renamed() {
    let (old, new) = ("main;cost 1500\n", "main;<built-in method builtins.min> 1500\n");
    let text = rows(old, new, &[]);
    assert!(text.contains("  cost (self), is now <built-in method builtins.min>\n"), "{text}");
    assert!(!text.contains("renamed"), "{text}");
}

/// All of a new function moved if its own code did.
#[test]
fn the_total_of_a_function_whose_own_code_moved_inherits_nothing() {
    let text =
        rows("main;parse 3000\n", "main;parse 1200\nmain;parse;token 1700\nmain;parse;token;next 100\n", &[]);
    let of_token: Vec<&str> = text.lines().filter(|line| line.contains("  token")).collect();
    assert_eq!(of_token.len(), 2, "{text}");
    for row in of_token {
        assert!(row.starts_with("moved ") && row.ends_with(", extracted from parse"), "{row}\n{text}");
    }
}

/// The kernel did not change: it has more to do.
#[test]
fn a_function_of_the_kernel_has_more_work_wherever_it_comes_from() {
    let folder = tempdir().unwrap();
    let (_, found) = causes_of_runs(folder.path(), ["cause", "function", "grew"], |side, run| {
        let faults = if side == "old" { 60 } else { 150 };
        let names = ["read", "parse", "sort", "print", "log", "hash", "send", "poll"];
        let stacks: Vec<_> = names.map(|name| [(name, 0x400), ("main", 0x10)]).to_vec();
        let kernel = ["clear_page", "do_anonymous_page", "exc_page_fault"].map(|name| (name, KERNEL));
        let in_kernel: Vec<_> = stacks[..3].iter().map(|stack| [&kernel[..], stack].concat()).collect();
        let mut all: Vec<(&[(&str, u64)], i64)> =
            stacks.iter().zip(0..).map(|(stack, number)| (&stack[..], 400 + 10 * number + run)).collect();
        all.extend(in_kernel.iter().map(|stack| (&stack[..], faults + run)));
        perf(&all)
    });
    assert_eq!(found, [["called-more", "do_anonymous_page", "whole"]]);
}

#[test]
fn rows_of_code_that_only_moved_say_where_it_is() {
    let (whole, parts) = ("main;parse 3000\n", "main;parse 1200\nmain;parse;token 1800\n");
    // Whether or not the causes are listed.
    for options in [&[][..], &["--no-explain"]] {
        let inlined = rows(parts, whole, options);
        assert!(!inlined.contains("improved:"), "{inlined}");
        assert!(inlined.contains("  token (self), inlined into parse\n"), "{inlined}");
        let extracted = rows(whole, parts, options);
        assert!(!extracted.contains("improved:"), "{extracted}");
        assert!(extracted.contains("  parse (self), extracted into token\n"), "{extracted}");
        assert!(extracted.contains("  token (self), extracted from parse\n"), "{extracted}");
        let json: Value =
            serde_json::from_str(&rows(parts, whole, &[options, &["-f", "json"]].concat())).unwrap();
        let row = json["rows"].as_array().unwrap().iter().find(|row| row["name"] == "token").unwrap();
        assert_eq!((&row["verdict"], &row["moved"]["into"]), (&"moved".into(), &"parse".into()), "{row}");
        assert_eq!((json["improved"].as_i64(), &json["moved"]), (Some(0), &Value::Null));
        let csv = rows(parts, whole, &[options, &["-f", "csv"]].concat());
        let place = csv.lines().next().unwrap().split(',').position(|title| title == "moved.into").unwrap();
        let row = csv.lines().find(|line| line.starts_with("token,")).unwrap();
        assert_eq!(row.split(',').nth(place), Some("parse"), "{row}");
    }
    // What lost much more than was taken out of it did improve.
    let improved = rows("main;parse 4000\n", "main;parse 1200\nmain;parse;token 1000\n", &[]);
    assert!(improved.contains("improved:"), "{improved}");
}

#[test]
#[cfg(unix)]
fn the_command_below_a_cause_runs_whatever_the_number_of_files() {
    use std::process::Command;

    let folder = tempdir().unwrap();
    let (old, new) = (program("main;a (b)'s;hash 1000\n"), program("main;a (b)'s;hash 1800\n"));
    let name = |side: &str, number: usize| format!("{side} {number}.folded");
    for number in 1..=9 {
        fs::write(folder.path().join(name("old", number)), &old).unwrap();
        fs::write(folder.path().join(name("new", number)), &new).unwrap();
    }
    let files =
        |side: &str, count: usize| (1..=count).map(|number| name(side, number)).collect::<Vec<String>>();
    let text = |old: usize, new: usize, options: &[&str]| {
        let mut words: Vec<String> = ["diff", "-q", "--old"].map(String::from).to_vec();
        words.extend([files("old", old), vec!["--new".to_string()], files("new", new)].concat());
        words.extend(options.iter().map(ToString::to_string));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        String::from_utf8(prof(folder.path(), &words).output().unwrap().stdout).unwrap()
    };
    for (old, new, width) in [(2, 2, "400"), (3, 3, "60"), (5, 4, "80")] {
        let text = text(old, new, &["--width", width]);
        let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("prof focus")).collect();
        let last = lines.iter().position(|line| !line.ends_with('\\')).unwrap();
        let command = lines[..=last].join("\n");
        let path = std::path::Path::new(env!("CARGO_BIN_EXE_prof")).parent().unwrap().to_str().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{command} -f json")]).current_dir(folder.path());
        let done = shell.env("PATH", format!("{path}:/usr/bin:/bin")).output().unwrap();
        assert!(done.status.success(), "{command}\n{}", String::from_utf8_lossy(&done.stderr));
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!((&report["name"], &report["total"]), (&"hash".into(), &(1800 * new).into()), "{command}");
        // Runs of different numbers are compared per run.
        let per_run = old as f64 / new as f64;
        let ratio = report["normalize"]["ratio"].as_f64().unwrap_or(1.0);
        assert!((ratio * per_run - 1.0).abs() < 1e-9, "{command}: {ratio}");
    }
    let many = text(9, 9, &[]);
    assert!(many.contains("prof focus hash --base OLD NEW\n"), "{many}");
    assert!(
        many.contains(
            "replace OLD with the 9 old files, each after its own --base, and NEW with the 9 new files"
        ),
        "{many}"
    );
}

#[test]
fn the_command_below_a_cause_shows_the_metric_and_the_stacks_that_were_compared() {
    let heaps = |options: &[&str]| {
        let sides = ["fixtures/pprof/go-heap-earlier.pb.gz", "fixtures/pprof/go-heap.pb.gz"];
        let words = [&["diff", "-q", "--noise", "steady", "--width", "300"], options, &sides].concat();
        let text = prof(std::path::Path::new("."), &words).output().unwrap().stdout;
        let text = String::from_utf8(text).unwrap();
        text.lines().find(|line| line.contains("prof focus")).unwrap_or_else(|| panic!("{text}")).to_string()
    };
    assert!(!heaps(&[]).contains(" -m "));
    let command = heaps(&["-m", "inuse_objects", "--hide-stacks", "no such function|other"]);
    assert!(
        command.contains(" -m inuse_objects --hide-stacks 'no such function|other' --base "),
        "{command}"
    );
    let command = heaps(&["--fold=no such function", "--match", "exact"]);
    assert!(command.contains(" '--fold=no such function' --match exact --base "), "{command}");
}

#[test]
fn two_causes_share_out_the_growth() {
    let old = program("main;run;hash 1000\nmain;run;pack 1000\n");
    let new = program("main;run;hash 1800\nmain;run;pack 1400\n");
    let (causes, text) = causes(&old, &new);
    let explains: Vec<f64> = causes.iter().map(|cause| cause["explains"].as_f64().unwrap()).collect();
    assert_eq!(causes.len(), 2, "{text}");
    // 800 and 400 samples of 1,200.
    assert!((explains[0] - 2.0 / 3.0).abs() < 0.02 && (explains[1] - 1.0 / 3.0).abs() < 0.02, "{explains:?}");
}

/// What is left of `work` without `hash` has a p-value of 3 %: of a dozen callers of `hash`, one may well have that by chance.
#[test]
fn a_caller_that_may_have_grown_otherwise_by_chance_inherits_the_change() {
    let folder = tempdir().unwrap();
    for (name, work) in [("old.folded", [1000, 3000]), ("new.folded", [2000, 3300])] {
        let text = program(&format!("main;work;hash {}\nmain;work;pack {}\n", work[0], work[1]));
        fs::write(folder.path().join(name), text).unwrap();
    }
    let arguments = ["diff", "-q", "--noise", "steady", "-f", "json", "old.folded", "new.folded"];
    let report = prof(folder.path(), &arguments).output().unwrap().stdout;
    let report: Value = serde_json::from_slice(&report).unwrap();
    let row = report["rows"].as_array().unwrap().iter().find(|row| row["name"] == "work").unwrap();
    assert_eq!((row["test"].as_str(), row["verdict"].as_str()), (Some("total"), Some("inherits")), "{row}");
}

#[test]
fn nothing_is_explained_where_nothing_changed() {
    let same = program("main;run;hash 1000\n");
    let (causes, text) = causes(&same, &same);
    assert!(causes.is_empty() && !text.contains("cause"), "{text}");
}

/// A function with its own cost and the numbers of the functions that it calls.
type Called<'n> = (&'n str, i64, &'n [usize]);

/// Runs of a program that records calls instead of stacks, as callgrind does. `main` comes first and calls some functions
/// that do not change as well; callees come after their callers. Runs differ by some tenths of a percent.
fn runs_of_calls(folder: &Path, side: &str, functions: &[Called<'_>]) -> Vec<String> {
    let own =
        |run: i64, number: usize, cost: i64| cost * (1000 + (run * 7 + number as i64 * 13) % 9 - 4) / 1000;
    let run = |run: i64| {
        let others: Vec<(String, i64)> = (1..=8)
            .map(|number| (format!("other{number}"), own(run, number, 20_000 + 1000 * number as i64)))
            .collect();
        let mut totals = vec![0; functions.len()];
        let mut text = String::from("events: ns\n");
        for (number, (name, cost, callees)) in functions.iter().enumerate().rev() {
            let cost = own(run, number + 10, *cost);
            text.push_str(&format!("fn={name}\n1 {cost}\n"));
            let mut calls: Vec<(&str, i64)> =
                callees.iter().map(|&callee| (functions[callee].0, totals[callee])).collect();
            if number == 0 {
                calls.extend(others.iter().map(|(name, total)| (name.as_str(), *total)));
            }
            for (callee, total) in calls {
                // Built-in functions are called more often, and those with a mark.
                let count = if callee.starts_with(['<', '*']) { total / 100 } else { 10 };
                text.push_str(&format!("cfn={callee}\ncalls={count} 1\n2 {total}\n"));
                totals[number] += total;
            }
            totals[number] += cost;
        }
        for (name, cost) in &others {
            text.push_str(&format!("fn={name}\n1 {cost}\n"));
        }
        let path = folder.join(format!("{side}{run}.callgrind"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    (0..4).map(run).collect()
}

/// The exit code, the functions that regressed, and the causes between two programs that record calls.
fn causes_of_calls(old: &[Called<'_>], new: &[Called<'_>]) -> (i32, Vec<String>, Vec<(String, String)>) {
    let folder = tempdir().unwrap();
    let (old, new) = (runs_of_calls(folder.path(), "old", old), runs_of_calls(folder.path(), "new", new));
    let mut arguments = vec!["diff".to_string(), "-q".into(), "-f".into(), "json".into(), "--old".into()];
    arguments.extend(old);
    arguments.push("--new".into());
    arguments.extend(new);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = prof(folder.path(), &arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == "regressed");
    let causes = report["causes"].as_array().unwrap().iter();
    (
        output.status.code().unwrap(),
        rows.map(|row| text(&row["name"])).collect(),
        causes.map(|cause| (text(&cause["cause"]), text(&cause["function"]))).collect(),
    )
}

#[test]
fn callers_of_a_regression_inherit_it_where_calls_are_recorded() {
    let program = |hash: i64| [("main", 1000, &[1][..]), ("run", 2000, &[2][..]), ("hash", hash, &[][..])];
    let (code, regressed, causes) = causes_of_calls(&program(60_000), &program(120_000));
    assert_eq!((code, regressed), (1, vec!["hash".to_string()]));
    assert_eq!(causes, [("dearer".to_string(), "hash".to_string())]);
}

/// `*evolve` is called half as many times again; its own code hardly costs anything.
#[test]
fn the_outermost_function_that_is_called_more_often_is_the_cause() {
    let program = |own: i64, cell: i64| {
        [
            ("main", 1000, &[1][..]),
            ("run", 2000, &[2][..]),
            ("*evolve", own, &[3][..]),
            ("*cell", cell, &[][..]),
        ]
    };
    let (code, _, causes) = causes_of_calls(&program(600, 60_000), &program(900, 90_000));
    assert_eq!(code, 1);
    assert_eq!(causes, [("called-more".to_string(), "*evolve".to_string())]);
}

/// `value` no longer remembers its results, so that all functions of the recursion are called six times as often.
#[test]
fn in_a_recursion_the_function_that_makes_more_calls_than_it_gets_is_the_cause() {
    let folder = tempdir().unwrap();
    let write = |run: &str, evaluations: i64| {
        let inside = 8 * evaluations;
        let functions = [
            ("main", 0, "value", 1000),
            ("value", 1000 + inside, "evaluate", evaluations),
            ("evaluate", evaluations, "parse", evaluations),
            ("parse", evaluations, "value", inside),
        ];
        let mut text = String::from("events: ns\n");
        for (name, called, callee, calls) in functions {
            let cost = calls * 40;
            text.push_str(&format!(
                "fn={name}\n1 {}\ncfn={callee}\ncalls={calls} 1\n2 {cost}\n",
                called * 10 + 100
            ));
        }
        (1..=8)
            .for_each(|number| text.push_str(&format!("fn=other{number}\n1 {}\n", 20_000 + 1000 * number)));
        fs::write(folder.path().join(run), text).unwrap();
    };
    let runs = [("old1", 500), ("old2", 500), ("new1", 3000), ("new2", 3000)];
    for (run, evaluations) in runs {
        write(run, evaluations);
    }
    let arguments = ["diff", "-q", "--old", "old1", "old2", "--new", "new1", "new2"];
    let output = prof(folder.path(), &arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("1 evaluate called more often ×5.98"), "{text}");
    assert!(text.contains("was 500; only value calls it more often"), "{text}");
}

#[test]
fn a_function_that_calls_a_built_in_one_more_often_is_dearer_itself() {
    let program = |own: i64, built_in: i64| {
        [
            ("main", 1000, &[1][..]),
            ("checksum", own, &[2][..]),
            ("<built-in method builtins.ord>", built_in, &[][..]),
        ]
    };
    let (code, _, causes) = causes_of_calls(&program(60_000, 20_000), &program(120_000, 40_000));
    assert_eq!(code, 1);
    assert_eq!(causes, [("dearer".to_string(), "checksum".to_string())]);
}

#[test]
fn code_that_was_extracted_or_inlined_only_moved_where_calls_are_recorded() {
    let whole = [("main", 1000, &[1][..]), ("run", 2000, &[2][..]), ("hash", 60_000, &[][..])];
    let parts = [
        ("main", 1000, &[1][..]),
        ("run", 2000, &[2][..]),
        ("hash", 5000, &[3][..]),
        ("mix", 55_200, &[][..]),
    ];
    let (code, regressed, causes) = causes_of_calls(&whole, &parts);
    assert_eq!((code, regressed), (0, vec![]));
    assert_eq!(causes, [("extracted".to_string(), "mix".to_string())]);
    let (code, regressed, causes) = causes_of_calls(&parts, &whole);
    assert_eq!((code, regressed), (0, vec![]));
    assert_eq!(causes, [("inlined".to_string(), "hash".to_string())]);
}

#[test]
fn what_a_library_does_inside_is_the_business_of_who_calls_it() {
    check(
        "main;render 907\nmain;render;encoding/json.Marshal 303\nmain;render;encoding/json.Marshal;encoding/json.quote 911\n",
        "main;render 907\nmain;render;encoding/json.Marshal 601\nmain;render;encoding/json.Marshal;encoding/json.quote 1811\n",
        "dearer",
        "render",
        "in encoding/json.Marshal, which it calls",
    );
}

/// A speedscope file of stacks of functions with their source files.
fn speedscope(stacks: &[(&[(&str, &str)], i64)]) -> String {
    let mut frames: Vec<(&str, &str)> = stacks.iter().flat_map(|(stack, _)| stack.iter().copied()).collect();
    frames.sort_unstable();
    frames.dedup();
    let number = |frame: &(&str, &str)| frames.iter().position(|other| other == frame).unwrap();
    let samples: Vec<Vec<usize>> =
        stacks.iter().map(|(stack, _)| stack.iter().map(number).collect()).collect();
    let weights: Vec<i64> = stacks.iter().map(|(_, weight)| *weight).collect();
    let frames: Vec<Value> =
        frames.iter().map(|(name, file)| json!({"name": name, "file": file, "line": 1})).collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": frames},
        "profiles": [{"type": "sampled", "name": "app", "unit": "none", "startValue": 0, "endValue": 1, "samples": samples, "weights": weights}],
    })
    .to_string()
}

/// `wrap` of a library calls back into the program. If the library is another version, the library changed; otherwise its caller
/// makes it do more.
#[test]
fn an_upgraded_library_may_be_the_cause() {
    let folder = tempdir().unwrap();
    let found = |new_version: &str| {
        for (side, version, weight) in [("old", "1.4.2", 500), ("new", new_version, 2500)] {
            let library = format!("/app/node_modules/.pnpm/textkit@{version}/node_modules/textkit/wrap.js");
            let main = ("main", "/app/main.js");
            let width = [main, ("render", "/app/render.js"), ("wrap", &library), ("width", &library)];
            let others: Vec<[(&str, &str); 2]> = ["read", "parse", "sort", "print", "log", "draw"]
                .map(|name| [main, (name, "/app/other.js")])
                .to_vec();
            let mut stacks: Vec<(&[(&str, &str)], i64)> =
                vec![(&width, weight), (&width[..3], 700), (&width[..2], 800)];
            stacks.extend((0..).zip(&others).map(|(number, stack)| (&stack[..], 2000 + 100 * number)));
            fs::write(folder.path().join(side), speedscope(&stacks)).unwrap();
        }
        let run = |format: &str| {
            let arguments = ["diff", "-q", "--noise", "steady", "-f", format, "old", "new"];
            String::from_utf8(prof(folder.path(), &arguments).output().unwrap().stdout).unwrap()
        };
        let report: Value = serde_json::from_str(&run("json")).unwrap();
        let function =
            report["causes"][0]["function"].as_str().unwrap().split(' ').next().unwrap().to_string();
        (function, report["upgrades"].clone(), run("text"))
    };
    let (function, upgrades, _) = found("1.4.2");
    assert_eq!((&*function, upgrades), ("render", Value::Null));
    let (function, upgrades, text) = found("2.0.0");
    let expected = json!([{"library": "textkit", "old": "1.4.2", "new": "2.0.0"}]);
    assert_eq!((&*function, upgrades), ("width", expected));
    assert!(text.contains("libraries in other versions: textkit 1.4.2 → 2.0.0"), "{text}");
}

/// The names of the rows that regressed, and what they count.
fn regressed(old: &str, new: &str) -> Vec<(String, String)> {
    let (code, rows) = judged("regressed", old, new);
    assert_eq!(code, Some(i32::from(!rows.is_empty())));
    rows
}

/// The exit code, and the names of the rows with a verdict, and what they count.
fn judged(verdict: &str, old: &str, new: &str) -> (Option<i32>, Vec<(String, String)>) {
    let folder = tempdir().unwrap();
    for (name, text) in [("old.folded", old), ("new.folded", new)] {
        fs::write(folder.path().join(name), program(text)).unwrap();
    }
    let arguments = ["diff", "-q", "--noise", "steady", "-f", "json", "old.folded", "new.folded"];
    let output = prof(folder.path(), &arguments).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_string();
    let rows = report["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == verdict);
    (output.status.code(), rows.map(|row| (text(row, "name"), text(row, "test"))).collect())
}

#[test]
fn a_function_whose_work_another_one_does_now_is_not_cheaper() {
    let old = "main;run;load 1001\nmain;run;pack 1503\nmain;run 307\n";
    let new = "main;run;load 1003\npool;worker;pack 1501\nmain;run 309\n";
    assert_eq!(judged("improved", old, new), (Some(0), vec![]));
    let (_, moved) = judged("moved", old, new);
    assert!(moved.contains(&("run".to_string(), "total".to_string())), "{moved:?}");
    // If the work is not done at all any more, it is.
    let (_, improved) = judged("improved", old, "main;run;load 1003\nmain;run 309\n");
    assert!(improved.contains(&("pack".to_string(), "self".to_string())), "{improved:?}");
    // Nor is it somebody else's if that one does it anyway.
    let both = |run: i64| format!("main;run;load 1003\npool;pack 1501\nmain;run;pack {run}\nmain;run 309\n");
    let (_, improved) = judged("improved", &both(1500), &both(0));
    assert!(!improved.is_empty());
}

/// `v1` was rewritten as `v2` with two helpers. What it cost explains as much once, not once for each helper.
#[test]
fn a_function_that_is_gone_pays_for_what_replaced_it_only_once() {
    let old = "main;run;v1 901\nmain;run 307\n";
    assert_ne!(regressed(old, "main;run;v2;dec 1351\nmain;run;v2;enc 1349\nmain;run 309\n"), []);
    assert_ne!(regressed(old, "main;run;v2;dec 801\nmain;run;v2;enc 799\nmain;run 309\n"), []);
    assert_eq!(regressed(old, "main;run;v2;dec 451\nmain;run;v2;enc 449\nmain;run 309\n"), []);
}

/// `api` calls `audit` now, and `gateway` calls `auth`, which `api` called before.
#[test]
fn what_was_given_away_makes_no_room_for_new_code() {
    let old = "main;api 607\nmain;api;auth 1201\n";
    let found = regressed(old, "main;api 609\nmain;gateway;auth 1203\nmain;api;audit 1199\n");
    assert_eq!(found, [("audit".to_string(), "self".to_string())]);
}

/// What was a comprehension, with a frame of its own, is a loop in `smooth`, and a little dearer.
#[test]
fn a_loop_that_was_a_function_of_its_own_costs_what_the_whole_grew_by() {
    let old = "main;smooth;<listcomp> 2501\nmain;smooth;sum 2003\nmain;smooth 21\n";
    let new = "main;smooth 3901\nmain;smooth;sum 2003\n";
    assert_eq!(regressed(old, new), [("smooth".to_string(), "total".to_string())]);
    let (causes, text) = causes(&program(old), &program(new));
    let found: Vec<&Value> = causes.iter().map(|cause| &cause["cause"]).collect();
    assert_eq!(found, ["dearer", "inlined"], "{text}");
    assert!(text.contains("1  smooth  more expensive ×1.3"), "{text}");
    assert!(text.contains("<listcomp> inlined into smooth"), "{text}");
}

/// `count` is a leaf that was followed by frame pointers, so that the stacks lack `chords`, into which it was inlined.
#[test]
fn a_leaf_that_was_inlined_explains_own_code_with_some_noise_around_it() {
    let old = "main;run;chords 2903\nmain;run;count 4601\nmain;run;chords;irq 60\n";
    let new = "main;run;chords 3700\nmain;run;chords;irq 150\n";
    assert_eq!(regressed(old, new), []);
}

#[test]
fn a_wrapper_of_unchanged_code_is_no_regression() {
    let new = "main;run;traced;run.func1;load 1000\nmain;run;traced;run.func2;pack 800\n";
    assert_eq!(regressed("main;run;load 1000\nmain;run;pack 800\n", new), []);
    // The loop of events calls it, not `main`.
    let new = "boot;forever;step;main;load 1000\nboot;forever;step;main;pack 800\n";
    assert_eq!(regressed("main;load 1000\nmain;pack 800\n", new), []);
    // Another thread does it.
    assert_eq!(regressed("main;load 1000\nmain;pack 800\n", "main;load 1000\nworker;pack 800\n"), []);
}

#[test]
fn of_a_wrapper_that_costs_something_only_its_own_code_is_news() {
    let new = "main;run;traced;load 1000\nmain;run;traced;pack 800\nmain;run;traced 900\n";
    let found = regressed("main;run;load 1000\nmain;run;pack 800\n", new);
    assert_eq!(found, [("traced".to_string(), "self".to_string())]);
}

#[test]
fn a_new_path_to_code_that_became_more_expensive_is_no_wrapper() {
    let (old, new) = ("main;handle 900\nmain;save;marshal 600\n", "main;handle;log;marshal 700\n");
    check(old, &format!("{old}{new}"), "new-path", "marshal", "handle → log → marshal");
    assert!(!regressed(old, &format!("{old}{new}")).is_empty());
}

#[test]
fn a_function_that_grew_itself_and_calls_new_code_has_the_points_of_both() {
    let (old, new) = ("main;handle 1000\n", "main;handle 1600\nmain;handle;check 900\n");
    let (causes, text) = causes(&program(old), &program(new));
    // The other functions add up to 19,600.
    let points: Vec<f64> = causes.iter().map(|cause| cause["points"].as_f64().unwrap()).collect();
    assert!(
        matches!(points[..], [all] if (all - 100.0 * 1500.0 / 20_600.0).abs() < 0.5),
        "{points:?}\n{text}"
    );
}

/// `gateway` calls `auth` now instead of `api`, and `hash` became dearer; then `traced` stands between them.
#[test]
fn a_function_that_became_dearer_when_it_moved_is_the_cause_and_not_the_new_call() {
    let old = "main;api;auth;hash 1000\nmain;api;body 600\n";
    let words = "1 hash more expensive ×1.6";
    check(old, "main;gateway;auth;hash 1600\nmain;api;body 600\n", "dearer", "hash", words);
    check(old, "main;api;traced;auth;hash 1600\nmain;api;body 600\n", "dearer", "hash", words);
    // `row` called it, and was compiled into `table`.
    let old = "main;table;row;escape 6000\nmain;table;row 1800\nmain;table 1800\n";
    let new = "main;table;escape 9600\nmain;table 3600\n";
    let (causes, text) = causes(&program(old), &program(new));
    assert_eq!((&causes[0]["cause"], &causes[0]["function"]), (&"dearer".into(), &"escape".into()), "{text}");
    // What is called in addition is a new path.
    let old = "main;api;auth;hash 1000\nmain;gateway 500\n";
    let new = format!("{old}main;gateway;auth;hash 600\n");
    check(old, &new, "new-path", "auth", "gateway → auth");
}

#[test]
fn a_function_that_became_dearer_when_a_part_was_taken_out_is_the_cause_and_not_the_part() {
    let old = "main;table 1200\n";
    let new = "main;table 300\nmain;table;cell 1300\n";
    assert_eq!(regressed(old, new), [("table".to_string(), "total".to_string())]);
    let (causes, text) = causes(&program(old), &program(new));
    assert_eq!((&causes[0]["cause"], &causes[0]["function"]), (&"dearer".into(), &"table".into()), "{text}");
    assert!(text.contains("it calls cell, which was not seen before"), "{text}");
}

/// Two functions that were there before, of which one does now what the other one did.
#[test]
fn a_call_that_only_moved_is_no_regression() {
    let old = "main;api;auth 900\nmain;api;body 600\nmain;gateway;route 600\n";
    let new = "main;api;body 600\nmain;gateway;route 600\nmain;gateway;auth 900\n";
    assert_eq!(regressed(old, new), []);
    let (_, moved) = judged("moved", old, new);
    assert_eq!(moved.len(), 2, "{moved:?}");
    // Nothing that is below `api` as well has moved.
    let both = format!("{old}main;gateway;auth 900\n");
    assert!(!regressed(old, &both).is_empty());
}

/// `gateway` calls `auth` now, which makes room in `api`, but not for what the own code of `api` costs more.
#[test]
fn own_code_that_grew_while_a_call_moved_is_a_regression() {
    let old = "main;api;auth 900\nmain;api 450\nmain;gateway;route 600\n";
    let new = "main;gateway;auth 900\nmain;api 900\nmain;gateway;route 600\n";
    assert_eq!(regressed(old, new), [("api".to_string(), "self".to_string())]);
}

/// `query` calls `construct` now, and so does `prefix`, which it calls; `line` called it before.
#[test]
fn a_function_that_two_new_calls_lead_to_did_not_grow_in_all_callers_alike() {
    let old = "main;line;construct 600\nmain;query;prefix 2500\n";
    let new = format!("{old}main;query;prefix;construct 3500\nmain;query;construct 1500\n");
    check(old, &new, "new-path", "construct", "prefix → construct");
}

/// `main.py` imports `orders` first, and that imports `tables`, which is new.
#[test]
fn a_new_module_is_new_wherever_it_is_imported_first() {
    let of_import = "<module> (main.py:1);_find_and_load (<frozen importlib._bootstrap>:1165)";
    let old = format!("<module> (main.py:1);run (main.py:9) 5000\n{of_import};<module> (orders.py:1) 9\n");
    let tables = format!("{of_import};<module> (tables.py:1);build (tables.py:4) 3000\n");
    let (causes, text) = causes(&program(&old), &program(&format!("{old}{tables}")));
    assert_eq!(causes[0]["function"], "build (tables.py:4)", "{text}");
    assert!(text.contains("called from <module> (tables.py:1)"), "{text}");
}

/// `amount` does what `subtotal` and `discount` did.
#[test]
fn what_was_merged_into_a_new_function_is_not_cheaper() {
    let (old, new) = ("main;api;subtotal 1500\nmain;api;discount 1200\n", "main;api;amount 2700\n");
    assert_eq!(judged("improved", old, new), (Some(0), vec![]));
    let text = rows(old, new, &[]);
    assert!(text.contains("discount (self), whose work is elsewhere now"), "{text}");
    assert!(text.contains("the work of amount was elsewhere below api before"), "{text}");
    // What it costs is not enough for both.
    let (_, improved) = judged("improved", old, "main;api;amount 1500\n");
    assert_eq!(improved, [("discount".to_string(), "self".to_string())]);
}

/// `save` calls `json.loads` now instead of `load`, and with more to read.
#[test]
fn a_library_that_another_function_calls_for_more_work_did_not_become_dearer() {
    let folder = tempdir().unwrap();
    let keys = ["cause", "function", "grew"];
    let ((report, _), found) = causes_of_runs(folder.path(), keys, |side, run| {
        let others = (1..=8).map(|number| format!("other{number} (app.py:{number}0) {}\n", 2500 + run));
        let (load, save) = ("main (app.py:1);load (app.py:2)", "main (app.py:1);save (app.py:9)");
        let loads = "loads (json/__init__.py:299);decode (json/decoder.py:332)";
        let call =
            if side == "old" { format!("{load};{loads} 1000") } else { format!("{save};{loads} 1600") };
        others.chain([format!("{call}\n{load} 500\n{save} 500\n")]).collect()
    });
    assert_eq!(found, [["dearer", "save (app.py:9)", "one-callee"]]);
    // `load` does not need the 1,000 of 22,000 any more.
    let points = report["causes"][0]["points"].as_f64().unwrap();
    assert!((points - 100.0 * 600.0 / 22_000.0).abs() < 0.2, "{points}");
}

/// `cell` was inlined into `table`, but not into `csv`, where it became dearer.
#[test]
fn a_function_that_one_caller_no_longer_calls_is_not_dearer_but_the_other_caller_is() {
    let old = "main;table;cell 2000\nmain;table 1000\nmain;csv;cell 2000\nmain;csv 1000\n";
    let new = "main;table 3000\nmain;csv;cell 3300\nmain;csv 1000\n";
    assert_eq!(regressed(old, new), [("csv".to_string(), "total".to_string())]);
    let (causes, text) = causes(&program(old), &program(new));
    assert_eq!((&causes[0]["cause"], &causes[0]["function"]), (&"dearer".into(), &"csv".into()), "{text}");
    assert!(text.contains("in cell, which it calls"), "{text}");
}

/// `fold` was written out in `load` and in `send`, which have no caller in common.
#[test]
fn code_that_was_taken_out_of_several_functions_only_moved() {
    let old = "reader;load 2000\nwriter;send 1500\n";
    let new = |fold: i64| {
        format!(
            "reader;load 1000\nwriter;send 900\nreader;load;fold {fold}\nwriter;send;fold {}\n",
            fold * 6 / 10
        )
    };
    assert_eq!(regressed(old, &new(1000)), []);
    // The other way round, it was inlined into both.
    assert_eq!(regressed(&new(1000), old), []);
    assert_eq!(regressed(old, &new(1700)), [("fold".to_string(), "self".to_string())]);
    // A third caller that never had it is a new call path.
    let third = format!("{}cleaner;sweep;fold 2500\n", new(1000));
    assert!(
        !regressed(&format!("{old}cleaner;sweep 900\n"), &format!("{third}cleaner;sweep 900\n")).is_empty()
    );
}

/// `copy` does what `copy_a`, `copy_b` and `copy_c` did.
#[test]
fn copies_that_are_one_function_now_only_moved() {
    let callers = "main;a 900\nmain;b 900\nmain;c 900\n";
    let old = format!("{callers}main;a;copy_a 800\nmain;b;copy_b 800\nmain;c;copy_c 800\n");
    let new = |copy: i64| {
        let calls = ["a", "b", "c"].map(|caller| format!("main;{caller};copy {copy}\n"));
        format!("{callers}{}", calls.concat())
    };
    assert_eq!(regressed(&old, &new(800)), []);
    assert_eq!(judged("improved", &old, &new(800)).1, []);
    assert_eq!(regressed(&old, &new(1600)), [("copy".to_string(), "self".to_string())]);
}

/// `sort.Slice` is another sort than `sort.Sort`, with functions of its own, and costs as much.
#[test]
fn what_moved_code_calls_has_moved_with_it() {
    let old = "main;rank 60\nmain;rank;Sort;pdq 900\nmain;rank;Sort;pdq;part 900\nmain;rank;Sort;pdq;part;Less 600\n";
    let new = "main;rank 60\nmain;rank;Slice;pdq_func 500\nmain;rank;Slice;pdq_func;part_func 1200\n\
               main;rank;Slice;pdq_func;part_func;func1 700\n";
    assert_eq!(regressed(old, new), []);
    assert!(!regressed(old, &new.replace("part_func 1200", "part_func 2400")).is_empty());
}

/// Collapsed stacks of any profiler: functions whose names have their places, in another folder and on other lines.
#[test]
fn names_with_places_are_matched_by_their_places() {
    let program = |folder: &str, line: i64, of_visit: i64| {
        let place = |name: &str, number: i64| format!("{name} ({folder}/src/{name}.js:{}:5)", line + number);
        let one = |number: i64| {
            format!("worker;{};{} {of_visit}\n", place("run", 1), place(&format!("f{number}"), number))
        };
        (2..9).map(one).collect::<String>()
    };
    let old = program("file:///srv/a", 10, 2000);
    assert_eq!(regressed(&old, &program("file:///srv/b", 17, 2010)), []);
    let new = program("file:///srv/b", 17, 2010).replacen(" 2010", " 3500", 1);
    assert_eq!(
        regressed(&old, &new),
        [("f2 (file:///srv/b/src/f2.js:19:5)".to_string(), "self".to_string())]
    );
}

/// `hash` was inlined into `find`, which called it, and not into `verify`, which became dearer.
#[test]
fn a_function_that_is_gone_went_to_who_called_it_and_not_to_a_neighbour() {
    let old = "main;auth;find 500\nmain;auth;find;hash 500\nmain;auth;verify 1200\nmain;lookup 400\nmain;lookup;hash 120\n";
    let new = "main;auth;find 1000\nmain;auth;verify 1900\nmain;lookup 520\n";
    assert_eq!(regressed(old, new), [("verify".to_string(), "self".to_string())]);
}

/// `verify` is `verify_impl` below a decorator, and 1.4 times as expensive.
#[test]
fn a_function_with_another_name_is_the_cause_and_not_the_decorator_that_calls_it() {
    let old = "main;auth;verify 1800\nmain;auth;verify;cmp 300\nmain;auth;tok 1000\n";
    let new = "main;auth;retry;verify_impl 2620\nmain;auth;retry;verify_impl;cmp 300\nmain;auth;tok 1000\n";
    let (causes, text) = causes(&program(old), &program(new));
    assert_eq!(
        (&causes[0]["cause"], &causes[0]["function"]),
        (&"dearer".into(), &"verify_impl".into()),
        "{text}"
    );
    let ratio = causes[0]["ratio"].as_f64().unwrap();
    assert!((ratio - 2920.0 / 2100.0).abs() < 0.02, "{ratio}\n{text}");
}

#[test]
fn amounts_are_what_was_added_and_known_functions_are_not_new() {
    let points = |old: &str, new: &str| {
        let (causes, text) = causes(&program(old), &program(new));
        let first = &causes[0];
        (first["function"].as_str().unwrap().to_string(), first["points"].as_f64().unwrap(), text)
    };
    let is_near = |points: f64, added: f64, old: f64| (points - 100.0 * added / (19_600.0 + old)).abs() < 0.2;
    // A wrapper of everything costs only what it adds.
    let old = "main;run;load 2000\nmain;run;pack 1500\n";
    let new = "main;run;wrap;load 2000\nmain;run;wrap;pack 1500\nmain;run;wrap;now 900\n";
    let (_, added, text) = points(old, new);
    assert!(is_near(added, 900.0, 3500.0), "{added}\n{text}");
    // The body of `compare` is a function of its own, and costs twice as much.
    let (function, added, text) =
        points("main;compare 2000\n", "main;compare 100\nmain;compare;collate 4400\n");
    assert!(function == "compare" && is_near(added, 2500.0, 2000.0), "{function} {added}\n{text}");
    // `rank` had no own code.
    let (function, _, text) = points("main;rank;sort 1500\n", "main;rank;sort 1500\nmain;rank 1900\n");
    assert!(function == "rank" && text.contains("more expensive ×2.27"), "{text}");
}

/// `details` does more of all that it does. `parse`, in which most of that is, is not known to have grown, and costs `row` what it did.
#[test]
fn a_caller_that_does_more_is_the_cause_rather_than_what_others_call_as_before() {
    let folder = tempdir().unwrap();
    // A function varies by a quarter from run to run, so that a growth by a quarter is not significant.
    let (_, found) = causes_of_runs(folder.path(), ["cause", "function"], |side, run| {
        let vary = |count: i64| count * [80, 100, 122][run as usize % 3] / 100;
        let factor = if side == "old" { 100 } else { 230 };
        let others =
            ["read", "sort", "print", "log", "draw", "send"].map(|name| format!("main;{name} {}", 300 + run));
        let parts = [
            format!("main;row;parse {}", vary(330)),
            format!("main;row {}", 160 + run),
            format!("main;details;parse {}", 150 * factor / 100 + run),
            format!("main;details {}", 40 * (100 + (factor - 100) / 3) / 100 + run),
        ];
        others.into_iter().chain(parts).map(|line| line + "\n").collect()
    });
    assert_eq!(found, [["dearer", "details"]]);
}

/// `append` of the new build moves slices where that of the old one grew them.
#[test]
fn functions_of_a_library_that_a_caller_exchanges_did_not_become_dearer() {
    let flips = |grow: i64, shift: i64| {
        format!("main;flips 900\nmain;flips;runtime.growslice {grow}\nmain;flips;runtime.moveslice {shift}\n")
    };
    assert_eq!(regressed(&flips(1170, 120), &flips(340, 950)), []);
    assert_eq!(regressed(&flips(340, 950), &flips(1170, 120)), []);
    // One costs much more than the other did.
    assert!(!regressed(&flips(1170, 120), &flips(340, 1900)).is_empty());
}

/// The runtime did not change: `flips` and `legal` allocate more. What it does inside for them has several ways, none of which has
/// most of the growth.
#[test]
fn what_a_library_does_for_several_callers_is_the_business_of_each() {
    let stacks = |flips: i64, legal: i64| {
        let inside = |caller: &str, times: i64| {
            let sizes = [
                ("mallocgcSmall;runtime.nextFree", 2),
                ("mallocgcSmall;runtime.clear", 1),
                ("systemstack;runtime.grow", 2),
            ];
            let stack = |(way, size): (&str, i64)| {
                format!("main;{caller};runtime.makeslice;runtime.mallocgc;runtime.{way} {}\n", size * times)
            };
            sizes.map(stack).concat()
        };
        format!("main;flips 900\nmain;legal 900\n{}{}", inside("flips", flips), inside("legal", legal))
    };
    let (causes, text) = causes(&program(&stacks(40, 100)), &program(&stacks(300, 260)));
    let found: Vec<(&str, Vec<&str>)> = causes
        .iter()
        .map(|cause| {
            let path = cause["path"].as_array().unwrap().iter();
            (cause["function"].as_str().unwrap(), path.map(|function| function.as_str().unwrap()).collect())
        })
        .collect();
    let expected = ["flips", "legal"].map(|caller| (caller, vec![caller, "runtime.makeslice"]));
    assert_eq!(found, expected, "{text}");
    for cause in &causes {
        check_summary(cause);
    }
}

/// `validate` is called twice as often by `serve`, and so is all that it calls, which calls it in turn: none of the other functions
/// in this circle is called from outside. `exec` has other callers.
#[test]
fn in_a_recursion_the_function_that_is_called_from_outside_is_the_cause() {
    let stacks = |times: i64| {
        let way = "main;serve;validate;props;at";
        let inside = [
            ("", 60),
            (";exec", 300),
            (";items;validate;props;at", 200),
            (";items;validate;props;at;exec", 250),
            (";ref;validate", 260),
        ];
        let stack = |(below, value): (&str, i64)| format!("{way}{below} {}\n", value * times);
        format!("main;serve 700\nmain;search;exec 500\n{}", inside.map(stack).concat())
    };
    check(&stacks(1), &stacks(2), "called-more", "validate", "validate more work ×2.00");
}

/// All of `expand` is called once more; `bit`, which has other callers, did not change.
#[test]
fn what_a_new_call_leads_to_is_no_cause_of_its_own() {
    let way = |caller: &str| {
        format!(
            "main;{caller};expand;read;bit 501\nmain;{caller};expand;symbol;bit 403\nmain;{caller};expand 20\n"
        )
    };
    let old = format!("{}main;other;read;bit 157\n", way("extract"));
    let new = format!("{old}{}", way("extract;check"));
    check(&old, &new, "new-path", "expand", "extract → check → expand");
}

/// `pick` holds a part of the own code of `lookup`, and calls `compare` as `lookup` did. What else `lookup` calls is ten times as much.
#[test]
fn code_that_was_taken_out_with_its_calls_only_moved() {
    let others = ["read", "write", "sort", "send", "poll", "log", "hash", "pack"]
        .map(|name| format!("main;{name} 150\n"))
        .concat();
    let rest = format!("{others}main;lookup;load;read 300\nmain;lookup;load;checksum 100\n");
    let old = format!("{rest}main;lookup 34\nmain;lookup;compare 28\n");
    let new = format!("{rest}main;lookup 9\nmain;lookup;pick 29\nmain;lookup;pick;compare 31\n");
    let regressions: Vec<String> = rows(&old, &new, &[])
        .lines()
        .filter(|line| line.starts_with("REGRESSED "))
        .map(String::from)
        .collect();
    assert_eq!(regressions, [""; 0]);
}

/// Where the C library has no frame pointers, what called `_int_malloc` is unknown.
#[test]
fn a_gap_in_stacks_is_no_cause() {
    let allocate = |value: i64| format!("main;run 800\nmain;run;malloc;[unknown];_int_malloc {value}\n");
    let (causes, text) = causes(&program(&allocate(500)), &program(&allocate(1300)));
    assert!(!text.contains("[unknown]  "), "{text}");
    assert!(!causes.is_empty() && causes.iter().all(|cause| cause["function"] != "[unknown]"), "{text}");
}

/// Both functions allocate more, but only `legal` allocates what has a header.
#[test]
fn the_way_to_new_code_is_one_that_stacks_have() {
    let slices = |flips: i64, legal: i64, header: &str| {
        format!(
            "main;flips 500\nmain;legal 500\nmain;flips;runtime.makeslice;runtime.mallocgc {flips}\n\
             main;legal;runtime.makeslice;runtime.mallocgc {legal}\n\
             runtime.main;runtime.makeslice;runtime.mallocgc {flips}\n{header}"
        )
    };
    let header = "main;legal;runtime.makeslice;runtime.mallocgc;runtime.setHeader 700\n";
    let (causes, text) = causes(&program(&slices(400, 400, "")), &program(&slices(1500, 400, header)));
    let of_header = causes
        .iter()
        .find(|cause| cause["path"].to_string().contains("setHeader"))
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(of_header["function"], "legal", "{text}");
}

#[test]
fn a_function_that_was_inlined_by_hand_is_not_cheaper() {
    let old = "main;hint 2000\nmain;hint;closeTo 900\n";
    assert_eq!(judged("improved", old, "main;hint 2890\n").1, []);
    assert!(!judged("improved", old, "main;hint 2000\n").1.is_empty());
}

/// Frame pointers show the caller of the function that calls the C library, or none: `cos` seems to be called by `main`, and
/// `format` by nobody.
#[test]
fn a_library_whose_caller_is_missing_is_the_business_of_the_function_that_grew_beside_it() {
    let folder = tempdir().unwrap();
    let found = |callee: &[(&str, u64)]| {
        let of_callee = [(callee, 260)];
        let (_, causes) = causes_of_runs(folder.path(), ["cause", "function"], |side, run| {
            let is_new = side == "new";
            // Code that only lies elsewhere in memory costs a little more, too.
            let grown = [("mix", [300, 400]), ("blur", [80, 300])]
                .map(|(name, counts)| (name, counts[usize::from(is_new)]));
            run_with(&grown, if is_new { &of_callee } else { &[] }, run)
        });
        causes.into_iter().next()
    };
    let blur = Some(["dearer", "blur"].map(String::from));
    assert_eq!(found(&[("cos", LIBRARY), ("main", 0x10)]), blur);
    assert_eq!(found(&[("format", LIBRARY)]), blur);
}

/// The compiler has put `loudness` into `limit`, which costs more besides.
#[test]
fn a_function_that_was_put_into_a_dearer_one_is_neither_cheaper_nor_its_growth() {
    let folder = tempdir().unwrap();
    let ((report, _), found) = causes_of_runs(folder.path(), ["cause", "function"], |side, run| {
        let parts = if side == "old" { vec![("loudness", 200), ("limit", 20)] } else { vec![("limit", 400)] };
        run_with(&parts, &[], run)
    });
    assert_eq!(found, [["dearer", "limit"], ["inlined", "limit"]]);
    assert_eq!(report["improved"], 0);
    let ratio = report["causes"][0]["ratio"].as_f64().unwrap();
    assert!((1.6..2.1).contains(&ratio), "{ratio}");
}

/// A decorator costs something, and so does a constructor's new check; who calls them did not change.
#[test]
fn new_code_around_old_code_is_named_itself() {
    check(
        "main;place;step 3000\nmain;score;step 1000\n",
        "main;place;wrapper;step 3000\nmain;score;step 1000\nmain;place;wrapper 900\n",
        "dearer",
        "wrapper",
        "1 wrapper new +",
    );
    let make = "main;load;__create_fn__.<locals>.__init__ (<string>:2)";
    check(
        &format!("{make} 301\nmain;load 2003\n"),
        &format!("{make} 301\nmain;load 2003\n{make};Record.__post_init__ (fastq.py:12) 907\n"),
        "dearer",
        "Record.__post_init__ (fastq.py:12)",
        "1 Record.__post_init__ (fastq.py:12) new +",
    );
}

/// With another type of key, a map is filled by another function of the runtime.
#[test]
fn a_new_function_of_a_library_that_does_what_another_one_did_only_moved() {
    let fill = |form: &str, value: i64| {
        format!("main;groupBy 900\nmain;groupBy;runtime.mapassign_fast{form} {value}\n")
    };
    assert_eq!(regressed(&fill("64", 500), &fill("32", 520)), []);
    assert!(!regressed(&fill("64", 500), &fill("32", 900)).is_empty());
}

/// `fields` calls what `frame` called; nothing is gone that it could be a new name of.
#[test]
fn a_new_function_that_calls_several_others_was_taken_out_of_its_caller() {
    let calls = |way: &str| format!("{way};number 900\n{way};text 700\n{way};clean 500\n");
    let (causes, text) = causes(
        &program(&format!("main;frame 600\n{}", calls("main;frame"))),
        &program(&format!("main;frame 560\nmain;frame;fields 40\n{}", calls("main;frame;fields"))),
    );
    let found: Vec<(&str, &str)> = causes
        .iter()
        .map(|cause| (cause["cause"].as_str().unwrap(), cause["function"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("extracted", "fields")], "{text}");
}

/// What `originOf` allocates is marked by the collector's own threads, which it does not call, although it does some of their work.
#[test]
fn the_collector_is_no_part_of_what_allocates() {
    let collector = "runtime.gcBgMarkWorker;runtime.systemstack;runtime.gcDrain";
    let old = format!("main;parse 900\nmain;parse;runtime.mallocgc 300\n{collector} 200\n");
    let allocates = "main;parse;originOf;runtime.mallocgc";
    let new = format!(
        "main;parse 900\nmain;parse;runtime.mallocgc 300\n{allocates} 1200\n\
         {allocates};runtime.systemstack;runtime.gcDrain 90\n{collector} 1700\n"
    );
    let (causes, text) = causes(&program(&old), &program(&new));
    let collection = causes.iter().find(|cause| cause["cause"] == "gc").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(collection["of"], "runtime.gcDrain", "{text}");
    assert_eq!(causes.len(), 2, "{text}");
}

/// All of `game` is below the loop now, and costs what it did; the loop costs something itself.
#[test]
fn what_has_another_caller_now_is_no_new_path() {
    let (causes, text) = causes(
        &program("main;game;turn 9000\nmain;game 1900\n"),
        &program("main;loop;run;game;turn 9000\nmain;loop;run;game 1900\nmain;loop 2500\n"),
    );
    let [kind, function] = ["cause", "function"].map(|key| causes[0][key].as_str().unwrap());
    assert_eq!((kind, function), ("dearer", "main"), "{text}");
    assert!(text.contains("it calls loop, which was not seen before"), "{text}");
    // 2,500 of 30,500, without the 10,900 below it.
    let points = causes[0]["points"].as_f64().unwrap();
    assert!((7.0..10.0).contains(&points), "{points} {text}");
}

/// The call of the new function costs more, but all of its caller may cost what it did.
#[test]
fn a_function_that_may_cost_as_much_as_before_is_not_more_expensive() {
    let (old, new) = ("main;run;sort 4000\n", "main;run;sort 3600\nmain;run;merge 800\n");
    let (causes, text) = causes(&program(old), &program(new));
    for cause in &causes {
        let is_uncertain = cause["ratio_low"].as_f64().is_some_and(|low| low < 1.0);
        assert!(!is_uncertain || text.contains("run  more expensive in part"), "{text}");
    }
}

/// `load` reads again what it copied before, which costs less: what it calls for that did not become more expensive.
#[test]
fn what_a_cheaper_caller_calls_instead_is_no_cause() {
    let found = |old: &str, new: &str| causes(&program(old), &program(new));
    let (causes, text) = found("main;load;copy 6000\nmain;load;read;tidy 20\n", "main;load;read;tidy 1900\n");
    assert!(causes.iter().all(|cause| cause["points"].as_f64() <= Some(0.0)), "{text}");
    assert!(text.contains("0 functions regressed"), "{text}");
    // Nor is what it calls of a library more often than before, in which nothing changed. The heavier the caller is, the less the
    // sum of the two that were exchanged can tell.
    let library = "main;pay;runtime.growslice 901\nmain;load 5000\nmain;load;runtime.sprint";
    let (causes, text) = found(
        &format!("{library} 6000\nmain;load;runtime.concat 90\n"),
        &format!("{library} 2000\nmain;load;runtime.concat 700\n"),
    );
    assert!(causes.iter().all(|cause| cause["points"].as_f64() <= Some(0.0)), "{text}");
    assert!(text.contains("0 functions regressed"), "{text}");
    // But it did if its caller does something else, which costs what it did.
    let (causes, text) = found(
        "main;load;copy 6000\nmain;serve 3000\nmain;serve;tidy 20\n",
        "main;load;copy 100\nmain;serve 3000\nmain;serve;tidy 1900\n",
    );
    assert!(causes.iter().any(|cause| cause["points"].as_f64() > Some(5.0)), "{text}");
}

/// The own code of `check` was that of what it called, which a compiler had put into it.
#[test]
fn what_was_compiled_into_a_caller_has_moved_below_a_function_that_both_builds_have() {
    let old = "main;check 1903\nmain;check;search;find 200\nmain;tick 1\n";
    let new = "main;check 21\nmain;check;search 50\nmain;check;search;candidates 700\n\
               main;check;search;candidates;distance 1310\nmain;tick 1\n";
    let (found, text) = causes(&program(old), &program(new));
    assert!(found.iter().all(|cause| cause["points"] == 0.0), "{text}");
    assert!(text.contains("candidates extracted from check") && !text.contains("improved"), "{text}");
    // Unless all of that became more expensive.
    let (found, text) = causes(&program(old), &program(&new.replace("1310", "3310")));
    assert!(found[0]["points"].as_f64() > Some(8.0), "{text}");
}

#[test]
fn a_library_that_new_code_calls_is_not_what_a_function_of_the_program_was() {
    let (found, text) = causes(
        &program("main;parse 301\nmain;parse;count 600\nmain;parse;count;runtime.assign 960\n"),
        &program(
            "main;parse 330\nmain;parse;tally 350\nmain;parse;tally;strings.FieldsFunc 610\n\
             main;parse;tally;strings.FieldsFunc;unicode/utf8.Decode 910\nmain;parse;tally;strings.ToLower 240\n\
             main;parse;tally;runtime.assign 930\n",
        ),
    );
    assert!(found[0]["path"].as_array().unwrap().contains(&json!("tally")), "{text}");
    assert!(found[0]["points"].as_f64() > Some(5.0), "{text}");
    assert!(!text.contains("strings.FieldsFunc, was") && !text.contains("is now strings"), "{text}");
}

/// `touch` costs more only because `narrow` calls it more often.
#[test]
fn a_part_of_what_a_cause_is_about_is_no_second_cause() {
    let (found, text) = causes(
        &program(
            "main;step 901\nmain;step;narrow 1390\nmain;step;narrow;touch 2490\nmain;step;overlap 1040\n\
             main;step;around 470\n",
        ),
        &program("main;step 903\nmain;step;narrow 3310\nmain;step;narrow;touch 7360\nmain;step;around 100\n"),
    );
    let grown: Vec<&str> = found
        .iter()
        .filter(|cause| cause["points"].as_f64() > Some(0.0))
        .map(|cause| cause["function"].as_str().unwrap())
        .collect();
    assert_eq!(grown, ["narrow"], "{text}");
}

/// Where stacks lack the caller of a leaf, those above it seem to be its callers, and say nothing about it.
#[test]
fn in_compiled_code_that_all_callers_of_a_leaf_grew_does_not_show_that_it_changed() {
    let folder = tempdir().unwrap();
    let leaf = |caller: (&'static str, u64)| [("around", 0x300), caller, ("main", 0x10)];
    let (step, bounds) = (leaf(("step", 0x100)), leaf(("bounds", 0x200)));
    let (_, found) = causes_of_runs(folder.path(), ["cause", "function", "grew"], |side, run| {
        let count = if side == "old" { 40 } else { 120 };
        run_with(&[], &[(&step, count), (&bounds, count)], run)
    });
    assert_eq!(found, [["dearer", "around", "itself"]]);
}
