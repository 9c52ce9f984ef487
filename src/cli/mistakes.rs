//! What is wrong with a command line, and what to type instead. Clap finds the mistake; the words are ours, because its
//! tips may contradict the table of hints, and its usage lines omit what the command needs.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use crate::cli::commands::Prof;
use crate::cli::other_tools;
use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::words::in_words;
use crate::name::nearest;

/// Describes a mistake that clap found on the command line `words`.
pub(super) fn describe(error: &clap::Error, words: &[OsString]) -> anyhow::Error {
    let mut prof = Prof::command();
    prof.build();
    let typed = Typed::new(&prof, words);
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let option = name_of(argument);
    match error.kind() {
        ErrorKind::UnknownArgument => return typed.unknown(argument, words),
        ErrorKind::InvalidValue if value.is_empty() => {
            return hinted(format!("{} needs a value", plain(argument)), typed.explains(option));
        }
        ErrorKind::InvalidValue => {
            return typed.wrong_choice(option, value, &texts(error, ContextKind::ValidValue));
        }
        ErrorKind::ValueValidation => {
            let why = error.source().map(|inner| reason(&inner.to_string(), value)).unwrap_or_default();
            return hinted(format!("{option} {value}: {why}"), typed.explains(option));
        }
        ErrorKind::MissingRequiredArgument => {
            let missing: Vec<String> =
                texts(error, ContextKind::InvalidArg).iter().map(|name| plain(name)).collect();
            let (is, hint) = match &missing[..] {
                [one] if one.starts_with('-') => ("is missing", typed.explains(name_of(one))),
                [_] => ("is missing", typed.usage()),
                _ => ("are missing", typed.usage()),
            };
            return hinted(format!("{} {is}", missing.join(" and ")), hint);
        }
        ErrorKind::ArgumentConflict => {
            let others = texts(error, ContextKind::PriorArg);
            let others: Vec<&str> =
                others.iter().map(|other| name_of(other)).filter(|other| *other != option).collect();
            let with = match &others[..] {
                [] => "cannot be given more than once".to_string(),
                others => format!("cannot be used with {}", others.join(" and ")),
            };
            return hinted(format!("{option} {with}"), typed.lists());
        }
        ErrorKind::NoEquals => {
            return hinted(
                format!("{option} takes a value only after an equals sign"),
                typed.explains(option),
            );
        }
        ErrorKind::InvalidUtf8 => return typed.not_text(words),
        ErrorKind::TooManyValues => {
            return hinted(format!("{option} takes no value, but was given {value}"), typed.explains(option));
        }
        ErrorKind::InvalidSubcommand => {
            let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            return hinted(
                format!("{word}: no such command or topic"),
                "prof --help lists the commands and topics",
            );
        }
        _ => {}
    }
    let message = error.render().to_string();
    let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    hinted(first, typed.lists())
}

/// The command that was typed.
struct Typed<'c> {
    prof: &'c Command,
    command: Option<&'c Command>,
}

impl<'c> Typed<'c> {
    fn new(prof: &'c Command, words: &[OsString]) -> Self {
        Typed { prof, command: words.get(1).and_then(|word| prof.find_subcommand(word)) }
    }

    /// `prof top`
    fn name(&self) -> String {
        self.command.map_or("prof".to_string(), |command| format!("prof {}", command.get_name()))
    }

    /// The hint that names the list of options: `prof top --help lists the options`.
    fn lists(&self) -> String {
        format!("{} --help lists the options", self.name())
    }

    /// The hint that names the explanation of an option.
    fn explains(&self, option: &str) -> String {
        format!("{} --help explains {option}", self.name())
    }

    /// `usage: prof focus FUNC [PROFILE]...`
    fn usage(&self) -> String {
        let usage = self.command.unwrap_or(self.prof).clone().render_usage().to_string();
        plain(usage.trim()).replace("Usage: ", "usage: ")
    }

