//! Rules about names: code without any, code of the profiler, and how the program was built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::lint::{Finding, NEVER, Recorded, by_share};
use crate::name::base_name;
use crate::profile::{Column, FrameId, FunctionId, LabelValue};
use crate::transform::{self, foldable, unresolved};

pub(super) fn unnamed(recorded: &Recorded<'_>) -> Option<Finding> {
    let profile = recorded.profile;
    // Also code whose address the file does not have, so that it cannot be looked up: it has no name either.
    let has_no_name = nameless(recorded)?;
    let value =
        recorded.sum(|stack| profile.stacks.frames(stack).last().is_some_and(|&leaf| has_no_name[leaf]));
    // Where callers have names, they can be judged by their totals.
    let is_dark = |stack| {
        let frames = profile.stacks.frames(stack);
        !frames.is_empty() && frames.iter().all(|&frame| has_no_name[frame])
    };
    // Which code of the kernel an idle processor was in says nothing about the program.
    let idle_task = |labels| match profile.label(labels, "thread") {
        Some(LabelValue::Text(name)) => profile.symbols.strings.get(name).starts_with("swapper"),
        _ => false,
    };
    let samples = &profile.samples;
    let rows = samples.stack.iter().zip(&samples.labels).zip(&samples.values[recorded.metric]);
    let dark = rows.filter(|((stack, labels), _)| is_dark(**stack) && !idle_task(**labels));
    let dark = dark.fold(0_i64, |sum, (_, value)| sum.saturating_add(value.saturating_abs()));
    let is_error = profile.calls.is_some() || recorded.percent(dark) >= 50.0;
    by_share(recorded, value, [1.0, 10.0, if is_error { 50.0 } else { NEVER }], |share| {
        let unresolved = unresolved(std::iter::once((profile, recorded.metric)));
        let binaries: Vec<&str> = unresolved
            .binaries
            .iter()
            .filter(|binary| !binary.file.is_empty())
            .take(3)
            .map(|binary| base_name(&binary.file))
            .collect();
        let of = if binaries.is_empty() {
            String::new()
        } else {
            format!(", most of it in {}", binaries.join(", "))
        };
        let remedy = if binaries.is_empty() {
            "record with a profiler that maps addresses to files (perf record, samply), or with names"
                .to_string()
        } else {
            "name the binaries with debug information: --binary PATH, or set DEBUGINFOD_URLS".to_string()
        };
        (format!("{share} of the profile is in code without names{of}"), remedy)
    })
}

/// Which frames have no name; `None` if all have one.
fn nameless(recorded: &Recorded<'_>) -> Option<Column<FrameId, bool>> {
    let symbols = &recorded.profile.symbols;
    let functions: Column<FunctionId, bool> =
        symbols.functions.ids().map(|function| symbols.is_nameless(function)).collect();
    let is_any = functions.iter().any(|is_nameless| *is_nameless);
    is_any.then(|| symbols.frames.map(|frame| functions[frame.function]))
}

pub(super) fn artefacts(recorded: &Recorded<'_>) -> Option<Finding> {
    let found = foldable(recorded.profile, &transform::artefacts(recorded.profile), &[recorded.metric]);
    let value = found.iter().map(|(_, values)| values[0].abs()).sum();
    let name = found.into_iter().max_by_key(|(_, values)| values[0].abs()).map(|(name, _)| name)?;
    by_share(recorded, value, [1.0, 10.0, NEVER], |share| {
        (
            format!("{share} of the profile is in functions that the profiler put there, such as {name}"),
            "--fold gives their cost to the functions that they interrupted".to_string(),
        )
    })
}

/// Functions of profilers, as they see themselves.
static PROFILERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = [
        r"^runtime/pprof\.(?:\(\*(?:profileBuilder|Profile|protobuf)\)|profileWriter$|StartCPUProfile$|StopCPUProfile$|[Ww]rite[A-Z]\w*$)|^runtime\.(?:sigprof|profileRuntimeEvent|\(\*profBuf\)\..*)$",
        r"^(?:Profiler|StackWalker|FlightRecorder|Recording)::|^(?:jdk[./]jfr[./]internal|one[./]profiler)[./]|^Jfr\w+::",
        r"^_lsprof_|^ptrace_trampoline",
        r"^v8::internal::(?:CpuProfiler|SamplingEventsProcessor|ProfilerListener|SamplingHeapProfiler)|^node::inspector::",
        r"^(?:perf_event_\w+|__perf_event_\w+|perf_output_\w+|bpf_prog_\w+|bpf_get_stack\w*)$|^(?:gperftools|ProfileHandler|CpuProfiler)::|^pprof::profiler::",
    ];
    Regex::new(&names.join("|")).ok()
});

pub(super) fn profiler(recorded: &Recorded<'_>) -> Option<Finding> {
    let regex = PROFILERS.as_ref()?;
    let is_profiler = functions(recorded, |name, _| regex.is_match(name));
    let value =
        recorded.sum(|stack| recorded.profile.stacks.frames(stack).iter().any(|&frame| is_profiler[frame]));
    by_share(recorded, value, [2.0, 10.0, NEVER], |share| {
        (
            format!("{share} of the profile is the profiler itself"),
            "record at a lower rate; leave it out with --hide-stacks".to_string(),
        )
    })
}

