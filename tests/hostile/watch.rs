//! Notices an input that a reader does not come back from.

use std::path::Path;
use std::process::exit;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// No input takes longer, however slow the machine.
const LONGEST: Duration = Duration::from_mins(1);

static CURRENT: Mutex<Option<(Instant, &'static str, Vec<u8>)>> = Mutex::new(None);

/// Notes the input that is read next. Where `HOSTILE_TRACE` is set it is written to a file first, for
/// inputs that end the process.
pub fn case(format: &'static str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("HOSTILE_TRACE") {
        std::fs::write(Path::new(&folder).join(format), bytes).expect("a folder to write to");
    }
    *CURRENT.lock().unwrap() = Some((Instant::now(), format, bytes.to_vec()));
}

/// Ends the program where an input takes too long, and keeps the input.
pub fn start() {
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(500));
            let current = CURRENT.lock().unwrap();
            if let Some((since, format, bytes)) = &*current
                && since.elapsed() > LONGEST
            {
                let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hang-{format}"));
                println!("{format}: does not come back from {} bytes: {}", bytes.len(), path.display());
                if let Err(error) = std::fs::write(&path, bytes) {
                    println!("{}: {error}", path.display());
                }
                exit(1);
            }
        }
    });
}
