//! Datasets: what is exported to Parquet is read back, and nothing is counted twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prof::Filters;
use prof::dataset::{Export, Exported, RowGroups, read, read_counting};
use prof::filter::FilterKind;
use prof::format::Source;
use prof::profile::{
    Budget, Frame, LabelSetId, LoadOptions, Mapping, Profile, ProfileBuilder, from_notation, to_notation,
};
use prof::stats::random::Random;
use prof::transform::compact;
use prof::view::{Scope, TopOptions, top};
use serde_json::Value;

use crate::support::{below, corpus, fixture, load_file, prof};

fn export(folder: &Path, profiles: &[(&str, &Profile)]) -> Exported {
    let mut export = Export::open(folder).unwrap();
    for (name, profile) in profiles {
        export.add(name, profile).unwrap();
    }
    export.finish().unwrap()
}

fn read_back(folder: &Path) -> Profile {
    read(folder, &LoadOptions::ALL).unwrap_or_else(|error| panic!("{error}"))
}

/// What `top` says of a metric, as JSON, except for what depends on the format: warnings, and how samples were counted.
fn top_of(profile: &Profile, metric: usize) -> Value {
    let report = top(profile, &TopOptions::new(Scope::metric(metric)));
    let mut report = serde_json::to_value(report).unwrap();
    let parts = report.as_object_mut().unwrap();
    parts.remove("warnings");
    let recording = parts.remove("recording").unwrap_or_default();
    for key in ["time_ns", "duration_ns", "period_ns"] {
        parts.insert(key.to_string(), recording[key].clone());
    }
    report
}

/// The files of a folder with their bytes, in order.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = below(folder).into_iter();
    let mut files: Vec<_> =
        files.map(|file| (PathBuf::from(&file), fs::read(folder.join(&file)).unwrap())).collect();
    files.sort();
    files
}

/// Exports a file and reads it back; whether it could be exported.
fn there_and_back(path: &Path) -> bool {
    let Ok(profile) = load_file(path) else { return false };
    // Functions without samples are not exported, but `top` counts the files of a name in them, too.
    let profile = compact(&profile).unwrap();
    if profile.calls.is_some() || profile.meta.metrics.iter().any(|metric| metric.too_large) {
        return false;
    }
    let folder = tempfile::tempdir().unwrap();
    let shown = path.display().to_string();
    export(folder.path(), &[(&shown, &profile)]);
    let again = read_back(folder.path());
    assert_eq!(again.meta.default_metric, profile.meta.default_metric, "{shown}");
    for metric in 0..profile.meta.metrics.len() {
        let number = again.meta.metric_named_at(&profile.meta.metrics[metric].name, metric).unwrap();
        if profile.meta.metrics[metric].name == again.meta.metrics[number].name {
            let (found, wanted) = (top_of(&again, number), top_of(&profile, metric));
            let differs = |key: &&String| found[*key] != wanted[*key];
            let different: Vec<_> = wanted.as_object().unwrap().keys().filter(differs).collect();
            assert!(different.is_empty(), "{shown}, {metric}: {different:?}");
        }
    }
    true
}

#[test]
fn every_fixture_has_the_same_rows_after_an_export() {
    let files = below(&fixture(""));
    let exported = files.iter().filter(|file| there_and_back(&fixture("").join(file))).count();
    assert!(exported > 60, "only {exported} of {}", files.len());
}

#[test]
#[needs(Corpus)]
fn every_pprof_file_of_the_corpus_has_the_same_rows_after_an_export() {
    let files = corpus("pprof");
    let exported = files.iter().filter(|file| there_and_back(file)).count();
    assert!(exported > 60, "only {exported} of {}", files.len());
}

