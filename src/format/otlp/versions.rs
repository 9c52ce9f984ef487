//! Finds out which version of the protocol a message follows.

use crate::format::ParseError;
use crate::format::otlp::dictionary::Dictionary;
use crate::format::otlp::message::{Recorded, samples};
use crate::format::otlp::numbering::{Numbering, RANGES, VALUES_FIRST, VALUES_LAST};
use crate::format::otlp::sample::{AttributeLists, RawSample};
use crate::format::otlp::sniff::NAME;
use crate::format::wire::{Value, Wire};

/// The numbering of a message.
pub(super) enum Found {
    /// Only this one makes sense.
    One(&'static Numbering),
    /// Both of the newer ones do.
    Either,
}

/// Finds the numbering with which all samples of a message make sense. Fails if there is none.
pub(super) fn find(recorded: &Recorded<'_>, dictionary: &Dictionary<'_>) -> Result<Found, ParseError> {
    if recorded.profiles().any(has_locations) {
        return Ok(Found::One(&RANGES));
    }
    let fits = |numbering: &'static Numbering, is_strict: bool| {
        let (mut sample, mut lists) = (RawSample::default(), AttributeLists::default());
        recorded.profiles().flat_map(samples).all(|bytes| {
            sample.decode(bytes, numbering).is_ok() && sample.makes_sense(dictionary, is_strict, &mut lists)
        })
    };
    for is_strict in [true, false] {
        match (fits(&VALUES_FIRST, is_strict), fits(&VALUES_LAST, is_strict)) {
            (true, true) => return Ok(Found::Either),
            (true, false) => return Ok(Found::One(&VALUES_FIRST)),
            (false, true) => return Ok(Found::One(&VALUES_LAST)),
            (false, false) => {}
        }
    }
    let message = "the samples make no sense in any known version of the protocol (1.6 to 1.10): their values, times and \
                   attributes do not fit together";
    Err(ParseError::whole(NAME, message))
}

/// Whether a profile has a list of locations; newer versions have the time instead.
fn has_locations(profile: &[u8]) -> bool {
    let mut wire = Wire::new(profile);
    while let Ok(Some(field)) = wire.field() {
        match (field.number, field.value) {
            (3, Value::Bytes(_)) => return true,
            // A list that is not packed; times are larger.
            (3, Value::Varint(location)) => return location < 1 << 32,
            (3, Value::Fixed(_)) => return false,
            _ => {}
        }
    }
    false
}
