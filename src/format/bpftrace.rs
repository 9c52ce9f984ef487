//! Reads the maps that bpftrace prints, if stacks are among their keys.
//!
//! ```text
//! Attaching 1 probe...
//!
//! @bytes[nginx,
//!     malloc+0
//!     main+45
//! ]: 4096
//! ```
//!
//! Each stack is printed on separate, indented lines, leaf first. If a key has a kernel stack and a user stack, in
//! whichever order the program names them, the kernel stack continues the user stack. Each map becomes a metric with the
//! map's name, or `samples` if it has none. Keys that are not stacks become labels: `key`, `key2` and so on.
//!
//! With `-f json`, each map is a line, and the keys of an entry are the same text with fewer blanks:
//!
//! ```text
//! {"type": "map", "data": {"@bytes": {"nginx,\n    malloc+0\n    main+45\n": 4096}}}
//! ```

use std::rc::Rc;

use hashbrown::HashMap;

use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, Lines, decimal, hex, is_binary};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{Family, Unit, plural};

/// The entry in the list of readable formats.
pub(super) static BPFTRACE: Format = Format { name: NAME, title: "bpftrace", sniff, read };

const NAME: &str = "bpftrace";

/// A limit on the names of maps in JSON, each of which is there once for many entries. bpftrace's own is lower.
const LONGEST_NAME: usize = 256;

/// A limit on the number of maps, because each one costs a column of values. Real programs have a few.
const MAX_MAPS: usize = 64;

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    if head.trim_ascii_start().starts_with(b"{") {
        let is_json = json::has(&json::keys(head), &["type", "data"])
            && (json::mentions(head, "\"attached_probes\"") || json::mentions(head, "{\"@"));
        return if is_json { Confidence::Certain } else { Confidence::No };
    }
    // An entry whose keys continue on the next line with a frame, or with a comma after an empty stack.
    let mut is_open = false;
    for line in head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if is_open && is_frame(line) {
            return Confidence::Likely;
        }
        let rest = match Entry::open(line) {
            Some((_, rest)) => Some(rest),
            None => line.strip_prefix(b",").filter(|_| is_open),
        };
        is_open = rest.is_some_and(|rest| split_value(rest).is_none());
    }
    Confidence::No
}

/// Whether a line within an entry is a frame: keys are not indented.
fn is_frame(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.starts_with(b"\t")
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = BpftraceReader {
        builder: ProfileBuilder::new(NAME, options),
        entries: Vec::new(),
        frames: FrameLines::default(),
        good: 0,
        bad: BadLines::default(),
        without_stack: 0,
    };
    let mut lines = Lines::new(source);
    while lines.advance()? {
        let line = lines.line().trim_ascii_end();
        if line.starts_with(b"{") {
            let number = lines.number();
            reader.json(line, number)?;
            continue;
        }
        let Some((map, rest)) = Entry::open(line) else {
            if !is_status_line(line) {
                reader.bad.add(lines.number());
            }
            continue;
        };
        let mut entry = Entry { map: map.to_vec(), ..Entry::default() };
        let first = lines.number();
        let mut value = entry.keys(rest);
        while value.is_none() {
            if !lines.advance()? {
                return Err(
                    ParseError::at_line(NAME, first, "file is truncated within this map entry").into()
                );
            }
            value = entry.line(lines.line().trim_ascii_end(), &mut reader.frames);
        }
        match value.as_deref().and_then(decimal) {
            Some(value) => reader.take(entry, value),
            None => reader.bad.add(lines.number()),
        }
    }
    Ok(reader.finish()?)
}

/// Whether a line is bpftrace's own output around the maps.
fn is_status_line(line: &[u8]) -> bool {
    let said = [&b"Attach"[..], b"Detach", b"WARNING", b"Lost ", b"Tracing "];
    line.is_empty() || line == b"^C" || said.iter().any(|start| line.starts_with(start))
}