#[test]
fn labels_times_and_signs_survive() {
    let folder = tempfile::tempdir().unwrap();
    let text = "main;a 4 {k=v}\nmain;a -3 {k=v}\nmain;b 5 {k=w}\nmain 2";
    let mut profile = from_notation(text);
    profile.meta.time_ns = Some(1_700_000_000_000_000_000);
    export(folder.path(), &[("x", &profile)]);
    let again = read(folder.path(), &LoadOptions { times: false, ..LoadOptions::ALL }).unwrap();
    let sorted = |profile: &Profile| {
        let mut lines: Vec<String> = to_notation(profile).lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&again), sorted(&profile));
    assert_eq!(again.meta.metrics[0].total, 14, "absolute values are added up");
    // Samples without a time were taken when their profile was.
    let timed = read_back(folder.path());
    assert!(timed.samples.known_times().all(|time| time == 1_700_000_000_000_000_000));
    assert_eq!(timed.samples.known_times().count(), 4);
}

#[test]
fn a_second_export_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let [a, b, c] = ["main;a 1", "main;b 2", "main;c 4"].map(from_notation);
    let first = export(path, &[("a", &a), ("b", &b)]);
    assert_eq!((first.written, first.known, first.untimed), (2, 0, 2));
    let before = contents(path);
    let again = export(path, &[("elsewhere/b", &b), ("a", &a), ("a", &a)]);
    assert_eq!((again.written, again.known), (0, 3));
    assert_eq!(contents(path), before);
    // The order of the inputs does not matter.
    let other = tempfile::tempdir().unwrap();
    export(other.path(), &[("b", &b), ("a", &a)]);
    assert_eq!(contents(other.path()), before);
    // A further profile is added, and those that are there are not written again.
    assert_eq!(export(path, &[("a", &a), ("b", &b), ("c", &c)]).written, 1);
    let sum = read_back(path);
    assert_eq!((sum.meta.metrics[0].total, sum.meta.profiles), (7, 3));
    // The copy of a profile in an export counts once as well.
    let twice = tempfile::tempdir().unwrap();
    assert_eq!(export(twice.path(), &[("a", &a), ("copy", &a)]).known, 1);
    assert_eq!(read_back(twice.path()).meta.metrics[0].total, 1);
}

/// Copies the files of a dataset into another.
fn copy_into(from: &Path, to: &Path) {
    for (file, bytes) in contents(from) {
        let target = to.join(file);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::write(target, bytes).unwrap();
    }
}

#[test]
fn datasets_are_joined_by_copying_and_each_profile_counts_once() {
    let [a, b, c] = ["main;a 1", "main;b 2", "main;c 4"].map(from_notation);
    let [one, two] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    export(one.path(), &[("a", &a), ("b", &b)]);
    export(two.path(), &[("b", &b), ("c", &c)]);
    copy_into(one.path(), two.path());
    let sum = read_back(two.path());
    assert_eq!((sum.meta.metrics[0].total, sum.meta.profiles), (7, 3));
    assert!(
        sum.meta.notes.iter().any(|note| note.contains("further copies of 1 profile")),
        "{:?}",
        sum.meta.notes
    );
}

#[test]
fn what_an_interrupted_export_leaves_is_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let [a, b] = ["main;a 1", "main;b 2"].map(from_notation);
    export(path, &[("a", &a)]);
    export(path, &[("b", &b)]);
    let files = below(&path.join("profiles"));
    assert_eq!(files.len(), 2);
    let kept = read_back(path).meta.metrics[0].total;
    assert_eq!(kept, 3);
    fs::remove_file(path.join("profiles").join(files.first().unwrap())).unwrap();
    let rest = read_back(path);
    assert!(rest.meta.metrics[0].total < 3);
    let warnings = &rest.meta.warnings;
    assert!(warnings.iter().any(|text| text.contains("1 part without profiles")), "{warnings:?}");
    // The next export completes it.
    export(path, &[("a", &a), ("b", &b)]);
    assert_eq!(read_back(path).meta.metrics[0].total, 3);
}

#[test]
fn units_of_profiles_are_reconciled() {
    let folder = tempfile::tempdir().unwrap();
    let mut profiles = ["main;a 1", "main;a 500"].map(from_notation);
    for (profile, unit) in profiles.iter_mut().zip(["seconds", "milliseconds"]) {
        profile.meta.metrics[0].unit = unit.to_string();
    }
    let [a, b] = &profiles;
    export(folder.path(), &[("a", a), ("b", b)]);
    let sum = read_back(folder.path());
    assert_eq!((&*sum.meta.metrics[0].unit, sum.meta.metrics[0].total), ("milliseconds", 1500));
    profiles[1].meta.metrics[0].unit = "bytes".to_string();
    let other = tempfile::tempdir().unwrap();
    export(other.path(), &[("a", &profiles[0]), ("b", &profiles[1])]);
    let error = read(other.path(), &LoadOptions::ALL).unwrap_err().to_string();
    assert!(error.contains("has the units") && error.contains("bytes"), "{error}");
}

