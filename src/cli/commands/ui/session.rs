//! The state, the answer on the screen, the answers before it, and what goes on in the background.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::cli::commands::ui::engine::{Engine, Version, followed, message, save};
use crate::cli::commands::ui::recorder::Recorder;
use crate::name::base_name;
use crate::parallel::Stop;
use crate::report::Report;
use crate::ui::{Answer, Choice, Effect, Key, Purpose, Question, State, Typing, draw, press};

/// What goes on between two keys.
pub(super) struct Session {
    engine: Engine,
    recorder: Option<Recorder>,
    state: State,
    answer: Arc<Answer>,
    /// What the answer on the screen answers. Its profiles may have other names than when it was made.
    shown: Question,
    /// The answers before; the latest last.
    before: Vec<Arc<Answer>>,
    /// The answer that is being computed.
    computing: Option<Computing>,
    /// The recording that is being made, and what for.
    recording: Option<(Again, Task<Vec<String>>)>,
    /// The file that is being written.
    saving: Option<(String, Task<()>)>,
    watch: Watch,
    /// The profiles when they were read.
    versions: Vec<Version>,
    /// The recordings that watching made, which are deleted when newer ones replace them.
    watched: Vec<String>,
}

/// Something that another thread does, until nobody waits for it any more.
struct Task<T> {
    receiver: Receiver<Result<T>>,
    stop: Stop,
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

impl<T: Send + 'static> Task<T> {
    fn start(work: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        let stop = Stop::default();
        let stopped = stop.clone();
        thread::spawn(move || {
            if let Some(result) = stopped.unless_stopped(work) {
                // If nobody waits any more, the result is dropped.
                let _ = sender.send(result);
            }
        });
        Task { receiver, stop }
    }

    /// What was done; `None` if it takes longer.
    fn wait(&self, time: Duration) -> Option<Result<T>> {
        match self.receiver.recv_timeout(time) {
            Ok(result) => Some(result),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(Err(anyhow::Error::msg("this failed because of a mistake in prof; please report it")))
            }
        }
    }
}

/// An answer that another thread computes.
struct Computing {
    question: Question,
    /// The engine to go on with if this one has read the profiles again, and the versions that it has read.
    reread: Option<(Engine, Vec<Version>)>,
    /// Whether the answer shows newer profiles at the same place.
    is_refresh: bool,
    task: Task<Answer>,
}

/// Why a server records again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// To compare with what it recorded before.
    ToCompare,
    /// To show what it does now.
    ToWatch,
}

/// Reading or recording again every few seconds.
struct Watch {
    is_on: bool,
    every: Duration,
    /// When this was done last.
    last: Instant,
    /// Whether it failed the last time, which the message on the screen says.
    has_failed: bool,
}

/// How many answers are kept, so that going back takes no time.
const MOST: usize = 16;

/// What takes longer than this is computed in the background. Together with drawing, a key takes less than 50 ms.
const MOMENT: Duration = Duration::from_millis(25);

/// What the program has to do for the user.
pub(super) enum Request {
    /// Write to the clipboard of the terminal.
    Copy(String),
    /// Draw the whole screen again.
    Redraw,
    /// Suspend.
    Suspend,
    /// Quit.
    Quit,
}

impl Session {
    /// Loads the profile, and makes the first answer, saying what it reads if it `is_loud`. Watches the profile if it is given how
    /// often.
    pub(super) fn start(
        engine: Engine,
        question: Question,
        recorder: Option<Recorder>,
        size: (u16, u16),
        watch: Option<Duration>,
        is_loud: bool,
    ) -> Result<Session> {
        let versions = engine.versions(&question);
        let answer = Arc::new(engine.answer(&question, size.0, is_loud)?);
        let mut state = State::new(question.clone(), engine.grammar.clone(), size);
        state.show(&answer, None);
        if question.inputs.len() == 2 && !question.has("--base") {
            state.message = Some("2 profiles are added up; prof ui --base OLD NEW compares them".to_string());
        }
        let mut session = Session {
            engine,
            recorder,
            state,
            answer: answer.clone(),
            shown: question,
            before: vec![answer],
            computing: None,
            recording: None,
            saving: None,
            watch: Watch {
                is_on: false,
                every: watch.unwrap_or(OFTEN),
                last: Instant::now(),
                has_failed: false,
            },
            versions,
            watched: Vec::new(),
        };
        if watch.is_some() {
            session.toggle_watch();
        }
        Ok(session)
    }

