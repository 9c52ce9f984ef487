//! Datasets: many profiles as Parquet tables for query engines.
//!
//! ```text
//! fleet/
//!   profiles/part-<part>.parquet                                what was recorded, when, of which program
//!   samples/date=<date>/metric=<metric>/part-<part>.parquet     the values, by profile and stack
//!   stacks/part-<part>.parquet                                  the frames of each stack, root first
//!   frames/part-<part>.parquet                                  the function, file and line of each frame
//! ```
//!
//! Ids are cut from hashes of content (`ids.rs`), so they are the same in every dataset. An export writes in parts: a few
//! profiles with all their stacks and frames. The table of profiles is written last and so completes a part: samples whose
//! profile and part are not in that table are leftovers of an interrupted export, or second copies of a profile, and do
//! not count.

#[cfg(feature = "parquet")]
mod batch;
#[cfg(feature = "parquet")]
mod export;
#[cfg(feature = "parquet")]
mod files;
#[cfg(feature = "parquet")]
mod ids;
#[cfg(feature = "parquet")]
mod profiles;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod samples;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod selection;
mod sql;
#[cfg(feature = "parquet")]
mod symbols;

use std::fs;
use std::path::Path;

#[cfg(feature = "parquet")]
pub use export::{Export, ExportError, Exported};
#[cfg(feature = "parquet")]
pub use read::{RowGroups, future, read, read_counting, read_result};
pub use sql::{Engine, sql};

/// The folders of a dataset.
const FOLDERS: [&str; 4] = ["profiles", "samples", "stacks", "frames"];

/// Whether a folder looks like a dataset: it has all folders of one, or at least two with a Parquet file in one of them. An
/// incomplete dataset is one, so that reading it can say what is missing.
pub fn is_dataset(folder: &Path) -> bool {
    let present = FOLDERS.iter().map(|name| folder.join(name)).filter(|folder| folder.is_dir());
    let present: Vec<_> = present.collect();
    present.len() == FOLDERS.len()
        || (present.len() > 1 && present.iter().any(|folder| has_parquet(folder, 2)))
}

/// The dataset that a folder is a part of, such as `fleet/` for `fleet/samples`.
pub fn dataset_around(folder: &Path) -> Option<&Path> {
    // Partitions are three levels deep: `fleet/samples/date=2026-11-22/metric=cpu`.
    folder.ancestors().skip(1).take(3).find(|folder| is_dataset(folder))
}

/// Whether a folder, or one at most so many levels deeper, has a Parquet file.
fn has_parquet(folder: &Path, levels: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.into_iter().any(|path| {
        path.extension().is_some_and(|extension| extension == "parquet")
            || (levels > 0 && path.is_dir() && has_parquet(&path, levels - 1))
    })
}

/// Without the feature `parquet`, datasets cannot be read.
#[cfg(not(feature = "parquet"))]
pub fn read(
    _: &Path,
    _: &crate::profile::LoadOptions,
) -> Result<crate::profile::Profile, crate::format::LoadError> {
    Err(crate::format::parquet::left_out().into())
}

/// Without the feature `parquet`, results of queries cannot be read.
#[cfg(not(feature = "parquet"))]
pub fn read_result(
    _: &Path,
    _: &Path,
    _: crate::profile::LoadOptions,
) -> Result<Option<crate::profile::Profile>, crate::format::LoadError> {
    Err(crate::format::parquet::left_out().into())
}
