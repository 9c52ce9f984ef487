//! .NET's event traces (`.nettrace`, and `.netperf` of .NET Core 2.1), written by `dotnet-trace` and the runtime itself.
//!
//! A recording is a sequence of blocks: definitions of event types, stacks, and events, whose meaning follows from
//! their provider and number. These become samples:
//!
//! | event | metrics |
//! |---|---|
//! | sample of a thread | `samples`, `wall`: the time until the next sample of the same thread |
//! | `GC/AllocationTick` | `alloc-samples`, `alloc-size`: the bytes allocated since the last one |
//! | `GC/SampledObjectAllocation` | `alloc_objects`, `alloc_space` |
//! | `Contention/Stop` | `lock_count`, `lock_duration` |
//! | `Exception/Start` | `exceptions` |
//! | `Universal.Events` (machine-wide recordings) | one metric per event, such as `cpu` |
//!
//! The sampler looks at all threads, whether they run or wait; the label `state` says whether a thread was in managed
//! code. Stacks are addresses: their names are in events that the runtime writes for each method, mostly at the end.

mod blocks;
mod code;
mod events;
mod metadata;
mod payload;
mod samples;
mod survey;

use crate::format::nettrace::blocks::{MAGIC, NAME, OBJECTS, Recording};
use crate::format::nettrace::samples::SampleReader;
use crate::format::nettrace::survey::{Survey, walk};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::profile::{LoadOptions, Profile};

mod threads;

/// The entry in the list of readable formats.
pub(super) static NETTRACE: Format = Format { name: NAME, title: ".NET nettrace", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    // Other files of the serialization library start like those of version 3 but contain other objects.
    let is_old = head.starts_with(OBJECTS) && head.get(39..44) == Some(b"Trace");
    if head.starts_with(MAGIC) || is_old { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let recording = Recording::read(&bytes)?;
    let mut survey = Survey::default();
    let broken = walk(&recording, &mut survey);
    survey.code.sort();
    let mut reader = SampleReader::new(&recording, survey, options);
    walk(&recording, &mut reader);
    Ok(finished(reader.finish(broken))?)
}

#[cfg(test)]
mod tests;
