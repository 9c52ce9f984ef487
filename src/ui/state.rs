//! Where one is: the question, and the cursors that no command line has.

use std::collections::HashSet;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::name::display_width;
use crate::ui::answer::{Answer, Line};
use crate::ui::question::{Choice, Grammar, Question};

/// Everything that decides what is on the screen, besides the report.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// What is asked.
    pub(crate) question: Question,
    /// Which options the commands have.
    pub(crate) grammar: Arc<Grammar>,
    /// Where one is in the report.
    pub(crate) cursor: Cursor,
    /// The lines of the report, as far as they are open.
    pub(crate) lines: Vec<Line>,
    /// What is being typed.
    pub(crate) typing: Option<Typing>,
    /// Whether the list of keys is shown, and its first line.
    pub(crate) help: Option<usize>,
    /// What was searched for.
    pub(crate) search: Option<Search>,
    /// The last line but two: what happened.
    pub(crate) message: Option<String>,
    /// The questions before, with where one was.
    pub(super) before: Vec<(Question, Cursor)>,
    /// Where to be in the next report, after undoing.
    pub(super) restored: Option<Cursor>,
    /// The width and the height of the screen.
    pub(crate) size: (u16, u16),
}

/// Where one is in a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The selected line.
    pub(crate) selected: usize,
    /// The first line on the screen.
    pub(crate) top: usize,
    /// The rows of a tree that are open.
    pub(crate) open: HashSet<u32>,
    /// The selected node of a flame graph.
    pub(crate) node: u32,
    /// The node of a flame graph that takes the whole width.
    pub(crate) zoom: u32,
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typing {
    /// What for.
    pub(crate) purpose: Purpose,
    /// What was typed so far.
    pub(crate) text: String,
    /// The line that was selected before, for a search that is given up.
    pub(crate) from: Cursor,
}

/// What is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A search.
    Search,
    /// Options of the command line.
    Options,
    /// The file to write.
    Save,
}

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pattern: Regex,
}

impl Search {
    /// A regular expression, or else the text itself. It ignores case unless it has a capital.
    pub(crate) fn new(text: &str) -> Option<Search> {
        let ignores_case = !text.chars().any(char::is_uppercase);
        let compiled = |pattern: &str| {
            RegexBuilder::new(pattern).case_insensitive(ignores_case).size_limit(1 << 20).build().ok()
        };
        let pattern = compiled(text).or_else(|| compiled(&regex::escape(text)))?;
        (!text.is_empty()).then(|| Search { pattern })
    }

    /// Whether a text matches.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }
}

impl State {
    /// The start: nothing is shown yet.
    pub(crate) fn new(question: Question, grammar: Arc<Grammar>, size: (u16, u16)) -> Self {
        State {
            question,
            grammar,
            cursor: Cursor::default(),
            lines: Vec::new(),
            typing: None,
            help: None,
            search: None,
            message: None,
            before: Vec::new(),
            restored: None,
            size,
        }
    }

    /// Shows an answer: at the line where one was if it was shown before, else at the function that was selected.
    pub(crate) fn show(&mut self, answer: &Answer, selected: Option<&str>) {
        let restored = self.restored.take();
        let is_restored = restored.is_some();
        self.cursor = restored.unwrap_or_else(|| Cursor { open: answer.opened(), ..Cursor::default() });
        self.lines = answer.lines(&self.cursor.open);
        if !is_restored {
            let is_subject = |line: &Line| *line == Line::Subject;
            let is_selected =
                |line: &Line| answer.name_of(*line).is_some_and(|name| Some(&**name) == selected);
            let place =
                self.lines.iter().position(is_subject).or_else(|| self.lines.iter().position(is_selected));
            self.cursor.selected = place.unwrap_or(0);
            if let Some(flame) = answer.flame() {
                let node = flame.nodes.iter().position(|node| Some(&*node.name) == selected);
                self.cursor.node = node.unwrap_or(0) as u32;
            }
        }
        self.message = answer.notes.first().cloned();
        self.settle();
    }

