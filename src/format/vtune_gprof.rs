//! Reads VTune's gprof-cc report (`vtune -report gprof-cc`), which shows a call graph as gprof does.
//!
//! ```text
//! Index  % CPU Time:Total  CPU Time:Self  CPU Time:Children  Name                   Index
//! -----  ----------------  -------------  -----------------  ---------------------  -----
//!                          0.01           15.759               thread_trace         [6]     a caller
//! [5]    96.46             0.01           15.759             draw_trace             [5]     the function
//!                          0.01           8.162                trace <cycle 2>      [9]     its callees
//!
//! ```
//!
//! Times are in seconds, with up to three decimals. Functions of one name have different indices. Within a cycle, functions call each
//! other for an unknown time, and only the share in the second column says how much a function uses with its callees.

use hashbrown::HashMap;

use crate::format::gprof::Entry;
use crate::format::text::lossy;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{FunctionId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::saturated;

/// The entry in the list of readable formats.
pub(super) static VTUNE_GPROF: Format = Format { name: NAME, title: "VTune's gprof-cc report", sniff, read };

const NAME: &str = "vtune-gprof";

fn sniff(head: &[u8]) -> Confidence {
    let is_report = head.split(|&byte| byte == b'\n').take(20).any(is_header);
    if is_report { Confidence::Certain } else { Confidence::No }
}

fn is_header(line: &[u8]) -> bool {
    let text = lossy(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    let expected = ["Index", "%", "CPU", "Time:Total", "CPU", "Time:Self", "CPU", "Time:Children", "Name"];
    words.starts_with(&expected)
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("cpu", "microseconds");
    let mut report = Report { builder, functions: HashMap::new(), block: Vec::new(), is_graph: false };
    while let Some(line) = source.line()? {
        report.line(line);
    }
    report.end_block();
    Ok(report.finish()?)
}

/// What the report says about a function.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    self_time: i64,
    total: i64,
    /// Of the time of all functions, in millionths of a percent.
    share: i64,
}

struct Report {
    builder: ProfileBuilder,
    /// Several of the same name are different functions, whose numbers are added up at the end.
    functions: HashMap<FunctionId, Vec<Known>>,
    /// The lines about one function.
    block: Vec<Entry>,
    is_graph: bool,
}

impl Report {
    fn line(&mut self, line: &[u8]) {
        if is_header(line) {
            self.is_graph = true;
        } else if line.trim_ascii().is_empty() {
            self.end_block();
        } else if line.starts_with(b"Index") {
            // The list of functions at the end.
            self.is_graph = false;
        } else if self.is_graph && !line.starts_with(b"-----") {
            self.block.extend(Entry::parse(&lossy(line)));
        }
    }

    /// Adds the lines about a function.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let Some(at) = block.iter().position(|entry| entry.is_primary) else { return };
        let primary = &block[at];
        if !primary.is_function() {
            return;
        }
        let function = self.builder.named_function(&primary.name, "");
        self.functions.entry(function).or_default().push(Known {
            self_time: primary.self_time,
            total: primary.total(),
            share: primary.share,
        });
        for callee in block[at + 1..].iter().filter(|entry| entry.is_function()) {
            let called = self.builder.named_function(&callee.name, "");
            self.functions.entry(called).or_default();
            self.builder.call_edge(function, called, None, &[callee.total()]);
        }
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.functions.is_empty() {
            return Err(ParseError::whole(NAME, "the report lists no functions"));
        }
        if self.is_graph {
            self.builder.warn("file is truncated: the list of functions at the end is missing".to_string());
        }
        let whole = self.functions.values().flatten().map(|known| i128::from(known.self_time)).sum();
        let mut functions: Vec<_> = self.functions.into_iter().collect();
        functions.sort_unstable_by_key(|(function, _)| *function);
        for (function, known) in functions {
            let sum = |value: fn(&Known) -> i64| known.iter().map(value).fold(0, i64::saturating_add);
            self.builder.call_node(function, &[sum(|known| known.self_time)]);
            let totals = known.iter().map(|known| known.total_of(whole));
            self.builder.call_total(function, &[totals.fold(0, i64::saturating_add)]);
        }
        finished(self.builder)
    }
}

impl Known {
    /// The time with callees, where `whole` is that of all functions. Of a function in a cycle, the column of its callees also has what
    /// these call each other for, which the share contradicts.
    fn total_of(self, whole: i128) -> i64 {
        const ALL: i128 = 100_000_000;
        // The share has two decimals.
        const ROUNDING: i128 = ALL / 10_000;
        let (total, share) = (i128::from(self.total), i128::from(self.share));
        let is_consistent = (total * ALL - share * whole).abs() <= ROUNDING * whole;
        let total = if is_consistent { total } else { share * whole / ALL };
        saturated(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `parse` and `expr` call each other: what `parse` uses with its callees is what `main` calls it for.
    const REPORT: &str = include_str!("../../tests/hostile/seeds/vtune-gprof/cycle.txt");

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap()
    }

    #[test]
    fn times_of_functions_and_calls() {
        let profile = load(REPORT);
        assert_eq!(profile.meta.metrics[0].total, 10_000_000);
        let table = profile.calls.as_ref().unwrap();
        let name = |function| profile.symbols.function_name(function);
        let mut functions: Vec<_> = table
            .functions()
            .map(|(function, _)| (name(function), table.self_values[0][function], table.totals[0][function]))
            .collect();
        functions.sort_unstable();
        assert_eq!(
            functions,
            [
                ("[Import thunk malloc]", 2_000_000, 2_000_000),
                ("expr(int)", 4_000_000, 6_000_000),
                ("main", 2_500_000, 10_000_000),
                ("parse", 1_500_000, 7_500_000),
            ]
        );
        let edges = (0..table.edge_count())
            .map(|edge| (name(table.caller[edge]), name(table.callee[edge]), table.edge_values[0][edge]));
        let mut edges: Vec<_> = edges.filter(|(.., value)| *value != 0).collect();
        edges.sort_unstable();
        assert_eq!(edges, [("expr(int)", "[Import thunk malloc]", 2_000_000), ("main", "parse", 7_500_000)]);
    }

    #[test]
    fn functions_of_one_name_are_added_up() {
        let profile = load(&REPORT.replace("expr(int)", "parse    "));
        let table = profile.calls.as_ref().unwrap();
        assert_eq!(table.functions().count(), 3);
        assert_eq!(profile.meta.metrics[0].total, 10_000_000);
        let header = REPORT.split_once("-----").unwrap().0;
        let error = read(&mut Source::from_bytes(header.into()), LoadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "vtune-gprof: the report lists no functions");
    }
}
