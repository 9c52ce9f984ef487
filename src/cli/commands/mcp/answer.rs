//! Answers calls: runs a command inside this process, and fits what it prints into a budget.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use clap::CommandFactory;
use serde_json::{Map, Value};

use crate::cli::commands::mcp::arguments::Call;
use crate::cli::commands::mcp::roots::Roots;
use crate::cli::commands::mcp::tools::{Tool, tools};
use crate::cli::commands::report::TOKEN;
use crate::cli::commands::{Command, Describe, Parsed, Prof};
use crate::cli::options::memory;
use crate::cli::options::symbols::NEVER;
use crate::cli::terminal::failure;
use crate::cli::terminal::messages::print_messages;
use crate::cli::terminal::session::{Session, run_in};
use crate::load::Cache;
use crate::profile::Budget;
use crate::unit::{group_thousands, plural};

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// What a program reads.
    pub(super) text: String,
    /// Whether it says what went wrong.
    pub(super) is_error: bool,
}

/// Answers calls, one after the other.
pub(super) struct Answerer {
    pub(super) tools: Vec<Tool>,
    roots: Roots,
    cache: Arc<Cache>,
    limit: Option<u64>,
    describe: Describe,
    /// Held while a command runs, so that the memory limit applies to one at a time.
    running: Mutex<()>,
}

/// What an answer says if a command in a shell might show more names.
const NAMES_LEFT_OUT: &str = "note: names are those of the profile: this server looks up none in binaries or source maps, as prof in a \
shell does without --symbolize never";

/// How often a view is made again with fewer rows.
const ATTEMPTS: usize = 6;

impl Answerer {
    /// Answers calls about profiles inside of these roots.
    pub(super) fn new(roots: Roots, max_memory: Option<u64>, describe: Describe) -> Answerer {
        let mut prof = Prof::command();
        prof.build();
        let limit = memory::budget(max_memory).limit();
        // One half for the profiles that stay, the other for the command that runs.
        let cache = Arc::new(Cache::new(limit.map_or(u64::MAX, |limit| limit / 2)));
        Answerer { tools: tools(&prof), roots, cache, limit, describe, running: Mutex::default() }
    }

    /// The answer to a call; `None` if there is no such tool.
    pub(super) fn answer(&self, tool: &str, given: &Map<String, Value>) -> Option<Answer> {
        let tool = self.tools.iter().find(|known| known.name == tool)?;
        let names_left_out = Arc::default();
        let answer = match self.answer_of(tool, given, &names_left_out) {
            Ok(text) => Answer { text, is_error: false },
            Err(error) => {
                let mut text = failure::describe(&error);
                // The name that no function has may be in a binary.
                if names_left_out.load(Ordering::Relaxed) {
                    text.push_str(&format!("\n{NAMES_LEFT_OUT}"));
                }
                Answer { text, is_error: true }
            }
        };
        Some(answer)
    }

    fn answer_of(
        &self,
        tool: &Tool,
        given: &Map<String, Value>,
        names_left_out: &Arc<AtomicBool>,
    ) -> Result<String> {
        let call = Call::new(tool, given)?;
        call.profiles.iter().try_for_each(|name| self.roots.check(name))?;
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let has =
            |key: &str| tool.settings.iter().any(|setting| setting.key == key) && !given.contains_key(key);
        let mut shown: Vec<String> = Vec::new();
        if has("names") {
            shown.extend(["--names".to_string(), "short".to_string()]);
        }
        let room = call.budget * TOKEN;
        if tool.command == "report" {
            shown.push(format!("--budget={}", call.budget.saturating_sub(call.budget / 8)));
        }
        let run = |added: &[String]| self.run(tool, &call, added, names_left_out);
        let mut written = run(&shown)?;
        if names_left_out.load(Ordering::Relaxed) {
            shown.extend(NEVER.map(str::to_string));
        }
        let mut rows = written.text.lines().count();
        let least = shown.len();
        for _ in 0..ATTEMPTS {
            let length = written.length();
            let footer = call.command_line(tool.command, &shown).chars().count() + COMMAND.len() + 20;
            if length + footer <= room || !has("limit") || rows <= 1 {
                break;
            }
            rows = (rows * room / length.max(1) * 4 / 5).clamp(1, rows - 1);
            shown.truncate(least);
            shown.push(format!("--limit={rows}"));
            written = run(&shown)?;
        }
        let command = call.command_line(tool.command, &shown);
        Ok(written.within(room, &command, call.budget))
    }

