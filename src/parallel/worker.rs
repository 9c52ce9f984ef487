//! A thread that takes batches while the next one is made.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// A thread that adds batches to something, which it is given once it has started: a thread that cannot start must not cost what was
/// made so far. It ends when this is dropped.
pub(crate) struct Worker<S, B> {
    begin: Sender<S>,
    full: SyncSender<B>,
    /// Emptied batches, to be filled again.
    emptied: Receiver<B>,
    thread: JoinHandle<Option<S>>,
}

impl<S: Send + 'static, B: Default + Send + 'static> Worker<S, B> {
    /// Starts a thread, for which at most so many batches wait. `work` adds a batch and empties it.
    pub(crate) fn start(
        name: &str,
        waiting: usize,
        mut work: impl FnMut(&mut S, &mut B) + Send + 'static,
    ) -> io::Result<Self> {
        let (begin, begins) = channel::<S>();
        let (full, batches) = sync_channel::<B>(waiting);
        let (empty, emptied) = channel();
        let run = move || {
            let mut made = begins.recv().ok()?;
            for mut batch in batches {
                work(&mut made, &mut batch);
                // Fails if nobody makes batches any more.
                let _ = empty.send(batch);
            }
            Some(made)
        };
        let thread = thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(Worker { begin, full, emptied, thread })
    }

    /// Gives the thread what it adds batches to.
    pub(crate) fn begin(&self, made: S) {
        // Fails only if the thread panicked; finishing says so.
        let _ = self.begin.send(made);
    }

    /// Passes a batch on, and leaves an empty one.
    pub(crate) fn add(&self, batch: &mut B) {
        let empty = self.emptied.try_recv().unwrap_or_default();
        // As above.
        let _ = self.full.send(std::mem::replace(batch, empty));
    }

    /// Waits until all batches were added. `None` if the thread was never given anything to add to.
    pub(crate) fn finish(self) -> Option<S> {
        let Worker { begin, full, thread, .. } = self;
        drop((begin, full));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums() -> Worker<Vec<u64>, Vec<u64>> {
        Worker::start("sums", 2, |sums: &mut Vec<u64>, batch: &mut Vec<u64>| {
            sums.push(batch.drain(..).sum());
        })
        .unwrap()
    }

    #[test]
    fn batches_are_added_in_order() {
        let worker = sums();
        worker.begin(vec![7]);
        let mut batch = Vec::new();
        for number in 0..100 {
            assert!(batch.is_empty());
            batch.extend([number, 1]);
            worker.add(&mut batch);
        }
        assert_eq!(worker.finish(), Some([7].into_iter().chain(1..=100).collect()));
    }

    #[test]
    fn a_worker_that_was_given_nothing_has_made_nothing() {
        assert_eq!(sums().finish(), None);
    }

    #[test]
    fn a_panic_of_the_thread_is_passed_on() {
        let worker: Worker<u64, u64> =
            Worker::start("panics", 2, |_, _| panic!("as the test wants")).unwrap();
        worker.begin(1);
        worker.add(&mut 2);
        let finish = std::panic::AssertUnwindSafe(|| worker.finish());
        assert!(std::panic::catch_unwind(finish).is_err());
    }
}
