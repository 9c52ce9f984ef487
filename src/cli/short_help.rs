//! Help on one screen (`prof top -h`), and shared options by topic (`prof help filters`).

use std::borrow::Cow;

use clap::{Arg, Command, CommandFactory};
use serde::Deserialize;
use unicode_width::UnicodeWidthStr;

use crate::cli::commands::Prof;
use crate::cli::terminal::words::one_of;
use crate::filter::FilterKind;
use crate::output::wrap;

/// The number of lines that a screen of 24 lines shows above the next prompt.
const LINES: usize = 23;
/// The width of the narrowest usual screen.
const COLUMNS: usize = 80;
/// An option that at least this many commands have is shared: topics explain it.
const SHARED: usize = 7;
/// A command refers to a topic if it has at least this many of its options.
const LEAST_SHARED: usize = 3;

/// The topics of `prof help`.
#[derive(Deserialize)]
struct Topics {
    topic: Vec<Topic>,
}

#[derive(Deserialize)]
struct Topic {
    name: String,
    /// What stands above its options.
    about: String,
    /// The headings or the long names of its options.
    options: Vec<String>,
}

fn all_topics() -> Vec<Topic> {
    toml::from_str(include_str!("topics.toml")).map_or_else(|_| Vec::new(), |topics: Topics| topics.topic)
}

impl Topic {
    /// Whether it explains an option.
    fn explains(&self, argument: &Arg) -> bool {
        let is = |name: &str| self.options.iter().any(|option| option == name);
        argument.get_help_heading().is_some_and(is) || argument.get_long().is_some_and(is)
    }

    /// How many options of a command it explains.
    fn count(&self, command: &Command) -> usize {
        command.get_arguments().filter(|argument| self.explains(argument)).count()
    }
}

/// The text of `prof help TOPIC...`; `None` if one of the names is no topic.
pub(super) fn topics<'n>(names: impl Iterator<Item = Cow<'n, str>>) -> Option<String> {
    let texts: Vec<String> = names.map(|name| topic(&name)).collect::<Option<_>>()?;
    Some(texts.join("\n"))
}

/// The text of one topic.
fn topic(name: &str) -> Option<String> {
    let (topics, others): (Vec<Topic>, Vec<Topic>) =
        all_topics().into_iter().partition(|topic| topic.name == name);
    let topic = topics.first()?;
    let prof = Prof::command();
    let view = prof.find_subcommand("top")?;
    let options = view.get_arguments().filter(|argument| topic.explains(argument));
    let options = options.map(|argument| argument.clone().help_heading("Options"));
    let page = Command::new("prof").disable_help_flag(true).max_term_width(100).args(options);
    let text = page.help_template("{all-args}").render_help().to_string();
    let others: Vec<String> = others.iter().map(|topic| format!("prof help {}", topic.name)).collect();
    let about = topic.about.replace(ORDER, &order_of_filters());
    Some(format!("{about}\n\n{}\n\nSee also: {}\n", text.trim_end(), others.join(", ")))
}

/// Stands for the order of filters in the text of a topic.
const ORDER: &str = "ORDER";

/// The options of filters in the order in which they are applied, broken into lines.
fn order_of_filters() -> String {
    let options: Vec<&str> = FilterKind::ALL.iter().map(|kind| kind.option()).collect();
    wrap(&options.join(", "), TOPIC_COLUMNS).join("\n")
}

/// The width of the text of a topic.
const TOPIC_COLUMNS: usize = 118;

/// The topics of most of a command's shared options. `prof man` has only --output and --force, which mean something
/// else there.
fn topics_of(command: &Command) -> Vec<Topic> {
    let mut topics = all_topics();
    topics.retain(|topic| topic.count(command) >= LEAST_SHARED);
    topics
}

