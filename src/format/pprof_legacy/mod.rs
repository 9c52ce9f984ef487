//! The formats of pprof before it used protobuf: binary CPU profiles, and text for heaps, contention, threads and
//! counts. gperftools, jemalloc and Go with `?debug=1` still write them.
//!
//! All of them have stacks of addresses, leaf first, followed by a memory map. Function names are rare: Java and Go
//! write them, some programs for their threads, and `pprof --raw` before the profile. Lines that begin with `%warn` are warnings of the
//! recorder.

mod attributes;
mod contention;
mod count;
mod cpu;
mod heap;
mod java;
mod maps;
mod recorder;
mod symbolized;
mod threads;

use crate::format::text::{Lines, Scan, first_line, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{LoadOptions, Profile};

/// The entry in the list of readable formats.
pub(super) static PPROF_LEGACY: Format = Format { name: NAME, title: "legacy pprof", sniff, read };

const NAME: &str = "pprof-legacy";

fn sniff(head: &[u8]) -> Confidence {
    if cpu::is_header(head) || is_text_header(first_line(after_warnings(head))) {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

fn is_text_header(line: &[u8]) -> bool {
    [heap::HEADER, heap::JEMALLOC_HEADER, b"--- heapz 1 ---", b"--- threadz ", b"--- Thread "]
        .iter()
        .any(|start| line.starts_with(start))
        || contention::is_header(line)
        || count::header(line).is_some()
        || line == symbolized::HEADER
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut start = recorder::Start::from(options);
    if cpu::is_header(source.head(cpu::HEADER_BYTES)?) {
        return cpu::read(source, start);
    }
    let mut lines = Lines::new(source);
    start.warning = warning(&mut lines)?;
    let mut header = header_line(&mut lines)?;
    if header == symbolized::HEADER {
        let (symbols, next) = symbolized::read(&mut lines)?;
        start.symbols = symbols;
        match next {
            symbolized::Next::Cpu => return cpu::read(source, start),
            symbolized::Next::Text => lines.push_back(),
            symbolized::Next::End => {}
        }
        header = header_line(&mut lines)?;
    }
    if header.starts_with(heap::HEADER) || header.starts_with(heap::JEMALLOC_HEADER) {
        heap::read(&header, lines, start)
    } else if header.starts_with(b"--- heapz 1 ---") {
        java::read_heap(lines, start.options)
    } else if contention::is_header(&header) {
        contention::read(lines, start)
    } else if header.starts_with(b"--- ") {
        threads::read(lines, start)
    } else if let Some(what) = count::header(&header) {
        count::read(what, lines, start)
    } else {
        let message = "no legacy pprof header";
        Err(ParseError::at_line(NAME, lines.number(), message).into())
    }
}

/// What begins a line of a warning.
const WARNING: &[u8] = b"%warn";

/// The text without the warnings before the profile.
fn after_warnings(mut head: &[u8]) -> &[u8] {
    while head.starts_with(WARNING) {
        let end = memchr::memchr(b'\n', head).map_or(head.len(), |end| end + 1);
        head = &head[end..];
    }
    head
}

/// Reads the warnings before the profile, which are one text in several lines.
fn warning(lines: &mut Lines<'_>) -> Result<String, LoadError> {
    let mut text = String::new();
    while lines.advance()? {
        let Some(line) = lines.line().strip_prefix(WARNING) else {
            lines.push_back();
            break;
        };
        let line = lossy(line.trim_ascii());
        if !text.is_empty() && !line.is_empty() {
            text.push(' ');
        }
        text.push_str(&line);
    }
    Ok(text)
}

/// The first line that is neither blank nor a comment.
fn header_line(lines: &mut Lines<'_>) -> Result<Vec<u8>, LoadError> {
    while lines.advance()? {
        if !is_blank_or_comment(lines.line()) {
            return Ok(lines.line().trim_ascii().to_vec());
        }
    }
    Err(ParseError::whole(NAME, "no legacy pprof header").into())
}

fn is_blank_or_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#'))
}

/// Appends the addresses (`0x…`) at the start of `text`. Returns whether there is nothing else.
fn addresses(text: &[u8], into: &mut Vec<u64>) -> bool {
    let mut scan = Scan(text);
    loop {
        let word = scan.word();
        if word.is_empty() {
            return true;
        }
        match word.strip_prefix(b"0x").and_then(crate::format::text::hex) {
            Some(address) => into.push(address),
            None => return false,
        }
    }
}

/// Converts return addresses to addresses within the call instruction.
///
/// If a profiler records what a thread called (an allocation, a lock), all addresses are return addresses. If it
/// interrupts a thread, the leaf is the interrupted instruction itself.
fn to_call_addresses(return_addresses: &mut [u64]) {
    for address in return_addresses {
        *address = address.wrapping_sub(1);
    }
}

/// A stack, leaf first, without the leaf.
fn callers(leaf_first: &mut [u64]) -> &mut [u64] {
    leaf_first.get_mut(1..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL)
    }

    #[test]
    fn warnings_of_the_recorder_are_warnings_of_the_profile() {
        let head = "heap profile:   0:   0 [   0:   0] @ heap_v2/0\n";
        let text = format!("%warn\n%warn There is no data, as\n%warn sampling is off.\n%warn\n{head}");
        let profile = load(text.as_bytes()).unwrap();
        assert_eq!(profile.meta.warnings, ["There is no data, as sampling is off."]);
        let profile = load(head.as_bytes()).unwrap();
        assert!(profile.meta.warnings[0].starts_with("the program ran with heap sampling turned off"));
    }

    #[test]
    fn stacks_of_a_heap_that_are_missing_are_told() {
        let warnings =
            |head: &str| load(format!("{head}\n1: 16 [2: 32] @ 0x10\n").as_bytes()).unwrap().meta.warnings;
        assert_eq!(warnings("heap profile: 1: 16 [2: 32] @ heap/8192"), [""; 0]);
        assert_eq!(
            warnings("heap profile: 3: 1048 [2: 32] @ heap/8192"),
            ["counts do not add up: the first line says 1,048 bytes in use, the stacks sum to 16"]
        );
        assert_eq!(
            warnings("heap profile: 1: 16 [3: 48] @ heap/8192"),
            ["counts do not add up: the first line says 48 bytes allocated, the stacks sum to 32"]
        );
    }

    fn merged(bytes: &[u8]) -> Profile {
        read(
            &mut Source::from_bytes(bytes.to_vec()),
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
        )
        .unwrap()
    }

    #[test]
    fn in_jemalloc_the_stack_precedes_its_lines() {
        let profile = load(
            b"heap_v2/524288\n  t*: 3: 1056768 [0: 0]\n  t0: 3: 1056768 [0: 0]\n\
              @ 0x401001 0x402001\n  t*: 1: 524288 [0: 0]\n  t0: 1: 524288 [0: 0]\n\
              @ 0x401011\n  t*: 2: 1048576 [0: 0]\n\nMAPPED_LIBRARIES:\n\
              00401000-00403000 r-xp 00001000 08:01 77 /bin/server\n",
        )
        .unwrap();
        // 1 / (1 - e^-1) = 1.58197...
        assert_eq!(
            to_notation(&profile),
            "[server] 3 1658822 {bytes=524288bytes}\n[server];[server] 1 829411 {bytes=524288bytes}"
        );
        assert_eq!(profile.meta.metrics[1].name, "inuse_space");
    }

    #[test]
    fn function_names_are_read_from_comments_of_go() {
        let profile = load(
            b"--- mutex:\ncycles/second=2000000000\nsampling period=10\n40 2 @ 0x11 0x21\n\
              #\t0x10\tsync.(*Mutex).Unlock+0x10\t/go/sync/mutex.go:7\n\
              #\t0x20\tmain.inner+0x3\t\t/src/main.go:12\n#\t0x20\tmain.outer+0x3\t\t/src/main.go:20\n",
        )
        .unwrap();
        assert_eq!(
            to_notation(&profile),
            "main.outer@/src/main.go:20;+main.inner@/src/main.go:12;sync.(*Mutex).Unlock@/go/sync/mutex.go:7 20 200"
        );
    }

    #[test]
    fn goroutines_have_labels() {
        let profile = load(
            b"goroutine profile: total 3\n2 @ 0x11\n# labels: {\"request\":\"7\"}\n\
              #\t0x10\tmain.work+0x1\t/m.go:3\n\n1 @ 0x11\n",
        )
        .unwrap();
        assert_eq!(to_notation(&profile), "main.work@/m.go:3 1\nmain.work@/m.go:3 2 {request=7}");
    }

    /// Go up to 1.6 prints the addresses of the sample, later versions those of the calls.
    #[test]
    fn go_names_the_addresses_of_returns_or_of_calls() {
        let notation = |text: &str| to_notation(&load(text.as_bytes()).unwrap());
        let sample = "threadcreate profile: total 1\n1 @ 0x17f68 0x183c7 0x186a8\n";
        let expected = "runtime.goexit;startm@/go/proc.c:974;newm@/go/proc.c:896 1";
        let old = "#\t0x17f68\tnewm+0x27\t\t\t/go/proc.c:896\n#\t0x183c7\tstartm+0xb8\t\t/go/proc.c:974\n";
        assert_eq!(notation(&format!("{sample}{old}")), expected);
        let new = old.replace("17f68", "17f67").replace("183c7", "183c6");
        assert_eq!(notation(&format!("{sample}{new}")), expected);
        // As copied from a web page.
        let blanks = old.replace("\t\t", "\t").replace('\t', "       ");
        assert_eq!(notation(&format!("{sample}{blanks}")), expected);
        // Names and paths may have blanks.
        let blanks = "# 0x183c7 main.f[go.shape.struct { X int }]+0xb8 C:/My Files/a.go:9\n";
        let expected =
            "runtime.goexit;main.f[go.shape.struct { X int }]@C:/My Files/a.go:9;runtime.<unnamed> 1";
        assert_eq!(notation(&format!("{sample}{blanks}")), expected);
    }

    /// gperftools names callers by the addresses of calls, and the leaf by the one in the profile.
    #[test]
    fn symbols_may_come_before_the_profile() {
        let symbols =
            "--- symbol\nbinary=/bin/x\n0x0000000000000030 leaf\n0x000000000000001f main--_Z4workv\n---\n";
        let notation = |profile: &[u8]| {
            let bytes = [symbols.as_bytes(), profile].concat();
            assert_eq!(sniff(&bytes), Confidence::Certain);
            to_notation(&load(&bytes).unwrap()).replace(" {bytes=8bytes}", "")
        };
        let stack = "main;+work();leaf";
        let heap = b"heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x30 0x20\n";
        assert_eq!(notation(heap), format!("{stack} 1 8"));
        assert_eq!(notation(&[b"--- heap\n", heap.as_slice()].concat()), format!("{stack} 1 8"));
        let jemalloc = b"--- heap\nheap_v2/1\n  t*: 1: 8 [0: 0]\n@ 0x30 0x20\n  t*: 1: 8 [0: 0]\n";
        assert_eq!(notation(jemalloc), format!("{stack} 1 8"));
        let contention = b"--- contention\n--- contention:\nsampling period=1\n7 2 @ 0x30 0x20\n";
        assert_eq!(notation(contention), format!("{stack} 2 7"));
        let one_header = b"--- contention\nsampling period=1\n7 2 @ 0x30 0x20\n";
        assert_eq!(notation(one_header), format!("{stack} 2 7"));
        let words: [u64; 15] = [0, 3, 0, 10_000, 0, 1, 2, 0x30, 0x20, 1, 1, 0x30, 0, 1, 0];
        let cpu = words.iter().flat_map(|word| word.to_le_bytes());
        let cpu: Vec<u8> = b"--- profile\n".iter().copied().chain(cpu).collect();
        assert_eq!(notation(&cpu), format!("leaf 1 10000000\n{stack} 1 10000000"));
        assert!(load(symbols.as_bytes()).is_err());
        assert_eq!(sniff(b"--- symbol.c\n+++ symbol.c\n"), Confidence::No);
    }

    /// Go 1.27 does not name the frames of the runtime, such as `gopark`, `chanrecv` and `goexit`.
    #[test]
    fn unnamed_frames_of_the_go_runtime_are_recognized() {
        let text =
            b"goroutine profile: total 43\n40 @ 0x11 0x21 0x31 0x41\n#\t0x30\tmain.waiter+0x18\t/m.go:14\n\n\
            3 @ 0x11 0x51 0x41\n#\t0x50\ttime.Sleep+0x164\t/go/time.go:368\n";
        let profile = load(text).unwrap();
        assert_eq!(
            to_notation(&profile),
            "runtime.goexit;main.waiter@/m.go:14;runtime.<unnamed>;runtime.<unnamed> 40\n\
             runtime.goexit;time.Sleep@/go/time.go:368;runtime.<unnamed> 3"
        );
    }

    #[test]
    fn words_may_have_any_size_and_endianness() {
        // Two samples, the end marker, and a map.
        let words: &[u64] = &[0, 3, 0, 10_000, 0, 1, 2, 0x1000, 0x2001, 2, 1, 0x1008, 0, 1, 0];
        let map = "1000-3000 r-xp 0 08:01 7 /bin/x\n";
        for (size, big) in [(4, false), (4, true), (8, false), (8, true)] {
            let mut bytes = Vec::new();
            for word in words {
                let word = word.to_be_bytes();
                let mut word = word[8 - size..].to_vec();
                if !big {
                    word.reverse();
                }
                bytes.extend(word);
            }
            bytes.extend(map.bytes());
            let profile = load(&bytes).unwrap();
            assert_eq!(to_notation(&profile), "[x] 2 20000000\n[x];[x] 1 10000000");
            bytes.truncate(7 * size);
            let error = load(&bytes).unwrap_err().to_string();
            assert!(error.contains("truncated within a sample"), "{error}");
        }
    }

    #[test]
    fn threads_may_repeat_the_previous_stack() {
        let profile = merged(
            b"--- threadz 1 ---\n\n--- Thread 7e (name: main/1) stack: ---\n  PC: 0x10 0x21\n\
              --- Thread 7f (name: other/2) stack: ---\n    [same as previous thread]\n",
        );
        assert_eq!(
            to_notation(&profile),
            "<unknown>;<unknown> 1 {thread=main tid=1}\n<unknown>;<unknown> 1 {thread=other tid=2}"
        );
    }

    /// The address space that was obtained; without `z`, a program wrote it itself.
    #[test]
    fn growth_is_written_in_two_ways() {
        for kind in ["growth", "growthz", "fragmentation", "fragmentationz"] {
            let text = format!(
                "heap profile:    1: 100 [   1: 100] @ {kind}\n     1: 100 [     1: 100] @ 0x1000 0x2000\n"
            );
            let profile = load(text.as_bytes()).unwrap();
            let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
            assert_eq!(totals, [1, 100], "{kind}");
        }
        assert!(load(b"heap profile: 1: 8 [1: 8] @ growths\n").is_err());
    }

    #[test]
    fn bad_lines_are_skipped_unless_most_are_bad() {
        let profile = load(b"heap profile: 1: 8 [1: 8] @ heapprofile\n1: 8 [1: 8] @ 0x11\nbroken\n").unwrap();
        assert_eq!(profile.meta.warnings, ["1 line was skipped, the first at line 3: not a heap sample"]);
        let error = load(b"heap profile: 1: 8 [1: 8] @ heapprofile\nbroken\n").unwrap_err();
        assert_eq!(error.to_string(), "pprof-legacy: not a heap sample (line 2)");
    }

    #[test]
    fn what_does_not_add_up_is_reported() {
        let warnings = |text: &str| load(text.as_bytes()).unwrap().meta.warnings;
        assert_eq!(
            warnings("goroutine profile: total 45\n6 @ 0x11\n#\t0x10\tmain.work+0x1\t/m.go:3\n"),
            ["counts do not add up: the first line says 45, the stacks sum to 6"]
        );
        let twice = "goroutine profile: total 2\n1 @ 0x11\n#\t0x10\tmain.f+0x1\t/m.go:3\n\n1 @ 0x11 0x21\n#\t0x10\tmain.g+0x1\t/m.go:9\n";
        assert_eq!(warnings(twice), ["1 address has more than one name; each is shown with its first one"]);
        let heap =
            |total: &str| format!("heap_v2/524288\n  t*: 2: 2048 {total}\n@ 0x11\n  t*: 2: 2048 [5: 4096]\n");
        assert_eq!(warnings(&heap("[5: 4096]")), [""; 0]);
        let left_out = "1 stack has numbers of all allocations, which are left out because the totals of the file have none";
        assert_eq!(warnings(&heap("[0: 0]")), [left_out]);
    }
}
