//! From a question to its answer, by the code of the commands.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Result;
use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Args, Command, FromArgMatches};
use tempfile::{NamedTempFile, TempPath};

use crate::cli::commands::Describe;
use crate::cli::commands::flame::FlameCommand;
use crate::cli::commands::focus::FocusCommand;
use crate::cli::commands::hot::HotCommand;
use crate::cli::commands::keep::Keep;
use crate::cli::commands::labels::LabelsCommand;
use crate::cli::commands::report::ReportCommand;
use crate::cli::commands::source::SourceCommand;
use crate::cli::commands::timeline::TimelineCommand;
use crate::cli::commands::top::TopCommand;
use crate::cli::commands::tree::TreeCommand;
use crate::cli::commands::ui::given::given;
use crate::cli::options::layout::Output;
use crate::cli::options::pictures::has_ending;
use crate::cli::terminal::failure::{describe, hinted, unwritten};
use crate::output::{Glyphs, ScreenLine, Style, heading_parts, text_lines};
use crate::report::Report;
use crate::ui::{Answer, Choice, Grammar, OptionHelp, Question, Theme, View};

/// Makes answers. Clones share the profiles.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    keep: Keep,
    /// What standard input held: views that need more of it read it again.
    standard_input: Option<Arc<TempPath>>,
    /// Which options the commands have.
    pub(super) grammar: Arc<Grammar>,
    pub(super) theme: Theme,
    /// Says what is wrong with options.
    describe: Describe,
}

/// Options of commands that make no sense on a screen: where and how text is printed.
const OF_OUTPUT: [&str; 21] = [
    "--format",
    "--output",
    "--width",
    "--color",
    "--pager",
    "--force",
    "--columns",
    "--chains",
    "--quiet",
    "--verbose",
    "--title",
    "--icicle",
    "--embed-source",
    "--style",
    "--color-by",
    "--time",
    "--heatmap",
    "--embed-times",
    "--budget",
    "--guide",
    "--help",
];

/// Which rows of a tree are loaded unless asked otherwise: those from which the tree can be opened as far as one looks.
const ROWS_OF_TREE: [&str; 4] = ["--limit", "20000", "--min-share", "0.05"];

/// The same bottom-up, where each function has a tree of its own; Enter on the line of the other functions loads more.
const ROWS_OF_CALLERS: [&str; 4] = ["--limit", "30", "--min-share", "1"];

/// The width of the flame graph in which a block must be visible, so that zooming needs no new report.
const PIXELS: u32 = 20_000;

impl Engine {
    /// Takes standard input, if it is one of the inputs.
    pub(super) fn new(theme: Theme, inputs: &[String], describe: Describe) -> Result<Self> {
        let is_used = inputs.iter().any(|input| input == "-");
        let standard_input = is_used.then(copied_input).transpose()?.map(Arc::new);
        Ok(Engine { keep: Keep::default(), standard_input, grammar: Arc::new(grammar()), theme, describe })
    }

    /// The question about files only.
    fn about_files(&self, question: &Question) -> Question {
        let mut question = question.clone();
        if let Some(copy) = &self.standard_input {
            for input in question.inputs.iter_mut().filter(|input| *input == "-") {
                *input = copy.display().to_string();
            }
        }
        question
    }

    /// Whether one of the profiles is standard input, which can be read only once.
    pub(super) fn reads_standard_input(&self) -> bool {
        self.standard_input.is_some()
    }

    /// Names standard input as it was given.
    fn name_input(&self, report: &mut Report) {
        let (Some(copy), Some(header)) = (&self.standard_input, report.header_mut()) else { return };
        let copy = copy.display().to_string();
        header.inputs.iter_mut().filter(|input| **input == copy).for_each(|input| *input = "-".to_string());
    }

    /// The same without any profiles, so that it reads them again.
    pub(super) fn anew(&self) -> Engine {
        Engine { keep: Keep::default(), ..self.clone() }
    }

