//! Rules about the stacks: cut at a fixed depth, without callers, or missing.

use hashbrown::{HashMap, HashSet};

use crate::lint::{Finding, NEVER, Recorded, by_share};
use crate::profile::{FrameId, FunctionId, MappingId, Profile, StackId};

/// Depths at which profilers cut stacks.
const LIMITS: [usize; 14] = [16, 24, 32, 48, 50, 62, 64, 100, 127, 128, 250, 256, 512, 1024];

/// A limit may count frames of inlined functions or of the kernel, or not.
const SLACK: usize = 1;

/// Stacks are cut if the deepest ones all have about the depth of a limit, and begin in different functions, because their
/// roots are missing. Deep recursion alone begins in one function.
pub(super) fn truncated(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    let mut deepest = 0;
    for (stack, _) in recorded.stacks() {
        // Only stacks with more frames can be deeper. To tell which frames are inlined takes much longer.
        if profile.stacks.frames(stack).len() > deepest {
            deepest = deepest.max(physical(profile, stack));
        }
    }
    if !LIMITS.iter().any(|limit| deepest.abs_diff(*limit) <= SLACK) {
        return None;
    }
    let depths: Vec<(usize, StackId, i64)> =
        recorded.stacks().map(|(stack, value)| (physical(profile, stack), stack, value)).collect();
    let cut: Vec<_> = depths.iter().filter(|(depth, ..)| *depth == deepest).collect();
    let root =
        |stack| profile.stacks.frames(stack).first().map(|&frame| profile.symbols.frames[frame].function);
    let roots: HashSet<FunctionId> = cut.iter().filter_map(|(_, stack, _)| root(*stack)).collect();
    let whole: HashSet<FunctionId> = depths
        .iter()
        .filter(|(depth, ..)| *depth < deepest)
        .filter_map(|(_, stack, _)| root(*stack))
        .collect();
    let new_roots = roots.difference(&whole).count();
    if new_roots < FEWEST_ROOTS {
        return None;
    }
    let value = cut.iter().map(|(.., value)| value).sum();
    by_share(recorded, value, [0.5, 5.0, 50.0], |share| {
        let says = format!(
            "{share} of the profile is in stacks of exactly {deepest} functions that begin in {} different ones: they lack their roots",
            roots.len()
        );
        (
            says,
            "record deeper stacks (perf: kernel.perf_event_max_stack; async-profiler: -j; JFR: stackdepth)"
                .to_string(),
        )
    })
}

/// How many functions of a stack were called rather than inlined.
fn physical(profile: &Profile, stack: StackId) -> usize {
    let frames = profile.stacks.frames(stack).iter();
    frames.filter(|&&frame| !profile.symbols.frames[frame].inlined).count()
}

/// Recursion can begin in a few functions, but not in as many.
const FEWEST_ROOTS: usize = 3;

/// Stacks of one or two functions in the same binary: its code has no frame pointers, and the profiler needs them.
pub(super) fn shallow(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    let symbols = &profile.symbols;
    if !["perf-data", "perf-script", "pprof", "simpleperf"].contains(&profile.meta.format) {
        return None;
    }
    // Go's compiler keeps frame pointers, and its runtime walks its own stacks: a goroutine that begins in `main.main.func1` has
    // no callers.
    let is_go = |frame: &FrameId| {
        let function = &symbols.functions[symbols.frames[*frame].function];
        symbols.strings.get(function.file).rsplit_once('.').is_some_and(|(_, ending)| ending == "go")
    };
    let mut binaries: HashMap<MappingId, [i64; 2]> = HashMap::new();
    for (stack, value) in recorded.stacks() {
        let frames = profile.stacks.frames(stack);
        if frames.first().is_some_and(is_go) {
            continue;
        }
        let Some(&leaf) = frames.last().filter(|&&leaf| symbols.frames[leaf].address != 0) else { continue };
        let mapping = symbols.frames[leaf].mapping;
        let [shallow, all] = binaries.entry(mapping).or_default();
        *shallow += if physical(profile, stack) <= 2 { value } else { 0 };
        *all += value;
    }
    let is_code = |file: &str| !file.is_empty() && !file.starts_with('[') && !file.starts_with("//anon");
    let mut worst: Vec<(&str, i64)> = binaries
        .iter()
        .filter(|(_, [shallow, all])| i128::from(*shallow) * 10 >= i128::from(*all) * 6)
        .map(|(&mapping, [shallow, _])| (symbols.mapping_file(mapping), *shallow))
        .filter(|(file, _)| is_code(file))
        .collect();
    worst.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let &(file, _) = worst.first()?;
    let value = worst.iter().map(|(_, value)| value).sum();
    by_share(recorded, value, [NEVER, 10.0, NEVER], |share| {
        let binary = crate::name::base_name(file);
        // Where no stack has callers, none were recorded: that is how it was asked for.
        if recorded.stacks().all(|(stack, _)| profile.stacks.frames(stack).len() <= 1) {
            let says = "no stack has more than one function: the recording has no callers".to_string();
            return (says, "record with call stacks (perf record -g)".to_string());
        }
        let says = format!(
            "{share} of the profile is in stacks of one or two functions, most of it in {binary}: its callers are missing"
        );
        (
            says,
            format!(
                "build {binary} with frame pointers (-fno-omit-frame-pointer), or record with --call-graph dwarf or lbr"
            ),
        )
    })
}

pub(super) fn none(recorded: &Recorded<'_>) -> Option<Finding> {
    if recorded.profile.calls.is_some() {
        return None;
    }
    let value = recorded.sum(|stack| recorded.profile.stacks.frames(stack).is_empty());
    by_share(recorded, value, [1.0, 10.0, 50.0], |share| {
        (
            format!("{share} of the profile has no stack"),
            "record with call stacks, or with a profiler that can unwind all threads".to_string(),
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::drawn;
    use crate::profile::from_notation;

    /// A stack of `depth` functions, whose names begin with `root`.
    fn stack(root: &str, depth: usize) -> String {
        let rest: Vec<String> = (1..depth).map(|number| format!("f{number}")).collect();
        format!("{root};{}", rest.join(";"))
    }

    #[test]
    fn stacks_cut_at_a_limit_begin_anywhere() {
        let cut: Vec<String> =
            (0..5).map(|number| format!("{} 10", stack(&format!("r{number}"), 128))).collect();
        let whole = format!("{} 950", stack("main", 40));
        let found = drawn(&from_notation(&format!("{}\n{whole}", cut.join("\n"))));
        let says = "warning truncated-stacks: 5.0% of the profile is in stacks of exactly 128 functions that begin in 5 different ones: they lack their roots";
        assert_eq!(found, [says]);
        // Recursion begins in one function, and 90 is no limit.
        assert!(drawn(&from_notation(&format!("{} 50\n{whole}", stack("main", 128)))).is_empty());
        let deep: Vec<String> =
            (0..5).map(|number| format!("{} 10", stack(&format!("r{number}"), 90))).collect();
        assert!(drawn(&from_notation(&format!("{}\n{whole}", deep.join("\n")))).is_empty());
    }

    #[test]
    fn samples_without_stacks() {
        assert_eq!(
            drawn(&from_notation("main 80\n 20")),
            ["warning no-stacks: 20.0% of the profile has no stack"]
        );
    }
}
