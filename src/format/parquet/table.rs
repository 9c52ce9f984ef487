//! A Parquet file that is read: a table of typed columns.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use bytes::Bytes;
use parquet::column::reader::get_column_reader;
use parquet::data_type::ByteArray;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

use super::chunk::Chunk;
use super::column::{Depths, Ints, Texts};
use crate::format::quietly::quietly;
use crate::format::{LoadError, ParseError};
use crate::profile::{Budget, Reservation};

/// How many rows are read at once.
pub(crate) const ROWS: usize = 4096;

/// The memory for metadata, as a multiple of their size in the file.
const METADATA: u64 = 30;

/// A Parquet file that is read.
pub(crate) struct Table {
    /// The name in messages; empty for the only one.
    name: String,
    input: Input,
    size: u64,
    meta: ParquetMetaData,
    budget: Budget,
    #[expect(dead_code, reason = "it is there to be dropped")]
    metadata: Reservation,
}

/// Where the bytes are.
enum Input {
    File(File),
    Memory(Bytes),
}

impl Input {
    fn bytes(&self, start: u64, length: usize) -> Result<Bytes, LoadError> {
        match self {
            Input::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(start))?;
                let mut bytes = vec![0; length];
                file.read_exact(&mut bytes)?;
                Ok(bytes.into())
            }
            Input::Memory(bytes) => Ok(bytes.slice(start as usize..start as usize + length)),
        }
    }
}

impl Table {
    /// Opens a file, which messages call `name`.
    pub(crate) fn open(file: File, name: String, budget: &Budget) -> Result<Table, LoadError> {
        let size = file.metadata()?.len();
        Table::new(Input::File(file), size, name, budget)
    }

    /// Opens a file in memory.
    pub(crate) fn in_memory(bytes: Vec<u8>, budget: &Budget) -> Result<Table, LoadError> {
        let size = bytes.len() as u64;
        Table::new(Input::Memory(bytes.into()), size, String::new(), budget)
    }

    fn new(input: Input, size: u64, name: String, budget: &Budget) -> Result<Table, LoadError> {
        let damaged = |what: &str| LoadError::from(failure(&name, what));
        if size < 12 {
            return Err(damaged("the file is too short for Parquet"));
        }
        let end = input.bytes(size - 8, 8)?;
        let ([a, b, c, d], b"PAR1") = (*end.first_chunk().unwrap_or(&[0; 4]), &end[4..]) else {
            return Err(damaged("the file is truncated: it does not end as Parquet files do"));
        };
        let length = u64::from(u32::from_le_bytes([a, b, c, d]));
        if length + 12 > size {
            return Err(damaged("the file is damaged: its metadata are larger than the file"));
        }
        let mut metadata = budget.reservation();
        metadata.set(length * METADATA)?;
        let bytes = input.bytes(size - 8 - length, length as usize)?;
        let meta = quietly(|| ParquetMetaDataReader::decode_metadata(&bytes))
            .ok_or_else(|| damaged("the metadata are damaged"))?
            .map_err(|error| damaged(&format!("the metadata are damaged: {error}")))?;
        Ok(Table { name, input, size, meta, budget: budget.clone(), metadata })
    }

    /// An error about this file.
    pub(crate) fn error(&self, what: impl AsRef<str>) -> LoadError {
        failure(&self.name, what.as_ref()).into()
    }

    /// An error about a column.
    pub(crate) fn column_error(&self, column: &str, what: impl AsRef<str>) -> LoadError {
        self.error(format!("the column `{column}` {}", what.as_ref()))
    }

