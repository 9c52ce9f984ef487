//! What Android's `simpleperf record` adds to `perf.data`: the symbols of the code that samples were in, since the binaries
//! are on the phone, and the names of events.
//!
//! ```text
//! FILE, up to Android 12: u32 size; path, 0; u32 kind, u64 lowest address, u32 number of symbols;
//!     per symbol u64 address, u32 length, name, 0; of a dex file u32 n, n × u64; of a binary u64 offset of the lowest address
//! FILE2: u32 size; message { path = 1; kind = 2; lowest address = 3; symbol { address = 1; length = 2; name = 3 } = 4;
//!     binary { offset of the lowest address = 1 } = 6; … }
//! META_INFO: key, 0, value, 0, …
//! ```

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::text::lossy;
use crate::format::wire::{Value, Wire};

pub(super) const FEATURE_FILE: u32 = 128;
pub(super) const FEATURE_META_INFO: u32 = 129;
pub(super) const FEATURE_FILE2: u32 = 132;

/// Kinds of files.
const KERNEL_MODULE: u64 = 1;
const BINARY: u64 = 2;
const DEX: u64 = 3;

/// The bit of a map's protection that says that it is code from the compiler of the runtime.
pub(super) const JIT_MAP: u32 = 0x4000;

/// What a recording of simpleperf has in addition.
#[derive(Default)]
pub(super) struct Simpleperf<'a> {
    files: HashMap<&'a [u8], StoredFile<'a>>,
    /// The name of each event, by its kind and number.
    pub(super) events: HashMap<(u32, u64), String>,
    pub(super) app: String,
    /// Whether simpleperf made the recording.
    pub(super) is_it: bool,
}

/// A file with code, and its symbols.
#[derive(Default)]
pub(super) struct StoredFile<'a> {
    kind: u64,
    lowest: u64,
    /// Where in the file the lowest address is.
    offset: Option<u64>,
    /// Address, length and name, by address.
    symbols: Vec<(u64, u64, &'a [u8])>,
}

impl<'a> Simpleperf<'a> {
    pub(super) fn file(&self, path: &[u8]) -> Option<&StoredFile<'a>> {
        self.files.get(path)
    }

    /// Reads a feature section. Unreadable parts do not affect the samples.
    pub(super) fn feature(&mut self, feature: u32, mut section: Fields<'a>) {
        match feature {
            FEATURE_META_INFO => {
                self.is_it = true;
                while !section.is_empty() {
                    let (key, value) = (section.text(), lossy(section.text()));
                    match key {
                        b"event_type_info" => value.lines().for_each(|line| self.event(line)),
                        b"app_package_name" => self.app = value.into_owned(),
                        _ => {}
                    }
                }
            }
            FEATURE_FILE | FEATURE_FILE2 => {
                self.is_it = true;
                while let Some(record) = section.u32().and_then(|size| section.take(size as usize)) {
                    let fields = Fields::new(record, false);
                    let read =
                        if feature == FEATURE_FILE { plain_file(fields) } else { message_file(record) };
                    if let Some((path, mut file)) = read {
                        file.symbols.sort_unstable();
                        self.files.insert(path, file);
                    }
                }
            }
            _ => {}
        }
    }

    /// `cpu-clock,1,0`
    fn event(&mut self, line: &str) {
        let mut parts = line.rsplitn(3, ',');
        let (number, kind, name) = (parts.next(), parts.next(), parts.next());
        if let (Some(Ok(number)), Some(Ok(kind)), Some(name)) =
            (number.map(str::parse), kind.map(str::parse), name)
        {
            self.events.insert((kind, number), name.to_string());
        }
    }
}

/// A file and its path, as written by older versions.
fn plain_file(mut fields: Fields<'_>) -> Option<(&[u8], StoredFile<'_>)> {
    let path = fields.text();
    let (kind, lowest, count) = (fields.u32()?.into(), fields.u64()?, fields.u32()?);
    let mut file = StoredFile { kind, lowest, ..StoredFile::default() };
    for _ in 0..count {
        file.symbols.push((fields.u64()?, fields.u32()?.into(), fields.text()));
    }
    match kind {
        DEX => {}
        _ => file.offset = fields.u64(),
    }
    Some((path, file))
}

