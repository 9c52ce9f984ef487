//! Where one is: the question, and the cursors that no command line has.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::name::display_width;
use crate::output::wrap;
use crate::report::Report;
use crate::ui::answer::{Answer, Line};
use crate::ui::carry::Carry;
use crate::ui::cursor::Cursor;
use crate::ui::question::{Choice, Grammar, Question, View};
use crate::ui::search::Search;

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
    /// The questions before, with where one was, unless the report has changed since.
    pub(super) before: Vec<(Question, Option<Cursor>)>,
    /// Where to be in the next report, after undoing.
    pub(super) restored: Option<Cursor>,
    /// What was typed before.
    pub(super) typed: Vec<(Purpose, String)>,
    /// The view to which Tab went last, which may have been impossible to show.
    pub(super) tried: Option<View>,
    /// The width and the height of the screen.
    pub(crate) size: (u16, u16),
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
    /// How many texts typed before were gone back to.
    pub(crate) recalled: usize,
}

/// What is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A search.
    Search,
    /// Which lines are shown.
    Only,
    /// Options of the command line.
    Options,
    /// The file to write.
    Save,
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
            typed: Vec::new(),
            tried: None,
            size,
        }
    }

    /// Shows an answer: at the line where one was if it was shown before, else at the function that was selected in the
    /// answer before.
    pub(crate) fn show(&mut self, answer: &Answer, before: Option<&Answer>) {
        let selected = before.and_then(|before| self.selected(before)).map(str::to_string);
        let selected = selected.or_else(|| self.question.subject.clone());
        if let Some(note) = answer.notes.first() {
            self.message = Some(note.clone());
        }
        // If the view that was tried cannot be shown, this is the one before it, and the next Tab goes on from there.
        if self.tried == Some(self.question.view) {
            self.tried = None;
        }
        match self.restored.take() {
            Some(cursor) => {
                self.cursor = cursor;
                self.lay_out(answer);
            }
            None => {
                // Whoever sorts the lines that match wants to see those.
                let is_same_list = before.is_some_and(|before| before.question.view == answer.question.view);
                let only = self.cursor.only.take().filter(|_| is_same_list);
                self.cursor = Cursor { open: answer.opened(), only, ..Cursor::default() };
                self.lay_out(answer);
                self.find_place(answer, selected.as_deref());
            }
        }
        self.settle_block(answer);
    }

    /// Selects a function in a new answer, if it is there.
    fn find_place(&mut self, answer: &Answer, selected: Option<&str>) {
        let is_subject = |line: &Line| *line == Line::Subject;
        // A timeline begins with its rows; its phases are only called after functions.
        let has_functions = !matches!(*answer.report, Report::Timeline(_));
        let is_selected = |line: &Line| {
            has_functions && answer.name_of(*line).is_some_and(|name| Some(&**name) == selected)
        };
        // A function has many rows in a tree: the heaviest one is what matters.
        let weight = |line: Line| answer.numbers(line).total.unwrap_or(0).unsigned_abs();
        let lines = || self.lines.iter().enumerate();
        let heaviest = || {
            let found = lines().filter(|(_, line)| is_selected(line));
            found.max_by_key(|(place, line)| (weight(**line), Reverse(*place))).map(|(place, _)| place)
        };
        let place = self.lines.iter().position(is_subject).or_else(heaviest);
        self.cursor.selected = place.unwrap_or_else(|| answer.first_place(&self.lines));
        if let Some(flame) = answer.flame() {
            let nodes = flame.nodes.iter().enumerate().filter(|(_, node)| Some(&*node.name) == selected);
            let heaviest = nodes.max_by_key(|(place, node)| (node.width.unsigned_abs(), Reverse(*place)));
            self.cursor.node = heaviest.map_or(0, |(place, _)| place as u32);
        }
    }

    /// Shows a newer report of the same question: the same lines stay on the screen as far as they are still there.
    pub(crate) fn refresh(&mut self, answer: &Answer, before: &Answer) {
        let line = self.line();
        let above = self.cursor.selected.saturating_sub(self.cursor.top);
        let carry = Carry::new(before, answer);
        self.cursor = carry.cursor(&self.cursor);
        self.lay_out(answer);
        if let Some(place) = line.and_then(|line| carry.line(line, &self.lines)) {
            self.cursor.selected = place;
            // Whoever sees the first line wants to see what is the first now.
            self.cursor.top = if self.cursor.top == 0 { 0 } else { place.saturating_sub(above) };
        }
        // Rows of the reports before have other numbers now.
        self.before.iter_mut().for_each(|(_, cursor)| *cursor = None);
        self.restored = None;
        self.settle();
    }

    /// Shows the same report, laid out for another width.
    pub(crate) fn show_wrapped(&mut self, answer: &Answer, before: &Answer) {
        let part = self.line().and_then(|line| before.part_of(line));
        self.lay_out(answer);
        let is_selected = |line: &Line| part.is_some() && answer.part_of(*line) == part;
        self.cursor.selected = self.lines.iter().position(is_selected).unwrap_or(self.cursor.selected);
        self.settle_block(answer);
    }

    /// Forgets which lines are shown, or else what was searched for. Returns whether there was something to forget.
    pub(crate) fn forget_search(&mut self, answer: &Answer) -> bool {
        if self.cursor.only.is_none() {
            return self.search.take().is_some();
        }
        let line = self.line();
        self.cursor.only = None;
        self.lay_out(answer);
        let place = self.lines.iter().position(|other| Some(*other) == line);
        self.cursor.selected = place.unwrap_or(self.cursor.selected);
        self.settle();
        true
    }

    /// Asks about newer recordings of the same profiles, now and in the questions before.
    pub(crate) fn replace_inputs(&mut self, old: &[String], new: &[String]) {
        self.question.replace_inputs(old, new);
        self.before.iter_mut().for_each(|(question, _)| question.replace_inputs(old, new));
    }

    /// Whether a question on the way here is about this file.
    pub(crate) fn mentions(&self, file: &str) -> bool {
        self.before.iter().map(|(question, _)| question).chain([&self.question]).any(|one| one.mentions(file))
    }

    /// Finds the lines to show.
    pub(super) fn lay_out(&mut self, answer: &Answer) {
        self.lines = answer.lines(&self.cursor.open, self.cursor.only.as_ref());
    }

    /// Adds options that were typed. One that was already given is removed.
    pub(crate) fn choose(&mut self, choices: Vec<Choice>) {
        let mut question = self.question.clone();
        for choice in choices {
            if question.choices.contains(&choice) {
                question.choices.retain(|other| *other != choice);
            } else {
                question.choose(choice);
            }
        }
        self.ask(question);
    }

    /// Goes on with the answer that is on the screen, at the line where one was.
    pub(crate) fn settle_back(&mut self, answer: &Answer) {
        if self.restored.is_some() {
            self.show(answer, Some(answer));
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

    /// The height of the part that a message of several lines leaves of the report.
    fn uncovered(&self) -> usize {
        let lines = self.message.as_ref().map_or(1, |message| wrap(message, usize::from(self.size.0)).len());
        let covered = lines.min(most_lines(self.page())).saturating_sub(1);
        self.page().saturating_sub(covered).max(1)
    }

    /// How many lines the command takes: a long one up to three, if there is space.
    pub(crate) fn command_rows(&self) -> usize {
        let most = if self.size.1 >= 16 { 3 } else { 1 };
        self.command_lines().len().clamp(1, most)
    }

    /// The command line, split between words where that is possible.
    pub(crate) fn command_lines(&self) -> Vec<String> {
        let room = usize::from(self.size.0).saturating_sub(2).max(1);
        let mut lines = Vec::new();
        for line in wrap(&self.command_line(), room) {
            let mut rest = &*line;
            while display_width(rest) > room {
                let (first, after) = rest.split_at(split_place(rest, room));
                lines.push(first.to_string());
                rest = after;
            }
            lines.push(rest.to_string());
        }
        lines
    }

    /// Keeps the selected line on the screen, and titles unselected.
    pub(super) fn settle(&mut self) {
        let last = self.lines.len().saturating_sub(1);
        let page = self.uncovered();
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

    /// Keeps all lines on the screen that are selected together, if there is space for them.
    pub(super) fn settle_block(&mut self, answer: &Answer) {
        self.settle();
        let block = answer.block(&self.lines, self.cursor.selected);
        let page = self.uncovered();
        self.cursor.top = self.cursor.top.max(block.end.saturating_sub(page)).min(block.start);
        if block.len() > page {
            self.settle();
        }
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

    /// The function of the selected line, where rows stand for something else.
    pub(crate) fn function<'a>(&self, answer: &'a Answer) -> Option<&'a str> {
        match answer.flame() {
            Some(flame) => flame.nodes.get(self.cursor.node as usize).map(|node| &*node.function),
            None => answer.function_of(self.line()?),
        }
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
        self.before.push((before, Some(self.cursor.clone())));
        if self.before.len() > MOST_BEFORE {
            self.before.remove(0);
        }
        self.restored = None;
    }

    /// Goes back to the question before. Returns whether there was one.
    pub(crate) fn back(&mut self) -> bool {
        let Some((question, cursor)) = self.before.pop() else { return false };
        if question == self.question {
            self.cursor = cursor.unwrap_or_else(|| self.cursor.clone());
        } else {
            self.question = question;
            self.restored = cursor;
        }
        true
    }

    /// Remembers where one is, so that Backspace comes back to it.
    pub(super) fn remember(&mut self) {
        self.before.push((self.question.clone(), Some(self.cursor.clone())));
    }
}

/// Where a text is to be split so that its first part fits; never at its start.
fn split_place(text: &str, room: usize) -> usize {
    let mut width = 0;
    let fits = |c: char| {
        width += display_width(c.encode_utf8(&mut [0; 4]));
        width <= room
    };
    let fitting = text.len() - text.trim_start_matches(fits).len();
    fitting.max(text.chars().next().map_or(0, char::len_utf8))
}

/// The line of the tabs.
pub(crate) const TABS: u16 = 1;

/// The first line of the rows of a table; above are the heading, the tabs and the titles of columns.
pub(crate) const BODY: usize = 3;

/// How often one can go back.
const MOST_BEFORE: usize = 200;

/// How many lines a message may take on a page of this height: a third of it, or four lines.
pub(super) fn most_lines(page: usize) -> usize {
    (page / 3).max(4)
}
