//! Shell completion of commands and options, and of the functions, metrics and labels in the profile on the
//! command line.
//!
//! The scripts of `prof completions` call `prof` with the name of the shell in [`VARIABLE`] and the words of the
//! command line after `--`.

use std::env;
use std::ffi::{OsStr, OsString};
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

/// If this variable is set to the name of a shell, `prof` prints completions.
const VARIABLE: &str = "PROF_COMPLETE";

/// The whole command line, from shells that pass only the words before the cursor otherwise.
const LINE: &str = "PROF_COMPLETE_WORDS";

/// Larger files are not read, because completion has to be quick.
const MOST_BYTES: u64 = 32 << 20;

/// Writes the script that sets up completion in a shell.
pub(crate) fn write_script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let completer = shells.completer(shell);
    let completer = completer.ok_or_else(|| io::Error::other(format!("no such shell: {shell}")))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "prof", "prof", "prof", &mut script)?;
    out.write_all(adapted(&String::from_utf8_lossy(&script)).as_bytes())?;
    if shell == "zsh" {
        // A file in $fpath is loaded by the first completion, which it has to answer too.
        writeln!(out, "if [[ $funcstack[1] = _prof ]]; then _clap_dynamic_completer_prof \"$@\"; fi")?;
    }
    Ok(())
}

/// Changes a script of `clap_complete` to pass the words after the cursor too, because in
/// `prof focus FUNC cpu.pb.gz` the profile comes after the function. In zsh, it also allows matches in the middle
/// of a name.
fn adapted(script: &str) -> String {
    script
        // fish
        .replace(
            "(PROF_COMPLETE=fish prof",
            "(PROF_COMPLETE=fish PROF_COMPLETE_WORDS=(commandline --current-process --tokenize | string collect) prof",
        )
        // elvish
        .replace("(env _CLAP_IFS", "(env PROF_COMPLETE_WORDS=$edit:current-command _CLAP_IFS")
        // PowerShell
        .replace(
            "    $env:PROF_COMPLETE = \"powershell\";\n",
            "    $env:PROF_COMPLETE = \"powershell\";\n    $env:PROF_COMPLETE_WORDS = $commandAst.Extent.Text;\n",
        )
        // zsh
        .replace("_describe -V 'values' other\n", "_describe -V 'values' other -M 'l:|=*'\n")
}

/// Prints completions if a shell asks for them. Returns whether one did.
pub(crate) fn answer() -> io::Result<bool> {
    let Some(shell) = env::var(VARIABLE).ok().filter(|shell| !shell.is_empty()) else { return Ok(false) };
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&shell) else { return Ok(false) };
    let words = env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let mut answer = Vec::new();
    // `prof cpu.pb.gz` is `prof top cpu.pb.gz`, so files are offered along with commands.
    let mut prof = Prof::command().arg(Arg::new("profile").value_hint(ValueHint::AnyPath));
    for name in Prof::command().get_subcommands().map(|command| command.get_name().to_string()) {
        prof = prof.mut_subcommand(name, with_hidden_aliases);
    }
    // A line that cannot be completed is not an error: the shell then offers nothing.
    if shell.write_complete(&mut prof, words, env::current_dir().ok().as_deref(), &mut answer).is_ok() {
        io::stdout().write_all(&answer)?;
    }
    Ok(true)
}

/// Hides the aliases of a command: they can be completed when typed, but `flat` is not offered next to `top`.
fn with_hidden_aliases(command: Command) -> Command {
    let aliases: Vec<String> = command.get_visible_aliases().map(str::to_string).collect();
    command.visible_alias(None).aliases(aliases)
}

/// Completes metrics of the profile on the command line.
pub(crate) fn metrics(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(profile) = profile_on_line(LoadOptions::default()) else { return Vec::new() };
    let names = profile.meta.metrics.iter().map(|metric| metric.name.clone());
    candidates(current, names)
}

/// Completes functions of the profile on the command line whose names contain what was typed: `mal` becomes
/// `runtime.mallocgc`. Offers the short name, or the full name if only that one matches.
pub(crate) fn functions(current: &OsStr) -> Vec<CompletionCandidate> {
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
fn profile_on_line(needs: LoadOptions) -> Option<Profile> {
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
    let needs = LoadOptions { budget: memory::budget(None), ..needs };
    words
        .chain(further)
        .chain(named)
        .filter(is_small)
        .find_map(|path| load_one(path.to_str()?, Inflate::OnThread, needs, None, &Progress::none()).ok())
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

    #[test]
    fn scripts_pass_the_words_after_the_cursor() {
        for (shell, words) in [
            ("fish", "PROF_COMPLETE_WORDS=(commandline --current-process --tokenize"),
            ("elvish", "PROF_COMPLETE_WORDS=$edit:current-command"),
            ("powershell", "$env:PROF_COMPLETE_WORDS = $commandAst"),
            // These two pass all words of the line, and the position of the cursor.
            ("bash", "words=(\"${COMP_WORDS[@]}\")"),
            ("zsh", "prof -- \"${words[@]}\""),
            ("zsh", "other -M 'l:|=*'"),
        ] {
            let mut script = Vec::new();
            write_script(shell, &mut script).unwrap();
            assert!(String::from_utf8(script).unwrap().contains(words), "{shell}: {words}");
        }
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
