//! Noise that was learned from earlier runs of one build: `diff --learn-noise` and `diff --noise FILE`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::needs::shared;
use crate::support::sides::compare;
use crate::support::{files, load_file, prof};
use prof::profile::{LoadOptions, Profile};
use prof::report::{Diff, NoiseHistory};
use prof::stats::{Normalization, TestOptions};
use prof::transform::{artefacts, fold_leaves};
use prof::tree::By;
use prof::view::{DiffOptions, align_sides, learn_noise};

/// Random comparisons for each rate; `PROF_DRAWS=400` makes more.
fn draws() -> usize {
    std::env::var("PROF_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(20)
}

/// Numbers that look random but are the same in every run.
struct Random(u64);

impl Random {
    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn shuffled<'p>(&mut self, runs: &'p [Profile]) -> Vec<&'p Profile> {
        let mut order: Vec<&Profile> = runs.iter().collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
        order
    }
}

/// Recorded runs of one variant of a program.
fn runs(set: &str, variant: &str) -> Vec<Profile> {
    let mut files = files(&shared("ab").join(set));
    files.retain(|file| {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(&format!("{variant}-")) && name.ends_with(".pb.gz")
    });
    files.iter().map(|file| load_file(file).unwrap()).collect()
}

fn with_metric<'p>(runs: &[&'p Profile]) -> Vec<(&'p Profile, usize)> {
    runs.iter().map(|run| (*run, run.meta.metric_named("cpu").unwrap())).collect()
}

fn learned(runs: &[&Profile]) -> NoiseHistory {
    let (whole, size) = align_sides(&with_metric(runs), LoadOptions::LEAST).unwrap();
    let folded = fold_leaves(&whole, &artefacts(&whole)).0;
    learn_noise(&folded, runs.len(), size, &By::Function, Normalization::Core).unwrap()
}

fn judged(history: &NoiseHistory, old: &[&Profile], new: &Profile) -> Diff {
    let test = TestOptions { check_scale: true, ..TestOptions::default() };
    let options = DiffOptions { history: Some(history.clone()), test, ..DiffOptions::default() };
    compare(&with_metric(old), &with_metric(&[new]), &options)
}

/// The sets of runs, and from how many of them to learn.
const SETS: [(&str, usize); 3] = [("aa-steady", 20), ("steady250", 15), ("long250", 8)];

#[test]
#[needs(Runs)]
fn a_run_of_the_same_build_raises_no_alarm() {
    let mut alarms = Vec::new();
    let mut judgements = 0;
    for (set, count) in SETS {
        let runs = runs(set, "A");
        assert!(runs.len() > count + 2, "{set}");
        let mut random = Random(1);
        for draw in 0..draws() {
            let order = random.shuffled(&runs);
            let history = learned(&order[..count]);
            // Runs that nothing was learned from.
            let (old, new) = (order[count], order[count + 1]);
            for (against, old) in [("one run", &[old][..]), ("the history", &order[..count])] {
                judgements += 1;
                let diff = judged(&history, old, new);
                if diff.regressed > 0 {
                    alarms.push(format!(
                        "{set} {draw} against {against}: {:?}",
                        crate::support::sides::verdicts(&diff)
                    ));
                }
            }
        }
    }
    println!("{} alarms in {judgements} comparisons", alarms.len());
    assert!(alarms.len() * 100 <= judgements, "{} of {judgements}:\n{}", alarms.len(), alarms.join("\n"));
}

#[test]
#[needs(Runs)]
fn a_run_with_a_dearer_function_is_found() {
    // main.fnv, with 14 % of the samples, does 20 % more work: some 770 samples instead of 640 in a run.
    let folder = tempdir().unwrap();
    let path = |run: &str| shared("ab/long250").join(format!("{run}.pb.gz")).to_str().unwrap().to_string();
    let usual: Vec<String> = (0..12).map(|run| path(&format!("A-{run:02}"))).collect();
    let usual: Vec<&str> = usual.iter().map(String::as_str).collect();
    let learned =
        prof(folder.path(), &[&["diff", "--learn-noise", "-o", "noise.toml"], &usual[..]].concat()).output();
    assert!(learned.unwrap().status.success());
    let found = |run: usize| {
        let new = path(&format!("B20-{run:02}"));
        let options = [
            "diff",
            "-q",
            "-f",
            "json",
            "--noise",
            "noise.toml",
            "--function",
            "main.fnv",
            "--new",
            &new,
            "--old",
        ];
        let out = prof(folder.path(), &[&options, &usual[..]].concat()).output().unwrap();
        let report: Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(report["learned_runs"], 12);
        out.status.code() == Some(1) && report["rows"][0]["name"] == "main.fnv"
    };
    let count = (0..6).filter(|run| found(*run)).count();
    assert!(count >= 5, "{count} of 6");
}

/// Runs of a program, as collapsed stacks: `cache` varies by 30 % from run to run, the other functions only as samples do.
fn program(run: i64, cache: i64) -> String {
    let steady = [
        ("read", 900),
        ("parse", 1200),
        ("plan", 800),
        ("sort", 700),
        ("write", 600),
        ("log", 400),
        ("hash", 1000),
    ];
    let wobble = |value: i64, number: i64| value + ((number * 7 + run * 5) % 11 - 5) * value.isqrt() / 6;
    let line = |(number, (name, value)): (usize, &(&str, i64))| {
        format!("main;{name} {}\n", wobble(*value, number as i64))
    };
    let lines: String = steady.iter().enumerate().map(line).collect();
    format!("{lines}main;cache {cache}\n")
}

