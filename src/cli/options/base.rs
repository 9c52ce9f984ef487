//! `--base OLD`: compares what a view shows with an old side.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::options::completion::one_of;
use crate::cli::options::match_args::MatchArgs;
use crate::cli::terminal::failure::hinted;
use crate::stats::Normalization;
use crate::view::{Sort, SortKey, normalization_name};

/// Options for comparing a view with a baseline.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparison")]
#[command(mut_arg("how", |option| option.requires("base")))]
pub(crate) struct BaseArgs {
    /// Compare with this baseline (repeatable; several are summed)
    #[arg(long, value_name = "OLD", aliases = ["diff-base", "diff_base"], value_hint = ValueHint::AnyPath)]
    pub(crate) base: Vec<String>,
    /// Rescale the old side to make it comparable with the new: core (unchanged code costs the same), total (equal totals), per=OLD,NEW (units of work done on each side), or none [default: none]
    // Whether it was given matters: tests of what changed have another default.
    #[arg(
        long, value_name = "HOW", requires = "base", value_parser = normalize,
        add = ArgValueCompleter::new(one_of(&NORMALIZE_WORDS))
    )]
    pub(crate) normalize: Option<Normalization>,
    #[command(flatten)]
    pub(crate) matching: MatchArgs,
}

impl BaseArgs {
    /// Whether there is an old side.
    pub(crate) fn is_given(&self) -> bool {
        !self.base.is_empty()
    }

    /// The options given, as words of a command line.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let mut words: Vec<String> =
            self.base.iter().flat_map(|old| ["--base".to_string(), old.clone()]).collect();
        words.extend(self.how_repeated());
        words
    }

    /// The options that say how sides are compared, as words of a command line: `--match exact --normalize total`.
    pub(crate) fn how_repeated(&self) -> Vec<String> {
        let mut words = self.matching.repeated();
        let normalize = self.normalize.map(|normalize| match normalize {
            Normalization::Per { old, new } => format!("per={old},{new}"),
            other => normalization_name(other).to_string(),
        });
        words.extend(normalize.into_iter().flat_map(|how| ["--normalize".to_string(), how]));
        words
    }

    /// The files of the old side.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.base.iter().map(PathBuf::from).collect()
    }

    /// The order given; otherwise by this key, or by its change if there is an old side. An order that compares two sides
    /// needs one.
    pub(crate) fn order(&self, asked: Option<&Sort>, key: SortKey) -> Result<Sort> {
        if !self.is_given() && asked.is_some_and(Sort::compares_sides) {
            let hint = "name the old side with --base OLD";
            return Err(hinted("--sort: delta, old and new need two sides to compare", hint));
        }
        let usual = if self.is_given() { Sort::by_change_of(key) } else { Sort::by(key) };
        Ok(asked.cloned().unwrap_or(usual))
    }
}

/// What `--normalize` takes; the last one is the start of a value.
pub(crate) const NORMALIZE_WORDS: [&str; 4] = ["core", "total", "none", "per="];

/// Parses the value of `--normalize`.
pub(crate) fn normalize(text: &str) -> Result<Normalization, String> {
    let wrong = || "expected core, total, none, or per=OLD,NEW such as per=1000,1200".to_string();
    match text {
        "core" => Ok(Normalization::Core),
        "total" => Ok(Normalization::Total),
        "none" => Ok(Normalization::Run),
        _ => {
            let (old, new) =
                text.strip_prefix("per=").and_then(|work| work.split_once(',')).ok_or_else(wrong)?;
            let work = |text: &str| {
                text.trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|work| *work > 0.0 && work.is_finite())
                    .ok_or_else(wrong)
            };
            Ok(Normalization::Per { old: work(old)?, new: work(new)? })
        }
    }
}
