//! The tables of frames, stacks and samples that are read.

use std::collections::HashSet;
use std::path::Path;

use hashbrown::HashMap;

use crate::dataset::files::open_all;
use crate::dataset::profiles::divisor;
use crate::dataset::schema;
use crate::format::LoadError;
use crate::format::parquet::column::{Ints, Texts};
use crate::format::parquet::table::Table;
use crate::profile::{
    Addresses, Budget, Frame, FrameId, Function, Label, LabelSetId, LabelValue, Mapping, ProfileBuilder,
    Reservation, StackId,
};

/// The stacks of a dataset, in a profile that is being built.
pub(super) struct Stacks {
    by_id: HashMap<u64, StackId>,
    #[expect(dead_code, reason = "it is there to be dropped")]
    memory: Reservation,
}

/// The memory of an entry of a table of ids.
const ENTRY: usize = 32;

impl Stacks {
    /// Adds the frames and stacks of a dataset to a profile.
    pub(super) fn read(
        dataset: &Path,
        builder: &mut ProfileBuilder,
        budget: &Budget,
    ) -> Result<Stacks, LoadError> {
        let (mut frames, mut by_id) = (HashMap::new(), HashMap::new());
        let mut memory = budget.reservation();
        for table in open_all(dataset, "frames", budget)? {
            let table = table?;
            for group in 0..table.groups() {
                read_frames(&table, group, builder, &mut frames)?;
                memory.set((frames.len() * ENTRY) as u64)?;
            }
        }
        for table in open_all(dataset, "stacks", budget)? {
            let table = table?;
            for group in 0..table.groups() {
                read_stacks(&table, group, builder, &frames, &mut by_id)?;
                memory.set(((frames.len() + by_id.len()) * ENTRY) as u64)?;
            }
        }
        Ok(Stacks { by_id, memory })
    }

    pub(super) fn get(&self, id: u64) -> Option<StackId> {
        self.by_id.get(&id).copied()
    }
}

fn read_frames(
    table: &Table,
    group: usize,
    builder: &mut ProfileBuilder,
    frames: &mut HashMap<u64, FrameId>,
) -> Result<(), LoadError> {
    let mut columns = FrameColumns::of(table, group)?;
    loop {
        let rows = columns.next_rows(table)?;
        if rows == 0 {
            return Ok(());
        }
        for row in 0..rows {
            let frame = columns.frame(row, builder);
            let id = columns.ids.cells.get(row).copied().unwrap_or(0) as u64;
            if *frames.entry(id).or_insert(frame) != frame {
                return Err(different(table, "frames", id));
            }
        }
    }
}

/// The columns of the table of frames, some rows at a time.
struct FrameColumns {
    ids: Ints,
    lines: Ints,
    start_lines: Ints,
    start_columns: Ints,
    addresses: Ints,
    inlined: Ints,
    functions: Texts,
    system_names: Texts,
    files: Texts,
    mappings: Texts,
    build_ids: Texts,
    addresses_of: Texts,
}

impl FrameColumns {
    fn of(table: &Table, group: usize) -> Result<Self, LoadError> {
        let ints = |column| table.ints(group, column);
        let texts = |column| table.texts(group, column);
        Ok(FrameColumns {
            ids: ints("frame_id")?,
            lines: ints("line")?,
            start_lines: ints("start_line")?,
            start_columns: ints("start_column")?,
            addresses: ints("address")?,
            inlined: ints("inlined")?,
            functions: texts("function")?,
            system_names: texts("system_name")?,
            files: texts("file")?,
            mappings: texts("mapping")?,
            build_ids: texts("build_id")?,
            addresses_of: texts("address_of")?,
        })
    }

