//! A Parquet file that is written: a table of typed columns.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

/// A column of a table to write.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether a row may lack a value.
    pub(crate) optional: bool,
}

impl Field {
    pub(crate) const fn required(name: &'static str, kind: Kind) -> Field {
        Field { name, kind, optional: false }
    }

    pub(crate) const fn optional(name: &'static str, kind: Kind) -> Field {
        Field { name, kind, optional: true }
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Int,
    Long,
    /// An unsigned number of 64 bits.
    Id,
    Text,
    /// Nanoseconds since 1970, UTC.
    Time,
    Ids,
    Longs,
    Texts,
    /// Texts by texts.
    TextMap,
}

/// The cells of a column in a row group. Unsigned numbers are passed as the signed ones of the same bits.
pub(crate) enum Cells<'c> {
    Bools(&'c [bool]),
    Ints(&'c [Option<i32>]),
    Longs(&'c [i64]),
    OptionalLongs(&'c [Option<i64>]),
    Texts(&'c [ByteArray]),
    OptionalTexts(&'c [Option<ByteArray>]),
    /// Lists, by where they end in all their items.
    LongLists(&'c [usize], &'c [i64]),
    TextLists(&'c [usize], &'c [ByteArray]),
    /// Maps, by where they end in all their keys and values.
    TextMaps(&'c [usize], &'c [ByteArray], &'c [ByteArray]),
}

/// A Parquet file that is written.
pub(crate) struct TableFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> TableFile<W> {
    /// A file with these columns, and with `notes` about it: keys and values. Equal tables give equal bytes.
    pub(crate) fn new(out: W, fields: &[Field], notes: &[(&str, String)]) -> Result<Self> {
        let fields = fields.iter().map(schema_of).collect::<Result<Vec<TypePtr>>>()?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
        let notes = notes.iter().map(|(key, value)| KeyValue::new((*key).to_string(), value.clone()));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
            .set_created_by("prof".to_string())
            .set_dictionary_page_size_limit(DICTIONARY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_statistics_truncate_length(None)
            .set_offset_index_disabled(true)
            .set_max_row_group_row_count(None)
            .set_key_value_metadata(Some(notes.collect()))
            .build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        Ok(TableFile { writer })
    }

    /// Appends a row group. The columns are in the order of the fields.
    pub(crate) fn group(&mut self, columns: &[Cells]) -> Result<()> {
        let mut group = self.begin_group()?;
        for column in columns {
            group.column(column)?;
        }
        group.finish()
    }

    /// Begins a row group whose columns are made one after the other, so that not all are in memory.
    pub(crate) fn begin_group(&mut self) -> Result<Group<'_, W>> {
        Ok(Group { writer: self.writer.next_row_group()? })
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.close()?;
        Ok(())
    }
}

/// A row group that is written, column by column, in the order of the fields.
pub(crate) struct Group<'f, W: Write + Send> {
    writer: SerializedRowGroupWriter<'f, W>,
}

impl<W: Write + Send> Group<'_, W> {
    pub(crate) fn column(&mut self, cells: &Cells) -> Result<()> {
        let group = &mut self.writer;
        match *cells {
            Cells::Bools(cells) => write::<BoolType, _>(group, cells, None, None),
            Cells::Ints(cells) => {
                let (values, levels) = split(cells);
                write::<Int32Type, _>(group, &values, Some(&levels), None)
            }
            Cells::Longs(cells) => write::<Int64Type, _>(group, cells, None, None),
            Cells::OptionalLongs(cells) => {
                let (values, levels) = split(cells);
                write::<Int64Type, _>(group, &values, Some(&levels), None)
            }
            Cells::Texts(cells) => write::<ByteArrayType, _>(group, cells, None, None),
            Cells::OptionalTexts(cells) => {
                let (values, levels) = split(cells);
                write::<ByteArrayType, _>(group, &values, Some(&levels), None)
            }
            Cells::LongLists(ends, items) => {
                let (definitions, repetitions) = list_levels(ends);
                write::<Int64Type, _>(group, items, Some(&definitions), Some(&repetitions))
            }
            Cells::TextLists(ends, items) => {
                let (definitions, repetitions) = list_levels(ends);
                write::<ByteArrayType, _>(group, items, Some(&definitions), Some(&repetitions))
            }
            Cells::TextMaps(ends, keys, values) => {
                let (definitions, repetitions) = list_levels(ends);
                [keys, values].into_iter().try_for_each(|texts| {
                    write::<ByteArrayType, _>(group, texts, Some(&definitions), Some(&repetitions))
                })
            }
        }
    }

    /// Ends the row group.
    pub(crate) fn finish(self) -> Result<()> {
        self.writer.close()?;
        Ok(())
    }
}

/// The level of compression. Higher ones take several times as long, for a tenth of the size.
const LEVEL: i32 = 3;

/// The size of a dictionary in bytes: every id of a row group fits.
const DICTIONARY: usize = 4 << 20;

fn write<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<T>().write_batch(values, definitions, repetitions)?;
    column.close()
}

/// The values, and the levels that say in which rows they are.
fn split<T: Clone>(cells: &[Option<T>]) -> (Vec<T>, Vec<i16>) {
    (cells.iter().flatten().cloned().collect(), cells.iter().map(|cell| i16::from(cell.is_some())).collect())
}

/// The levels of lists that end at these items: an empty list has one level, too.
fn list_levels(ends: &[usize]) -> (Vec<i16>, Vec<i16>) {
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    let mut start = 0;
    for &end in ends {
        let items = end - start;
        definitions.extend(std::iter::repeat_n(i16::from(items > 0), items.max(1)));
        repetitions.push(0);
        repetitions.extend(std::iter::repeat_n(1, items.saturating_sub(1)));
        start = end;
    }
    (definitions, repetitions)
}

fn schema_of(field: &Field) -> Result<TypePtr> {
    let repetition = if field.optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let group = |logical: LogicalType, inner: TypePtr| {
        let group = Type::group_type_builder(field.name);
        group.with_repetition(repetition).with_logical_type(Some(logical)).with_fields(vec![inner]).build()
    };
    let repeated = |name: &str, inner: Vec<TypePtr>| {
        let group = Type::group_type_builder(name).with_repetition(Repetition::REPEATED);
        Ok::<TypePtr, parquet::errors::ParquetError>(Arc::new(group.with_fields(inner).build()?))
    };
    let list = |kind: Kind| {
        group(LogicalType::List, repeated("list", vec![leaf("element", kind, Repetition::REQUIRED)?])?)
    };
    Ok(Arc::new(match field.kind {
        Kind::Ids => list(Kind::Id)?,
        Kind::Longs => list(Kind::Long)?,
        Kind::Texts => list(Kind::Text)?,
        Kind::TextMap => {
            let key = leaf("key", Kind::Text, Repetition::REQUIRED)?;
            let value = leaf("value", Kind::Text, Repetition::REQUIRED)?;
            group(LogicalType::Map, repeated("key_value", vec![key, value])?)?
        }
        kind => return leaf(field.name, kind, repetition),
    }))
}

fn leaf(name: &str, kind: Kind, repetition: Repetition) -> Result<TypePtr> {
    let (physical, logical) = match kind {
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Int => (Physical::INT32, None),
        Kind::Id | Kind::Ids => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Long | Kind::Longs => (Physical::INT64, None),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::NANOS))),
        Kind::Text | Kind::Texts | Kind::TextMap => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let leaf = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    Ok(Arc::new(leaf.with_logical_type(logical).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parquet::table::{ROWS, Table};
    use crate::profile::Budget;

    #[test]
    fn what_is_written_is_read() {
        let fields = [
            Field::required("id", Kind::Id),
            Field::optional("line", Kind::Int),
            Field::required("inlined", Kind::Bool),
            Field::optional("file", Kind::Text),
            Field::required("ids", Kind::Ids),
            Field::required("labels", Kind::TextMap),
        ];
        let text = |text: &str| ByteArray::from(text);
        let mut bytes = Vec::new();
        let mut file = TableFile::new(&mut bytes, &fields, &[("kind", "test".to_string())]).unwrap();
        for _ in 0..2 {
            file.group(&[
                Cells::Longs(&[-1, 2, 3]),
                Cells::Ints(&[None, Some(7), None]),
                Cells::Bools(&[true, false, true]),
                Cells::OptionalTexts(&[Some(text("a.rs")), None, Some(text(""))]),
                Cells::LongLists(&[0, 2, 3], &[10, 11, 12]),
                Cells::TextMaps(&[1, 1, 1], &[text("k")], &[text("v")]),
            ])
            .unwrap();
        }
        file.finish().unwrap();
        let table = Table::in_memory(bytes, &Budget::UNLIMITED).unwrap();
        assert_eq!((table.note("kind"), table.note("other"), table.groups()), (Some("test"), None, 2));
        let mut ids = table.ints(1, "id").unwrap();
        assert_eq!(ids.read(ROWS), Ok(3));
        assert_eq!(ids.cells.items, [Some(-1), Some(2), Some(3)]);
        assert_eq!(ids.read(ROWS), Ok(0));
        let mut lines = table.ints(0, "line").unwrap();
        assert_eq!((lines.read(2), lines.cells.get(0), lines.cells.get(1)), (Ok(2), None, Some(&7)));
        assert_eq!((lines.read(2), lines.cells.get(0)), (Ok(1), None));
        let mut inlined = table.ints(0, "inlined").unwrap();
        assert_eq!((inlined.read(ROWS), inlined.cells.get(2)), (Ok(3), Some(&1)));
        let mut files = table.texts(0, "file").unwrap();
        assert_eq!(files.read(ROWS), Ok(3));
        assert_eq!((&*files.text(0), files.cells.get(1).is_none(), &*files.text(2)), ("a.rs", true, ""));
        let mut lists = table.ints(0, "ids").unwrap();
        assert_eq!(lists.read(2), Ok(2));
        assert_eq!((lists.cells.row(0), lists.cells.row(1)), (&[][..], &[Some(10), Some(11)][..]));
        assert_eq!((lists.read(2), lists.cells.row(0)), (Ok(1), &[Some(12)][..]));
        let [mut keys, mut values] = table.maps(0, "labels").unwrap();
        assert_eq!((keys.read(ROWS), values.read(ROWS)), (Ok(3), Ok(3)));
        assert_eq!((keys.cells.row(0).len(), keys.cells.row(1).len()), (1, 0));
        assert_eq!(&*values.text(0), "v");
        let wrong = table.ints(0, "file").err().unwrap().to_string();
        assert!(wrong.contains("the column `file` should hold whole numbers"), "{wrong}");
        let missing = table.texts(0, "name").err().unwrap().to_string();
        assert!(missing.contains("`name` is missing; there are id, line"), "{missing}");
        assert_eq!(table.only_text(0, "file"), None);
    }
}
