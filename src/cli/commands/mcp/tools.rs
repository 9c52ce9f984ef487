//! The tools of the server: what a command is called, and which of its options a program may set. Everything is taken from the
//! definition of the command, so that its help, its command line and its tool agree.

use std::any::TypeId;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};
use serde_json::{Map, Value, json};

use crate::cli::commands::report::TOKEN;
use crate::cli::terminal::words::in_words;

/// The name of each tool, the command that answers it, and what it is for. What a client and the help say of tools is made of
/// this list.
const TOOLS: &[(&str, &str, &str)] = &[
    ("open", "info", "what a file has"),
    ("report", "report", "conclusions, each with a command that shows its number"),
    ("top", "top", "functions"),
    ("tree", "tree", "the call tree; bottom_up for callers"),
    ("focus", "focus", "one function: callers and callees"),
    ("hot", "hot", "repeated sequences of calls"),
    ("source", "source", "lines of source"),
    ("diff", "diff", "what changed between two profiles, and whether it is noise"),
    ("labels", "labels", "labels and their values"),
    ("timeline", "timeline", "activity over time"),
    ("lint", "lint", "whether the recording is fit to conclude from"),
];

/// The names of all tools, in a sentence: `open, report, top and lint`.
pub(super) fn names() -> String {
    let names: Vec<&str> = TOOLS.iter().map(|(name, ..)| *name).collect();
    in_words(&names)
}

/// What each tool is for: "`open`: what a file has. `report`: …".
pub(super) fn purposes() -> String {
    let purposes: Vec<String> =
        TOOLS.iter().map(|(name, _, purpose)| format!("`{name}`: {purpose}. ")).collect();
    purposes.concat()
}

/// Groups of options that a server decides itself: what it may fetch, and that it runs nothing.
const HEADINGS: &[&str] = &["Servers", "Symbols", "Set up"];

/// Options that a server decides itself, or that make no sense in an answer: they write or read other files, say how text looks on
/// a terminal, or how much of the machine is used. `budget` is that of the tool.
const EXCLUDED: &[&str] = &[
    "all_frames",
    "anonymize",
    "asm",
    "budget",
    "by_side",
    "chains",
    "color",
    "columns",
    "deny",
    "force",
    "format",
    "guide",
    "how",
    "input_format",
    "learn_noise",
    "max_memory",
    "max_profiles",
    "noise",
    "output",
    "pager",
    "quiet",
    "runs",
    "salt",
    "seed",
    "skip_broken",
    "source_path",
    "strict",
    "threads",
    "trim_path",
    "unit",
    "verbose",
    "weight",
    "width",
];

/// Arguments that name files to read.
const PROFILES: &[&str] = &["profiles", "base", "old", "new"];

/// The tokens of an answer, unless a call says otherwise.
pub(super) const TOKENS: usize = 2_000;
/// Fewer tokens do not hold an answer.
pub(super) const FEWEST_TOKENS: usize = 100;

/// A tool.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: &'static str,
    /// The command that answers it.
    pub(super) command: &'static str,
    /// What it does.
    pub(super) about: String,
    /// What may be set, in the order of the command's help.
    pub(super) settings: Vec<Setting>,
}

/// An option or argument of a tool.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// Its key.
    pub(super) key: String,
    /// The option on the command line; `None` for an argument without one.
    pub(super) option: Option<String>,
    /// What it is.
    pub(super) kind: SettingKind,
    /// Whether several values may be given.
    pub(super) is_list: bool,
    /// Whether it names profiles.
    pub(super) names_profiles: bool,
    /// Whether a value follows only after an equals sign.
    pub(super) needs_equals: bool,
    /// Whether the command does not run without it.
    pub(super) is_required: bool,
    help: String,
    choices: Vec<String>,
}

/// The kind of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingKind {
    Flag,
    Integer,
    Number,
    Text,
}

/// All tools, taken from the commands of `prof`.
pub(super) fn tools(prof: &Command) -> Vec<Tool> {
    let tool = |&(name, command, _): &(&'static str, &'static str, &'static str)| {
        let definition = prof.find_subcommand(command)?;
        let about = definition.get_about().map(ToString::to_string).unwrap_or_default();
        let settings = definition.get_arguments().filter_map(setting).collect();
        Some(Tool { name, command, about, settings })
    };
    TOOLS.iter().filter_map(tool).collect()
}

/// What a program may set of an argument; `None` for nothing.
fn setting(argument: &Arg) -> Option<Setting> {
    let id = argument.get_id().as_str();
    let is_excluded = argument.is_hide_set()
        || ["help", "version"].contains(&id)
        || EXCLUDED.contains(&id)
        || argument.get_help_heading().is_some_and(|heading| HEADINGS.contains(&heading));
    if is_excluded {
        return None;
    }
    let option = argument.get_long().map(str::to_string);
    let key = option.clone().unwrap_or_else(|| id.trim_end_matches('s').to_string()).replace('-', "_");
    let is_flag = matches!(argument.get_action(), ArgAction::SetTrue);
    let many_values = argument.get_num_args().is_some_and(|range| range.max_values() > 1);
    let choices = argument.get_possible_values();
    Some(Setting {
        kind: if is_flag { SettingKind::Flag } else { kind(argument.get_value_parser()) },
        is_list: matches!(argument.get_action(), ArgAction::Append) || many_values,
        names_profiles: PROFILES.contains(&id),
        needs_equals: argument.is_require_equals_set(),
        is_required: argument.is_required_set(),
        help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
        choices: choices.iter().filter(|_| !is_flag).map(|choice| choice.get_name().to_string()).collect(),
        key,
        option,
    })
}

