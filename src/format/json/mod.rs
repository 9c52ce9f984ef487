//! Reading JSON for the readers of JSON formats: a cursor, and a look at the keys of an input.
//!
//! Profiles in JSON are large, nest as deeply as the programs they show (the old `.cpuprofile` has
//! a level a call), and put their tables behind the samples that need them as often as before. So
//! the readers do not turn a file into a tree of values: they walk the text with a [`Json`] cursor,
//! which knows no depth, can be set back to a value that was skipped, and says at which byte an
//! input is wrong. The text and the finished profile are all that is in memory.

mod cursor;
mod escapes;
mod hints;

pub(super) use cursor::{Json, Kind};
pub(super) use hints::hint;

/// The keys of the object at the front of an input, as far as the front shows them, each with the
/// kind of its value. Empty for anything but an object.
pub(super) fn keys(head: &[u8]) -> Vec<(String, Option<Kind>)> {
    let mut keys = Vec::new();
    let mut json = Json::new("json", head);
    if json.object().is_err() {
        return keys;
    }
    // An error is the end of the front, or of what is JSON: the reader will tell which.
    while let Ok(Some(key)) = json.key() {
        keys.push((key.into_owned(), json.kind().ok()));
        if json.skip().is_err() {
            break;
        }
    }
    keys
}

/// Whether `keys` holds all of `wanted`.
pub(super) fn has(keys: &[(String, Option<Kind>)], wanted: &[&str]) -> bool {
    wanted.iter().all(|wanted| keys.iter().any(|(key, _)| key == wanted))
}

/// Whether the front of an input contains `text`.
pub(super) fn mentions(head: &[u8], text: &str) -> bool {
    memchr::memmem::find(head, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_seen_up_to_where_the_front_ends() {
        let names =
            |head: &str| -> Vec<String> { keys(head.as_bytes()).into_iter().map(|(key, _)| key).collect() };
        assert_eq!(names(" {\"a\": [{\"x\": 1}], \"b\": {\"y\": \"}\"}, \"c\": [1, 2"), ["a", "b", "c"]);
        assert_eq!(names("{\"a\": 1, \"b"), ["a"]);
        assert_eq!(names("[{\"a\": 1}]"), [""; 0]);
        assert_eq!(names("main;f 3"), [""; 0]);
    }
}
