//! Hints for JSON files that are not profiles.

use crate::format::json;

/// A test for a kind of JSON file, and the hint for it.
type JsonHint = (fn(&[u8]) -> bool, &'static str);

/// The first match wins.
const HINTS: &[JsonHint] = &[
    (
        |head| has_keys(head, &["schema"]) && json::mentions(head, "\"prof."),
        "this is a report that prof wrote; pass the profile that it was made from instead",
    ),
    (
        is_heap_snapshot,
        "this is a V8 heap snapshot, which contains objects rather than stacks; record where memory is allocated \
         instead, with `node --heap-prof` or Chrome's \"Allocation sampling\" (Bun has only snapshots)",
    ),
    (
        is_inspector_heap,
        "this is a heap snapshot of JavaScriptCore, which contains objects rather than stacks; record a timeline in Safari's Web Inspector \
         and export that",
    ),
    (
        |head| {
            has_keys(head, &["m"]) && json::mentions(head, "\"codeEvents\"")
                || has_keys(head, &["c"]) && json::mentions(head, "\"callStats\"")
        },
        "this is the JSON of vprof, which it draws itself; record with `python -m cProfile -o FILE`, or memory with memray",
    ),
    (
        |head| has_keys(head, &["counter-value", "event"]),
        "this is the output of `perf stat`, which only counts; record with `perf record -g`",
    ),
    (
        |head| has_keys(head, &["sampleType", "stringTable"]),
        "this is a pprof profile that was converted to JSON; pass the protobuf itself (.pb.gz)",
    ),
    (
        is_flamebearer,
        "this is Pyroscope's own JSON format; export pprof instead (`profilecli query merge --output=pprof=FILE`)",
    ),
    (
        |head| has_keys(head, &["linux-perf-json-version"]),
        "this is the output of `perf data convert --to-json`; pass perf.data itself or the output of `perf script` instead",
    ),
];

/// The hint for JSON that no format recognizes; `None` for input that is not JSON.
pub(in crate::format) fn hint(head: &[u8]) -> Option<String> {
    let known = HINTS.iter().find(|(fits, _)| fits(head)).map(|(_, text)| (*text).to_string());
    known.or_else(|| {
        let keys: Vec<String> =
            json::keys(head).into_iter().map(|(key, _)| format!("`{key}`")).take(5).collect();
        (!keys.is_empty())
            .then(|| format!("this is JSON, but no known profile format has the keys {}", keys.join(", ")))
    })
}

fn has_keys(head: &[u8], wanted: &[&str]) -> bool {
    json::has(&json::keys(head), wanted)
}

fn is_heap_snapshot(head: &[u8]) -> bool {
    has_keys(head, &["snapshot"]) && json::mentions(head, "\"node_fields\"")
}

fn is_inspector_heap(head: &[u8]) -> bool {
    has_keys(head, &["version", "type", "nodes"]) && json::mentions(head, "\"nodeClassNames\"")
}

fn is_flamebearer(head: &[u8]) -> bool {
    has_keys(head, &["flamebearer"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_files_have_a_hint() {
        assert!(
            hint(br#"{"schema":"prof.top.v1","metric":{}}"#).unwrap().contains("a report that prof wrote")
        );
        let text = r#"{"snapshot":{"meta":{"node_fields":["type","name"],"node_types":[]},"node_count":2},"nodes":[9,1"#;
        assert!(hint(text.as_bytes()).unwrap().contains("node --heap-prof"));
        let heap = br#"{"version":2,"type":"Inspector","nodes":[0,0],"nodeClassNames":["<root>"]}"#;
        assert!(hint(heap).unwrap().contains("JavaScriptCore"));
        assert!(hint(br#"{"sampleType":[],"sample":[],"stringTable":[""]}"#).unwrap().contains(".pb.gz"));
        assert!(hint(br#"{"version":1,"flamebearer":{"names":[]}}"#).unwrap().contains("Pyroscope"));
        assert!(
            hint(br#"{"m": {"objectName": "p.py (module)", "codeEvents": [[1,1,13.5]]}}"#)
                .unwrap()
                .contains("vprof")
        );
        assert!(
            hint(br#"{"counter-value" : "1100.9", "unit" : "msec", "event" : "task-clock"}"#)
                .unwrap()
                .contains("perf stat")
        );
        assert!(hint(br#"{"linux-perf-json-version":1,"samples":[]}"#).unwrap().contains("perf script"));
        assert_eq!(
            hint(br#"{"a":1,"b":2}"#).unwrap(),
            "this is JSON, but no known profile format has the keys `a`, `b`"
        );
        assert_eq!(hint(b"what is this"), None);
    }
}
