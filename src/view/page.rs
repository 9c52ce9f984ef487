//! The view of the interactive page: distinct stacks with the values of all metrics, so that filters in
//! the page give the same numbers as on the command line.

use hashbrown::HashMap;

use crate::parallel;
use crate::pattern::{FrameNames, PAGE_SETS, Pattern, Patterns};
use crate::profile::{Column, FrameId, FunctionId, LabelSetId, MappingId, Profile, Samples};
use crate::report::{ColorGroup, Name, Page, PageMetric, PageName, PagePlace, PageTimes};
use crate::tree::{By, Subject};
use crate::view::facets::{Facets, facets};
use crate::view::flame::packages;
use crate::view::groups::{Owned, groups};
use crate::view::page_calls::{self, CallPaths, PageStacks, SMALL};
use crate::view::page_table::{PageRows, PageTable};
use crate::view::timeline::page_times;
use crate::view::{BaseSide, Scope, TopOptions, approximate, metric_name, recording, top_with_calls};

/// Options for the page.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// The metric that is shown first, and what a node is.
    pub scope: Scope,
    /// Title of the page.
    pub title: String,
    /// Patterns of the functions that are own code; `None` for what is not known to be a library.
    pub own: Option<Patterns>,
    /// Whether the page can count lines, which its tab of source lines does.
    pub lines: bool,
    /// Whether the page can show when samples were taken, if the profile was loaded with times.
    pub times: bool,
}

/// The page of a profile: all of its metrics, or both sides of a comparison.
pub fn page(profile: &Profile, options: &PageOptions) -> Page {
    let scope = &options.scope;
    let first = scope.metrics[0];
    let old = scope.base.as_ref().map(|base| base.metric);
    let shown = shown_metrics(profile, first, old);
    // The paths of calls are approximated for both sides at once.
    let counted: Vec<usize> = shown.iter().copied().chain(old.filter(|_| profile.calls.is_some())).collect();
    let subject = Subject::new(profile, &scope.by, &counted);
    let mut header = scope.header(profile, "prof.page.v1");
    approximate(&mut header, profile);
    header.highlight = scope.highlight(&scope.subject(profile));
    let metrics: Vec<PageMetric> = shown.iter().map(|&metric| page_metric(profile, metric, old)).collect();
    let paths = subject.calls.is_some().then(|| CallPaths::of(&subject));
    let used = page_calls::used(profile);
    let mut names = names(&subject, &used, paths.as_ref().is_some_and(CallPaths::has_small));
    let (places, place_of) = places(&subject, &used, &names, options);
    let Facets { choices, left_out, set_of, sets: label_sets } = facets(profile);
    let has_times = options.times && old.is_none();
    let Drawn { stacks, mut columns, times } = match &paths {
        Some(paths) => drawn_of_calls(paths, &subject, &places, &place_of),
        None => {
            let sides: Vec<Vec<usize>> =
                [Some(shown.clone()), old.map(|old| vec![old])].into_iter().flatten().collect();
            drawn(profile, &sides, (&place_of, places.len()), &set_of, has_times)
        }
    };
    let PageStacks { frames, ends, labels } = stacks;
    let old = columns.split_off(metrics.len());
    let ratios = scope.base.as_ref().map_or_else(Vec::new, |base| {
        ratios(base, metrics.first().map_or((0, 0), |metric| (metric.total, metric.old_total)))
    });
    let default_metric = shown.iter().position(|&metric| metric == first).unwrap_or(0);
    let area = areas(names.len(), &places, &frames, &ends, &columns[default_metric]);
    let groups = color_names(&mut names, &places, &area, options.own.as_ref());
    let calls = subject.calls.as_ref().map(|calls| page_calls::exact(&subject, calls, &names));
    let top = (calls.is_some() && scope.base.is_none()).then(|| {
        let scope = Scope { metrics: vec![first], highlight: None, ..scope.clone() };
        Box::new(top_with_calls(profile, &TopOptions::new(scope)))
    });
    Page {
        header,
        title: options.title.clone(),
        default_metric,
        metrics,
        names,
        groups,
        sets: sets(&places),
        places,
        facets: choices,
        facets_left_out: left_out,
        label_sets,
        frames,
        ends,
        labels,
        values: columns,
        old,
        comparison: None,
        ratios,
        sources: Vec::new(),
        calls,
        times,
        top,
    }
}

