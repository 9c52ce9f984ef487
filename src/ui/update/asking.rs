//! Keys that ask something else.

use crate::pattern::{exactly, exactly_of};
use crate::ui::answer::{Answer, Line};
use crate::ui::question::{Choice, Question, View};
use crate::ui::state::State;
use crate::ui::update::blocks::zoom;
use crate::ui::update::effect::Effect;

/// What Enter does with the selected line.
pub(super) fn enter(state: &mut State, answer: &Answer) -> Option<Effect> {
    if answer.flame().is_some() {
        zoom(state);
        return None;
    }
    let line = state.line()?;
    match line {
        Line::Tree(row) => {
            if !state.cursor.open.remove(&row) && answer.has_children(row) {
                state.cursor.open.insert(row);
            }
            state.lay_out(answer);
        }
        Line::Cut(None, _) if answer.is_bottom_up() => {
            let roots =
                state.lines.iter().filter(|line| matches!(line, Line::Tree(row) if answer.is_root(*row)));
            let more = (roots.count() * 4).to_string();
            let mut question = state.question.clone();
            question.choose(Choice::single("--limit", more));
            state.ask(question);
        }
        Line::Cut(..) => {
            state.message =
                Some("these are too light to be listed; :--min-share 0 lists all of them".to_string());
        }
        Line::Key(_) | Line::Label(..) => {
            let label = answer.label_of(line)?;
            let mut question = state.question.clone();
            question.choose(Choice::repeated("--label", label));
            question.view = last_view(state);
            state.ask(question);
        }
        Line::Top(_) | Line::Caller(_) | Line::Callee(_) | Line::Subject | Line::Itself => {
            show_function(state, answer, View::Focus);
        }
        Line::Text(_) => return enter_text(state, answer, line),
        Line::Title(_) => {}
    }
    None
}

/// What Enter does with a line of a view that is shown as text.
fn enter_text(state: &mut State, answer: &Answer, line: Line) -> Option<Effect> {
    if let Some(filter) = answer.row_filter(line) {
        let mut question = state.question.clone();
        question.choose(filter);
        state.ask(question);
        return None;
    }
    if let Some(command) = answer.command_of(line) {
        return Some(Effect::Follow(command.to_string()));
    }
    if answer.name_of(line).is_some() {
        show_function(state, answer, View::Focus);
        return None;
    }
    let why = match state.question.view {
        View::Report => "Enter shows the evidence of a finding: select one first",
        View::Timeline => "Enter keeps a row or a phase: select one first",
        _ => "Enter shows the callers and the callees of a function: select one first",
    };
    state.message = Some(why.to_string());
    None
}

/// The view before the list of labels.
fn last_view(state: &State) -> View {
    let mut views = state.before.iter().rev().map(|(question, _)| question.view);
    views.find(|view| *view != View::Labels).unwrap_or(View::Top)
}

/// Shows a view of the selected function.
pub(super) fn show_function(state: &mut State, answer: &Answer, view: View) {
    let Some(subject) = subject(state, answer, view) else {
        let what = if view == View::Focus { "callers are" } else { "source lines are" };
        state.message = Some(format!("{what} those of one function: select it first, in view 1, 2 or 3"));
        return;
    };
    let mut question = Question { view, subject: Some(subject), ..state.question.clone() };
    if view == View::Focus && names_functions(state.question.view) && state.selected(answer).is_some() {
        question.drop("--by");
    }
    if question == state.question {
        let what = if view == View::Focus { "callers and callees" } else { "source lines" };
        state.message = Some(format!("these are its {what} already"));
    }
    state.ask(question);
}

/// What a view of one function shows: the selected function, or the one of the view before.
fn subject(state: &State, answer: &Answer, view: View) -> Option<String> {
    let selected = state.selected(answer).map(str::to_string).or_else(|| state.question.subject.clone())?;
    if view != View::Source {
        return Some(selected);
    }
    // Source lines belong to functions, whatever rows stand for.
    match selected_kind(state) {
        kind @ ("file" | "package" | "mapping") => Some(exactly_of(kind, &selected)),
        "line" | "address" => state.function(answer).map(str::to_string).or(Some(selected)),
        _ => Some(selected),
    }
}

/// Whether what is selected in a view is a function, whatever rows stand for elsewhere.
fn names_functions(view: View) -> bool {
    matches!(view, View::Source | View::Report | View::Timeline)
}

/// What the selected name is that of: a function, a file, a package.
fn selected_kind(state: &State) -> &str {
    let kind = state.question.value("--by").filter(|_| !names_functions(state.question.view));
    kind.unwrap_or("function")
}

/// The pattern that matches exactly the selected function.
fn selected_pattern(state: &mut State, answer: &Answer) -> Option<String> {
    let Some(name) = state.selected(answer) else {
        state.message = Some("select a function first".to_string());
        return None;
    };
    match selected_kind(state) {
        "function" | "name" => Some(exactly(name)),
        kind @ ("file" | "package" | "mapping") => Some(exactly_of(kind, name)),
        "line" | "address" if state.function(answer).is_some() => state.function(answer).map(exactly),
        kind => {
            let message = format!("rows are by {kind}; press p until they are functions");
            state.message = Some(message);
            None
        }
    }
}