    /// Adds options that were typed.
    pub(crate) fn choose(&mut self, choices: Vec<Choice>) {
        let mut question = self.question.clone();
        for choice in choices {
            question.choose(choice);
        }
        self.ask(question);
    }

    /// Goes on with the answer that is on the screen, at the line where one was.
    pub(crate) fn settle_back(&mut self, answer: &Answer, selected: Option<&str>) {
        if self.restored.is_some() {
            self.show(answer, selected);
        }
    }

    /// The screen has another size.
    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        self.settle();
    }

    /// The height of the part of the screen that shows the report.
    pub(crate) fn page(&self) -> usize {
        usize::from(self.size.1).saturating_sub(BODY + 2 + self.command_rows()).max(1)
    }

    /// How many lines the command takes: a long one up to three, if there is space.
    pub(crate) fn command_rows(&self) -> usize {
        let most = if self.size.1 >= 16 { 3 } else { 1 };
        let room = usize::from(self.size.0).saturating_sub(2).max(1);
        display_width(&self.command_line()).div_ceil(room).clamp(1, most)
    }

    /// Keeps the selected line on the screen, and titles unselected.
    pub(super) fn settle(&mut self) {
        let last = self.lines.len().saturating_sub(1);
        let page = self.page();
        let cursor = &mut self.cursor;
        cursor.selected = cursor.selected.min(last);
        let is_title = |place: usize| matches!(self.lines.get(place), Some(Line::Title(_)));
        if is_title(cursor.selected) {
            cursor.selected =
                if cursor.selected < last { cursor.selected + 1 } else { cursor.selected.saturating_sub(1) };
        }
        if cursor.selected < cursor.top {
            // The title above the first line of a group stays with it.
            cursor.top = if cursor.selected == 1 { 0 } else { cursor.selected };
        }
        if cursor.selected >= cursor.top + page {
            cursor.top = cursor.selected + 1 - page;
        }
        cursor.top = cursor.top.min(last);
    }

    /// The selected line.
    pub(crate) fn line(&self) -> Option<Line> {
        self.lines.get(self.cursor.selected).copied()
    }

    /// The name of the selected function.
    pub(crate) fn selected<'a>(&self, answer: &'a Answer) -> Option<&'a str> {
        if let Some(flame) = answer.flame() {
            return flame
                .nodes
                .get(self.cursor.node as usize)
                .filter(|_| self.cursor.node > 0)
                .map(|node| &*node.name);
        }
        answer.name_of(self.line()?).map(|name| &**name)
    }

    /// The command line that shows the same numbers.
    pub(crate) fn command_line(&self) -> String {
        self.question.command_line(&self.grammar)
    }

    /// Asks something else; Backspace comes back.
    pub(crate) fn ask(&mut self, question: Question) {
        if question == self.question {
            return;
        }
        let before = std::mem::replace(&mut self.question, question);
        self.before.push((before, self.cursor.clone()));
        if self.before.len() > MOST_BEFORE {
            self.before.remove(0);
        }
        self.restored = None;
    }

    /// Goes back to the question before. Returns whether there was one.
    pub(crate) fn back(&mut self) -> bool {
        let Some((question, cursor)) = self.before.pop() else { return false };
        if question == self.question {
            self.cursor = cursor;
        } else {
            self.question = question;
            self.restored = Some(cursor);
        }
        true
    }

    /// Remembers where one is, so that Backspace comes back to it.
    pub(super) fn remember(&mut self) {
        self.before.push((self.question.clone(), self.cursor.clone()));
    }
}

/// The first line of the rows of a table; above are the heading, the tabs and the titles of columns.
pub(crate) const BODY: usize = 3;

/// How often one can go back.
const MOST_BEFORE: usize = 200;
