//! The time that threads waited, from the scheduler's events.
//!
//! `sched:sched_switch` is recorded when a thread leaves a processor, with its stack. The wait ends when another such event, or a
//! record of perf, says that the thread is back on a processor. Recordings of a single program often lack these; then it ended when
//! the thread was woken (`sched:sched_waking`), or else before the thread's next sample.

use hashbrown::HashMap;

use crate::profile::{ContextSwitch, StackId};
use crate::unit::share;

/// From this share on, in percent, waiting for a processor is mentioned.
const MANY: i128 = 10;

/// The metric.
pub(super) const OFF_CPU: &str = "off_cpu";

/// Events that say that a thread can run again.
const WAKEUPS: [&[u8]; 3] = [b"sched:sched_waking", b"sched:sched_wakeup", b"sched:sched_wakeup_new"];

/// What an event says about threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchedulerEvent {
    /// The thread of the event leaves its processor, and another one, or none (0), follows.
    Switch {
        /// The one that follows.
        next: i64,
        /// Whether the thread that leaves could have gone on: then it waits for a processor, and for nothing else.
        could_run: bool,
    },
    /// The thread of the event wakes another one.
    Wake { woken: i64 },
    /// Any other event: its thread is running.
    Other,
}

impl SchedulerEvent {
    /// Whether an event has fields that matter here.
    pub(super) fn concerns(event: &[u8]) -> bool {
        is_switch(event) || WAKEUPS.contains(&event)
    }

    /// An event as `perf script` prints it: `prev_comm=sh prev_pid=9 … ==> next_comm=… next_pid=7 …`, or in older versions
    /// `sh:9 [120] S ==> app:7 [120]`.
    pub(super) fn of_text(event: &[u8], fields: &[u8]) -> Self {
        if is_switch(event) {
            let next = memchr::memmem::find(fields, b"==>").map(|at| &fields[at + 3..]);
            let next = next.and_then(|next| pid_in(next, b"next_pid="));
            let could_run = state_in(fields).is_some_and(|state| state.starts_with(b"R"));
            return next.map_or(SchedulerEvent::Other, |next| SchedulerEvent::Switch { next, could_run });
        }
        let woken = if WAKEUPS.contains(&event) { pid_in(fields, b" pid=") } else { None };
        woken.map_or(SchedulerEvent::Other, |woken| SchedulerEvent::Wake { woken })
    }

    /// An event of which these numbers are known: the thread that follows and the state of the one before, or the one that is
    /// woken.
    pub(super) fn of_numbers(
        event: &[u8],
        next: Option<i64>,
        state: Option<u64>,
        woken: Option<i64>,
    ) -> Self {
        /// The bits of states other than "running"; those above say that the kernel took the processor away.
        const STATES: u64 = 0xff;
        match (next, woken) {
            (Some(next), _) if is_switch(event) => {
                SchedulerEvent::Switch { next, could_run: state.is_some_and(|state| state & STATES == 0) }
            }
            (_, Some(woken)) if WAKEUPS.contains(&event) => SchedulerEvent::Wake { woken },
            _ => SchedulerEvent::Other,
        }
    }
}

fn is_switch(event: &[u8]) -> bool {
    event == b"sched:sched_switch"
}

/// The number after a key, or of `name:number [priority]`. The name of a thread may contain anything, so the last key counts.
fn pid_in(fields: &[u8], key: &[u8]) -> Option<i64> {
    let after = match memchr::memmem::rfind(fields, key) {
        Some(at) => &fields[at + key.len()..],
        None => {
            let bracket = memchr::memmem::rfind(fields, b" [")?;
            &fields[memchr::memrchr(b':', &fields[..bracket])? + 1..bracket]
        }
    };
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&after[..digits]).ok()?.parse().ok()
}

/// The state in which a thread leaves its processor: `R` or `R+` if it could go on. Older versions write it before the arrow.
fn state_in(fields: &[u8]) -> Option<&[u8]> {
    let word = match memchr::memmem::rfind(fields, b" prev_state=") {
        Some(at) => fields[at..].splitn(2, |&byte| byte == b'=').nth(1)?,
        None => {
            let before = &fields[..memchr::memmem::find(fields, b" ==> ")?];
            &before[memchr::memrchr(b' ', before)? + 1..]
        }
    };
    word.split(|&byte| byte == b' ').next()
}

/// A wait that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait<T, S = StackId> {
    /// What is known of the thread.
    pub(super) thread: T,
    /// The stack with which it left its processor.
    pub(super) stack: S,
    /// When it did, in nanoseconds.
    pub(super) since: i64,
    /// How long it waited, in nanoseconds; more than 0.
    pub(super) length: i64,
    /// The name of the thread that woke it, if that was recorded.
    pub(super) waker: Option<String>,
    /// Whether it could have run all the time, and waited for a processor.
    pub(super) could_run: bool,
}

