//! Options that have no effect on the command line where they are given: all reasons are in one place.
//!
//! They are not refused, because scripts pass the same options to every view.

use std::env;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::cli::options::layout::OutputFormat;
use crate::cli::options::network::DEBUGINFOD;
use crate::cli::terminal::words::in_words;
use crate::report::Message;
use crate::source::is_url;

/// Options that say how numbers and names look. Programs get raw numbers and full names.
const OF_TEXT: [&str; 5] = ["columns", "width", "unit", "names", "chains"];
/// What marks rows, for which CSV has no column.
const OF_MARKS: [&str; 1] = ["highlight"];
/// Options that choose some of several profiles, or say how they are combined.
const OF_MANY: [&str; 3] = ["merge", "weight", "max_profiles"];
/// What is only for servers of profiles.
const OF_SERVERS: [&str; 3] = ["seconds", "header", "no_save"];
/// What is for servers of debug information, too.
const OF_ANY_SERVER: [&str; 5] = ["timeout", "tls_ca", "tls_cert", "tls_key", "tls_insecure"];

/// Notes on the options given that have no effect; none with `--quiet`.
pub(crate) fn notes(matches: &ArgMatches) -> Vec<Message> {
    let given = Given(matches);
    if given.value("quiet") == Some(&true) {
        return Vec::new();
    }
    let (format, name) = match given.value("format") {
        Some(OutputFormat::Json) => (true, "json"),
        Some(OutputFormat::Csv) => (true, "csv"),
        _ => (false, ""),
    };
    let inputs = given.inputs();
    let is_local = !inputs.is_empty() && !inputs.iter().any(|input| is_url(input));
    let is_one_file = matches!(&inputs[..], [input] if Path::new(input).is_file());
    let samples = given.has("max_profiles") || given.has("merge");
    let unused = [
        (format, &OF_TEXT[..], format!("with --format {name}")),
        (name == "csv", &OF_MARKS, "with --format csv".to_string()),
        (is_one_file, &OF_MANY, "on a single profile".to_string()),
        (!samples, &["seed"], "without --max-profiles or --merge mean".to_string()),
    ];
    let unused = unused.into_iter().filter(|(is_unused, ..)| *is_unused);
    let notes = unused.filter_map(|(_, options, why)| given.note(options, &why));
    notes.chain(is_local.then(|| given.note_of_servers()).flatten()).collect()
}

/// What is on the command line.
struct Given<'m>(&'m ArgMatches);

impl<'m> Given<'m> {
    /// Whether an option was typed. Commands lack some options.
    fn has(&self, option: &str) -> bool {
        let is_known = self.0.try_contains_id(option).unwrap_or(false);
        is_known && self.0.value_source(option) == Some(ValueSource::CommandLine)
    }

    /// The value of an option, typed or not.
    fn value<T: Clone + Send + Sync + 'static>(&self, option: &str) -> Option<&'m T> {
        self.0.try_get_one(option).ok().flatten()
    }

    /// The inputs that were typed, on any side.
    fn inputs(&self) -> Vec<&'m String> {
        let of = |id: &&str| self.0.try_get_many::<String>(id).ok().flatten();
        ["profiles", "base", "old", "new"].iter().filter_map(of).flatten().collect()
    }

    /// `--seconds has no effect on files: it is for addresses of servers`
    fn note_of_servers(&self) -> Option<Message> {
        let asks_for_names =
            self.has("debuginfod") || env::var_os(DEBUGINFOD).is_some_and(|urls| !urls.is_empty());
        let others: &[&str] = if asks_for_names { &[] } else { &OF_ANY_SERVER };
        let options = [&OF_SERVERS, others].concat();
        let they_are = if self.typed(&options).len() == 1 { "it is" } else { "they are" };
        self.note(&options, &format!("on files: {they_are} for addresses of servers"))
    }

    /// Those of the options that were typed.
    fn typed(&self, options: &[&str]) -> Vec<String> {
        let typed = options.iter().filter(|option| self.has(option));
        typed.map(|option| format!("--{}", option.replace('_', "-"))).collect()
    }

    /// `--columns and --width have no effect with --format json`, of these options that were typed.
    fn note(&self, options: &[&str], why: &str) -> Option<Message> {
        let names = self.typed(options);
        let have = if names.len() == 1 { "has" } else { "have" };
        let note = format!("{} {have} no effect {why}", in_words(&names));
        (!names.is_empty()).then(|| Message::note(note))
    }
}
