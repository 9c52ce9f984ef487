//! The state, the answer on the screen, and the answers before it.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::cli::commands::ui::engine::{Engine, followed, message, options, save};
use crate::cli::commands::ui::recorder::Recorder;
use crate::name::base_name;
use crate::report::Report;
use crate::ui::{Answer, Choice, Effect, Key, Purpose, Question, State, Typing, draw, press};

/// What goes on between two keys.
pub(super) struct Session {
    engine: Engine,
    recorder: Option<Recorder>,
    state: State,
    answer: Arc<Answer>,
    /// The answers before, with the width that they were made for; the latest last.
    before: Vec<(u16, Arc<Answer>)>,
    /// The answer that is being computed.
    pending: Option<Pending>,
}

/// An answer that another thread computes.
struct Pending {
    question: Question,
    width: u16,
    receiver: Receiver<Result<Answer>>,
}

/// How many answers are kept, so that going back takes no time.
const MOST: usize = 16;

/// What takes longer than this is computed behind the screen.
const MOMENT: Duration = Duration::from_millis(50);

/// What the program has to do for the user.
pub(super) enum Request {
    /// Write to the clipboard of the terminal.
    Copy(String),
    /// Suspend.
    Suspend,
    /// Quit.
    Quit,
}

impl Session {
    /// Loads the profile, and makes the first answer.
    pub(super) fn start(
        engine: Engine,
        question: Question,
        recorder: Option<Recorder>,
        size: (u16, u16),
    ) -> Result<Session> {
        let answer = Arc::new(engine.answer(&question, size.0, true)?);
        let mut state = State::new(question, engine.grammar.clone(), size);
        state.show(&answer, None);
        let before = vec![(size.0, answer.clone())];
        Ok(Session { engine, recorder, state, answer, before, pending: None })
    }

    /// Whether an answer is being computed.
    pub(super) fn is_computing(&self) -> bool {
        self.pending.is_some()
    }

