//! Stacks of Python, whose frames contain a source location: `load (shop/orders.py:31)` of py-spy, or `orders.py:load:31` of
//! Python's own profiler (`profiling.sampling --collapsed`).
//!
//! The line is the one that was executing, or with py-spy's `--function` the first line of the function. Executing
//! lines are removed from the name, so that each function is one row, and `--by line` still distinguishes the
//! lines. First lines stay in the name, because they distinguish functions with the same name.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::name::is_python;
use crate::profile::{Column, Frame, FrameId, Function, FunctionId, Profile, StringId};

/// A frame with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PythonFrame<'a> {
    function: &'a str,
    file: &'a str,
    /// 0 if there is none.
    line: u32,
}

/// The parts of `load (shop/orders.py:31)` or `load (shop/orders.py)`.
fn place(text: &str) -> Option<PythonFrame<'_>> {
    let (function, place) = text.strip_suffix(')')?.split_once(" (")?;
    let (file, line) = match place.rsplit_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => (file, line.parse().ok()?),
        _ => (place, 0),
    };
    let is_name = !function.is_empty() && !function.contains(' ');
    (is_name && is_python(file)).then_some(PythonFrame { function, file, line })
}

/// The parts of `orders.py:load:31`.
fn own_place(text: &str) -> Option<PythonFrame<'_>> {
    let (rest, line) = text.rsplit_once(':')?;
    let (file, function) = rest.rsplit_once(':')?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = !function.is_empty() && !function.contains(' ') && !is_number(function);
    let line = line.parse().ok().filter(|_| is_number(line))?;
    (is_name && is_python(file)).then_some(PythonFrame { function, file, line })
}

/// The number of the thread that a name of Python's own profiler stands for.
pub(super) fn thread_number(name: &str) -> Option<i64> {
    name.strip_prefix("tid:")?.parse().ok()
}

/// A profiler of Python that writes places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Python {
    /// py-spy, which samples at intervals of elapsed time.
    PySpy,
    /// The one that comes with Python.
    Own,
}

/// Moves files and lines out of function names if the input is from one of these profilers, which is returned; leaves other input
/// unchanged.
pub(super) fn move_locations(profile: &mut Profile) -> Option<Python> {
    let before = profile.symbols.clone();
    let texts: Column<FunctionId, &str> = before.functions.ids().map(|id| before.function_name(id)).collect();
    let mut places: Column<FunctionId, Option<PythonFrame<'_>>> =
        texts.iter().map(|text| place(text)).collect();
    let mut recorder = Python::PySpy;
    if !is_by_py_spy(&texts, &places) {
        places = texts.iter().map(|text| own_place(text)).collect();
        recorder = Python::Own;
        if !is_by_python(&texts, &places) {
            return None;
        }
    }
    profile.meta.by_clock = recorder == Python::PySpy;
    let lines_run = recorder == Python::Own || are_executing_lines(&places);
    let symbols = Arc::make_mut(&mut profile.symbols);
    let mut kept: HashMap<(StringId, StringId), FunctionId> = HashMap::new();
    let mut moved: Column<FunctionId, FunctionId> = symbols.functions.ids().collect();
    for (id, place) in places.enumerate() {
        let Some(place) = place else { continue };
        let file = symbols.strings.intern(place.file);
        if lines_run {
            let name = symbols.strings.intern(place.function);
            symbols.functions[id] = Function { name, file, line: 0, column: 0, by_place: true };
            moved[id] = *kept.entry((name, file)).or_insert(id);
        } else {
            let function = &mut symbols.functions[id];
            (function.file, function.line) = (file, place.line);
        }
    }
    let frames: Vec<FrameId> = symbols.frames.ids().collect();
    for id in frames {
        let Frame { function, .. } = symbols.frames[id];
        if let (true, Some(place)) = (lines_run, places[function]) {
            symbols.frames[id] = Frame { function: moved[function], line: place.line, ..symbols.frames[id] };
        }
    }
    Some(recorder)
}

/// Nearly all frames must be those of Python's own profiler, apart from its threads and what has no place, such as `<GC>`.
fn is_by_python(
    texts: &Column<FunctionId, &str>,
    places: &Column<FunctionId, Option<PythonFrame<'_>>>,
) -> bool {
    let is_frame = |text: &str| {
        let is_mark = text.starts_with('<') && text.ends_with('>');
        !is_mark && thread_number(text).is_none()
    };
    let all = texts.iter().filter(|text| is_frame(text)).count();
    let python = places.iter().flatten().count();
    let with_line = places.iter().flatten().any(|place| place.line > 0);
    with_line && python * 10 >= all * 9
}