    /// The state of the files that a question is about. If it is the same later, reading them again gives the same report.
    pub(super) fn versions(&self, question: &Question) -> Vec<Version> {
        let question = self.about_files(question);
        let bases = question.choices.iter().filter(|choice| choice.name == "--base");
        let files = question.inputs.iter().chain(bases.filter_map(|choice| choice.value.as_ref()));
        files.flat_map(|file| versions(Path::new(file))).collect()
    }

    /// The report that a question asks for, for a screen of this width. Only a `loud` one says what it reads.
    pub(super) fn answer(&self, question: &Question, width: u16, loud: bool) -> Result<Answer> {
        let keep = self.keep.anew();
        let mut report = self.report(&self.about_files(question), &keep, width, loud)?;
        self.name_input(&mut report);
        let mut answer = Answer::new(question.clone(), report, Vec::new(), has_short_names(question));
        answer.text = self.text(&answer, width)?;
        answer.width = width;
        let style = self.style(&answer, width);
        answer.heading = heading_parts(&answer.report, &style).map_err(|error| unwritten(error.into()))?;
        answer.notes = keep.notes().into_iter().map(|note| note.text).collect();
        answer.metrics = keep.metrics();
        Ok(answer)
    }

    /// An answer for a screen of another width; `None` if that takes another report.
    pub(super) fn laid_out(&self, answer: &Answer, width: u16) -> Option<Answer> {
        // How many bins a timeline has depends on the width.
        if answer.question.view == View::Timeline && !answer.question.has("--bins") {
            return None;
        }
        Some(answer.with_text(self.text(answer, width).ok()?, width))
    }

    /// The lines of a report that is shown as text; none for others.
    fn text(&self, answer: &Answer, width: u16) -> Result<Vec<ScreenLine>> {
        let is_text = !matches!(
            *answer.report,
            Report::Top(_) | Report::Tree(_) | Report::Focus(_) | Report::Flame(_) | Report::Labels(_)
        );
        if !is_text {
            return Ok(Vec::new());
        }
        text_lines(&answer.report, &self.style(answer, width)).map_err(|error| unwritten(error.into()))
    }

    fn style(&self, answer: &Answer, width: u16) -> Style {
        Style {
            width: Some(usize::from(width)),
            short_names: has_short_names(&answer.question),
            glyphs: if self.theme.unicode { &Glyphs::UNICODE } else { &Glyphs::ASCII },
            unit: answer.unit(),
            ..Style::plain()
        }
    }

    /// The report of a question, whole.
    fn report(&self, question: &Question, keep: &Keep, width: u16, loud: bool) -> Result<Report> {
        let mut words = self.words(question, loud);
        if question.view == View::Tree && !question.has("--min-share") {
            let rows = if question.has("--bottom-up") { ROWS_OF_CALLERS } else { ROWS_OF_TREE };
            // Whoever asks for more functions still wants to see only their heavy callers.
            let is_limited = question.has("--limit");
            words.splice(0..0, rows.into_iter().skip(if is_limited { 2 } else { 0 }).map(str::to_string));
        }
        if question.view == View::Timeline && !question.has("--bins") {
            let bins = (usize::from(width) * 3 / 5).saturating_sub(22).max(10);
            words.splice(0..0, ["--bins".to_string(), bins.to_string()]);
        }
        let output = Output::kept();
        let keep_it = Some(keep);
        match question.view {
            View::Top => self.parse::<TopCommand>(question.view, &words)?.report(&output, keep_it),
            View::Tree => self.parse::<TreeCommand>(question.view, &words)?.report(&output, keep_it),
            View::Flame => self.parse::<FlameCommand>(question.view, &words)?.graph(&output, keep, PIXELS),
            View::Focus => self.parse::<FocusCommand>(question.view, &words)?.report(&output, keep_it),
            View::Source => self.parse::<SourceCommand>(question.view, &words)?.report(&output, keep_it),
            View::Hot => self.parse::<HotCommand>(question.view, &words)?.report(&output, keep_it),
            View::Timeline => self.parse::<TimelineCommand>(question.view, &words)?.report(&output, keep_it),
            View::Labels => self.parse::<LabelsCommand>(question.view, &words)?.report(&output, keep_it),
            View::Report => self.parse::<ReportCommand>(question.view, &words)?.report(&output, keep_it),
        }
    }

