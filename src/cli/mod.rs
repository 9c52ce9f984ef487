//! The command line: arguments, files, the terminal, exit codes.
//!
//! Each folder may use the folders above its own in this table, and the library; no folder uses the files next to this one,
//! which answer whatever is not a command: help, completion, and the options of other programs.
//!
//! | folder | contents |
//! |---|---|
//! | `terminal` | what is printed where: pager, progress, messages, files that are written |
//! | `options` | groups of options that commands share: what may be typed, and what it means |
//! | `input` | which files are read, and what is done with them before a view sees them |
//! | `commands` | one file per command, and the flow that they share |

mod commands;
mod completion;
mod go_pprof;
mod hints;
mod input;
mod mistakes;
mod options;
mod other_tools;
mod run;
mod short_help;
mod terminal;
mod usage;

pub use run::main;
