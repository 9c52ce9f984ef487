//! Reads the JSON of scalene, a profiler for Python: time and memory per line, and how often it saw which stack.
//!
//! ```text
//! {"elapsed_time_sec": 69.1, "files": {"a.py": {"functions": [{"line": "sieve", "lineno": 4, …}],
//!   "lines": [{"lineno": 6, "line": "    data = bytearray(n)", "n_cpu_percent_python": 1.5, "n_cpu_percent_c": 0.5,
//!     "n_sys_percent": 0.1, "n_malloc_mb": 954.3}, …]}},
//!  "stacks": [[["a.py <module>:24;", "a.py sieve:6;"], {"count": 36, "python_time": 0.12, "c_time": 0.36, …}], …]}
//! ```
//!
//! Times are shares of the elapsed time: in Python, in native code, and of waiting and the system. A stack is one line, in the
//! function that starts before it or that the line names (`start_function_line`), or the function where a file has no lines. The stacks, which newer versions have, are a metric of their
//! own, since their times are shares of another whole.

use std::borrow::Cow;

use crate::format::decimals::Decimals;
use crate::format::json::{self, Json, Kind};
use crate::format::labels::sample_labels;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static SCALENE: Format = Format { name: NAME, title: "scalene profile", sniff, read };

const NAME: &str = "scalene";

fn sniff(head: &[u8]) -> Confidence {
    let keys = json::keys(head);
    let has = |key: &str| json::has(&keys, &[key]);
    let is_scalene = has("max_footprint_mb") && (has("files") || json::mentions(head, "\"n_cpu_percent_c\""))
        || has("elapsed_time_sec") && (has("files") || has("alloc_samples"))
        || has("alloc_samples") && has("combined_stacks");
    if is_scalene { Confidence::Certain } else { Confidence::No }
}

const WALL: usize = 0;
const ALLOCATED: usize = 1;

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let text = source.read_all()?;
    let mut json = Json::new(NAME, &text);
    let (mut files, mut stacks, mut elapsed) = (None, None, None);
    json.object()?;
    while let Some(key) = json.key()? {
        match &*key {
            "stacks" => {
                stacks = Some(json.position()).filter(|_| json.kind().is_ok_and(|kind| kind == Kind::Array));
                json.skip()?;
            }
            "files" => {
                files = Some(json.position());
                json.skip()?;
            }
            "elapsed_time_sec" => elapsed = json.number_if_any()?.filter(|&elapsed| elapsed > 0.0),
            _ => json.skip()?,
        }
    }
    let files = files.ok_or_else(|| ParseError::whole(NAME, "missing `files`"))?;
    let mut builder = ProfileBuilder::new(NAME, options);
    match elapsed {
        Some(elapsed) => {
            builder.metric("wall", "nanoseconds");
            builder.meta.duration_ns = Some((elapsed * 1e9).round() as i64);
        }
        None => {
            builder.metric("wall", "percent");
        }
    }
    builder.metric("alloc_space", "bytes");
    let mut reader = ScaleneReader { builder, elapsed, decimals: Decimals::default(), metrics: 2 };
    let stacks = match stacks {
        Some(at) => json.at(at).list(SampledStack::read)?,
        None => Vec::new(),
    };
    if stacks.iter().any(|stack| stack.count > 0) {
        reader.builder.metric("samples", "count");
        reader.metrics += 1;
        let note =
            "times and memory are those of lines, without callers; stacks have only the metric `samples`";
        reader.builder.meta.notes.push(note.to_string());
    }
    reader.files(&mut json.at(files))?;
    for stack in &stacks {
        reader.stack(stack);
    }
    Ok(finished(reader.builder)?)
}

/// A function or a line.
#[derive(Debug, Default)]
struct Item {
    number: u32,
    text: String,
    /// The first line of the function that a line belongs to, and 0 outside functions; newer versions say so.
    function_start: Option<u32>,
    /// Shares of the elapsed time in percent: Python, native code, system.
    shares: [f64; 3],
    mebibytes: f64,
}

/// A stack, and how often it was seen.
#[derive(Debug, Default)]
struct SampledStack {
    /// `a.py sieve:6;`, root first.
    frames: Vec<String>,
    count: i64,
}

impl SampledStack {
    /// Reads `[["a.py <module>:24;", …], {"count": 36, …}]`.
    fn read(json: &mut Json<'_>) -> Result<SampledStack, ParseError> {
        let mut stack = SampledStack::default();
        let mut number = 0;
        json.array()?;
        while json.element()? {
            match (number, json.kind()?) {
                (0, Kind::Array) => {
                    stack.frames =
                        json.list(|json| Ok(json.text_if_any()?.unwrap_or_default().into_owned()))?;
                }
                (1, Kind::Object) => {
                    json.object()?;
                    while let Some(key) = json.key()? {
                        let number = json.number_if_any()?;
                        if key == "count" {
                            stack.count = number.map_or(0, |count| count.max(0.0) as i64);
                        }
                    }
                }
                // Older versions write a list that begins with it.
                (1, Kind::Array) => {
                    let values = json.list(Json::number_if_any)?;
                    stack.count = values.first().copied().flatten().map_or(0, |count| count.max(0.0) as i64);
                }
                _ => json.skip()?,
            }
            number += 1;
        }
        Ok(stack)
    }
}

