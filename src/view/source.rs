//! `source`: the lines of a function with their values.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::profile::{CallTable, FrameId, FunctionId, Profile};
use crate::report::{
    AnnotatedSource, Message, Name, Origin, OtherFile, Pair, PairBySide, SourceFunction, SourceLine,
};
use crate::tree::{By, KeyId, Subject};
use crate::view::find::find;
use crate::view::values::{CountedKeys, RowValues};
use crate::view::{NotFound, Scope, Sort, SortKey};

/// Options for `source`.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Metric and filters; nodes are always functions.
    pub scope: Scope,
    /// The function, as typed.
    pub function: String,
    /// Whether it is literal text rather than a regular expression.
    pub fixed: bool,
    /// The maximum number of functions; `None` for all.
    pub limit: Option<usize>,
}

/// The text of a source file.
#[derive(Clone, Debug)]
pub enum SourceText {
    /// The file that was read, and its lines.
    Found(String, Vec<String>),
    /// The first paths that were tried without success.
    Missing(Vec<String>),
    /// The same, and a file that has the name, but not all lines.
    Another(Vec<String>, String),
}

/// The number of lines shown before the first and after the last line with a value.
const AROUND: u32 = 3;

/// The number of lines shown of a function whose lines have no values of their own.
const START_LINES: u32 = 10;

/// Self and total of every line of the matching functions.
///
/// A line's total counts a sample once, however often the line recurs on its stack. `text_of` returns the source of a
/// file, given its name in the profile and its last line there: a shorter file is not the recorded one. Fails if no
/// function matches, or if no matching function has a value.
pub fn source(
    profile: &Profile,
    options: &SourceOptions,
    text_of: &dyn Fn(&str, u32) -> SourceText,
) -> Result<AnnotatedSource, NotFound> {
    let scope = Scope { by: By::Function, ..options.scope.clone() };
    let subject = scope.subject(profile);
    let found = find(&subject, &By::Function, &options.function, options.fixed)?;
    let mut header = scope.header(profile, "prof.source.v1");
    header.highlight = scope.highlight(&subject);
    header.warnings.extend(found.note.map(Message::note));
    let wanted = |key| found.wanted[key];
    let metrics: Vec<usize> =
        scope.metrics[..1].iter().copied().chain(scope.base.iter().map(|base| base.metric)).collect();
    let row_values = RowValues::new(&header);
    let view = SourceView {
        counted: CountedKeys::new(&subject, &row_values),
        lines: match &profile.calls {
            Some(calls) => lines_of_calls(&subject, calls, &metrics, &wanted),
            None => count_lines(&subject, &wanted),
        },
        last_lines: last_lines(profile),
        text_of,
    };
    let sort = Sort::by(if scope.base.is_some() { SortKey::Delta } else { SortKey::Total });
    let mut keys: Vec<KeyId> = subject.keys.ids().filter(|&key| found.wanted[key]).collect();
    header.elided_rows = view.counted.cut(&mut keys, &sort, options.limit).len() as u64;
    let functions = keys.into_iter().flat_map(|key| view.functions(key)).collect();
    Ok(AnnotatedSource { header, functions })
}

/// Self and total of a line, on the new side and on the old one.
type CountedSides = [Pair; 2];

/// Values by line number.
#[derive(Default)]
struct LineValues {
    lines: BTreeMap<u32, CountedSides>,
    /// The line where the function starts; 0 if unknown.
    start: u32,
}

/// The lines of functions, by function and then by file, because functions of the same name can be in several
/// files.
type LinesByFile<'s> = HashMap<KeyId, BTreeMap<&'s str, LineValues>>;

/// The last line of each file that a profile mentions. Kotlin's compiler numbers lines of inlined functions from the end of
/// the file on, so nothing is known about its files.
fn last_lines(profile: &Profile) -> HashMap<&str, u32> {
    let symbols = &profile.symbols;
    let mut last = HashMap::new();
    for frame in &symbols.frames {
        let file = symbols.function_file(frame.function);
        if file.rsplit('.').next() != Some("kt") {
            let line: &mut u32 = last.entry(file).or_default();
            *line = frame.line.max(*line);
        }
    }
    last
}

/// The lines of the wanted functions.
fn count_lines<'s>(subject: &'s Subject<'_>, wanted: &dyn Fn(KeyId) -> bool) -> LinesByFile<'s> {
    let symbols = &subject.profile.symbols;
    let mut counted = LinesByFile::new();
    let mut seen: Vec<(KeyId, &str, u32)> = Vec::new();
    for stack in subject.stacks() {
        let frames = subject.profile.stacks.frames(stack);
        seen.clear();
        for (depth, &id) in frames.iter().enumerate() {
            let key = subject.keys.of_frame(id);
            if !wanted(key) {
                continue;
            }
            let frame = symbols.frames[id];
            let file = symbols.function_file(frame.function);
            let of_file = counted.entry(key).or_default().entry(file).or_default();
            of_file.start = symbols.functions[frame.function].line;
            let line = of_file.lines.entry(frame.line).or_default();
            let is_first = !seen.contains(&(key, file, frame.line));
            if is_first {
                seen.push((key, file, frame.line));
            }
            for (side, value) in line.iter_mut().zip(subject.values(stack)) {
                side.total += if is_first { value } else { 0 };
                side.self_value += if depth + 1 == frames.len() { value } else { 0 };
            }
        }
    }
    counted
}

