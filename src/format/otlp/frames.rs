//! Mappings, functions, locations and stacks of a message, as frames.

use crate::format::ParseError;
use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::otlp::attributes::Attribute;
use crate::format::otlp::dictionary::{Dictionary, at, malformed, missing};
use crate::format::otlp::sniff::NAME;
use crate::format::wire::{Value, Wire, WireError, numbers};
use crate::profile::{Frame, FrameId, Function, FunctionId, Mapping, MappingId, ProfileBuilder};

/// The frames of a message.
pub(super) struct Frames<'d, 'a> {
    dictionary: &'d Dictionary<'a>,
    /// The frames of all locations, the root first.
    all: Vec<FrameId>,
    /// Where the frames of each location end.
    end: Vec<u32>,
    /// The stacks that were needed before.
    stacks: Vec<Option<GroupedStack>>,
    buffer: Vec<FrameId>,
    /// Space for the locations of a stack.
    locations: Vec<u64>,
}

/// The maximum depth of a stack, which takes 256 MiB.
const MAX_DEPTH: usize = 1 << 26;

impl<'d, 'a> Frames<'d, 'a> {
    /// Decodes the tables of mappings, functions and locations. Fails if one refers to a missing row.
    pub(super) fn read(
        dictionary: &'d Dictionary<'a>,
        builder: &mut ProfileBuilder,
    ) -> Result<Frames<'d, 'a>, ParseError> {
        let mut frames = Frames {
            dictionary,
            all: Vec::new(),
            end: Vec::new(),
            stacks: vec![None; dictionary.stacks.len()],
            buffer: Vec::new(),
            locations: Vec::new(),
        };
        let mappings = rows(&dictionary.mappings, "mapping", |row| read_mapping(row, dictionary, builder))?;
        let functions =
            rows(&dictionary.functions, "function", |row| read_function(row, dictionary, builder))?;
        rows(&dictionary.locations, "location", |row| {
            frames.location(row, &mappings, &functions, builder)?;
            frames.end.push(frames.all.len() as u32);
            Ok(())
        })?;
        Ok(frames)
    }

    fn location(
        &mut self,
        bytes: &[u8],
        mappings: &[MappingId],
        functions: &[Option<FunctionId>],
        builder: &mut ProfileBuilder,
    ) -> Result<(), Missing> {
        let (mut mapping, mut address) = (0, 0);
        if bytes.is_empty() && self.end.is_empty() {
            // Row 0 stands for nothing.
            return Ok(());
        }
        let mut wire = Wire::new(bytes);
        let mut lines: Vec<Frame> = Vec::new();
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Varint(row)) => mapping = row,
                (2, Value::Varint(number)) => address = number,
                (3, Value::Bytes(line)) => lines.extend(read_line(line, functions)?),
                _ => {}
            }
        }
        let mapping = match at(mappings, mapping) {
            Some(mapping) => mapping,
            None if mapping == 0 => MappingId::default(),
            None => return Err(Missing::Row("mapping", mapping)),
        };
        if lines.is_empty() {
            let function = builder.unnamed_function(mapping);
            lines.push(Frame { function, ..Frame::default() });
        }
        // The first line is the innermost of the inlined functions.
        for (depth, line) in lines.iter().rev().enumerate() {
            self.all.push(builder.frame(Frame { address, mapping, inlined: depth > 0, ..*line }));
        }
        Ok(())
    }

    /// The stack in a row of the stack table.
    pub(super) fn stack(
        &mut self,
        row: u64,
        group: &mut SampleGroup,
        builder: &mut ProfileBuilder,
    ) -> Result<GroupedStack, ParseError> {
        let known = at(&self.stacks, row);
        if let Some(Some(stack)) = known {
            return Ok(stack);
        }
        let bytes = match at(&self.dictionary.stacks, row) {
            Some(bytes) => bytes,
            // Row 0 stands for no stack.
            None if row == 0 => &[],
            None => return Err(missing("stack", row)),
        };
        let mut locations = std::mem::take(&mut self.locations);
        locations.clear();
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field().map_err(|_| malformed("stack", row))? {
            if field.number == 1 {
                numbers(field.value, |location| locations.push(location))
                    .map_err(|_| malformed("stack", row))?;
            }
        }
        let stack = self.stack_of(&locations, group, builder)?;
        self.locations = locations;
        if known.is_some() {
            self.stacks[row as usize] = Some(stack);
        }
        Ok(stack)
    }

    /// The stack of a list of locations, the leaf first.
    pub(super) fn stack_of(
        &mut self,
        locations: &[u64],
        group: &mut SampleGroup,
        builder: &mut ProfileBuilder,
    ) -> Result<GroupedStack, ParseError> {
        self.buffer.clear();
        for &location in locations.iter().rev() {
            let end = at(&self.end, location).ok_or_else(|| missing("location", location))? as usize;
            let start = if location == 0 { 0 } else { self.end[location as usize - 1] as usize };
            match &self.all[start..end] {
                &[frame] => self.buffer.push(frame),
                frames => self.buffer.extend_from_slice(frames),
            }
            if self.buffer.len() > MAX_DEPTH {
                let message = format!("a stack has more than {MAX_DEPTH} frames");
                return Err(ParseError::whole(NAME, message));
            }
        }
        Ok(group.stack(&self.buffer, builder))
    }
}

