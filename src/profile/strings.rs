//! Interned text: every distinct string of a profile is stored once.

use crate::profile::{Column, HashIndex, Id, StringId};

/// The distinct strings of a profile, in one buffer. Row 0 is the empty string.
#[derive(Clone, Debug)]
pub struct Strings {
    text: String,
    /// Where each string ends in `text`; it starts where the previous one ends.
    end: Column<StringId, usize>,
    index: HashIndex<StringId>,
    /// The string after the one that was found last. When tables in the same order are summed, it usually is the next
    /// one to be found.
    next: usize,
}

impl Strings {
    /// A table with only the empty string.
    pub fn new() -> Self {
        let mut strings =
            Strings { text: String::new(), end: Column::new(), index: HashIndex::default(), next: 0 };
        strings.intern("");
        strings
    }

    /// Reserves space for additional strings.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.index.reserve(more);
    }

    /// The id of `text`, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> StringId {
        let next = StringId::new(self.next);
        let id = if self.next < self.len() && self.get(next) == text { next } else { self.look_up(text) };
        self.next = id.index() + 1;
        id
    }

    fn look_up(&mut self, text: &str) -> StringId {
        let hash = self.index.hash(text);
        if let Some(id) = self.index.find(hash, |id| self.get(id) == text) {
            return id;
        }
        self.text.push_str(text);
        let id = self.end.push(self.text.len());
        self.index.insert(hash, id);
        id
    }

    /// The id of `text`, if the table contains it.
    pub fn find(&self, text: &str) -> Option<StringId> {
        self.index.find(self.index.hash(text), |id| self.get(id) == text)
    }

    /// The text of `id`.
    #[inline]
    pub fn get(&self, id: StringId) -> &str {
        let start = if id.index() == 0 { 0 } else { self.end[StringId::new(id.index() - 1)] };
        &self.text[start..self.end[id]]
    }

    /// Number of distinct strings.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Never true: the empty string is always there.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The approximate memory use in bytes.
    pub(crate) fn size(&self) -> usize {
        self.text.capacity() + self.end.len() * size_of::<usize>() + self.index.size()
    }

    /// All ids in order.
    pub fn ids(&self) -> impl Iterator<Item = StringId> + use<> {
        self.end.ids()
    }
}

impl Default for Strings {
    fn default() -> Self {
        Strings::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_one_id() {
        let mut strings = Strings::new();
        let main = strings.intern("main");
        assert_eq!(strings.intern("main"), main);
        assert_ne!(strings.intern("main.main"), main);
        assert_eq!(strings.get(main), "main");
        assert_eq!(strings.intern(""), StringId::default());
        assert_eq!(strings.len(), 3);
        assert_eq!(strings.find("nobody"), None);
    }
}
