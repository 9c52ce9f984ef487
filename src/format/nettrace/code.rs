//! Which method or symbol is at an address of a process.

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::nettrace::payload::{Method, module, short_text};
use crate::format::text::lossy;
use crate::name::demangle;
use crate::profile::{Frame, FrameId, Mapping, MappingId, ProfileBuilder};

/// The code of all processes, collected before the samples are read: most names come at the end of a recording.
#[derive(Debug, Default)]
pub(super) struct Code<'a> {
    ranges: Vec<Range<'a>>,
    modules: HashMap<(u64, u64), String>,
    mappings: Vec<FileMapping<'a>>,
    /// Positions in `mappings` by the id that symbols refer to.
    mapping_of_id: HashMap<u64, usize>,
    known: HashMap<(u64, u64), FrameId>,
}

#[derive(Debug)]
struct Range<'a> {
    process: u64,
    start: u64,
    end: u64,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Method(Method<'a>),
    Symbol(&'a [u8]),
}

#[derive(Debug)]
struct FileMapping<'a> {
    process: u64,
    start: u64,
    end: u64,
    offset: u64,
    file: &'a [u8],
}

impl<'a> Code<'a> {
    pub(super) fn add_method(&mut self, process: u64, payload: &'a [u8]) -> Option<()> {
        let method = Method::read(payload)?;
        let Method { start, end, .. } = method;
        self.ranges.push(Range { process, start, end, content: Content::Method(method) });
        Some(())
    }

    pub(super) fn add_module(&mut self, process: u64, payload: &[u8]) -> Option<()> {
        let (id, path) = module(payload)?;
        self.modules.insert((process, id), path);
        Some(())
    }

    pub(super) fn add_mapping(&mut self, payload: &'a [u8]) -> Option<()> {
        let mut fields = Fields::new(payload, false);
        let (id, process) = (fields.varint()?, fields.varint()?);
        let (start, end, offset) = (fields.varint()?, fields.varint()?, fields.varint()?);
        let file = short_text(&mut fields)?;
        self.mapping_of_id.insert(id, self.mappings.len());
        self.mappings.push(FileMapping { process, start, end, offset, file });
        Some(())
    }

    /// Adds the name of a range of addresses, which may be relative to its mapping.
    pub(super) fn add_symbol(&mut self, process: u64, payload: &'a [u8]) -> Option<()> {
        let mut fields = Fields::new(payload, false);
        let (_id, mapping) = (fields.varint()?, fields.varint()?);
        let (start, end) = (fields.varint()?, fields.varint()?);
        let name = short_text(&mut fields)?;
        let mapping = self.mapping_of_id.get(&mapping).map(|&at| &self.mappings[at]);
        let base = mapping.filter(|mapping| start < mapping.start).map_or(0, |mapping| mapping.start);
        let process = mapping.map_or(process, |mapping| mapping.process);
        let (start, end) = (base.checked_add(start)?, base.checked_add(end)?);
        self.ranges.push(Range { process, start, end, content: Content::Symbol(name) });
        Some(())
    }

    /// Makes the tables searchable.
    pub(super) fn sort(&mut self) {
        // Code that was unloaded may have left its addresses to other code: the later entry counts.
        self.ranges.reverse();
        self.ranges.sort_by_key(|range| (range.process, range.start));
        self.ranges.dedup_by_key(|range| (range.process, range.start));
        self.mappings.sort_by_key(|mapping| (mapping.process, mapping.start));
    }

    /// The path of the program: the module that the command line names, such as `dotnet /srv/shop.dll --port 80`.
    pub(super) fn program(&self, command: &str) -> Option<&str> {
        let paths = self.modules.values().map(String::as_str);
        paths.filter(|path| !path.is_empty() && command.contains(path)).max_by_key(|path| (path.len(), *path))
    }

    /// The frame of the code at `address`.
    pub(super) fn frame(&mut self, builder: &mut ProfileBuilder, process: u64, address: u64) -> FrameId {
        if let Some(&frame) = self.known.get(&(process, address)) {
            return frame;
        }
        let frame = self.make_frame(builder, process, address);
        self.known.insert((process, address), frame);
        frame
    }

    fn make_frame(&self, builder: &mut ProfileBuilder, process: u64, address: u64) -> FrameId {
        let place = self.ranges.partition_point(|range| (range.process, range.start) <= (process, address));
        let range = place.checked_sub(1).map(|place| &self.ranges[place]);
        let range = range.filter(|range| range.process == process && address < range.end);
        let (function, mapping) = match range.map(|range| &range.content) {
            Some(Content::Method(method)) => {
                let file = self.modules.get(&(process, method.module)).map_or("", |path| path);
                let mapping = builder.named_mapping(file);
                (builder.named_function(&method.name(), ""), mapping)
            }
            Some(Content::Symbol(name)) => {
                let mapping = self.mapping(builder, process, address);
                (builder.named_function(&demangle(&lossy(name)), ""), mapping)
            }
            None => {
                let mapping = self.mapping(builder, process, address);
                (builder.unnamed_function(mapping), mapping)
            }
        };
        builder.frame(Frame { function, address, mapping, ..Frame::default() })
    }

    /// The file that is mapped at `address`.
    fn mapping(&self, builder: &mut ProfileBuilder, process: u64, address: u64) -> MappingId {
        let place =
            self.mappings.partition_point(|mapping| (mapping.process, mapping.start) <= (process, address));
        let found = place.checked_sub(1).map(|place| &self.mappings[place]);
        let Some(found) = found.filter(|found| found.process == process && address < found.end) else {
            return MappingId::default();
        };
        let file = builder.string(&lossy(found.file));
        let (start, limit, offset) = (found.start, found.end, found.offset);
        builder.mapping(Mapping { file, start, limit, offset, ..Mapping::default() })
    }
}
