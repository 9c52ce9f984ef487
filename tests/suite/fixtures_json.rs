//! The JSON readers on the recorded profiles in `fixtures/`. The expected numbers were computed from
//! the files by a few lines of Python that share nothing with the readers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use prof::format::{self, Source};
use prof::profile::{LabelValue, LoadOptions, Profile};

fn load(path: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
    let mut source = Source::open(Box::new(File::open(path).unwrap())).unwrap();
    format::load(&mut source, LoadOptions { labels: true, times: false, ..LoadOptions::LEAST }, None).unwrap()
}

/// Self and total of each function of `metric`, with the end of its file, its line and its column.
fn functions(profile: &Profile, metric: &str) -> BTreeMap<(String, String, u32, u32), (i64, i64)> {
    let symbols = &profile.symbols;
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut sums: BTreeMap<_, (i64, i64)> = BTreeMap::new();
    for stack in profile.stack_ids() {
        let key = |frame| {
            let id = symbols.frames[frame].function;
            let function = symbols.functions[id];
            let file = symbols.function_file(id).rsplit('/').next().unwrap().to_string();
            (symbols.function_name(id).to_string(), file, function.line, function.column)
        };
        let keys: Vec<_> = profile.stacks.frames(stack).iter().map(|&frame| key(frame)).collect();
        if let Some(leaf) = keys.last() {
            sums.entry(leaf.clone()).or_default().0 += values[stack];
        }
        for key in BTreeSet::from_iter(keys) {
            sums.entry(key).or_default().1 += values[stack];
        }
    }
    sums
}

fn of(functions: &BTreeMap<(String, String, u32, u32), (i64, i64)>, name: &str, line: u32) -> (i64, i64) {
    let found = functions.iter().find(|((function, _, at, _), _)| function == name && *at == line);
    *found.unwrap_or_else(|| panic!("{name}:{line}")).1
}

#[test]
fn a_cpu_profile_of_node() {
    let profile = load("cpuprofile/node.cpuprofile");
    let meta = &profile.meta;
    assert_eq!((meta.format, meta.rows, meta.duration_ns), ("cpuprofile", 486, Some(1_159_110_000)));
    assert_eq!((meta.metrics[0].total, meta.metrics[1].total), (486, 1_151_457));
    // 70 nodes were sampled, and `positionTicks` has 102 lines of nodes.
    assert_eq!(profile.stacks.len(), 70 + 102);
    assert!(meta.warnings.is_empty());
    let mut lines = BTreeMap::new();
    for (stack, samples) in profile.value_by_stack(0).enumerate() {
        let leaf = profile.stacks.frames(stack).last().map(|&frame| profile.symbols.frames[frame]);
        if let Some(leaf) = leaf.filter(|leaf| profile.symbols.function_name(leaf.function) == "waysToPay") {
            *lines.entry(leaf.line).or_default() += samples;
        }
    }
    // Every one of its samples has a line.
    assert_eq!(lines, BTreeMap::from([(0, 0), (52, 51), (53, 1), (54, 12), (55, 218)]));
    let functions = functions(&profile, "cpu");
    assert_eq!(of(&functions, "waysToPay", 52), (671_066, 671_066));
    assert_eq!(of(&functions, "handle", 58), (179_277, 990_640));
    assert_eq!(of(&functions, "(garbage collector)", 0), (95_319, 95_319));
    assert_eq!(of(&functions, "renderLine", 42), (33_974, 73_377));
    assert_eq!(functions[&("escape".into(), "invoices.mjs".into(), 40, 16)], (33_041, 39_403));
    assert_eq!(functions[&("(anonymous)".into(), "invoices.mjs".into(), 1, 1)].1, 1_012_748);
    assert!(!functions.keys().any(|(name, ..)| name == "(root)"));
}

