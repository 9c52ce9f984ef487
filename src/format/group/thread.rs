//! A thread that adds batches of samples to a profile while the reader fills the next one.

use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use crate::format::group::batch::{Adder, Batch};
use crate::profile::ProfileBuilder;

/// The number of batches that may wait for the thread.
const WAITING: usize = 4;

/// The thread. It ends when this is dropped.
pub(super) struct SampleThread {
    begin: Sender<(ProfileBuilder, Adder)>,
    full: SyncSender<Batch>,
    /// Emptied batches, to be filled again.
    emptied: Receiver<Batch>,
    thread: JoinHandle<Option<(ProfileBuilder, Adder)>>,
}

impl SampleThread {
    /// Starts a thread, which has nothing to add to yet.
    pub(super) fn start() -> io::Result<SampleThread> {
        let (begin, begins) = channel::<(ProfileBuilder, Adder)>();
        let (full, batches) = sync_channel::<Batch>(WAITING);
        let (empty, emptied) = channel();
        let add = move || {
            let (mut samples, mut adder) = begins.recv().ok()?;
            for mut batch in batches {
                adder.add(&mut batch, &mut samples);
                // Fails if the reader has failed and no longer needs the batch.
                let _ = empty.send(batch);
            }
            Some((samples, adder))
        };
        let thread = thread::Builder::new().name("samples".into()).spawn(add)?;
        Ok(SampleThread { begin, full, emptied, thread })
    }

    /// Lets the thread add to `samples`, which were detached.
    pub(super) fn begin(&self, samples: ProfileBuilder, adder: Adder) {
        // Fails only if the thread panicked; finishing says so.
        let _ = self.begin.send((samples, adder));
    }

    /// Passes a batch on, and leaves an empty one.
    pub(super) fn add(&self, batch: &mut Batch) {
        let empty = self.emptied.try_recv().unwrap_or_default();
        // As above.
        let _ = self.full.send(std::mem::replace(batch, empty));
    }

    /// Waits until all batches were added. `None` if the thread was never given anything to add to.
    pub(super) fn finish(self) -> Option<(ProfileBuilder, Adder)> {
        let SampleThread { begin, full, thread, .. } = self;
        drop((begin, full));
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