/// The same for profiles of calls: a line's total is its own cost plus that of its calls, but at most the
/// function's total, because recursive calls contain each other.
fn lines_of_calls<'s>(
    subject: &'s Subject<'_>,
    calls: &CallTable,
    metrics: &[usize],
    wanted: &dyn Fn(KeyId) -> bool,
) -> LinesByFile<'s> {
    let symbols = &subject.profile.symbols;
    let mut counted = LinesByFile::new();
    let mut add =
        |function: FunctionId, place: FrameId, own: &[Vec<i64>], called: &[Vec<i64>], row: usize| {
            let key = calls.frame[function].map(|frame| subject.keys.of_frame(frame));
            let of =
                |columns: &[Vec<i64>], metric: usize| columns.get(metric).map_or(0, |column| column[row]);
            let has_value = metrics.iter().any(|&metric| (of(own, metric), of(called, metric)) != (0, 0));
            let Some(key) = key.filter(|&key| wanted(key) && has_value) else { return };
            let place = symbols.frames[place];
            let of_file =
                counted.entry(key).or_default().entry(symbols.function_file(place.function)).or_default();
            let line = of_file.lines.entry(place.line).or_default();
            for (side, &metric) in line.iter_mut().zip(metrics) {
                let (own, called, most) =
                    (of(own, metric), of(called, metric), calls.totals[metric][function]);
                side.self_value = side.self_value.saturating_add(own);
                let total = side.total.saturating_add(own).saturating_add(called);
                side.total = total.min(most.max(side.self_value));
            }
        };
    let lines = &calls.lines;
    for (row, &place) in lines.place.iter().enumerate() {
        add(lines.function[row], place, &lines.self_values, &[], row);
    }
    for edge in 0..calls.edge_count() {
        let (caller, callee) = (calls.caller[edge], calls.callee[edge]);
        if let Some(site) = calls.site[edge].filter(|_| caller != callee) {
            add(caller, site, &[], &calls.edge_values, edge);
        }
    }
    counted
}

/// The counted lines and the source of their files.
struct SourceView<'s, 'p> {
    counted: CountedKeys<'s, 'p>,
    lines: LinesByFile<'s>,
    /// The last line of each file that the profile mentions.
    last_lines: HashMap<&'s str, u32>,
    text_of: &'s dyn Fn(&str, u32) -> SourceText,
}

impl SourceView<'_, '_> {
    /// The report of a function, one per file with lines of it.
    fn functions(&self, key: KeyId) -> Vec<SourceFunction> {
        let files = self.lines.get(&key).into_iter().flatten();
        files.map(|(file, lines)| self.function(key, file, lines)).collect()
    }

    /// The report of a line with its values on both sides.
    fn line(&self, number: u32, [new, old]: CountedSides, text: Option<String>) -> SourceLine {
        let old = self.counted.row_values.old_pair(old);
        SourceLine { line: number, values: PairBySide::new(new, old), text }
    }

