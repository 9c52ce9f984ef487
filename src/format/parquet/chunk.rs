//! The bytes of one column of a row group.

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// The bytes of one column of a row group. The library addresses them as parts of the file.
pub(super) struct Chunk {
    /// Where they begin in the file.
    pub(super) start: u64,
    pub(super) bytes: Bytes,
}

impl Chunk {
    fn slice(&self, start: u64, length: Option<usize>) -> Result<Bytes> {
        let outside = || ParquetError::EOF("a page is outside its column".to_string());
        let from = start.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let from = from.filter(|&from| from <= self.bytes.len()).ok_or_else(outside)?;
        let rest = self.bytes.slice(from..);
        match length {
            Some(length) if length > rest.len() => Err(outside()),
            Some(length) => Ok(rest.slice(..length)),
            None => Ok(rest),
        }
    }

    /// Checks the sizes that the headers of pages declare, because the library allocates what they say: `None` if a header is
    /// malformed or implausible. A page with a few bytes may declare gigabytes.
    pub(super) fn check(&self) -> Option<()> {
        let mut rest = &self.bytes[..];
        while !rest.is_empty() {
            let (page, data) = PageSizes::read(rest)?;
            let compressed = usize::try_from(page.compressed).ok().filter(|&size| size <= data.len())?;
            let limit = MIN_LIMIT.max(compressed.saturating_mul(MOST_PACKED));
            if usize::try_from(page.uncompressed).ok()? > limit {
                return None;
            }
            let values = usize::try_from(page.values).ok()?;
            // Every value of a dictionary takes at least a bit, and those of other pages a bit per level.
            if values > MOST_VALUES + compressed.saturating_mul(VALUES_PER_BYTE) {
                return None;
            }
            rest = &data[compressed..];
        }
        Some(())
    }
}

/// The largest page that is plausible whatever its compressed size: writers make pages of about 1 MiB.
const MIN_LIMIT: usize = 8 << 20;

/// The largest plausible ratio of a larger page to its compressed size.
const MOST_PACKED: usize = 1000;

/// The number of values of a page that is plausible whatever its size: runs of equal values take no space.
const MOST_VALUES: usize = 1 << 20;

/// How many more values are plausible per compressed byte.
const VALUES_PER_BYTE: usize = 32;

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(self.slice(start, None)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.slice(start, Some(length))
    }
}

/// The sizes in the header of a page, which is a Thrift structure in the compact protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageSizes {
    uncompressed: i64,
    compressed: i64,
    values: i64,
}

impl PageSizes {
    /// Reads the header at the start of `bytes`; also returns what follows it.
    fn read(bytes: &[u8]) -> Option<(PageSizes, &[u8])> {
        let mut header = Header { rest: bytes, sizes: PageSizes::default() };
        header.structure(None)?;
        Some((header.sizes, header.rest))
    }
}

/// The header of a page that is being read.
struct Header<'b> {
    rest: &'b [u8],
    sizes: PageSizes,
}

impl Header<'_> {
    /// A structure: that of the header, or that of its field `parent`. Statistics are a structure within that.
    fn structure(&mut self, parent: Option<i64>) -> Option<()> {
        let mut id = 0;
        loop {
            let [head] = *self.take(1)? else { return None };
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.integer()?,
                more => id + i64::from(more),
            };
            match head & 15 {
                // Booleans are part of the head.
                1 | 2 => {}
                3 => drop(self.take(1)?),
                4..=6 => {
                    let value = self.integer()?;
                    self.found(parent, id, value);
                }
                7 => drop(self.take(8)?),
                8 => {
                    let length = usize::try_from(self.varint()?).ok()?;
                    self.take(length)?;
                }
                12 => match parent {
                    None => self.structure(Some(id))?,
                    Some(NESTED) => return None,
                    Some(_) => self.structure(Some(NESTED))?,
                },
                _ => return None,
            }
        }
    }

    fn found(&mut self, parent: Option<i64>, id: i64, value: i64) {
        match (parent, id) {
            (None, 2) => self.sizes.uncompressed = value,
            (None, 3) => self.sizes.compressed = value,
            // The headers of data pages, of dictionaries, and of data pages of the second version.
            (Some(5 | 7 | 8), 1) => self.sizes.values = value,
            _ => {}
        }
    }

    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else { return None };
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let zigzag = self.varint()?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

/// The parent of structures within structures of the header.
const NESTED: i64 = -1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_pages() {
        // Type 0, 100 bytes, 2 compressed; field 5: 7 values; then the data.
        let page = [0x15, 0, 0x15, 200, 1, 0x15, 4, 0x2c, 0x15, 14, 0, 0, 9, 9];
        let sizes = PageSizes { uncompressed: 100, compressed: 2, values: 7 };
        assert_eq!(PageSizes::read(&page), Some((sizes, &[9, 9][..])));
        assert!(Chunk { start: 4, bytes: Bytes::copy_from_slice(&page) }.check().is_some());
        for length in 1..page.len() {
            let bytes = Bytes::copy_from_slice(&page[..length]);
            assert!(Chunk { start: 4, bytes }.check().is_none(), "{length}");
        }
        // 2 bytes that declare 1 GiB, and 2 bytes that declare 500 million values.
        let gib = [0x15, 0, 0x15, 128, 128, 128, 128, 8, 0x15, 4, 0x2c, 0x15, 14, 0, 0, 9, 9];
        assert_eq!(PageSizes::read(&gib).unwrap().0.uncompressed, 1 << 30);
        let many = [0x15, 0, 0x15, 200, 1, 0x15, 4, 0x2c, 0x15, 128, 148, 235, 220, 3, 0, 0, 9, 9];
        assert_eq!(PageSizes::read(&many).unwrap().0.values, 500_000_000);
        for page in [&gib[..], &many] {
            assert!(Chunk { start: 4, bytes: Bytes::copy_from_slice(page) }.check().is_none());
        }
    }
}
