//! A call tree copied from Instruments ("Deep Copy"): tab-separated columns, of which the last is the name, indented.
//!
//! ```text
//! Running Time ↹ Self (ms) ↹ ↹ Symbol Name
//! 4273.0ms   99.9% ↹ 0 ↹ ↹start
//! 4273.0ms   99.9% ↹ 12 ↹ ↹ main
//! ```
//!
//! Of allocations, the columns are `Bytes Used` and `Count`, both with what the callees have. Numbers are written as in the region that
//! the computer is set to: `4.273,0ms   99,9%`.

use crate::format::indented_tree::{From, IndentedTree, plain_sample};
use crate::format::text::{BadLines, Lines, lossy};
use crate::format::{Confidence, Format, LoadError, Source, finished};
use crate::name::demangle;
use crate::profile::{LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static INSTRUMENTS_COPY: Format =
    Format { name: NAME, title: "Instruments deep copy", sniff, read };

const NAME: &str = "instruments-copy";

fn sniff(head: &[u8]) -> Confidence {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let last = first.rsplit(|&byte| byte == b'\t').next();
    let is_it = last.is_some_and(|last| [&b"Symbol Name"[..], b"Symbol Names"].contains(&last))
        && first.split(|&byte| byte == b'\t').count() > 2;
    if is_it { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut lines = Lines::new(source);
    lines.advance()?;
    let header = lossy(lines.line()).into_owned();
    let titles: Vec<&str> = header.split('\t').map(str::trim).collect();
    let own_column = titles.iter().position(|title| title.starts_with("Self"));
    let own_unit = own_column.map_or("", |column| bracketed(titles[column]));
    let total_unit = bracketed(titles[0]);
    let count_column = titles.iter().position(|title| *title == "Count");
    let mut tree = IndentedTree::default();
    let mut decimal = None;
    let (mut bad, mut good) = (BadLines::default(), 0);
    while lines.advance()? {
        let line = lossy(lines.line());
        if line.trim().is_empty() {
            continue;
        }
        let columns: Vec<&str> = line.split('\t').collect();
        let decimal = *decimal.get_or_insert_with(|| decimal_mark(&line));
        let total = columns.first().and_then(|text| amount(text, total_unit, decimal));
        let name = columns.last().filter(|_| fits(&columns, titles.len()));
        let (Some((total, quantity)), Some(name)) = (total, name) else {
            bad.add(lines.number());
            continue;
        };
        if builder.meta.metrics.is_empty() {
            let (metric, unit) = metric(titles[0], quantity);
            builder.metric(metric, unit);
            if count_column.is_some() {
                builder.metric("alloc_objects", "count");
            }
        }
        let own = own_column
            .and_then(|column| columns.get(column))
            .map(|text| own_amount(text, own_unit, quantity, decimal));
        let frame = builder.named_frame(&demangle(name.trim()));
        let indent = name.len() - name.trim_start_matches(' ').len();
        let count = count_column.and_then(|column| amount(columns.get(column)?, "", decimal));
        let count = count.map_or(0, |(count, _)| count);
        tree.add(&mut builder, From::Root, plain_sample, (indent, frame), [(total, own), (count, None)]);
        good += 1;
    }
    tree.close(&mut builder, From::Root, plain_sample, 0);
    if builder.meta.metrics.is_empty() {
        builder.metric("samples", "count");
    }
    tree.warn_of_missing(&mut builder);
    bad.settle(&mut builder, good, "expected a value and a name in columns separated by tabs")?;
    Ok(finished(builder)?)
}

/// `ms` of `Self (ms)`.
fn bracketed(title: &str) -> &str {
    title.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'))
}

/// What a unit measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Time,
    Memory,
    Cycles,
    Count,
}

/// Units, what they measure, and their size in nanoseconds, bytes, cycles or pieces.
const UNITS: &[(&str, Quantity, f64)] = &[
    ("ns", Quantity::Time, 1.0),
    ("µs", Quantity::Time, 1e3),
    ("us", Quantity::Time, 1e3),
    ("ms", Quantity::Time, 1e6),
    ("s", Quantity::Time, 1e9),
    ("min", Quantity::Time, 60e9),
    ("h", Quantity::Time, 3600e9),
    ("Bytes", Quantity::Memory, 1.0),
    ("B", Quantity::Memory, 1.0),
    ("KB", Quantity::Memory, 1024.0),
    ("KiB", Quantity::Memory, 1024.0),
    ("MB", Quantity::Memory, 1_048_576.0),
    ("MiB", Quantity::Memory, 1_048_576.0),
    ("GB", Quantity::Memory, 1_073_741_824.0),
    ("GiB", Quantity::Memory, 1_073_741_824.0),
    ("c", Quantity::Cycles, 1.0),
    ("Kc", Quantity::Cycles, 1e3),
    ("Mc", Quantity::Cycles, 1e6),
    ("Gc", Quantity::Cycles, 1e9),
    ("Tc", Quantity::Cycles, 1e12),
    ("", Quantity::Count, 1.0),
    ("K", Quantity::Count, 1e3),
    ("M", Quantity::Count, 1e6),
    ("G", Quantity::Count, 1e9),
];

/// What separates the decimals of a line's numbers: that of its percentages, which always have one.
fn decimal_mark(line: &str) -> char {
    let before_percent = line.split('%').next().filter(|before| before.len() < line.len());
    let fraction =
        before_percent.map(|before| before.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()));
    if fraction.is_some_and(|whole| whole.ends_with(',')) { ',' } else { '.' }
}

