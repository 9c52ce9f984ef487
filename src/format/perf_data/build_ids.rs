//! Build IDs of the files that were mapped.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::format::{Inode, RecordedFiles};

/// Knows the build ID of each file, in hexadecimal.
pub(super) struct BuildIds<'a> {
    /// Those that perf saved, by path.
    saved: &'a HashMap<&'a [u8], String>,
    /// The recorded machine.
    host: &'a str,
    files: Option<Arc<dyn RecordedFiles>>,
    /// Those of files that were recorded without one.
    found: HashMap<(&'a [u8], Inode), String>,
}

impl<'a> BuildIds<'a> {
    pub(super) fn new(
        saved: &'a HashMap<&'a [u8], String>,
        host: &'a str,
        files: Option<Arc<dyn RecordedFiles>>,
    ) -> BuildIds<'a> {
        BuildIds { saved, host, files, found: HashMap::new() }
    }

    /// The build ID of a file; empty if unknown. perf saves those of files that have samples themselves, which leaves out
    /// the callers in stacks that it did not unwind. On the recorded machine, the file with that inode has it.
    pub(super) fn of(&mut self, path: &'a [u8], inode: Option<Inode>) -> String {
        if let Some(known) = self.saved.get(path) {
            return known.clone();
        }
        let (Some(inode), Some(files)) = (inode.filter(|inode| inode.number != 0), &self.files) else {
            return String::new();
        };
        let find = || files.build_id(&String::from_utf8_lossy(path), inode, self.host);
        self.found.entry((path, inode)).or_insert_with(|| find().unwrap_or_default()).clone()
    }
}
