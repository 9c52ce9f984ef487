//! The file header, and the feature sections after the records.

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::fields::Fields;
use crate::format::perf_data::raw_record::split;
use crate::format::perf_data::simpleperf::Simpleperf;
use crate::format::text::hexadecimal;

/// The name of the format.
pub(super) const NAME: &str = "perf-data";

pub(super) const MAGIC: &[u8] = b"PERFILE2";
pub(super) const MAGIC_BIG_ENDIAN: &[u8] = b"2ELIFREP";

/// Size of the header of a complete file.
const FILE_HEADER: u64 = 104;

/// Size of the header of a recording written to a pipe.
const PIPE_HEADER: u64 = 16;

const FEATURE_BUILD_IDS: u32 = 2;
const FEATURE_HOST: u32 = 3;
const FEATURE_ARCHITECTURE: u32 = 6;
const FEATURE_COMMAND: u32 = 11;
const FEATURE_EVENTS: u32 = 12;

/// Metadata of a file.
pub(super) struct FileHeader<'a> {
    pub(super) events: Vec<PerfEvent>,
    /// The event of each id.
    pub(super) event_of_id: HashMap<u64, usize>,
    /// Build ids in hexadecimal, by file path.
    pub(super) build_ids: HashMap<&'a [u8], String>,
    /// The command line of the recording.
    pub(super) command: String,
    /// The name of the recorded machine; empty if unknown.
    pub(super) host: String,
    /// Its processor, such as `x86_64`; empty if unknown.
    pub(super) architecture: String,
    pub(super) records: Fields<'a>,
    /// Offset of the records in the file.
    pub(super) records_at: u64,
    /// Number of bytes missing from the records.
    pub(super) missing: u64,
    /// Whether feature sections are missing, which hold the names of events and the build ids.
    pub(super) lacks_features: bool,
    pub(super) simpleperf: Simpleperf<'a>,
}

/// An event that was counted, and the fields of its samples.
#[derive(Clone, Debug, Default)]
pub(super) struct PerfEvent {
    pub(super) name: String,
    /// Its kind, and its number among those.
    code: (u32, u64),
    /// The fields of its samples, as bits.
    pub(super) fields: u64,
    /// The counter values of its samples, as bits.
    pub(super) read_format: u64,
    /// The kinds of branches in its samples, as bits.
    pub(super) branches: u64,
    /// The user registers in its samples, as bits.
    pub(super) registers: u64,
    /// The period of samples that do not contain it; 0 if only a frequency was set.
    pub(super) period: u64,
    /// Whether other records also end with an id and a time (`sample_id_all`).
    pub(super) has_id_in_all: bool,
    /// Whether times are those of the monotonic clock (`perf record -k mono`).
    pub(super) is_monotonic: bool,
}

