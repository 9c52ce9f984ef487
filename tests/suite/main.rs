//! All integration tests, in one program, because linking one is much faster than linking many.

/// `#[test]` means the attribute of `tests/macros` in all modules below.
#[macro_use]
extern crate test_macros;

mod agreement;
mod assembly;
mod bad_times;
mod budgets;
mod calls;
mod causes;
mod charts;
mod ci;
mod cli;
mod columns;
mod compiled_code;
mod completion;
mod contributing;
mod corpus;
mod corpus_binary;
mod corpus_calls;
mod corpus_focus;
mod corpus_hot;
mod corpus_index;
mod corpus_json;
mod corpus_text;
mod corpus_traces;
mod counting;
mod dataset;
mod dependencies;
mod diff_by_side;
mod diff_forms;
mod diff_inputs;
mod diff_memory;
mod diff_reports;
mod diff_rows;
mod diff_runs;
mod diff_stacks;
mod filters;
mod filters_cli;
mod filters_random;
mod fixtures_binary;
mod fixtures_json;
mod fixtures_text;
mod fleet;
mod folding;
mod format_list;
mod help;
mod hostile_names;
mod kinds;
mod labels;
mod latency;
mod layers;
mod limits;
mod lint;
mod losses;
mod matching;
#[cfg(feature = "mcp")]
mod mcp;
mod messages;
mod mix;
mod names;
mod new_code;
mod noise;
mod numbers;
mod options;
mod packages;
mod page;
mod page_calls;
mod page_defects;
mod page_filters;
mod page_hands;
mod page_opening;
mod page_reading;
mod page_scripts;
mod page_tabs;
mod page_times;
mod pictures;
#[cfg(feature = "mcp")]
mod questions;
mod readers;
mod recipes;
mod report;
mod roundtrip;
mod runner;
mod servers;
mod site;
mod sourcemaps;
mod stats_attribution;
mod stats_properties;
mod stats_series;
mod stats_vectors;
mod support;
mod symbols;
mod threads;
mod timeline;
mod trend;
mod ui;
mod unread;
mod unwinding;
mod waiting;
mod what_if;
mod widths;
mod writing;
mod written_json;

fn main() -> std::process::ExitCode {
    runner::main()
}
