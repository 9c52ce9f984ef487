//! What the program is asked for.

use std::path::PathBuf;

/// The arguments.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// How long to mutate for each reader; none for a fixed number of cases.
    pub seconds: Option<u64>,
    /// How many cases for each reader, where no time is given.
    pub cases: u64,
    /// The reader to test; none for all.
    pub only: Option<String>,
    /// What the cases are made from.
    pub seed: u64,
    /// Files to read instead.
    pub replay: Vec<PathBuf>,
    /// Folders whose files to read instead: most are no profiles.
    pub scan: Vec<PathBuf>,
}

impl Arguments {
    /// Reads the arguments; `None` where a test runner only asks for the list of tests. Its other
    /// options are accepted and mean nothing here.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let mut arguments = Arguments { cases: 250, seed: 1, ..Arguments::default() };
        let mut words = words.peekable();
        let (mut list, mut ignored) = (false, false);
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
                "--replay" => arguments.replay.extend(words.by_ref().map(PathBuf::from)),
                "--scan" => arguments.scan.extend(words.by_ref().map(PathBuf::from)),
                "--list" => list = true,
                "--ignored" => ignored = true,
                _ => {}
            }
        }
        if list && !ignored {
            println!("readers_withstand_hostile_inputs: test");
        }
        Ok((!list && !ignored).then_some(arguments))
    }
}
