//! `source`: the lines of a function with their values.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::profile::{CallTable, FrameId, FunctionId, Profile};
use crate::report::{Name, Origin, Source, SourceFunction, SourceLine};
use crate::tree::{By, KeyId, Subject, flat};
use crate::view::find::find;
use crate::view::{NotFound, Scope};

/// What `source` is told.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// Metric and filters; nodes are always functions.
    pub scope: Scope,
    /// The function, as typed.
    pub function: String,
    /// Whether it is taken literally.
    pub fixed: bool,
    /// How many functions at most; `None` for all.
    pub limit: Option<usize>,
}

/// The text of a source file.
#[derive(Clone, Debug)]
pub enum SourceText {
    /// The file that was read, and its lines.
    Found(String, Vec<String>),
    /// The first places that were looked at in vain.
    Missing(Vec<String>),
}

/// Lines that are shown before the first and after the last line with a value.
const AROUND: u32 = 3;

/// Self and total of every line of the functions that match.
///
/// A line's total counts a sample once, however often the line recurs on its stack. `text_of` finds
/// the source of a file by the name that the profile has for it. Fails where no function matches, or none
/// that does has a value.
pub fn source(
    profile: &Profile,
    options: &SourceOptions,
    text_of: &dyn Fn(&str) -> SourceText,
) -> Result<Source, NotFound> {
    let scope = Scope { by: By::Function, ..options.scope.clone() };
    let subject = scope.subject(profile);
    let found = find(&subject, &By::Function, &options.function, options.fixed)?;
    let mut header = scope.header(profile, "prof.source.v1");
    header.warnings.extend(found.note);
    let counted = flat(&subject);
    let wanted = |key| found.wanted[key];
    let lines = match &profile.calls {
        Some(calls) => lines_of_calls(&subject, calls, scope.metrics[0], &wanted),
        None => count_lines(&subject, &wanted),
    };
    let mut keys: Vec<KeyId> = subject.keys.ids().filter(|&key| found.wanted[key]).collect();
    let total = |key: &KeyId| counted.total[0][*key];
    keys.sort_by(|a, b| {
        total(b)
            .unsigned_abs()
            .cmp(&total(a).unsigned_abs())
            .then_with(|| subject.keys.name(*a).cmp(subject.keys.name(*b)))
    });
    let rest = keys.split_off(keys.len().min(options.limit.unwrap_or(usize::MAX)));
    header.elided_rows = rest.len() as u64;
    let mut functions = Vec::new();
    for key in keys {
        for (file, values) in lines.get(&key).into_iter().flatten() {
            functions.push(function(&subject, key, file, values, &counted, text_of));
        }
    }
    Ok(Source { header, functions })
}

/// Self and total by line number.
type Lines = BTreeMap<u32, (i64, i64)>;

/// The lines of the wanted functions: by function, then by the file that the lines stand in, since
/// functions of one name may stand in several.
fn count_lines<'s>(
    subject: &'s Subject<'_>,
    wanted: &dyn Fn(KeyId) -> bool,
) -> HashMap<KeyId, BTreeMap<&'s str, Lines>> {
    let symbols = &subject.profile.symbols;
    let mut counted: HashMap<KeyId, BTreeMap<&str, Lines>> = HashMap::new();
    let mut seen: Vec<(KeyId, &str, u32)> = Vec::new();
    for stack in subject.stacks() {
        let value = subject.series[0][stack];
        let frames = subject.profile.stacks.frames(stack);
        seen.clear();
        for (depth, &id) in frames.iter().enumerate() {
            let key = subject.keys.of_frame(id);
            if !wanted(key) || value == 0 {
                continue;
            }
            let frame = symbols.frames[id];
            let file = symbols.function_file(frame.function);
            let line =
                counted.entry(key).or_default().entry(file).or_default().entry(frame.line).or_default();
            if !seen.contains(&(key, file, frame.line)) {
                seen.push((key, file, frame.line));
                line.1 += value;
            }
            if depth + 1 == frames.len() {
                line.0 += value;
            }
        }
    }
    counted
}

