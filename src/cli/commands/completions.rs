//! `prof completions`.

use std::io::{self, Write};

use anyhow::Result;
use clap::{Args, ValueEnum};
use clap_complete::env::Shells;

use crate::cli::options::completion::VARIABLE;
use crate::cli::terminal::target::Target;

/// Shell completion, with the names of functions and metrics
///
/// Load the script when the shell starts, so that it always matches the installed version of prof:
///
///   bash        source <(prof completions bash)                # ~/.bashrc
///   zsh         source <(prof completions zsh)                 # ~/.zshrc, after compinit
///   fish        prof completions fish | source                 # ~/.config/fish/config.fish
///   elvish      eval (prof completions elvish | slurp)         # ~/.config/elvish/rc.elv
///   powershell  prof completions powershell | Out-String | iex # $PROFILE
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Examples:
  prof completions bash   the script for bash
  prof completions zsh    the script for zsh")]
pub(crate) struct CompletionsCommand {
    /// Name of the shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The supported shells.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    #[value(alias = "pwsh")]
    Powershell,
}

impl CompletionsCommand {
    pub(crate) fn run(self) -> Result<()> {
        let shell = self.shell.to_possible_value();
        let name = shell.as_ref().map_or("", |shell| shell.get_name());
        Target::Stdout.write(|out| Ok(write_script(name, out)?))
    }
}

/// Writes the script that sets up completion in a shell.
fn write_script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
