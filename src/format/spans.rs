//! Spans, for readers of traces. The spans that are open at a given time form the stack at that time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;

use hashbrown::HashMap;

use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::threads::Thread;
use crate::profile::{FrameId, LabelSetId, ProfileBuilder, StringId};
use crate::unit::plural;

/// The spans of all threads. Times are in ns.
#[derive(Default)]
pub(super) struct Spans {
    threads: Vec<Events>,
    /// Number of complete spans without a duration and events without a timestamp.
    incomplete: usize,
    /// Number of events that end no span.
    unmatched: usize,
    /// The frame of each name.
    frame_of: HashMap<StringId, FrameId>,
}

#[derive(Default)]
struct Events {
    begins: Vec<Begin>,
    ends: Vec<End>,
}

struct Begin {
    time: i64,
    /// End time of a complete span; other spans end with an event, and this is the largest number. An `Option` would make a
    /// million spans eight megabytes larger.
    end: i64,
    is_complete: bool,
    frame: FrameId,
}

struct End {
    time: i64,
    /// Name of the span to end; empty if the event has none, and then it ends the innermost open span.
    name: StringId,
}

impl Spans {
    /// The frame of a span of which only the name is known.
    pub(super) fn frame(&mut self, name: StringId, builder: &mut ProfileBuilder) -> FrameId {
        *self.frame_of.entry(name).or_insert_with(|| {
            let name = builder.text(name).to_string();
            builder.named_frame(&name)
        })
    }

    /// How many spans have begun.
    pub(super) fn count(&self) -> usize {
        self.threads.iter().map(|events| events.begins.len()).sum()
    }

    /// A span begins, in which `frame` is running. It lasts until `end` if that is known, else until an event ends it. Returns its number
    /// within the thread.
    pub(super) fn begin(&mut self, thread: usize, time: i64, end: Option<i64>, frame: FrameId) -> usize {
        let events = self.thread(thread);
        let is_complete = end.is_some();
        events.begins.push(Begin { time, end: end.unwrap_or(i64::MAX), is_complete, frame });
        events.begins.len() - 1
    }

    /// The innermost span called `name` ends, or the innermost one of all if the name is empty.
    pub(super) fn end(&mut self, thread: usize, time: i64, name: StringId) {
        self.thread(thread).ends.push(End { time, name });
    }

    /// A span of which it was not known when it ends does so at `time`.
    pub(super) fn set_end(&mut self, thread: usize, number: usize, time: i64) {
        let begin = &mut self.thread(thread).begins[number];
        (begin.end, begin.is_complete) = (time, true);
    }

    /// An event lacks a time.
    pub(super) fn skip(&mut self) {
        self.incomplete += 1;
    }

    /// An event ends a span that has not begun.
    pub(super) fn skip_end(&mut self) {
        self.unmatched += 1;
    }

    fn thread(&mut self, number: usize) -> &mut Events {
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, Events::default);
        }
        &mut self.threads[number]
    }

    /// Adds a sample for each interval in which the same spans were open.
    pub(super) fn write(self, builder: &mut ProfileBuilder, thread_of: impl Fn(usize) -> Thread) {
        let metric = builder.metric("wall", "nanoseconds");
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        let (mut unmatched, mut unended, mut overlapping) = (self.unmatched, 0, 0);
        for (number, events) in self.threads.into_iter().enumerate() {
            let Some(start) = events.begins.iter().map(|begin| begin.time).min() else {
                unmatched += events.ends.len();
                continue;
            };
            let thread = thread_of(number);
            let mut sweep = Sweep {
                group: SampleGroup::from_metric(metric),
                labels: thread.labels(builder),
                skipped_labels: thread.is_known() && !builder.options().labels,
                now: start,
                ..Sweep::default()
            };
            sweep.run(events, builder);
            sweep.group.write(builder);
            first = first.min(start);
            last = last.max(sweep.now);
            unmatched += sweep.unmatched;
            unended += sweep.open.len();
            overlapping += sweep.overlapping;
        }
        builder.meta.holds_spans = true;
        builder.meta.duration_ns = last.checked_sub(first).filter(|&duration| duration > 0);
        let warnings = [
            (
                self.incomplete,
                "span without a timestamp or duration was skipped",
                "spans without a timestamp or duration were skipped",
            ),
            (
                unmatched,
                "end event has no matching begin event and was skipped",
                "end events have no matching begin event and were skipped",
            ),
            (
                unended,
                "span has no end event; it is assumed to last until the last event of its thread",
                "spans have no end event; they are assumed to last until the last event of their thread",
            ),
            (
                overlapping,
                "span overlaps another without being nested in it",
                "spans overlap others without being nested in them",
            ),
        ];
        for (count, one, several) in warnings.into_iter().filter(|(count, ..)| *count > 0) {
            builder.warn(format!("{count} {}", plural(count as u64, one, several)));
        }
    }
}

