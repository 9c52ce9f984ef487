//! Protobuf messages that are not pprof profiles. Such messages have no magic number, so they are recognized
//! by their first fields.

use crate::format::wire::{Value, Wire, WireError};

/// Number of fields of a message that are examined.
const MAX_FIELDS: usize = 16;

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
    fn perfetto_packets_have_a_sequence() {
        let mut packet = message(&[(6, b"\x0A\x01\x01")]);
        assert!(!is_perfetto(&message(&[(1, &packet), (1, &packet)])));
        push_varint(&mut packet, 10 << 3);
        push_varint(&mut packet, 1);
        assert!(is_perfetto(&message(&[(1, &packet), (1, &packet)])));
    }
}
