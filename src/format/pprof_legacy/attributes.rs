//! The attributes of a contention profile, between its header and the samples.

use crate::format::pprof_legacy::NAME;
use crate::format::pprof_legacy::recorder::Recorder;
use crate::format::text::{Lines, decimal};
use crate::format::{LoadError, ParseError};
use crate::profile::Period;

/// The locking functions. They are dropped from stacks, because they say nothing about the program.
const LOCKS: &str = "RecordLockProfileData|(base::)?(RecordLockProfileData|SubmitMutexProfileData|\
    SubmitSpinLockProfileData).*|(Mutex::)?(AwaitCommon|Unlock|UnlockSlow|ReaderUnlock).*|(MutexLock::)?~MutexLock.*|\
    (SpinLock::)?(Unlock|SlowUnlock).*|(SpinLockHolder::)?~SpinLockHolder.*";

/// The attributes between the header and the samples.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) cycles_per_second: i64,
    pub(super) sampling_period: i64,
    pub(super) ms_since_reset: i64,
    pub(super) is_java: bool,
    pub(super) resolution: Option<String>,
}

impl Attributes {
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Self, LoadError> {
        let mut attributes = Attributes::default();
        while lines.advance()? {
            let line = lines.line().trim_ascii();
            if line.is_empty() {
                continue;
            }
            let Some(equals) = memchr::memchr(b'=', line).filter(|_| !line.starts_with(b"---")) else {
                lines.push_back();
                break;
            };
            let (name, value) = (line[..equals].trim_ascii(), line[equals + 1..].trim_ascii());
            let number = || {
                let message = format!("{} is not a number", String::from_utf8_lossy(name));
                decimal(value).ok_or_else(|| ParseError::at_line(NAME, lines.number(), message))
            };
            match name {
                b"cycles/second" => attributes.cycles_per_second = number()?,
                b"sampling period" => attributes.sampling_period = number()?,
                b"ms since reset" => attributes.ms_since_reset = number()?,
                b"format" => attributes.is_java = value == b"java",
                b"resolution" => attributes.resolution = Some(String::from_utf8_lossy(value).into_owned()),
                // `discarded samples` and others do not affect values.
                _ => {}
            }
        }
        Ok(attributes)
    }

    /// Sets the metadata of the profile.
    pub(super) fn describe(&self, recorder: &mut Recorder) {
        let meta = &mut recorder.builder.meta;
        meta.drop_frames = LOCKS.into();
        if self.ms_since_reset > 0 {
            meta.duration_ns = self.ms_since_reset.checked_mul(1_000_000);
        }
        if self.sampling_period > 0 {
            let (name, unit) = ("contentions".into(), "count".into());
            meta.period = Some(Period { name, unit, value: self.sampling_period });
        }
    }

    /// Estimates the actual contentions and nanoseconds of delay from those sampled.
    pub(super) fn unsample(&self, cycles: i64, count: i64) -> [i64; 2] {
        let delay = if self.cycles_per_second > 0 {
            let ghz = self.cycles_per_second as f64 / 1e9;
            (cycles as f64 * self.sampling_period as f64 / ghz) as i64
        } else {
            cycles
        };
        [count.saturating_mul(self.sampling_period), delay]
    }
}
