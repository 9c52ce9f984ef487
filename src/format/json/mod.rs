//! JSON support for readers: a cursor, and the top-level keys of an input.
//!
//! JSON profiles are large, nest as deeply as call stacks (the old `.cpuprofile` has one level per call), and
//! often store tables after the samples that refer to them. So readers do not build a tree of values. They
//! walk the text with a [`Json`] cursor, which has no depth limit, can return to a value that was skipped,
//! and reports the byte of an error. Only the text and the finished profile are in memory.

mod cursor;
mod escapes;
mod hints;
mod known;
mod known_text;
mod nested;

pub(super) use cursor::{Json, Kind};
pub(super) use hints::hint;
pub(super) use known::KnownKeys;
pub(super) use known_text::KnownText;

/// The keys of the top-level object within the head of an input, each with the kind of its value. Empty if
/// the input is not an object.
pub(super) fn keys(head: &[u8]) -> Vec<(String, Option<Kind>)> {
    let mut keys = Vec::new();
    let mut json = Json::new("json", head);
    if json.object().is_err() {
        return keys;
    }
    // An error means the end of the head or malformed JSON; the reader will report the latter.
    while let Ok(Some(key)) = json.key() {
        keys.push((key.into_owned(), json.kind().ok()));
        if json.skip().is_err() {
            break;
        }
    }
    keys
}

/// Whether `keys` contains all of `wanted`.
pub(super) fn has(keys: &[(String, Option<Kind>)], wanted: &[&str]) -> bool {
    wanted.iter().all(|wanted| keys.iter().any(|(key, _)| key == wanted))
}

/// Whether the head of an input contains `text`.
pub(super) fn mentions(head: &[u8], text: &str) -> bool {
    memchr::memmem::find(head, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_up_to_the_end_of_the_head() {
        let names =
            |head: &str| -> Vec<String> { keys(head.as_bytes()).into_iter().map(|(key, _)| key).collect() };
        assert_eq!(names(" {\"a\": [{\"x\": 1}], \"b\": {\"y\": \"}\"}, \"c\": [1, 2"), ["a", "b", "c"]);
        assert_eq!(names("{\"a\": 1, \"b"), ["a"]);
        assert_eq!(names("[{\"a\": 1}]"), [""; 0]);
        assert_eq!(names("main;f 3"), [""; 0]);
    }
}
