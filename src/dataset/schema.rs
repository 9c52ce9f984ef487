//! The columns of the tables, and the version of their layout.

use std::collections::HashSet;

use crate::format::LoadError;
use crate::format::parquet::file::{Field, Kind};
use crate::format::parquet::result::TABLE_KEY;
use crate::format::parquet::table::Table;

/// The key of the version in the metadata of every file.
const VERSION_KEY: &str = "prof.dataset";

/// The key of the labels with numbers, a JSON list, in the metadata of files of samples.
pub(super) const NUMBERS_KEY: &str = "prof.numeric_labels";

/// The keys of labels with numbers in a file of samples.
pub(super) fn numeric_labels(table: &Table) -> HashSet<String> {
    let list = table.note(NUMBERS_KEY).and_then(|list| serde_json::from_str::<Vec<String>>(list).ok());
    list.unwrap_or_default().into_iter().collect()
}

/// The version of the layout that is written. Readers refuse others.
const VERSION: &str = "1";

/// What the metadata of a file of this table say.
pub(super) fn notes(table: &str) -> Vec<(&'static str, String)> {
    vec![(VERSION_KEY, VERSION.to_string()), (TABLE_KEY, table.to_string())]
}

/// Checks that a file is of this table, and of a version that can be read.
pub(super) fn check(file: &Table, table: &str) -> Result<(), LoadError> {
    match (file.note(VERSION_KEY), file.note(TABLE_KEY)) {
        (Some(VERSION), Some(found)) if found == table => Ok(()),
        (Some(VERSION), found) => {
            let found = found.unwrap_or("(none)");
            Err(file.error(format!("this is a file of the table `{found}`, in the folder of `{table}`")))
        }
        (Some(version), _) => Err(file.error(format!(
            "the dataset has the version {version}, and this prof reads version {VERSION}: export the profiles again, or use \
             the prof that wrote it"
        ))),
        (None, _) => Err(file.error(format!(
            "not a file that prof wrote: its metadata lack `{VERSION_KEY}`. Move it out of the dataset"
        ))),
    }
}

pub(super) const PROFILES: &[Field] = &[
    Field::required("profile_id", Kind::Id),
    Field::required("part", Kind::Id),
    Field::required("source", Kind::Text),
    Field::required("format", Kind::Text),
    Field::optional("program", Kind::Text),
    Field::optional("build_id", Kind::Text),
    Field::optional("time", Kind::Time),
    Field::optional("duration_ns", Kind::Long),
    Field::optional("period", Kind::Long),
    Field::optional("period_metric", Kind::Text),
    Field::optional("period_unit", Kind::Text),
    Field::optional("processors", Kind::Long),
    Field::required("samples", Kind::Long),
    Field::required("labelled_samples", Kind::Long),
    Field::required("metrics", Kind::Texts),
    Field::required("units", Kind::Texts),
    Field::required("divisors", Kind::Longs),
    Field::required("totals", Kind::Longs),
    Field::required("default_metric", Kind::Text),
    Field::required("labels", Kind::TextMap),
];

pub(super) const SAMPLES: &[Field] = &[
    Field::required("profile_id", Kind::Id),
    Field::required("part", Kind::Id),
    Field::required("stack_id", Kind::Id),
    Field::required("metric", Kind::Text),
    Field::required("unit", Kind::Text),
    Field::required("divisor", Kind::Long),
    Field::required("value", Kind::Long),
    Field::optional("time", Kind::Time),
    Field::required("labels", Kind::TextMap),
];

pub(super) const STACKS: &[Field] = &[
    Field::required("stack_id", Kind::Id),
    Field::required("frame_ids", Kind::Ids),
    Field::required("function_ids", Kind::Ids),
];

pub(super) const FRAMES: &[Field] = &[
    Field::required("frame_id", Kind::Id),
    Field::required("function_id", Kind::Id),
    Field::required("function", Kind::Text),
    Field::required("system_name", Kind::Text),
    Field::optional("file", Kind::Text),
    Field::optional("start_line", Kind::Int),
    Field::optional("start_column", Kind::Int),
    Field::optional("line", Kind::Int),
    Field::optional("package", Kind::Text),
    Field::optional("mapping", Kind::Text),
    Field::optional("build_id", Kind::Text),
    Field::optional("address", Kind::Id),
    Field::optional("address_of", Kind::Text),
    Field::required("inlined", Kind::Bool),
];
