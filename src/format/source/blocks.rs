//! Reads an input in blocks, possibly ahead of the reader on another thread.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Instant;

use crate::format::source::counters::{Counters, add};

/// Number of bytes read or decompressed at a time: large enough to make passing blocks between threads cheap, small
/// enough for a block to stay in the L2 cache while it is decoded.
pub(super) const BLOCK: usize = 512 << 10;

/// Size of blocks at the start of an input, so that decoding starts early, and of all blocks that are decompressed on the
/// reader's thread. Small blocks touch less memory, and a fresh page costs as much as reading data into it: many
/// profiles cause only a third of the page faults that they cause with 512 KiB blocks.
const SMALL_BLOCK: usize = 128 << 10;

/// The number of small blocks at the start of an input.
const SMALL_BLOCKS: usize = 16;

/// Free space before each block for the unread end of the previous one. A field or line that crosses the boundary is made
/// contiguous by copying its first part here.
pub(super) const HEADROOM: usize = 64 << 10;

/// The source of further blocks.
pub(super) enum Blocks {
    /// Uncompressed input, read on demand. The last emptied block is reused, because fresh memory costs as
    /// much as reading into it.
    Here { reader: Box<dyn Read + Send>, empty: Vec<u8>, size: usize },
    /// Decompressed on another thread; emptied blocks are returned to it.
    Thread { full: Receiver<io::Result<Vec<u8>>>, empty: Sender<Vec<u8>> },
    /// No more blocks.
    End,
}

impl Blocks {
    /// Blocks of an input that is read on the reader's thread; `uses_threads` if other inputs are not read in parallel.
    pub(super) fn here(reader: Box<dyn Read + Send>, uses_threads: bool) -> Blocks {
        let size = if uses_threads { BLOCK } else { SMALL_BLOCK };
        Blocks::Here { reader, empty: Vec::new(), size }
    }

    /// Reads blocks ahead on a thread, so that decompression overlaps with decoding.
    pub(super) fn on_thread(mut reader: Box<dyn Read + Send>, counters: Arc<Counters>) -> io::Result<Blocks> {
        let (full_in, full): (SyncSender<io::Result<Vec<u8>>>, _) = sync_channel(2);
        let (empty, empty_out) = channel::<Vec<u8>>();
        thread::Builder::new().name("inflate".into()).spawn(move || {
            for number in 0.. {
                let start = Instant::now();
                let size = if number < SMALL_BLOCKS { SMALL_BLOCK } else { BLOCK };
                let block = read_block(reader.as_mut(), empty_out.try_recv().unwrap_or_default(), size);
                add(&counters.inflating, start.elapsed());
                let last = block.as_ref().map_or(true, |block| block.len() == HEADROOM);
                if full_in.send(block).is_err() || last {
                    return;
                }
            }
        })?;
        Ok(Blocks::Thread { full, empty })
    }

    /// The next block, after its headroom. An empty block or `None` marks the end.
    pub(super) fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        match self {
            Blocks::End => None,
            Blocks::Here { reader, empty, size } => {
                let size = *size;
                let block = read_block(reader.as_mut(), std::mem::take(empty), size);
                // A block that is not full is the last one. Looking for another would take a buffer of zeros.
                if block.as_ref().is_ok_and(|block| block.len() < HEADROOM + size) {
                    *self = Blocks::End;
                }
                Some(block)
            }
            Blocks::Thread { full, .. } => full.recv().ok(),
        }
    }

    /// Takes back an emptied block, to reuse its memory.
    pub(super) fn recycle(&mut self, block: Vec<u8>) {
        match self {
            Blocks::Here { empty, .. } => *empty = block,
            // If the thread has ended, the block is not needed.
            Blocks::Thread { empty, .. } => drop(empty.send(block)),
            Blocks::End => {}
        }
    }
}

/// Reads one block after its headroom; an empty block marks the end.
fn read_block(reader: &mut dyn Read, mut block: Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    let end = HEADROOM + size;
    if block.capacity() < end {
        // Fresh pages are zero already.
        block = vec![0; end];
    }
    block.resize(end, 0);
    let mut filled = HEADROOM;
    while filled < block.len() {
        match reader.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    block.truncate(filled);
    Ok(block)
}
