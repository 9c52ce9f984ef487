//! Tests of the reader.

use super::*;

fn load(text: &str) -> Profile {
    assert_ne!(sniff(text.as_bytes()), Confidence::No);
    read(&mut Source::from_bytes(text.as_bytes().to_vec()), LoadOptions::ALL).unwrap()
}

/// `name self total calls`, and `caller>callee cost calls`.
fn summary(profile: &Profile) -> Vec<String> {
    let calls = profile.calls.as_ref().unwrap();
    let last = profile.meta.metrics.len() - 1;
    let name = |function| profile.symbols.function_name(function);
    let mut lines: Vec<String> = profile
        .symbols
        .functions
        .ids()
        .map(|id| {
            let (own, total) = (calls.self_values[0][id], calls.totals[0][id]);
            format!("{} {own} {total} {}", name(id), calls.self_values[last][id])
        })
        .collect();
    for edge in 0..calls.edge_count() {
        let (caller, callee) = (name(calls.caller[edge]), name(calls.callee[edge]));
        let values = (calls.edge_values[0][edge], calls.edge_values[last][edge]);
        lines.push(format!("{caller}>{callee} {} {}", values.0, values.1));
    }
    lines
}

#[test]
fn names_are_compressed_and_positions_relative() {
    let profile = load(
        "positions: line\nevents: Ir\nsummary: 820\n\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n16 400\n\
         cfi=(2) file2.c\ncfn=(3) func2\ncalls=3 20\n+0 400\n\nfn=(2)\n51 100\ncfi=(2)\ncfn=(3)\ncalls=2 20\n* 300\n\n\
         fl=(2)\nfn=(3)\n20 400\n+1 300\n",
    );
    assert_eq!(
        summary(&profile),
        [
            "main 20 820 0",
            "func1 100 400 1",
            "func2 700 700 5",
            "main>func1 400 1",
            "main>func2 400 3",
            "func1>func2 300 2"
        ]
    );
    assert_eq!(profile.meta.warnings, [""; 0]);
}

#[test]
fn recursive_calls_are_merged_into_one_function() {
    let profile = load(
        "events: Ir\nfn=main\n1 1\ncfn=dig\ncalls=1 2\n1 30\nfn=dig\n2 10\ncfn=dig'2\ncalls=1 2\n2 20\n\
         fn=dig'2\n2 20\ncfn=dig'2\ncalls=4 2\n2 15\n",
    );
    assert_eq!(summary(&profile), ["main 1 31 0", "dig 30 30 6", "main>dig 30 1", "dig>dig 35 5"]);
}

#[test]
fn the_total_of_mutual_recursion_is_that_of_its_outermost_calls() {
    // main calls a, a calls b, b calls a again, and that b.
    let profile = load(
        "events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 2\n1 30\nfn=a\n2 4\ncfn=b\ncalls=1 3\n2 26\nfn=b\n3 5\n\
         cfn=a'2\ncalls=1 2\n3 21\nfn=a'2\n2 6\ncfn=b'2\ncalls=1 3\n2 15\nfn=b'2\n3 15\n",
    );
    assert_eq!(summary(&profile)[..3], ["main 1 31 0", "a 10 30 2", "b 20 26 2"]);
}

#[test]
fn lines_and_their_files() {
    let profile = load(
        "positions: instr line\nevents: Ir\nfl=(1) a.c\nfn=(1) f\n0x10 7 1\n+3 +2 2\njfi=(2) b.h\njump=3 +1 +1\n* *\n\
         fi=(2)\n+3 * 4\nfe=(1)\n* -3 8\ncfn=(2) g\ncalls=1 0x99 1\n* * 16\nfl=(1)\nfn=(2)\n0x99 1 16\n",
    );
    let calls = profile.calls.as_ref().unwrap();
    let place = |frame| {
        let frame = profile.symbols.frames[frame];
        format!("{}:{}", profile.symbols.function_file(frame.function), frame.line)
    };
    let lines: Vec<String> = (0..calls.lines.place.len())
        .map(|row| {
            let function = profile.symbols.function_name(calls.lines.function[row]);
            format!("{function} {} {}", place(calls.lines.place[row]), calls.lines.self_values[0][row])
        })
        .collect();
    assert_eq!(lines, ["f a.c:7 1", "f a.c:9 2", "f b.h:9 4", "f a.c:6 8", "g a.c:1 16"]);
    assert_eq!(place(calls.site[0].unwrap()), "a.c:6");
    assert_eq!(profile.meta.warnings, [""; 0]);
}

