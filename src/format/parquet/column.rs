//! Cells of a column, read some rows at a time.

use std::borrow::Cow;

use parquet::basic::{LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::schema::types::ColumnDescriptor;

use crate::format::quietly::quietly;

/// The levels at which something exists in a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depths {
    /// The level of a value.
    value: i16,
    /// The level of an element of a list, which may be null; `None` if the column is not a list.
    element: Option<i16>,
}

impl Depths {
    /// Those of a column, where `element` is the level of the repeated node on its path. Lists of lists have none.
    pub(super) fn of(column: &ColumnDescriptor, element: Option<i16>) -> Option<Depths> {
        (column.max_rep_level() <= 1).then(|| Depths { value: column.max_def_level(), element })
    }
}

/// The cells of some rows. Each row has one item, or any number if the column is a list.
pub(crate) struct Cells<T> {
    /// The values of all rows; `None` for null.
    pub(crate) items: Vec<Option<T>>,
    /// Where the items of each row end.
    pub(crate) ends: Vec<usize>,
}

impl<T> Cells<T> {
    fn new() -> Self {
        Cells { items: Vec::new(), ends: Vec::new() }
    }

    /// The items of a row.
    pub(crate) fn row(&self, row: usize) -> &[Option<T>] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start..self.ends[row]]
    }

    /// The value of a row of a column that is not a list.
    pub(crate) fn get(&self, row: usize) -> Option<&T> {
        self.row(row).first()?.as_ref()
    }
}

/// Reads a column of one physical type.
struct Cursor<T: DataType> {
    reader: ColumnReaderImpl<T>,
    depths: Depths,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    values: Vec<T::T>,
}

impl<T: DataType> Cursor<T> {
    fn new(reader: ColumnReaderImpl<T>, depths: Depths) -> Self {
        Cursor { reader, depths, definitions: Vec::new(), repetitions: Vec::new(), values: Vec::new() }
    }

    /// Reads at most `rows` further rows into `cells`; 0 at the end.
    fn read<U>(
        &mut self,
        rows: usize,
        cells: &mut Cells<U>,
        map: impl Fn(T::T) -> Result<U, String>,
    ) -> Result<usize, String> {
        let Cursor { reader, depths, definitions, repetitions, values } = self;
        definitions.clear();
        repetitions.clear();
        values.clear();
        cells.items.clear();
        cells.ends.clear();
        let read = quietly(|| reader.read_records(rows, Some(definitions), Some(repetitions), values));
        let (rows, _, levels) = read.ok_or("is damaged")?.map_err(|error| format!("is damaged: {error}"))?;
        let mut values = values.drain(..);
        let mut value = |cells: &mut Cells<U>| {
            let value = values.next().ok_or_else(|| "is damaged: it has too few values".to_string());
            cells.items.push(Some(map(value?)?));
            Ok::<(), String>(())
        };
        for level in 0..if depths.element.is_some() { levels } else { rows } {
            if level > 0 && depths.element.is_none_or(|_| repetitions.get(level) == Some(&0)) {
                cells.ends.push(cells.items.len());
            }
            let defined = if depths.value == 0 { 0 } else { definitions.get(level).copied().unwrap_or(0) };
            if defined == depths.value {
                value(cells)?;
            } else if depths.element.is_none_or(|element| defined >= element) {
                cells.items.push(None);
            }
        }
        if rows > 0 {
            cells.ends.push(cells.items.len());
        }
        if cells.ends.len() == rows { Ok(rows) } else { Err("is damaged: its lists do not end".to_string()) }
    }
}

/// A column of integers, times or truth values.
pub(crate) struct Ints {
    source: IntSource,
    /// The rows read last. Unsigned numbers above `i64::MAX` are negative, unless that is an error.
    pub(crate) cells: Cells<i64>,
}

enum IntSource {
    Bool(Cursor<BoolType>),
    Small(Cursor<Int32Type>),
    /// With the nanoseconds of a unit of a time, and whether the numbers are unsigned.
    Large(Cursor<Int64Type>, i64),
    /// The sums of DuckDB are floating-point numbers in files.
    Float(Cursor<DoubleType>),
}

