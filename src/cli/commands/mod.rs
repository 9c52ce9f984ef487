//! The commands, one file each.

pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod fit;
pub(crate) mod flame;
pub(crate) mod focus;
pub(crate) mod graph;
pub(crate) mod hot;
pub(crate) mod info;
pub(crate) mod labels;
pub(crate) mod man;
pub(crate) mod outcome;
pub(crate) mod requirement;
pub(crate) mod show;
pub(crate) mod source;
pub(crate) mod top;
pub(crate) mod traces;
pub(crate) mod tree;
pub(crate) mod types;

use clap::{CommandFactory, Parser, Subcommand};

/// Read any profile and see where time or memory goes.
///
/// PROFILE is a path, a folder, or - for standard input. Without one, prof reads the file named in $PROF_PROFILE or, if that is not set, standard input. `prof PROFILE` and `prof < PROFILE` are short for `prof top PROFILE`.
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

/// The commands of `prof`.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Top(top::TopCommand),
    Tree(tree::TreeCommand),
    Focus(focus::FocusCommand),
    Hot(hot::HotCommand),
    Graph(graph::GraphCommand),
    Flame(flame::FlameCommand),
    Source(source::SourceCommand),
    Labels(labels::LabelsCommand),
    Traces(traces::TracesCommand),
    Types(types::TypesCommand),
    Info(info::InfoCommand),
    Diff(diff::DiffCommand),
    Convert(convert::ConvertCommand),
    Completions(completions::CompletionsCommand),
    Man(man::ManCommand),
}

/// Names reserved for future commands. They stand for a file only if it exists.
pub(crate) const RESERVED: &[&str] = &["trend", "lint", "whatif", "serve", "view"];

/// The names of all commands, aliases included.
pub(crate) fn names() -> Vec<String> {
    let prof = Prof::command();
    let own = |command: &clap::Command| {
        let aliases: Vec<String> = command.get_all_aliases().map(str::to_string).collect();
        std::iter::once(command.get_name().to_string()).chain(aliases).collect::<Vec<String>>()
    };
    prof.get_subcommands().flat_map(own).chain(["help".to_string()]).collect()
}