/// One entry of a map.
#[derive(Default)]
struct Entry {
    map: Vec<u8>,
    /// Whether one of the keys is a stack, possibly an empty one.
    has_stack: bool,
    /// The numbers of lines in [`FrameLines`], those of each stack leaf first.
    frames: Vec<u32>,
    /// Where in `frames` each stack starts.
    stacks: Vec<usize>,
    keys: Vec<String>,
}

/// The distinct lines of frames: maps repeat few of them many times.
#[derive(Default)]
struct FrameLines {
    lines: Vec<Rc<[u8]>>,
    numbers: HashMap<Rc<[u8]>, u32>,
}

impl FrameLines {
    fn number(&mut self, line: &[u8]) -> u32 {
        if let Some(&known) = self.numbers.get(line) {
            return known;
        }
        let number = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        let line: Rc<[u8]> = line.into();
        self.lines.push(Rc::clone(&line));
        self.numbers.insert(line, number);
        number
    }
}

impl Entry {
    /// Splits `@bytes[nginx, ` into the name of the map and its keys.
    fn open(line: &[u8]) -> Option<(&[u8], &[u8])> {
        // bpftrace is usually stopped with Ctrl-C, which the terminal echoes before the first entry.
        let line = line.strip_prefix(b"^C").unwrap_or(line).strip_prefix(b"@")?;
        let name = line.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        Some((&line[..name], line[name..].strip_prefix(b"[")?))
    }

    /// Parses a continuation line; returns the text after the keys if they end on this line.
    fn line(&mut self, line: &[u8], frames: &mut FrameLines) -> Option<Vec<u8>> {
        if is_frame(line) || line.is_empty() {
            self.has_stack = true;
            self.frames.extend(is_frame(line).then(|| frames.number(line.trim_ascii())));
            return None;
        }
        self.keys(line)
    }

    /// The stacks, an empty one included, in the order of the keys.
    fn stacks(&self) -> impl Iterator<Item = &[u32]> {
        let ends = self.stacks.iter().skip(1).copied().chain([self.frames.len()]);
        self.stacks.iter().zip(ends).map(|(&start, end)| &self.frames[start..end])
    }

    /// Parses the keys in `text`, such as `, nginx]: 12`; returns the text after them.
    fn keys(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let (keys, value) = match split_value(text) {
            Some((keys, value)) => (keys, Some(value.to_vec())),
            None => (text, None),
        };
        // A stack is on separate lines, between the brackets or between commas.
        self.has_stack |= keys.is_empty();
        if value.is_none() {
            self.stacks.push(self.frames.len());
        }
        let keys = String::from_utf8_lossy(keys);
        let keys = keys.split(", ").map(|key| key.trim_matches([',', ' '])).filter(|key| !key.is_empty());
        self.keys.extend(keys.map(str::to_string));
        value
    }
}

/// Splits `, nginx]: 12` after the keys.
fn split_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memmem::rfind(text, b"]:")?;
    Some((&text[..at], text[at + 2..].trim_ascii()))
}

struct BpftraceReader {
    builder: ProfileBuilder,
    /// Parsed entries; the metrics are known only after all maps have been read.
    entries: Vec<(Entry, i64)>,
    frames: FrameLines,
    good: u64,
    bad: BadLines,
    without_stack: u64,
}

impl BpftraceReader {
    /// Reads a line of `-f json`, such as `{"type": "map", "data": {"@": {"\n    f+1\n,sh": 4}}}`.
    fn json(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
        let mut json = Json::new(NAME, line);
        let in_line = |error: ParseError| ParseError::at_line(NAME, number, error.message);
        self.json_message(&mut json, number).map_err(in_line)
    }

    fn json_message(&mut self, json: &mut Json<'_>, number: u64) -> Result<(), ParseError> {
        let (mut is_map, mut data) = (false, None);
        json.object()?;
        while let Some(key) = json.key()? {
            match (&*key, json.kind()?) {
                ("type", Kind::String) => {
                    is_map = json.string()? == "map";
                    continue;
                }
                ("data", Kind::Object) => data = Some(json.position()),
                _ => {}
            }
            json.skip()?;
        }
        json.end()?;
        if let Some(at) = data.filter(|_| is_map) {
            let mut maps = json.at(at);
            maps.object()?;
            while let Some(map) = maps.key()? {
                self.json_map(&map, &mut maps, number)?;
            }
        }
        Ok(())
    }

