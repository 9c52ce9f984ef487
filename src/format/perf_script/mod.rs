//! The text of `perf script`: a header for each sample, then its stack, leaf first.
//!
//! ```text
//! words 16499   877.743991:   10101010 cpu-clock:
//!                48076 words::count+0x166 (/srv/words)
//!                4786a words::main+0x10a (/srv/words)
//! ```
//!
//! The metric `samples` counts samples. Each event is another metric, whose values are the periods.

mod brief;
mod extras;
mod flat;
mod frame;
mod header;

use crate::format::event_metrics::{EventMetrics, is_waiting};
use crate::format::jit::{self, JitNames};
use crate::format::labels::label_set;
use crate::format::off_cpu::{OFF_CPU, OffCpu, SchedulerEvent, Wait};
use crate::format::perf_script::brief::BriefHeader;
use crate::format::perf_script::frame::FrameCache;
use crate::format::perf_script::header::SampleHeader;
use crate::format::text::{BadLines, decimal, first_line, is_binary, lossy};
use crate::format::{Confidence, Format, HEAD, LoadError, ParseError, Source, finished};
use crate::profile::{ContextSwitch, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::saturated;

/// The entry in the list of readable formats.
pub(super) static PERF_SCRIPT: Format = Format { name: NAME, title: "perf script", sniff, read };

const NAME: &str = "perf-script";

/// The number of lines that are examined to detect the format.
const SNIFFED_LINES: usize = 16;

fn sniff(head: &[u8]) -> Confidence {
    // Neither a quotation mark nor the prompt of a shell is part of a thread's name.
    let is_copied = [b"> ".as_slice(), b">> ", b"$ "].iter().any(|start| first_line(head).starts_with(start));
    if is_binary(head) || is_copied {
        return Confidence::No;
    }
    let head = &*extras::clean_head(head);
    match sniff_headers(head) {
        Confidence::No if brief::is_brief(head) || flat::is_flat(head) => Confidence::Maybe,
        confidence => confidence,
    }
}

/// The first line must be a sample's header, and most of the following lines headers or frames.
fn sniff_headers(head: &[u8]) -> Confidence {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let lines = whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    let (mut good, mut bad, mut timed, mut framed) = (0, 0, false, false);
    for line in lines.take(SNIFFED_LINES) {
        if let Some(header) = header_of(line) {
            timed |= header.time.is_some();
            framed |= header.frame.is_some();
            good += 1;
        } else if good == 0 {
            return Confidence::No;
        } else if frame::split(line).is_some() {
            framed = true;
            good += 1;
        } else {
            bad += 1;
        }
    }
    match (timed, framed) {
        _ if good <= bad => Confidence::No,
        (true, _) => Confidence::Certain,
        (false, true) => Confidence::Likely,
        (false, false) => Confidence::No,
    }
}

/// Parses a line as a header. Lines that start with a tab are frames.
fn header_of(line: &[u8]) -> Option<SampleHeader<'_>> {
    if line.starts_with(b"\t") { None } else { header::parse(line) }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = PerfScriptReader::new(JitNames::of(source), options);
    let head = source.head(HEAD)?;
    let head = &head[..head.len().min(HEAD)];
    reader.has_extras = extras::has_extras(head);
    let head = &*extras::clean_head(head);
    let has_headers = sniff_headers(head) != Confidence::No;
    reader.is_brief = !has_headers && brief::is_brief(head);
    reader.is_flat = !has_headers && !reader.is_brief && flat::is_flat(head);
    reader.has_deltas = has_deltas(head);
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        reader.line(line.trim_ascii_end(), number);
    }
    Ok(reader.finish()?)
}

/// Whether the times are those since the event before, as `--deltatime` prints them. The first one is 0 then, as with `--reltime`, but
/// those keep growing.
fn has_deltas(head: &[u8]) -> bool {
    const SHARE: usize = 10;
    let headers = head.split(|&byte| byte == b'\n').filter_map(header_of);
    let times: Vec<i64> = headers.filter_map(|header| header.time).collect();
    let falls = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    times.first() == Some(&0) && falls > 0 && falls * SHARE >= times.len()
}

/// Whether a line is the header of a wait that Android's simpleperf measured (`--trace-offcpu`): its script puts a tab after the name
/// of the thread, and the period of this event is the time until the thread runs again. That of perf has fields.
///
/// ```text
/// app →123/456 [001] 1.100250: 9000000 sched:sched_switch:
/// ```
fn is_wait(line: &[u8], header: &SampleHeader<'_>) -> bool {
    let after_comm = line.trim_ascii_start().get(header.comm.len());
    header.event == Some(b"sched:sched_switch")
        && header.period.is_some()
        && header.fields.is_empty()
        && after_comm == Some(&b'\t')
}

