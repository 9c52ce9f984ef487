//! The command line of the test program.

use std::path::PathBuf;

/// The arguments.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// How long to mutate for each reader, in seconds of CPU time; without it, the number of cases is fixed.
    pub seconds: Option<u64>,
    /// How many cases per reader, if no time is given.
    pub cases: u64,
    /// The reader to test; `None` for all.
    pub only: Option<String>,
    /// The seed of the random number generator.
    pub seed: u64,
    /// Start from the files of the corpus instead of our own.
    pub real: bool,
    /// Files to read instead of mutating.
    pub replay: Vec<PathBuf>,
    /// Folders whose files to read instead: most are not profiles.
    pub scan: Vec<PathBuf>,
}

/// Cases per reader.
pub const CASES: u64 = 250;

impl Arguments {
    /// Reads the arguments; `None` if they are those of a test runner.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let mut arguments = Arguments { cases: CASES, seed: 1, ..Arguments::default() };
        let mut words = words.peekable();
        let mut is_own = false;
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64, String> {
                let text = words.next().unwrap_or_default();
                text.parse().map_err(|_| format!("{word} takes a number, not {text}"))
            };
            match word.as_str() {
                "--seconds" => arguments.seconds = Some(number()?),
                "--cases" => arguments.cases = number()?,
                "--seed" => arguments.seed = number()?,
                "--only" => arguments.only = words.next(),
                "--real" => arguments.real = true,
                "--replay" => arguments.replay.extend(words.by_ref().map(PathBuf::from)),
                "--scan" => arguments.scan.extend(words.by_ref().map(PathBuf::from)),
                _ => continue,
            }
            is_own = true;
        }
        Ok(is_own.then_some(arguments))
    }
}
