//! Compares every number in a picture with the command line: the flame graph as SVG and as a page, and the
//! call graph, with the JSON of `tree` and `top` for the same options.
//!
//! The test of the page needs Chromium.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use quick_xml::escape::unescape;
use regex::Regex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::page::browser::run;
use crate::support::{copies, prof};

/// A test of an option of `flame`: arguments for all commands, and arguments for `flame` only.
struct Trial {
    option: &'static str,
    words: &'static str,
    look: &'static str,
}

const fn shared(option: &'static str, words: &'static str) -> Trial {
    Trial { option, words, look: "" }
}

/// An option for the appearance of the picture, which must not change any number.
const fn look(option: &'static str, look: &'static str) -> Trial {
    Trial { option, words: "cpu.pb.gz", look }
}

/// All options of `flame`, each in a command line where it changes numbers, if it ever does.
const TRIALS: &[Trial] = &[
    shared("--metric", "-m samples cpu.pb.gz"),
    shared("--input-format", "--input-format pprof cpu.pb.gz"),
    shared("--latency", "--latency threads.jfr"),
    shared("--wall", "--wall threads.jfr"),
    shared("--skip-broken", "--skip-broken cpu.pb.gz broken.pb.gz"),
    shared("--max-memory", "--max-memory 1g cpu.pb.gz"),
    shared("--threads", "--threads 1 cpu.pb.gz"),
    shared("--quiet", "--quiet cpu.pb.gz"),
    shared("--verbose", "--verbose cpu.pb.gz"),
    shared("--by", "--by package cpu.pb.gz"),
    shared("--by", "--by line node.cpuprofile"),
    shared("--unit", "--unit ms cpu.pb.gz"),
    look("--output", "-o again.svg"),
    look("--force", "--force"),
    look("--width", "--width 700"),
    look("--icicle", "--icicle"),
    shared("--bottom-up", "--bottom-up cpu.pb.gz"),
    shared("--bottom-up", "--bottom-up --base old.pb.gz --normalize total new.pb.gz"),
    look("--order", "--order weight"),
    look("--title", "--title Shop"),
    look("--style", "--style prof"),
    look("--color-by", "--color-by file"),
    look("--own", "--own Place"),
    shared("--highlight", "--highlight Place cpu.pb.gz"),
    shared("--binary", "--binary bin/sorting sorting.pb.gz"),
    shared("--sourcemaps", "--sourcemaps maps bundle.cpuprofile"),
    shared("--no-sourcemaps", "--no-sourcemaps bundle.cpuprofile"),
    // Files are not fetched.
    shared("--seconds", "--seconds 5 cpu.pb.gz"),
    shared("--header", "--header X:1 cpu.pb.gz"),
    shared("--timeout", "--timeout 9 cpu.pb.gz"),
    shared("--tls-ca", "--tls-ca ca.pem cpu.pb.gz"),
    shared("--tls-cert", "--tls-cert own.pem cpu.pb.gz"),
    shared("--tls-key", "--tls-cert own.pem --tls-key own.key cpu.pb.gz"),
    shared("--tls-insecure", "--tls-insecure cpu.pb.gz"),
    shared("--no-save", "--no-save cpu.pb.gz"),
    shared("--symbolize", "--symbolize never sorting.pb.gz"),
    shared("--merge", "--merge mean cpu.pb.gz old.pb.gz new.pb.gz"),
    shared("--max-profiles", "--max-profiles 2 cpu.pb.gz old.pb.gz new.pb.gz"),
    shared("--seed", "--seed 7 --max-profiles 2 cpu.pb.gz old.pb.gz new.pb.gz"),
    shared("--weight", "--merge mean --weight top50 cpu.pb.gz old.pb.gz new.pb.gz"),
    shared("--show-stacks", "--show-stacks Place cpu.pb.gz"),
    shared("--hide-stacks", "--hide-stacks Place cpu.pb.gz"),
    shared("--show-frames", "--show-frames orders cpu.pb.gz"),
    shared("--hide-frames", "--hide-frames @runtime cpu.pb.gz"),
    shared("--show-from", "--show-from Place cpu.pb.gz"),
    shared("--prune-from", "--prune-from Place cpu.pb.gz"),
    shared("--focus", "--focus Place cpu.pb.gz"),
    shared("--label", "--label endpoint=/orders cpu.pb.gz"),
    shared("--hide-label", "--hide-label endpoint=/orders cpu.pb.gz"),
    shared("--label-root", "--label-root endpoint cpu.pb.gz"),
    shared("--label-leaf", "--label-leaf endpoint cpu.pb.gz"),
    shared("--thread", "--thread main threads.jfr"),
    shared("--from", "--from 200ms threads.jfr"),
    shared("--to", "--to 500ms threads.jfr"),
    shared("--no-inlines", "--no-inlines cpu.pb.gz"),
    shared("--fold", "--fold cpu.pb.gz"),
    shared("--collapse-recursion", "--collapse-recursion node.cpuprofile"),
    shared("--what-if", "--what-if Place=0.5 cpu.pb.gz"),
    shared("--rename", "--rename Place=Put cpu.pb.gz"),
    shared("--anonymize", "--anonymize cpu.pb.gz"),
    shared("--salt", "--anonymize --salt x cpu.pb.gz"),
    shared("--fixed-strings", "-F --show-stacks (*Ledger).Place cpu.pb.gz"),
    shared("--all-frames", "--all-frames cpu.pb.gz"),
    shared("--base", "--base old.pb.gz new.pb.gz"),
    shared("--normalize", "--normalize core --base old.pb.gz new.pb.gz"),
    shared("--match", "--match exact --base old.pb.gz new.pb.gz"),
    shared("--normalize", "--normalize per=100,130 --show-stacks Place --base old.pb.gz new.pb.gz"),
];

