//! Tables of numbers, by column or by row.

use crate::format::ParseError;
use crate::format::gecko::slabs::{Slab, Slabs, placeholder};
use crate::format::json::{Json, Kind};
use crate::parallel;

/// The text of a profile, and the slabs that it refers to.
pub(super) struct Document<'a> {
    pub(super) json: Json<'a>,
    pub(super) slabs: Slabs<'a>,
}

impl<'a> Document<'a> {
    /// A cursor at a position in the text.
    pub(super) fn at(&self, at: usize) -> Json<'a> {
        self.json.at(at)
    }
}

/// Where a column is.
#[derive(Clone, Copy)]
enum ColumnPlace {
    /// The position of an array in the text.
    Text(usize),
    /// The index of a slab.
    Slab(u32),
}

/// Positions of the columns of a table in the text.
///
/// A table is either columns, `{"stack": [3, …], "time": [0.5, …]}`, or rows with a schema,
/// `{"schema": {"stack": 0, "time": 1}, "data": [[3, 0.5], …]}`. Instead of an array, a column may be a reference to a
/// slab, `{"$s": 7}`.
#[derive(Clone, Default)]
pub(super) struct TableColumns {
    columns: Vec<(String, ColumnPlace)>,
    schema: Option<usize>,
    data: Option<usize>,
    /// The `weightType` of a table of samples.
    pub(super) weight_type: String,
}

impl TableColumns {
    /// Finds the columns of the next table, and advances past it.
    pub(super) fn find(json: &mut Json) -> Result<TableColumns, ParseError> {
        let mut table = TableColumns::default();
        json.object()?;
        while let Some(key) = json.key()? {
            let place = json.position();
            match (&*key, json.kind()?) {
                ("schema", Kind::Object) => table.schema = Some(place),
                ("data", Kind::Array) => table.data = Some(place),
                ("weightType", Kind::String) => table.weight_type = json.clone().string()?.into_owned(),
                (_, Kind::Array) => table.columns.push((key.into_owned(), ColumnPlace::Text(place))),
                (_, Kind::Object) => {
                    let slab = placeholder(json)?;
                    table.columns.extend(slab.map(|slab| (key.into_owned(), ColumnPlace::Slab(slab))));
                    continue;
                }
                _ => {}
            }
            json.skip()?;
        }
        Ok(table)
    }

    /// Whether there is a column called `name`.
    pub(super) fn has(&self, document: &Document, name: &str) -> Result<bool, ParseError> {
        let Some(schema) = self.schema else {
            return Ok(self.columns.iter().any(|(column, _)| column == name));
        };
        let mut schema = document.at(schema);
        schema.object()?;
        while let Some(key) = schema.key()? {
            if key == name {
                return Ok(true);
            }
            schema.skip()?;
        }
        Ok(false)
    }
}

/// Calls `each` for every row of the columns called `wanted`. Missing values and values that are not numbers
/// are `None`; `true` is 1 and `false` is 0.
///
/// The rows of a large table are read on the current thread, and `each` is called on another.
pub(super) fn table<const N: usize>(
    document: &Document,
    table: Option<&TableColumns>,
    wanted: [&str; N],
    mut each: impl FnMut([Option<f64>; N]) -> Result<(), ParseError> + Send,
) -> Result<(), ParseError> {
    let Some(table) = table else { return Ok(()) };
    in_batches(document, table, wanted, |rows| rows.iter().try_for_each(|row| each(row.map(Cell::number))))
}

/// The same, for many rows at a time.
pub(super) fn in_batches<const N: usize>(
    document: &Document,
    table: &TableColumns,
    wanted: [&str; N],
    mut each: impl FnMut(&[[Cell; N]]) -> Result<(), ParseError> + Send,
) -> Result<(), ParseError> {
    let mut rows = TableRows::of(document, table, wanted)?;
    parallel::batches(|batch| rows.fill(batch), |batch: Vec<[Cell; N]>| each(&batch))
}

/// A number, or none; half as large as an `Option`.
#[derive(Clone, Copy)]
pub(super) struct Cell(f64);

impl Cell {
    const NONE: Cell = Cell(f64::NAN);

    #[inline]
    pub(super) fn number(self) -> Option<f64> {
        Some(self.0).filter(|number| !number.is_nan())
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Cell::NONE, Cell)
    }
}

/// So many rows are handed to another thread together.
const BATCH: usize = 1 << 10;

