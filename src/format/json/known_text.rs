//! Text that comes again and again.

/// The number of bytes that are compared at once.
const AT_ONCE: usize = size_of::<u128>();

/// Text that was read before and may come again.
#[derive(Clone, Copy)]
pub(in crate::format) struct KnownText<'a> {
    pub(super) text: &'a [u8],
    /// Whether it was the start of an object or array, where no comma is expected.
    pub(super) fresh: bool,
    /// Its first bytes as a number, and which bits of the number they are.
    start: u128,
    mask: u128,
    /// Its last bytes, if it has more.
    end: [u8; AT_ONCE],
}

impl<'a> KnownText<'a> {
    pub(super) fn new(text: &'a [u8], fresh: bool) -> Self {
        let mut bytes = [0; AT_ONCE];
        let length = text.len().min(AT_ONCE);
        bytes[..length].copy_from_slice(&text[..length]);
        let mask = if length == 0 { 0 } else { u128::MAX >> (8 * (AT_ONCE - length)) };
        let end = *text.last_chunk().unwrap_or(&bytes);
        KnownText { text, fresh, start: u128::from_le_bytes(bytes), mask, end }
    }

    /// Whether `rest` starts with this text. May be false for the last bytes of a file.
    #[inline]
    pub(super) fn starts(&self, rest: &[u8]) -> bool {
        let Some(start) = rest.first_chunk() else { return false };
        if (u128::from_le_bytes(*start) ^ self.start) & self.mask != 0 {
            return false;
        }
        let length = self.text.len();
        if length <= AT_ONCE {
            return true;
        }
        let end = rest.get(length - AT_ONCE..).and_then(|rest| rest.first_chunk());
        end == Some(&self.end) && (length <= 2 * AT_ONCE || rest.starts_with(self.text))
    }
}
