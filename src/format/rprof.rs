//! Reads the output of R's profilers: `Rprof`, which samples, and `Rprofmem`, which traces allocations. Both write one stack per line, leaf
//! first.
//!
//! ```text
//! memory profiling: GC profiling: line profiling: sample.interval=20000
//! #File 1: server.R
//! :319194:653668:23351664:3658:"rnorm" 1#21 "simulate" 1#5 "main"
//! ```
//!
//! The interval is in microseconds. `1#21` is line 21 of file 1, where the function before it was called; before all functions,
//! it is where the innermost one was. With memory profiling, a line starts with the size of the heap: small and large vectors
//! in units of 8 bytes, nodes in bytes, and calls of `duplicate`. `<GC>` is a frame of its own.
//!
//! ```text
//! new page:"spin" "main"
//! 800048 :"numeric" "alloc" "main"
//! ```
//!
//! `Rprofmem` writes no header. Large vectors have their size in bytes; small ones share pages, of which only each new one is traced.

use hashbrown::HashMap;

use crate::format::text::{BadLines, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{
    Frame, FrameId, FunctionId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder, StackId,
};

/// The entry in the list of readable formats.
pub(super) static RPROF: Format = Format { name: NAME, title: "Rprof", sniff, read };

const NAME: &str = "rprof";

fn sniff(head: &[u8]) -> Confidence {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_either = Header::parse(first).is_some() || Allocation::parse(&lossy(first)).is_some();
    if is_either { Confidence::Certain } else { Confidence::No }
}

/// The first line.
#[derive(Clone, Copy, Debug, Default)]
struct Header {
    has_memory: bool,
    /// Whether time passed also while R was waiting: `event=elapsed`.
    is_elapsed: bool,
    interval: i64,
}

impl Header {
    fn parse(line: &[u8]) -> Option<Header> {
        let text = std::str::from_utf8(line).ok()?.trim_end();
        let (kinds, interval) = text.split_once("sample.interval=")?;
        let mut header = Header::default();
        for kind in kinds.split_inclusive(": ") {
            match kind {
                "memory profiling: " => header.has_memory = true,
                "line profiling: " | "GC profiling: " => {}
                _ if kind.trim_end().ends_with(':') && kind.len() < 64 => {}
                _ => return None,
            }
        }
        let (interval, rest) = interval.split_once(' ').unwrap_or((interval, ""));
        header.interval = interval.parse().ok().filter(|&interval| interval > 0)?;
        header.is_elapsed = rest.contains("elapsed") || kinds.contains("elapsed");
        Some(header)
    }
}

/// A line of `Rprofmem`.
struct Allocation<'a> {
    /// In bytes; `None` for a new page of small vectors.
    size: Option<i64>,
    stack: &'a str,
}

impl Allocation<'_> {
    /// Parses `800048 :"numeric" "alloc" "main"` or `new page:"spin" "main"`; at the top level, there is nothing after the colon.
    fn parse(line: &str) -> Option<Allocation<'_>> {
        let (what, stack) = line.split_once(':')?;
        let is_stack =
            stack.trim_end().is_empty() || stack.starts_with('"') && stack.trim_end().ends_with('"');
        let size = match what {
            "new page" => None,
            _ => Some(decimal(what.strip_suffix(' ')?.as_bytes()).filter(|&size| size >= 0)?),
        };
        is_stack.then_some(Allocation { size, stack })
    }
}