/// The rows of a table that are still to be read.
enum TableRows<'a, const N: usize> {
    /// A table by column: the wanted ones that are not at their end.
    Columns([Option<Cells<'a>>; N]),
    /// A table by row, and the place of each wanted cell within a row.
    Rows(Json<'a>, [Option<usize>; N]),
}

impl<'a, const N: usize> TableRows<'a, N> {
    fn of(document: &Document<'a>, table: &TableColumns, wanted: [&str; N]) -> Result<Self, ParseError> {
        if let (Some(schema), Some(data)) = (table.schema, table.data) {
            let mut data = document.at(data);
            data.array()?;
            return Ok(TableRows::Rows(data, places(document.at(schema), wanted)?));
        }
        let mut columns = [const { None }; N];
        for (column, name) in columns.iter_mut().zip(wanted) {
            if let Some((_, place)) = table.columns.iter().find(|(column, _)| column == name) {
                *column = Some(Cells::of(document, *place)?);
            }
        }
        Ok(TableRows::Columns(columns))
    }

    /// Reads the rows of a batch; returns whether there may be more.
    fn fill(&mut self, batch: &mut Vec<[Cell; N]>) -> Result<bool, ParseError> {
        match self {
            TableRows::Columns(columns) => fill_by_column(columns, batch),
            TableRows::Rows(data, place) => {
                while batch.len() < BATCH {
                    match by_row(data, place)? {
                        Some(row) => batch.push(row),
                        None => return Ok(false),
                    }
                }
                Ok(true)
            }
        }
    }
}

/// The cells of a column.
#[derive(Clone)]
enum Cells<'a> {
    Text(Json<'a>),
    /// A slab, and the index of its next number.
    Slab(Slab<'a>, usize),
}

impl<'a> Cells<'a> {
    fn of(document: &Document<'a>, place: ColumnPlace) -> Result<Self, ParseError> {
        match place {
            ColumnPlace::Slab(index) => Ok(Cells::Slab(document.slabs.slab(index)?, 0)),
            ColumnPlace::Text(at) => {
                let mut json = document.at(at);
                json.array()?;
                Ok(Cells::Text(json))
            }
        }
    }

    /// Reads the next cell; returns false after the last one.
    #[inline]
    fn next(&mut self) -> Result<Option<Cell>, ParseError> {
        match self {
            Cells::Text(json) => {
                let has_next = json.element()?;
                has_next.then(|| number(json).map(Cell::from)).transpose()
            }
            Cells::Slab(slab, next) => {
                let number = slab.number(*next);
                *next += 1;
                // Arrays of numbers have no null: failed measurements are NaN.
                Ok(number.map(Cell))
            }
        }
    }

    /// Reads the cells numbered `column` of some rows; adds rows until there are `BATCH`, or the column ends. Returns whether it
    /// ends.
    fn fill<const N: usize>(&mut self, column: usize, rows: &mut Vec<[Cell; N]>) -> Result<bool, ParseError> {
        for number in 0..BATCH {
            let Some(cell) = self.next()? else { return Ok(true) };
            if rows.len() == number {
                rows.push([Cell::NONE; N]);
            }
            rows[number][column] = cell;
        }
        Ok(false)
    }
}

/// Reads the rows of a batch; returns whether there may be more. One column is read after the other: what comes next is what came
/// before, which processors foresee. Only if that fails are they read row by row, so that the first row with an error tells it.
fn fill_by_column<const N: usize>(
    columns: &mut [Option<Cells<'_>>; N],
    batch: &mut Vec<[Cell; N]>,
) -> Result<bool, ParseError> {
    let before = columns.clone();
    let mut read_all = || {
        for (number, column) in columns.iter_mut().enumerate() {
            if let Some(cells) = column
                && cells.fill(number, batch)?
            {
                *column = None;
            }
        }
        Ok::<(), ParseError>(())
    };
    if read_all().is_ok() {
        return Ok(batch.len() == BATCH);
    }
    *columns = before;
    batch.clear();
    while let Some(row) = by_column(columns)? {
        batch.push(row);
    }
    Ok(true)
}

fn by_column<const N: usize>(columns: &mut [Option<Cells<'_>>; N]) -> Result<Option<[Cell; N]>, ParseError> {
    let mut row = [Cell::NONE; N];
    let mut any = false;
    for (cell, column) in row.iter_mut().zip(columns) {
        let Some(cells) = column else { continue };
        match cells.next()? {
            Some(next) => (*cell, any) = (next, true),
            None => *column = None,
        }
    }
    Ok(any.then_some(row))
}

/// The places of the wanted columns, which a schema names.
fn places<const N: usize>(mut schema: Json, wanted: [&str; N]) -> Result<[Option<usize>; N], ParseError> {
    let mut places = [None; N];
    schema.object()?;
    while let Some(key) = schema.key()? {
        match wanted.iter().position(|name| *name == key) {
            Some(column) => places[column] = schema.row()?,
            None => schema.skip()?,
        }
    }
    Ok(places)
}

fn by_row<const N: usize>(
    data: &mut Json,
    places: &[Option<usize>; N],
) -> Result<Option<[Cell; N]>, ParseError> {
    if !data.element()? {
        return Ok(None);
    }
    let mut row = [Cell::NONE; N];
    let mut index = 0;
    data.array()?;
    while data.element()? {
        match places.iter().position(|place| *place == Some(index)) {
            Some(column) => row[column] = number(data)?.into(),
            None => data.skip()?,
        }
        index += 1;
    }
    Ok(Some(row))
}

#[inline]
fn number(json: &mut Json) -> Result<Option<f64>, ParseError> {
    match json.kind()? {
        Kind::Number => json.number().map(Some),
        Kind::Bool => json.is_true().map(|is_true| Some(f64::from(u8::from(is_true)))),
        _ => json.skip().map(|()| None),
    }
}

/// A cell as a row index into another table; −1 means none.
#[inline]
pub(super) fn row(cell: Option<f64>) -> Option<usize> {
    cell.filter(|&number| number >= 0.0).map(|number| number as usize)
}
