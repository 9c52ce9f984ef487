//! The index of the corpus of real profiles: every file of it loads as what it is, or is refused for a
//! reason that is right, and what others say of a file is compared with what we say.
//!
//! The corpus is looked for in `../shared/corpus`; where that is absent, these tests say so and pass.

use std::collections::BTreeMap;
use std::path::Path;

use prof::format::LoadError;

use crate::support::{below, corpus_root, load_file};

/// A row of `INDEX.tsv`.
struct Row {
    path: String,
    format: String,
    /// The path of another program's result for the file; empty for most files.
    expectation: String,
}

fn index(corpus: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(corpus.join("INDEX.tsv")).unwrap();
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let column = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    let [path, format, expectation] = ["path", "format", "independent_expected_output"].map(column);
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split('\t').collect();
            let field = |number: usize| fields.get(number).copied().unwrap_or_default().to_string();
            Row { path: field(path), format: field(format), expectation: field(expectation) }
        })
        .collect()
}

/// The name of a format in the index, our name for it, and the confidence of its detection.
const FORMATS: &[(&str, &str, &str)] = &[
    ("art-trace", "art-trace", "certain"),
    ("austin", "austin", "certain"),
    ("callgrind", "callgrind", "certain"),
    ("chrome-trace", "chrome-trace", "certain"),
    ("collapsed", "collapsed", "maybe"),
    ("cpuprofile", "cpuprofile", "certain"),
    ("dhat", "dhat", "certain"),
    ("dtrace", "dtrace", "likely"),
    ("gecko", "gecko", "certain"),
    ("ghcprof", "ghc", "certain"),
    ("heapprofile", "heapprofile", "certain"),
    ("heaptrack", "heaptrack", "certain"),
    ("heaptrack-raw", "heaptrack", "certain"),
    ("instruments-deep-copy", "instruments-copy", "certain"),
    ("jfr", "jfr", "certain"),
    ("macos-sample", "macos-sample", "certain"),
    ("nettrace", "nettrace", "certain"),
    ("nytprof", "nytprof", "certain"),
    ("oprofile", "oprofile", "likely"),
    ("perfetto", "perfetto", "certain"),
    ("sleepy", "sleepy", "certain"),
    ("coz", "coz", "certain"),
    ("goroutine-debug2", "goroutine", "certain"),
    ("goroutine-text", "goroutine", "certain"),
    ("gprof-gmon", "gmon", "certain"),
    ("gprof-text", "gprof", "likely"),
    ("gprof2dot-json", "gprof2dot", "certain"),
    ("hprof-text", "hprof", "certain"),
    ("massif", "massif", "certain"),
    ("memray", "memray", "certain"),
    ("memtrace-ctf", "memtrace", "certain"),
    ("mojo", "mojo", "certain"),
    ("otlp", "otlp", "likely"),
    ("pyinstrument", "pyinstrument", "certain"),
    ("rprof", "rprof", "certain"),
    ("safari", "safari", "certain"),
    ("scalene", "scalene", "certain"),
    ("v8-log", "v8-log", "certain"),
    ("v8-log-json", "v8-log-json", "certain"),
    ("papyrus", "papyrus", "certain"),
    ("perf-data", "perf-data", "certain"),
    ("perf-script", "perf-script", "certain"),
    ("pmcstat", "pmcstat", "certain"),
    ("pprof", "pprof", "likely"),
    ("pprof-legacy", "pprof-legacy", "certain"),
    ("pstats", "pstats", "certain"),
    ("sentry-profile", "sentry", "certain"),
    ("simpleperf", "simpleperf", "certain"),
    ("speedscope", "speedscope", "certain"),
    ("stackprof", "stackprof", "certain"),
    ("sysprof-xml", "sysprof-xml", "certain"),
    ("vtune-gprof-cc", "vtune-gprof", "certain"),
    ("xdebug-trace", "xdebug", "certain"),
    ("xperf", "xperf", "certain"),
];

