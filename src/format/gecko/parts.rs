//! Positions of the parts of a profile in the text.

use crate::format::ParseError;
use crate::format::gecko::table::TableColumns;
use crate::format::json::{Json, Kind};
use crate::format::threads::Thread;

/// The parts of a profile, or of an object that wraps one.
#[derive(Default)]
pub(super) struct ProfileParts {
    pub(super) meta: Option<usize>,
    pub(super) libs: Option<usize>,
    pub(super) threads: Vec<ThreadParts>,
    pub(super) shared: TablePositions,
    /// Nested profiles: those of child processes, and the one that the developer tools wrap.
    pub(super) children: Vec<usize>,
    /// Profiles of child processes that are strings containing JSON.
    pub(super) embedded: Vec<String>,
}

impl ProfileParts {
    /// Scans a profile and advances past it.
    pub(super) fn find(json: &mut Json) -> Result<ProfileParts, ParseError> {
        let mut parts = ProfileParts::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let at = json.position();
            match (&*key, json.kind()?) {
                ("threads", Kind::Array) => {
                    parts.find_threads(json)?;
                    continue;
                }
                ("shared", Kind::Object) => {
                    json.object()?;
                    while let Some(key) = json.key()? {
                        if !parts.shared.member(&key, json)? {
                            json.skip()?;
                        }
                    }
                    continue;
                }
                ("processes", Kind::Array) => {
                    json.array()?;
                    while json.element()? {
                        if json.kind()? == Kind::Object {
                            parts.children.push(json.position());
                        }
                        json.skip()?;
                    }
                    continue;
                }
                ("meta", Kind::Object) => parts.meta = Some(at),
                ("libs", Kind::Array | Kind::String) => parts.libs = Some(at),
                ("profile", Kind::Object) => parts.children.push(at),
                _ => {}
            }
            json.skip()?;
        }
        Ok(parts)
    }

    fn find_threads(&mut self, json: &mut Json) -> Result<(), ParseError> {
        json.array()?;
        while json.element()? {
            match json.kind()? {
                Kind::Object => self.threads.push(ThreadParts::find(json)?),
                Kind::String => self.embedded.push(json.string()?.into_owned()),
                _ => json.skip()?,
            }
        }
        Ok(())
    }
}

/// The tables that a thread has, or that all threads share.
#[derive(Clone, Default)]
pub(super) struct TablePositions {
    pub(super) strings: Option<usize>,
    pub(super) stacks: Option<TableColumns>,
    pub(super) frames: Option<TableColumns>,
    pub(super) functions: Option<TableColumns>,
    pub(super) resources: Option<TableColumns>,
    pub(super) sources: Option<TableColumns>,
    /// Places in original sources, found with source maps.
    pub(super) locations: Option<TableColumns>,
}

impl TablePositions {
    /// Records the position of a table and advances past it, if `key` is one.
    fn member(&mut self, key: &str, json: &mut Json) -> Result<bool, ParseError> {
        let kind = json.kind()?;
        let table = match key {
            "stringArray" | "stringTable" if matches!(kind, Kind::Array | Kind::Object) => {
                self.strings = Some(json.position());
                return json.skip().map(|()| true);
            }
            _ if kind != Kind::Object => return Ok(false),
            "stackTable" => &mut self.stacks,
            "frameTable" => &mut self.frames,
            "funcTable" => &mut self.functions,
            "resourceTable" => &mut self.resources,
            "sources" => &mut self.sources,
            "sourceLocationTable" => &mut self.locations,
            _ => return Ok(false),
        };
        *table = Some(TableColumns::find(json)?);
        Ok(true)
    }

    /// These tables, or the shared ones for those that are missing.
    pub(super) fn or(&self, shared: &TablePositions) -> TablePositions {
        TablePositions {
            strings: self.strings.or(shared.strings),
            stacks: self.stacks.clone().or_else(|| shared.stacks.clone()),
            frames: self.frames.clone().or_else(|| shared.frames.clone()),
            functions: self.functions.clone().or_else(|| shared.functions.clone()),
            resources: self.resources.clone().or_else(|| shared.resources.clone()),
            sources: self.sources.clone().or_else(|| shared.sources.clone()),
            locations: self.locations.clone().or_else(|| shared.locations.clone()),
        }
    }
}

/// The parts of a thread.
#[derive(Default)]
pub(super) struct ThreadParts {
    pub(super) thread: Thread,
    pub(super) tables: TablePositions,
    pub(super) libs: Option<usize>,
    pub(super) samples: Option<TableColumns>,
    pub(super) js_allocations: Option<TableColumns>,
    pub(super) native_allocations: Option<TableColumns>,
    pub(super) markers: Markers,
}

