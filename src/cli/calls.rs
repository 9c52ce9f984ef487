//! What commands make of a profile that holds calls between functions, not stacks.

use anyhow::Result;

use crate::cli::failure::hinted;
use crate::profile::Profile;
use crate::tree::By;

/// What a command needs to know of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// What functions or lines cost.
    Costs,
    /// What lines cost.
    Lines,
    /// Who calls whom.
    Calls,
    /// Paths from the root; of calls these are approximated.
    Paths,
    /// Stacks as they were, and no approximation will do.
    Stacks {
        /// What stacks are wanted for, to go on from "callgrind holds calls between functions, and …".
        why: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
}

impl Shows {
    /// Refuses what cannot be shown of calls, saying why, and what can.
    pub(crate) fn check(self, profile: &Profile, by: &By, metrics: &[usize]) -> Result<()> {
        let Some(calls) = &profile.calls else { return Ok(()) };
        let format = profile.meta.format;
        if let Shows::Stacks { why, instead } = self {
            return Err(hinted(
                format!("{format} holds calls between functions, not stacks, and {why}"),
                instead,
            ));
        }
        if self == Shows::Lines && !calls.has_lines() {
            let message = format!("{format} does not say what lines cost, only functions");
            return Err(hinted(message, "prof top and prof focus show the functions"));
        }
        match by {
            By::Label(_) => {
                let message =
                    format!("--by label: {format} holds calls between functions, which have no labels");
                return Err(hinted(
                    message,
                    "--by file, package and mapping show more than one function as one",
                ));
            }
            By::Address => {
                let message = format!("--by address: {format} is read by function and line");
                return Err(hinted(message, "prof top --by line shows lines"));
            }
            By::Line if self == Shows::Costs && !calls.has_lines() => {
                let message = format!("--by line: {format} does not say what lines cost, only functions");
                return Err(hinted(message, "leave it out"));
            }
            By::Line if matches!(self, Shows::Calls | Shows::Paths) => {
                let message =
                    format!("--by line: {format} says what functions are called, not what lines of them");
                return Err(hinted(message, "prof top --by line and prof source show what lines cost"));
            }
            _ => {}
        }
        if self == Shows::Paths && metrics.iter().any(|&metric| Some(metric) == calls.calls_metric) {
            let message =
                "how often functions are called adds up to no tree: a call is not part of its caller";
            return Err(hinted(message, "prof top -m calls and prof focus -m calls FUNC count calls"));
        }
        Ok(())
    }
}
