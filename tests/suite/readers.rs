//! Readers compared with what the recorders themselves say about the same files: fixtures, and real files from
//! `../shared/corpus`.

use std::collections::BTreeMap;
use std::fs;

use crate::support::sums::{self, by_label};
use crate::support::{corpus_root, files, fixture, load_file, load_well};
use prof::format::{self, Source};
use prof::profile::{LabelValue, LoadOptions, MappingId, Profile};

/// The names and totals of the metrics.
fn totals(profile: &Profile) -> Vec<(&str, i64)> {
    profile.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect()
}

/// Self and total of every function that has any.
fn functions(profile: &Profile, metric: &str) -> BTreeMap<String, (i64, i64)> {
    let mut sums = sums::functions(profile, metric);
    sums.retain(|_, sums| *sums != (0, 0));
    sums
}

/// `fixtures/programs/otlp.py` wrote the collapsed stacks with OpenTelemetry's own classes, of three versions.
#[test]
fn otlp_in_every_version() {
    let stacks = load_well(&fixture("collapsed/python.folded"));
    let plain = |(name, sums): (String, (i64, i64))| (name.rsplit_once(" (").unwrap().0.to_string(), sums);
    let expected: BTreeMap<_, _> = functions(&stacks, "samples").into_iter().map(plain).collect();
    for name in [
        "python-ranges.otlp",
        "python-values-first.otlp",
        "python-values-last.otlp",
        "python-messages.otlp",
        "python.otlp.json",
    ] {
        let profile = load_well(&fixture("otlp").join(name));
        assert_eq!(profile.meta.format, "otlp", "{name}");
        assert_eq!(profile.meta.warnings, [""; 0], "{name}");
        assert_eq!(totals(&profile), [("samples", 372), ("wall", 3_720_000_000)], "{name}");
        assert_eq!(functions(&profile, "samples"), expected, "{name}");
        assert_eq!(by_label(&profile, "samples", "service.name"), [("weather".into(), 372)].into(), "{name}");
        assert_eq!(by_label(&profile, "samples", "process"), [("77".into(), 372)].into(), "{name}");
        let threads = by_label(&profile, "samples", "thread");
        assert_eq!(threads.values().sum::<i64>(), 372, "{name}");
        assert_eq!(threads.len(), 2, "{name}");
        let times = profile.samples.time.as_ref().unwrap();
        assert_eq!(times.iter().min(), Some(&1_700_000_000_000_000_000), "{name}");
        assert_eq!(
            (profile.meta.time_ns, profile.meta.duration_ns),
            (Some(1_700_000_000_000_000_000), Some(10_000_000_000))
        );
    }
}

/// The expected values are those of an independent reader, and what Pyroscope stored of the same request.
#[test]
#[needs(Corpus)]
fn otlp_of_the_ebpf_profiler() {
    let folder = corpus_root().join("otlp");
    let profile = load_well(&folder.join("open-telemetry__sig-profiling__profile.otlp"));
    // One sample every 50 ms.
    assert_eq!(totals(&profile), [("samples", 189), ("cpu", 9_450_000_000)]);
    let sums = functions(&profile, "samples");
    assert_eq!(sums["int java.util.Random.next(int)"].0, 116);
    let work = "void PerformanceTest.hardWork(java.util.concurrent.CountDownLatch, java.lang.Integer)";
    assert_eq!(sums[work].0, 19);
    for name in
        ["grafana__pyroscope__otel-ebpf-profile.pb.bin", "grafana__pyroscope__otel-ebpf-profile.pb.json"]
    {
        let profile = load_well(&folder.join(name));
        let expected = [("off_cpu", 267_302_249_331), ("samples", 10), ("cpu", 500_000_000)];
        assert_eq!(totals(&profile), expected);
        assert_eq!(profile.meta.metrics[profile.meta.default_metric].name, "cpu");
        assert_eq!(profile.meta.metrics[0].rows, 5311);
        for (metric, file) in [("cpu", "cpu"), ("off_cpu", "offcpu")] {
            let golden = format!("golden/grafana__pyroscope__otel-ebpf-profile-{file}.out.json");
            let golden = std::fs::read_to_string(folder.join(golden)).unwrap();
            compare_with_pyroscope(&profile, metric, &serde_json::from_str(&golden).unwrap());
        }
    }
}

