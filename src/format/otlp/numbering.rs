//! The versions of the protocol, which number fields differently without saying so.

use crate::format::ParseError;
use crate::format::otlp::NAME;
use crate::format::otlp::dictionary::Dictionary;
use crate::format::otlp::read::Recorded;
use crate::format::otlp::sample::RawSample;
use crate::format::wire::{Value, Wire};

/// The numbers of fields that are not the same in all versions.
#[derive(Debug)]
pub(super) struct Numbering {
    /// In a sample.
    pub(super) values: u32,
    pub(super) attributes: u32,
    pub(super) link: u32,
    pub(super) timestamps: u32,
    /// Whether a sample's stack is a range of the profile's list of locations (field 3), not a row of the stack table.
    pub(super) has_ranges: bool,
    /// In a profile.
    pub(super) time: u32,
    pub(super) duration: u32,
    pub(super) period_type: u32,
    pub(super) period: u32,
}

/// Protocol 1.6 and 1.7, until the summer of 2025.
pub(super) const RANGES: Numbering = Numbering {
    values: 3,
    attributes: 4,
    link: 5,
    timestamps: 6,
    has_ranges: true,
    time: 4,
    duration: 5,
    period_type: 6,
    period: 7,
};

/// Protocol 1.8 and 1.9.
const VALUES_FIRST: Numbering = Numbering {
    values: 2,
    attributes: 3,
    link: 4,
    timestamps: 5,
    has_ranges: false,
    time: 3,
    duration: 4,
    period_type: 5,
    period: 6,
};

/// Protocol 1.10, from 2026 on.
pub(super) const VALUES_LAST: Numbering = Numbering { values: 4, attributes: 2, link: 3, ..VALUES_FIRST };

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
        let mut sample = RawSample::default();
        recorded
            .profiles()
            .flat_map(samples)
            .all(|bytes| sample.decode(bytes, numbering).is_ok() && sample.makes_sense(dictionary, is_strict))
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

/// The samples of a profile.
pub(super) fn samples(profile: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut wire = Wire::new(profile);
    std::iter::from_fn(move || {
        loop {
            match wire.field().ok()?? {
                field if field.number != 2 => {}
                field => match field.value {
                    Value::Bytes(sample) => return Some(sample),
                    _ => return None,
                },
            }
        }
    })
}