/// The metrics that the page shows: all that fit, or the one that is compared. The paths of calls are approximated for one
/// metric: each divides the costs in its own way.
fn shown_metrics(profile: &Profile, first: usize, old: Option<usize>) -> Vec<usize> {
    if old.is_some() || profile.calls.is_some() {
        return vec![first];
    }
    let metrics = &profile.meta.metrics;
    (0..metrics.len()).filter(|&metric| !metrics[metric].too_large).collect()
}

fn page_metric(profile: &Profile, metric: usize, old: Option<usize>) -> PageMetric {
    PageMetric {
        metric: metric_name(profile, metric),
        total: profile.meta.metrics[metric].total,
        old_total: old.map_or(0, |old| profile.meta.metrics[old].total),
        recording: recording(profile, metric),
    }
}

/// What the page draws.
struct Drawn {
    stacks: PageStacks,
    /// The values of the stacks: a column for each metric, and then one for the old side if there is one.
    columns: Vec<Vec<i64>>,
    /// When the stacks were running, if the page shows it.
    times: Option<PageTimes>,
}

/// The stacks of samples. `sides` are the metrics of each side, `places` the place of each frame and how many there are.
fn drawn(
    profile: &Profile,
    sides: &[Vec<usize>],
    places: (&Column<FrameId, u32>, usize),
    set_of: &Column<LabelSetId, u32>,
    has_times: bool,
) -> Drawn {
    let table = PageTable::of(profile, sides, places, set_of);
    let numbers = (has_times && profile.samples.time.is_some()).then(|| table.numbers());
    let times = numbers.and_then(|numbers| times_of(profile, &sides[0], &numbers, set_of));
    Drawn { stacks: table.stacks(), columns: table.values(), times }
}

/// The approximate paths of calls as stacks of places.
fn drawn_of_calls(
    paths: &CallPaths,
    subject: &Subject<'_>,
    places: &[PagePlace],
    place_of: &Column<FrameId, u32>,
) -> Drawn {
    // Only frames of functions have a place: the first frame of a function may be one that only its lines have.
    let mut of_key = Column::filled(0, subject.keys.len());
    let frames = subject.profile.calls.iter().flat_map(|calls| calls.functions().map(|(_, frame)| frame));
    for frame in frames.collect::<Vec<_>>().into_iter().rev() {
        of_key[subject.keys.of_frame(frame)] = place_of[frame];
    }
    let place = |key| of_key[key];
    let small = places.iter().position(|place| &*place.function == SMALL).unwrap_or(0);
    let (stacks, columns) = paths.stacks(place, small as u32);
    Drawn { stacks, columns, times: None }
}

/// When the stacks of the page were running.
fn times_of(
    profile: &Profile,
    metrics: &[usize],
    numbers: &PageRows,
    set_of: &Column<LabelSetId, u32>,
) -> Option<PageTimes> {
    let Samples { stack, labels, values, .. } = &*profile.samples;
    let stack_of = |sample: usize, negative: bool| {
        let has_value = |&metric: &usize| {
            let value = values[metric][sample];
            value != 0 && (value < 0) == negative
        };
        let row = (stack[sample], set_of[labels[sample]], negative);
        metrics.iter().any(has_value).then(|| numbers.get(&row).copied()).flatten()
    };
    page_times(profile, metrics, &stack_of)
}

/// The factors that the page can multiply the old side by: the one that was asked for, and those that need no statistics.
fn ratios(base: &BaseSide, (new, old): (i64, i64)) -> Vec<(&'static str, f64)> {
    let total = new as f64 / old as f64;
    let mut ratios = vec![("none", 1.0)];
    if total.is_finite() && total > 0.0 {
        ratios.push(("total", total));
    }
    let asked = (base.normalize.method, base.normalize.ratio);
    ratios.retain(|(method, _)| *method != asked.0);
    ratios.insert(0, asked);
    ratios
}

