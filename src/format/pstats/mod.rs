//! Reads the files of Python's cProfile and profile modules: a marshalled dict from functions to their costs
//! and callers.
//!
//! ```text
//! {(file, line, name): (primitive calls, calls, own seconds, seconds with callees,
//!                       {(file, line, name) of a caller: (calls, primitive calls, own, with callees)})}
//! ```

mod code;
mod marshal;

use crate::format::call_counts::drop_call_counts;
use crate::format::pstats::marshal::{Broken, MarshalReader, MarshalText, Object, Outside};
use crate::format::text::lossy;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Function, FunctionId, LoadOptions, Profile, ProfileBuilder, StringId};

/// The entry in the list of readable formats.
pub(super) static PSTATS: Format = Format { name: NAME, title: "Python pstats", sniff, read };

const NAME: &str = "pstats";

/// Requires a dict whose first key is a tuple of three.
fn sniff(head: &[u8]) -> Confidence {
    let kind = |byte: u8| byte & 0x7F;
    match head {
        [dict, key, 3, ..] if kind(*dict) == b'{' && kind(*key) == b')' => Confidence::Certain,
        [dict, key, 3, 0, 0, 0, ..] if kind(*dict) == b'{' && kind(*key) == b'(' => Confidence::Certain,
        [dict, b'0'] if kind(*dict) == b'{' => Confidence::Maybe,
        _ => Confidence::No,
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("time", "nanoseconds");
    let calls = builder.metric("calls", "count");
    builder.calls_metric(calls);
    let not_python = builder.string("~");
    let (builder, is_uncounted) = {
        let reader = MarshalReader::new(&bytes);
        let mut stats = Stats { reader, builder, strings: Vec::new(), is_uncounted: false, not_python };
        stats.read().map_err(|Broken { at, what }| ParseError::at_byte(NAME, at as u64, what))?;
        (stats.builder, stats.is_uncounted)
    };
    // Free the input before the tables are finished.
    drop(bytes);
    let mut profile = finished(builder)?;
    if is_uncounted && profile.meta.metrics[calls].total == 0 {
        drop_call_counts(&mut profile, "the file has -1 for each number");
    }
    Ok(profile)
}

struct Stats<'a> {
    reader: MarshalReader<'a>,
    builder: ProfileBuilder,
    /// The strings of marked texts, by mark. Names occur as often as functions are called, and interning each occurrence
    /// took a third of the time; going back to the text of each took a tenth.
    strings: Vec<StringId>,
    /// Whether a number of calls is not known.
    is_uncounted: bool,
    /// What stands in place of the file of a function that is not written in Python.
    not_python: StringId,
}