/// Files that are not read like the others of their folder: some are not really malformed, and some are harder to detect.
const READ_AS: &[(&str, &str, &str)] = &[
    // Austin writes comparisons of profiles as plain collapsed stacks.
    ("austin/P403n1x87__austin-python__diff_a-b.austin", "collapsed", "maybe"),
    // A report without a function.
    ("callgrind/jrfonseca__gprof2dot__empty.callgrind", "callgrind", "likely"),
    ("ghcprof/jlfwong__speedscope__simple.prof", "ghc-json", "certain"),
    ("malformed/KDAB__hotspot__perf.data.true.v2", "perf-data", "certain"),
    ("malformed/grafana__pyroscope__invalid_utf8.pb.gz", "pprof", "likely"),
    ("malformed/grafana__pyroscope__no_addr_no_line.pb.gz", "pprof", "likely"),
    ("malformed/jonhoo__inferno__bad-lines.txt", "collapsed", "maybe"),
    (
        "malformed/jonhoo__inferno__invalid-perf-with-empty-line-after-event-line.txt",
        "perf-script",
        "certain",
    ),
    ("malformed/jonhoo__inferno__perf_empty-line.txt", "perf-script", "certain"),
    ("malformed/jonhoo__inferno__perf_weird-stack-line.txt", "perf-script", "certain"),
    ("otlp/grafana__pyroscope__otel-ebpf-profile.pb.json", "otlp", "certain"),
    // Headers without a processor.
    ("perf-script/brendangregg__FlameGraph__perf-vertx-stacks-01.txt", "perf-script", "likely"),
];

/// Files that are rejected, and a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("malformed/KDAB__hotspot__perf.data.true.v1", "a version 1 perf.data file"),
    (
        "malformed/arjunsk__go_profile_serde__truncated-gzip-heap.pprof",
        "gzip: file is truncated: the compressed stream is incomplete",
    ),
    // A different protobuf message that looks like a profile.
    ("malformed/grafana__pyroscope__1.pb", "not a profile in any known format"),
    (
        "malformed/jlfwong__speedscope__speedscope_incomplete-trace.json",
        "speedscope: frames are still open after the last event (byte 305)",
    ),
    (
        "malformed/jlfwong__speedscope__speedscope_out-of-order-events.json",
        "speedscope: event closes a frame that is not the innermost open frame (byte 558)",
    ),
    (
        "malformed/jonhoo__inferno__sample_invalid-samples-field.txt",
        "macos-sample: count is not a number (line 22)",
    ),
    (
        "malformed/jonhoo__inferno__sample_odd-indentation.txt",
        "macos-sample: indentation is not a multiple of two columns (line 22)",
    ),
    (
        "malformed/jonhoo__inferno__sample_skipped-indentation.txt",
        "macos-sample: indented by more than one level (line 23)",
    ),
    (
        "malformed/jonhoo__inferno__sample_stack-line-only-indent-chars.txt",
        "macos-sample: empty call graph line (line 22)",
    ),
    (
        "malformed/jonhoo__inferno__vsprof_invalid-depth.csv",
        "vsprof: unable to parse integer from 'x' (line 3)",
    ),
    (
        "malformed/jonhoo__inferno__vsprof_invalid-function-name.csv",
        "vsprof: unable to parse function name from line (line 3)",
    ),
    (
        "malformed/jonhoo__inferno__vsprof_invalid-number-of-calls.csv",
        "vsprof: unable to parse integer from '4,718.25' (line 3)",
    ),
    (
        "malformed/jonhoo__inferno__vsprof_missing-function-name.csv",
        "vsprof: missing function name in line (line 2)",
    ),
    ("nytprof/gitpan__MARC-Moose__nytprof.out", "nytprof: unsupported version 2.1"),
    // It was recorded for a second with the events of no program.
    ("perfetto/barche__QmlJuliaExamples__trace.pftrace", "nor heaps, nor slices"),
    ("malformed/jonhoo__inferno__vtune_end-before-header.csv", "vtune: the file contains no stacks (line 1)"),
    (
        "malformed/jonhoo__inferno__vtune_invalid-time-field.csv",
        "vtune: invalid `CPU Time:Self` field: INVALID TIME (line 2)",
    ),
];

