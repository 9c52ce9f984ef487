//! `info`: what is in the input.

use hashbrown::{HashMap, HashSet};

use crate::name::base_name;
use crate::profile::{Column, FrameId, FunctionId, LabelSetId, LabelValue, MappingId, Profile, StackId};
use crate::report::{Combined, Depth, Info, InfoInput, InfoLabel, InfoMetric, InfoPeriod, Pair};
use crate::transform::unresolved;
use crate::tree::{By, KeyId, Subject, first_alike, flat};
use crate::view::activity::Activity;
use crate::view::{note_of_negatives, resolution};

/// One input of `info`, described before inputs were combined.
pub type InfoSource = InfoInput;

/// Describes a profile that was loaded with its labels, and its metric number `metric`; `combined` says how
/// several inputs were combined.
pub fn info(profile: &Profile, metric: usize, inputs: Vec<InfoSource>, combined: Option<Combined>) -> Info {
    let meta = &profile.meta;
    let symbols = &profile.symbols;
    let files: HashSet<_> = symbols.functions.iter().map(|function| function.file).collect();
    let unresolved = unresolved([(profile, metric)].into_iter());
    // Sums of metrics that are too large to be shown do not fit.
    let others = (0..meta.metrics.len()).filter(|&other| other != metric && !meta.metrics[other].too_large);
    let metrics_that_fit: Vec<usize> = std::iter::once(metric).chain(others).collect();
    let subject = Subject::new(profile, &By::Function, &metrics_that_fit);
    let used = used_frames(&subject);
    let [functions, functions_of_metric] = functions(&subject, &used);
    let activity = Activity::of(profile, metric);
    let first = first_alike(profile, &subject.keys);
    let distinct: Vec<StackId> =
        first.enumerate().filter(|(stack, first)| stack == *first).map(|(stack, _)| stack).collect();
    Info {
        schema: "prof.info.v1",
        inputs,
        format: meta.format.to_string(),
        confidence: meta.confidence,
        metrics: metrics(profile),
        time_ns: meta.time_ns,
        duration_ns: activity.duration_ns,
        busy: activity.busy(),
        idle: activity.idle(),
        stacks: distinct.len() as u64,
        calls: profile.calls.as_ref().map(|calls| {
            let pairs: HashSet<_> = calls.caller.iter().zip(&calls.callee).collect();
            pairs.len() as u64
        }),
        functions,
        functions_of_metric,
        depth: depth(profile, &distinct),
        labels: labels(profile),
        threads: threads(profile),
        comments: meta.comments.clone(),
        warnings: meta
            .warnings
            .iter()
            .chain(&meta.notes)
            .cloned()
            .chain(activity.warning)
            .chain(note_of_negatives(profile, [metric]).map(|note| note.text))
            .collect(),
        combined,
        encoding: meta.encoding.clone(),
        program: program(&subject, &used),
        rows: meta.rows,
        labelled_rows: meta.labelled_rows,
        no_stack: profile.no_stack(metric),
        files: files.iter().filter(|file| !symbols.strings.get(**file).is_empty()).count() as u64,
        unnamed: unnamed(profile),
        unresolved: Pair { self_value: unresolved.self_value, total: unresolved.total },
        inlined: profile.calls.is_none() && symbols.frames.iter().any(|frame| frame.inlined),
        shown_metric: metric,
        period: meta.period.as_ref().map(|period| InfoPeriod {
            metric: period.name.clone(),
            unit: period.unit.clone(),
            value: period.value,
        }),
    }
}

/// Whether a frame is on a stack that has a value of any metric, and of the first one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    of_any: bool,
    of_first: bool,
}

fn used_frames(subject: &Subject<'_>) -> Column<FrameId, Used> {
    let mut used = Column::filled(Used::default(), subject.profile.symbols.frames.len());
    for stack in subject.stacks() {
        let of_first = subject.series[0][stack] != 0;
        for &frame in subject.profile.stacks.frames(stack) {
            used[frame] = Used { of_any: true, of_first: used[frame].of_first | of_first };
        }
    }
    used
}