/// A sweep over the events of one thread in time order.
#[derive(Default)]
struct Sweep {
    /// The samples that have not been added to the profile yet.
    group: SampleGroup,
    open: Vec<Open>,
    /// The frames of `open`.
    stack: Vec<FrameId>,
    /// The stack of each span of `open` and those below it, if it was needed: where a span ends, the stack is one that there was
    /// before.
    stacks: Vec<Option<GroupedStack>>,
    /// The complete spans among `open`, with the one that ends first on top (the innermost if several do).
    due: BinaryHeap<Due>,
    now: i64,
    labels: LabelSetId,
    skipped_labels: bool,
    unmatched: usize,
    overlapping: usize,
}

/// End time and index of a span.
type Due = (Reverse<i64>, u32);

struct Open {
    number: u32,
    name: StringId,
    is_complete: bool,
}

/// End events with the same timestamp that have not been matched to a span yet.
#[derive(Default)]
struct PendingEnds {
    time: i64,
    count: usize,
    by_name: HashMap<StringId, usize>,
}

impl PendingEnds {
    /// Collects the events with the next timestamp.
    fn fill<'e>(&mut self, ends: &mut Peekable<impl Iterator<Item = &'e End>>) {
        self.by_name.clear();
        let Some(first) = ends.peek() else { return };
        self.time = first.time;
        while let Some(end) = ends.next_if(|end| end.time == self.time) {
            *self.by_name.entry(end.name).or_default() += 1;
            self.count += 1;
        }
    }

    /// Consumes an event that ends a span called `name`; returns whether there was one.
    fn ends(&mut self, name: StringId) -> bool {
        for name in [name, StringId::default()] {
            if let Some(left) = self.by_name.get_mut(&name).filter(|left| **left > 0) {
                *left -= 1;
                self.count -= 1;
                return true;
            }
        }
        false
    }
}

impl Sweep {
    fn run(&mut self, events: Events, builder: &mut ProfileBuilder) {
        let Events { mut begins, mut ends } = events;
        // If spans begin at the same time, the longer one is the outer one. The duration of a span with a
        // separate end event is unknown; it is treated as the longest.
        begins.sort_by_key(|begin| (begin.time, Reverse(begin.end)));
        ends.sort_by_key(|end| end.time);
        let mut begins = begins.iter().peekable();
        let mut ends = ends.iter().peekable();
        // End events with the same timestamp come in any order, and one may even end a span that begins at
        // that time.
        let mut moment = PendingEnds::default();
        loop {
            let begin = begins.peek().map_or(i64::MAX, |begin| begin.time);
            if moment.count == 0 {
                moment.fill(&mut ends);
            }
            let due = self.due.peek().map_or(i64::MAX, |(Reverse(time), _)| *time);
            let is_ending = moment.count > 0;
            if due != i64::MAX && due <= begin && (!is_ending || due <= moment.time) {
                self.end_complete(builder);
            } else if is_ending && moment.time <= begin {
                if let Some(at) = self.waiting().filter(|&at| moment.ends(self.open[at].name)) {
                    self.advance(moment.time, builder);
                    self.close(at);
                } else if let Some(begin) = begins.next_if(|begin| begin.time == moment.time) {
                    self.begin(begin, builder);
                } else {
                    self.unmatched += std::mem::take(&mut moment.count);
                }
            } else if let Some(begin) = begins.next() {
                self.begin(begin, builder);
            } else {
                return;
            }
        }
    }

    fn begin(&mut self, begin: &Begin, builder: &mut ProfileBuilder) {
        let &Begin { time, end, is_complete, frame } = begin;
        self.advance(time, builder);
        // Indices grow towards the top, so a span can be found by binary search.
        let number = self.open.last().map_or(0, |open| open.number + 1);
        let name = builder.function_row(builder.frame_row(frame).function).name;
        self.open.push(Open { number, name, is_complete });
        self.stack.push(frame);
        self.stacks.push(None);
        if is_complete {
            self.due.push((Reverse(end), number));
        }
    }

    /// Closes the open span at `at`.
    fn close(&mut self, at: usize) {
        self.open.remove(at);
        self.stack.remove(at);
        // The stacks of spans above it were those with it.
        self.stacks.truncate(at);
        self.stacks.resize(self.stack.len(), None);
    }

    /// Ends the complete span that is due next.
    fn end_complete(&mut self, builder: &mut ProfileBuilder) {
        let Some((Reverse(time), number)) = self.due.pop() else { return };
        self.advance(time, builder);
        if let Ok(at) = self.open.binary_search_by_key(&number, |open| open.number) {
            // A complete span above this one lasts longer than the span in which it began.
            self.overlapping += usize::from(self.open[at + 1..].iter().any(|above| above.is_complete));
            self.close(at);
        }
    }

    /// The innermost open span that needs an end event.
    fn waiting(&self) -> Option<usize> {
        self.open.iter().rposition(|open| !open.is_complete)
    }

    /// Advances to `time`, and attributes the elapsed time to the spans that were open.
    fn advance(&mut self, time: i64, builder: &mut ProfileBuilder) {
        if let Some(innermost) = self.stacks.last_mut().filter(|_| time > self.now) {
            let stack = *innermost.get_or_insert_with(|| self.group.stack(&self.stack, builder));
            if self.skipped_labels {
                builder.skipped_labels();
            }
            let values = [time.saturating_sub(self.now)];
            self.group.sample(stack, self.labels, Some(self.now), &values, builder);
        }
        self.now = self.now.max(time);
    }
}