    /// Reads the entries of a map.
    fn json_map(&mut self, map: &str, json: &mut Json<'_>, number: u64) -> Result<(), ParseError> {
        let name = map.strip_prefix('@').unwrap_or(map);
        if json.kind()? != Kind::Object || name.len() > LONGEST_NAME {
            self.without_stack += 1;
            return json.skip();
        }
        json.object()?;
        while let Some(keys) = json.key()? {
            if json.kind()? != Kind::Number {
                json.skip()?;
                self.bad.add(number);
                continue;
            }
            let value = json.integer()?;
            let mut entry = Entry { map: name.as_bytes().to_vec(), ..Entry::default() };
            let text = format!("{keys}]:");
            for (at, line) in text.split('\n').enumerate() {
                // Between keys is a comma without a blank.
                let spaced =
                    if is_frame(line.as_bytes()) { line.to_string() } else { line.replace(',', ", ") };
                let line = spaced.trim_end().as_bytes();
                if at == 0 {
                    entry.keys(line)
                } else {
                    entry.line(line, &mut self.frames)
                };
            }
            self.take(entry, value);
        }
        Ok(())
    }

    fn take(&mut self, entry: Entry, value: i64) {
        self.good += 1;
        if entry.has_stack {
            self.entries.push((entry, value));
        } else {
            self.without_stack += 1;
        }
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.entries.is_empty() && self.good > 0 {
            return Err(ParseError::whole(NAME, "none of the maps has a stack among its keys"));
        }
        self.bad.settle(&mut self.builder, self.good, "not a map entry with a number")?;
        if self.without_stack > 0 {
            let entries = plural(
                self.without_stack,
                "map entry without a stack was",
                "map entries without stacks were",
            );
            let warning = format!("{} {entries} skipped", self.without_stack);
            self.builder.warn(warning);
        }
        let mut maps: Vec<Vec<u8>> = Vec::new();
        for (entry, _) in &self.entries {
            if !maps.contains(&entry.map) {
                maps.push(entry.map.clone());
            }
            if maps.len() > MAX_MAPS {
                return Err(ParseError::whole(NAME, format!("more than {MAX_MAPS} maps")));
            }
        }
        for map in &maps {
            let name = String::from_utf8_lossy(map);
            let (name, unit) = if name.is_empty() { ("samples", "count") } else { (&*name, unit(&name)) };
            self.builder.metric(name, unit);
        }
        let lines = std::mem::take(&mut self.frames.lines);
        let sides: Vec<i64> = lines.iter().map(|line| side(line)).collect();
        let mut layouts = vec![Layout::default(); maps.len()];
        let map_of = |entry: &Entry| maps.iter().position(|map| *map == entry.map).unwrap_or_default();
        for (entry, _) in &self.entries {
            layouts[map_of(entry)].add(entry, &sides);
        }
        let frames: Vec<FrameId> = lines.iter().map(|line| frame(&mut self.builder, line)).collect();
        let mut values = vec![0; maps.len()];
        for (entry, value) in std::mem::take(&mut self.entries) {
            let map = map_of(&entry);
            values.fill(0);
            values[map] = value;
            self.sample(&entry, &layouts[map], &frames, &values);
        }
        finished(self.builder)
    }

    fn sample(&mut self, entry: &Entry, layout: &Layout, frames: &[FrameId], values: &[i64]) {
        let builder = &mut self.builder;
        let leaf_first = layout.leaf_first(entry);
        let known = leaf_first.iter().rev().filter_map(|&line| frames.get(line as usize).copied());
        let frames: Vec<FrameId> = known.collect();
        let stack = builder.stack(&frames);
        let labels = labels(builder, &entry.keys);
        builder.sample(stack, labels, None, values);
    }
}

