//! Granularity: what distinguishes frames (functions, lines, files …).

use std::fmt::Write;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};

use crate::pattern::{Pattern, Patterns};
use crate::profile::{Column, Frame, FrameId, FunctionId, HashIndex, Id, Profile, StringId, Symbols, ids};
use crate::transform::Marks;

ids! {
    /// A row of [`Keys`]; row 0 stands for the whole profile.
    KeyId;
}

/// What to group frames by, as given by `--by`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The function: its name, and in JavaScript also its location.
    #[default]
    Function,
    /// The name of the function only.
    Name,
    /// The source line of the function.
    Line,
    /// The source file.
    File,
    /// The package; without one the binary, and without that the folder of the file.
    Package,
    /// The binary or library.
    Mapping,
    /// The instruction's address.
    Address,
    /// The value of the label with this key, in place of the stack.
    Label(String),
}

impl By {
    /// What may be typed besides `label:KEY`.
    pub const WORDS: [&str; 7] = ["function", "name", "line", "file", "package", "mapping", "address"];

    /// The noun for one node, and its plural.
    pub fn noun(&self) -> (&'static str, &'static str) {
        match self {
            By::Function | By::Name => ("function", "functions"),
            By::Line => ("line", "lines"),
            By::File => ("file", "files"),
            By::Package => ("package", "packages"),
            By::Mapping => ("mapping", "mappings"),
            By::Address => ("address", "addresses"),
            By::Label(_) => ("value", "values"),
        }
    }
}

/// What frames are grouped into: the name and location of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The unique name.
    pub name: Arc<str>,
    /// The name of the function only; equal to `name` if that suffices.
    pub function: Arc<str>,
    /// The source file, unless there are several.
    pub file: Option<Arc<str>>,
    /// The source line, unless there are several.
    pub line: Option<u32>,
    /// The number of distinct source files of the functions with this name.
    pub files: u32,
}

/// The distinct keys of a profile, and the key of every frame.
#[derive(Clone, Debug)]
pub struct Keys {
    rows: Column<KeyId, Key>,
    of_frame: Column<FrameId, KeyId>,
}

impl Keys {
    /// Assigns a key to each frame of `profile`.
    pub fn new(profile: &Profile, by: &By) -> Self {
        let symbols = &profile.symbols;
        let mut builder = KeyBuilder::default();
        let all: Arc<str> = "(all)".into();
        builder.rows.push(Key { name: all.clone(), function: all, file: None, line: None, files: 0 });
        builder.first_file.push(StringId::default());
        let mut name = String::new();
        let mut make = |frame: &Frame| {
            name.clear();
            write_name(&mut name, symbols, frame, by);
            builder.key(&name, symbols, frame, by)
        };
        // A line inlined from another file does not say where the function is.
        let is_line = |frame: &Frame| frame.inlined || frame.line != 0;
        let by_function = profile.calls.is_some() && *by != By::Line;
        // What depends only on the function is computed once per function: a function has about five
        // frames.
        let is_of_function = matches!(by, By::Function | By::Name);
        let mut of_function: Column<FunctionId, Option<KeyId>> =
            Column::filled(None, symbols.functions.len());
        let of_frame = symbols.frames.map(|frame| {
            if by_function && is_line(frame) {
                whole()
            } else if is_of_function {
                *of_function[frame.function].get_or_insert_with(|| make(frame))
            } else {
                make(frame)
            }
        });
        Keys { rows: builder.rows, of_frame }
    }

    /// The key of a frame.
    #[inline]
    pub fn of_frame(&self, frame: FrameId) -> KeyId {
        self.of_frame[frame]
    }

    /// The keys of the frames of a profile for which `is_wanted` holds; `symbols` are those that the keys were made from.
    pub fn of_frames(&self, symbols: &Symbols, is_wanted: impl Fn(&Frame) -> bool) -> Column<KeyId, bool> {
        let wanted = symbols.frames.enumerate().filter(|(_, frame)| is_wanted(frame));
        Column::marking(wanted.map(|(frame, _)| self.of_frame(frame)), self.len())
    }

