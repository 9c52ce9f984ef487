//! The arguments of a call as words of a command line.

use anyhow::Result;
use serde_json::{Map, Value};

use crate::cli::commands::mcp::tools::{FEWEST_TOKENS, Setting, SettingKind, TOKENS, Tool};
use crate::cli::options::args::shell_words;
use crate::cli::terminal::failure::{hinted, meant};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The command and its options, without those that a server adds.
    pub(super) options: Vec<String>,
    /// The arguments after the options.
    pub(super) positionals: Vec<String>,
    /// The profiles that are to be read.
    pub(super) profiles: Vec<String>,
    /// The most tokens of the answer.
    pub(super) budget: usize,
}

/// More tokens than these are none for a program to read.
const MOST_TOKENS: usize = 100_000;
/// Longer texts and lists are refused.
const LONGEST: usize = 64 << 10;
const MOST_VALUES: usize = 1_000;

impl Call {
    /// The call that the arguments of a tool stand for.
    pub(super) fn new(tool: &Tool, given: &Map<String, Value>) -> Result<Call> {
        let known: Vec<&str> = tool.settings.iter().map(|setting| setting.key.as_str()).collect();
        let is_known = |key: &String| key == "budget" || known.contains(&key.as_str());
        if let Some(wrong) = given.keys().find(|key| !is_known(key)) {
            let message = format!("{}: no argument {}", tool.name, shortened(wrong));
            return Err(hinted(
                message,
                format!("{}its arguments are {}, budget", meant(wrong, &known), known.join(", ")),
            ));
        }
        let mut call = Call {
            options: Vec::new(),
            positionals: Vec::new(),
            profiles: Vec::new(),
            budget: budget(given)?,
        };
        for setting in &tool.settings {
            let Some(value) = given.get(&setting.key).filter(|value| !value.is_null()) else { continue };
            call.add(setting, value)?;
        }
        // Otherwise, the command would take the profile for the function, which comes first.
        let is_missing = |setting: &&Setting| {
            setting.is_required
                && !setting.names_profiles
                && given.get(&setting.key).is_none_or(Value::is_null)
        };
        if let Some(missing) = tool.settings.iter().find(is_missing) {
            let message = format!("{}: no {} given", tool.name, missing.key);
            return Err(hinted(message, format!("give it as `{}`", missing.key)));
        }
        // One path, or several that the command reads in this order.
        if call.profiles.is_empty() {
            let hint = "give the path of a file, or of a folder, as `profile`";
            return Err(hinted(format!("{}: no profile given", tool.name), hint));
        }
        Ok(call)
    }

    fn add(&mut self, setting: &Setting, value: &Value) -> Result<()> {
        if setting.kind == SettingKind::Flag {
            let is_set = value.as_bool().ok_or_else(|| wrong(setting, "expected true or false"))?;
            self.options.extend(setting.option.iter().filter(|_| is_set).map(|option| format!("--{option}")));
            return Ok(());
        }
        for text in texts(setting, value)? {
            if setting.names_profiles {
                self.profiles.push(text.clone());
            }
            match &setting.option {
                None => self.positionals.push(text),
                // Its value may be empty, which means that it has none.
                Some(option) if setting.needs_equals && text.is_empty() => {
                    self.options.push(format!("--{option}"));
                }
                Some(option) if setting.needs_equals || text.starts_with('-') => {
                    self.options.push(format!("--{option}={text}"));
                }
                Some(option) => self.options.extend([format!("--{option}"), text]),
            }
        }
        Ok(())
    }

    /// The words of the command line, for the parser of `prof`. `added` are further options.
    pub(super) fn words(&self, command: &str, added: &[String]) -> Vec<String> {
        let start = ["prof", command].map(str::to_string);
        let divider = ["--".to_string()];
        start
            .into_iter()
            .chain(self.options.iter().cloned())
            .chain(added.iter().cloned())
            .chain(divider)
            .chain(self.positionals.iter().cloned())
            .collect()
    }

    /// The command line that gives the same answer, for people.
    pub(super) fn command_line(&self, command: &str, added: &[String]) -> String {
        format!("prof {command} {}", shell_words(self.options.iter().chain(added), self.positionals.iter()))
    }
}

