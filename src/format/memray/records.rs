//! Every allocation and release, in their order.
//!
//! Up to version 11, the lower half of a record's first byte is its kind and the upper half belongs to it. From version 12 on, the highest
//! bit that is set is the kind:
//!
//! ```text
//! 1ppppaaa  an allocation: p is the place of the address among the last 15, or 15 if it follows; a is the allocator, or 0 if it follows
//! 01.....e  a function is entered: code object, instruction
//! 001ppppc  an object is made or released
//! 0001nnnn  n + 1 functions are left
//! 0000kkkk  other kinds
//! ```
//!
//! Addresses, frames and lines are differences to the last ones.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::heap::Heap;
use crate::format::memray::allocator::{Allocator, Deed, Site};
use crate::format::memray::frames::{Frames, signed};
use crate::format::memray::{COMPACT, End, Header, Recording};
use crate::format::paths::{PathId, Paths};
use crate::profile::{FrameId, ProfileBuilder};

/// The number of addresses that are remembered.
const REMEMBERED: usize = 15;

/// The space for them, where the newest one replaces the oldest.
const SPACE: usize = 16;

/// The number of no site.
const NO_SITE: u32 = u32::MAX;

/// The last site of a path: its number, and what tells it from others of that path.
#[derive(Clone, Copy, Debug)]
struct LastSite {
    number: u32,
    thread: u32,
    allocator: Allocator,
}

/// The stack of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Thread {
    /// Threads are counted as they run first.
    number: u32,
    path: PathId,
    /// The number of frames, those of memray included.
    depth: u64,
}

struct Reader<'h, 'a> {
    header: &'h Header,
    frames: Frames<'a>,
    paths: Paths,
    heap: Heap<Site>,
    /// The last site of each path: nearly always, the next allocation there is of the same.
    last_sites: Vec<LastSite>,
    /// The threads that do not run.
    threads: HashMap<u64, Thread>,
    /// The one that runs, and its number.
    running: Thread,
    thread: u64,
    /// The last addresses: `latest` is the place of the last one, and those before are after it.
    addresses: [u64; SPACE],
    latest: usize,
    address: u64,
    frame: u64,
}

pub(super) fn read(
    header: &Header,
    fields: &mut Fields<'_>,
    recording: &mut Recording,
) -> Result<End, &'static str> {
    let mut reader = Reader {
        header,
        frames: Frames::default(),
        paths: Paths::new(fields.len()),
        heap: Heap::new(),
        last_sites: Vec::new(),
        threads: HashMap::new(),
        running: Thread::default(),
        thread: 0,
        addresses: [0; SPACE],
        latest: 0,
        address: 0,
        frame: 0,
    };
    let record = if header.version >= COMPACT { Reader::compact } else { Reader::old };
    let mut end = Some(Ok(End::Missing));
    while let (Some(Ok(End::Missing)), false) = (end, fields.is_empty()) {
        end = record(&mut reader, fields, recording);
    }
    reader.finish(recording);
    // A record that is not complete is the last one of a program that was interrupted.
    end.unwrap_or(Ok(End::Missing))
}

/// Whether a record is the last one, or what is wrong with it; `None` if it is not complete.
type Record = Option<Result<End, &'static str>>;

const NEXT: Record = Some(Ok(End::Missing));
const UNKNOWN: Record = Some(Err("a record has an unknown kind"));

