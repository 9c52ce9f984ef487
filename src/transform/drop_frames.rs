//! `drop_frames` and `keep_frames`: frames that the profiler has marked as uninteresting.

use regex::Regex;

use crate::profile::{Column, FunctionId, Profile};
use crate::transform::engine::{Change, map_stacks};

/// Cuts every stack before the first frame that matches the profile's `drop_frames` but not its `keep_frames`,
/// so that an allocator's internals count for their caller. Matching frames at the root are kept. If an
/// expression is not valid, all frames are kept and a warning is added.
///
/// ```text
/// drop_frames malloc|tc_.*     main;malloc;tc_alloc;sbrk 7    →  main 7
///                              malloc;main;malloc 2           →  malloc;main 2
/// ```
pub fn drop_frames(profile: &Profile) -> Profile {
    if profile.meta.drop_frames.is_empty() {
        return profile.clone();
    }
    let expressions = [&profile.meta.drop_frames, &profile.meta.keep_frames]
        .map(|text| Regex::new(&format!("^(?:{text})$")).map_err(|error| (text, error)));
    let (drop, keep) = match expressions {
        [Ok(drop), Ok(keep)] => (drop, (!profile.meta.keep_frames.is_empty()).then_some(keep)),
        [Err((text, _)), _] | [_, Err((text, _))] => {
            let mut all = profile.clone();
            all.meta.warnings.push(format!(
                "all frames are kept: `{text}`, which the profile uses to drop frames, is not a valid regular expression"
            ));
            return all;
        }
    };
    let symbols = &profile.symbols;
    let dropped: Column<FunctionId, bool> = symbols
        .functions
        .ids()
        .map(|function| {
            let name = simplified(symbols.function_name(function));
            !name.is_empty() && drop.is_match(name) && !keep.as_ref().is_some_and(|keep| keep.is_match(name))
        })
        .collect();
    let is_dropped = symbols.frames.map(|frame| dropped[frame.function]);
    map_stacks(profile, |frames, kept| {
        let start = frames.iter().position(|&frame| !is_dropped[frame]).unwrap_or(frames.len());
        let Some(below) = frames[start..].iter().position(|&frame| is_dropped[frame]) else {
            return Change::Keep;
        };
        kept.extend_from_slice(&frames[..start + below]);
        Change::Replace
    })
}

/// A name without its parameters and without the leading dot of some linkers. The parentheses of
/// `(anonymous namespace)` and `operator()` are part of a C++ name.
fn simplified(name: &str) -> &str {
    let name = name.strip_prefix('.').unwrap_or(name);
    let is_part_of_name = |at: usize| {
        name[at..].starts_with("(anonymous namespace)")
            || name[..at].ends_with("operator") && name[at..].starts_with("()")
    };
    let parameters = name.match_indices('(').map(|(at, _)| at).find(|&at| !is_part_of_name(at));
    &name[..parameters.unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn names_lose_their_parameters() {
        for (name, want) in [
            ("malloc", "malloc"),
            (".malloc", "malloc"),
            ("std::vector<int>::push_back(int const&)", "std::vector<int>::push_back"),
            ("(anonymous namespace)::Work(int)", "(anonymous namespace)::Work"),
            ("A::operator()(int) const", "A::operator()"),
            ("(int)", ""),
        ] {
            assert_eq!(simplified(name), want, "{name}");
        }
    }

    #[test]
    fn internals_of_the_recorder_go() {
        for (drop, keep, before, after) in [
            ("malloc|tc_.*", "", "main;malloc;tc_alloc;sbrk 7", "main 7"),
            ("malloc", "", "malloc;main;malloc;work 2", "malloc;main 2"),
            ("malloc", "", "malloc 2", "malloc 2"),
            ("mal", "", "main;malloc 2", "main;malloc 2"),
            ("m.*", "main|my.*", "main;my_malloc;malloc(int);x 2", "main;my_malloc 2"),
            ("malloc", "", "main;work;+malloc;+sbrk 2\nmain;work 1", "main;work 3"),
            ("", "x", "main;malloc 2", "main;malloc 2"),
        ] {
            let mut profile = from_notation(before);
            (profile.meta.drop_frames, profile.meta.keep_frames) = (drop.into(), keep.into());
            assert_eq!(to_notation(&drop_frames(&profile)), after, "{drop} {keep}: {before}");
        }
    }

    #[test]
    fn an_invalid_expression_gives_a_warning() {
        let mut profile = from_notation("main;malloc 2");
        profile.meta.drop_frames = "(".into();
        let kept = drop_frames(&profile);
        assert_eq!(to_notation(&kept), "main;malloc 2");
        assert_eq!(kept.meta.warnings.len(), 1);
    }
}
