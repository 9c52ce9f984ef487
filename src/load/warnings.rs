//! Says which of several inputs a warning is about.

use hashbrown::{HashMap, HashSet};

use crate::load::shown;
use crate::profile::Meta;
use crate::unit::plural;

/// Which inputs have which warnings.
pub(super) struct InputWarnings {
    inputs: usize,
    /// The inputs that have each warning, by its text without numbers.
    by_shape: HashMap<String, Alike>,
}

/// Warnings that differ in nothing but numbers: `12 stacks are deeper than the recorder's limit`.
struct Alike {
    /// The first input that has one, and its text.
    first: String,
    text: String,
    /// How many inputs have one.
    count: usize,
    is_same: bool,
}

impl InputWarnings {
    pub(super) fn of<'m>(inputs: impl Iterator<Item = (&'m str, &'m Meta)>) -> Self {
        let mut all = InputWarnings { inputs: 0, by_shape: HashMap::new() };
        for (name, meta) in inputs {
            all.inputs += 1;
            let mut seen = HashSet::new();
            for text in meta.warnings.iter().filter(|text| seen.insert(shape(text))) {
                let new =
                    || Alike { first: shown(name).to_string(), text: text.clone(), count: 0, is_same: true };
                let alike = all.by_shape.entry(shape(text)).or_insert_with(new);
                alike.count += 1;
                alike.is_same &= alike.text == *text;
            }
        }
        all
    }

    /// Names the inputs in the warnings that not all of them have:
    /// `a.cpuprofile and 2 more: 1 sample refers to a missing node and has an empty stack`.
    pub(super) fn name_inputs(&self, meta: &mut Meta) {
        for texts in [&mut meta.warnings, &mut meta.faults.said] {
            for text in &mut *texts {
                *text = self.named(text);
            }
            let mut seen = HashSet::new();
            texts.retain(|text| seen.insert(text.clone()));
        }
    }

    fn named(&self, text: &str) -> String {
        let Some(Alike { first, text: of_first, count, is_same }) = self.by_shape.get(&shape(text)) else {
            return text.to_string();
        };
        match (*count, is_same) {
            (1, _) if self.inputs > 1 => format!("{first}: {text}"),
            (count, true) if count == self.inputs => text.to_string(),
            (count, true) => format!("{first} and {} more: {text}", count - 1),
            (count, false) => {
                let others = plural(count as u64 - 1, "input has", "inputs have");
                format!(
                    "{first}: {of_first} ({} more {others} such a warning, with other numbers)",
                    count - 1
                )
            }
        }
    }
}

/// The text with a `0` for each number, such as `1,200`. Digits in a name, such as `a2`, stay.
fn shape(text: &str) -> String {
    let mut shape = String::with_capacity(text.len());
    let (mut in_word, mut in_number) = (false, false);
    for c in text.chars() {
        in_number = !in_word && (c.is_ascii_digit() || (in_number && c == ','));
        in_word = !in_number && (c.is_alphanumeric() || c == '_');
        match in_number {
            true if shape.ends_with('0') => {}
            true => shape.push('0'),
            false => shape.push(c),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_that_not_all_inputs_have_names_those_that_have_it() {
        let meta = |warnings: &[&str]| Meta {
            warnings: warnings.iter().map(|text| (*text).to_string()).collect(),
            ..Meta::default()
        };
        let inputs = [meta(&["late", "old"]), meta(&["old", "cut"]), meta(&["old", "cut", "cut"])];
        let warnings = InputWarnings::of(["-", "b", "c"].into_iter().zip(&inputs));
        let mut sum = meta(&["late", "old", "cut", "of the sum"]);
        warnings.name_inputs(&mut sum);
        assert_eq!(sum.warnings, ["standard input: late", "old", "b and 1 more: cut", "of the sum"]);
    }
    #[test]
    fn digits_of_a_name_are_no_number() {
        assert_eq!(shape("metric1 is 0.5 of 1,200, in x_2"), shape("metric1 is 7.25 of 3, in x_2"));
        assert_ne!(shape("metric1 is 1"), shape("metric2 is 1"));
    }

    #[test]
    fn warnings_that_differ_in_numbers_are_one() {
        let meta = |text: &str| Meta { warnings: vec![text.to_string()], ..Meta::default() };
        let mut inputs = [meta("12 stacks are cut"), meta("7 stacks are cut"), meta("1,200 stacks are cut")];
        let warnings = InputWarnings::of(["a", "b", "c"].into_iter().zip(&inputs));
        for meta in &mut inputs {
            warnings.name_inputs(meta);
        }
        let expected = "a: 12 stacks are cut (2 more inputs have such a warning, with other numbers)";
        assert!(inputs.iter().all(|meta| meta.warnings == [expected]), "{inputs:?}");
    }
}
