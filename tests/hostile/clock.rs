//! Measures the time that an input takes, as CPU time because other programs may be running.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The CPU time of this process so far, to a hundredth of a second, or the wall-clock time if the system does not
/// provide it.
pub fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    of_processors().unwrap_or_else(|| START.elapsed())
}

/// CPU time from `/proc/self/stat`: of the numbers after the program's name, the 12th and 13th are the user and system
/// time in hundredths of a second.
fn of_processors() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let numbers = stat.rsplit_once(')')?.1;
    let ticks = numbers.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.collect::<Result<Vec<u64>, _>>().ok()?.iter().sum();
    Some(Duration::from_millis(ticks * 10))
}
