//! The sums of allocations by place, which `memray run --aggregate` writes.
//!
//! The tables of frames and of stacks come first: a stack is a frame and the stack of its caller, and the first one has the number 1.

use crate::format::fields::Fields;
use crate::format::memray::allocator::{Allocator, Site};
use crate::format::memray::frames::{Frames, signed};
use crate::format::memray::records::skip_native;
use crate::format::memray::{COMPACT, End, Header, Recording};
use crate::format::paths::{EMPTY, PathId, Paths};
use crate::profile::{FrameId, ProfileBuilder};
use crate::unit::saturated;

/// Reads all records until the last one. Fails with what is wrong with a record.
pub(super) fn read(
    header: &Header,
    fields: &mut Fields<'_>,
    recording: &mut Recording,
) -> Result<End, &'static str> {
    let mut sums = Sums {
        header,
        frames: Frames::default(),
        paths: Paths::new(fields.len()),
        stacks: vec![Stack { path: EMPTY, shown: EMPTY, depth: 0 }],
        thread: 0,
    };
    let mut end = Some(Ok(End::Missing));
    while let (Some(Ok(End::Missing)), false) = (end, fields.is_empty()) {
        end = sums.record(fields, recording);
    }
    recording.warn_of_cut(sums.paths.cut);
    end.unwrap_or(Ok(End::Missing))
}

struct Sums<'h, 'a> {
    header: &'h Header,
    frames: Frames<'a>,
    paths: Paths,
    stacks: Vec<Stack>,
    /// The thread that is given a name.
    thread: u64,
}

#[derive(Clone, Copy, Debug)]
struct Stack {
    path: PathId,
    /// Without the frames of memray, if it is one of the main thread.
    shown: PathId,
    depth: u64,
}

impl<'a> Sums<'_, 'a> {
    fn record(
        &mut self,
        fields: &mut Fields<'a>,
        recording: &mut Recording,
    ) -> Option<Result<End, &'static str>> {
        match fields.u8()? {
            // Space that was reserved and not used.
            0 => {}
            1 => fields.skip_longs(3)?,
            2 => return self.sum(fields, recording),
            3 => return self.stack(fields),
            4 => return self.frame(fields, recording),
            10 => recording.name_thread(self.thread, fields.text()),
            12 => self.thread = fields.u64()?,
            // An object that was not released.
            13 => {
                fields.varint()?;
                if self.header.has_native {
                    fields.varint()?;
                }
            }
            14 => self.frames.read_code(fields, &mut recording.builder)?,
            15 => return Some(Ok(End::Found)),
            kind => {
                if !skip_native(kind, fields)? {
                    return Some(Err("a record has an unknown kind"));
                }
            }
        }
        Some(Ok(End::Missing))
    }

    fn frame(
        &mut self,
        fields: &mut Fields<'a>,
        recording: &mut Recording,
    ) -> Option<Result<End, &'static str>> {
        let builder = &mut recording.builder;
        if self.header.version < COMPACT {
            self.frames.read_summed_frame(fields, builder)?;
        } else {
            let (number, code, instruction) = (fields.varint()?, fields.varint()?, signed(fields)?);
            let _is_entry = fields.u8()?;
            if self.frames.define(number, code, instruction, self.header.python, builder).is_none() {
                return Some(Err("a frame refers to code that is not listed"));
            }
        }
        Some(Ok(End::Missing))
    }

    fn stack(&mut self, fields: &mut Fields<'a>) -> Option<Result<End, &'static str>> {
        let (frame, caller) = if self.header.version < COMPACT {
            (fields.u64()?, u64::from(fields.u32()?))
        } else {
            (fields.varint()?, fields.varint()?)
        };
        let Some(frame) = self.frames.numbered(frame) else {
            return Some(Err("a stack has a frame that is not listed"));
        };
        let caller = usize::try_from(caller).ok().and_then(|caller| self.stacks.get(caller));
        let Some(&caller) = caller else { return Some(Err("a stack has a caller that is not listed")) };
        let is_own = caller.depth < self.header.own_frames;
        self.stacks.push(Stack {
            path: self.paths.enter(caller.path, frame.into()),
            shown: if is_own { EMPTY } else { self.paths.enter(caller.shown, frame.into()) },
            depth: caller.depth + 1,
        });
        Some(Ok(End::Missing))
    }

    fn sum(
        &mut self,
        fields: &mut Fields<'a>,
        recording: &mut Recording,
    ) -> Option<Result<End, &'static str>> {
        let thread = fields.u64()?;
        let allocator = fields.u8()?;
        // Up to the next multiple of eight bytes.
        fields.take(7)?;
        let [native, stack, _generation] = [fields.u64()?, fields.u64()?, fields.u64()?];
        let [peak, leaked] = [fields.u64()?, fields.u64()?];
        let [peak_bytes, leaked_bytes] = [fields.u64()?, fields.u64()?];
        let is_compact = self.header.version >= COMPACT;
        let allocator = if is_compact { Allocator::new(allocator) } else { Allocator::old(allocator) };
        let Some(allocator) = allocator else { return Some(Err("an allocator is unknown")) };
        let place = usize::try_from(stack).ok().and_then(|stack| self.stacks.get(stack));
        let Some(place) = place else { return Some(Err("a sum has a stack that is not listed")) };
        recording.native += u64::from(native != 0);
        let path = if thread == self.header.main_thread { place.shown } else { place.path };
        let Recording { builder, group, .. } = recording;
        let add =
            |_: &mut ProfileBuilder, frame, frames: &mut Vec<FrameId>| frames.push(self.frames.id(frame));
        let stack = self.paths.stack(path, group, builder, add);
        let values = [leaked, leaked_bytes, peak, peak_bytes].map(saturated);
        recording.add(&Site { path, thread, allocator }, stack, &values);
        Some(Ok(End::Missing))
    }
}