impl Stats<'_> {
    fn read(&mut self) -> Result<(), Broken> {
        let Object::Dict(functions) = self.reader.next()? else {
            return Err(self.reader.broken("not a dict of functions"));
        };
        self.reader.enter(functions);
        loop {
            match self.reader.next()? {
                Object::End => return Ok(()),
                key => self.read_function(key)?,
            }
        }
    }

    /// How often something was called. Some writers, such as pyinstrument, do not know it and write -1.
    fn known(&mut self, calls: i64) -> i64 {
        self.is_uncounted |= calls < 0;
        calls.max(0)
    }

    /// Reads a function with its cost and callers.
    fn read_function(&mut self, key: Object) -> Result<(), Broken> {
        let callee = self.function(key)?;
        let outside = self.enter_tuple(5)?;
        let [_, calls] = self.integers()?;
        let calls = self.known(calls);
        let [own, total] = self.nanoseconds()?;
        self.builder.call_node(callee, &[own, calls]);
        self.builder.call_total(callee, &[total, calls]);
        self.read_callers(callee)?;
        self.reader.leave(outside);
        Ok(())
    }

    fn read_callers(&mut self, callee: FunctionId) -> Result<(), Broken> {
        let Object::Dict(callers) = self.reader.next()? else { return Err(self.odd()) };
        let outside = self.reader.enter(callers);
        loop {
            let caller = match self.reader.next()? {
                Object::End => break,
                key => self.function(key)?,
            };
            let cost = self.reader.next()?;
            let values = self.cost(cost)?;
            self.builder.call_edge(caller, callee, None, &values);
        }
        self.reader.leave(outside);
        Ok(())
    }

    /// The cost and number of the calls from one caller.
    fn cost(&mut self, cost: Object) -> Result<[i64; 2], Broken> {
        if !matches!(cost, Object::Sequence(..)) {
            // The module `profile`, written in Python, only counts the calls.
            return Ok([0, self.integer(cost)?]);
        }
        let outside = self.enter(cost, 4)?;
        let [calls, _] = self.integers()?;
        let calls = self.known(calls);
        let [_, total] = self.nanoseconds()?;
        self.reader.leave(outside);
        Ok([total, calls])
    }

    /// The function of `(file, line, name)`. Methods with the same name are distinguished by location.
    fn function(&mut self, key: Object) -> Result<FunctionId, Broken> {
        let outside = self.enter(key, 3)?;
        let file = self.string()?;
        // Functions that are not written in Python.
        let file = if file == self.not_python { StringId::default() } else { file };
        let line = self.reader.next()?;
        let line = u32::try_from(self.integer(line)?).unwrap_or(0);
        let name = self.string()?;
        self.reader.leave(outside);
        Ok(self.builder.function(Function { name, file, line, column: 0, by_place: true }))
    }

    fn string(&mut self) -> Result<StringId, Broken> {
        let known = self.reader.reference_ahead().and_then(|mark| self.strings.get(mark));
        if let Some(&known) = known.filter(|&&known| known != StringId::default()) {
            self.reader.skip_reference();
            return Ok(known);
        }
        let Object::Text(MarshalText { bytes, mark }) = self.reader.next()? else { return Err(self.odd()) };
        let string = self.builder.string(&lossy(bytes));
        if let Some(mark) = mark.map(|mark| mark as usize) {
            self.strings.resize(self.strings.len().max(mark + 1), StringId::default());
            self.strings[mark] = string;
        }
        Ok(string)
    }

    /// Enters a tuple of this length.
    fn enter(&mut self, tuple: Object, length: usize) -> Result<Option<Outside>, Broken> {
        match tuple {
            Object::Sequence(place, found) if found == length => Ok(self.reader.enter(place)),
            _ => Err(self.odd()),
        }
    }

    fn enter_tuple(&mut self, length: usize) -> Result<Option<Outside>, Broken> {
        let tuple = self.reader.next()?;
        self.enter(tuple, length)
    }

    fn integers(&mut self) -> Result<[i64; 2], Broken> {
        let (first, second) = (self.reader.next()?, self.reader.next()?);
        Ok([self.integer(first)?, self.integer(second)?])
    }

    fn integer(&self, object: Object) -> Result<i64, Broken> {
        match object {
            Object::Integer(number) => Ok(number),
            // Some writers make everything a float.
            Object::Float(number) if number.fract() == 0.0 => Ok(number as i64),
            _ => Err(self.odd()),
        }
    }

    /// Two times in seconds as whole nanoseconds. (Numbers outside of `i64` become its bounds.)
    fn nanoseconds(&mut self) -> Result<[i64; 2], Broken> {
        let mut times = [0; 2];
        for time in &mut times {
            *time = match self.reader.next()? {
                Object::Integer(seconds) => seconds.saturating_mul(1_000_000_000),
                Object::Float(seconds) => (seconds * 1e9).round() as i64,
                _ => return Err(self.odd()),
            };
        }
        Ok(times)
    }

    /// An error for objects of an unexpected shape.
    fn odd(&self) -> Broken {
        self.reader.broken("not a function with its statistics")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_calls_may_be_unknown() {
        // {("a", 1, "f"): (-1, -1, 0.5, 0.5, {})}
        let [key, half] = [&b"{)\x03z\x01ai\x01\0\0\0z\x01f"[..], &b"g\0\0\0\0\0\0\xe0\x3f"[..]];
        let bytes = [key, b")\x05i\xff\xff\xff\xffi\xff\xff\xff\xff", half, half, b"{00"].concat();
        let profile = read(&mut Source::from_bytes(bytes), LoadOptions::ALL).unwrap();
        let metrics: Vec<&str> = profile.meta.metrics.iter().map(|metric| &*metric.name).collect();
        assert_eq!((metrics, profile.meta.metrics[0].total), (vec!["time"], 500_000_000));
        assert!(profile.meta.notes[0].contains("how often functions were called is not known"));
    }

    #[test]
    fn a_total_above_the_whole_is_told() {
        // {("a", 1, "f"): (1, 1, 0.5, 2.0, {})}, as of two threads that wait for each other.
        let key = b"{)\x03z\x01ai\x01\0\0\0z\x01f)\x05i\x01\0\0\0i\x01\0\0\0";
        let bytes = [&key[..], b"g\0\0\0\0\0\0\xe0\x3f", b"g\0\0\0\0\0\0\0\x40", b"{00"].concat();
        let profile = read(&mut Source::from_bytes(bytes), LoadOptions::ALL).unwrap();
        let calls = profile.calls.unwrap();
        assert_eq!(calls.totals[0].iter().copied().collect::<Vec<_>>(), [500_000_000]);
        assert!(profile.meta.notes[0].starts_with("1 function has a total above the sum of all self values"));
    }

    #[test]
    fn a_total_below_self_is_told() {
        // {("a", 1, "f"): (1, 1, 2.0, 0.5, {})}, as of two threads whose calls interleave.
        let key = b"{)\x03z\x01ai\x01\0\0\0z\x01f)\x05i\x01\0\0\0i\x01\0\0\0";
        let bytes = [&key[..], b"g\0\0\0\0\0\0\0\x40", b"g\0\0\0\0\0\0\xe0\x3f", b"{00"].concat();
        let profile = read(&mut Source::from_bytes(bytes), LoadOptions::ALL).unwrap();
        let calls = profile.calls.unwrap();
        assert_eq!(calls.totals[0].iter().copied().collect::<Vec<_>>(), [2_000_000_000]);
        let note = "1 function has a total below self, as where the calls of several threads interleave (cProfile since Python 3.12); its \
                    self value is shown instead, and other totals may be wrong as well";
        assert_eq!(profile.meta.notes, [note]);
    }

    #[test]
    fn other_objects_are_rejected() {
        let read = |bytes: &[u8]| read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL);
        // {("a", 1, "f"): (1, 1)}
        let odd = b"{)\x03z\x01ai\x01\x00\x00\x00z\x01f)\x02i\x01\x00\x00\x00i\x01\x00\x00\x000";
        assert_eq!(sniff(odd), Confidence::Certain);
        let error = read(odd).unwrap_err().to_string();
        assert!(error.starts_with("pstats: not a function with its statistics"), "{error}");
        assert!(read(&odd[..9]).unwrap_err().to_string().contains("truncated within an object (byte"));
        assert_eq!(read(b"{0").unwrap().symbols.functions.len(), 0);
    }
}
