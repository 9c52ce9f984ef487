//! The commands, one file each.

pub(crate) mod comparison;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod fit;
pub(crate) mod flame;
pub(crate) mod focus;
pub(crate) mod graph;
pub(crate) mod hot;
pub(crate) mod info;
pub(crate) mod init;
pub(crate) mod keep;
pub(crate) mod labels;
pub(crate) mod lint;
pub(crate) mod man;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod open;
pub(crate) mod outcome;
pub(crate) mod report;
pub(crate) mod requirement;
pub(crate) mod show;
pub(crate) mod source;
pub(crate) mod sql;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod traces;
pub(crate) mod tree;
pub(crate) mod trend;
pub(crate) mod types;
#[cfg(feature = "ui")]
pub(crate) mod ui;

use std::ffi::OsString;

use anyhow::Result;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::cli::commands::outcome::Outcome;
use crate::cli::options::unused;
use crate::report::Message;

/// Read any profile and see where time or memory goes.
///
/// PROFILE is a path, a folder, the address of a server, or - for standard input. Without one, prof reads the file named in $PROF_PROFILE or, if that is not set, standard input. `prof PROFILE` and `prof < PROFILE` are short for `prof top PROFILE`.
#[derive(Parser, Debug)]
#[command(name = "prof", version, propagate_version = true, max_term_width = 100, infer_long_args = true)]
#[command(override_usage = "prof COMMAND [OPTIONS] [PROFILE]...")]
#[command(
    after_help = "Exit codes: 0 success, 1 a requested check failed, 2 wrong usage or unreadable input, 3 not enough evidence."
)]
pub(crate) struct Prof {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Makes the commands of `prof` from a list, in the order of its help. Each command has the name of its variant, takes
/// its options and its help from its type, and runs with the arguments after `with`, if it needs any.
macro_rules! commands {
    (with $describe:ident; $($(#[$condition:meta])* $name:ident($command:ty) $(with $argument:expr)?,)*) => {
        /// The commands of `prof`.
        #[derive(Subcommand, Debug)]
        pub(crate) enum Command {
            $($(#[$condition])* $name($command),)*
        }

        impl Command {
            /// The command that is named by its own name and whose options are correct. Anything else takes all of
            /// [`Prof`] to explain; building the options of all commands takes most of the time of a short run.
            fn parse_alone(words: &[OsString]) -> Option<Parsed> {
                let name = words.get(1)?.to_str()?;
                $($(#[$condition])* if name == stringify!($name).to_ascii_lowercase() {
                    let command = <$command>::augment_args(clap::Command::new("prof")).infer_long_args(true);
                    let matches = command.try_get_matches_from(&words[1..]).ok()?;
                    let command = Command::$name(<$command>::from_arg_matches(&matches).ok()?);
                    return Some(Parsed { command, notes: unused::notes(&matches) });
                })*
                None
            }

            /// Runs the command, and returns its exit code. Commands that run others say with `$describe` what is wrong with
            /// their options.
            pub(crate) fn run(self, $describe: Describe) -> Result<Outcome> {
                let _ = $describe;
                match self {
                    $($(#[$condition])* Command::$name(command) => command.run($($argument)?).map(Outcome::from),)*
                }
            }
        }
    };
}

impl Command {
    /// The command of a command line.
    pub(crate) fn parse(words: &[OsString]) -> Result<Parsed, clap::Error> {
        if let Some(parsed) = Command::parse_alone(words) {
            return Ok(parsed);
        }
        let matches = Prof::command().try_get_matches_from(words)?;
        let notes = matches.subcommand().map_or_else(Vec::new, |(_, matches)| unused::notes(matches));
        Ok(Parsed { command: Prof::from_arg_matches(&matches)?.command, notes })
    }
}

/// What a command line says.
pub(crate) struct Parsed {
    pub(crate) command: Command,
    /// Notes on options that have no effect.
    pub(crate) notes: Vec<Message>,
}

/// Describes a mistake that clap found on a command line.
pub(crate) type Describe = fn(&clap::Error, &[OsString]) -> anyhow::Error;

commands! {
    with describe;
    Top(top::TopCommand),
    Tree(tree::TreeCommand),
    Focus(focus::FocusCommand),
    Hot(hot::HotCommand),
    Report(report::ReportCommand),
    Graph(graph::GraphCommand),
    Flame(flame::FlameCommand),
    Open(open::OpenCommand),
    #[cfg(feature = "ui")]
    Ui(ui::UiCommand) with describe,
    Source(source::SourceCommand),
    Labels(labels::LabelsCommand),
    Traces(traces::TracesCommand),
    Types(types::TypesCommand),
    Info(info::InfoCommand),
    Lint(lint::LintCommand),
    Diff(diff::DiffCommand),
    Timeline(timeline::TimelineCommand),
    Trend(trend::TrendCommand),
    Convert(convert::ConvertCommand),
    Sql(sql::SqlCommand),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpCommand) with describe,
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand) with Prof::command(),
}

/// Names reserved for future commands. They stand for a file only if it exists.
pub(crate) const RESERVED: &[&str] = &["whatif", "serve", "view"];

/// The names of all commands, aliases included. Listing them builds all commands, so ask for a name first.
pub(crate) fn names() -> Vec<String> {
    let prof = Prof::command();
    let own = |command: &clap::Command| {
        let aliases: Vec<String> = command.get_all_aliases().map(str::to_string).collect();
        std::iter::once(command.get_name().to_string()).chain(aliases).collect::<Vec<String>>()
    };
    prof.get_subcommands().flat_map(own).chain(["help".to_string()]).collect()
}