/// Marks between groups of digits, as in `4,273`, `4.273`, `4’273` and `4 273` with a space that does not break lines.
const GROUPING: [char; 6] = ['.', ',', '\'', '’', '\u{a0}', '\u{202f}'];

/// The value of `4273.0ms   99.9%`, `96.08 Gc  100.0%` or, if the title has the unit, `693`.
fn amount(text: &str, unit: &str, decimal: char) -> Option<(i64, Quantity)> {
    let text = text.trim();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || GROUPING.contains(&c))).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let number: String = number.chars().filter(|&c| c == decimal || c.is_ascii_digit()).collect();
    let number: f64 = number.replace(decimal, ".").parse().ok()?;
    let written = rest.split_whitespace().next().filter(|word| word.starts_with(char::is_alphabetic));
    let unit = written.unwrap_or(unit);
    let &(_, quantity, size) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    Some(((number * size).round() as i64, quantity))
}

/// Whether a line has a column for each title, or also the blank one before the name, whose empty title some versions do not copy.
fn fits(columns: &[&str], titles: usize) -> bool {
    let extra = columns.len().checked_sub(titles);
    extra == Some(0) || (extra == Some(1) && columns[titles - 1].trim().is_empty())
}

/// What a function took itself. Neither its title nor its numbers may have a unit, as in `29.33 s  99.6%` and `12.0`: times are in
/// milliseconds then, whatever the unit of the total.
fn own_amount(text: &str, unit: &str, quantity: Quantity, decimal: char) -> i64 {
    let unit = if unit.is_empty() && quantity == Quantity::Time { "ms" } else { unit };
    amount(text, unit, decimal).map_or(0, |(own, _)| own)
}

