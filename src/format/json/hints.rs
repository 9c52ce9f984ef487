//! JSON that is no profile: what it is, and what to do about it.

use crate::format::json;

/// Whether the front of an input looks like something, and what to say of it.
type Hint = (fn(&[u8]) -> bool, &'static str);

/// The first that fits is given.
const HINTS: &[Hint] = &[
    (
        is_heap_snapshot,
        "this is a V8 heap snapshot: it holds objects, not stacks; record where memory is allocated \
         instead, with `node --heap-prof` or Chrome's \"Allocation sampling\"",
    ),
    (
        is_flamebearer,
        "this is Pyroscope's own JSON; export pprof instead (`profilecli query merge --output=pprof=FILE`)",
    ),
];

/// What to say of JSON that no format recognizes; `None` for what is not JSON.
pub(in crate::format) fn hint(head: &[u8]) -> Option<String> {
    let known = HINTS.iter().find(|(fits, _)| fits(head)).map(|(_, text)| (*text).to_string());
    known.or_else(|| {
        let keys: Vec<String> =
            json::keys(head).into_iter().map(|(key, _)| format!("`{key}`")).take(5).collect();
        (!keys.is_empty()).then(|| format!("this is JSON, but no profile has the keys {}", keys.join(", ")))
    })
}

fn is_heap_snapshot(head: &[u8]) -> bool {
    json::has(&json::keys(head), &["snapshot"]) && json::mentions(head, "\"node_fields\"")
}

fn is_flamebearer(head: &[u8]) -> bool {
    json::has(&json::keys(head), &["flamebearer"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_named() {
        let text = r#"{"snapshot":{"meta":{"node_fields":["type","name"],"node_types":[]},"node_count":2},"nodes":[9,1"#;
        assert!(hint(text.as_bytes()).unwrap().contains("node --heap-prof"));
        assert!(hint(br#"{"version":1,"flamebearer":{"names":[]}}"#).unwrap().contains("Pyroscope"));
        assert_eq!(hint(br#"{"a":1,"b":2}"#).unwrap(), "this is JSON, but no profile has the keys `a`, `b`");
        assert_eq!(hint(b"what is this"), None);
    }
}
