//! Reads reports of `opreport`, of `OProfile`: with its option `-c` the functions with their callers and callees, with `-l` the
//! functions alone.
//!
//! ```text
//! Counted CPU_CLK_UNHALTED events (Clock cycles when not halted) with a unit mask of 0x00 (No unit mask) count 100000
//! samples  %        linenr info                 image name               symbol name
//! -------------------------------------------------------------------------------
//!   11        0.2163  exa_accel.c:1106            libexa.so                exaFillRegionSolid          a caller
//! 5086      4.4707  exa.c:407                   libexa.so                exaPixmapIsOffscreen          the function
//!   5086     100.000  exa.c:407                   libexa.so                exaPixmapIsOffscreen [self]
//!   29        0.0120  exa.c:69                    libexa.so                exaGetPixmapOffset          a callee
//! ```
//!
//! What a line is about is the number of samples of the function itself, or of the calls from or to it.

use crate::format::text::{BadLines, decimal, hex, is_binary, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Function, FunctionId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static OPROFILE: Format = Format { name: NAME, title: "opreport output", sniff, read };

const NAME: &str = "oprofile";
const NO_PLACE: &str = "(no location information)";

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    let text = lossy(&head[..head.len().min(8192)]);
    let mut lines = text.lines().peekable();
    let mut is_counted = false;
    while let Some(line) = lines.next() {
        is_counted |= line.starts_with("Counted ") || line.starts_with("Profiling through ");
        // In a report that is quoted or indented as a whole, functions cannot be told from callees.
        let columns = Columns::of(line).filter(|_| !line.starts_with([' ', '\t', '>']));
        // What was counted is missing where a part of a report was copied.
        let mut starts = || lines.peek().is_some_and(|line| line.starts_with("-----") || is_entry(line));
        if columns.is_some_and(|columns| is_counted || columns.has_image || starts()) {
            return Confidence::Likely;
        }
    }
    Confidence::No
}

/// Whether a line is about a function: `30396    36.7217  __do_page_cache_readahead`. The columns are padded with blanks.
fn is_entry(line: &str) -> bool {
    if !line.contains("  ") {
        return false;
    }
    let mut words = line.split_whitespace();
    let is_address = |word: &str| word.len() >= 8 && hex(word.as_bytes()).is_some();
    let Some(first) = words.next() else { return false };
    let samples = if is_address(first) { words.next() } else { Some(first) };
    let is_count = samples.is_some_and(|word| decimal(word.as_bytes()).is_some());
    is_count && words.next().is_some_and(|word| word.parse::<f64>().is_ok()) && words.next().is_some()
}

/// The fields before the name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    has_address: bool,
    /// How many events were counted, each with its samples and their share.
    events: usize,
    has_place: bool,
    has_image: bool,
    has_app: bool,
}

impl Columns {
    /// `vma      samples  %        linenr info     image name      app name      symbol name`
    fn of(header: &str) -> Option<Columns> {
        let (before, _) = header.split_once("symbol name")?;
        let events = before.matches("samples").count();
        (events > 0 && before.contains('%')).then_some(Columns {
            has_address: before.trim_start().starts_with("vma"),
            events,
            has_place: before.contains("linenr info"),
            has_image: before.contains("image name"),
            has_app: before.contains("app name"),
        })
    }
}

