//! Reads the output of massif, Valgrind's heap profiler: snapshots of the heap, some with a tree of what allocated it.
//!
//! ```text
//! snapshot=14
//! time=39487
//! mem_heap_B=148000
//! heap_tree=peak
//! n2: 148000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
//!  n1: 140000 0x108FF9: create (pool.c:88)        create allocated 140,000 bytes
//!   n0: 140000 0x109CCE: main (pool.c:363)        … when main called it
//!  n0: 8000 in 4 places, all below massif's threshold (1.00%)
//! ```
//!
//! The profile is the tree at the peak: the trees show the same memory again and again, so their sum would mean nothing. Massif
//! looks for a peak when memory is freed, so a program that ends while it grows has its largest snapshot without a tree.
//!
//! `mem_heap_extra_B` is what the allocator adds to blocks. It is in no tree, and `ms_print` shows it in a column of its own.

use std::ops::Range;

use crate::format::text::{decimal, hex, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{Scale, Unit, plural};

/// The entry in the list of readable formats.
pub(super) static MASSIF: Format = Format { name: NAME, title: "massif", sniff, read };

const NAME: &str = "massif";

fn sniff(head: &[u8]) -> Confidence {
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    if head.starts_with(b"desc: ") && has(b"\ntime_unit: ") && has(b"\nsnapshot=") {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

/// A snapshot with a tree.
#[derive(Clone, Debug)]
struct Tree {
    snapshot: String,
    time: String,
    is_peak: bool,
    total: i64,
    /// What the allocator added to its blocks.
    extra: i64,
    /// Where its lines are in the file, and the number of the first one.
    lines: Range<usize>,
    number: u64,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("inuse_space", "bytes");
    let Found { trees, snapshots, largest, unit, has_stacks, is_truncated } = find(&text);
    // Several peaks mean several recordings in one file.
    let chosen = trees.iter().max_by_key(|tree| (tree.is_peak, tree.total));
    let tree = chosen.ok_or_else(|| {
        let message = match (snapshots, is_truncated) {
            (0, _) => "file is truncated within its header: there is no snapshot",
            _ if is_without_heap(&text) => "massif was told not to record the heap (--heap=no)",
            (_, true) => "file is truncated before the first snapshot that says what allocated the memory",
            _ => "no snapshot says what allocated the memory; the program may have allocated none",
        };
        ParseError::whole(NAME, message)
    })?;
    // Massif misses a peak that is up to 1% higher (--peak-inaccuracy), so that twice as much is nothing to speak of.
    let missed = largest.filter(|(_, bytes)| *bytes - bytes / 50 > tree.total);
    builder.meta.comments.push(format!(
        "snapshot {}, {}, at {} {unit}; {snapshots} {} in all",
        tree.snapshot,
        if tree.is_peak && missed.is_none() { "the peak" } else { "the largest with a tree" },
        tree.time,
        plural(snapshots, "snapshot", "snapshots")
    ));
    if let Some((snapshot, bytes)) = missed {
        builder.warn(format!(
            "{} were in use at snapshot {snapshot}, which does not say who allocated them; snapshot {}, which does, has {}",
            size(bytes),
            tree.snapshot,
            size(tree.total)
        ));
    }
    if tree.extra > 0 {
        let adds = format!(
            "the allocator adds {} to what functions allocated (extra-heap of ms_print), which is not shown",
            size(tree.extra)
        );
        // Of few large blocks, it is next to nothing.
        let is_much = tree.extra.saturating_mul(100) >= tree.total;
        let meta = &mut builder.meta;
        if is_much { &mut meta.notes } else { &mut meta.comments }.push(adds);
    }
    if has_stacks {
        builder.warn(
            "the memory of stacks (--stacks=yes) is not shown: massif does not say whose it is".to_string(),
        );
    }
    let is_whole = read_tree(&text, tree, &mut builder)?;
    if is_truncated || !is_whole {
        builder.warn("file is truncated: the last snapshot is incomplete".to_string());
    }
    Ok(finished(builder)?)
}

/// A number of bytes, as tables show it.
fn size(bytes: i64) -> String {
    Scale::automatic(&Unit::parse("bytes"), 1, bytes).format(bytes)
}

/// Whether the options in the file's first line are those of a recording without the heap.
fn is_without_heap(text: &[u8]) -> bool {
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    memchr::memmem::find(first, b"--heap=no").is_some()
}

/// What is in a file.
#[derive(Default)]
struct Found {
    trees: Vec<Tree>,
    snapshots: u64,
    /// The snapshot with most bytes in use, whether it has a tree or not.
    largest: Option<(String, i64)>,
    unit: String,
    has_stacks: bool,
    /// Whether the last snapshot lacks its end.
    is_truncated: bool,
}

fn find(text: &[u8]) -> Found {
    let mut found = Found::default();
    let (mut snapshot, mut time, mut extra) = (String::new(), String::new(), 0);
    let mut at = 0;
    let mut in_tree = false;
    for (number, line) in (1..).zip(text.split_inclusive(|&byte| byte == b'\n')) {
        at += line.len();
        let line = line.trim_ascii_end();
        if in_tree && is_node(line) {
            if let Some(tree) = found.trees.last_mut() {
                tree.lines.end = at;
            }
            continue;
        }
        in_tree = false;
        let Some(equals) = memchr::memchr(b'=', line) else {
            if let Some(unit) = line.strip_prefix(b"time_unit: ") {
                found.unit = lossy(unit).into_owned();
            }
            continue;
        };
        let value = lossy(&line[equals + 1..]);
        match &line[..equals] {
            b"snapshot" => {
                found.snapshots += 1;
                found.is_truncated = true;
                snapshot = value.into_owned();
            }
            b"time" => time = value.into_owned(),
            b"mem_heap_B" => {
                let bytes = decimal(&line[equals + 1..]).unwrap_or(0);
                if found.largest.as_ref().is_none_or(|(_, most)| bytes > *most) {
                    found.largest = Some((snapshot.clone(), bytes));
                }
            }
            b"mem_heap_extra_B" => extra = decimal(&line[equals + 1..]).unwrap_or(0),
            b"mem_stacks_B" => found.has_stacks |= value != "0",
            b"heap_tree" if value == "empty" => found.is_truncated = false,
            b"heap_tree" => {
                found.is_truncated = false;
                let rest = &text[at..];
                let first = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
                let total = Node::parse(first).map_or(0, |node| node.bytes);
                let (snapshot, time) = (snapshot.clone(), time.clone());
                let is_peak = value == "peak";
                let (lines, number) = (at..at, number + 1);
                found.trees.push(Tree { snapshot, time, is_peak, total, extra, lines, number });
                in_tree = true;
            }
            _ => {}
        }
    }
    // Every line ends with a line end.
    found.is_truncated |= text.last().is_some_and(|&byte| byte != b'\n');
    found
}

/// ` n1: 140000 …`
fn is_node(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.first() == Some(&b'n') && line.get(1).is_some_and(u8::is_ascii_digit)
}

/// A line of a tree.
struct Node<'a> {
    depth: usize,
    /// How many nodes there are directly below it.
    children: i64,
    bytes: i64,
    /// `0x108FF9: create (pool.c:88)`
    what: &'a [u8],
}

impl Node<'_> {
    fn parse(line: &[u8]) -> Option<Node<'_>> {
        let depth = line.iter().take_while(|&&byte| byte == b' ').count();
        let rest = line[depth..].strip_prefix(b"n")?;
        let colon = memchr::memchr(b':', rest)?;
        let children = decimal(&rest[..colon])?;
        let rest = rest[colon + 1..].trim_ascii_start();
        let end = memchr::memchr(b' ', rest).unwrap_or(rest.len());
        let bytes = decimal(&rest[..end]).filter(|bytes| *bytes >= 0)?;
        Some(Node { depth, children, bytes, what: rest[end..].trim_ascii() })
    }
}

