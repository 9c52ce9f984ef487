//! Reads collapsed stacks, the text format of the flame graph scripts: one stack per line, root first, frames
//! joined by `;`, the weight after the last space.
//!
//! ```text
//! main;report;qsort 30
//! ```
//!
//! Names may contain spaces and commas; lines starting with `#` or `//` are comments. Weights may have
//! decimals. Output of `difffolded` has two weights per line, which become the metrics `old` and `new`.

mod blocks;
mod join;
mod mangled;
mod marks;
mod python;
mod reader;
mod threads;
mod weight;

use crate::format::collapsed::blocks::SharedBlocks;
use crate::format::collapsed::reader::{CollapsedReader, NAME, is_blank_or_comment};
use crate::format::collapsed::weight::split_weight;
use crate::format::text::{decimal, is_binary};
use crate::format::{Confidence, Format, LoadError, Source};
use crate::parallel;
use crate::profile::{HashIndex, LoadOptions, Profile};

/// The entry in the list of readable formats.
pub(super) static COLLAPSED: Format = Format { name: NAME, title: "collapsed stacks", sniff, read };

/// Words in file names that resolve the ambiguity of a list of names and numbers: `out.folded`, `cpu-collapsed.txt`.
pub(super) const NAMES: &[&str] = &["folded", "collapsed"];

/// Number of blocks that are read before more threads are started: a megabyte.
const SERIAL_BLOCKS: usize = 8;

/// The minimum length of a line that may be a deep stack.
const LONG_LINE: usize = 32 << 10;

/// The maximum average length of names in a deep stack.
const MAX_NAME: usize = 256;

/// More than half of the lines in the head must end with a weight.
fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) || memchr::memchr(0, head).is_some() {
        return Confidence::No;
    }
    // CSV from `prof hot` also has `;` between frames and numbers at the ends of lines.
    if head.starts_with(b"frames,total,") {
        return Confidence::No;
    }
    let (good, all, _) = survey(head);
    // A stack of 10,000 frames is a line that extends past the head, so its weight is not visible.
    let is_long_stack = memchr::memchr(b'\n', head).is_none()
        && head.len() >= LONG_LINE
        && memchr::memchr_iter(b';', head).count() > LONG_LINE / MAX_NAME;
    // Many tables have numbers at the ends of lines, so input without any stack of two frames must pass a
    // stricter test.
    let is_likely =
        if has_separator(head) { good * 2 > all } else { good == all && all > 0 && are_pairs(head) };
    if is_long_stack || is_likely { Confidence::Maybe } else { Confidence::No }
}

/// Whether more than half of the lines end in a weight.
pub(super) fn has_weights(head: &[u8]) -> bool {
    let (good, all, _) = survey(head);
    good * 2 > all && !is_binary(head) && memchr::memchr(0, head).is_none()
}

/// Whether a line with a weight has frames with a separator between them.
fn has_separator(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n')
        .filter_map(|line| split_weight(line.trim_ascii_end()))
        .any(|(stack, _)| stack.contains(&b';'))
}

/// Whether every line is a name and one or two weights. Lines of numbers only belong to some other table, and so do
/// names with spaces unless they look like code: `operator new(long)+0x131`.
fn are_pairs(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let lines = whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !is_blank_or_comment(line)).all(|line| {
        let names =
            split_weight(line).map_or(line, |(rest, _)| split_weight(rest).map_or(rest, |(rest, _)| rest));
        let is_name = |byte: &u8| !byte.is_ascii_digit() && *byte != b'.';
        let has = |text: &&[u8]| memchr::memmem::find(names, text).is_some();
        let is_code = || [&b"+0x"[..], b"::"].iter().any(has) || ends_with_place(names);
        let has_blanks = names.contains(&b' ') || names.contains(&b'\t');
        names.iter().any(is_name) && (!has_blanks || is_code())
    })
}

