//! Shell completion of what options take: the functions, metrics and labels in the profile on the command line.
//!
//! The scripts of `prof completions` call `prof` with the name of the shell in [`VARIABLE`] and the words of the
//! command line after `--`.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::Path;

use clap_complete::engine::CompletionCandidate;

use crate::cli::options::memory;
use crate::format::{self, FORMATS, Inflate, Source, WRITERS};
use crate::kind::KINDS;
use crate::name::short_name;
use crate::pattern::{added_sets, sets};
use crate::profile::{LoadOptions, Profile};
use crate::tree::By;
use crate::view::SORT_KEYS;

/// If this variable is set to the name of a shell, `prof` prints completions.
pub(crate) const VARIABLE: &str = "PROF_COMPLETE";

/// The whole command line, from shells that pass only the words before the cursor otherwise.
const LINE: &str = "PROF_COMPLETE_WORDS";

/// Larger files are not read, because completion has to be quick.
const MOST_BYTES: u64 = 32 << 20;

/// Completes one of a few words, such as those of `--normalize`.
pub(crate) fn one_of(words: &'static [&'static str]) -> impl Fn(&OsStr) -> Vec<CompletionCandidate> {
    move |current| candidates(current, words.iter().map(ToString::to_string))
}

/// Completes the last of several keys: `total,-se` becomes `total,-self`.
pub(crate) fn sort_keys(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let start = text.rfind([',', '-']).map_or("", |last| &text[..=last]);
    candidates(current, SORT_KEYS.map(|key| format!("{start}{key}")))
}

/// Completes what rows stand for, with the label keys of the profile on the command line.
pub(crate) fn kinds_of_rows(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_label = current.to_string_lossy().starts_with("label");
    let keys = if is_label { label_keys() } else { Vec::new() };
    let keys = keys.into_iter().map(|key| format!("label:{key}"));
    candidates(current, By::WORDS.iter().map(ToString::to_string).chain(keys))
}

/// Completes the names of profile types.
pub(crate) fn types(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, KINDS.iter().map(|kind| kind.name.to_string()))
}

/// Completes languages of which there are profile types.
pub(crate) fn languages(current: &OsStr) -> Vec<CompletionCandidate> {
    let languages: BTreeSet<&str> = KINDS.iter().flat_map(|kind| kind.languages).copied().collect();
    candidates(current, languages.into_iter().map(str::to_string))
}

/// Completes metrics of the profile on the command line.
pub(crate) fn metrics(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(profile) = profile_on_line(LoadOptions::default()) else { return Vec::new() };
    let names = profile.meta.metrics.iter().map(|metric| metric.name.clone());
    candidates(current, names)
}

/// Completes functions of the profile on the command line whose names contain what was typed: `mal` becomes
/// `runtime.mallocgc`. Offers the short name, or the full name if only that one matches. After `@`, it completes the named sets.
pub(crate) fn functions(current: &OsStr) -> Vec<CompletionCandidate> {
    if Typed::new(current).text.starts_with('@') {
        return candidates(current, sets().chain(added_sets()).map(str::to_string));
    }
    let Some(profile) = profile_on_line(LoadOptions::default()) else { return Vec::new() };
    let typed = Typed::new(current);
    let mut names: Vec<String> = Vec::new();
    for function in profile.symbols.functions.ids() {
        let full = profile.symbols.function_name(function);
        let short = short_name(full);
        if !short.is_empty() && short.contains(&typed.text) {
            names.push(short);
        } else if !full.is_empty() && full.contains(&typed.text) {
            names.push(full.to_string());
        }
    }
    names.retain(|name| !name.contains(char::is_control));
    // Names that start with what was typed come first.
    names.sort_unstable_by(|a, b| (!a.starts_with(&typed.text), a).cmp(&(!b.starts_with(&typed.text), b)));
    names.dedup();
    // Bash replaces what was typed with the common prefix of all names, so `mal` would become `r`. Offering
    // what was typed prevents that; as a pattern, it matches anywhere too.
    if typed.is_bash && names.len() > 1 && !names.iter().all(|name| name.starts_with(&typed.text)) {
        names.insert(0, typed.text.clone());
        names.dedup();
    }
    names.into_iter().map(|name| typed.candidate(name)).collect()
}

