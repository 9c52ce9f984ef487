//! The frames that stacks consist of.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::format::by_number::ByNumber;
use crate::format::fields::Fields;
use crate::format::memray::lines::LineTable;
use crate::format::recent::Recent;
use crate::format::text::lossy;
use crate::profile::{Frame, FrameId, FunctionId, ProfileBuilder};

/// A function, with the table that leads from its instructions to its lines.
struct Code<'a> {
    function: FunctionId,
    first_line: i64,
    table: &'a [u8],
    /// The table as a list, once it has been needed.
    lines: Option<LineTable>,
}

/// The frames of a recording by number.
#[derive(Default)]
pub(super) struct Frames<'a> {
    codes: HashMap<u64, Code<'a>>,
    by_instruction: HashMap<(u64, i64), u32>,
    recent: Recent<(u64, i64), u32>,
    by_number: ByNumber<u32>,
    all: Vec<FrameId>,
    last_line: i64,
}

impl<'a> Frames<'a> {
    /// Reads a code object.
    pub(super) fn read_code(&mut self, fields: &mut Fields<'a>, builder: &mut ProfileBuilder) -> Option<()> {
        let number = fields.varint()?;
        let [name, file] = names(fields);
        self.last_line = self.last_line.wrapping_add(signed(fields)?);
        let function = builder.script_function(&name, &file, line_number(self.last_line));
        let size = usize::try_from(fields.varint()?).ok()?;
        let table = fields.take(size)?;
        self.codes.insert(number, Code { function, first_line: self.last_line, table, lines: None });
        Some(())
    }

    /// Reads a frame with a name, a file and a line, of versions up to 11.
    pub(super) fn read_frame(
        &mut self,
        number: u64,
        fields: &mut Fields<'a>,
        builder: &mut ProfileBuilder,
    ) -> Option<()> {
        let [name, file] = names(fields);
        let function = builder.script_function(&name, &file, 0);
        self.last_line = self.last_line.wrapping_add(signed(fields)?);
        self.add_frame(number, function, self.last_line, builder);
        Some(())
    }

    /// Reads a frame of sums of versions up to 11.
    pub(super) fn read_summed_frame(
        &mut self,
        fields: &mut Fields<'a>,
        builder: &mut ProfileBuilder,
    ) -> Option<()> {
        let number = fields.u64()?;
        let [name, file] = names(fields);
        let function = builder.script_function(&name, &file, 0);
        let line = fields.u32()?;
        let _is_entry = fields.u8()?;
        self.add_frame(number, function, line.into(), builder);
        Some(())
    }

    fn add_frame(&mut self, number: u64, function: FunctionId, line: i64, builder: &mut ProfileBuilder) {
        let line = line_number(line);
        self.all.push(builder.frame(Frame { function, line, ..Frame::default() }));
        self.by_number.insert(number, (self.all.len() - 1) as u32);
    }

    /// A frame of sums, which has a number of its own, is at an instruction of a code object.
    pub(super) fn define(
        &mut self,
        number: u64,
        code: u64,
        instruction: i64,
        python: (u8, u8),
        builder: &mut ProfileBuilder,
    ) -> Option<()> {
        let frame = self.at_instruction(code, instruction, python, builder)?;
        self.by_number.insert(number, frame);
        Some(())
    }

    /// The frame with a number, in the order in which frames were seen.
    pub(super) fn numbered(&self, number: u64) -> Option<u32> {
        self.by_number.get(number).copied()
    }

    /// The frame at an instruction of a code object.
    pub(super) fn at_instruction(
        &mut self,
        code: u64,
        instruction: i64,
        python: (u8, u8),
        builder: &mut ProfileBuilder,
    ) -> Option<u32> {
        let number = code ^ instruction.cast_unsigned().rotate_left(32);
        if let Some(frame) = self.recent.get(number, (code, instruction)) {
            return Some(frame);
        }
        if let Some(&frame) = self.by_instruction.get(&(code, instruction)) {
            self.recent.set(number, (code, instruction), frame);
            return Some(frame);
        }
        let Code { function, first_line, table, lines } = self.codes.get_mut(&code)?;
        let lines = lines.get_or_insert_with(|| LineTable::decode(table, *first_line, python));
        let line = line_number(lines.line_at(instruction));
        self.all.push(builder.frame(Frame { function: *function, line, ..Frame::default() }));
        let frame = (self.all.len() - 1) as u32;
        self.by_instruction.insert((code, instruction), frame);
        Some(frame)
    }

    pub(super) fn id(&self, frame: u64) -> FrameId {
        self.all[frame as usize]
    }
}

/// The name of a function and its file.
fn names<'a>(fields: &mut Fields<'a>) -> [Cow<'a, str>; 2] {
    [fields.text(), fields.text()].map(lossy)
}

/// A line as frames have it: 0 if it is unknown.
fn line_number(line: i64) -> u32 {
    u32::try_from(line).unwrap_or(0)
}

/// A number whose lowest bit is its sign.
pub(super) fn signed(fields: &mut Fields<'_>) -> Option<i64> {
    let number = fields.varint()?;
    Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
}
