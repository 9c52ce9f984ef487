//! Reads callgrind's output, which other tools write too (xdebug, pprof, lsprof converters): the self cost of
//! each function and the inclusive cost of its calls.
//!
//! ```text
//! events: Ir
//! fl=(1) file1.c
//! fn=(1) main
//! 16 20
//! cfn=(2) func1
//! calls=1 50
//! 16 400
//! ```
//!
//! `(2) func1` assigns a number to a name, and `(2)` refers to it later. A line of numbers is a position
//! (`16`, or relative to the previous one: `+1`, `-3`, `*`) followed by costs; after `calls=` these are the
//! inclusive cost of the call. Recursive calls appear as separate functions (`dig'2`). They are merged into
//! the function here, because a function counts once per stack however often it recurs. The cost of `dig'2`
//! is part of a call of `dig`, so the total is the inclusive cost of `dig`.

mod events;
mod names;
mod positions;

use hashbrown::{HashMap, HashSet};

use crate::format::callgrind::events::Event;
use crate::format::callgrind::names::{Name, Names, clean_file, clean_function};
use crate::format::callgrind::positions::Positions;
use crate::format::callgrind_write::UNCOUNTED;
use crate::format::text::{BadLines, Scan};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{
    Frame, FrameId, Function, FunctionId, Id, LoadOptions, Mapping, Profile, ProfileBuilder, StringId,
};

/// The entry in the list of readable formats.
pub(super) static CALLGRIND: Format = Format { name: NAME, title: "callgrind", sniff, read };

const NAME: &str = "callgrind";

/// Requires header lines up to `events:`, and one line that cachegrind's similar output does not have.
fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(b"# callgrind format") {
        return Confidence::Certain;
    }
    let (mut has_events, mut is_cachegrind) = (false, false);
    for line in head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        match header(line) {
            _ if line.is_empty() || line.starts_with(b"#") => {}
            Some((b"version" | b"creator" | b"positions" | b"part", _)) => is_cachegrind = false,
            Some((b"desc", _)) if !has_events => is_cachegrind = true,
            Some((b"events", _)) => has_events = true,
            Some(_) => {}
            None if has_events && !is_cachegrind && spec(line).is_some() => return Confidence::Certain,
            None => return Confidence::No,
        }
    }
    if has_events && !is_cachegrind { Confidence::Likely } else { Confidence::No }
}

/// Splits `key: value`.
fn header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr2(b':', b'=', line).filter(|&at| line[at] == b':')?;
    let key = &line[..at];
    (!key.is_empty() && key.iter().all(u8::is_ascii_alphabetic)).then(|| (key, line[at + 1..].trim_ascii()))
}

/// Splits `fn=value`.
fn spec(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'=', line)?;
    let key = &line[..at];
    let known: [&[u8]; 14] = [
        b"fl", b"fi", b"fe", b"fn", b"ob", b"cfl", b"cfi", b"cfn", b"cob", b"calls", b"jump", b"jcnd",
        b"jfi", b"jfn",
    ];
    known.contains(&key).then(|| (key, line[at + 1..].trim_ascii()))
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = Reader::new(options);
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        reader.line(line.trim_ascii(), number)?;
    }
    Ok(reader.finish()?)
}

/// Parses a cost with or without a sign: `20`, `+7`, `-2`. Only positions are relative to the previous line.
fn signed(scan: &mut Scan<'_>) -> Option<i64> {
    if let [b'+', rest @ ..] = scan.skip_blanks().0
        && rest.first().is_some_and(u8::is_ascii_digit)
    {
        scan.0 = rest;
    }
    scan.integer()
}

