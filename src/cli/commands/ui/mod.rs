//! `prof ui`: the command, its terminal, and the threads that make reports. `src/ui` says what is on the screen.
//!
//! | file | contents |
//! |---|---|
//! | `engine.rs` | from a question to its answer, by the commands of the views |
//! | `given.rs` | the options of a command line, as they were given |
//! | `recorder.rs` | asking servers for another recording |
//! | `session.rs` | the state, the answer on the screen, and the answers before it |
//! | `terminal.rs` | entering and leaving the screen, colours, the clipboard, suspending |

mod engine;
mod given;
mod recorder;
mod session;
mod terminal;

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::cli::commands::Describe;
use crate::cli::commands::ui::engine::Engine;
use crate::cli::commands::ui::given::given;
use crate::cli::commands::ui::recorder::Recorder;
use crate::cli::commands::ui::session::Session;
use crate::cli::input::paths::names;
use crate::cli::options::args::{NodeArgs, StackArgs};
use crate::cli::options::embed::SourcePathArgs;
use crate::cli::options::highlight::HighlightArgs;
use crate::cli::options::layout::UnitArgs;
use crate::cli::options::screen;
use crate::cli::terminal::failure::hinted;
use crate::output;
use crate::ui::{Choice, Question, View, parse};

/// Explore a profile in the terminal, with keys and the mouse
///
/// The last line of the screen is the command that prints the same numbers. ? lists the keys.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  prof ui cpu.pb.gz                     where does the time go, and who calls what
  prof ui --base old.pb.gz new.pb.gz    what became slower
  prof ui --watch 5 cpu.pb.gz           show the file again whenever it is written")]
pub(crate) struct UiArgs {
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    node: NodeArgs,
    #[command(flatten)]
    unit: UnitArgs,
    #[command(flatten)]
    highlight: HighlightArgs,
    #[command(flatten)]
    paths: SourcePathArgs,
    /// Start with this view: top, tree, flame, hot, timeline, labels or report
    #[arg(long, value_name = "VIEW", default_value = "top", value_parser = view, help_heading = None)]
    view: View,
    /// Read or record it again every N seconds
    ///
    /// A file is read again if it has changed; an address records again.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400), help_heading = None)]
    watch: Option<u64>,
    /// Press keys, print the screen, and quit
    ///
    /// For example `jj<enter>`. Needs no terminal. <wait> lets the time of --watch pass.
    #[arg(long, value_name = "KEYS", help_heading = None)]
    keys: Option<String>,
    /// Size of the screen that --keys prints
    #[arg(long, value_name = "WxH", default_value = "80x24", value_parser = screen_size, requires = "keys", help_heading = None)]
    screen: (u16, u16),
    /// Print the report on that screen as JSON instead
    #[arg(long, requires = "keys", help_heading = None)]
    report: bool,
}

/// `prof ui`, with its options as they were given.
#[derive(Debug)]
pub(crate) struct UiCommand {
    args: UiArgs,
    given: Vec<Choice>,
}

impl FromArgMatches for UiCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = given(&UiArgs::augment_args(Command::new("ui")), matches);
        Ok(UiCommand { args: UiArgs::from_arg_matches(matches)?, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = UiCommand::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for UiCommand {
    fn augment_args(command: Command) -> Command {
        UiArgs::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        UiArgs::augment_args_for_update(command)
    }
}

/// The options of this command that are not part of a question: they do not change what is shown.
const OWN: [&str; 7] = ["--view", "--watch", "--keys", "--screen", "--report", "--quiet", "--verbose"];

impl UiCommand {
    /// Shows the profile until the user quits. `describe` says what is wrong with options that are typed.
    pub(crate) fn run(self, describe: Describe) -> Result<()> {
        let UiCommand { args, given } = self;
        let keys = args.keys.as_deref().map(parse).transpose().map_err(|error| {
            hinted(format!("--keys: {error}"), "name keys as in jj<enter><esc>; <lt> is the character <")
        })?;
        if keys.is_none() {
            check_terminal()?;
        }
        let choices = given.into_iter().filter(|choice| !OWN.contains(&&*choice.name)).collect();
        let inputs = names(&args.stacks.input.profiles)?;
        let recorder = Recorder::of(&inputs, &args.stacks.input);
        let inputs = recorder.as_ref().map(Recorder::record_first).transpose()?.unwrap_or(inputs);
        let engine = Engine::new(terminal::theme(keys.is_none()), &inputs, describe)?;
        let question = Question { view: args.view, choices, subject: None, inputs };
        let size = if keys.is_some() { args.screen } else { terminal::size()? };
        let watch = args.watch.map(Duration::from_secs);
        let is_loud = !args.stacks.input.quiet;
        let mut session = Session::start(engine, question, recorder, size, watch, is_loud)?;
        let Some(keys) = keys else { return terminal::run(&mut session) };
        for key in keys {
            session.press_and_wait(key);
        }
        if args.report {
            return Ok(output::json(session.report(), &mut io::stdout().lock())?);
        }
        writeln!(io::stdout(), "{}", session.text())?;
        Ok(())
    }
}

/// Fails without a terminal to draw on.
fn check_terminal() -> Result<()> {
    let message = match (io::stdout().is_terminal(), screen::is_dumb()) {
        (true, false) => return Ok(()),
        (false, _) => "prof ui needs a terminal, but standard output is not one",
        (true, true) => "prof ui needs a terminal that can place text, but TERM is dumb",
    };
    Err(hinted(message, "prof top, prof tree and prof report print the same numbers as text"))
}

/// Parses the value of `--view`.
fn view(text: &str) -> Result<View, String> {
    View::named(text)
        .filter(|view| !view.has_subject())
        .ok_or_else(|| "expected top, tree, flame, hot, timeline, labels or report".to_string())
}

/// Parses the value of `--screen`.
fn screen_size(text: &str) -> Result<(u16, u16), String> {
    let parts =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    parts
        .filter(|(width, height)| (1..=1000).contains(width) && (1..=1000).contains(height))
        .ok_or_else(|| "expected a width and a height, such as 80x24".to_string())
}
