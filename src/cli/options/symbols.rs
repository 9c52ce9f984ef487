//! `--binary`, `--symbolize`, `--debuginfod` and `--sourcemaps`: looking up names for addresses and original names for scripts.

use std::env;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use crate::cli::terminal::session;
use crate::load::{SourceMaps, Symbols};
use crate::source::is_url;

/// Options for looking up names that the profile lacks.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Symbols")]
pub(crate) struct SymbolArgs {
    /// Binary to look up names in, or a folder of binaries (repeatable)
    #[arg(long, value_name = "PATH")]
    binary: Vec<PathBuf>,
    /// Look up names where the profile has only addresses: auto (if the binary is found) or never
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    symbolize: Symbolize,
    /// Server to ask for debug information, besides those in $DEBUGINFOD_URLS (repeatable)
    #[arg(long, value_name = "URL", value_parser = server)]
    debuginfod: Vec<String>,
    /// Source map of a script, or a folder of source maps or scripts (repeatable)
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    sourcemaps: Vec<PathBuf>,
    /// Use only the source maps that --sourcemaps names
    #[arg(long)]
    no_sourcemaps: bool,
}

/// The option that shows only the names of the profile itself.
pub(crate) const NEVER: [&str; 2] = ["--symbolize", "never"];

/// Values of `--symbolize`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Symbolize {
    /// If names are missing and binaries are found.
    Auto,
    Never,
}

/// The address of a server.
fn server(text: &str) -> Result<String, &'static str> {
    if is_url(text) {
        Ok(text.to_string())
    } else {
        Err("expected an address such as https://debuginfod.debian.net")
    }
}

impl SymbolArgs {
    /// The servers of debug information that were named.
    pub(crate) fn debuginfod(&self) -> &[String] {
        &self.debuginfod
    }

    /// The binaries given, and folders of them.
    pub(crate) fn binaries(&self) -> &[PathBuf] {
        &self.binary
    }

    /// The options given, as words of a command line.
    pub(crate) fn repeated(&self) -> Vec<String> {
        let paths = [("--binary", &self.binary), ("--sourcemaps", &self.sourcemaps)];
        let words = paths.into_iter().flat_map(|(option, paths)| {
            paths.iter().flat_map(move |path| [option.to_string(), path.display().to_string()])
        });
        // What a server shows without looking up names, a shell has to show without them, too.
        let is_never = self.symbolize == Symbolize::Never || session::leaves_out_names();
        let never = is_never.then_some(NEVER);
        let none = self.no_sourcemaps.then_some("--no-sourcemaps");
        words.chain(never.into_iter().flatten().chain(none).map(str::to_string)).collect()
    }

    /// What was asked for, and the folders of `$PROF_BINARY_PATH`.
    pub(crate) fn symbols(&self) -> Symbols {
        if session::is_inside() {
            // A server reads nothing but profiles.
            let source_maps = SourceMaps { given: Vec::new(), automatic: false };
            return Symbols { wanted: false, source_maps, ..Symbols::default() };
        }
        let path = env::var_os("PROF_BINARY_PATH").unwrap_or_default();
        let folders = env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        Symbols {
            wanted: self.symbolize == Symbolize::Auto,
            binaries: self.binary.clone(),
            folders: folders.collect(),
            debuginfod: None,
            source_maps: SourceMaps { given: self.sourcemaps.clone(), automatic: !self.no_sourcemaps },
        }
    }
}
