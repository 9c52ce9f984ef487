//! Metrics of perf events: a sample count, and one metric per event.

use crate::format::off_cpu::OFF_CPU;
use crate::profile::{MOST_METRICS, ProfileBuilder};

/// The events of a profile, whose metrics follow the metric `samples`.
#[derive(Debug, Default)]
pub(super) struct EventMetrics {
    names: Vec<Box<[u8]>>,
}

impl EventMetrics {
    /// Number of the metrics.
    pub(super) fn len(&self) -> usize {
        self.names.len() + 1
    }

    /// The index of an event's metric; declares the metric for a new event. If there are too many, so that the profile is
    /// refused in the end, that of the last one: comparing each new name with all others would take forever.
    pub(super) fn of(&mut self, builder: &mut ProfileBuilder, name: &[u8], has_period: bool) -> usize {
        if let Some(index) = self.names.iter().position(|known| **known == *name) {
            return index + 1;
        }
        if self.names.len() > MOST_METRICS {
            return self.names.len();
        }
        // The software clocks count nanoseconds, and so does what BPF adds for `perf record --off-cpu`.
        let is_clock = [b"cpu-clock".as_slice(), b"task-clock", b"offcpu-time"]
            .iter()
            .any(|clock| name.starts_with(clock));
        let unit = if (is_clock || is_waiting(name)) && has_period { "nanoseconds" } else { "count" };
        self.names.push(name.into());
        builder.metric(&String::from_utf8_lossy(name), unit)
    }

    /// The index of the metric of waiting, which is computed from the scheduler's events; declares it at its first use.
    pub(super) fn of_waits(&mut self, builder: &mut ProfileBuilder) -> usize {
        if let Some(index) = self.names.iter().position(|known| **known == *OFF_CPU.as_bytes()) {
            return index + 1;
        }
        self.names.push(OFF_CPU.as_bytes().into());
        builder.metric(OFF_CPU, "nanoseconds")
    }

    /// The first event that measures time, else waiting, else the first event, else `samples`.
    pub(super) fn default_metric(&self) -> usize {
        let is_time = |name: &[u8]| {
            [b"cycles".as_slice(), b"cpu-clock", b"task-clock"]
                .iter()
                .any(|event| memchr::memmem::find(name, event).is_some())
        };
        let first = usize::from(!self.names.is_empty());
        let place = |is: &dyn Fn(&[u8]) -> bool| self.names.iter().position(|name| is(name));
        let found = place(&is_time).or_else(|| place(&|name| name == OFF_CPU.as_bytes()));
        found.map_or(first, |index| index + 1)
    }
}

/// Whether an event says how long a thread waited or ran: the period of these tracepoints is that time in nanoseconds.
pub(super) fn is_waiting(event: &[u8]) -> bool {
    event.starts_with(b"sched:sched_stat_")
}
