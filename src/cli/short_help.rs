//! Help of one screen (`prof top -h`), and the shared options by topic (`prof help filters`).

use clap::{Arg, Command, CommandFactory};
use unicode_width::UnicodeWidthStr;

use crate::cli::commands::Prof;

/// The lines that a screen of 24 shows above the next prompt.
const LINES: usize = 23;
/// The columns of the narrowest usual screen.
const COLUMNS: usize = 80;
/// An option that so many commands have is shared, and explained by topic.
const SHARED: usize = 7;

/// A topic, what it is about, and the headings or the long names of its options.
const TOPICS: [(&str, &str, &[&str]); 3] = [
    ("filters", "Filters, always applied in the same order, however you type them", &["Filters"]),
    (
        "input",
        "Which profiles are read, how several are combined, and where names come from",
        &[
            "Symbols",
            "Many profiles",
            "metric",
            "input-format",
            "skip-broken",
            "max-memory",
            "quiet",
            "verbose",
            "base",
            "normalize",
        ],
    ),
    (
        "output",
        "What a row is, and where and how the report is written",
        &[
            "by",
            "format",
            "output",
            "width",
            "color",
            "pager",
            "force",
            "unit",
            "names",
            "limit",
            "min-share",
            "sort",
        ],
    ),
];

/// The text of `prof help TOPIC`.
pub(super) fn topic(name: &str) -> Option<String> {
    let (name, about, members) = TOPICS.iter().find(|(topic, ..)| *topic == name)?;
    let prof = Prof::command();
    let is_member = |argument: &&Arg| {
        let heading = argument.get_help_heading().unwrap_or_default();
        members.contains(&heading) || argument.get_long().is_some_and(|long| members.contains(&long))
    };
    let view = prof.find_subcommand("top")?;
    let options =
        view.get_arguments().filter(is_member).map(|argument| argument.clone().help_heading("Options"));
    let page = Command::new("prof").disable_help_flag(true).max_term_width(100).args(options);
    let text = page.help_template("{all-args}").render_help().to_string();
    let others: Vec<String> = TOPICS
        .iter()
        .filter(|(topic, ..)| topic != name)
        .map(|(topic, ..)| format!("prof help {topic}"))
        .collect();
    Some(format!("{about}\n\n{}\n\nSee also: {}\n", text.trim_end(), others.join(", ")))
}

/// The help of a command on one screen: how it is used, examples, and the options that few others have.
pub(super) fn of_command(command: &Command) -> String {
    let prof = Prof::command();
    let is_shared = |argument: &Arg| {
        let has =
            |command: &&Command| command.get_arguments().any(|other| other.get_long() == argument.get_long());
        prof.get_subcommands().filter(has).count() >= SHARED
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
    lines.extend(examples.lines().map(str::to_string));
    let options: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| is_own(argument) && !argument.is_hide_set() && !is_shared(argument))
        .collect();
    // What follows the options: a blank line, the names of further options, and two lines of topics.
    let room = LINES.saturating_sub(lines.len() + 6);
    if !options.is_empty() {
        lines.extend([String::new(), "Options of this command (--help lists all):".to_string()]);
        let (listed, named) = options.split_at(room.min(options.len()));
        lines.extend(listed.iter().map(|argument| option_line(argument)));
        if !named.is_empty() {
            let names: Vec<String> =
                named.iter().filter_map(|argument| Some(format!("--{}", argument.get_long()?))).collect();
            lines.push(cut(&format!("  also {}", names.join(" "))));
        }
    }
    let topics = TOPICS.map(|(topic, ..)| format!("prof help {topic}")).join(", ");
    lines.extend([String::new(), format!("Shared options: {topics}")]);
    lines.push(format!("Everything:     prof {} --help", command.get_name()));
    lines.iter().map(|line| line.clone() + "\n").collect::<String>()
}

/// `-n, --limit <N>  How many rows at most`, cut to the width of the screen.
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
    cut(&format!("  {:<24}  {first}", format!("{short}--{long}{value}")))
}

/// A line that fits the screen, cut between words.
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
            for line in help.lines().skip(3).filter(|line| line.starts_with("  -") || line.starts_with("   "))
            {
                assert!(line.width() <= COLUMNS, "{line}");
            }
        }
    }

    /// Every option that `-h` leaves out is explained in a topic.
    #[test]
    fn topics_explain_what_is_shared() {
        for (name, ..) in TOPICS {
            assert!(topic(name).unwrap().lines().count() > 8, "{name}");
        }
        assert!(topic("filters").unwrap().contains("--show-stacks <RE>"));
        assert!(topic("output").unwrap().contains("--format <F>"));
        assert!(topic("input").unwrap().contains("--metric <NAME>"));
        assert_eq!(topic("top"), None);
    }
}
