//! jitdump: the code that a process compiled, with times and source lines. `perf inject --jit` reads it, too.
//!
//! A header is followed by records: code that is loaded, code that moved, the lines of the code that is loaded next.

use std::io::{self, Read};

use hashbrown::HashMap;

use crate::format::fields::Fields;
use crate::format::jit::code::{Event, JitCode, JitError, Listed, SourceLine};
use crate::profile::Budget;

const MAGIC: u32 = 0x4A69_5444;

/// Size of the header; newer versions may add to it.
const FILE_HEADER: u32 = 40;

/// Size of the fields that all records have: kind, size, time.
const RECORD_HEADER: u32 = 16;

/// No name and no list of lines is longer.
const LONGEST: u32 = 64 << 20;

impl JitCode {
    /// Reads a jitdump that process `pid` wrote, or any process if `pid` is `None`. A dump may end anywhere, because its
    /// process may still be running.
    pub fn read_dump(mut input: impl Read, pid: Option<u32>, budget: &Budget) -> Result<JitCode, JitError> {
        /// Times are ticks of the processor, in a unit that the file does not have.
        const PROCESSOR_TIME: u64 = 1;
        let header = read(&mut input, FILE_HEADER)?;
        let is_big_endian = header.starts_with(&MAGIC.to_be_bytes());
        if !is_big_endian && !header.starts_with(&MAGIC.to_le_bytes()) {
            return Err(JitError::Malformed);
        }
        let mut fields = Fields::new(&header, is_big_endian).part(8, u64::MAX);
        let size = number(fields.u32())?;
        let (_machine, writer) = (number(fields.u64())?, number(fields.u32())?);
        let (_time, flags) = (number(fields.u64())?, number(fields.u64())?);
        if pid.is_some_and(|pid| pid != writer) {
            return Err(JitError::OtherProcess(writer));
        }
        let mut dump =
            Dump { input, is_big_endian, listed: Listed::new(budget), by_index: HashMap::new(), lines: None };
        let read = dump.skip(size.saturating_sub(FILE_HEADER).into()).and_then(|()| dump.records());
        match read {
            Err(JitError::TooLarge(error)) => Err(JitError::TooLarge(error)),
            _ => Ok(dump.listed.finish(flags & PROCESSOR_TIME == 0)),
        }
    }
}

/// The lines of the code that starts at an address.
type Lines = (u64, Vec<SourceLine>);

struct Dump<R> {
    input: R,
    is_big_endian: bool,
    listed: Listed,
    /// The function with each index, by which records of moves refer to it.
    by_index: HashMap<u64, usize>,
    /// The lines of the function that is loaded next.
    lines: Option<Lines>,
}

impl<R: Read> Dump<R> {
    fn records(&mut self) -> Result<(), JitError> {
        const LOAD: u32 = 0;
        const MOVE: u32 = 1;
        const DEBUG_INFO: u32 = 2;
        const CLOSE: u32 = 3;
        loop {
            let header = read(&mut self.input, RECORD_HEADER)?;
            let mut fields = Fields::new(&header, self.is_big_endian);
            let (kind, size, time) = (number(fields.u32())?, number(fields.u32())?, number(fields.u64())?);
            let size = number(size.checked_sub(RECORD_HEADER))?;
            match kind {
                LOAD => self.load(size, time)?,
                MOVE if size <= LONGEST => self.moved(size, time)?,
                DEBUG_INFO if size <= LONGEST => self.debug_info(size)?,
                CLOSE => return Ok(()),
                _ => self.skip(size.into())?,
            }
        }
    }

    /// A function: process and thread, its address (twice), its size and index, its name, its code.
    fn load(&mut self, size: u32, time: u64) -> Result<(), JitError> {
        const FIXED: u32 = 40;
        let after = number(size.checked_sub(FIXED))?;
        let fixed = read(&mut self.input, FIXED)?;
        let mut fields = Fields::new(&fixed, self.is_big_endian).part(16, u64::MAX);
        let (start, code_size, index) = (number(fields.u64())?, number(fields.u64())?, number(fields.u64())?);
        let name_size = u64::from(after).saturating_sub(code_size) as u32;
        if name_size > LONGEST {
            return self.skip(after.into());
        }
        let name = read(&mut self.input, name_size)?;
        self.skip(u64::from(after - name_size))?;
        let name = String::from_utf8_lossy(Fields::new(&name, self.is_big_endian).text()).into_owned();
        let lines = self.lines.take().filter(|(address, _)| *address == start).map(|(_, lines)| lines);
        let is_inside = |lines: &Vec<SourceLine>| lines.iter().all(|line| line.offset <= code_size);
        let function = self.listed.function(&name, lines.filter(is_inside).unwrap_or_default())?;
        self.by_index.insert(index, function);
        self.listed.event(Event { time, start, size: code_size, function })?;
        Ok(())
    }

