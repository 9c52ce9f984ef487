//! No line of any view is wider than the terminal, from 60 columns up.

use std::path::Path;

use prof::name::display_width;

use crate::support::{corpus_root, fixture, prof};

/// Every view, with options that add columns or make names longer. `SELF` stands for the profile itself.
const VIEWS: &[&str] = &[
    "top",
    "top --columns self,total,children,sum,file,line,package",
    "top --columns package,file",
    "top --by line",
    "top --by file",
    "top --by package",
    "top --by mapping",
    "top --names short -n 60 --sort total",
    "top --show-stacks a",
    "top --highlight a",
    "top --per-event",
    "top --base SELF",
    "top --unit ns",
    "top -m 0 -m 1",
    "tree",
    "tree -n 200 --min-share 0.01",
    "tree --columns self,total,children,file,package",
    "tree --chains full --names short",
    "tree --show-stacks a",
    "tree --per-event",
    "tree --base SELF",
    "tree -m 0 -m 1",
    "tree --bottom-up",
    "tree --bottom-up --min-share 1 -n 40",
    "tree --bottom-up --show-stacks a",
    "tree --bottom-up --base SELF",
    "tree --bottom-up -m 0 -m 1",
    "hot",
    "hot --chains full",
    "hot --show-stacks a",
    "hot --base SELF",
    "graph",
    "graph --show-stacks a",
    "graph --base SELF",
    "focus main",
    "focus a",
    "focus main --show-stacks a",
    "focus main --base SELF",
    "source main",
    "source main --base SELF",
    "labels",
    "labels --base SELF",
    "traces -n 30",
    "traces -n 9 --base SELF",
    "traces -n 9 -m 0 -m 1",
    "info",
    "info SELF",
    "types",
    "types cpu",
    "types --language go",
];

const FIXTURES: &[&str] = &[
    "pprof/go-cpu.pb.gz",
    "cpuprofile/node.cpuprofile",
    "callgrind/c.callgrind",
    "pstats/python.pstats",
    "jfr/java.jfr",
    "collapsed/rust.folded",
    "pprof/go-heap.pb.gz",
    "collapsed/python.folded",
];

/// Real files with long names.
const CORPUS: &[&str] =
    &["pprof/JustinTimperio__gpq__profile.pprof", "pprof/Distortions81__GD-DOOM__mem.pprof"];

/// Checks every view at one width, each with some of the fixtures. Together, the widths cover all of them.
fn check(width: usize) {
    let mut rows = 0;
    for (number, view) in VIEWS.iter().enumerate() {
        for turn in 0..3 {
            let file = FIXTURES[(number + width / 20 + 3 * turn) % FIXTURES.len()];
            rows += rows_that_fit(view, &fixture(file), width);
        }
    }
    assert!(rows > 1000, "{rows} rows");
}

/// Checks that no line of a view is wider than `width`, and returns how many lines it has.
fn rows_that_fit(view: &str, file: &Path, width: usize) -> usize {
    let file = file.to_str().unwrap();
    let words = view.split(' ').map(|word| if word == "SELF" { file } else { word });
    let width_text = width.to_string();
    let mut words: Vec<&str> = words.chain(["--width", &width_text]).collect();
    if !view.starts_with("types") {
        words.push(file);
    }
    let output = prof(Path::new(env!("CARGO_MANIFEST_DIR")), &words).output().unwrap();
    // Exit code 2: some files have no second metric, no stacks, or no function of that name.
    assert!(matches!(output.status.code(), Some(0 | 2)), "{words:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    for line in text.lines() {
        let wide = display_width(line);
        assert!(wide <= width, "{} ({wide} columns):\n{line}", words.join(" "));
    }
    text.lines().count()
}

#[test]
#[needs(Corpus)]
fn no_view_of_a_real_profile_is_wider_than_the_terminal() {
    let mut rows = 0;
    for (number, view) in VIEWS.iter().enumerate() {
        for (turn, file) in CORPUS.iter().enumerate() {
            for width in [60, [80, 100, 120, 200][(number + turn) % 4]] {
                rows += rows_that_fit(view, &corpus_root().join(file), width);
            }
        }
    }
    assert!(rows > 1000, "{rows} rows");
}

#[test]
fn nothing_is_wider_than_60_columns() {
    check(60);
}

#[test]
fn nothing_is_wider_than_80_columns() {
    check(80);
}

#[test]
fn nothing_is_wider_than_100_columns() {
    check(100);
}

#[test]
fn nothing_is_wider_than_120_columns() {
    check(120);
}

#[test]
fn nothing_is_wider_than_200_columns() {
    check(200);
}

/// On a very narrow terminal, text that was wrapped next to a title or a number is not wrapped again.
#[test]
fn text_is_wrapped_once() {
    let lines = |command: &str| -> Vec<String> {
        let output = prof(&fixture("jfr"), &[command, "--width", "30", "java.jfr"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
    };
    let info = lines("info");
    let at = info.iter().position(|line| line.starts_with("recorded: ")).unwrap();
    assert_eq!(info[at + 1], "UTC, for 3.63s, 0.88 CPUs busy");
    let report = lines("report");
    let ceiling = report.iter().position(|line| line.trim() == "ceiling: CPU time").unwrap();
    assert!(report[ceiling + 1].trim().starts_with("÷ 1.43 if it cost"), "{report:#?}");
}
