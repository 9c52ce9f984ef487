//! Records written by the kernel and by `perf` during the recording.

use crate::format::fields::Fields;
use crate::format::perf_data::header::{FileHeader, NAME, PerfEvent};
use crate::format::perf_data::raw_record::{RawRecord, split};
use crate::format::perf_data::unwind::Dump;
use crate::format::{ParseError, Source};
use crate::profile::Budget;

pub(super) const MMAP: u32 = 1;
pub(super) const LOST: u32 = 2;
pub(super) const COMM: u32 = 3;
pub(super) const EXIT: u32 = 4;
pub(super) const THROTTLE: u32 = 5;
pub(super) const FORK: u32 = 7;
pub(super) const SAMPLE: u32 = 9;
pub(super) const MMAP2: u32 = 10;
pub(super) const LOST_SAMPLES: u32 = 13;
/// A thread of the recorded program leaves or gets a processor.
pub(super) const SWITCH: u32 = 14;
pub(super) const SWITCH_CPU_WIDE: u32 = 15;
pub(super) const KSYMBOL: u32 = 17;
/// Types from here on are records of `perf` itself.
const USER: u32 = 64;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

/// perf's name for kernel code.
pub(super) const KERNEL: &str = "[kernel.kallsyms]";

/// Fields of samples, in the bits of [`PerfEvent::fields`].
const IP: u64 = 1;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDRESS: u64 = 1 << 3;
const READ: u64 = 1 << 4;
pub(super) const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
/// The last branches taken by the processor.
pub(super) const BRANCHES: u64 = 1 << 11;
/// The registers of the program, as opposed to those of the kernel.
const REGISTERS_USER: u64 = 1 << 12;
/// The thread's stack as raw memory, to be unwound later.
pub(super) const STACK_USER: u64 = 1 << 13;
const IDENTIFIER: u64 = 1 << 16;

/// A record written by the kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: Fields<'a>,
    /// 0 if it has none: such records precede the start of the program.
    pub(super) time: u64,
    /// The index of its event.
    pub(super) event: usize,
}

/// A sample's fields.
#[derive(Clone, Debug, Default)]
pub(super) struct PerfSample<'a> {
    pub(super) ip: u64,
    pub(super) pid: Option<u32>,
    pub(super) tid: Option<u32>,
    pub(super) time: Option<u64>,
    /// The time on the monotonic clock, if that is the recording's.
    pub(super) clock_time: Option<u64>,
    pub(super) period: u64,
    pub(super) callchain: Option<Fields<'a>>,
    /// Counter values with the ids of the counters.
    pub(super) counters: Vec<(u64, u64)>,
    /// Branches, most recent first: source, target and flags.
    pub(super) branches: Option<Fields<'a>>,
    /// The fields of a tracepoint.
    pub(super) raw: Option<Fields<'a>>,
    /// The thread's registers and stack, to be unwound.
    pub(super) dump: Option<Dump<'a>>,
}

/// A record of the kernel; `None` if `perf` itself wrote it.
pub(super) fn kernel_record<'a>(header: &FileHeader<'_>, raw: &RawRecord<'a>) -> Option<Record<'a>> {
    (raw.kind < USER).then(|| {
        let (time, event) = time_and_event(header, raw);
        Record { kind: raw.kind, misc: raw.misc, body: raw.body, time, event }
    })
}