/// A node whose children are being read.
struct Open {
    /// What is left of it after its children.
    left: i64,
    /// How many of its children are still missing.
    missing: i64,
    frame: Option<FrameId>,
}

/// Adds the samples of a tree; returns whether it has all of its nodes.
fn read_tree(text: &[u8], tree: &Tree, builder: &mut ProfileBuilder) -> Result<bool, ParseError> {
    let mut is_whole = true;
    // The path from the root, the allocation, outwards: frame, its callers.
    let mut path: Vec<Open> = Vec::new();
    for (number, line) in (tree.number..).zip(text[tree.lines.clone()].split(|&byte| byte == b'\n')) {
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        let bad = |message: &str| ParseError::at_line(NAME, number, message);
        let node = Node::parse(line)
            .ok_or_else(|| bad("expected a node, such as `n1: 4096 0x1234: main (a.c:1)`"))?;
        if node.depth > path.len() {
            return Err(bad("indented by more than one level"));
        }
        is_whole &= close(&mut path, node.depth, builder);
        if let Some(parent) = path.last_mut() {
            if node.bytes > parent.left {
                return Err(bad("the callers of a function allocate more than the function itself"));
            }
            parent.left -= node.bytes;
            parent.missing -= 1;
        }
        let frame = frame(node.what, builder);
        path.push(Open { left: node.bytes, missing: node.children, frame });
    }
    Ok(close(&mut path, 0, builder) && is_whole)
}

