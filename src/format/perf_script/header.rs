//! The line above a sample's stack.
//!
//! ```text
//! comm pid[/tid] [cpu] time: period event:
//! ```
//!
//! Only one id is always present. `comm` may contain blanks and numbers; without it (`-F pid,tid,event`), the ids come first.

use crate::format::perf_script::frame;
use crate::format::text::{Scan, decimal, hex};

/// A sample's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SampleHeader<'a> {
    /// The thread's name.
    pub(super) comm: &'a [u8],
    pub(super) tid: i64,
    /// The process, if the line has both ids.
    pub(super) pid: Option<i64>,
    /// Nanoseconds since boot.
    pub(super) time: Option<i64>,
    pub(super) period: Option<i64>,
    pub(super) event: Option<&'a [u8]>,
    /// The stack, if it is on the same line.
    pub(super) frame: Option<&'a [u8]>,
    /// What follows the event: the fields of a tracepoint, or those of a record.
    pub(super) fields: &'a [u8],
    /// The date and the time of day by the clock of the machine, as `-F +tod` adds them.
    pub(super) day_time: &'a [u8],
}

impl SampleHeader<'_> {
    /// Whether this is a record such as those that `--show-mmap-events` adds to the output.
    pub(super) fn is_record(&self) -> bool {
        self.event.is_some_and(|event| event.starts_with(b"PERF_RECORD_"))
    }
}

/// Reads a header. The thread's id is the first word that looks like an id and is followed by what a header
/// requires.
pub(super) fn parse(line: &[u8]) -> Option<SampleHeader<'_>> {
    let line = line.trim_ascii_start();
    let places = || starts_with_ids(line).then_some(0).into_iter().chain(candidates(line));
    places().find_map(|at| timed(line, at)).or_else(|| {
        // Without an id before a time, the number after it is a period.
        let end = time_in(line);
        places().take_while(|&at| at <= end).find_map(|at| untimed(line, at))
    })
}

/// Where the first word that is a time is, or the end of the line.
fn time_in(line: &[u8]) -> usize {
    let is_time = |&at: &usize| Scan(&line[at..]).word().strip_suffix(b":").and_then(seconds).is_some();
    std::iter::once(0).chain(candidates(line)).find(is_time).unwrap_or(line.len())
}

/// Whether the first word is `pid/tid`, or a single id before `[cpu]`. Other numbers may be part of a name.
fn starts_with_ids(line: &[u8]) -> bool {
    let mut scan = Scan(line);
    let word = scan.word();
    ids(word).is_some() && (word.contains(&b'/') || scan.word().starts_with(b"["))
}

/// The offsets of words that start with a digit or `-`, except for the first word.
fn candidates(line: &[u8]) -> impl Iterator<Item = usize> {
    line.windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0].is_ascii_whitespace() && (pair[1].is_ascii_digit() || pair[1] == b'-'))
        .map(|(at, _)| at + 1)
}

/// `pid[/tid] [cpu] time: …`
fn timed(line: &[u8], at: usize) -> Option<SampleHeader<'_>> {
    let mut scan = Scan(&line[at..]);
    let (pid, tid) = ids(scan.word())?;
    let mut word = scan.word();
    // The processor and the flags of `-F misc` may come before the time.
    for _ in 0..2 {
        let is_cpu = word.starts_with(b"[") && word.ends_with(b"]");
        let is_flags = !word.is_empty() && word.len() <= 4 && word.iter().all(u8::is_ascii_uppercase);
        if is_cpu || is_flags {
            word = scan.word();
        }
    }
    let day_time = day_time(&line[at..], word, &mut scan);
    if !day_time.is_empty() {
        word = scan.word();
    }
    let time = seconds(word.strip_suffix(b":")?)?;
    let comm = line[..at].trim_ascii_end();
    let header = SampleHeader {
        comm,
        tid,
        pid,
        time: known(time),
        period: None,
        event: None,
        frame: None,
        fields: b"",
        day_time,
    };
    let (header, scan) = with_event(header, scan);
    Some(with_frame(header, scan))
}

/// The date and time of day of which `date` is the first word, such as `2020-07-13 18:38:50.097678523`; empty if it is no date. `scan`
/// is after the date, and then after the time.
fn day_time<'a>(line: &'a [u8], date: &[u8], scan: &mut Scan<'a>) -> &'a [u8] {
    let is_like = |word: &[u8], form: &[u8]| {
        let fits =
            |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
        word.len() >= form.len() && word.iter().zip(form).all(fits)
    };
    let mut after = *scan;
    if date.len() != 10 || !is_like(date, b"0000-00-00") || !is_like(after.word(), b"00:00:00.0") {
        return b"";
    }
    let start = line.len() - scan.0.len() - date.len();
    let end = line.len() - after.0.len();
    *scan = after;
    &line[start..end]
}

