//! Reads the logs of Papyrus, the script engine of Skyrim and Fallout 4, profiling a script or one stack.
//!
//! ```text
//! Script_example_quest log opened (PC)
//! 500:PUSH:3053:1:exampleQuest (24021278):example_quest..update      ms, event, stack, level, object, function
//! 520:QUEUE_PUSH:3053:2:None:utility.??.wait
//! 530:PUSH:3053:2:None:utility..wait
//! 540:POP:3053:2:None:utility..wait
//! 550:POP:3053:1:exampleQuest (24021278):example_quest..update
//! Log closed
//! ```
//!
//! Each of the engine's stacks is a thread. A call that waits for its turn (`QUEUE_PUSH`) begins when it is pushed.

use hashbrown::HashMap;

use crate::format::spans::Spans;
use crate::format::text::{BadLines, Lines, lossy};
use crate::format::threads::Thread;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static PAPYRUS: Format = Format { name: NAME, title: "Papyrus log", sniff, read };

const NAME: &str = "papyrus";

/// The nanoseconds of a millisecond.
const MILLISECOND: i64 = 1_000_000;

fn sniff(head: &[u8]) -> Confidence {
    let mut lines = head.split(|byte| *byte == b'\n');
    let is_opened = lines.next().is_some_and(is_opening);
    let is_log = is_opened && lines.take(5).any(|line| Line::parse(&lossy(line)).is_some());
    if is_log { Confidence::Certain } else { Confidence::No }
}

/// `Script_example_quest log opened (PC)`, or `Stack_3185 log opened (PC)`.
fn is_opening(line: &[u8]) -> bool {
    memchr::memmem::find(line, b" log opened").is_some()
}

/// A line about an event.
enum Line<'l> {
    Call(Call<'l>),
    /// No function is entered or left.
    Other,
}

/// A function is entered or left.
struct Call<'l> {
    time: i64,
    is_entered: bool,
    stack: &'l str,
    name: &'l str,
}

impl<'l> Line<'l> {
    fn parse(line: &'l str) -> Option<Line<'l>> {
        let mut fields = line.trim_end().split(':');
        let time = fields.next()?.parse::<u32>().ok()?;
        let is_entered = match fields.next()? {
            "PUSH" => true,
            "POP" => false,
            "QUEUE_PUSH" | "QUEUE_POP" | "START" | "STOP" | "DONE" => return Some(Line::Other),
            _ => return None,
        };
        let stack = fields.next()?;
        // The level and the object.
        let name = fields.nth(2)?;
        Some(Line::Call(Call { time: i64::from(time) * MILLISECOND, is_entered, stack, name }))
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut spans = Spans::default();
    let mut stacks = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let (mut bad, mut good, mut is_closed) = (BadLines::default(), 0, false);
    let mut lines = Lines::new(source);
    while lines.advance()? {
        let line = lines.line().trim_ascii();
        is_closed |= line == b"Log closed";
        if line.is_empty() || line == b"Log closed" || is_opening(line) {
            continue;
        }
        match Line::parse(&lossy(line)) {
            Some(Line::Call(call)) => {
                let number = *numbers.entry_ref(call.stack).or_insert_with(|| {
                    stacks.push(call.stack.to_string());
                    stacks.len() - 1
                });
                let name = builder.string(call.name);
                if call.is_entered {
                    let frame = spans.frame(name, &mut builder);
                    spans.begin(number, call.time, None, frame);
                } else {
                    spans.end(number, call.time, name);
                }
                good += 1;
            }
            Some(Line::Other) => {}
            None => bad.add(lines.number()),
        }
    }
    bad.settle(&mut builder, good, "expected a time, an event, a stack, a level, an object and a function")?;
    if good == 0 {
        return Err(ParseError::whole(NAME, "the log has no calls").into());
    }
    if !is_closed {
        builder
            .warn("the log does not end: the game was still running, or the file is truncated".to_string());
    }
    spans.write(&mut builder, |number| Thread {
        name: format!("stack {}", stacks[number]),
        tid: stacks[number].clone(),
        ..Thread::default()
    });
    Ok(finished(builder)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions { times: false, ..LoadOptions::ALL }).unwrap()
    }

    const LOG: &str = include_str!("../../tests/hostile/seeds/papyrus/stacks.log");

    #[test]
    fn each_stack_is_a_thread() {
        let profile = load(LOG);
        let expected = "quest..update 30000000 {thread=stack 3053 tid=3053}\n\
            quest..update;utility..wait 10000000 {thread=stack 3053 tid=3053}\n\
            trap..fire 15000000 {thread=stack 3208 tid=3208}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!(profile.meta.duration_ns, Some(50_000_000));
        // `start` was running before the log was opened, so it is unknown since when.
        assert_eq!(profile.meta.warnings.len(), 1, "{:?}", profile.meta.warnings);
        assert!(profile.meta.warnings[0].starts_with("1 end event has no matching begin event"));
        let cut = load(LOG.split("Log closed").next().unwrap());
        assert!(cut.meta.warnings[0].contains("does not end"), "{:?}", cut.meta.warnings);
    }

    #[test]
    fn a_log_without_calls_is_refused() {
        let text = "Stack_3053 log opened (PC)\n36254:START:3053\nLog closed\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let error = read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap_err();
        assert_eq!(error.to_string(), "papyrus: the log has no calls");
        assert_eq!(sniff(b"web log opened\nGET / 200\n"), Confidence::No);
    }
}