/// Decompresses compressed records, which contain pieces of one zstd stream.
pub(super) fn unpack(header: &FileHeader<'_>, budget: &Budget) -> Result<Vec<u8>, ParseError> {
    let mut packed = Vec::new();
    let mut records = header.records;
    while let Some(mut raw) = split(&mut records) {
        match raw.kind {
            COMPRESSED => packed.extend_from_slice(raw.body.bytes()),
            COMPRESSED2 => {
                let size = raw.body.u64().unwrap_or(0);
                packed.extend_from_slice(raw.body.part(0, size).bytes());
            }
            _ => {}
        }
    }
    if packed.is_empty() {
        return Ok(packed);
    }
    let whole = packed.clone();
    // `perf` leaves the stream open; an empty last block ends it.
    packed.extend_from_slice(&[1, 0, 0]);
    let inflate = |bytes: Vec<u8>| {
        Source::open_within(Box::new(std::io::Cursor::new(bytes)), budget.clone())?.read_all()
    };
    inflate(packed).or_else(|_| inflate(whole)).map_err(|error| {
        let message = format!("compressed records are corrupt ({error})");
        ParseError::at_byte(NAME, header.records_at, message)
    })
}

/// Where the kernel was loaded: the address of its symbol `_text` or `_stext`.
pub(super) fn kernel_start(record: &Record<'_>) -> Option<u64> {
    if record.kind != MMAP {
        return None;
    }
    let mut body = record.body;
    body.take(24)?; // process, thread, start and length
    let address = body.u64()?;
    let symbol = body.text().strip_prefix(KERNEL.as_bytes())?;
    [b"_text".as_slice(), b"_stext"].contains(&symbol).then_some(address)
}

/// The time and event of a record.
fn time_and_event(header: &FileHeader<'_>, raw: &RawRecord<'_>) -> (u64, usize) {
    if raw.kind == SAMPLE {
        let event = event_of(header, raw.body);
        return (time_of_sample(&header.events[event], raw.body).unwrap_or(0), event);
    }
    let event = &header.events[0];
    if !event.has_id_in_all {
        return (0, 0);
    }
    // The trailing fields, all of 64 bits: thread, time, id, stream, processor, identifier.
    let behind = longs_after_time(event);
    let at = (event.fields & TIME != 0).then(|| raw.body.len().checked_sub(8 * (behind + 1))).flatten();
    (at.and_then(|at| raw.body.part(at as u64, 8).u64()).unwrap_or(0), 0)
}

/// The time of a sample, which only fields of 64 bits come before.
fn time_of_sample(event: &PerfEvent, mut body: Fields<'_>) -> Option<u64> {
    let before = [IDENTIFIER, IP, TID].iter().filter(|&&field| event.fields & field != 0).count() as u64;
    body.skip_longs(before).filter(|()| event.fields & TIME != 0)?;
    body.u64()
}

/// The number of fields of 64 bits after the time, at the end of records.
fn longs_after_time(event: &PerfEvent) -> usize {
    [ID, STREAM_ID, CPU, IDENTIFIER].iter().filter(|&&field| event.fields & field != 0).count()
}

/// The thread of a record that is not a sample, if records end with it.
pub(super) fn thread_of(header: &FileHeader<'_>, record: &Record<'_>) -> Option<u32> {
    let event = &header.events[0];
    if !event.has_id_in_all || event.fields & TID == 0 {
        return None;
    }
    let after = longs_after_time(event) + usize::from(event.fields & TIME != 0);
    let at = record.body.len().checked_sub(8 * (after + 1))?;
    record.body.part(at as u64 + 4, 4).u32()
}

/// The event of a sample. If there are several, the sample's id determines it.
fn event_of(header: &FileHeader<'_>, mut body: Fields<'_>) -> usize {
    let fields = header.events[0].fields;
    let before = match fields {
        _ if header.events.len() == 1 => return 0,
        _ if fields & IDENTIFIER != 0 => 0,
        _ => [IP, TID, TIME, ADDRESS].iter().filter(|&&field| fields & field != 0).count() as u64,
    };
    let id = body.skip_longs(before).and_then(|()| body.u64());
    id.and_then(|id| header.event_of_id.get(&id).copied()).unwrap_or(0)
}

