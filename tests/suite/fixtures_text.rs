//! Reads the fixtures of text formats, and compares numbers with those that other programs (`callgrind_annotate`,
//! Python's `pstats`, short Python scripts) get from the same files.

use std::collections::BTreeSet;
use std::path::Path;

use prof::format::{self, Source};
use prof::profile::{FunctionId, LoadOptions, Profile};

fn load(name: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    let file = std::fs::File::open(&path).unwrap();
    let mut source = Source::open(Box::new(file)).unwrap();
    let profile = format::load(&mut source, LoadOptions::ALL, None).unwrap();
    assert_eq!(profile.meta.warnings, [""; 0], "{name}");
    profile
}

/// Self and total of the functions called `name`, counted naively over the samples.
fn counted(profile: &Profile, metric: usize, name: &str) -> (i64, i64) {
    let (mut own, mut total) = (0, 0);
    for (row, &stack) in profile.samples.stack.iter().enumerate() {
        let value = profile.samples.values[metric][row];
        let names: Vec<&str> =
            profile.stacks.frames(stack).iter().map(|&frame| profile.symbols.frame_name(frame)).collect();
        if names.last() == Some(&name) {
            own += value;
        }
        if names.contains(&name) {
            total += value;
        }
    }
    (own, total)
}

/// Self, total and calls of the only function called `name`.
fn node(profile: &Profile, metric: usize, name: &str) -> (i64, i64, i64) {
    let calls = profile.calls.as_ref().unwrap();
    let named = |&id: &FunctionId| profile.symbols.function_name(id) == name;
    let ids: Vec<FunctionId> = profile.symbols.functions.ids().filter(named).collect();
    assert_eq!(ids.len(), 1, "{name}");
    let count = calls.self_values[calls.calls_metric().unwrap()][ids[0]];
    (calls.self_values[metric][ids[0]], calls.totals[metric][ids[0]], count)
}

#[test]
fn perf_script() {
    let profile = load("perf-script/rust.perf.txt");
    assert_eq!(profile.meta.format, "perf-script");
    let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
    assert_eq!((totals, profile.meta.default_metric), (vec![264, 2_666_666_640], 1));
    assert_eq!(counted(&profile, 1, "words::count"), (121_212_120, 959_595_950));
    assert_eq!(counted(&profile, 1, "words::run").0, 383_838_380);
    assert_eq!(counted(&profile, 1, "words::main").1, 2_525_252_500);
    assert_eq!(profile.samples.time.as_ref().unwrap().len(), 264);
}

#[test]
fn perf_script_of_two_events() {
    let profile = load("perf-script/rust-two-events.perf.txt");
    let metrics: Vec<_> =
        profile.meta.metrics.iter().map(|metric| (metric.name.as_str(), metric.total, metric.rows)).collect();
    assert_eq!(
        metrics,
        [("samples", 143, 143), ("page-faults", 3_688_489, 11), ("cpu-clock", 2_693_877_516, 132)]
    );
    assert_eq!(profile.meta.default_metric, 2);
    assert_eq!(counted(&profile, 2, "words::count").1, 918_367_335);
    assert_eq!(counted(&profile, 2, "words::run").0, 306_122_445);
    assert_eq!(counted(&profile, 1, "words::count"), (0, 0));
}

#[test]
fn bpftrace() {
    let profile = load("bpftrace/c.bpftrace.txt");
    let metrics: Vec<_> =
        profile.meta.metrics.iter().map(|metric| (metric.name.as_str(), metric.total)).collect();
    assert_eq!(metrics, [("samples", 20), ("nsecs", 408_163_260)]);
    assert_eq!(counted(&profile, 0, "visit"), (10, 10));
    assert_eq!(counted(&profile, 0, "solve"), (2, 2));
    // `dig` recurses deeper than bpftrace's limit on stack depth, so `main` is missing from its stacks.
    assert_eq!(counted(&profile, 0, "main"), (0, 14));
    assert_eq!(counted(&profile, 1, "dig").1, 6 * 20_408_163);
}

#[test]
fn callgrind() {
    for file in ["c.callgrind", "c-instr.callgrind", "c-cache.callgrind"] {
        let profile = load(&format!("callgrind/{file}"));
        assert_eq!(profile.meta.metrics[0].total, 10_973_927, "{file}");
        // `dig` appears as `dig` (3,300) and `dig'2` (3,407,175); its total is the cost of the calls from `new_maze`.
        assert_eq!(node(&profile, 0, "dig"), (3_410_475, 3_590_475, 22_500), "{file}");
        assert_eq!(node(&profile, 0, "visit"), (4_273_025, 4_273_025, 179_925), "{file}");
        assert_eq!(node(&profile, 0, "solve"), (1_531_115, 7_226_131, 25), "{file}");
        assert_eq!(node(&profile, 0, "new_maze"), (12_054, 3_614_045, 25), "{file}");
        assert_eq!(node(&profile, 0, "main"), (309, 10_851_175, 1), "{file}");
    }
    let cache = load("callgrind/c-cache.callgrind");
    let of_visit: Vec<i64> = (0..9).map(|metric| node(&cache, metric, "visit").0).collect();
    assert_eq!(of_visit, [4_273_025, 494_750, 134_925, 1, 30, 2_801, 1, 0, 113]);
}

