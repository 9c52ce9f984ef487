//! The view of the interactive page: distinct stacks with the values of all metrics, so that filters in
//! the page give the same numbers as on the command line.

use hashbrown::HashMap;

use crate::pattern::{FrameNames, Pattern, SETS};
use crate::profile::{Column, FrameId, Profile, StackId};
use crate::report::{ColorGroup, Name, Page, PageMetric, PageName, PagePlace};
use crate::tree::{By, KeyId, Subject};
use crate::view::flame::packages;
use crate::view::groups::{Owned, groups};
use crate::view::{Scope, metric_name, recording, stack_order};

/// Options for the page.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// The metric that is shown first, and what a node is.
    pub scope: Scope,
    /// Title of the page.
    pub title: String,
}

/// The page of a profile: all of its metrics, or both sides of a comparison.
pub fn page(profile: &Profile, options: &PageOptions) -> Page {
    let scope = &options.scope;
    let first = scope.metrics[0];
    let fits = |&metric: &usize| !profile.meta.metrics[metric].too_large;
    let old = scope.base.as_ref().map(|base| base.metric);
    let shown: Vec<usize> = match old {
        Some(_) => vec![first],
        None => (0..profile.meta.metrics.len()).filter(fits).collect(),
    };
    let subject = Subject::new(profile, &scope.by, &shown);
    let mut header = scope.header(profile, "prof.page.v1");
    header.highlight = scope.highlight(&scope.subject(profile));
    let metric = |&metric: &usize| PageMetric {
        metric: metric_name(profile, metric),
        total: profile.meta.metrics[metric].total,
        old_total: old.map_or(0, |old| profile.meta.metrics[old].total),
        recording: recording(profile, metric),
    };
    let metrics: Vec<PageMetric> = shown.iter().map(metric).collect();
    let mut names = names(&subject);
    let (places, place_of) = places(&subject, &names, &scope.by);
    let sides = [Some(shown.clone()), old.map(|old| vec![old])];
    let sides: Vec<Vec<usize>> = sides.into_iter().flatten().collect();
    let (frames, ends, mut columns) = PageTable::of(profile, &sides, &place_of).sorted(metrics.len());
    let old = columns.split_off(metrics.len());
    let default_metric = shown.iter().position(|&metric| metric == first).unwrap_or(0);
    let groups = color_names(&mut names, &places, &frames, &ends, &columns[default_metric]);
    Page {
        header,
        title: options.title.clone(),
        default_metric,
        metrics,
        names,
        groups,
        sets: sets(&places),
        places,
        frames,
        ends,
        values: columns,
        old,
        comparison: None,
    }
}

/// For each metric, the sums of the positive values of every stack, then those of the negative
/// values, if there are any. They are separate because totals are sums of absolute values.
fn sums(profile: &Profile, metrics: &[usize]) -> Vec<Vec<Column<StackId, i64>>> {
    let samples = &profile.samples;
    let sum = |metric: usize, wanted: fn(&i64) -> bool| {
        let mut sums = Column::filled(0, profile.stacks.len());
        let values = samples.values[metric].iter();
        for (&stack, &value) in samples.stack.iter().zip(values).filter(|(_, value)| wanted(value)) {
            sums[stack] += value;
        }
        sums
    };
    let mut signs: Vec<fn(&i64) -> bool> = vec![|value| *value > 0];
    if metrics.iter().flat_map(|&metric| &samples.values[metric]).any(|&value| value < 0) {
        signs.push(|value| *value < 0);
    }
    signs.iter().map(|&sign| metrics.iter().map(|&metric| sum(metric, sign)).collect()).collect()
}

