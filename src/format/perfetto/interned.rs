//! What the packets of one sequence define for later packets: names, mappings, frames and stacks, by number.
//!
//! ```text
//! message InternedString { uint64 iid = 1; bytes str = 2; }
//! message Mapping { uint64 iid = 1; uint64 build_id = 2; repeated uint64 path_string_ids = 7; … }
//! message Frame { uint64 iid = 1; uint64 function_name_id = 2; uint64 mapping_id = 3; uint64 rel_pc = 4; uint64 source_path_iid = 5;
//!                 uint32 line_number = 6; }
//! message Callstack { uint64 iid = 1; repeated uint64 frame_ids = 2; }     from the root
//! ```

use hashbrown::HashMap;

use crate::format::by_number::ByNumber;
use crate::format::group::{GroupedStack, StackGroups};
use crate::format::perfetto::names::{Names, SourceLine, messages};
use crate::format::perfetto::packet::each_field;
use crate::format::text::{hexadecimal, lossy};
use crate::format::wire::{Value, WireError, numbers};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, Mapping, MappingId, ProfileBuilder, StringId};

/// The numbers of the fields of one message that define the same things.
pub(super) struct Fields {
    /// Names of functions, build IDs, paths of binaries, and paths of source files; one list may be all of them.
    texts: [u32; 4],
    mappings: u32,
    frames: u32,
    stacks: u32,
    /// Names of slices.
    events: u32,
}

/// Those of `InternedData`.
pub(super) static INTERNED: Fields =
    Fields { texts: [5, 16, 17, 18], mappings: 19, frames: 6, stacks: 7, events: 2 };

/// Those of a `ProfilePacket` of Android 10, which defines what it uses itself.
pub(super) static HEAP: Fields = Fields { texts: [1, 1, 1, 0], mappings: 4, frames: 2, stacks: 3, events: 0 };

const FUNCTION: usize = 0;
const BUILD_ID: usize = 1;
const PATH: usize = 2;
const SOURCE: usize = 3;

#[derive(Default)]
struct RawMapping {
    build_id: u64,
    path: Vec<u64>,
}

#[derive(Default)]
struct RawFrame {
    name: u64,
    mapping: u64,
    address: u64,
    source: u64,
    line: u32,
}

/// The definitions of a sequence.
#[derive(Default)]
pub(super) struct Interned {
    texts: [HashMap<u64, Box<[u8]>>; 4],
    events: ByNumber<StringId>,
    mappings: HashMap<u64, RawMapping>,
    frames: ByNumber<RawFrame>,
    /// The frames that were needed before.
    known_frames: ByNumber<KnownFrame>,
    /// The frames of stacks that have not been needed yet.
    callstacks: ByNumber<Box<[u64]>>,
    stacks: ByNumber<GroupedStack>,
    /// Buffers for the frames of a stack.
    numbers: Vec<u64>,
    ids: Vec<FrameId>,
}

/// A frame, perhaps with others that were inlined into it.
enum KnownFrame {
    One(FrameId),
    Several(Box<[FrameId]>),
}

impl KnownFrame {
    #[inline]
    fn ids(&self) -> &[FrameId] {
        match self {
            KnownFrame::One(frame) => std::slice::from_ref(frame),
            KnownFrame::Several(frames) => frames,
        }
    }
}

impl Interned {
    pub(super) fn add(
        &mut self,
        message: &[u8],
        fields: &Fields,
        builder: &mut ProfileBuilder,
    ) -> Result<(), WireError> {
        for (number, bytes) in messages(message)? {
            for (list, texts) in fields.texts.iter().zip(&mut self.texts) {
                if *list == number {
                    let (id, text) = text(bytes)?;
                    let old = texts.insert(id, text.into());
                    if old.is_some_and(|old| *old != *text) {
                        self.known_frames.clear();
                    }
                }
            }
            if number == fields.events {
                let (id, text) = text(bytes)?;
                self.events.insert(id, builder.string(&lossy(text)));
            } else if number == fields.mappings {
                self.mapping(bytes)?;
            } else if number == fields.frames {
                self.frame(bytes)?;
            } else if number == fields.stacks {
                self.callstack(bytes)?;
            }
        }
        Ok(())
    }

