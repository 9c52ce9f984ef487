//! Files that people may pass but that `prof` does not read: the error says what they are and what to do.

use crate::support::prof;

/// The start of a file, and a part of the expected error.
const FILES: &[(&[u8], &str)] = &[
    (b"go 1.22 trace\0\0\0", "this is a Go execution trace; extract a profile with `go tool trace -pprof="),
    (
        b"PeriodType: cpu nanoseconds\nPeriod: 10000000\nTime: 2026-01-01 00:00:00 UTC\nDuration: 1.00\nSamples:\n\
          samples/count cpu/nanoseconds\n          1   10000000: 1 2 \nLocations\n     1: 0x0 main a.go:3 s=0\n",
        "pass the original profile instead",
    ),
    (
        br#"{"snapshot":{"meta":{"node_fields":["type","name"],"node_types":[[]]},"node_count":2},"nodes":[9,1]}"#,
        "this is a V8 heap snapshot, which contains objects rather than stacks",
    ),
    (
        b"desc: I1 cache: 32768 B\ncmd: ./a\nevents: Ir\nfl=a.c\nfn=f\n1 2\nsummary: 2\n",
        "this is cachegrind's output, which has no calls; record with `valgrind --tool=callgrind`",
    ),
    (b"FLR\0\0\0\0\x09", "jfr: "),
    (b"some text\nof another kind\n", "not a profile in any known format"),
];

#[test]
fn unsupported_files_are_identified() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (front, said)) in FILES.iter().enumerate() {
        let name = format!("file-{number}");
        std::fs::write(folder.path().join(&name), front).unwrap();
        for command in ["info", "top"] {
            let output = prof(folder.path(), &[command, &name]).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{said}: {errors}");
            assert!(errors.contains(said), "{said}: {errors}");
            assert!(errors.contains(&name) && output.stdout.is_empty(), "{errors}");
        }
    }
}

/// `info` names the format and, if it is not certain, how confident the detection is.
#[test]
fn info_reports_the_confidence_of_the_format() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("stacks"), "main;work 3\nmain 1\n").unwrap();
    let said = |arguments: &[&str]| {
        let output = prof(folder.path(), arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = said(&["info", "stacks"]);
    assert!(text.contains("collapsed (guessed from the content; "), "{text}");
    assert!(said(&["info", "-f", "json", "stacks"]).contains("\"confidence\":\"maybe\""));
    let named = said(&["info", "-f", "json", "--input-format", "collapsed", "stacks"]);
    assert!(named.contains("\"format\":\"collapsed\"") && !named.contains("\"maybe\""), "{named}");
}
