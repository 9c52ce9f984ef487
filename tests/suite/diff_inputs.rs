//! Comparisons of inputs that do not fit, or not well: each gets a clear answer, and none a wrong verdict.

use std::fs::{self, File};
use std::path::Path;

use prof::profile::{Frame, Function, LabelSetId, LoadOptions, Mapping, Period, Profile, ProfileBuilder};
use tempfile::{TempDir, tempdir};

use crate::support::needs::shared;
use crate::support::{fixture, prof};

struct Answer {
    code: i32,
    text: String,
    /// Standard error as one line.
    messages: String,
}

fn diff(folder: &Path, arguments: &str) -> Answer {
    let words: Vec<&str> = std::iter::once("diff").chain(arguments.split_whitespace()).collect();
    let out = prof(folder, &words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let messages = text(out.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Answer { code: out.status.code().unwrap(), text: text(out.stdout), messages }
}

#[track_caller]
fn refused(folder: &Path, arguments: &str, message: &str, hint: &str) {
    let Answer { code, text, messages } = diff(folder, arguments);
    assert_eq!((code, &*text), (2, ""), "{arguments}: {messages}");
    assert!(messages.contains(message) && messages.contains(hint), "{arguments}: {messages}");
}

/// What a recording is like.
#[derive(Clone, Copy)]
struct Recording {
    metric: &'static str,
    unit: &'static str,
    period: i64,
    build: &'static str,
    /// Changes the counts a little, as runs do.
    run: i64,
}

const USUAL: Recording =
    Recording { metric: "cpu", unit: "nanoseconds", period: 10_000_000, build: "", run: 0 };

const PROGRAM: [(&str, i64); 8] = [
    ("read", 1500),
    ("parse", 2000),
    ("plan", 1400),
    ("sort", 1200),
    ("hash", 800),
    ("write", 700),
    ("log", 400),
    ("flush", 300),
];

/// A profile of these functions below `main`, with counts in samples.
fn profile(recording: Recording, functions: &[(&str, i64)]) -> Profile {
    let mut builder = ProfileBuilder::new("pprof", LoadOptions::default());
    builder.metric("samples", "count");
    builder.metric(recording.metric, recording.unit);
    builder.meta.default_metric = 1;
    let name = recording.metric.to_string();
    let unit = recording.unit.to_string();
    builder.meta.period = Some(Period { name, unit, value: recording.period });
    let (file, build_id) = (builder.string("/srv/bin/app"), builder.string(recording.build));
    let mapping = builder.mapping(Mapping { file, build_id, limit: 1 << 20, ..Mapping::default() });
    let source = builder.string("app.go");
    let frame = |builder: &mut ProfileBuilder, name: &str| {
        let name = builder.string(name);
        let function = Function { name, file: source, line: 0, column: 0, by_place: false };
        let function = builder.function(function);
        builder.frame(Frame { function, mapping, ..Frame::default() })
    };
    let main = frame(&mut builder, "main");
    for (number, (name, count)) in functions.iter().enumerate() {
        let leaf = frame(&mut builder, name);
        let stack = builder.stack(&[main, leaf]);
        let wobble = ((number as i64 * 7 + recording.run * 5) % 11 - 5) * count.isqrt() / 8;
        let count = count + wobble;
        builder.sample(stack, LabelSetId::default(), None, &[count, count * recording.period]);
    }
    builder.finish().unwrap()
}

fn write(folder: &TempDir, name: &str, profile: &Profile) {
    let mut file = File::create(folder.path().join(name)).unwrap();
    (prof::format::writer_named("pprof").unwrap().write)(profile, 1, &mut file).unwrap();
}

/// Three runs on either side: `old0.pb` to `new2.pb`. `parse` costs 1.3 times as much on the new side.
fn sides() -> TempDir {
    let folder = tempdir().unwrap();
    let dearer = PROGRAM.map(|(name, count)| (name, if name == "parse" { count * 13 / 10 } else { count }));
    for run in 0..3 {
        write(
            &folder,
            &format!("old{run}.pb"),
            &profile(Recording { run, build: "aaaa", ..USUAL }, &PROGRAM),
        );
        let new = Recording { run: run + 3, build: "bbbb", ..USUAL };
        write(&folder, &format!("new{run}.pb"), &profile(new, &dearer));
    }
    folder
}

const SIDES: &str = "--old old0.pb old1.pb old2.pb --new new0.pb new1.pb new2.pb";

#[test]
fn sides_that_fit_have_no_remarks() {
    let folder = sides();
    let Answer { code, text, messages } = diff(folder.path(), SIDES);
    assert_eq!((code, &*messages), (1, ""), "{text}");
    assert!(text.contains("1 function regressed, 0 improved"), "{text}");
}

#[test]
fn different_metrics_units_and_periods_are_refused() {
    let folder = sides();
    write(&folder, "wall.pb", &profile(Recording { metric: "wall", ..USUAL }, &PROGRAM));
    write(&folder, "bytes.pb", &profile(Recording { unit: "bytes", ..USUAL }, &PROGRAM));
    write(&folder, "fast.pb", &profile(Recording { period: 4_000_000, ..USUAL }, &PROGRAM));
    fs::write(folder.path().join("heap.heapprofile"), r#"{"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"selfSize":0,"children":[{"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":1,"columnNumber":1},"selfSize":64,"children":[],"id":2}],"id":1},"samples":[]}"#).unwrap();
    let here = folder.path();
    refused(here, "old0.pb wall.pb", "wall.pb: no metric named cpu", "the only metric that all inputs have");
    refused(here, "old0.pb heap.heapprofile", "no metric named cpu", "the inputs have no metric in common");
    refused(here, "old0.pb bytes.pb", "nanoseconds in one input and in bytes in another", "--metric");
    refused(
        here,
        "old0.pb fast.pb",
        "10ms of cpu in one profile and 4ms of cpu",
        "record old0.pb and fast.pb",
    );
    let mixed = "--old old0.pb fast.pb --new new0.pb new1.pb";
    refused(here, mixed, "10ms of cpu in one profile and 4ms of cpu", "record old0.pb and fast.pb");
}

#[test]
fn units_of_one_kind_are_converted() {
    let folder = sides();
    let micro = Recording { unit: "microseconds", period: 10_000, run: 4, ..USUAL };
    let mut converted = profile(micro, &PROGRAM);
    converted.meta.period = None;
    write(&folder, "micro.pb", &converted);
    let Answer { code, text, .. } = diff(folder.path(), "old0.pb micro.pb -n 0 --width 200");
    assert_eq!(code, 0);
    let row = text.lines().find(|line| line.ends_with(" parse (self)")).unwrap();
    assert!(row.contains("24.1%") && row.contains("×1.0"), "{row}");
}

/// The counts of collapsed stacks may be nanoseconds: without a look at them, the old side would be multiplied by ten million.
#[test]
fn collapsed_stacks_in_other_units_are_not_compared_as_they_are() {
    let folder = sides();
    let mut lines: Vec<String> =
        PROGRAM.iter().map(|(name, count)| format!("main;{name} {count}0000000")).collect();
    lines.extend((1..=20).map(|number| format!("main;rare{number} {number}0000000")));
    fs::write(folder.path().join("time.folded"), lines.join("\n")).unwrap();
    let Answer { code, text, messages } =
        diff(folder.path(), "-m samples old0.pb time.folded -n 0 --width 200");
    assert_eq!(code, 0, "{text}");
    let said = "warning: the inputs count in different units, and collapsed stacks do not say in which: where all counts are \
                multiples of 10,000,000, every 10,000,000 are compared as one sample";
    assert!(messages.contains(said), "{messages}");
    let row = text.lines().find(|line| line.ends_with(" parse (self)")).unwrap();
    assert!(row.contains("×1.0") && row.contains("2,000"), "{row}");

    // Without a common divisor, only shares can be compared, and there is no verdict.
    let odd: Vec<String> =
        PROGRAM.iter().map(|(name, count)| format!("main;{name} {}", count * 10_000_019 + 1)).collect();
    fs::write(folder.path().join("odd.folded"), odd.join("\n")).unwrap();
    for pair in ["old0.pb odd.folded", "odd.folded old0.pb"] {
        let Answer { code, text, messages } = diff(folder.path(), &format!("-m samples {pair}"));
        assert_eq!(code, 0, "{text}");
        assert!(
            messages.contains("they are rescaled to the same total, so only shares are compared"),
            "{messages}"
        );
        assert!(text.contains("no verdict: the size of one sample is unknown"), "{text}");
    }
    let top =
        prof(folder.path(), &["top", "-m", "samples", "--base", "old0.pb", "odd.folded"]).output().unwrap();
    let said = String::from_utf8(top.stderr).unwrap();
    assert!(said.contains("only shares are compared"), "{said}");
    // Nor does a view rescale by what unchanged code costs, which is not known.
    let core = "top -m samples --normalize core --base old0.pb odd.folded";
    let core = prof(folder.path(), &core.split(' ').collect::<Vec<_>>()).output().unwrap();
    let said = String::from_utf8(core.stderr).unwrap();
    assert_eq!(core.status.code(), Some(2), "{said}");
    assert!(said.contains("--normalize core cannot find the unchanged code"), "{said}");
}

/// Where `diff` finds no unchanged code, no view rescales by it.
#[test]
fn views_rescale_the_old_side_as_a_comparison_does() {
    let folder = sides();
    // Of these, only one function is on both sides.
    fs::write(folder.path().join("few-old.folded"), "main;a 4000\nmain;b 3000\nmain;gone 3000").unwrap();
    fs::write(folder.path().join("few-new.folded"), "main;a 4000\nmain;b 9000\nmain;come 5000").unwrap();
    let normalized = |arguments: &str| {
        let words: Vec<&str> = arguments.split(' ').collect();
        let out = prof(folder.path(), &words).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        (report["normalize"].clone(), said)
    };
    for (old, new, has_reason) in [("old0.pb", "new0.pb", false), ("few-old.folded", "few-new.folded", true)]
    {
        let compared = normalized(&format!("diff -f json --normalize core {old} {new}")).0;
        let (rescaled, said) = normalized(&format!("top -f json --normalize core --base {old} {new}"));
        assert_eq!(compared, rescaled, "{old}");
        assert_eq!(rescaled["reason"].is_string(), has_reason, "{rescaled}");
        assert_eq!(
            said.contains("instead of to unchanged code, because too few functions"),
            has_reason,
            "{said}"
        );
    }
}

/// A V8 profile in which `hot` takes this many of 1,000 samples of half a millisecond, give or take.
fn v8(hot: usize, seed: usize) -> String {
    let frame = |id: usize, name: &str, children: &str| {
        format!(
            r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"file:///srv/app.js","lineNumber":{id},"columnNumber":0}},"hitCount":0,"children":[{children}]}}"#
        )
    };
    let leaves = ["hot", "parse", "plan", "sort", "hash", "write", "log", "flush"];
    let leaves: Vec<String> =
        leaves.iter().enumerate().map(|(number, name)| frame(number + 3, name, "")).collect();
    let nodes =
        format!("{},{},{}", frame(1, "(root)", "2"), frame(2, "main", "3,4,5,6,7,8,9,10"), leaves.join(","));
    // A step that has no factor in common with 2,000 visits each number once.
    let node = |at: usize| match (at * 1237 + seed) % 2000 {
        place if place < 2 * hot => 3,
        place => 4 + place % 7,
    };
    let list =
        |of: &dyn Fn(usize) -> usize| (0..2000).map(|at| of(at).to_string()).collect::<Vec<_>>().join(",");
    let delta = |at: usize| 400 + (at * 97 + seed) % 211;
    let (samples, deltas, end) = (list(&node), list(&delta), (0..2000).map(delta).sum::<usize>());
    format!(
        r#"{{"nodes":[{nodes}],"startTime":0,"endTime":{end},"samples":[{samples}],"timeDeltas":[{deltas}]}}"#
    )
}