/// Completes label keys of the profile on the command line.
pub(crate) fn labels(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, label_keys())
}

fn label_keys() -> Vec<String> {
    let needs = LoadOptions { labels: true, times: false, ..LoadOptions::LEAST };
    let Some(profile) = profile_on_line(needs) else { return Vec::new() };
    let sets = profile.label_sets.ids();
    let labels = sets.flat_map(|set| profile.label_sets.labels(set));
    let mut keys: Vec<String> =
        labels.map(|label| profile.symbols.strings.get(label.key).to_string()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Completes formats that can be read.
pub(crate) fn formats(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, FORMATS.iter().map(|format| format.name.to_string()))
}

/// Completes `--to`: a format for `convert`. Elsewhere it takes a time, which cannot be completed.
pub(crate) fn formats_of_convert(current: &OsStr) -> Vec<CompletionCandidate> {
    let command = env::args_os().skip_while(|word| word != "--").nth(2);
    let is_convert = command.is_some_and(|command| command == "convert" || command == "merge");
    if is_convert { written_formats(current) } else { Vec::new() }
}

/// Completes formats that can be written.
pub(crate) fn written_formats(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, WRITERS.iter().map(|writer| writer.name.to_string()))
}

/// The names that start with what was typed.
fn candidates(current: &OsStr, names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let typed = Typed::new(current);
    names
        .into_iter()
        .filter(|name| name.starts_with(&typed.text) && !name.contains(char::is_control))
        .map(|name| typed.candidate(name))
        .collect()
}

/// The word to complete. Shells pass it as typed, with quotes and backslashes.
struct Typed {
    /// The word without quotes and backslashes.
    text: String,
    is_bash: bool,
    /// Whether special characters have to be escaped: Bash inserts completions as they are. Inside quotes it is
    /// not needed, and other shells quote by themselves.
    is_bare: bool,
}

impl Typed {
    fn new(current: &OsStr) -> Self {
        let current = current.to_string_lossy();
        let is_bash = env::var_os(VARIABLE).is_some_and(|shell| shell == "bash");
        let is_bare = is_bash && !current.starts_with(['\'', '"']);
        Typed { text: current.replace(['\\', '\'', '"'], ""), is_bash, is_bare }
    }

    fn candidate(&self, name: String) -> CompletionCandidate {
        CompletionCandidate::new(if self.is_bare { escape(&name) } else { name })
    }
}

/// Puts a backslash before each character that is special to a shell.
fn escape(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for c in name.chars() {
        if !(c.is_alphanumeric() || "_-./:@%+,=".contains(c)) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The first word on the command line that is a profile, or else the profile in `$PROF_PROFILE`.
fn profile_on_line(mut needs: LoadOptions) -> Option<Profile> {
    let words = env::args_os().skip_while(|word| word != "--").skip(2);
    let line = env::var(LINE).unwrap_or_default();
    let further: Vec<OsString> =
        line.split_whitespace().map(|word| word.trim_matches(['\'', '"']).into()).collect();
    let named = env::var_os("PROF_PROFILE").into_iter().flat_map(|paths| {
        env::split_paths(&paths).map(std::path::PathBuf::into_os_string).collect::<Vec<_>>()
    });
    let is_small = |path: &OsString| {
        fs::metadata(Path::new(path)).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES)
    };
    needs.budget = memory::budget(None);
    words.chain(further).chain(named).filter(is_small).find_map(|path| read(path.to_str()?, &needs))
}

fn read(path: &str, needs: &LoadOptions) -> Option<Profile> {
    let file = File::open(path).ok()?;
    let mut source = Source::open_with(Box::new(file), Inflate::OnThread, needs.budget.clone()).ok()?;
    source.set_name(path);
    format::load(&mut source, needs.clone(), None).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escape("runtime.mallocgc"), "runtime.mallocgc");
        assert_eq!(escape("gob.(*Decoder).Decode"), r"gob.\(\*Decoder\).Decode");
        assert_eq!(escape("operator new(unsigned long)"), r"operator\ new\(unsigned\ long\)");
    }
}
