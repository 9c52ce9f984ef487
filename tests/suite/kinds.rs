//! Profile types of metrics, frames to drop, and idle time.

use std::path::{Path, PathBuf};

use prof::kind::{KINDS, may_mean, of_metric};
use prof::profile::to_notation;
use prof::transform::drop_frames;

use crate::support::{below, corpus_root, fixture, load_file, load_text, prof};

/// Metric names that programs choose themselves, so `prof types` cannot know them.
const FREE_FORM: &[&str] = &[
    // Experiments of coz.
    "selected_samples",
    "experiment_time",
    "progress",
    // JSON for gprof2dot, which names its costs in prose.
    "Memory",
    // The sides of a comparison as collapsed stacks.
    "old",
    "new",
    // Recorders of Julia, Cairo, VerCors and GHC.
    "stack_depth",
    "steps count",
    "memory holes",
    "agg",
    "aggUser",
    "aggSys",
    "selfUser",
    "selfSys",
    "childUser",
    "childSys",
    "live",
    // DHAT's accesses, copies, and events of the program's own.
    "read",
    "written",
    "copied_space",
    "copies",
    "units",
    // Counters of Perfetto, which the recorder names.
    "wall-time samples",
    "cycles samples",
    "allocated samples",
    "page-faults",
    "allocated",
    // A file without value types.
    "",
];

/// Every metric of a real profile has a known type or is listed above. Formats whose metric names are event or
/// map names are excluded.
#[test]
fn types_are_known_for_what_readers_produce() {
    types_are_known_below(&fixture(""));
}

#[test]
#[needs(Corpus)]
fn types_are_known_for_real_profiles() {
    types_are_known_below(&corpus_root());
}

fn types_are_known_below(root: &Path) {
    let mut files: Vec<PathBuf> = below(root).iter().map(|file| root.join(file)).collect();
    files.retain(|file| file.metadata().is_ok_and(|file| file.len() < 500_000));
    let (mut known, mut unknown) = (0, Vec::new());
    for file in &files {
        let Ok(profile) = load_file(file) else { continue };
        if matches!(
            profile.meta.format,
            "callgrind"
                | "perf-data"
                | "perf-script"
                | "inferno"
                | "bpftrace"
                | "bcc"
                | "pmcstat"
                | "simpleperf"
                | "oprofile"
        ) {
            continue;
        }
        for metric in &profile.meta.metrics {
            let is_free = FREE_FORM.contains(&metric.name.as_str());
            known += usize::from(!is_free);
            if !is_free && of_metric(&metric.name).is_none() {
                unknown.push(format!("{}: {} in {}", file.display(), metric.name, metric.unit));
            }
        }
    }
    assert!(known > 20, "only {known} metrics");
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// The name of a type, as `prof types` and `prof info` print it, is accepted for each of its metrics.
#[test]
fn every_name_of_a_type_is_accepted() {
    for kind in KINDS {
        for metric in kind.metrics {
            assert!(may_mean(kind.name, metric), "{} {metric}", kind.name);
            let of = of_metric(metric).unwrap();
            assert!(may_mean(of.name, metric), "{} {metric}", of.name);
        }
        assert!(kind.companion.is_none_or(|name| KINDS.iter().any(|other| other.name == name)));
    }
    let folder = fixture("pprof");
    for (file, asked, shown) in [
        ("go-mutex.pb.gz", "mutex_duration", "delay"),
        ("go-mutex.pb.gz", "mutex_count", "contentions"),
        ("go-block.pb.gz", "block_duration", "delay"),
        ("go-cpu.pb.gz", "CPU", "cpu"),
        ("../perf-data/rust.perf.data", "cpu", "cpu-clock"),
        ("../heapprofile/node.heapprofile", "heap", "inuse_space"),
        ("../pstats/python.pstats", "wall", "time"),
    ] {
        assert_eq!(metric_of(&folder, &["top", "-m", asked, file]), shown, "{file} -m {asked}");
    }
}

/// The name of the first metric in the JSON of a command.
fn metric_of(folder: &Path, arguments: &[&str]) -> String {
    json(folder, arguments)["metric"]["name"].as_str().unwrap_or_default().to_string()
}

fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let out = prof(folder, &[arguments, &["--format", "json"]].concat()).output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {errors}"))
}

