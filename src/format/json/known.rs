//! Keys that come again and again.
//!
//! The objects of a list usually have the same members in the same order, written the same way. Comparing a key, and what is
//! around it, with that of an earlier object takes a fraction of the time for finding where it ends and what it means.

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::json::known_text::KnownText;

/// At most so many keys are remembered, for objects whose keys are different each time.
const MOST_KEYS: usize = 16;

/// The keys of objects of one kind, as they were written before, and what each means to the reader.
pub(in crate::format) struct KnownKeys<'a, K> {
    keys: Vec<(KnownText<'a>, K)>,
    /// The place in `keys` of the key that is expected next.
    next: usize,
}

impl<K> Default for KnownKeys<'_, K> {
    fn default() -> Self {
        KnownKeys { keys: Vec::new(), next: 0 }
    }
}

impl<'a, K: Copy> KnownKeys<'a, K> {
    /// Like [`Json::key`], but returns what the key means. `meaning` is asked about keys that are not known yet.
    #[inline]
    pub(in crate::format) fn key(
        &mut self,
        json: &mut Json<'a>,
        meaning: impl FnOnce(&str) -> K,
    ) -> Result<Option<K>, ParseError> {
        let expected = if json.is_fresh() { 0 } else { self.next };
        if let Some((text, key)) = self.keys.get(expected)
            && json.repeats(text)
        {
            self.next = expected + 1;
            return Ok(Some(*key));
        }
        self.search(json, meaning)
    }

    /// Reads a key that is not the expected one: members may be missing.
    fn search(
        &mut self,
        json: &mut Json<'a>,
        meaning: impl FnOnce(&str) -> K,
    ) -> Result<Option<K>, ParseError> {
        for (place, (text, key)) in self.keys.iter().enumerate() {
            if json.repeats(text) {
                self.next = place + 1;
                return Ok(Some(*key));
            }
        }
        let before = json.clone();
        let Some(key) = json.key()? else { return Ok(None) };
        let key = meaning(&key);
        if self.keys.len() < MOST_KEYS {
            self.keys.push((json.known_text(&before), key));
            self.next = self.keys.len();
        }
        Ok(Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the members of objects, whose values are numbers, as key, value; the key `x` is skipped.
    fn members(text: &str) -> Result<Vec<(u8, i64)>, ParseError> {
        let mut json = Json::new("test", text.as_bytes());
        let (mut keys, mut found) = (KnownKeys::default(), Vec::new());
        json.array()?;
        while json.element()? {
            json.object()?;
            while let Some(key) = keys.key(&mut json, |key| key.bytes().last().unwrap_or(0))? {
                found.push((key, json.integer()?));
            }
        }
        json.end()?;
        Ok(found)
    }

    #[test]
    fn keys_may_be_missing_in_another_order_and_written_in_another_way() {
        let text = r#"[{"a": 1, "b": 2, "a long key, for it ends in c": 3}, {"a": 4, "b": 5, "a long key, for it ends in c": 6},
            {"b": 7}, { "a" :8,"b": 9, "a long key, for it ends in d": 10}, {}, {"b": 11, "a": 12, "": 13, "\u0061": 14}]"#;
        let expected = "a1 b2 c3 a4 b5 c6 b7 a8 b9 d10 b11 a12 \u{0}13 a14";
        let found: Vec<String> = members(text)
            .unwrap()
            .into_iter()
            .map(|(key, value)| format!("{}{value}", char::from(key)))
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn a_known_key_needs_a_comma_before_it_except_the_first() {
        let error = |text: &str| members(text).unwrap_err().to_string();
        assert!(error(r#"[{ "a": 1}, {"b": 2 "a": 3}]                 "#).contains("expected `,`"));
        assert!(error(r#"[{"a": 1, "b": 2}, {, "b": 3}]                "#).contains("expected a string"));
    }

    #[test]
    fn many_keys_are_read_though_not_all_are_remembered() {
        let object: Vec<String> = (0..100).map(|number| format!("\"key {number}\": {number}")).collect();
        let object = format!("{{{}}}", object.join(", "));
        let found = members(&format!("[{object}, {object}]")).unwrap();
        assert_eq!(found.iter().map(|(_, value)| value).sum::<i64>(), 2 * 4950);
        assert_eq!(found.len(), 200);
    }
}