/// Formats that are not supported, and a part of the reason with which each file is rejected.
const NOT_READ: &[(&str, &str)] = &[("go-trace", "Go execution trace")];

/// A part of the reason with which a file must be rejected; `None` if it must be read.
fn refused_with(row: &Row) -> Option<&'static str> {
    let alone = REFUSED.iter().find(|(path, _)| *path == row.path);
    alone.or_else(|| NOT_READ.iter().find(|(format, _)| *format == row.format)).map(|&(_, words)| words)
}

/// The format as which a file must be read, and the confidence; `None` if none is expected.
fn read_as(row: &Row) -> Option<(&'static str, &'static str)> {
    let alone = READ_AS.iter().find(|(path, ..)| *path == row.path);
    alone
        .or_else(|| FORMATS.iter().find(|(folder, ..)| *folder == row.format))
        .map(|&(_, format, sure)| (format, sure))
}

fn reason(error: LoadError) -> String {
    match error {
        LoadError::Unrecognized { hint: Some(hint) } => hint,
        error => error.to_string(),
    }
}

#[test]
#[needs(Corpus)]
fn every_file_is_read_as_its_format_or_rejected_with_a_reason() {
    let corpus = corpus_root();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let index = index(&corpus);
    for row in &index {
        let refused = refused_with(row);
        let path = &row.path;
        match (load_file(&corpus.join(path)), refused, read_as(row)) {
            (Ok(profile), None, Some(expected)) => {
                let meta = &profile.meta;
                *counts.entry(meta.format).or_default() += 1;
                if (meta.format, meta.confidence) != expected {
                    wrong.push(format!("{path}: {} {}", meta.confidence, meta.format));
                }
            }
            (Err(error), Some(words), _) => {
                let reason = reason(error);
                *counts.entry("refused").or_default() += 1;
                if !reason.contains(words) {
                    wrong.push(format!("{path}: {reason}"));
                }
            }
            (Err(error), None, _) => wrong.push(format!("{path}: {}", reason(error))),
            (Ok(_), Some(words), _) => wrong.push(format!("{path} loads, but: {words}")),
            (Ok(_), None, None) => wrong.push(format!("{path}: nothing says what it is")),
        }
    }
    println!("{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (format, _) in NOT_READ {
        assert!(index.iter().any(|row| row.format == *format), "no file of {format} is in the index");
    }
    let listed = REFUSED.iter().map(|(path, _)| path).chain(READ_AS.iter().map(|(path, ..)| path));
    for path in listed {
        assert!(index.iter().any(|row| row.path == *path), "{path} is not in the index");
    }
}

#[test]
#[needs(Corpus)]
fn the_index_lists_all_files() {
    let corpus = corpus_root();
    let index = index(&corpus);
    let files = below(&corpus);
    for row in &index {
        assert!(files.contains(&row.path), "{} is not there", row.path);
    }
    for file in &files {
        let is_listed = index.iter().any(|row| row.path == *file || row.expectation.contains(file.as_str()));
        let is_other = file == "INDEX.tsv" || file.starts_with("_snapshots/") || file.contains("/golden");
        assert!(is_listed || is_other, "{file} is not in the index");
    }
}

/// The tests that compare files with the results of other programs.
const SOURCES: &[&str] = &[
    include_str!("corpus_binary.rs"),
    include_str!("corpus_calls.rs"),
    include_str!("corpus_json.rs"),
    include_str!("corpus_text.rs"),
    include_str!("corpus_traces.rs"),
    include_str!("readers.rs"),
];

/// Folders in which all files with an expectation are compared.
const COMPARED_FOLDERS: &[&str] = &["dtrace", "pprof-legacy"];

