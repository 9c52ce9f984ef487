//! What a trace says about processes, threads, tracks and symbols, wherever it does.

use hashbrown::HashMap;

use crate::format::perfetto::packet::{Packet, each_field, kind};
use crate::format::text::lossy;
use crate::format::threads::Thread;
use crate::format::wire::{Value, WireError};

/// How many parents of a track are asked for its process.
const DEEPEST: usize = 16;

/// A track of slices: those of a thread, of a process, or of something else, such as a network request.
#[derive(Default)]
struct Track {
    parent: u64,
    name: String,
    process: Option<u64>,
    thread: Option<u64>,
}

/// A source line of an address. Of several, the first was inlined into the second, and so on.
#[derive(Clone, Default)]
pub(super) struct SourceLine {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// Path and build ID of a file.
pub(super) type Module = (Box<[u8]>, Box<[u8]>);

/// The names in a trace.
#[derive(Default)]
pub(super) struct Names {
    processes: HashMap<u64, String>,
    /// The process and the name of each thread.
    threads: HashMap<u64, (u64, String)>,
    tracks: HashMap<u64, Track>,
    /// What was found for addresses after the recording.
    pub(super) symbols: HashMap<Module, HashMap<u64, Vec<SourceLine>>>,
}

impl Names {
    pub(super) fn packet(&mut self, packet: &Packet<'_>) -> Result<(), WireError> {
        match packet.kind {
            kind::PROCESS_TREE => {
                for (number, message) in messages(packet.data)? {
                    match number {
                        1 => self.process(message, 3).map(drop)?,
                        2 => self.thread(message, 3, 1, 2).map(drop)?,
                        _ => {}
                    }
                }
                Ok(())
            }
            kind::PROCESS => self.process(packet.data, 6).map(drop),
            kind::THREAD => self.thread(packet.data, 1, 2, 5).map(drop),
            kind::TRACK => self.track(packet.data),
            kind::SYMBOLS => self.module(packet.data),
            _ => Ok(()),
        }
    }

    /// A process, whose id is field 1 and whose name is field `name`.
    fn process(&mut self, message: &[u8], name: u32) -> Result<Option<u64>, WireError> {
        let (mut id, mut found) = (None, None);
        each_field(message, |number, value| match value {
            Value::Varint(pid) if number == 1 => id = Some(pid),
            // A command line consists of several texts, of which the first is the program.
            Value::Bytes(text) if number == name => found = found.or(Some(text)),
            _ => {}
        })?;
        if let (Some(id), Some(name)) = (id, found) {
            self.processes.insert(id, lossy(name).into_owned());
        }
        Ok(id)
    }

    /// A thread, with the numbers of the fields for its process, itself, and its name.
    pub(super) fn thread(
        &mut self,
        message: &[u8],
        process: u32,
        thread: u32,
        name: u32,
    ) -> Result<Option<u64>, WireError> {
        let (mut pid, mut tid, mut found) = (0, None, None);
        each_field(message, |number, value| match value {
            Value::Varint(id) if number == process => pid = id,
            Value::Varint(id) if number == thread => tid = Some(id),
            Value::Bytes(text) if number == name => found = Some(text),
            _ => {}
        })?;
        if let Some(tid) = tid {
            let known = self.threads.entry(tid).or_default();
            known.0 = if pid == 0 { known.0 } else { pid };
            if let Some(name) = found {
                known.1 = lossy(name).into_owned();
            }
        }
        Ok(tid)
    }

    fn track(&mut self, message: &[u8]) -> Result<(), WireError> {
        let (mut id, mut track) = (0, Track::default());
        let (mut process, mut thread) = (None, None);
        each_field(message, |number, value| match (number, value) {
            (1, Value::Varint(uuid)) => id = uuid,
            (5, Value::Varint(uuid)) => track.parent = uuid,
            (2 | 10 | 13, Value::Bytes(name)) => track.name = lossy(name).into_owned(),
            (3, Value::Bytes(message)) => process = Some(message),
            (4, Value::Bytes(message)) => thread = Some(message),
            _ => {}
        })?;
        if let Some(message) = process {
            track.process = self.process(message, 6)?;
        }
        if let Some(message) = thread {
            track.thread = self.thread(message, 1, 2, 5)?;
        }
        self.tracks.insert(id, track);
        Ok(())
    }

    /// `path` = 1, `build_id` = 2, and addresses = 3, each with `address` = 1 and lines = 2.
    fn module(&mut self, message: &[u8]) -> Result<(), WireError> {
        let (mut path, mut build_id) = (&b""[..], &b""[..]);
        let mut symbols = Vec::new();
        for (number, bytes) in messages(message)? {
            match number {
                1 => path = bytes,
                2 => build_id = bytes,
                3 => symbols.push(bytes),
                _ => {}
            }
        }
        let known = self.symbols.entry((path.into(), build_id.into())).or_default();
        for symbol in symbols {
            let (mut address, mut lines) = (0, Vec::new());
            each_field(symbol, |number, value| match (number, value) {
                (1, Value::Varint(number)) => address = number,
                (2, Value::Bytes(line)) => lines.push(line),
                _ => {}
            })?;
            let lines: Result<Vec<_>, _> = lines.into_iter().map(SourceLine::read).collect();
            known.insert(address, lines?);
        }
        Ok(())
    }

    /// The thread with the given ids, of which the process may be unknown.
    pub(super) fn thread_of(&self, pid: Option<u64>, tid: Option<u64>) -> Thread {
        let known = tid.and_then(|tid| self.threads.get(&tid));
        let pid = pid.or(known.map(|known| known.0)).filter(|pid| *pid != 0);
        let process = pid.map_or_else(String::new, |pid| {
            self.processes
                .get(&pid)
                .filter(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| pid.to_string())
        });
        Thread {
            process,
            name: known.map(|known| known.1.clone()).unwrap_or_default(),
            tid: tid.map_or_else(String::new, |tid| tid.to_string()),
        }
    }

    /// The thread of a track. A track without one has its own name.
    pub(super) fn thread_of_track(&self, id: u64) -> Thread {
        let track = self.tracks.get(&id);
        if let Some(tid) = track.and_then(|track| track.thread) {
            return self.thread_of(None, Some(tid));
        }
        let (mut process, mut above) = (None, track);
        for _ in 0..DEEPEST {
            let Some(track) = above.filter(|_| process.is_none()) else { break };
            let thread = track.thread.and_then(|tid| self.threads.get(&tid));
            process = track.process.or(thread.map(|thread| thread.0));
            above = self.tracks.get(&track.parent);
        }
        let name = track.map(|track| track.name.clone()).unwrap_or_default();
        Thread { name, ..self.thread_of(process, None) }
    }
}

impl SourceLine {
    fn read(message: &[u8]) -> Result<SourceLine, WireError> {
        let mut line = SourceLine::default();
        each_field(message, |number, value| match (number, value) {
            (1, Value::Bytes(text)) => line.function = lossy(text).into_owned(),
            (2, Value::Bytes(text)) => line.file = lossy(text).into_owned(),
            (3, Value::Varint(number)) => line.line = u32::try_from(number).unwrap_or(0),
            _ => {}
        })?;
        Ok(line)
    }
}

/// The numbers and the bytes of the fields of a message that are texts or messages.
pub(super) fn messages(message: &[u8]) -> Result<Vec<(u32, &[u8])>, WireError> {
    let mut found = Vec::new();
    each_field(message, |number, value| {
        if let Value::Bytes(bytes) = value {
            found.push((number, bytes));
        }
    })?;
    Ok(found)
}