/// Nearly all frames must look like py-spy's, and some must be Python; with `--native` the others look like
/// `PyObject_Call (libpython3.11.so)`, or are an address each: `0x7f8df3e4524a (libc.so.6)`.
fn is_by_py_spy(
    texts: &Column<FunctionId, &str>,
    places: &Column<FunctionId, Option<PythonFrame<'_>>>,
) -> bool {
    // `--subprocesses` puts `process 812:"python shop.py"` above the stacks, `--threads` `thread (812): MainThread`.
    let is_frame = |text: &str| !["process ", "thread (", "0x"].iter().any(|other| text.starts_with(other));
    let frames = || texts.enumerate().filter(|(_, text)| is_frame(text));
    let all = frames().count();
    let alike = frames().filter(|(_, text)| text.ends_with(')') && text.contains(" (")).count();
    let python = places.iter().flatten().count();
    let with_line = places.iter().flatten().filter(|place| place.line > 0).count();
    alike * 10 >= all * 9 && python * LEAST_PYTHON > all && with_line * 2 > python
}

/// One in so many distinct functions is Python: those of the interpreter and of C libraries are more.
const LEAST_PYTHON: usize = 10;

/// Whether the lines are executing lines rather than first lines of functions.
fn are_executing_lines(places: &Column<FunctionId, Option<PythonFrame<'_>>>) -> bool {
    let mut lines: HashMap<(&str, &str), (u32, bool)> = HashMap::new();
    let mut modules = HashSet::new();
    for place in places.iter().flatten() {
        if place.function == "<module>" && !place.file.starts_with('<') {
            // A module starts at its first line.
            if place.line > 1 {
                return true;
            }
            modules.insert(place.file);
        }
        // Several `<lambda>` of a file are several functions.
        if !place.function.starts_with('<') {
            let (first, several) = lines.entry((place.function, place.file)).or_insert((place.line, false));
            *several |= *first != place.line;
        }
    }
    // Older versions of py-spy omit the class of a method, so a few functions with the same name in one file are not evidence of
    // executing lines if a module was seen at its first line. Of several modules, not all are a line long.
    let several = lines.values().filter(|(_, several)| *several).count();
    match modules.len() {
        0 => several > 0,
        1 => several * 10 > lines.len(),
        _ => several * 2 > lines.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{LoadOptions, to_notation};
    use crate::tree::{By, Keys};

    fn load(text: &str) -> Profile {
        let options = LoadOptions::default();
        format::load(&mut Source::from_bytes(text.into()), options, format::named("collapsed")).unwrap()
    }

    fn names(profile: &Profile, by: &By) -> Vec<String> {
        let keys = Keys::new(profile, by);
        let mut names: Vec<String> =
            profile.symbols.frames.ids().map(|id| keys.name(keys.of_frame(id)).to_string()).collect();
        names.sort();
        names.dedup();
        names
    }

    #[test]
    fn frames_are_split_into_their_parts() {
        for (text, want) in [
            ("f (x.py:6)", Some(("f", "x.py", 6))),
            ("f (x.py)", Some(("f", "x.py", 0))),
            (
                "<module> (C:\\Program Files (x86)\\x.py:1)",
                Some(("<module>", "C:\\Program Files (x86)\\x.py", 1)),
            ),
            ("_run_code (<frozen runpy>:88)", Some(("_run_code", "<frozen runpy>", 88))),
            ("A.f.<locals>.<listcomp> (a/x.pyx:6)", Some(("A.f.<locals>.<listcomp>", "a/x.pyx", 6))),
            ("main (server.go:6)", None),
            ("f(x.py:6)", None),
            ("operator new (x.py:6)", None),
            ("f (x.py:-1)", None),
            ("f (x.py:99999999999)", None),
            ("f (<>:1)", None),
            ("thread (0x7F00)", None),
        ] {
            let found = place(text).map(|place| (place.function, place.file, place.line));
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn frames_of_pythons_own_profiler_are_split_into_their_parts() {
        for (text, want) in [
            ("parse.py:Parser.add:328", Some(("Parser.add", "parse.py", 328))),
            ("<frozen runpy>:_run_code:87", Some(("_run_code", "<frozen runpy>", 87))),
            ("C:\\a\\x.py:<module>:0", Some(("<module>", "C:\\a\\x.py", 0))),
            ("a::b:12", None),
            ("x.py:6", None),
            ("x.py:6:12", None),
            ("lists:map/2", None),
            ("main.go:main:6", None),
            ("x.py:f:-1", None),
            ("C:\\x.exe", None),
        ] {
            let found = own_place(text).map(|place| (place.function, place.file, place.line));
            assert_eq!(found, want, "{text}");
        }
        let profile = load(
            "tid:28;<native>;<frozen runpy>:run:87;a.py:f:6 3\ntid:28;<native>;<frozen runpy>:run:88;a.py:f:7 4\n",
        );
        assert_eq!(names(&profile, &By::Function), ["<native>", "f a.py", "run <frozen runpy>"]);
        assert_eq!(names(&profile, &By::File), ["<frozen runpy>", "<unknown>", "a.py"]);
        // Some names alone say nothing.
        let other = "a::b:12;x.py:f:3 1\nlists:map/2;C:\\x.exe 2\n";
        assert_eq!(names(&load(other), &By::Function).len(), 4);
    }

    #[test]
    fn executing_lines_of_a_function_are_one_row() {
        let profile = load(
            "<module> (x.py:20);f (x.py:6) 3\n<module> (x.py:20);f (x.py:7) 4\n<module> (x.py:21);f (y.py:7) 5\n",
        );
        assert_eq!(names(&profile, &By::Function), ["<module> x.py", "f x.py", "f y.py"]);
        let lines = ["<module> x.py:20", "<module> x.py:21", "f x.py:6", "f x.py:7", "f y.py:7"];
        assert_eq!(names(&profile, &By::Line), lines);
        assert_eq!(to_notation(&profile).lines().count(), 3);
        // Without a module, several lines of one function are sufficient evidence.
        assert_eq!(names(&load("f (x.py:6) 3\nf (x.py:7) 4\n"), &By::Function), ["f x.py"]);
        // A module with a single line is no evidence about other functions.
        let command = load("<module> (<string>:1);f (x.py:6) 3\n<module> (<string>:1);f (x.py:7) 4\n");
        assert_eq!(names(&command, &By::Function), ["<module> <string>", "f x.py"]);
    }

    #[test]
    fn threads_and_native_code_are_no_evidence_against_py_spy() {
        let profile = load(
            "thread (18081): MainThread;<module> (x.py:20);f (x.py:6) 3\nthread (18087);f (x.py:7) 4\nthread (18088) 1\n",
        );
        assert_eq!(names(&profile, &By::Function), ["<module> x.py", "f x.py"]);
        let native = (1..9).map(|n| format!("0x7f{n} (libc.so.6);call{n} (_json.c:{n});f (x.py:{n}) 1\n"));
        let profile = load(&native.collect::<Vec<String>>().concat());
        assert!(names(&profile, &By::Function).contains(&"f x.py".to_string()));
    }

    #[test]
    fn first_lines_of_functions_stay_in_their_names() {
        let text = "<module> (x.py:1);f (x.py:6);g (x.py:9) 3\n<module> (x.py:1);h (x.py:7) 4\n";
        let profile = load(text);
        assert_eq!(
            names(&profile, &By::Function),
            ["<module> (x.py:1)", "f (x.py:6)", "g (x.py:9)", "h (x.py:7)"]
        );
        assert_eq!(names(&profile, &By::File), ["x.py"]);
        assert_eq!(names(&profile, &By::Package), ["x"]);
        // What many functions of a file are called, and methods of several classes that are imported.
        let text = "<module> (x.py:1);<lambda> (x.py:6) 3\n<module> (x.py:1);<lambda> (x.py:7) 4\n";
        assert_eq!(names(&load(text), &By::Function).len(), 3);
        let text = "<module> (x.py:1);<module> (y.py:1);load (z.py:6);f (z.py:2) 3\n<module> (x.py:1);load (z.py:7) 4\n";
        assert_eq!(names(&load(text), &By::Function).len(), 5);
    }

    #[test]
    fn other_input_is_left_unchanged() {
        for text in ["main;f (x.py:6) 3\nmain;g;h 2\n", "a (b.c:3);d (e.c:4) 1\n", "f (x.py);g (x.py) 1\n"] {
            let profile = load(text);
            assert!(
                profile.symbols.functions.iter().all(|function| function.file == StringId::default()),
                "{text}"
            );
        }
        let native = "process 8:\"python x.py\";<module> (x.py:9);f (x.py:6);g (x.py:8);PyObject_Call (libpython3.11.so) 3\n";
        let expected = ["<module> x.py", "PyObject_Call (libpython3.11.so)", "f x.py", "g x.py"];
        assert_eq!(names(&load(native), &By::Function), expected);
    }

    #[test]
    fn stacks_survive_a_round_trip() {
        for text in [
            "<module> (x.py:20);f (x.py:6) 3\n<module> (x.py:20);f (x.py:7) 4\n",
            "<module> (x.py:1);f (x.py:6) 3\n<module> (x.py:1);g (x.py:9) 4\n",
            "<module> (x.py:20);f (x.py) 3\n<module> (x.py:20);f (x.py:7) 4\n",
        ] {
            let mut bytes = Vec::new();
            format::writer_named("collapsed").unwrap().write_to(&load(text), 0, false, &mut bytes).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), text);
        }
    }
}