fn message_file(message: &[u8]) -> Option<(&[u8], StoredFile<'_>)> {
    let (mut path, mut file) = (&b""[..], StoredFile::default());
    let mut wire = Wire::new(message);
    while let Some(field) = wire.field().ok()? {
        match (field.number, field.value) {
            (1, Value::Bytes(text)) => path = text,
            (2, Value::Varint(kind)) => file.kind = kind,
            (3, Value::Varint(address)) => file.lowest = address,
            (4, Value::Bytes(symbol)) => file.symbols.push(message_symbol(symbol)?),
            // The offset in a binary, or the memory of a kernel module.
            (6 | 7, Value::Bytes(info)) => {
                let field = Wire::new(info).field().ok()?;
                file.offset = match field.map(|field| field.value) {
                    Some(Value::Varint(offset)) => Some(offset),
                    _ => Some(0),
                };
            }
            _ => {}
        }
    }
    Some((path, file))
}

fn message_symbol(message: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (mut address, mut length, mut name) = (0, 0, &b""[..]);
    let mut wire = Wire::new(message);
    while let Some(field) = wire.field().ok()? {
        match (field.number, field.value) {
            (1, Value::Varint(number)) => address = number,
            (2, Value::Varint(number)) => length = number,
            (3, Value::Bytes(text)) => name = text,
            _ => {}
        }
    }
    Some((address, length, name))
}

impl<'a> StoredFile<'a> {
    /// The name of the function at `address` in memory, where the file is mapped to `start` from `offset` on.
    pub(super) fn name_at(&self, address: u64, start: u64, offset: u64) -> Option<&'a [u8]> {
        let from_start = address.wrapping_sub(start);
        self.name(match (self.kind, self.offset) {
            (KERNEL_MODULE, Some(memory)) => from_start.wrapping_sub(memory).wrapping_add(self.lowest),
            (KERNEL_MODULE, None) => from_start,
            (BINARY, Some(lowest_at)) => {
                from_start.wrapping_add(offset).wrapping_sub(lowest_at).wrapping_add(self.lowest)
            }
            (BINARY, None) => from_start.wrapping_add(self.lowest),
            (DEX, _) => from_start.wrapping_add(offset),
            // The kernel, and code that was compiled while the program ran.
            _ => address,
        })
    }

    /// The name of the function at an address as symbols have it.
    pub(super) fn name(&self, address: u64) -> Option<&'a [u8]> {
        let after = self.symbols.partition_point(|&(start, ..)| start <= address);
        let &(start, length, name) = self.symbols.get(after.checked_sub(1)?)?;
        (address - start < length).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::format::{Source, load};
    use crate::profile::{LoadOptions, to_notation};

    /// Written by hand: two events, two threads; a binary within an apk whose second segment is mapped, a dex file,
    /// compiled code, and the kernel, one of which has no symbol.
    #[test]
    fn symbols_in_the_recording_name_the_frames() {
        let expected = "\
            thread_start;Shop.draw;draw(int);[libshop.so] 1 250000 0 {process=7 thread=shop tid=7}\n\
            thread_start;Shop.draw;schedule 1 0 3 {process=7 thread=Render tid=8}\n\
            thread_start;compiled 1 250000 0 {process=7 thread=shop tid=7}";
        for bytes in [
            &include_bytes!("../../../tests/hostile/seeds/perf-data/simpleperf-file.data")[..],
            &include_bytes!("../../../tests/hostile/seeds/perf-data/simpleperf-file2.data")[..],
        ] {
            let options = LoadOptions { labels: true, ..LoadOptions::LEAST };
            let profile = load(&mut Source::from_bytes(bytes.into()), options, None).unwrap();
            assert_eq!(to_notation(&profile), expected);
            let names: Vec<_> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
            assert_eq!(names, ["samples", "cpu-clock", "sched:sched_switch"]);
            assert_eq!(profile.meta.comments, ["simpleperf record --app shop", "shop"]);
            assert_eq!(profile.meta.warnings, Vec::<String>::new());
        }
    }
}
