//! Says which of several inputs a warning is about.

use hashbrown::HashMap;

use crate::load::shown;
use crate::profile::Meta;

/// Which inputs have which warnings.
pub(super) struct InputWarnings {
    inputs: usize,
    /// For each warning, the first input that has it, and how many have it.
    by_text: HashMap<String, (String, usize)>,
}

impl InputWarnings {
    pub(super) fn of<'m>(inputs: impl Iterator<Item = (&'m str, &'m Meta)>) -> Self {
        let mut all = InputWarnings { inputs: 0, by_text: HashMap::new() };
        for (name, meta) in inputs {
            all.inputs += 1;
            for (number, text) in meta.warnings.iter().enumerate() {
                if !meta.warnings[..number].contains(text) {
                    let (_, count) =
                        all.by_text.entry_ref(text.as_str()).or_insert_with(|| (shown(name).to_string(), 0));
                    *count += 1;
                }
            }
        }
        all
    }

    /// Names the inputs in the warnings that not all of them have:
    /// `a.cpuprofile and 2 more: 1 sample refers to a missing node and has an empty stack`.
    pub(super) fn name_inputs(&self, meta: &mut Meta) {
        for text in meta.warnings.iter_mut().chain(&mut meta.faults.said) {
            match self.by_text.get(text) {
                Some((_, count)) if *count == self.inputs => {}
                Some((name, 1)) => *text = format!("{name}: {text}"),
                Some((name, count)) => *text = format!("{name} and {} more: {text}", count - 1),
                None => {}
            }
        }
    }
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
}