/// Collapsed stacks with two weights: `old`, and `new`, which is the default.
#[test]
fn a_default_metric_of_0_gives_way_to_the_first_with_a_value() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("zero.folded"), "main;a 3 0\nmain;b 1 0\n").unwrap();
    std::fs::write(folder.join("both.folded"), "main;a 3 2\nmain;b 1 1\n").unwrap();
    std::fs::write(folder.join("none.folded"), "main;a 0 0\n").unwrap();
    for (arguments, shown) in [
        (&["top", "zero.folded"][..], "old"),
        (&["tree", "zero.folded"], "old"),
        (&["graph", "zero.folded"], "old"),
        (&["top", "zero.folded", "--base", "both.folded"], "old"),
        (&["top", "zero.folded", "-m", "new"], "new"),
        (&["top", "zero.folded", "both.folded"], "new"),
        (&["top", "both.folded"], "new"),
        (&["top", "none.folded"], "new"),
    ] {
        assert_eq!(metric_of(folder, arguments), shown, "{arguments:?}");
    }
    let has_note = |arguments: &[&str]| {
        let warnings = json(folder, arguments)["warnings"].to_string();
        warnings.contains("the default metric, new, has a total of 0; showing old instead")
    };
    assert!(has_note(&["top", "zero.folded"]) && has_note(&["info", "zero.folded"]));
    assert!(!has_note(&["top", "both.folded"]) && !has_note(&["top", "zero.folded", "-m", "new"]));
    let info = json(folder, &["info", "zero.folded"]);
    let defaults: Vec<bool> =
        info["metrics"].as_array().unwrap().iter().map(|metric| metric["default"] == true).collect();
    assert_eq!(defaults, [true, false]);
}

/// 100 ms, of which 78 are idle: the header, `info`, pictures and the page agree.
#[test]
fn waiting_does_not_count_as_busy_in_any_view() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let nodes = ["(root)", "work", "(idle)"].iter().enumerate().map(|(number, name)| {
        let children = if number == 0 { "[2,3]" } else { "[]" };
        format!(
            r#"{{"id":{},"callFrame":{{"functionName":"{name}","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},"children":{children}}}"#,
            number + 1
        )
    });
    let nodes: Vec<String> = nodes.collect();
    let text = format!(
        r#"{{"nodes":[{}],"startTime":0,"endTime":100000,"samples":[2,3],"timeDeltas":[0,22000]}}"#,
        nodes.join(",")
    );
    std::fs::write(folder.join("node.cpuprofile"), text).unwrap();
    let text = |arguments: &[&str]| {
        let out = prof(folder, arguments).output().unwrap();
        assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let said = "0.22 threads busy, 78% idle";
    for command in ["info", "top", "tree", "hot", "graph", "traces"] {
        let text = text(&[command, "node.cpuprofile"]);
        assert!(text.contains(said) && text.contains("--hide-stacks @idle"), "{command}: {text}");
    }
    text(&["flame", "out.svg", "node.cpuprofile"]);
    assert!(std::fs::read_to_string(folder.join("out.svg")).unwrap().contains(said));
    let info = json(folder, &["info", "node.cpuprofile"]);
    assert_eq!((info["busy"].as_f64(), info["idle"].as_f64()), (Some(0.22), Some(0.78)));
    let awake = text(&["top", "node.cpuprofile", "--hide-stacks", "@idle"]);
    assert!(awake.contains(said) && awake.contains("shown 22"), "{awake}");
    let rows = json(folder, &["top", "node.cpuprofile"]);
    let marked = |row: &serde_json::Value| (row["name"].to_string(), row["candidate"] == true);
    let marked: Vec<_> = rows["rows"].as_array().unwrap().iter().map(marked).collect();
    assert_eq!(marked[..2], [("\"(idle)\"".to_string(), false), ("\"work\"".to_string(), true)]);
}

