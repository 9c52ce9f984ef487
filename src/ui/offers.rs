//! What an option that is being typed may be: the options of the view, their values, names of functions.

use std::collections::HashSet;

use crate::name::quoted;
use crate::report::{Name, Report};
use crate::ui::answer::Answer;
use crate::ui::question::{Grammar, OptionHelp, View};

/// Something that may be typed next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// What it is typed as.
    pub(crate) text: String,
    /// The same with the name of its value: `--focus RE`.
    pub(crate) shown: String,
    /// What it means.
    pub(crate) about: String,
    /// Where the word starts that it replaces.
    start: usize,
}

/// What the last word of a line of options may be.
pub(crate) fn offers(grammar: &Grammar, view: View, answer: &Answer, typed: &str) -> Vec<Offer> {
    let Some(options) = grammar.0.get(&view) else { return Vec::new() };
    let start = last_word(typed);
    let (before, word) = typed.split_at(start);
    let of_option = |name: &str, start: usize, word: &str| {
        let option = options.get(name).filter(|option| !option.value.is_empty())?;
        let values = values(name, option, view, answer, word);
        let offer = |(text, about): (String, String)| Offer { shown: text.clone(), text, about, start };
        Some(values.into_iter().map(offer).collect())
    };
    if let Some((name, value)) = word.split_once('=') {
        return of_option(name, start + name.len() + 1, value).unwrap_or_default();
    }
    let last = before.split_whitespace().next_back().unwrap_or_default();
    if let Some(values) = of_option(last, start, word) {
        return values;
    }
    let offer = |(name, option): (&String, &OptionHelp)| Offer {
        text: name.clone(),
        shown: format!("{name} {}", option.value).trim_end().to_string(),
        about: option.about.clone(),
        start,
    };
    let on_screen = || options.iter().filter(|(_, option)| option.is_for_screens);
    // Whoever leaves out the dashes means a part of the name.
    let wanted = word.trim_start_matches('-');
    let begins = |name: &str| name[2..].starts_with(wanted);
    let first = on_screen().filter(|(name, _)| begins(name));
    let inside =
        on_screen().filter(|(name, _)| !word.starts_with("--") && !begins(name) && name.contains(wanted));
    first.chain(inside).map(offer).collect()
}

/// Replaces the last word with the offer, or with what all offers begin with.
pub(crate) fn complete(typed: &mut String, offers: &[Offer]) {
    let [first, rest @ ..] = offers else { return };
    let common = rest.iter().fold(first.text.as_str(), |common, offer| {
        let same = common.chars().zip(offer.text.chars()).take_while(|(a, b)| a == b);
        &common[..same.map(|(c, _)| c.len_utf8()).sum()]
    });
    let word = &typed[first.start..];
    if rest.is_empty() {
        // `label:` goes on with a key.
        let end = if first.text.ends_with(':') { "" } else { " " };
        typed.replace_range(first.start.., &format!("{}{end}", first.text));
    } else if common.len() > word.len() {
        typed.replace_range(first.start.., common);
    }
}

/// Where the last word starts: after the last blank that is not inside quotes.
fn last_word(typed: &str) -> usize {
    let (mut start, mut quote) = (0, None);
    for (place, c) in typed.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => quote = Some(c),
            (' ' | '\t', None) => start = place + 1,
            _ => {}
        }
    }
    start
}

/// What the value of an option may be, with what it means.
fn values(name: &str, option: &OptionHelp, view: View, answer: &Answer, word: &str) -> Vec<(String, String)> {
    if !option.values.is_empty() {
        return option.values.iter().filter(|(value, _)| value.starts_with(word)).cloned().collect();
    }
    let listed = |values: &[&str]| -> Vec<(String, String)> {
        let values = values.iter().filter(|value| value.starts_with(word));
        values.map(|value| ((*value).to_string(), String::new())).collect()
    };
    match name {
        "--by" if view == View::Timeline => listed(&["thread", "process", "package", "label:"]),
        "--by" => listed(&["function", "name", "line", "file", "package", "mapping", "address", "label:"]),
        "--sort" => listed(&["self", "total", "children", "name", "delta", "old", "new"]),
        "--metric" => listed(&answer.metrics.iter().map(String::as_str).collect::<Vec<_>>()),
        _ if option.value.starts_with("RE") => functions(answer, word),
        _ => Vec::new(),
    }
}

/// The functions of a report whose names contain what was typed, in its order.
fn functions(answer: &Answer, word: &str) -> Vec<(String, String)> {
    let wanted = word.trim_matches(['\'', '"']).to_lowercase();
    let names: Vec<&Name> = match &*answer.report {
        Report::Top(top) => top.rows.iter().take(MOST_NAMES).map(|row| &row.name).collect(),
        Report::Tree(tree) => tree.rows.iter().take(MOST_NAMES).map(|row| &row.name).collect(),
        Report::Flame(flame) => flame.nodes.iter().skip(1).take(MOST_NAMES).map(|node| &node.name).collect(),
        Report::Focus(focus) => focus.callers.iter().chain(&focus.callees).map(|row| &row.name).collect(),
        _ => Vec::new(),
    };
    let mut seen = HashSet::new();
    let is_new = |name: &&Name| name.to_lowercase().contains(&wanted) && seen.insert(name.to_string());
    let offer = |name: &Name| (quoted(name), String::new());
    names.into_iter().filter(is_new).take(MOST_OFFERED).map(offer).collect()
}

/// How many rows are looked at, because every key does that.
const MOST_NAMES: usize = 20_000;

/// How many functions are offered.
const MOST_OFFERED: usize = 100;