    /// The value of a key of the file's own metadata.
    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        let notes = self.meta.file_metadata().key_value_metadata()?;
        notes.iter().find(|note| note.key == key)?.value.as_deref()
    }

    /// The number of row groups.
    pub(crate) fn groups(&self) -> usize {
        self.meta.num_row_groups()
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> Vec<&str> {
        let fields = self.meta.file_metadata().schema_descr().root_schema().get_fields();
        fields.iter().map(|field| field.name()).collect()
    }

    /// The leaves of a column: two for a map, one for any other.
    fn leaves(&self, column: &str) -> Vec<usize> {
        let leaves = self.meta.file_metadata().schema_descr().columns().iter().enumerate();
        let of_column = |leaf: &ColumnDescPtr| leaf.path().parts().first().is_some_and(|name| name == column);
        leaves.filter(|(_, leaf)| of_column(leaf)).map(|(number, _)| number).collect()
    }

    /// Whether there is a column of that name.
    pub(crate) fn has(&self, column: &str) -> bool {
        !self.leaves(column).is_empty()
    }

    /// Reads a column of numbers of a row group. Fails if there is none.
    pub(crate) fn ints(&self, group: usize, column: &str) -> Result<Ints, LoadError> {
        let leaf = self.only_leaf(column)?;
        self.open_leaf(group, leaf, column, Ints::new)
    }

    /// Reads a column of texts of a row group. Fails if there is none.
    pub(crate) fn texts(&self, group: usize, column: &str) -> Result<Texts, LoadError> {
        let leaf = self.only_leaf(column)?;
        self.open_leaf(group, leaf, column, Texts::new)
    }

    /// Reads the keys and the values of a column of maps of texts.
    pub(crate) fn maps(&self, group: usize, column: &str) -> Result<[Texts; 2], LoadError> {
        let [keys, values] = self.leaves(column)[..] else {
            return Err(
                self.column_error(column, if self.has(column) { "is not a map" } else { "is missing" })
            );
        };
        Ok([
            self.open_leaf(group, keys, column, Texts::new)?,
            self.open_leaf(group, values, column, Texts::new)?,
        ])
    }

    /// Reads the next rows of columns of a row group, at most [`ROWS`]; 0 at the end.
    pub(crate) fn next_rows<'c>(
        &self,
        ints: impl IntoIterator<Item = (&'c str, &'c mut Ints)>,
        texts: impl IntoIterator<Item = (&'c str, &'c mut Texts)>,
    ) -> Result<usize, LoadError> {
        let mut counts = Vec::new();
        for (name, column) in ints {
            counts.push(column.read(ROWS).map_err(|what| self.column_error(name, what))?);
        }
        for (name, column) in texts {
            counts.push(column.read(ROWS).map_err(|what| self.column_error(name, what))?);
        }
        let rows = counts.first().copied().unwrap_or(0);
        if counts.iter().any(|&count| count != rows) {
            return Err(self.error("the columns have different numbers of rows"));
        }
        Ok(rows)
    }

    fn only_leaf(&self, column: &str) -> Result<usize, LoadError> {
        match self.leaves(column)[..] {
            [leaf] => Ok(leaf),
            [] => {
                let columns = self.columns().join(", ");
                Err(self.error(format!("the column `{column}` is missing; there are {columns}")))
            }
            _ => Err(self.column_error(column, "should have one value per row, or a list of values")),
        }
    }

    fn open_leaf<C>(
        &self,
        group: usize,
        leaf: usize,
        column: &str,
        make: fn(
            &parquet::schema::types::ColumnDescriptor,
            parquet::column::reader::ColumnReader,
            Depths,
        ) -> Result<C, String>,
    ) -> Result<C, LoadError> {
        let descriptor = self.meta.file_metadata().schema_descr().column(leaf);
        let depths = Depths::of(&descriptor, self.element_level(&descriptor));
        let depths = depths.ok_or_else(|| self.column_error(column, "is a list of lists"))?;
        let row_group = self.meta.row_group(group);
        let damaged = || self.column_error(column, "is damaged");
        let meta = row_group.columns().get(leaf).ok_or_else(damaged)?;
        let chunk = self.chunk(meta).ok_or_else(damaged)??;
        chunk
            .check()
            .ok_or_else(|| self.column_error(column, "is damaged: its pages have no plausible size"))?;
        let rows = usize::try_from(row_group.num_rows()).map_err(|_| damaged())?;
        let reader = quietly(|| {
            let pages = SerializedPageReader::new(Arc::new(chunk), meta, rows, None)?;
            Ok(get_column_reader(descriptor.clone(), Box::new(pages)))
        });
        let reader = reader.ok_or_else(damaged)?;
        let reader = reader.map_err(|error: parquet::errors::ParquetError| {
            self.column_error(column, format!("cannot be read: {error}"))
        })?;
        make(&descriptor, reader, depths).map_err(|what| self.column_error(column, what))
    }

    /// The bytes of a column of a row group; `None` if they are outside the file.
    fn chunk(&self, meta: &ColumnChunkMetaData) -> Option<Result<Chunk, LoadError>> {
        let start = u64::try_from(meta.dictionary_page_offset().unwrap_or(meta.data_page_offset())).ok()?;
        let length = u64::try_from(meta.compressed_size()).ok()?;
        if start.checked_add(length)? > self.size {
            return None;
        }
        let read = || {
            // Pages are decompressed one by one, but kept while their texts are in use.
            self.budget.reservation().set(length)?;
            Ok(Chunk { start, bytes: self.input.bytes(start, length as usize)? })
        };
        Some(read())
    }

    /// The level at which the elements of a list exist, if the column is one.
    fn element_level(&self, column: &ColumnDescPtr) -> Option<i16> {
        let mut node = self.meta.file_metadata().schema_descr().root_schema();
        let mut level = 0;
        for part in column.path().parts() {
            node = node.get_fields().iter().find(|field| field.name() == part)?;
            let info = node.get_basic_info();
            if info.has_repetition() && info.repetition() != parquet::basic::Repetition::REQUIRED {
                level += 1;
            }
            if info.has_repetition() && info.repetition() == parquet::basic::Repetition::REPEATED {
                return Some(level);
            }
            if node.is_primitive() {
                return None;
            }
        }
        None
    }

    /// The only text of a column in a row group, if the statistics say that there is only one.
    pub(crate) fn only_text(&self, group: usize, column: &str) -> Option<String> {
        let [leaf] = self.leaves(column)[..] else { return None };
        let Some(Statistics::ByteArray(found)) = self.meta.row_group(group).columns().get(leaf)?.statistics()
        else {
            return None;
        };
        let (min, max): (&ByteArray, &ByteArray) = (found.min_opt()?, found.max_opt()?);
        let is_exact = found.min_is_exact() && found.max_is_exact() && found.null_count_opt() == Some(0);
        (is_exact && min == max).then(|| String::from_utf8_lossy(min.data()).into_owned())
    }

    /// The numbers of a column in a row group, as the statistics say. If some rows have none, that is unknown.
    pub(crate) fn ints_between(&self, group: usize, column: &str) -> Extent<i64> {
        let [leaf] = self.leaves(column)[..] else { return Extent::Unknown };
        match self.statistics(group, leaf) {
            Some((Statistics::Int64(found), _)) if found.null_count_opt() == Some(0) => {
                Extent::of(found.min_opt().copied(), found.max_opt().copied())
            }
            Some((found, values)) if found.null_count_opt() == Some(values) => Extent::Empty,
            _ => Extent::Unknown,
        }
    }

    /// The keys and the values of a column of maps in a row group, as the statistics say.
    pub(crate) fn map_between(&self, group: usize, column: &str) -> [Extent<String>; 2] {
        let [keys, values] = self.leaves(column)[..] else { return [Extent::Unknown, Extent::Unknown] };
        [keys, values].map(|leaf| match self.statistics(group, leaf) {
            Some((found, values)) if found.null_count_opt() == Some(values) => Extent::Empty,
            Some((Statistics::ByteArray(found), _)) => {
                let text = |bytes: Option<&ByteArray>| Some(bytes?.as_utf8().ok()?.to_string());
                Extent::of(text(found.min_opt()), text(found.max_opt()))
            }
            _ => Extent::Unknown,
        })
    }

    /// The statistics of a leaf in a row group, and the number of its values, nulls and empty lists included.
    fn statistics(&self, group: usize, leaf: usize) -> Option<(&Statistics, u64)> {
        let column = self.meta.row_group(group).columns().get(leaf)?;
        Some((column.statistics()?, u64::try_from(column.num_values()).ok()?))
    }
}

/// Between which values those of a column are, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent<T> {
    /// There are no statistics.
    Unknown,
    /// There are no values.
    Empty,
    /// The smallest and the largest, or a bound that is still smaller or larger.
    Between(T, T),
}

impl<T> Extent<T> {
    fn of(first: Option<T>, last: Option<T>) -> Self {
        first.zip(last).map_or(Extent::Unknown, |(first, last)| Extent::Between(first, last))
    }
}

fn failure(name: &str, what: &str) -> ParseError {
    let what = if name.is_empty() { what.to_string() } else { format!("{name}: {what}") };
    ParseError::whole("parquet", what)
}