    /// The words of a question's command, after its name.
    fn words(&self, question: &Question, loud: bool) -> Vec<String> {
        let quiet = (!loud).then(|| "--quiet".to_string());
        let options = question.options(&self.grammar);
        let arguments = question.arguments();
        options.into_iter().chain(quiet).chain(["--".to_string()]).chain(arguments).collect()
    }
}

impl Engine {
    /// The options that a text has, for the command of a view; the message if there is a mistake.
    pub(super) fn options(&self, view: View, text: &str) -> Result<Vec<Choice>, String> {
        let words = split(text)?;
        let definition = definition(view);
        // What an option needs besides may have been given before.
        let lenient = definition.clone().mut_args(|arg| arg.required(false).requires(Resettable::Reset));
        let matches = lenient.try_get_matches_from(&words);
        let matches = matches.map_err(|error| message(&self.mistake(view, &error, &words)))?;
        let choices = given(&definition, &matches);
        if let Some(choice) = choices.iter().find(|choice| OF_OUTPUT.contains(&&*choice.name)) {
            return Err(format!(
                "{} is for text or files that are written; s saves what is seen",
                choice.name
            ));
        }
        if choices.is_empty() {
            return Err(format!("{text}: no option; options start with -, such as --by package"));
        }
        Ok(choices)
    }

    /// The command of a view, with these words after its name.
    fn parse<C: Args + FromArgMatches>(&self, view: View, words: &[String]) -> Result<C> {
        let matches = augmented(C::augment_args).try_get_matches_from(words);
        matches
            .and_then(|matches| C::from_arg_matches(&matches))
            .map_err(|error| self.mistake(view, &error, words))
    }

    /// What is wrong with the words after the name of a command, in the words of the command line.
    fn mistake(&self, view: View, error: &clap::Error, words: &[String]) -> anyhow::Error {
        let start = ["prof", view.command()].map(OsString::from).into_iter();
        let line: Vec<OsString> = start.chain(words.iter().map(OsString::from)).collect();
        (self.describe)(error, &line)
    }
}

/// The question that a command of `prof` asks about the same profiles; `None` if it is not one of the views.
pub(super) fn followed(command: &str, inputs: &[String]) -> Option<Question> {
    let words = split(command).ok()?;
    let (["prof", name], rest) = (words.first_chunk::<2>()?.each_ref().map(String::as_str), &words[2..])
    else {
        return None;
    };
    let view = View::named(name)?;
    let definition = definition(view);
    let matches = definition.clone().try_get_matches_from(rest).ok()?;
    let subject = view.has_subject().then(|| matches.get_one::<String>("function").cloned()).flatten();
    Some(Question { view, choices: given(&definition, &matches), subject, inputs: inputs.to_vec() })
}

/// Writes the stacks shown as a page or a picture. An existing file is never replaced.
pub(super) fn save(engine: &Engine, question: &Question, path: &str) -> Result<()> {
    if !["html", "svg"].iter().any(|ending| has_ending(Path::new(path), ending)) {
        return Err(hinted(
            format!("{path}: only .html and .svg files are written"),
            "name a page or a picture",
        ));
    }
    if Path::new(path).exists() {
        return Err(hinted(format!("{path} exists"), "choose another name"));
    }
    let question = Question { view: View::Flame, ..engine.about_files(question) };
    let mut words = engine.words(&question, false);
    words.splice(0..0, [format!("--output={path}")]);
    engine.parse::<FlameCommand>(View::Flame, &words)?.run()
}