/// Options that do not draw a picture, draw one of time, which `charts` covers, or add to a page what `page_tabs` and `page_times`
/// cover.
const WITHOUT_PICTURE: &[&str] = &[
    "--help",
    "--version",
    "--time",
    "--heatmap",
    "--embed-source",
    "--embed-times",
    "--source-path",
    "--trim-path",
    "--debuginfod",
];

/// Fails if an option of `flame` has no trial. The options are read from the manual page.
#[test]
fn every_option_of_flame_is_compared() {
    let folder = folder();
    let done = prof(folder.path(), &["man", "--output", "pages"]).output().unwrap();
    assert!(done.status.success());
    let manual = fs::read_to_string(folder.path().join("pages/prof-flame.1")).unwrap().replace('\\', "");
    let option = Regex::new(r"(?m)^(?:fB-.fR, )?fB(--[a-z-]+)fR").unwrap();
    let options: Vec<&str> =
        option.captures_iter(&manual).map(|found| found.get(1).unwrap().as_str()).collect();
    assert!(options.len() > 40, "{options:?}");
    let is_tried =
        |option: &str| TRIALS.iter().any(|trial| trial.option == option) || WITHOUT_PICTURE.contains(&option);
    let untried: Vec<&&str> = options.iter().filter(|option| !is_tried(option)).collect();
    assert!(untried.is_empty(), "no trial for {untried:?}");
}

#[test]
fn the_picture_shows_the_numbers_of_the_command_line() {
    let folder = folder();
    let mut wrong = Vec::new();
    for trial in TRIALS {
        let picture = draw(folder.path(), trial, "svg");
        let tree = Expected::of(folder.path(), "tree", trial.words);
        let pixels = if trial.option == "--width" { 680 } else { 1180 };
        let drawn = svg_blocks(&picture);
        wrong.extend(tree.differences(drawn, pixels).map(|line| format!("{} svg: {line}", trial.words)));
        let sentence = texts(&picture).join("\n");
        wrong.extend(tree.header_faults(&sentence).map(|line| format!("{} svg: {line}", trial.words)));
    }
    no_fault(&wrong);
}