#[test]
fn a_pair_of_v8_profiles_has_its_largest_change_first_and_no_verdict() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("old.cpuprofile"), v8(100, 0)).unwrap();
    fs::write(folder.path().join("new.cpuprofile"), v8(300, 3)).unwrap();
    let Answer { code, text, .. } = diff(folder.path(), "old.cpuprofile new.cpuprofile --width 120");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("no verdict: profiles of this kind differ from run to run"), "{text}");
    let rows: Vec<&str> = text.lines().filter(|line| line.contains('×') && !line.contains("Δ")).collect();
    assert!(rows[0].contains("×3.8") && rows[0].contains(" hot "), "{text}");
    assert!(rows.len() <= 5 && text.contains("rows are not shown"), "{text}");
    assert!(!text.contains("95% CI"), "{text}");
}

/// What functions cost compared with unchanged code is known of such a pair, although no verdict is.
#[test]
fn a_base_can_be_rescaled_without_a_verdict() {
    let folder = tempdir().unwrap();
    let top = |[old, new]: [&str; 2]| {
        let words = ["top", "-n", "1", "--normalize", "core", "--base", old, new];
        let out = prof(folder.path(), &words).output().unwrap();
        [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    fs::write(folder.path().join("old.cpuprofile"), v8(100, 0)).unwrap();
    fs::write(folder.path().join("new.cpuprofile"), v8(300, 3)).unwrap();
    let [text, messages] = top(["old.cpuprofile", "new.cpuprofile"]);
    assert!(text.contains(" hot ") && text.contains("(core)"), "{text}{messages}");
    // Of waits for locks, nothing is known.
    for run in 0..2 {
        let waits = Recording { metric: "contentions", unit: "count", period: 1, run, ..USUAL };
        write(&folder, &format!("{run}.pb"), &profile(waits, &PROGRAM));
    }
    let [text, messages] = top(["0.pb", "1.pb"]);
    assert!(text.is_empty() && messages.contains("cannot find the unchanged code"), "{text}{messages}");
}

/// Differences are shares of what the column OLD adds up to, as in `prof diff`: of 10 → 4 with the old side multiplied by 3,
/// 26 of 30 are gone, not 260%.
#[test]
fn differences_are_shares_of_the_rescaled_old_side() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), "main;work 6\nmain;rest 4\n").unwrap();
    fs::write(folder.path().join("new.folded"), "main;work 3\nmain;rest 1\n").unwrap();
    let shown = |words: &[&str]| {
        let sides = ["--normalize", "per=1,3", "--base", "old.folded", "new.folded"];
        let out = prof(folder.path(), &[words, &sides].concat()).output().unwrap();
        String::from_utf8(out.stdout).unwrap()
    };
    for view in [&["top"][..], &["tree"], &["tree", "--bottom-up"], &["focus", "work"], &["graph"], &["hot"]]
    {
        let text = shown(view);
        assert!(text.contains("samples 10 · rescaled × 3.000 (per) to 30 · Δ% is of this total"), "{text}");
        assert!(text.contains("−50.0%") && !text.contains("−150.0%"), "{view:?}: 18 → 3 of 30\n{text}");
    }
    assert!(shown(&["top"]).contains("−86.7%"), "30 → 4");
    assert!(shown(&["graph", "-n", "1"]).contains("the most changed of 3 functions"));
}