struct PerfScriptReader {
    builder: ProfileBuilder,
    frames: FrameCache,
    jit: JitNames,
    metrics: EventMetrics,
    current: Option<Current>,
    /// How many frames of the current sample were on the line of its header.
    of_header: usize,
    /// The frames of the current sample, leaf first.
    stack: Vec<FrameId>,
    values: Vec<i64>,
    first_time: Option<i64>,
    last_time: i64,
    /// Whether times are those since the event before, and their sum so far.
    has_deltas: bool,
    passed: i64,
    off_cpu: OffCpu<ScriptThread>,
    good: u64,
    bad: BadLines,
    /// Whether headers may lack all that otherwise distinguishes them.
    is_brief: bool,
    /// Whether each line is a sample with its only frame.
    is_flat: bool,
    /// Whether there are instructions, registers or branches after the frames.
    has_extras: bool,
    /// Whether samples have no headers at all.
    is_headless: bool,
    /// How many blank lines there were since the last sample.
    blanks: usize,
    /// Whether a sample had a time of day.
    has_day_time: bool,
}

/// What a header says about its thread.
#[derive(Clone, Debug)]
struct ScriptThread {
    comm: Box<[u8]>,
    tid: i64,
    pid: Option<i64>,
}

/// A sample whose frames are being read.
struct Current {
    /// The process, or if the header has only one id, that.
    pid: u32,
    /// As in the header: nanoseconds since boot.
    clock_time: Option<u64>,
    labels: LabelSetId,
    time: Option<i64>,
    /// The metric and value of the event.
    event: Option<(usize, i64)>,
    /// The thread, if it leaves its processor, and whether it could have gone on.
    leaves: Option<(ScriptThread, bool)>,
}

impl PerfScriptReader {
    fn new(jit: JitNames, options: LoadOptions) -> PerfScriptReader {
        let mut builder = ProfileBuilder::new(NAME, options);
        builder.metric("samples", "count");
        let off_cpu = OffCpu::new(builder.options().switches);
        PerfScriptReader {
            builder,
            frames: FrameCache::default(),
            of_header: 0,
            jit,
            metrics: EventMetrics::default(),
            current: None,
            stack: Vec::new(),
            values: Vec::new(),
            first_time: None,
            last_time: 0,
            has_deltas: false,
            passed: 0,
            off_cpu,
            good: 0,
            bad: BadLines::default(),
            is_brief: false,
            is_flat: false,
            has_extras: false,
            is_headless: false,
            blanks: 0,
            has_day_time: false,
        }
    }

    /// Processes one line, without its trailing blanks.
    fn line(&mut self, line: &[u8], number: u64) {
        if self.has_extras && extras::is_bpf_output(line) {
            self.bpf_output();
        }
        let line = if self.has_extras { extras::without_extras(line) } else { line };
        if line.is_empty() {
            self.blanks += 1;
            // A blank line after a header does not end the sample: some files have one before the stack.
            if !self.stack.is_empty() {
                self.end_sample();
            }
            return;
        }
        if line.starts_with(b"#") {
            self.comment(line);
            return;
        }
        if let (true, Some(at)) = (self.is_flat, flat::address(line)) {
            self.end_sample();
            self.start_brief(BriefHeader { frame: Some(&line[at..]), ..brief::parse(&line[..at]) });
            self.good += 1;
            return;
        }
        let is_indented = line.starts_with(b"\t") || (self.is_brief && brief::is_frame(line));
        if self.is_brief && self.current.is_none() && is_indented {
            self.end_headless();
            self.start_brief(BriefHeader::default());
        }
        if self.current.is_some() && is_indented && self.own_line(line) {
            self.good += 1;
            return;
        }
        if self.is_brief && self.stack.len() == self.of_header && !is_indented {
            self.end_sample();
            self.start_brief(brief::parse(line));
            self.good += 1;
            return;
        }
        if let Some(mut header) = header_of(line) {
            self.end_sample();
            self.good += 1;
            header.time = self.clock(header.time);
            self.recorded_at(header.day_time);
            if is_wait(line, &header) {
                self.start_wait(&header);
            } else if !header.is_record() {
                self.start_sample(&header);
            } else if header.event.is_some_and(|event| event.starts_with(b"PERF_RECORD_SWITCH")) {
                self.switch(&header);
            } else if header.event.is_some_and(|event| event.starts_with(b"PERF_RECORD_EXIT"))
                && let Some(time) = header.time
            {
                self.off_cpu.ends(header.tid, time);
            }
        } else if self.current.is_some() && (self.own_line(line) || self.source_line(line)) {
            self.good += 1;
        } else {
            self.bad.add(number);
        }
    }

    /// The sample is an event of a BPF program, which counts as one: its period is 0.
    fn bpf_output(&mut self) {
        if let Some(Current { event: Some((_, value @ 0)), .. }) = &mut self.current {
            *value = 1;
        }
    }

    /// Keeps the time of day of the first sample. The zone is not known.
    fn recorded_at(&mut self, day_time: &[u8]) {
        if !day_time.is_empty() && !std::mem::replace(&mut self.has_day_time, true) {
            let second = &day_time[..memchr::memchr(b'.', day_time).unwrap_or(day_time.len())];
            self.builder.meta.comments.push(format!("recorded at {} (local time)", lossy(second)));
        }
    }