impl<T, S> Wait<T, S> {
    /// The label `wait`.
    pub(super) fn label(&self) -> &'static str {
        if self.could_run { "processor" } else { "" }
    }
}

/// The threads that are waiting, with what is known of each and its stack.
#[derive(Debug)]
pub(super) struct OffCpu<T, S = StackId> {
    waiting: HashMap<i64, Waiting<T, S>>,
    /// How long threads waited, and the part of it in which they could have run.
    waited: [i64; 2],
    /// Whether not every event was recorded.
    lacks_events: bool,
    /// The records of perf that say when threads got and left processors, if they are kept.
    switches: Option<Vec<ContextSwitch>>,
}

#[derive(Debug)]
struct Waiting<T, S> {
    thread: T,
    stack: S,
    since: i64,
    could_run: bool,
    /// When it was woken first, and by whom.
    woken: Option<(i64, String)>,
}

impl<T, S> OffCpu<T, S> {
    /// No thread is waiting. With `keeps_switches`, records of context switches are kept.
    pub(super) fn new(keeps_switches: bool) -> Self {
        OffCpu {
            waiting: HashMap::new(),
            waited: [0, 0],
            lacks_events: false,
            switches: keeps_switches.then(Vec::new),
        }
    }

    /// A record of perf says that a thread gets a processor, or leaves it. Returns the wait that ends.
    pub(super) fn switched(&mut self, switch: ContextSwitch) -> Option<Wait<T, S>> {
        if let Some(switches) = &mut self.switches {
            switches.push(switch);
        }
        if switch.runs { self.run(switch.tid, switch.time, true) } else { None }
    }

    /// A thread ends. There is no record of its last switch.
    pub(super) fn ends(&mut self, tid: i64, time: i64) {
        // Without records of switches, it is not known when the thread had a processor before.
        if let Some(switches) = self.switches.as_mut().filter(|switches| !switches.is_empty()) {
            switches.push(ContextSwitch { time, tid, runs: false });
        }
    }

    /// The context switches on a clock that shows 0 at `first`.
    pub(super) fn take_switches(&mut self, first: Option<i64>) -> Vec<ContextSwitch> {
        let mut switches = self.switches.take().unwrap_or_default();
        let first = first.unwrap_or(0);
        for switch in &mut switches {
            switch.time = switch.time.saturating_sub(first);
        }
        switches.sort_by_key(|switch| switch.time);
        switches
    }

    /// A thread leaves its processor.
    pub(super) fn leave(&mut self, tid: i64, thread: T, stack: S, (since, could_run): (i64, bool)) {
        // Thread 0 stands for idle processors.
        if tid != 0 {
            self.waiting.insert(tid, Waiting { thread, stack, since, could_run, woken: None });
        }
    }

    /// An event stands for `period` events, of which only this one was recorded.
    pub(super) fn stands_for(&mut self, event: &[u8], period: u64) {
        self.lacks_events |= period > 1 && SchedulerEvent::concerns(event);
    }

    /// What is wrong with the times of waiting.
    pub(super) fn warning(&self) -> Option<String> {
        self.lacks_events.then(|| {
            "not every event of the scheduler was recorded, so the times of waiting (off_cpu) are wrong; record with `perf record -c 1 --switch-events \
             -e sched:sched_switch -e sched:sched_waking -e cpu-clock/freq=499/`"
                .to_string()
        })
    }

    /// What is said of waits that are none of the program's own, if there are many.
    pub(super) fn note(&self) -> Option<String> {
        let [all, of_ready] = self.waited;
        (i128::from(of_ready) * 100 >= i128::from(all) * MANY && of_ready > 0).then(|| {
            format!(
                "{} of {OFF_CPU} is of threads that could have run, but waited for a processor: --label wait=processor shows it",
                share(of_ready, all)
            )
        })
    }

    /// An event happens to a thread, which is running then. Returns the waits that end with it: that of this thread, and that of
    /// the thread that follows it on its processor.
    pub(super) fn happens(
        &mut self,
        event: SchedulerEvent,
        tid: i64,
        now: i64,
        name: impl FnOnce() -> String,
    ) -> [Option<Wait<T, S>>; 2] {
        let own = self.run(tid, now, false);
        let next = match event {
            SchedulerEvent::Switch { next, .. } => self.run(next, now, true),
            SchedulerEvent::Wake { woken } => {
                self.wake(woken, now, name);
                None
            }
            SchedulerEvent::Other => None,
        };
        [own, next]
    }

    /// A thread is woken.
    fn wake(&mut self, tid: i64, now: i64, waker: impl FnOnce() -> String) {
        if let Some(waiting) = self.waiting.get_mut(&tid).filter(|waiting| waiting.woken.is_none()) {
            waiting.woken = Some((now, waker()));
        }
    }