    /// Whether something goes on in the background.
    pub(super) fn is_busy(&self) -> bool {
        self.computing.is_some() || self.recording.is_some() || self.saving.is_some()
    }

    /// Whether text is being typed.
    pub(super) fn is_typing(&self) -> bool {
        self.state.typing.is_some()
    }

    /// How long there is nothing to do unless a key is pressed.
    pub(super) fn rest(&self) -> Duration {
        if self.is_busy() {
            return Duration::from_millis(20);
        }
        if self.watch.is_on { self.watch.every.saturating_sub(self.watch.last.elapsed()) } else { FOREVER }
    }

    /// Presses a key, and asks what it changed.
    pub(super) fn press(&mut self, key: Key) -> Option<Request> {
        let effect = press(&mut self.state, &self.answer, key);
        let request = effect.and_then(|effect| self.take_effect(effect));
        self.ask();
        request
    }

    /// The same, and waits for what it started.
    pub(super) fn press_and_wait(&mut self, key: Key) {
        if key == Key::Wait {
            self.look_again();
        } else {
            self.press(key);
        }
        while self.is_busy() {
            self.receive(FOREVER);
        }
    }

    fn take_effect(&mut self, effect: Effect) -> Option<Request> {
        match effect {
            Effect::Copy(text) => {
                self.state.message = Some(format!("sent to the clipboard of the terminal: {text}"));
                return Some(Request::Copy(text));
            }
            Effect::Redraw => return Some(Request::Redraw),
            Effect::Suspend => return Some(Request::Suspend),
            Effect::Quit => return Some(Request::Quit),
            Effect::SuggestFile => {
                let text = self.free_name();
                let from = self.state.cursor.clone();
                self.state.typing = Some(Typing { purpose: Purpose::Save, text, from, recalled: 0 });
            }
            Effect::Save(path) => self.save(path),
            Effect::Follow(command) => match followed(&command, &self.state.question.inputs) {
                Some(question) => self.state.ask(question),
                None => {
                    let name = command.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                    self.state.message =
                        Some(format!("{name} is no view of this screen: y copies the command for a shell"));
                }
            },
            Effect::Options(text) => match self.engine.options(self.state.question.view, &text) {
                Ok(choices) => self.state.choose(choices),
                Err(message) => self.state.message = Some(message),
            },
            Effect::Cancel => self.cancel(),
            Effect::Reload => self.reload(),
            Effect::Watch => self.toggle_watch(),
        }
        None
    }

    /// Writes what is seen, on another thread: a page of a million stacks takes seconds.
    fn save(&mut self, path: String) {
        if self.saving.is_some() {
            self.state.message = Some("another file is still being written".to_string());
            return;
        }
        let (engine, question, target) = (self.engine.clone(), self.state.question.clone(), path.clone());
        self.saving = Some((path, Task::start(move || save(&engine, &question, &target))));
        self.receive_saved(MOMENT);
    }

    /// Reads files again. Servers record again, and what they recorded before becomes the old side.
    fn reload(&mut self) {
        if self.recorder.is_some() {
            self.record(Again::ToCompare);
        } else {
            self.read_again();
        }
    }

    fn record(&mut self, again: Again) {
        let Some(recorder) = self.recorder.clone() else { return };
        self.recording = Some((again, Task::start(move || recorder.record())));
        self.receive_recording(MOMENT);
    }

    /// Reads the files again, and shows the same place in them.
    fn read_again(&mut self) {
        let versions = self.engine.versions(&self.state.question);
        let engine = self.engine.anew();
        self.compute(engine.clone(), Some((engine, versions)), true);
    }

    /// Watches the profile, or no longer.
    fn toggle_watch(&mut self) {
        self.watch.is_on = !self.watch.is_on;
        let seconds = self.watch.every.as_secs();
        self.state.message = Some(match (self.watch.is_on, &self.recorder) {
            (false, _) => "no longer watching".to_string(),
            (true, Some(_)) => format!("recording again every {seconds} s; w stops"),
            (true, None) if self.engine.reads_standard_input() => {
                self.watch.is_on = false;
                "standard input cannot be read again".to_string()
            }
            (true, None) => format!("reading the profile again when it changes, every {seconds} s; w stops"),
        });
    }

