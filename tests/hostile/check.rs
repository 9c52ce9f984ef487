//! Checks what must hold for all inputs: no panic, no hang, memory proportional to the size, and correct sums.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use prof::binary::{Binary, UnwindTable};
use prof::format::{Format, Inode, JitCode, LoadError, RecordedFiles, Source, load};
use prof::profile::{Budget, Id, LoadOptions, Profile};

use crate::MEMORY;
use crate::clock;
use crate::views;

/// The outcome of reading an input.
pub enum Outcome {
    /// It was loaded.
    Read(Box<Profile>),
    /// It was rejected with this message.
    Rejected(String),
}

/// The memory that an input may use: a fixed amount, and an amount per byte.
const MEMORY_FIXED: usize = 48 << 20;
const MEMORY_PER_BYTE: usize = 400;

/// The CPU time that an input may take, plus as much again for each MiB of its size.
const TIME_PER_MIB: Duration = Duration::from_secs(20);

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
    static IS_CHECKING: Cell<bool> = const { Cell::new(false) };
}

/// Stores the message of a panic instead of printing it while an input is being checked.
pub fn keep_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if IS_CHECKING.get() {
            PANIC.set(info.to_string().replace('\n', " "));
        } else {
            print(info);
        }
    }));
}

/// The files that an input refers to: maps and jitdumps are in the input itself, and all processes run the same program.
struct FilesInInput(Vec<u8>);

static PROGRAM: &[u8] = include_bytes!("../../fixtures/symbols/unwinding");

impl RecordedFiles for FilesInInput {
    fn perf_map(&self, _: u32, _: &str) -> Option<JitCode> {
        JitCode::read_map(&self.0[..], &Budget::UNLIMITED).ok()
    }

    fn jit_dump(&self, _: &str, _: u32, _: &str) -> Option<JitCode> {
        let at = self.0.windows(4).position(|bytes| bytes == b"DTiJ")?;
        JitCode::read_dump(&self.0[at..], None, &Budget::UNLIMITED).ok()
    }

    fn unwind_table(&self, _: &str, _: &str) -> Option<UnwindTable> {
        UnwindTable::new(&Binary::parse(PROGRAM).ok()?, None)
    }

    fn build_id(&self, _: &str, _: Inode, _: &str) -> Option<String> {
        None
    }
}

/// Reads an input, and shows the profile in the view with index `view` of [`views::VIEWS`]. An error describes a
/// violation.
pub fn check(format: Option<&Format>, bytes: &[u8], view: Option<usize>) -> Result<Outcome, String> {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let start = clock::spent();
    let work = || -> Result<Outcome, String> {
        let mut source = match Source::open(Box::new(std::io::Cursor::new(bytes.to_vec()))) {
            Ok(source) => source,
            Err(error) => return rejected(&error),
        };
        source.set_files(Arc::new(FilesInInput(bytes.to_vec())));
        match load(&mut source, LoadOptions::ALL, format) {
            Ok(profile) => {
                is_sound(&profile)?;
                view.map_or(Ok(()), |view| views::show(&profile, view))?;
                Ok(Outcome::Read(Box::new(profile)))
            }
            Err(error) => rejected(&error),
        }
    };
    let outcome = guarded(work)?;
    let (peak, time) = (MEMORY.peak_usage().saturating_sub(before), clock::spent().saturating_sub(start));
    if peak > MEMORY_FIXED + bytes.len() * MEMORY_PER_BYTE {
        let shown = view.map_or(String::new(), |view| format!(" in {}", views::VIEWS[view]));
        return Err(format!("memory: {} MB{shown} for {} bytes", peak >> 20, bytes.len()));
    }
    if time > TIME_PER_MIB * (1 + (bytes.len() >> 20) as u32) {
        return Err(format!("time: {time:.1?} for {} bytes", bytes.len()));
    }
    Ok(outcome)
}

/// Does some work; the error says where it panicked.
pub fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    IS_CHECKING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_CHECKING.set(false);
    outcome.unwrap_or_else(|_| Err(format!("panic: {}", PANIC.with_borrow(Clone::clone))))
}

/// Checks that an error message is a short, readable line.
fn rejected(error: &LoadError) -> Result<Outcome, String> {
    let message = error.to_string();
    if message.is_empty() || message.len() > 1000 {
        return Err(format!("message: {} bytes: {message:.200}", message.len()));
    }
    Ok(Outcome::Rejected(message))
}

/// Checks that ids are within their tables.
pub fn ids_are_sound(profile: &Profile) -> Result<(), String> {
    let (symbols, samples) = (&profile.symbols, &profile.samples);
    let frames = profile.stacks.all_frames().iter().all(|frame| frame.index() < symbols.frames.len());
    let functions = symbols.frames.iter().all(|frame| {
        frame.function.index() < symbols.functions.len() && frame.mapping.index() < symbols.mappings.len()
    });
    let rows = samples.stack.iter().all(|stack| stack.index() < profile.stacks.len())
        && samples.labels.iter().all(|set| set.index() < profile.label_sets.len());
    if !(frames && functions && rows && profile.meta.default_metric < profile.meta.metrics.len().max(1)) {
        return Err("ids point outside their tables".to_string());
    }
    Ok(())
}

/// Checks that times can be subtracted from each other: readers replace those that do not fit by the largest number.
fn times_are_sound(profile: &Profile) -> Result<(), String> {
    let meta = &profile.meta;
    let switches = meta.switches.iter().map(|switch| switch.time);
    let of_recording = meta.time_ns.into_iter().chain(meta.duration_ns);
    let mut times = profile.samples.known_times().chain(switches).chain(of_recording);
    match times.find(|time| time.unsigned_abs() > 1 << 62) {
        Some(time) => Err(format!("a time of {time} ns")),
        None => Ok(()),
    }
}

/// Checks that ids are within their tables, and that totals are the sums of the values.
fn is_sound(profile: &Profile) -> Result<(), String> {
    ids_are_sound(profile)?;
    times_are_sound(profile)?;
    let samples = &profile.samples;
    for (metric, values) in profile.meta.metrics.iter().zip(&samples.values) {
        let sum: i128 = values.iter().map(|&value| i128::from(value).abs()).sum();
        if !metric.too_large && profile.calls.is_none() && sum != i128::from(metric.total) {
            return Err(format!("total of {}: {} instead of {sum}", metric.name, metric.total));
        }
        if metric.divisor == 0 {
            return Err(format!("divisor of {} is 0", metric.name));
        }
    }
    Ok(())
}