impl<'a> Reader<'_, 'a> {
    /// A record of version 12 or later.
    fn compact(&mut self, fields: &mut Fields<'a>, recording: &mut Recording) -> Record {
        let token = fields.u8()?;
        if token & 0x80 != 0 {
            let address = self.cached_address(token >> 3 & 15, fields)?;
            let number = match token & 7 {
                0 => fields.u8()?,
                number => number,
            };
            let Some(allocator) = Allocator::new(number) else { return Some(Err("an allocator is unknown")) };
            let mut size = 0;
            if allocator.deed() != Deed::Release {
                if self.header.has_native {
                    signed(fields)?;
                    recording.native += 1;
                }
                size = fields.varint()?;
            }
            self.change(allocator, address, size);
            return NEXT;
        }
        if token & 0x40 != 0 {
            let (code, instruction) = (fields.varint()?, signed(fields)?);
            let python = self.header.python;
            let builder = &mut recording.builder;
            let Some(frame) = self.frames.at_instruction(code, instruction, python, builder) else {
                return Some(Err("a function is entered whose code is not listed"));
            };
            self.enter(frame);
            return NEXT;
        }
        if token & 0x20 != 0 {
            self.cached_address(token >> 1 & 15, fields)?;
            if token & 1 != 0 && self.header.has_native {
                signed(fields)?;
            }
            return NEXT;
        }
        if token & 0x10 != 0 {
            return self.leave(u64::from(token & 15) + 1);
        }
        match token {
            // Space that was reserved and not used.
            0 => NEXT,
            1 => Some(Ok(End::Found)),
            2 => {
                let (_resident, _time) = (fields.varint()?, fields.varint()?);
                NEXT
            }
            14 => self.frames.read_code(fields, &mut recording.builder).and(NEXT),
            5..=12 => self.other(token, fields, recording),
            _ => UNKNOWN,
        }
    }

    /// A record of version 11 or earlier.
    fn old(&mut self, fields: &mut Fields<'a>, recording: &mut Recording) -> Record {
        let token = fields.u8()?;
        let (kind, flags) = (token & 15, token >> 4);
        match kind {
            0 => match flags {
                0 => NEXT,
                1 => Some(Ok(End::Found)),
                _ => UNKNOWN,
            },
            1 | 2 => {
                self.address = self.address.wrapping_add_signed(signed(fields)?);
                let Some(allocator) = Allocator::old(flags) else {
                    return Some(Err("an allocator is unknown"));
                };
                let has_size = kind == 2 || allocator.deed() != Deed::Release;
                let size = if has_size { fields.varint()? } else { 0 };
                if kind == 2 {
                    signed(fields)?;
                    recording.native += 1;
                }
                self.change(allocator, self.address, size);
                NEXT
            }
            3 => {
                self.frame = self.frame.wrapping_add_signed(signed(fields)?);
                self.frames.read_frame(self.frame, fields, &mut recording.builder).and(NEXT)
            }
            4 => {
                self.frame = self.frame.wrapping_add_signed(signed(fields)?);
                let Some(frame) = self.frames.numbered(self.frame) else {
                    return Some(Err("a function is entered that is not listed"));
                };
                self.enter(frame);
                NEXT
            }
            9 => self.leave(u64::from(flags) + 1),
            11 => {
                let (_resident, _time) = (fields.varint()?, fields.varint()?);
                NEXT
            }
            5..=8 | 10 | 12 => self.other(kind, fields, recording),
            _ => UNKNOWN,
        }
    }

    /// A record that is the same in all versions.
    fn other(&mut self, kind: u8, fields: &mut Fields<'a>, recording: &mut Recording) -> Record {
        match kind {
            10 => recording.name_thread(self.thread, fields.text()),
            12 => {
                let thread = fields.u64()?;
                self.switch(thread);
            }
            kind => return if skip_native(kind, fields)? { NEXT } else { UNKNOWN },
        }
        NEXT
    }

    /// An address among the last ones, or a new one: the difference to the last new one, without its three lowest bits.
    fn cached_address(&mut self, place: u8, fields: &mut Fields<'_>) -> Option<u64> {
        let place = usize::from(place);
        if place < REMEMBERED {
            return Some(self.addresses[(self.latest + place) % SPACE]);
        }
        self.address = self.address.wrapping_add_signed(signed(fields)?);
        self.latest = (self.latest + SPACE - 1) % SPACE;
        self.addresses[self.latest] = self.address << 3;
        Some(self.addresses[self.latest])
    }

    fn change(&mut self, allocator: Allocator, address: u64, size: u64) {
        match allocator.deed() {
            Deed::Allocate => {
                let site = self.site(allocator);
                self.heap.allocate(site, address, size);
            }
            Deed::Release => self.heap.release(address),
            Deed::Map => {
                let site = self.site(allocator);
                self.heap.map(site, address, size);
            }
            Deed::Unmap => self.heap.unmap(address, size),
        }
    }

    /// The number of the site where the thread is.
    fn site(&mut self, allocator: Allocator) -> u32 {
        let Thread { number: thread, path, .. } = self.running;
        if self.last_sites.len() < self.paths.len() {
            let none = LastSite { number: NO_SITE, thread, allocator };
            self.last_sites.resize(self.paths.len(), none);
        }
        let last = &mut self.last_sites[path as usize];
        if last.number == NO_SITE || (last.thread, last.allocator) != (thread, allocator) {
            let number = self.heap.number(Site { path, thread: self.thread, allocator });
            *last = LastSite { number, thread, allocator };
        }
        last.number
    }

    /// Another thread runs from now on.
    fn switch(&mut self, thread: u64) {
        if thread != self.thread {
            self.threads.insert(self.thread, self.running);
            let new = Thread { number: self.threads.len() as u32, ..Thread::default() };
            self.running = self.threads.get(&thread).copied().unwrap_or(new);
            self.thread = thread;
        }
    }

    fn enter(&mut self, frame: u32) {
        let thread = &mut self.running;
        thread.depth += 1;
        let is_own = self.thread == self.header.main_thread && thread.depth <= self.header.own_frames;
        if !is_own {
            thread.path = self.paths.enter(thread.path, frame.into());
        }
    }

    fn leave(&mut self, count: u64) -> Record {
        let thread = &mut self.running;
        for _ in 0..count {
            if thread.depth == 0 {
                return Some(Err("more functions are left than were entered"));
            }
            thread.depth -= 1;
            thread.path = self.paths.parent(thread.path);
        }
        NEXT
    }

    fn finish(mut self, recording: &mut Recording) {
        for (site, sums) in self.heap.finish() {
            let Recording { builder, group, .. } = recording;
            let add =
                |_: &mut ProfileBuilder, frame, frames: &mut Vec<FrameId>| frames.push(self.frames.id(frame));
            let stack = self.paths.stack(site.path, group, builder, add);
            let amounts = [sums.allocated, sums.in_use, sums.at_peak];
            let values = amounts.map(|amount| [amount.count, amount.bytes]);
            recording.add(&site, stack, values.as_flattened());
        }
        recording.warn_of_cut(self.paths.cut);
    }
}

/// Skips a record about native code: frames, and what is loaded where. `None` if it is not complete, `false` if it is of another kind.
pub(super) fn skip_native(kind: u8, fields: &mut Fields<'_>) -> Option<bool> {
    match kind {
        5 => {
            let (_instruction, _caller) = (signed(fields)?, signed(fields)?);
        }
        6 => {}
        7 => {
            let _file = fields.text();
            let (_segments, _address) = (fields.varint()?, fields.u64()?);
        }
        8 => {
            let (_address, _size) = (fields.u64()?, fields.varint()?);
        }
        _ => return Some(false),
    }
    Some(true)
}
