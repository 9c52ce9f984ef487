//! The command line: arguments, files, the terminal, exit codes.

mod args;
mod base;
mod binaries;
mod budget;
mod calls;
mod clock;
mod coloring;
mod columns;
mod commands;
mod completion;
mod diff_inputs;
mod failure;
mod filters;
mod foreign;
mod gather;
mod inputs;
mod many;
mod marking;
mod matching;
mod memory;
mod metrics;
mod pager;
mod paths;
mod pictures;
mod pprof_words;
mod progress;
mod reading;
mod run;
mod short_help;
mod sources;
mod symbols;
mod target;
mod terminal;
mod unfinished;
mod usage;

pub use run::main;
