//! Files next to a recording, which a reader needs while it reads.

use crate::binary::UnwindTable;
use crate::format::JitCode;

/// Finds the files that a recording refers to. Names for addresses in binaries are looked up once a profile is complete; what
/// depends on the process or the time of a sample has to be looked up earlier, by the reader.
///
/// Readers open no files themselves: whoever implements this decides which files may be opened because a recording names them.
pub trait RecordedFiles: Send + Sync {
    /// The list of code that process `pid` of a machine called `host` compiled (`perf-PID.map`).
    fn perf_map(&self, pid: u32, host: &str) -> Option<JitCode>;

    /// The jitdump at `path` that process `pid` of a machine called `host` wrote.
    fn jit_dump(&self, path: &str, pid: u32, host: &str) -> Option<JitCode>;

    /// The rules for unwinding the stacks of a binary, which the recording calls `file` and whose build ID is `build_id`.
    fn unwind_table(&self, file: &str, build_id: &str) -> Option<UnwindTable>;

    /// The build ID of the file at `path`, if that is the one which a machine called `host` recorded without it.
    fn build_id(&self, path: &str, inode: Inode, host: &str) -> Option<String>;
}

/// What identifies a file of a machine: its device and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inode {
    /// The major number of the device.
    pub major: u32,
    /// The minor number of the device.
    pub minor: u32,
    /// The number of the file.
    pub number: u64,
}