/// What is known of markers, which are not read.
#[derive(Clone, Copy, Default)]
pub(super) struct Markers {
    /// Whether there are any.
    pub(super) are_any: bool,
    /// How many are samples of other events than the one whose samples are in `samples`.
    pub(super) other_events: u64,
    /// How many are allocations. The Firefox Profiler moves them to tables when it opens a file of Firefox.
    pub(super) allocations: u64,
}

impl Markers {
    pub(super) fn add(&mut self, others: Markers) {
        self.are_any |= others.are_any;
        self.other_events = self.other_events.saturating_add(others.other_events);
        self.allocations = self.allocations.saturating_add(others.allocations);
    }
}

/// The type of markers with which samply writes the samples of all events but one.
const OTHER_EVENT: &str = "Other event";

/// The types of markers with which Firefox writes sampled allocations.
const ALLOCATIONS: [&str; 2] = ["JS allocation", "Native allocation"];

impl ThreadParts {
    fn find(json: &mut Json) -> Result<ThreadParts, ParseError> {
        let mut parts = ThreadParts::default();
        let mut pid = String::new();
        let text = |json: &mut Json| json.text_if_any().map(|text| text.unwrap_or_default().into_owned());
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("name", _) => parts.thread.name = text(json)?,
                ("tid", _) => parts.thread.tid = text(json)?,
                ("pid", _) => pid = text(json)?,
                ("processName", _) => parts.thread.process = text(json)?,
                ("samples", Kind::Object) => parts.samples = Some(TableColumns::find(json)?),
                ("jsAllocations", Kind::Object) => parts.js_allocations = Some(TableColumns::find(json)?),
                ("nativeAllocations", Kind::Object) => {
                    parts.native_allocations = Some(TableColumns::find(json)?);
                }
                ("libs", Kind::Array) => {
                    parts.libs = Some(json.position());
                    json.skip()?;
                }
                ("markers", Kind::Object) => {
                    let start = json.position();
                    json.skip()?;
                    // Firefox writes millions of other markers, and reading each would take long.
                    let text = json.since(start);
                    let count = |kind: &str| {
                        let quoted = format!("\"{kind}\"");
                        let found = memchr::memmem::find_iter(text, quoted.as_bytes());
                        found.filter(|&at| text[..at].trim_ascii_end().ends_with(b":")).count() as u64
                    };
                    parts.markers = Markers {
                        are_any: memchr::memmem::find(text, b"\"type\"").is_some(),
                        other_events: count(OTHER_EVENT),
                        allocations: ALLOCATIONS.map(count).into_iter().sum(),
                    };
                }
                _ => {
                    if !parts.tables.member(&key, json)? {
                        json.skip()?;
                    }
                }
            }
        }
        // 0 stands for an unknown thread or process id.
        if parts.thread.process.is_empty() && pid != "0" {
            parts.thread.process = pid;
        }
        if parts.thread.tid == "0" {
            parts.thread.tid.clear();
        }
        Ok(parts)
    }
}

/// Metadata of the recording. Times are in ms; those of samples are relative to `start`.
#[derive(Default)]
pub(super) struct RecordingMeta {
    /// Since 1970.
    pub(super) start: Option<f64>,
    pub(super) profiling_start: Option<f64>,
    pub(super) profiling_end: Option<f64>,
    pub(super) interval: Option<f64>,
    pub(super) product: Option<String>,
    /// Whether this program wrote the file.
    pub(super) is_own: bool,
    pub(super) processors: Option<i64>,
    /// Unit of `threadCPUDelta`.
    pub(super) cpu_unit: String,
    /// Version of the processed format; raw profiles have none.
    pub(super) processed_version: Option<f64>,
}

impl RecordingMeta {
    pub(super) fn read(json: &mut Json) -> Result<RecordingMeta, ParseError> {
        let mut meta = RecordingMeta::default();
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                // 0 means that the profile has no date.
                ("startTime", _) => meta.start = json.number_if_any()?.filter(|&start| start > 0.0),
                ("profilingStartTime", _) => meta.profiling_start = json.number_if_any()?,
                ("profilingEndTime", _) => meta.profiling_end = json.number_if_any()?,
                ("interval", _) => meta.interval = json.number_if_any()?,
                ("preprocessedProfileVersion", _) => meta.processed_version = json.number_if_any()?,
                ("logicalCPUs", _) => {
                    let count = json.number_if_any()?.filter(|&count| (1.0..1e6).contains(&count));
                    meta.processors = count.map(|count| count as i64);
                }
                ("importedFrom", Kind::String) => meta.is_own = json.string()?.contains(" by prof "),
                ("product", Kind::String) => meta.product = Some(json.string()?.into_owned()),
                ("sampleUnits", Kind::Object) => {
                    json.object()?;
                    while let Some(key) = json.key()? {
                        let unit = json.text_if_any()?.unwrap_or_default();
                        if key == "threadCPUDelta" {
                            meta.cpu_unit = unit.into_owned();
                        }
                    }
                }
                _ => json.skip()?,
            }
        }
        Ok(meta)
    }
}
