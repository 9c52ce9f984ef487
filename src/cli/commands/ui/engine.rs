//! From a question to its answer, by the code of the commands.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use clap::{Args, Command, FromArgMatches};
use tempfile::{NamedTempFile, TempPath};

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
use crate::output::{Glyphs, Style, heading_parts, scale, text_lines};
use crate::report::{Header, Report};
use crate::ui::{Answer, Choice, Grammar, Question, Theme, View};
use crate::unit::share;

/// Makes answers. Clones share the profiles.
#[derive(Clone, Debug)]
pub(super) struct Engine {
    keep: Keep,
    /// What standard input held: views that need more of it read it again.
    standard_input: Option<Arc<TempPath>>,
    /// Which options the commands have.
    pub(super) grammar: Arc<Grammar>,
    pub(super) theme: Theme,
}

/// Options of commands that make no sense on a screen: where and how text is printed.
const OF_OUTPUT: [&str; 16] = [
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
    "--help",
];

/// Which rows of a tree are loaded unless asked otherwise: those from which the tree can be opened as far as one looks.
const ROWS_OF_TREE: [&str; 4] = ["--limit", "20000", "--min-share", "0.05"];

/// The same bottom-up, where each function has a tree of its own.
const ROWS_OF_CALLERS: [&str; 4] = ["--limit", "100", "--min-share", "1"];

/// The width of the flame graph in which a block must be visible, so that zooming needs no new report.
const PIXELS: u32 = 20_000;