#[test]
fn units_follow_names() {
    let profile = load("events: Time_(10ns) Memory_(bytes)\nfl=a\nfn=f\n1 3 7\n2 1\n");
    let metrics: Vec<_> = profile
        .meta
        .metrics
        .iter()
        .map(|metric| (metric.name.as_str(), metric.unit.as_str(), metric.total))
        .collect();
    assert_eq!(metrics, [("Time", "ns", 40), ("Memory", "bytes", 7), ("calls", "count", 0)]);
}

#[test]
fn a_callee_without_its_file_is_found_by_name() {
    let profile = load("events: Ir\nfl=a\nfn=f\n1 1\ncfn=g\ncalls=2 1\n1 5\nfl=b\nfn=g\n1 5\n");
    assert_eq!(profile.calls.as_ref().unwrap().totals[0].iter().sum::<i64>(), 6 + 5);
}

/// In call trees written by pprof, callees have numbers, but the sections of functions do not.
#[test]
fn numbered_callees_are_the_functions_of_the_same_name() {
    let profile = load(
        "events: cpu(ms)\nfl=a\nfn=main\n1 0\ncfn=lex [1/2]\ncalls=0 1\n1 10\ncfn=lex [2/2]\ncalls=0 1\n2 5\n\
         fn=lex\n1 10\n2 5\n",
    );
    let lines = summary(&profile);
    assert!(
        lines.contains(&"lex 15 15 0".to_string()) && lines.contains(&"main 0 15 0".to_string()),
        "{lines:?}"
    );
    let calls = profile.calls.as_ref().unwrap();
    assert_eq!(
        calls.callee.iter().map(|&callee| profile.symbols.function_name(callee)).collect::<Vec<_>>(),
        ["lex"; 2]
    );
}

#[test]
fn a_callee_without_a_section_costs_as_much_as_its_calls() {
    let profile = load(
        "events: Ir\nfl=a\nfn=f\n1 10\ncfn=gone\ncalls=2 1\n1 4\nfn=g\n1 10\ncfn=gone\ncalls=1 1\n1 3\n",
    );
    assert_eq!(summary(&profile)[..3], ["f 10 14 0", "gone 0 7 3", "g 10 13 0"]);
}

#[test]
fn cachegrind_output_is_not_recognized() {
    assert_eq!(sniff(b"desc: I1 cache: 32768 B\ncmd: ./maze\nevents: Ir\nfl=a\nfn=b\n1 2\n"), Confidence::No);
}

/// The expected totals are those of `callgrind_annotate`.
#[test]
fn costs_may_have_a_sign() {
    let text = "positions: line\nevents: Ir Dr\nfl=a.c\nfn=main\n16 20 5\n+3 +7 -2\n* 4\n";
    let profile = load(text);
    let calls = profile.calls.as_ref().unwrap();
    let sum = |metric: usize| calls.self_values[metric].iter().sum::<i64>();
    assert_eq!((sum(0), sum(1)), (31, 3));
    assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
}

#[test]
fn unknown_versions_are_rejected() {
    let text = "# callgrind format\nversion: 2\nevents: Ir\nfn=main\n1 2\n";
    let error = read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap_err().to_string();
    assert_eq!(error, "callgrind: version 2 is not supported; only version 1 is known (line 2)");
}