    fn function(&self, key: KeyId, file: &str, values: &LineValues) -> SourceFunction {
        let last_line = self.last_lines.get(file).copied().unwrap_or_default();
        let found =
            if file.is_empty() { SourceText::Missing(Vec::new()) } else { (self.text_of)(file, last_line) };
        let line = |number: u32, text: Option<String>| {
            self.line(number, values.lines.get(&number).copied().unwrap_or_default(), text)
        };
        let without_text = || values.lines.keys().map(|&n| line(n, None)).collect();
        let mut another = None;
        let (lines, origin) = match found {
            SourceText::Missing(places) => (without_text(), Origin::Missing(places)),
            SourceText::Another(places, path) => {
                another = Some(OtherFile { path, lacks_line: last_line });
                (without_text(), Origin::Missing(places))
            }
            SourceText::Found(path, text) => {
                let known = || values.lines.keys().copied().filter(|&number| number > 0);
                let (first, last) = match (known().min(), known().max()) {
                    (Some(first), Some(last)) => (first.saturating_sub(AROUND), last.saturating_add(AROUND)),
                    // Values of unknown lines: the start of the function at least shows which one it is.
                    _ if values.start > 0 => (values.start, values.start.saturating_add(START_LINES - 1)),
                    // No part of the file is relevant.
                    _ => (1, 0),
                };
                let (first, last) = (first.max(1), last.min(text.len() as u32));
                let mut lines: Vec<SourceLine> =
                    values.lines.keys().filter(|&&n| n == 0).map(|&n| line(n, None)).collect();
                lines.extend((first..=last).map(|n| line(n, text.get(n as usize - 1).cloned())));
                // The copy of a file in a source map may be shorter.
                lines.extend(known().filter(|&n| n > last).map(|n| line(n, None)));
                (lines, Origin::Found(path))
            }
        };
        SourceFunction {
            name: self.counted.subject.keys.name(key).clone(),
            file: (!file.is_empty()).then(|| Name::from(file)),
            values: self.counted.pairs(key),
            lines,
            origin,
            another,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn a_recursive_line_counts_once_a_sample() {
        let profile = from_notation(
            "main@m.go:9;f@f.go:2;f@f.go:2 4\nmain@m.go:9;f@f.go:2;f@f.go:3 1\nmain@m.go:9;f@f.go:2;g@g.go:7 2",
        );
        let options =
            SourceOptions { scope: Scope::metric(0), function: "f".into(), fixed: false, limit: None };
        let text =
            |_: &str, _: u32| SourceText::Found("f.go".into(), ["a", "b", "c"].map(String::from).to_vec());
        let source = source(&profile, &options, &text).unwrap();
        let drawn: Vec<String> = source.functions[0]
            .lines
            .iter()
            .map(|line| {
                format!(
                    "{} {}/{} {}",
                    line.line,
                    line.values.new.self_value,
                    line.values.new.total,
                    line.text.as_deref().unwrap_or("?")
                )
            })
            .collect();
        assert_eq!(drawn, ["1 0/0 a", "2 4/7 b", "3 1/1 c"]);
        assert_eq!(source.functions[0].values.new, Pair { self_value: 5, total: 7 });
    }

    #[test]
    fn the_last_line_of_a_file_is_that_of_all_its_functions() {
        let profile = from_notation("main@m.go:9;f@f.go:2 4\nmain@m.go:3;g@f.go:7 1\nh@h.kt:900 1");
        let last = last_lines(&profile);
        assert_eq!(["m.go", "f.go", "h.kt"].map(|file| last.get(file).copied()), [Some(9), Some(7), None]);
    }

    #[test]
    fn a_function_without_known_lines_shows_no_source() {
        let profile = from_notation("main@m.go:0;f@f.go:0 4\nmain@m.go:3 1");
        let options =
            SourceOptions { scope: Scope::metric(0), function: "f".into(), fixed: false, limit: None };
        let text =
            |_: &str, _: u32| SourceText::Found("f.go".into(), ["a", "b", "c"].map(String::from).to_vec());
        let source = source(&profile, &options, &text).unwrap();
        let lines: Vec<_> =
            source.functions[0].lines.iter().map(|line| (line.line, line.values.new.total)).collect();
        assert_eq!(lines, [(0, 4)]);
    }

    #[test]
    fn lines_have_values_of_both_sides_and_are_sorted_by_change() {
        let profile = from_notation(
            "main@m.go:9;f@f.go:2 4 1\nmain@m.go:9;f@f.go:3;f@f.go:3 0 5\nmain@m.go:9;fast@g.go:7 9 8",
        );
        let function = "^f".to_string();
        let options = SourceOptions { scope: Scope::compared(), function, fixed: false, limit: None };
        let source = source(&profile, &options, &|_: &str, _: u32| SourceText::Missing(Vec::new())).unwrap();
        let pair = |pair: Option<Pair>| pair.map(|pair| (pair.self_value, pair.total)).unwrap();
        let drawn: Vec<_> = source
            .functions
            .iter()
            .map(|function| {
                let lines = function
                    .lines
                    .iter()
                    .map(|line| (line.line, line.values.new.total, pair(line.values.old)));
                (
                    &*function.name,
                    function.values.new.total,
                    pair(function.values.delta),
                    lines.collect::<Vec<_>>(),
                )
            })
            .collect();
        let lines = vec![(2, 4, (1, 1)), (3, 0, (5, 5))];
        assert_eq!(drawn, [("f", 4, (-2, -2), lines), ("fast", 9, (1, 1), vec![(7, 9, (8, 8))])]);
    }

    #[test]
    fn a_removed_function_is_found_on_the_old_side() {
        let profile = from_notation("main@m.go:9;f@f.go:2 0 3\nmain@m.go:9 1 1");
        let options =
            SourceOptions { scope: Scope::compared(), function: "f".into(), fixed: false, limit: None };
        let source = source(&profile, &options, &|_: &str, _: u32| SourceText::Missing(Vec::new())).unwrap();
        assert_eq!(
            (source.functions[0].values.new.total, source.functions[0].values.old.unwrap().total),
            (0, 3)
        );
    }
}