    /// Runs a command with further options.
    fn run(
        &self,
        tool: &Tool,
        call: &Call,
        added: &[String],
        names_left_out: &Arc<AtomicBool>,
    ) -> Result<Written> {
        let words = call.words(tool.command, added);
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        let Parsed { command, notes } =
            Command::parse(&words).map_err(|error| (self.describe)(&error, &words))?;
        let limit = self.limit.map(|limit| limit.saturating_sub(self.cache.bytes()));
        let session = Session {
            cache: Some(self.cache.clone()),
            budget: limit.map_or(Budget::UNLIMITED, Budget::of),
            folders: self.roots.folders().to_vec(),
            names_left_out: names_left_out.clone(),
            ..Session::default()
        };
        let (result, session) = run_in(session, || {
            print_messages(notes);
            command.run(self.describe)
        });
        result?;
        let text = String::from_utf8_lossy(&session.output).trim_end().to_string();
        let mut messages = session.messages;
        messages.extend(names_left_out.load(Ordering::Relaxed).then(|| NAMES_LEFT_OUT.to_string()));
        Ok(Written { text, messages })
    }
}

/// What a command has written.
struct Written {
    text: String,
    messages: Vec<String>,
}

/// The word before the command line that gives the same answer.
const COMMAND: &str = "command: ";

impl Written {
    /// The number of characters.
    fn length(&self) -> usize {
        let messages: usize = self.messages.iter().map(|message| message.chars().count() + 1).sum();
        self.text.chars().count() + messages
    }

    /// The text, the messages and the command line in so many characters. What does not fit is counted.
    fn within(&self, room: usize, command: &str, tokens: usize) -> String {
        let command = format!("{COMMAND}{}", cut(command, room / 4));
        let left = room.saturating_sub(command.chars().count() + 2);
        let messages = first_lines(&self.messages, left / 4, |count, _| {
            format!("… {count} more {}", plural(count as u64, "message", "messages"))
        });
        let left = left.saturating_sub(messages.chars().count() + 1);
        let lines: Vec<String> = self.text.lines().map(str::to_string).collect();
        let text = first_lines(&lines, left, |count, characters| {
            format!(
                "… {} more {} ({} characters) do not fit in {tokens} tokens: raise budget, or ask for less with limit or a filter",
                group_thousands(count as i128),
                plural(count as u64, "line", "lines"),
                group_thousands(characters as i128)
            )
        });
        let parts = [text, messages, command];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// The lines that fit, and what `more` says of the others, given their number and that of their characters. A line that is too
/// long by itself is cut.
fn first_lines(lines: &[String], room: usize, more: impl Fn(usize, usize) -> String) -> String {
    let size = |lines: &[String]| lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
    if size(lines) <= room + 1 {
        return lines.join("\n");
    }
    let notice = more(lines.len(), size(lines)).chars().count() + 1;
    let mut kept: Vec<String> = Vec::new();
    let mut left = room.saturating_sub(notice);
    for line in lines {
        let length = line.chars().count() + 1;
        if length > left {
            break;
        }
        left -= length;
        kept.push(line.clone());
    }
    if kept.is_empty()
        && let Some(line) = lines.first()
    {
        kept.push(cut(line, left));
        let rest = lines.len() - 1;
        let text = if rest > 0 { vec![more(rest, size(&lines[1..]))] } else { Vec::new() };
        return kept.into_iter().chain(text).collect::<Vec<_>>().join("\n");
    }
    let rest = &lines[kept.len()..];
    kept.push(more(rest.len(), size(rest)));
    kept.join("\n")
}

/// The beginning of a text, with an ellipsis if the rest was cut.
fn cut(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_string();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines: Vec<String> = (0..100).map(|number| format!("line {number} {}", "x".repeat(40))).collect();
        let written = Written { text: lines.join("\n"), messages: vec!["note: this".to_string(); 50] };
        for tokens in [100, 150, 300, 2_000] {
            let room = tokens * TOKEN;
            let answer = written.within(room, "prof top cpu.pb.gz", tokens);
            assert!(answer.chars().count() <= room, "{tokens}: {}", answer.chars().count());
            assert!(answer.ends_with("\ncommand: prof top cpu.pb.gz"), "{answer}");
            let kept = answer.lines().filter(|line| line.starts_with("line ")).count();
            let left = format!("… {} more lines", 100 - kept);
            assert!(kept == 100 || answer.contains(&left), "{answer}");
            let said = answer.lines().filter(|line| line.starts_with("note: ")).count();
            assert!(said == 50 || answer.contains(&format!("… {} more messages", 50 - said)), "{answer}");
        }
    }

    #[test]
    fn one_long_line_is_cut() {
        let written = Written { text: "x".repeat(9_000), messages: Vec::new() };
        let answer = written.within(400, "prof top a", 100);
        assert!(answer.chars().count() <= 400 && answer.contains("x…\n"), "{answer}");
    }
}
