//! Timelines of small profiles, worked out by hand, and phases of made-up recordings.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::profile::{SampleTimes, from_notation};
use crate::stats::random::Random;

const MS: i64 = 1_000_000;

fn found(picture: &str, change: impl FnOnce(&mut TimelineOptions)) -> Timeline {
    let mut options = TimelineOptions::new(Scope::metric(0));
    change(&mut options);
    timeline(&from_notation(picture), &options).unwrap()
}

/// `worker 5 [3, 2] by parse` for each row.
fn drawn(timeline: &Timeline) -> Vec<String> {
    let heaviest =
        |row: &TimelineRow| row.heaviest.as_ref().map_or("nothing".into(), |found| found.name.clone());
    let line = |row: &TimelineRow| format!("{} {} {:?} by {}", row.name, row.total, row.bins, heaviest(row));
    timeline.rows.iter().chain(&timeline.more).map(line).collect()
}

const TWO_THREADS: &str = "main;parse 2 {thread=main} @0
    main;parse 1 {thread=main} @30
    main;render 2 {thread=main} @99
    work;gc 7 {thread=worker} @50
    work;gc 1 {thread=worker} @0
    idle 3 {thread=rare} @70";

#[test]
fn rows_and_bins() {
    let timeline = found(TWO_THREADS, |options| options.bins = 4);
    assert_eq!(timeline.axis, TimeAxis { from_ns: 0, to_ns: 100, bin_ns: 25, bins: 4 });
    assert_eq!(
        drawn(&timeline),
        ["worker 8 [1, 0, 7, 0] by gc", "main 5 [2, 1, 0, 2] by parse", "rare 3 [0, 0, 3, 0] by idle"]
    );
    assert_eq!((timeline.largest, timeline.untimed, timeline.phases.len()), (vec![7], 0, 1));
    let row = &timeline.rows[0];
    assert_eq!((row.first_ns, row.last_ns), (0, 50));
}

#[test]
fn idle_is_apart() {
    let picture = "main;work 2 {thread=main} @0
        (idle) 9 {thread=main} @30
        main;work 1 {thread=main} @40
        (idle) 5 {thread=main} @60
        (idle) 4 {thread=pool} @99";
    let mut profile = from_notation(picture);
    let options = TimelineOptions { bins: 4, ..TimelineOptions::new(Scope::metric(0)) };
    profile.meta.metrics[0].name = "samples".to_string();
    let found = timeline(&profile, &options).unwrap();
    assert_eq!(drawn(&found), ["main 17 [2, 10, 5, 0] by work", "pool 4 [0, 0, 0, 4] by (idle)"]);
    let idle: Vec<&[i64]> = found.rows.iter().map(|row| &row.idle[..]).collect();
    assert_eq!(idle, [&[0, 9, 5, 0], &[0, 0, 0, 4]]);
    assert_eq!(found.largest, [2]);
    // Bytes are never idle.
    profile.meta.metrics[0].name = "alloc_space".to_string();
    let found = timeline(&profile, &options).unwrap();
    assert!(found.rows.iter().all(|row| row.idle.is_empty()));
    assert_eq!(found.largest, [10]);
}

#[test]
fn cut_rows_are_summed() {
    let timeline = found(TWO_THREADS, |options| {
        options.bins = 4;
        options.limit = Some(1);
    });
    assert_eq!(drawn(&timeline), ["worker 8 [1, 0, 7, 0] by gc", " 8 [2, 1, 3, 2] by idle"]);
    assert_eq!((timeline.header.elided, timeline.header.elided_rows), (8, 2));
}

#[test]
fn a_range_has_its_own_bins() {
    let picture = "a 1 @40\na 2 @50\na 4 @59";
    let mut profile = from_notation(picture);
    // What the filters have removed was at 0 and 100.
    profile.meta.sample_times = Some(SampleTimes { first: 0, last: 100, end: 100 });
    let range = ["40ns", "60ns"].map(|text| TimePoint::parse(text).ok());
    let options = TimelineOptions { range, bins: 2, ..TimelineOptions::new(Scope::metric(0)) };
    let timeline = timeline(&profile, &options).unwrap();
    assert_eq!(timeline.axis, TimeAxis { from_ns: 40, to_ns: 60, bin_ns: 10, bins: 2 });
    assert_eq!(timeline.rows[0].bins, [1, 6]);
    assert_eq!((timeline.phases[0].from_ns, timeline.phases[0].to_ns), (40, 60));
    assert_eq!(timeline.phases[0].command, "prof top --from 40ns --to 60ns");
}