const SAMPLES: usize = 2;

const KINDS: [&str; 3] = ["python", "native", "system"];

impl Item {
    fn read(json: &mut Json<'_>) -> Result<Item, ParseError> {
        let mut item = Item::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let number = match &*key {
                // Other programs name functions, and call their numbers `line`.
                "line" if json.kind()? == Kind::Number => {
                    item.number = json.number_if_any()?.map_or(0, |number| number as u32);
                    continue;
                }
                "line" | "name" => {
                    item.text = json.text_if_any()?.unwrap_or_default().into_owned();
                    continue;
                }
                "lineno" => {
                    item.number = json.number_if_any()?.map_or(0, |number| number as u32);
                    continue;
                }
                "start_function_line" => {
                    item.function_start = json.number_if_any()?.map(|number| number as u32);
                    continue;
                }
                "n_cpu_percent_python" => &mut item.shares[0],
                "n_cpu_percent_c" => &mut item.shares[1],
                "n_sys_percent" => &mut item.shares[2],
                "n_malloc_mb" => &mut item.mebibytes,
                _ => {
                    json.skip()?;
                    continue;
                }
            };
            *number = json.number_if_any()?.filter(|number| number.is_finite()).unwrap_or_default().max(0.0);
        }
        Ok(item)
    }
}

struct ScaleneReader {
    builder: ProfileBuilder,
    elapsed: Option<f64>,
    decimals: Decimals,
    /// How many metrics there are.
    metrics: usize,
}

impl ScaleneReader {
    fn stack(&mut self, stack: &SampledStack) {
        if stack.count == 0 {
            return;
        }
        let frames = stack.frames.iter().map(|text| {
            let text = text.trim_end_matches(';');
            let (rest, line) = text.rsplit_once(':').unwrap_or((text, ""));
            let (file, name) = rest.rsplit_once(' ').unwrap_or(("", rest));
            let function = self.builder.script_function(name, file, 0);
            self.builder.frame(Frame { function, line: line.parse().unwrap_or(0), ..Frame::default() })
        });
        let frames: Vec<FrameId> = frames.collect();
        let id = self.builder.stack(&frames);
        let mut values = [0; 3];
        values[SAMPLES] = stack.count;
        self.builder.sample(id, LabelSetId::default(), None, &values);
    }

    fn files(&mut self, json: &mut Json<'_>) -> Result<(), ParseError> {
        json.object()?;
        while let Some(file) = json.key()? {
            let (mut functions, mut lines) = (Vec::new(), Vec::new());
            json.object()?;
            while let Some(key) = json.key()? {
                match &*key {
                    "functions" => functions = json.list(Item::read)?,
                    "lines" => lines = json.list(Item::read)?,
                    _ => json.skip()?,
                }
            }
            functions.sort_by_key(|function| function.number);
            if lines.is_empty() {
                for function in &functions {
                    self.item(function, &function.text, &file);
                }
            }
            for line in &lines {
                self.item(line, &function_of(line, &functions, &lines), &file);
            }
        }
        Ok(())
    }

    fn item(&mut self, item: &Item, name: &str, file: &str) {
        let function = self.builder.script_function(name, file, 0);
        let frame = self.builder.frame(Frame { function, line: item.number, ..Frame::default() });
        let stack = self.builder.stack(&[frame]);
        for (kind, share) in KINDS.into_iter().zip(item.shares) {
            let value = match self.elapsed {
                Some(elapsed) => (share / 100.0 * elapsed * 1e9).round() as i64,
                None => self.decimals.integer(&mut self.builder, WALL, share),
            };
            if value != 0 {
                let labels = sample_labels(&mut self.builder, |labels| labels.text("code", kind));
                let mut values = [0; 3];
                values[WALL] = value;
                self.builder.sample(stack, labels, None, &values[..self.metrics]);
            }
        }
        let bytes = (item.mebibytes * f64::from(1 << 20)).round() as i64;
        if bytes != 0 {
            let mut values = [0; 3];
            values[ALLOCATED] = bytes;
            self.builder.sample(stack, LabelSetId::default(), None, &values[..self.metrics]);
        }
    }
}

/// The function of a line. The list of functions lacks those that used little time, but not the first line of each: its text,
/// `def parse(n):`, has the name.
fn function_of<'f>(line: &'f Item, functions: &'f [Item], lines: &'f [Item]) -> Cow<'f, str> {
    let Some(start) = line.function_start else { return function_before(line, functions).into() };
    let starts = |item: &&Item| item.number == start;
    match functions.iter().find(starts) {
        _ if start == 0 => "<module>".into(),
        Some(function) => function.text.as_str().into(),
        None => {
            let defined = lines.iter().find(starts).and_then(|line| defined_name(&line.text));
            defined.map_or_else(|| format!("<function of line {start}>").into(), Cow::Borrowed)
        }
    }
}

