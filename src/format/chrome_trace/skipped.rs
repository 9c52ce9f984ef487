//! Events without a stack, which are counted and left out.

use crate::unit::{group_thousands, plural};

/// How many events of each kind were left out.
#[derive(Default)]
pub(super) struct SkippedEvents {
    asynchronous: u64,
    flows: u64,
    instants: u64,
    counters: u64,
    totals: u64,
    /// Sample events that do not refer to a stack.
    samples: u64,
    /// Spans with the stack in which they began.
    stacks: u64,
    /// Spans that end before they begin.
    negative: u64,
}

impl SkippedEvents {
    /// Counts a span that sums up others.
    pub(super) fn add_total(&mut self) {
        self.totals += 1;
    }

    /// Counts a span that ends before it begins.
    pub(super) fn add_negative(&mut self) {
        self.negative += 1;
    }

    /// Counts the stack in which a span began, if it has one.
    pub(super) fn add_stack(&mut self, has_stack: bool) {
        self.stacks += u64::from(has_stack);
    }

    /// A warning about these stacks. They say who wrote the event, and often repeat what the spans around it say.
    pub(super) fn stacks_of_spans(&self) -> Option<String> {
        let stacks = plural(self.stacks, "stack in which 1 span", "stacks in which spans");
        let are = plural(self.stacks, "is", "are");
        let count =
            if self.stacks > 1 { format!("{} ", group_thousands(self.stacks.into())) } else { String::new() };
        (self.stacks > 0).then(|| {
            format!("the {count}{stacks} began (`sf`) {are} left out: only spans within spans are shown")
        })
    }

    /// A warning about spans that end before they begin.
    pub(super) fn negative_durations(&self) -> Option<String> {
        let spans = plural(self.negative, "span has", "spans have");
        let count = group_thousands(self.negative.into());
        (self.negative > 0).then(|| format!("{count} {spans} a negative duration, which is taken as 0"))
    }

    /// Counts an event of this phase. Others, such as names of threads (`M`), are no part of what the program did.
    pub(super) fn add(&mut self, phase: u8) {
        let count = match phase {
            // The capital letters and `p` are those of older traces.
            b'b' | b'e' | b'n' | b'S' | b'F' | b'T' | b'p' => &mut self.asynchronous,
            b's' | b't' | b'f' => &mut self.flows,
            b'i' | b'I' | b'R' => &mut self.instants,
            b'C' => &mut self.counters,
            b'P' => &mut self.samples,
            _ => return,
        };
        *count += 1;
    }

    /// A note on what was left out.
    pub(super) fn note(&self) -> Option<String> {
        let kinds = [
            (self.asynchronous, "asynchronous event", "asynchronous events"),
            (self.flows, "flow event", "flow events"),
            (self.instants, "instant", "instants"),
            (self.counters, "value of a counter", "values of counters"),
            (self.samples, "sample event", "sample events"),
            (self.totals, "total of other spans", "totals of other spans"),
        ];
        let found: Vec<String> = kinds
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, several)| {
                format!("{} {}", group_thousands(count.into()), plural(count, one, several))
            })
            .collect();
        (!found.is_empty()).then(|| format!("left out what has no stack: {}", found.join(", ")))
    }
}