/// Which of the stacks in the keys of a map are the kernel's. The program has one order for all entries of a map, so an
/// entry whose own frames do not tell, such as one whose stacks are cut, follows the others.
#[derive(Clone, Default)]
struct Layout {
    /// For each stack of the keys, the number of its frames in the kernel minus those in user space.
    kernel: Vec<i64>,
}

impl Layout {
    fn add(&mut self, entry: &Entry, sides: &[i64]) {
        for (number, stack) in entry.stacks().enumerate() {
            if number == self.kernel.len() {
                self.kernel.push(0);
            }
            self.kernel[number] += stack.iter().filter_map(|&line| sides.get(line as usize)).sum::<i64>();
        }
    }

    /// The frames of an entry, leaf first: kernel stacks come before user stacks, in whichever order they were printed.
    fn leaf_first(&self, entry: &Entry) -> Vec<u32> {
        let mut stacks: Vec<(i64, &[u32])> =
            self.kernel.iter().map(|kernel| -kernel.signum()).zip(entry.stacks()).collect();
        stacks.sort_by_key(|&(rank, _)| rank);
        stacks.iter().flat_map(|(_, stack)| *stack).copied().collect()
    }
}

/// Functions with which code in the kernel starts on x86-64 and AArch64: system calls, interrupts, threads.
const KERNEL: &[&str] = &[
    "do_syscall_64",
    "invoke_syscall",
    "kthread",
    "do_idle",
    "cpu_startup_entry",
    "start_secondary",
    "x86_64_start_kernel",
    "system_call_fastpath",
    "do_el0_svc",
];

/// How the names of others of them start, such as `entry_SYSCALL_64_after_hwframe`, `__x64_sys_futex` and `el0t_64_sync`.
const KERNEL_PREFIXES: &[&str] = &[
    "entry_SYSCALL_",
    "entry_SYSENTER_",
    "entry_INT80_",
    "__x64_sys_",
    "__ia32_sys_",
    "__arm64_sys_",
    "asm_sysvec_",
    "asm_exc_",
    "asm_common_interrupt",
    "ret_from_fork",
    "secondary_startup_64",
    "common_startup_64",
    "el0_",
    "el0t_",
    "el1h_",
];

/// Functions with which programs and their threads start.
const USER: &[&str] = &[
    "_start",
    "main",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "thread_start",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
    "runtime.main",
    "runtime.goexit",
    "runtime.mcall",
    "runtime.mstart",
];

/// 1 for a frame in the kernel, -1 for one in user space, 0 if it does not tell.
fn side(line: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(line);
    let FrameText { address, name, .. } = FrameText::parse(&text);
    // Symbols may have a version or an ABI: `clone@@GLIBC_2.2.5`, `runtime.goexit.abi0`.
    let plain = name.split('@').next().unwrap_or(name).trim_end_matches(".abi0");
    if KERNEL.contains(&plain) || KERNEL_PREFIXES.iter().any(|start| plain.starts_with(start)) {
        return 1;
    }
    // The kernel is in the upper half of 64 bits. Whether a smaller address is its own depends on the machine.
    let is_upper = address.is_some_and(|address| address >= 0xFFFF_0000_0000_0000);
    i64::from(is_upper) - i64::from(USER.contains(&plain))
}

/// The unit of a map's values, guessed from its name: `@bytes`, `@usecs`. Maps are often called by the letters of the alphabet, so
/// `@b`, `@s` and `@h` are neither bytes nor seconds nor hours.
fn unit(name: &str) -> &str {
    match Unit::parse(name).family() {
        _ if name.len() == 1 => "count",
        Family::Time | Family::Bytes => name,
        _ => "count",
    }
}

/// A parsed frame line.
struct FrameText<'a> {
    address: Option<u64>,
    name: &'a str,
    /// The binary.
    file: &'a str,
}