/// The time of a sample off the CPU is when its thread was back: at 10 s after 2 s, so it waited from 8 s on.
#[test]
fn otlp_has_the_end_of_waits() {
    let text = r#"{"dictionary": {"stringTable": ["", "off_cpu", "nanoseconds"]}, "resourceProfiles": [{"scopeProfiles": [{
        "profiles": [{"sampleType": {"typeStrindex": 1, "unitStrindex": 2}, "samples": [
            {"values": ["2000000000"], "timestampsUnixNano": ["10000000000"]}]}]}]}]}"#;
    let read = |bytes: Vec<u8>| {
        let mut source = Source::open(Box::new(std::io::Cursor::new(bytes))).unwrap();
        format::load(&mut source, LoadOptions::ALL, format::named("otlp")).unwrap()
    };
    let profile = read(text.into());
    assert_eq!(profile.samples.time, Some(vec![8_000_000_000]));
    let mut bytes = Vec::new();
    format::writer_named("otlp").unwrap().write_to(&profile, 0, false, &mut bytes).unwrap();
    assert!(memchr::memmem::find(&bytes, &10_000_000_000i64.to_le_bytes()).is_some());
    assert_eq!(read(bytes).samples.time, profile.samples.time);
}

/// Every stack that Pyroscope stored has at least its value; for CPU time, which all belongs to one service, exactly.
fn compare_with_pyroscope(profile: &Profile, metric: &str, golden: &serde_json::Value) {
    let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
    let mut ours: BTreeMap<Vec<&str>, i64> = BTreeMap::new();
    for stack in profile.stacks.ids() {
        let frames = profile.stacks.frames(stack).iter().rev();
        let names = frames.map(|&frame| profile.symbols.frame_name(frame)).collect();
        *ours.entry(names).or_default() += values[stack];
    }
    let mut compared = 0;
    for sample in golden["samples"].as_array().unwrap() {
        let lines = sample["locations"].as_array().into_iter().flatten();
        let lines = lines.flat_map(|location| location["lines"].as_array().unwrap());
        let names: Vec<&str> =
            lines.map(|line| line.as_str().unwrap().split_once("[]@").unwrap().0).collect();
        let value: i64 = sample["values"].as_str().unwrap().parse().unwrap();
        assert!(metric != "cpu" || ours[&names] == value, "{names:?}");
        assert!(ours[&names] >= value, "{names:?}");
        compared += 1;
    }
    assert!(compared >= 7, "{compared}");
}

/// What is wrong with a file that is not read.
#[test]
fn otlp_of_unknown_versions_is_refused() {
    let message = |fields: &[(u8, &[u8])]| -> Vec<u8> {
        fields
            .iter()
            .flat_map(|(field, bytes)| [&[field << 3 | 2, bytes.len() as u8], *bytes].concat())
            .collect()
    };
    let wrapped = |profile: &[u8], dictionary: &[u8]| {
        let resource = message(&[(2, &message(&[(2, profile)]))]);
        message(&[(1, &resource), (2, dictionary)])
    };
    let strings = message(&[(5, b""), (5, b"cpu"), (5, b"count"), (6, b""), (7, b"")]);
    let kind: &[u8] = &[8, 1, 16, 2];
    let load = |bytes: Vec<u8>| {
        let mut source = prof::format::Source::from_bytes(bytes);
        prof::format::load(&mut source, prof::profile::LoadOptions::ALL, prof::format::named("otlp"))
    };
    // Attribute 9 does not exist, whether it is in field 2 or in field 3; so neither numbering is right.
    let sample = message(&[(2, &[9, 8]), (3, &[9]), (4, &[7])]);
    let error = load(wrapped(&message(&[(1, kind), (2, &sample)]), &strings)).unwrap_err().to_string();
    assert!(error.contains("no sense in any known version"), "{error}");
    let error = load(wrapped(&message(&[(1, kind), (2, &[8, 1])]), b"")).unwrap_err().to_string();
    assert!(error.contains("have no dictionary"), "{error}");
    // One time and the number 1: a value of 1 in field 2, or attribute 1.
    let attributes = message(&[(5, b""), (5, b"cpu"), (5, b"count"), (6, b""), (6, &[8, 1]), (7, b"")]);
    let sample = message(&[(2, &[1]), (5, &[1, 0, 0, 0, 0, 0, 0, 0])]);
    let profile = load(wrapped(&message(&[(1, kind), (2, &sample)]), &attributes)).unwrap();
    assert_eq!(totals(&profile), [("cpu", 1)]);
    assert!(profile.meta.warnings[0].contains("fit two versions"), "{:?}", profile.meta.warnings);
    assert!(load_file(&fixture("otlp/python-values-last.otlp")).is_ok());
}