/// Functions that every optimising compiler inlines.
static TRIVIAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = [
        r"^core::intrinsics::(?:likely|unlikely|copy_nonoverlapping|assume)|^core::ptr::(?:read|write|const_ptr|mut_ptr|non_null)\b|^<(?:u8|u32|u64|usize|i32|i64|char)>::(?:wrapping_\w+|checked_\w+|is_\w+)$",
        r"^core::num::<impl \w+>::|^<?core::(?:option::Option|result::Result)<.*>>?::(?:is_some|is_none|unwrap|map|as_ref)$|^<usize as core::slice::index",
        r"^(?:T\* )?(?:std::(?:__1::)?)(?:move|forward|addressof|__addressof|get|max|min|__niter_base)<|^std::(?:__1::)?(?:vector|unique_ptr|array)<.*>::(?:operator\[\]|size|begin|end|get|operator\*|operator->)\b|^__gnu_cxx::(?:__normal_iterator|operator)",
    ];
    Regex::new(&names.join("|")).ok()
});

pub(super) fn debug_build(recorded: &Recorded<'_>) -> Option<Finding> {
    let regex = TRIVIAL.as_ref()?;
    let profile = recorded.profile;
    let is_trivial = functions(recorded, |name, _| regex.is_match(name));
    // An inlined function is one in an optimised build.
    let is_called = |frame: FrameId| is_trivial[frame] && !profile.symbols.frames[frame].inlined;
    let has_inlined = profile.symbols.frames.iter().any(|frame| frame.inlined);
    let value =
        recorded.sum(|stack| profile.stacks.frames(stack).last().is_some_and(|&leaf| is_called(leaf)));
    by_share(recorded, if has_inlined { 0 } else { value }, [NEVER, 3.0, NEVER], |share| {
        (
            format!(
                "{share} of the profile is in functions that an optimising compiler leaves out: this looks like a debug build"
            ),
            "record an optimised build (cargo build --release, -O2); other costs may be much smaller there"
                .to_string(),
        )
    })
}

/// Which frames are of functions for whose names and files `is` holds.
fn functions(recorded: &Recorded<'_>, is: impl Fn(&str, &str) -> bool) -> Column<FrameId, bool> {
    let symbols = &recorded.profile.symbols;
    let functions: Column<FunctionId, bool> =
        symbols.functions.ids().map(|id| is(symbols.function_name(id), symbols.function_file(id))).collect();
    symbols.frames.map(|frame| functions[frame.function])
}

pub(super) fn mixed_builds(recorded: &Recorded<'_>) -> Option<Finding> {
    let symbols = &recorded.profile.symbols;
    let mut builds: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for mapping in &symbols.mappings {
        let [file, build] = [mapping.file, mapping.build_id].map(|text| symbols.strings.get(text));
        if !file.is_empty() && !build.is_empty() {
            builds.entry(file).or_default().insert(build);
        }
    }
    let (file, ids) = builds.into_iter().find(|(_, ids)| ids.len() > 1)?;
    Some(Finding {
        level: crate::report::Severity::Warning,
        says: format!(
            "{} builds of {} are added up: a function may have changed between them",
            ids.len(),
            base_name(file)
        ),
        remedy: "read the profiles of each build by themselves, and compare them: prof diff".to_string(),
        share: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn code_without_names() {
        let profile =
            |unnamed: i64| from_notation(&format!("main {}\n!/lib/libc.so+0x10 {unnamed}", 100 - unnamed));
        assert_eq!(
            drawn(&profile(20)),
            ["warning unnamed: 20.0% of the profile is in code without names, most of it in libc.so"]
        );
        assert!(drawn(&profile(60))[0].starts_with("error unnamed: 60.0%"));
        let below_names = from_notation("main;work;!/lib/libc.so+0x10 60\nmain 40");
        assert!(drawn(&below_names)[0].starts_with("warning unnamed: 60.0%"), "the callers have names");
        assert!(drawn(&profile(0)).is_empty());
        let without_addresses = from_notation("main;[unknown] 30\nmain;0x7f01 20\nmain 50");
        assert_eq!(
            drawn(&without_addresses),
            ["warning unnamed: 50.0% of the profile is in code without names"]
        );
    }

    #[test]
    fn code_of_the_profiler() {
        let found = drawn(&from_notation(
            "main;work 45\nruntime/pprof.Do;work 40\nmain;work;runtime.asyncPreempt 5\nruntime.sigprof 6\nmain;runtime/pprof.StartCPUProfile 4",
        ));
        assert_eq!(
            found,
            [
                "warning profiler: 10.0% of the profile is the profiler itself",
                "note artefacts: 5.0% of the profile is in functions that the profiler put there, such as runtime.asyncPreempt",
            ]
        );
    }

    #[test]
    fn unoptimised_code() {
        let debug = "main;core::intrinsics::likely 5\nmain 95";
        assert!(drawn(&from_notation(debug))[0].starts_with("warning debug-build: 5.0%"));
        assert!(drawn(&from_notation("main;+core::intrinsics::likely 5\nmain 95")).is_empty(), "inlined");
    }
}
