//! Reads lines into functions, costs and calls.

use crate::format::call_counts::drop_call_counts;
use crate::format::callgrind::costs::Costs;
use crate::format::callgrind::events::{CostEvent, Creator, TIME};
use crate::format::callgrind::names::{CompressedName, CompressedNames, clean_file, clean_function};
use crate::format::callgrind::positions::Positions;
use crate::format::callgrind::syntax::{NAME, header, number, signed, spec};
use crate::format::callgrind_write::UNCOUNTED;
use crate::format::text::{BadLines, Scan};
use crate::format::{ParseError, finished};
use crate::profile::{
    Frame, FrameId, Function, FunctionId, Id, LoadOptions, MOST_METRICS, Profile, ProfileBuilder, StringId,
};
use crate::unit::{Family, Scale, Unit, saturated};

/// Reads a file line by line.
pub(super) struct CallgrindReader {
    builder: ProfileBuilder,
    /// Factor from each event's unit to the metric's unit: 10 for `Time_(10ns)`.
    factors: Vec<i64>,
    positions: Positions,
    files: CompressedNames,
    objects: CompressedNames,
    functions: CompressedNames,
    /// The object and file of the current function, and the file of the current line (which differs in
    /// inlined code).
    object: StringId,
    function_file: Option<StringId>,
    file: StringId,
    /// The name of the current function, and its file. Some writers begin with a list of all names, so it is only a function
    /// once it has costs.
    named: Option<(CompressedName, StringId)>,
    function: Option<FunctionId>,
    /// Whether the current function is a recursive call, such as `dig'2`.
    is_nested: bool,
    callee: Callee,
    /// Callee and count if the next cost line belongs to a call.
    call: Option<(FunctionId, i64)>,
    /// Whether the call counts are real.
    counts_calls: bool,
    echoes: Echoes,
    sections: Costs,
    /// The costs of the current line, followed by the number of calls.
    costs: Vec<i64>,
    /// What the file says the costs sum to.
    summary: StatedSums,
    totals: StatedSums,
    /// The units of events that the file describes.
    described: Vec<CostEvent>,
    good: u64,
    bad: BadLines,
}

/// The callee of the next `calls=` line.
#[derive(Default)]
struct Callee {
    name: Option<StringId>,
    file: Option<StringId>,
    object: Option<StringId>,
}

impl CallgrindReader {
    pub(super) fn new(options: LoadOptions) -> CallgrindReader {
        CallgrindReader {
            builder: ProfileBuilder::new(NAME, options),
            factors: Vec::new(),
            positions: Positions::declared(b"line"),
            files: CompressedNames::default(),
            objects: CompressedNames::default(),
            functions: CompressedNames::default(),
            object: StringId::default(),
            function_file: None,
            file: StringId::default(),
            named: None,
            function: None,
            is_nested: false,
            callee: Callee::default(),
            call: None,
            counts_calls: true,
            echoes: Echoes::default(),
            sections: Costs::default(),
            costs: Vec::new(),
            summary: StatedSums::default(),
            totals: StatedSums::default(),
            described: Vec::new(),
            good: 0,
            bad: BadLines::default(),
        }
    }