    /// A thread gets a processor at `now`; or was seen running then, if this is not exact.
    pub(super) fn run(&mut self, tid: i64, now: i64, is_exact: bool) -> Option<Wait<T, S>> {
        let Waiting { thread, stack, since, could_run, woken } = self.waiting.remove(&tid)?;
        let end = woken.as_ref().map(|(at, _)| *at).filter(|_| !is_exact).unwrap_or(now);
        let length = end.saturating_sub(since);
        let waker = woken.map(|(_, waker)| waker);
        if length <= 0 {
            return None;
        }
        let [all, of_ready] = &mut self.waited;
        *all = all.saturating_add(length);
        *of_ready = of_ready.saturating_add(if could_run { length } else { 0 });
        Some(Wait { thread, stack, since, length, waker, could_run })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Id;

    #[test]
    fn both_forms_of_events_are_read() {
        let switch = |text: &str| SchedulerEvent::of_text(b"sched:sched_switch", text.as_bytes());
        let new = "prev_comm=a ==> next_pid=1 prev_pid=9 prev_prio=120 prev_state=S ==> next_comm=next_pid=5 next_pid=7 next_prio=120";
        assert_eq!(
            switch(new),
            SchedulerEvent::Switch { next: 7, could_run: false },
            "a name may contain anything"
        );
        let new = "prev_comm=a b prev_pid=9 prev_prio=120 prev_state=R+ ==> next_comm=next_pid=5 next_pid=7 next_prio=120";
        assert_eq!(switch(new), SchedulerEvent::Switch { next: 7, could_run: true });
        let old = |state: &str| switch(&format!("sh:9 [120] {state} ==> a:b:7 [120]"));
        assert_eq!(old("S"), SchedulerEvent::Switch { next: 7, could_run: false });
        assert_eq!(old("R+"), SchedulerEvent::Switch { next: 7, could_run: true });
        let number = |state| SchedulerEvent::of_numbers(b"sched:sched_switch", Some(7), Some(state), None);
        assert_eq!(number(0x100), SchedulerEvent::Switch { next: 7, could_run: true });
        assert_eq!(number(0x2), SchedulerEvent::Switch { next: 7, could_run: false });
        assert_eq!(switch("truncated"), SchedulerEvent::Other);
        let wake = |event: &str, text: &str| SchedulerEvent::of_text(event.as_bytes(), text.as_bytes());
        let woken = SchedulerEvent::Wake { woken: 8 };
        assert_eq!(wake("sched:sched_waking", "comm=x y pid=8 prio=120 target_cpu=001"), woken);
        assert_eq!(wake("sched:sched_wakeup", "x:8 [120] success=1 CPU:001"), woken);
        assert_eq!(wake("sched:sched_stat_wait", "comm=x pid=8"), SchedulerEvent::Other);
    }

    #[test]
    fn switches_are_kept_if_asked_for_and_threads_end() {
        let switch = |time, runs| ContextSwitch { time, tid: 7, runs };
        let mut off: OffCpu<&str> = OffCpu::new(true);
        off.ends(8, 90);
        off.switched(switch(120, true));
        off.switched(switch(110, false));
        off.ends(7, 150);
        assert_eq!(off.take_switches(Some(100)), [switch(10, false), switch(20, true), switch(50, false)]);
        let mut off: OffCpu<&str> = OffCpu::new(false);
        off.switched(switch(120, true));
        assert_eq!(off.take_switches(None), []);
    }

    #[test]
    fn waits_end_when_the_thread_is_back() {
        let stack = StackId::new(3);
        let mut off = OffCpu::new(false);
        let waited = |wait: Option<Wait<&str>>| wait.map(|wait| (wait.since, wait.length, wait.waker));
        off.leave(7, "a", stack, (100, false));
        off.wake(7, 130, || "b 8".to_string());
        off.wake(7, 135, || "c 9".to_string());
        assert_eq!(waited(off.run(7, 140, true)), Some((100, 40, Some("b 8".to_string()))));
        assert_eq!(off.run(7, 150, true), None);
        // Seen running at 190, but woken at 160.
        off.leave(7, "a", stack, (150, false));
        off.wake(7, 160, || "b 8".to_string());
        assert_eq!(waited(off.run(7, 190, false)), Some((150, 10, Some("b 8".to_string()))));
        off.leave(7, "a", stack, (200, false));
        assert_eq!(waited(off.run(7, 260, false)), Some((200, 60, None)));
        assert_eq!(off.note(), None);
        off.leave(7, "a", stack, (270, true));
        assert!(off.run(7, 290, true).unwrap().could_run);
        assert!(off.note().unwrap().starts_with("15.4% of off_cpu is of threads that could have run"));
        // Times may run backwards, and processors may be idle.
        off.leave(7, "a", stack, (300, false));
        assert_eq!(off.run(7, 290, true), None);
        off.leave(0, "idle", stack, (300, false));
        assert_eq!(off.run(0, 400, true), None);
    }
}
