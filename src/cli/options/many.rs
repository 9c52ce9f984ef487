//! Options for combining several profiles into one.

use clap::{Args, ValueEnum};

use crate::load::{Combine, Merge, Sampling};

/// Options for combining several profiles into one.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Many profiles")]
pub(crate) struct ManyArgs {
    /// How to combine several profiles: add them up (sum) or average them (mean)
    #[arg(long, value_name = "HOW", default_value = "sum", hide_possible_values = true)]
    merge: Merge,
    #[command(flatten)]
    sampling: SamplingArgs,
    /// Use only the profiles with the highest total: all, top50, top25, top10, top5 or top1 (percent of the profiles)
    #[arg(long, value_name = "WHICH", default_value = "all", hide_possible_values = true)]
    weight: Weight,
}

/// Options for using only some of the profiles.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Many profiles")]
pub(crate) struct SamplingArgs {
    /// Use at most N profiles, chosen at random; 0 for all [default: 250 with --merge mean]
    #[arg(long, value_name = "N")]
    max_profiles: Option<usize>,
    /// Seed for choosing profiles at random; the same seed chooses the same profiles
    #[arg(long, value_name = "N", default_value_t = SEED)]
    seed: u64,
}

/// The usual seed.
const SEED: u64 = 42;

/// Values of `--weight`.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Weight {
    All = 100,
    Top50 = 50,
    Top25 = 25,
    Top10 = 10,
    Top5 = 5,
    Top1 = 1,
}

impl SamplingArgs {
    /// What was asked for.
    pub(crate) fn sampling(&self) -> Sampling {
        Sampling { most: self.max_profiles, seed: self.seed }
    }
}

impl ManyArgs {
    /// The options given, as words of a command line.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |option: &str, value: String| words.extend([option.to_string(), value]);
        if self.merge == Merge::Mean {
            add("--merge", "mean".to_string());
        }
        if let Some(most) = self.sampling.max_profiles {
            add("--max-profiles", most.to_string());
        }
        if self.sampling.seed != SEED {
            add("--seed", self.sampling.seed.to_string());
        }
        if !matches!(self.weight, Weight::All) {
            add("--weight", format!("top{}", self.weight as usize));
        }
        words
    }

    /// What was asked for.
    pub(crate) fn combine(&self) -> Combine {
        Combine { merge: self.merge, sampling: self.sampling.sampling(), heaviest: self.weight as usize }
    }
}