#[test]
fn the_call_graph_shows_the_numbers_of_the_command_line() {
    let folder = folder();
    let tooltip = Regex::new(r#"(?m)^  n\d+ \[.*tooltip="(.*) (\S+) \(([^)]*)\)"\];$"#).unwrap();
    let mut wrong = Vec::new();
    for trial in TRIALS.iter().filter(|trial| trial.look.is_empty() && trial.option != "--bottom-up") {
        let words = format!("graph -o graph.dot --force {}", trial.words);
        succeed(folder.path(), &words);
        let graph = fs::read_to_string(folder.path().join("graph.dot")).unwrap();
        let top = Expected::of(folder.path(), "top", trial.words);
        let totals: BTreeMap<&str, i64> = top.rows.iter().map(|row| (&*row.name, row.total)).collect();
        let mut nodes = 0;
        for found in tooltip.captures_iter(&graph) {
            nodes += 1;
            let name = found[1].replace("\\\"", "\"").replace("\\\\", "\\");
            let Some(&total) = totals.get(&*name) else {
                wrong.push(format!("{} dot: {name} is not a row of top", trial.words));
                continue;
            };
            if !top.says(&format!("{} {}", &found[2], &found[3]), total) {
                wrong.push(format!("{} dot: {name} {} {} for {total}", trial.words, &found[2], &found[3]));
            }
        }
        assert!(nodes > 0, "{}: {graph}", trial.words);
        let legend = graph.lines().find(|line| line.contains("legend [")).unwrap().replace("\\l", "\n");
        wrong.extend(top.header_faults(&legend).map(|line| format!("{} dot: {line}", trial.words)));
    }
    no_fault(&wrong);
}

/// Boxes have the colours of blocks: own code by package, the standard library and the runtime grey.
#[test]
fn the_call_graph_has_the_colours_of_the_flame_graph() {
    let folder = folder();
    succeed(folder.path(), "graph graph.dot cpu.pb.gz -n 0");
    let graph = fs::read_to_string(folder.path().join("graph.dot")).unwrap();
    succeed(folder.path(), "flame flame.svg cpu.pb.gz");
    let flame = fs::read_to_string(folder.path().join("flame.svg")).unwrap();
    let node = Regex::new(r#"fillcolor="(#\w+)".* tooltip="(.*) \d[^"]*"\];"#).unwrap();
    let of_graph: BTreeMap<&str, &str> = node
        .captures_iter(&graph)
        .map(|found| (found.get(2).unwrap().as_str(), found.get(1).unwrap().as_str()))
        .collect();
    // A block without a colour has that of its row.
    let row = Regex::new(r#"(?:<g transform="[^"]*" fill="(#\w+)">)|(?:<rect x="[^"]*" width="[^"]*" height="15"(?: fill="(#\w+)")?[^>]*><title>([^<\n]*)\n)"#).unwrap();
    let (mut usual, mut compared) = ("", 0);
    let (_, side) = flame.split_once("<g class=\"side\">").unwrap();
    for found in row.captures_iter(side) {
        if let Some(fill) = found.get(1) {
            usual = fill.as_str();
        } else if let Some(expected) = of_graph.get(&*unescape(&found[3]).unwrap()) {
            assert_eq!(found.get(2).map_or(usual, |fill| fill.as_str()), *expected, "{}", &found[3]);
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared} blocks");
    let colors: BTreeSet<&str> = of_graph.values().copied().collect();
    assert!(colors.contains("#a0a9fe") && colors.contains("#c5ced9"), "{colors:?}");
    assert!(
        graph.contains("<TD BGCOLOR=\"#a0a9fe\" WIDTH=\"14\"></TD><TD ALIGN=\"LEFT\">main</TD>"),
        "no legend"
    );
}

#[test]
#[needs(Browser)]
fn the_page_shows_the_numbers_of_the_command_line() {
    let folder = folder();
    // A page is as wide as its window and has one style.
    let trials: Vec<&Trial> =
        TRIALS.iter().filter(|trial| !["--width", "--output", "--style"].contains(&trial.option)).collect();
    let pages: Vec<String> = trials.iter().map(|trial| draw(folder.path(), trial, "html")).collect();
    let data: Vec<&str> = pages.iter().map(|page| data_of(page)).collect();
    let check = format!(
        "const shown = () => {{
           page.table.rowsShown = Infinity;
           page.table.show();
           const shownCells = cells();
           const rows = page.model.table().map((row, at) => ({{
             name: row.name,
             values: [row.self, row.total, row.other?.self ?? 0, row.other?.total ?? 0].map(String),
             cells: shownCells[at],
           }}));
           const described = (name, {{ layer, node }}) => ({{ name: page.data.names[layer.tree.name[name]], isUp: Boolean(layer.isUp), lines: page.picture.lines({{ layer, node }}) }});
           // A folded run has the self of its last call; the others have none, as its second one shows.
           const blocks = page.graph.rows.flat().filter((block) => block.node > 0).flatMap(({{ layer, node }}) => {{
             const run = layer.tree.runs.get(node) ?? [node];
             const before = run.slice(0, -1).map((name) => described(name, {{ layer, node: run[1] }}));
             return [...before, described(run.at(-1), {{ layer, node }})];
           }});
           const header = document.getElementById('about').textContent + ' ' + page.picture.rootLabel(page.model.trees[0]);
           return {{ rows, blocks, header, pixels: page.graph.width, shown: String(page.model.flat.shown) }};
         }};
         const all = [];
         for (const text of {}) {{
           for (const id of ['metric', 'apply', 'color', 'normalize']) document.getElementById(id).replaceChildren();
           page = new Page(await load(text));
           // The comparison also draws what is gone, which has no row in a tree.
           page.change({{ tab: 'graph', sort: 'self' }});
           const found = {{ ...shown() }};
           if (page.data.compared) {{
             page.change({{ side: 'old' }});
             found.old = shown();
             page.change({{ side: 'new' }});
           }}
           all.push(found);
         }}
         return all;",
        json!(data)
    );
    let result = run(&pages[0], "", &check);
    let mut wrong = Vec::new();
    for (trial, found) in trials.iter().zip(result.as_array().unwrap()) {
        let tree = Expected::of(folder.path(), "tree", trial.words);
        let flat_words = trial.words.replace("--bottom-up", "");
        let top = Expected::of(folder.path(), "top", &flat_words);
        let mut faults = page_faults(&tree, &top, found);
        if let Some(old) = found.get("old") {
            faults.extend(page_faults(&tree.turned(), &top.turned(), old));
        }
        wrong.extend(faults.into_iter().map(|line| format!("{} page: {line}", trial.words)));
    }
    no_fault(&wrong);
}

/// Panics with the first differences of each command line.
fn no_fault(wrong: &[String]) {
    let mut shown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in wrong {
        let (trial, _) = line.split_once(": ").unwrap();
        let faults = shown.entry(trial).or_default();
        if faults.len() < 3 {
            faults.push(line);
        }
    }
    let shown: Vec<String> = shown.values().map(|faults| faults.join("\n")).collect();
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), shown.join("\n"));
}