/// Austin's own text of the same run; and the sums that `mojo2austin` prints for the fixture.
#[test]
fn mojo_of_austin() {
    let profile = load_well(&fixture("austin/python.mojo"));
    assert_eq!((profile.meta.format, profile.meta.rows), ("mojo", 144));
    assert_eq!(totals(&profile), [("wall", 1_448_401)]);
    assert_eq!(functions(&profile, "wall")["read_records"].1, 273_832);
    assert_eq!(by_label(&profile, "wall", "process"), [("19031".into(), 1_448_401)].into());
}

#[test]
#[needs(Corpus)]
fn mojo_holds_what_austin_writes_as_text() {
    let folder = corpus_root().join("mojo");
    let binary = load_well(&folder.join("P403n1x87__austin-python__mp.mojo"));
    let text = load_well(&folder.join("golden/P403n1x87__austin-python__mp.austin"));
    assert_eq!(totals(&binary), totals(&text));
    assert_eq!(functions(&binary, "wall"), functions(&text, "wall"));
    for key in ["process", "tid"] {
        assert_eq!(by_label(&binary, "wall", key), by_label(&text, "wall", key));
    }
    // Native frames: the other file is the same run after names were looked up.
    let native = load_well(&folder.join("P403n1x87__austin-python__austinp.mojo"));
    let named = load_well(&folder.join("golden/P403n1x87__austin-python__austinp.resolved.mojo"));
    assert_eq!(totals(&native), totals(&named));
    for name in ["PyDict_SetItem", "msgpack_pack_write", "_PyDictView_New"] {
        assert_eq!(functions(&native, "cpu")[name], functions(&named, "cpu")[name], "{name}");
    }
    assert!(
        native
            .symbols
            .frames
            .iter()
            .any(|frame| frame.address == 0x4f_28b6 && frame.mapping != MappingId::default())
    );
}

/// `fixtures/programs/goroutines.go` starts three workers, one that waits for a lock, one that is locked to its thread, and one
/// that waits for nothing.
#[test]
fn goroutine_dumps() {
    for (name, main) in [("go-debug2.txt", "running"), ("go-panic.txt", "running")] {
        let profile = load_well(&fixture("goroutine").join(name));
        assert_eq!((profile.meta.format, totals(&profile)), ("goroutine", vec![("goroutine", 7)]), "{name}");
        let states = by_label(&profile, "goroutine", "state");
        let expected = [(main, 1), ("chan receive", 4), ("sync.Mutex.Lock", 1), ("select (no cases)", 1)];
        assert_eq!(states, expected.map(|(state, count)| (state.to_string(), count)).into(), "{name}");
        assert_eq!(by_label(&profile, "goroutine", "locked"), [("to thread".into(), 1)].into());
        let functions = functions(&profile, "goroutine");
        assert_eq!(functions["main.(*queue).take"], (3, 3), "{name}");
        assert_eq!(functions["main.pinned"], (1, 1), "{name}");
        // The other six were created by it.
        assert_eq!(functions["main.main"].1, 7, "{name}");
    }
}

