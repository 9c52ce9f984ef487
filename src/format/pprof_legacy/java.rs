//! Java's legacy profiles. The numbers in a stack are not addresses but keys into a table after the samples.
//!
//! ```text
//!  0x0000003 com.example.Server.run (Server.java:103)
//!  0x0000004 GC
//! ```

use crate::format::LoadError;
use crate::format::labels::sample_labels;
use crate::format::pprof_legacy::addresses;
use crate::format::pprof_legacy::attributes::Attributes;
use crate::format::pprof_legacy::heap::unsample;
use crate::format::pprof_legacy::maps::MemoryMap;
use crate::format::pprof_legacy::recorder::{AddressSymbol, Recorder};
use crate::format::text::{BadLines, Lines, Scan};
use crate::name::base_name;
use crate::profile::{LabelSetId, LoadOptions, Profile};

/// The sampling interval of Java's heap profiler in bytes.
const HEAP_RATE: i64 = 512 << 10;

/// Reads a heap profile after its header.
pub(super) fn read_heap(mut lines: Lines<'_>, options: LoadOptions) -> Result<Profile, LoadError> {
    let attributes = Attributes::read(&mut lines)?;
    let unit = attributes.resolution.as_deref().unwrap_or("bytes");
    let recorder = Recorder::new(options, &[("inuse_objects", "count"), ("inuse_space", unit)]);
    read_samples(recorder, lines, |recorder, bytes, objects| {
        if objects == 0 {
            return None;
        }
        let labels = sample_labels(&mut recorder.builder, |labels| {
            labels.number_in("bytes", bytes / objects, "bytes");
        });
        let (objects, bytes) = unsample(objects, bytes, HEAP_RATE);
        Some((labels, [objects, bytes]))
    })
}

/// Reads a contention profile after its attributes.
pub(super) fn read_contention(
    attributes: &Attributes,
    lines: Lines<'_>,
    options: LoadOptions,
) -> Result<Profile, LoadError> {
    let unit = attributes.resolution.as_deref().unwrap_or("nanoseconds");
    let mut recorder = Recorder::new(options, &[("contentions", "count"), ("delay", unit)]);
    attributes.describe(&mut recorder);
    let period = attributes.sampling_period.max(1);
    read_samples(recorder, lines, |_, delay, count| {
        Some((LabelSetId::default(), [count.saturating_mul(period), delay.saturating_mul(period)]))
    })
}

/// Reads samples (`7048 1 @ 0x3 0x4`), then the table of locations. `values` converts a line's two numbers to labels
/// and values.
fn read_samples(
    mut recorder: Recorder,
    mut lines: Lines<'_>,
    mut values: impl FnMut(&mut Recorder, i64, i64) -> Option<(LabelSetId, [i64; 2])>,
) -> Result<Profile, LoadError> {
    let (mut bad, mut samples) = (BadLines::default(), 0);
    let mut stack = Vec::new();
    while lines.advance()? {
        let line = lines.line();
        let mut scan = Scan(line);
        let numbers = scan.integer().zip(scan.integer()).filter(|_| scan.literal(b"@").is_some());
        let Some((first, second)) = numbers else {
            if line.trim_ascii().is_empty() {
                continue;
            }
            lines.push_back();
            break;
        };
        stack.clear();
        let sound = addresses(scan.0, &mut stack);
        match values(&mut recorder, first, second).filter(|_| sound) {
            Some((labels, values)) => {
                samples += 1;
                recorder.sample(&stack, labels, &values);
            }
            None => bad.add(lines.number()),
        }
    }
    bad.settle(&mut recorder.builder, samples, "not a sample of a Java profile")?;
    read_locations(&mut recorder, &mut lines)?;
    recorder.finish(&mut MemoryMap::default())
}

/// Reads the table of locations, which is the rest of the input.
pub(super) fn read_locations(recorder: &mut Recorder, lines: &mut Lines<'_>) -> Result<(), LoadError> {
    recorder.drop_addresses = true;
    while lines.advance()? {
        let mut scan = Scan(lines.line());
        if scan.skip_blanks().0.starts_with(b"0x")
            && let Some(number) = scan.hex()
            && scan.0.first().is_some_and(u8::is_ascii_whitespace)
        {
            let text = String::from_utf8_lossy(scan.0.trim_ascii()).into_owned();
            recorder.symbols(number, &[location(&text)]);
        }
    }
    Ok(())
}

/// Parses `function (file:line)`, `function (/path/to/library.so)`, or a state such as `GC`.
fn location(text: &str) -> AddressSymbol {
    let whole = || AddressSymbol { function: text.to_string(), file: String::new(), line: 0 };
    let Some((function, place)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) else {
        let stub = text.contains("generated stub/JIT");
        return if stub { AddressSymbol { function: "STUB".into(), ..whole() } } else { whole() };
    };
    let function = function.trim_end().to_string();
    if let Some((file, line)) = place.rsplit_once(':')
        && let Ok(line) = line.parse::<i64>()
    {
        return AddressSymbol { function, file: file.to_string(), line: u32::try_from(line).unwrap_or(0) };
    }
    let file = base_name(place).to_string();
    AddressSymbol { function, file, line: 0 }
}
