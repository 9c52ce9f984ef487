//! Exporting profiles, one after the other, to a dataset.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::dataset::batch::{Batch, PartFile};
use crate::dataset::files::{WriteTable, file_name, write_new};
use crate::dataset::ids::Collision;
use crate::dataset::profiles::exported;
use crate::dataset::symbols::Known;
use crate::format::LoadError;
use crate::parallel;
use crate::profile::Profile;

/// A dataset to which profiles are added. Memory holds the profiles of one part, and the ids of all profiles.
pub struct Export {
    folder: PathBuf,
    batch: Batch,
    known: Known,
    /// The profiles that the dataset has.
    profiles: HashSet<u64>,
    exported: Exported,
}

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// How many profiles were written.
    pub written: usize,
    /// How many were not, because the dataset had them already, or because they are copies of others.
    pub known: usize,
    /// How many of those written do not say when they were recorded.
    pub untimed: usize,
    /// The latest time of a profile, in nanoseconds since 1970.
    pub latest: Option<i64>,
    /// The programs of which profiles were written, as far as they are known; the names of a few.
    pub programs: BTreeSet<String>,
}

/// Why profiles cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The dataset that is there already cannot be read.
    #[error("{}: {error}", folder.display())]
    Dataset {
        /// The folder of the dataset.
        folder: PathBuf,
        /// Why not.
        #[source]
        error: LoadError,
    },
    /// A file cannot be written.
    #[error("{}: {error}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        error: io::Error,
    },
    /// Two different things have the same id.
    #[error("{profile}: two different things have the id {id:016x}, by a rare coincidence")]
    Collision {
        /// The profile that was being added.
        profile: String,
        /// The id.
        id: u64,
    },
}

/// How the files of a part are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Files {
    /// One after the other: meanwhile, the next profiles are read, which takes processors and memory.
    OneByOne,
    /// As many at once as there are processors.
    SideBySide,
}

/// How many programs are remembered.
const MOST_PROGRAMS: usize = 1000;

impl Export {
    /// Adds to the dataset in a folder; if there is none, it is created with the first profile.
    pub fn open(folder: &Path) -> Result<Export, ExportError> {
        let profiles =
            exported(folder).map_err(|error| ExportError::Dataset { folder: folder.to_path_buf(), error })?;
        Ok(Export {
            folder: folder.to_path_buf(),
            batch: Batch::default(),
            known: Known::default(),
            profiles,
            exported: Exported::default(),
        })
    }

    /// Adds a profile, whose origin is `source`, unless the dataset has it.
    pub fn add(&mut self, source: &str, profile: &Profile) -> Result<(), ExportError> {
        let profiles = &mut self.profiles;
        let is_known = |id| !profiles.insert(id);
        let is_new = self
            .batch
            .add(source, profile, &mut self.known, is_known)
            .map_err(|Collision(id)| ExportError::Collision { profile: source.to_string(), id })?;
        if !is_new {
            self.exported.known += 1;
            return Ok(());
        }
        self.exported.latest = self.exported.latest.max(profile.meta.time_ns);
        self.exported.programs.extend(self.batch.last_program().map(str::to_string));
        if self.exported.programs.len() > MOST_PROGRAMS {
            self.exported.programs.pop_last();
        }
        self.exported.untimed += usize::from(profile.meta.time_ns.is_none());
        if self.batch.is_full() { self.write(Files::OneByOne) } else { Ok(()) }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> Result<Exported, ExportError> {
        if !self.batch.is_empty() {
            self.write(Files::SideBySide)?;
        }
        Ok(self.exported)
    }

    /// Writes a part. Its profiles come last: with them, the part is complete.
    fn write(&mut self, files: Files) -> Result<(), ExportError> {
        let mut batch = std::mem::take(&mut self.batch);
        let part = batch.seal();
        // Profiles may have no samples.
        let samples = self.folder.join("samples");
        fs::create_dir_all(&samples).map_err(|error| ExportError::Write { file: samples, error })?;
        let tables = batch.files(part);
        let write_all = |tables: &[PartFile]| {
            tables.iter().try_for_each(|table| self.write_file(&table.path, &*table.write))
        };
        match files {
            Files::OneByOne => write_all(&tables)?,
            Files::SideBySide => {
                let weights: Vec<u64> = tables.iter().map(|table| table.rows as u64).collect();
                let written = parallel::each(parallel::balanced(&weights), |run| write_all(&tables[run]));
                written.into_iter().collect::<Result<(), ExportError>>()?;
            }
        }
        let profiles = Path::new("profiles").join(file_name(part));
        self.write_file(&profiles, &|out| batch.write_profiles(part, out))?;
        self.exported.written += batch.len();
        self.known.trim();
        Ok(())
    }

    fn write_file(&self, path: &Path, write: &WriteTable) -> Result<(), ExportError> {
        let path = self.folder.join(path);
        write_new(&path, write).map_err(|error| ExportError::Write { file: path, error })
    }
}