/// The metric of a column and its unit.
fn metric(title: &str, quantity: Quantity) -> (&'static str, &'static str) {
    match quantity {
        Quantity::Time if title.contains("Wait") || title.contains("Blocked") => ("wall", "nanoseconds"),
        Quantity::Time => ("cpu", "nanoseconds"),
        Quantity::Memory => ("alloc_space", "bytes"),
        Quantity::Cycles => ("cycles", "count"),
        Quantity::Count => ("samples", "count"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    #[test]
    fn self_is_a_column_or_what_children_leave() {
        let text = include_str!("../../tests/hostile/seeds/instruments-copy/time.txt");
        let profile = load(text).unwrap();
        assert_eq!((&*profile.meta.metrics[0].name, profile.meta.metrics[0].total), ("cpu", 30_000_000));
        assert_eq!(
            to_notation(&profile),
            "start;main 10000000\nstart;main;draw() 5000000\nstart;main;parse 14000000\nstart;main;parse;malloc 1000000"
        );
        let text = include_str!("../../tests/hostile/seeds/instruments-copy/memory.txt");
        let profile = load(text).unwrap();
        assert_eq!(
            (&*profile.meta.metrics[0].name, &*profile.meta.metrics[0].unit),
            ("alloc_space", "bytes")
        );
        assert_eq!(profile.meta.metrics[1].name, "alloc_objects");
        assert_eq!(to_notation(&profile), "start 1047040 1\nstart;main 512 1\nstart;main;malloc 1024 1");
    }

    #[test]
    fn numbers_are_written_as_in_the_region() {
        let expected = "start 1003000000\nstart;f 4272500000000";
        for lines in [
            "4,273.5 s  100.0%\t1,003 ms\t\tstart\n4,272.5 s  99.9%\t4272.50 s\t\t f\n",
            "4.273,5 s  100,0 %\t1.003 ms\t\tstart\n4.272,5 s  99,9 %\t4272,50 s\t\t f\n",
            "4\u{202f}273,5 s  100,0\u{a0}%\t1\u{a0}003\u{a0}ms\t\tstart\n4\u{a0}272,5\u{a0}s  99,9 %\t4272,5\u{a0}s\t\t f\n",
            "4’273.5 s  100.0%\t1'003 ms\t\tstart\n4'272.5 s  99.9%\t4272.5 s\t\t f\n",
        ] {
            let text = format!("Weight\tSelf Weight\t\tSymbol Name\n{lines}");
            assert_eq!(to_notation(&load(&text).unwrap()), expected, "{lines}");
        }
    }

    /// Instruments 16 has another title, no empty column, and more indentation.
    #[test]
    fn the_last_column_may_be_called_names() {
        let text = "Weight\tSelf Weight\tSymbol Names\n4.93 s  100.0%\t0 s\t   start\n4.93 s  99.9%\t846.00 ms\t    main\n\
                    4.08 s   0.0%\t4.08 s\t     delta()\n4.00 ms   0.1%\t4.00 ms\t    dyld4::start(int)::$_0::operator()() const\n";
        assert_eq!(
            to_notation(&load(text).unwrap()),
            "start;dyld4::start(int)::$_0::operator()() const 4000000\nstart;main 846000000\nstart;main;delta() 4080000000"
        );
    }

    /// The callees of `main` but one were not copied.
    #[test]
    fn what_is_missing_is_code_without_a_name() {
        let text = "Weight\tSelf Weight\t\tSymbol Name\n74.00 ms  100.0%\t0 s\t\tmain\n60.00 ms   81.0%\t60.00 ms\t\t work\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "main;<unknown> 14000000\nmain;work 60000000");
        assert_eq!(
            profile.meta.warnings,
            ["1 function has callees that the file lacks: `<unknown>` is what they take"]
        );
    }

    #[test]
    fn times_without_a_unit_are_in_milliseconds() {
        for (title, unit) in [("Self", ""), ("Self", " ms"), ("Self (ms)", "")] {
            let text = format!(
                "Running Time\t{title}\t\tSymbol Name\n1.70 s  100.0%\t53.0{unit}\t \tmain\n1647.0ms   96.9%\t1647.0{unit}\t \t work\n"
            );
            let profile = load(&text).unwrap();
            assert_eq!(to_notation(&profile), "main 53000000\nmain;work 1647000000", "{title}{unit}");
            assert_eq!(profile.meta.warnings, [""; 0]);
        }
    }

    #[test]
    fn the_blank_column_may_lack_a_title() {
        let text = "Running Time\tSelf\tSymbol Name\n20.0ms    7.7%\t 2\t \t-[View draw:]\n18.0ms    6.9%\t18\t \t render\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "-[View draw:] 2000000\n-[View draw:];render 18000000");
        let error = load("Running Time\tSelf\tSymbol Name\n20.0ms    7.7%\t2\t7\tdraw\n").unwrap_err();
        assert!(error.to_string().contains("in columns"), "{error}");
    }

    #[test]
    fn amounts_have_units() {
        for (text, value) in [
            ("4273.0ms   99.9%", 4_273_000_000),
            ("1.21 min", 72_600_000_000),
            ("96.08 Gc  100.0%", 96_080_000_000),
            ("1,024 Bytes", 1024),
            ("12", 12),
        ] {
            assert_eq!(amount(text, "", '.').map(|(value, _)| value), Some(value), "{text}");
        }
        assert_eq!(amount("693", "ms", '.').map(|(value, _)| value), Some(693_000_000));
        assert!(amount("-", "", '.').is_none() && amount("3 parsecs", "", '.').is_none());
        let error = load("Weight\tSelf Weight\t\tSymbol Name\nsome text\n").unwrap_err().to_string();
        assert_eq!(
            error,
            "instruments-copy: expected a value and a name in columns separated by tabs (line 2)"
        );
    }
}
