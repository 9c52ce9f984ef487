//! Comparisons of recorded runs, and of every profile of the corpus with itself. The runs and the corpus
//! are in folders next to the checkout.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::support::needs::shared;
use crate::support::sides::{compare, usual, verdicts};
use crate::support::{corpus_root, files, load_file};
use prof::profile::Profile;
use prof::report::{Diff, DiffOutcome, DiffVerdict, RowVerdict};

/// Random comparisons for each set; `PROF_DRAWS=200` makes more.
fn draws() -> usize {
    std::env::var("PROF_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(20)
}

/// The profiles of a folder of recorded runs, by variant: `A-00.pb.gz` belongs to variant A.
struct Runs(BTreeMap<String, Vec<Profile>>);

impl Runs {
    fn load(folder: &str) -> Runs {
        let mut files = files(&shared("ab").join(folder));
        files.retain(|file| file.to_string_lossy().ends_with(".pb.gz"));
        let mut runs: BTreeMap<String, Vec<Profile>> = BTreeMap::new();
        for file in files {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let variant = name.rsplit_once('-').unwrap().0.to_string();
            runs.entry(variant).or_default().push(load_file(&file).unwrap());
        }
        Runs(runs)
    }

    /// Compares `count` random runs of each variant, `draws` times.
    fn draw(&self, old: &str, new: &str, count: usize, draws: usize) -> Vec<Diff> {
        let mut random = Random(7);
        let draw = |_| {
            let picked = random.pick(self.0[old].len(), if old == new { 2 * count } else { count });
            let (before, after) = if old == new {
                (picked[..count].to_vec(), picked[count..].to_vec())
            } else {
                (picked, random.pick(self.0[new].len(), count))
            };
            let side = |variant: &str, picked: &[usize]| -> Vec<(&Profile, usize)> {
                let with_metric = |&run: &usize| {
                    let profile = &self.0[variant][run];
                    (profile, profile.meta.default_metric)
                };
                picked.iter().map(with_metric).collect()
            };
            compare(&side(old, &before), &side(new, &after), &usual())
        };
        (0..draws).map(draw).collect()
    }
}

/// A small deterministic random number generator, so that the same runs are always drawn.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }

    fn pick(&mut self, from: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..from).collect();
        for place in 0..count {
            let other = place + self.below(from - place);
            all.swap(place, other);
        }
        all.truncate(count);
        all
    }
}

fn regressed(diffs: &[Diff]) -> usize {
    diffs.iter().filter(|diff| diff.verdict == DiffVerdict::Regressed).count()
}

#[test]
#[needs(Runs)]
fn identical_builds_raise_no_alarm() {
    for folder in ["long250", "steady250", "aa-steady", "heap-allocs"] {
        let runs = Runs::load(folder);
        for count in [1, 5] {
            let draws = draws();
            let alarms = regressed(&runs.draw("A", "A", count, draws));
            println!("{folder}, A against A, {count} a side: {alarms} of {draws} draws alarm");
            assert!(alarms * 100 <= draws, "{folder}: {alarms} of {draws}");
        }
    }
}

#[test]
#[needs(Runs)]
fn a_regression_is_found_at_its_origin() {
    let runs = Runs::load("long250");
    let diffs = runs.draw("A", "B20", 5, draws());
    for diff in &diffs {
        assert!(verdicts(diff).contains(&"regressed main.fnv (self)".to_string()), "{:?}", verdicts(diff));
        assert_eq!(diff.outcome(), DiffOutcome::Failed);
    }
    let others: Vec<String> = diffs
        .iter()
        .flat_map(|diff| diff.with_verdict(RowVerdict::Regressed).map(|row| row.name.to_string()))
        .filter(|name| name != "main.fnv")
        .collect();
    println!("besides main.fnv: {others:?}");
}

#[test]
#[needs(Runs)]
fn a_faster_function_is_an_improvement_and_nothing_else() {
    let runs = Runs::load("steady250");
    let diffs = runs.draw("A", "FAST50", 5, draws());
    // At α = 1%, one in a hundred comparisons may raise a false alarm: of 200 draws, one finds q = 0.0097 for main.sieve.
    let alarms = regressed(&diffs);
    println!("A against FAST50, 5 a side: {alarms} of {} alarm", diffs.len());
    assert!(alarms * 100 <= diffs.len(), "{alarms} of {}", diffs.len());
    let improved = diffs.iter().filter(|diff| diff.verdict == DiffVerdict::Improved).count();
    println!("A against FAST50, 5 a side: {improved} of {} improved", diffs.len());
    assert!(improved * 10 >= diffs.len() * 9);
}

#[test]
#[needs(Runs)]
fn one_pair_says_what_it_could_have_seen() {
    let runs = Runs::load("steady250");
    for diff in runs.draw("A", "A", 1, 5) {
        assert_eq!((diff.verdict, diff.outcome()), (DiffVerdict::Inconclusive, DiffOutcome::Passed));
        assert!(diff.detectable.iter().any(|at| at.ratio.is_some_and(|ratio| ratio > 1.2)));
    }
}

#[test]
#[needs(Corpus)]
fn every_profile_equals_itself() {
    let root = corpus_root();
    let mut compared = 0;
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    for folder in entries.filter(|path| path.is_dir()) {
        for file in files(&folder) {
            let Ok(profile) = load_file(&file) else { continue };
            let metric = profile.meta.default_metric;
            if profile.meta.metrics.get(metric).is_none_or(|metric| metric.total > i64::MAX / 4) {
                continue;
            }
            compared += 1;
            let diff = compare(&[(&profile, metric)], &[(&profile, metric)], &usual());
            assert_eq!(diff.outcome(), DiffOutcome::Passed, "{}", file.display());
            assert!(verdicts(&diff).is_empty(), "{}: {:?}", file.display(), verdicts(&diff));
            assert!(diff.rows.iter().all(|row| row.delta.self_value == 0 && row.delta.total == 0));
        }
    }
    println!("{compared} profiles compared with themselves");
    assert!(compared > 80);
}

#[test]
#[needs(Runs, Python)]
fn the_reference_agrees() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/compare_diff_reference.py");
    let program = env!("CARGO_BIN_EXE_prof");
    let done = Command::new("python3").arg(script).arg(program).arg(shared("ab")).output().unwrap();
    println!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success());
}