/// Asks something else; says why if that would change nothing.
pub(super) fn ask(state: &mut State, question: Question, option: &str) {
    let view = question.view;
    if view == state.question.view
        && question != state.question
        && question.options(&state.grammar) == state.question.options(&state.grammar)
    {
        state.message = Some(format!("prof {} has no {option}: press it in another view", view.command()));
        return;
    }
    if question == state.question {
        state.message = Some(format!("{option} says that already"));
    }
    state.ask(question);
}

/// Keeps or drops the stacks through the selected function, or hides its frames.
pub(super) fn filter_by_selected(state: &mut State, answer: &Answer, key: char) {
    let Some(pattern) = selected_pattern(state, answer) else { return };
    let option = match key {
        'f' => "--focus",
        'x' => "--hide-stacks",
        _ => "--hide-frames",
    };
    let mut question = state.question.clone();
    question.choose(Choice::repeated(option, pattern));
    if matches!(question.view, View::Focus | View::Source) && key != 'f' {
        question.view = View::Top;
    }
    ask(state, question, option);
}

/// Makes rows of something else.
pub(super) fn next_kind_of_rows(state: &mut State) {
    let mut question = state.question.clone();
    let kinds: &[&str] = if question.view == View::Timeline {
        &["thread", "process", "package"]
    } else {
        &["function", "package", "file", "line", "mapping"]
    };
    let kind = cycle(question.value("--by").or(kinds.first().copied()), kinds);
    question.choose(Choice::single("--by", kind));
    ask(state, question, "--by");
}

/// The options that `X` removes.
pub(super) const FILTERS: [&str; 14] = [
    "--show-stacks",
    "--hide-stacks",
    "--show-frames",
    "--hide-frames",
    "--show-from",
    "--prune-from",
    "--focus",
    "--label",
    "--hide-label",
    "--thread",
    "--from",
    "--to",
    "--highlight",
    "--min-share",
];

pub(super) fn show_view(state: &mut State, answer: &Answer, view: View) {
    if view.has_subject() {
        return show_function(state, answer, view);
    }
    let question = Question { view, ..state.question.clone() };
    if question == state.question {
        state.message = Some(format!("this is {} already", view.title()));
    }
    state.ask(question);
}

/// Shows the view that is so many tabs to the right, without those of one function if none is selected. If a view cannot be
/// shown, the next key goes on from there.
pub(super) fn turn(state: &mut State, answer: &Answer, by: usize) {
    let from = state.tried.unwrap_or(state.question.view);
    let place = View::ALL.iter().position(|view| *view == from).unwrap_or(0);
    let mut further = (1..View::ALL.len()).map(|step| View::ALL[(place + by * step) % View::ALL.len()]);
    let can_be_shown = |view: &View| !view.has_subject() || subject(state, answer, *view).is_some();
    if let Some(view) = further.find(can_be_shown) {
        show_view(state, answer, view);
        state.tried = Some(view);
    }
}

/// The word after this one, around the end; the first if there is none.
pub(super) fn cycle(now: Option<&str>, words: &[&str]) -> String {
    let place = now.and_then(|now| words.iter().position(|word| *word == now));
    words[place.map_or(0, |place| (place + 1) % words.len())].to_string()
}

pub(super) fn next_metric(state: &mut State, answer: &Answer) {
    let metrics = &answer.metrics;
    let Some(shown) = answer.report.header().map(|header| header.metric.name.as_str()) else { return };
    if metrics.len() < 2 {
        state.message = Some(format!("the profile has no other metric than {shown}"));
        return;
    }
    let place = metrics.iter().position(|metric| metric == shown).unwrap_or(0);
    let mut question = state.question.clone();
    question.drop("--metric");
    // It is a unit of the metric that was shown.
    question.drop("--unit");
    question.choose(Choice::repeated("--metric", metrics[(place + 1) % metrics.len()].clone()));
    state.ask(question);
}

/// Sorts by the next key. The first press leaves the default order of the view.
pub(super) fn next_order(state: &mut State) {
    let question = &state.question;
    let is_tree = question.view == View::Tree && !question.has("--bottom-up");
    let keys: &[&str] = match (question.has("--base"), is_tree || question.view == View::Focus) {
        (true, _) => &["delta", "self", "total", "name", "old", "new"],
        (false, true) => &["total", "self", "name"],
        (false, false) => &["self", "total", "name"],
    };
    let key = cycle(question.value("--sort").or(keys.first().copied()), keys);
    sort_by(state, &key);
}

/// Sorts by a key.
pub(super) fn sort_by(state: &mut State, key: &str) {
    let mut question = state.question.clone();
    state.message = Some(format!("sorted by {key}"));
    question.choose(Choice::single("--sort", key));
    ask(state, question, "--sort");
}