/// The samples are those that filters leave, so that what is left of the total stands next to them.
#[test]
fn filtered_samples_come_with_their_part_of_the_total() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("old.folded"), "main;work 300\nmain;rest 700\n").unwrap();
    fs::write(folder.path().join("new.folded"), "main;work 600\nmain;rest 600\n").unwrap();
    let shown = |words: &[&str]| {
        let words = [&["diff", "-q", "old.folded", "new.folded"], words].concat();
        String::from_utf8(prof(folder.path(), &words).output().unwrap().stdout).unwrap()
    };
    let all = shown(&[]);
    assert!(all.starts_with("old  old.folded  1 profile, 1,000 samples\n"), "{all}");
    let part = shown(&["--show-stacks", "work"]);
    assert!(
        part.starts_with("old  old.folded  1 profile, samples 1,000; shown: 300 samples, 30.0% of all\n"),
        "{part}"
    );
    let markdown = shown(&["--show-stacks", "work", "-f", "markdown"]);
    assert!(markdown.contains("1 profile, samples 1,200; shown: 600 samples, 50.0% of all"), "{markdown}");
    // A filter that drops nothing needs no second total.
    let same = shown(&["--show-stacks", "main"]);
    assert!(same.starts_with("old  old.folded  1 profile, 1,000 samples\n"), "{same}");
}

