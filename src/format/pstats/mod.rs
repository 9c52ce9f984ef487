//! What Python's cProfile and profile modules save: a marshalled dict from functions to what they
//! cost and who called them.
//!
//! ```text
//! {(file, line, name): (primitive calls, calls, own seconds, seconds with callees,
//!                       {(file, line, name) of a caller: (calls, primitive calls, own, with callees)})}
//! ```

mod marshal;

use crate::format::pstats::marshal::{Broken, Object, Reader};
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{Function, FunctionId, LoadOptions, Profile, ProfileBuilder};

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
    let broken = |broken: Broken| ParseError::at_byte(NAME, broken.at as u64, broken.what);
    let mut reader = Reader::new(&bytes);
    reader.open_dict().map_err(broken)?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("time", "nanoseconds");
    let calls = builder.metric("calls", "count");
    builder.calls_metric(calls);
    while let Some((key, stats)) = reader.entry().map_err(broken)? {
        add(&mut builder, &key, &stats).ok_or_else(|| {
            ParseError::whole(NAME, format!("this is no function and its statistics: {key:?}: {stats:?}"))
        })?;
    }
    // The finished table takes the place of the input.
    drop(reader);
    drop(bytes);
    Ok(builder.finish().map_err(|error| ParseError::whole(NAME, error.to_string()))?)
}

/// Adds one function and the calls it received. `None` where the objects are of another shape.
fn add(builder: &mut ProfileBuilder, key: &Object<'_>, stats: &Object<'_>) -> Option<()> {
    let callee = function(builder, key)?;
    let Object::Sequence(stats) = stats else { return None };
    let [_, calls, own, total, Object::Dict(callers)] = &stats[..] else { return None };
    let calls = integer(calls)?;
    builder.call_node(callee, &[nanoseconds(own)?, calls]);
    builder.call_total(callee, &[nanoseconds(total)?, calls]);
    for (caller, cost) in callers.iter() {
        let caller = function(builder, caller)?;
        let values = match cost {
            Object::Sequence(cost) => match &cost[..] {
                [calls, _, _, total] => [nanoseconds(total)?, integer(calls)?],
                _ => return None,
            },
            // The module `profile`, written in Python, only counts the calls.
            calls => [0, integer(calls)?],
        };
        builder.call_edge(caller, callee, None, &values);
    }
    Some(())
}

/// The function of `(file, line, name)`. Methods of one name are told apart by their place.
fn function(builder: &mut ProfileBuilder, key: &Object<'_>) -> Option<FunctionId> {
    let Object::Sequence(key) = key else { return None };
    let [Object::Text(file), line, Object::Text(name)] = &key[..] else { return None };
    // `~` stands for functions that are not written in Python.
    let file = if file == "~" { "" } else { file };
    let (name, file) = (builder.string(name), builder.string(file));
    let line = u32::try_from(integer(line)?).unwrap_or(0);
    Some(builder.function(Function { name, file, line, column: 0, by_place: true }))
}

fn integer(object: &Object<'_>) -> Option<i64> {
    match *object {
        Object::Integer(number) => Some(number),
        // Some writers make everything a float.
        Object::Float(number) if number.fract() == 0.0 => Some(number as i64),
        _ => None,
    }
}

/// Seconds as whole nanoseconds. (Numbers outside of `i64` become its bounds.)
fn nanoseconds(object: &Object<'_>) -> Option<i64> {
    match *object {
        Object::Integer(seconds) => Some(seconds.saturating_mul(1_000_000_000)),
        Object::Float(seconds) => Some((seconds * 1e9).round() as i64),
        _ => None,
    }
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