#[test]
fn callgrind_edges() {
    let profile = load("callgrind/c.callgrind");
    let calls = profile.calls.as_ref().unwrap();
    let edges: BTreeSet<(&str, &str, i64, i64)> = (0..calls.edge_count())
        .map(|edge| {
            let name = |id| profile.symbols.function_name(id);
            let (caller, callee) = (name(calls.caller[edge]), name(calls.callee[edge]));
            (caller, callee, calls.edge_values[0][edge], calls.edge_values[1][edge])
        })
        .filter(|edge| edge.0 == "main" || edge.1 == "dice")
        .filter(|edge| ["new_maze", "solve", "dice"].contains(&edge.1))
        .collect();
    assert_eq!(
        edges.into_iter().collect::<Vec<_>>(),
        [
            ("dig", "dice", 180_000, 22_500),
            ("main", "new_maze", 3_614_045, 25),
            ("main", "solve", 7_226_131, 25)
        ]
    );
}

#[test]
fn pstats() {
    let profile = load("pstats/python.pstats");
    let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
    assert_eq!(totals, [695_705_067, 2_044_063]);
    assert_eq!(node(&profile, 0, "_iterencode_list"), (89_800_190, 194_897_698, 447_612));
    assert_eq!(node(&profile, 0, "write_records"), (80_003_180, 217_894_014, 4));
    assert_eq!(node(&profile, 0, "dumps"), (306_026, 212_902_825, 4));
    let calls = profile.calls.as_ref().unwrap();
    let into = (0..calls.edge_count())
        .filter(|&edge| profile.symbols.function_name(calls.callee[edge]) == "_iterencode_list")
        .map(|edge| {
            let caller = profile.symbols.function_name(calls.caller[edge]);
            (caller, calls.edge_values[0][edge], calls.edge_values[1][edge])
        });
    assert_eq!(
        into.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
        [
            ("_iterencode", 194_897_698, 65_196),
            ("_iterencode_dict", 162_864_418, 381_984),
            ("_iterencode_list", 447_240, 432),
        ]
    );
}

#[test]
fn austin() {
    let profile = load("austin/python.austin");
    assert_eq!((profile.meta.metrics[0].total, profile.meta.rows), (1_416_163, 141));
    assert_eq!(counted(&profile, 0, "write_records").0, 272_169);
    assert_eq!(counted(&profile, 0, "read_records").0, 202_948);
    assert_eq!(counted(&profile, 0, "work").1, 1_273_774);
    assert_eq!(counted(&profile, 0, "Thread.run").1, 687_729);
}

#[test]
fn collapsed() {
    let profile = load("collapsed/worked-3.folded");
    assert_eq!(profile.meta.format, "collapsed");
    assert_eq!(profile.meta.metrics[0].total, 10);
    assert_eq!((counted(&profile, 0, "a"), counted(&profile, 0, "b")), ((7, 9), (3, 6)));
    // The same recording, collapsed by inferno, which marks kernel frames.
    let folded = load("collapsed/rust.folded");
    assert_eq!(folded.meta.metrics[0].total, 2_666_666_640);
    assert_eq!(counted(&folded, 0, "words::run").0, 383_838_380);
}

/// The expected numbers are those that `heaptrack_print` prints for the same file.
#[test]
fn heaptrack_counts_as_heaptrack_print() {
    let totals = |profile: &Profile| -> Vec<(String, i64)> {
        profile.meta.metrics.iter().map(|metric| (metric.name.clone(), metric.total)).collect()
    };
    let profile = load("heaptrack/maze.zst");
    let expected = [("allocations", 8_074), ("temporary", 7_947), ("peak", 138_481), ("leaked", 36_384)];
    for (name, total) in expected {
        assert!(totals(&profile).contains(&(name.to_string(), total)), "{name}: {:?}", totals(&profile));
    }
    let peak = profile.value_by_stack(profile.meta.metric_named("peak").unwrap());
    let of_maze: i64 = profile
        .stack_ids()
        .filter(|&stack| {
            let frames = profile.stacks.frames(stack).iter();
            frames.map(|&frame| profile.symbols.frame_name(frame)).any(|name| name == "main")
        })
        .map(|stack| peak[stack])
        .sum();
    assert_eq!(of_maze, 138_481 - 72_704);
    // The same program, not interpreted.
    assert_eq!(totals(&load("heaptrack/maze.raw.zst")), totals(&profile));
}