/// A program under py-spy that spends some of its time in `hot`, and waited for a processor in `waits`.
fn py_spy(hot: u64, waits: usize) -> String {
    let leaf = |number: usize| {
        let count = 200 + (number as u64 * 37) % 50 + if number == waits { 150 } else { 0 };
        format!("<module> (app.py:1);main (app.py:90);step_{number} (app.py:{}) {count}\n", 10 + number)
    };
    let leaves: String = (0..9).map(leaf).collect();
    format!("{leaves}<module> (app.py:1);main (app.py:90);hot (app.py:5) {hot}\n")
}

/// While a program waits for a processor, py-spy finds it in the same function, again and again.
#[test]
fn a_pair_of_py_spy_profiles_has_no_verdict_but_several_runs_have() {
    let folder = tempdir().unwrap();
    for (side, hot) in [("old", 300), ("new", 900)] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for run in 0..4 {
            let path = folder.path().join(format!("{side}/{run}.folded"));
            fs::write(path, py_spy(hot + 7 * run, 20)).unwrap();
        }
    }
    fs::write(folder.path().join("waited.folded"), py_spy(300, 4)).unwrap();
    for new in ["new/0.folded", "waited.folded"] {
        let Answer { code, text, .. } = diff(folder.path(), &format!("old/0.folded {new}"));
        assert_eq!(code, 0, "{text}");
        assert!(text.contains("no verdict: profiles of this kind differ from run to run"), "{text}");
    }
    let Answer { code, text, .. } = diff(folder.path(), "old new");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("REGRESSED") && text.contains(" hot "), "{text}");
}