/// A folder with twelve runs, and what was learned from them.
fn learned_folder() -> TempDir {
    let folder = tempdir().unwrap();
    for run in 0..12 {
        let cache = 800 + 240 * [-1, 1, 0, 1, -1, 0][run as usize % 6];
        fs::write(folder.path().join(format!("{run:02}.folded")), program(run, cache)).unwrap();
    }
    fs::write(folder.path().join("old"), program(20, 800)).unwrap();
    fs::write(folder.path().join("cache"), program(21, 1200)).unwrap();
    let hash = program(21, 800).replace("hash 9", "hash 14").replace("hash 1", "hash 15");
    fs::write(folder.path().join("hash"), hash).unwrap();
    let names: Vec<String> = (0..12).map(|run| format!("{run:02}.folded")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let out = prof(folder.path(), &[&["diff", "--learn-noise", "-o", "noise.toml"], &names[..]].concat())
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
    folder
}

fn code(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let out = prof(folder, arguments).output().unwrap();
    (out.status.code(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn each_function_is_judged_by_its_own_noise() {
    let folder = learned_folder();
    let text = fs::read_to_string(folder.path().join("noise.toml")).unwrap();
    let file: toml::Value = toml::from_str(&text).unwrap();
    let variation = |name: &str| {
        let functions = file["function"].as_array().unwrap();
        let function = functions.iter().find(|function| function["name"].as_str() == Some(name)).unwrap();
        function["self"]["variation"].as_float().unwrap()
    };
    // ±240 of 800 in two of three runs: a standard deviation of about 25 %.
    assert!((20.0..35.0).contains(&variation("cache")), "{text}");
    assert!(variation("hash") < 5.0, "{text}");
    assert_eq!((file["version"].as_integer(), file["runs"].as_integer()), (Some(1), Some(12)));

    // Half as much again is nothing unusual for one of them, but for the other one.
    let judge = |new: &str| code(folder.path(), &["diff", "-q", "--noise", "noise.toml", "old", new]).0;
    assert_eq!((judge("old"), judge("cache"), judge("hash")), (Some(0), Some(0), Some(1)));
    // Without a history, the same percentage would have to do for all.
    let fixed = |new: &str| code(folder.path(), &["diff", "-q", "--noise", "3%", "old", new]).0;
    assert_eq!((fixed("cache"), fixed("hash")), (Some(1), Some(1)));
}

#[test]
fn a_history_that_does_not_fit_is_refused() {
    let folder = learned_folder();
    let text = fs::read_to_string(folder.path().join("noise.toml")).unwrap();
    let first = text.find("\n[[function]]").unwrap();
    let again = format!("{text}{}", &text[first..]);
    for (changed, message) in [
        (text.replace("version = 1", "version = 7"), "version 7 of this file is not known, only version 1"),
        (text.replace("version = 1\n", ""), "missing field `version`"),
        (
            text.replace("metric = \"samples\"", "metric = \"cpu\""),
            "learned from the metric cpu, but samples is compared",
        ),
        (text.replace("unit = \"count\"", "unit = \"bytes\""), "in bytes, but these profiles are in count"),
        (
            text.replace("by = \"function\"", "by = \"file\""),
            "learned with --by file, but this is a comparison with --by function",
        ),
        (text.replace("normalize = \"core\"", "normalize = \"none\""), "learned with --normalize none"),
        (text.replace("unlisted = ", "unlisted = -"), "expected a number from 0 to 1000"),
        (text.replace("variation = ", "variation = 1e99 #"), "expected"),
        (text.replace("dispersion = ", "dispersion = nan #"), "dispersion = NaN"),
        (text.replace("\nruns = 12\nsamples", "\nruns = 2\nsamples"), "at least 3 runs are needed"),
        (text.replace("name = ", "nmae = "), "unknown field `nmae`"),
        (again, "listed twice"),
        (text.replace("name = \"", "name = \"other."), "none of its 9 functions is in these profiles"),
        ("not TOML".to_string(), "noise.toml: TOML parse error"),
        (String::new(), "missing field `version`"),
    ] {
        fs::write(folder.path().join("changed.toml"), changed).unwrap();
        let (code, errors) = code(folder.path(), &["diff", "--noise", "changed.toml", "old", "hash"]);
        assert_eq!(code, Some(2), "{message}: {errors}");
        assert!(errors.contains(message.trim_start_matches("noise.toml: ")), "{message}\n{errors}");
        assert!(errors.contains("--noise changed.toml: "), "{errors}");
    }
    // Functions that are no longer there, or new ones, are nothing unusual.
    fs::write(folder.path().join("changed.toml"), text.replace("\"hash\"", "\"gone\"")).unwrap();
    assert_eq!(code(folder.path(), &["diff", "-q", "--noise", "changed.toml", "old", "old"]).0, Some(0));
    let (code, errors) = code(folder.path(), &["diff", "--noise", "missing.toml", "old", "old"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("an existing file written by --learn-noise"), "{errors}");
}

#[test]
fn too_few_runs_are_not_learned_from() {
    let folder = learned_folder();
    let (code_of_two, errors) = code(folder.path(), &["diff", "--learn-noise", "00.folded", "01.folded"]);
    assert_eq!(code_of_two, Some(2));
    assert!(errors.contains("2 of at least 3 runs given"), "{errors}");
    let (code_of_none, errors) = code(folder.path(), &["diff", "--learn-noise"]);
    assert_eq!(code_of_none, Some(2));
    assert!(errors.contains("name the runs of one build"), "{errors}");
    let three = ["diff", "--learn-noise", "00.folded", "01.folded", "02.folded"];
    let (code_of_three, errors) = code(folder.path(), &three);
    assert_eq!(code_of_three, Some(0));
    assert!(errors.contains("learned from 3 runs only"), "{errors}");
}