/// Reads a sample's fields up to the call chain and branches.
pub(super) fn sample<'a>(event: &PerfEvent, mut body: Fields<'a>) -> Option<PerfSample<'a>> {
    let has = |field: u64| event.fields & field != 0;
    let mut sample = PerfSample { period: event.period.max(1), ..PerfSample::default() };
    if has(IDENTIFIER) {
        body.u64()?;
    }
    if has(IP) {
        sample.ip = body.u64()?;
    }
    if has(TID) {
        sample.pid = Some(body.u32()?);
        sample.tid = Some(body.u32()?);
    }
    if has(TIME) {
        // `perf record --off-cpu` gives each of its samples the time 0xffffffff00000000, so that it comes last.
        sample.time = Some(body.u64()?).filter(|&time| i64::try_from(time).is_ok());
        sample.clock_time = sample.time.filter(|_| event.is_monotonic);
    }
    for field in [ADDRESS, ID, STREAM_ID, CPU] {
        if has(field) {
            body.u64()?;
        }
    }
    if has(PERIOD) {
        sample.period = body.u64()?;
    }
    if has(READ) {
        sample.counters = counters(event.read_format, &mut body)?;
    }
    if has(CALLCHAIN) {
        let size = body.u64()?.checked_mul(8)?;
        sample.callchain = Some(take_fields(&mut body, size)?);
    }
    if has(RAW) {
        let size = body.u32()?;
        sample.raw = Some(take_fields(&mut body, size.into())?);
    }
    if has(BRANCHES) {
        let count = body.u64()?;
        if event.branches & BRANCH_INDEX != 0 {
            body.u64()?;
        }
        sample.branches = Some(take_fields(&mut body, count.checked_mul(BRANCH)?)?);
    }
    if has(REGISTERS_USER) && has(STACK_USER) {
        sample.dump = Some(dump(event.registers, &mut body)?);
    }
    Some(sample)
}

/// Reads registers and the stack. A thread of the kernel has no registers; those of 32-bit programs are left out.
fn dump<'a>(mask: u64, body: &mut Fields<'a>) -> Option<Dump<'a>> {
    const NONE: u64 = 0;
    const OF_64_BITS: u64 = 2;
    let kind = body.u64()?;
    let registers = match kind {
        NONE => body.part(0, 0),
        _ => take_fields(body, 8 * u64::from(mask.count_ones()))?,
    };
    let registers = if kind == OF_64_BITS { registers } else { body.part(0, 0) };
    let size = body.u64()?;
    let stack = take_fields(body, size)?;
    // Of what there is space for, so much was copied.
    let copied = if size == 0 { 0 } else { body.u64()? };
    let stack = stack.part(0, copied);
    let is_big_endian = body.is_big_endian();
    Some(Dump { mask, registers, stack: stack.bytes(), is_big_endian })
}

/// Size of a branch in bytes.
pub(super) const BRANCH: u64 = 24;
/// Whether the branches are preceded by the index of the last one in the processor's buffer.
const BRANCH_INDEX: u64 = 1 << 17;

pub(super) fn take_fields<'a>(body: &mut Fields<'a>, size: u64) -> Option<Fields<'a>> {
    let part = body.part(0, size);
    body.take(usize::try_from(size).ok()?)?;
    Some(part)
}

/// Reads counter values. They are useless without the ids of the counters.
fn counters(format: u64, body: &mut Fields<'_>) -> Option<Vec<(u64, u64)>> {
    const TIMES: [u64; 2] = [1, 1 << 1];
    const ID: u64 = 1 << 2;
    const GROUP: u64 = 1 << 3;
    const LOST: u64 = 1 << 4;
    let times = TIMES.iter().filter(|&&bit| format & bit != 0).count() as u64;
    let mut counters = Vec::new();
    let count = if format & GROUP != 0 {
        let count = body.u64()?;
        body.skip_longs(times)?;
        count
    } else {
        1
    };
    for _ in 0..count {
        let value = body.u64()?;
        if format & GROUP == 0 {
            body.skip_longs(times)?;
        }
        if format & ID != 0 {
            counters.push((value, body.u64()?));
        }
        if format & LOST != 0 {
            body.u64()?;
        }
    }
    Some(counters)
}
