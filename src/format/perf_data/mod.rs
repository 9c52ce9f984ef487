//! Reads `perf.data`, the file written by `perf record`.
//!
//! The file has addresses and memory maps, so a frame is an address in a binary, called `[libc.so.6]` until
//! it is symbolized. As with `perf script`, the metric `samples` counts, and each event is a separate metric
//! whose values are the periods.

mod build_ids;
mod header;
mod maps;
mod order;
mod raw_record;
mod record;
mod simpleperf;
mod unwind;

use hashbrown::HashMap;

use crate::format::event_metrics::EventMetrics;
use crate::format::fields::Fields;
use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::jit::{self, JitNames};
use crate::format::labels::label_set;
use crate::format::off_cpu::{OffCpu, SchedulerEvent, Wait};
use crate::format::perf_data::build_ids::BuildIds;
use crate::format::perf_data::header::{FileHeader, MAGIC, MAGIC_BIG_ENDIAN, NAME};
use crate::format::perf_data::maps::{Map, Space, Spaces};
use crate::format::perf_data::order::InOrder;
use crate::format::perf_data::record::{KERNEL, PerfSample, Record};
use crate::format::perf_data::simpleperf::StoredFile;
use crate::format::perf_data::unwind::Unwinder;
use crate::format::text::{hexadecimal, lossy};
use crate::format::{Confidence, Format, Inode, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{
    Addresses, ContextSwitch, Frame, FrameId, FunctionId, LabelSetId, LoadOptions, Mapping, MappingId,
    Profile, ProfileBuilder, StringId,
};
use crate::unit::{group_thousands, plural, saturated};

/// The entry in the list of readable formats.
pub(super) static PERF_DATA: Format = Format { name: NAME, title: "perf.data", sniff, read };

fn sniff(head: &[u8]) -> Confidence {
    let is_it = head.starts_with(MAGIC) || head.starts_with(MAGIC_BIG_ENDIAN);
    if is_it { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let header = FileHeader::read(&bytes)?;
    let unpacked = record::unpack(&header, &options.budget)?;
    let unpacked = Fields::new(&unpacked, bytes.starts_with(MAGIC_BIG_ENDIAN));
    let records = InOrder::new(&header, unpacked);
    let mut reader = PerfDataReader::new(&header, records.kernel_start(), source, options);
    let left = records.left;
    records.for_each(|record| {
        if reader.record(record).is_none() {
            reader.broken += 1;
        }
    });
    Ok(reader.finish(left)?)
}

/// A process and one of its threads.
#[derive(Clone, Copy, Debug)]
struct PerfThread {
    pid: Option<u32>,
    tid: Option<u32>,
}

struct PerfDataReader<'a> {
    header: &'a FileHeader<'a>,
    builder: ProfileBuilder,
    /// The samples, which are added on another thread.
    samples: SampleGroup,
    metrics: EventMetrics,
    spaces: Spaces,
    jit: JitNames,
    unwinder: Unwinder,
    build_ids: BuildIds<'a>,
    /// The recording's file, for messages; empty if unknown.
    path: String,
    kernel: MappingId,
    /// The symbols of files, and the functions that they name, both by mapping.
    stored: HashMap<MappingId, &'a StoredFile<'a>>,
    named: HashMap<(MappingId, u64), Option<FunctionId>>,
    /// The threads' names.
    names: HashMap<u32, StringId>,
    label_sets: HashMap<(Option<u32>, Option<u32>, StringId), LabelSetId>,
    /// The frames of the current sample, leaf first.
    stack: Vec<FrameId>,
    values: Vec<i64>,
    /// The last value of each counter, by id.
    counters: HashMap<u64, u64>,
    first_time: Option<i64>,
    last_time: i64,
    off_cpu: OffCpu<PerfThread, GroupedStack>,
    /// Records that are shorter than their kind.
    broken: u64,
    /// Records that did not fit into the buffer, as far as the kernel said so at once.
    lost_records: u64,
    /// The same for samples, as counted at the end; recorders write one or the other, or both.
    lost_samples: u64,
}

impl<'a> PerfDataReader<'a> {
    fn new(
        header: &'a FileHeader<'a>,
        kernel_start: Option<u64>,
        source: &Source,
        options: LoadOptions,
    ) -> Self {
        let mut jit = JitNames::of(source);
        jit.set_host(&header.host);
        let mut builder = ProfileBuilder::new(NAME, options);
        builder.metric("samples", "count");
        let off_cpu = OffCpu::new(builder.options().switches);
        if !header.command.is_empty() {
            builder.meta.comments.push(header.command.clone());
        }
        builder.meta.comments.extend(Some(header.simpleperf.app.clone()).filter(|app| !app.is_empty()));
        let file = builder.string(KERNEL);
        let build_id = header.build_ids.get(KERNEL.as_bytes()).map_or("", String::as_str);
        let build_id = builder.string(build_id);
        let start = kernel_start.unwrap_or(0);
        // Code of the kernel may be anywhere after its start.
        let limit = if start == 0 { 0 } else { u64::MAX };
        let kernel = builder.mapping(Mapping { file, build_id, start, limit, ..Mapping::default() });
        let spaces = Spaces::new(builder.options().budget.clone());
        PerfDataReader {
            header,
            builder,
            samples: SampleGroup::on_thread(source.may_use_threads()),
            metrics: EventMetrics::default(),
            spaces,
            jit,
            unwinder: Unwinder::new(source.files(), &header.architecture),
            build_ids: BuildIds::new(&header.build_ids, &header.host, source.files()),
            path: source.name().to_string(),
            kernel,
            stored: header
                .simpleperf
                .file(KERNEL.as_bytes())
                .map(|file| (kernel, file))
                .into_iter()
                .collect(),
            named: HashMap::new(),
            names: HashMap::new(),
            label_sets: HashMap::new(),
            stack: Vec::new(),
            values: Vec::new(),
            counters: HashMap::new(),
            first_time: None,
            last_time: 0,
            off_cpu,
            broken: 0,
            lost_records: 0,
            lost_samples: 0,
        }
    }

    fn record(&mut self, record: &Record<'a>) -> Option<()> {
        match record.kind {
            record::MMAP | record::MMAP2 => self.map(record),
            record::COMM => self.comm(record),
            record::FORK => self.fork(record),
            record::LOST => {
                let mut body = record.body;
                body.take(8)?; // event
                self.lost_records = self.lost_records.saturating_add(body.u64()?);
                Some(())
            }
            record::LOST_SAMPLES => {
                let mut body = record.body;
                self.lost_samples = self.lost_samples.saturating_add(body.u64()?);
                Some(())
            }
            record::THROTTLE => {
                self.builder.meta.faults.throttled += 1;
                Some(())
            }
            record::KSYMBOL => self.kernel_symbol(record),
            record::SAMPLE => self.sample(record),
            record::EXIT => self.exit(record),
            record::SWITCH | record::SWITCH_CPU_WIDE => {
                self.switch(record);
                Some(())
            }
            _ => Some(()),
        }
    }

    /// Reads when a thread gets a processor, or leaves it.
    fn switch(&mut self, record: &Record<'a>) {
        const IS_OUT: u16 = 1 << 13;
        let Some(tid) = record::thread_of(self.header, record).filter(|_| record.time > 0) else { return };
        let runs = record.misc & IS_OUT == 0;
        let switch = ContextSwitch { time: saturated(record.time), tid: tid.into(), runs };
        if let Some(wait) = self.off_cpu.switched(switch) {
            self.waited(&wait);
        }
    }

    fn exit(&mut self, record: &Record<'a>) -> Option<()> {
        let mut body = record.body;
        let (_pid, _parent, tid) = (body.u32()?, body.u32()?, body.u32()?);
        if record.time > 0 {
            self.off_cpu.ends(tid.into(), saturated(record.time));
        }
        Some(())
    }

    /// Counts the time that a thread waited.
    fn waited(&mut self, wait: &Wait<PerfThread, GroupedStack>) {
        let metric = self.metrics.of_waits(&mut self.builder);
        let labels = self.labels(wait.thread, (wait.waker.as_deref(), wait.label()));
        self.values.clear();
        self.values.resize(self.metrics.len(), 0);
        self.values[metric] = wait.length;
        // The wait may be what the program ended with, as one for a child that has ended.
        self.last_time = self.last_time.max(wait.since.saturating_add(wait.length));
        let time = self.first_time.map(|first| wait.since.saturating_sub(first));
        self.samples.sample(wait.stack, labels, time, &self.values, &mut self.builder);
    }

    /// What an event says about threads. Returns when its thread leaves its processor, if it does, and whether it could have
    /// gone on.
    fn schedule(&mut self, event: &[u8], sample: &PerfSample<'a>) -> Option<(i64, bool)> {
        // simpleperf computes waits itself.
        let tid = sample.tid.filter(|_| !self.header.simpleperf.is_it)?;
        let now = saturated(sample.time?);
        self.off_cpu.stands_for(event, sample.period);
        let raw = sample.raw.filter(|_| SchedulerEvent::concerns(event));
        let number = |at: u64| raw.and_then(|raw| raw.part(at, 4).u32()).map(i64::from);
        // The layout of both events has been the same since Linux 2.6.32.
        let state = raw.and_then(|raw| raw.part(32, 8).u64());
        let scheduled = SchedulerEvent::of_numbers(event, number(56), state, number(24));
        let name = || {
            let name = self.names.get(&tid).map_or("", |&name| self.builder.text(name));
            format!("{name} {tid}").trim_start().to_string()
        };
        let waits = self.off_cpu.happens(scheduled, tid.into(), now, name);
        for wait in waits.into_iter().flatten() {
            self.waited(&wait);
        }
        match scheduled {
            SchedulerEvent::Switch { could_run, .. } => Some((now, could_run)),
            _ => None,
        }
    }

    fn map(&mut self, record: &Record<'a>) -> Option<()> {
        const BUILD_ID: u16 = 1 << 14;
        let mut body = record.body;
        let (pid, _tid) = (body.u32()?, body.u32()?);
        let (start, length, offset) = (body.u64()?, body.u64()?, body.u64()?);
        let (mut build_id, mut inode, mut protection) = (String::new(), None, 0);
        if record.kind == record::MMAP2 {
            let mut file = record::take_fields(&mut body, 24)?;
            if record.misc & BUILD_ID != 0 {
                let id = file.bytes();
                build_id = hexadecimal(&id[4..4 + usize::from(id[0]).min(20)]);
            } else {
                inode = Some(Inode { major: file.u32()?, minor: file.u32()?, number: file.u64()? });
            }
            protection = body.u32()?;
            body.take(4)?; // flags
        }
        let path = body.text();
        let is_anonymous = jit::is_anonymous(path);
        let is_kernel = pid == u32::MAX || cpu_mode(record.misc) == CpuMode::Kernel;
        let is_module = is_kernel && start >> 63 == 1;
        let mapping = if is_kernel && path.starts_with(KERNEL.as_bytes()) {
            self.kernel
        } else {
            let inode = inode.filter(|_| !is_kernel && !is_anonymous);
            let build_id = if build_id.is_empty() { self.build_ids.of(path, inode) } else { build_id };
            let (file, build_id) =
                (self.builder.string(&String::from_utf8_lossy(path)), self.builder.string(&build_id));
            let known = Mapping { file, build_id, ..Mapping::default() };
            self.builder.mapping(match (is_anonymous, is_module) {
                (true, _) => known,
                // The kernel says where the functions of a module are in memory; its file does not.
                (_, true) => Mapping { start, limit: start.saturating_add(length), offset, ..known },
                _ => Mapping { addresses: Addresses::File, ..known },
            })
        };
        // Symbols of code from the compiler of the runtime have its address in memory.
        let is_compiled = self.header.simpleperf.is_it && protection & simpleperf::JIT_MAP != 0;
        let offset = if is_compiled { start } else { offset };
        if let Some(file) = self.header.simpleperf.file(path) {
            self.stored.insert(mapping, file);
        }
        let keeps_addresses = is_anonymous || is_module || mapping == self.kernel;
        let map = Map { start, offset, mapping, function: None, is_anonymous, keeps_addresses };
        let end = start.saturating_add(length);
        if is_kernel {
            self.spaces.kernel.insert(start, end, map);
        } else {
            self.spaces.insert(pid, start, end, map);
            // Virtual machines map the file that they write, so that recorders learn of it.
            self.jit.dump(pid, &String::from_utf8_lossy(path));
        }
        Some(())
    }

    /// Adds code that was loaded into the kernel during the recording, such as a BPF program.
    fn kernel_symbol(&mut self, record: &Record<'a>) -> Option<()> {
        let mut body = record.body;
        let (start, length) = (body.u64()?, body.u32()?);
        body.take(4)?; // kind and flags
        let name = String::from_utf8_lossy(body.text()).into_owned();
        let function = Some(self.builder.named_function(&name, ""));
        let end = start.saturating_add(length.into());
        let (mapping, is_anonymous, keeps_addresses) = (self.kernel, false, true);
        let map = Map { start, offset: 0, mapping, function, is_anonymous, keeps_addresses };
        self.spaces.kernel.insert(start, end, map);
        Some(())
    }

    fn comm(&mut self, record: &Record<'a>) -> Option<()> {
        const IS_EXEC: u16 = 1 << 13;
        let mut body = record.body;
        let (pid, tid) = (body.u32()?, body.u32()?);
        let name = self.builder.string(&String::from_utf8_lossy(body.text()));
        self.names.insert(tid, name);
        if record.misc & IS_EXEC != 0 {
            self.spaces.exec(pid);
        }
        Some(())
    }

    fn fork(&mut self, record: &Record<'a>) -> Option<()> {
        let mut body = record.body;
        let (pid, parent, tid, parent_tid) = (body.u32()?, body.u32()?, body.u32()?, body.u32()?);
        self.spaces.fork(parent, pid);
        if let Some(&name) = self.names.get(&parent_tid) {
            self.names.insert(tid, name);
        }
        Some(())
    }

    fn sample(&mut self, record: &Record<'a>) -> Option<()> {
        let event = &self.header.events[record.event];
        let sample = record::sample(event, record.body)?;
        let metric = self.metrics.of(&mut self.builder, event.name.as_bytes(), true);
        let leaves = self.schedule(event.name.as_bytes(), &sample);
        self.frames(&sample, cpu_mode(record.misc), event.branches);
        self.stack.reverse();
        let stack = self.samples.stack(&self.stack, &mut self.builder);
        let thread = PerfThread { pid: sample.pid, tid: sample.tid };
        let labels = self.labels(thread, (None, ""));
        self.values.clear();
        self.values.resize(self.metrics.len(), 0);
        self.values[0] = 1;
        if sample.counters.is_empty() {
            self.value(metric, sample.period);
        }
        for &(count, id) in &sample.counters {
            self.counter(count, id);
        }
        let time = sample.time.map(|time| {
            let time = saturated(time);
            self.last_time = self.last_time.max(time);
            // The clock starts at boot, so times are relative to the first sample.
            time.saturating_sub(*self.first_time.get_or_insert(time))
        });
        self.samples.sample(stack, labels, time, &self.values, &mut self.builder);
        if let (Some(since), Some(tid)) = (leaves, sample.tid) {
            self.off_cpu.leave(tid.into(), thread, stack, since);
        }
        Some(())
    }

    /// The value of an event is the increase of its counter since the previous sample. In a group, one event
    /// is sampled and the counters of all are read.
    fn counter(&mut self, count: u64, id: u64) {
        let since = count.wrapping_sub(self.counters.insert(id, count).unwrap_or(0));
        let Some(&event) = self.header.event_of_id.get(&id) else { return };
        let name = &self.header.events[event].name;
        let metric = self.metrics.of(&mut self.builder, name.as_bytes(), true);
        self.values.resize(self.metrics.len(), 0);
        self.value(metric, since);
    }

    fn value(&mut self, metric: usize, value: u64) {
        match i64::try_from(value) {
            Ok(value) => self.values[metric] = value,
            Err(_) => self.builder.overflow(metric),
        }
    }

    /// The frames of a sample, leaf first. Context markers between the addresses say whether user or kernel
    /// code follows.
    fn frames(&mut self, sample: &PerfSample<'a>, mode: CpuMode, branches: u64) {
        /// The branches are the calls that have not returned (`--call-graph lbr`).
        const CALLS: u64 = 1 << 11;
        /// Addresses from here on are context markers.
        const FIRST_MARK: u64 = 4095_u64.wrapping_neg();
        const KERNEL_MARK: u64 = 128_u64.wrapping_neg();
        const USER_MARK: u64 = 512_u64.wrapping_neg();
        self.stack.clear();
        let unwound = self.unwound(sample);
        let mut mode = mode;
        // The interrupted instruction is exact. All other addresses are return addresses, and the call is the
        // instruction before.
        let mut is_exact = true;
        // simpleperf has subtracted what is needed.
        let are_calls = self.header.simpleperf.is_it;
        let mut chain = sample.callchain.unwrap_or(Fields::new(&[], false));
        while let Some(address) = chain.u64() {
            match address {
                USER_MARK if branches & CALLS != 0 || !unwound.is_empty() => break,
                FIRST_MARK.. => {
                    mode = match address {
                        KERNEL_MARK => CpuMode::Kernel,
                        USER_MARK => CpuMode::User,
                        _ => CpuMode::Other,
                    };
                    is_exact = true;
                }
                address => {
                    self.frame(sample, address.saturating_sub(u64::from(!is_exact)), mode);
                    is_exact = are_calls;
                }
            }
        }
        if branches & CALLS != 0 {
            self.calls(sample);
        }
        for address in unwound {
            self.frame(sample, address, CpuMode::User);
        }
        if self.stack.is_empty() && sample.ip != 0 {
            self.frame(sample, sample.ip, mode);
        }
    }

    /// The program's part of a stack that was recorded as raw memory, innermost first.
    fn unwound(&mut self, sample: &PerfSample<'a>) -> Vec<u64> {
        let space = sample.pid.and_then(|pid| self.spaces.process(pid));
        let (Some(dump), Some(space)) = (sample.dump, space) else { return Vec::new() };
        self.unwinder.unwind(&self.builder, space, dump)
    }

    /// Adds the program's frames from the call stack that the processor recorded (LBR): the target of the last call, and
    /// the source of each.
    fn calls(&mut self, sample: &PerfSample<'a>) {
        let Some(mut branches) = sample.branches else { return };
        let mut is_leaf = true;
        while let Some(mut branch) = record::take_fields(&mut branches, record::BRANCH) {
            let (Some(from), Some(to)) = (branch.u64(), branch.u64()) else { return };
            if is_leaf {
                let leaf = if self.stack.is_empty() { sample.ip } else { to };
                self.frame(sample, leaf, CpuMode::User);
                is_leaf = false;
            }
            self.frame(sample, from, CpuMode::User);
        }
    }

    /// The function that the recording itself names, at an address in memory.
    fn stored_function(
        &mut self,
        mapping: MappingId,
        address: u64,
        start: u64,
        offset: u64,
    ) -> Option<FunctionId> {
        let file = *self.stored.get(&mapping)?;
        let kernel = self.stored.get(&self.kernel).copied();
        *self.named.entry((mapping, address)).or_insert_with(|| {
            // Modules may be known to the kernel only.
            let in_kernel = || if start >> 63 == 1 { kernel?.name(address) } else { None };
            let compiled = if start == offset { file.name(address) } else { None };
            let name = compiled.or_else(|| file.name_at(address, start, offset)).or_else(in_kernel)?;
            Some(self.builder.named_function(&demangle(&lossy(name)), ""))
        })
    }

    /// Adds the frame at an address, or several if calls were inlined.
    fn frame(&mut self, sample: &PerfSample<'a>, address: u64, mode: CpuMode) {
        let space: Option<&Space> = match mode {
            CpuMode::Kernel => Some(&self.spaces.kernel),
            CpuMode::User => sample.pid.and_then(|pid| self.spaces.process(pid)),
            CpuMode::Other => None,
        };
        let found = space.and_then(|space| space.at(address));
        let stored = found.map(|map| (map.start, map.offset, map.mapping)).or_else(|| {
            let is_kernel = mode == CpuMode::Kernel;
            is_kernel.then_some((0, 0, self.kernel))
        });
        let is_compiled = mode == CpuMode::User && found.is_none_or(|map| map.is_anonymous);
        let (mapping, in_file, function) = match found {
            // Kernel code keeps its addresses, because there is no file that they could be relative to.
            Some(map) if map.keeps_addresses => (map.mapping, address, map.function),
            Some(map) => (map.mapping, map.offset_of(address), map.function),
            None if mode == CpuMode::Kernel => (self.kernel, address, None),
            None => (MappingId::default(), address, None),
        };
        let stored =
            stored.and_then(|(start, offset, mapping)| self.stored_function(mapping, address, start, offset));
        let function = function.or(stored);
        if function.is_none()
            && is_compiled
            && let Some(pid) = sample.pid
            && let Some(frames) = self.jit.frames(&mut self.builder, pid, mapping, address, sample.clock_time)
        {
            self.stack.extend(frames.iter());
            return;
        }
        let function = function.unwrap_or_else(|| self.builder.unnamed_function(mapping));
        let frame =
            self.builder.frame(Frame { function, line: 0, address: in_file, mapping, inlined: false });
        self.stack.push(frame);
    }

    /// The labels of a thread, or of one of its waits: what woke it, and what it waited for.
    fn labels(&mut self, thread: PerfThread, wait: (Option<&str>, &str)) -> LabelSetId {
        let builder = &mut self.builder;
        if !builder.options().labels {
            builder.skipped_labels();
            return LabelSetId::default();
        }
        let name = match thread.tid {
            Some(tid) => match self.names.get(&tid) {
                Some(&name) => name,
                None if tid == 0 => builder.string("swapper"),
                None => builder.string(&format!(":{tid}")),
            },
            None => builder.string(""),
        };
        let key = (thread.pid, thread.tid, name);
        if let (Some(&known), (None, "")) = (self.label_sets.get(&key), wait) {
            return known;
        }
        let is_named = !builder.text(name).is_empty();
        let set = label_set(builder, |labels| {
            for (key, number) in [("tid", thread.tid), ("process", thread.pid)] {
                if let Some(number) = number {
                    labels.number(key, i64::from(number as i32));
                }
            }
            if is_named {
                labels.interned_text("thread", name);
            }
            labels.text_if_known("waker", wait.0.unwrap_or_default());
            labels.text_if_known("wait", wait.1);
        });
        if wait == (None, "") {
            self.label_sets.insert(key, set);
        }
        set
    }

    fn finish(mut self, left: usize) -> Result<Profile, ParseError> {
        let builder = &mut self.builder;
        self.samples.write(builder);
        builder.meta.default_metric = self.metrics.default_metric();
        if let Some(first) = self.first_time {
            builder.meta.duration_ns = Some(self.last_time.saturating_sub(first)).filter(|&ns| ns > 0);
        }
        builder.meta.switches = self.off_cpu.take_switches(self.first_time);
        let missing = self.header.missing;
        if missing > 0 {
            builder.warn(format!("file is truncated: {missing} bytes of records are missing"));
        } else if left > 0 {
            builder.warn(format!("file is truncated: the last record ({left} bytes) is incomplete"));
        }
        if missing == 0 && self.header.lacks_features {
            builder.warn(
                "file is truncated: names of events and build IDs after the records may be missing".into(),
            );
        }
        if self.broken > 0 {
            builder.warn(format!(
                "skipped {} truncated {}",
                self.broken,
                plural(self.broken, "record", "records")
            ));
        }
        let lost = self.lost_records.max(self.lost_samples);
        builder.meta.faults.lost = lost;
        if lost > 0 {
            let samples = plural(lost, "sample was", "samples were");
            let warning = format!("{} {samples} lost by the recorder", group_thousands(lost.into()));
            builder.meta.warn_of_fault(warning);
        }
        let throttled = builder.meta.faults.throttled;
        if throttled > 0 {
            let times = plural(throttled, "time", "times");
            let warning =
                format!("the kernel throttled sampling {} {times}", group_thousands(throttled.into()));
            builder.meta.warn_of_fault(warning);
        }
        let note = self.off_cpu.note();
        builder.meta.notes.extend(note);
        self.off_cpu.warning().into_iter().for_each(|warning| builder.warn(warning));
        let has = |field: u64| self.header.events.iter().any(|event| event.fields & field != 0);
        if has(record::BRANCHES) && !has(record::CALLCHAIN) {
            builder.warn(
                "branches were recorded, but no call stacks, so each sample has only the running function; record with \
                 `perf record -g` for stacks"
                    .into(),
            );
        }
        // simpleperf unwinds stacks itself.
        if has(record::STACK_USER) && !self.header.simpleperf.is_it {
            for warning in self.unwinder.warnings(builder, &self.path) {
                builder.warn(warning);
            }
        }
        finished(self.builder)
    }
}

/// Whose code was executing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CpuMode {
    Kernel,
    User,
    /// A hypervisor or its guests, about which nothing is known.
    Other,
}

fn cpu_mode(misc: u16) -> CpuMode {
    match misc & 7 {
        1 => CpuMode::Kernel,
        2 => CpuMode::User,
        _ => CpuMode::Other,
    }
}