    /// The answer to a word of the command line that is not UTF-8, such as the name of a file from another system.
    fn not_text(&self, words: &[OsString]) -> anyhow::Error {
        let word = words.iter().find(|word| word.to_str().is_none()).cloned().unwrap_or_default();
        let hint = format!("if it is a file, rename it or read it as standard input: {} < FILE", self.name());
        hinted(format!("{}: this name is not valid UTF-8", word.to_string_lossy().escape_debug()), hint)
    }

    fn unknown(&self, argument: &str, words: &[OsString]) -> anyhow::Error {
        if let Some(answer) = self.dashed_value(argument, words) {
            return answer;
        }
        if let Some(answer) = other_tools::answer(argument, words) {
            return answer;
        }
        if !argument.starts_with('-') {
            return hinted(format!("unexpected argument {argument}"), self.usage());
        }
        // Objective-C's methods begin with a dash: `-[NSApplication run]`.
        let mut typed = words.iter().map(|word| word.to_string_lossy());
        if let Some(method) = typed.find(|word| word.starts_with("-[")) {
            let message = format!("{method}: a name that begins with a dash looks like an option");
            let example = format!("{} -- '{method}' PROFILE", self.name());
            let hint = format!("put it after two dashes: {example}; or after an option's equals sign");
            return hinted(message, hint);
        }
        let hint = self.meant(argument).or_else(|| self.elsewhere(argument)).unwrap_or_else(|| self.lists());
        hinted(format!("{} has no option {argument}", self.name()), hint)
    }

    /// The answer to `--width -5`, where clap takes the value for an option. The value itself may be wrong, too.
    fn dashed_value(&self, argument: &str, words: &[OsString]) -> Option<anyhow::Error> {
        let texts: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        let takes_value = |word: &str| {
            let is_meant = |option: &clap::Arg| is_called(option, word) && option.get_action().takes_values();
            // `-n2` has its value already.
            (word.starts_with("--") || word.chars().count() == 2)
                && self.command.is_some_and(|command| command.get_arguments().any(is_meant))
        };
        // Clap names only the first letter of `-xyz`.
        let is_here = |pair: &[&str]| pair[1].starts_with(argument) && takes_value(pair[0]);
        let place = texts.windows(2).position(is_here).filter(|_| argument.starts_with('-'))?;
        let (option, value) = (texts[place], texts[place + 1]);
        let joined = format!("{option}={value}");
        let mut corrected: Vec<OsString> = words.to_vec();
        corrected.splice(place..place + 2, [OsString::from(&joined)]);
        match Prof::command().try_get_matches_from(&corrected) {
            Err(error) if error.kind() == ErrorKind::ValueValidation => Some(describe(&error, &corrected)),
            _ => {
                let message = format!("{option} needs a value, and {value} looks like an option");
                Some(hinted(
                    message,
                    format!("if {value} is the value, put it after an equals sign: {joined}"),
                ))
            }
        }
    }

    /// A wrong value of an option that takes one of a few words.
    fn wrong_choice(&self, option: &str, value: &str, choices: &[String]) -> anyhow::Error {
        let other = other_tools::format(value).filter(|_| option == "--format").map(str::to_string);
        let near = similar(value, choices.iter().map(String::as_str));
        let hint = other
            .or_else(|| near.map(|near| format!("did you mean {near}?")))
            .unwrap_or_else(|| self.explains(option));
        hinted(format!("{option} {value}: not one of {}", choices.join(", ")), hint)
    }

    /// An option of this command with a similar name. Hidden aliases are replaced with the name that help mentions.
    fn meant(&self, option: &str) -> Option<String> {
        let word = option.strip_prefix("--")?;
        let arguments =
            || self.command.into_iter().flat_map(Command::get_arguments).filter(|one| !one.is_hide_set());
        let names = |argument: &'c clap::Arg| {
            argument.get_long().into_iter().chain(argument.get_all_aliases().unwrap_or_default())
        };
        let near = similar(word, arguments().flat_map(names))?;
        let long = arguments().find(|argument| names(argument).any(|name| name == near))?.get_long()?;
        Some(format!("did you mean --{long}?"))
    }

    /// The commands that have an option which this one lacks: `--depth is an option of prof tree`.
    fn elsewhere(&self, option: &str) -> Option<String> {
        let has = |command: &&Command| command.get_arguments().any(|argument| is_called(argument, option));
        let commands: Vec<String> = self
            .prof
            .get_subcommands()
            .filter(has)
            .map(|command| format!("prof {}", command.get_name()))
            .collect();
        (!commands.is_empty()).then(|| format!("{option} is an option of {}", in_words(&commands)))
    }
}