impl FrameText<'_> {
    /// Splits `malloc+45`, in perf's form `7f21 malloc+45 (/lib/libc.so.6)`, or a bare address.
    fn parse(text: &str) -> FrameText<'_> {
        if let Some(address) = address(text) {
            return FrameText { address: Some(address), name: "", file: "" };
        }
        let (address, name) = match text.split_once(' ') {
            Some((first, rest)) if address(first).is_some() => (address(first), rest),
            _ => (None, text),
        };
        let (name, file) = match name.rsplit_once(" (") {
            Some((name, file)) if file.ends_with(')') => (name, &file[..file.len() - 1]),
            _ => (name, ""),
        };
        let name =
            name.rsplit_once('+').filter(|(_, offset)| is_offset(offset)).map_or(name, |(name, _)| name);
        // bpftrace repeats the address if it has no symbol for it.
        let name = if name.starts_with("0x") { "" } else { name };
        FrameText { address, name, file: if file == "[unknown]" { "" } else { file } }
    }
}

fn frame(builder: &mut ProfileBuilder, text: &[u8]) -> FrameId {
    let text = String::from_utf8_lossy(text);
    let FrameText { address, name, file } = FrameText::parse(&text);
    let mapping = builder.named_mapping(file);
    let function = if name.is_empty() {
        builder.unnamed_function(mapping)
    } else {
        builder.named_function(&demangle(name), "")
    };
    builder.frame(Frame { function, mapping, address: address.unwrap_or(0), ..Frame::default() })
}

/// Parses a hexadecimal number, with or without `0x`.
fn address(text: &str) -> Option<u64> {
    hex(text.strip_prefix("0x").unwrap_or(text).as_bytes())
}

