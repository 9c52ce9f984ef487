//! Flame charts of drawn profiles.

use proptest::prelude::*;

use super::*;
use crate::profile::from_notation;

/// A profile whose values are CPU time.
fn cpu(notation: &str) -> Profile {
    let mut profile = from_notation(notation);
    profile.meta.metrics[0].name = "cpu".to_string();
    profile.meta.metrics[0].unit = "nanoseconds".to_string();
    // The notation does not compute when values that are times end.
    profile
}

fn drawn(profile: &Profile, change: impl Fn(&mut ChartOptions)) -> Vec<String> {
    let mut options = ChartOptions::new(Scope::metric(0));
    change(&mut options);
    let chart = chart(profile, &options).unwrap();
    let block = |block: &ChartBlock| {
        let name = &chart.functions[block.function as usize].name;
        let indent = " ".repeat(block.depth as usize);
        format!("{}{indent}{name} {}-{}", block.band, block.from_ns, block.to_ns)
    };
    chart.blocks.iter().map(block).collect()
}

#[test]
fn samples_of_one_frame_join_until_another_one_or_a_gap() {
    // Every 10; nothing for 40 (more than three intervals) after 30, and for 30 (three) after 80.
    let profile = from_notation(
        "main;a 1 @0\nmain;a 1 @10\nmain;b 1 @20\nmain;a 1 @30\nmain;a 1 @70\nmain;a 1 @80\nmain;a 1 @110\nmain 1 @120",
    );
    let want = ["0main 0-40", "0main 70-121", "0 a 0-20", "0 b 20-30", "0 a 30-40", "0 a 70-120"];
    assert_eq!(drawn(&profile, |_| ()), want);
    // With filters, a gap of three intervals may be a sample that was removed.
    let filtered = drawn(&profile, |options| options.is_filtered = true);
    assert_eq!(filtered[4..], ["0 b 20-30", "0 a 30-40", "0 a 70-90", "0 a 110-120"]);
}

#[test]
fn the_same_frame_of_another_caller_is_another_block() {
    let profile = from_notation("a;x 1 @0\nb;x 1 @10\nb;x;x 1 @20\nb 1 @30");
    assert_eq!(drawn(&profile, |_| ()), ["0a 0-10", "0b 10-31", "0 x 0-10", "0 x 10-30", "0  x 20-30"]);
}

#[test]
fn spans_are_exact() {
    let mut profile = cpu("main 5 @0\nmain;a 3 @5\nmain 2 @8\nmain 4 @11");
    profile.meta.holds_spans = true;
    profile.meta.duration_ns = Some(15);
    assert_eq!(drawn(&profile, |_| ()), ["0main 0-10", "0main 11-15", "0 a 5-8"]);
}

#[test]
fn threads_have_bands_the_heaviest_first() {
    let lines = "a 1 {thread=one} @0\na 1 {thread=two} @3\nb 1 {thread=two} @13\nlone 9 {thread=three} @40";
    let chart = chart(&from_notation(lines), &ChartOptions::new(Scope::metric(0))).unwrap();
    let bands: Vec<_> = chart.bands.iter().map(|band| (&*band.name, band.total, band.rows)).collect();
    assert_eq!(bands, [("three", 9, 1), ("two", 2, 1), ("one", 1, 1)]);
    assert_eq!((chart.from_ns, chart.to_ns), (0, 41));
}

#[test]
fn a_thread_that_is_seen_waiting_is_not_running() {
    let mut profile = from_notation("a 8 1 @0\na 0 1 @10\na 8 1 @20\na 8 1 @30");
    for (metric, name) in profile.meta.metrics.iter_mut().zip(["cycles", "samples"]) {
        metric.name = name.to_string();
    }
    assert_eq!(drawn(&profile, |_| ()), ["0a 0-10", "0a 20-31"]);
}

#[test]
fn times_may_be_wrong() {
    // Backwards, repeated, and missing; then with two clocks.
    assert_eq!(
        drawn(&from_notation("a 1 @20\nb 1 @10\na 1 @0\nc 1 @10\nd 1"), |_| ()),
        ["0a 0-10", "0c 10-20", "0a 20-21"]
    );
    let clocks = "a 1 @0\na 1 @10\nb 1 @20\nz 1 @1708972837000000000";
    assert_eq!(drawn(&from_notation(clocks), |_| ()), ["0a 0-20", "0b 20-21"]);
    assert!(drawn(&from_notation("a 1 @-4611686018427387904\nb 1 @4611686018427387904"), |_| ()).len() == 1);
    // A month.
    let month = 30 * 24 * 3600 * 1_000_000_000_i64;
    assert_eq!(drawn(&from_notation(&format!("a 1 @0\na 1 @10\nb 1 @{month}")), |_| ()).len(), 2);
}

#[test]
fn too_many_blocks_become_columns() {
    let lines: Vec<String> = (0..10_000)
        .map(|at| format!("main;{} 1 @{}", if at % 3 == 0 { "b" } else { "a" }, at * 10))
        .collect();
    let profile = from_notation(&lines.join("\n"));
    let mut options = ChartOptions { most_blocks: 100, pixels: 10, ..ChartOptions::new(Scope::metric(0)) };
    let few = chart(&profile, &options).unwrap();
    // Every column has more of `a`.
    assert_eq!((few.blocks.len(), few.column_ns), (2, Some(99_991 / 160)));
    options.most_blocks = 40_000;
    let all = chart(&profile, &options).unwrap();
    assert_eq!((all.blocks.len(), all.column_ns), (1 + 6667, None));
}

proptest! {
    /// Blocks of one row do not overlap, every block lies on one of its caller, and those of the root cover the time of all.
    #[test]
    fn blocks_lie_on_their_callers(
        samples in prop::collection::vec((prop::collection::vec(0..3_u8, 1..5), 0..60_i64, 0..2_u8), 1..60),
        most_blocks in 5..200_usize,
        is_spans: bool,
    ) {
        let line = |(stack, at, tid): &(Vec<u8>, i64, u8)| {
            let frames: Vec<String> = stack.iter().map(|frame| format!("f{frame}")).collect();
            format!("{} 7 {{tid={tid}}} @{}", frames.join(";"), at * 5)
        };
        let mut profile = cpu(&samples.iter().map(line).collect::<Vec<_>>().join("\n"));
        profile.meta.holds_spans = is_spans;
        let options = ChartOptions { most_blocks, pixels: 7, ..ChartOptions::new(Scope::metric(0)) };
        let chart = chart(&profile, &options).unwrap();
        for block in &chart.blocks {
            prop_assert!(chart.from_ns <= block.from_ns && block.from_ns < block.to_ns);
            let is_caller = |other: &&ChartBlock| {
                other.band == block.band && other.depth + 1 == block.depth
                    && other.from_ns <= block.from_ns && block.to_ns <= other.to_ns
            };
            prop_assert!(block.depth == 0 || chart.blocks.iter().filter(is_caller).count() == 1);
        }
        for pair in chart.blocks.windows(2) {
            if (pair[0].band, pair[0].depth) == (pair[1].band, pair[1].depth) {
                prop_assert!(pair[0].to_ns <= pair[1].from_ns);
            }
        }
    }
}
