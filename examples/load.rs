//! Loads each file given and prints how fast and with how much memory.
//!
//! ```text
//! cargo run --release --example load -- FILE...
//! ```
//!
//! Memory is the most that this process ever held, so it is right for the first file only.

use std::fs::File;
use std::time::Instant;

use prof::format::{self, Source};
use prof::profile::LoadOptions;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let size = std::fs::metadata(&path)?.len() as f64 / 1e6;
        let start = Instant::now();
        let mut source = Source::open(Box::new(File::open(&path)?))?;
        let profile = format::load(&mut source, LoadOptions::default(), None)?;
        let seconds = start.elapsed().as_secs_f64();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
        println!(
            "{path}: {}, {size:.1} MB, {seconds:.3} s, {:.0} MB/s, {} samples, {} stacks, peak {peak}",
            profile.meta.format,
            size / seconds,
            profile.meta.rows,
            profile.stacks.len(),
        );
    }
    Ok(())
}