/// The word that a mistyped one stands for: one that differs in few letters, or contains it.
pub(super) fn similar<'w>(word: &str, known: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    // `nearest` compares with parts of names, so that `mcp` would be near `completions`.
    let is_whole = |known: &&str| {
        !nearest(known, [word], 1).is_empty() || known.contains(word) && word.len() >= LEAST_PART
    };
    let known: Vec<&str> = known.collect();
    let transposed = known.iter().find(|known| is_transposed(known, word)).copied();
    transposed.or_else(|| nearest(word, known.into_iter().filter(is_whole), 1).first().copied())
}

/// Whether two words differ in two letters that changed places: `srot` and `sort`.
fn is_transposed(known: &str, word: &str) -> bool {
    let (known, word) = (known.as_bytes(), word.as_bytes());
    let Some(first) = known.iter().zip(word).position(|(a, b)| a != b) else { return false };
    let mut swapped = word.to_vec();
    if first + 1 < swapped.len() {
        swapped.swap(first, first + 1);
    }
    swapped == known
}

/// A part of a word with fewer letters may be in it by chance.
const LEAST_PART: usize = 4;

fn is_called(argument: &clap::Arg, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(long) => {
            let aliases = argument.get_all_aliases().unwrap_or_default();
            argument.get_long() == Some(long) || aliases.contains(&long)
        }
        None => {
            option.strip_prefix('-').and_then(|short| short.chars().next()) == argument.get_short()
                && argument.get_short().is_some()
        }
    }
}

/// What is wrong with a value, said after the value itself: `not a whole number`.
fn reason(text: &str, value: &str) -> String {
    let rest = [format!("`{value}` is "), format!("{value} is ")]
        .iter()
        .find_map(|start| text.strip_prefix(start.as_str()));
    if let Some((low, high)) = rest.and_then(|rest| rest.strip_prefix("not in ")?.split_once("..=")) {
        return format!("not between {low} and {high}");
    }
    match rest.unwrap_or(text) {
        "invalid digit found in string" if value.starts_with('-') => "must not be negative".to_string(),
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "not a whole number".to_string()
        }
        "invalid float literal" | "cannot parse float from empty string" => "not a number".to_string(),
        "number too large to fit in target type" => "too large".to_string(),
        "number would be zero for non-zero type" => "must be at least 1".to_string(),
        rest => rest.to_string(),
    }
}

/// The name in `--limit <N>`, `--fold[=<NAME>]` and `<FUNC>`.
fn name_of(argument: &str) -> &str {
    argument.split([' ', '[', '=']).next().unwrap_or_default().trim_matches(['<', '>'])
}