#[test]
fn programs_that_share_only_their_runtime_are_refused() {
    let folder = tempdir().unwrap();
    let runtime = ["mallocgc", "gcDrain", "scanobject", "memmove", "futex", "findObject"];
    let program = |name: &str| {
        let runtime = runtime.iter().map(|function| format!("main.main;runtime.{function} 500"));
        let own = (0..12).map(|number| format!("main.main;{name}.step{number}{} 100", &name[..1]));
        runtime.chain(own).collect::<Vec<_>>().join("\n")
    };
    for name in ["shop", "bank"] {
        fs::write(folder.path().join(format!("{name}.folded")), program(name)).unwrap();
    }
    refused(
        folder.path(),
        "shop.folded bank.folded --match exact",
        "different programs: outside of libraries and the runtime, the old side has 13 functions and the new side 13, \
         and only 1 of them are on both sides",
        "prof top --base OLD NEW compares any two",
    );
}

#[test]
fn a_side_without_samples_is_not_another_program() {
    let folder = tempdir().unwrap();
    let program = (0..30).map(|number| format!("main.main;shop.step{number} 100")).collect::<Vec<_>>();
    fs::write(folder.path().join("shop.folded"), program.join("\n")).unwrap();
    fs::write(folder.path().join("none.folded"), "main.main 0").unwrap();
    for (sides, empty) in [("shop.folded none.folded", "new"), ("none.folded shop.folded", "old")] {
        let Answer { code, text, messages } = diff(folder.path(), sides);
        assert_eq!(code, 0, "{messages}");
        assert!(text.contains(&format!("no verdict: the {empty} side has no samples")), "{text}");
    }
}