/// The first versions of Xdebug say that they write version 0.9.6.
#[test]
fn the_first_version_of_xdebug_is_known() {
    let profile = load(
        "version: 0.9.6\ncmd: C:\\test.php\npart: 1\n\nevents: Time\n\nfl=php:internal\nfn=php::trim\n5 4\n\n\
         fl=C:\\test.php\nfn={main}\n\nsummary: 139\n\n0 135\ncfn=php::trim\ncalls=1 0 0\n5 4\n",
    );
    assert_eq!(summary(&profile)[..2], ["php::trim 4 4 1", "{main} 135 139 0"]);
    assert_eq!(profile.meta.warnings, [""; 0]);
    // Some of these versions counted microseconds, others tenths of them.
    assert_eq!(profile.meta.metrics[0].unit, "count");
}

#[test]
fn xdebug_2_does_not_write_its_units() {
    let units = |creator: &str| {
        let text = format!(
            "version: 1\ncreator: {creator}\nevents: Time Memory\n\nfl=a.php\nfn=f\n1 5 6\n\nsummary: 5 6\n"
        );
        load(&text).meta.metrics.iter().map(|metric| metric.unit.clone()).collect::<Vec<_>>()
    };
    assert_eq!(units("xdebug 2.9.0 (PHP 7.4.2)"), ["microseconds", "bytes", "count"]);
    assert_eq!(units("another"), ["count", "count", "count"]);
}

#[test]
fn xdebug_ends_a_file_with_its_summary() {
    let text = "version: 1\ncreator: xdebug 3.2.0 (PHP 8.2.0)\npositions: line\nevents: Time_(10ns)\n\nfl=a.php\nfn=f\n1 5\n";
    let whole = format!("{text}\nsummary: 5\n");
    assert_eq!(load(&whole).meta.warnings, Vec::<String>::new());
    assert!(load(text).meta.warnings[0].contains("the file is truncated"));
    // Other programs write none.
    assert_eq!(load(&text.replace("xdebug", "pprof")).meta.warnings, Vec::<String>::new());
}

/// Xdebug 3 says how long PHP ran, which also did something outside of functions; earlier versions how long `{main}` did.
#[test]
fn summaries_are_compared_in_the_unit_of_the_table() {
    let of = |version: &str, summary: u32| {
        load(&format!(
            "version: 1\ncreator: xdebug {version} (PHP 8.2.0)\nevents: Time_(10ns)\n\nfl=a.php\nfn=f\n1 400\n\nsummary: {summary}\n"
        ))
    };
    let ran = "the summary line says that PHP ran for 10.40µs, of which its functions took 4.00µs";
    let larger = "costs do not add up: the summary line says Time 10.40µs, the functions sum to 4.00µs";
    let smaller = "costs do not add up: the summary line says Time 2.00µs, the functions sum to 4.00µs";
    for (version, summary, warning, note) in [
        ("3.5.1", 1040, None, Some(ran)),
        ("2.9.0", 1040, Some(larger), None),
        ("3.5.1", 200, Some(smaller), None),
    ] {
        let meta = of(version, summary).meta;
        assert_eq!(meta.warnings.iter().map(|text| &**text).collect::<Vec<_>>(), Vec::from_iter(warning));
        assert_eq!(meta.notes.iter().map(|text| &**text).collect::<Vec<_>>(), Vec::from_iter(note));
    }
}

/// The called function took less than its call says, as where functions are missing.
#[test]
fn totals_that_are_cut_are_reported() {
    let text = "events: Ir\nfl=a.c\nfn=main\n1 80\ncfn=work\ncalls=3 1\n1 960\nfn=work\n1 320\n";
    let profile = load(text);
    assert_eq!(summary(&profile)[..2], ["main 80 400 0", "work 320 320 3"]);
    assert_eq!(
        profile.meta.notes,
        [
            "1 function has a total above the sum of all self values, as where several threads run at once or functions are \
             missing; 100% is shown instead"
        ]
    );
    assert_eq!(load(&text.replace("960", "320")).meta.notes, [""; 0]);
}

