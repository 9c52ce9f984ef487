//! The frames of a stack, one per line: `address symbol+offset (module)`.

use std::hash::BuildHasher;
use std::rc::Rc;

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};

use crate::format::jit::{is_anonymous, java_calls, python_function};
use crate::format::text::hex;
use crate::name::demangle;
use crate::profile::{Frame, FrameId, MappingId, ProfileBuilder};

/// The parts of a frame's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameLine<'a> {
    /// 0 if missing.
    pub(super) address: u64,
    /// Empty if missing.
    symbol: &'a [u8],
    /// Empty if missing.
    module: &'a [u8],
}

impl FrameLine<'_> {
    fn is_unnamed(&self) -> bool {
        self.symbol.is_empty() || self.symbol == b"[unknown]"
    }
}

/// Splits a line of a stack. It needs an address or a module.
pub(super) fn split(line: &[u8]) -> Option<FrameLine<'_>> {
    let line = line.trim_ascii();
    let word = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (address, rest) = match hex(&line[..word]) {
        Some(address) => (Some(address), line[word..].trim_ascii_start()),
        None => (None, line),
    };
    // A branch: what follows is where it leads.
    let target = address.and_then(|_| memchr::memmem::find(rest, b" => "));
    let is_target = |at: &usize| rest[at + 4..].trim_ascii_start().first().is_some_and(u8::is_ascii_hexdigit);
    let rest = target.filter(is_target).map_or(rest, |at| rest[..at].trim_ascii_end());
    let (symbol, module) = split_module(rest);
    if address.is_none() && (module.is_empty() || symbol.is_empty()) {
        return None;
    }
    Some(FrameLine { address: address.unwrap_or(0), symbol: without_offset(symbol), module })
}

/// Splits `symbol (module)`, where both may contain blanks and parentheses. With `-F +dsoff`, the offset in the file comes after
/// the module: `(/usr/bin/python3.13+0x13f44e)`.
fn split_module(text: &[u8]) -> (&[u8], &[u8]) {
    let Some(inner) = text.strip_suffix(b")").map(without_offset) else { return (text, b"") };
    let inner = inner.strip_suffix(b" (deleted)").unwrap_or(inner);
    let open = memchr::memmem::rfind(inner, b" (").or_else(|| inner.starts_with(b"(").then_some(0));
    let Some(open) = open else { return (text, b"") };
    let module = inner[open..].trim_ascii_start();
    (inner[..open].trim_ascii_end(), &module[1..])
}

/// Removes a suffix such as `+0x1f`.
fn without_offset(symbol: &[u8]) -> &[u8] {
    match memchr::memmem::rfind(symbol, b"+0x") {
        Some(at) if symbol[at + 3..].iter().all(u8::is_ascii_hexdigit) => &symbol[..at],
        _ => symbol,
    }
}

/// The frames of one line: usually one, or several, innermost first, if calls were inlined.
pub(super) type Frames = Rc<[FrameId]>;

/// The frames of distinct lines: a file repeats few distinct lines many times.
#[derive(Default)]
pub(super) struct FrameCache {
    lines: HashTable<(u64, usize)>,
    /// Text and frame of each distinct line.
    text: Vec<u8>,
    frames: Vec<(usize, Frames)>,
    hasher: DefaultHashBuilder,
    /// Frames in memory without a file that have no name.
    compiled: HashSet<FrameId>,
    not_utf8: bool,
}

impl FrameCache {
    /// The frames of a line of a stack, or `None` if the line does not look like a frame.
    pub(super) fn frames(&mut self, builder: &mut ProfileBuilder, line: &[u8]) -> Option<Frames> {
        let line = line.trim_ascii();
        let hash = self.hasher.hash_one(line);
        let (text, frames) = (&self.text, &self.frames);
        let same = |&(known, index): &(u64, usize)| {
            let start = if index == 0 { 0 } else { frames[index - 1].0 };
            known == hash && text[start..frames[index].0] == *line
        };
        if let Some(&(_, index)) = self.lines.find(hash, same) {
            return Some(Rc::clone(&self.frames[index].1));
        }
        let parts = split(line)?;
        self.not_utf8 |= std::str::from_utf8(line).is_err();
        let made: Frames = make(builder, parts).into();
        if parts.is_unnamed() && is_anonymous(parts.module) {
            self.compiled.extend(made.iter());
        }
        self.text.extend_from_slice(line);
        self.lines.insert_unique(hash, (hash, self.frames.len()), |&(hash, _)| hash);
        self.frames.push((self.text.len(), Rc::clone(&made)));
        Some(made)
    }

