//! What Python's cProfile and profile modules save: a marshalled dict from functions to what they
//! cost and who called them.
//!
//! ```text
//! {(file, line, name): (primitive calls, calls, own seconds, seconds with callees,
//!                       {(file, line, name) of a caller: (calls, primitive calls, own, with callees)})}
//! ```

mod marshal;

use std::borrow::Cow;

use crate::format::pstats::marshal::{Broken, Object, Reader};
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{Function, FunctionId, LoadOptions, Profile, ProfileBuilder, StringId};

/// The format's row in the list of formats.
pub(super) static PSTATS: Format = Format { name: NAME, title: "Python pstats", sniff, read };

const NAME: &str = "pstats";

/// A dict whose first key is a tuple of three.
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
    read_functions(&mut Reader::new(&bytes), &mut builder)
        .map_err(|Broken { at, what }| ParseError::at_byte(NAME, at as u64, what))?;
    // The finished table takes the place of the input.
    drop(bytes);
    Ok(builder.finish().map_err(|error| ParseError::whole(NAME, error.to_string()))?)
}

fn read_functions(reader: &mut Reader, builder: &mut ProfileBuilder) -> Result<(), Broken> {
    let Object::Dict(functions) = reader.part()? else {
        return Err(reader.broken("the data are no dict of functions"));
    };
    reader.within(functions, |reader| {
        while let Some(key) = reader.next()? {
            let callee = function(reader, builder, key)?;
            let stats = reader.part()?;
            read_stats(reader, builder, callee, stats)?;
        }
        Ok(())
    })
}

/// Adds what one function cost and the calls it received.
fn read_stats(
    reader: &mut Reader,
    builder: &mut ProfileBuilder,
    callee: FunctionId,
    stats: Object,
) -> Result<(), Broken> {
    let Object::Sequence(stats, 5) = stats else { return Err(odd(reader)) };
    reader.within(stats, |reader| {
        integer(reader)?;
        let (calls, own, total) = (integer(reader)?, nanoseconds(reader)?, nanoseconds(reader)?);
        builder.call_node(callee, &[own, calls]);
        builder.call_total(callee, &[total, calls]);
        let Object::Dict(callers) = reader.part()? else { return Err(odd(reader)) };
        reader.within(callers, |reader| {
            while let Some(key) = reader.next()? {
                let caller = function(reader, builder, key)?;
                let cost = reader.part()?;
                let values = read_cost(reader, cost)?;
                builder.call_edge(caller, callee, None, &values);
            }
            Ok(())
        })
    })
}

/// What the calls of one caller cost, and how many they are.
fn read_cost(reader: &mut Reader, cost: Object) -> Result<[i64; 2], Broken> {
    let Object::Sequence(cost, length) = cost else {
        // The module `profile`, written in Python, only counts the calls.
        return Ok([0, whole(reader, cost)?]);
    };
    if length != 4 {
        return Err(odd(reader));
    }
    reader.within(cost, |reader| {
        let calls = integer(reader)?;
        integer(reader)?;
        nanoseconds(reader)?;
        Ok([nanoseconds(reader)?, calls])
    })
}

/// The function of `(file, line, name)`. Methods of one name are told apart by their place.
fn function(reader: &mut Reader, builder: &mut ProfileBuilder, key: Object) -> Result<FunctionId, Broken> {
    let Object::Sequence(key, 3) = key else { return Err(odd(reader)) };
    reader.within(key, |reader| {
        let file = match text(reader)? {
            // Functions that are not written in Python.
            file if file == "~" => StringId::default(),
            file => builder.string(&file),
        };
        let line = u32::try_from(integer(reader)?).unwrap_or(0);
        let name = builder.string(&text(reader)?);
        Ok(builder.function(Function { name, file, line, column: 0, by_place: true }))
    })
}

fn text<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, Broken> {
    let Object::Text(text) = reader.part()? else { return Err(odd(reader)) };
    Ok(String::from_utf8_lossy(text))
}

fn integer(reader: &mut Reader) -> Result<i64, Broken> {
    let object = reader.part()?;
    whole(reader, object)
}

fn whole(reader: &Reader, object: Object) -> Result<i64, Broken> {
    match object {
        Object::Integer(number) => Ok(number),
        // Some writers make everything a float.
        Object::Float(number) if number.fract() == 0.0 => Ok(number as i64),
        _ => Err(odd(reader)),
    }
}

/// Seconds as whole nanoseconds. (Numbers outside of `i64` become its bounds.)
fn nanoseconds(reader: &mut Reader) -> Result<i64, Broken> {
    match reader.part()? {
        Object::Integer(seconds) => Ok(seconds.saturating_mul(1_000_000_000)),
        Object::Float(seconds) => Ok((seconds * 1e9).round() as i64),
        _ => Err(odd(reader)),
    }
}

/// That the objects are of another shape.
fn odd(reader: &Reader) -> Broken {
    reader.broken("this is no function and its statistics")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_shapes_are_refused() {
        let read = |bytes: &[u8]| read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL);
        // {("a", 1, "f"): (1, 1)}
        let odd = b"{)\x03z\x01ai\x01\x00\x00\x00z\x01f)\x02i\x01\x00\x00\x00i\x01\x00\x00\x000";
        assert_eq!(sniff(odd), Confidence::Certain);
        let error = read(odd).unwrap_err().to_string();
        assert!(error.starts_with("pstats: this is no function and its statistics"), "{error}");
        assert!(read(&odd[..9]).unwrap_err().to_string().contains("ends within an object (byte"));
        assert_eq!(read(b"{0").unwrap().symbols.functions.len(), 0);
    }
}
