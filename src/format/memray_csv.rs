//! Reads what `memray transform csv` makes of a recording of memray, a memory profiler for Python: one allocating stack per line.
//!
//! ```text
//! allocator,num_allocations,size,tid,thread_name,stack_trace
//! MALLOC,1,1340,1,0x1 (main),parse;/srv/a.py;502|main;/srv/a.py;58
//! ```
//!
//! The stack starts with the leaf. It is the memory in use at the peak, unless memray was asked for something else.

use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, csv_fields, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::profile::{Frame, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static MEMRAY_CSV: Format = Format { name: NAME, title: "memray's CSV", sniff, read };

const NAME: &str = "memray-csv";
const HEADER: &[u8] = b"allocator,num_allocations,size,tid,thread_name,stack_trace";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(HEADER) { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("inuse_objects", "count");
    builder.meta.default_metric = builder.metric("inuse_space", "bytes");
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 0);
    while let Some(line) = source.line()? {
        number += 1;
        if number == 1 || line.is_empty() {
            continue;
        }
        match add(&lossy(line), &mut builder) {
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    bad.settle(&mut builder, good, "expected an allocator, a count, a size, a thread and a stack")?;
    Ok(finished(builder)?)
}

fn add(line: &str, builder: &mut ProfileBuilder) -> Option<()> {
    let fields = csv_fields(line);
    let [allocator, count, size, tid, thread, trace] = &fields[..] else { return None };
    let values = [decimal(count.as_bytes())?, decimal(size.as_bytes())?];
    let mut frames = Vec::new();
    for frame in trace.split('|').filter(|frame| !frame.is_empty()) {
        let (rest, line) = frame.rsplit_once(';')?;
        let (name, file) = rest.split_once(';')?;
        let function = builder.script_function(name, file, 0);
        let line = line.parse().unwrap_or(0);
        frames.push(builder.frame(Frame { function, line, ..Frame::default() }));
    }
    frames.reverse();
    let stack = builder.stack(&frames);
    let labels = sample_labels(builder, |labels| {
        labels.text_if_known("allocator", allocator);
        labels.text_if_known("thread", thread);
        labels.text_if_known("tid", tid);
    });
    builder.sample(stack, labels, None, &values);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn fields_may_be_quoted() {
        let text = "allocator,num_allocations,size,tid,thread_name,stack_trace\r\nMALLOC,2,1340,1,0x1,\"f\"\"x\"\"<a,b>;a.py;5|main;a.py;9\"\r\nMMAP,1,7,1,,\r\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let profile = read(&mut Source::from_bytes(text.into()), options).unwrap();
        assert_eq!(
            to_notation(&profile),
            " 1 7 {allocator=MMAP tid=1}\nmain@a.py:9;f\"x\"<a,b>@a.py:5 2 1340 {allocator=MALLOC thread=0x1 tid=1}"
        );
    }
}
