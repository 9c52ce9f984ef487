//! The time that comparing two builds takes: matching their functions, and testing them.

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use prof::compare::CompareOptions;
use prof::format::writer_named;
use prof::load::sides;
use prof::profile::{LoadOptions, Profile, from_notation};
use prof::report::DiffSide;
use prof::transform::{MatchOptions, Matching};
use prof::tree::By;
use prof::view::{DiffOptions, DiffSides, align_sides, diff};
use prof::{Filters, Request};

/// A build with so many functions. One in fifty has another name in every build, or is in another package.
fn build(functions: usize, number: usize) -> Profile {
    let mut text = String::new();
    for function in 0..functions {
        let (package, build) = (function / 40, if function % 50 == 7 { number } else { 0 });
        let name = match function % 4 {
            0 => format!("shop/pkg{package}.(*Cart{build}).add{function}"),
            1 => format!("shop/pkg{package}.handle{function}.func{}", 1 + function % 3),
            2 => format!("json{build}::Reader<pkg{package}::Row>::read_{function}"),
            _ => format!("pkg{package}.serve_{function}"),
        };
        let caller = format!("main.route{}", function % 300);
        writeln!(text, "main;{caller};{name} {}", 1 + (function * 31 + number) % 90).unwrap();
    }
    from_notation(&text)
}

fn compare(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("diff");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for functions in [1_000, 10_000, 100_000] {
        let (old, new) = (build(functions, 0), build(functions, 1));
        let options = MatchOptions::default();
        group.bench_function(BenchmarkId::new("match functions", functions), |bench| {
            bench.iter(|| black_box(Matching::find(&[(&old, 0)], &[(&new, 0)], &options).is_ok()));
        });
        group.bench_function(BenchmarkId::new("match identical functions", functions), |bench| {
            bench.iter(|| black_box(Matching::find(&[(&old, 0)], &[(&old, 0)], &options).is_ok()));
        });
        let sides = [(&old, 0), (&new, 0)];
        group.bench_function(BenchmarkId::new("align", functions), |bench| {
            bench.iter(|| black_box(align_sides(&sides, LoadOptions::default()).is_ok()));
        });
        let Ok((whole, size)) = align_sides(&sides, LoadOptions::default()) else { continue };
        group.bench_function(BenchmarkId::new("test", functions), |bench| {
            bench.iter(|| {
                let side = || DiffSide { profiles: 1, ..DiffSide::default() };
                let sides = DiffSides::new(side(), side(), size);
                black_box(diff(&whole, sides, &DiffOptions::new(By::Function)).is_ok())
            });
        });
    }
    group.finish();
}

/// Reading and comparing several runs per side, as in CI.
fn runs(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let writer = writer_named("pprof").unwrap();
    for number in 0..2 * RUNS {
        let side = folder.path().join(["old", "new"][number % 2]);
        fs::create_dir_all(&side).unwrap();
        let mut bytes = Vec::new();
        writer.write_to(&build(7_000, number), 0, true, &mut bytes).unwrap();
        fs::write(side.join(format!("{number}.pb.gz")), bytes).unwrap();
    }
    let [old, new] =
        ["old", "new"].map(|side| Request::new([folder.path().join(side).display().to_string()]));
    let mut group = criterion.benchmark_group("diff");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    group.bench_function(BenchmarkId::new("read", format!("2 × {RUNS} runs")), |bench| {
        bench.iter(|| black_box(sides(&old, Some(&new)).is_ok()));
    });
    let read = sides(&old, Some(&new)).unwrap();
    group.bench_function(BenchmarkId::new("match and align", format!("2 × {RUNS} runs")), |bench| {
        let options = CompareOptions::default();
        bench.iter(|| black_box(prof::compare::compare(read.clone(), &Filters::new(), &options).is_ok()));
    });
    group.finish();
}

/// Runs per side.
const RUNS: usize = 10;

criterion_group!(benches, compare, runs);
criterion_main!(benches);
