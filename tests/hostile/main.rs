//! Hostile inputs: every reader is tested with mutations of valid inputs.
//!
//! As part of `cargo test`, the number of cases is limited, and they are the same every time. For longer runs:
//!
//! ```text
//! cargo test --profile fuzz --test hostile -- --seconds 600
//! cargo test --profile fuzz --test hostile -- --seconds 600 --only pprof --seed 7
//! cargo test --test hostile -- --replay FILE...
//! cargo test --profile fuzz --test hostile -- --scan FOLDER...
//! ```
//!
//! It is a separate program because it counts what the process allocates. What it finds is made small and kept in the
//! folder `hostile` of the target directory; such files belong in `tests/hostile/findings/FORMAT/`, which every run
//! replays.

#![allow(unreachable_pub, reason = "a test program exports nothing")]

mod arguments;
mod check;
mod clock;
mod dictionary;
mod filters;
mod json;
mod lines;
mod mutate;
#[allow(dead_code, reason = "tests/suite needs more")]
#[path = "../suite/support/needs.rs"]
mod needs;
mod protobuf;
mod random;
mod scan;
mod seeds;
mod shrink;
#[path = "../suite/support/trial.rs"]
mod trial;
mod trials;
mod truncate;
mod views;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use prof::format::Format;

use crate::arguments::Arguments;
use crate::check::{Outcome, check};
use crate::random::Random;
use crate::seeds::{Seed, files, formats, real_seeds, seeds};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The stack size of threads that load files in parallel.
const STACK: usize = 2 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return trials::run(),
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    check::keep_panics();
    let runner = std::thread::Builder::new().stack_size(STACK).spawn(move || run(&arguments));
    match runner.map(std::thread::JoinHandle::join) {
        Ok(Ok(0)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Runs all cases, prints a line for each reader, and returns the number of findings.
fn run(arguments: &Arguments) -> usize {
    watch::start();
    if !arguments.replay.is_empty() {
        return arguments.replay.iter().filter(|path| !replay(None, path)).count();
    }
    if !arguments.scan.is_empty() {
        return scan::scan(&arguments.scan);
    }
    println!(
        "{:<14}{:>6}{:>10}{:>10}{:>10}{:>9}  findings",
        "reader", "seeds", "cut", "mutated", "read", "seconds"
    );
    let mut total = Tally::default();
    for format in formats(arguments.only.as_deref()) {
        let start = Instant::now();
        let tally = fuzz(format, arguments);
        if tally.seeds == 0 {
            continue;
        }
        println!(
            "{:<14}{:>6}{:>10}{:>10}{:>10}{:>9.1}  {}",
            format.name,
            tally.seeds,
            tally.cut,
            tally.mutated,
            tally.read,
            start.elapsed().as_secs_f64(),
            tally.findings
        );
        total.add(&tally);
    }
    if !arguments.real && arguments.only.as_deref().is_none_or(|only| only == FILTERS) {
        total.add(&fuzz_filters(arguments));
    }
    println!(
        "hostile: {} inputs executed ({} cut, {} mutated), {} read, {} findings",
        total.cut + total.mutated,
        total.cut,
        total.mutated,
        total.read,
        total.findings
    );
    total.findings
}

/// The number of cases and their outcomes.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    seeds: usize,
    cut: usize,
    mutated: usize,
    read: usize,
    findings: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.seeds += other.seeds;
        self.cut += other.cut;
        self.mutated += other.mutated;
        self.read += other.read;
        self.findings += other.findings;
    }
}