/// How many functions have a value of any metric, and how many of the first one. As in other views, a function is what
/// makes a row by itself: in JavaScript, each of the twenty `(anonymous)` of a file.
fn functions(subject: &Subject<'_>, used: &Column<FrameId, Used>) -> [u64; 2] {
    let values = &subject.profile.samples.values;
    if subject.calls.is_none() && values.iter().flatten().all(|&value| value >= 0) {
        // Such values cannot cancel out: a function has one if any of its frames has.
        let mut keys = Column::filled(Used::default(), subject.keys.len());
        for (frame, used) in used.enumerate() {
            let key: &mut Used = &mut keys[subject.keys.of_frame(frame)];
            key.of_any |= used.of_any;
            key.of_first |= used.of_first;
        }
        let count = |is_counted: fn(&Used) -> bool| keys.iter().filter(|key| is_counted(key)).count() as u64;
        return [count(|used| used.of_any), count(|used| used.of_first)];
    }
    let counted = flat(subject);
    let has_value =
        |metric: usize, key: KeyId| counted.total[metric][key] != 0 || counted.self_value[metric][key] != 0;
    let of_metric = subject.keys.ids().filter(|&key| has_value(0, key)).count();
    let metrics = 0..counted.total.len();
    let of_any =
        subject.keys.ids().filter(|&key| metrics.clone().any(|metric| has_value(metric, key))).count();
    [of_any, of_metric].map(|count| count as u64)
}

/// The recorded program and its language, inferred from the mappings and the source files: `gpq.test (Go)`.
fn program(subject: &Subject<'_>, used: &Column<FrameId, Used>) -> Option<String> {
    let executable = executable(subject, used);
    match (executable, language(subject.profile, executable)) {
        (Some(name), Some(language)) => Some(format!("{name} ({language})")),
        (Some(name), None) => Some(name.to_string()),
        (None, language) => language.map(str::to_string),
    }
}

/// The file of the program that was recorded. Recordings of the kernel's events begin with its modules, and those of several
/// programs with any of these, so it is the program that is on most stacks, among equal ones the first.
fn executable<'p>(subject: &Subject<'p>, used: &Column<FrameId, Used>) -> Option<&'p str> {
    let profile = subject.profile;
    let symbols = &profile.symbols;
    let file = |mapping: MappingId| base_name(symbols.strings.get(symbols.mappings[mapping].file));
    let mut programs: Vec<&str> = Vec::new();
    for name in symbols.mappings.ids().map(file).filter(|name| is_program(name)) {
        if !programs.contains(&name) {
            programs.push(name);
        }
    }
    // Of each frame, the number of its program among those that are on stacks; the last stands for all other files.
    let mut on_stacks = Column::filled(false, symbols.mappings.len());
    used.enumerate()
        .filter(|(_, used)| used.of_any)
        .for_each(|(frame, _)| on_stacks[symbols.frames[frame].mapping] = true);
    if !on_stacks.iter().any(|&is_on| is_on) {
        return programs.first().copied();
    }
    let on_stacks: HashSet<&str> =
        symbols.mappings.ids().filter(|&mapping| on_stacks[mapping]).map(file).collect();
    programs.retain(|name| on_stacks.contains(name));
    if programs.len() < 2 {
        return programs.pop();
    }
    let number = |name| programs.iter().position(|program| *program == name).unwrap_or(programs.len());
    let numbers: Column<MappingId, usize> = symbols.mappings.ids().map(file).map(number).collect();
    let of_frame: Column<FrameId, usize> = symbols.frames.map(|frame| numbers[frame.mapping]);
    let mut totals = vec![0_u128; programs.len() + 1];
    let mut counted = vec![None; programs.len() + 1];
    for stack in subject.stacks() {
        let value = u128::from(subject.series[0][stack].unsigned_abs());
        for &frame in profile.stacks.frames(stack) {
            let number = of_frame[frame];
            if counted[number].replace(stack) != Some(stack) {
                totals[number] += value;
            }
        }
    }
    // Of equal ones, the first.
    let heaviest = (0..programs.len()).max_by_key(|&number| (totals[number], std::cmp::Reverse(number)))?;
    Some(programs[heaviest])
}

/// Whether the file of a mapping may be a program rather than a library, a kernel module, or memory without a file.
fn is_program(name: &str) -> bool {
    let is_library = [".so", ".ko", ".dylib", ".dll"].iter().any(|ending| {
        let after = name.split_once(ending).map(|(_, after)| after);
        after.is_some_and(|after| after.is_empty() || after.starts_with('.'))
    });
    // `vmlinux-4.14.252` and `vmlinuz` are images of the kernel.
    let is_kernel = name.starts_with("vmlinu");
    // What loads a program on macOS is on all of its stacks.
    !name.is_empty()
        && !["anon", "dyld"].contains(&name)
        && !name.starts_with(['[', '/'])
        && !is_library
        && !is_kernel
}

