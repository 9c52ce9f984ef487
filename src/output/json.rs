//! JSON, for scripts.

use std::io::{self, Write};

use crate::report::Report;

/// Writes a report as one JSON document and a line end. Fails where `out` does.
pub fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, report)?;
    out.write_all(b"\n")
}
