//! Functions of a generated script become those of its sources.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::profile::{FunctionId, Profile, Symbols};

/// What a function of a generated script is in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Its name.
    pub name: String,
    /// Its source file.
    pub file: String,
    /// The line where it starts, from 1.
    pub line: u32,
    /// The column where it starts, from 1.
    pub column: u32,
}

/// Replaces functions by their originals. `line_of` gives the original of a line of a function that was executing; 0 if it is
/// not known.
///
/// ```text
/// u app.js:1:11    →    burnCycles src/pricing.ts:8:17
/// ```
pub fn with_originals(
    profile: &Profile,
    originals: &BTreeMap<FunctionId, Original>,
    line_of: impl Fn(FunctionId, u32) -> u32,
) -> Profile {
    let mut symbols = Symbols::clone(&profile.symbols);
    for (&id, original) in originals {
        let (name, file) = (symbols.strings.intern(&original.name), symbols.strings.intern(&original.file));
        let function = &mut symbols.functions[id];
        (function.name, function.file) = (name, file);
        (function.line, function.column) = (original.line, original.column);
    }
    symbols.frames = profile.symbols.frames.map(|&frame| {
        let is_known = frame.line > 0 && originals.contains_key(&frame.function);
        let line = if is_known { line_of(frame.function, frame.line) } else { frame.line };
        crate::profile::Frame { line, ..frame }
    });
    Profile { symbols: Arc::new(symbols), ..profile.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn functions_and_lines_are_replaced() {
        let profile = from_notation("main@app.js:1;u@app.js:1 3\nmain@app.js:1;u@app.js:2 4");
        let ids: Vec<FunctionId> = profile.symbols.functions.ids().collect();
        let original =
            Original { name: "burnCycles".into(), file: "src/pricing.ts".into(), line: 8, column: 17 };
        let lines = |_, line| if line == 2 { 11 } else { 0 };
        let changed = with_originals(&profile, &BTreeMap::from([(ids[1], original)]), lines);
        assert_eq!(
            to_notation(&changed),
            "main@app.js:1;burnCycles@src/pricing.ts:0 3\nmain@app.js:1;burnCycles@src/pricing.ts:11 4"
        );
        let function = changed.symbols.functions[ids[1]];
        assert_eq!((function.line, function.column), (8, 17));
    }
}