    /// Whether text is being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.state.typing.is_some()
    }

    /// Presses a key, and asks what it changed.
    pub(super) fn press(&mut self, key: Key) -> Option<Request> {
        let effect = press(&mut self.state, &self.answer, key);
        let request = effect.and_then(|effect| self.take_effect(effect));
        self.ask();
        request
    }

    /// The same, and waits for the answer.
    pub(super) fn press_and_wait(&mut self, key: Key) {
        self.press(key);
        while self.is_computing() {
            self.receive(Duration::MAX);
        }
    }

    fn take_effect(&mut self, effect: Effect) -> Option<Request> {
        match effect {
            Effect::Copy(text) => {
                self.state.message = Some(format!("copied {text}"));
                return Some(Request::Copy(text));
            }
            Effect::Suspend => return Some(Request::Suspend),
            Effect::Quit => return Some(Request::Quit),
            Effect::SuggestFile => {
                let text = self.free_name();
                let from = self.state.cursor.clone();
                self.state.typing = Some(Typing { purpose: Purpose::Save, text, from });
            }
            Effect::Save(path) => {
                self.state.message = Some(match save(&self.engine, &self.state.question, &path) {
                    Ok(()) => format!("wrote {path}"),
                    Err(error) => message(&error),
                });
            }
            Effect::Follow(command) => match followed(&command, &self.state.question.inputs) {
                Some(question) => self.state.ask(question),
                None => self.state.message = Some(format!("no view of this screen: {command}")),
            },
            Effect::Options(text) => match options(self.state.question.view, &text) {
                Ok(choices) => self.state.choose(choices),
                Err(message) => self.state.message = Some(message),
            },
            Effect::Cancel => self.cancel(),
            Effect::Reload => self.reload(),
        }
        None
    }

    /// Reads files again. Servers record again, and what they recorded before becomes the old side.
    fn reload(&mut self) {
        let Some(recorder) = self.recorder.clone() else {
            self.engine.forget();
            self.before.clear();
            let question = self.state.question.clone();
            return self.compute(move || Ok(question));
        };
        let old = self.state.question.clone();
        self.compute(move || {
            let mut question = Question { inputs: recorder.record()?, ..old.clone() };
            question.drop("--base");
            for input in old.inputs {
                question.choose(Choice::repeated("--base", input));
            }
            Ok(question)
        });
    }

    /// The name of the first profile with another extension, and with a number if there is such a file already.
    fn free_name(&self) -> String {
        let first = self.state.question.inputs.first().map_or("profile", |input| base_name(input));
        let is_plain = |c: &char| c.is_alphanumeric() || *c == '_' || *c == '-';
        let stem: String = first.chars().take_while(is_plain).collect();
        let stem = if stem.trim_matches('-').is_empty() { "profile".to_string() } else { stem };
        let name = |number: u32| match number {
            1 => format!("{stem}.html"),
            number => format!("{stem}-{number}.html"),
        };
        let is_free = |name: &String| !std::path::Path::new(name).exists();
        (1..1000).map(name).find(is_free).unwrap_or_default()
    }

    /// Asks for the answer to a new question.
    fn ask(&mut self) {
        let is_asked = self.pending.as_ref().is_some_and(|pending| pending.question == self.state.question);
        if is_asked {
            return;
        }
        self.pending = None;
        if self.state.question == self.answer.question {
            let selected = self.state.selected(&self.answer).map(str::to_string);
            self.state.settle_back(&self.answer, selected.as_deref());
            return;
        }
        let width = self.state.size.0;
        let kept = self.before.iter().find(|(made_for, answer)| {
            answer.question == self.state.question && (*made_for == width || answer.text.is_empty())
        });
        match kept.map(|(_, answer)| answer.clone()) {
            Some(answer) => self.show(answer),
            None => {
                let question = self.state.question.clone();
                self.compute(move || Ok(question));
            }
        }
    }

    /// Computes the answer on another thread. What takes only a moment is waited for, so that the screen does not flicker.
    fn compute(&mut self, question: impl FnOnce() -> Result<Question> + Send + 'static) {
        let (sender, receiver) = channel();
        let (engine, width) = (self.engine.clone(), self.state.size.0);
        thread::spawn(move || {
            // If nobody waits any more, the answer is dropped.
            let _ = sender.send(question().and_then(|question| engine.answer(&question, width, false)));
        });
        self.pending = Some(Pending { question: self.state.question.clone(), width, receiver });
        self.receive(MOMENT);
    }

    /// Waits for the answer. Returns whether it came.
    pub(super) fn receive(&mut self, time: Duration) -> bool {
        let Some(pending) = &self.pending else { return false };
        let result = match pending.receiver.recv_timeout(time) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout) => return false,
            Err(RecvTimeoutError::Disconnected) => Err(anyhow::Error::msg("computing this failed")),
        };
        let width = pending.width;
        self.pending = None;
        match result {
            Ok(answer) => {
                let answer = Arc::new(answer);
                if self.before.len() >= MOST {
                    self.before.remove(0);
                }
                self.before.push((width, answer.clone()));
                self.state.ask(answer.question.clone());
                self.show(answer);
            }
            Err(error) => {
                self.leave_question();
                self.state.message = Some(message(&error));
            }
        }
        true
    }

    fn show(&mut self, answer: Arc<Answer>) {
        let selected = self.state.selected(&self.answer).map(str::to_string);
        let selected = selected.or_else(|| self.state.question.subject.clone());
        self.answer = answer;
        self.state.show(&self.answer, selected.as_deref());
    }

    /// Stops computing: the result will be dropped.
    fn cancel(&mut self) {
        if self.pending.take().is_some() {
            self.leave_question();
            self.state.message = Some("stopped".to_string());
        }
    }

    /// Goes back to the question of the answer on the screen.
    fn leave_question(&mut self) {
        while self.state.question != self.answer.question && self.state.back() {}
        self.state.question.clone_from(&self.answer.question);
        self.state.settle_back(&self.answer, None);
    }

    /// The screen has another size.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        let is_wider = self.state.size.0 != size.0;
        self.state.resize(size);
        // Text is laid out for the width.
        if is_wider && !self.answer.text.is_empty() && self.pending.is_none() {
            let question = self.state.question.clone();
            self.compute(move || Ok(question));
        }
    }

    /// Draws the screen.
    pub(super) fn draw(&self, area: Rect, cells: &mut Buffer) {
        draw(&self.state, &self.answer, self.engine.theme, self.is_computing(), area, cells);
    }

    /// The report on the screen.
    pub(super) fn report(&self) -> &Report {
        &self.answer.report
    }

    /// The screen as text.
    pub(super) fn text(&self) -> String {
        let (width, height) = self.state.size;
        let area = Rect::new(0, 0, width, height);
        let mut cells = Buffer::empty(area);
        self.draw(area, &mut cells);
        crate::ui::text_of(&cells)
    }
}
