//! The container of a PDB file: several streams in blocks, like the files of a disk.
//!
//! ```text
//! magic  u32 block size, free blocks, blocks, bytes of the directory, unknown, block that lists the blocks of the directory
//! directory: u32 streams, the size of each, the blocks of each
//! ```

use std::cell::Cell;

use object::ReadRef;

const MAGIC: &[u8] = b"Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0";

/// The size of a stream that was deleted.
const DELETED: u32 = u32::MAX;

/// The streams of a file, which are read when they are needed.
pub(super) struct Streams<R> {
    data: R,
    block_size: u64,
    /// Of each stream, its size and the numbers of its blocks.
    list: Vec<(u32, Vec<u32>)>,
    /// How many bytes may still be read: several streams of a corrupt file may be in the same blocks.
    left: Cell<u64>,
}

impl<'data, R: ReadRef<'data>> Streams<R> {
    /// The streams of a file; `None` if it is none of these files, or cut.
    pub(super) fn of(data: R) -> Option<Self> {
        let head = data.read_bytes_at(0, 56).ok()?;
        let rest = head.strip_prefix(MAGIC)?;
        let number = |at: usize| u32_at(rest, 4 * at);
        let (block_size, directory_size, list) = (u64::from(number(0)?), number(3)?, u64::from(number(5)?));
        if !block_size.is_power_of_two() || !(512..=1 << 16).contains(&block_size) {
            return None;
        }
        let length = data.len().ok()?;
        let mut streams =
            Streams { data, block_size, list: Vec::new(), left: Cell::new(length.saturating_mul(4)) };
        let blocks = u64::from(directory_size).div_ceil(block_size);
        let list = data.read_bytes_at(list.checked_mul(block_size)?, blocks.checked_mul(4)?).ok()?;
        let directory = streams.blocks(directory_size, &numbers(list))?;
        let count = u32_at(&directory, 0)? as usize;
        let sizes = numbers(directory.get(4..count.checked_mul(4)?.checked_add(4)?)?);
        let mut at = 4 + 4 * count;
        for size in sizes {
            let size = if size == DELETED { 0 } else { size };
            let end = at.checked_add(4 * usize::try_from(u64::from(size).div_ceil(block_size)).ok()?)?;
            streams.list.push((size, numbers(directory.get(at..end)?)));
            at = end;
        }
        Some(streams)
    }

    /// The bytes of a stream; `None` if there is no such stream, or it is cut.
    pub(super) fn read(&self, stream: u16) -> Option<Vec<u8>> {
        let (size, blocks) = self.list.get(usize::from(stream))?;
        self.blocks(*size, blocks)
    }

    fn blocks(&self, size: u32, blocks: &[u32]) -> Option<Vec<u8>> {
        let mut left = u64::from(size);
        self.left.set(self.left.get().checked_sub(left)?);
        let mut bytes = Vec::new();
        for &block in blocks {
            let length = left.min(self.block_size);
            let start = u64::from(block) * self.block_size;
            bytes.extend_from_slice(self.data.read_bytes_at(start, length).ok()?);
            left -= length;
        }
        (left == 0).then_some(bytes)
    }
}

/// Little-endian numbers, one after the other.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The number at an offset; `None` after the end.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The same of two bytes.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The text at an offset, which ends with a zero.
pub(super) fn text_at(bytes: &[u8], at: usize) -> Option<&[u8]> {
    bytes.get(at..)?.split(|&byte| byte == 0).next()
}