/// As Go 1.27 writes goroutines with `debug=1`: `gopark`, `chanrecv` and `goexit` have no names.
#[test]
fn goroutines_as_text_end_with_the_caller_of_the_runtime() {
    let profile = load_text(
        "goroutine profile: total 43\n40 @ 0x11 0x21 0x31 0x41\n#\t0x30\tmain.waiter+0x18\t/m.go:14\n\n\
         3 @ 0x11 0x51 0x41\n#\t0x50\ttime.Sleep+0x164\t/go/time.go:368\n",
    );
    assert_eq!(
        to_notation(&drop_frames(&profile)),
        "runtime.goexit;main.waiter@/m.go:14 40\nruntime.goexit;time.Sleep@/go/time.go:368 3"
    );
}

/// Go's heap profiles as text leave out the names of the allocator in the same way.
#[test]
fn go_heap_profiles_as_text_end_with_the_allocating_function() {
    let profile = load_text(
        "heap profile: 1: 8 [1: 8] @ heap/2\n1: 8 [1: 8] @ 0x11 0x31 0x41\n#\t0x30\tmain.alloc+0x18\t/m.go:14\n",
    );
    assert_eq!(to_notation(&drop_frames(&profile)), "runtime.goexit;main.alloc@/m.go:14 1 8");
}

#[test]
fn allocations_are_attributed_to_the_caller_of_the_allocator() {
    let leaf = |stack: &[&str]| -> String {
        let table: Vec<String> = stack.iter().map(|name| format!("\"0x10: {name} (a.c:1)\"")).collect();
        let numbers: Vec<String> = (0..stack.len()).map(|number| number.to_string()).collect();
        let text = format!(
            r#"{{"dhatFileVersion": 2, "mode": "heap", "cmd": "./maze 3", "pps": [{{"tb": 8, "tbk": 1, "fs": [{}]}}], "ftbl": [{}]}}"#,
            numbers.join(","),
            table.join(",")
        );
        let profile = drop_frames(&load_text(&text));
        let last = profile.stacks.frames(profile.samples.stack[0]).last().copied().unwrap();
        profile.symbols.function_name(profile.symbols.frames[last].function).to_string()
    };
    for (stack, want) in [
        (&["malloc", "work", "main"][..], "work"),
        (
            &[
                "operator new(unsigned long)",
                "std::__new_allocator<int>::allocate(unsigned long, void const*)",
                "push",
                "main",
            ],
            "push",
        ),
        (
            &[
                "__rust_alloc",
                "alloc::alloc::alloc",
                "alloc::raw_vec::RawVec<T,A>::grow",
                "alloc::vec::Vec<T>::push",
                "main",
            ],
            "alloc::vec::Vec<T>::push",
        ),
        (&["<alloc::alloc::Global as core::alloc::Allocator>::allocate", "main::work", "main"], "main::work"),
        // Containers are kept, because they call closures of the program.
        (&["malloc", "main::{{closure}}", "alloc::vec::Vec<T>::retain", "main"], "main::{{closure}}"),
        (&["my_malloc", "main"], "my_malloc"),
    ] {
        assert_eq!(leaf(stack), want, "{stack:?}");
    }
}

/// Frames of garbage collectors in real recordings: the set has all of one, and nothing of a program without a collector.
#[test]
fn garbage_collection_is_found_in_real_profiles() {
    let self_of =
        |arguments: &[&str]| json(&fixture(""), &[&["top"], arguments].concat())["shown"].as_i64().unwrap();
    // `(garbage collector)`, whose self another test counts in the file.
    let node = "cpuprofile/node.cpuprofile";
    assert_eq!(self_of(&["--show-stacks", "@gc", node]), 95_319);
    let go = "pprof/go-cpu.pb.gz";
    let workers = "runtime[.](gcBgMarkWorker|gcAssistAlloc|bgsweep|bgscavenge|gcStart|gcMarkTermination)";
    let collected = self_of(&["--show-stacks", "@gc", go]);
    assert!(collected >= self_of(&["--show-stacks", workers, go]) && collected > 0);
    assert!(collected < self_of(&[go]) / 2);
}