fn fuzz(format: &'static Format, arguments: &Arguments) -> Tally {
    let mut tally = Tally::default();
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/findings").join(format.name);
    tally.findings += files(&found).iter().filter(|path| !replay(Some(format), path)).count();
    let long = arguments.seconds.is_some();
    let (longest, most) = if long { (400 << 10, 12) } else { (12 << 10, 2) };
    let mut seeds = if arguments.real { Vec::new() } else { seeds(format, longest) };
    if arguments.real || long {
        seeds.extend(real_seeds(format, longest, most));
    }
    tally.seeds = seeds.len();
    if arguments.real && seeds.is_empty() {
        return tally;
    }
    assert!(!seeds.is_empty(), "{}: no seeds", format.name);
    let mut known = Vec::new();
    for seed in &seeds {
        // A thousand parts of a file of 400 KB would take minutes to read.
        let cuts = if long { ((16 << 20) / seed.bytes.len().max(1)).clamp(40, 1000) } else { 40 };
        truncate::every(format, seed, cuts, &mut |bytes, wrong| {
            tally.cut += 1;
            tally.findings += wrong.map_or(0, |wrong| report(format, bytes, &wrong, &mut known));
        });
    }
    // Large inputs take longer, so they are left to the long runs.
    let size = seeds.iter().map(|seed| seed.bytes.len()).sum::<usize>() / seeds.len();
    let cases = (arguments.cases * 8192 / (size as u64 + 1)).clamp(arguments.cases.min(40), arguments.cases);
    let end = arguments.seconds.map(|seconds| clock::spent() + Duration::from_secs(seconds));
    let mut number = 0;
    loop {
        match end {
            Some(end) if clock::spent() >= end => break,
            None if number >= cases => break,
            _ => {}
        }
        let bytes = case(format, &seeds, arguments.seed, number);
        let view = (number % 3 == 0).then_some(number as usize / 3 % views::VIEWS.len());
        let named = (number % 8 != 0).then_some(format);
        watch::case(format.name, &bytes);
        tally.mutated += 1;
        match check(named, &bytes, view) {
            Ok(Outcome::Read(_)) => tally.read += 1,
            Ok(Outcome::Rejected(_)) => {}
            Err(wrong) => tally.findings += report(format, &bytes, &wrong, &mut known),
        }
        number += 1;
    }
    tally
}

/// The name of the filters where readers have theirs.
const FILTERS: &str = "filters";

/// Mutates lists of filters with stacks; the findings among them are replayed first.
fn fuzz_filters(arguments: &Arguments) -> Tally {
    let read = |folder: &str| -> Vec<Vec<u8>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let paths = files(&root.join("tests/hostile").join(folder).join(FILTERS));
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    };
    let seeds = read("seeds");
    assert!(!seeds.is_empty(), "{FILTERS}: no seeds");
    let mut tally = Tally { seeds: seeds.len(), ..Tally::default() };
    let wrong = |bytes: &[u8], view: usize| {
        watch::case(FILTERS, bytes);
        let Err(wrong) = filters::check(bytes, view) else { return 0 };
        println!("{FILTERS}: {wrong}\n  {}", keep(FILTERS, view, bytes).display());
        1
    };
    for bytes in read("findings").iter().chain(&seeds) {
        tally.findings += (0..views::VIEWS.len()).map(|view| wrong(bytes, view)).sum::<usize>();
    }
    let end = arguments.seconds.map(|seconds| clock::spent() + Duration::from_secs(seconds));
    let mut random = Random(arguments.seed);
    while end.map_or(tally.mutated < 4 * arguments.cases as usize, |end| clock::spent() < end) {
        let (start, other) = (random.pick(&seeds), random.pick(&seeds));
        let bytes = mutate::mutate(mutate::Shape::Lines, start, other, filters::WORDS, &mut random);
        tally.findings += wrong(&bytes, tally.mutated % views::VIEWS.len());
        tally.mutated += 1;
        tally.read += 1;
    }
    println!("{FILTERS:<14}{:>6}{:>10}{:>10}  {}", tally.seeds, 0, tally.mutated, tally.findings);
    tally
}

/// Input number `number` for a reader.
fn case(format: &Format, seeds: &[Seed], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random(seed ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let (start, other) = (random.pick(seeds), random.pick(seeds));
    let shape = dictionary::shape(format.name);
    mutate::mutate(shape, &start.bytes, &other.bytes, dictionary::words(format.name), &mut random)
}

/// Prints a finding, minimizes it and saves it, unless the same one was found before.
fn report(format: &'static Format, bytes: &[u8], wrong: &str, known: &mut Vec<String>) -> usize {
    let kind = shrink::kind(wrong);
    if known.contains(&kind) {
        return 0;
    }
    let small = shrink::shrink(format, bytes, &kind);
    let path = keep(format.name, known.len(), &small);
    println!("{}: {wrong}\n  {} bytes: {}", format.name, small.len(), path.display());
    known.push(kind);
    1
}

fn keep(format: &str, number: usize, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    let path = folder.join(format!("{format}-{number}"));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, bytes));
    if let Err(error) = written {
        println!("{}: {error}", path.display());
    }
    path
}

/// Reads a former finding in every view. Returns true if there are no violations.
fn replay(format: Option<&'static Format>, path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let wrong = shrink::every_way(format, &bytes);
    if let Some(wrong) = &wrong {
        println!("{}: {wrong}", path.display());
    }
    wrong.is_none()
}
