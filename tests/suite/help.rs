//! The examples in every `--help` are run.
//!
//! Their output is in `snapshots/`, one file per command. `INSTA_UPDATE=always cargo test --test suite help`
//! updates it; read the changes before committing.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use quick_xml::Reader;
use quick_xml::events::Event;
use tempfile::TempDir;

use crate::support::copies;
use crate::support::series::write_nightly;

/// The minimum number of examples per command.
const LEAST: usize = 2;

/// The files that the examples name, and the fixtures they are copies of.
const FILES: [(&str, &str); 15] = [
    ("sorting", "symbols/sorting"),
    ("sorting.debug", "symbols/sorting.debug"),
    ("sorting.pb.gz", "symbols/sorting.pb.gz"),
    ("cpu.pb.gz", "pprof/go-cpu.pb.gz"),
    ("heap.pb.gz", "pprof/go-heap.pb.gz"),
    ("mutex.pb.gz", "pprof/go-mutex.pb.gz"),
    ("goroutine.pb.gz", "pprof/go-goroutine.pb.gz"),
    ("old.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("new.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("newer.pb.gz", "pprof/go-cpu-new.pb.gz"),
    ("monday.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("tuesday.pb.gz", "pprof/go-cpu-old.pb.gz"),
    ("app.cpuprofile", "cpuprofile/node.cpuprofile"),
    ("stacks.folded", "collapsed/python.folded"),
    ("python.pstats", "pstats/python.pstats"),
];

/// The sources of the recorded program, which are found below the current folder.
const SOURCES: [&str; 3] = ["main.go", "catalog/catalog.go", "orders/orders.go"];

#[test]
fn examples_in_help_run_and_answer() {
    let folder = folder();
    let commands = commands(folder.path());
    assert!(commands.len() >= 12, "{commands:?}");
    for command in commands {
        let examples = examples(folder.path(), &command);
        assert!(examples.len() >= LEAST, "prof {command} --help has {} examples", examples.len());
        let mut shown = String::new();
        for example in examples {
            writeln!(shown, "$ {}  # {}", example.line, example.remark).unwrap();
            shown += &answer(folder.path(), &command, &example);
            shown.push('\n');
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("help_{command}"), shown);
        });
    }
}

/// The snapshots name these pictures but cannot show them.
#[test]
#[needs(Graphviz)]
fn examples_with_graphviz_run_and_answer() {
    let folder = folder();
    let examples = examples(folder.path(), "graph");
    let examples = examples.iter().filter(|example| needs_graphviz(&words(&example.line)));
    let count = examples.inspect(|example| _ = run_example(folder.path(), "graph", example)).count();
    assert!(count > 0);
}

/// An example: the command line, and the remark next to it.
struct Example {
    line: String,
    remark: String,
}

/// A folder with the files that the examples name.
fn folder() -> TempDir {
    let folder = copies(&FILES.map(|(name, fixture)| (fixture, name)));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for source in SOURCES {
        let copy = folder.path().join("shop").join(source);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(fixtures.join("programs/shop").join(source), copy).unwrap();
    }
    write_nightly(&folder.path().join("nightly"), 40);
    fs::create_dir(folder.path().join("heaps")).unwrap();
    for heap in fs::read_dir(fixtures.join("trend/heaps")).unwrap().map(Result::unwrap) {
        fs::copy(heap.path(), folder.path().join("heaps").join(heap.file_name())).unwrap();
    }
    folder
}

/// The commands that `prof --help` lists.
fn commands(folder: &Path) -> Vec<String> {
    let help = text(prof(folder, &["--help".to_string()]).stdout);
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    list.take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_string)
        .collect()
}

/// The examples of a command: the lines below `Examples:`, with two or more spaces before the remark.
fn examples(folder: &Path, command: &str) -> Vec<Example> {
    let help = text(prof(folder, &[command.to_string(), "--help".to_string()]).stdout);
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1);
    lines
        .map(|line| {
            let (line, remark) = line.trim().split_once("  ").unwrap_or_else(|| panic!("no remark: {line}"));
            let name = format!("prof {command}");
            assert!(line == name || line.starts_with(&format!("{name} ")), "{line}");
            Example { line: line.to_string(), remark: remark.trim().to_string() }
        })
        .collect()
}

/// The output of an example, or the name of the picture it draws.
fn answer(folder: &Path, command: &str, example: &Example) -> String {
    let words = words(&example.line);
    // `examples_with_graphviz_run_and_answer` draws it.
    if needs_graphviz(&words) { drawn(&words[2]) } else { run_example(folder, command, example) }
}