    /// Does what is to be done every few seconds, if it is time.
    pub(super) fn tick(&mut self) {
        let is_time = self.watch.is_on && self.watch.last.elapsed() >= self.watch.every;
        if is_time && self.computing.is_none() && self.recording.is_none() {
            self.look_again();
        }
    }

    /// Looks whether the watched profile has changed. A server records it again.
    fn look_again(&mut self) {
        if !self.watch.is_on {
            return;
        }
        self.watch.last = Instant::now();
        if self.recorder.is_some() {
            self.record(Again::ToWatch);
        } else if self.engine.versions(&self.state.question) != self.versions {
            self.read_again();
        }
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
        let is_free = |name: &String| !Path::new(name).exists();
        (1..1000).map(name).find(is_free).unwrap_or_default()
    }

    /// Asks for the answer to a new question.
    fn ask(&mut self) {
        if self.computing.as_ref().is_some_and(|computing| computing.question == self.state.question) {
            return;
        }
        self.computing = None;
        if self.state.question == self.shown {
            self.state.settle_back(&self.answer);
            return;
        }
        let kept = self.before.iter().find(|answer| answer.question == self.state.question).cloned();
        match kept.and_then(|answer| self.fitting(answer)) {
            Some(answer) => self.show(answer),
            None => self.compute(self.engine.clone(), None, false),
        }
    }

    /// An answer for the width of the screen; `None` if that takes another report.
    fn fitting(&self, answer: Arc<Answer>) -> Option<Arc<Answer>> {
        let width = self.state.size.0;
        if answer.width == width || answer.text.is_empty() {
            return Some(answer);
        }
        self.engine.laid_out(&answer, width).map(Arc::new)
    }

    /// Computes the answer on another thread. What takes only a moment is waited for, so that the screen does not flicker.
    fn compute(&mut self, engine: Engine, reread: Option<(Engine, Vec<Version>)>, is_refresh: bool) {
        let (question, width) = (self.state.question.clone(), self.state.size.0);
        let asked = question.clone();
        let task = Task::start(move || engine.answer(&asked, width, false));
        self.computing = Some(Computing { question, reread, is_refresh, task });
        self.receive_answer(MOMENT);
    }

    /// Takes what other threads have finished, or waits so long for it. Returns whether there was something.
    pub(super) fn receive(&mut self, time: Duration) -> bool {
        self.receive_recording(time) | self.receive_answer(time) | self.receive_saved(time)
    }

    fn receive_answer(&mut self, time: Duration) -> bool {
        let Some(result) = self.computing.as_ref().and_then(|computing| computing.task.wait(time)) else {
            return false;
        };
        let Some(computing) = self.computing.take() else { return false };
        match result {
            Ok(answer) => {
                if let Some((engine, versions)) = computing.reread {
                    (self.engine, self.versions) = (engine, versions);
                }
                if computing.is_refresh {
                    // Those are about profiles that have changed.
                    self.before.clear();
                }
                let answer = Arc::new(answer);
                if self.before.len() >= MOST {
                    self.before.remove(0);
                }
                self.before.push(answer.clone());
                if computing.is_refresh {
                    if std::mem::take(&mut self.watch.has_failed) {
                        self.state.message = None;
                    }
                    self.state.refresh(&answer, &self.answer);
                    self.shown = answer.question.clone();
                    self.answer = answer;
                } else {
                    self.show(answer);
                }
            }
            Err(error) => {
                self.leave_question();
                self.watch.has_failed = computing.is_refresh;
                self.state.message = Some(message(&error));
            }
        }
        true
    }

