//! Stopping work whose result nobody waits for any more.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks work on other threads to stop.
///
/// Computing is pure functions, so work that stops can simply be left: it unwinds, as a panic does, but nothing is printed.
///
/// ```
/// use prof::parallel::{Stop, checkpoint};
///
/// let stop = Stop::default();
/// assert_eq!(stop.unless_stopped(|| 1 + 1), Some(2));
/// stop.stop();
/// assert_eq!(stop.unless_stopped(|| loop { checkpoint() }), None::<()>);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// What work that stops unwinds with.
struct Stopped;

thread_local! {
    /// Who may stop the work of this thread.
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    /// Asks the work to stop at its next checkpoint.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Does something that can be stopped, and returns its result; `None` if it was stopped.
    pub fn unless_stopped<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(|| stoppable(Some(self.clone()), work))) {
            Ok(made) => Some(made),
            Err(why) if is_stop(&*why) => None,
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn is_stop(why: &(dyn Any + Send)) -> bool {
    why.is::<Stopped>()
}

/// Who may stop the work of this thread, for the threads that help with it.
pub(super) fn stop_of_thread() -> Option<Stop> {
    STOP.with_borrow(Clone::clone)
}

/// Does something that `stop` may stop.
pub(super) fn stoppable<T>(stop: Option<Stop>, work: impl FnOnce() -> T) -> T {
    /// Puts back what was before, also while unwinding.
    struct Before(Option<Stop>);
    impl Drop for Before {
        fn drop(&mut self) {
            STOP.set(self.0.take());
        }
    }
    let _before = Before(STOP.replace(stop));
    work()
}

/// Leaves the work of this thread if it is to stop. Loops that may take long call it again and again.
pub fn checkpoint() {
    let is_stopped =
        STOP.with_borrow(|stop| stop.as_ref().is_some_and(|stop| stop.0.load(Ordering::Relaxed)));
    if is_stopped {
        resume_unwind(Box::new(Stopped));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::{both, each};

    #[test]
    fn helpers_stop_with_the_work_they_help_with() {
        let stop = Stop::default();
        let count = |_| {
            stop.stop();
            checkpoint();
        };
        assert_eq!(stop.unless_stopped(|| each(vec![1, 2, 3], count).len()), None);
        assert_eq!(stop.unless_stopped(|| both(checkpoint, checkpoint)), None);
        // Nobody stops what is done afterwards.
        checkpoint();
        assert_eq!(each(vec![1, 2, 3], |number| number), [1, 2, 3]);
    }

    #[test]
    fn panics_are_passed_on() {
        let panicked = catch_unwind(|| {
            Stop::default().unless_stopped(|| std::panic::resume_unwind(Box::new("on purpose")))
        });
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
