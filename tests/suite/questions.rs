//! Questions with known answers (`tests/questions.toml`), asked through the server for programs: one line of each answer has
//! what was asked for, within the budget.

use std::path::Path;

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::mcp::Client;
use crate::support::needs::shared;

/// The most characters of an answer: 2,000 tokens.
const ROOM: usize = 8_000;

/// Asks the questions about profiles that begin with `start`, and returns how many there are.
fn ask(start: &str) -> usize {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(here.join("tests/questions.toml")).unwrap();
    let list: toml::Table = toml::from_str(&text).unwrap();
    let corpus = shared("corpus").display().to_string();
    let roots: &[&str] = if start == "corpus/" { &["--root", ".", "--root", &corpus] } else { &[] };
    let mut client = Client::start(here, roots);
    let mut wrong = Vec::new();
    let questions = list["question"].as_array().unwrap().iter();
    let of_start = questions.filter(|question| question["profile"].as_str().unwrap().starts_with(start));
    let mut count = 0;
    for question in of_start {
        count += 1;
        let path = |key: &str| {
            let path = question.get(key)?.as_str()?;
            Some(path.strip_prefix("corpus").map_or(path.to_string(), |rest| format!("{corpus}{rest}")))
        };
        let given = question.get("arguments").map(|given| serde_json::to_value(given).unwrap());
        let mut arguments: Map<String, Value> =
            given.and_then(|given| given.as_object().cloned()).unwrap_or_default();
        let profiles: Vec<String> = ["profile", "new"].into_iter().filter_map(path).collect();
        arguments.insert("profile".to_string(), json!(profiles));
        let tool = question["tool"].as_str().unwrap();
        let answer = client.text(tool, &Value::Object(arguments));
        assert!(answer.chars().count() <= ROOM, "{question:?}");
        let parts: Vec<Regex> = question["answer"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| Regex::new(part.as_str().unwrap()).unwrap())
            .collect();
        // The command line at the end repeats what was asked.
        let mut lines = answer.lines().filter(|line| !line.starts_with("command: "));
        if !lines.any(|line| parts.iter().all(|part| part.is_match(line))) {
            wrong.push(format!("{:?}\n{answer}", question["asks"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    client.end();
    count
}

#[test]
fn questions_about_fixtures_are_answered() {
    assert_eq!(ask("fixtures/"), 31);
}

#[test]
#[needs(Corpus)]
fn questions_about_public_profiles_are_answered() {
    assert_eq!(ask("corpus/"), 9);
}
