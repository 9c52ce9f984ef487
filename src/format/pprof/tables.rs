//! The tables of a pprof profile: strings, mappings, functions, locations.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::format::pprof::by_id::ById;
use crate::format::pprof::locations::{Locations, RawLocations, duplicate};
use crate::format::pprof::messages::{FunctionMessage, MappingMessage};
use crate::format::pprof::sniff::NAME;
use crate::format::text::lossy;
use crate::format::{ParseError, Source};
use crate::profile::{self, Addresses, FunctionId, MappingId, ProfileBuilder, StringId};

/// The tables of the file, before conversion.
#[derive(Default)]
pub(super) struct Tables {
    /// All strings, concatenated. They are not interned, because most may be label values that no view needs, such as
    /// a million span ids.
    bytes: Vec<u8>,
    /// The same once all strings have been read, if they are valid UTF-8; otherwise empty.
    text: String,
    text_end: Vec<usize>,
    mappings: ById<MappingMessage>,
    functions: ById<FunctionMessage>,
    /// Functions without an id, in file order: .NET writes such files.
    functions_without_id: Vec<FunctionMessage>,
    pub(super) locations: RawLocations,
    /// Where the file ends, for errors about references to missing entries.
    pub(super) end: u64,
}

impl Tables {
    /// The approximate memory usage in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.capacity()
            + self.text.capacity()
            + self.text_end.capacity() * size_of::<usize>()
            + self.mappings.size()
            + self.functions.size()
            + self.functions_without_id.capacity() * size_of::<FunctionMessage>()
            + self.locations.size()
    }

    /// Removes everything, but keeps the memory.
    pub(super) fn clear(&mut self) {
        if !self.text.is_empty() {
            self.bytes = std::mem::take(&mut self.text).into_bytes();
        }
        self.bytes.clear();
        self.text_end.clear();
        self.mappings.clear();
        self.functions.clear();
        self.functions_without_id.clear();
        self.locations.clear();
        self.end = 0;
    }

    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.text_end.push(self.bytes.len());
    }

    pub(super) fn mapping(&mut self, mapping: MappingMessage, at: u64) -> Result<(), ParseError> {
        if self.mappings.insert(mapping.id, mapping) {
            Ok(())
        } else {
            Err(duplicate("mapping", mapping.id, at))
        }
    }

    pub(super) fn function(&mut self, function: FunctionMessage, at: u64) -> Result<(), ParseError> {
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

    /// The first string, which must be empty.
    pub(super) fn first_string(&self) -> Option<&[u8]> {
        self.text_end.first().map(|&end| &self.all_bytes()[..end])
    }

    /// Ends the string table: it is validated as UTF-8 once, not on each reference.
    pub(super) fn end_strings(&mut self, builder: &mut ProfileBuilder) {
        match String::from_utf8(std::mem::take(&mut self.bytes)) {
            Ok(text) => self.text = text,
            Err(error) => {
                self.bytes = error.into_bytes();
                builder.warn_of_encoding();
            }
        }
    }

    fn all_bytes(&self) -> &[u8] {
        if self.text.is_empty() { &self.bytes } else { self.text.as_bytes() }
    }

    /// A part of the text. Even if the whole is valid UTF-8, a string may end inside a character.
    fn part(&self, range: Range<usize>) -> Cow<'_, str> {
        match self.text.get(range.clone()) {
            Some(text) => Cow::Borrowed(text),
            None => lossy(&self.all_bytes()[range]),
        }
    }

    /// The string at `index`. Invalid UTF-8 is replaced by `�`.
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

    /// Lets the builder use the tables that the source offers, if they fit. Profiles with other mappings need tables of their own,
    /// because the binaries of a profile are those of its table; so do profiles whose addresses still need names.
    pub(super) fn share(&self, builder: &mut ProfileBuilder, source: &mut Source) -> Result<(), ParseError> {
        if self.locations.have_unnamed() {
            return Ok(());
        }
        let Some(shared) = source.take_tables() else { return Ok(()) };
        builder.share_tables(shared.clone());
        if !self.has_mappings_of(builder)? {
            builder.stop_sharing();
            source.share_tables(shared);
        }
        Ok(())
    }

    /// Whether this profile has the same mappings as the builder, unless that has none yet.
    fn has_mappings_of(&self, builder: &ProfileBuilder) -> Result<bool, ParseError> {
        let known: BTreeSet<_> = builder
            .mappings()
            .map(|mapping| {
                let [file, build_id] =
                    [mapping.file, mapping.build_id].map(|text| Cow::Borrowed(builder.text(text)));
                (file, build_id, mapping.start, mapping.limit, mapping.offset)
            })
            .collect();
        let mut own = BTreeSet::new();
        for (_, mapping) in self.mappings.in_order() {
            let (file, build_id) = (self.text(mapping.filename)?, self.text(mapping.build_id)?);
            own.insert((file, build_id, mapping.memory_start, mapping.memory_limit, mapping.file_offset));
        }
        // The mapping about which nothing is known is not counted.
        own.remove(&(Cow::Borrowed(""), Cow::Borrowed(""), 0, 0, 0));
        Ok(known.is_empty() || known == own)
    }

    /// Converts locations to frames.
    pub(super) fn expand(&mut self, builder: &mut ProfileBuilder) -> Result<Locations, ParseError> {
        self.assign_function_ids(builder)?;
        builder.expect(self.functions.len(), self.locations.lines());
        let mappings = self.make_mappings(builder)?;
        let functions = self.make_functions(builder)?;
        self.locations.expand(builder, &mappings, &functions)
    }

    /// Assigns ids to functions if none has one. Lines then refer to functions by position, counted from 1; if
    /// they do not refer to any, the i-th function belongs to the i-th location.
    fn assign_function_ids(&mut self, builder: &mut ProfileBuilder) -> Result<(), ParseError> {
        if self.functions_without_id.is_empty() {
            return Ok(());
        }
        if !self.functions.is_empty() {
            return Err(ParseError::whole(NAME, "a function has id 0, which is reserved"));
        }
        for (number, function) in (1..).zip(std::mem::take(&mut self.functions_without_id)) {
            self.functions.insert(number, FunctionMessage { id: number, ..function });
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
        let mut ids = ById::with_capacity(self.functions.len());
        // A file has many functions, and is looked up once. An index that is in the table is a small one.
        let mut files: Vec<Option<StringId>> = vec![None; self.text_end.len().max(1)];
        for (id, function) in self.functions.in_order() {
            let name = self.text(function.name)?;
            let name = if name.is_empty() { self.text(function.system_name)? } else { name };
            let file = self.text(function.filename)?;
            let made = (!name.is_empty()).then(|| {
                let name = builder.string(&name);
                let file = *files[function.filename as usize].get_or_insert_with(|| builder.string(&file));
                let line = u32::try_from(function.start_line).unwrap_or(0);
                builder.function(profile::Function { name, file, line, column: 0, by_place: false })
            });
            ids.insert(id, made);
        }
        Ok(ids)
    }
}