impl Engine {
    /// Takes standard input, if it is one of the inputs.
    pub(super) fn new(theme: Theme, inputs: &[String]) -> Result<Self> {
        let is_used = inputs.iter().any(|input| input == "-");
        let standard_input = is_used.then(copied_input).transpose()?.map(Arc::new);
        Ok(Engine { keep: Keep::default(), standard_input, grammar: Arc::new(grammar()), theme })
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

    /// Names standard input as it was given.
    fn name_input(&self, report: &mut Report) {
        let (Some(copy), Some(header)) = (&self.standard_input, report.header_mut()) else { return };
        let copy = copy.display().to_string();
        header.inputs.iter_mut().filter(|input| **input == copy).for_each(|input| *input = "-".to_string());
    }

    /// Reads profiles again from now on.
    pub(super) fn forget(&self) {
        self.keep.forget();
    }

    /// The report that a question asks for, for a screen of this width. Only a `loud` one says what it reads.
    pub(super) fn answer(&self, question: &Question, width: u16, loud: bool) -> Result<Answer> {
        let keep = self.keep.anew();
        let mut report = self.report(&self.about_files(question), &keep, width, loud)?;
        self.name_input(&mut report);
        let style = Style {
            width: Some(usize::from(width)),
            short_names: true,
            glyphs: if self.theme.unicode { &Glyphs::UNICODE } else { &Glyphs::ASCII },
            ..Style::plain()
        };
        let is_text = !matches!(
            report,
            Report::Top(_) | Report::Tree(_) | Report::Focus(_) | Report::Flame(_) | Report::Labels(_)
        );
        let text = if is_text {
            text_lines(&report, &style).map_err(|error| unwritten(error.into()))?
        } else {
            Vec::new()
        };
        // The first line is the heading.
        let text = text.into_iter().skip(1).collect();
        let mut heading = heading_parts(&report, &style).map_err(|error| unwritten(error.into()))?;
        // What filters left matters more than how the profile was recorded.
        let place = heading.len().min(2);
        heading.splice(place..place, report.header().and_then(shown_share));
        let mut answer = Answer::new(question.clone(), report, text, style.short_names);
        answer.heading = heading;
        answer.notes = keep.notes().into_iter().map(|note| note.text).collect();
        answer.metrics = keep.metrics();
        Ok(answer)
    }

    /// The report of a question, whole.
    fn report(&self, question: &Question, keep: &Keep, width: u16, loud: bool) -> Result<Report> {
        let mut words = self.words(question, loud);
        let is_cut = question.has("--limit") || question.has("--min-share");
        if question.view == View::Tree && !is_cut {
            let rows = if question.has("--bottom-up") { ROWS_OF_CALLERS } else { ROWS_OF_TREE };
            words.splice(0..0, rows.map(str::to_string));
        }
        if question.view == View::Timeline && !question.has("--bins") {
            let bins = (usize::from(width) * 3 / 5).saturating_sub(22).max(10);
            words.splice(0..0, ["--bins".to_string(), bins.to_string()]);
        }
        let output = Output::kept();
        let keep_it = Some(keep);
        match question.view {
            View::Top => parse::<TopCommand>(&words)?.report(&output, keep_it),
            View::Tree => parse::<TreeCommand>(&words)?.report(&output, keep_it),
            View::Flame => parse::<FlameCommand>(&words)?.graph(&output, keep, PIXELS),
            View::Focus => parse::<FocusCommand>(&words)?.report(&output, keep_it),
            View::Source => parse::<SourceCommand>(&words)?.report(&output, keep_it),
            View::Hot => parse::<HotCommand>(&words)?.report(&output, keep_it),
            View::Timeline => parse::<TimelineCommand>(&words)?.report(&output, keep_it),
            View::Labels => parse::<LabelsCommand>(&words)?.report(&output, keep_it),
            View::Report => parse::<ReportCommand>(&words)?.report(&output, keep_it),
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

/// The options that a text has, for the command of a view; the message if there is a mistake.
pub(super) fn options(view: View, text: &str) -> Result<Vec<Choice>, String> {
    let words = split(text)?;
    let definition = definition(view);
    let matches = definition.clone().mut_args(|arg| arg.required(false)).try_get_matches_from(&words);
    let matches = matches.map_err(|error| first_sentences(&error.to_string()))?;
    let choices = given(&definition, &matches);
    if let Some(choice) = choices.iter().find(|choice| OF_OUTPUT.contains(&&*choice.name)) {
        return Err(format!("{} is for text that is printed; s saves what is seen", choice.name));
    }
    if choices.is_empty() {
        return Err(format!("{text}: no option; options start with -, such as --by package"));
    }
    Ok(choices)
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
    let place = words.iter().position(|word| word == crate::ui::PICTURE).unwrap_or(0);
    words[place] = path.to_string();
    parse::<FlameCommand>(&words)?.run()
}

/// A copy of standard input.
fn copied_input() -> Result<TempPath> {
    let mut copy = NamedTempFile::with_prefix("prof-")?;
    io::copy(&mut io::stdin().lock(), &mut copy)?;
    Ok(copy.into_temp_path())
}

/// The part of a profile that filters have left, if there are filters.
fn shown_share(header: &Header) -> Option<String> {
    if header.filters.is_empty() {
        return None;
    }
    let shown = scale(&header.metric, header.shown, None).ok()?.format(header.shown);
    Some(format!("shown {shown} ({})", share(header.shown, header.total)))
}

/// The options of each command.
fn grammar() -> Grammar {
    let options = |view: View| {
        let long = definition(view)
            .get_arguments()
            .filter_map(|arg| Some(format!("--{}", arg.get_long()?)))
            .collect();
        (view, long)
    };
    let all: BTreeMap<View, BTreeSet<String>> = View::ALL.into_iter().map(options).collect();
    Grammar(all)
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

fn parse<C: Args + FromArgMatches>(words: &[String]) -> Result<C> {
    let matches = augmented(C::augment_args).try_get_matches_from(words);
    matches
        .and_then(|matches| C::from_arg_matches(&matches))
        .map_err(|error| anyhow::Error::msg(first_sentences(&error.to_string())))
}

/// What an error of the command line says is wrong, and what may have been meant.
fn first_sentences(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let first = lines.next().unwrap_or_default().trim_start_matches("error: ").to_string();
    match lines.find_map(|line| line.strip_prefix("tip: ")) {
        Some(tip) => format!("{first}; {tip}"),
        None => first,
    }
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