/// Ends the nodes below `depth`: what their children do not account for is theirs. Returns whether all children were there.
fn close(path: &mut Vec<Open>, depth: usize, builder: &mut ProfileBuilder) -> bool {
    let mut is_whole = true;
    while path.len() > depth {
        if let Some(node) = path.last().filter(|node| node.left > 0) {
            let left = node.left;
            let frames: Vec<FrameId> = path.iter().rev().filter_map(|node| node.frame).collect();
            let stack = builder.stack(&frames);
            builder.sample(stack, LabelSetId::default(), None, &[left]);
        }
        is_whole &= path.pop().is_none_or(|node| node.missing <= 0);
    }
    is_whole
}

/// The frame for `0x108FF9: create (pool.c:88)`, which other programs than massif write without its address; `None` for the root of the
/// tree.
fn frame(what: &[u8], builder: &mut ProfileBuilder) -> Option<FrameId> {
    let text = lossy(what);
    if text.starts_with('(') {
        return None;
    }
    let place = text.strip_prefix("0x").and_then(|text| {
        let (address, rest) = text.split_once(": ")?;
        Some((hex(address.as_bytes())?, rest))
    });
    // `in 4 places, all below massif's threshold (1.00%)`
    if place.is_none()
        && (text.is_empty() || (text.starts_with("in ") && text.contains(" below massif's threshold")))
    {
        return Some(builder.named_frame("[below massif's threshold]"));
    }
    let (address, rest) = place.unwrap_or((0, &text));
    // Names have blanks and parentheses: `operator new(unsigned long) (new.c:3)`.
    let (name, place) = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")).unwrap_or((rest, ""));
    let (file, line) =
        place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))).unwrap_or(("", 0));
    let binary = place.strip_prefix("in ").unwrap_or_default();
    let mapping = builder.named_mapping(binary);
    let function = match name {
        "???" => builder.unnamed_function(mapping),
        name => builder.named_function(&demangle(name), file),
    };
    Some(builder.frame(Frame { function, line, address, mapping, inlined: false }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const TEXT: &str = "desc: (none)\ncmd: ./a\ntime_unit: i\n#-----------\nsnapshot=0\n#-----------\ntime=0\nmem_heap_B=0\n\
        mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=1\n#-----------\ntime=9\nmem_heap_B=1000\n\
        mem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak\n\
        n2: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n2: 900 0x10: f(int, char) (a.c:88)\n  \
        n0: 500 0x20: main (a.c:3)\n  n1: 300 0x30: ??? (in /lib/libx.so)\n   n0: 300 0x40: main (a.c:4)\n n0: 100 in 4 places, all \
        below massif's threshold (1.00%)\n#-----------\nsnapshot=2\n#-----------\ntime=10\nmem_heap_B=5\nmem_heap_extra_B=8\n\
        mem_stacks_B=0\nheap_tree=detailed\nn0: 5 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n";

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::ALL)
    }

    #[test]
    fn the_peak_is_shown_with_callers_outside() {
        let profile = load(TEXT).unwrap();
        let extra =
            "the allocator adds 8B to what functions allocated (extra-heap of ms_print), which is not shown";
        assert_eq!(profile.meta.comments, ["snapshot 1, the peak, at 9 i; 3 snapshots in all", extra]);
        let many = load(&TEXT.replace(
            "mem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak",
            "mem_heap_extra_B=10\nmem_stacks_B=0\nheap_tree=peak",
        ));
        assert_eq!(many.unwrap().meta.notes, [extra.replace("8B", "10B")]);
        assert_eq!(profile.meta.notes, [""; 0]);
        assert_eq!(
            to_notation(&profile),
            "[below massif's threshold] 100\nf(int, char)@a.c:88 100\n\
             main@a.c:3;f(int, char)@a.c:88 500\nmain@a.c:4;[libx.so];f(int, char)@a.c:88 300"
        );
    }

    /// A program that ends while it grows.
    #[test]
    fn a_snapshot_without_a_tree_may_be_larger() {
        let profile = load(&TEXT.replace("mem_heap_B=5\n", "mem_heap_B=4000\n")).unwrap();
        let comment = "snapshot 1, the largest with a tree, at 9 i; 3 snapshots in all";
        assert_eq!(profile.meta.comments[0], comment);
        let warning = "3.91KiB were in use at snapshot 2, which does not say who allocated them; snapshot 1, which does, has 1,000B";
        assert_eq!(profile.meta.warnings, [warning]);
        // Massif's own inaccuracy.
        assert_eq!(
            load(&TEXT.replace("mem_heap_B=5\n", "mem_heap_B=1009\n")).unwrap().meta.warnings,
            [""; 0]
        );
    }

    #[test]
    fn functions_may_have_no_address() {
        let profile = load(&TEXT.replace("0x40: main (a.c:4)", "main").replace("0x10: ", "")).unwrap();
        let expected = "main;[libx.so];f(int, char)@a.c:88 300";
        assert!(to_notation(&profile).contains(expected), "{}", to_notation(&profile));
    }

    /// Valgrind records symbols with `--demangle=no`.
    #[test]
    fn symbols_are_demangled() {
        let profile = load(&TEXT.replace("f(int, char)", "_Z1fic")).unwrap();
        assert!(to_notation(&profile).contains("main@a.c:3;f(int, char)@a.c:88 500"));
    }

    #[test]
    fn a_truncated_file_is_refused_or_says_so() {
        let warnings = |text: &str| load(text).unwrap().meta.warnings;
        assert_eq!(warnings(TEXT), Vec::<String>::new());
        let after = |words: &str| TEXT.find(words).unwrap() + words.len();
        // Within the tree: after a whole line, which lacks its siblings, and within a line.
        for words in ["main (a.c:3)\n", "n1: 300", "snapshot=2\n", "mem_heap_B=5\n"] {
            let expected = ["file is truncated: the last snapshot is incomplete"];
            assert_eq!(warnings(&TEXT[..after(words)]), expected, "{words}");
        }
        let refused = |text: &str| {
            let text = read(&mut Source::from_bytes(text.into()), LoadOptions::ALL);
            text.unwrap_err().to_string()
        };
        let header = "massif: file is truncated within its header: there is no snapshot";
        for words in ["desc: (", "cmd: ./a\n", "time_unit: i\n"] {
            assert_eq!(refused(&TEXT[..after(words)]), header, "{words}");
        }
        let before =
            "massif: file is truncated before the first snapshot that says what allocated the memory";
        assert_eq!(refused(&TEXT[..after("mem_stacks_B")]), before);
    }

    #[test]
    fn a_tree_must_add_up() {
        let error = load(&TEXT.replace("n0: 500", "n0: 901")).unwrap_err().to_string();
        assert!(error.contains("more than the function itself (line 22)"), "{error}");
        let error = load(
            &TEXT
                .replace("heap_tree=peak", "heap_tree=empty")
                .replace("heap_tree=detailed", "heap_tree=empty"),
        );
        assert!(error.unwrap_err().to_string().contains("no snapshot says what allocated"));
        let stacks = TEXT.replace("desc: (none)", "desc: --heap=no --stacks=yes");
        let error = load(
            &stacks
                .replace("heap_tree=peak", "heap_tree=empty")
                .replace("heap_tree=detailed", "heap_tree=empty"),
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "massif: massif was told not to record the heap (--heap=no)"
        );
    }
}
