//! The options of the statistical test.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::args::{fraction, percent};
use crate::cli::options::base::{NORMALIZE_WORDS, normalize};
use crate::cli::options::completion::{functions, one_of};
use crate::stats::{Noise, Normalization, TestOptions};

/// Options of the statistical test.
#[derive(Args, Debug)]
#[command(next_help_heading = "Test")]
pub(crate) struct TestArgs {
    /// File with limits on the cost of functions. Without an old side, only these are checked
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) budget: Option<PathBuf>,
    /// Exit with code 3 if there is too little data; --detect sets how much is enough
    #[arg(long)]
    pub(crate) strict: bool,
    /// Cost ratio that should be detectable (for a function with a 10% share)
    #[arg(long, value_name = "R", default_value = "1.2", value_parser = ratio)]
    pub(crate) detect: f64,
    /// Test only matching functions; this needs fewer samples
    #[arg(long, value_name = "RE", add = ArgValueCompleter::new(functions))]
    pub(crate) function: Vec<String>,
    /// Accepted probability of a false alarm, in all tested functions together: 0.01 or 1%
    #[arg(long, value_name = "A", default_value = "0.01", value_parser = fraction)]
    pub(crate) alpha: f64,
    /// Smallest cost increase that counts, in percent
    #[arg(long, value_name = "P", default_value = "5", value_parser = percent)]
    pub(crate) min_effect: f64,
    /// Smallest increase that counts, in percentage points (of the old total)
    #[arg(long, value_name = "PT", default_value = "1", value_parser = percent)]
    pub(crate) min_points: f64,
    /// Test only functions with at least this share, in percent
    #[arg(long, value_name = "P", default_value = "0.5", value_parser = percent)]
    pub(crate) min_tested: f64,
    /// Run-to-run noise: auto (measured, which takes several runs per side), steady (little), a percentage, or a file written by --learn-noise
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = noise, value_hint = ValueHint::FilePath)]
    pub(crate) noise: NoiseSource,
    /// Learn the run-to-run noise of each function from runs of one build, and write it to the file of -o
    ///
    /// A single new run can then be judged with `--noise FILE`. Give 10 or more runs, recorded like the runs to judge.
    #[arg(long, conflicts_with_all = ["old", "new", "noise", "budget", "init"])]
    pub(crate) learn_noise: bool,
    /// Rescale the old side to make it comparable with the new: core (unchanged code costs the same), total (equal totals), per=OLD,NEW (units of work done on each side), or none [default: core for time and samples, none for memory and counts of objects or calls]
    #[arg(
        long, value_name = "HOW", value_parser = normalize,
        add = ArgValueCompleter::new(one_of(&NORMALIZE_WORDS))
    )]
    pub(crate) normalize: Option<Normalization>,
}

impl TestArgs {
    /// The `usual` test with what was asked for.
    pub(crate) fn options(&self, usual: TestOptions) -> TestOptions {
        TestOptions {
            alpha: self.alpha,
            min_effect: self.min_effect / 100.0,
            min_points: self.min_points / 100.0,
            min_tested: self.min_tested / 100.0,
            noise: match self.noise {
                NoiseSource::Assumed(noise) => noise,
                NoiseSource::Learned(_) => usual.noise,
            },
            normalize: self.normalize.unwrap_or(usual.normalize),
            ..usual
        }
    }
}

/// Where the noise is known from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoiseSource {
    /// Nothing but what the profiles and the user say.
    Assumed(Noise),
    /// A file written by `--learn-noise`.
    Learned(PathBuf),
}

fn noise(text: &str) -> Result<NoiseSource, String> {
    match text {
        "auto" => Ok(NoiseSource::Assumed(Noise::Auto)),
        "steady" => Ok(NoiseSource::Assumed(Noise::Steady)),
        _ if PathBuf::from(text).is_file() => Ok(NoiseSource::Learned(text.into())),
        _ if text.ends_with('%') => {
            percent(text).map(|percent| NoiseSource::Assumed(Noise::Fixed(percent / 100.0)))
        }
        _ => Err(
            "expected auto, steady, a percentage such as 3%, or an existing file written by --learn-noise"
                .to_string(),
        ),
    }
}

/// Parses a ratio above one: `1.2`, `x1.2`, `×1.2`.
fn ratio(text: &str) -> Result<f64, String> {
    match text.trim_start_matches(['x', '×']).parse::<f64>() {
        Ok(ratio) if ratio > 1.0 && ratio.is_finite() => Ok(ratio),
        _ => Err("expected a ratio above 1, such as 1.2".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_as_documented() {
        assert_eq!(fraction("1%"), Ok(0.01));
        assert_eq!(fraction("0.05"), Ok(0.05));
        assert!(fraction("1").is_err() && fraction("x").is_err());
        assert_eq!(noise("3%"), Ok(NoiseSource::Assumed(Noise::Fixed(0.03))));
        assert!(noise("3").is_err());
        assert_eq!(ratio("×1.5"), Ok(1.5));
        assert!(ratio("1").is_err());
        assert_eq!(normalize("per=10,12"), Ok(Normalization::Per { old: 10.0, new: 12.0 }));
        assert!(normalize("per=10").is_err() && normalize("per=0,1").is_err());
    }
}