    fn receive_recording(&mut self, time: Duration) -> bool {
        let Some((again, result)) =
            self.recording.as_ref().and_then(|(again, task)| Some((*again, task.wait(time)?)))
        else {
            return false;
        };
        self.recording = None;
        match (again, result) {
            (again, Err(error)) => {
                self.watch.has_failed = again == Again::ToWatch;
                self.state.message = Some(message(&error));
            }
            (Again::ToCompare, Ok(inputs)) => {
                let mut question = Question { inputs, ..self.state.question.clone() };
                question.drop("--base");
                for input in &self.state.question.inputs {
                    question.choose(Choice::repeated("--base", input.clone()));
                }
                self.state.ask(question);
                self.ask();
            }
            (Again::ToWatch, Ok(inputs)) => self.watch_recording(inputs),
        }
        true
    }

    /// Shows a newer recording at the same place, and deletes the one before if that came from watching, too.
    fn watch_recording(&mut self, inputs: Vec<String>) {
        let old = self.state.question.inputs.clone();
        self.state.replace_inputs(&old, &inputs);
        self.shown.replace_inputs(&old, &inputs);
        let is_new = |input: &String| Path::new(input).is_file();
        self.watched.extend(inputs.into_iter().filter(is_new));
        let (kept, gone) =
            std::mem::take(&mut self.watched).into_iter().partition(|file| self.state.mentions(file));
        self.watched = kept;
        for file in gone as Vec<String> {
            // A file that cannot be deleted is one more recording, as any other.
            let _ = fs::remove_file(file);
        }
        self.compute(self.engine.clone(), None, true);
    }

    fn receive_saved(&mut self, time: Duration) -> bool {
        let Some(result) = self.saving.as_ref().and_then(|(_, task)| task.wait(time)) else { return false };
        let Some((path, _)) = self.saving.take() else { return false };
        self.state.message = Some(match result {
            Ok(()) => format!("wrote {path}"),
            Err(error) => message(&error),
        });
        true
    }

    /// Waits until the file is written that is being written.
    pub(super) fn finish(&mut self) {
        while self.saving.is_some() {
            self.receive_saved(FOREVER);
        }
    }

    fn show(&mut self, answer: Arc<Answer>) {
        let before = std::mem::replace(&mut self.answer, answer);
        self.shown = self.answer.question.clone();
        self.state.show(&self.answer, Some(&before));
    }

    /// Stops what goes on in the background: its result will be dropped.
    fn cancel(&mut self) {
        let is_recording = self.recording.take().is_some();
        if self.computing.take().is_some() {
            self.leave_question();
        } else if !is_recording {
            let is_forgotten = self.state.forget_search(&self.answer);
            self.state.message = (!is_forgotten).then(|| "there is nothing to stop; q quits".to_string());
            return;
        }
        self.state.message = Some("stopped".to_string());
    }

    /// Goes back to the question of the answer on the screen.
    fn leave_question(&mut self) {
        while self.state.question != self.shown && self.state.back() {}
        self.state.question.clone_from(&self.shown);
        self.state.settle_back(&self.answer);
    }

    /// The screen has another size.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.state.resize(size);
        if self.computing.is_some() {
            return;
        }
        match self.fitting(self.answer.clone()) {
            Some(answer) => {
                self.state.show_wrapped(&answer, &self.answer);
                self.answer = answer;
            }
            None => self.compute(self.engine.clone(), None, true),
        }
    }

    /// Draws the screen.
    pub(super) fn draw(&self, area: Rect, cells: &mut Buffer) {
        draw(&self.state, &self.answer, self.engine.theme, &self.note(), area, cells);
    }

    /// What goes on in the background.
    fn note(&self) -> String {
        let is_new = self.computing.as_ref().is_some_and(|computing| !computing.is_refresh);
        let is_asked = self.recording.as_ref().is_some_and(|(again, _)| *again == Again::ToCompare);
        let notes = [
            (is_new, " computing, Esc stops ".to_string()),
            (is_asked, " recording, Esc stops ".to_string()),
            (self.saving.is_some(), " writing ".to_string()),
            (self.watch.is_on, format!(" every {} s, w stops ", self.watch.every.as_secs())),
        ];
        notes.into_iter().find_map(|(is_so, note)| is_so.then_some(note)).unwrap_or_default()
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

/// How often a profile is watched unless asked otherwise.
const OFTEN: Duration = Duration::from_secs(5);

/// Longer than anybody waits.
const FOREVER: Duration = Duration::from_hours(1);