#[test]
#[needs(Corpus)]
fn recorded_go_programs_are_told_apart() {
    let go = shared("corpus").join("pprof");
    for [old, new] in [
        ["concourse__concourse__default.pgo", "Distortions81__GD-DOOM__default.pgo"],
        ["JustinTimperio__gpq__profile.pprof", "Harkishen-Singh__promscale__cpu.pprof"],
    ] {
        refused(&go, &format!("{old} {new}"), "seem to be different programs", "the same program?");
    }
}

#[test]
#[needs(Builds)]
fn formats_of_one_program_are_compared_by_name() {
    let folder = tempdir().unwrap();
    let recording = shared("changes/java-dearer/old/1.jfr.gz").display().to_string();
    let converted = prof(folder.path(), &["convert", "-o", "same.pb.gz", &recording]).output().unwrap();
    assert!(converted.status.success(), "{converted:?}");
    let Answer { code, text, messages } = diff(folder.path(), &format!("{recording} same.pb.gz -n 0"));
    assert_eq!(code, 0, "{text}");
    assert!(messages.contains("the old side is in the format jfr and the new side in pprof"), "{messages}");
    assert!(messages.contains("both sides hold the same data"), "{messages}");
    assert!(text.contains("×1.00") && !text.contains("removed"), "{text}");
    let costs: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with('×')).collect();
    assert!(!costs.is_empty() && costs.iter().all(|cost| *cost == "×1.00"), "{costs:?}");
}

#[test]
fn a_side_without_samples_is_no_verdict() {
    let folder = sides();
    write(&folder, "none.pb", &profile(USUAL, &[]));
    for (arguments, why) in [
        ("none.pb new0.pb", "the old side has no samples"),
        ("old0.pb none.pb", "the new side has no samples"),
        ("none.pb none.pb", "neither side has samples"),
    ] {
        let Answer { code, text, .. } = diff(folder.path(), arguments);
        assert_eq!(code, 0, "{text}");
        assert!(text.contains(&format!("no verdict: {why}")), "{text}");
        let strict = diff(folder.path(), &format!("--strict {arguments}"));
        assert_eq!(strict.code, 3, "{}", strict.text);
    }
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("empty.folded"), "").unwrap();
    refused(folder.path(), "empty new0.pb", "empty: no profile found", "a folder that contains one");
    refused(folder.path(), "empty.folded new0.pb", "not a profile in any known format", "the input is empty");

    // One empty run among others is a recording that failed.
    let one = "--old old0.pb old1.pb old2.pb --new new0.pb new1.pb none.pb";
    let Answer { code, messages, .. } = diff(folder.path(), one);
    assert_eq!(code, 1);
    let said = "none.pb has no samples of cpu, but counts as one of 3 runs on the new side";
    assert!(messages.contains(said), "{messages}");
}

#[test]
fn copies_are_noticed_under_any_name() {
    let folder = sides();
    fs::copy(folder.path().join("old0.pb"), folder.path().join("copy.pb")).unwrap();
    let said = |arguments: &str| diff(folder.path(), arguments).messages;
    assert_eq!(said("old0.pb old0.pb"), "note: old0.pb is on both sides");
    let same = "note: both sides hold the same data: old0.pb and copy.pb are equal";
    assert!(said("old0.pb copy.pb").contains(same), "{}", said("old0.pb copy.pb"));
    let twice = said("--old old0.pb old1.pb copy.pb --new new0.pb new1.pb");
    let same = "warning: old0.pb and copy.pb hold the same data; if one is a copy of the other, the old side has fewer runs";
    assert!(twice.contains(same), "{twice}");
    assert_eq!(said(SIDES), "");
    // It is in JSON too, for whoever reads only that.
    let json = diff(folder.path(), "old0.pb copy.pb -f json").text;
    assert!(json.contains("both sides hold the same data"), "{json}");
}