#[test]
fn ranges_of_lines_begin_with_the_first() {
    let profile = load("events: Ir\nfl=a.c\nfn=f\n1:3 4\n+2:4 1\n");
    let calls = profile.calls.as_ref().unwrap();
    let lines = calls.lines.place.iter().map(|&place| profile.symbols.frames[place].line);
    assert_eq!(lines.collect::<Vec<_>>(), [1, 3]);
    assert_eq!(profile.meta.warnings, [""; 0]);
}

/// The name and unit of each metric, and which is the default.
fn metrics(profile: &Profile) -> (Vec<(&str, &str)>, usize) {
    let metrics = profile.meta.metrics.iter().map(|metric| (&*metric.name, &*metric.unit));
    (metrics.collect(), profile.meta.default_metric)
}

#[test]
fn events_that_are_units_of_time_are_time() {
    let of = |creator: &str, events: &str| {
        load(&format!("creator: {creator}\nevents: {events}\n\nfl=a.py\nfn=f\n1 5 6\n"))
    };
    let calls = ("calls", "count");
    let profiles = [of("pyprof2calltree", "ns"), of("yappi", "Ticks"), of("pprofile", "hits microseconds")];
    assert_eq!(metrics(&profiles[0]), (vec![("time", "ns"), calls], 0));
    assert_eq!(metrics(&profiles[1]), (vec![("time", "microseconds"), calls], 0));
    assert_eq!(metrics(&profiles[2]), (vec![("hits", "count"), ("time", "microseconds"), calls], 1));
    // Nothing says what other programs mean.
    assert_eq!(metrics(&of("another", "Ticks")), (vec![("Ticks", "count"), calls], 0));
}

/// As pprofile writes them: the first event is how often a line ran, so it equals `calls=`.
#[test]
fn counts_of_lines_that_ran_are_counts_of_calls() {
    let text = "creator: pprofile\nevents: hits microseconds usphit\n\nfl=a.py\nfn=main:1\n2 1 5 5\ncfn=f:7\ncalls=3 7\n2 3 30 10\n\
                cfn=g:9\ncalls=4 9\n3 4 40 10\nfn=f:7\n8 3 20 6\ncfn=g:9\ncalls=6 9\n8 6 10 1\nfn=g:9\n10 10 50 5\n";
    let counts = |profile: &Profile| profile.calls.as_ref().unwrap().calls_metric().is_some();
    assert!(counts(&load(text)));
    // With its option `--statistic`, the first event counts samples, and there are no times.
    let sampled = text.replace(" 30 10", " 0 0").replace(" 40 10", " 0 0").replace(" 10 1\n", " 0 0\n");
    let sampled = sampled.replace(" 5 5\n", " 0 0\n").replace(" 20 6", " 0 0").replace(" 50 5", " 0 0");
    assert!(!counts(&load(&sampled)));
}

/// The binary of each function.
fn mappings(profile: &Profile) -> Vec<&str> {
    let calls = profile.calls.as_ref().unwrap();
    let mapping = |function| {
        profile.symbols.mapping_file(profile.symbols.frames[calls.frame[function].unwrap()].mapping)
    };
    profile.symbols.functions.ids().map(mapping).collect()
}

/// Two binaries may each have functions without a file that have the same name; a callee is of the binary of its caller if none is given.
#[test]
fn functions_of_two_binaries_are_two() {
    let profile = load(
        "events: Ir\n\nob=/lib/a.so\nfl=???\nfn=read\n0 10\n\nob=/lib/b.so\nfl=???\nfn=read\n0 90\n\n\
         fn=open\n0 1\ncfn=read\ncalls=1 0\n0 90\ncob=/lib/a.so\ncfn=read\ncalls=2 0\n0 10\n",
    );
    assert_eq!(
        summary(&profile),
        ["read 10 10 2", "read 90 90 1", "open 1 101 0", "open>read 90 1", "open>read 10 2"]
    );
    assert_eq!(mappings(&profile), ["/lib/a.so", "/lib/b.so", "/lib/b.so"]);
}

