//! What commands need from a profile. Some formats record calls between functions instead of stacks, so not
//! every command works with them.

use anyhow::Result;

use crate::cli::terminal::failure::hinted;
use crate::profile::Profile;
use crate::tree::By;

/// What a command needs from a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// The cost of functions or lines.
    Costs,
    /// The cost of lines.
    Lines,
    /// Which function calls which.
    Calls,
    /// Paths from the root, which are approximated if the profile records calls.
    Paths,
    /// Whole stacks, without approximation.
    Stacks {
        /// Why stacks are needed; completes "callgrind records calls between functions, not stacks: …".
        why: &'static str,
        /// A hint at what works instead.
        instead: &'static str,
    },
}

impl Requirement {
    /// Fails if a profile of calls does not meet the requirement; the error says why, and what works instead.
    pub(crate) fn check(self, profile: &Profile, by: &By, metrics: &[usize]) -> Result<()> {
        let Some(calls) = &profile.calls else { return Ok(()) };
        let format = profile.meta.format;
        let counts_calls = metrics.iter().any(|&metric| calls.counts_calls(metric));
        let (message, hint) = match (self, by) {
            (Requirement::Stacks { why, instead }, _) => {
                (format!("{format} records calls between functions, not stacks: {why}"), instead)
            }
            (Requirement::Lines, _) if !calls.has_lines() => (
                format!("{format} records the cost of functions, not of lines"),
                "prof top and prof focus show the functions",
            ),
            (_, By::Label(_)) => (
                format!("--by label: {format} records calls between functions, which have no labels"),
                "--by file, --by package and --by mapping group functions",
            ),
            (_, By::Address) => (
                format!("--by address: {format} is read by function and line, without addresses"),
                "prof top --by line shows the cost of lines",
            ),
            (Requirement::Costs, By::Line) if !calls.has_lines() => {
                (format!("--by line: {format} records the cost of functions, not of lines"), "omit --by line")
            }
            (Requirement::Calls | Requirement::Paths, By::Line) => (
                format!("--by line: {format} records calls of functions, not of lines"),
                "prof top --by line and prof source show the cost of lines",
            ),
            (Requirement::Paths, _) if counts_calls => (
                "call counts do not form a tree: a call is not part of its caller".to_string(),
                "prof top -m calls and prof focus -m calls FUNC count calls",
            ),
            _ => return Ok(()),
        };
        Err(hinted(message, hint))
    }

    /// A note that lines are not what the profiles are about, for commands that show lines.
    pub(crate) fn note<'p>(self, profiles: impl Iterator<Item = &'p Profile>, by: &By) -> Option<String> {
        if *by == By::Line || self == Requirement::Lines { note_of_lines(profiles) } else { None }
    }
}

/// A note about the first profile that has samples but not the line of any frame, as in CPU profiles of V8 without
/// `positionTicks`, which name only the line where a function starts.
fn note_of_lines<'p>(mut profiles: impl Iterator<Item = &'p Profile>) -> Option<String> {
    let has_line = |profile: &Profile| profile.symbols.frames.iter().any(|frame| frame.line > 0);
    let lacks_lines =
        |profile: &&Profile| profile.calls.is_none() && !profile.samples.is_empty() && !has_line(profile);
    let format = profiles.find(lacks_lines)?.meta.format;
    Some(format!("this profile ({format}) does not say what lines cost, only what functions cost"))
}
