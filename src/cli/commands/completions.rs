//! `prof completions`.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cli::completion::write_script;
use crate::cli::target::Target;

/// A script that lets a shell complete commands, options, and the functions and metrics of a profile
///
/// Load it where the shell starts, so that it always fits the prof that is installed:
///
///   bash        source <(prof completions bash)                # ~/.bashrc
///   zsh         source <(prof completions zsh)                 # ~/.zshrc, after compinit
///   fish        prof completions fish | source                 # ~/.config/fish/config.fish
///   elvish      eval (prof completions elvish | slurp)         # ~/.config/elvish/rc.elv
///   powershell  prof completions powershell | Out-String | iex # $PROFILE
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Examples:
  prof completions bash   what bash is to load
  prof completions zsh    the same for zsh")]
pub(crate) struct CompletionsCommand {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// The shells that complete.
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
        let shell = match self.shell {
            Shell::Bash => "bash",
            Shell::Zsh => "zsh",
            Shell::Fish => "fish",
            Shell::Elvish => "elvish",
            Shell::Powershell => "powershell",
        };
        Target::Stdout.write(|out| Ok(write_script(shell, out)?))
    }
}