/// Such as a function of a header. Whether its binary is known first or last makes no difference.
#[test]
fn functions_of_one_file_in_two_binaries_are_two() {
    let profile = load(
        "events: Ir\nob=app\nfl=main.c\nfn=main\n1 3\ncob=a.so\ncfl=work.h\ncfn=work\ncalls=1 10\n1 20\n\
         cob=b.so\ncfl=work.h\ncfn=work\ncalls=2 10\n2 10\n\
         ob=a.so\nfl=work.h\nfn=work\n10 20\nob=b.so\nfl=work.h\nfn=work\n10 10\n",
    );
    assert_eq!(
        summary(&profile),
        ["main 3 33 0", "work 20 20 1", "work 10 10 2", "main>work 20 1", "main>work 10 2"]
    );
    assert_eq!(mappings(&profile), ["app", "a.so", "b.so"]);
    let files = profile.symbols.functions.ids().map(|id| profile.symbols.function_file(id));
    assert_eq!(files.collect::<Vec<_>>(), ["main.c", "work.h", "work.h"]);
}

#[test]
fn a_binary_that_is_named_late_is_kept() {
    let profile = load("events: Ir\nfl=a.c\nfn=f\n1 1\nob=a.so\nfl=a.c\nfn=f\n2 2\n");
    assert_eq!(summary(&profile), ["f 3 3 0"]);
    assert_eq!(mappings(&profile), ["a.so"]);
}

/// As yappi writes them: first all files, then all functions, below the last of the files.
#[test]
fn a_list_of_names_has_no_sections() {
    let profile = load(
        "version: 1\ncreator: yappi\nevents: Ticks\n\nfl=(1) a.py\nfl=(2) b.py\nfn=(1) f a.py:1\nfn=(2) g b.py:7\n\n\
         fl=(1)\nfn=(1)\n1 12\ncfl=(2)\ncfn=(2)\ncalls=2 0\n0 5\n\nfl=(2)\nfn=(2)\n7 5\n",
    );
    assert_eq!(summary(&profile), ["f a.py:1 12 17 0", "g b.py:7 5 5 2", "f a.py:1>g b.py:7 5 2"]);
    let files = profile.symbols.functions.ids().map(|id| profile.symbols.function_file(id));
    assert_eq!(files.collect::<Vec<_>>(), ["a.py", "b.py"]);
}

/// `go tool pprof -callgrind` does not know how often functions were called.
#[test]
fn counts_that_repeat_the_cost_are_no_counts() {
    let text = "positions: instr line\nevents: cpu(ms)\n\nfl=a.go\nfn=main\n0x10 1 5\ncfn=f\ncalls=30 +1 0\n* * 30\n\
                cfn=g\ncalls=20 +1 0\n* * 20\ncfn=h\ncalls=0 +1 0\n* * 0\nfn=f\n+1 2 20\ncfn=g\ncalls=10 +1 0\n* * 10\nfn=g\n+1 3 30\nfn=h\n+1 4 0\n";
    let profile = load(text);
    assert_eq!(profile.meta.metrics.len(), 1);
    assert!(profile.meta.notes[0].contains("how often functions were called is not known"));
    let calls = profile.calls.as_ref().unwrap();
    assert_eq!((calls.calls_metric(), calls.totals[0].iter().sum::<i64>()), (None, 55 + 30 + 30));
    // Two equal numbers may be a coincidence, and one that differs shows that functions were counted.
    for counted in
        [text.replace("calls=10", "calls=9"), text.replace("calls=20 +1 0\n* * 20", "calls=1 +1 0\n* * 1")]
    {
        let profile = load(&counted);
        assert_eq!((profile.meta.metrics.len(), profile.meta.notes.len()), (2, 0));
    }
}