/// What `prof top` says of a dataset.
fn refused(folder: &Path) -> String {
    let output = prof(folder, &["top", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn bad_datasets_are_described() {
    let profile = from_notation("main;a 1");
    let make = || {
        let folder = tempfile::tempdir().unwrap();
        export(folder.path(), &[("a", &profile)]);
        folder
    };
    let only = |folder: &Path, table: &str| {
        let table = folder.join(table);
        table.join(below(&table).first().unwrap())
    };
    let without = |table: &str| {
        let folder = make();
        fs::remove_dir_all(folder.path().join(table)).unwrap();
        refused(folder.path())
    };
    assert!(without("stacks").contains("incomplete: it has no folder stacks/"));
    assert!(without("profiles").contains("incomplete: it has no folder profiles/"));
    for (table, said) in [("stacks", "is missing from stacks/"), ("frames", "is missing from frames/")] {
        let folder = make();
        fs::remove_file(only(folder.path(), table)).unwrap();
        let error = refused(folder.path());
        assert!(error.contains(said) && error.contains("copy all files of the dataset"), "{error}");
    }
    let folder = make();
    fs::remove_file(only(folder.path(), "profiles")).unwrap();
    assert!(refused(folder.path()).contains("profiles/ has no complete part"));
    // Foreign Parquet, another table, another version, and a damaged file.
    let foreign = fs::read(fixture("parquet/duckdb.parquet")).unwrap();
    let folder = make();
    fs::write(folder.path().join("samples/other.parquet"), &foreign).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("samples/other.parquet: not a file that prof wrote"), "{error}");
    let folder = make();
    fs::copy(only(folder.path(), "frames"), folder.path().join("stacks/x.parquet")).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("a file of the table `frames`, in the folder of `stacks`"), "{error}");
    let folder = make();
    let frames = only(folder.path(), "frames");
    let bytes = fs::read(&frames).unwrap();
    let key = b"prof.dataset";
    let at = bytes.windows(key.len()).position(|bytes| bytes == key).unwrap() + key.len();
    // The value follows its field header and its length.
    let mut newer = bytes.clone();
    assert_eq!(newer[at + 2], b'1');
    newer[at + 2] = b'2';
    fs::write(&frames, newer).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("has the version 2, and this prof reads version 1"), "{error}");
    fs::write(&frames, &bytes[..bytes.len() - 9]).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("the file is truncated"), "{error}");
}

#[test]
fn exports_that_make_no_sense_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("a.folded"), "main;a 1\n").unwrap();
    fs::write(path.join("file"), "text").unwrap();
    fs::copy(fixture("pstats/python.pstats"), path.join("calls.pstats")).unwrap();
    let said = |arguments: &[&str], code: i32| {
        let output = prof(path, arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {errors}");
        errors
    };
    let parquet = |out: &'static str, rest: &[&'static str], code: i32| {
        said(&[&["convert", "-o", out, "--to", "parquet"], rest].concat(), code)
    };
    assert!(parquet("file", &["a.folded"], 2).contains("file: is not a folder"));
    assert!(parquet(".", &["a.folded"], 2).contains("not empty, and not a dataset"));
    assert!(parquet("-", &["a.folded"], 2).contains("as a folder of tables, not as one file"));
    assert!(said(&["convert", "-o", "x.parquet", "a.folded"], 2).contains("name a folder"));
    assert!(parquet("ds", &["--merge", "mean", "a.folded"], 2).contains("they are not combined"));
    assert!(parquet("ds", &["calls.pstats"], 2).contains("records calls, but datasets hold only stacks"));
    assert!(parquet("ds", &["--show-stacks", "nobody", "a.folded"], 2).contains("nothing matches"));
    assert!(!path.join("ds").exists(), "nothing is written by an export that fails");
    assert!(
        parquet("ds", &["a.folded"], 0).contains("note: ds: 1 profile written; 1 profile without a time")
    );
    assert!(parquet("ds", &["ds"], 2).contains("ds: is also an input"));
    assert!(parquet("ds", &["a.folded"], 0).contains("0 profiles written, 1 profile already in the dataset"));
}

