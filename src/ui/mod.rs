//! `prof ui`: the views of the command line, interactive in the terminal.
//!
//! ```text
//! State × Key ──press──► State (+ Effect)          question ──► report, by the command of the view
//! (State, Answer, size, Theme) ──draw──► cells
//! ```
//!
//! - **The state** ([`State`]) is a [`Question`], which is exactly what one command line can say (a view, options, a function,
//!   profiles), and cursors: the selected line, open rows, what is being typed. The last line of the screen is the question as a
//!   command. Whoever runs it in a shell gets the numbers of the screen, because the report on the screen was made by the same code.
//! - **Keys** are functions from one state to the next ([`press`]); most of them change the question. Every question is remembered,
//!   so Backspace undoes everything. What a key does besides changing the state, such as copying, is an [`Effect`].
//! - **An answer** ([`Answer`]) is the report of a question, prepared once: display names, where the subtrees of rows end, colours. Moving through it
//!   needs nothing else. `cli/commands/ui` makes answers, on another thread if it takes longer than a moment.
//! - **Drawing** is a pure function into a buffer of cells. Only rows on the screen become text.
//!
//! Nothing here knows terminals, files or threads, so each screen is a test.
//!
//! A tree holds rows down to a small share of what is shown, and is opened row by row; a line at the end of each open row says how many are
//! missing. A flame graph holds the nodes that would be wide enough in a picture of 20,000 columns, so that zooming needs no new report.
//!
//! | file | contents |
//! |---|---|
//! | `question.rs` | views, options, and the command line that is equal |
//! | `answer.rs` | a report and its lines |
//! | `subjects.rs` | what a line is about: its function, its numbers, its command |
//! | `state.rs` | everything that decides what is on the screen |
//! | `search.rs` | what is searched for in names |
//! | `cursor.rs` | where one is in a report |
//! | `carry.rs` | from a place in a report to the same place in a newer one |
//! | `keys.rs` | the list of keys |
//! | `offers.rs` | what an option that is being typed may be |
//! | `update` | what keys do |
//! | `draw` | the screen: bars, tables, the flame graph, the help |

mod answer;
mod carry;
mod cursor;
mod draw;
mod keys;
mod offers;
mod question;
mod search;
mod state;
mod subjects;
#[cfg(test)]
mod tests;
mod update;

pub(crate) use answer::Answer;
pub(crate) use draw::text_of;
pub(crate) use draw::{Palette, Theme, draw};
pub(crate) use keys::{Key, parse};
pub(crate) use question::{Choice, Grammar, OptionHelp, Question, View};
pub(crate) use state::{Purpose, State, Typing};
pub(crate) use update::{Effect, press};