/// What DataDog's parser reads from the same dumps.
#[test]
#[needs(Corpus)]
fn goroutine_dumps_as_another_parser_reads_them() {
    let folder = corpus_root().join("goroutine-debug2");
    for name in ["ancestors", "frameselided", "lockedm", "partial_createdby"] {
        let profile = load_well(&folder.join(format!("DataDog__gostackparse__{name}.txt")));
        let golden = folder.join(format!("golden/DataDog__gostackparse__{name}.golden.json"));
        let golden: serde_json::Value = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
        if !golden["Errors"].is_null() {
            // A creator without a place, which it does not accept.
            assert_eq!(totals(&profile), [("goroutine", 2)], "{name}");
            continue;
        }
        let mut expected: BTreeMap<String, i64> = BTreeMap::new();
        for goroutine in golden["Goroutines"].as_array().unwrap() {
            let frame = |frame: &serde_json::Value| {
                format!(
                    "{} {}:{}",
                    frame["Func"].as_str().unwrap(),
                    frame["File"].as_str().unwrap(),
                    frame["Line"]
                )
            };
            let created = Some(&goroutine["CreatedBy"]).filter(|by| !by.is_null());
            let stack = goroutine["Stack"].as_array().unwrap();
            let frames: Vec<String> = stack.iter().chain(created).map(frame).rev().collect();
            *expected.entry(format!("{frames:?} {}", goroutine["State"].as_str().unwrap())).or_default() += 1;
        }
        let symbols = &profile.symbols;
        let mut ours: BTreeMap<String, i64> = BTreeMap::new();
        for (row, &stack) in profile.samples.stack.iter().enumerate() {
            let frames = profile.stacks.frames(stack).iter().map(|&id| {
                let frame = symbols.frames[id];
                let file = symbols.function_file(frame.function);
                format!("{} {file}:{}", symbols.frame_name(id), frame.line)
            });
            let labels = profile.label_sets.labels(profile.samples.labels[row]);
            let state = labels.iter().find(|label| symbols.strings.get(label.key) == "state").unwrap();
            let LabelValue::Text(state) = state.value else { panic!("a state is a text") };
            let key = format!("{:?} {}", frames.collect::<Vec<_>>(), symbols.strings.get(state));
            *ours.entry(key).or_default() += profile.samples.values[0][row];
        }
        assert_eq!(ours, expected, "{name}");
        assert_eq!(profile.meta.warnings.len(), usize::from(name == "frameselided"), "{name}");
    }
    // The same program as pprof, which counts the goroutine that writes the profile, too.
    for (name, total) in [("1.net.http.pprof", 10), ("2.pprof.lookup", 9)] {
        let text =
            load_well(&folder.join(format!("DataDog__go-profiler-notes__{name}.goroutine.debug2.txt")));
        let binary = format!("golden/DataDog__go-profiler-notes__{name}.goroutine.debug0.pb.gz");
        let binary = load_well(&folder.join(binary));
        assert_eq!((totals(&text)[0].1, totals(&binary)[0].1), (total, total), "{name}");
    }
}

/// The numbers are those of R's `summaryRprof`.
#[test]
fn rprof_with_lines_and_memory() {
    for (name, total, function, sums) in [
        ("plain.out", 310_000, "sort.int", (30_000, 120_000)),
        ("line.out", 250_000, "strsplit", (40_000, 50_000)),
        ("memory.out", 250_000, "order", (80_000, 80_000)),
    ] {
        let profile = load_well(&fixture("rprof").join(name));
        assert_eq!(profile.meta.format, "rprof");
        assert_eq!(totals(&profile)[1], ("cpu", total), "{name}");
        let functions = functions(&profile, "cpu");
        assert_eq!(functions[function], sums, "{name}");
        assert_eq!(functions["main"].1, total, "{name}");
    }
    let profile = load_well(&fixture("rprof/memory.out"));
    // In MiB, with one decimal: R prints 131.3, 52.8 and 28.7, rounded.
    let tenths = |name: &str| (functions(&profile, "alloc_space")[name].1 * 20 + (1 << 20)) >> 21;
    assert_eq!([tenths("main"), tenths("order"), tenths("rnorm")], [1313, 528, 287]);
    let lines: i64 = profile
        .stacks
        .ids()
        .filter(|&stack| {
            let frames = profile.stacks.frames(stack).iter().map(|&frame| profile.symbols.frames[frame]);
            frames.into_iter().any(|frame| {
                profile.symbols.function_file(frame.function) == "simulation.R" && frame.line == 17
            })
        })
        .map(|stack| profile.value_by_stack(1)[stack])
        .sum();
    assert_eq!(lines, 140_000);
}

/// The numbers are those of the tree that `ms_print` prints.
#[test]
fn massif_at_its_peak() {
    let profile = load_well(&fixture("massif/c.massif"));
    assert_eq!(totals(&profile), [("inuse_space", 65_777)]);
    let functions = functions(&profile, "inuse_space");
    assert_eq!(functions["solve"], (61_656, 61_656));
    assert_eq!(functions["new_maze"], (3721, 3721));
    assert_eq!(functions["main"], (0, 65_377));
    assert_eq!(functions["[below massif's threshold]"], (400, 400));
}

