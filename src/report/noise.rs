//! How much the cost of functions varies between runs of one build.

use serde::Deserialize;

use crate::report::Name;

/// The version of the file.
pub const NOISE_VERSION: u32 = 1;

/// What earlier runs say about the noise of a program, and the file that holds it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseHistory {
    /// The version of the file.
    pub version: u32,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What rows stand for, such as `function`.
    pub by: String,
    /// What costs are relative to: `none` for amounts per run, otherwise the rest of the program.
    pub normalize: String,
    /// The number of runs.
    pub runs: usize,
    /// The samples of a run.
    pub samples_per_run: f64,
    /// How many times larger than that of independent samples the variance is.
    pub dispersion: f64,
    /// The degrees of freedom of the estimates.
    pub freedom: f64,
    /// The variation of functions that are not listed, in percent.
    pub unlisted: f64,
    /// The functions, the heaviest first.
    #[serde(default, rename = "function")]
    pub functions: Vec<FunctionNoise>,
}

/// How much the cost of a function varies between runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionNoise {
    /// The unique name.
    pub name: Name,
    /// In how many runs it has samples.
    pub runs: usize,
    /// Its own code, if it has enough samples to tell.
    #[serde(rename = "self")]
    pub own: Option<CountNoise>,
    /// All of it, callees included.
    pub total: Option<CountNoise>,
}

/// How much a cost varies between runs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountNoise {
    /// The share of all samples, in percent.
    pub share: f64,
    /// The standard deviation from run to run, in percent, without the chance of sampling.
    pub variation: f64,
}
