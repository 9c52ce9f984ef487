//! What the shell offers behind the TAB key: commands and options by their definition, and the
//! functions, metrics and labels of the profile that the line names.
//!
//! The scripts of `prof completions` call `prof` with [`VARIABLE`] set, the shell's name in it, and the
//! words of the line behind `--`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::engine::CompletionCandidate;
use clap_complete::env::Shells;

use crate::cli::commands::Prof;
use crate::cli::memory;
use crate::cli::progress::Progress;
use crate::cli::reading::load_one;
use crate::format::{FORMATS, Inflate, WRITERS};
use crate::name::short_name;
use crate::profile::{LoadOptions, Profile};

/// Set to the name of a shell, it asks for what completes a line.
const VARIABLE: &str = "PROF_COMPLETE";

/// A larger file is not read while somebody waits for the TAB key.
const MOST_BYTES: u64 = 32 << 20;

/// Writes the script that makes a shell ask.
pub(crate) fn write_script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let completer = shells.completer(shell);
    let completer = completer.ok_or_else(|| io::Error::other(format!("no such shell: {shell}")))?;
    completer.write_registration(VARIABLE, "prof", "prof", "prof", out)?;
    if shell == "zsh" {
        // As a file in $fpath it is first run for a TAB, which has to be answered too.
        writeln!(out, "if [[ $funcstack[1] = _prof ]]; then _clap_dynamic_completer_prof \"$@\"; fi")?;
    }
    Ok(())
}

/// Answers a shell that asks; false where none does.
pub(crate) fn answer() -> io::Result<bool> {
    let Some(shell) = env::var(VARIABLE).ok().filter(|shell| !shell.is_empty()) else { return Ok(false) };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&shell) else { return Ok(false) };
    let words = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let mut answer = Vec::new();
    // `prof cpu.pb.gz` is `prof top cpu.pb.gz`, so files go in the place of a command too.
    let mut prof = Prof::command().arg(Arg::new("profile").value_hint(ValueHint::AnyPath));
    for name in Prof::command().get_subcommands().map(|command| command.get_name().to_string()) {
        prof = prof.mut_subcommand(name, with_hidden_aliases);
    }
    // A line that cannot be completed is no error to bother with: the shell then offers nothing.
    if shell.write_complete(&mut prof, words, env::current_dir().ok().as_deref(), &mut answer).is_ok() {
        io::stdout().write_all(&answer)?;
    }
    Ok(true)
}

/// Aliases complete options, but they are not offered: `flat` would stand where `top` belongs.
fn with_hidden_aliases(command: Command) -> Command {
    let aliases: Vec<String> = command.get_visible_aliases().map(str::to_string).collect();
    command.visible_alias(None).aliases(aliases)
}

/// The metrics of the profile on the line.
pub(crate) fn metrics(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(profile) = profile_on_line(LoadOptions::default()) else { return Vec::new() };
    let names = profile.meta.metrics.iter().map(|metric| metric.name.clone());
    candidates(current, names)
}

/// The functions of the profile on the line, by their short names and by their full ones.
pub(crate) fn functions(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(profile) = profile_on_line(LoadOptions::default()) else { return Vec::new() };
    let functions = profile.symbols.functions.ids();
    let full: Vec<&str> = functions.map(|function| profile.symbols.function_name(function)).collect();
    let short_names = full.iter().map(|name| short_name(name));
    let mut names: Vec<String> = short_names.chain(full.iter().map(ToString::to_string)).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    candidates(current, names)
}

/// The keys of the labels of the profile on the line.
pub(crate) fn labels(current: &OsStr) -> Vec<CompletionCandidate> {
    let needs = LoadOptions { labels: true, times: false, ..LoadOptions::LEAST };
    let Some(profile) = profile_on_line(needs) else { return Vec::new() };
    let sets = profile.label_sets.ids();
    let labels = sets.flat_map(|set| profile.label_sets.labels(set));
    let mut keys: Vec<String> =
        labels.map(|label| profile.symbols.strings.get(label.key).to_string()).collect();
    keys.sort_unstable();
    keys.dedup();
    candidates(current, keys)
}

/// The formats that can be read.
pub(crate) fn formats(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, FORMATS.iter().map(|format| format.name.to_string()))
}

/// What `--to` takes: a format where one is written, and elsewhere a time that nobody knows.
pub(crate) fn formats_of_convert(current: &OsStr) -> Vec<CompletionCandidate> {
    let command = env::args_os().skip_while(|word| word != "--").nth(2);
    let is_convert = command.is_some_and(|command| command == "convert" || command == "merge");
    if is_convert { written_formats(current) } else { Vec::new() }
}

/// The formats that can be written.
pub(crate) fn written_formats(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(current, WRITERS.iter().map(|writer| writer.name.to_string()))
}

/// The names that begin like what was typed, which comes as it was typed, with its quotes and
/// backslashes. Bash takes the answer as it is, so what means something to it is escaped there, unless
/// a quote does that already; the other shells quote for themselves.
fn candidates(current: &OsStr, names: impl IntoIterator<Item = String>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let typed = current.replace(['\\', '\'', '"'], "");
    let is_bash = env::var_os(VARIABLE).is_some_and(|shell| shell == "bash");
    let is_bare = is_bash && !current.starts_with(['\'', '"']);
    names
        .into_iter()
        .filter(|name| name.starts_with(&typed) && !name.contains(char::is_control))
        .map(|name| CompletionCandidate::new(if is_bare { escape(&name) } else { name }))
        .collect()
}

/// A word with a backslash before each sign that a shell would not take as it is.
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

/// The first word that is a profile, else what `$PROF_PROFILE` names.
fn profile_on_line(needs: LoadOptions) -> Option<Profile> {
    let words = env::args_os().skip_while(|word| word != "--").skip(2);
    let named = env::var_os("PROF_PROFILE").into_iter().flat_map(|paths| {
        env::split_paths(&paths).map(std::path::PathBuf::into_os_string).collect::<Vec<_>>()
    });
    let is_small = |path: &std::ffi::OsString| {
        fs::metadata(Path::new(path)).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES)
    };
    let needs = LoadOptions { budget: memory::budget(None), ..needs };
    words
        .chain(named)
        .filter(is_small)
        .find_map(|path| load_one(path.to_str()?, Inflate::OnThread, needs, None, &Progress::none()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_the_shell_are_escaped() {
        assert_eq!(escape("runtime.mallocgc"), "runtime.mallocgc");
        assert_eq!(escape("gob.(*Decoder).Decode"), r"gob.\(\*Decoder\).Decode");
        assert_eq!(escape("operator new(unsigned long)"), r"operator\ new\(unsigned\ long\)");
    }

    #[test]
    fn every_shell_has_a_script() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let mut script = Vec::new();
            write_script(shell, &mut script).unwrap();
            assert!(String::from_utf8(script).unwrap().contains(VARIABLE), "{shell}");
        }
    }
}
