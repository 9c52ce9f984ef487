//! Where each record begins and ends.

use crate::format::fields::Fields;

/// Types from here on are records of Android's simpleperf.
const SIMPLEPERF: u32 = 32768;
const TRACING_DATA: u32 = 66;
const AUXTRACE: u32 = 71;

/// An unparsed record.
pub(super) struct RawRecord<'a> {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) body: Fields<'a>,
    /// The body, preceded by the kind and size.
    pub(super) whole: Fields<'a>,
}

/// Splits off the first record; `None` if it is incomplete.
pub(super) fn split<'a>(records: &mut Fields<'a>) -> Option<RawRecord<'a>> {
    let mut rest = *records;
    let (kind, misc, size) = (rest.u32()?, rest.u16()?, rest.u16()?);
    // Records of simpleperf can be larger than 64 KiB.
    let size = if kind >= SIMPLEPERF { u32::from(misc) << 16 | u32::from(size) } else { size.into() };
    let body = rest.part(0, u64::from(size).checked_sub(8)?);
    rest.take(size as usize - 8)?;
    let mut announced = body;
    // Two kinds of records are followed by data that their size does not include.
    let more = match kind {
        TRACING_DATA => u64::from(announced.u32()?),
        AUXTRACE => announced.u64()?,
        _ => 0,
    };
    rest.take(usize::try_from(more).ok()?)?;
    let whole = records.part(0, size.into());
    *records = rest;
    Some(RawRecord { kind, misc, body, whole })
}