    /// Code that moved: process and thread, its address, the one before, the new one, its size and index.
    fn moved(&mut self, size: u32, time: u64) -> Result<(), JitError> {
        let body = read(&mut self.input, size)?;
        let mut fields = Fields::new(&body, self.is_big_endian).part(24, u64::MAX);
        let (start, size, index) = (number(fields.u64())?, number(fields.u64())?, number(fields.u64())?);
        if let Some(&function) = self.by_index.get(&index) {
            self.listed.event(Event { time, start, size, function })?;
        }
        Ok(())
    }

    /// Lines: the address of the code, how many there are, and for each the address, the line, the column, the file. All are
    /// dropped if one is corrupt: Node.js 20 writes bytes of its memory instead of the file's name.
    fn debug_info(&mut self, size: u32) -> Result<(), JitError> {
        let body = read(&mut self.input, size)?;
        let mut fields = Fields::new(&body, self.is_big_endian);
        let (start, count) = (number(fields.u64())?, number(fields.u64())?);
        let mut lines = Vec::new();
        let mut file = None;
        self.lines = None;
        for _ in 0..count {
            let (Some(address), Some(line), Some(_column)) = (fields.u64(), fields.u32(), fields.u32())
            else {
                return Ok(());
            };
            file = self.source_file(fields.text(), file)?;
            let (Some(file), Some(offset)) = (file, address.checked_sub(start)) else { return Ok(()) };
            lines.push(SourceLine { offset, file, line });
        }
        lines.sort_unstable();
        self.lines = Some((start, lines));
        Ok(())
    }

    /// The number of the source file with this name, which may say that it is the one before.
    fn source_file(&mut self, name: &[u8], before: Option<usize>) -> Result<Option<usize>, JitError> {
        const SAME: &[u8] = b"\xFF";
        match std::str::from_utf8(name) {
            Err(_) if name == SAME => Ok(before),
            Ok(name) if !name.is_empty() && !name.contains(char::is_control) => {
                Ok(Some(self.listed.file(name)?))
            }
            _ => Ok(None),
        }
    }

    fn skip(&mut self, size: u64) -> Result<(), JitError> {
        let skipped = io::copy(&mut self.input.by_ref().take(size), &mut io::sink())?;
        if skipped < size { Err(JitError::Malformed) } else { Ok(()) }
    }
}

/// The next `size` bytes. Memory is taken as they arrive, not because the file claims that there are so many.
fn read(input: &mut impl Read, size: u32) -> Result<Vec<u8>, JitError> {
    let mut bytes = Vec::new();
    input.by_ref().take(size.into()).read_to_end(&mut bytes)?;
    if bytes.len() < size as usize { Err(JitError::Malformed) } else { Ok(bytes) }
}