/// The names on the stacks, sorted. Where nodes of one name differ, the first counts.
fn names(subject: &Subject<'_>) -> Vec<PageName> {
    let mut rows: HashMap<Name, PageName> = HashMap::new();
    let mut used = Column::<KeyId, bool>::filled(false, subject.keys.len());
    for &frame in subject.profile.stacks.all_frames() {
        used[subject.keys.of_frame(frame)] = true;
    }
    let packages = packages(subject);
    for key in subject.keys.ids().filter(|&key| used[key]) {
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
    let mut rows: Vec<PageName> = rows.into_values().collect();
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    rows
}

/// Gives every name the group of its first place, and returns the groups, ranked by the area that they take in the
/// graph of the metric that is shown first.
fn color_names(
    names: &mut [PageName],
    places: &[PagePlace],
    frames: &[u32],
    ends: &[u32],
    values: &[i64],
) -> Vec<ColorGroup> {
    let mut area = vec![0_u64; names.len()];
    let mut start = 0;
    for (&end, value) in ends.iter().zip(values) {
        for &place in &frames[start..end as usize] {
            let sum = &mut area[places[place as usize].name as usize];
            *sum = sum.saturating_add(value.unsigned_abs());
        }
        start = end as usize;
    }
    let mut mapping = vec![""; names.len()];
    for place in places.iter().rev() {
        mapping[place.name as usize] = &place.mapping;
    }
    let owned = names.iter().zip(mapping).zip(area).map(|((row, mapping), area)| Owned {
        function: &row.function,
        file: row.file.as_deref().unwrap_or_default(),
        mapping,
        area,
    });
    let (groups, of_name) = groups(&owned.collect::<Vec<_>>());
    for (row, group) in names.iter_mut().zip(of_name) {
        row.group = group;
    }
    groups
}

/// The places on the stacks, sorted, and the place of every frame.
fn places(subject: &Subject<'_>, names: &[PageName], by: &By) -> (Vec<PagePlace>, Column<FrameId, u32>) {
    let ids: HashMap<&str, u32> = names.iter().zip(0..).map(|(row, id)| (&*row.name, id)).collect();
    // If nodes are coarser than functions, one frame represents several, so that patterns can only
    // match the name of the node.
    let is_narrow = matches!(by, By::Function | By::Name | By::Line | By::Address);
    let mut known: HashMap<PagePlace, u32> = HashMap::new();
    let symbols = &subject.profile.symbols;
    let mut used = Column::<FrameId, bool>::filled(false, symbols.frames.len());
    for &frame in subject.profile.stacks.all_frames() {
        used[frame] = true;
    }
    let mut texts = hashbrown::HashSet::<Name>::new();
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
                package: text(&symbols.owner(frame)),
                inlined: frame.inlined,
            }
        } else {
            PagePlace {
                name,
                function: key.name.clone(),
                file: key.file.clone().unwrap_or_default(),
                mapping: Name::default(),
                package: names[name as usize].package.clone(),
                inlined: false,
            }
        };
        let next = known.len() as u32;
        *known.entry(place).or_insert(next)
    });
    let of_frame: Column<FrameId, u32> = of_frame.collect();
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
    SETS.iter().filter_map(set).collect()
}

/// The stacks of all sides as places, with their values.
#[derive(Default)]
struct PageTable {
    sides: usize,
    frames: Vec<u32>,
    rows: Vec<PageRow>,
    /// The values of all rows, one after the other. A row has one value per metric.
    values: Vec<i64>,
}

#[derive(Clone, Copy)]
struct PageRow {
    start: usize,
    end: usize,
    negative: bool,
    side: usize,
    /// The start of its values.
    values: usize,
}

impl PageTable {
    /// `sides` holds the metrics of each side.
    fn of(profile: &Profile, sides: &[Vec<usize>], place_of: &Column<FrameId, u32>) -> Self {
        let mut table = PageTable { sides: sides.len(), ..PageTable::default() };
        for (number, metrics) in sides.iter().enumerate() {
            table.add(number, profile, metrics, place_of);
        }
        table
    }

    fn add(&mut self, number: usize, profile: &Profile, metrics: &[usize], place_of: &Column<FrameId, u32>) {
        let stacks = &profile.stacks;
        let sums = sums(profile, metrics);
        for stack in stacks.ids() {
            let start = self.frames.len();
            for (sign, columns) in sums.iter().enumerate() {
                if columns.iter().all(|column| column[stack] == 0) {
                    continue;
                }
                if self.frames.len() == start {
                    self.frames.extend(stacks.frames(stack).iter().map(|&frame| place_of[frame]));
                }
                let values = self.values.len();
                self.values.extend(columns.iter().map(|column| column[stack]));
                let end = self.frames.len();
                self.rows.push(PageRow { start, end, negative: sign == 1, side: number, values });
            }
        }
    }

    /// Frames and ends of the distinct stacks in order, and their values: one column per metric for the
    /// first side, then for the second side.
    fn sorted(mut self, metrics: usize) -> (Vec<u32>, Vec<u32>, Vec<Vec<i64>>) {
        let all = &self.frames;
        let key = |row: &PageRow| (&all[row.start..row.end], row.negative);
        stack_order::sort(&mut self.rows, |row| &all[row.start..row.end], |row| row.negative);
        let mut frames = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        let mut values = vec![Vec::new(); self.sides * metrics];
        let mut last = None;
        for row in &self.rows {
            if last != Some(key(row)) {
                last = Some(key(row));
                frames.extend_from_slice(&all[row.start..row.end]);
                ends.push(frames.len() as u32);
                for column in &mut values {
                    column.push(0);
                }
            }
            for metric in 0..metrics {
                if let Some(sum) = values[row.side * metrics + metric].last_mut() {
                    *sum += self.values[row.values + metric];
                }
            }
        }
        (frames, ends, values)
    }
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
        PageOptions { scope: Scope::metric(0), title: String::new() }
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
    fn both_sides_share_one_table_of_stacks() {
        let both = from_notation("a;b 5 3\na;c 1 0\nd 0 2");
        let page = page(&both, &PageOptions { scope: Scope::compared(), title: String::new() });
        assert_eq!(drawn(&page), ["a;b [5, 3]", "a;c [1, 0]", "d [0, 2]"]);
        assert_eq!((page.metrics[0].total, page.metrics[0].old_total), (6, 5));
    }
}