fn page_faults(tree: &Expected, top: &Expected, found: &Value) -> Vec<String> {
    let pixels = found["pixels"].as_u64().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let blocks = found["blocks"].as_array().unwrap().iter().filter(|block| block["isUp"] == json!(false));
    let lines = |block: &Value| block["lines"].as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    let blocks = blocks.map(|block| Block { name: text(&block["name"]), details: lines(block) }).collect();
    let mut faults: Vec<String> = tree.differences(blocks, pixels).collect();
    faults.extend(top.header_faults(found["header"].as_str().unwrap()));

    let rows = found["rows"].as_array().unwrap();
    let number = |value: &Value| value.as_str().unwrap().parse::<i64>().unwrap();
    let expected: BTreeMap<&str, &Row> = top.rows.iter().map(|row| (&*row.name, row)).collect();
    if expected.len() != rows.len() {
        faults.push(format!("{} rows of the table for {}", rows.len(), expected.len()));
    }
    for row in rows {
        let name = row["name"].as_str().unwrap();
        let values: Vec<i64> = row["values"].as_array().unwrap().iter().map(number).collect();
        let Some(expected) = expected.get(name) else {
            faults.push(format!("{name} is not a row of top"));
            continue;
        };
        let (old_self, old) = expected.old.unwrap_or_default();
        if values != [expected.self_value, expected.total, old_self, old] {
            faults.push(format!("{name} {values:?} for {expected:?}"));
        }
        let cells = row["cells"].as_array().unwrap();
        let cell = |at: usize| cells[at].as_str().unwrap();
        if !top.says(&format!("{} {}", cell(0), cell(1)), expected.self_value)
            || !top.says(&format!("{} {}", cell(2), cell(3)), expected.total)
        {
            faults.push(format!("{name} {cells:?} for {expected:?}"));
        }
    }
    faults
}

