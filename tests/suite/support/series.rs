//! Series of profiles, made for tests.

use std::fs;
use std::path::Path;

use prof::format::writer_named;
use prof::profile::from_notation;
use prof::stats::random::Random;

/// An hour in nanoseconds.
pub const HOUR: i64 = 3_600_000_000_000;

/// 2026-10-01 02:00 UTC, in nanoseconds since 1970.
pub const START: i64 = 1_790_820_000_000_000_000;

/// Writes a pprof profile with one metric, which was recorded at this time.
pub fn write(path: &Path, (metric, unit): (&str, &str), notation: &str, time_ns: Option<i64>) {
    let mut profile = from_notation(notation);
    profile.meta.metrics[0].name = metric.to_string();
    profile.meta.metrics[0].unit = unit.to_string();
    profile.meta.time_ns = time_ns;
    let mut bytes = Vec::new();
    writer_named("pprof").unwrap().write_to(&profile, 0, false, &mut bytes).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A number from 0 to 99, the same for the same seed.
pub fn noise(seed: usize) -> usize {
    (Random::new(seed as u64).number() % 100) as usize
}

/// Functions whose costs do not change but for noise.
pub fn steady(number: usize) -> String {
    let cost = |f: usize| 900 + 100 * f + noise(100 * number + f);
    (0..12).map(|f| format!("main;f{f} {}\n", cost(f))).collect::<Vec<_>>().concat()
}

/// A profile of CPU time per night, in which `main.parse` becomes half as expensive again after night 18.
pub fn write_nightly(folder: &Path, nights: usize) {
    for night in 0..nights {
        let parse = if night < 18 { 1000 } else { 1500 } + noise(7 * night);
        let text = format!("{}main;main.parse {parse}", steady(night));
        let path = folder.join(format!("night-{}.pb.gz", night + 1));
        write(&path, ("cpu", "milliseconds"), &text, Some(START + night as i64 * 24 * HOUR));
    }
}

/// Numbers with a normal distribution.
pub struct Normal(pub Random);

impl Normal {
    pub fn next(&mut self) -> f64 {
        let mut uniform = || (self.0.number() >> 11) as f64 / (1_u64 << 53) as f64;
        // Twelve uniform numbers have a variance of 1.
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }

    pub fn series(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Values that keep a part of the one before.
    pub fn with_memory(&mut self, count: usize, kept: f64) -> Vec<f64> {
        let mut value = 0.0;
        let scale = (1.0 - kept * kept).sqrt();
        (0..count)
            .map(|_| {
                value = kept * value + scale * self.next();
                value
            })
            .collect()
    }
}