/// A line about a function.
struct Entry {
    function: FunctionId,
    values: Vec<i64>,
    is_self: bool,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut report = Report {
        builder: ProfileBuilder::new(NAME, options),
        events: Vec::new(),
        columns: None,
        function: None,
        has_functions: false,
        tables: 1,
    };
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 0);
    while let Some(line) = source.line()? {
        number += 1;
        let text = lossy(line);
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        match report.line(text) {
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    if report.columns.is_none() {
        return Err(
            ParseError::whole(NAME, "expected a header with the columns samples, % and symbol name").into()
        );
    }
    bad.settle(&mut report.builder, good, "expected samples, a share, and the name of a function")?;
    if report.tables > 1 {
        let tables = report.tables;
        report
            .builder
            .warn(format!("the file has {tables} tables; what they say about a function is added up"));
    }
    if !report.has_functions {
        return Err(ParseError::whole(NAME, "the report lists no functions").into());
    }
    Ok(finished(report.builder)?)
}

struct Report {
    builder: ProfileBuilder,
    /// The names of what was counted.
    events: Vec<String>,
    columns: Option<Columns>,
    /// The function that the callees which follow belong to.
    function: Option<FunctionId>,
    has_functions: bool,
    /// How many tables the file has.
    tables: u64,
}

impl Report {
    fn line(&mut self, text: &str) -> Option<()> {
        let Some(columns) = self.columns else {
            self.header(text);
            return Some(());
        };
        let is_header = Columns::of(text) == Some(columns);
        self.tables += u64::from(is_header);
        if is_header || text.starts_with("-----") {
            self.function = None;
            return Some(());
        }
        let entry = self.entry(text, columns)?;
        if !text.starts_with(' ') {
            self.builder.call_node(entry.function, &entry.values);
            self.function = Some(entry.function);
            self.has_functions = true;
        } else if let Some(function) = self.function.filter(|_| !entry.is_self) {
            // Callers, which come before the function, are skipped: each lists the function among its callees.
            self.builder.call_edge(function, entry.function, None, &entry.values);
        }
        Some(())
    }

    /// What comes before the list.
    fn header(&mut self, text: &str) {
        let counted = text.strip_prefix("Counted ").or_else(|| text.strip_prefix("Profiling through "));
        if let Some(event) = counted.and_then(|text| text.split_whitespace().next()) {
            self.events.push(event.to_string());
        } else if let Some(columns) = Columns::of(text) {
            for number in 0..columns.events {
                let name = self.events.get(number).map_or("samples", |name| name);
                self.builder.metric(name, "count");
            }
            self.columns = Some(columns);
        }
    }

    fn entry(&mut self, text: &str, columns: Columns) -> Option<Entry> {
        let mut rest = text.trim_start();
        let mut word = || {
            let word = if let Some(inner) = rest.strip_prefix('(') {
                &rest[..inner.find(')')? + 2]
            } else {
                rest.split_whitespace().next()?
            };
            rest = rest[word.len()..].trim_start();
            // The image of a file that was deleted.
            rest = rest.strip_prefix("(deleted) ").unwrap_or(rest).trim_start();
            Some(word)
        };
        if columns.has_address {
            word()?;
        }
        let mut values = Vec::new();
        for _ in 0..columns.events {
            values.push(decimal(word()?.as_bytes()).filter(|samples| *samples >= 0)?);
            word()?.parse::<f64>().ok()?;
        }
        let place = if columns.has_place { word()? } else { "" };
        let image = if columns.has_image { word()? } else { "" };
        if columns.has_app {
            word()?;
        }
        let (name, is_self) = rest.strip_suffix(" [self]").map_or((rest, false), |name| (name, true));
        if name.is_empty() {
            return None;
        }
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) if place != NO_PLACE => (file, line.parse().unwrap_or(0)),
            _ => ("", 0),
        };
        let function = self.function(name, file, line, image);
        Some(Entry { function, values, is_self })
    }

    fn function(&mut self, name: &str, file: &str, line: u32, image: &str) -> FunctionId {
        let builder = &mut self.builder;
        let file = builder.string(file);
        let mapping = builder.named_mapping(image);
        if name == "(no symbols)" {
            return builder.unnamed_function(mapping);
        }
        let name = builder.string(&demangle(name));
        let function = builder.function(Function { name, file, line, column: 0, by_place: false });
        builder.call_mapping(function, mapping);
        function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap()
    }

    /// Self and total of each function in a metric.
    fn functions(profile: &Profile, metric: usize) -> Vec<(&str, i64, i64)> {
        let table = profile.calls.as_ref().unwrap();
        let rows = table.functions().map(|(function, _)| {
            let sums = [&table.self_values, &table.totals].map(|columns| columns[metric][function]);
            (profile.symbols.function_name(function), sums[0], sums[1])
        });
        rows.collect()
    }

    #[test]
    fn parts_of_reports_begin_with_the_titles_of_the_columns() {
        let table =
            "samples  %        symbol name\n30396    75.0000  readahead\n10132    25.0000  get_pages\n";
        let profile = load(table);
        assert_eq!((&*profile.meta.metrics[0].name, profile.meta.metrics[0].total), ("samples", 40_528));
        assert_eq!(profile.meta.warnings, [""; 0]);
        let twice = load(&format!("12 CPUs:\n\n{table}\n{table}"));
        assert_eq!(functions(&twice, 0), [("readahead", 60_792, 60_792), ("get_pages", 20_264, 20_264)]);
        assert_eq!(
            twice.meta.warnings,
            ["the file has 2 tables; what they say about a function is added up"]
        );
        for other in ["samples  %        symbol name\n", "samples  %        symbol name\nof all of them\n"] {
            assert_eq!(sniff(other.as_bytes()), Confidence::No, "{other}");
        }
    }

    #[test]
    fn functions_with_callers_and_callees() {
        let profile = load(include_str!("../../tests/hostile/seeds/oprofile/graph.txt"));
        assert_eq!(
            (profile.meta.metrics[0].name.as_str(), profile.meta.metrics[0].total),
            ("CPU_CLK_UNHALTED", 50)
        );
        assert_eq!(functions(&profile, 0), [("main", 20, 50), ("pay", 10, 30), ("[libm.so]", 20, 20)]);
        let table = profile.calls.as_ref().unwrap();
        let edges = (0..table.edge_count()).map(|edge| {
            let [caller, callee] = [table.caller[edge], table.callee[edge]];
            let name = |function| profile.symbols.function_name(function);
            (name(caller), name(callee), table.edge_values[0][edge])
        });
        let edges: std::collections::BTreeSet<_> = edges.collect();
        assert_eq!(edges, [("main", "pay", 30), ("pay", "[libm.so]", 20)].into());
        assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
    }

    #[test]
    fn a_list_without_calls_and_with_two_events() {
        let profile = load(include_str!("../../tests/hostile/seeds/oprofile/list.txt"));
        assert_eq!(functions(&profile, 0), [("shop::pay()", 900, 900), ("malloc", 100, 100)]);
        assert_eq!(functions(&profile, 1), [("shop::pay()", 12, 12), ("malloc", 4, 4)]);
    }

    #[test]
    fn a_report_without_its_header_is_refused() {
        let error =
            read(&mut Source::from_bytes(b"10 20.0 main\n".to_vec()), LoadOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "oprofile: expected a header with the columns samples, % and symbol name"
        );
        let error = read(
            &mut Source::from_bytes(b"Counted CPU events\nsamples % symbol name\n".to_vec()),
            LoadOptions::default(),
        );
        assert_eq!(error.unwrap_err().to_string(), "oprofile: the report lists no functions");
        let negative = "Counted CPU events\nsamples % symbol name\n-1 0 main\n3 0 work\n";
        assert_eq!(functions(&load(negative), 0), [("work", 3, 3)]);
    }

    #[test]
    fn other_tables_are_not_reports() {
        assert_eq!(sniff(b"samples  %  symbol name\n10 20.0 main\n"), Confidence::No);
        assert_eq!(sniff(b"Counted words\nmain 1\n"), Confidence::No);
    }
}