struct Reader {
    builder: ProfileBuilder,
    /// Factor from each event's unit to the metric's unit: 10 for `Time_(10ns)`.
    factors: Vec<i64>,
    positions: Positions,
    files: Names,
    objects: Names,
    functions: Names,
    /// The object and file of the current function, and the file of the current line (which differs in
    /// inlined code).
    object: StringId,
    function_file: Option<StringId>,
    file: StringId,
    function: Option<FunctionId>,
    /// Whether the current function is a recursive call, such as `dig'2`.
    is_nested: bool,
    callee: Callee,
    /// Callee and count if the next cost line belongs to a call.
    call: Option<(FunctionId, i64)>,
    /// Whether the call counts are real.
    counts_calls: bool,
    /// Self cost of each function, and inclusive cost of its non-recursive calls: one row per function, one
    /// column per event.
    self_values: Sums,
    outermost: Sums,
    /// Whether the file distinguishes recursive calls.
    has_nested: bool,
    /// Self cost per line.
    lines: HashMap<(FunctionId, FrameId), usize>,
    line_values: Sums,
    /// Functions that have their own section in the file, with their binaries.
    defined: HashSet<FunctionId>,
    object_of: HashMap<FunctionId, StringId>,
    /// Calls: caller, callee, line of the call, count, and one value per event.
    edges: Vec<Call>,
    edge_index: HashMap<(FunctionId, FunctionId, Option<FrameId>), usize>,
    costs: Vec<i64>,
    summaries: Vec<i128>,
    good: u64,
    bad: BadLines,
}

/// Calls from one line to one function.
struct Call {
    caller: FunctionId,
    callee: FunctionId,
    site: Option<FrameId>,
    count: i64,
    costs: Vec<i64>,
}

/// Rows of values, one column per event.
#[derive(Default)]
struct Sums(Vec<i64>);

impl Sums {
    fn add(&mut self, row: usize, values: &[i64]) {
        let start = row * values.len();
        if self.0.len() < start + values.len() {
            self.0.resize(start + values.len(), 0);
        }
        for (sum, &value) in self.0[start..].iter_mut().zip(values) {
            *sum = sum.saturating_add(value);
        }
    }

    fn row(&self, row: usize, events: usize) -> Vec<i64> {
        self.0.get(row * events..(row + 1) * events).map_or(vec![0; events], <[i64]>::to_vec)
    }
}

/// The callee of the next `calls=` line.
#[derive(Default)]
struct Callee {
    name: Option<StringId>,
    file: Option<StringId>,
    object: Option<StringId>,
}