    /// Whether a frame is code without a name in memory without a file, which may be other code at another time.
    pub(super) fn is_compiled(&self, frame: FrameId) -> bool {
        !self.compiled.is_empty() && self.compiled.contains(&frame)
    }

    pub(super) fn warn(&self, builder: &mut ProfileBuilder) {
        if self.not_utf8 {
            builder.warn_of_encoding();
        }
    }
}

/// The frames of a line, the innermost first.
fn make(builder: &mut ProfileBuilder, line: FrameLine<'_>) -> Vec<FrameId> {
    let inlined = line.module == b"inlined";
    let mapping = if inlined || line.module.is_empty() || line.module == b"[unknown]" {
        MappingId::default()
    } else {
        builder.named_mapping(&String::from_utf8_lossy(line.module))
    };
    let address = line.address;
    if line.is_unnamed() {
        let function = builder.unnamed_function(mapping);
        return vec![builder.frame(Frame { function, line: 0, address, mapping, inlined })];
    }
    let name = String::from_utf8_lossy(line.symbol);
    if let Some((name, file)) = python_function(&name) {
        let function = builder.named_function(name, file);
        return vec![builder.frame(Frame { function, line: 0, address, mapping, inlined })];
    }
    let chain = if is_compiled_at_run_time(line.module) { java_calls(&name) } else { vec![&*name] };
    let mut frames: Vec<FrameId> = Vec::new();
    for (depth, name) in chain.into_iter().enumerate() {
        let function = builder.named_function(&demangle(name), "");
        let inlined = inlined || depth > 0;
        frames.push(builder.frame(Frame { function, line: 0, address, mapping, inlined }));
    }
    frames.reverse();
    frames
}

/// Whether a module is memory without a file. Old versions of perf write `[unknown]`.
fn is_compiled_at_run_time(module: &[u8]) -> bool {
    module.is_empty() || module == b"[unknown]" || is_anonymous(module)
}

/// Sets the mapping of inlined frames, in a stack that starts at the root, to that of the frame they were inlined
/// into: the file gives the module only for that frame.
pub(super) fn attach_inlined(builder: &mut ProfileBuilder, stack: &mut [FrameId]) {
    let mut outer = MappingId::default();
    for id in stack {
        let frame = builder.frame_row(*id);
        if frame.inlined && frame.mapping != outer {
            *id = builder.frame(Frame { mapping: outer, ..frame });
        } else {
            outer = frame.mapping;
        }
    }
}

/// Whether a line in place of a source line says that there is none: `??:0`, `main+0x1f` or `libc.so.6[1f20]`.
pub(super) fn is_unknown_source(line: &[u8]) -> bool {
    let is_address = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    let in_module = || {
        let inner = line.strip_suffix(b"]")?;
        Some(&inner[memchr::memrchr(b'[', inner)? + 1..])
    };
    line == b"??:0" || without_offset(line).len() < line.len() || in_module().is_some_and(is_address)
}

/// The frame `id` with its source file and line added.
pub(super) fn with_source_line(builder: &mut ProfileBuilder, id: FrameId, file: &[u8], line: u32) -> FrameId {
    let frame = builder.frame_row(id);
    let name = builder.frame_name(id).to_string();
    let function = builder.named_function(&name, &String::from_utf8_lossy(file));
    builder.frame(Frame { function, line, ..frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_modules_may_contain_blanks_and_parentheses() {
        let parts = |line: &'static str| {
            split(line.as_bytes()).map(|line| {
                let text = |bytes| std::str::from_utf8(bytes).unwrap();
                (line.address, text(line.symbol), text(line.module))
            })
        };
        assert_eq!(
            parts("4a190 <A as B<(C, D)>>::f (x)+0xd0 (/a b/c)"),
            Some((0x4A190, "<A as B<(C, D)>>::f (x)", "/a b/c"))
        );
        assert_eq!(parts("10 f (/tmp/x (deleted))"), Some((0x10, "f", "/tmp/x")));
        assert_eq!(parts("10 f+0x1 (/bin/a) =>      20 g+0x0 (/bin/a)"), Some((0x10, "f", "/bin/a")));
        assert_eq!(parts("10 f+0x1 (/a b/c+0x13f44e)"), Some((0x10, "f", "/a b/c")));
        assert_eq!(parts("10 f (/tmp/x (deleted)+0x1)"), Some((0x10, "f", "/tmp/x")));
        assert_eq!(parts("7f12"), Some((0x7F12, "", "")));
        assert_eq!(parts("main+0x1 (/bin/x)"), Some((0, "main", "/bin/x")));
        assert_eq!(parts("20 ([unknown])"), Some((0x20, "", "[unknown]")));
        assert_eq!(parts("THIS_IS_ODD"), None);
    }
}