    fn mapping(&mut self, message: &[u8]) -> Result<(), WireError> {
        let (mut id, mut mapping, mut result) = (0, RawMapping::default(), Ok(()));
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(number)) => id = number,
            (2, Value::Varint(number)) => mapping.build_id = number,
            (7, value) => result = result.and(numbers(value, |part| mapping.path.push(part))),
            _ => {}
        })?;
        if self.mappings.insert(id, mapping).is_some() {
            self.known_frames.clear();
        }
        result
    }

    fn frame(&mut self, message: &[u8]) -> Result<(), WireError> {
        let (mut id, mut frame) = (0, RawFrame::default());
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(number)) => id = number,
            (2, Value::Varint(number)) => frame.name = number,
            (3, Value::Varint(number)) => frame.mapping = number,
            (4, Value::Varint(number)) => frame.address = number,
            (5, Value::Varint(number)) => frame.source = number,
            (6, Value::Varint(number)) => frame.line = u32::try_from(number).unwrap_or(0),
            _ => {}
        })?;
        self.frames.insert(id, frame);
        self.known_frames.remove(id);
        Ok(())
    }

    fn callstack(&mut self, message: &[u8]) -> Result<(), WireError> {
        let (mut id, mut result) = (0, Ok(()));
        let frames = &mut self.numbers;
        frames.clear();
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(number)) => id = number,
            (2, value) => result = result.and(numbers(value, |frame| frames.push(frame))),
            _ => {}
        })?;
        self.callstacks.insert(id, frames.as_slice().into());
        self.stacks.remove(id);
        result
    }

    /// The name of a slice.
    pub(super) fn event(&self, id: u64) -> Option<StringId> {
        self.events.get(id).copied()
    }

    /// A stack, or `None` if the packet that defined it, or one of its frames, was lost.
    pub(super) fn stack(
        &mut self,
        id: u64,
        names: &Names,
        groups: &mut StackGroups,
        builder: &mut ProfileBuilder,
    ) -> Option<GroupedStack> {
        if let Some(known) = self.stacks.get(id) {
            return Some(*known);
        }
        let frames = self.callstacks.remove(id)?;
        let stack = self.stack_of(&frames, names, groups, builder);
        match stack {
            Some(stack) => self.stacks.insert(id, stack).map(drop),
            // The missing frame may come later.
            None => self.callstacks.insert(id, frames).map(drop),
        };
        stack
    }

    /// The stack of some frames, or `None` if the packet that defined one of them was lost.
    pub(super) fn stack_of(
        &mut self,
        frames: &[u64],
        names: &Names,
        groups: &mut StackGroups,
        builder: &mut ProfileBuilder,
    ) -> Option<GroupedStack> {
        self.ids.clear();
        for &id in frames {
            if let Some(known) = self.known_frames.get(id) {
                self.ids.extend_from_slice(known.ids());
                continue;
            }
            let made = self.make_frames(self.frames.get(id)?, names, builder);
            self.ids.extend_from_slice(made.ids());
            self.known_frames.insert(id, made);
        }
        Some(groups.add(&self.ids, builder))
    }

    /// A frame, with those that were inlined into it.
    fn make_frames(&self, raw: &RawFrame, names: &Names, builder: &mut ProfileBuilder) -> KnownFrame {
        let (path, build_id) = self.module(raw.mapping);
        let mapping = if path.is_empty() {
            MappingId::default()
        } else {
            let (file, build_id) = (builder.string(&lossy(&path)), builder.string(&build_id_text(build_id)));
            builder.mapping(Mapping { file, build_id, ..Mapping::default() })
        };
        let address = if mapping == MappingId::default() { 0 } else { raw.address };
        let module = (path.into(), build_id.into());
        let lines = names.symbols.get(&module).and_then(|symbols| symbols.get(&raw.address));
        if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
            let frame = |(depth, line): (usize, &SourceLine)| {
                let function = builder.named_function(&demangle(&line.function), &line.file);
                let inlined = depth + 1 < lines.len();
                builder.frame(Frame { function, line: line.line, address, mapping, inlined })
            };
            return KnownFrame::Several(lines.iter().enumerate().rev().map(frame).collect());
        }
        let function = match self.text(FUNCTION, raw.name) {
            b"" => builder.unnamed_function(mapping),
            name => builder.named_function(&demangle(&lossy(name)), &lossy(self.text(SOURCE, raw.source))),
        };
        KnownFrame::One(builder.frame(Frame { function, line: raw.line, address, mapping, inlined: false }))
    }

    /// The path and the build ID of a mapping.
    fn module(&self, id: u64) -> (Vec<u8>, &[u8]) {
        let Some(mapping) = self.mappings.get(&id) else { return (Vec::new(), &[]) };
        let mut path = Vec::new();
        for part in mapping.path.iter().map(|part| self.text(PATH, *part)).filter(|part| !part.is_empty()) {
            // Android writes the parts of a path, Chrome the whole path as one.
            if !part.starts_with(b"/") && !part.starts_with(b"[") {
                path.push(b'/');
            }
            path.extend_from_slice(part);
        }
        (path, self.text(BUILD_ID, mapping.build_id))
    }

    fn text(&self, list: usize, id: u64) -> &[u8] {
        self.texts[list].get(&id).map_or(&[], |text| text)
    }
}

/// The number and the bytes of a text.
pub(super) fn text(message: &[u8]) -> Result<(u64, &[u8]), WireError> {
    let (mut id, mut text) = (0, &b""[..]);
    each_field(message, |number, value| match (number, value) {
        (1, Value::Varint(number)) => id = number,
        (2, Value::Bytes(bytes)) => text = bytes,
        _ => {}
    })?;
    Ok((id, text))
}

/// Chrome writes build IDs as text, Android as bytes.
fn build_id_text(build_id: &[u8]) -> String {
    if build_id.iter().all(u8::is_ascii_hexdigit) {
        lossy(build_id).to_ascii_lowercase()
    } else {
        hexadecimal(build_id)
    }
}