    /// The time of an event, given what its header says.
    fn clock(&mut self, time: Option<i64>) -> Option<i64> {
        if !self.has_deltas {
            return time;
        }
        self.passed = self.passed.saturating_add(time?);
        Some(self.passed)
    }

    /// Reads when a thread gets a processor, or leaves it: the fields are `IN`, or `OUT` and perhaps `preempt`.
    fn switch(&mut self, header: &SampleHeader<'_>) {
        let runs = header.fields.starts_with(b"IN");
        let is_known = runs || header.fields.starts_with(b"OUT");
        let Some(time) = header.time.filter(|_| is_known) else { return };
        if let Some(wait) = self.off_cpu.switched(ContextSwitch { time, tid: header.tid, runs }) {
            self.waited(&wait);
        }
    }

    fn comment(&mut self, line: &[u8]) {
        if let Some(command) = line.strip_prefix(b"# cmdline :") {
            let command = String::from_utf8_lossy(command.trim_ascii()).into_owned();
            self.builder.meta.comments.push(command);
        }
        if let Some(host) = line.strip_prefix(b"# hostname :") {
            self.jit.set_host(&String::from_utf8_lossy(host.trim_ascii()));
        }
    }

    /// Reads a frame on a line of its own. What seemed to be one on the line of the header was the address of data, then.
    fn own_line(&mut self, line: &[u8]) -> bool {
        let is_frame = self.frame(line);
        if is_frame {
            self.stack.drain(..std::mem::take(&mut self.of_header));
        }
        is_frame
    }

    fn frame(&mut self, line: &[u8]) -> bool {
        let Some(frames) = self.frames.frames(&mut self.builder, line) else { return false };
        match frames[..] {
            [frame] if self.frames.is_compiled(frame) => self.compiled(frame),
            _ => self.stack.extend(frames.iter()),
        }
        true
    }

    /// Adds a frame of code that the process compiled, with its name if a file of the process has it.
    fn compiled(&mut self, frame: FrameId) {
        let row = self.builder.frame_row(frame);
        let of_module = jit::map_pid(self.builder.mapping_file(row.mapping).as_bytes());
        let named = self.current.as_ref().and_then(|current| {
            let pid = of_module.unwrap_or(current.pid);
            self.jit.frames(&mut self.builder, pid, row.mapping, row.address, current.clock_time)
        });
        match named {
            Some(named) => self.stack.extend(named.iter()),
            None => self.stack.push(frame),
        }
    }

    /// Reads a line such as `words.rs:12`, which is the source line of the frame above.
    fn source_line(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii_start();
        let Some(last) = self.stack.last_mut() else { return false };
        if frame::is_unknown_source(line) {
            return true;
        }
        let Some(colon) = memchr::memrchr(b':', line) else { return false };
        let Some(at) = decimal(&line[colon + 1..]).and_then(|at| u32::try_from(at).ok()) else {
            return false;
        };
        *last = frame::with_source_line(&mut self.builder, *last, &line[..colon], at);
        true
    }

    /// Counts the time that a thread waited.
    fn waited(&mut self, wait: &Wait<ScriptThread>) {
        let metric = self.metrics.of_waits(&mut self.builder);
        let ScriptThread { comm, tid, pid } = &wait.thread;
        let labels = self.labels(comm, Some(*tid), *pid, (wait.waker.as_deref(), wait.label()));
        self.values.clear();
        self.values.resize(self.metrics.len(), 0);
        self.values[metric] = wait.length;
        // The wait may be what the program ended with, as one for a child that has ended.
        self.last_time = self.last_time.max(wait.since.saturating_add(wait.length));
        let time = self.first_time.map(|first| wait.since.saturating_sub(first));
        self.builder.sample(wait.stack, labels, time, &self.values);
    }

    /// What the scheduler's events say about other threads. If the thread of the event leaves its
    /// processor, returns whether it could have gone on.
    fn schedule(&mut self, header: &SampleHeader<'_>) -> Option<bool> {
        let event = header.event.unwrap_or_default();
        self.off_cpu.stands_for(event, header.period.map_or(1, i64::unsigned_abs));
        let now = header.time?;
        let scheduled = SchedulerEvent::of_text(event, header.fields);
        let name = || format!("{} {}", String::from_utf8_lossy(header.comm), header.tid);
        let waits = self.off_cpu.happens(scheduled, header.tid, now, name);
        for wait in waits.into_iter().flatten() {
            self.waited(&wait);
        }
        match scheduled {
            SchedulerEvent::Switch { could_run, .. } => Some(could_run),
            _ => None,
        }
    }

    fn start_sample(&mut self, header: &SampleHeader<'_>) {
        let thread = || ScriptThread { comm: header.comm.into(), tid: header.tid, pid: header.pid };
        let leaves = self.schedule(header).map(|could_run| (thread(), could_run));
        let &SampleHeader { comm, tid, pid, time, event, frame, .. } = header;
        let waited = || header::nanoseconds(header.fields).filter(|_| event.is_some_and(is_waiting));
        let period = header.period.or_else(waited);
        self.begin(&BriefHeader { comm, tid: Some(tid), pid, time, period, event, frame }, leaves);
    }

