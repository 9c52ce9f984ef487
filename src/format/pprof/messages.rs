//! The small messages of `profile.proto`, decoded and encoded by prost. Samples and strings are decoded by
//! hand, see [`read`](super::read).

use crate::format::wire::{Value, Wire, WireError};

/// A metric: name and unit, as string-table indexes.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct ValueType {
    #[prost(int64, tag = "1")]
    pub(super) r#type: i64,
    #[prost(int64, tag = "2")]
    pub(super) unit: i64,
}

/// A label of a sample; `key`, `str` and `num_unit` are string-table indexes.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct LabelMessage {
    #[prost(int64, tag = "1")]
    pub(super) key: i64,
    #[prost(int64, tag = "2")]
    pub(super) str: i64,
    #[prost(int64, tag = "3")]
    pub(super) num: i64,
    #[prost(int64, tag = "4")]
    pub(super) num_unit: i64,
}

/// A binary or library.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct MappingMessage {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(uint64, tag = "2")]
    pub(super) memory_start: u64,
    #[prost(uint64, tag = "3")]
    pub(super) memory_limit: u64,
    #[prost(uint64, tag = "4")]
    pub(super) file_offset: u64,
    #[prost(int64, tag = "5")]
    pub(super) filename: i64,
    #[prost(int64, tag = "6")]
    pub(super) build_id: i64,
    #[prost(bool, tag = "7")]
    pub(super) has_functions: bool,
}

/// An instruction address, with the functions inlined there: `line[0]` is the innermost.
#[derive(Clone, PartialEq, prost::Message)]
pub(in crate::format) struct LocationMessage {
    #[prost(uint64, tag = "1")]
    pub(in crate::format) id: u64,
    #[prost(uint64, tag = "2")]
    pub(in crate::format) mapping_id: u64,
    #[prost(uint64, tag = "3")]
    pub(in crate::format) address: u64,
    #[prost(message, repeated, tag = "4")]
    pub(in crate::format) line: Vec<LineMessage>,
}

/// A source line and its function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(in crate::format) struct LineMessage {
    #[prost(uint64, tag = "1")]
    pub(in crate::format) function_id: u64,
    #[prost(int64, tag = "2")]
    pub(in crate::format) line: i64,
}

/// A function; names and file are string-table indexes.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct FunctionMessage {
    #[prost(uint64, tag = "1")]
    pub(super) id: u64,
    #[prost(int64, tag = "2")]
    pub(super) name: i64,
    #[prost(int64, tag = "3")]
    pub(super) system_name: i64,
    #[prost(int64, tag = "4")]
    pub(super) filename: i64,
    #[prost(int64, tag = "5")]
    pub(super) start_line: i64,
}

impl FunctionMessage {
    /// Decodes a function by hand, since there are thousands.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, WireError> {
        let mut function = FunctionMessage::default();
        let mut wire = Wire::new(bytes);
        while let Some(field) = wire.field()? {
            match (field.number, field.value) {
                (1, Value::Varint(id)) => function.id = id,
                (2, Value::Varint(name)) => function.name = name as i64,
                (3, Value::Varint(name)) => function.system_name = name as i64,
                (4, Value::Varint(file)) => function.filename = file as i64,
                (5, Value::Varint(line)) => function.start_line = line as i64,
                (1..=5, _) => return Err(WireError::Malformed),
                _ => {}
            }
        }
        Ok(function)
    }
}
