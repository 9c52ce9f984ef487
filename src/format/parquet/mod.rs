//! Parquet: tables of typed columns, and results of queries as profiles.
//!
//! `table` reads tables and `file` writes them; which columns the tables of a dataset have is known to `crate::dataset`. A
//! single file is a profile if it has a column with stacks and one with values, as the result of a query may have.

#[cfg(feature = "parquet")]
mod chunk;
#[cfg(feature = "parquet")]
pub(crate) mod column;
#[cfg(feature = "parquet")]
pub(crate) mod file;
#[cfg(feature = "parquet")]
pub(crate) mod result;
#[cfg(feature = "parquet")]
pub(crate) mod table;

use crate::format::{Confidence, Format, LoadError, Source};
use crate::profile::{LoadOptions, Profile};

/// The result of a query in a Parquet file.
pub(super) static PARQUET: Format =
    Format { name: "parquet", title: "Parquet (result of a query)", sniff, read };

/// What Parquet files begin with.
pub(crate) const MAGIC: &[u8] = b"PAR1";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(MAGIC) { Confidence::Certain } else { Confidence::No }
}

#[cfg(feature = "parquet")]
fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let table = table::Table::in_memory(source.read_all()?, &options.budget)?;
    result::read(&table, options, None)
}

#[cfg(not(feature = "parquet"))]
fn read(_: &mut Source, _: LoadOptions) -> Result<Profile, LoadError> {
    Err(left_out().into())
}

/// Why Parquet is not read.
#[cfg(not(feature = "parquet"))]
pub(crate) fn left_out() -> crate::format::ParseError {
    crate::format::ParseError::whole("parquet", "this build of prof lacks the feature `parquet`")
}