    /// Reads the next rows, and says how many there are.
    fn next_rows(&mut self, table: &Table) -> Result<usize, LoadError> {
        table.next_rows(
            [
                ("frame_id", &mut self.ids),
                ("line", &mut self.lines),
                ("start_line", &mut self.start_lines),
                ("start_column", &mut self.start_columns),
                ("address", &mut self.addresses),
                ("inlined", &mut self.inlined),
            ],
            [
                ("function", &mut self.functions),
                ("system_name", &mut self.system_names),
                ("file", &mut self.files),
                ("mapping", &mut self.mappings),
                ("build_id", &mut self.build_ids),
                ("address_of", &mut self.addresses_of),
            ],
        )
    }

    fn frame(&self, row: usize, builder: &mut ProfileBuilder) -> FrameId {
        let number =
            |column: &Ints| column.cells.get(row).and_then(|&number| u32::try_from(number).ok()).unwrap_or(0);
        let name = self.system_names.text(row);
        let function = Function {
            name: builder.string(&name),
            file: builder.string(&self.files.text(row)),
            line: number(&self.start_lines),
            column: number(&self.start_columns),
            by_place: self.functions.text(row) != name,
        };
        let addresses = match &*self.addresses_of.text(row) {
            "file" => Addresses::File,
            "image" => Addresses::Image,
            _ => Addresses::Memory,
        };
        let mapping = Mapping {
            file: builder.string(&self.mappings.text(row)),
            build_id: builder.string(&self.build_ids.text(row)),
            addresses,
            ..Mapping::default()
        };
        let frame = Frame {
            function: builder.function(function),
            line: number(&self.lines),
            address: self.addresses.cells.get(row).copied().unwrap_or(0) as u64,
            mapping: builder.mapping(mapping),
            inlined: self.inlined.cells.get(row) == Some(&1),
        };
        builder.frame(frame)
    }
}

/// An id stands for two things: the files do not belong together, or were changed.
fn different(table: &Table, what: &str, id: u64) -> LoadError {
    table.error(format!("two different {what} have the id {id}"))
}

fn read_stacks(
    table: &Table,
    group: usize,
    builder: &mut ProfileBuilder,
    frames: &HashMap<u64, FrameId>,
    stacks: &mut HashMap<u64, StackId>,
) -> Result<(), LoadError> {
    let (mut ids, mut lists) = (table.ints(group, "stack_id")?, table.ints(group, "frame_ids")?);
    let mut of_stack = Vec::new();
    loop {
        let rows = table.next_rows([("stack_id", &mut ids), ("frame_ids", &mut lists)], [])?;
        if rows == 0 {
            return Ok(());
        }
        for row in 0..rows {
            of_stack.clear();
            for frame in lists.cells.row(row) {
                let id = frame.unwrap_or(0) as u64;
                let frame = frames.get(&id).ok_or_else(|| {
                    table.error(format!(
                        "the frame {id} is missing from frames/: copy all files of the dataset"
                    ))
                })?;
                of_stack.push(*frame);
            }
            let stack = builder.stack(&of_stack);
            let id = ids.cells.get(row).copied().unwrap_or(0) as u64;
            if *stacks.entry(id).or_insert(stack) != stack {
                return Err(different(table, "stacks", id));
            }
        }
    }
}

/// A sample that is read.
pub(super) struct ReadSample<'t> {
    pub(super) profile: u64,
    pub(super) part: u64,
    pub(super) stack: u64,
    pub(super) metric: &'t str,
    pub(super) unit: &'t str,
    pub(super) divisor: u64,
    pub(super) value: i64,
    pub(super) time: Option<i64>,
    pub(super) labels: LabelSetId,
}

/// What is read of samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) labels: bool,
    /// Only labels with sizes.
    pub(super) sizes: bool,
    pub(super) times: bool,
}

