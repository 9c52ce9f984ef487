//! Version 0.9, which Oracle's Java 7 and 8 wrote: how it declares classes and where its constants are. Both are
//! converted to what later versions have, under the names of later versions.
//!
//! ```text
//! FLR\0  0.9  metadata  events …  metadata: producers (structures, kinds of events, pools), times, last constants
//! ```

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::jfr::constants::Constants;
use crate::format::jfr::cursor::{Cursor, PooledText};
use crate::format::jfr::metadata::{Class, ClassField, Classes, FieldKind};

/// A kind of event: a setting of the recording.
pub(super) const OLD_SETTING: &str = "recordings/recording_setting";

/// The field with the end of an event.
pub(super) const END_TIME: &str = "endTime";

/// Kinds of events: their path and their name in later versions.
const EVENTS: [(&str, &str); 14] = [
    ("vm/prof/execution_sample", "jdk.ExecutionSample"),
    ("java/object_alloc_in_new_TLAB", "jdk.ObjectAllocationInNewTLAB"),
    ("java/object_alloc_outside_TLAB", "jdk.ObjectAllocationOutsideTLAB"),
    ("java/monitor_enter", "jdk.JavaMonitorEnter"),
    ("java/monitor_wait", "jdk.JavaMonitorWait"),
    ("java/thread_park", "jdk.ThreadPark"),
    ("java/thread_sleep", "jdk.ThreadSleep"),
    ("java/socket_read", "jdk.SocketRead"),
    ("java/socket_write", "jdk.SocketWrite"),
    ("java/file_read", "jdk.FileRead"),
    ("java/file_write", "jdk.FileWrite"),
    ("java/exception_throw", "jdk.JavaExceptionThrow"),
    ("os/processor/cpu_information", "jdk.CPUInformation"),
    (OLD_SETTING, OLD_SETTING),
];

/// Pools: their id and their name in later versions.
const POOLS: [(i32, &str); 7] = [
    (7, "java.lang.Thread"),
    (9, "jdk.types.StackTrace"),
    (10, "java.lang.Class"),
    (32, "jdk.types.Method"),
    (33, "jdk.types.Symbol"),
    (34, "jdk.types.ThreadState"),
    (47, "jdk.types.FrameType"),
];

/// Fields: the class that has them, their name, and their name in later versions.
const FIELDS: [(&str, &str, &str); 10] = [
    ("jdk.ObjectAllocationInNewTLAB", "class", "objectClass"),
    ("jdk.ObjectAllocationOutsideTLAB", "class", "objectClass"),
    ("jdk.JavaMonitorEnter", "klass", "monitorClass"),
    ("jdk.JavaMonitorWait", "klass", "monitorClass"),
    ("jdk.ThreadPark", "klass", "parkedClass"),
    ("java.lang.Thread", "name", "osName"),
    ("jdk.types.Method", "class", "type"),
    ("jdk.types.Symbol", "utf8", "string"),
    ("jdk.types.FrameType", "desc", "description"),
    ("", "line", "lineNumber"),
];

/// Added to the ids of pools, which may be those of events.
const POOL: i64 = 1 << 32;

/// What the metadata say about a chunk.
pub(super) struct OldMetadata {
    pub(super) classes: Classes,
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    pub(super) start_ticks: i64,
    pub(super) ticks_per_second: i64,
    pub(super) last_constants: i64,
}

impl OldMetadata {
    /// Reads the metadata from a cursor after the size of their event.
    pub(super) fn read(event: &mut Cursor<'_>) -> Result<OldMetadata, ParseError> {
        if event.int()? != 0 {
            return Err(event.error("there is no metadata event at the offset given in the chunk header"));
        }
        let mut declarations = OldDeclarations::default();
        for _ in 0..event.count()? {
            declarations.producer(event)?;
        }
        let (start, end) = (event.long()?, event.long()?);
        Ok(OldMetadata {
            classes: Classes::new(declarations.classes),
            start_ns: start.saturating_mul(1_000_000),
            duration_ns: end.saturating_sub(start).saturating_mul(1_000_000),
            start_ticks: event.long()?,
            ticks_per_second: event.long()?,
            last_constants: event.long()?,
        })
    }
}

/// Reads the pools: a chain of events, each with the offset of the previous one.
pub(super) fn constants<'a>(
    chunk: &Cursor<'a>,
    classes: &Classes,
    last: usize,
) -> Result<Constants<'a>, ParseError> {
    let mut constants = Constants::default();
    let mut offset = last;
    while offset != 0 {
        let mut event = chunk.at(offset).event()?;
        if event.int()? != 1 {
            return Err(event.error("there is no constant pool at the offset given in the metadata"));
        }
        event.long()?; // time
        let before = usize::try_from(event.long()?).unwrap_or(usize::MAX);
        while !event.is_at_end() {
            let pool = POOL + i64::from(event.int()?);
            constants.pool(&mut event, classes, pool)?;
        }
        if before >= offset {
            return Err(event.error("the constant pools do not form a chain going backwards"));
        }
        offset = before;
    }
    Ok(constants)
}

#[derive(Default)]
struct OldDeclarations {
    classes: HashMap<i64, Class>,
    /// The number of structures of all producers so far.
    structures: i64,
}

/// A field of a structure, as declared.
struct OldField {
    name: String,
    kind: FieldKind,
    is_array: bool,
    class: i64,
}