#[test]
fn clocks_in_the_future_and_several_programs_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut profile = from_notation("main;a 1");
    // In the year 2200.
    profile.meta.time_ns = Some(7_258_118_400_000_000_000);
    export(folder.path(), &[("a", &profile)]);
    let warnings = read_back(folder.path()).meta.warnings;
    assert!(
        warnings.iter().any(|text| text.contains("1 profile was recorded in the future, up to 2200-01-01")),
        "{warnings:?}"
    );
    let of_program = |path: &str| {
        let mut builder = ProfileBuilder::new("test", LoadOptions::ALL);
        builder.metric("samples", "count");
        let file = builder.string(path);
        let mapping = builder.mapping(Mapping { file, ..Mapping::default() });
        let function = builder.named_function("main", "");
        let frame = builder.frame(Frame { function, mapping, ..Frame::default() });
        let stack = builder.stack(&[frame]);
        builder.sample(stack, LabelSetId::default(), None, &[1]);
        builder.finish().unwrap()
    };
    let [shop, words] = ["/srv/shop", "/srv/words"].map(of_program);
    let both = tempfile::tempdir().unwrap();
    let unknown = from_notation("main;a 1");
    export(both.path(), &[("a", &shop), ("b", &words), ("c", &unknown)]);
    let notes = read_back(both.path()).meta.notes;
    let says = "profiles of 2 programs (shop, words) and 1 profile of unknown programs";
    assert!(notes.iter().any(|note| note.contains(says)), "{notes:?}");
}

/// Day `number` of November 2026, at noon.
fn noon(number: i64) -> i64 {
    1_793_534_400_000_000_000 + (number - 1) * 86_400_000_000_000
}

/// A dataset of four days, each a part of its own, in two regions; samples of the last day have times of their own.
fn four_days(folder: &Path) {
    let texts = [
        "main;a 1 {region=eu}\nmain;b 2 {region=eu}",
        "main;a 4 {region=us}\nmain;c 8 {region=us tier=gold}",
        "main;b 16 {region=eu size=4096bytes}\nmain;b 32 {region=us}",
        "main;a 64 {region=ap}",
    ];
    for (day, text) in (1..).zip(texts) {
        let mut profile = from_notation(text);
        profile.meta.time_ns = Some(noon(day));
        export(folder, &[(&format!("day-{day}"), &profile)]);
    }
}

/// The row groups that were read for these filters; the report is the same as if all were.
fn groups_for(folder: &Path, filters: &[(FilterKind, &str)]) -> RowGroups {
    let typed = filters.iter().map(|(kind, text)| (*kind, (*text).to_string()));
    let filters = Filters::typed(typed, false);
    let all = LoadOptions { labels: true, times: true, ..LoadOptions::LEAST };
    let only = LoadOptions { only: filters.only().map(Arc::new), ..all.clone() };
    let (some, groups) = read_counting(folder, &only).unwrap();
    let reports = [some, read(folder, &all).unwrap()].map(|profile| {
        let total = profile.meta.metrics[0].total;
        let filtered = filters.apply(profile);
        (total, filtered.map(|profile| top_of(&profile, 0)).map_err(|error| error.to_string()))
    });
    assert_eq!(reports[0], reports[1]);
    groups
}