fn kind(parser: &ValueParser) -> SettingKind {
    let value = parser.type_id();
    if value == TypeId::of::<usize>() || value == TypeId::of::<u32>() || value == TypeId::of::<u64>() {
        SettingKind::Integer
    } else if value == TypeId::of::<f64>() {
        SettingKind::Number
    } else {
        SettingKind::Text
    }
}

impl Tool {
    /// The JSON schema of the tool's arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut properties: Map<String, Value> =
            self.settings.iter().map(|setting| (setting.key.clone(), setting.schema())).collect();
        let help = format!(
            "Most tokens (of {TOKEN} characters) of the answer, at least {FEWEST_TOKENS}; 0: as many as a server gives [default: {TOKENS}]"
        );
        let budget = json!({ "type": "integer", "minimum": 0, "description": help });
        properties.insert("budget".to_string(), budget);
        let required: Vec<&str> = self
            .settings
            .iter()
            .filter(|setting| setting.is_required || setting.key == "profile")
            .map(|setting| setting.key.as_str())
            .collect();
        let Value::Object(schema) = json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }) else {
            return Map::new();
        };
        schema
    }
}

impl Setting {
    fn schema(&self) -> Value {
        let mut one = Map::new();
        let word = match self.kind {
            SettingKind::Flag => "boolean",
            SettingKind::Integer => "integer",
            // `5` and `5%` are both accepted.
            SettingKind::Number | SettingKind::Text => "string",
        };
        let types = if self.kind == SettingKind::Number { json!(["number", "string"]) } else { json!(word) };
        one.insert("type".to_string(), types);
        if !self.choices.is_empty() {
            one.insert("enum".to_string(), json!(self.choices));
        }
        let mut schema =
            if self.is_list { json!({ "type": [word, "array"], "items": one }) } else { Value::Object(one) };
        schema["description"] = Value::String(first_sentence(&self.help).to_string());
        schema
    }
}

/// The first sentence of a help text: the list of tools is in the memory of a program all the time.
fn first_sentence(help: &str) -> &str {
    help.split_once(". ").map_or(help, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::commands::Prof;

    fn all() -> Vec<Tool> {
        let mut prof = Prof::command();
        prof.build();
        tools(&prof)
    }

    /// An option that is new has to be thought about: may a program that is not trusted set it? If it reads or writes a file, runs
    /// or fetches something, it belongs to [`EXCLUDED`]; otherwise here.
    #[test]
    fn what_a_tool_may_set_is_known() {
        let mut keys: Vec<String> =
            all().into_iter().flat_map(|tool| tool.settings).map(|one| one.key).collect();
        keys.sort();
        keys.dedup();
        let known = "alpha base bins bottom_up by collapse_recursion context_share contexts depth detect explain \
                     fixed_strings focus fold from function hide_frames hide_label hide_stacks highlight label label_leaf \
                     label_root latency limit max_length merge metric min_effect min_length min_points min_share \
                     min_tested names new no_explain no_inlines normalize old outliers per_event profile prune_from rename \
                     show_frames show_from show_stacks sort thread to tolerance wall what_if";
        assert_eq!(keys.join(" "), known.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn descriptions_are_whole_sentences() {
        let tools = all();
        let top = tools.iter().find(|tool| tool.name == "top").unwrap().schema();
        let about = |key: &str| top["properties"][key]["description"].as_str().unwrap().to_string();
        assert!(about("what_if").contains("0.5 or 50% for half, 0 for nothing"), "{}", about("what_if"));
        assert!(about("budget").contains("0: as many as a server gives"), "{}", about("budget"));
        assert_eq!(names(), "open, report, top, tree, focus, hot, source, diff, labels, timeline and lint");
        assert!(purposes().starts_with("`open`: what a file has. `report`: conclusions"), "{}", purposes());
    }

    #[test]
    fn every_tool_has_a_schema_like_its_command() {
        let tools = all();
        assert_eq!(tools.len(), TOOLS.len());
        let top = tools.iter().find(|tool| tool.name == "top").unwrap().schema();
        assert_eq!(top["required"], json!(["profile"]));
        assert_eq!(top["properties"]["limit"]["type"], "integer");
        assert_eq!(top["properties"]["no_inlines"]["type"], "boolean");
        assert_eq!(top["properties"]["names"]["enum"], json!(["short", "full"]));
        assert_eq!(top["properties"]["show_stacks"]["type"], json!(["string", "array"]));
        let focus = tools.iter().find(|tool| tool.name == "focus").unwrap().schema();
        assert_eq!(focus["required"], json!(["function", "profile"]));
        for tool in &tools {
            assert!(!tool.about.is_empty(), "{}", tool.name);
            for setting in &tool.settings {
                assert!(!setting.help.is_empty(), "{} {}", tool.name, setting.key);
            }
        }
    }
}