    /// The description of a key.
    pub fn get(&self, key: KeyId) -> &Key {
        &self.rows[key]
    }

    /// The unique name of a key.
    pub fn name(&self, key: KeyId) -> &Arc<str> {
        &self.rows[key].name
    }

    /// Number of keys, the one for the whole profile included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Never true: there is always the key of the whole profile.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All keys in the order of their frames, without the key of the whole profile.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> + use<> {
        self.rows.ids().skip(1)
    }
}

#[derive(Default)]
struct KeyBuilder {
    rows: Column<KeyId, Key>,
    /// The key of each name.
    index: HashIndex<KeyId>,
    first_file: Column<KeyId, StringId>,
    /// The other files of a key, if it has several: a file counts once, however many frames are in it.
    further_files: HashSet<(KeyId, StringId)>,
    /// The names of files, which many keys share.
    file_names: HashMap<StringId, Arc<str>>,
}

impl KeyBuilder {
    fn key(&mut self, name: &str, symbols: &Symbols, frame: &Frame, by: &By) -> KeyId {
        let function = symbols.functions[frame.function];
        let file = symbols.strings.get(function.file);
        let line = match by {
            By::Line | By::Address => frame.line,
            _ => function.line,
        };
        let hash = self.index.hash(name);
        if let Some(id) = self.index.find(hash, |id| &*self.rows[id].name == name) {
            let is_other = !file.is_empty() && function.file != self.first_file[id];
            let is_new = is_other && self.further_files.insert((id, function.file));
            let row = &mut self.rows[id];
            row.files += u32::from(is_new);
            if row.file.as_deref().unwrap_or_default() != file {
                row.file = None;
            }
            if row.line != Some(line) {
                row.line = None;
            }
            return id;
        }
        let name: Arc<str> = name.into();
        let full = symbols.strings.get(function.name);
        let is_function = matches!(by, By::Function | By::Name | By::Line | By::Address);
        let alone: Arc<str> = if is_function && full != &*name { full.into() } else { name.clone() };
        let has_file = !file.is_empty() && *by != By::Mapping && *by != By::Package;
        let file_name = || self.file_names.entry(function.file).or_insert_with(|| file.into()).clone();
        let id = self.rows.push(Key {
            name,
            function: alone,
            file: has_file.then(file_name),
            line: (line != 0 && is_function).then_some(line),
            files: u32::from(!file.is_empty()),
        });
        self.index.insert(hash, id);
        self.first_file.push(function.file);
        id
    }
}

/// The frames that `patterns` match under `by`. A node can be typed as it is shown on screen, for
/// example `work file.py:12` with `--by line`.
pub fn marks(profile: &Profile, patterns: &Patterns, by: &By) -> Marks {
    let of_each = patterns.iter().map(|pattern| marks_of(profile, pattern, by));
    let all = of_each.reduce(|all, marks| all.or(&marks));
    all.unwrap_or_else(|| Marks::new(profile, patterns))
}

/// The frames that a pattern matches under `by`. An exact name is that of a node if there is one; else it is that of
/// the functions in any file, whose nodes are called `pay file:///srv/app.mjs:52:19`.
fn marks_of(profile: &Profile, pattern: &Pattern, by: &By) -> Marks {
    let write_name = |out: &mut String, frame: &Frame| write_name(out, &profile.symbols, frame, by);
    if let Some(name) = pattern.exact_name() {
        let marks = Marks::named(profile, name, &write_name);
        if marks.match_profile(profile) {
            return marks;
        }
    }
    let patterns = Patterns::from_iter([pattern.clone()]);
    match by {
        By::Function | By::Name | By::Label(_) => Marks::new(profile, &patterns),
        _ => Marks::of_nodes(profile, &patterns, &write_name),
    }
}