fn is_offset(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn labels(builder: &mut ProfileBuilder, keys: &[String]) -> LabelSetId {
    if keys.is_empty() {
        return LabelSetId::default();
    }
    sample_labels(builder, |labels| {
        for (number, value) in keys.iter().enumerate() {
            let key = if number == 0 { "key".to_string() } else { format!("key{}", number + 1) };
            labels.text(&key, value);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    #[test]
    fn kernel_stacks_continue_user_stacks_and_other_keys_are_labels() {
        let text = "Attaching 1 probe...\n^C@[\n    vfs_read+1\n    do_syscall_64+91\n, \n    __read+20\n    \
                    _ZN3foo3barEv+4\n, nginx]: 12\n@[\n    0x7f01\n, \n, sh]: 3\n@[]: 4\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        let profile = load(text).unwrap();
        let expected = " 4\n<unknown> 3 {key=sh}\nfoo::bar();__read;do_syscall_64;vfs_read 12 {key=nginx}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!((profile.meta.metrics[0].name.as_str(), profile.meta.metrics[0].total), ("samples", 19));
    }

    #[test]
    fn the_kernel_continues_user_code_in_either_order_of_the_keys() {
        // `@[ustack, kstack, comm]`. The stacks of the second entry do not tell, those of the last are cut or empty.
        let text = "@[\n    read+20\n    main+4\n, \n    vfs_read+1\n    entry_SYSCALL_64_after_hwframe+9\n, sh]: 1\n\
                    @[\n    read+20\n    f+4\n, \n    vfs_read+1\n, sh]: 2\n\
                    @[\n, \n    schedule+1\n    ret_from_fork_asm+26\n, kcompactd0]: 3\n@[\n    f+1\n, \n, sh]: 4\n";
        let expected = "f 4 {key=sh}\nf;read;vfs_read 2 {key=sh}\n\
                        main;read;entry_SYSCALL_64_after_hwframe;vfs_read 1 {key=sh}\n\
                        ret_from_fork_asm;schedule 3 {key=kcompactd0}";
        assert_eq!(to_notation(&load(text).unwrap()), expected);
        // Addresses tell, too, here those of `ustack(perf)` and `kstack(perf)`. Each map has its own order.
        let text = "@a[\n\t7f21 read+20 (/lib/libc.so.6)\n, \n\tffffffff81a0 vfs_read+1\n\tffffffff81a00001 sys+1\n]: 1\n\
                    @b[sh, \n\tffffffff81a00001 sys+1\n, \n\t7f21 read+20 (/lib/libc.so.6)\n]: 2\n";
        assert_eq!(to_notation(&load(text).unwrap()), "read;sys 0 2 {key=sh}\nread;sys;vfs_read 1 0");
    }

    #[test]
    fn the_first_stack_may_be_empty() {
        let text = "@samples[\n,\n    pick_eevdf+1\n    common_startup_64+318\n, swapper/3]: 1032\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
        assert_eq!(to_notation(&load(text).unwrap()), "common_startup_64;pick_eevdf 1032 {key=swapper/3}");
        let both = format!("@samples[\n,\n, sh]: 1\n{text}");
        assert_eq!(sniff(both.as_bytes()), Confidence::Likely);
        assert_eq!(sniff(b"@samples[\n, \n, sh]: 1\n    x+1\n"), Confidence::No);
        assert_eq!(sniff(b"@list[\nkey\n    x+1\n"), Confidence::No);
    }

    #[test]
    fn each_map_is_a_metric() {
        let profile =
            load("@bytes[a, 7,\n\tf09 malloc+0 (/lib/libc.so)\n]: 4096\n@n[\n    g+0x1f\n]: 2\n@x[sh]: 1\n");
        let profile = profile.unwrap();
        let metrics: Vec<_> = profile.meta.metrics.iter().map(|m| (&*m.name, &*m.unit, m.total)).collect();
        assert_eq!(metrics, [("bytes", "bytes", 4096), ("n", "count", 2)]);
        assert_eq!(to_notation(&profile), "g 0 2\nmalloc 4096 0 {key2=7 key=a}");
        assert_eq!(profile.meta.warnings, ["1 map entry without a stack was skipped"]);
    }

    #[test]
    fn json_has_the_same_entries() {
        let text = "@[\n    vfs_read+1\n    do_syscall_64+91\n, \n    __read+20\n, nginx, 7]: 12\n@bytes[sh, \n    malloc+0\n]: 64\n";
        let lines = [
            r#"{"type": "attached_probes", "data": {"probes": 2}}"#,
            "",
            r#"{"type": "map", "data": {"@": {"\n    vfs_read+1\n    do_syscall_64+91\n,\n    __read+20\n,nginx,7": 12}}}"#,
            r#"{"type": "map", "data": {"@bytes": {"sh,\n    malloc+0\n": 64}}}"#,
        ];
        let json = lines.join("\n");
        assert_eq!(sniff(json.as_bytes()), Confidence::Certain);
        let profile = load(&json).unwrap();
        assert_eq!(to_notation(&profile), to_notation(&load(text).unwrap()));
        assert_eq!(profile.meta.warnings, [""; 0]);
        let more = r#"{"type": "map", "data": {"@n": 4, "@h": {"\n    f+1\n": {"count": 3}}}}"#;
        assert_eq!(load(&format!("{json}\n{more}\n")).unwrap().meta.warnings.len(), 2);
        let error = load(&json[..json.len() - 5]).unwrap_err().to_string();
        assert!(error.starts_with("bpftrace: ") && error.contains("(line 4)"), "{error}");
        assert_eq!(sniff(br#"{"type": "x", "data": {}}"#), Confidence::No);
    }

    #[test]
    fn a_letter_is_no_unit() {
        let unit =
            |map: &str| load(&format!("@{map}[\n\tf+1\n]: 7\n")).unwrap().meta.metrics.swap_remove(0).unit;
        for map in ["a", "b", "s", "h", "m", "d"] {
            assert_eq!(unit(map), "count");
        }
        assert_eq!(["us", "ns", "bytes"].map(unit), ["us", "ns", "bytes"]);
    }

    #[test]
    fn files_without_stacks_are_rejected() {
        let message = |text| load(text).unwrap_err().to_string();
        assert!(message("@[sh]: 4\n").contains("none of the maps"));
        assert!(message("@[\n    f+1\n").contains("(line 1)"));
        assert!(message("@[\n    f+1\n]: \n[1] 3 |@@ |\n").contains("(line 3)"));
        assert_eq!(sniff(b"@@ -1,2 +1,2 @@\n a\n"), Confidence::No);
        assert_eq!(sniff(b"@[sh]: 4\n"), Confidence::No);
    }
}
