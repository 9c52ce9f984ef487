//! Reads real profiles in text formats from `../shared/corpus`, and compares them with the results of other programs.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::{corpus_root, files, load_well};
use prof::profile::{FrameId, LabelValue, Profile};
use prof::transform::label_root;

/// Sums of values by a name of the stack.
type Sums = BTreeMap<String, Vec<i64>>;

fn add(sums: &mut Sums, key: String, values: &[i64]) {
    if values.iter().all(|&value| value == 0) {
        return;
    }
    let sum = sums.entry(key).or_insert_with(|| vec![0; values.len()]);
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += value;
    }
}

/// The values of all samples by stack: the results of `frame` for its frames, root first, joined by `;`.
fn sums_by(profile: &Profile, frame: impl Fn(FrameId) -> String) -> Sums {
    let mut sums = Sums::new();
    for row in 0..profile.samples.len() {
        let frames = profile.stacks.frames(profile.samples.stack[row]);
        let key = frames.iter().map(|&id| frame(id)).collect::<Vec<_>>().join(";");
        let values: Vec<i64> = profile.samples.values.iter().map(|column| column[row]).collect();
        add(&mut sums, key, &values);
    }
    sums
}

/// The tables of a profile printed by Go's `Profile.String`.
struct Printed {
    samples: Sums,
    /// All mappings that locations refer to: `start/limit/offset file`.
    metrics: Vec<String>,
}

fn printed(text: &str) -> Printed {
    let mut locations = BTreeMap::new();
    let mut mappings = BTreeMap::new();
    let (mut samples, mut metrics, mut section) = (Vec::new(), Vec::new(), "");
    for line in text.lines() {
        match line {
            "Samples:" | "Locations" | "Mappings" => section = line,
            _ if section == "Samples:" && metrics.is_empty() => {
                metrics = line.split_whitespace().map(str::to_string).collect();
            }
            _ if section == "Samples:" => match line.split_once(": ") {
                Some((values, stack)) => {
                    let values: Vec<i64> =
                        values.split_whitespace().map(|value| value.parse().unwrap()).collect();
                    let stack: Vec<String> = stack.split_whitespace().map(str::to_string).collect();
                    samples.push((values, stack, String::new()));
                }
                None => samples.last_mut().unwrap().2 = line.trim().to_string(),
            },
            _ if section == "Locations" => {
                let (id, rest) = line.trim().split_once(": ").unwrap();
                locations.insert(id.to_string(), rest.trim().to_string());
            }
            _ if section == "Mappings" => {
                let (id, rest) = line.split_once(": ").unwrap();
                mappings.insert(format!("M={id}"), rest.trim().to_string());
            }
            _ => {}
        }
    }
    // A location is `0x42ed5e M=1`, or `0x0 function file:line:0 s=0`.
    let name = |id: &String| {
        let words: Vec<&str> = locations[id].split_whitespace().collect();
        match words[..] {
            [address] => format!("{address} -"),
            [address, mapping] => {
                let mapping = mappings[mapping].as_str();
                let is_made_up = mapping.starts_with("0x0/0xffffffffffffffff/0x0");
                format!("{address} {}", if is_made_up { "-" } else { mapping })
            }
            _ => {
                let place = words[words.len() - 2].rsplit_once(':').unwrap().0;
                format!("{} {place}", words[1..words.len() - 2].join(" "))
            }
        }
    };
    let mut sums = Sums::new();
    for (values, stack, label) in &samples {
        let stack: Vec<String> = stack.iter().rev().map(name).collect();
        add(&mut sums, format!("{} {label}", stack.join(";")), values);
    }
    Printed { samples: sums, metrics }
}

fn drawn_like_go(profile: &Profile) -> Printed {
    let symbols = &profile.symbols;
    let mut samples = Sums::new();
    for row in 0..profile.samples.len() {
        let frames = profile.stacks.frames(profile.samples.stack[row]).iter().map(|&id| {
            let frame = symbols.frames[id];
            let mapping = symbols.mappings[frame.mapping];
            let file = symbols.mapping_file(frame.mapping);
            let name = symbols.frame_name(id);
            if frame.address == 0 {
                return format!("{name} {}:{}", symbols.function_file(frame.function), frame.line);
            }
            if mapping.limit == 0 {
                return format!("{:#x} -", frame.address);
            }
            let place = format!("{:#x}/{:#x}/{:#x} {file}", mapping.start, mapping.limit, mapping.offset);
            format!("{:#x} {}", frame.address, place.trim_end())
        });
        let stack = frames.collect::<Vec<_>>().join(";");
        let label = profile.label_sets.labels(profile.samples.labels[row]).iter().find_map(|label| {
            match (symbols.strings.get(label.key), label.value) {
                ("bytes", LabelValue::Number(number, _)) => Some(format!("bytes:[{number}]")),
                _ => None,
            }
        });
        let values: Vec<i64> = profile.samples.values.iter().map(|column| column[row]).collect();
        add(&mut samples, format!("{stack} {}", label.unwrap_or_default()), &values);
    }
    let metrics =
        profile.meta.metrics.iter().map(|metric| format!("{}/{}", metric.name, metric.unit)).collect();
    Printed { samples, metrics }
}

