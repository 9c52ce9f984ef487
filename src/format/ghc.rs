//! The report of GHC's profiler (`+RTS -p` and `-P`): a tree of cost centres, one line each, indented by its depth, and
//! the costs of the centre itself, called this way.
//!
//! ```text
//! COST CENTRE  MODULE  SRC            no.  entries  %time %alloc   %time %alloc  ticks     bytes
//!
//! MAIN         MAIN    <built-in>     100        0   40.0   50.0   100.0  100.0      4      1024
//!  go          Main    p.hs:3:1-9     101        1   60.0   50.0    60.0   50.0      6      1024
//! ```
//!
//! Only `-P` writes ticks and bytes; otherwise the costs are percentages with one decimal. GHC 6 leaves out centres that cost nothing,
//! even if others are called by them; these keep their indentation.

use crate::format::ghc_json::centre_frame;
use crate::format::text::{Lines, Scan, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{FrameId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};
use crate::unit::{group_thousands, plural};

/// The entry in the list of readable formats.
pub(super) static GHC: Format = Format { name: NAME, title: "GHC time and allocation report", sniff, read };

const NAME: &str = "ghc";

fn sniff(head: &[u8]) -> Confidence {
    let front = &head[..head.len().min(512)];
    let title = b"Time and Allocation Profiling Report";
    if memchr::memmem::find(front, title).is_some() { Confidence::Certain } else { Confidence::No }
}

/// The columns of the tree.
#[derive(Clone, Copy)]
struct TreeColumns {
    has_source: bool,
    has_ticks: bool,
}

impl TreeColumns {
    /// The columns that a line names, if it is the head of the tree. The table before it has no `entries`.
    fn of(line: &str) -> Option<TreeColumns> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let has = |word: &str| words.contains(&word);
        let is_head = line.starts_with("COST CENTRE") && has("MODULE") && has("no.") && has("entries");
        is_head.then(|| TreeColumns { has_source: has("SRC"), has_ticks: has("ticks") && has("bytes") })
    }

    /// The number of columns with numbers, which are the last ones.
    fn numbers(self) -> usize {
        if self.has_ticks { 8 } else { 6 }
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    let mut lines = Lines::new(source);
    let mut announced = Announced::default();
    let columns = loop {
        if !lines.advance()? {
            let message = "the file ends before the tree of cost centres";
            return Err(ParseError::at_line(NAME, lines.number(), message).into());
        }
        let line = lossy(lines.line());
        if let Some(columns) = TreeColumns::of(&line) {
            break columns;
        }
        read_header(&mut builder, &line);
        announced.read(&line);
    };
    let units = if columns.has_ticks {
        [("ticks", "count"), ("alloc", "bytes")]
    } else {
        [("time", "%"), ("alloc", "%")]
    };
    for (name, unit) in units.into_iter().chain([("entries", "count")]) {
        builder.metric(name, unit);
    }
    if !columns.has_ticks {
        // Percentages have one decimal.
        builder.meta.metrics[0].divisor = 10;
        builder.meta.metrics[1].divisor = 10;
    }
    let mut path = Path::default();
    let (mut any, mut any_time) = (false, false);
    while lines.advance()? {
        let line = lossy(lines.line());
        if line.trim().is_empty() && any {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let error = |message: &str| ParseError::at_line(NAME, lines.number(), message);
        let row = Row::of(&line, columns)
            .ok_or_else(|| error("expected a cost centre, its module and source, and its costs"))?;
        let depth = line.len() - line.trim_start_matches(' ').len();
        path.enter(depth, centre_frame(&mut builder, row.module, row.label, &row.place));
        let stack = builder.stack(&path.frames);
        builder.sample(stack, LabelSetId::default(), None, &row.costs);
        any = true;
        any_time |= row.costs[0] > 0;
        announced.sums.iter_mut().zip(row.costs).for_each(|(sum, cost)| *sum = sum.saturating_add(cost));
    }
    if columns.has_ticks {
        builder.meta.warnings.extend(announced.warning());
    }
    if path.gaps > 0 {
        let rows = format!("{} {}", path.gaps, plural(path.gaps, "row below them is", "rows below them are"));
        builder.meta.notes.push(format!(
            "callers that cost nothing are missing in the report: {rows} attached to the nearest caller that it lists"
        ));
    }
    // Short runs have no ticks.
    builder.meta.default_metric = usize::from(!any_time);
    if !any {
        return Err(ParseError::at_line(NAME, lines.number(), "the file contains no stacks").into());
    }
    Ok(finished(builder)?)
}

/// The rows from the root of the tree to the current one.
#[derive(Default)]
struct Path {
    frames: Vec<FrameId>,
    /// How far each of them is indented.
    depths: Vec<usize>,
    /// How many rows have no caller one level above them.
    gaps: u64,
}

impl Path {
    /// Moves to a row, which is called by the nearest one above it that is indented less.
    fn enter(&mut self, depth: usize, frame: FrameId) {
        let callers = self.depths.partition_point(|&above| above < depth);
        self.depths.truncate(callers);
        self.frames.truncate(callers);
        let caller = self.depths.last().map_or(0, |&above| above + 1);
        self.gaps += u64::from(depth > caller);
        self.depths.push(depth);
        self.frames.push(frame);
    }
}

/// Takes what the lines before the tables say of the recording.
fn read_header(builder: &mut ProfileBuilder, line: &str) {
    let line = line.trim();
    // `ghc-prof +RTS -P -RTS big.prof`
    if line.contains(" +RTS ") {
        builder.meta.comments.push(line.to_string());
    }
    // `total time  =        0.02 secs   (23 ticks @ 1000 us, 1 processor)`; GHC 6 has `(1114 ticks @ 20 ms)`.
    if let Some((_, rest)) = line.split_once(" ticks @ ").filter(|_| line.starts_with("total time")) {
        let mut scan = Scan(rest.as_bytes());
        let period = scan.integer().filter(|&value| value > 0);
        let is_millis = scan.skip_blanks().0.starts_with(b"ms");
        let unit = if is_millis { "milliseconds" } else { "microseconds" };
        builder.meta.period = period.map(|value| Period { name: "time".into(), unit: unit.into(), value });
        let processors = rest.split_once(", ").and_then(|(_, rest)| Scan(rest.as_bytes()).integer());
        builder.meta.processors = processors.filter(|&processors| processors > 0);
    }
}

/// What the lines before the tables say that the program cost, and what the tree sums to: ticks and bytes.
#[derive(Default)]
struct Announced {
    totals: [Option<i64>; 2],
    sums: [i64; 2],
}

impl Announced {
    /// Reads `total time = 0.62 secs (623 ticks @ 1000 us, 1 processor)` or `total alloc = 538,603,824 bytes (excludes …)`.
    fn read(&mut self, line: &str) {
        let line = line.trim();
        let between = |before: char, after: &str| {
            let number = line.split_once(after)?.0.rsplit(before).next()?.trim().replace(',', "");
            decimal(number.as_bytes())
        };
        if line.starts_with("total time") {
            self.totals[0] = between('(', " ticks @ ");
        } else if line.starts_with("total alloc") {
            self.totals[1] = between('=', " bytes");
        }
    }

    /// A warning if a part of the tree is missing. Less than a hundredth is not worth one.
    fn warning(&self) -> Option<String> {
        ["ticks", "bytes"].into_iter().zip(self.totals).zip(self.sums).find_map(|((unit, total), sum)| {
            let total = total.filter(|&total| (i128::from(total) - i128::from(sum)) * 100 > i128::from(total))?;
            let [total, sum] = [total, sum].map(|value| group_thousands(value.into()));
            Some(format!(
                "costs do not add up: the report says {total} {unit}, its tree sums to {sum}; a part is missing"
            ))
        })
    }
}

/// A line of the tree.
struct Row<'l> {
    label: &'l str,
    module: &'l str,
    /// The place in the source, whose name may contain blanks.
    place: String,
    /// Time, allocation, and entries.
    costs: [i64; 3],
}

impl<'l> Row<'l> {
    fn of(line: &'l str, columns: TreeColumns) -> Option<Row<'l>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (names, numbers) = words.split_at_checked(words.len().checked_sub(columns.numbers())?)?;
        let [label, module, place @ ..] = names else { return None };
        if columns.has_source == place.is_empty() {
            return None;
        }
        let whole = |word: &&str| decimal(word.as_bytes()).filter(|&value| value >= 0);
        let [_, entries, time, alloc, _, _, exact @ ..] = numbers else { return None };
        let [time, alloc] = match exact {
            [ticks, bytes] => [whole(ticks)?, whole(bytes)?],
            _ => [tenths(time)?, tenths(alloc)?],
        };
        Some(Row { label, module, place: place.join(" "), costs: [time, alloc, whole(entries)?] })
    }
}

/// A percentage in tenths: `30.4` is 304.
fn tenths(text: &str) -> Option<i64> {
    let (whole, tenth) = text.split_once('.').unwrap_or((text, "0"));
    let [whole, tenth] = [decimal(whole.as_bytes())?, decimal(tenth.get(..1)?.as_bytes())?];
    whole.checked_mul(10)?.checked_add(tenth).filter(|&value| value >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const HEADER: &str = "\tMon Jan  1 10:00 2024 Time and Allocation Profiling Report  (Final)\n\n\
                          \t   p +RTS -p -RTS\n\n\
                          \ttotal time  =        0.01 secs   (10 ticks @ 1000 us, 2 processors)\n\n\
                          COST CENTRE MODULE    SRC               %time %alloc\n\n\
                          go          Main      p.hs:3:1-9         60.0   50.0\n\n\n";

    fn load(tree: &str) -> Result<Profile, LoadError> {
        let text = format!("{HEADER}{tree}");
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into_bytes()), LoadOptions::ALL)
    }

    #[test]
    fn percentages_have_one_decimal() {
        let profile = load(
            "COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc\n\n\
             MAIN  MAIN <built-in> 100 0 40.0 50.0 100.0 100.0\n \
             go    Main my file.hs:(3,1)-(9,2) 101 1 60.0 50.5 60.0 50.0\n\nsomething else\n",
        )
        .unwrap();
        assert_eq!(to_notation(&profile), "MAIN.MAIN 400 500 0\nMAIN.MAIN;Main.go@my file.hs:0 600 505 1");
        assert_eq!(profile.meta.metrics.iter().map(|metric| metric.divisor).collect::<Vec<_>>(), [10, 10, 1]);
        assert_eq!((profile.meta.processors, profile.meta.period.unwrap().value), (Some(2), 1000));
        assert_eq!(profile.meta.comments, ["p +RTS -p -RTS"]);
    }

    #[test]
    fn a_tree_that_is_cut_gets_a_warning() {
        let head = "COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc ticks bytes\n\n";
        let main =
            |ticks: i64| format!("{head}MAIN  MAIN <built-in> 100 0 0.0 99.9 0.0 100.0 {ticks} 4096\n");
        assert_eq!(load(&main(10)).unwrap().meta.warnings, [""; 0]);
        assert_eq!(
            load(&main(3)).unwrap().meta.warnings,
            ["costs do not add up: the report says 10 ticks, its tree sums to 3; a part is missing"]
        );
        let mut announced = Announced::default();
        announced.read("\ttotal alloc = 538,603,824 bytes  (excludes profiling overheads)");
        assert_eq!(announced.totals, [None, Some(538_603_824)]);
    }

    #[test]
    fn allocation_is_shown_if_no_time_was_measured() {
        let profile = load(
            "COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc ticks bytes\n\n\
             MAIN  MAIN <built-in> 100 0 0.0 99.9 0.0 100.0 0 123456789\n",
        )
        .unwrap();
        let default = &profile.meta.metrics[profile.meta.default_metric];
        assert_eq!((&*default.name, &*default.unit, default.total), ("alloc", "bytes", 123_456_789));
    }

    /// As GHC 6 writes it: a centre at depth 1 and another at depth 2 cost nothing.
    #[test]
    fn callers_without_costs_may_be_missing() {
        let tree = "COST CENTRE MODULE no. entries %time %alloc %time %alloc\n\nMAIN MAIN 1 0 0.0 0.0 100.0 100.0\n  \
                    a Main 242 1 10.0 0.0 10.0 0.0\n CAF Main 214 10 0.0 0.0 90.0 100.0\n   b Main 220 2 30.0 40.0 90.0 100.0\n    \
                    c Main 221 3 20.0 40.0 20.0 40.0\n   d Main 222 4 40.0 20.0 40.0 20.0\n";
        let profile = load(tree).unwrap();
        assert_eq!(
            to_notation(&profile),
            "MAIN.MAIN;Main.CAF 0 0 10\nMAIN.MAIN;Main.CAF;Main.b 300 400 2\n\
             MAIN.MAIN;Main.CAF;Main.b;Main.c 200 400 3\nMAIN.MAIN;Main.CAF;Main.d 400 200 4\nMAIN.MAIN;Main.a 100 0 1"
        );
        assert!(profile.meta.notes[0].contains("3 rows below them"), "{:?}", profile.meta.notes);
    }

    #[test]
    fn the_time_between_ticks_has_a_unit() {
        for (text, unit, value) in [
            ("22.28 secs   (1114 ticks @ 20 ms)", "milliseconds", 20),
            ("0.02 secs   (23 ticks @ 1000 us, 1 processor)", "microseconds", 1000),
        ] {
            let mut builder = ProfileBuilder::new(NAME, LoadOptions::ALL);
            read_header(&mut builder, &format!("\ttotal time  =       {text}"));
            let period = builder.meta.period.unwrap();
            assert_eq!((&*period.unit, period.value), (unit, value));
        }
    }

    #[test]
    fn malformed_reports_are_rejected() {
        let error = |tree: &str| load(tree).unwrap_err().to_string();
        let head = "COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc\n\n";
        assert_eq!(error(""), "ghc: the file ends before the tree of cost centres (line 11)");
        assert_eq!(error(head), "ghc: the file contains no stacks (line 13)");
        let short = format!("{head}MAIN MAIN 1 0 0.0\n");
        assert_eq!(
            error(&short),
            "ghc: expected a cost centre, its module and source, and its costs (line 14)"
        );
    }
}