/// `pid[/tid] [cpu] [period] event:`
fn untimed(line: &[u8], at: usize) -> Option<SampleHeader<'_>> {
    let mut scan = Scan(&line[at..]);
    let (pid, tid) = ids(scan.word())?;
    let mut after = scan;
    let word = after.word();
    if word.starts_with(b"[") && word.ends_with(b"]") {
        scan = after;
    }
    let comm = line[..at].trim_ascii_end();
    let header = SampleHeader {
        comm,
        tid,
        pid,
        time: None,
        period: None,
        event: None,
        frame: None,
        fields: b"",
        day_time: b"",
    };
    let (header, scan) = with_event(header, scan);
    header.event.is_some().then(|| with_frame(header, scan))
}

/// The nanoseconds that a tracepoint says with its fields, such as `comm=sh pid=7 delay=1358063 [ns]`.
pub(super) fn nanoseconds(fields: &[u8]) -> Option<i64> {
    let end = memchr::memmem::find(fields, b" [ns]")?;
    let start = memchr::memrchr(b'=', &fields[..end])?;
    decimal(&fields[start + 1..end])
}

/// `[period] event:`, and what follows.
fn with_event<'a>(mut header: SampleHeader<'a>, mut scan: Scan<'a>) -> (SampleHeader<'a>, Scan<'a>) {
    let mut after = scan;
    let mut word = after.word();
    if let Some(period) = decimal(word) {
        header.period = Some(period);
        scan = after;
        word = after.word();
    }
    if let Some(event) = word.strip_suffix(b":").filter(|event| !event.is_empty()) {
        header.event = Some(event);
        scan = after;
    } else if word.starts_with(b"PERF_RECORD_") {
        header.event = Some(word);
        scan = after;
    } else if let Some((event, address)) = event_and_address(word) {
        header.event = Some(event);
        // From the address on.
        let length = address.len() + after.0.len();
        scan = Scan(&scan.0[scan.0.len() - length..]);
    }
    (header, scan)
}

/// Splits `cpu-clock:pppH:ffffffff99454863`, in which the blanks before the address were lost.
fn event_and_address(word: &[u8]) -> Option<(&[u8], &[u8])> {
    const FEWEST_DIGITS: usize = 8;
    let colon = memchr::memrchr(b':', word).filter(|&colon| colon > 0)?;
    let address = &word[colon + 1..];
    (address.len() >= FEWEST_DIGITS && hex(address).is_some()).then(|| (&word[..colon], address))
}

/// `[frame]`, or the fields of a tracepoint.
fn with_frame<'a>(mut header: SampleHeader<'a>, scan: Scan<'a>) -> SampleHeader<'a> {
    // A tracepoint's name is followed by its fields, which are not a frame.
    let text = scan.0.trim_ascii();
    header.fields = text;
    let text = without_data(text);
    header.frame = frame::split(text).filter(|frame| frame.address != 0).map(|_| text);
    header
}

/// Removes what perf prints of data before the frame: its address, what is known about the access, and the weight.
///
/// ```text
///     7ffc12345678   10068100842 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A     65   401136 work+0x10 (/tmp/a.out)
/// ```
fn without_data(text: &[u8]) -> &[u8] {
    let is_number = |word: &[u8]| hex(word).is_some();
    let mut scan = Scan(text);
    if memchr::memmem::find(text, b" |OP ").is_some() {
        let bar = memchr::memrchr(b'|', text).unwrap_or(0);
        scan = Scan(&text[bar + 1..]);
        // `LCK No` or `BLK  N/A`, then the weight.
        let mut after = scan;
        while !scan.0.is_empty() && !is_number(after.word()) {
            scan = after;
        }
    }
    loop {
        let mut next = scan;
        next.word();
        let mut later = next;
        let (second, third) = (later.word(), later.word());
        // Functions may be called `add`: a name is followed by its module, or by nothing.
        if !is_number(second) || third.is_empty() || third.starts_with(b"(") {
            return scan.0.trim_ascii();
        }
        scan = next;
    }
}

/// `tid` or `pid/tid`
pub(super) fn ids(word: &[u8]) -> Option<(Option<i64>, i64)> {
    match memchr::memchr(b'/', word) {
        Some(slash) => Some((Some(decimal(&word[..slash])?), decimal(&word[slash + 1..])?)),
        None => Some((None, decimal(word)?)),
    }
}

/// A time, if it is one: `perf record --off-cpu` gives each of its samples the time 0xffffffff00000000, so that it comes last.
pub(super) fn known(time: i64) -> Option<i64> {
    (time != i64::MAX).then_some(time)
}