/// Reads the samples of a row group, and hands each to `take`.
pub(super) fn read_samples(
    table: &Table,
    group: usize,
    wanted: Wanted,
    builder: &mut ProfileBuilder,
    take: &mut dyn FnMut(&mut ProfileBuilder, &ReadSample) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let ints = |column| table.ints(group, column);
    let (mut profiles, mut parts, mut stacks) = (ints("profile_id")?, ints("part")?, ints("stack_id")?);
    let (mut values, mut divisors) = (ints("value")?, ints("divisor")?);
    let mut times = wanted.times.then(|| ints("time")).transpose()?;
    let mut metrics = Repeated::open(table, group, "metric")?;
    let mut units = Repeated::open(table, group, "unit")?;
    let mut labels =
        if wanted.labels || wanted.sizes { Some(LabelColumn::open(table, group, wanted)?) } else { None };
    loop {
        let columns = [
            ("profile_id", &mut profiles),
            ("part", &mut parts),
            ("stack_id", &mut stacks),
            ("value", &mut values),
            ("divisor", &mut divisors),
        ];
        let columns = columns.into_iter().chain(times.as_mut().map(|times| ("time", times)));
        let metric = metrics.column.as_mut().map(|column| ("metric", column));
        let unit = units.column.as_mut().map(|column| ("unit", column));
        let maps = labels.iter_mut().flat_map(|labels| &mut labels.columns).map(|column| ("labels", column));
        let rows = table.next_rows(columns, metric.into_iter().chain(unit).chain(maps))?;
        if rows == 0 {
            return Ok(());
        }
        for row in 0..rows {
            let int = |column: &Ints| column.cells.get(row).copied().unwrap_or(0);
            let divisor = divisor(int(&divisors))
                .ok_or_else(|| table.column_error("divisor", "holds other numbers than powers of ten"))?;
            let labels = labels.as_mut().map_or(LabelSetId::default(), |labels| labels.set(builder, row));
            metrics.fetch(row);
            units.fetch(row);
            let sample = ReadSample {
                profile: int(&profiles) as u64,
                part: int(&parts) as u64,
                stack: int(&stacks) as u64,
                metric: &metrics.text,
                unit: &units.text,
                divisor,
                value: int(&values),
                time: times.as_ref().and_then(|times| times.cells.get(row).copied()),
                labels,
            };
            take(builder, &sample)?;
        }
    }
}

/// A column whose texts hardly change from row to row.
struct Repeated {
    /// The column; `None` if all its texts are the same.
    column: Option<Texts>,
    text: String,
}

impl Repeated {
    fn open(table: &Table, group: usize, column: &str) -> Result<Self, LoadError> {
        Ok(match table.only_text(group, column) {
            Some(text) => Repeated { column: None, text },
            None => Repeated { column: Some(table.texts(group, column)?), text: String::new() },
        })
    }

    fn fetch(&mut self, row: usize) {
        let Some(column) = &self.column else { return };
        let text = column.text(row);
        if *text != self.text {
            self.text = text.into_owned();
        }
    }
}

/// The labels of samples.
struct LabelColumn {
    columns: [Texts; 2],
    /// The keys of labels with numbers.
    numeric: HashSet<String>,
    only_sizes: bool,
}

impl LabelColumn {
    fn open(table: &Table, group: usize, wanted: Wanted) -> Result<Self, LoadError> {
        let columns = table.maps(group, "labels")?;
        Ok(LabelColumn { columns, numeric: schema::numeric_labels(table), only_sizes: !wanted.labels })
    }

    fn set(&self, builder: &mut ProfileBuilder, row: usize) -> LabelSetId {
        let [keys, values] = &self.columns;
        let mut labels = Vec::new();
        for (key, value) in keys.list(row).zip(values.list(row)) {
            let number = if self.numeric.contains(&*key) { number(&value) } else { None };
            let value = match number {
                Some((number, unit)) => LabelValue::Number(number, builder.string(unit)),
                None if self.only_sizes => continue,
                None => LabelValue::Text(builder.string(&value)),
            };
            labels.push(Label { key: builder.string(&key), value });
        }
        builder.label_set(&mut labels)
    }
}

/// A number and its unit, which may be empty: `4096 bytes`.
fn number(text: &str) -> Option<(i64, &str)> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    Some((number.parse().ok()?, unit))
}