fn run_example(folder: &Path, command: &str, example: &Example) -> String {
    let words = words(&example.line);
    // A screen instead of a terminal.
    let keys = if command == "ui" { &["--keys".to_string(), "j".to_string()][..] } else { &[] };
    let output = prof(folder, &[&words[1..], keys].concat());
    let (code, stderr) = (output.status.code(), text(output.stderr));
    // What finds a regression exits with 1.
    let is_check = ["diff", "trend"].contains(&command);
    let fine: &[Option<i32>] = if is_check { &[Some(0), Some(1)] } else { &[Some(0)] };
    assert!(fine.contains(&code), "{}: {code:?}: {stderr}", example.line);
    // Converting warns about what the format cannot hold.
    let is_expected =
        stderr.is_empty() || command == "convert" && stderr.lines().all(|line| line.starts_with("warning: "));
    assert!(is_expected, "{}: {stderr}", example.line);
    if command == "convert" {
        return converted(folder, &words, &output.stdout);
    }
    let printed = text(output.stdout);
    if command == "open" {
        check_picture("page.html", &printed);
        return "the page, in the browser".to_string();
    }
    if command == "mcp" {
        assert_eq!(printed, "", "no client has asked");
        return "the protocol".to_string();
    }
    if let (true, Some(option)) = (command == "man", words.iter().position(|word| word == "-o")) {
        return pages(&folder.join(&words[option + 1]));
    }
    let Some(picture) = words[1..].iter().find(|word| is_picture(word)) else {
        assert!(printed.lines().count() > 1, "{}: {printed}", example.line);
        return match command {
            "source" => independent(&printed),
            "sql" => "(statements)\n".to_string(),
            "man" => printed.replace(env!("CARGO_PKG_VERSION"), "VERSION"),
            _ => printed,
        };
    };
    assert_eq!(printed, "", "{}", example.line);
    check_picture(picture, &fs::read_to_string(folder.join(picture)).unwrap());
    drawn(picture)
}

/// Checks that the written file can be read again, and returns its name.
fn converted(folder: &Path, words: &[String], stdout: &[u8]) -> String {
    let option = words.iter().position(|word| word == "-o").expect("convert says where to");
    let name = words[option + 1].as_str();
    let name = if name == "-" {
        fs::write(folder.join("stdout"), stdout).unwrap();
        "stdout"
    } else {
        name
    };
    let output = prof(folder, &["info".to_string(), name.to_string()]);
    assert!(output.status.success(), "{words:?}: {}", text(output.stderr));
    drawn(name)
}

/// The names of the man pages in a folder.
fn pages(folder: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap() + "\n")
        .collect();
    names.sort();
    names.concat()
}

fn drawn(picture: &str) -> String {
    format!("({picture})\n")
}

fn is_picture(word: &str) -> bool {
    has_ending(word, "svg") || has_ending(word, "html")
}

fn has_ending(word: &str, ending: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == ending)
}

fn needs_graphviz(words: &[String]) -> bool {
    words[1] == "graph" && words.iter().any(|word| has_ending(word, "svg"))
}

/// Checks that a picture is well-formed XML with text, and that a page is complete.
fn check_picture(name: &str, picture: &str) {
    if has_ending(name, "html") {
        let start = picture[..15].to_ascii_lowercase();
        assert_eq!((start.as_str(), picture.trim_end().ends_with("</html>")), ("<!doctype html>", true));
        assert_eq!(picture.matches("<script").count(), picture.matches("</script>").count());
        return;
    }
    let mut reader = Reader::from_str(picture);
    let (mut depth, mut roots, mut texts) = (0, 0, 0);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{name}: {error}")) {
            Event::Start(tag) => {
                if depth == 0 {
                    assert_eq!(tag.name().as_ref(), "svg", "{name}");
                    roots += 1;
                }
                texts += i32::from(tag.name().as_ref() == "text");
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((depth, roots), (0, 1), "{name}");
    assert!(texts > 10, "{name} has {texts} texts");
}

/// Sources are found where the program was built, if that is this machine; otherwise below the current folder.
fn independent(printed: &str) -> String {
    printed.replace("/srv/shop/", "./shop/")
}

/// Splits a command line into words. Quotes protect spaces and asterisks.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    assert!(!is_quoted, "{line}");
    words
}

fn prof(folder: &Path, words: &[String]) -> Output {
    let mut prof = Command::new(env!("CARGO_BIN_EXE_prof"));
    // The browser prints the page.
    prof.args(words).current_dir(folder).env("BROWSER", "cat").env("TMPDIR", folder);
    for name in ["PROF_PROFILE", "COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "PAGER"] {
        prof.env_remove(name);
    }
    prof.output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
