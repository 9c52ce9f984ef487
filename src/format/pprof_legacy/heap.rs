//! Heap profiles as text, in the dialects of gperftools, Go and jemalloc.
//!
//! ```text
//! heap profile:    144:  8498176 [   144:  8498176] @ heapz_v2/524288
//!      1:     9216 [     1:     9216] @ 0xc635c8 0x42ecc3
//! ```
//!
//! A line contains objects and bytes in use, objects and bytes allocated in total, and the stack. jemalloc writes the
//! stack first, then a line for all threads (`t*`) and one per thread:
//!
//! ```text
//! heap_v2/524288
//!   t*: 28106: 56637512 [0: 0]
//! @ 0x5f86da8 0x5f5a1dc
//!   t*: 13: 6688 [0: 0]
//!   t3: 12: 6496 [0: 0]
//! ```

use crate::format::allocators::MALLOC;
use crate::format::labels::size_label;
use crate::format::pprof_legacy::maps::{self, MemoryMap};
use crate::format::pprof_legacy::recorder::{Recorder, Start};
use crate::format::pprof_legacy::{NAME, addresses, count, is_blank_or_comment, to_call_addresses};
use crate::format::text::{BadLines, Lines, Scan};
use crate::format::{LoadError, ParseError};
use crate::profile::{Period, Profile};
use crate::unit::{group_thousands, plural};

pub(super) const HEADER: &[u8] = b"heap profile:";
pub(super) const JEMALLOC_HEADER: &[u8] = b"heap_v2/";

/// The allocation functions of gperftools, Go and the C++ library. They and their callees are dropped from stacks,
/// because they say nothing about the program.
const ALLOCATORS: &str = "cfree|free|tcmalloc::.*|tc_(calloc|cfree|malloc|free|memalign|posix_memalign|p?valloc|realloc|\
    new|delete|newarray|deletearray|new_nothrow|newarray_nothrow)|runtime\\..*|(::)?do_malloc(_no_errno|_pages)?|\
    BaseArena::.*|DoSampledAllocation|MallocedMemBlock::MallocedMemBlock|_M_allocate|__builtin_(vec_)?delete|\
    __gnu_cxx::new_allocator::allocate|__malloc_alloc_template::allocate|allocate|cpp_alloc|\
    simple_alloc::allocate";

/// Objects and bytes in use, and allocated in total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    objects: i64,
    bytes: i64,
    allocated_objects: i64,
    allocated_bytes: i64,
}

/// Parses `1: 9216 [1: 9216]`.
fn counts(scan: &mut Scan<'_>) -> Option<Counts> {
    let objects = scan.integer()?;
    scan.literal(b":")?;
    let bytes = scan.integer()?;
    scan.literal(b"[")?;
    let allocated_objects = scan.integer()?;
    scan.literal(b":")?;
    let allocated_bytes = scan.integer()?;
    scan.literal(b"]")?;
    Some(Counts { objects, bytes, allocated_objects, allocated_bytes })
}

impl Counts {
    fn is_empty(self) -> bool {
        [self.objects, self.bytes, self.allocated_objects, self.allocated_bytes] == [0; 4]
    }

    fn has_allocated(self) -> bool {
        (self.allocated_objects != self.objects && self.allocated_objects != 0)
            || (self.allocated_bytes != self.bytes && self.allocated_bytes != 0)
    }
}

/// The state of reading a heap profile.
struct Heap {
    recorder: Recorder,
    /// Bytes between two samples; 0 or 1 if every allocation was recorded.
    rate: i64,
    has_allocated: bool,
    /// The stack of the following lines, in jemalloc's dialect.
    addresses: Vec<u64>,
    samples: u64,
    /// How many stacks have numbers of all allocations although the header has none.
    unexpected: u64,
    /// Bytes in use and allocated bytes, as the first line says and as the stacks sum to.
    announced: Option<[i64; 2]>,
    sums: [i64; 2],
    bad: BadLines,
}

pub(super) fn read(header: &[u8], lines: Lines<'_>, start: Start) -> Result<Profile, LoadError> {
    match header.strip_prefix(JEMALLOC_HEADER) {
        Some(rate) => read_jemalloc(Scan(rate).integer().unwrap_or(0), lines, start),
        None => read_gperftools(header, lines, start),
    }
}