/// The same recording in the Firefox Profiler's format, as text and with its numbers in slabs.
#[test]
fn a_firefox_profile_of_version_75() {
    let node = functions(&load("cpuprofile/node.cpuprofile"), "samples");
    for (file, bytes) in [("gecko/node.v75.json", 17_592), ("gecko/node.jslb", 12_987)] {
        let profile = load(file);
        assert_eq!((profile.meta.format, profile.meta.bytes), ("gecko", bytes));
        assert_eq!((profile.meta.rows, profile.meta.duration_ns), (486, Some(1_159_110_000)));
        assert_eq!(functions(&profile, "samples"), node, "{file}");
    }
}

#[test]
fn a_heap_profile_of_node() {
    let profile = load("heapprofile/node.heapprofile");
    assert_eq!((profile.meta.format, profile.meta.metrics[0].total), ("heapprofile", 26_469_640));
    let functions = functions(&profile, "inuse_space");
    assert_eq!(of(&functions, "(anonymous)", 27).0, 15_340_056);
    assert_eq!(of(&functions, "update", 132).0, 7_341_824);
    assert_eq!(of(&functions, "from", 0).0, 2_037_728);
    assert_eq!(of(&functions, "handle", 58).0, 631_200);
}

#[test]
fn two_threads_of_python_in_speedscope() {
    let profile = load("speedscope/python.speedscope.json");
    let meta = &profile.meta;
    assert_eq!((meta.format, meta.rows, meta.labelled_rows), ("speedscope", 305, 305));
    assert_eq!((&*meta.metrics[0].name, meta.metrics[0].total), ("wall", 3_050_000_000));
    assert_eq!(meta.comments, ["py-spy@0.4.3", "py-spy profile"]);
    let mut by_thread: BTreeMap<[&str; 2], i64> = BTreeMap::new();
    let mut own: BTreeMap<&str, i64> = BTreeMap::new();
    for (row, &value) in profile.samples.values[0].iter().enumerate() {
        let strings = &profile.symbols.strings;
        let thread = ["thread", "tid"].map(|key| {
            let labels = profile.label_sets.labels(profile.samples.labels[row]);
            let label = labels.iter().find(|label| strings.get(label.key) == key);
            let Some(LabelValue::Text(text)) = label.map(|label| label.value) else { panic!("text") };
            strings.get(text)
        });
        *by_thread.entry(thread).or_default() += value;
        let leaf = profile.stacks.frames(profile.samples.stack[row]).last().unwrap();
        *own.entry(profile.symbols.frame_name(*leaf)).or_default() += value;
    }
    let expected = [(["MainThread", "19036"], 1_660_000_000), (["helper", "19039"], 1_390_000_000)];
    assert_eq!(by_thread, BTreeMap::from(expected));
    assert!(!own.keys().any(|name| name.starts_with("thread (")));
    assert_eq!(own["write_records"], 780_000_000);
    assert_eq!(own["read_records"], 450_000_000);
}

#[test]
fn allocations_of_a_c_program_in_dhat() {
    let profile = load("dhat/c.dhat.json");
    let totals: Vec<_> = profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
    let expected = [
        ("alloc_space", 6_273_825),
        ("alloc_objects", 8_073),
        ("peak_space", 65_777),
        ("peak_objects", 53),
        ("inuse_space", 32_288),
        ("inuse_objects", 50),
        ("max_space", 65_777),
    ];
    assert_eq!(totals[..7], expected);
    assert_eq!(totals[8..], [("read", 6_906_611), ("written", 6_397_694)]);
    // `printf` allocates its buffer once, through functions that were inlined into each other.
    let drawing = prof::profile::to_notation(&profile);
    let line = drawing.lines().find(|line| line.contains("printf@")).unwrap();
    let expected = "main@maze.c:99;printf@printf.c:33;__vfprintf_internal@vfprintf-internal.c:767;\
        +outstring_func@vfprintf-internal.c:239;_IO_file_xsputn@@GLIBC_2.2.5@fileops.c:1196;\
        +_IO_new_file_xsputn@fileops.c:1243;_IO_file_overflow@@GLIBC_2.2.5@fileops.c:744;\
        _IO_doallocbuf@genops.c:342;+_IO_doallocbuf@genops.c:347;_IO_file_doallocate@filedoalloc.c:101;malloc 4096 1";
    assert!(line.starts_with(expected), "{line}");
}
