//! The frames that patterns mean.

use crate::name::{package, short_name};
use crate::pattern::{Aspect, Names, Pattern, Patterns};
use crate::profile::{Column, FrameId, FunctionId, MappingId, Profile, Symbols};

/// The frames that patterns mean. A pattern is tried once on every function and every mapping,
/// never on samples.
///
/// ```
/// use prof::pattern::Patterns;
/// use prof::profile::from_picture;
/// use prof::transform::Marks;
///
/// let profile = from_picture("main;work@work.rs:3 1");
/// let (patterns, _) = Patterns::parse(&["file:work"], false)?;
/// let marks = Marks::new(&profile, &patterns);
/// let stack = profile.stacks.frames(profile.samples.stack[0]);
/// assert_eq!(stack.iter().map(|&frame| marks.contain(frame)).collect::<Vec<_>>(), [false, true]);
/// # Ok::<(), prof::pattern::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Marks(Column<FrameId, bool>);

impl Marks {
    /// The frames of `profile` that any of `patterns` means.
    pub fn new(profile: &Profile, patterns: &Patterns) -> Marks {
        let symbols = &profile.symbols;
        let functions: Column<FunctionId, Found> =
            symbols.functions.ids().map(|function| Found::function(symbols, function, patterns)).collect();
        let mappings: Column<MappingId, Found> =
            symbols.mappings.ids().map(|mapping| Found::mapping(symbols, mapping, patterns)).collect();
        let is_meant =
            |frame: &crate::profile::Frame| match (functions[frame.function], mappings[frame.mapping]) {
                (Found::Yes, _) | (_, Found::Yes) | (Found::ByPackage, Found::ByPackage) => true,
                (Found::No | Found::ByPackage, Found::No | Found::ByPackage) => false,
            };
        Marks(symbols.frames.map(is_meant))
    }

    /// Whether a frame is meant. A frame made after the marks is not.
    #[inline]
    pub fn contain(&self, frame: FrameId) -> bool {
        self.0.as_slice().get(crate::profile::Id::index(frame)).copied().unwrap_or_default()
    }

    /// Whether a stack holds a frame that is meant.
    pub fn touch(&self, frames: &[FrameId]) -> bool {
        frames.iter().any(|&frame| self.contain(frame))
    }

    /// Whether a stack that has samples holds a frame that is meant; or a function does, where the
    /// profile holds calls.
    pub fn are_used(&self, profile: &Profile) -> bool {
        if let Some(calls) = &profile.calls {
            return calls.functions().any(|(_, frame)| self.contain(frame));
        }
        let used = profile.used_stacks();
        profile.stacks.ids().any(|stack| used[stack] && self.touch(profile.stacks.frames(stack)))
    }

    /// The frames that either means.
    #[must_use]
    pub fn or(mut self, other: &Marks) -> Marks {
        for (frame, _) in other.0.enumerate().filter(|(_, is_meant)| **is_meant) {
            self.0[frame] = true;
        }
        self
    }
}

/// What a function or a mapping says about its frames.
#[derive(Clone, Copy)]
enum Found {
    Yes,
    No,
    /// A function of which neither package nor file is known is in the package that its mapping
    /// names: it is meant if the mapping says the same.
    ByPackage,
}

impl Found {
    fn function(symbols: &Symbols, function: FunctionId, patterns: &Patterns) -> Found {
        let (name, file) = (symbols.function_name(function), symbols.function_file(function));
        let package = package(name, file);
        let short = short_name(name);
        let names = Names {
            function: name,
            short: &short,
            file,
            mapping: "",
            package: package.as_deref().unwrap_or(file),
        };
        match patterns.matches(names) {
            true => Found::Yes,
            false if names.package.is_empty() => Found::ByPackage,
            false => Found::No,
        }
    }

    fn mapping(symbols: &Symbols, mapping: MappingId, patterns: &Patterns) -> Found {
        let file = symbols.mapping_file(mapping);
        let names = Names { package: file, ..Names::default() };
        let is_package = |pattern: &Pattern| pattern.aspect() == Aspect::Package && pattern.matches(names);
        match patterns.iter().any(|pattern| pattern.matches_mapping(file)) {
            true => Found::Yes,
            false if patterns.iter().any(is_package) => Found::ByPackage,
            false => Found::No,
        }
    }
}
