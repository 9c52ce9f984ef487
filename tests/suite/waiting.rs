//! Waiting as metrics: `off_cpu`, the label `waker`, and `--wall`.

use serde_json::Value;

use crate::support::{fixture, prof};

fn json(line: &str, file: &str) -> Value {
    let path = fixture(file);
    let words: Vec<&str> = line.split(' ').chain(["-f", "json", path.to_str().unwrap()]).collect();
    let output = prof(std::path::Path::new("."), &words).output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The program of `lock.c` said by its own clock that it had waited for 577,998,139 ns.
#[test]
fn who_waited_for_whom_is_what_the_program_says() {
    let file = "perf-script/lock.perf.txt.gz";
    let waits = json("labels -m off_cpu --thread waiter --show-stacks futex", file);
    let waited = waits["shown"].as_i64().unwrap();
    // It was sampled every 2 ms.
    assert!((waited - 577_998_139).abs() < 2_000_000, "{waited}");
    let keys = waits["keys"].as_array().unwrap();
    let wakers = keys.iter().find(|key| key["key"] == "waker").unwrap()["values"].as_array().unwrap();
    assert_eq!(wakers.len(), 1);
    assert!(wakers[0]["value"].as_str().unwrap().starts_with("holder "));
    assert_eq!(wakers[0]["total"].as_i64(), Some(waited));
}

/// The sums of the durations of `jdk.JavaMonitorEnter` by `previousOwner`, as `jfr print` says them.
#[test]
fn the_thread_that_had_the_lock_before_is_the_waker() {
    let waits = json("labels -m lock_duration", "jfr/java.jfr");
    let keys = waits["keys"].as_array().unwrap();
    let wakers = keys.iter().find(|key| key["key"] == "waker").unwrap()["values"].as_array().unwrap();
    let want = [
        ("pool-1-thread-2 18905", 465_079_853_i64),
        ("pool-1-thread-4 18907", 428_426_141),
        ("pool-1-thread-1 18904", 427_229_973),
        ("pool-1-thread-3 18906", 363_392_905),
    ];
    assert_eq!(wakers.len(), want.len());
    for (waker, (name, total)) in wakers.iter().zip(want) {
        assert_eq!(waker["value"], name);
        // Each of 132 durations is rounded to a nanosecond.
        assert!((waker["total"].as_i64().unwrap() - total).abs() <= 132, "{waker}");
    }
}

#[test]
fn wall_time_is_cpu_time_and_waiting() {
    for (file, parts) in [
        ("perf-script/lock.perf.txt.gz", &["cpu-clock", "off_cpu"][..]),
        ("jfr/java.jfr", &["cpu", "lock_duration", "park_duration"]),
    ] {
        let total = |line: &str| json(line, file)["total"].as_i64().unwrap();
        let sum: i64 = parts.iter().map(|metric| total(&format!("top -m {metric}"))).sum();
        let report = json("top --wall", file);
        assert_eq!(
            (report["metric"]["name"].as_str(), report["total"].as_i64()),
            (Some("wall"), Some(sum)),
            "{file}"
        );
        assert_eq!(
            total(&format!("top --wall -m {}", parts[0])),
            total(&format!("top -m {}", parts[0])),
            "{file}"
        );
    }
}

#[test]
fn profiles_without_waits_are_refused() {
    for file in ["pprof/go-cpu.pb.gz", "perf-script/rust.perf.txt", "callgrind/c.callgrind"] {
        let path = fixture(file);
        let output =
            prof(std::path::Path::new("."), &["top", "--wall", path.to_str().unwrap()]).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{file}");
        assert!(
            messages.contains("does not say how long its threads waited")
                && messages.contains("perf record -c 1"),
            "{messages}"
        );
    }
}