/// The same of calls: a line's total is what it costs by itself and what it calls, but never more than
/// its function's, whose recursive calls contain each other.
fn lines_of_calls<'s>(
    subject: &'s Subject<'_>,
    calls: &CallTable,
    metric: usize,
    wanted: &dyn Fn(KeyId) -> bool,
) -> HashMap<KeyId, BTreeMap<&'s str, Lines>> {
    let symbols = &subject.profile.symbols;
    let mut counted: HashMap<KeyId, BTreeMap<&str, Lines>> = HashMap::new();
    let mut add = |function: FunctionId, place: FrameId, own: i64, called: i64| {
        let key = calls.frame[function].map(|frame| subject.keys.of_frame(frame));
        let Some(key) = key.filter(|&key| wanted(key) && (own, called) != (0, 0)) else { return };
        let place = symbols.frames[place];
        let lines = counted.entry(key).or_default().entry(symbols.function_file(place.function)).or_default();
        let line = lines.entry(place.line).or_default();
        let most = calls.totals[metric][function];
        line.0 = line.0.saturating_add(own);
        line.1 = line.1.saturating_add(own).saturating_add(called).min(most.max(line.0));
    };
    let lines = &calls.lines;
    for (row, &place) in lines.place.iter().enumerate() {
        add(lines.function[row], place, lines.self_values[metric][row], 0);
    }
    for edge in 0..calls.edge_count() {
        let (caller, callee) = (calls.caller[edge], calls.callee[edge]);
        if let Some(site) = calls.site[edge].filter(|_| caller != callee) {
            add(caller, site, 0, calls.edge_values[metric][edge]);
        }
    }
    counted
}

fn function(
    subject: &Subject<'_>,
    key: KeyId,
    file: &str,
    values: &Lines,
    counted: &crate::tree::Flat,
    text_of: &dyn Fn(&str) -> SourceText,
) -> SourceFunction {
    let found = if file.is_empty() { SourceText::Missing(Vec::new()) } else { text_of(file) };
    let line = |number: u32, text: Option<String>| {
        let (self_value, total) = values.get(&number).copied().unwrap_or_default();
        SourceLine { line: number, self_value, total, text }
    };
    let (lines, origin) = match found {
        SourceText::Missing(places) => {
            (values.keys().map(|&n| line(n, None)).collect(), Origin::Missing(places))
        }
        SourceText::Found(path, text) => {
            let known = || values.keys().copied().filter(|&number| number > 0);
            let first = known().min().unwrap_or(1).saturating_sub(AROUND).max(1);
            let last = known().max().unwrap_or(0).saturating_add(AROUND).min(text.len() as u32);
            let mut lines: Vec<SourceLine> =
                values.keys().filter(|&&n| n == 0).map(|&n| line(n, None)).collect();
            lines.extend((first..=last).map(|n| line(n, text.get(n as usize - 1).cloned())));
            // A file that is shorter than the profile says is not the one that was profiled.
            lines.extend(known().filter(|&n| n > last).map(|n| line(n, None)));
            (lines, Origin::Found(path))
        }
    };
    SourceFunction {
        name: subject.keys.name(key).clone(),
        file: (!file.is_empty()).then(|| Name::from(file)),
        self_value: counted.self_value[0][key],
        total: counted.total[0][key],
        lines,
        origin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_picture;

    #[test]
    fn a_recursive_line_counts_once_a_sample() {
        let profile = from_picture(
            "main@m.go:9;f@f.go:2;f@f.go:2 4\nmain@m.go:9;f@f.go:2;f@f.go:3 1\nmain@m.go:9;f@f.go:2;g@g.go:7 2",
        );
        let options =
            SourceOptions { scope: Scope::metric(0), function: "f".into(), fixed: false, limit: None };
        let text = |_: &str| SourceText::Found("f.go".into(), ["a", "b", "c"].map(String::from).to_vec());
        let source = source(&profile, &options, &text).unwrap();
        let drawn: Vec<String> = source.functions[0]
            .lines
            .iter()
            .map(|line| {
                format!(
                    "{} {}/{} {}",
                    line.line,
                    line.self_value,
                    line.total,
                    line.text.as_deref().unwrap_or("?")
                )
            })
            .collect();
        assert_eq!(drawn, ["1 0/0 a", "2 4/7 b", "3 1/1 c"]);
        assert_eq!((source.functions[0].self_value, source.functions[0].total), (5, 7));
    }
}