/// Datadog's library packs pprof in lz4 frames.
#[test]
fn pprof_in_lz4_frames() {
    use std::io::Write;

    let bytes = std::fs::read(fixture("collapsed/python.folded")).unwrap();
    let plain = load_well(&fixture("collapsed/python.folded"));
    let mut packed = Vec::new();
    // Frames may follow one another.
    for part in bytes.chunks(20_000) {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(&mut packed);
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    let open = |bytes: Vec<u8>| {
        let mut source = prof::format::Source::open(Box::new(std::io::Cursor::new(bytes)))?;
        prof::format::load(&mut source, prof::profile::LoadOptions::ALL, None)
    };
    let profile = open(packed.clone()).unwrap();
    assert_eq!((profile.meta.encoding.as_slice(), totals(&profile)), (&["lz4"][..], totals(&plain)));
    let error = open(packed[..packed.len() / 2].to_vec()).unwrap_err().to_string();
    assert!(error.starts_with("lz4: file is truncated"), "{error}");
}

/// Both are of one run: the report was made from the file.
#[test]
fn gmon_and_gprof_s_report_of_it() {
    let report = load_well(&fixture("gprof/c.gprof.txt"));
    assert_eq!(report.meta.format, "gprof");
    assert_eq!(totals(&report), [("cpu", 0), ("calls", 224_975)]);
    let calls = report.calls.as_ref().unwrap();
    let count = |name: &str| {
        let id = report.symbols.functions.ids().find(|&id| report.symbols.function_name(id) == name);
        calls.self_values[1][id.unwrap()]
    };
    assert_eq!(["visit", "dice", "dig", "solve"].map(count), [179_925, 22_500, 22_500, 25]);
    let data = load_well(&fixture("gmon/c.gmon"));
    assert_eq!(totals(&data), [("samples", 0), ("cpu", 0), ("calls", 224_975)]);
    // Without the program there are no names, but functions can be told apart by their addresses.
    let values = data.value_by_stack(2);
    let mut counts: BTreeMap<u64, i64> = BTreeMap::new();
    for stack in data.stacks.ids() {
        let callee = data.stacks.frames(stack).last().unwrap();
        *counts.entry(data.symbols.frames[*callee].address).or_default() += values[stack];
    }
    let mut counts: Vec<i64> = counts.into_values().collect();
    counts.sort_unstable();
    assert_eq!(counts, [25, 25, 22_500, 22_500, 179_925]);
}

/// Sums of the columns of the reports themselves.
#[test]
#[needs(Corpus)]
fn reports_of_gprof() {
    let folder = corpus_root().join("gprof-text");
    for (name, time, calls) in [
        ("jrfonseca__gprof2dot__cycle.prof", 1_930_000, 13),
        ("jrfonseca__gprof2dot__gnu1.prof", 330_000, 0),
        ("jrfonseca__gprof2dot__ibm.prof", 1_170_000, 0),
        ("jrfonseca__gprof2dot__darwin.prof", 1_210_000, 0),
        ("richelbilderbeek__qmake_gprof__gprof.txt", 430_000, 0),
    ] {
        let profile = load_well(&folder.join(name));
        assert!((profile.meta.metrics[0].total - time).abs() <= 20_000, "{name}: {:?}", totals(&profile));
        assert!(calls == 0 || profile.meta.metrics[1].total == calls, "{name}: {:?}", totals(&profile));
    }
    // The sum of the column `self` of the flat profile, in a short script.
    let profile = load_well(&folder.join("jrfonseca__gprof2dot__dan.skorupski.prof"));
    assert_eq!(profile.meta.metrics[0].total / 1000, 14_700);
}

#[test]
fn hprof_and_coz() {
    let profile = load_well(&fixture("hprof/worked.hprof.txt"));
    assert_eq!((profile.meta.format, totals(&profile)), ("hprof", vec![("samples", 9)]));
    let sums = functions(&profile, "samples");
    assert_eq!((sums["shop.Ledger.add"], sums["shop.Shop.main"]), ((7, 7), (0, 9)));
    assert_eq!(by_label(&profile, "samples", "thread"), [("main".into(), 9)].into());
    let profile = load_well(&fixture("coz/worked.coz"));
    let expected =
        [("samples", 42), ("selected_samples", 32), ("experiment_time", 485_645_000), ("progress", 3)];
    assert_eq!((profile.meta.format, totals(&profile)), ("coz", expected.to_vec()));
    assert_eq!(functions(&profile, "samples")["shop.c:31"], (40, 40));
    assert_eq!(by_label(&profile, "progress", "speedup"), [("0.45".into(), 3)].into());
}

/// The totals in the headings of the tables, of which HPROF leaves out the smallest rows.
#[test]
#[needs(Corpus)]
fn hprof_of_real_programs() {
    let folder = corpus_root().join("hprof-text");
    for (name, metric, rows, total) in [
        ("bokken12__Cards__java.hprof.txt", "samples", 31_929, 32_495),
        ("Kanatoko__libinjection-Java__java.hprof.txt", "cpu", 13_656_000, 13_851_000),
        ("jrfonseca__gprof2dot__hadoop.hprof", "cpu", 594_453_000, 633_138_000),
    ] {
        let profile = load_well(&folder.join(name));
        let default = &profile.meta.metrics[profile.meta.default_metric];
        assert_eq!(default.name, metric, "{name}");
        assert!(
            (default.total - rows).abs() <= rows / 1000 && default.total < total,
            "{name}: {}",
            default.total
        );
    }
}

/// The session's own duration, and the calls that its text report shows.
#[test]
fn pyinstrument_sessions() {
    let profile = load_well(&fixture("pyinstrument/python.json"));
    // The root has 6.332963 s; leaves are rounded to microseconds.
    assert!((profile.meta.metrics[0].total - 6_332_963_000).abs() < 100_000, "{:?}", totals(&profile));
    let functions = functions(&profile, "wall");
    assert!((functions["main"].1 - 6_300_569_000).abs() < 100_000, "{:?}", functions["main"]);
    assert!((functions["work"].1 - 6_272_522_000).abs() < 100_000, "{:?}", functions["work"]);
}

/// Sums over the samples of the file, made by a short script: each stands for the time until the next one of its thread.
#[test]
fn sentry_profiles() {
    let profile = load_well(&fixture("sentry/python.json"));
    assert_eq!(totals(&profile), [("samples", 81), ("wall", 1_893_348_666)]);
    let functions = functions(&profile, "wall");
    for (name, expected) in [
        ("parse", (0, 403_658_831)),
        ("render", (0, 227_457_391)),
        ("template", (0, 62_274_743)),
        ("spin", (631_116_222, 631_116_222)),
        ("ThreadScheduler.run", (0, 631_116_222)),
    ] {
        assert_eq!(functions[name], expected, "{name}");
    }
    assert_eq!(profile.meta.time_ns, Some(1_795_363_978_152_990_000));
}

/// Differences between the times of entries and exits, made by a short script.
#[test]
fn xdebug_traces() {
    let profile = load_well(&fixture("xdebug/php.xt"));
    let traced = functions(&profile, "wall");
    for (name, total) in [
        ("explode", 12_000),
        ("work", 10_461_000),
        ("parse", 8_747_000),
        ("Shop->total", 1_839_000),
        ("{main}", 10_619_000),
    ] {
        assert_eq!(traced[name].1, total, "{name}");
    }
    // The trace for people is of another run. Its clock is too coarse to see `explode`, and it lacks the ends of some calls.
    let profile = load_well(&fixture("xdebug/php-text.xt"));
    let text = fs::read_to_string(fixture("xdebug/php-text.xt")).unwrap();
    let times: Vec<f64> =
        text.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
    let whole = (times[times.len() - 1] - times[0]) * 1e9;
    assert!((functions(&profile, "wall")["{main}"].1 as f64 - whole).abs() < 1.0);
    assert!(profile.meta.warnings[0].contains("xdebug.trace_format=1"), "{:?}", profile.meta.warnings);
}

/// Sums over the lines of the file, made by a short script.
#[test]
#[needs(Corpus)]
fn xperf_tables() {
    let profile = load_well(&corpus_root().join("xperf/jrfonseca__gprof2dot__val3_xperf.xperf"));
    assert_eq!(totals(&profile), [("samples", 5045), ("cpu", 5_045_146_811)]);
    let functions = functions(&profile, "cpu");
    assert_eq!(functions.len(), 63);
    assert_eq!(functions["cycfn2"].0, 3_683_470_027);
    assert_eq!(functions["_ftol2"].0, 776_624_443);
    assert_eq!(functions["main"].1, 5_039_148_555);
}

/// The share of each line adds up to the whole elapsed time, and allocations to what a short script adds up.
#[test]
fn scalene_lines() {
    let profile = load_well(&fixture("scalene/python.json"));
    let wall = profile.meta.metrics[0].total;
    assert!((wall - 40_281_949_043).abs() < 1000, "{wall}");
    let allocated = 115.781_109_809_875_49 * f64::from(1 << 20);
    assert!((profile.meta.metrics[1].total as f64 - allocated).abs() < 50.0, "{:?}", totals(&profile));
    assert_eq!(by_label(&profile, "wall", "code").len(), 3);
}

/// Both are of one recording; the sums are those of a short script.
#[test]
fn memray_as_csv_and_for_gprof2dot() {
    let csv = load_well(&fixture("memray-csv/python.csv"));
    assert_eq!(totals(&csv), [("inuse_objects", 84), ("inuse_space", 7_448_565)]);
    let json = load_well(&fixture("gprof2dot/memray.json"));
    assert_eq!((json.meta.format, totals(&json)), ("gprof2dot", vec![("Memory", 7_432_149)]));
}

/// What `memray transform csv` writes of the same recording, and, of the other versions, the sums of its columns. Allocators are not
/// compared: of several at one place, it names only the first.
#[test]
fn memray_in_every_version() {
    let folder = fixture("memray");
    let profile = load_well(&folder.join("pantry.bin"));
    assert_eq!(profile.meta.warnings, Vec::<String>::new());
    for (ours, csv) in [("peak", "pantry.csv"), ("leaked", "pantry-leaks.csv")] {
        let csv = load_well(&folder.join(csv));
        for unit in ["objects", "space"] {
            let [ours, theirs] = [ours, "inuse"].map(|name| format!("{name}_{unit}"));
            assert_eq!(functions(&profile, &ours), functions(&csv, &theirs), "{ours}");
            assert_eq!(by_label(&profile, &ours, "tid"), by_label(&csv, &theirs, "tid"), "{ours}");
        }
    }
    let lines = |profile: &Profile, metric: &str| -> std::collections::BTreeSet<u32> {
        let values = profile.value_by_stack(profile.meta.metric_named(metric).unwrap());
        let stacks = profile.stack_ids().filter(|&stack| values[stack] != 0);
        let frames = stacks.flat_map(|stack| profile.stacks.frames(stack));
        frames.map(|&frame| profile.symbols.frames[frame].line).collect()
    };
    assert_eq!(lines(&profile, "peak_space"), lines(&load_well(&folder.join("pantry.csv")), "inuse_space"));
    // (allocations, bytes) that were never released, and those at the peak.
    for (name, leaked, peak) in [
        ("sums.bin", (96, 91_777), (170, 323_573)),
        ("version-11.bin", (97, 93_707), (171, 325_503)),
        ("version-10-sums.bin", (97, 93_623), (171, 325_419)),
        ("version-9.bin", (97, 93_559), (171, 325_355)),
    ] {
        let profile = load_well(&folder.join(name));
        let totals: BTreeMap<_, _> = totals(&profile).into_iter().collect();
        assert_eq!((totals["leaked_objects"], totals["leaked_space"]), leaked, "{name}");
        assert_eq!((totals["peak_objects"], totals["peak_space"]), peak, "{name}");
        assert_eq!(profile.meta.warnings, Vec::<String>::new(), "{name}");
    }
}

/// The totals are those of speedscope, for which all stacks of the engine are one, so that its self of a function lacks what others did meanwhile.
#[test]
#[needs(Corpus)]
fn papyrus_of_a_script() {
    let profile = load_well(&corpus_root().join("papyrus/jlfwong__speedscope__script.log"));
    let total = |function: &str| {
        let sums = functions(&profile, "wall");
        sums.get(&format!("abc_example_quest..exampleFunction{function}")).map(|(_, total)| total / 1_000_000)
    };
    let totals = ["1", "2", "3", "4", "5", "6"].map(total);
    assert_eq!(totals, [Some(1050), Some(50), None, None, Some(1000), Some(250)]);
    assert_eq!(by_label(&profile, "wall", "tid").len(), 3);
}

/// The stacks that `nytprofcalls` prints, in ticks of 100 ns.
#[test]
fn nytprof_stacks() {
    let profile = load_well(&fixture("nytprof/orders.out"));
    assert_eq!(profile.meta.warnings, Vec::<String>::new());
    assert_eq!(totals(&profile), [("calls", 334), ("time", 217_948 * 100)]);
    let time = functions(&profile, "time");
    assert_eq!(time["main::tax"], ((95_621 + 118_465 + 1_224) * 100, (95_621 + 118_465 + 1_224) * 100));
    assert_eq!(time["main::fib"].0, (59 + 88 + 114 + 220 + 351 + 279 + 114 + 21) * 100);
    assert_eq!(time["main::CORE:sort"].0, 154 * 100);
    assert_eq!(functions(&profile, "calls")["main::fib"].0, 3 * 67);
}

#[test]
fn tachyon_and_safari() {
    let profile = load_well(&fixture("tachyon/worked.tachyon"));
    assert_eq!(totals(&profile), [("samples", 4), ("cpu", 4000)]);
    assert_eq!(functions(&profile, "samples")["work"], (2, 2));
    let profile = load_well(&fixture("safari/worked.json"));
    assert_eq!(totals(&profile), [("samples", 2), ("cpu", 3_000_000)]);
    assert_eq!(functions(&profile, "cpu")["main"], (2_000_000, 3_000_000));
}

/// The names of JavaScript functions and how many ticks they were seen in.
fn scripts(profile: &Profile) -> BTreeMap<String, (i64, i64)> {
    let is_script = |name: &str| {
        let ids = profile.symbols.functions.ids();
        ids.into_iter()
            .any(|id| profile.symbols.function_name(id) == name && profile.symbols.functions[id].by_place)
    };
    functions(profile, "samples").into_iter().filter(|(name, _)| is_script(name)).collect()
}

/// `node --prof-process --preprocess` of the same log.
#[test]
fn v8_logs_raw_and_preprocessed() {
    let raw = load_well(&fixture("v8-log/node.log"));
    let preprocessed = load_well(&fixture("v8-log/node.json"));
    assert_eq!(totals(&raw), [("samples", 120)]);
    // It leaves out ticks without any code that it knows.
    assert_eq!(totals(&preprocessed), [("samples", 109)]);
    assert_eq!(functions(&raw, "samples")["waysToPay"], functions(&preprocessed, "samples")["waysToPay"]);
}

#[test]
#[needs(Corpus)]
fn v8_logs_of_real_programs() {
    let corpus = corpus_root();
    let name = "ScaryDonetskiy__prjctr-profiling__isolate-0x148008000-17795-17795-v8.log";
    let raw = load_well(&corpus.join("v8-log").join(name));
    let preprocessed = load_well(&corpus.join("v8-log-json").join(format!("{name}.json")));
    assert_eq!((totals(&raw), totals(&preprocessed)), (vec![("samples", 110)], vec![("samples", 110)]));
    assert_eq!(scripts(&raw), scripts(&preprocessed));
    // V8's own tick processor counts 316 ticks.
    let old = load_well(&corpus.join("v8-log/slightlyoff__cassowary.js__v8.log"));
    assert_eq!(totals(&old), [("samples", 316)]);
    let node_8 = load_well(&corpus.join("v8-log/jlfwong__speedscope__isolate-0x102802600-v8.log"));
    assert_eq!(totals(&node_8), [("samples", 93)]);
}

/// What speedscope imports, and the times that the files give.
#[test]
#[needs(Corpus)]
fn json_of_other_profilers() {
    let corpus = corpus_root();
    let profile = load_well(&corpus.join("safari/jlfwong__speedscope__simple.html-recording.json"));
    assert_eq!(profile.meta.metrics[0].total, 23);
    assert_eq!(functions(&profile, "cpu")["injectModule"], (0, 1_000_000));
    let name = "pyinstrument/joerick__pyinstrument__wikipedia_article_word_count.json";
    let profile = load_well(&corpus.join(name));
    assert!((profile.meta.metrics[0].total - 410_331_000).abs() < 100_000, "{:?}", totals(&profile));
    let profile = load_well(&corpus.join("scalene/plasma-umass__scalene__profile.json"));
    assert!(profile.meta.metrics[0].total <= 69_176_158_906, "{:?}", totals(&profile));
    assert!(functions(&profile, "alloc_space")["sieve"].1 > 954 << 20);
    let profile = load_well(&corpus.join("gprof2dot-json/jrfonseca__gprof2dot__memtrail.maximum.json"));
    assert_eq!(profile.meta.metrics[0].unit, "bytes");
}

/// A file without times need not be read again for a view of times, so readers that leave times out say that there are some.
#[test]
fn times_that_were_left_out_are_known() {
    let folders = fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path());
    let mut with_times = 0;
    for path in folders.filter(|path| path.is_dir()).flat_map(|folder| files(&folder)) {
        let load = |options| {
            let file = fs::File::open(&path).unwrap();
            format::load(&mut Source::open(Box::new(file)).ok()?, options, None).ok()
        };
        let Some((all, least)) = load(LoadOptions::ALL).zip(load(LoadOptions::LEAST)) else { continue };
        assert_eq!(least.meta.has_times, all.meta.has_times, "{}", path.display());
        with_times += u32::from(all.meta.has_times);
    }
    assert!(with_times > 20, "{with_times}");
}