#[test]
fn numbers_may_be_hexadecimal() {
    let profile = load(
        "events: Ir\nsummary: 0x2a\nfn=main\n1 0xa\ncfn=work\ncalls=0x2 0x10\n0x3 0x20\nfn=work\n0x10 +0x20\n",
    );
    assert_eq!(summary(&profile), ["main 10 42 0", "work 32 32 2", "main>work 32 2"]);
    assert_eq!(profile.meta.warnings, [""; 0]);
}

#[test]
fn a_description_is_not_only_cachegrinds() {
    let sniffed = |text: &str| sniff(text.as_bytes());
    let described = "desc: Trigger: Program termination\n";
    let cost = "events: Ir\nfl=a.c\nfn=f\n1 2\n";
    assert_eq!(sniffed(&format!("{described}{cost}")), Confidence::No);
    assert_eq!(sniffed(&format!("{described}cmd: ./a\n{cost}cfn=g\ncalls=1 2\n1 3\n")), Confidence::Certain);
    for header in ["version: 1\n", "creator: callgrind-3.26.0\n", "part: 1\n"] {
        assert_eq!(sniffed(&format!("{header}{described}{cost}")), Confidence::Certain, "{header}");
    }
}

/// `--cacheuse=yes` leaves events out of the summary, and `--collect-systime=yes` counts there what no function has.
#[test]
fn costs_are_compared_with_both_lines() {
    let warnings = |summary: &str, totals: &str| {
        let text = format!(
            "version: 1\ncreator: callgrind-3.19.0\nevents: Ir AcCost1\n{summary}fn=f\n1 80 7\n{totals}"
        );
        load(&text).meta.warnings
    };
    assert_eq!(warnings("summary: 80\n", "totals: 80 7\n"), [""; 0]);
    assert_eq!(warnings("summary: 81 7\n", "totals: 80 7\n"), [""; 0]);
    let of_totals = "costs do not add up: the totals line says AcCost1 9, the functions sum to 7";
    assert_eq!(warnings("summary: 80\n", "totals: 80 9\n"), [of_totals]);
    // Without the last line, the file is truncated; what the summary does not say is not compared.
    assert_eq!(warnings("summary: 80\n", ""), [""; 0]);
    let of_summary = "costs do not add up: the summary line says Ir 81, the functions sum to 80";
    assert_eq!(warnings("summary: 81 7\n", ""), [of_summary]);
    // A tenth is much, even if the functions are all that the file has.
    let of_much = "costs do not add up: the summary line says Ir 88, the functions sum to 80";
    assert_eq!(warnings("summary: 88 7\n", "totals: 80 7\n"), [of_much]);
}

#[test]
fn times_have_units() {
    let metric = |text: &str, metric: usize| {
        let metric = load(text).meta.metrics.swap_remove(metric);
        (metric.name, metric.unit)
    };
    let of = |unit: &str| {
        let text = format!(
            "version: 1\ncreator: callgrind-3.19.0\nevent: sysTime : sysTime (elapsed {unit})\nevents: Ir sysTime\nfn=f\n1 40 7\n"
        );
        metric(&text, 1)
    };
    assert_eq!(of("ms"), ("sysTime".into(), "milliseconds".into()));
    assert_eq!(of("ns"), ("sysTime".into(), "nanoseconds".into()));
    assert_eq!(of("calls"), ("sysTime".into(), "count".into()));
    // ruby-prof writes no creator.
    let ruby = "events: wall_time\n\nfl=\nfn=Integer::times\n0 1377820\n";
    assert_eq!(metric(ruby, 0), ("wall_time".into(), "microseconds".into()));
    assert_eq!(metric(&format!("creator: x\n{ruby}"), 0), ("wall_time".into(), "count".into()));
}