impl<'a> FileHeader<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<FileHeader<'a>, ParseError> {
        let is_big_endian = bytes.starts_with(MAGIC_BIG_ENDIAN);
        if !is_big_endian && !bytes.starts_with(MAGIC) {
            return Err(ParseError::at_byte(NAME, 0, "not a perf.data header"));
        }
        let file = Fields::new(bytes, is_big_endian);
        let mut front = file.part(8, FILE_HEADER);
        let size = front.u64().unwrap_or(0);
        let header = match size {
            PIPE_HEADER => Some(FileHeader::of_pipe(file.part(PIPE_HEADER, u64::MAX))),
            FILE_HEADER.. => FileHeader::sections(file, front),
            _ => None,
        };
        let Some(header) = header else {
            return Err(ParseError::at_byte(NAME, 8, "the header is malformed or truncated"));
        };
        if header.records.is_empty() {
            return Err(ParseError::at_byte(
                NAME,
                40,
                "the file has no records; `perf record` did not exit cleanly",
            ));
        }
        if header.events.is_empty() {
            return Err(ParseError::at_byte(NAME, 24, "the file declares no events"));
        }
        Ok(header)
    }

    fn sections(file: Fields<'a>, mut front: Fields<'a>) -> Option<FileHeader<'a>> {
        let attribute_size = front.u64()?;
        let (attributes_at, attributes_size) = (front.u64()?, front.u64()?);
        let (records_at, records_size) = (front.u64()?, front.u64()?);
        front.skip_longs(2)?;
        let features = [front.u64()?, front.u64()?, front.u64()?, front.u64()?];
        let records = file.part(records_at, records_size);
        let mut header = FileHeader {
            missing: records_size - records.len() as u64,
            ..FileHeader::before(records, records_at)
        };
        header.attributes(file, file.part(attributes_at, attributes_size), attribute_size)?;
        let mut index = file.part(records_at.checked_add(records_size)?, u64::MAX);
        for feature in (0..256).filter(|&bit| features[bit / 64] >> (bit % 64) & 1 == 1) {
            let (Some(at), Some(size)) = (index.u64(), index.u64()) else {
                header.lacks_features = true;
                break;
            };
            let section = file.part(at, size);
            header.lacks_features |= (section.len() as u64) < size;
            header.feature(feature as u32, section);
        }
        for event in &mut header.events {
            if let Some(name) = header.simpleperf.events.get(&event.code) {
                event.name.clone_from(name);
            }
        }
        Some(header)
    }

    fn before(records: Fields<'a>, records_at: u64) -> FileHeader<'a> {
        FileHeader {
            events: Vec::new(),
            event_of_id: HashMap::new(),
            build_ids: HashMap::new(),
            command: String::new(),
            host: String::new(),
            architecture: String::new(),
            records,
            records_at,
            missing: 0,
            lacks_features: false,
            simpleperf: Simpleperf::default(),
        }
    }

    /// A piped recording has no sections; their contents are ordinary records.
    fn of_pipe(records: Fields<'a>) -> FileHeader<'a> {
        const ATTRIBUTES: u32 = 64;
        const BUILD_ID: u32 = 67;
        const FEATURE: u32 = 80;
        let mut header = FileHeader::before(records, PIPE_HEADER);
        let mut rest = records;
        while let Some(mut record) = split(&mut rest) {
            // Unreadable parts do not affect the samples, or lead to a missing event, which is reported.
            match record.kind {
                ATTRIBUTES => {
                    header.piped_event(record.body);
                }
                BUILD_ID => {
                    header.build_id(&mut record.whole);
                }
                FEATURE => {
                    if let Some(feature) = record.body.u64() {
                        header.feature(feature as u32, record.body);
                    }
                }
                _ => {}
            }
        }
        header
    }

    /// The attributes of an event, followed by the ids of its counters.
    fn piped_event(&mut self, mut row: Fields<'a>) -> Option<()> {
        let event = event(row)?;
        let size = row.part(4, 4).u32()?;
        row.take(size as usize)?;
        while let Some(id) = row.u64() {
            self.event_of_id.insert(id, self.events.len());
        }
        self.events.push(event);
        Some(())
    }

    /// Reads the table of events. Each row ends with the position of the ids of its counters.
    fn attributes(&mut self, file: Fields<'a>, mut table: Fields<'a>, row_size: u64) -> Option<()> {
        let row_size = usize::try_from(row_size).ok().filter(|&size| size as u64 >= OLDEST_ATTRIBUTES)?;
        // The ids of different events do not overlap: rows that all name the same section would take the square of its size.
        let mut ids_left = file.len() / size_of::<u64>();
        while table.len() >= row_size {
            let mut row = table;
            table.take(row_size)?;
            let event = event(row)?;
            row.take(row_size - 16)?;
            let (ids_at, ids_size) = (row.u64()?, row.u64()?);
            let mut ids = file.part(ids_at, ids_size);
            while let Some(id) = ids.u64() {
                ids_left = ids_left.checked_sub(1)?;
                self.event_of_id.insert(id, self.events.len());
            }
            self.events.push(event);
        }
        Some(())
    }

    /// An optional feature section. Unreadable parts do not affect the samples.
    fn feature(&mut self, feature: u32, mut section: Fields<'a>) {
        match feature {
            FEATURE_BUILD_IDS => while self.build_id(&mut section).is_some() {},
            FEATURE_HOST => self.host = text(section),
            FEATURE_ARCHITECTURE => self.architecture = text(section),
            FEATURE_COMMAND => self.command = command(&mut section).unwrap_or_default(),
            FEATURE_EVENTS => {
                self.event_names(&mut section);
            }
            _ => self.simpleperf.feature(feature, section),
        }
    }

    fn build_id(&mut self, section: &mut Fields<'a>) -> Option<()> {
        const HAS_SIZE: u16 = 1 << 15;
        let mut header = *section;
        header.u32()?;
        let misc = header.u16()?;
        let size = header.u16()?;
        section.take(usize::from(size).max(8))?;
        let mut row = header.part(0, u64::from(size).checked_sub(8)?);
        row.u32()?; // process
        let id = row.take(24)?;
        let length = if misc & HAS_SIZE != 0 { usize::from(id[20]).min(20) } else { 20 };
        self.build_ids.insert(row.text(), hexadecimal(&id[..length]));
        Some(())
    }

    /// Reads the names, which are in the order of the table of events.
    fn event_names(&mut self, section: &mut Fields<'a>) -> Option<()> {
        let (count, attribute_size) = (section.u32()?, section.u32()?);
        for index in 0..count as usize {
            section.take(attribute_size as usize)?;
            let ids = section.u32()?;
            let name = section.sized_text()?;
            section.skip_longs(ids.into())?;
            let event = self.events.get_mut(index)?;
            if !name.is_empty() {
                event.name = String::from_utf8_lossy(name).into_owned();
            }
        }
        Some(())
    }
}

fn text(mut section: Fields<'_>) -> String {
    String::from_utf8_lossy(section.sized_text().unwrap_or_default()).into_owned()
}

fn command(section: &mut Fields<'_>) -> Option<String> {
    let mut words = Vec::new();
    for _ in 0..section.u32()? {
        words.push(String::from_utf8_lossy(section.sized_text()?).into_owned());
    }
    Some(words.join(" "))
}

/// Size of the oldest `perf_event_attr`.
const OLDEST_ATTRIBUTES: u64 = 64;

/// Reads a `perf_event_attr`.
fn event(row: Fields<'_>) -> Option<PerfEvent> {
    const IS_FREQUENCY: u64 = 1 << 10;
    const SAMPLE_ID_ALL: u64 = 1 << 18;
    const HAS_CLOCK: u64 = 1 << 25;
    const MONOTONIC: u32 = 1;
    let size = u64::from(row.part(4, 4).u32()?);
    // What follows older and shorter attributes are ids.
    let mut row = row.part(0, size.max(OLDEST_ATTRIBUTES));
    let kind = row.u32()?;
    row.u32()?;
    let config = row.u64()?;
    let period = row.u64()?;
    let (fields, read_format) = (row.u64()?, row.u64()?);
    let flags = row.u64()?;
    // Wake-ups and breakpoints. The oldest attributes end here.
    let branches = row.skip_longs(3).and_then(|()| row.u64()).unwrap_or(0);
    let registers = row.u64().unwrap_or(0);
    let (_stack_size, clock) = (row.u32(), row.u32());
    Some(PerfEvent {
        registers,
        is_monotonic: flags & HAS_CLOCK != 0 && clock == Some(MONOTONIC),
        branches,
        name: event_name(kind, config),
        code: (kind, config),
        fields,
        read_format,
        period: if flags & IS_FREQUENCY == 0 { period } else { 0 },
        has_id_in_all: flags & SAMPLE_ID_ALL != 0,
    })
}

const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

const SOFTWARE: [&str; 11] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
];

/// The name of an event, for files that do not store it.
fn event_name(kind: u32, config: u64) -> String {
    let table: &[&str] = match kind {
        0 => &HARDWARE,
        1 => &SOFTWARE,
        _ => &[],
    };
    let known = usize::try_from(config).ok().and_then(|index| table.get(index));
    known.map_or_else(|| format!("event {kind}:{config:#x}"), |&name| name.to_string())
}