/// A row of `tree` or `top`.
#[derive(Clone, Debug)]
struct Row {
    name: String,
    self_value: i64,
    total: i64,
    /// Self and total of the old side.
    old: Option<(i64, i64)>,
}

/// The JSON output of a command.
struct Expected {
    header: Value,
    /// The value that percentages refer to.
    whole: i64,
    inverted: bool,
    rows: Vec<Row>,
    /// Whether the old side is shown and compared with the new one.
    is_old: bool,
}

impl Expected {
    fn of(folder: &Path, command: &str, words: &str) -> Self {
        let output = succeed(folder, &format!("{command} -n 0 --format json {words}"));
        let mut header: Value = serde_json::from_slice(&output).unwrap();
        assert_eq!(header["elided_rows"], 0, "{command} {words}");
        let rows = header["rows"].take();
        let row = |row: &Value| Row {
            name: row["name"].as_str().unwrap().to_string(),
            self_value: row["self"].as_i64().unwrap(),
            total: row["total"].as_i64().unwrap(),
            old: row.get("old").map(|old| (old["self"].as_i64().unwrap(), old["total"].as_i64().unwrap())),
        };
        let inverted = header["direction"] == "bottom-up";
        // A bottom-up tree has rows for the ends of stacks; a picture does not.
        let is_function = |row: &Row| !inverted || row.name != "(root)";
        let rows: Vec<Row> = rows.as_array().unwrap().iter().map(row).filter(is_function).collect();
        assert!(!rows.is_empty(), "{command} {words}");
        Expected { whole: header["total"].as_i64().unwrap(), header, inverted, rows, is_old: false }
    }

    /// The same output with the old side shown. Its total is rescaled like its rows.
    fn turned(&self) -> Self {
        let ratio = self.header["normalize"]["ratio"].as_f64().unwrap();
        let whole = (self.header["base"]["total"].as_i64().unwrap() as f64 * ratio).round() as i64;
        let turn = |row: &Row| {
            let (self_value, total) = row.old.unwrap();
            Row { name: row.name.clone(), self_value, total, old: Some((row.self_value, row.total)) }
        };
        let rows = self.rows.iter().map(turn).collect();
        Expected { header: self.header.clone(), whole, inverted: self.inverted, rows, is_old: true }
    }