fn read_gperftools(header: &[u8], mut lines: Lines<'_>, start: Start) -> Result<Profile, LoadError> {
    let unknown = || ParseError::at_line(NAME, lines.number(), "unknown heap profile header");
    let mut scan = Scan(&header[HEADER.len()..]);
    let totals = counts(&mut scan).ok_or_else(unknown)?;
    scan.literal(b"@").ok_or_else(unknown)?;
    let kind = scan.word();
    let (kind, rate) = match memchr::memchr(b'/', kind) {
        Some(slash) => (&kind[..slash], Scan(&kind[slash + 1..]).integer().unwrap_or(0)),
        None => (kind, 0),
    };
    let (rate, period) = match kind {
        b"heapz_v2" | b"heap_v2" => (rate, rate),
        // Go writes twice its sampling rate here.
        b"heap" => (rate / 2, rate / 2),
        // Old versions of gperftools name no kind, and do not sample. A program writes `growth`, its server `growthz`.
        b"" | b"heapprofile" | b"growth" | b"growthz" | b"fragmentation" | b"fragmentationz" => (0, 1),
        _ => return Err(unknown().into()),
    };
    let has_allocated = totals.has_allocated();
    let in_use = if has_allocated { ["inuse_objects", "inuse_space"] } else { ["objects", "space"] };
    let is_off = kind.ends_with(b"_v2") && rate == 0 && totals.is_empty() && start.warning.is_empty();
    let mut heap = Heap::new(start, rate, period, has_allocated, in_use);
    heap.announced = Some([totals.bytes, totals.allocated_bytes]);
    if is_off {
        let warning = "the program ran with heap sampling turned off: set TCMALLOC_SAMPLE_PARAMETER to the bytes between samples, such as 524288";
        heap.recorder.builder.warn(warning.into());
    }
    let in_map = heap.lines(&mut lines)?;
    heap.finish(lines, in_map)
}

fn read_jemalloc(rate: i64, mut lines: Lines<'_>, start: Start) -> Result<Profile, LoadError> {
    // The lines before the first stack contain the totals.
    let mut has_allocated = false;
    while lines.advance()? {
        if lines.line().trim_ascii_start().starts_with(b"@") || maps::is_header(lines.line()) {
            lines.push_back();
            break;
        }
        let totals = lines.line().trim_ascii_start().strip_prefix(b"t*:");
        has_allocated |=
            totals.and_then(|totals| counts(&mut Scan(totals))).is_some_and(Counts::has_allocated);
    }
    let in_use = ["inuse_objects", "inuse_space"];
    let mut heap = Heap::new(start, rate, rate, has_allocated, in_use);
    let in_map = heap.jemalloc_lines(&mut lines)?;
    heap.finish(lines, in_map)
}

impl Heap {
    fn new(start: Start, rate: i64, period: i64, has_allocated: bool, in_use: [&str; 2]) -> Heap {
        let mut metrics = vec![(in_use[0], "count"), (in_use[1], "bytes")];
        if has_allocated {
            metrics.splice(0..0, [("alloc_objects", "count"), ("alloc_space", "bytes")]);
        }
        let mut recorder = Recorder::new(start, &metrics);
        let meta = &mut recorder.builder.meta;
        if period > 0 {
            meta.period = Some(Period { name: "space".into(), unit: "bytes".into(), value: period });
        }
        meta.drop_frames = format!("{MALLOC}|{ALLOCATORS}");
        meta.keep_frames = r"runtime\.panic".into();
        Heap {
            recorder,
            rate,
            has_allocated,
            addresses: Vec::new(),
            samples: 0,
            unexpected: 0,
            announced: None,
            sums: [0; 2],
            bad: BadLines::default(),
        }
    }

    /// Reads samples up to the memory map. Returns whether its header was found.
    fn lines(&mut self, lines: &mut Lines<'_>) -> Result<bool, LoadError> {
        let mut symbols = count::Comments::default();
        while lines.advance()? {
            if maps::is_header(lines.line()) {
                return Ok(true);
            }
            if is_blank_or_comment(lines.line()) {
                symbols.line(lines.line(), &mut self.recorder);
                continue;
            }
            symbols.end(&mut self.recorder);
            let mut scan = Scan(lines.line());
            self.addresses.clear();
            let sample = counts(&mut scan)
                .filter(|_| scan.literal(b"@").is_some() && addresses(scan.0, &mut self.addresses));
            to_call_addresses(&mut self.addresses);
            self.sample(sample, lines.number());
        }
        symbols.end(&mut self.recorder);
        Ok(false)
    }