fn number<T>(field: Option<T>) -> Result<T, JitError> {
    field.ok_or(JitError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dump of process 7 with these records: kind, time, body.
    fn dump(records: &[(u32, u64, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for field in [MAGIC, 1, FILE_HEADER, 62, 0, 7, 0, 0, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        for (kind, time, body) in records {
            bytes.extend(kind.to_le_bytes());
            bytes.extend((RECORD_HEADER + body.len() as u32).to_le_bytes());
            bytes.extend(time.to_le_bytes());
            bytes.extend(body);
        }
        bytes
    }

    fn longs(numbers: &[u64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn load(time: u64, start: u64, size: u64, index: u64, name: &str) -> (u32, u64, Vec<u8>) {
        let fixed = longs(&[0, start, start, size, index]);
        (0, time, [&fixed[..], name.as_bytes(), &[0], &vec![0x90; size as usize]].concat())
    }

    fn lines(start: u64, lines: &[(u64, u32, &[u8])]) -> (u32, u64, Vec<u8>) {
        let mut body = longs(&[start, lines.len() as u64]);
        for (address, line, file) in lines {
            body.extend(longs(&[*address]));
            body.extend([line.to_le_bytes(), [0; 4]].concat());
            body.extend([file, &[0][..]].concat());
        }
        (2, 0, body)
    }

    fn names(bytes: &[u8], wanted: &[(u64, Option<u64>)]) -> Vec<String> {
        let mut code = JitCode::read_dump(bytes, Some(7), &Budget::UNLIMITED).unwrap();
        let name = |&(address, time): &(u64, Option<u64>)| {
            code.at(address, time).map_or_else(String::new, |place| place.name.to_string())
        };
        wanted.iter().map(name).collect()
    }

    #[test]
    fn code_is_named_as_it_was_at_the_time_of_the_sample() {
        let moved = (1, 30, longs(&[0, 0x9000, 0x1000, 0x9000, 16, 1]));
        let bytes = dump(&[
            load(10, 0x1000, 16, 1, "add"),
            load(20, 0x2000, 16, 2, "sub"),
            moved,
            load(40, 0x1008, 16, 3, "mul"),
        ]);
        let at = |address, time| (address, Some(time));
        assert_eq!(
            names(
                &bytes,
                &[
                    at(0x1000, 9),
                    at(0x1008, 10),
                    at(0x2000, 10),
                    at(0x2000, 20),
                    at(0x9001, 29),
                    at(0x9001, 30),
                    at(0x1008, 39),
                    at(0x1008, 40),
                    at(0x1007, 50),
                    at(0x1018, 50),
                ]
            ),
            ["", "add", "", "sub", "", "add", "add", "mul", "add", ""]
        );
        // Without times, code is where it was at last.
        assert_eq!(names(&bytes, &[(0x1008, None), (0x9000, None)]), ["mul", "add"]);
    }

    #[test]
    fn lines_belong_to_the_function_that_follows() {
        let bytes = dump(&[
            lines(0x1000, &[(0x1008, 12, b"\xFF"), (0x1000, 11, b"a.js")]),
            lines(0x1000, &[(0x1000, 11, b"a.js"), (0x1008, 12, b"\xFF")]),
            load(0, 0x1000, 16, 1, "add"),
            load(0, 0x2000, 16, 2, "sub"),
            lines(0x3000, &[(0x3000, 5, b"\x12\x89\x02")]),
            load(0, 0x3000, 16, 3, "mul"),
        ]);
        let mut code = JitCode::read_dump(&bytes[..], None, &Budget::UNLIMITED).unwrap();
        let mut line = |address| {
            let place = code.at(address, None).unwrap();
            (place.file.to_string(), place.line)
        };
        assert_eq!(line(0x1007), ("a.js".to_string(), 11));
        assert_eq!(line(0x1008), ("a.js".to_string(), 12));
        assert_eq!([line(0x2000), line(0x3000)], [(String::new(), 0), (String::new(), 0)]);
    }

    #[test]
    fn a_dump_is_read_as_far_as_it_goes() {
        let whole = dump(&[load(1, 0x1000, 16, 1, "add"), load(2, 0x2000, 16, 2, "sub")]);
        for end in 0..whole.len() {
            let read = JitCode::read_dump(&whole[..end], Some(7), &Budget::UNLIMITED);
            assert_eq!(read.is_ok(), end >= FILE_HEADER as usize, "{end}");
        }
        assert_eq!(names(&whole[..whole.len() - 1], &[(0x1000, None), (0x2000, None)]), ["add", ""]);
        let other = JitCode::read_dump(&whole[..], Some(8), &Budget::UNLIMITED);
        assert!(matches!(other, Err(JitError::OtherProcess(7))));
    }

    #[test]
    fn sizes_in_a_dump_take_no_memory() {
        let mut claims = dump(&[]);
        for (kind, size) in [(0, u32::MAX), (1, LONGEST), (2, LONGEST), (9, u32::MAX)] {
            claims.truncate(FILE_HEADER as usize);
            claims.extend([u32::to_le_bytes(kind), size.to_le_bytes(), [0; 4], [0; 4]].concat());
            claims.extend([0xFF; 80]);
            let read = JitCode::read_dump(&claims[..], None, &Budget::of(1 << 16));
            assert_eq!(read.unwrap().at(0x10, None), None, "{kind}");
        }
        let many: Vec<_> = (0..5000).map(|number| load(0, number * 16, 16, number, "f")).collect();
        let read = JitCode::read_dump(&dump(&many)[..], None, &Budget::of(100_000));
        assert!(matches!(read, Err(JitError::TooLarge(_))));
    }
}
