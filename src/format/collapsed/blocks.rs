//! Blocks of whole lines, handed out to readers one at a time.

use std::sync::{Mutex, PoisonError};

use crate::format::source::WholeLines;
use crate::format::{LoadError, Source};

/// The blocks of an input, shared by its readers.
pub(super) struct SharedBlocks<'a> {
    unread: Mutex<Unread<'a>>,
}

struct Unread<'a> {
    source: &'a mut Source,
    /// Number of lines in each block; known once the block has been put back.
    lines: Vec<u64>,
}

/// Some whole lines, and the index of the block.
pub(super) struct LineBlock {
    pub(super) number: u64,
    pub(super) lines: WholeLines,
}

impl<'a> SharedBlocks<'a> {
    pub(super) fn new(source: &'a mut Source) -> Self {
        SharedBlocks { unread: Mutex::new(Unread { source, lines: Vec::new() }) }
    }

    /// The next block; `emptied` is memory that may be used for a later one.
    pub(super) fn next(&self, emptied: Vec<u8>) -> Result<Option<LineBlock>, LoadError> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lines) = unread.source.take_lines(emptied)? else { return Ok(None) };
        let number = unread.lines.len() as u64;
        unread.lines.push(0);
        Ok(Some(LineBlock { number, lines }))
    }

    /// Records how many lines a block had, and returns its buffer for reuse.
    pub(super) fn put_back(&self, block: LineBlock, lines: u64) -> Vec<u8> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.lines[block.number as usize] = lines;
        block.lines.into_buffer()
    }

    /// The line number in the input (from 1) of a line of a block. All blocks must have been put back.
    pub(super) fn line_number(&self, block: u64, line: u64) -> u64 {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        unread.lines.iter().take(block as usize).sum::<u64>() + line + 1
    }
}