/// The help of a command on one screen: usage, examples, and the options specific to this command.
pub(super) fn of_command(command: &Command) -> String {
    let prof = Prof::command();
    let topics = topics_of(command);
    let is_explained = |argument: &Arg| topics.iter().any(|topic| topic.explains(argument));
    let is_shared = |argument: &Arg| {
        let has =
            |command: &&Command| command.get_arguments().any(|other| other.get_long() == argument.get_long());
        is_explained(argument) && prof.get_subcommands().filter(has).count() >= SHARED
    };
    let is_own =
        |argument: &Arg| argument.get_long().is_some_and(|long| !["help", "version"].contains(&long));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string().replace("Usage: ", "");
    let mut lines = vec![
        about,
        String::new(),
        format!("Usage: prof {}", usage.trim_start_matches("prof ")),
        String::new(),
    ];
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    lines.extend(examples.lines().flat_map(example_lines));
    let options: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| is_own(argument) && !argument.is_hide_set() && !is_shared(argument))
        .collect();
    // After the options come a line with the names of further options, a blank line, and two lines of topics.
    let left = LINES.saturating_sub(lines.len() + 6);
    if !options.is_empty() {
        lines.extend([String::new(), "Options of this command (--help lists all):".to_string()]);
        let (listed, named) = options.split_at(left.min(options.len()));
        lines.extend(listed.iter().map(|argument| option_line(argument)));
        if !named.is_empty() {
            let names: Vec<String> =
                named.iter().filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
            lines.push(cut(&format!("  More: {}", names.join(" "))));
        }
    }
    lines.push(String::new());
    if !topics.is_empty() {
        let names: Vec<&str> = topics.iter().map(|topic| &*topic.name).collect();
        lines.push(match names[..] {
            [only] => format!("Shared options: prof help {only}"),
            _ => format!("Shared options: prof help TOPIC ({})", one_of(&names)),
        });
    }
    lines.push(format!("All options:    prof {} --help", command.get_name()));
    lines.iter().map(|line| line.clone() + "\n").collect::<String>()
}

/// An example; if it is wider than the screen, its remark goes below the command.
fn example_lines(line: &str) -> Vec<String> {
    match line.trim_start().split_once("  ") {
        Some((command, remark)) if line.width() > COLUMNS => {
            vec![format!("  {command}"), format!("      {}", remark.trim_start())]
        }
        _ => vec![line.to_string()],
    }
}

/// Commands that people rarely need share a line of `prof -h`, which has to fit a screen.
const RARE: &[&str] = &["traces", "types", "sql", "mcp", "completions", "man"];

/// The help of `prof -h` on one screen: the commands, one line each.
pub(super) fn of_program(prof: &Command) -> String {
    let about = prof.get_about().map(ToString::to_string).unwrap_or_default();
    let mut lines = vec![about, "Usage: prof COMMAND [OPTIONS] [PROFILE]...".to_string(), String::new()];
    let is_listed = |name: &str| name != "help" && !RARE.contains(&name);
    let commands = prof.get_subcommands().filter(|command| is_listed(command.get_name()));
    lines.extend(commands.map(|command| {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        cut(&format!("  {:<11}  {about}", command.get_name()))
    }));
    lines.push(format!("  and {}", RARE.join(", ")));
    let more = "Options and examples: prof COMMAND -h. Aliases and exit codes: prof --help";
    lines.extend([String::new(), more.to_string()]);
    lines.iter().map(|line| line.clone() + "\n").collect::<String>()
}

/// `-n, --limit <N>  Show at most N rows`, truncated to the width of the screen.
fn option_line(argument: &Arg) -> String {
    let short = argument.get_short().map_or("    ".to_string(), |short| format!("-{short}, "));
    let long = argument.get_long().unwrap_or_default();
    let takes_value = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let value = if takes_value {
        names.first().map(|name| format!(" <{name}>")).unwrap_or_default()
    } else {
        String::new()
    };
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let first = help.lines().next().unwrap_or_default();
    let names = format!("  {:<24}  ", format!("{short}--{long}{value}"));
    let room = COLUMNS.saturating_sub(names.width());
    cut(&format!("{names}{}", first_clauses(first, room)))
}

