//! Tables of numbers, by column or by row.

use crate::format::ParseError;
use crate::format::json::{Json, Kind};

/// Positions of the columns of a table in the text.
///
/// A table is either columns, `{"stack": [3, …], "time": [0.5, …]}`, or rows with a schema,
/// `{"schema": {"stack": 0, "time": 1}, "data": [[3, 0.5], …]}`.
#[derive(Clone, Default)]
pub(super) struct TableColumns {
    columns: Vec<(String, usize)>,
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
                (_, Kind::Array) => table.columns.push((key.into_owned(), place)),
                _ => {}
            }
            json.skip()?;
        }
        Ok(table)
    }

    /// Whether there is a column called `name`.
    pub(super) fn has(&self, json: &Json, name: &str) -> Result<bool, ParseError> {
        let Some(schema) = self.schema else {
            return Ok(self.columns.iter().any(|(column, _)| column == name));
        };
        let mut schema = json.at(schema);
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
pub(super) fn table<const N: usize>(
    json: &Json,
    table: Option<&TableColumns>,
    wanted: [&str; N],
    mut each: impl FnMut([Option<f64>; N]) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let Some(table) = table else { return Ok(()) };
    if let (Some(schema), Some(data)) = (table.schema, table.data) {
        return rows(json.at(schema), json.at(data), wanted, each);
    }
    let place = |name: &str| table.columns.iter().find(|(column, _)| column == name).map(|(_, place)| *place);
    by_column(json, wanted.map(place), &mut each)
}

fn by_column<const N: usize>(
    json: &Json,
    places: [Option<usize>; N],
    each: &mut impl FnMut([Option<f64>; N]) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let mut columns = places.map(|place| place.map(|place| json.at(place)));
    for column in columns.iter_mut().flatten() {
        column.array()?;
    }
    loop {
        let mut row = [None; N];
        let mut any = false;
        for (cell, column) in row.iter_mut().zip(&mut columns) {
            let Some(json) = column else { continue };
            if json.element()? {
                any = true;
                *cell = number(json)?;
            } else {
                *column = None;
            }
        }
        if !any {
            return Ok(());
        }
        each(row)?;
    }
}

fn rows<const N: usize>(
    mut schema: Json,
    mut data: Json,
    wanted: [&str; N],
    mut each: impl FnMut([Option<f64>; N]) -> Result<(), ParseError>,
) -> Result<(), ParseError> {
    let mut place: [Option<usize>; N] = [None; N];
    schema.object()?;
    while let Some(key) = schema.key()? {
        match wanted.iter().position(|name| *name == key) {
            Some(column) => place[column] = schema.row()?,
            None => schema.skip()?,
        }
    }
    data.array()?;
    while data.element()? {
        let mut row = [None; N];
        let mut index = 0;
        data.array()?;
        while data.element()? {
            match place.iter().position(|place| *place == Some(index)) {
                Some(column) => row[column] = number(&mut data)?,
                None => data.skip()?,
            }
            index += 1;
        }
        each(row)?;
    }
    Ok(())
}

fn number(json: &mut Json) -> Result<Option<f64>, ParseError> {
    match json.kind()? {
        Kind::Number => json.number().map(Some),
        Kind::Bool => json.is_true().map(|is_true| Some(f64::from(u8::from(is_true)))),
        _ => json.skip().map(|()| None),
    }
}

/// A cell as a row index into another table; −1 means none.
pub(super) fn row(cell: Option<f64>) -> Option<usize> {
    cell.filter(|&number| number >= 0.0).map(|number| number as usize)
}
