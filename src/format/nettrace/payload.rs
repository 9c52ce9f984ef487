//! The payloads of the events that are read.

use crate::format::fields::Fields;

/// A compiled method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method<'a> {
    pub(super) module: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    /// The rest: namespace, name and signature.
    names: &'a [u8],
}

impl<'a> Method<'a> {
    pub(super) fn read(payload: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(payload, false);
        let (_id, module, start, size) = (fields.u64()?, fields.u64()?, fields.u64()?, fields.u32()?);
        let (_token, _flags) = (fields.u32()?, fields.u32()?);
        let end = start.checked_add(size.into())?;
        Some(Method { module, start, end, names: fields.bytes() })
    }

    /// `Shop.Cart.Add(class System.String,int32)`: the signature says which of several methods it is.
    pub(super) fn name(&self) -> String {
        let mut fields = Fields::new(self.names, false);
        let mut next = || utf16(&mut fields).map(wide_text).unwrap_or_default();
        let (namespace, method, signature) = (next(), next(), next());
        let arguments = signature.find('(').map_or("", |at| &signature[at..]);
        match (&*namespace, &*method) {
            ("", "") => "<unknown>".into(),
            ("", method) => format!("{method}{arguments}"),
            (namespace, method) => format!("{namespace}.{method}{arguments}"),
        }
    }
}

/// The id of a module and the path of its file.
pub(super) fn module(payload: &[u8]) -> Option<(u64, String)> {
    let mut fields = Fields::new(payload, false);
    let (id, _assembly, _flags) = (fields.u64()?, fields.u64()?, fields.u64()?);
    let path = wide_text(utf16(&mut fields)?);
    // Code that was only compiled ahead of time has no other path.
    let path = if path.is_empty() { wide_text(utf16(&mut fields)?) } else { path };
    Some((id, path))
}

/// Whether a sample was taken in managed code; `None` if the runtime could not tell.
pub(super) fn is_managed(payload: &[u8]) -> Option<bool> {
    match Fields::new(payload, false).u32()? {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    }
}

/// The bytes allocated since the last such event, and the name of the type of the object that completed them.
pub(super) fn allocation(payload: &[u8], pointer_size: usize) -> Option<(u64, &[u8])> {
    let mut fields = Fields::new(payload, false);
    let amount = u64::from(fields.u32()?);
    let mut rest = || {
        fields.u32()?; // kind
        fields.u16()?; // runtime
        let amount = fields.u64()?;
        fields.take(pointer_size)?; // type
        Some((amount, utf16(&mut fields)?))
    };
    Some(rest().unwrap_or((amount, b"")))
}

/// The number of objects and bytes that a sampled object stands for.
pub(super) fn sampled_object(payload: &[u8], pointer_size: usize) -> Option<(u64, u64)> {
    let mut fields = Fields::new(payload, false);
    fields.take(2 * pointer_size)?; // address and type
    Some((fields.u32()?.into(), fields.u64()?))
}

/// How long a thread waited for a lock, in nanoseconds; older runtimes do not say.
pub(super) fn lock_wait(payload: &[u8]) -> Option<i64> {
    let mut fields = Fields::new(payload, false);
    fields.u8()?; // flags
    fields.u16()?; // runtime
    let ns = f64::from_bits(fields.u64()?);
    Some(ns.max(0.0) as i64)
}

/// A zero-terminated UTF-16 string, without the zero; as bytes.
pub(super) fn utf16<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let bytes = fields.bytes();
    let length = bytes.chunks_exact(2).position(|unit| unit == [0, 0])? * 2;
    fields.take(length + 2).map(|text| &text[..length])
}

/// The text of UTF-16 bytes.
pub(super) fn wide_text(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// A UTF-8 string after its length, as in the events of machine-wide recordings.
pub(super) fn short_text<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let length = fields.u16()?;
    fields.take(length.into())
}
