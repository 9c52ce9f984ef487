//! Reads real profiles from `../shared/corpus`, where that directory is there, and compares them with
//! what other programs made of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use prof::format::{self, LoadError, Source};
use prof::profile::{FrameId, LabelValue, LoadOptions, Profile};

/// The corpus, or `None` (and a line that says so) where it is absent.
fn corpus() -> Option<PathBuf> {
    let path = ["../shared/corpus", "../../../work/shared/corpus"]
        .iter()
        .map(|relative| Path::new(env!("CARGO_MANIFEST_DIR")).join(relative))
        .find(|path| path.is_dir());
    if path.is_none() {
        println!("skipped: ../shared/corpus is absent");
    }
    path
}

fn load(path: &Path) -> Result<Profile, LoadError> {
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    format::load(&mut Source::open(Box::new(file))?, LoadOptions::ALL, None)
}

fn load_well(path: &Path) -> Profile {
    load(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// Sums of values by something that names the stack.
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

/// What `frame` makes of every sample's frames, root first, joined by `;`, with its values.
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
    /// Every mapping that a location refers to: `start/limit/offset file`.
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
    // A location reads `0x42ed5e M=1`, or `0x0 function file:line:0 s=0`.
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
fn legacy_pprof_is_read_as_go_reads_it() {
    let Some(corpus) = corpus() else { return };
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