#[test]
fn counted_instructions_may_be_equal() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = "fixtures/callgrind/c.callgrind";
    let Answer { messages, .. } = diff(here, &format!("--old {file} {file} --new {file}"));
    assert!(!messages.contains("warning: fixtures/callgrind/c.callgrind and"), "{messages}");
    assert!(messages.contains("is on both sides"), "{messages}");
}

#[test]
fn mixed_builds_and_equal_builds_are_named() {
    let folder = sides();
    let of = |build: &'static str, run: i64| profile(Recording { build, run, ..USUAL }, &PROGRAM);
    write(&folder, "other.pb", &of("cccc", 7));
    write(&folder, "again.pb", &of("aaaa", 8));
    let mixed = diff(folder.path(), "--old old0.pb old1.pb other.pb --new new0.pb new1.pb").messages;
    let said = "warning: the old side mixes builds of app: old0.pb has build id aaaa, other.pb has cccc";
    assert!(mixed.contains(said), "{mixed}");
    let equal = diff(folder.path(), "--old old0.pb --new again.pb").messages;
    assert!(equal.contains("note: both sides are the same build of app (build id aaaa)"), "{equal}");
}

#[test]
fn broken_files_of_a_side_are_counted_and_named() {
    let folder = sides();
    let side = folder.path().join("old");
    fs::create_dir(&side).unwrap();
    for run in 0..3 {
        fs::copy(folder.path().join(format!("old{run}.pb")), side.join(format!("{run}.pb"))).unwrap();
    }
    let whole = fs::read(side.join("1.pb")).unwrap();
    fs::write(side.join("1.pb"), &whole[..whole.len() / 2]).unwrap();
    fs::write(side.join("README.txt"), "Recorded on Monday.\n").unwrap();
    let new = "--new new0.pb new1.pb new2.pb";
    refused(folder.path(), &format!("--old old {new}"), "old/1.pb: pprof:", "");
    let Answer { code, text, messages } = diff(folder.path(), &format!("--skip-broken --old old {new}"));
    assert_eq!(code, 1, "{text}");
    assert!(messages.contains("warning: 1 input skipped: not a readable profile (old/1.pb)"), "{messages}");
    assert!(messages.contains("note: 1 file skipped: not a profile (old/README.txt)"), "{messages}");
    assert!(text.lines().next().unwrap().contains("2 profiles together: "), "{text}");
    fs::write(folder.path().join("new0.pb"), &whole[..9]).unwrap();
    let all = "--skip-broken --old old0.pb --new new0.pb";
    refused(folder.path(), all, "new0.pb: pprof: ", "byte");
}

/// A recording that failed leaves an empty file, or one of junk: comparing the other runs would hide that.
#[test]
fn junk_that_is_named_as_the_runs_are_is_no_other_file() {
    let folder = sides();
    let side = folder.path().join("old");
    fs::create_dir(&side).unwrap();
    for run in 0..2 {
        fs::copy(folder.path().join(format!("old{run}.pb")), side.join(format!("{run}.pb"))).unwrap();
    }
    for other in ["README.md", "app", ".gitignore"] {
        fs::write(side.join(other), "\u{1}Recorded on Monday.\n").unwrap();
    }
    let new = "--new new0.pb new1.pb new2.pb";
    let Answer { messages, .. } = diff(folder.path(), &format!("--old old {new}"));
    let note = "note: 2 files skipped: not profiles (old/README.md, old/app)";
    assert!(messages.contains(note) && !messages.contains("warning: 2"), "{messages}");
    let hint = "--skip-broken leaves out files that cannot be read";
    for junk in ["", "not a profile\n", "\u{1}\u{2}\u{3}"] {
        fs::write(side.join("2.pb"), junk).unwrap();
        refused(
            folder.path(),
            &format!("--old old {new}"),
            "old/2.pb: not a profile in any known format",
            hint,
        );
        let Answer { messages, .. } = diff(folder.path(), &format!("--skip-broken --old old {new}"));
        let warning = "warning: 1 input skipped: not a readable profile (old/2.pb)";
        assert!(messages.contains(warning) && messages.contains(note), "{messages}");
    }
}