#[test]
fn spans_last() {
    let mut profile = from_notation("load 100 @0\nidle 20 @100\nwork 30 @120");
    profile.meta.metrics[0].unit = "nanoseconds".to_string();
    profile.meta.sample_times = Some(SampleTimes { first: 0, last: 120, end: 150 });
    let options = TimelineOptions { bins: 3, ..TimelineOptions::new(Scope::metric(0)) };
    let timeline = timeline(&profile, &options).unwrap();
    assert_eq!(timeline.axis, TimeAxis { from_ns: 0, to_ns: 150, bin_ns: 50, bins: 3 });
    assert_eq!(timeline.rows[0].bins, [50, 50, 50]);
    assert_eq!(timeline.rows[0].last_ns, 150);
}

#[test]
fn a_sample_from_before_the_start_counts_from_there() {
    // One sample in ten is older than the recording, of which each stands for 10 ns.
    let mut picture = "work 10 @20".to_string();
    (1..20).for_each(|number| write!(picture, "\nwork 10 @{}", 100 + 10 * number).unwrap());
    let mut profile = from_notation(&picture);
    profile.meta.metrics[0].unit = "nanoseconds".to_string();
    profile.meta.time_ns = Some(100);
    profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
    let options = TimelineOptions { bins: 2, ..TimelineOptions::new(Scope::metric(0)) };
    let timeline = timeline(&profile, &options).unwrap();
    let row = &timeline.rows[0];
    assert_eq!((timeline.axis.from_ns, row.total), (0, 200));
    assert_eq!(row.bins.iter().sum::<i64>(), 200, "{:?}", row.bins);
}

#[test]
fn the_last_span_of_the_clock_that_is_shown_is_whole() {
    let mut profile = from_notation("load 100 @0\nwork 30 @120\nidle 0 @1708972837000000000");
    profile.meta.metrics[0].unit = "nanoseconds".to_string();
    profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
    let options = TimelineOptions { bins: 3, ..TimelineOptions::new(Scope::metric(0)) };
    let timeline = timeline(&profile, &options).unwrap();
    assert_eq!(timeline.axis, TimeAxis { from_ns: 0, to_ns: 150, bin_ns: 50, bins: 3 });
    assert_eq!((timeline.rows[0].bins.clone(), timeline.rows[0].total), (vec![50, 50, 30], 130));
}

#[test]
fn phases_of_spans_have_the_time_that_was_spent_in_them() {
    // Two threads. One span of `load` lasts for the whole second; on the other thread, `parse` changes to `render` after 600 ms.
    let mut picture = format!("load {} {{thread=a}} @0\n", 1000 * MS);
    for ms in 0..1000 {
        let function = if ms < 600 { "parse" } else { "render" };
        writeln!(picture, "{function} {MS} {{thread=b}} @{}", ms * MS).unwrap();
    }
    let mut profile = from_notation(&picture);
    profile.meta.metrics[0].unit = "nanoseconds".to_string();
    profile.meta.holds_spans = true;
    profile.meta.sample_times = SampleTimes::of(&profile.samples, &profile.meta);
    let timeline = timeline(&profile, &TimelineOptions::new(Scope::metric(0))).unwrap();
    let phases: Vec<_> = timeline
        .phases
        .iter()
        .map(|phase| (phase.from_ns / MS, phase.to_ns / MS, phase.total / MS))
        .collect();
    assert_eq!(phases, [(0, 600, 1200), (600, 1000, 800)]);
}

#[test]
fn ends_are_rounded_up_to_few_digits() {
    for (from, to, want) in [
        (0, 3_627_918_234, 3_630_000_000),
        (0, 140_083_001, 140_100_000),
        (0, 42_000_000_000, 42_000_000_000),
        (40, 60, 60),
        (0, 1, 1),
        (i64::MAX - 5, i64::MAX, i64::MAX),
        (0, i64::MAX, i64::MAX),
    ] {
        let axis = TimeAxis { from_ns: from, to_ns: to, bin_ns: 1, bins: 1 };
        assert_eq!(axis.round_end(), want, "{from} {to}");
    }
}

#[test]
fn several_metrics() {
    let profile = from_notation("a 1 10 {thread=x} @0\nb 0 5 {thread=x} @5\nb 2 0 {thread=y} @9");
    let options = TimelineOptions {
        bins: 2,
        ..TimelineOptions::new(Scope { metrics: vec![0, 1], ..Scope::metric(0) })
    };
    let timeline = timeline(&profile, &options).unwrap();
    let further = |row: usize| &timeline.rows[row].further[0];
    assert_eq!(drawn(&timeline), ["y 2 [0, 2] by b", "x 1 [1, 0] by a"]);
    assert_eq!((&*further(1).metric, further(1).total, &further(1).bins[..]), ("metric1", 15, &[10, 5][..]));
    assert_eq!((further(0).total, &further(0).bins[..]), (0, &[0, 0][..]));
    assert_eq!(timeline.largest, [2, 10]);
}

