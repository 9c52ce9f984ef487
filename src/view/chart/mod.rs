//! `flame --time`: which functions were running when, on each thread.
//!
//! ```text
//! samples ──stretches──► when each thread had which stack ──columns──► at most one stack per column ──join──► blocks
//! ```

mod columns;
mod join;
mod stretches;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use hashbrown::HashMap;

use crate::pattern::Patterns;
use crate::profile::Profile;
use crate::report::{Chart, ChartBand, ChartBlock, ChartFunction};
use crate::transform::TimePoint;
use crate::tree::{KeyId, Subject, flat};
use crate::view::chart::columns::heaviest_per_column;
use crate::view::chart::join::Joined;
use crate::view::chart::stretches::{Stretch, stretches};
use crate::view::flame::{Colors, SelfSums};
use crate::view::timeline::moments::Moments;
use crate::view::timeline::note_of_idle;
use crate::view::timeline::rows::RowKeys;
use crate::view::{NoTimeline, Scope, TimelineRows};

/// Options for `chart`.
#[derive(Clone, Debug)]
pub struct ChartOptions {
    /// The metric and what blocks are.
    pub scope: Scope,
    /// Title of the picture.
    pub title: String,
    /// The range of time to which a filter has limited the samples: `--from` and `--to`.
    pub range: [Option<TimePoint>; 2],
    /// Whether filters may have removed samples between those that are left.
    pub is_filtered: bool,
    /// The width of the picture in pixels.
    pub pixels: u32,
    /// The largest number of blocks. If there were more, each of a number of columns shows its heaviest stack.
    pub most_blocks: usize,
    /// Patterns of the functions that are own code; `None` for what is not known to be a library.
    pub own: Option<Patterns>,
}

/// The largest number of threads.
const BANDS: usize = 24;

/// The largest number of rows of a band.
const DEPTH: u32 = 256;

/// How many columns there may be per pixel, so that zooming shows more.
const COLUMNS_PER_PIXEL: [i64; 4] = [16, 8, 4, 2];

impl ChartOptions {
    /// The whole recording, with so many blocks that a browser is quick.
    pub fn new(scope: Scope) -> Self {
        ChartOptions {
            scope,
            title: String::new(),
            range: [None, None],
            is_filtered: false,
            pixels: 1180,
            most_blocks: 40_000,
            own: None,
        }
    }
}

/// The flame chart of a profile, which must have been loaded with times and labels.
pub fn chart(profile: &Profile, options: &ChartOptions) -> Result<Chart, NoTimeline> {
    let scope = &options.scope;
    let (subject, mut header) = scope.open(profile, "prof.chart.v1");
    header.warnings.extend(note_of_idle(profile));
    let moments = Moments::new(profile, &options.range)?;
    let keys = RowKeys::new(profile, &TimelineRows::Thread).map_err(NoTimeline::NoLabel)?;
    let threads = stretches(profile, scope.metrics[0], &moments, &keys, options.is_filtered);
    let first = threads.iter().filter_map(|thread| Some(thread.stretches.first()?.from)).min();
    let (from, to) = moments.shown_range(first);
    let mut order: Vec<usize> = (0..threads.len()).filter(|&thread| threads[thread].samples > 0).collect();
    order.sort_by_key(|&thread| (Reverse(threads[thread].total), &keys.names[thread]));
    let more_bands = order.len().saturating_sub(BANDS);
    order.truncate(BANDS);
    let shown: Vec<Vec<Stretch>> =
        order.iter().map(|&thread| clipped(&threads[thread].stretches, from, to)).collect();
    let width = (to - from).max(1);
    let (column_ns, joined) = joined(&subject, &shown, width, from, options);
    let bands = order.iter().enumerate().map(|(band, &thread)| ChartBand {
        name: keys.names[thread].clone(),
        total: threads[thread].total,
        rows: joined.rows(band),
    });
    let bands = bands.collect();
    let DrawnFunctions { functions, of_key, sums, colors } = DrawnFunctions::of(&subject, &joined, options);
    let block = |block: &join::KeyBlock| ChartBlock {
        band: block.band,
        depth: block.depth,
        from_ns: block.from,
        to_ns: block.to,
        function: of_key[&block.key],
    };
    Ok(Chart {
        header,
        start_ns: moments.start_ns(),
        from_ns: from,
        to_ns: to,
        column_ns,
        title: options.title.clone(),
        bands,
        more_bands,
        functions,
        blocks: joined.blocks.iter().map(block).collect(),
        deepest: joined.is_cut.then_some(DEPTH),
        groups: colors.groups,
        group_self: sums.group_self,
        files: sums.files,
    })
}

/// The part of stretches in a range of time.
fn clipped(stretches: &[Stretch], from: i64, to: i64) -> Vec<Stretch> {
    let clip =
        |stretch: &Stretch| Stretch { from: stretch.from.max(from), to: stretch.to.min(to), ..*stretch };
    stretches.iter().map(clip).filter(|stretch| stretch.from < stretch.to).collect()
}

/// The blocks of all bands: of every sample, or if these are too many, of columns that are as narrow as possible.
fn joined(
    subject: &Subject<'_>,
    bands: &[Vec<Stretch>],
    width: i64,
    from: i64,
    options: &ChartOptions,
) -> (Option<i64>, Joined) {
    if let Some(joined) = Joined::of(subject, bands, DEPTH, options.most_blocks) {
        return (None, joined);
    }
    let pixels = i64::from(options.pixels.max(1));
    for per_pixel in COLUMNS_PER_PIXEL {
        let column = (width / (pixels * per_pixel)).max(1);
        let bands: Vec<Vec<Stretch>> =
            bands.iter().map(|band| heaviest_per_column(band, from, column)).collect();
        if let Some(joined) = Joined::of(subject, &bands, DEPTH, options.most_blocks) {
            return (Some(column), joined);
        }
    }
    let column = (width / pixels).max(1);
    let bands: Vec<Vec<Stretch>> = bands.iter().map(|band| heaviest_per_column(band, from, column)).collect();
    // So many columns, threads and rows are the limit.
    (Some(column), Joined::of(subject, &bands, DEPTH, usize::MAX).unwrap_or_default())
}

/// The functions of the blocks.
struct DrawnFunctions {
    functions: Vec<ChartFunction>,
    of_key: HashMap<KeyId, u32>,
    sums: SelfSums,
    colors: Colors,
}

impl DrawnFunctions {
    fn of(subject: &Subject<'_>, joined: &Joined, options: &ChartOptions) -> Self {
        let mut lengths: HashMap<KeyId, i64> = HashMap::new();
        let mut order = Vec::new();
        for block in &joined.blocks {
            let length = lengths.entry(block.key).or_insert_with(|| {
                order.push(block.key);
                0
            });
            *length = length.saturating_add(block.to - block.from);
        }
        let areas = lengths.iter().map(|(&key, &length)| (subject.keys.name(key), length));
        let colors = Colors::new(&[subject], options.own.as_ref(), areas);
        let counted = flat(subject);
        let function = |&key: &KeyId| {
            let this = subject.keys.get(key);
            ChartFunction {
                name: this.name.clone(),
                function: this.function.clone(),
                file: this.file.clone(),
                line: this.line,
                group: colors.of(&this.name),
                length_ns: lengths[&key],
                total: counted.total[0][key],
                self_value: counted.self_value[0][key],
            }
        };
        let functions = order.iter().map(function).collect();
        let of_key = order.iter().enumerate().map(|(number, &key)| (key, number as u32)).collect();
        DrawnFunctions { functions, of_key, sums: SelfSums::of(subject, &colors), colors }
    }
}