/// The language of most source files, judged by their names. Those of C and C++ count only if there are no others: the C library is
/// part of every program, as C++ is of Node.js. Of these two, it is that of the program's own files, or C++ if none are known.
fn language(profile: &Profile, executable: Option<&str>) -> Option<&'static str> {
    let symbols = &profile.symbols;
    let is_own =
        symbols.mappings.map(|mapping| Some(base_name(symbols.strings.get(mapping.file))) == executable);
    let mut of_program = Column::filled(false, symbols.functions.len());
    for frame in symbols.frames.iter().filter(|frame| is_own[frame.mapping]) {
        of_program[frame.function] = true;
    }
    let languages: Vec<(FunctionId, &'static str)> = symbols
        .functions
        .ids()
        .filter_map(|function| Some((function, language_of(symbols.function_file(function))?)))
        .collect();
    let most = |is_counted: &dyn Fn(FunctionId, &str) -> bool| {
        let counted = languages.iter().filter(|(function, language)| is_counted(*function, language));
        let mut counts: HashMap<&'static str, usize> = HashMap::new();
        counted.for_each(|(_, language)| *counts.entry(language).or_default() += 1);
        counts
            .into_iter()
            .max_by_key(|&(language, count)| (count, std::cmp::Reverse(language)))
            .map(|(l, _)| l)
    };
    let is_other = |language: &str| !["C", "C++"].contains(&language);
    // Profiles of several programs that were added up may be in several languages.
    most(&|function, language| of_program[function] && is_other(language))
        .or_else(|| most(&|_, language| is_other(language)))
        .or_else(|| most(&|function, _| of_program[function]))
        .or_else(|| most(&|_, language| language == "C++"))
        .or_else(|| most(&|_, _| true))
}

/// The language of a source file.
fn language_of(file: &str) -> Option<&'static str> {
    const ENDINGS: &[(&str, &str)] = &[
        (".go", "Go"),
        (".rs", "Rust"),
        (".py", "Python"),
        (".rb", "Ruby"),
        (".java", "Java"),
        (".js", "JavaScript"),
        (".mjs", "JavaScript"),
        (".ts", "JavaScript"),
        (".jl", "Julia"),
        (".cs", "C#"),
        (".c", "C"),
        (".cc", "C++"),
        (".cpp", "C++"),
        (".cxx", "C++"),
        (".hpp", "C++"),
    ];
    // The headers of the standard library are called `vector` and `new_allocator.h`.
    if file.contains("/include/c++/") {
        return Some("C++");
    }
    ENDINGS.iter().find(|(ending, _)| file.ends_with(ending)).map(|(_, language)| *language)
}

fn metrics(profile: &Profile) -> Vec<InfoMetric> {
    let meta = &profile.meta;
    let metric = |(number, metric): (usize, &crate::profile::Metric)| InfoMetric {
        name: metric.name.clone(),
        unit: metric.unit.clone(),
        divisor: metric.divisor,
        total: (!metric.too_large).then_some(metric.total),
        sum: profile.signed_total(number).filter(|_| profile.shown_total(number) == metric.total),
        samples: metric.rows,
        period: meta.period_of(number),
        default: number == meta.default_metric,
        resolution: resolution(profile, number),
    };
    meta.metrics.iter().enumerate().map(metric).collect()
}

fn depth(profile: &Profile, distinct: &[StackId]) -> Depth {
    let depths = distinct.iter().map(|&stack| profile.stacks.frames(stack).len() as u32);
    let mut depths: Vec<u32> = depths.filter(|&depth| depth > 0).collect();
    depths.sort_unstable();
    let median = depths.get(depths.len().saturating_sub(1) / 2).copied().unwrap_or(0);
    Depth { median, max: depths.last().copied().unwrap_or(0) }
}

/// The number of functions that stand for code without a name, such as `[libc.so.6]`.
fn unnamed(profile: &Profile) -> u64 {
    profile.symbols.functions.ids().filter(|&function| profile.symbols.is_nameless(function)).count() as u64
}

