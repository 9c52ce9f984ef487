//! Lines of the old source, where the functions that they are in are in the new one.

use hashbrown::HashMap;

use crate::profile::{Function, FunctionId, StringId, Symbols};

/// Shifts the lines of frames by as much as the function that begins before them in the file, given the new first lines of
/// some functions. So lines can be compared although a comment was added at the top.
///
/// It is not the function of the frame that counts: V8 puts code of one function into another one, and keeps its lines.
pub(super) fn shift(symbols: &mut Symbols, begins: impl Iterator<Item = (FunctionId, u32)>) {
    let begins: HashMap<FunctionId, u32> = begins.collect();
    let is_shifted = |(function, line): (&FunctionId, &u32)| {
        let old = symbols.functions[*function].line;
        old != 0 && *line != 0 && old != *line
    };
    if !begins.iter().any(is_shifted) {
        return;
    }
    let mut of_file: HashMap<StringId, Vec<(u32, i64)>> = HashMap::new();
    let has_place = |function: &Function| function.line != 0 && function.file != StringId::default();
    for (id, function) in symbols.functions.enumerate().filter(|(_, function)| has_place(function)) {
        let new = begins.get(&id).copied().filter(|line| *line != 0).unwrap_or(function.line);
        let shift = i64::from(new) - i64::from(function.line);
        of_file.entry(function.file).or_default().push((function.line, shift));
    }
    of_file.values_mut().for_each(|functions| functions.sort_unstable());
    for frame in symbols.frames.ids() {
        let line = symbols.frames[frame].line;
        let functions = of_file.get(&symbols.functions[symbols.frames[frame].function].file);
        let Some(functions) = functions.filter(|_| line != 0) else { continue };
        let before = functions.partition_point(|(begin, _)| *begin <= line);
        let Some((_, shift)) = before.checked_sub(1).and_then(|last| functions.get(last)) else { continue };
        symbols.frames[frame].line = u32::try_from(i64::from(line) + shift).unwrap_or(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Frame, LabelSetId, LoadOptions, Mapping, ProfileBuilder};

    #[test]
    fn lines_move_with_the_function_that_they_are_in() {
        let mut builder = ProfileBuilder::new("test", LoadOptions::default());
        let file = builder.string("page.js");
        let functions = [("slug", 15), ("wrap", 47), ("render", 61)].map(|(name, line)| {
            let name = builder.string(name);
            builder.function(Function { name, file, line, column: 0, by_place: true })
        });
        let frames = [3, 17, 50, 65].map(|line| {
            let mapping = builder.mapping(Mapping::default());
            builder.frame(Frame { line, function: functions[2], mapping, ..Frame::default() })
        });
        let stack = builder.stack(&frames);
        builder.metric("cpu", "ns");
        builder.sample(stack, LabelSetId::default(), None, &[1]);
        let profile = builder.finish().unwrap();
        let mut symbols = (*profile.symbols).clone();
        // Two lines were added to `slug`, and one more to `wrap`.
        shift(&mut symbols, [(functions[1], 49), (functions[2], 64)].into_iter());
        let lines = profile.stacks.frames(stack).iter().map(|&frame| symbols.frames[frame].line);
        assert_eq!(lines.collect::<Vec<_>>(), [3, 17, 52, 68]);
    }
}