/// The values of a setting as text.
fn texts(setting: &Setting, value: &Value) -> Result<Vec<String>> {
    let values = match value {
        Value::Array(values) if setting.is_list && values.len() <= MOST_VALUES => values.as_slice(),
        Value::Array(values) if setting.is_list => {
            return Err(wrong(
                setting,
                &format!("{} values are more than the {MOST_VALUES} allowed", values.len()),
            ));
        }
        one => std::slice::from_ref(one),
    };
    let text = |value: &Value| match (value, setting.kind) {
        (Value::String(text), _) if text.len() > LONGEST => {
            Err(wrong(setting, &format!("{} characters are more than the {LONGEST} allowed", text.len())))
        }
        (Value::String(text), _) if text.contains('\0') => {
            Err(wrong(setting, "a text has no null characters"))
        }
        (Value::String(text), _) => Ok(text.clone()),
        (Value::Number(number), _) => Ok(number.to_string()),
        (_, SettingKind::Integer | SettingKind::Number) => Err(wrong(setting, "expected a number")),
        (_, _) if setting.is_list => Err(wrong(setting, "expected a text or a list of texts")),
        (_, _) => Err(wrong(setting, "expected a text")),
    };
    values.iter().map(text).collect()
}

fn wrong(setting: &Setting, why: &str) -> anyhow::Error {
    anyhow::Error::msg(format!("{}: {why}", setting.key))
}

/// The most tokens of an answer.
fn budget(given: &Map<String, Value>) -> Result<usize> {
    let Some(value) = given.get("budget").filter(|value| !value.is_null()) else { return Ok(TOKENS) };
    let tokens = value.as_u64().and_then(|tokens| usize::try_from(tokens).ok());
    // As on the command line, where `--budget 0` shows all.
    let tokens = tokens.map(|tokens| if tokens == 0 { MOST_TOKENS } else { tokens });
    let tokens = tokens.filter(|tokens| (FEWEST_TOKENS..=MOST_TOKENS).contains(tokens));
    tokens.ok_or_else(|| {
        anyhow::Error::msg(format!(
            "budget: expected a number from {FEWEST_TOKENS} to {MOST_TOKENS}, or 0 for the most"
        ))
    })
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use serde_json::json;

    use super::*;
    use crate::cli::commands::Prof;
    use crate::cli::commands::mcp::tools::tools;

    fn call(tool: &str, given: &Value) -> Result<Call> {
        let mut prof = Prof::command();
        prof.build();
        let tools = tools(&prof);
        let tool = tools.iter().find(|one| one.name == tool).unwrap();
        Call::new(tool, given.as_object().unwrap())
    }

    #[test]
    fn arguments_become_options_and_cannot_become_others() {
        let given = json!({
            "profile": ["a.pb.gz", "--output=x"],
            "show_stacks": ["json", "--force"],
            "fold": "",
            "no_inlines": true,
            "collapse_recursion": false,
            "limit": 3,
            "min_share": 0.5,
        });
        let call = call("top", &given).unwrap();
        assert_eq!(call.profiles, ["a.pb.gz", "--output=x"]);
        let words = call.words("top", &["--no-save".to_string()]);
        let divider = words.iter().position(|word| word == "--").unwrap();
        assert_eq!(words[divider + 1..], ["a.pb.gz", "--output=x"]);
        assert!(words[..divider].contains(&"--show-stacks=--force".to_string()), "{words:?}");
        assert!(words[..divider].contains(&"--fold".to_string()), "{words:?}");
        assert!(!words.contains(&"--force".to_string()) && !words.contains(&"--output=x=".to_string()));
        let line = call.command_line("top", &[]);
        assert!(line.starts_with("prof top ") && line.ends_with(" -- a.pb.gz --output=x"), "{line}");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let long = "x".repeat(LONGEST + 1);
        for (given, says) in [
            (json!({}), "top: no profile given"),
            (json!({ "profile": [] }), "top: no profile given"),
            (json!({ "profile": 7.5, "limit": "x", "outputt": "y" }), "top: no argument outputt"),
            (json!({ "profile": "a", "output": "y" }), "top: no argument output"),
            (json!({ "profile": "a", "no_inlines": "yes" }), "no_inlines: expected true or false"),
            (json!({ "profile": "a", "limit": {} }), "limit: expected a number"),
            (json!({ "profile": "a", "limit": [1] }), "limit: expected a number"),
            (
                json!({ "profile": "a", "show_stacks": [["a"]] }),
                "show_stacks: expected a text or a list of texts",
            ),
            (json!({ "profile": "a", "show_stacks": long }), "show_stacks: 65537 characters are more than"),
            (json!({ "profile": "a\u{0}b" }), "profile: a text has no null characters"),
            (json!({ "profile": vec!["a"; 2000] }), "profile: 2000 values are more than"),
            (json!({ "profile": "a", "budget": 3 }), "budget: expected a number from 100"),
            (json!({ "profile": "a", "budget": -1 }), "budget: expected a number from 100"),
        ] {
            let error = call("top", &given).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
        assert_eq!(call("top", &json!({ "profile": "a", "budget": 0 })).unwrap().budget, MOST_TOKENS);
        let error = call("focus", &json!({ "profile": "a" })).unwrap_err().to_string();
        assert_eq!(error, "focus: no function given");
    }
}