impl Reader {
    fn new(options: LoadOptions) -> Reader {
        Reader {
            builder: ProfileBuilder::new(NAME, options),
            factors: Vec::new(),
            positions: Positions::declared(b"line"),
            files: Names::default(),
            objects: Names::default(),
            functions: Names::default(),
            object: StringId::default(),
            function_file: None,
            file: StringId::default(),
            function: None,
            is_nested: false,
            callee: Callee::default(),
            call: None,
            counts_calls: true,
            self_values: Sums::default(),
            outermost: Sums::default(),
            has_nested: false,
            lines: HashMap::new(),
            line_values: Sums::default(),
            defined: HashSet::new(),
            object_of: HashMap::new(),
            edges: Vec::new(),
            edge_index: HashMap::new(),
            costs: Vec::new(),
            summaries: Vec::new(),
            good: 0,
            bad: BadLines::default(),
        }
    }

    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
        let understood = match line.first() {
            None | Some(b'#') => return Ok(()),
            Some(b'0'..=b'9' | b'+' | b'-' | b'*') => self.costs(line),
            _ => match (spec(line), header(line)) {
                (Some((key, value)), _) => self.spec(key, value),
                (None, Some((key, value))) => self.header(key, value, number)?,
                _ => false,
            },
        };
        if understood {
            self.good += 1;
        } else {
            self.bad.add(number);
        }
        Ok(())
    }

    fn header(&mut self, key: &[u8], value: &[u8], number: u64) -> Result<bool, ParseError> {
        match key {
            b"positions" => {
                self.positions = Positions::declared(value);
            }
            b"events" => {
                let events: Vec<Event> =
                    String::from_utf8_lossy(value).split_whitespace().map(Event::parse).collect();
                self.events(&events, number)?;
            }
            b"summary" => {
                let mut scan = Scan(value);
                for metric in 0..self.factors.len() {
                    self.summaries.resize(self.factors.len(), 0);
                    self.summaries[metric] += i128::from(signed(&mut scan).unwrap_or(0));
                }
            }
            b"cmd" | b"creator" => {
                let text = format!("{}: {}", String::from_utf8_lossy(key), String::from_utf8_lossy(value));
                self.builder.meta.comments.push(text);
            }
            b"desc" if value == UNCOUNTED.as_bytes() => self.counts_calls = false,
            _ => {}
        }
        Ok(true)
    }

    fn events(&mut self, events: &[Event], number: u64) -> Result<(), ParseError> {
        if self.factors.is_empty() {
            for event in events {
                self.builder.metric(&event.name, &event.unit);
                self.factors.push(event.factor);
            }
            return Ok(());
        }
        let same = events.len() == self.factors.len()
            && events.iter().zip(&self.builder.meta.metrics).all(|(event, metric)| event.name == metric.name);
        if same {
            Ok(())
        } else {
            Err(ParseError::at_line(NAME, number, "the parts of this file count different events"))
        }
    }

    fn spec(&mut self, key: &[u8], value: &[u8]) -> bool {
        let builder = &mut self.builder;
        match key {
            b"ob" => match self.objects.get(builder, value, clean_file) {
                Some(object) => self.object = object.text,
                None => return false,
            },
            b"cob" => self.callee.object = self.objects.get(builder, value, clean_file).map(|name| name.text),
            b"fl" | b"fi" | b"fe" => match self.files.get(builder, value, clean_file) {
                Some(file) => {
                    self.file = file.text;
                    if key == b"fl" {
                        self.function_file = Some(file.text);
                    }
                }
                None => return false,
            },
            b"cfl" | b"cfi" => {
                self.callee.file = self.files.get(builder, value, clean_file).map(|name| name.text);
            }
            b"fn" => match self.functions.get(builder, value, clean_function) {
                Some(name) => self.start_function(name),
                None => return false,
            },
            b"cfn" => {
                self.callee.name = self.functions.get(builder, value, clean_function).map(|name| name.text);
                return self.callee.name.is_some();
            }
            b"calls" => return self.start_call(value),
            // Jumps within a function are not calls, but they may introduce a numbered name.
            b"jfi" => return self.files.get(builder, value, clean_file).is_some(),
            b"jfn" => return self.functions.get(builder, value, clean_function).is_some(),
            _ => {}
        }
        true
    }

    fn start_function(&mut self, name: Name) {
        // Code inlined from another file (`fi=`) does not change the file of the next function.
        self.file = self.function_file.unwrap_or(self.file);
        let function = self.function_of(name.text, self.file, self.object);
        self.is_nested = name.is_nested;
        self.has_nested |= name.is_nested;
        self.defined.insert(function);
        self.function = Some(function);
        (self.call, self.callee) = (None, Callee::default());
    }

    fn start_call(&mut self, value: &[u8]) -> bool {
        let callee = std::mem::take(&mut self.callee);
        let (Some(name), Some(count)) = (callee.name, Scan(value).integer()) else { return false };
        let file = callee.file.unwrap_or(self.file);
        let object = callee.object.unwrap_or(self.object);
        let count = if self.counts_calls { count } else { 0 };
        self.call = Some((self.function_of(name, file, object), count));
        true
    }

    fn function_of(&mut self, name: StringId, file: StringId, object: StringId) -> FunctionId {
        let function = self.builder.function(Function { name, file, line: 0, column: 0, by_place: false });
        self.object_of.entry(function).or_insert(object);
        function
    }

    /// Parses a position with costs: the self cost of the function, or the cost of the preceding `calls=`.
    fn costs(&mut self, line: &[u8]) -> bool {
        let mut scan = Scan(line);
        self.positions.read(&mut scan);
        self.costs.clear();
        for &factor in &self.factors {
            // Trailing zero costs may be omitted.
            let cost = if scan.skip_blanks().0.is_empty() { Some(0) } else { signed(&mut scan) };
            let Some(cost) = cost else { return false };
            self.costs.push(cost.saturating_mul(factor));
        }
        let Some(function) = self.function.filter(|_| !self.factors.is_empty()) else { return false };
        let place = self.place(function);
        if !self.is_nested {
            self.outermost.add(function.index(), &self.costs);
        }
        if let Some((callee, count)) = self.call.take() {
            self.add_call(function, callee, place, count);
            return true;
        }
        self.self_values.add(function.index(), &self.costs);
        if let Some(place) = place {
            let next = self.lines.len();
            let row = *self.lines.entry((function, place)).or_insert(next);
            self.line_values.add(row, &self.costs);
        }
        true
    }

    /// The source line of the current costs, if known. Code inlined from another file becomes a line of a
    /// function with the same name in that file.
    fn place(&mut self, function: FunctionId) -> Option<FrameId> {
        self.positions.line?;
        let line = self.positions.line();
        let own = self.builder.function_row(function);
        if own.file == self.file {
            return Some(self.builder.frame(Frame { function, line, ..Frame::default() }));
        }
        let function = self.builder.function(Function { file: self.file, ..own });
        Some(self.builder.frame(Frame { function, line, inlined: true, ..Frame::default() }))
    }

    fn add_call(&mut self, caller: FunctionId, callee: FunctionId, site: Option<FrameId>, count: i64) {
        let edges = &mut self.edges;
        let index = *self.edge_index.entry((caller, callee, site)).or_insert_with(|| {
            edges.push(Call { caller, callee, site, count: 0, costs: vec![0; self.costs.len()] });
            edges.len() - 1
        });
        let call = &mut edges[index];
        call.count = call.count.saturating_add(count);
        for (sum, &cost) in call.costs.iter_mut().zip(&self.costs) {
            *sum = sum.saturating_add(cost);
        }
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.factors.is_empty() {
            return Err(ParseError::whole(NAME, "no `events:` line"));
        }
        self.bad.settle(&mut self.builder, self.good, "not a callgrind line")?;
        self.fill();
        let profile = finished(self.builder)?;
        Ok(compare_with_summary(profile, &self.summaries, &self.factors))
    }

    /// Passes functions and calls to the builder.
    fn fill(&mut self) {
        let events = self.factors.len();
        let calls = self.builder.metric("calls", "count");
        self.builder.calls_metric(calls);
        let callee_of = self.defined_callees();
        let mut called: HashMap<FunctionId, i64> = HashMap::new();
        // The cost of a callee without a section is the cost of its calls.
        let mut said_by_callers = Sums::default();
        for call in std::mem::take(&mut self.edges) {
            let callee = callee_of.get(&call.callee).copied().unwrap_or(call.callee);
            let sum = called.entry(callee).or_default();
            *sum = sum.saturating_add(call.count);
            if !self.defined.contains(&callee) {
                said_by_callers.add(callee.index(), &call.costs);
            }
            let mut values = call.costs;
            values.push(call.count);
            self.builder.call_edge(call.caller, callee, call.site, &values);
        }
        let mut functions: Vec<FunctionId> = self.defined.iter().chain(called.keys()).copied().collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            let with_calls = |mut values: Vec<i64>| {
                values.push(called.get(&function).copied().unwrap_or(0));
                values
            };
            self.builder.call_node(function, &with_calls(self.self_values.row(function.index(), events)));
            let total = if self.defined.contains(&function) {
                self.has_nested.then(|| self.outermost.row(function.index(), events))
            } else {
                Some(said_by_callers.row(function.index(), events))
            };
            if let Some(total) = total {
                self.builder.call_total(function, &with_calls(total));
            }
            let file = self.object_of.get(&function).copied().unwrap_or_default();
            let mapping = self.builder.mapping(Mapping { file, ..Mapping::default() });
            self.builder.call_mapping(function, mapping);
        }
        let mut lines: Vec<((FunctionId, FrameId), usize)> = self.lines.drain().collect();
        lines.sort_unstable_by_key(|&(_, row)| row);
        for ((function, place), row) in lines {
            let mut values = self.line_values.row(row, events);
            values.push(0);
            self.builder.call_line(function, place, &values);
        }
    }

    /// Maps callees without a section to the functions with a section that they refer to. Some writers omit the file of a
    /// callee; pprof numbers the callees in a call tree (`lex [1/2]`), but not their sections (`lex`). Such a callee is
    /// the function with that name and file, or the only one with that name.
    fn defined_callees(&self) -> HashMap<FunctionId, FunctionId> {
        let mut by_place: HashMap<(&str, StringId), FunctionId> = HashMap::new();
        let mut by_name: HashMap<&str, Option<FunctionId>> = HashMap::new();
        for &function in &self.defined {
            let Function { name, file, .. } = self.builder.function_row(function);
            let name = self.builder.text(name);
            by_place.insert((name, file), function);
            by_name.entry(name).and_modify(|only| *only = None).or_insert(Some(function));
        }
        let find = |name: &str, file: StringId| {
            by_place.get(&(name, file)).copied().or_else(|| *by_name.get(name)?)
        };
        let callees = self.edges.iter().map(|call| call.callee);
        callees
            .filter(|callee| !self.defined.contains(callee))
            .filter_map(|callee| {
                let Function { name, file, .. } = self.builder.function_row(callee);
                let name = self.builder.text(name);
                Some((callee, find(name, file).or_else(|| find(without_number(name)?, file))?))
            })
            .collect()
    }
}