#[test]
#[needs(Corpus)]
fn legacy_pprof_is_read_as_go_reads_it() {
    let corpus = corpus_root();
    let mut compared = 0;
    for path in files(&corpus.join("pprof-legacy")) {
        let profile = load_well(&path);
        assert_eq!(profile.meta.format, "pprof-legacy", "{}", path.display());
        assert!(profile.meta.warnings.is_empty(), "{}: {:?}", path.display(), profile.meta.warnings);
        let name = path.file_name().unwrap().to_str().unwrap();
        let Ok(golden) = std::fs::read_to_string(corpus.join(format!("pprof-legacy/golden/{name}.string")))
        else {
            continue;
        };
        let (expected, got) = (printed(&golden), drawn_like_go(&profile));
        assert_eq!(got.metrics, expected.metrics, "{name}");
        assert_eq!(got.samples, expected.samples, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

/// The stacks and weights of a collapsed file. Weights are after the last space.
fn collapsed(path: &Path) -> Sums {
    let mut sums = Sums::new();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        add(&mut sums, stack.to_string(), &[weight.parse().unwrap()]);
    }
    sums
}

/// The name of a frame, as printed by the flame graph scripts.
fn tidied(profile: &Profile, id: FrameId) -> String {
    let name = profile.symbols.frame_name(id);
    let frame = profile.symbols.frames[id];
    let module = profile.symbols.mapping_file(frame.mapping);
    if name == "<unknown>" {
        return "[unknown]".into();
    }
    // The scripts add a second pair of brackets to kernel modules.
    if name == module && name.starts_with('[') {
        return format!("[{name}]");
    }
    name.replace(';', ":")
}

#[test]
#[needs(Corpus)]
fn perf_script_gives_the_stacks_of_the_flame_graph_scripts() {
    let corpus = corpus_root();
    let folder = corpus.join("perf-script");
    for (file, golden, metric) in [
        ("githedgehog__dataplane__perf.script", "githedgehog__dataplane__stacks.folded", 1),
        ("wukun1113216744__cpu_check__out.perf", "wukun1113216744__cpu_check__out.folded", 0),
        (
            "jonhoo__inferno__perf_single-line-stacks.txt",
            "jonhoo__inferno__single-line-stacks-collapsed.txt",
            0,
        ),
    ] {
        let profile = load_well(&folder.join(file));
        assert_eq!(profile.meta.format, "perf-script", "{file}");
        let mut got = Sums::new();
        for row in 0..profile.samples.len() {
            let labels = profile.label_sets.labels(profile.samples.labels[row]);
            let comm = labels.iter().find_map(|label| match label.value {
                LabelValue::Text(text) if profile.symbols.strings.get(label.key) == "thread" => {
                    Some(profile.symbols.strings.get(text).replace(' ', "_"))
                }
                _ => None,
            });
            let mut names = vec![comm.unwrap()];
            names.extend(
                profile.stacks.frames(profile.samples.stack[row]).iter().map(|&id| tidied(&profile, id)),
            );
            add(&mut got, names.join(";"), &[profile.samples.values[metric][row]]);
        }
        assert_eq!(got, collapsed(&folder.join("golden").join(golden)), "{file}");
    }
}

/// The `stacks` of every export called `name N` in one of speedscope's snapshots: name and weight.
fn snapshot(corpus: &Path, file: &str, name: &str) -> Vec<Vec<(String, String)>> {
    let path = corpus.join(format!("_snapshots/speedscope/jlfwong__speedscope__{file}.test.ts.snap"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut profiles = Vec::new();
    for export in text.split("\nexports[`").filter(|export| {
        export
            .strip_prefix(name)
            .is_some_and(|rest| rest.trim_start_matches([' ', '1', '2', '3', '4']).starts_with("`] = `\n"))
    }) {
        let Some((_, stacks)) = export.split_once("\"stacks\": [\n") else { continue };
        let stacks = stacks.split_once("\n  ]").map_or("", |(stacks, _)| stacks);
        profiles.push(
            stacks
                .lines()
                .map(|line| line.trim().trim_end_matches(',').trim_matches('"'))
                .map(|line| line.rsplit_once(' ').unwrap())
                .map(|(stack, weight)| (stack.to_string(), weight.to_string()))
                .collect(),
        );
    }
    assert!(!profiles.is_empty(), "{name} is not in the snapshot");
    profiles
}

#[test]
#[needs(Corpus)]
fn perf_script_gives_the_stacks_of_speedscope() {
    let corpus = corpus_root();
    for file in ["forks", "simple", "simple-with-header", "system-wide"] {
        let path = corpus.join(format!("perf-script/jlfwong__speedscope__{file}.linux-perf.txt"));
        let profile = load_well(&path);
        // speedscope weights samples by the time between them, so only the stacks can be compared.
        let expected: Sums =
            snapshot(&corpus, "linux-tools-perf", &format!("importFromLinuxPerf {file}.linux-perf.txt"))
                .into_iter()
                .flatten()
                .map(|(stack, _)| (stack, Vec::new()))
                .collect();
        let mut got = sums_by(&profile, |id| {
            let name = profile.symbols.frame_name(id);
            let module = profile.symbols.mapping_file(profile.symbols.frames[id].mapping);
            match name {
                "<unknown>" => "??? ([unknown])".into(),
                _ if name.starts_with('[') => format!("??? ({module})"),
                _ => match name.strip_suffix("()") {
                    Some(plain) => format!("_Z{}{plain}v", plain.len()),
                    None => name.into(),
                },
            }
        });
        for values in got.values_mut() {
            values.clear();
        }
        assert_eq!(got, expected, "{file}");
    }
}

#[test]
#[needs(Corpus)]
fn dtrace_gives_the_stacks_of_inferno() {
    let corpus = corpus_root();
    for path in files(&corpus.join("dtrace")) {
        let profile = load_well(&path);
        assert_eq!(profile.meta.format, "dtrace", "{}", path.display());
        let got = sums_by(&profile, |id| {
            let frame = profile.symbols.frames[id];
            let module = profile.symbols.mapping_file(frame.mapping);
            // inferno leaves out the module of inlined code.
            let module = if frame.inlined { "" } else { module };
            let tick = if module.is_empty() { "" } else { "`" };
            let mark = if frame.inlined { "_[i]" } else { "" };
            format!("{module}{tick}{}{mark}", profile.symbols.frame_name(id))
        });
        let golden = corpus.join("dtrace/golden").join(path.file_name().unwrap());
        if golden.exists() {
            // Some expectations contain offsets within functions, which are ignored.
            let mut expected = Sums::new();
            for (stack, values) in collapsed(&golden) {
                let frames: Vec<&str> = stack
                    .split(';')
                    .map(|frame| match frame.rsplit_once("+0x") {
                        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
                        _ => frame,
                    })
                    .collect();
                add(&mut expected, frames.join(";"), &values);
            }
            assert_eq!(got, expected, "{}", path.display());
        }
    }
}

#[test]
#[needs(Corpus)]
fn ghc_gives_the_stacks_of_speedscope() {
    let corpus = corpus_root();
    let profile = load_well(&corpus.join("ghcprof/jlfwong__speedscope__simple.prof"));
    assert_eq!(profile.meta.format, "ghc-json");
    let got: BTreeMap<String, String> = sums_by(&profile, |id| profile.symbols.frame_name(id).into())
        .into_iter()
        .filter(|(_, values)| values[0] != 0)
        .map(|(stack, values)| (stack, format!("{}.00ms", values[0])))
        .collect();
    // A tick is a millisecond.
    let expected: BTreeMap<String, String> =
        snapshot(&corpus, "haskell", "importFromHaskell 1").into_iter().flatten().collect();
    assert_eq!(got, expected);
}

#[test]
#[needs(Corpus)]
fn collapsed_gives_the_stacks_of_speedscope() {
    let corpus = corpus_root();
    for (file, export) in [
        ("simple-crlf.txt", "importFromBGFlameGraph with CRLF"),
        ("simple-utf16-be.txt", "importFromBGFlameGraph with UTF-16, Big Endian"),
    ] {
        let profile = load_well(&corpus.join(format!("collapsed/jlfwong__speedscope__{file}")));
        let mut expected = Sums::new();
        for (stack, weight) in snapshot(&corpus, "bg-flamegraph", export).into_iter().flatten() {
            add(&mut expected, stack, &[weight.parse().unwrap()]);
        }
        assert_eq!(sums_by(&profile, |id| profile.symbols.frame_name(id).into()), expected, "{file}");
    }
}

/// Name, self and total of the frames of a snapshot.
fn snapshot_frames(corpus: &Path, file: &str, export: &str) -> BTreeMap<String, (i64, i64)> {
    let path = corpus.join(format!("_snapshots/speedscope/jlfwong__speedscope__{file}.test.ts.snap"));
    let text = std::fs::read_to_string(path).unwrap();
    let (_, text) = text.split_once(&format!("exports[`{export}`]")).unwrap();
    let text = text.split_once("\n`;").unwrap().0;
    let field = |frame: &str, name: &str| {
        let (_, value) = frame.split_once(&format!("\"{name}\": ")).unwrap();
        value.lines().next().unwrap().trim_end_matches(',').trim_matches('"').to_string()
    };
    text.split("Frame {")
        .skip(1)
        .map(|frame| {
            let number = |name| field(frame, name).parse::<f64>().unwrap().round() as i64;
            (field(frame, "name"), (number("selfWeight"), number("totalWeight")))
        })
        .collect()
}

#[test]
#[needs(Corpus)]
fn callgrind_gives_the_sums_of_speedscope() {
    let corpus = corpus_root();
    let file = "callgrind/jlfwong__speedscope__callgrind.multiple-event-types.log";
    let profile = load_well(&corpus.join(file));
    let calls = profile.calls.as_ref().unwrap();
    for (metric, export) in
        ["importFromCallgrind multiple event types 1", "importFromCallgrind multiple event types 2"]
            .into_iter()
            .enumerate()
    {
        let got: BTreeMap<String, (i64, i64)> = profile
            .symbols
            .functions
            .ids()
            .filter(|&id| calls.totals[metric][id] != 0)
            .map(|id| {
                let sums = (calls.self_values[metric][id], calls.totals[metric][id]);
                (profile.symbols.function_name(id).to_string(), sums)
            })
            .collect();
        assert_eq!(got, snapshot_frames(&corpus, "callgrind", export), "{export}");
    }
}

#[test]
#[needs(Corpus)]
fn call_tables_add_up() {
    let corpus = corpus_root();
    let folders = ["callgrind", "pstats"].map(|folder| files(&corpus.join(folder)));
    for path in folders.concat() {
        let profile = load_well(&path);
        let calls = profile.calls.as_ref().unwrap();
        // There would be a warning if the file's own summary differed. One file of Xdebug was cut, and has none.
        let mut warnings = profile.meta.warnings.iter().filter(|warning| !warning.contains("`summary:`"));
        assert_eq!(warnings.next(), None, "{}", path.display());
        for (metric, row) in profile.meta.metrics.iter().enumerate() {
            let (own, totals) = (&calls.self_values[metric], &calls.totals[metric]);
            assert_eq!(own.iter().sum::<i64>(), row.total, "{}", path.display());
            assert!(totals.iter().all(|&total| total <= row.total), "{}", path.display());
            let below_self = own.iter().zip(totals.iter()).filter(|(own, total)| own > total).count();
            assert_eq!(below_self, 0, "{}: {}", path.display(), row.name);
        }
    }
}

#[test]
#[needs(Corpus)]
fn labels_become_frames_as_pprofutils_makes_them() {
    let corpus = corpus_root();
    let recorded = load_well(&corpus.join("pprof/felixge__pprofutils__labelframes.in.pprof"));
    let theirs =
        load_well(&corpus.join("pprof/golden-pprofutils/felixge__pprofutils__labelframes.out.pprof"));
    let (ours, carried) = label_root(&recorded, &["mylabel"]).unwrap();
    assert_eq!(carried, [958]);
    // There, frames include the key, `mylabel=val=2`, and samples without the label have a frame, too.
    let expected: Sums = sums_by(&theirs, |id| theirs.symbols.frame_name(id).to_string())
        .into_iter()
        .map(|(stack, values)| {
            let plain = stack.trim_start_matches("mylabel=").trim_start_matches("N/A;");
            (plain.to_string(), values)
        })
        .collect();
    assert!(sums_by(&ours, |id| ours.symbols.frame_name(id).to_string()) == expected);
}
