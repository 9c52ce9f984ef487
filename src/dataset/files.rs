//! The files of a dataset: where they are, and writing new ones.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::dataset::schema;
use crate::format::LoadError;
use crate::format::parquet::table::Table;
use crate::profile::Budget;

/// What a partition without a value is called by Hive, Spark and DuckDB.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The characters that file names of partitions cannot have, as Hive escapes them.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'\'')
    .add(b'*')
    .add(b'/')
    .add(b':')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b' ');

/// The partition of a file of samples.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Partition {
    /// The day on which the profile was recorded, if that is known.
    pub(super) date: Option<String>,
    pub(super) metric: String,
}

impl Partition {
    /// The folder of a partition in that of the samples.
    fn folder(&self) -> PathBuf {
        let value = |text: &str| match text {
            "" => NULL.to_string(),
            text => utf8_percent_encode(text, ESCAPED).to_string(),
        };
        let date = value(self.date.as_deref().unwrap_or_default());
        Path::new(&format!("date={date}")).join(format!("metric={}", value(&self.metric)))
    }

    /// The file of a part in this partition, in the folder of the dataset.
    pub(super) fn file(&self, part: u64) -> PathBuf {
        Path::new("samples").join(self.folder()).join(file_name(part))
    }
}

/// The name of the files of a part.
pub(super) fn file_name(part: u64) -> String {
    format!("part-{part:016x}.parquet")
}

/// What writes a table.
pub(super) type WriteTable<'t> =
    dyn Fn(&mut (dyn Write + Send)) -> parquet::errors::Result<()> + Send + Sync + 't;

/// Writes a file unless there is one of this name, which is the same one. It gets its name once it is complete.
pub(super) fn write_new(path: &Path, write: &WriteTable) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // Engines skip files whose names begin with a dot.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = File::create(&temporary).and_then(|file| {
        let mut out = BufWriter::with_capacity(BUFFER, file);
        write(&mut out).map_err(io::Error::other)?;
        out.flush()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written
}

const BUFFER: usize = 256 << 10;

/// The files of a table, in the order of their paths, with their paths within the dataset.
pub(super) fn files_of(dataset: &Path, table: &str) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    let mut folders = vec![dataset.join(table)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let is_hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['.', '_']));
            if is_hidden {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet") {
                let name = path.strip_prefix(dataset).unwrap_or(&path).display().to_string();
                found.push((name, path));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Opens the files of a table one after the other, and checks that they are of this table.
pub(super) fn open_all<'b>(
    dataset: &Path,
    table: &'static str,
    budget: &'b Budget,
) -> io::Result<impl Iterator<Item = Result<Table, LoadError>> + use<'b>> {
    let open = move |(name, path): (String, PathBuf)| {
        let file = Table::open(File::open(path)?, name, budget)?;
        schema::check(&file, table)?;
        Ok(file)
    };
    Ok(files_of(dataset, table)?.into_iter().map(open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_folders_as_hive_has_them() {
        let file = |date: Option<&str>, metric: &str| {
            let partition = Partition { date: date.map(str::to_string), metric: metric.to_string() };
            partition.file(255).display().to_string().replace('\\', "/")
        };
        assert_eq!(
            file(Some("2026-11-22"), "cpu"),
            "samples/date=2026-11-22/metric=cpu/part-00000000000000ff.parquet"
        );
        assert_eq!(
            file(None, "cache-misses:u/a b"),
            "samples/date=__HIVE_DEFAULT_PARTITION__/metric=cache-misses%3Au%2Fa%20b/part-00000000000000ff.parquet"
        );
        assert!(file(None, "").contains("/metric=__HIVE_DEFAULT_PARTITION__/"));
    }
}
