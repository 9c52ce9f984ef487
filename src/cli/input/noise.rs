//! The file that `diff --learn-noise` writes and `diff --noise` reads.
//!
//! ```toml
//! version = 1
//! metric = "cpu"
//! unit = "nanoseconds"
//! by = "function"
//! normalize = "core"
//! runs = 20
//! samples_per_run = 4650.0
//! dispersion = 1.03
//! freedom = 24.0
//! unlisted = 4.1
//!
//! [[function]]
//! name = "main.fnv"
//! runs = 20
//! self = { share = 13.71, variation = 2.05 }
//! total = { share = 13.71, variation = 2.05 }
//! ```

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cli::terminal::failure::hinted;
use crate::report::{NOISE_VERSION, NoiseHistory};

/// Fewer runs than this say nothing about noise.
pub(crate) const FEWEST_RUNS: usize = 3;

/// The only part of the file that later versions have for sure.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The hint for a file that cannot be used.
const LEARN: &str = "prof diff --learn-noise RUNS... -o noise.toml writes such a file";

/// Reads what earlier runs say about noise.
pub(crate) fn read(path: &Path) -> Result<NoiseHistory> {
    let place = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| place.clone())?;
    let wrong = |error: &dyn std::fmt::Display| hinted(format!("--noise {place}: {error}"), LEARN);
    let Version { version } = toml::from_str(&text).map_err(|error| wrong(&error))?;
    if version != NOISE_VERSION {
        return Err(wrong(&format!(
            "version {version} of this file is not known, only version {NOISE_VERSION}"
        )));
    }
    let history = toml::from_str(&text).map_err(|error| wrong(&error))?;
    check(&history).map_err(|error| wrong(&error))?;
    Ok(history)
}

/// Checks that all numbers are possible.
fn check(file: &NoiseHistory) -> Result<(), String> {
    if file.runs < FEWEST_RUNS {
        return Err(format!("runs = {}: at least {FEWEST_RUNS} runs are needed", file.runs));
    }
    within("samples_per_run", file.samples_per_run, 0.0, 1e15)?;
    within("dispersion", file.dispersion, 1.0, 1e6)?;
    within("freedom", file.freedom, 1.0, 1e6)?;
    within("unlisted", file.unlisted, 0.0, 1000.0)?;
    let mut seen = HashSet::new();
    for function in &file.functions {
        let name = &function.name;
        if !seen.insert(name) {
            return Err(format!("{name}: listed twice"));
        }
        if function.runs > file.runs {
            return Err(format!(
                "{name}: runs = {}, but the file is about {} runs",
                function.runs, file.runs
            ));
        }
        for count in [&function.own, &function.total].into_iter().flatten() {
            within(&format!("{name}: share"), count.share, 0.0, 100.0 + 1e-6)?;
            within(&format!("{name}: variation"), count.variation, 0.0, 1000.0)?;
        }
    }
    Ok(())
}

fn within(what: &str, value: f64, low: f64, high: f64) -> Result<(), String> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(format!("{what} = {value}: expected a number from {low} to {high:.0}"))
}