impl Ints {
    /// The error says what is wrong with the column.
    pub(super) fn new(
        column: &ColumnDescriptor,
        reader: ColumnReader,
        depths: Depths,
    ) -> Result<Ints, String> {
        let logical = column.logical_type_ref();
        let is_fraction = matches!(logical, Some(LogicalType::Decimal(decimal)) if decimal.scale != 0);
        let source = match reader {
            _ if is_fraction => return Err(wrong_type(column, "whole numbers")),
            ColumnReader::BoolColumnReader(reader) => IntSource::Bool(Cursor::new(reader, depths)),
            ColumnReader::Int32ColumnReader(reader) => IntSource::Small(Cursor::new(reader, depths)),
            ColumnReader::Int64ColumnReader(reader) => {
                let factor = match logical {
                    Some(LogicalType::Timestamp(time)) => match time.unit {
                        TimeUnit::MILLIS => 1_000_000,
                        TimeUnit::MICROS => 1_000,
                        TimeUnit::NANOS => 1,
                    },
                    _ => 1,
                };
                IntSource::Large(Cursor::new(reader, depths), factor)
            }
            ColumnReader::DoubleColumnReader(reader) => IntSource::Float(Cursor::new(reader, depths)),
            _ => return Err(wrong_type(column, "whole numbers")),
        };
        Ok(Ints { source, cells: Cells::new() })
    }

    /// Reads at most `rows` further rows; 0 at the end. The error says what is wrong with the column.
    pub(crate) fn read(&mut self, rows: usize) -> Result<usize, String> {
        let cells = &mut self.cells;
        match &mut self.source {
            IntSource::Bool(cursor) => cursor.read(rows, cells, |value| Ok(value.into())),
            IntSource::Small(cursor) => cursor.read(rows, cells, |value| Ok(value.into())),
            IntSource::Large(cursor, factor) => {
                let factor = *factor;
                cursor.read(rows, cells, |value| Ok(value.saturating_mul(factor)))
            }
            IntSource::Float(cursor) => cursor.read(rows, cells, whole),
        }
    }
}

/// A floating-point number that is a whole number.
fn whole(value: f64) -> Result<i64, String> {
    // All whole numbers up to here can be told apart.
    if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 {
        return Ok(value as i64);
    }
    Err(format!("holds the floating-point number {value}: cast it in the query, CAST(… AS BIGINT)"))
}

/// A column of texts.
pub(crate) struct Texts {
    cursor: Cursor<ByteArrayType>,
    /// The rows read last.
    pub(crate) cells: Cells<ByteArray>,
}

impl Texts {
    /// The error says what is wrong with the column.
    pub(super) fn new(
        column: &ColumnDescriptor,
        reader: ColumnReader,
        depths: Depths,
    ) -> Result<Texts, String> {
        let ColumnReader::ByteArrayColumnReader(reader) = reader else {
            return Err(wrong_type(column, "text"));
        };
        Ok(Texts { cursor: Cursor::new(reader, depths), cells: Cells::new() })
    }

    /// Reads at most `rows` further rows; 0 at the end. The error says what is wrong with the column.
    pub(crate) fn read(&mut self, rows: usize) -> Result<usize, String> {
        self.cursor.read(rows, &mut self.cells, Ok)
    }

    /// The text of a row of a column that is not a list; empty for null.
    pub(crate) fn text(&self, row: usize) -> Cow<'_, str> {
        self.list(row).next().unwrap_or_default()
    }

    /// The texts of a row of a column of lists.
    pub(crate) fn list(&self, row: usize) -> impl Iterator<Item = Cow<'_, str>> {
        let cells = self.cells.row(row).iter();
        cells.map(|cell| cell.as_ref().map_or("".into(), |text| String::from_utf8_lossy(text.data())))
    }
}

fn wrong_type(column: &ColumnDescriptor, wanted: &str) -> String {
    let physical: Type = column.physical_type();
    let found = match column.logical_type_ref() {
        Some(logical) => format!("{logical:?}"),
        None => physical.to_string(),
    };
    format!("should hold {wanted}, but is of the type {found}")
}