/// The names on the stacks, sorted. Where nodes of one name differ, the first counts.
fn names(subject: &Subject<'_>, used: &Column<FrameId, bool>, has_small: bool) -> Vec<PageName> {
    let mut rows: HashMap<Name, PageName> = HashMap::new();
    let frames = used.ids().filter(|&frame| used[frame]);
    let shown = Column::marking(frames.map(|frame| subject.keys.of_frame(frame)), subject.keys.len());
    let packages = packages(subject);
    for key in subject.keys.ids().filter(|&key| shown[key]) {
        let row = subject.keys.get(key);
        rows.entry(row.name.clone()).or_insert_with(|| PageName {
            name: row.name.clone(),
            function: row.function.clone(),
            file: row.file.clone(),
            line: row.line,
            package: packages[key].clone(),
            group: 0,
        });
    }
    let small = has_small.then(|| PageName {
        name: SMALL.into(),
        function: SMALL.into(),
        file: None,
        line: None,
        package: Name::default(),
        group: 0,
    });
    let mut rows: Vec<PageName> = rows.into_values().chain(small).collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

/// The area that every name takes in the graph of these values.
fn areas(names: usize, places: &[PagePlace], frames: &[u32], ends: &[u32], values: &[i64]) -> Vec<u64> {
    let parts = parallel::ranges(ends.len(), 20_000, |stacks| {
        let mut area = vec![0_u64; names];
        let mut start = stacks.start.checked_sub(1).map_or(0, |before| ends[before] as usize);
        for (&end, value) in ends[stacks.clone()].iter().zip(&values[stacks]) {
            for &place in &frames[start..end as usize] {
                let sum = &mut area[places[place as usize].name as usize];
                *sum = sum.saturating_add(value.unsigned_abs());
            }
            start = end as usize;
        }
        area
    });
    let sum = |one: Vec<u64>, other: Vec<u64>| {
        one.into_iter().zip(other).map(|(one, other)| one.saturating_add(other)).collect()
    };
    parts.into_iter().reduce(sum).unwrap_or_default()
}

/// Gives every name the group of its first place, and returns the groups, ranked by area.
fn color_names(
    names: &mut [PageName],
    places: &[PagePlace],
    area: &[u64],
    own: Option<&Patterns>,
) -> Vec<ColorGroup> {
    let mut mapping = vec![""; names.len()];
    for place in places.iter().rev() {
        mapping[place.name as usize] = &place.mapping;
    }
    let owned = names.iter().zip(mapping).zip(area).map(|((row, mapping), &area)| Owned {
        function: &row.function,
        file: row.file.as_deref().unwrap_or_default(),
        mapping,
        area,
    });
    let (groups, of_name) = groups(&owned.collect::<Vec<_>>(), own);
    for (row, group) in names.iter_mut().zip(of_name) {
        row.group = group;
    }
    groups
}

/// The places on the stacks, sorted, and the place of every frame.
fn places(
    subject: &Subject<'_>,
    used: &Column<FrameId, bool>,
    names: &[PageName],
    options: &PageOptions,
) -> (Vec<PagePlace>, Column<FrameId, u32>) {
    let ids: HashMap<&str, u32> = names.iter().zip(0..).map(|(row, id)| (&*row.name, id)).collect();
    // If nodes are coarser than functions, one frame represents several, so that patterns can only
    // match the name of the node.
    let is_narrow = matches!(options.scope.by, By::Function | By::Name | By::Line | By::Address);
    let mut known: HashMap<PagePlace, u32> = HashMap::new();
    let symbols = &subject.profile.symbols;
    let mut texts = hashbrown::HashSet::<Name>::new();
    // A function has about five frames.
    let mut owners: HashMap<(FunctionId, MappingId), Name> = HashMap::new();
    let mut text = |text: &str| texts.get_or_insert_with(text, |text| text.into()).clone();
    let of_frame = symbols.frames.enumerate().map(|(id, frame)| {
        let key = subject.keys.get(subject.keys.of_frame(id));
        let (true, Some(&name)) = (used[id], ids.get(&*key.name)) else { return 0 };
        let place = if is_narrow {
            PagePlace {
                name,
                function: text(symbols.function_name(frame.function)),
                file: text(symbols.function_file(frame.function)),
                mapping: text(symbols.mapping_file(frame.mapping)),
                package: owners
                    .entry((frame.function, frame.mapping))
                    .or_insert_with(|| text(&symbols.owner(frame)))
                    .clone(),
                inlined: frame.inlined,
                line: if options.lines { frame.line } else { 0 },
            }
        } else {
            PagePlace {
                file: key.file.clone().unwrap_or_default(),
                package: names[name as usize].package.clone(),
                ..PagePlace::named(name, key.name.clone())
            }
        };
        let next = known.len() as u32;
        *known.entry(place).or_insert(next)
    });
    let of_frame: Column<FrameId, u32> = of_frame.collect();
    if let Some(&name) = ids.get(SMALL).filter(|_| subject.calls.is_some()) {
        let next = known.len() as u32;
        known.entry(PagePlace::named(name, SMALL.into())).or_insert(next);
    }
    let mut places: Vec<(PagePlace, u32)> = known.into_iter().collect();
    places.sort();
    let mut sorted = vec![0; places.len()];
    for ((_, met), index) in places.iter().zip(0..) {
        sorted[*met as usize] = index;
    }
    let in_order = |met: &u32| sorted.get(*met as usize).copied().unwrap_or(0);
    (places.iter().map(|(place, _)| place.clone()).collect(), of_frame.map(in_order))
}

/// For each named set of frames, the places in it.
fn sets(places: &[PagePlace]) -> Vec<(&'static str, Vec<u32>)> {
    let set = |&name: &&'static str| {
        let (pattern, _) = Pattern::parse(name, false).ok()?;
        let is_in = |place: &PagePlace| {
            pattern.matches(FrameNames {
                function: &place.function,
                file: &place.file,
                ..FrameNames::default()
            })
        };
        Some((name, places.iter().zip(0..).filter(|(place, _)| is_in(place)).map(|(_, id)| id).collect()))
    };
    PAGE_SETS.iter().filter_map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn drawn(page: &Page) -> Vec<String> {
        let mut start = 0;
        let mut rows = Vec::new();
        for (stack, &end) in page.ends.iter().enumerate() {
            let frames: Vec<&str> = page.frames[start..end as usize]
                .iter()
                .map(|&id| &*page.places[id as usize].function)
                .collect();
            let values: Vec<i64> = page.values.iter().chain(&page.old).map(|column| column[stack]).collect();
            rows.push(format!("{} {values:?}", frames.join(";")));
            start = end as usize;
        }
        rows
    }

    fn options() -> PageOptions {
        PageOptions { scope: Scope::metric(0), ..PageOptions::default() }
    }

    #[test]
    fn stacks_are_distinct_and_sorted() {
        let profile = from_notation("main@m:2;b 1 10\nmain@m:1;b 2 0\nmain@m:1;a 0 5\n 4 4");
        let page = page(&profile, &options());
        assert_eq!(drawn(&page), [" [4, 4]", "main;a [0, 5]", "main;b [3, 10]"]);
    }

    #[test]
    fn positive_and_negative_values_are_separate() {
        let page = page(&from_notation("a 5\na -2\nb -1"), &options());
        assert_eq!(drawn(&page), ["a [5]", "a [-2]", "b [-1]"]);
        assert_eq!(page.metrics[0].total, 8);
    }

    #[test]
    fn stacks_with_several_sets_of_labels_occur_several_times() {
        let profile = from_notation("main;a 5 {t=x}\nmain;a 2 {t=y}\nmain;a 1 {t=x}\nmain 4");
        let page = page(&profile, &options());
        assert_eq!(drawn(&page), ["main [4]", "main;a [6]", "main;a [2]"]);
        let sets: Vec<&[(u32, u32)]> =
            page.labels.iter().map(|&set| &page.label_sets[set as usize][..]).collect();
        assert_eq!(sets, [&[][..], &[(0, 0)], &[(0, 1)]]);
        assert_eq!((&*page.facets[0].key, &page.facets[0].values), ("t", &vec!["x".into(), "y".into()]));
    }

    #[test]
    fn both_sides_share_one_table_of_stacks() {
        let both = from_notation("a;b 5 3\na;c 1 0\nd 0 2");
        let page = page(&both, &PageOptions { scope: Scope::compared(), ..PageOptions::default() });
        assert_eq!(drawn(&page), ["a;b [5, 3]", "a;c [1, 0]", "d [0, 2]"]);
        assert_eq!((page.metrics[0].total, page.metrics[0].old_total), (6, 5));
    }
}
