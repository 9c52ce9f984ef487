//! How much time an input takes: of the processor, since others may want the machine too.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The time that this process had of the processors so far, to a hundredth of a second; where the system
/// does not say it, the time on the wall.
pub fn spent() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    of_processors().unwrap_or_else(|| START.elapsed())
}

/// Of the numbers behind the program's name, the 12th and 13th are the hundredths of seconds in the program
/// and in the system.
fn of_processors() -> Option<Duration> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let numbers = stat.rsplit_once(')')?.1;
    let ticks = numbers.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.collect::<Result<Vec<u64>, _>>().ok()?.iter().sum();
    Some(Duration::from_millis(ticks * 10))
}
