//! Reads a file straight into the memory where its bytes stay, in slices side by side.
//!
//! A file that is needed as a whole would otherwise pass through a block, from which it is copied into a buffer that is
//! moved whenever it grows. What is left is work of the kernel, copying and fresh pages, which several threads can share.

use std::fs::File;
use std::io;

use crate::parallel::{checkpoint, each, processors};

/// How much of a file must be left for reading it this way. Less is soon read in blocks.
pub(super) const LEAST: u64 = 1 << 20;

/// How much a thread should read at least.
const LEAST_OF_THREAD: usize = 4 << 20;

/// How much is read at a time. Work that nobody waits for any more is stopped in between.
const PIECE: usize = 1 << 20;

/// Something whose bytes can be read at any position, by several threads at once.
pub trait PositionedRead: Send + Sync {
    /// The number of bytes; `None` if it is unknown, as for pipes. More or less may then be read, because a file may change.
    fn size(&self) -> Option<u64>;

    /// Reads some bytes from `offset` on and returns how many; 0 at the end. Fails if they cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

impl PositionedRead for File {
    fn size(&self) -> Option<u64> {
        let can_read_at = cfg!(any(unix, windows));
        self.metadata().ok().filter(|file| can_read_at && file.is_file()).map(|file| file.len())
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buffer, offset)
    }

    #[cfg(not(any(unix, windows)))]
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Fills a buffer with the bytes from `offset` on, and returns how many there are: fewer than fit if the input is shorter.
pub(super) fn fill(input: &dyn PositionedRead, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let threads = processors().min(buffer.len() / LEAST_OF_THREAD).max(1);
    fill_slices(input, buffer, offset, threads)
}

/// The same, with so many threads.
fn fill_slices(
    input: &dyn PositionedRead,
    buffer: &mut [u8],
    offset: u64,
    threads: usize,
) -> io::Result<usize> {
    let size = buffer.len().div_ceil(threads).max(1);
    let slices: Vec<(usize, &mut [u8])> = buffer.chunks_mut(size).enumerate().collect();
    let lengths: Vec<usize> = slices.iter().map(|(_, slice)| slice.len()).collect();
    let read = each(slices, |(number, slice)| fill_slice(input, slice, offset + (number * size) as u64));
    let mut filled = 0;
    for (read, length) in read.into_iter().zip(lengths) {
        let read = read?;
        filled += read;
        // The input ends here: it became shorter. What others read behind this place, before it did, no longer belongs to it.
        if read < length {
            break;
        }
    }
    Ok(filled)
}

fn fill_slice(input: &dyn PositionedRead, slice: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < slice.len() {
        checkpoint();
        let end = slice.len().min(filled + PIECE);
        match input.read_at(&mut slice[filled..end], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::format::{Inflate, Source};
    use crate::profile::Budget;

    /// A file of which `size` says something else than what is there.
    struct Changing {
        bytes: Vec<u8>,
        size: u64,
        /// How many reads there were.
        reads: AtomicUsize,
        fails_at: Option<u64>,
    }

    impl Changing {
        fn new(bytes: &[u8], size: usize) -> Arc<Changing> {
            Arc::new(Changing {
                bytes: bytes.to_vec(),
                size: size as u64,
                reads: AtomicUsize::new(0),
                fails_at: None,
            })
        }
    }

    impl PositionedRead for Changing {
        fn size(&self) -> Option<u64> {
            Some(self.size)
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            // Every other read is interrupted, and the others give less than was asked for.
            if self.reads.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if self.fails_at.is_some_and(|at| offset >= at) {
                return Err(io::Error::other("broken disk"));
            }
            let rest = self.bytes.get(offset as usize..).unwrap_or_default();
            let count = rest.len().min(buffer.len().div_ceil(2));
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        }
    }

    fn numbered(count: usize) -> Vec<u8> {
        (0..count).map(|at| ((at * 31) >> 3) as u8).collect()
    }

    #[test]
    fn slices_are_filled_up_to_the_end() {
        let bytes = numbered(1000);
        for threads in [1, 2, 3, 7] {
            for asked in [0, 1, 6, 500, 989, 990, 991, 2000] {
                let mut buffer = vec![0; asked];
                let filled = fill_slices(&*Changing::new(&bytes, 0), &mut buffer, 10, threads).unwrap();
                assert_eq!(filled, asked.min(990));
                assert_eq!(buffer[..filled], bytes[10..10 + filled], "{threads}, {asked}");
            }
        }
    }

    #[test]
    fn what_is_behind_a_new_end_is_dropped() {
        /// An input that was cut at 40 after the second half had been read.
        struct Cut;
        impl PositionedRead for Cut {
            fn size(&self) -> Option<u64> {
                Some(100)
            }
            fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
                if offset >= 50 {
                    buffer.fill(2);
                    return Ok(buffer.len());
                }
                let count = buffer.len().min(40usize.saturating_sub(offset as usize));
                buffer[..count].fill(1);
                Ok(count)
            }
        }
        let mut buffer = vec![0; 100];
        assert_eq!(fill_slices(&Cut, &mut buffer, 0, 2).unwrap(), 40);
        assert_eq!(buffer[..40], [1; 40]);
    }

    #[test]
    fn an_error_is_passed_on() {
        let bytes = numbered(1000);
        let broken = Changing { fails_at: Some(700), ..Arc::into_inner(Changing::new(&bytes, 0)).unwrap() };
        for threads in [1, 4] {
            let error = fill_slices(&broken, &mut [0; 1000], 0, threads).unwrap_err();
            assert_eq!(error.to_string(), "broken disk");
        }
    }

    #[test]
    fn a_source_reads_the_same_either_way() {
        let least = LEAST as usize;
        // `bytes` are there in the end, of which `size` were there at first.
        for size in [0, 5, 100_000, least - 1, least, least + 1, 3 * least, 9 * least] {
            let head = crate::format::source::blocks::BLOCK;
            for length in [size, size.saturating_sub(7), size / 2, size + 9, size + least] {
                for (start, expected) in [("", 0), ("\u{FEFF}", 3)] {
                    let bytes = [start.as_bytes(), &numbered(length)].concat();
                    let reader = Box::new(Cursor::new(bytes.clone()));
                    let mut source = Source::open_with(reader, Inflate::OnThread, Budget::UNLIMITED).unwrap();
                    let file = Changing::new(&bytes, size + expected);
                    source.set_positioned(file.clone());
                    source.consume(source.bytes().len().min(10));
                    let skipped = source.position() as usize;
                    assert!(source.read_all().unwrap() == bytes[skipped..], "{size}, {length}");
                    assert_eq!(source.position(), bytes.len() as u64);
                    assert!(!source.more().unwrap());
                    let was_used = file.reads.load(Ordering::Relaxed) > 0;
                    let is_plain_block = bytes.len() >= head;
                    assert_eq!(
                        was_used,
                        is_plain_block && size + expected >= head + least,
                        "{size}, {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_file_is_not_read_beyond_the_limit() {
        let bytes = numbered(5 << 20);
        let file = Changing::new(&bytes, bytes.len());
        let reader = Box::new(Cursor::new(bytes));
        let mut source = Source::open_with(reader, Inflate::OnThread, Budget::of(4 << 20)).unwrap();
        source.set_positioned(file.clone());
        assert!(source.read_all().unwrap_err().to_string().contains("more memory than the 4.00MiB allowed"));
        assert_eq!(file.reads.load(Ordering::Relaxed), 0);
    }
}
