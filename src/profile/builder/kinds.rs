//! Labels that may tell kinds of work: those with few values.

use hashbrown::{HashMap, HashSet};

use crate::profile::options::MOST_KINDS;
use crate::profile::{Label, LabelValue, StringId};

/// More different sizes of allocations than this are not kept apart: so many numbers are no sizes.
const MOST_SIZES: usize = 1 << 16;

/// The values of each key of labels, as far as there are few.
#[derive(Debug, Default)]
pub(crate) struct LabelKinds {
    texts: HashMap<StringId, Values<StringId>>,
    numbers: HashMap<StringId, Values<i64>>,
}

impl LabelKinds {
    /// Whether the text of a label is one of few of its key so far.
    pub(crate) fn is_kind(&mut self, key: StringId, text: StringId) -> bool {
        self.texts.entry(key).or_default().are_few_with(text, MOST_KINDS)
    }

    /// Whether any key has only few texts.
    pub(crate) fn any(&self) -> bool {
        self.texts.values().any(|values| !values.are_many)
    }

    /// Whether a label may tell a kind of work or, if there are `sizes`, a size.
    pub(super) fn keeps(&mut self, label: &Label, sizes: bool) -> bool {
        match label.value {
            LabelValue::Text(text) => self.is_kind(label.key, text),
            LabelValue::Number(number, _) => {
                sizes && self.numbers.entry(label.key).or_default().are_few_with(number, MOST_SIZES)
            }
        }
    }
}

/// The values of a key, until there are too many.
#[derive(Debug, Default)]
struct Values<T> {
    seen: HashSet<T>,
    are_many: bool,
}

impl<T: std::hash::Hash + Eq> Values<T> {
    /// Whether there are at most `most` values, this one included.
    fn are_few_with(&mut self, value: T, most: usize) -> bool {
        if !self.are_many && self.seen.insert(value) && self.seen.len() > most {
            self.are_many = true;
            self.seen = HashSet::new();
        }
        !self.are_many
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LoadOptions, ProfileBuilder};

    #[test]
    fn ids_are_left_out_and_kinds_are_kept() {
        let options = LoadOptions { labels: true, kinds_only: true, ..LoadOptions::LEAST };
        let mut builder = ProfileBuilder::new("test", options);
        builder.metric("samples", "count");
        let [route, span, bytes] = ["route", "span", "bytes"].map(|key| builder.string(key));
        let frame = builder.named_frame("main");
        let stack = builder.stack(&[frame]);
        for number in 0..1000_i64 {
            let text = |text: String, builder: &mut ProfileBuilder| LabelValue::Text(builder.string(&text));
            let route = Label { key: route, value: text(format!("/{}", number % 3), &mut builder) };
            let span = Label { key: span, value: text(number.to_string(), &mut builder) };
            let bytes = Label { key: bytes, value: LabelValue::Number(number % 2, StringId::default()) };
            let set = builder.label_set(&mut [span, route, bytes]);
            builder.sample(stack, set, None, &[1]);
        }
        let profile = builder.finish().unwrap();
        assert_eq!(profile.meta.metrics[0].total, 1000);
        // One row for each of the spans that were kept until there were too many, and one for each route.
        assert_eq!(profile.samples.stack.len(), MOST_KINDS + 3);
        let last = profile.label_sets.labels(*profile.samples.labels.iter().last().unwrap());
        assert!(last.len() == 1 && last[0].key == route, "{last:?}");
    }
}