/// Whether names lose what they have in common with others, as on a terminal.
fn has_short_names(question: &Question) -> bool {
    question.value("--names") != Some("full")
}

/// When a file was written, and its size.
pub(super) type Version = (PathBuf, Option<(SystemTime, u64)>);

/// The versions of a file, or of the files in a folder.
fn versions(path: &Path) -> Vec<Version> {
    let version = |path: &Path| {
        let about = fs::metadata(path).ok();
        (path.to_path_buf(), about.and_then(|about| Some((about.modified().ok()?, about.len()))))
    };
    match fs::read_dir(path) {
        Ok(entries) => {
            let mut versions: Vec<Version> = entries.flatten().map(|entry| version(&entry.path())).collect();
            versions.sort();
            versions
        }
        Err(_) => vec![version(path)],
    }
}

/// A copy of standard input.
fn copied_input() -> Result<TempPath> {
    let mut copy = NamedTempFile::with_prefix("prof-")?;
    io::copy(&mut io::stdin().lock(), &mut copy)?;
    Ok(copy.into_temp_path())
}

/// The options of each command.
fn grammar() -> Grammar {
    let options = |view: View| {
        let all = definition(view)
            .get_arguments()
            .filter_map(|arg| {
                let name = format!("--{}", arg.get_long()?);
                let help = option_help(arg, !OF_OUTPUT.contains(&&*name));
                Some((name, help))
            })
            .collect();
        (view, all)
    };
    Grammar(View::ALL.into_iter().map(options).collect())
}

/// What the definition of an option says about it.
fn option_help(arg: &Arg, is_for_screens: bool) -> OptionHelp {
    let text = |text: Option<&StyledStr>| text.map(ToString::to_string).unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    let value = arg.get_value_names().and_then(|names| names.first()).filter(|_| takes_value);
    let possible = if takes_value { arg.get_possible_values() } else { Vec::new() };
    OptionHelp {
        about: text(arg.get_help()).lines().next().unwrap_or_default().to_string(),
        value: value.map(ToString::to_string).unwrap_or_default(),
        values: possible
            .iter()
            .filter(|value| !value.is_hide_set())
            .map(|value| (value.get_name().to_string(), text(value.get_help())))
            .collect(),
        is_for_screens,
    }
}

/// The definition of a view's command.
fn definition(view: View) -> Command {
    let augment = match view {
        View::Top => TopCommand::augment_args,
        View::Tree => TreeCommand::augment_args,
        View::Flame => FlameCommand::augment_args,
        View::Focus => FocusCommand::augment_args,
        View::Source => SourceCommand::augment_args,
        View::Hot => HotCommand::augment_args,
        View::Timeline => TimelineCommand::augment_args,
        View::Labels => LabelsCommand::augment_args,
        View::Report => ReportCommand::augment_args,
    };
    augmented(augment)
}

/// A command that parses the words after its name.
fn augmented(augment: fn(Command) -> Command) -> Command {
    augment(Command::new("prof")).infer_long_args(true).no_binary_name(true)
}

/// The message of an error on one line, with its hint.
pub(super) fn message(error: &anyhow::Error) -> String {
    describe(error).trim_start_matches("error: ").replace("\nhint: ", "; ").replace('\n', " ")
}

/// Splits a text into words as a shell does: blanks separate, quotes keep together.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ('\\', None) => word.get_or_insert_default().extend(rest.next()),
            (' ' | '\t', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_string());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        assert_eq!(
            split(r#"--focus 'a b' --label "k=v w" x\ y"#).unwrap(),
            ["--focus", "a b", "--label", "k=v w", "x y"]
        );
        assert_eq!(split("  ").unwrap(), Vec::<String>::new());
        assert!(split("'a").is_err());
    }
}