/// The name `lex` of `lex [1/2]`, the first of two nodes for `lex` in a call tree.
fn without_number(name: &str) -> Option<&str> {
    let (name, number) = name.strip_suffix(']')?.rsplit_once(" [")?;
    let (which, of) = number.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(which) && is_number(of)).then_some(name)
}

/// Warns if the costs do not add up to the summary in the file. Valgrind itself is sometimes off by a few
/// instructions; that is not worth a warning.
fn compare_with_summary(mut profile: Profile, summaries: &[i128], factors: &[i64]) -> Profile {
    for (metric, (&said, &factor)) in summaries.iter().zip(factors).enumerate() {
        let said = said * i128::from(factor);
        let found = i128::from(profile.meta.metrics[metric].total);
        if (said - found).abs() > said.abs() / 1000 {
            let name = &profile.meta.metrics[metric].name;
            let warning = format!(
                "costs do not add up: the summary line says {said} {name}, the functions sum to {found}"
            );
            profile.meta.warnings.push(warning);
        }
    }
    profile
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Profile {
        assert_ne!(sniff(text.as_bytes()), Confidence::No);
        read(&mut Source::from_bytes(text.as_bytes().to_vec()), LoadOptions::ALL).unwrap()
    }

    /// `name self total calls`, and `caller>callee cost calls`.
    fn summary(profile: &Profile) -> Vec<String> {
        let calls = profile.calls.as_ref().unwrap();
        let last = profile.meta.metrics.len() - 1;
        let name = |function| profile.symbols.function_name(function);
        let mut lines: Vec<String> = profile
            .symbols
            .functions
            .ids()
            .map(|id| {
                let (own, total) = (calls.self_values[0][id], calls.totals[0][id]);
                format!("{} {own} {total} {}", name(id), calls.self_values[last][id])
            })
            .collect();
        for edge in 0..calls.edge_count() {
            let (caller, callee) = (name(calls.caller[edge]), name(calls.callee[edge]));
            let values = (calls.edge_values[0][edge], calls.edge_values[last][edge]);
            lines.push(format!("{caller}>{callee} {} {}", values.0, values.1));
        }
        lines
    }

    #[test]
    fn names_are_compressed_and_positions_relative() {
        let profile = load(
            "positions: line\nevents: Ir\nsummary: 820\n\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n16 400\n\
             cfi=(2) file2.c\ncfn=(3) func2\ncalls=3 20\n+0 400\n\nfn=(2)\n51 100\ncfi=(2)\ncfn=(3)\ncalls=2 20\n* 300\n\n\
             fl=(2)\nfn=(3)\n20 400\n+1 300\n",
        );
        assert_eq!(
            summary(&profile),
            [
                "main 20 820 0",
                "func1 100 400 1",
                "func2 700 700 5",
                "main>func1 400 1",
                "main>func2 400 3",
                "func1>func2 300 2"
            ]
        );
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn recursive_calls_are_merged_into_one_function() {
        let profile = load(
            "events: Ir\nfn=main\n1 1\ncfn=dig\ncalls=1 2\n1 30\nfn=dig\n2 10\ncfn=dig'2\ncalls=1 2\n2 20\n\
             fn=dig'2\n2 20\ncfn=dig'2\ncalls=4 2\n2 15\n",
        );
        assert_eq!(summary(&profile), ["main 1 31 0", "dig 30 30 6", "main>dig 30 1", "dig>dig 35 5"]);
    }

    #[test]
    fn the_total_of_mutual_recursion_is_that_of_its_outermost_calls() {
        // main calls a, a calls b, b calls a again, and that b.
        let profile = load(
            "events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 2\n1 30\nfn=a\n2 4\ncfn=b\ncalls=1 3\n2 26\nfn=b\n3 5\n\
             cfn=a'2\ncalls=1 2\n3 21\nfn=a'2\n2 6\ncfn=b'2\ncalls=1 3\n2 15\nfn=b'2\n3 15\n",
        );
        assert_eq!(summary(&profile)[..3], ["main 1 31 0", "a 10 30 2", "b 20 26 2"]);
    }

    #[test]
    fn lines_and_their_files() {
        let profile = load(
            "positions: instr line\nevents: Ir\nfl=(1) a.c\nfn=(1) f\n0x10 7 1\n+3 +2 2\njfi=(2) b.h\njump=3 +1 +1\n* *\n\
             fi=(2)\n+3 * 4\nfe=(1)\n* -3 8\ncfn=(2) g\ncalls=1 0x99 1\n* * 16\nfl=(1)\nfn=(2)\n0x99 1 16\n",
        );
        let calls = profile.calls.as_ref().unwrap();
        let place = |frame| {
            let frame = profile.symbols.frames[frame];
            format!("{}:{}", profile.symbols.function_file(frame.function), frame.line)
        };
        let lines: Vec<String> = (0..calls.lines.place.len())
            .map(|row| {
                let function = profile.symbols.function_name(calls.lines.function[row]);
                format!("{function} {} {}", place(calls.lines.place[row]), calls.lines.self_values[0][row])
            })
            .collect();
        assert_eq!(lines, ["f a.c:7 1", "f a.c:9 2", "f b.h:9 4", "f a.c:6 8", "g a.c:1 16"]);
        assert_eq!(place(calls.site[0].unwrap()), "a.c:6");
        assert_eq!(profile.meta.warnings, [""; 0]);
    }

    #[test]
    fn units_follow_names() {
        let profile = load("events: Time_(10ns) Memory_(bytes)\nfl=a\nfn=f\n1 3 7\n2 1\n");
        let metrics: Vec<_> = profile
            .meta
            .metrics
            .iter()
            .map(|metric| (metric.name.as_str(), metric.unit.as_str(), metric.total))
            .collect();
        assert_eq!(metrics, [("Time", "ns", 40), ("Memory", "bytes", 7), ("calls", "count", 0)]);
    }

    #[test]
    fn a_callee_without_its_file_is_found_by_name() {
        let profile = load("events: Ir\nfl=a\nfn=f\n1 1\ncfn=g\ncalls=2 1\n1 5\nfl=b\nfn=g\n1 5\n");
        assert_eq!(profile.calls.as_ref().unwrap().totals[0].iter().sum::<i64>(), 6 + 5);
    }

    /// In call trees written by pprof, callees have numbers, but the sections of functions do not.
    #[test]
    fn numbered_callees_are_the_functions_of_the_same_name() {
        let profile = load(
            "events: cpu(ms)\nfl=a\nfn=main\n1 0\ncfn=lex [1/2]\ncalls=0 1\n1 10\ncfn=lex [2/2]\ncalls=0 1\n2 5\n\
             fn=lex\n1 10\n2 5\n",
        );
        let lines = summary(&profile);
        assert!(
            lines.contains(&"lex 15 15 0".to_string()) && lines.contains(&"main 0 15 0".to_string()),
            "{lines:?}"
        );
        let calls = profile.calls.as_ref().unwrap();
        assert_eq!(
            calls.callee.iter().map(|&callee| profile.symbols.function_name(callee)).collect::<Vec<_>>(),
            ["lex"; 2]
        );
    }

    #[test]
    fn a_callee_without_a_section_costs_as_much_as_its_calls() {
        let profile = load(
            "events: Ir\nfl=a\nfn=f\n1 10\ncfn=gone\ncalls=2 1\n1 4\nfn=g\n1 10\ncfn=gone\ncalls=1 1\n1 3\n",
        );
        assert_eq!(summary(&profile)[..3], ["f 10 14 0", "gone 0 7 3", "g 10 13 0"]);
    }

    #[test]
    fn cachegrind_output_is_not_recognized() {
        assert_eq!(
            sniff(b"desc: I1 cache: 32768 B\ncmd: ./maze\nevents: Ir\nfl=a\nfn=b\n1 2\n"),
            Confidence::No
        );
    }

    /// The expected totals are those of `callgrind_annotate`.
    #[test]
    fn costs_may_have_a_sign() {
        let text = "positions: line\nevents: Ir Dr\nfl=a.c\nfn=main\n16 20 5\n+3 +7 -2\n* 4\n";
        let profile = load(text);
        let calls = profile.calls.as_ref().unwrap();
        let sum = |metric: usize| calls.self_values[metric].iter().sum::<i64>();
        assert_eq!((sum(0), sum(1)), (31, 3));
        assert!(profile.meta.warnings.is_empty(), "{:?}", profile.meta.warnings);
    }
}