    pub(super) fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
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
            // The first versions of Xdebug called the same syntax 0.9.6.
            b"version" if !matches!(value, b"1" | b"0.9.6" | b"") => {
                let version = String::from_utf8_lossy(value);
                let message = format!("version {version} is not supported; only version 1 is known");
                return Err(ParseError::at_line(NAME, number, message));
            }
            b"positions" => {
                self.positions = Positions::declared(value);
            }
            b"events" => {
                let creator = Creator::of(&self.builder.meta.comments);
                let text = String::from_utf8_lossy(value);
                let events: Vec<CostEvent> = text
                    .split_whitespace()
                    .map(|event| CostEvent::parse(event).of_creator(creator).described(&self.described))
                    .collect();
                self.events(&events, number)?;
            }
            b"event" => self.described.extend(CostEvent::described_by(&String::from_utf8_lossy(value))),
            b"summary" => self.summary.add(value, self.factors.len()),
            b"totals" => self.totals.add(value, self.factors.len()),
            b"cmd" | b"creator" => {
                let text = format!("{}: {}", String::from_utf8_lossy(key), String::from_utf8_lossy(value));
                self.builder.meta.comments.push(text);
            }
            b"desc" if value == UNCOUNTED.as_bytes() => self.counts_calls = false,
            _ => {}
        }
        Ok(true)
    }

    fn events(&mut self, events: &[CostEvent], number: u64) -> Result<(), ParseError> {
        if events.len() > MOST_METRICS {
            return Err(ParseError::at_line(NAME, number, format!("more than {MOST_METRICS} events")));
        }
        if self.factors.is_empty() {
            for event in events {
                let metric = self.builder.metric(&event.name, &event.unit);
                // pprofile writes how often each line ran first.
                if event.name == TIME {
                    self.builder.meta.default_metric = metric;
                }
                self.factors.push(event.factor);
            }
            let calls = self.builder.metric("calls", "count");
            self.builder.calls_metric(calls);
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

    fn start_function(&mut self, name: CompressedName) {
        // Code inlined from another file (`fi=`) does not change the file of the next function.
        self.file = self.function_file.unwrap_or(self.file);
        (self.named, self.function) = (Some((name, self.file)), None);
        (self.call, self.callee) = (None, Callee::default());
    }

    /// The current function. Its section starts when this is called for the first time.
    fn function(&mut self) -> Option<FunctionId> {
        if let Some((name, file)) = self.named {
            self.named = None;
            let function = self.function_of(name.text, file, self.object);
            self.is_nested = name.is_nested;
            self.sections.start(function, name.is_nested);
            self.function = Some(function);
        }
        self.function
    }

    fn start_call(&mut self, value: &[u8]) -> bool {
        self.function();
        let callee = std::mem::take(&mut self.callee);
        let (Some(name), Some(count)) = (callee.name, number(&mut Scan(value))) else { return false };
        let file = callee.file.unwrap_or(self.file);
        let object = callee.object.unwrap_or(self.object);
        let count = if self.counts_calls { count } else { 0 };
        self.call = Some((self.function_of(name, file, object), count));
        true
    }

    fn function_of(&mut self, name: StringId, file: StringId, object: StringId) -> FunctionId {
        let place = |column| Function { name, file, line: 0, column, by_place: false };
        let mut function = self.builder.function(place(0));
        // Two binaries may each have a `work` of the same header, or a `read` whose file is unknown. Functions have no binary, but
        // the format knows no columns, so that of the second one is the number of its binary. It is never shown.
        if !self.sections.is_of(function, object) {
            function = self.builder.function(place(object.index() as u32));
        }
        self.sections.set_object(function, object);
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
        let Some(function) = self.function().filter(|_| !self.factors.is_empty()) else { return false };
        let place = self.place(function);
        let call = self.call.take();
        if let Some((_, count)) = call {
            self.echoes.add(count, self.factors[0], self.costs[0]);
        }
        self.costs.push(call.map_or(0, |(_, count)| count));
        if !self.is_nested {
            self.sections.add_outermost(function, &self.costs);
        }
        if let Some((callee, _)) = call {
            self.sections.add_received(callee, &self.costs);
            self.builder.call_edge(function, callee, place, &self.costs);
            return true;
        }
        self.sections.add_self(function, &self.costs);
        if let Some(place) = place {
            self.builder.call_line(function, place, &self.costs);
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

    pub(super) fn finish(mut self) -> Result<Profile, ParseError> {
        if self.factors.is_empty() {
            return Err(ParseError::whole(NAME, "no `events:` line"));
        }
        self.bad.settle(&mut self.builder, self.good, "not a callgrind line")?;
        let is_of =
            |creator: &str| self.builder.meta.comments.iter().any(|comment| comment.starts_with(creator));
        let is_xdebug = is_of("creator: xdebug");
        let is_elapsed = is_xdebug && !is_of("creator: xdebug 2.");
        if self.summary.lines == 0 && is_xdebug {
            self.builder.warn(
                "the line `summary:`, with which Xdebug ends a file, is missing: the program was still running, or \
                 the file is truncated"
                    .to_string(),
            );
        }
        self.sections.finish(&mut self.builder);
        let mut profile = finished(self.builder)?;
        // A truncated file has a summary for each of its parts, but lacks the totals of the last one.
        let is_ended = self.totals.lines == self.summary.lines;
        let totals = if is_ended { self.totals.sums } else { Vec::new() };
        compare_with_stated(&mut profile, &self.summary.sums, &totals, &self.factors, is_elapsed);
        // pprofile's first event is how often each line ran, so for its calls that is how often they were made.
        let is_only_cost = profile.meta.metrics[1..self.factors.len()].iter().all(|metric| metric.total == 0);
        if is_only_cost && self.echoes.are_all() {
            drop_call_counts(
                &mut profile,
                "each `calls=` of the file only repeats the cost of the call, as `go tool pprof -callgrind` writes it",
            );
        }
        Ok(profile)
    }
}

/// Counts of calls that repeat the cost of the calls: `go tool pprof -callgrind` does not know how often functions were called, and
/// writes `calls=1630` for a call of 1,630 ms.
#[derive(Default)]
struct Echoes {
    equal: u64,
    others: u64,
}

impl Echoes {
    /// The fewest equal numbers that are no coincidence.
    const ENOUGH: u64 = 3;

    /// A call that was counted so often, and its cost, which the factor converts to whole units.
    fn add(&mut self, count: i64, factor: i64, cost: i64) {
        let is_equal = count.saturating_mul(factor) == cost;
        self.equal += u64::from(is_equal && count > 1);
        self.others += u64::from(!is_equal);
    }

    fn are_all(&self) -> bool {
        self.others == 0 && self.equal >= Self::ENOUGH
    }
}

/// What lines such as `summary: 2946247 81 358`, one per part of a file, say that all costs sum to.
#[derive(Default)]
struct StatedSums {
    /// How many lines there were.
    lines: u64,
    /// The sum of each event; `None` if a line does not say it.
    sums: Vec<Option<i128>>,
}

impl StatedSums {
    fn add(&mut self, line: &[u8], events: usize) {
        if self.lines == 0 {
            self.sums = vec![Some(0); events];
        }
        self.lines += 1;
        let mut scan = Scan(line);
        for sum in &mut self.sums {
            let said = signed(&mut scan);
            *sum = sum.zip(said).map(|(sum, said)| sum + i128::from(said));
        }
    }
}

/// How much of a sum may be missing: a thousandth, since Valgrind itself is sometimes off by a few instructions, or a twentieth if the
/// functions are all that the line `totals:` says. With `--collect-systime=yes`, the summary has what no function has.
const MISSING: i128 = 1000;
const OUTSIDE_FUNCTIONS: i128 = 20;

/// Warns if the costs do not add up to those of the lines `summary:` or, of events that it lacks, as with `--cacheuse=yes`, `totals:`. With
/// `is_elapsed`, the summary says how long the program ran.
fn compare_with_stated(
    profile: &mut Profile,
    summary: &[Option<i128>],
    totals: &[Option<i128>],
    factors: &[i64],
    is_elapsed: bool,
) {
    let meta = &mut profile.meta;
    let is_empty = meta.metrics.iter().all(|metric| metric.total == 0);
    if is_empty && summary.iter().flatten().any(|&said| said != 0) {
        meta.warnings.push("the file has a summary, but no functions: was it cut off?".into());
        return;
    }
    for (number, (metric, &factor)) in meta.metrics.iter().zip(factors).enumerate() {
        let of = |sums: &[Option<i128>]| sums.get(number).copied().flatten();
        let is_off = |said: i128, part: i128| {
            (said.saturating_mul(factor.into()) - i128::from(metric.total)).abs()
                > said.saturating_mul(factor.into()).abs() / part
        };
        let (line, said, part) = match (of(summary), of(totals)) {
            (Some(said), Some(total)) if !is_off(total, MISSING) => ("summary", said, OUTSIDE_FUNCTIONS),
            (Some(said), _) => ("summary", said, MISSING),
            (None, Some(total)) => ("totals", total, MISSING),
            (None, None) => continue,
        };
        if !is_off(said, part) {
            continue;
        }
        // Xdebug says how much memory was in use at the end or at most, which is not the sum of what functions allocated.
        if ["Memory", "Peakmemory"].contains(&&*metric.name) {
            continue;
        }
        let said: i64 = saturated(said.saturating_mul(factor.into()));
        let unit = Unit::parse(&metric.unit);
        let in_unit = |value: i64| Scale::automatic(&unit, metric.divisor, value).format(value);
        let (ran, took, name) = (in_unit(said), in_unit(metric.total), &metric.name);
        // Xdebug 3 includes what PHP does outside of functions, such as loading files.
        if is_elapsed && unit.family() == Family::Time && said > metric.total {
            meta.notes.push(format!(
                "the summary line says that PHP ran for {ran}, of which its functions took {took}"
            ));
        } else {
            meta.warnings.push(format!(
                "costs do not add up: the {line} line says {name} {ran}, the functions sum to {took}"
            ));
        }
    }
}