    fn jemalloc_lines(&mut self, lines: &mut Lines<'_>) -> Result<bool, LoadError> {
        while lines.advance()? {
            let line = lines.line().trim_ascii();
            if maps::is_header(line) {
                return Ok(true);
            }
            if let Some(stack) = line.strip_prefix(b"@") {
                self.addresses.clear();
                if !addresses(stack, &mut self.addresses) {
                    self.bad.add(lines.number());
                }
                to_call_addresses(&mut self.addresses);
            } else if let Some(all_threads) = line.strip_prefix(b"t*:") {
                self.sample(counts(&mut Scan(all_threads)), lines.number());
            }
            // Other lines are those of single threads, which the line for all threads includes.
        }
        Ok(false)
    }

    fn sample(&mut self, counts: Option<Counts>, number: u64) {
        let sound = counts.filter(|counts| {
            let allocated =
                !self.has_allocated || counts.allocated_objects != 0 || counts.allocated_bytes == 0;
            allocated && (counts.objects != 0 || counts.bytes == 0)
        });
        let Some(counts) = sound else { return self.bad.add(number) };
        self.samples += 1;
        for (sum, bytes) in self.sums.iter_mut().zip([counts.bytes, counts.allocated_bytes]) {
            *sum = sum.saturating_add(bytes);
        }
        self.unexpected += u64::from(!self.has_allocated && counts.has_allocated());
        let in_use = unsample(counts.objects, counts.bytes, self.rate);
        let allocated = unsample(counts.allocated_objects, counts.allocated_bytes, self.rate);
        // The mean size of the objects.
        let size = match counts {
            Counts { objects: 1.., .. } => counts.bytes / counts.objects,
            Counts { allocated_objects: 1.., .. } if self.has_allocated => {
                counts.allocated_bytes / counts.allocated_objects
            }
            _ => 0,
        };
        let labels = size_label(&mut self.recorder.builder, size);
        let values = [allocated.0, allocated.1, in_use.0, in_use.1];
        self.recorder.sample(&self.addresses, labels, &values[if self.has_allocated { 0 } else { 2 }..]);
    }

    fn finish(mut self, mut lines: Lines<'_>, in_map: bool) -> Result<Profile, LoadError> {
        let mut map = MemoryMap::read(&mut lines, in_map)?;
        self.bad.settle(&mut self.recorder.builder, self.samples, "not a heap sample")?;
        if self.unexpected > 0 {
            let stacks = plural(self.unexpected, "stack has", "stacks have");
            let warning = format!(
                "{} {stacks} numbers of all allocations, which are left out because the totals of the file have none",
                self.unexpected
            );
            self.recorder.builder.warn(warning);
        }
        self.warn_of_sums();
        self.recorder.finish(&mut map)
    }

    /// Warns if the stacks do not sum to what the first line says: some are missing, then.
    fn warn_of_sums(&mut self) {
        let Some(announced) = self.announced.filter(|_| self.unexpected == 0 && self.bad.is_empty()) else {
            return;
        };
        let differs = |(_, (one, other)): &(&str, (i64, i64))| one != other;
        let found =
            ["in use", "allocated"].into_iter().zip(announced.into_iter().zip(self.sums)).find(differs);
        if let Some((what, (announced, sum))) = found {
            self.recorder.builder.warn(format!(
                "counts do not add up: the first line says {} bytes {what}, the stacks sum to {}",
                group_thousands(announced.into()),
                group_thousands(sum.into())
            ));
        }
    }
}

/// Estimates the actual objects and bytes from those sampled. With one sample every `rate` bytes on average, an
/// allocation of `size` bytes is sampled with probability 1 − e^(−size/rate).
pub(super) fn unsample(objects: i64, bytes: i64, rate: i64) -> (i64, i64) {
    if objects == 0 || bytes == 0 {
        return (0, 0);
    }
    if rate <= 1 {
        return (objects, bytes);
    }
    let size = bytes as f64 / objects as f64;
    let scale = 1.0 / (1.0 - (-size / rate as f64).exp());
    ((objects as f64 * scale) as i64, (bytes as f64 * scale) as i64)
}