impl OldDeclarations {
    /// Reads what one component of the virtual machine declares.
    fn producer(&mut self, event: &mut Cursor<'_>) -> Result<(), ParseError> {
        event.int()?; // id
        for _ in 0..3 {
            text(event)?; // name, description, address
        }
        for _ in 0..event.count()? {
            text(event)?; // relation
        }
        let mut structures = Vec::new();
        for _ in 0..event.count()? {
            let mut fields = Vec::new();
            for _ in 0..event.count()? {
                fields.push(self.field(event)?);
            }
            structures.push(fields);
        }
        for (number, fields) in structures.iter().enumerate() {
            let id = self.structure(number as i64);
            self.classes.insert(id, class("", FieldKind::Long, Vec::new(), fields));
        }
        self.events(event, &structures)?;
        for _ in 0..event.count()? {
            let id = event.int()? as i32;
            text(event)?; // name
            text(event)?; // description
            let (key, _) = kind(event)?;
            let fields = structure(event, &structures)?;
            let name = POOLS.iter().find(|(pool, _)| *pool == id).map_or("", |(_, name)| name);
            self.classes.insert(POOL + i64::from(id as u32), class(name, key, Vec::new(), fields));
        }
        self.structures += structures.len() as i64;
        Ok(())
    }

    /// The id of the class of structure `number` of the current producer.
    fn structure(&self, number: i64) -> i64 {
        -1 - self.structures - number
    }

    fn field(&self, event: &mut Cursor<'_>) -> Result<OldField, ParseError> {
        let name = text(event)?;
        text(event)?; // label
        text(event)?; // description
        event.byte()?; // transition
        let (kind, is_array) = kind(event)?;
        event.int()?; // pool
        let structure = event.int()?;
        event.int()?; // reserved
        // For an array of simple values, this is their type.
        let kind = if is_array && kind != FieldKind::Nested { simple(event, structure)? } else { kind };
        Ok(OldField { name, kind, is_array, class: self.structure(structure.into()) })
    }

    fn events(&mut self, event: &mut Cursor<'_>, structures: &[Vec<OldField>]) -> Result<(), ParseError> {
        for _ in 0..event.count()? {
            let id = event.int()?;
            text(event)?; // label
            text(event)?; // description
            let path = text(event)?;
            let [has_start, has_thread, has_stack, _] =
                [event.byte()? != 0, event.byte()? != 0, event.byte()? != 0, event.byte()? != 0];
            let fields = structure(event, structures)?;
            event.int()?; // reserved
            let name = EVENTS.iter().find(|(old, _)| *old == path).map_or(&*path, |(_, name)| name);
            // An event without a start is written when it happens.
            let times: &[&str] = if has_start { &[END_TIME, "startTime"] } else { &["startTime"] };
            let mut first: Vec<ClassField> = times.iter().map(|name| field(name, FieldKind::Long)).collect();
            first.extend(has_thread.then(|| field("eventThread", FieldKind::Int)));
            first.extend(has_stack.then(|| field("stackTrace", FieldKind::Long)));
            self.classes.insert(id.into(), class(name, FieldKind::Long, first, fields));
        }
        Ok(())
    }
}

fn class(name: &str, key: FieldKind, mut fields: Vec<ClassField>, declared: &[OldField]) -> Class {
    fields.extend(declared.iter().map(|declared| {
        let renamed = FIELDS.iter().find(|(class, old, _)| *class == name && *old == declared.name);
        let new = renamed.map_or(&*declared.name, |(_, _, new)| new);
        let (class, is_array) = (declared.class, declared.is_array);
        ClassField { class, is_array, ..field(new, declared.kind) }
    }));
    Class { name: name.to_string(), fields, key }
}

fn field(name: &str, kind: FieldKind) -> ClassField {
    ClassField { name: name.to_string(), class: 0, kind, is_array: false, unit: None }
}

/// The structure whose index comes next.
fn structure<'s>(
    event: &mut Cursor<'_>,
    structures: &'s [Vec<OldField>],
) -> Result<&'s [OldField], ParseError> {
    let index = event.int()? as usize;
    let structure = structures.get(index);
    structure.map(Vec::as_slice).ok_or_else(|| event.error(format!("structure {index} is not declared")))
}

/// A type: how its values are stored, and whether they are arrays.
fn kind(event: &mut Cursor<'_>) -> Result<(FieldKind, bool), ParseError> {
    match event.byte()? {
        13 => Ok((FieldKind::Byte, true)),
        14 => Ok((FieldKind::Nested, false)),
        15 => Ok((FieldKind::Nested, true)),
        number => Ok((simple(event, number.into())?, false)),
    }
}

fn simple(event: &Cursor<'_>, number: u32) -> Result<FieldKind, ParseError> {
    Ok(match number {
        0..=2 => FieldKind::Byte,
        3 | 4 => FieldKind::Short,
        5 | 6 => FieldKind::Int,
        7 | 8 => FieldKind::Long,
        9 => FieldKind::Float,
        10 => FieldKind::Double,
        11 => FieldKind::ShortText,
        12 => FieldKind::WideText,
        _ => return Err(event.error(format!("unknown type {number}"))),
    })
}

fn text(event: &mut Cursor<'_>) -> Result<String, ParseError> {
    Ok(match event.short_text()? {
        PooledText::Here(text) => text.into_owned(),
        PooledText::Null | PooledText::Pooled(_) => String::new(),
    })
}