/// `--limit <N>` without angle brackets, as documents write it: `--limit N`.
fn plain(argument: &str) -> String {
    argument.replace(['<', '>'], "")
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::commands::Command;
    use crate::cli::terminal::failure;
    use clap::Parser;

    /// What is printed for a command line that clap refuses.
    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = Prof::try_parse_from(&words).map(|prof: Prof| -> Command { prof.command }).unwrap_err();
        failure::describe(&describe(&error, &words))
    }

    #[test]
    fn mistakes_are_told_in_one_sentence_with_one_hint() {
        for (line, message, hint) in [
            (
                "prof top --nonsense a",
                "prof top has no option --nonsense",
                "prof top --help lists the options",
            ),
            (
                "prof diff --normalise core a b",
                "prof diff has no option --normalise",
                "did you mean --normalize?",
            ),
            ("prof top --srot self a", "prof top has no option --srot", "did you mean --sort?"),
            (
                "prof focus -[NSApplication a",
                "-[NSApplication: a name that begins with a dash looks like an option",
                "put it after two dashes: prof focus -- '-[NSApplication' PROFILE",
            ),
            ("prof top --ignored x a", "prof top has no option --ignored", "did you mean --hide-stacks?"),
            (
                "prof focus --budget x f a",
                "prof focus has no option --budget",
                "--budget is an option of prof report and prof diff",
            ),
            ("prof top --cum a", "--cum is an option of go tool pprof", "prof top --sort total PROFILE"),
            ("prof top --json a", "--json is an option of other profilers", "prof top -f json PROFILE"),
            ("prof top -n -5 a", "--limit -5: must not be negative", "prof top --help explains --limit"),
            ("prof top --width -5 a", "--width -5: must not be negative", "prof top --help explains --width"),
            (
                "prof top --show-stacks -xyz a",
                "--show-stacks needs a value, and -xyz looks like an option",
                "if -xyz is the value, put it after an equals sign: --show-stacks=-xyz",
            ),
            ("prof top -n x a", "--limit x: not a whole number", "prof top --help explains --limit"),
            (
                "prof top --threads 99999999999999999999999 a",
                "--threads 99999999999999999999999: too large",
                "prof top --help explains --threads",
            ),
            (
                "prof top --sort foo a",
                "--sort foo: not one of self, total, children, name, delta, old, new",
                "prof top --help explains --sort",
            ),
            ("prof flame --merge meen o.svg a", "--merge meen: not one of sum, mean", "did you mean mean?"),
            (
                "prof top --format svg a",
                "--format svg: not one of text, json, csv, markdown",
                "prof flame out.svg",
            ),
            ("prof top --metric", "--metric NAME needs a value", "prof top --help explains --metric"),
            ("prof focus", "FUNC is missing", "usage: prof focus [OPTIONS] FUNC [PROFILE]..."),
            (
                "prof diff --explain --no-explain a b",
                "--explain cannot be used with --no-explain",
                "prof diff --help lists the options",
            ),
            (
                "prof diff --runs 0 a b",
                "--runs 0: not between 1 and 1000",
                "prof diff --help explains --runs",
            ),
            (
                "prof top --no-inlines=3 a",
                "--no-inlines takes no value, but was given 3",
                "prof top --help explains --no-inlines",
            ),
            (
                "prof help nonsense",
                "nonsense: no such command or topic",
                "prof --help lists the commands and topics",
            ),
        ] {
            let said = said(line);
            assert!(said.starts_with(&format!("error: {message}\nhint: {hint}")), "{line}\n{said}");
            assert_eq!(said.lines().count(), 2, "{line}\n{said}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_text_is_shown() {
        use std::os::unix::ffi::OsStringExt;
        let words = ["prof", "top"].map(OsString::from).into_iter();
        let words: Vec<OsString> = words.chain([OsString::from_vec(b"n\xff.pb.gz".to_vec())]).collect();
        let error = Prof::try_parse_from(&words).unwrap_err();
        assert_eq!(
            failure::describe(&describe(&error, &words)),
            "error: n\u{fffd}.pb.gz: this name is not valid UTF-8\n\
             hint: if it is a file, rename it or read it as standard input: prof top < FILE"
        );
    }

    #[test]
    fn similar_words_are_as_long() {
        let commands = ["top", "tree", "completions", "collapse-recursion"];
        assert_eq!(similar("toop", commands.into_iter()), Some("top"));
        assert_eq!(similar("teer", ["tree", "top"].into_iter()), None);
        assert_eq!(similar("tere", ["tree", "top"].into_iter()), Some("tree"));
        assert_eq!(similar("recursion", commands.into_iter()), Some("collapse-recursion"));
        for word in ["mcp", "comp", "x"] {
            assert_ne!(similar(word, commands.into_iter()), Some("top"), "{word}");
        }
        assert_eq!(similar("mcp", commands.into_iter()), None);
    }
}
