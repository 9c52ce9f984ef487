//! The parts of a message besides its dictionary.

use crate::format::otlp::dictionary::Dictionary;
use crate::format::otlp::numbering::Numbering;
use crate::format::wire::{Value, Wire, WireError, numbers};
use crate::profile::Period;
use crate::unit::{Family, Unit};

/// What a message holds besides its dictionary.
#[derive(Default)]
pub(super) struct Recorded<'a> {
    pub(super) resources: Vec<Resource<'a>>,
}

/// Something that was recorded, such as a process or a container.
#[derive(Default)]
pub(super) struct Resource<'a> {
    pub(super) attributes: Vec<&'a [u8]>,
    pub(super) scopes: Vec<&'a [u8]>,
    pub(super) profiles: Vec<&'a [u8]>,
}

impl<'a> Recorded<'a> {
    /// All profiles.
    pub(super) fn profiles(&self) -> impl Iterator<Item = &'a [u8]> {
        self.resources.iter().flat_map(|resource| resource.profiles.iter().copied())
    }
}

impl<'a> Resource<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Resource<'a>, WireError> {
        let mut resource = Resource::default();
        for (number, part) in messages(bytes)? {
            match number {
                1 => resource.attributes.extend(parts(part, 1)?),
                2 => {
                    resource.scopes.extend(parts(part, 1)?);
                    resource.profiles.extend(parts(part, 2)?);
                }
                _ => {}
            }
        }
        Ok(resource)
    }
}

/// The fields of a message that are messages or texts.
pub(super) fn messages(bytes: &[u8]) -> Result<Vec<(u32, &[u8])>, WireError> {
    let mut found = Vec::new();
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        if let Value::Bytes(bytes) = field.value {
            found.push((field.number, bytes));
        }
    }
    Ok(found)
}

/// The messages in field `number`.
pub(super) fn parts(bytes: &[u8], number: u32) -> Result<impl Iterator<Item = &[u8]>, WireError> {
    Ok(messages(bytes)?.into_iter().filter(move |(found, _)| *found == number).map(|(_, part)| part))
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

/// A metric: name and unit.
pub(super) type Kind = (String, String);

/// The fields of a profile, except its samples.
#[derive(Default)]
pub(super) struct Header {
    pub(super) kinds: Vec<Kind>,
    pub(super) locations: Vec<u64>,
    pub(super) time: i64,
    pub(super) duration: i64,
    pub(super) period: Option<Period>,
}

impl Header {
    /// Reads the fields.
    pub(super) fn read(
        bytes: &[u8],
        dictionary: &Dictionary<'_>,
        numbering: &Numbering,
    ) -> Result<Header, WireError> {
        let mut header = Header::default();
        let mut period_kind = None;
        let mut period = 0;
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Bytes(kind)) => header.kinds.push(read_kind(kind, dictionary)?),
                (3, value) if numbering.has_ranges => {
                    numbers(value, |location| header.locations.push(location))?;
                }
                (number, Value::Varint(time) | Value::Fixed(time)) if number == numbering.time => {
                    header.time = time as i64;
                }
                (number, Value::Varint(duration)) if number == numbering.duration => {
                    header.duration = duration as i64;
                }
                (number, Value::Bytes(kind)) if number == numbering.period_type => {
                    period_kind = Some(read_kind(kind, dictionary)?);
                }
                (number, Value::Varint(value)) if number == numbering.period => period = value as i64,
                _ => {}
            }
        }
        if let (Some((name, unit)), 1..) = (period_kind, period) {
            header.period = Some(Period { name, unit, value: period });
        }
        Ok(header)
    }

    /// The time that a sample stands for: profilers that count samples say how much time passes between them.
    pub(super) fn time_of_sample(&self) -> Option<(Kind, i64)> {
        let period = self.period.as_ref()?;
        let counts = matches!(&self.kinds[..], [(_, unit)] if unit == "count");
        let is_time = Unit::parse(&period.unit).family() == Family::Time;
        (counts && is_time).then(|| ((period.name.clone(), period.unit.clone()), period.value))
    }
}

fn read_kind(bytes: &[u8], dictionary: &Dictionary<'_>) -> Result<Kind, WireError> {
    let mut strings = [0; 2];
    let mut wire = Wire::new(bytes);
    while let Some(field) = wire.field()? {
        if let (number @ 1..=2, Value::Varint(row)) = (field.number, field.value) {
            strings[number as usize - 1] = row;
        }
    }
    let [name, unit] = strings.map(|row| dictionary.string(row).unwrap_or_default().into_owned());
    Ok((name, unit))
}