#[test]
fn row_groups_that_filters_drop_are_not_read() {
    use FilterKind::{From, HideStacks, Label, LabelRoot, To};

    let folder = tempfile::tempdir().unwrap();
    four_days(folder.path());
    let read = |filters: &[(FilterKind, &str)]| groups_for(folder.path(), filters).read;
    assert_eq!(groups_for(folder.path(), &[]), RowGroups { all: 4, read: 4 });
    assert_eq!(read(&[(From, "2026-11-03T00:00:00Z")]), 2);
    assert_eq!(read(&[(From, "2026-11-02T00:00:00Z"), (To, "2026-11-03T00:00:00Z")]), 1);
    assert_eq!(
        read(&[(To, "2026-11-01T12:00:00Z")]),
        4,
        "nothing matches, and the message names what there is"
    );
    // Times that are relative count from the first of all samples, and from the last.
    assert_eq!(read(&[(From, "25h"), (To, "49h")]), 1);
    assert_eq!(read(&[(From, "-25h")]), 2);
    assert_eq!(read(&[(Label, "region=eu")]), 2);
    assert_eq!(read(&[(Label, "region=ap"), (Label, "region=us")]), 3, "one of several values of a key");
    assert_eq!(read(&[(Label, "region=us"), (Label, "tier=gold")]), 1, "all of several keys");
    assert_eq!(read(&[(Label, "tier")]), 1);
    assert_eq!(
        read(&[(Label, "size=4kb")]),
        2,
        "4096 bytes; and on day 2, between region and tier, there may be a size"
    );
    assert_eq!(read(&[(Label, "region=~u")]), 3);
    assert_eq!(read(&[(Label, "region=eu"), (From, "2026-11-02T00:00:00Z")]), 1);
    assert_eq!(read(&[(Label, "region=nowhere")]), 1, "it may be between gold and us");
    assert_eq!(read(&[(Label, "region=zz")]), 4, "the message names what there is");
    assert_eq!(read(&[(Label, "region=eu"), (HideStacks, "b")]), 2);
    // Label frames are made for every sample.
    assert_eq!(read(&[(LabelRoot, "region"), (Label, "region=eu")]), 4);
}

#[test]
fn samples_that_are_left_out_count_in_shares() {
    let folder = tempfile::tempdir().unwrap();
    four_days(folder.path());
    let output = prof(folder.path(), &["top", "--label", "region=ap", "-f", "json", "."]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["total"], &report["shown"]), (&127.into(), &64.into()));
    let output = prof(folder.path(), &["info", "-f", "json", "."]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["labelled_rows"], &report["rows"]), (&7.into(), &7.into()));
}

#[test]
fn missing_samples_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    four_days(folder.path());
    fs::remove_dir_all(folder.path().join("samples/date=2026-11-02")).unwrap();
    let warnings = read_back(folder.path()).meta.warnings;
    assert!(warnings.iter().any(|text| text.starts_with("1 of 4 profiles has no samples")), "{warnings:?}");
}

/// Samples with several metrics are counted once.
#[test]
fn labelled_samples_are_at_most_all_samples() {
    let folder = tempfile::tempdir().unwrap();
    let profile = load_file(&fixture("pprof/go-cpu.pb.gz")).unwrap();
    export(folder.path(), &[("cpu", &profile)]);
    let again = read_back(folder.path());
    assert!(profile.meta.metrics.len() > 1 && profile.meta.labelled_rows > 0);
    assert_eq!((again.meta.rows, again.meta.labelled_rows), (profile.meta.rows, profile.meta.labelled_rows));
}

#[test]
fn a_column_of_another_type_is_described() {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &[("a", &from_notation("main;a 1"))]);
    let samples = folder.path().join("samples");
    let file = samples.join(below(&samples).first().unwrap());
    let mut bytes = fs::read(&file).unwrap();
    // The metadata at the end name each column; two names of one length change places.
    let footer =
        bytes.len() - 8 - u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    for at in footer..bytes.len() - 4 {
        match &bytes[at..at + 4] {
            b"unit" => bytes[at..at + 4].copy_from_slice(b"time"),
            b"time" => bytes[at..at + 4].copy_from_slice(b"unit"),
            _ => {}
        }
    }
    fs::write(&file, bytes).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("the column `unit` should hold text, but is of the type"), "{error}");
}