/// As many clauses of a sentence as fit the width; the whole sentence if not even the first one fits.
/// "Longest sequence, in functions; 0 for any length" becomes "Longest sequence, in functions".
fn first_clauses(sentence: &str, width: usize) -> &str {
    if sentence.width() <= width {
        return sentence;
    }
    let ends = ["; ", ": ", " (", " [", ". "].into_iter().flat_map(|mark| sentence.match_indices(mark));
    // `[default: total; with --base: delta]` is one clause.
    let is_whole = |clause: &&str| {
        [("(", ")"), ("[", "]")]
            .iter()
            .all(|(open, close)| clause.matches(open).count() == clause.matches(close).count())
    };
    let clauses =
        ends.map(|(end, _)| &sentence[..end]).filter(|clause| clause.width() <= width).filter(is_whole);
    clauses.max_by_key(|clause| clause.len()).unwrap_or(sentence)
}

/// Truncates a line to the width of the screen, between words.
fn cut(line: &str) -> String {
    if line.width() <= COLUMNS {
        return line.to_string();
    }
    let end = line
        .char_indices()
        .take(COLUMNS - 2)
        .filter(|(_, c)| *c == ' ')
        .last()
        .map_or(COLUMNS - 2, |(end, _)| end);
    format!("{} …", line[..end].trim_end_matches([',', ';', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_help_fits_a_screen() {
        let mut prof = Prof::command();
        prof.build();
        for command in prof.get_subcommands().filter(|command| command.get_name() != "help") {
            let help = of_command(command);
            let name = command.get_name();
            assert!(help.lines().count() <= LINES, "prof {name} -h: {} lines\n{help}", help.lines().count());
            let usage = |line: &&str| line.starts_with("Usage:");
            let examples = help.find("Examples:").unwrap();
            assert!(help.lines().any(|line| usage(&line)), "{help}");
            assert!(help.find("Options of").is_none_or(|options| examples < options), "{help}");
            assert!(help.contains(&format!("prof {name} --help")), "{help}");
            for line in help.lines() {
                assert!(line.width() <= COLUMNS, "{line}");
                let is_option = line.starts_with("  -") || line.starts_with("      --");
                assert!(!(is_option && line.ends_with('…')), "prof {name} -h: {line}");
            }
        }
        let help = of_program(&prof);
        assert!(help.lines().count() <= LINES, "{help}");
        for command in prof.get_subcommands() {
            let name = command.get_name();
            let is_listed = help.contains(&format!("\n  {name} "));
            assert!(is_listed || name == "help" || RARE.contains(&name), "{help}");
        }
        assert!(help.lines().all(|line| line.width() <= COLUMNS && !line.ends_with('…')), "{help}");
    }

    #[test]
    fn clauses_are_whole() {
        let color_by = "What the colours show [default: total; with --base: delta]";
        assert_eq!(first_clauses(color_by, 52), "What the colours show");
        assert_eq!(first_clauses("Longest sequence; 0 for any length", 20), "Longest sequence");
    }

    #[test]
    fn a_command_refers_to_the_topics_of_its_options() {
        let mut prof = Prof::command();
        prof.build();
        let topics = |name: &str| {
            let topics = topics_of(prof.find_subcommand(name).unwrap());
            topics.iter().map(|topic| topic.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(topics("top"), ["filters", "input", "servers", "output"]);
        assert_eq!(topics("info"), ["input", "servers", "output"]);
        assert_eq!(topics("types"), ["output"]);
        assert_eq!(topics("man"), [""; 0]);
        assert_eq!(topics("completions"), [""; 0]);
    }

    /// Every option that `-h` omits is explained in a topic.
    #[test]
    fn topics_explain_what_is_shared() {
        for Topic { name, .. } in all_topics() {
            assert!(topic(&name).unwrap().lines().count() > 8, "{name}");
        }
        assert!(topic("filters").unwrap().contains("--show-stacks <RE>"));
        assert!(topic("output").unwrap().contains("--format <F>"));
        assert!(topic("output").unwrap().contains("--highlight <RE>"));
        assert!(topic("input").unwrap().contains("--metric <NAME>"));
        assert!(topic("input").unwrap().contains("--match <HOW>"));
        assert_eq!(topic("top"), None);
    }
}