/// The name of the function that a line of Python defines.
fn defined_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let definition = line.strip_prefix("async ").map_or(line, str::trim_start).strip_prefix("def ")?;
    let name = definition.split('(').next().unwrap_or_default().trim();
    Some(name).filter(|name| !name.is_empty())
}

/// The function of a line in the files of older versions: the last one that starts before it, if the line is indented.
fn function_before<'f>(line: &Item, functions: &'f [Item]) -> &'f str {
    let before =
        functions.iter().rev().find(|function| function.number > 0 && function.number <= line.number);
    let is_indented = line.text.starts_with([' ', '\t']);
    let starts = before.is_some_and(|function| function.number == line.number);
    before.filter(|_| is_indented || starts).map_or("<module>", |function| function.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        read(&mut Source::from_bytes(text.into()), options).unwrap()
    }

    #[test]
    fn lines_belong_to_functions() {
        let text = r#"{"elapsed_time_sec": 10, "files": {"a.py": {"functions": [{"line": "f", "lineno": 4}], "lines": [
            {"lineno": 6, "line": "    x()\n", "n_cpu_percent_python": 1.5, "n_cpu_percent_c": 0.5, "n_sys_percent": 0, "n_malloc_mb": 2},
            {"lineno": 9, "line": "f()\n", "n_cpu_percent_python": 1, "n_cpu_percent_c": 0, "n_sys_percent": 2}]}}}"#;
        assert_eq!(
            to_notation(&load(text)),
            "<module>@a.py:9 100000000 0 {code=python}\n<module>@a.py:9 200000000 0 {code=system}\n\
             f@a.py:6 0 2097152\nf@a.py:6 150000000 0 {code=python}\nf@a.py:6 50000000 0 {code=native}"
        );
        let text = r#"{"elapsed_time_sec": 10, "files": {"a.py": {"functions": [{"name": "f", "line": 42, "n_cpu_percent_python": 30}]}}}"#;
        assert_eq!(to_notation(&load(text)), "f@a.py:42 3000000000 0 {code=python}");
        let text = r#"{"max_footprint_mb": 1, "files": {"a.py": {"functions": [{"line": "f", "n_cpu_percent_python": 0.25}]}}}"#;
        let profile = load(text);
        assert_eq!(to_notation(&profile), "f@a.py:0 25 0 {code=python}");
        assert_eq!((profile.meta.metrics[0].divisor, &*profile.meta.metrics[0].unit), (100, "percent"));
    }

    #[test]
    fn lines_of_functions_that_are_not_listed_keep_their_function() {
        let text = r#"{"elapsed_time_sec": 10, "files": {"a.py": {"functions": [{"line": "burn", "lineno": 2}], "lines": [
            {"lineno": 3, "line": "    s = 0\n", "start_function_line": 2, "n_cpu_percent_python": 4},
            {"lineno": 6, "line": "    async def parse(n):\n", "start_function_line": 6},
            {"lineno": 7, "line": "        return n\n", "start_function_line": 6, "n_cpu_percent_python": 1},
            {"lineno": 9, "line": "        return n\n", "start_function_line": 8, "n_cpu_percent_python": 2},
            {"lineno": 10, "line": "    x = 1\n", "start_function_line": 0, "n_cpu_percent_python": 3}]}}}"#;
        let expected = "<function of line 8>@a.py:9 200000000 0 {code=python}\n<module>@a.py:10 300000000 0 {code=python}\n\
            burn@a.py:3 400000000 0 {code=python}\nparse@a.py:7 100000000 0 {code=python}";
        assert_eq!(to_notation(&load(text)), expected);
    }

    #[test]
    fn stacks_are_a_metric_of_their_own() {
        let text = r#"{"elapsed_time_sec": 10, "files": {"a.py": {"functions": [{"line": "f", "lineno": 4}], "lines": [
            {"lineno": 6, "line": "    x()\n", "n_cpu_percent_python": 1.5}]}},
            "stacks": [[["a.py <module>:9;", "/my dir/a.py f:6;"], {"c_time": 0.3, "count": 36, "cpu_samples": 0.5, "python_time": 0.2}]]}"#;
        let profile = load(text);
        let expected = "<module>@a.py:9;f@/my dir/a.py:6 0 0 36\nf@a.py:6 150000000 0 0 {code=python}";
        assert_eq!(to_notation(&profile), expected);
        assert_eq!((profile.meta.notes.len(), profile.meta.default_metric), (1, 0));
        assert_eq!(load(&text.replace("36", "0")).meta.metrics.len(), 2);
    }
}