/// Whatever happens to the bytes of a dataset, reading it gives a profile or an error.
#[test]
fn damaged_datasets_are_errors_not_panics() {
    let folder = tempfile::tempdir().unwrap();
    four_days(folder.path());
    let budget = || Budget::of(64 << 20);
    let filters = Filters::typed([(FilterKind::Label, "region=eu".to_string())], false);
    let options = || LoadOptions { budget: budget(), only: filters.only().map(Arc::new), ..LoadOptions::ALL };
    let mut random = Random::new(7);
    let (mut errors, mut count) = (0, 0);
    for (file, bytes) in contents(folder.path()) {
        let path = folder.path().join(file);
        for case in 0..40 {
            let mut bytes = bytes.clone();
            let at = random.number() as usize % bytes.len();
            match case % 4 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << (random.number() % 8),
                2 => bytes[at] = random.number() as u8,
                // Most of a small file is its metadata, at the end.
                _ => {
                    let at = bytes.len() - 1 - random.number() as usize % bytes.len().min(400);
                    bytes[at] = random.number() as u8;
                }
            }
            fs::write(&path, &bytes).unwrap();
            errors += usize::from(read(folder.path(), &options()).is_err());
            errors += usize::from(Export::open(folder.path()).is_err());
            count += 1;
        }
        fs::write(&path, bytes).unwrap();
    }
    assert!(errors > count / 4, "{errors} errors in {count} cases");
    assert_eq!(read_back(folder.path()).meta.metrics[0].total, 127);
}

/// Hints lead to the dataset, whatever part of it was named.
#[test]
fn parts_of_a_dataset_are_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    export(&path.join("fleet"), &[("a", &from_notation("main;a 1"))]);
    let said = |arguments: &[&str]| {
        let output = prof(path, arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let name = |parts: &[&str]| parts.iter().collect::<PathBuf>().display().to_string();
    for part in [&["fleet", "samples"][..], &["fleet", "samples", "date=__HIVE_DEFAULT_PARTITION__"]] {
        let (code, text) = said(&["top", &name(part)]);
        assert!(code == Some(2) && text.contains("a part of a dataset: name the whole, fleet\n"), "{text}");
    }
    let (_, text) = said(&["top", &name(&["fleet", "profiles"])]);
    assert!(text.contains("name the folder of the whole dataset"), "{text}");
    for table in ["stacks", "frames"] {
        fs::remove_dir_all(path.join("fleet").join(table)).unwrap();
        let (code, text) = said(&["top", "fleet"]);
        assert!(
            code == Some(2) && text.contains("it has no folder stacks/. Copy all four folders"),
            "{text}"
        );
    }
    let (code, text) = said(&["sql", "duckdb", "nowhere"]);
    assert!(code == Some(0) && text.contains("warning: nowhere: there is no dataset here"), "{text}");
    assert_eq!(said(&["sql", "duckdb", "s3://bucket/fleet"]), (Some(0), String::new()));
    fs::write(path.join("a.folded"), "main 1\n").unwrap();
    let (_, text) = said(&["convert", "-o", "x.xyz", "a.folded"]);
    assert!(text.contains("--to parquet, which writes a folder of tables"), "{text}");
}

#[test]
fn an_export_of_several_programs_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        ["pprof/go-cpu.pb.gz", "perf-script/rust.perf.txt"].map(|name| fixture(name).display().to_string());
    let output =
        prof(folder.path(), &["convert", "-o", "ds", "--to", "parquet", &files[0], &files[1]]).output();
    let text = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(text.contains("note: the profiles are of 2 programs (shop, words)"), "{text}");
}

#[test]
fn results_of_queries_are_profiles() {
    let profile = load_file(&fixture("parquet/duckdb.parquet")).unwrap();
    assert_eq!((profile.meta.metrics[0].total, &*profile.meta.metrics[0].unit), (110, "count"));
    let wanted = ["worked-2.folded", "worked-3.folded"].map(|name| {
        let text = fs::read_to_string(fixture("collapsed").join(name)).unwrap();
        prof::format::load(&mut Source::from_bytes(text.into()), LoadOptions::ALL, None).unwrap()
    });
    let sum = prof::transform::merge(&wanted).unwrap();
    let lines = |profile: &Profile| {
        let mut lines: Vec<String> = to_notation(profile).lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&profile), lines(&sum));
}