/// Parses seconds such as `877.743991` to nanoseconds. More than fit are the most that do.
pub(super) fn seconds(word: &[u8]) -> Option<i64> {
    let point = memchr::memchr(b'.', word)?;
    let (whole, digits) = (decimal(&word[..point])?, &word[point + 1..]);
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let fraction = decimal(digits)? * 10_i64.pow(9 - digits.len() as u32);
    Some(whole.saturating_mul(1_000_000_000).saturating_add(fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_before_the_time_is_no_part_of_the_thread() {
        for processor in ["", "[001] "] {
            let line =
                format!("a b 7 {processor}2020-07-13 18:38:50.097678523 153633.958246159:   1 cycles: ");
            let header = parse(line.as_bytes()).unwrap();
            assert_eq!((header.comm, header.tid), (b"a b".as_slice(), 7));
            assert_eq!((header.time, header.period), (Some(153_633_958_246_159), Some(1)));
            assert_eq!(header.day_time, b"2020-07-13 18:38:50.097678523");
        }
    }

    #[test]
    fn thread_names_may_look_like_ids() {
        let header = parse(b"worker 5 31/32 [002] 203265.377019:    1001001 cpu_core/cycles/P: ").unwrap();
        assert_eq!((header.comm, header.pid, header.tid), (b"worker 5".as_slice(), Some(31), 32));
        assert_eq!((header.time, header.period), (Some(203_265_377_019_000), Some(1_001_001)));
        assert_eq!(header.event, Some(b"cpu_core/cycles/P".as_slice()));
    }

    #[test]
    fn the_name_of_the_thread_may_be_missing() {
        let header = parse(b"13/11 [006] sched:sched_switch: prev_comm=rcuos/2 prev_pid=11 ==> next_pid=0");
        let header = header.unwrap();
        assert_eq!((header.comm, header.pid, header.tid), (b"".as_slice(), Some(13), 11));
        assert_eq!((header.event, header.frame), (Some(b"sched:sched_switch".as_slice()), None));
        assert_eq!(parse(b"    11 [006] 5.25: sched:sched_switch: a b").unwrap().tid, 11);
        assert_eq!(parse(b"13/11 5.25:   100 cycles:").unwrap().period, Some(100));
        // A thread may be called so.
        assert_eq!(parse(b"1/2 33 5.25:   100 cycles:").unwrap().comm, b"1/2");
    }

    /// As text that was copied from a page shows it.
    #[test]
    fn the_blanks_after_the_event_may_be_missing() {
        let header = parse(
            b"ls  3271  2903.562735: 250000 cpu-clock:pppH:ffffffff99454863 xas_start+0x63 (/x/vmlinux)",
        );
        let header = header.unwrap();
        assert_eq!((header.period, header.event), (Some(250_000), Some(b"cpu-clock:pppH".as_slice())));
        assert_eq!(header.frame, Some(b"ffffffff99454863 xas_start+0x63 (/x/vmlinux)".as_slice()));
    }

    #[test]
    fn text_after_tracepoints_and_records_is_not_a_frame() {
        let header =
            parse(b"sh 9 [000] 5.25: sched:sched_switch: prev_comm=sh prev_pid=9 ==> next_pid=0").unwrap();
        assert_eq!((header.event, header.frame), (Some(b"sched:sched_switch".as_slice()), None));
        assert!(parse(b"sh 9 5.25: PERF_RECORD_MMAP2 9/9: [0x55(0x1) @ 0]").unwrap().is_record());
    }

    #[test]
    fn data_before_a_frame_is_not_part_of_it() {
        let frame = "401136 work+0x10 (/tmp/a b)";
        for before in [
            "",
            "7ffc12345678   ",
            "7ffc12345678  10068100842 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   65   ",
            "10068100842 |OP STORE|LVL N/A|SNP N/A|TLB N/A|LCK No   0 ",
        ] {
            let line = format!("a 7 [000] 5.7:  30 cpu/mem-loads,ldlat=30/P: {before}{frame}");
            assert_eq!(parse(line.as_bytes()).unwrap().frame, Some(frame.as_bytes()), "{before}");
        }
        let short = parse(b"a 7 5.7: 30 cycles: 401136 add (/tmp/a)").unwrap();
        assert_eq!(short.frame, Some(b"401136 add (/tmp/a)".as_slice()));
    }

    #[test]
    fn frames_are_not_headers() {
        for line in [
            "  7f89e341d84f main+0x4f (/usr/lib/libc.so)",
            "main;work 3",
            "12 34",
            "a 5 b",
            "  877.743991:   10101010 cpu-clock:",
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
    }
}
