//! Names with a special meaning for a terminal, a spreadsheet, a browser or a build server, in every view and output
//! format: they are displayed, never interpreted.

#![allow(clippy::case_sensitive_file_extension_comparisons, reason = "the names are written here")]

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::prof;
use prof::format::writer_named;
use prof::profile::{Frame, Function, Label, LabelValue, LoadOptions, Mapping, ProfileBuilder, StackId};

/// Names of functions, files, labels, metrics.
const NAMES: &[&str] = &[
    "\u{1b}[2J\u{1b}]0;owned\u{7}clear",
    "\u{9b}31mred\u{7f}",
    "right\u{202e}left\u{2066}\u{200b}\u{feff}\u{2028}",
    "two\r\nlines\t\u{0}\u{b}",
    "=HYPERLINK(\"http://evil\",\"x\")",
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "]]><evil/><!--",
    "\" onmouseover=\"alert(3)",
    "|pipe|**bold**[link](javascript:alert(4))`code`",
    "\\l\"];evil[label=\"",
    "::error file=x::owned%0A::warning::",
    "{{ template }} ${shell} $(shell)",
    "semi;colon 12",
    "not xml \u{fffe}\u{ffff}\u{1}",
    "tag\u{e0041}\u{e0042}",
];

/// Whether a terminal or an editor interprets or hides a character.
fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// A folder with `old.pb.gz` and `new.pb.gz`, in which everything that has a name has one of [`NAMES`].
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, factor) in [("old.pb.gz", 1), ("new.pb.gz", 9)] {
        let mut bytes = Vec::new();
        let writer = writer_named("pprof").unwrap();
        (writer.write)(&profile(factor), 0, &mut bytes).unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn profile(factor: i64) -> prof::profile::Profile {
    let mut builder = ProfileBuilder::new("pprof", LoadOptions { labels: true, ..LoadOptions::LEAST });
    builder.metric(NAMES[0], NAMES[2]);
    builder.metric("samples", "count");
    builder.meta.default_metric = 1;
    builder.meta.comments = NAMES.iter().map(ToString::to_string).collect();
    let root = builder.named_frame("main");
    for (number, name) in NAMES.iter().enumerate() {
        let (name, file) = (builder.string(name), builder.string(NAMES[(number + 3) % NAMES.len()]));
        let function = builder.function(Function { name, file, line: 3, column: 0, by_place: false });
        let mapping = builder.mapping(Mapping { file, start: 1, limit: 99, ..Mapping::default() });
        let frame = builder.frame(Frame { function, line: 7, mapping, ..Frame::default() });
        let label = Label { key: name, value: LabelValue::Text(file) };
        let number_label = Label { key: name, value: LabelValue::Number(7, file) };
        let labels = builder.label_set(&mut [label, number_label]);
        let stack: StackId = builder.stack(&[root, frame, frame]);
        let value = if number % 2 == 0 { 400 * factor } else { 700 };
        builder.sample(stack, labels, None, &[value, value]);
    }
    builder.finish().unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    prof(folder, arguments).output().unwrap()
}

/// The output and the messages of a run, which must end with a documented exit code.
fn printed(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "prof {arguments:?}: {errors}");
    (String::from_utf8(output.stdout).unwrap(), errors)
}

/// Every view: its arguments.
const VIEWS: &[&[&str]] = &[
    &["top", "new.pb.gz"],
    &["top", "--by", "file", "new.pb.gz"],
    &["top", "--by", "mapping", "new.pb.gz"],
    &["top", "--by", "package", "new.pb.gz"],
    &["top", "--by", "line", "--base", "old.pb.gz", "new.pb.gz"],
    &["top", "-m", "0", "-m", "1", "new.pb.gz"],
    &["tree", "--min-share", "0", "new.pb.gz"],
    &["tree", "--bottom-up", "--min-share", "0", "new.pb.gz"],
    &["focus", "main", "new.pb.gz"],
    &["hot", "--min-share", "0", "new.pb.gz"],
    &["graph", "new.pb.gz"],
    &["labels", "new.pb.gz"],
    &["traces", "new.pb.gz"],
    &["info", "new.pb.gz"],
    &["diff", "old.pb.gz", "new.pb.gz"],
    &["source", "main", "new.pb.gz"],
];

fn with<'a>(view: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [view, more].concat()
}

#[test]
fn nothing_printed_is_obeyed_by_a_terminal() {
    let folder = folder();
    for view in VIEWS {
        for form in ["text", "markdown", "json", "csv"] {
            // Neither shows functions.
            let has_names = !matches!(view[0], "info" | "labels");
            let narrow = ["-f", form, "--width", "70", "--names", "short"];
            let narrow = &narrow[..if has_names { narrow.len() } else { 4 }];
            for more in [&["-f", form, "-n", "0"][..], narrow] {
                let arguments = with(view, more);
                if view[0] == "info" && more.contains(&"-n") {
                    continue;
                }
                if more.contains(&"-n") && matches!(view[0], "graph" | "source") {
                    continue;
                }
                let (text, errors) = printed(folder.path(), &arguments);
                // CSV keeps the tabs that indent source lines. They move the cursor, and do nothing else.
                let text = if form == "csv" { text.replace("\r\n", "\n").replace('\t', " ") } else { text };
                for (stream, text) in [("output", text), ("errors", errors)] {
                    let bad = text.lines().find(|line| line.contains(is_obeyed));
                    assert_eq!(bad, None, "prof {arguments:?}: {stream}");
                }
            }
        }
    }
}

