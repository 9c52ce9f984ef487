//! Reads files most of which are not profiles: they must be rejected quickly, with a short message.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::check::{Outcome, check};
use crate::seeds::files;
use crate::watch;

/// The maximum size of a file.
const LARGEST: u64 = 1 << 20;

/// The maximum time for a file.
const LONGEST: Duration = Duration::from_secs(1);

/// Reads every file below the folders and returns the number of findings.
pub fn scan(folders: &[PathBuf]) -> usize {
    let (mut read, mut refused, mut findings) = (0, 0, 0);
    let mut slowest = (Duration::ZERO, PathBuf::new());
    for path in folders.iter().flat_map(|folder| files(folder)) {
        let is_small =
            fs::symlink_metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= LARGEST);
        let Some(bytes) = is_small.then(|| fs::read(&path).ok()).flatten() else { continue };
        watch::case("scan", &bytes);
        let start = Instant::now();
        let outcome = check(None, &bytes, Some(0));
        let time = start.elapsed();
        slowest = slowest.max((time, path.clone()));
        let wrong = match outcome {
            Ok(_) if time > LONGEST => Some(format!("{time:.1?}")),
            Ok(Outcome::Read(profile)) => {
                println!("read as {}: {}", profile.meta.format, path.display());
                read += 1;
                None
            }
            Ok(Outcome::Rejected(_)) => {
                refused += 1;
                None
            }
            Err(wrong) => Some(wrong),
        };
        if let Some(wrong) = wrong {
            println!("{}: {wrong}", path.display());
            findings += 1;
        }
        if (read + refused) % 5000 == 0 {
            println!("{} files", read + refused);
        }
    }
    println!("slowest {:.2?}: {}", slowest.0, slowest.1.display());
    println!(
        "scan: {} files, {read} read, {refused} refused, {findings} findings",
        read + refused + findings
    );
    findings
}