/// Expectations that are not compared, and why.
const NOT_COMPARED: &[(&str, &str)] = &[
    ("only_managed_samples.nettrace.zip", "the test has no numbers: it only converts the file"),
    ("collapsed/jlfwong__speedscope__recursion.txt", "the snapshot has nothing of it"),
    ("collapsed/jlfwong__speedscope__tall.txt", "the snapshot has nothing of it"),
    ("cpuprofile/jlfwong__speedscope__sucrase.cpuprofile", "the snapshot has nothing of it"),
    (
        "gecko/firefox-devtools__profiler__single.json",
        "the result is that of a source map, not of the profile",
    ),
    ("gecko/firefox-devtools__profiler__two.json", "the result is that of a source map, not of the profile"),
    ("perf-script/jlfwong__speedscope__rust-mangled.linux-perf.txt", "the snapshot has nothing of it"),
    ("perf-data/khasm-lang__khasmc__perf.data", "the stacks are of another program than the recording"),
    ("perf-data/manthanabc__kumiko-rs__perf.data", "the text is of a recording of another length"),
    (
        "perf-data/KDAB__perfparser__cpp-inlining.perf.data",
        "its stacks are raw memory, and the program that unwinds them is missing",
    ),
    (
        "KDAB__perfparser__fork_static_gcc-perf.data.zstd",
        "its stacks are raw memory, and the program that unwinds them is missing",
    ),
    (
        "KDAB__perfparser__vector_static_gcc-perf.data",
        "its stacks are raw memory, and the program that unwinds them is missing",
    ),
    (
        "KDAB__perfparser__vector_static_gcc-perf.lbr.data",
        "its stacks are records of the last branches, which are not read",
    ),
    (
        "callgrind/jlfwong__speedscope__callgrind.cfn-reset.log",
        "its calls cost more than all there is: speedscope raises what is called, we cut off what calls",
    ),
    (
        "gprof-gmon/AlanHiguera__perfectsquare__gmon.out",
        "the report is of another run: it has ticks, the file has none",
    ),
    ("rprof/r-prof__profile__1.out", "the profile is of the C code of another run"),
    ("block_delay_nanoseconds_block_count", "the delays are ticks of a clock, called nanoseconds"),
    ("mutex_delay_nanoseconds_mutex_count", "the delays are ticks of a clock, called nanoseconds"),
    (
        "kafka-0__cpu_lock0_alloc0__0.jfr.gz.memory_alloc_in_new_tlab_bytes",
        "what was allocated elsewhere, which we add, is not in the corpus",
    ),
];

/// How the tests refer to a file: `te_matching-x.json` is `"matching-x"` there.
fn short_names(row: &Row) -> Vec<String> {
    let name = row.path.rsplit('/').next().unwrap();
    // Pyroscope's results are named after the recording, the profile type, and a number.
    if let (true, Some((_, made))) = (row.expectation.starts_with("source JFR"), name.split_once(".jfr.gz."))
    {
        return vec![made.split('.').next().unwrap().to_string()];
    }
    let own = name.splitn(3, "__").last().unwrap();
    let mut names = vec![name.to_string(), own.to_string()];
    names.extend(own.match_indices('.').map(|(at, _)| own[..at].to_string()));
    let spans: Vec<String> =
        names.iter().filter_map(|name| name.strip_prefix("te_")).map(str::to_string).collect();
    names.extend(spans);
    names
}

#[test]
#[needs(Corpus)]
fn what_others_say_of_a_file_is_compared_with_what_we_say() {
    let corpus = corpus_root();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in index(&corpus).iter().filter(|row| !row.expectation.is_empty()) {
        let is_refused = refused_with(row).is_some();
        if is_refused || NOT_COMPARED.iter().any(|(name, _)| row.path.contains(name)) {
            continue;
        }
        let is_in_folder = COMPARED_FOLDERS.contains(&&*row.format);
        let is_named = |name: &String| {
            let quoted = [format!("\"{name}"), format!("__{name}")];
            SOURCES.iter().any(|source| quoted.iter().any(|quoted| source.contains(quoted)))
        };
        if is_in_folder || short_names(row).iter().any(is_named) {
            compared += 1;
        } else {
            wrong.push(format!("{}: no test compares it with {}", row.path, row.expectation));
        }
    }
    println!("{compared} expectations are compared, {} not", NOT_COMPARED.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