#[test]
fn colours_are_the_only_escapes() {
    let folder = folder();
    for view in VIEWS.iter().filter(|view| view[0] != "info") {
        let (text, _) = printed(folder.path(), &with(view, &["--color", "always"]));
        for (at, _) in text.match_indices('\u{1b}') {
            let rest = &text[at + 1..];
            let end = rest.find('m').unwrap();
            let digits = |c: char| c.is_ascii_digit() || c == ';';
            assert!(
                rest.starts_with('[') && rest[1..end].chars().all(digits),
                "{view:?}: {:?}",
                &rest[..end]
            );
        }
    }
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    let folder = folder();
    for view in VIEWS {
        let (text, _) = printed(folder.path(), &with(view, &["-f", "csv"]));
        for cell in cells(&text) {
            let is_formula = cell.trim_start().starts_with(['=', '+', '-', '@']);
            assert!(!is_formula || cell.parse::<f64>().is_ok(), "{view:?}: {cell:?}");
        }
    }
}

/// The cells of CSV, unquoted.
fn cells(text: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' | '\n' | '\r' if !quoted => cells.push(std::mem::take(&mut cell)),
            _ => cell.push(c),
        }
    }
    cells
}

#[test]
fn markdown_holds_no_markup_of_names() {
    let folder = folder();
    for view in VIEWS {
        let (text, _) = printed(folder.path(), &with(view, &["-f", "markdown"]));
        // In code spans, as in the comment of a comparison, nothing is markup.
        let outside: String = text.split('`').step_by(2).collect();
        for markup in ["<script", "<img", "<evil", "<!--", "**bold", "[link]("] {
            assert!(!outside.contains(markup), "{view:?}: {markup} in {outside}");
        }
        // All lines of a table have the same number of cells.
        let lines: Vec<&str> = text.lines().collect();
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
            assert!(view[0] == "diff" || cells(pair[0]) == cells(pair[1]), "{view:?}: {text}");
        }
    }
}

#[test]
fn documents_are_well_formed() {
    let folder = folder();
    for view in VIEWS {
        let (text, _) = printed(folder.path(), &with(view, &["-f", "json"]));
        serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|error| panic!("{view:?}: {error}"));
    }
    let (junit, _) = printed(folder.path(), &["diff", "-f", "junit", "old.pb.gz", "new.pb.gz"]);
    is_xml(&junit, "junit");
    let (svg, _) = printed(folder.path(), &["flame", "-o", "-", "--title", NAMES[9], "new.pb.gz"]);
    is_xml(&svg, "svg");
    assert!(!svg.contains("alert(1)</script>"));
    for base in [&[][..], &["--base", "old.pb.gz"]] {
        let words = ["flame", "-o", "-", "--style", "classic", "--title", NAMES[9], "new.pb.gz"];
        let (classic, _) = printed(folder.path(), &with(&words, base));
        is_xml(&classic, "classic svg");
        assert!(!classic.contains("alert(1)</script>") && !classic.contains(is_obeyed));
    }
    for out in ["out.svg", "out.html", "out.dot", "diff.svg", "diff.html"] {
        let command = if out == "out.dot" { "graph" } else { "flame" };
        let base: &[&str] = if out.starts_with("diff") { &["--base", "old.pb.gz"] } else { &[] };
        printed(folder.path(), &with(&[command, out, "new.pb.gz"], base));
        let text = fs::read_to_string(folder.path().join(out)).unwrap();
        let bad = text.lines().find(|line| line.contains(|c| is_obeyed(c) && c != '\t'));
        assert_eq!(bad, None, "{out}");
        // In DOT, this is ordinary text; only the end of a string must be escaped.
        let markups: &[&str] =
            if out == "out.dot" { &["\"];evil"] } else { &["<script>alert(1)", "<img", "<evil"] };
        for markup in markups {
            assert!(!text.replace("\\\"", "").contains(markup), "{out}: {markup}");
        }
        if out.ends_with(".svg") {
            is_xml(&text, out);
        }
    }
}

/// Checks that all characters are allowed in XML and all elements are closed.
fn is_xml(text: &str, what: &str) {
    let allowed = |c: char| !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let bad = text.lines().find(|line| !line.chars().all(allowed));
    assert_eq!(bad, None, "{what}: a character that XML does not have");
    let mut reader = quick_xml::Reader::from_str(text);
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{what}: {error}")) {
            quick_xml::events::Event::Start(_) => depth += 1,
            quick_xml::events::Event::End(_) => depth -= 1,
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "{what}");
}

#[test]
fn annotations_are_one_command_a_line() {
    let folder = folder();
    let (text, _) = printed(folder.path(), &["diff", "-f", "github", "old.pb.gz", "new.pb.gz"]);
    for line in text.lines() {
        let known = ["::error ", "::warning ", "::notice "].iter().any(|kind| line.starts_with(kind));
        assert!(known && !line.contains(is_obeyed), "{line:?}");
    }
}

#[test]
fn errors_show_names_too() {
    let folder = folder();
    let path = "\u{1b}[2Jgone\u{202e}.pb.gz";
    let output = run(folder.path(), &["top", path]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains(is_obeyed) && errors.contains("\\u{1b}[2Jgone"), "{errors:?}");
    let output = run(folder.path(), &["top", "-m", "nothing", "new.pb.gz"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains(is_obeyed), "{errors:?}");
}
