//! How a pprof profile is recognised.

use crate::format::Confidence;
use crate::format::wire::{Value, Wire, WireError};

/// The name of the format.
pub(super) const NAME: &str = "pprof";

/// The number of fields that are examined to detect the format.
const SNIFFED_FIELDS: usize = 32;

/// Arbitrary bytes can look like protobuf for a while. So every field must have a number and a type that
/// `profile.proto` defines, and messages that consist of varints there must consist of varints here.
pub(super) fn sniff(head: &[u8]) -> Confidence {
    let mut wire = Wire::new(head);
    for count in 0..SNIFFED_FIELDS {
        match wire.field() {
            Ok(None) => return if count == 0 { Confidence::No } else { Confidence::Likely },
            Ok(Some(field)) => match (field.number, field.value) {
                (1 | 11, Value::Bytes(bytes)) if consists_of_varints(bytes, 2) => {}
                (3, Value::Bytes(bytes)) if consists_of_varints(bytes, 10) => {}
                (5, Value::Bytes(bytes)) if consists_of_varints(bytes, 5) => {}
                (2 | 4 | 6 | 13, Value::Bytes(_)) | (7..=10 | 12..=15, Value::Varint(_)) => {}
                _ => return Confidence::No,
            },
            // The head may end inside a field.
            Err(WireError::Truncated) => return if count == 0 { Confidence::No } else { Confidence::Maybe },
            Err(WireError::Malformed) => return Confidence::No,
        }
    }
    Confidence::Likely
}

fn consists_of_varints(bytes: &[u8], highest_number: u32) -> bool {
    let mut wire = Wire::new(bytes);
    loop {
        match wire.field() {
            Ok(None) => return true,
            Ok(Some(field)) if field.number <= highest_number && matches!(field.value, Value::Varint(_)) => {}
            _ => return false,
        }
    }
}
