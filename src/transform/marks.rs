//! The frames that match patterns.

use crate::name::{package, screen_forms, short_name};
use crate::pattern::{Aspect, FrameNames, Patterns};
use crate::profile::{Column, Frame, FrameId, FunctionId, MappingId, Profile, Symbols};

/// The frames that match patterns. Patterns are tried once per function and mapping, not per sample.
///
/// ```
/// use prof::pattern::Patterns;
/// use prof::profile::from_notation;
/// use prof::transform::Marks;
///
/// let profile = from_notation("main;work@work.rs:3 1");
/// let (patterns, _) = Patterns::parse(&["file:work"], false)?;
/// let marks = Marks::new(&profile, &patterns);
/// let stack = profile.stacks.frames(profile.samples.stack[0]);
/// assert_eq!(stack.iter().map(|&frame| marks.contain(frame)).collect::<Vec<_>>(), [false, true]);
/// # Ok::<(), prof::pattern::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Marks(Column<FrameId, bool>);

impl Marks {
    /// The frames of `profile` that match any of `patterns`.
    pub fn new(profile: &Profile, patterns: &Patterns) -> Marks {
        let symbols = &profile.symbols;
        let functions: Column<FunctionId, FunctionMark> = symbols
            .functions
            .ids()
            .map(|function| FunctionMark::function(symbols, function, patterns))
            .collect();
        let mappings: Column<MappingId, bool> = symbols.mappings.map(|mapping| {
            let file = symbols.strings.get(mapping.file);
            patterns.iter().any(|pattern| pattern.matches_mapping(file))
        });
        let by_package: Patterns =
            patterns.iter().filter(|one| one.aspect() == Aspect::Package).cloned().collect();
        let is_match = |frame: &Frame| match functions[frame.function] {
            FunctionMark::Yes => true,
            FunctionMark::No => mappings[frame.mapping],
            FunctionMark::Unknown => {
                mappings[frame.mapping] || {
                    let owner = symbols.owner(frame);
                    !by_package.is_empty()
                        && by_package.matches(FrameNames { package: &owner, ..FrameNames::default() })
                }
            }
        };
        Marks(symbols.frames.map(is_match))
    }

    /// Like [`Marks::new`], plus the frames of nodes whose displayed name matches. `write_name` appends the name of
    /// a frame's node.
    pub fn of_nodes(
        profile: &Profile,
        patterns: &Patterns,
        write_name: &dyn Fn(&mut String, &Frame),
    ) -> Marks {
        let mut marks = Marks::new(profile, patterns);
        let mut name = String::new();
        for (id, frame) in profile.symbols.frames.enumerate() {
            if !marks.0[id] {
                name.clear();
                write_name(&mut name, frame);
                marks.0[id] = patterns.match_displayed(&name, screen_forms);
            }
        }
        marks
    }

    /// The frames of nodes that are called exactly `wanted`. `write_name` appends the name of a frame's node.
    pub fn named(profile: &Profile, wanted: &str, write_name: &dyn Fn(&mut String, &Frame)) -> Marks {
        let mut name = String::new();
        Marks(profile.symbols.frames.map(|frame| {
            name.clear();
            write_name(&mut name, frame);
            name == wanted
        }))
    }

    /// The frames whose entry in `frames` is true.
    pub(super) fn of(frames: Column<FrameId, bool>) -> Marks {
        Marks(frames)
    }

    /// Whether any frame matches.
    pub(super) fn any(&self) -> bool {
        self.0.enumerate().any(|(_, is_match)| *is_match)
    }

    /// Whether a frame matches. Frames that were added later do not.
    #[inline]
    pub fn contain(&self, frame: FrameId) -> bool {
        self.0.as_slice().get(crate::profile::Id::index(frame)).copied().unwrap_or_default()
    }

    /// Whether any of these frames matches.
    pub fn match_any(&self, frames: &[FrameId]) -> bool {
        frames.iter().any(|&frame| self.contain(frame))
    }

    /// Whether any sample of the profile has a matching frame, or, if the profile holds calls, whether any
    /// function matches.
    pub fn match_profile(&self, profile: &Profile) -> bool {
        if let Some(calls) = &profile.calls {
            return calls.functions().any(|(_, frame)| self.contain(frame));
        }
        let used = profile.used_stacks();
        profile.stacks.ids().any(|stack| used[stack] && self.match_any(profile.stacks.frames(stack)))
    }

    /// The frames in either set.
    #[must_use]
    pub fn or(mut self, other: &Marks) -> Marks {
        for (frame, _) in other.0.enumerate().filter(|(_, is_match)| **is_match) {
            self.0[frame] = true;
        }
        self
    }
}

/// Whether the frames of a function match.
#[derive(Clone, Copy)]
enum FunctionMark {
    Yes,
    No,
    /// Its names do not match, but its package depends on the frame.
    Unknown,
}

impl FunctionMark {
    fn function(symbols: &Symbols, function: FunctionId, patterns: &Patterns) -> FunctionMark {
        let (name, file) = (symbols.function_name(function), symbols.function_file(function));
        let package = package(name, file);
        let short = short_name(name);
        let names = FrameNames {
            function: name,
            short: &short,
            file,
            mapping: "",
            package: package.as_deref().unwrap_or_default(),
        };
        let displayed = || {
            let mut displayed = String::new();
            symbols.write_function(&mut displayed, &symbols.functions[function]);
            patterns.match_displayed(&displayed, screen_forms)
        };
        match patterns.matches(names) || displayed() {
            true => FunctionMark::Yes,
            false if names.package.is_empty() => FunctionMark::Unknown,
            false => FunctionMark::No,
        }
    }
}
