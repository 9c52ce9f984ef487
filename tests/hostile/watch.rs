//! A watchdog for inputs that hang a reader.

use std::path::Path;
use std::process::exit;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::clock;

/// The maximum CPU time for an input.
const LONGEST: Duration = Duration::from_mins(1);

/// The maximum wall-clock time for an input.
const LONGEST_WAIT: Duration = Duration::from_mins(20);

static CURRENT: Mutex<Option<Case>> = Mutex::new(None);

struct Case {
    since: Instant,
    spent: Duration,
    format: &'static str,
    bytes: Vec<u8>,
}

/// Records the input that is read next. If `HOSTILE_TRACE` is set, it is written to a file first, to find inputs that
/// abort the process.
pub fn case(format: &'static str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("HOSTILE_TRACE") {
        std::fs::write(Path::new(&folder).join(format), bytes).expect("a folder to write to");
    }
    let case = Case { since: Instant::now(), spent: clock::spent(), format, bytes: bytes.to_vec() };
    *CURRENT.lock().unwrap() = Some(case);
}

/// Starts a thread that ends the program and saves the input if it takes too long.
pub fn start() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(500));
            let current = CURRENT.lock().unwrap();
            let Some(Case { since, spent, format, bytes }) = &*current else { continue };
            if clock::spent().saturating_sub(*spent) > LONGEST || since.elapsed() > LONGEST_WAIT {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hang-{format}"));
                println!("{format}: hangs on an input of {} bytes: {}", bytes.len(), path.display());
                if let Err(error) = std::fs::write(&path, bytes) {
                    println!("{}: {error}", path.display());
                }
                exit(1);
            }
        }
    });
}
