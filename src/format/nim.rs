//! Reads `profile_results.txt`, which programs in Nim write that were compiled with `--profiler:on`: how often each stack trace was
//! seen, leaf first.
//!
//! ```text
//! total executions of each stack trace:
//! Entry: 1/2 Calls: 89/195 = 45.64% [sum: 89; 89/195 = 45.64%]
//!   io.nim: readLine 92/195 = 47.18%
//!   main 195/195 = 100.00%
//! ```

use crate::format::text::{BadLines, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::group_thousands;

/// The entry in the list of readable formats.
pub(super) static NIM: Format = Format { name: NAME, title: "Nim's profile results", sniff, read };

const NAME: &str = "nim";

const TITLE: &[u8] = b"total executions of each stack trace:";

fn sniff(head: &[u8]) -> Confidence {
    if head.trim_ascii_start().starts_with(TITLE) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 0);
    // The count of the current stack trace, and its frames.
    let mut entry: Option<i64> = None;
    let mut frames = Vec::new();
    let (mut sum, mut all): (i64, i64) = (0, 0);
    while let Some(line) = source.line()? {
        number += 1;
        let text = lossy(line.trim_ascii_end());
        if let Some((count, total)) = counts(&text) {
            end_entry(&mut builder, entry.replace(count), &mut frames);
            sum = sum.saturating_add(count);
            all = total;
            good += 1;
        } else if entry.is_some() && text.starts_with(' ') {
            frames.push(frame(text.trim_start(), &mut builder));
        } else if !text.is_empty() && text.as_bytes() != TITLE {
            bad.add(number);
        }
    }
    end_entry(&mut builder, entry, &mut frames);
    bad.settle(&mut builder, good, "expected a stack trace, such as `Entry: 1/4 Calls: 89/195 = 45.64%`")?;
    if good == 0 {
        return Err(ParseError::at_line(NAME, number, "the file ends before the first stack trace").into());
    }
    if sum < all {
        let [sum, all] = [sum, all].map(|count| group_thousands(count.into()));
        let warning =
            format!("counts do not add up: the file says {all} samples, its stack traces sum to {sum}");
        builder.warn(warning);
    }
    Ok(finished(builder)?)
}

fn end_entry(builder: &mut ProfileBuilder, count: Option<i64>, frames: &mut Vec<FrameId>) {
    if let Some(count) = count {
        frames.reverse();
        let stack = builder.stack(frames);
        builder.sample(stack, LabelSetId::default(), None, &[count]);
    }
    frames.clear();
}

/// How often a stack trace was seen, and how many samples there are: `Entry: 1/4 Calls: 89/195 = …`.
fn counts(line: &str) -> Option<(i64, i64)> {
    let (_, rest) = line.strip_prefix("Entry: ")?.split_once(" Calls: ")?;
    let (count, all) = rest.split_once(" = ")?.0.split_once('/')?;
    let [count, all] = [count, all].map(|text| decimal(text.as_bytes()).filter(|&count| count >= 0));
    Some((count?, all?))
}

/// The frame of `io.nim: readLine 307/366 = 83.88%`. Old versions write only the name.
fn frame(text: &str, builder: &mut ProfileBuilder) -> FrameId {
    let is_count = |text: &str| {
        text.split_once('/')
            .is_some_and(|(one, all)| [one, all].iter().all(|part| decimal(part.as_bytes()).is_some()))
    };
    let counted = text.rsplit_once(" = ").and_then(|(before, _)| before.rsplit_once(' '));
    let name = counted.filter(|(_, count)| is_count(count)).map_or(text, |(name, _)| name);
    match name.split_once(".nim: ") {
        Some((file, function)) => {
            let function = builder.script_function(function, &format!("{file}.nim"), 0);
            builder.frame(Frame { function, ..Frame::default() })
        }
        None => builder.named_frame(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL).unwrap()
    }

    #[test]
    fn stack_traces_are_leaf_first() {
        let profile = load(
            "total executions of each stack trace:\nEntry: 1/2 Calls: 89/95 = 93.68% [sum: 89; 89/95 = 93.68%]\n  lib/comparisons.nim: <% 92/95 = 96.84%\n  \
             a.nim: main 95/95 = 100.00%\nEntry: 2/2 Calls: 6/95 = 6.32% [sum: 95; 95/95 = 100.00%]\n  a.nim: main 95/95 = 100.00%\n",
        );
        assert_eq!(to_notation(&profile), "main@a.nim:0 6\nmain@a.nim:0;<%@lib/comparisons.nim:0 89");
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn missing_stack_traces_are_told() {
        let profile = load(
            "total executions of each stack trace:\nEntry: 0/3391 Calls: 84/4160 = 2.0% [sum: 84; 84/4160 = 2.0%]\n  leaf\n  main\n...\n",
        );
        assert_eq!(to_notation(&profile), "main;leaf 84");
        assert_eq!(profile.meta.warnings.len(), 2);
        assert!(profile.meta.warnings[1].contains("the file says 4,160 samples, its stack traces sum to 84"));
    }
}