    /// Starts a sample that says how long its thread waited.
    fn start_wait(&mut self, header: &SampleHeader<'_>) {
        self.metrics.of_waits(&mut self.builder);
        let &SampleHeader { comm, tid, pid, time, period, .. } = header;
        let event = Some(OFF_CPU.as_bytes());
        self.begin(&BriefHeader { comm, tid: Some(tid), pid, time, period, event, frame: None }, None);
    }

    /// Counts the samples without a stack since the last one, if samples have no headers: each is two blank lines, where a sample
    /// with a stack has one before it and one after it.
    fn end_headless(&mut self) {
        let after_last = usize::from(std::mem::replace(&mut self.is_headless, true));
        for _ in 0..std::mem::take(&mut self.blanks).saturating_sub(after_last) / 2 {
            self.start_brief(BriefHeader::default());
            self.end_sample();
        }
    }

    /// Starts a sample whose header may lack anything.
    fn start_brief(&mut self, mut header: BriefHeader<'_>) {
        // A period without its event has a name of its own.
        header.event = header.event.or(header.period.map(|_| &b"period"[..]));
        self.begin(&header, None);
    }

    fn begin(&mut self, header: &BriefHeader<'_>, leaves: Option<(ScriptThread, bool)>) {
        let labels = self.labels(header.comm, header.tid, header.pid, (None, ""));
        let event = header.event.map(|event| {
            let metric = self.metrics.of(&mut self.builder, event, header.period.is_some());
            (metric, header.period.unwrap_or(1))
        });
        let time = self.since_first(header.time);
        let pid = header.pid.or(header.tid).and_then(|pid| u32::try_from(pid).ok()).unwrap_or(u32::MAX);
        let clock_time = header.time.and_then(|time| u64::try_from(time).ok());
        self.current = Some(Current { pid, clock_time, labels, time, event, leaves });
        if let Some(frame) = header.frame {
            self.frame(frame);
        }
        self.of_header = self.stack.len();
    }

    /// A time since the first sample: the clock starts at boot.
    fn since_first(&mut self, time: Option<i64>) -> Option<i64> {
        let time = time?;
        let first = *self.first_time.get_or_insert(time);
        self.last_time = self.last_time.max(time);
        Some(time - first)
    }

    fn labels(
        &mut self,
        comm: &[u8],
        tid: Option<i64>,
        pid: Option<i64>,
        wait: (Option<&str>, &str),
    ) -> LabelSetId {
        label_set(&mut self.builder, |labels| {
            labels.text_if_known("thread", &String::from_utf8_lossy(comm));
            if let Some(tid) = tid {
                labels.number("tid", tid);
            }
            if let Some(pid) = pid {
                labels.number("process", pid);
            }
            labels.text_if_known("waker", wait.0.unwrap_or_default());
            labels.text_if_known("wait", wait.1);
        })
    }