    /// The differences between the blocks and the rows that are wide enough to draw, without the callers of a focus.
    fn differences(&self, mut blocks: Vec<Block>, pixels: u64) -> impl Iterator<Item = String> {
        let width = |row: &Row| if self.inverted { row.self_value } else { row.total };
        // The root is as wide as the value shown, which is the sum of self over all rows.
        let shown: i64 = if self.is_old {
            self.rows.iter().filter(|_| !self.inverted).map(|row| row.self_value).sum()
        } else {
            self.header["shown"].as_i64().unwrap()
        };
        let least = if self.inverted && self.is_old { 1 } else { shown / (pixels as i64 * 3) + 1 };
        let mut left: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| width(row) >= least) {
            left.entry(&row.name).or_default().push(row);
        }
        // Match blocks with a total first, because they identify their row better.
        blocks.sort_by_key(|block| !block.details.iter().any(|detail| detail.starts_with("total ")));
        let mut wrong = Vec::new();
        for block in &blocks {
            let rows = left.entry(&block.name).or_default();
            match rows.iter().position(|row| self.is_in(block, row)) {
                Some(at) => drop(rows.remove(at)),
                None => wrong.push(format!("{block:?} matches none of {rows:?}")),
            }
        }
        if !(self.inverted && self.is_old) {
            wrong.extend(left.values().flatten().map(|row| format!("not drawn: {row:?}")));
        }
        wrong.into_iter()
    }

    /// Whether all numbers of a block equal those of a row.
    fn is_in(&self, block: &Block, row: &Row) -> bool {
        let mut known = 0;
        let all = block.details.iter().all(|detail| {
            let old = row.old.map(|(own, total)| if self.inverted { own } else { total });
            let new = if self.inverted { row.self_value } else { row.total };
            let (word, rest) = detail.split_once(' ').unwrap_or((detail, ""));
            let change = |(old, new)| if self.is_old { old - new } else { new - old };
            let is = match word {
                "self" => {
                    self.says(VALUE.find(rest).map_or("", |found| &rest[found.start()..]), row.self_value)
                }
                "total" => self.says(rest, row.total),
                "old" | "new" if old.is_some() => {
                    let (value, changed) = rest.split_once(", change ").unwrap_or((rest, ""));
                    self.says(value, old.unwrap())
                        && (changed.is_empty() || self.says(changed, change((old.unwrap(), new))))
                }
                "change" => self.says(rest, change((old.unwrap(), new))),
                _ => return true,
            };
            known += 1;
            is
        });
        all && known > 0
    }

    /// Whether `4.82s 5.6% of all and 20.1% of what is shown` is how a value is printed, to the last digit.
    fn says(&self, text: &str, value: i64) -> bool {
        assert_eq!(text.contains("of what is shown"), text.contains("% of all and "), "{text}");
        let mut words =
            text.split(' ').map(|word| word.trim_end_matches(',')).filter(|word| !word.is_empty());
        let metric = &self.header["metric"];
        let unit = metric["unit"].as_str().unwrap();
        let divisor = metric["divisor"].as_f64().unwrap();
        let factor = if unit == "microseconds" { 1e3 } else { 1.0 };
        let is_value = printed(words.next().unwrap_or_default(), value as f64 * factor / divisor);
        let shares: Vec<&str> = words.filter(|word| word.ends_with('%')).collect();
        let wholes = [self.whole, self.header["shown"].as_i64().unwrap()];
        let is_share = |(share, whole): (&&str, i64)| {
            whole == 0
                || self.is_old && whole != self.whole
                || printed(share, 100.0 * value as f64 / whole as f64)
        };
        is_value && shares.iter().zip(wholes).all(is_share)
    }

    /// The wrong or missing numbers in the headline of a picture.
    fn header_faults(&self, sentence: &str) -> impl Iterator<Item = String> {
        let header = &self.header;
        let name = regex::escape(header["metric"]["name"].as_str().unwrap());
        let number = |value: &Value| value.as_i64().unwrap();
        let mut needed = Vec::new();
        let plain = |what: &str| format!(r"(?:^|[\n·] ?|base \S+ |legend.*\n?){what} (\S+)");
        if !self.is_old {
            needed.push((plain(&name), number(&header["total"])));
        }
        if !self.is_old && header["shown"] != header["total"] && !sentence.contains(" — ") {
            needed.push((r"shown (\S+)".to_string(), number(&header["shown"])));
        }
        if header.get("base").is_some() {
            needed.push((format!(r"base \S+(?:\n| · | ){name} (\S+)"), number(&header["base"]["total"])));
        }
        let mut faults = Vec::new();
        for (pattern, value) in needed {
            let found = Regex::new(&pattern).unwrap().captures(sentence);
            if !found.is_some_and(|found| self.says(&found[1], value)) {
                faults.push(format!("{pattern} {value} is not in {sentence:?}"));
            }
        }
        let normalize = header.get("normalize").filter(|normalize| normalize["method"] != "none");
        if let Some(normalize) = normalize {
            let factor = format!("rescaled × {:.3}", normalize["ratio"].as_f64().unwrap());
            if !sentence.contains(&factor) {
                faults.push(format!("{factor} is not in {sentence:?}"));
            }
        }
        faults.into_iter()
    }
}

/// A value with its share, after other words: `of runtime.(*mspan).base 10ms 0.1%`.
static VALUE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[-<0-9]\S* [-<0-9.]+%").unwrap());

/// Whether `text` is `value` rounded to its last digit. Times are in nanoseconds, memory in bytes.
fn printed(text: &str, value: f64) -> bool {
    let (text, is_less) = match text.strip_prefix('<') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let text = text.replace('−', "-").replace(',', "");
    let text = text.trim_start_matches('+');
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    let Ok(number) = text[..end].parse::<f64>() else { return false };
    let factor = match &text[end..] {
        "" | "%" | "B" | "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        "h" => 3600e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        _ => return false,
    };
    let decimals = text[..end].split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let last = factor * 0.1_f64.powi(decimals);
    if is_less { value.abs() < last } else { (number * factor - value).abs() <= last * 0.500_001 }
}

/// A block of a picture: its unique name and the details in its tooltip.
#[derive(Debug)]
struct Block {
    name: String,
    details: Vec<String>,
}