/// Writes the unique name of the key of `frame` under `by`.
fn write_name(out: &mut String, symbols: &Symbols, frame: &Frame, by: &By) {
    let function = &symbols.functions[frame.function];
    let name = symbols.strings.get(function.name);
    let file = symbols.strings.get(function.file);
    // Writing to a string cannot fail.
    let _ = match by {
        By::Name | By::Label(_) => write!(out, "{name}"),
        By::Function => return symbols.write_function(out, function),
        By::Line if file.is_empty() || frame.line == 0 => return symbols.write_function(out, function),
        By::Line => write!(out, "{name} {file}:{}", frame.line),
        By::File if file.is_empty() => write!(out, "{}", mapping_or_unknown(symbols, frame)),
        By::File => write!(out, "{file}"),
        By::Package => match symbols.owner(frame) {
            owner if owner.is_empty() => write!(out, "<unknown>"),
            owner => write!(out, "{owner}"),
        },
        By::Mapping => write!(out, "{}", mapping_or_unknown(symbols, frame)),
        By::Address if frame.address == 0 => return symbols.write_function(out, function),
        By::Address if frame.line == 0 => write!(out, "{:016x} {name}", frame.address),
        By::Address => write!(out, "{:016x} {name} {file}:{}", frame.address, frame.line),
    };
}

fn mapping_or_unknown<'s>(symbols: &'s Symbols, frame: &Frame) -> &'s str {
    match symbols.mapping_file(frame.mapping) {
        "" => "<unknown>",
        file => file,
    }
}

/// Row 0, the key of the whole profile: the root of a call tree, and the end of a chain of callers.
pub fn whole() -> KeyId {
    KeyId::new(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    /// The number of files of each key.
    fn files(picture: &str, by: &By) -> Vec<u32> {
        let keys = Keys::new(&from_notation(picture), by);
        keys.ids().map(|key| keys.get(key).files).collect()
    }

    /// The names of the frames that a pattern matches, with their lines.
    fn matched(profile: &Profile, pattern: &str, by: &By) -> Vec<String> {
        let patterns = Patterns::parse(&[pattern], false).unwrap().0;
        let marks = marks(profile, &patterns, by);
        let frames = profile.symbols.frames.enumerate().filter(|(id, _)| marks.contain(*id));
        frames
            .map(|(_, frame)| format!("{}:{}", profile.symbols.function_name(frame.function), frame.line))
            .collect()
    }

    #[test]
    fn an_exact_name_is_that_of_a_node() {
        let profile = from_notation("main@a.go:1;syscall.Read@s.go:2;io/syscall.Read@s.go:3;main@a.go:4 1");
        assert_eq!(
            matched(&profile, "^syscall.Read$", &By::Function),
            ["syscall.Read:2", "io/syscall.Read:3"]
        );
        assert_eq!(matched(&profile, "exact:syscall.Read", &By::Function), ["syscall.Read:2"]);
        assert_eq!(matched(&profile, "exact:main a.go:4", &By::Line), ["main:4"]);
        assert_eq!(matched(&profile, "exact:s.go", &By::File), ["syscall.Read:2", "io/syscall.Read:3"]);
        // No line is called so: the function is.
        assert_eq!(matched(&profile, "exact:main", &By::Line), ["main:1", "main:4"]);
        assert!(matched(&profile, "exact:Read", &By::Function).is_empty());
    }

    #[test]
    fn a_file_counts_once() {
        let picture = "init@a.py:1;init@b.py:2;init@a.py:3;init@b.py:4;init 1";
        assert_eq!(files(picture, &By::Function), [2]);
        assert_eq!(
            files("shop.Buy@shop/a.go:1;shop.Pay@shop/a.go:2;shop.Pay@shop/a.go:3 1", &By::Package),
            [1]
        );
    }
}
