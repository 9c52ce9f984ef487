//! The threads that events refer to.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::nettrace::blocks::text;

/// A thread of a process; a process id of 0 stands for the only process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Thread<'a> {
    pub(super) process: u64,
    pub(super) id: u64,
    pub(super) name: &'a [u8],
}

/// The table of threads of version 6; before, events have the id of the thread itself.
#[derive(Debug)]
pub(super) struct Threads<'a> {
    by_index: Option<HashMap<u64, Thread<'a>>>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(version: u32) -> Self {
        Threads { by_index: (version >= 6).then(HashMap::new) }
    }

    /// The thread that an event refers to.
    pub(super) fn thread(&self, thread: u64) -> Thread<'a> {
        match &self.by_index {
            Some(table) => table.get(&thread).copied().unwrap_or_default(),
            None => Thread { id: thread, ..Thread::default() },
        }
    }

    pub(super) fn process(&self, thread: u64) -> u64 {
        self.thread(thread).process
    }

    pub(super) fn clear(&mut self) {
        if let Some(table) = &mut self.by_index {
            table.clear();
        }
    }

    /// Adds a block of threads.
    pub(super) fn add(&mut self, body: &'a [u8]) -> Option<()> {
        let table = self.by_index.get_or_insert_default();
        let mut fields = Fields::new(body, false);
        while !fields.is_empty() {
            let size = fields.u16()?;
            let mut row = Fields::new(fields.take(size.into())?, false);
            let index = row.varint()?;
            let mut thread = Thread::default();
            while !row.is_empty() {
                match row.u8()? {
                    1 => thread.name = text(&mut row)?,
                    2 => thread.process = row.varint()?,
                    3 => thread.id = row.varint()?,
                    4 => {
                        text(&mut row)?;
                        text(&mut row)?;
                    }
                    // The sizes of later kinds are unknown.
                    _ => break,
                }
            }
            table.insert(index, thread);
        }
        Some(())
    }
}