    fn end_sample(&mut self) {
        let Some(current) = self.current.take() else { return };
        self.stack.reverse();
        frame::attach_inlined(&mut self.builder, &mut self.stack);
        let stack = self.builder.stack(&self.stack);
        self.stack.clear();
        self.values.clear();
        self.values.resize(self.metrics.len(), 0);
        self.values[0] = 1;
        if let Some((metric, value)) = current.event {
            self.values[metric] = value;
        }
        if !self.builder.options().labels {
            self.builder.skipped_labels();
        }
        self.builder.sample(stack, current.labels, current.time, &self.values);
        if let (Some((thread, could_run)), Some(since)) = (current.leaves, current.clock_time) {
            self.off_cpu.leave(thread.tid, thread, stack, (saturated(since), could_run));
        }
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        self.end_sample();
        if self.is_headless {
            self.end_headless();
        }
        self.builder.meta.switches = self.off_cpu.take_switches(self.first_time);
        self.builder.meta.default_metric = self.metrics.default_metric();
        self.bad.settle(&mut self.builder, self.good, "neither a sample header nor a frame")?;
        if let Some(first) = self.first_time {
            self.builder.meta.duration_ns = Some(self.last_time.saturating_sub(first)).filter(|&ns| ns > 0);
        }
        if self.has_deltas {
            let note =
                "times are those since the event before (`perf script --deltatime`), which are added up";
            self.builder.meta.notes.push(note.into());
        }
        self.frames.warn(&mut self.builder);
        let note = self.off_cpu.note();
        self.builder.meta.notes.extend(note);
        self.off_cpu.warning().into_iter().for_each(|warning| self.builder.warn(warning));
        finished(self.builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        let options = LoadOptions { labels: true, times: false, ..LoadOptions::LEAST };
        read(&mut Source::from_bytes(text.as_bytes().to_vec()), options)
    }

    #[test]
    fn samples_count_and_carry_the_period_of_their_event() {
        let text = "words 7/8 [001] 10.000001:  100 cpu-clock:u: \n\t 10 f+0x1 (/bin/words)\n\t 20 main+0x2 (/bin/words)\n\n\
                    words 7/8 [001] 10.000003:  3 page-faults: \n\t 20 main+0x2 (/bin/words)\n\n\
                    pool 2 run 9 10.000002:  200 cpu-clock:u: \n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = load(text).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
        assert_eq!(metrics, [("samples", "count"), ("cpu-clock:u", "nanoseconds"), ("page-faults", "count")]);
        assert_eq!(profile.meta.default_metric, 1);
        assert_eq!(profile.meta.duration_ns, Some(2000));
        assert_eq!(
            to_notation(&profile),
            " 1 200 0 {thread=pool 2 run tid=9}\n\
             main 1 0 3 {process=7 thread=words tid=8}\n\
             main;f 1 100 0 {process=7 thread=words tid=8}"
        );
    }

    /// `perf record --off-cpu`.
    #[test]
    fn a_time_that_is_none_does_not_hide_the_event() {
        let text = "sh 9 [000]     7.500000:  100 cycles:P: \n\t 10 f+0x1 (/bin/sh)\n\n\
                    sh 9 [000] 18446744069.414584:  2528851 offcpu-time: \n\t 20 wait4+0x2 (/lib/libc.so.6)\n";
        let profile = load(text).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
        assert_eq!(metrics, [("samples", "count"), ("cycles:P", "count"), ("offcpu-time", "nanoseconds")]);
        assert_eq!((profile.meta.metrics[2].total, profile.meta.duration_ns), (2_528_851, None));
    }

    /// `python -X perf`, with `-F +dsoff`.
    #[test]
    fn trampolines_of_python_are_its_functions() {
        let text = "python3 6/6 1.000001:  100 task-clock:\n\t 53f44e PyLong_FromLong+0xe (/usr/bin/python3.13+0x13f44e)\n\
                    \t 7a7eb6 py::axpy:/tmp/x/hot.py+0x6 (/tmp/perf-6.map+0x7a7eb6)\n\
                    \t 64b1c5 _start+0x25 (/usr/bin/python3.13+0x24b1c5)\n";
        let profile = load(text).unwrap();
        let expected = "_start;axpy@/tmp/x/hot.py:0;PyLong_FromLong 1 100 {process=6 thread=python3 tid=6}";
        assert_eq!(to_notation(&profile), expected);
        let files: Vec<&str> = profile
            .symbols
            .mappings
            .iter()
            .map(|mapping| profile.symbols.strings.get(mapping.file))
            .collect();
        assert_eq!(files[files.len() - 2..], ["/usr/bin/python3.13", "/tmp/perf-6.map"]);
    }

    /// `perf script -F pid,tid,cpu,event,trace,ip,sym`
    #[test]
    fn tracepoints_without_a_name_of_their_thread() {
        let text = "0/0 [006] sched:sched_switch: prev_comm=swapper/6 prev_pid=0 prev_state=R ==> next_comm=rcuos/2 next_pid=11\n\
                    \tffffffff817297f0 __schedule\n\tffffffff810bf66e cpu_startup_entry\n\n\
                    13/11 [006] sched:sched_switch: prev_comm=rcuos/2 prev_pid=11 ==> next_comm=swapper/6 next_pid=0\n\
                    \tffffffff817297f0 __schedule\n\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let expected =
            "__schedule 1 1 {process=13 tid=11}\ncpu_startup_entry;__schedule 1 1 {process=0 tid=0}";
        assert_eq!(to_notation(&load(text).unwrap()), expected);
    }

    /// A waits for 40 ms until B wakes it and for 3 ms more until it runs; then for 10 ms until it is seen running.
    #[test]
    fn waits_are_from_leaving_a_processor_to_getting_one() {
        let text = "a 5/6 [000] 1.000000: sched:sched_switch: prev_comm=a prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=b next_pid=7 next_prio=120\n\
                    \t10 schedule ([kernel.kallsyms])\n\t 20 lock (/bin/w)\n\n\
                    b 5/7 [000] 1.040000: sched:sched_waking: comm=a pid=6 prio=120 target_cpu=000\n\t 20 unlock (/bin/w)\n\n\
                    b 5/7 [000] 1.043000: sched:sched_switch: prev_comm=b prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=a next_pid=6 next_prio=120\n\
                    \t 20 work (/bin/w)\n\n\
                    a 5/6 [000] 1.050000: 1000000 cpu-clock:\n\t 20 work (/bin/w)\n\n\
                    a 5/6 [000] 1.060000: sched:sched_switch: a:6 [120] S ==> swapper/0:0 [120]\n\t 20 sleep (/bin/w)\n\n\
                    a 5/6 [000] 1.070000: 1000000 cpu-clock:\n\t 20 work (/bin/w)\n\n\
                    b 5/7 [000] 1.073000: PERF_RECORD_SWITCH OUT\nb 5/7 [000] 1.083000: PERF_RECORD_SWITCH IN\n";
        let profile = load(text).unwrap();
        let names: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
        assert_eq!(names, ["samples", "sched:sched_switch", "sched:sched_waking", "off_cpu", "cpu-clock"]);
        assert_eq!(profile.meta.default_metric, 4);
        let waits = crate::transform::pick_metrics(&profile, &[3]);
        let waits = to_notation(&waits);
        let waits: Vec<&str> = waits.lines().filter(|line| !line.contains(" 0 {")).collect();
        assert_eq!(
            waits,
            [
                "lock;schedule 43000000 {process=5 thread=a tid=6 waker=b 7}",
                "sleep 10000000 {process=5 thread=a tid=6}",
                "work 40000000 {process=5 thread=b tid=7 wait=processor}",
            ]
        );
    }

    /// Recorded without call chains, and printed with `-F comm,tid,period,ip,sym,dso,srcline`, `-F ip,sym` and `-F ip`.
    #[test]
    fn samples_without_call_chains_take_a_line_each() {
        let text = "            sort 29403    2000000      7f35c84ff0c0 do_lookup_x (/lib/ld.so)\n  dl-lookup.c:413\n\
                    \x20         md5sum 29404    3000000  ffffffff8158c0a1 next_folio ([kernel.kallsyms])\n  [kernel.kallsyms][ffffffff8158c0a1]\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Maybe);
        assert_eq!(
            to_notation(&load(text).unwrap()),
            "do_lookup_x@dl-lookup.c:413 1 2000000 {thread=sort tid=29403}\nnext_folio 1 3000000 {thread=md5sum tid=29404}"
        );
        let text = "     7f35c84ff0c0 f\n ffffffff8158c0a1 g\n     7f35c84ff0c0 f\n";
        assert_eq!(to_notation(&load(text).unwrap()), "f 2\ng 1");
        let profile = load("     7f35c84ff0c0\n ffffffff8158c0a1\n").unwrap();
        assert_eq!((profile.meta.metrics[0].total, profile.meta.warnings.len()), (2, 0));
    }

    #[test]
    fn times_since_the_event_before_are_added_up() {
        let sample = |time: &str| format!("w 9     0.{time}:  100 cycles:\n\t 10 f+0x1 (/bin/w)\n\n");
        let of =
            |times: &[&str]| load(&times.iter().map(|time| sample(time)).collect::<String>()).unwrap().meta;
        let deltas = of(&["000000", "000103", "000022", "000007", "000020"]);
        assert_eq!((deltas.duration_ns, deltas.notes.len()), (Some(152_000), 1));
        // Those of `--reltime` begin with 0 as well.
        let passed = of(&["000000", "000103", "000125", "000132"]);
        assert_eq!((passed.duration_ns, passed.notes.len()), (Some(132_000), 0));
        let of_boot = of(&["000103", "000022", "000125"]);
        assert_eq!((of_boot.duration_ns, of_boot.notes.len()), (Some(22_000), 0));
    }

    #[test]
    fn simpleperf_says_how_long_threads_waited() {
        let text = "app\t7/8 [001] 1.100000: 250000 cpu-clock:u:\n\t            1000 work (/lib/a.so)\n\n\
                    app\t7/8 [001] 1.100250: 9000000 sched:sched_switch:\n\t            2000 wait (/lib/a.so)\n\n";
        let profile = load(text).unwrap();
        let metrics: Vec<_> =
            profile.meta.metrics.iter().map(|metric| (&*metric.name, &*metric.unit, metric.total)).collect();
        let expected = [
            ("samples", "count", 2),
            ("cpu-clock:u", "nanoseconds", 250_000),
            ("off_cpu", "nanoseconds", 9_000_000),
        ];
        assert_eq!(metrics, expected);
        assert_eq!((profile.meta.default_metric, profile.meta.warnings.len()), (1, 0));
        // Only its script puts a tab there.
        let of_perf = load(&text.replace("app\t", "app ")).unwrap();
        assert_eq!(of_perf.meta.metrics[2].name, "sched:sched_switch");
    }

    #[test]
    fn blanks_may_stand_for_the_tab_of_a_frame() {
        let text = "cycles:ppp:\n        ffffffffa72963db iter\n            7f16285ab0ce main\n\n\
                    cycles:ppp:\n        ffffffffa72980ca f\n\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Maybe);
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "f 1 1\nmain;iter 1 1");
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn headers_may_lack_fields_and_contain_the_stack() {
        let profile = load("java  3278 cpu-clock: \n\t 10 f (/x)\n\nsh 1 2.5: \n\t 10 f (/x)\n\n").unwrap();
        assert_eq!(to_notation(&profile), "f 1 0 {thread=sh tid=1}\nf 1 1 {thread=java tid=3278}");
        let profile =
            load("   false 39654 19115.489719:   1 cycles:   7fa6 _dl_start+0x4 (/usr/lib/ld-2.31.so)\n")
                .unwrap();
        assert_eq!(to_notation(&profile), "_dl_start 1 1 {thread=false tid=39654}");
    }

    #[test]
    fn disassembled_instructions_are_no_part_of_a_name() {
        let line = |frame: &str| format!("w 7 [006] 2.5:      7f216b426100 {frame}\n");
        let text =
            ["f+0x0 (/bin/w)\t\tmovq %rsp, (%rdi)", "f+0x3 (/bin/w)\t\tcallq g", "g+0x0 (/bin/w)\t\tret"];
        let profile = load(&text.map(line).concat()).unwrap();
        assert_eq!(to_notation(&profile), "f 2 {thread=w tid=7}\ng 1 {thread=w tid=7}");
        let brief = "   CPU 0/KVM  7  ffffffff82133c42 f+0x2 ([kernel.kallsyms])            vmresume         IPC: 0.11 (50/445)\n";
        assert_eq!(to_notation(&load(brief).unwrap()), "f 1 {thread=CPU 0/KVM tid=7}");
    }

    #[test]
    fn the_scheduler_says_how_long_threads_waited() {
        for period in ["", "1358063 "] {
            let text = format!(
                "sh 0 [007] 2.5: {period}sched:sched_stat_sleep: comm=a b pid=5 delay=1358063 [ns]\n\t 10 f ([kernel.kallsyms])\n"
            );
            let profile = load(&text).unwrap();
            let metric = &profile.meta.metrics[1];
            assert_eq!((metric.unit.as_str(), metric.total), ("nanoseconds", 1_358_063), "{period}");
        }
    }

    #[test]
    fn what_a_bpf_program_wrote_is_no_frame() {
        let text = "w 7 [003] 2.5:      0     evt:  ffffffff81210f51 f (/x)\n      BPF output: 0000: 0f b4 7c 81  ..|.\n                  0008: 00 00        ..\n\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = load(&text.repeat(2)).unwrap();
        assert_eq!(to_notation(&profile), "f 2 2 {thread=w tid=7}");
        assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
    }

    #[test]
    fn the_time_of_day_is_told() {
        let line = "w 7 2020-07-13 18:38:50.097678523 2.958246159:   1 cycles:  ffffffff8106d104 f ([kernel.kallsyms])\n";
        let profile = load(line).unwrap();
        assert_eq!(to_notation(&profile), "f 1 1 {thread=w tid=7}");
        assert_eq!(profile.meta.comments, ["recorded at 2020-07-13 18:38:50 (local time)"]);
    }

    #[test]
    fn an_address_of_data_is_not_a_frame() {
        let profile = load(
            "a 7 [000] 5.7:  30 mem-loads:  7ffc12  100 |OP LOAD|LVL L1 hit|LCK No|BLK  N/A   65   7ffff7\n\t401136 work+0x10 (/tmp/a)\n\t401200 main+0x10 (/tmp/a)\n\n\
             a 7 [000] 5.8:  30 mem-loads:  7ffc12\n\t401136 work+0x10 (/tmp/a)\n\t401200 main+0x10 (/tmp/a)\n\n\
             a 7 [000] 5.9:  1 branches:uH:   401136 work+0x10 (/tmp/a) =>    401030 puts@plt+0x0 (/tmp/a)\n",
        )
        .unwrap();
        let stacks: Vec<String> = profile
            .stacks
            .iter()
            .map(|stack| {
                stack.iter().map(|&frame| profile.symbols.frame_name(frame)).collect::<Vec<_>>().join(";")
            })
            .collect();
        assert_eq!(stacks, ["main;work", "work"]);
    }

    #[test]
    fn inlined_frames_have_the_mapping_of_the_frame_below() {
        let profile = load(
            "w 1 2.5: 1 cycles: \n\t 10 inner (inlined)\n\t 10 outer+0x3 (/bin/w)\n\t 20 [unknown] (/lib/libc.so.6 (deleted))\n",
        )
        .unwrap();
        assert_eq!(to_notation(&profile), "[libc.so.6];outer;+inner 1 1 {thread=w tid=1}");
        let files: Vec<_> =
            profile.symbols.frames.iter().map(|frame| profile.symbols.mapping_file(frame.mapping)).collect();
        assert_eq!(files.iter().filter(|&&file| file == "/bin/w").count(), 2);
    }

    #[test]
    fn source_lines_belong_to_the_frame_above() {
        let profile =
            load("w 1 2.5: 1 cycles: \n\t 10 f (/bin/w)\n  w.rs:12\n\t 20 main (/bin/w)\n  w.rs:30\n")
                .unwrap();
        assert_eq!(to_notation(&profile), "main@w.rs:30;f@w.rs:12 1 1 {thread=w tid=1}");
        let unknown = load(
            "w 1 2.5: 1 cycles: \n\t 10 f@plt (/bin/w)\n  w[10]\n\t 15 g (/bin/w)\n  g+0x5\n\t 20 main (/bin/w)\n  ??:0\n",
        )
        .unwrap();
        assert_eq!(to_notation(&unknown), "main;g;f@plt 1 1 {thread=w tid=1}");
        assert!(unknown.meta.warnings.is_empty(), "{:?}", unknown.meta.warnings);
    }

    #[test]
    fn inlined_java_methods_are_separate_frames() {
        let profile = load(
            "java 1 2.5: 1 cycles: \n\
             \t 10 Lapp/Parser;::parse->Lapp/Lexer;::<init>->Lapp/Char;::is (/tmp/perf-7.map)\n\
             \t 20 Lapp/Main;::main (/tmp/perf-7.map)\n\n\
             node 1 2.6: 1 cycles: \n\
             \t 30 Stub:BinaryOpStub(ADD:String*String->String) (/tmp/perf-8.map)\n\
             \t 31 String*String->String (/tmp/perf-8.map)\n\
             \t 32 LoadIC:None->Smi (/tmp/perf-8.map)\n\
             \t 33 Ptr::operator-> (/bin/app)\n\
             \t 34 app::f->app::g (/bin/app)\n",
        )
        .unwrap();
        assert_eq!(
            to_notation(&profile),
            "Lapp/Main;::main;Lapp/Parser;::parse;+Lapp/Lexer;::<init>;+Lapp/Char;::is 1 1 {thread=java tid=1}\n\
             app::f->app::g;Ptr::operator->;LoadIC:None->Smi;String*String->String;\
             Stub:BinaryOpStub(ADD:String*String->String) 1 1 {thread=node tid=1}"
        );
    }

    /// The last thing that a program does may be to wait, as for a child. A thread in the state `R` could have gone on.
    #[test]
    fn a_recording_ends_with_its_last_wait_and_says_what_was_waited_for() {
        let switch = |second: u32, state: &str| {
            format!(
                "app 7 [0] {second}.0: 1 sched:sched_switch: prev_comm=app prev_pid=7 prev_prio=120 prev_state={state} ==> next_comm=b next_pid=9 next_prio=120\n\t 1 main (/bin/app)\n\n"
            )
        };
        let get = |second: u32| format!("app 7 [0] {second}.0: PERF_RECORD_SWITCH IN\n");
        let text = [switch(10, "R+"), get(11), switch(12, "S"), get(15)].concat();
        let profile = load(&text).unwrap();
        let metric = profile.meta.metrics.iter().find(|metric| metric.name == "off_cpu").unwrap();
        assert_eq!((metric.total, profile.meta.duration_ns), (4_000_000_000, Some(5_000_000_000)));
        let stacks = to_notation(&profile);
        assert_eq!(stacks.matches("wait=processor").count(), 1, "{stacks}");
        assert!(profile.meta.notes[0].starts_with("25.0% of off_cpu is of threads that could have run"));
    }

    /// What `perf script -F ip,sym` writes, and with `comm,time,period` besides.
    #[test]
    fn headers_may_lack_everything() {
        let frame = |address: &str, name: &str| format!("\t{address:>16} {name}\n");
        let (work, main) = (frame("10", "work"), frame("ffffffff8104f45a", "main"));
        // Three samples without a stack: before, between and after the others.
        let text = format!("\n\n\n{work}{main}\n\n{main}\n\n\n\n{work}{main}\n\n\n");
        assert_eq!(sniff(text.as_bytes()), Confidence::Maybe);
        assert_eq!(to_notation(&load(&text).unwrap()), " 3\nmain 1\nmain;work 2");
        let text = format!(
            "sh   1.5:   1000000 \n{work}{main}\nwords 16499   2.0:   3000000 \n{work}{main}\nsh   2.5:   2 \nsh  2.6:  5 ffffffff8104f45a main\n"
        );
        let profile = load(&text).unwrap();
        assert_eq!(
            to_notation(&profile),
            " 1 2 {thread=sh}\nmain 1 5 {thread=sh}\nmain;work 1 1000000 {thread=sh}\n\
             main;work 1 3000000 {thread=words tid=16499}"
        );
        assert_eq!(
            (&*profile.meta.metrics[1].name, profile.meta.duration_ns),
            ("period", Some(1_100_000_000))
        );
        assert!(profile.meta.warnings.is_empty());
    }

    #[test]
    fn instructions_and_branches_are_no_part_of_a_name() {
        let frames = "\t            1139 leaf (/srv/w)\n\t            118b main (/srv/w)\n";
        for (header, extras) in [
            ("w 12 \n", " insn: 89 d0\n"),
            ("\n", " 0x401140/0x401130/P/-/-/0  0x40113c/0x40112a/P/-/-/0 \n"),
        ] {
            let text = format!("{header}{frames}{extras}{header}{frames}{extras}");
            assert_ne!(sniff(text.as_bytes()), Confidence::No, "{text}");
            let profile = load(&text).unwrap();
            let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
            assert_eq!((totals, profile.stacks.len()), (vec![2], 1), "{text}");
        }
        let line = "     563e57c5714a leaf (/srv/w) insn: 83 c2 01\n";
        assert_eq!(to_notation(&load(&line.repeat(2)).unwrap()), "leaf 2");
    }

    #[test]
    fn a_blank_line_before_the_stack_changes_nothing() {
        let profile = load("w 1 2.5: 1 cycles:\n\n\t 10 f (/bin/w)\n\t THIS_IS_ODD\n").unwrap();
        assert_eq!(to_notation(&profile), "f 1 1 {thread=w tid=1}");
        assert_eq!(profile.meta.warnings.len(), 1);
    }
}