/// Whether a name ends with a place, as those of py-spy do: `<module> (long_running.py:24)`.
fn ends_with_place(name: &[u8]) -> bool {
    let place =
        name.strip_suffix(b")").and_then(|rest| memchr::memrchr(b'(', rest).map(|at| &rest[at + 1..]));
    let Some(place) = place else { return false };
    let colon = memchr::memrchr(b':', place).filter(|&colon| place[..colon].contains(&b'.'));
    colon.is_some_and(|colon| decimal(&place[colon + 1..]).is_some())
}

/// Counts lines in the head: those that end in a weight, all lines, and those that end in two weights.
fn survey(head: &[u8]) -> (usize, usize, usize) {
    let (mut good, mut all, mut double) = (0, 0, 0);
    // The last line may be cut off, unless it is the only one.
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    for line in whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if is_blank_or_comment(line) {
            continue;
        }
        all += 1;
        if let Some((rest, _)) = split_weight(line) {
            good += 1;
            double += usize::from(split_weight(rest).is_some());
        }
    }
    (good, all, double)
}

/// Large inputs are read by several threads: each takes the next block of lines and keeps its own stacks and
/// sums, which are joined at the end.
fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let (good, _, double) = survey(source.bytes());
    let two_weights = double * 2 > good;
    let blocks = SharedBlocks::new(source);
    let by_text = HashIndex::default();
    let mut reader = CollapsedReader::new(options.clone(), two_weights, by_text.clone());
    // With two weights of different signs, the order of rows matches the order of lines only with a single
    // reader.
    let alone = if two_weights { usize::MAX } else { SERIAL_BLOCKS };
    if reader.read(&blocks, alone)? {
        return Ok(reader.finish(&|block, line| blocks.line_number(block, line))?);
    }
    let mut readers = vec![reader];
    let another = || CollapsedReader::new(options.clone(), two_weights, by_text.clone());
    readers.resize_with(parallel::processors(), another);
    let read = parallel::each(readers, |mut reader| reader.read(&blocks, usize::MAX).map(|_| reader));
    let readers = read.into_iter().collect::<Result<Vec<CollapsedReader>, LoadError>>()?;
    Ok(join::join(readers, options)?.finish(&|block, line| blocks.line_number(block, line))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.as_bytes().to_vec()), LoadOptions::default())
    }

    #[test]
    fn single_frames_of_py_spy_are_stacks() {
        for text in ["# some metadata: 42\n\n<module> (run.py:24) 7\n", "main (a.py:3) 1\nf (b/c.py:12) 2\n"]
        {
            assert_eq!(sniff(text.as_bytes()), Confidence::Maybe, "{text}");
        }
        for text in [
            "see (page:24) 7\n",
            "the end (note a.b) 7\n",
            "main (a.py:3) 1\nsome text 2\n",
            "took (12:30) 5\n",
        ] {
            assert_eq!(sniff(text.as_bytes()), Confidence::No, "{text}");
        }
    }

    #[test]
    fn names_keep_blanks_and_repeated_lines_add_up() {
        let profile = load("# a comment\nmain;operator new(unsigned long) 3\r\nmain;<T as X>::f, g 2\nmain;operator new(unsigned long) 4").unwrap();
        assert_eq!(to_notation(&profile), "main;<T as X>::f, g 2\nmain;operator new(unsigned long) 7");
        assert_eq!((profile.meta.rows, profile.samples.len()), (3, 2));
    }

    #[test]
    fn other_tables_are_not_recognized() {
        for table in
            ["123 456 789", "1 2\n3 4\n", "/dev/sda1 / ext4 defaults 0 1\n", "total 12\nfile one 3\n"]
        {
            assert_eq!(sniff(table.as_bytes()), Confidence::No, "{table}");
        }
        for stacks in ["main 3\nidle 4\n", "main;work 3\n", "0x4005d0 12\n0x4005e0 3\n", "main 3 4\n"] {
            assert_eq!(sniff(stacks.as_bytes()), Confidence::Maybe, "{stacks}");
        }
    }

    #[test]
    fn stacks_with_a_common_prefix_are_distinguished() {
        let profile = load("a;b 1\na 2\na;b;c 4\na;bb 8\n;a 16\na; 32\n").unwrap();
        assert_eq!(profile.stacks.len(), 6);
        assert_eq!(profile.meta.metrics[0].total, 63);
    }

    #[test]
    fn names_that_look_alike_once_they_are_text_are_one_stack() {
        let bytes = [&b"a\xff;b 1\na;c 2\na\xef\xbf\xbd;b 4\na\xff;b 8\na\xff 16\n"[..]].concat();
        let profile = read(&mut Source::from_bytes(bytes), LoadOptions::default()).unwrap();
        assert_eq!(to_notation(&profile), "a;c 2\na\u{fffd} 16\na\u{fffd};b 13");
        assert_eq!((profile.stacks.len(), profile.meta.warnings.len()), (3, 1));
    }

    #[test]
    fn decimals_scale_all_values() {
        let profile = load("a 1\nb 0.25\nc 2.50\n").unwrap();
        assert_eq!(profile.samples.values[0], [100, 25, 250]);
        assert_eq!(profile.meta.metrics[0].divisor, 100);
        let profile = load("a 0.1234567\n").unwrap();
        assert_eq!(profile.samples.values[0], [123_457]);
        assert_eq!(profile.meta.warnings, ["1 sample count was rounded to 6 decimals"]);
    }

    #[test]
    fn two_weights_per_line_are_old_and_new() {
        let profile = load("a;b 1 2\na 3 0.5\n").unwrap();
        let names: Vec<_> = profile.meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, profile.meta.default_metric), (vec!["old", "new"], 1));
        assert_eq!(profile.samples.values, [vec![10, 30], vec![20, 5]]);
    }

    #[test]
    fn a_weight_past_u64_marks_the_metric() {
        let profile = load("a 18446744073709551615\n").unwrap();
        assert!(profile.meta.metrics[0].too_large);
    }

    /// The samples as text, with the metrics and warnings.
    fn loaded(profile: &Profile) -> String {
        let stacks = profile.stacks.iter().map(|stack| {
            stack.iter().map(|&frame| profile.symbols.frame_name(frame)).collect::<Vec<_>>().join(";")
        });
        format!("{:?}\n{:?}\n{:?}", stacks.collect::<Vec<_>>(), profile.samples, profile.meta)
    }

    #[test]
    fn many_blocks_are_read_as_one() {
        let mut text = String::new();
        let mut number: u64 = 1;
        for line in 0..150_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(line);
            let [a, b] = [number >> 60, (number >> 50) % 700];
            let weight = if b < 9 { "-1" } else { ["3", "1", "0.5", "0"][(number >> 40) as usize % 4] };
            text.push_str(&format!("main;function number {a};function with a long name b{b} {weight}\n"));
        }
        text.push_str("no weight here\n");
        let read_with = |alone: bool| {
            let mut source = Source::open(Box::new(std::io::Cursor::new(text.clone().into_bytes()))).unwrap();
            if !alone {
                return read(&mut source, LoadOptions::default()).unwrap();
            }
            let blocks = SharedBlocks::new(&mut source);
            let mut reader = CollapsedReader::new(LoadOptions::default(), false, HashIndex::default());
            assert!(reader.read(&blocks, usize::MAX).unwrap());
            reader.finish(&|block, line| blocks.line_number(block, line)).unwrap()
        };
        let (alone, together) = (read_with(true), read_with(false));
        assert_eq!(alone.meta, together.meta);
        assert_eq!(alone.meta.warnings, ["skipped 1 line without a sample count, the first at line 150001"]);
        assert!(loaded(&alone) == loaded(&together), "stacks and rows come in the same order");
    }

    #[test]
    fn bad_lines_are_skipped_unless_most_are_bad() {
        let profile = load("a 1\nb 2\nno weight here\n").unwrap();
        assert_eq!(profile.meta.warnings, ["skipped 1 line without a sample count, the first at line 3"]);
        let error = load("a 1\nbad\nworse\n").unwrap_err();
        assert_eq!(error.to_string(), "collapsed: no sample count at the end of the line (line 2)");
    }
}