/// Reads what `Rprofmem` writes, of which the first line was taken.
fn read_allocations(
    first: &str,
    source: &mut Source,
    mut builder: ProfileBuilder,
) -> Result<Profile, LoadError> {
    builder.metric("alloc_objects", "count");
    builder.meta.default_metric = builder.metric("alloc_space", "bytes");
    builder.metric("new_pages", "count");
    let mut reader = RprofReader::new(builder, Header::default());
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 1);
    let mut take = |line: &str, number: u64| {
        if line.trim().is_empty() {
            return;
        }
        let sample =
            Allocation::parse(line).and_then(|line| Some((line.size, reader.known_stack(line.stack)?)));
        match sample {
            Some((size, stack)) => {
                let values = size.map_or([0, 0, 1], |size| [1, size, 0]);
                reader.builder.sample(stack, LabelSetId::default(), None, &values);
                good += 1;
            }
            None => bad.add(number),
        }
    };
    take(first, number);
    while let Some(line) = source.line()? {
        number += 1;
        take(&lossy(line), number);
    }
    let mut builder = reader.builder;
    bad.settle(
        &mut builder,
        good,
        "expected a size and function names, such as `800048 :\"numeric\" \"main\"`",
    )?;
    Ok(finished(builder)?)
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let first = source.line()?.map(|line| lossy(line).into_owned()).unwrap_or_default();
    if Allocation::parse(&first).is_some() {
        return read_allocations(&first, source, ProfileBuilder::new(NAME, options));
    }
    let header = Header::parse(first.as_bytes());
    let header = header.ok_or_else(|| ParseError::at_line(NAME, 1, "expected `sample.interval=`"))?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let time = if header.is_elapsed { "wall" } else { "cpu" };
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric(time, "microseconds");
    builder.meta.period =
        Some(Period { name: time.into(), unit: "microseconds".into(), value: header.interval });
    if header.has_memory {
        builder.metric("alloc_space", "bytes");
    }
    let mut reader = RprofReader::new(builder, header);
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 1);
    while let Some(line) = source.line()? {
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match reader.line(&lossy(line)) {
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    let mut builder = reader.builder;
    bad.settle(&mut builder, good, "expected quoted function names, such as `\"f\" \"main\"`")?;
    Ok(finished(builder)?)
}

struct RprofReader {
    builder: ProfileBuilder,
    header: Header,
    /// The names of the files, by number.
    files: Vec<String>,
    /// The size of the heap at the previous sample.
    heap: Option<i64>,
    /// The functions of a stack, the leaf first, each with the line that it was executing.
    names: Vec<(FunctionId, u32)>,
    frames: Vec<FrameId>,
    /// The stacks so far, by how they are written: most samples repeat one.
    stacks: HashMap<String, StackId>,
}

impl RprofReader {
    fn new(builder: ProfileBuilder, header: Header) -> RprofReader {
        RprofReader {
            builder,
            header,
            files: Vec::new(),
            heap: None,
            names: Vec::new(),
            frames: Vec::new(),
            stacks: HashMap::new(),
        }
    }

    /// Reads a sample or a file name; `None` if it is neither.
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some(file) = line.strip_prefix("#File ") {
            let (number, name) = file.split_once(": ")?;
            let number: usize = number.parse().ok().filter(|&number| number <= self.files.len() + 1)?;
            self.files.resize(self.files.len().max(number + 1), String::new());
            self.files[number] = name.to_string();
            self.stacks.clear();
            return Some(());
        }
        let (heap, stack) = if self.header.has_memory { heap(line)? } else { (0, line) };
        let stack = self.known_stack(stack)?;
        // What was allocated since the previous sample; less after a garbage collection.
        let allocated = self.heap.replace(heap).map_or(0, |before| heap.saturating_sub(before).max(0));
        let values = [1, self.header.interval, allocated];
        let metrics = if self.header.has_memory { 3 } else { 2 };
        self.builder.sample(stack, LabelSetId::default(), None, &values[..metrics]);
        Some(())
    }

    /// The stack of a text.
    fn known_stack(&mut self, text: &str) -> Option<StackId> {
        if let Some(&known) = self.stacks.get(text) {
            return Some(known);
        }
        self.stack(text)?;
        let new = self.builder.stack(&self.frames);
        self.stacks.insert(text.to_string(), new);
        Some(new)
    }

    /// Reads `"f" 1#21 "main"` into `self.frames`.
    fn stack(&mut self, text: &str) -> Option<()> {
        self.names.clear();
        self.frames.clear();
        let mut rest = text.trim();
        // The place that comes before a function's name is where it was executing.
        let mut place = (0, 0);
        while !rest.is_empty() {
            if let Some(quoted) = rest.strip_prefix('"') {
                // Names are not escaped: a quote ends them if a blank, or nothing, comes after it.
                let end = quoted.find("\" ").or_else(|| quoted.strip_suffix('"').map(str::len))?;
                let (file, line) = std::mem::take(&mut place);
                let file = self.files.get(file).map(String::as_str).unwrap_or_default();
                let function = self.builder.named_function(&quoted[..end], file);
                self.names.push((function, line));
                rest = quoted[end + 1..].trim_start();
            } else {
                let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
                let (file, line) = word.split_once('#')?;
                place = (file.parse::<usize>().ok()?, line.parse::<u32>().ok()?);
                rest = after.trim_start();
            }
        }
        if place != (0, 0) {
            let file = self.files.get(place.0).map(String::as_str).unwrap_or_default();
            self.names.push((self.builder.named_function("<top level>", file), place.1));
        }
        for &(function, line) in self.names.iter().rev() {
            self.frames.push(self.builder.frame(Frame { function, line, ..Frame::default() }));
        }
        Some(())
    }
}