fn labels(profile: &Profile) -> Vec<InfoLabel> {
    let strings = &profile.symbols.strings;
    let mut rows = Column::<LabelSetId, u64>::filled(0, profile.label_sets.len());
    for &set in &profile.samples.labels {
        rows[set] += 1;
    }
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for (set, &rows) in rows.enumerate().filter(|(_, rows)| **rows > 0) {
        let mut keys: Vec<_> = profile.label_sets.labels(set).iter().map(|label| label.key).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            *counts.entry(strings.get(key)).or_default() += rows;
        }
    }
    let mut labels: Vec<InfoLabel> =
        counts.into_iter().map(|(key, samples)| InfoLabel { key: key.to_string(), samples }).collect();
    labels.sort_by(|a, b| a.key.cmp(&b.key));
    labels
}

/// The distinct values of the label `thread`.
fn threads(profile: &Profile) -> Vec<String> {
    let strings = &profile.symbols.strings;
    let mut threads = HashSet::new();
    for set in profile.label_sets.ids() {
        for label in profile.label_sets.labels(set) {
            if let (LabelValue::Text(text), "thread") = (label.value, strings.get(label.key)) {
                threads.insert(strings.get(text).to_string());
            }
        }
    }
    let mut threads: Vec<String> = threads.into_iter().collect();
    threads.sort();
    threads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    #[test]
    fn the_program_is_no_library_and_on_most_stacks() {
        for (stacks, expected) in [
            ("!/lib/xhci-hcd.ko.xz+0x1;!/usr/bin/fork+0x2 1", Some("fork")),
            ("!/usr/bin/perf+0x1 1\n!/srv/words+0x2;!/lib/libc.so.6+0x2 5\n!/srv/other+0x1 4", Some("words")),
            ("!vmlinux-4.14.252+0x1 1\n!vmlinuz+0x1;![ip_vs]+0x1 2", None),
            ("!/jre/libjvm.so+0x1 7\n!//anon+0x1 3\n![vdso]+0x3 1", None),
            ("!C:\\Windows\\ntdll.dll+0x1;!C:\\a\\shop.exe+0x2 3", Some("shop.exe")),
        ] {
            let profile = from_notation(stacks);
            let subject = Subject::new(&profile, &By::Function, &[0]);
            assert_eq!(executable(&subject, &used_frames(&subject)), expected, "{stacks}");
        }
    }

    /// The sum of profiles in two languages: the Java code is in no mapping.
    #[test]
    fn the_language_is_that_of_the_program() {
        let profile = from_notation(
            "main@a/main.go:1!/srv/shop+0x1;f@a/f.go:2!/srv/shop+0x2 5\na@A.java:1;b@B.java:2;c@C.java:3 4",
        );
        let subject = Subject::new(&profile, &By::Function, &[0]);
        assert_eq!(program(&subject, &used_frames(&subject)).as_deref(), Some("shop (Go)"));
    }

    #[test]
    fn the_c_library_is_part_of_every_program() {
        for (stacks, executable, expected) in [
            ("main@main.c:1 1", None, Some("C")),
            ("main@h.cpp:1;malloc@malloc.c:1;free@malloc.c:2 1", None, Some("C++")),
            ("main@h.c:1!/bin/h+0x1;push@x.cc:1!/lib/libx.so+0x1 1", Some("h"), Some("C")),
            (
                "main@h.cpp:1!/bin/h+0x1;a@a.c:1!/lib/libc.so+0x1;b@b.c:1!/lib/libc.so+0x2 1",
                Some("h"),
                Some("C++"),
            ),
            ("run@node.cc:1!/bin/node+0x1;main@app.js:1 1", Some("node"), Some("JavaScript")),
            ("allocate@/usr/include/c++/13/bits/new_allocator.h:137;malloc@malloc.c:1 1", None, Some("C++")),
            ("main 1", None, None),
        ] {
            assert_eq!(language(&from_notation(stacks), executable), expected, "{stacks}");
        }
    }

    #[test]
    fn negative_values_take_from_the_sum() {
        let metric = metrics(&from_notation("a;b -5\na;c 7")).remove(0);
        assert_eq!((metric.total, metric.sum), (Some(12), Some(2)));
        assert_eq!(metrics(&from_notation("a;c 7"))[0].sum, None);
    }

    #[test]
    fn functions_whose_values_cancel_out_are_not_counted() {
        for (stacks, expected) in
            [("a;b 3 0\na;c 0 2\nd 0 0", [3, 2]), ("a;b 3 0\na;b -3 0\na;c 0 -2", [2, 0])]
        {
            let profile = from_notation(stacks);
            let subject = Subject::new(&profile, &By::Function, &[0, 1]);
            assert_eq!(functions(&subject, &used_frames(&subject)), expected, "{stacks}");
        }
    }
}
