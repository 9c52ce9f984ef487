//! What is asked: exactly what one command line can say.

use std::collections::BTreeMap;

use crate::name::shell_words;

/// A view, in the order of the tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum View {
    /// `prof top`
    Top,
    /// `prof tree`, with or without `--bottom-up`
    Tree,
    /// `prof flame`
    Flame,
    /// `prof focus`
    Focus,
    /// `prof source`
    Source,
    /// `prof hot`
    Hot,
    /// `prof timeline`
    Timeline,
    /// `prof labels`
    Labels,
    /// `prof report`
    Report,
}

impl View {
    /// All views.
    pub(crate) const ALL: [View; 9] = [
        View::Top,
        View::Tree,
        View::Flame,
        View::Focus,
        View::Source,
        View::Hot,
        View::Timeline,
        View::Labels,
        View::Report,
    ];

    /// The name of its command, which is also that of its tab.
    pub(crate) fn command(self) -> &'static str {
        match self {
            View::Top => "top",
            View::Tree => "tree",
            View::Flame => "flame",
            View::Focus => "focus",
            View::Source => "source",
            View::Hot => "hot",
            View::Timeline => "timeline",
            View::Labels => "labels",
            View::Report => "report",
        }
    }

    /// The view of a command.
    pub(crate) fn named(command: &str) -> Option<View> {
        View::ALL.into_iter().find(|view| view.command() == command)
    }

    /// The view whose command prints the numbers of this one. A flame graph is the call tree as a picture, and its own
    /// command writes a file.
    fn printed(self) -> View {
        if self == View::Flame { View::Tree } else { self }
    }

    /// The name of its tab.
    pub(crate) fn title(self) -> &'static str {
        if self == View::Focus { "callers" } else { self.command() }
    }

    /// Whether it is about one function.
    pub(crate) fn has_subject(self) -> bool {
        matches!(self, View::Focus | View::Source)
    }
}

/// An option as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Its long name, such as `--focus`.
    pub(crate) name: String,
    /// Its value, if it has one.
    pub(crate) value: Option<String>,
    /// Whether it may be given several times.
    pub(crate) repeats: bool,
    /// Whether the value follows an equals sign: `--fold=NAME`.
    pub(crate) joined: bool,
}

impl Choice {
    /// An option that may be given several times, such as a filter.
    pub(crate) fn repeated(name: &str, value: impl Into<String>) -> Self {
        Choice { repeats: true, ..Choice::single(name, value) }
    }

    /// An option that replaces an earlier one.
    pub(crate) fn single(name: &str, value: impl Into<String>) -> Self {
        Choice { name: name.to_string(), value: Some(value.into()), repeats: false, joined: false }
    }

    /// A flag.
    pub(crate) fn flag(name: &str) -> Self {
        Choice { name: name.to_string(), value: None, repeats: false, joined: false }
    }

    fn words(&self) -> Vec<String> {
        match &self.value {
            None => vec![self.name.clone()],
            Some(value) if self.joined || value.starts_with('-') => vec![format!("{}={value}", self.name)],
            Some(value) => vec![self.name.clone(), value.clone()],
        }
    }
}

/// Which options the command of each view has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grammar(pub(crate) BTreeMap<View, BTreeMap<String, OptionHelp>>);

/// What is known of an option.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptionHelp {
    /// What it does.
    pub(crate) about: String,
    /// What its value is called, such as `RE`; empty if it has none.
    pub(crate) value: String,
    /// The values to choose from, if these are listed, and what each of them means.
    pub(crate) values: Vec<(String, String)>,
    /// Whether the screen knows it. Others say how text is printed or files are written.
    pub(crate) is_for_screens: bool,
}

impl Grammar {
    /// Whether the command of a view has an option, and knows its value.
    fn takes(&self, view: View, choice: &Choice) -> bool {
        let is_known = self.0.get(&view).is_none_or(|options| options.contains_key(&choice.name));
        let value = choice.value.as_deref().unwrap_or_default();
        is_known
            && match (view, &*choice.name) {
                // A timeline has rows of other kinds, and source lines belong to functions.
                (View::Timeline, "--by") => {
                    matches!(value, "thread" | "process" | "package") || value.starts_with("label:")
                }
                (_, "--by") if value == "thread" || value == "process" => false,
                // They only say what a page is to contain.
                (View::Flame, "--source-path" | "--trim-path") => false,
                (View::Source, "--by") => matches!(value, "function" | "name"),
                _ => true,
            }
    }
}

