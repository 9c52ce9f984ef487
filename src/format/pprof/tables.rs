//! The tables of a pprof profile: strings, mappings, functions, locations.

use std::borrow::Cow;
use std::ops::Range;

use crate::format::ParseError;
use crate::format::pprof::by_id::ById;
use crate::format::pprof::locations::{Locations, RawLocations, duplicate};
use crate::format::pprof::messages::{Function, Mapping};
use crate::format::pprof::read::NAME;
use crate::format::text::lossy;
use crate::profile::{self, Addresses, FunctionId, MappingId, ProfileBuilder, StringId};

/// The tables of the file, unconverted.
#[derive(Default)]
pub(super) struct Tables {
    /// All strings in one buffer. They are not interned, since most may be label values that nobody
    /// asked for: a million span ids, say.
    bytes: Vec<u8>,
    /// The same, once all are there and are known to be UTF-8; else empty.
    text: String,
    text_end: Vec<usize>,
    mappings: ById<Mapping>,
    functions: ById<Function>,
    /// Functions without an id, in order: .NET writes such files.
    functions_without_id: Vec<Function>,
    pub(super) locations: RawLocations,
    /// Where the file ends, which may be too early for all that is referred to.
    pub(super) end: u64,
}

impl Tables {
    /// About how many bytes of memory they take.
    pub(super) fn size(&self) -> usize {
        self.bytes.capacity()
            + self.text_end.capacity() * size_of::<usize>()
            + self.mappings.size()
            + self.functions.size()
            + self.functions_without_id.capacity() * size_of::<Function>()
            + self.locations.size()
    }

    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.text_end.push(self.bytes.len());
    }

    pub(super) fn mapping(&mut self, mapping: Mapping, at: u64) -> Result<(), ParseError> {
        if self.mappings.insert(mapping.id, mapping) {
            Ok(())
        } else {
            Err(duplicate("mapping", mapping.id, at))
        }
    }

    pub(super) fn function(&mut self, function: Function, at: u64) -> Result<(), ParseError> {
        if function.id == 0 {
            self.functions_without_id.push(function);
            return Ok(());
        }
        if self.functions.insert(function.id, function) {
            Ok(())
        } else {
            Err(duplicate("function", function.id, at))
        }
    }

    /// The first string, which every writer leaves empty.
    pub(super) fn first_string(&self) -> Option<&[u8]> {
        self.text_end.first().map(|&end| &self.all_bytes()[..end])
    }

    /// Ends the strings: they are looked at once for being UTF-8, not each time one is referred to.
    pub(super) fn end_strings(&mut self, builder: &mut ProfileBuilder) {
        match String::from_utf8(std::mem::take(&mut self.bytes)) {
            Ok(text) => self.text = text,
            Err(error) => {
                self.bytes = error.into_bytes();
                builder.warn("some names are not valid UTF-8; invalid bytes are shown as \u{fffd}".into());
            }
        }
    }

    fn all_bytes(&self) -> &[u8] {
        if self.text.is_empty() { &self.bytes } else { self.text.as_bytes() }
    }

    /// Some of the text. What is UTF-8 as a whole may be none where it is cut.
    fn part(&self, range: Range<usize>) -> Cow<'_, str> {
        match self.text.get(range.clone()) {
            Some(text) => Cow::Borrowed(text),
            None => lossy(&self.all_bytes()[range]),
        }
    }

    /// The string at `index`. Bytes that are no UTF-8 show as `�`.
    pub(super) fn text(&self, index: i64) -> Result<Cow<'_, str>, ParseError> {
        // Even without a string table, index 0 is the empty string.
        if index == 0 && self.text_end.is_empty() {
            return Ok(Cow::Borrowed(""));
        }
        let range = usize::try_from(index).ok().and_then(|index| {
            let end = *self.text_end.get(index)?;
            let start = if index == 0 { 0 } else { self.text_end[index - 1] };
            Some(start..end)
        });
        let range = range.ok_or_else(|| {
            let strings = self.text_end.len();
            let message = format!("string {index} does not exist: the string table ends after {strings} strings; the file is probably truncated");
            ParseError::at_byte(NAME, self.end, message)
        })?;
        Ok(self.part(range))
    }

    /// Interns every string and returns the ids by index, for the labels.
    pub(super) fn intern_all(&self, builder: &mut ProfileBuilder) -> Vec<StringId> {
        let mut start = 0;
        let mut ids = Vec::with_capacity(self.text_end.len());
        for &end in &self.text_end {
            ids.push(builder.string(&self.part(start..end)));
            start = end;
        }
        ids
    }

    /// Turns locations into frames.
    pub(super) fn expand(&mut self, builder: &mut ProfileBuilder) -> Result<Locations, ParseError> {
        self.give_ids_to_functions(builder)?;
        builder.expect(self.functions.len(), self.locations.lines());
        let mappings = self.make_mappings(builder)?;
        let functions = self.make_functions(builder)?;
        self.locations.expand(builder, &mappings, &functions)
    }

    /// Where no function has an id, lines refer to functions by their number from 1, or where they
    /// do not, the i-th function is that of the i-th location.
    fn give_ids_to_functions(&mut self, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        if self.functions_without_id.is_empty() {
            return Ok(());
        }
        if !self.functions.is_empty() {
            return Err(ParseError::whole(NAME, "a function has id 0, which is reserved"));
        }
        for (number, function) in (1..).zip(std::mem::take(&mut self.functions_without_id)) {
            self.functions.insert(number, Function { id: number, ..function });
        }
        self.locations.number_functions();
        builder.warn("functions have no ids; their positions in the table are used instead".into());
        Ok(())
    }

    fn make_mappings(&self, builder: &mut ProfileBuilder) -> Result<ById<MappingId>, ParseError> {
        let mut ids = ById::default();
        for (id, mapping) in self.mappings.in_order() {
            let file = builder.string(&self.text(mapping.filename)?);
            let build_id = builder.string(&self.text(mapping.build_id)?);
            let made = profile::Mapping {
                file,
                build_id,
                start: mapping.memory_start,
                limit: mapping.memory_limit,
                offset: mapping.file_offset,
                addresses: Addresses::Memory,
            };
            ids.insert(id, builder.mapping(made));
        }
        Ok(ids)
    }

    fn make_functions(&self, builder: &mut ProfileBuilder) -> Result<ById<Option<FunctionId>>, ParseError> {
        let mut ids = ById::default();
        for (id, function) in self.functions.in_order() {
            let name = self.text(function.name)?;
            let name = if name.is_empty() { self.text(function.system_name)? } else { name };
            let file = self.text(function.filename)?;
            let made = (!name.is_empty()).then(|| {
                let (name, file) = (builder.string(&name), builder.string(&file));
                let line = u32::try_from(function.start_line).unwrap_or(0);
                builder.function(profile::Function { name, file, line, column: 0, by_place: false })
            });
            ids.insert(id, made);
        }
        Ok(ids)
    }
}
