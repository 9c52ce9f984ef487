//! `prof completions`.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cli::completion::write_script;
use crate::cli::target::Target;

/// Shell completion, including function and metric names from a profile
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