/// What is asked of which profiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// The view.
    pub(crate) view: View,
    /// The options, as given. The command of the view has only those that it knows.
    pub(crate) choices: Vec<Choice>,
    /// The function that `focus` and `source` show.
    pub(crate) subject: Option<String>,
    /// The profiles.
    pub(crate) inputs: Vec<String>,
}

impl Question {
    /// Adds an option, or replaces its value if it can be given only once.
    pub(crate) fn choose(&mut self, choice: Choice) {
        if !choice.repeats {
            self.choices.retain(|other| other.name != choice.name);
        }
        if !self.choices.contains(&choice) {
            self.choices.push(choice);
        }
    }

    /// Removes an option.
    pub(crate) fn drop(&mut self, name: &str) {
        self.choices.retain(|choice| choice.name != name);
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.choices.iter().any(|choice| choice.name == name)
    }

    /// The value of an option.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.choices.iter().find(|choice| choice.name == name)?.value.as_deref()
    }

    /// The options that affect the view, as words.
    pub(crate) fn options(&self, grammar: &Grammar) -> Vec<String> {
        self.taken(grammar).flat_map(Choice::words).collect()
    }

    /// The options that the view has.
    fn taken<'q>(&'q self, grammar: &'q Grammar) -> impl Iterator<Item = &'q Choice> {
        self.choices.iter().filter(|choice| grammar.takes(self.view, choice))
    }

    /// The arguments that are not options: the function, and the profiles.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let subject = self.subject.clone().filter(|_| self.view.has_subject());
        subject.into_iter().chain(self.inputs.iter().cloned()).collect()
    }

    /// The command line that prints the same numbers, for a shell.
    pub(crate) fn command_line(&self, grammar: &Grammar) -> String {
        let printed = self.view.printed();
        let options: Vec<String> = self
            .taken(grammar)
            .filter(|choice| grammar.takes(printed, choice))
            .flat_map(Choice::words)
            .collect();
        let rest = shell_words(options.iter(), self.arguments().iter());
        format!("prof {} {rest}", printed.command()).trim_end().to_string()
    }

    /// Asks about other profiles, where this asks about `old` ones.
    pub(crate) fn replace_inputs(&mut self, old: &[String], new: &[String]) {
        if self.inputs == old {
            self.inputs = new.to_vec();
        }
    }

    /// Whether a file is one of the profiles or of the baseline.
    pub(crate) fn mentions(&self, file: &str) -> bool {
        let is_value = |choice: &Choice| choice.value.as_deref() == Some(file);
        self.inputs.iter().any(|input| input == file) || self.choices.iter().any(is_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_only_options_that_its_view_knows() {
        let options =
            |names: &[&str]| names.iter().map(|name| (name.to_string(), OptionHelp::default())).collect();
        let grammar = Grammar(BTreeMap::from([
            (View::Top, options(&["--by", "--focus"])),
            (View::Tree, options(&["--by", "--focus", "--bottom-up", "--fold"])),
            (View::Timeline, options(&["--by"])),
        ]));
        let mut question =
            Question { view: View::Top, choices: Vec::new(), subject: None, inputs: vec!["a b".into()] };
        question.choose(Choice::flag("--bottom-up"));
        question.choose(Choice::repeated("--focus", "^x$"));
        question.choose(Choice::repeated("--focus", "-y"));
        question.choose(Choice::single("--by", "file"));
        question.choose(Choice::single("--by", "package"));
        question.choose(Choice { joined: true, ..Choice::repeated("--fold", "z") });
        let line = |view| Question { view, ..question.clone() }.command_line(&grammar);
        assert_eq!(line(View::Top), "prof top --focus '^x$' --focus=-y --by package 'a b'");
        let tree = "prof tree --bottom-up --focus '^x$' --focus=-y --by package --fold=z 'a b'";
        assert_eq!(line(View::Tree), tree);
        assert_eq!(line(View::Timeline), "prof timeline --by package 'a b'");
        let flame = "prof tree --bottom-up --focus '^x$' --focus=-y --by package --fold=z 'a b'";
        assert_eq!(line(View::Flame), flame, "the command of a flame graph prints its numbers");
        question.choose(Choice::single("--by", "file"));
        let line = Question { view: View::Timeline, ..question }.command_line(&grammar);
        assert_eq!(line, "prof timeline 'a b'");
    }
}