/// The size of the heap in bytes, and the rest of the line: `:small:large:nodes:duplicates:"f" "main"`.
fn heap(line: &str) -> Option<(i64, &str)> {
    let mut parts = line.strip_prefix(':')?.splitn(5, ':');
    let mut number = || decimal(parts.next()?.as_bytes());
    let (small, large, nodes, _) = (number()?, number()?, number()?, number()?);
    let heap = small.saturating_add(large).saturating_mul(8).saturating_add(nodes);
    Some((heap, parts.next()?))
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
    fn lines_belong_to_the_function_after_them() {
        let text = "line profiling: sample.interval=20000\n#File 1: a b.R\n\"rnorm\" 1#4 \"walk\" 1#16 \"main\" \n1#9 \"f(\"x\")\" 1#2 \n";
        let profile = load(text);
        assert_eq!(profile.meta.metrics[1].name, "cpu");
        assert_eq!(
            to_notation(&profile),
            "<top level>@a b.R:2;f(\"x\")@a b.R:9 1 20000\nmain@a b.R:16;walk@a b.R:4;rnorm 1 20000"
        );
    }

    #[test]
    fn allocations_are_read() {
        let text = "new page:\"spin\" \"main\" \n800048 :\"numeric\" \"f(\"x\")\" \"main\" \n48 :\n800048 :\"numeric\" \"f(\"x\")\" \"main\" \n";
        let profile = load(text);
        // Single allocations are kept apart.
        let numeric = "main;f(\"x\");numeric 1 800048 0";
        assert_eq!(to_notation(&profile), format!(" 1 48 0\n{numeric}\n{numeric}\nmain;spin 0 0 1"));
        assert_eq!(load(&format!("{text}what\n")).meta.warnings.len(), 1);
        for other in ["48 :a b\n", "48: \"f\"\n", "new page: f\n", "page:\"f\"\n", "-1 :\"f\"\n", "12 : 3\n"]
        {
            assert_eq!(sniff(other.as_bytes()), Confidence::No, "{other}");
        }
    }

    #[test]
    fn memory_is_what_was_added_to_the_heap() {
        let text = "memory profiling: GC profiling: sample.interval=1000\n:1:2:100:0:\"f\" \n:1:3:120:5:\"<GC>\" \"f\" \n:0:0:0:0:\"f\" \n";
        assert_eq!(to_notation(&load(text)), "f 1 1000 0\nf 1 1000 0\nf;<GC> 1 1000 28");
        for other in ["sample.interval=x\n", "interval=1000\n", "profile of sample.interval=10\n"] {
            assert_eq!(sniff(other.as_bytes()), Confidence::No, "{other}");
        }
    }
}