#[test]
fn names_of_threads_are_unique() {
    let name = |labels: [&str; 2]| -> Vec<String> {
        let picture: String = labels
            .iter()
            .enumerate()
            .map(|(at, labels)| format!("a {} {{{labels}}} @{at}\n", 2 - at))
            .collect::<Vec<_>>()
            .concat();
        found(&picture, |_| {}).rows.iter().map(|row| row.name.to_string()).collect()
    };
    assert_eq!(name(["thread=pool tid=7", "thread=pool tid=8"]), ["pool 7", "pool 8"]);
    assert_eq!(name(["process=a thread=main", "process=b thread=main"]), ["a/main", "b/main"]);
    assert_eq!(name(["process=a thread=main", "process=a thread=gc"]), ["main", "gc"]);
    assert_eq!(name(["tid=1", "tid=2"]), ["thread 1", "thread 2"]);
    assert_eq!(name(["", "thread=gc"]), ["(no thread)", "gc"]);
    assert_eq!(name(["", "route=/"]), ["(all)"]);
}

#[test]
fn rows_by_other_things() {
    let picture =
        "main;app::parse 3 {route=/a process=x} @0\nmain;core::copy 2 {route=/b process=x} @9\nmain 1 @5";
    let names = |rows_by: TimelineRows| -> Vec<String> {
        let timeline = found(picture, |options| options.rows_by = rows_by);
        timeline.rows.iter().map(|row| format!("{} {}", row.name, row.total)).collect()
    };
    assert_eq!(names(TimelineRows::Process), ["x 5", "(no process) 1"]);
    assert_eq!(names(TimelineRows::Label("route".into())), ["/a 3", "/b 2", "(no route) 1"]);
    assert_eq!(names(TimelineRows::Package).len(), 3);
    let options = TimelineOptions {
        rows_by: TimelineRows::Label("user".into()),
        ..TimelineOptions::new(Scope::metric(0))
    };
    let error = timeline(&from_notation(picture), &options).unwrap_err();
    assert_eq!(error, NoTimeline::NoLabel("user".into()));
}

#[test]
fn without_times_there_is_no_timeline() {
    let error = timeline(&from_notation("a 1"), &TimelineOptions::new(Scope::metric(0))).unwrap_err();
    assert_eq!(error, NoTimeline::Time(TimeError::NoTimes));
}

#[test]
fn odd_times_are_shown_or_counted() {
    // One sample has no time.
    let timeline = found("a 1 @0\na 2 @10\na 4", |_| {});
    assert_eq!((timeline.untimed, timeline.rows[0].total), (4, 3));
    assert_eq!(
        timeline.header.warnings[0].text,
        "1 sample has no time: not on the axis, but in the row (no time)"
    );
    // Two clocks: one counts from 1970.
    let timeline =
        found("a 1 @5\na 2 @1708972837000000000\na 4 @1708972838000000000", |options| options.bins = 2);
    assert_eq!((timeline.untimed, timeline.rows[0].bins.clone()), (1, vec![2, 4]));
    // Backwards, repeated, before 1970, and a single one.
    assert_eq!(found("a 1 @30\na 2 @10\na 4 @20\na 8 @20", |options| options.bins = 3).rows[0].total, 15);
    assert_eq!(found("a 1 @-30\na 2 @-10", |options| options.bins = 2).rows[0].bins, [1, 2]);
    assert_eq!(found("a 1 @7", |_| {}).rows[0].bins, [1]);
    // A month, and as far apart as the clock of a single recording allows.
    let month = format!("a 1 @0\na 2 @{}", 30 * 86_400 * 1000 * MS);
    assert_eq!(found(&month, |options| options.bins = 3).rows[0].bins, [1, 0, 2]);
    let ends = format!("a 1 @{}\na 2 @{}", -1_i64 << 62, 1_i64 << 62);
    assert_eq!(found(&ends, |_| {}).rows[0].total, 1);
}