/// The blocks of a picture, without the root and the callers above a focus, which have no self.
fn svg_blocks(picture: &str) -> Vec<Block> {
    let (_, graph) = picture.split_once("<g class=\"side\">").unwrap();
    let graph = graph.split("<g class=\"side\">").next().unwrap();
    let title = Regex::new(r"<title>([^<\n]*)\n([^<]*)</title>").unwrap();
    let blocks = title.captures_iter(graph).skip(1).map(|found| {
        let mut details: Vec<String> = unescape(&found[2]).unwrap().lines().map(str::to_string).collect();
        // A self of 0 is left out.
        if !details.iter().any(|detail| detail.starts_with("self ")) {
            details.push("self 0 0.0%".to_string());
        }
        Block { name: unescape(&found[1]).unwrap().into_owned(), details }
    });
    blocks.collect()
}

/// The subtitle and the notes of a picture.
fn texts(picture: &str) -> Vec<String> {
    let text = Regex::new(r#"(?s)<text class="(?:subtitle|note)"[^>]*>([^<]*)</text>"#).unwrap();
    text.captures_iter(picture).map(|found| unescape(&found[1]).unwrap().into_owned()).collect()
}

fn data_of(page: &str) -> &str {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    data.split_once('<').unwrap().0
}

/// Draws a picture with the arguments of a trial.
fn draw(folder: &Path, trial: &Trial, ending: &str) -> String {
    let out = if trial.option == "--output" { String::new() } else { format!("out.{ending}") };
    succeed(folder, &format!("flame {out} {} {}", trial.look, trial.words));
    let out = if out.is_empty() { "again.svg" } else { &out };
    fs::read_to_string(folder.join(out)).unwrap()
}

fn succeed(folder: &Path, words: &str) -> Vec<u8> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let output = prof(folder, &words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// A folder with the files that the trials use.
fn folder() -> TempDir {
    let folder = copies(&[
        ("pprof/go-cpu.pb.gz", "cpu.pb.gz"),
        ("pprof/go-cpu-old.pb.gz", "old.pb.gz"),
        ("pprof/go-cpu-new.pb.gz", "new.pb.gz"),
        ("jfr/java.jfr", "threads.jfr"),
        ("cpuprofile/node.cpuprofile", "node.cpuprofile"),
        ("symbols/sorting.pb.gz", "sorting.pb.gz"),
        ("symbols/sorting", "bin/sorting"),
        ("symbols/sorting.debug", "bin/sorting.debug"),
        ("sourcemaps/old.cpuprofile", "bundle.cpuprofile"),
        ("sourcemaps/old/app.js", "maps/old/app.js"),
        ("sourcemaps/old/app.js.map", "maps/old/app.js.map"),
    ]);
    fs::write(folder.path().join("broken.pb.gz"), b"\x1f\x8b\x08 no profile").unwrap();
    folder
}

/// Standard input can only be read once, and the runs of both sides are added up as well as compared.
#[test]
fn a_pipe_is_compared_with_the_old_side_like_a_file() {
    let folder = TempDir::new().unwrap();
    let program = |hash: i64| {
        let others = (1..=8).map(|number| format!("main;other{number} {}\n", 2000 + 100 * number));
        others.collect::<String>() + &format!("main;run;hash {hash}\n")
    };
    fs::write(folder.path().join("old.folded"), program(1000)).unwrap();
    fs::write(folder.path().join("new.folded"), program(2800)).unwrap();
    let colours = |new: &str| {
        let arguments =
            ["flame", "-o", "-", "--color-by", "delta", "--title", "change", "--base", "old.folded", new];
        let input = fs::File::open(folder.path().join("new.folded")).unwrap();
        let out = prof(folder.path(), &arguments).stdin(input).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let picture = String::from_utf8(out.stdout).unwrap();
        let fill = Regex::new("fill=\"#[0-9a-f]{6}\"").unwrap();
        fill.find_iter(&picture).map(|found| found.as_str().to_string()).collect::<Vec<_>>()
    };
    let found = colours("new.folded");
    // `main` only calls what changed: the comparison says so.
    assert!(found.len() > 8, "{found:?}");
    assert_eq!(colours("-"), found);
}