#[test]
fn a_file_of_matches_is_checked() {
    let folder = sides();
    let here = folder.path();
    let file = |text: &str| fs::write(here.join("pairs"), text).unwrap();
    let with = format!("--match pairs {SIDES}");
    for (pairs, message) in [
        ("nosuch = parse\n", "--match pairs: nosuch: no function of the old side has this name"),
        ("parse = nosuch\n", "--match pairs: nosuch: no function of the new side has this name"),
        ("parse = parse\nparse = sort\n", "parse: two lines name this function of the old side"),
        ("parse = sort\nplan = sort\n", "sort: two lines name this function of the new side"),
        ("parse -> sort\n", "--match pairs: line 1 is not `old = new`"),
        ("=\n", "--match pairs: line 1 is not `old = new`"),
        ("parse = sort\nparse =\n", "parse: two lines name this function of the old side"),
        ("= nosuch\n", "nosuch: no function of the new side has this name"),
        (
            "parse = sort\nsort = parse\n",
            "parse = sort = parse: these lines swap functions that both sides have, which would give each the cost of another",
        ),
        (
            "parse =\n",
            "parse: the new side has a function with the same name and place, so the two share a row",
        ),
    ] {
        file(pairs);
        refused(here, &with, message, "");
    }
    refused(
        here,
        &format!("--match nosuch {SIDES}"),
        "--match nosuch: no such file",
        "auto, exact, or the path",
    );
    refused(here, &format!("--match old0.pb {SIDES}"), "--match old0.pb: not a text file", "` = `");
}

/// A recording has only metrics of events that happened: without a thread that waited for a lock, it has none of locks.
#[test]
fn a_metric_that_one_recording_lacks_is_0_there() {
    let [with, without] =
        ["java.jfr", "pauses.jfr.gz"].map(|name| fixture("jfr").join(name).display().to_string());
    let here = Path::new(".");
    for (old, new) in [(&without, &with), (&with, &without)] {
        let Answer { code, text, messages } = diff(here, &format!("-m lock_duration {old} {new}"));
        assert_eq!(code, 0, "{text}{messages}");
        let note = "pauses.jfr.gz has no events of lock_duration, which counts as 0";
        assert!(messages.contains(note), "{messages}");
        assert!(text.contains("lock_duration 0 in") && text.contains("lock_duration 1.68s in"), "{text}");
    }
    refused(here, &format!("-m nosuch {without} {with}"), "--metric nosuch: no such metric", "samples, cpu");
}

/// What is in use says nothing about memory that was freed.
#[test]
fn allocations_that_were_freed_are_mentioned() {
    let folder = tempdir().unwrap();
    let heap = |allocated: i64| {
        let values = format!("2: 2048 [{}: {allocated}]", allocated / 1024);
        format!("heap profile: {values} @ heapprofile\n{values} @ 0x1000 0x2000\n")
    };
    for (name, allocated) in [("old.heap", 4096), ("same.heap", 4096), ("new.heap", 12288)] {
        fs::write(folder.path().join(name), heap(allocated)).unwrap();
    }
    let messages = |arguments: &str| diff(folder.path(), arguments).messages;
    let note = "inuse_space is about the same on both sides, but the new side has 3× the alloc_space of the old one: \
                compare it with -m alloc_space";
    assert!(messages("old.heap new.heap").contains(note), "{}", messages("old.heap new.heap"));
    for other in ["old.heap same.heap", "old.heap new.heap -m alloc_space"] {
        assert!(!messages(other).contains("compare it with"), "{other}: {}", messages(other));
    }
}