/// Why a row cannot be read.
enum Missing {
    /// It is no message, or a field has another type.
    Malformed,
    /// It refers to a row that does not exist.
    Row(&'static str, u64),
}

impl From<WireError> for Missing {
    fn from(_: WireError) -> Self {
        Missing::Malformed
    }
}

/// Decodes the rows of a table; `name` is used in errors.
fn rows<T>(
    table: &[&[u8]],
    name: &str,
    mut read: impl FnMut(&[u8]) -> Result<T, Missing>,
) -> Result<Vec<T>, ParseError> {
    let row = |(number, bytes): (usize, &&[u8])| {
        read(bytes).map_err(|error| match error {
            Missing::Malformed => malformed(name, number as u64),
            Missing::Row(what, row) => {
                let message = format!("{name} {number} refers to {what} {row}, which does not exist");
                ParseError::whole(NAME, message)
            }
        })
    };
    table.iter().enumerate().map(row).collect()
}

/// A line of a location: a function, and the line that was executing. `None` if it has no name.
fn read_line(bytes: &[u8], functions: &[Option<FunctionId>]) -> Result<Option<Frame>, Missing> {
    let (mut function, mut line) = (0, 0);
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        match (field.number, field.value) {
            (1, Value::Varint(row)) => function = row,
            (2, Value::Varint(number)) => line = line_number(number),
            _ => {}
        }
    }
    match at(functions, function) {
        Some(function) => Ok(function.map(|function| Frame { function, line, ..Frame::default() })),
        None if function == 0 => Ok(None),
        None => Err(Missing::Row("function", function)),
    }
}

/// A function; `None` if it has no name.
fn read_function(
    bytes: &[u8],
    dictionary: &Dictionary<'_>,
    builder: &mut ProfileBuilder,
) -> Result<Option<FunctionId>, Missing> {
    let mut fields = [0; 5];
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        if let (number @ 1..=4, Value::Varint(value)) = (field.number, field.value) {
            fields[number as usize] = value;
        }
    }
    let [_, name, system_name, file, line] = fields;
    let string = |row| dictionary.string(row).ok_or(Missing::Row("string", row));
    let name = if name == 0 && system_name != 0 { string(system_name)? } else { string(name)? };
    if name.is_empty() {
        return Ok(None);
    }
    let (name, file) = (builder.string(&name), builder.string(&string(file)?));
    let line = line_number(line);
    Ok(Some(builder.function(Function { name, file, line, column: 0, by_place: false })))
}

fn read_mapping(
    bytes: &[u8],
    dictionary: &Dictionary<'_>,
    builder: &mut ProfileBuilder,
) -> Result<MappingId, Missing> {
    let mut mapping = Mapping::default();
    let (mut file, mut attributes) = (0, Vec::new());
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        match (field.number, field.value) {
            (1, Value::Varint(address)) => mapping.start = address,
            (2, Value::Varint(address)) => mapping.limit = address,
            (3, Value::Varint(offset)) => mapping.offset = offset,
            (4, Value::Varint(string)) => file = string,
            (5, value) => numbers(value, |row| attributes.push(row))?,
            _ => {}
        }
    }
    let file = dictionary.string(file).ok_or(Missing::Row("string", file))?;
    let mut build_id = String::new();
    for row in attributes {
        let attribute = Attribute::of_row(row, dictionary).map_err(|_| Missing::Row("attribute", row))?;
        if let Some(attribute) = attribute.filter(|attribute| attribute.key == BUILD_ID) {
            build_id = attribute.text().unwrap_or_default().to_string();
        }
    }
    (mapping.file, mapping.build_id) = (builder.string(&file), builder.string(&build_id));
    Ok(builder.mapping(mapping))
}

/// The attribute of a mapping for the build id that the linker wrote.
pub(super) const BUILD_ID: &str = "process.executable.build_id.gnu";

fn line_number(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(0)
}
