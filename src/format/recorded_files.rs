//! Files next to a recording, which a reader needs while it reads.

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
}
