//! Tells OTLP from other formats.

use crate::format::Confidence;
use crate::format::json as text;
use crate::format::otlp::shape;

pub(super) const NAME: &str = "otlp";

pub(super) fn sniff(head: &[u8]) -> Confidence {
    if is_json(head) {
        return Confidence::Certain;
    }
    let message = match framed(head) {
        Some(length) => &head[LENGTH..head.len().min(LENGTH + length)],
        None => head,
    };
    // Protobuf has no magic number.
    if shape::is_message(message) { Confidence::Likely } else { Confidence::No }
}

pub(super) fn is_json(head: &[u8]) -> bool {
    let keys = text::keys(head);
    let has = |names: [&str; 2]| names.iter().any(|name| text::has(&keys, &[name]));
    has(["resourceProfiles", "resource_profiles"])
        || (text::has(&keys, &["dictionary"])
            && ["\"nameStrindex\"", "\"name_strindex\"", "\"stringTable\"", "\"string_table\""]
                .iter()
                .any(|key| text::mentions(head, key)))
}

/// The size of the length before each of several messages.
pub(super) const LENGTH: usize = 4;

/// The length of the first of several messages. A single message does not start with a 0, and no message is longer than 16 MiB
/// where they are sent one by one.
pub(super) fn framed(head: &[u8]) -> Option<usize> {
    let length = head.first_chunk::<LENGTH>().filter(|bytes| bytes[0] == 0)?;
    let length = u32::from_be_bytes(*length) as usize;
    (length > 0).then_some(length)
}