/// A recording: for each stretch, how long it is in milliseconds and how likely each function is, in percent. One sample per
/// millisecond.
fn recording(stretches: &[(i64, [u64; 3])], start: i64, step: i64, seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut picture = String::new();
    let mut time = start;
    for (length, shares) in stretches {
        for _ in 0..*length {
            let mut left = random.number() % 100;
            let function =
                shares.iter().position(|&share| left.checked_sub(share).map(|rest| left = rest).is_none());
            writeln!(picture, "main;f{} 1 @{time}", function.unwrap_or(3)).unwrap();
            time += step;
        }
    }
    picture
}

/// The inner edges of the phases, in milliseconds.
fn edges(picture: &str) -> Vec<i64> {
    let timeline = found(picture, |_| {});
    let ends = timeline.phases.windows(2).map(|pair| {
        assert_eq!(pair[0].to_ns, pair[1].from_ns);
        pair[1].from_ns / MS
    });
    ends.collect()
}

const PARSING: [u64; 3] = [80, 10, 5];
const RENDERING: [u64; 3] = [10, 80, 5];

#[test]
fn phases_are_found_where_they_begin() {
    let picture = recording(&[(1000, PARSING), (700, RENDERING), (300, [5, 5, 85])], 0, MS, 1);
    let timeline = found(&picture, |_| {});
    let phases: Vec<_> = timeline
        .phases
        .iter()
        .map(|phase| (phase.from_ns / MS, phase.to_ns / MS, &*phase.function.as_ref().unwrap().name))
        .collect();
    assert_eq!(phases, [(0, 1000, "f0"), (1000, 1700, "f1"), (1700, 1999, "f2")]);
    assert_eq!(timeline.phases.iter().map(|phase| phase.total).collect::<Vec<_>>(), [1000, 700, 300]);
    assert_eq!(timeline.phases[1].command, "prof top --from 1s --to 1.7s");
    // The last phase ends with the last sample, 1 ns after 1999 ms.
    assert_eq!((timeline.phases[2].to_ns, timeline.axis.to_ns), (1999 * MS + 1, 1999 * MS + 1));
    assert_eq!(timeline.phases[2].command, "prof top --from 1.7s --to 2s");
}

/// How many recordings are tried; without optimisation, each takes a while. `PROF_DRAWS=1000` tries more.
fn draws(usual: usize) -> usize {
    std::env::var("PROF_DRAWS").ok().and_then(|draws| draws.parse().ok()).unwrap_or(usual)
}

#[test]
fn a_recording_whose_mix_stays_has_one_phase() {
    let mut false_alarms = 0;
    let recordings = draws(40);
    for seed in 0..recordings {
        let shares = [[40, 30, 20], [98, 1, 0], [50, 50, 0], [25, 25, 25]][seed % 4];
        let length = [300, 1000, 3000, 5000][seed / 4 % 4];
        false_alarms += usize::from(!edges(&recording(&[(length, shares)], 0, MS, seed as u64)).is_empty());
    }
    // The accepted rate is 1 in 100; of 200, there were none.
    assert!(false_alarms <= recordings.div_ceil(100), "{false_alarms} of {recordings}");
}

/// Whether each edge that was found is at most `slack` from the wanted one.
fn near(found: &[i64], wanted: &[i64], slack: i64) -> bool {
    found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= slack)
}

#[test]
fn phases_are_found_in_almost_every_recording() {
    let parts = [(1000, [5, 5, 85]), (900, PARSING), (1100, RENDERING)];
    let mut wrong = 0;
    let recordings = draws(20);
    for seed in 0..recordings {
        let two = edges(&recording(&parts[1..], 0, MS, seed as u64));
        let three = edges(&recording(&parts, 0, MS, seed as u64));
        wrong += usize::from(!near(&two, &[900], 40)) + usize::from(!near(&three, &[1000, 1900], 60));
    }
    // A phase more than there are is found in 1 stretch of 100, and these recordings have five.
    assert!(wrong <= (5 * recordings).div_ceil(100), "{wrong} of {}", 2 * recordings);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(draws(6) as u32))]

    /// A later start changes nothing, because times without a date are counted from the first sample, and a slower clock
    /// stretches the phases: also where chance shows one too many.
    #[test]
    fn phases_follow_the_clock(seed in 0_u64..1000, shift in 0_i64..1_000_000, factor in 1_i64..50) {
        let stretches = [(900, PARSING), (1100, RENDERING)];
        let plain = edges(&recording(&stretches, 0, MS, seed));
        prop_assert_eq!(&edges(&recording(&stretches, shift * MS, MS, seed)), &plain);
        let stretched: Vec<i64> = plain.iter().map(|edge| edge * factor).collect();
        let found = edges(&recording(&stretches, 0, MS * factor, seed));
        prop_assert!(near(&found, &stretched, factor), "{found:?} instead of {stretched:?}");
    }
}
