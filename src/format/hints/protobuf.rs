//! Protobuf messages that are not pprof profiles. Such messages have no magic number, so they are recognized
//! by their first fields.

use crate::format::wire::{Value, Wire, WireError};

/// Number of fields of a message that are examined.
const MAX_FIELDS: usize = 16;

/// OpenTelemetry profiles: resources (field 1) and a dictionary of tables (field 2), in any order.
pub(super) fn is_otlp(head: &[u8]) -> bool {
    match first_message(head) {
        Some((1, resources)) => first_message(resources).is_some_and(|(number, resource)| {
            // A resource is a list of attributes, whose first field is a key such as `process.pid`.
            let attribute = first_message(resource).filter(|_| number == 1);
            let key =
                attribute.and_then(|(number, attribute)| first_message(attribute).filter(|_| number == 1));
            key.is_some_and(|(number, key)| number == 1 && is_attribute_name(key))
        }),
        Some((2, dictionary)) => consists_of_messages(dictionary, 1..=7),
        _ => false,
    }
}

/// Perfetto traces: packets (field 1), each with the number of the sequence it belongs to.
pub(super) fn is_perfetto(head: &[u8]) -> bool {
    /// `TracePacket.trusted_packet_sequence_id`
    const SEQUENCE: u32 = 10;
    let Some((1, packet)) = first_message(head) else { return false };
    let mut fields = Wire::new(packet);
    let mut any = false;
    while let Ok(Some(field)) = fields.field() {
        any |= field.number == SEQUENCE && matches!(field.value, Value::Varint(_));
    }
    any && fields.is_at_end() && consists_of_messages(head, 1..=1)
}

/// The number and the bytes of the first field, which may extend past the available bytes.
fn first_message(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut wire = Wire::new(bytes);
    let tag = wire.varint().ok().filter(|tag| tag & 7 == 2)?;
    let length = usize::try_from(wire.varint().ok()?).ok()?;
    let rest = &bytes[wire.position()..];
    Some((u32::try_from(tag >> 3).ok()?, &rest[..length.min(rest.len())]))
}

/// Whether there are several fields and the first ones are length-delimited with a number in `numbers`.
fn consists_of_messages(bytes: &[u8], numbers: std::ops::RangeInclusive<u32>) -> bool {
    let mut wire = Wire::new(bytes);
    for count in 0..MAX_FIELDS {
        match wire.field() {
            Ok(Some(field)) if numbers.contains(&field.number) && matches!(field.value, Value::Bytes(_)) => {}
            Ok(None) | Err(WireError::Truncated) => return count > 1,
            _ => return false,
        }
    }
    true
}

fn is_attribute_name(text: &[u8]) -> bool {
    text.contains(&b'.') && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::wire::{push_bytes, push_varint};

    fn message(fields: &[(u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, bytes) in fields {
            push_bytes(&mut out, *number, bytes);
        }
        out
    }

    #[test]
    fn opentelemetry_starts_with_a_resource_or_with_the_dictionary() {
        let attribute = message(&[(1, b"process.pid"), (2, b"\x18\x42")]);
        let resource = message(&[(1, &attribute)]);
        let resources = message(&[(1, &resource), (2, b"")]);
        assert!(is_otlp(&message(&[(1, &resources)])));
        let dictionary = message(&[(7, b""), (7, b"\x0A\x01\x01"), (5, b"main")]);
        assert!(is_otlp(&message(&[(2, &dictionary)])));
        assert!(!is_otlp(&message(&[(1, b"main"), (2, b"")])));
        assert!(!is_otlp(b"some text\n"));
    }

    #[test]
    fn perfetto_packets_have_a_sequence() {
        let mut packet = message(&[(6, b"\x0A\x01\x01")]);
        assert!(!is_perfetto(&message(&[(1, &packet), (1, &packet)])));
        push_varint(&mut packet, 10 << 3);
        push_varint(&mut packet, 1);
        assert!(is_perfetto(&message(&[(1, &packet), (1, &packet)])));
    }
}
