//! The clocks of a trace. Each packet names the clock of its timestamp; all times are converted to that since boot.
//!
//! ```text
//! message ClockSnapshot { message Clock { uint32 clock_id = 1; uint64 timestamp = 2; bool is_incremental = 3;
//!                                         uint64 unit_multiplier_ns = 4; } repeated Clock clocks = 1; }
//! ```
//!
//! Clocks 64 to 127 belong to a sequence. One that is incremental counts from its last timestamp.

use hashbrown::HashMap;

use crate::format::perfetto::packet::each_field;
use crate::format::wire::{Value, WireError};

const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;
pub(super) const BOOT: u64 = 6;

/// A clock in a snapshot.
struct Reading {
    id: u64,
    time: u64,
    is_incremental: bool,
    nanoseconds: u64,
}

impl Reading {
    fn belongs_to_sequence(&self) -> bool {
        (64..128).contains(&self.id)
    }
}

fn readings(snapshot: &[u8]) -> Result<Vec<Reading>, WireError> {
    let mut readings = Vec::new();
    let mut result = Ok(());
    each_field(snapshot, |number, value| {
        if let (1, Value::Bytes(clock)) = (number, value) {
            let mut reading = Reading { id: 0, time: 0, is_incremental: false, nanoseconds: 1 };
            let read = each_field(clock, |number, value| match (number, value) {
                (1, Value::Varint(id)) => reading.id = id,
                (2, Value::Varint(time)) => reading.time = time,
                (3, Value::Varint(flag)) => reading.is_incremental = flag != 0,
                (4, Value::Varint(nanoseconds)) => reading.nanoseconds = nanoseconds.max(1),
                _ => {}
            });
            result = result.and(read);
            readings.push(reading);
        }
    })?;
    result.map(|()| readings)
}

/// The clocks that all sequences share.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// What is to be added to the time of each clock, in nanoseconds.
    offsets: HashMap<u64, i64>,
}

impl Clocks {
    /// The first snapshot of a clock counts, so that the times of one sequence do not jump.
    pub(super) fn add(&mut self, snapshot: &[u8]) -> Result<(), WireError> {
        let readings = readings(snapshot)?;
        let Some(boot) = readings.iter().find(|reading| reading.id == BOOT) else { return Ok(()) };
        for reading in readings.iter().filter(|reading| !reading.belongs_to_sequence()) {
            let offset = boot.time.wrapping_sub(reading.time).cast_signed();
            self.offsets.entry(reading.id).or_insert(offset);
        }
        Ok(())
    }

    fn at(&self, clock: u64, time: u64) -> i64 {
        time.cast_signed().saturating_add(self.offsets.get(&clock).copied().unwrap_or(0))
    }

    /// The time since 1970 of a time since boot.
    pub(super) fn wall(&self, boot: i64) -> Option<i64> {
        self.offsets.get(&REALTIME).map(|offset| boot.saturating_sub(*offset))
    }
}

/// A clock of one sequence.
struct OwnClock {
    is_incremental: bool,
    nanoseconds: u64,
    last: u64,
    offset: i64,
}

/// The clocks that only one sequence has.
#[derive(Default)]
pub(super) struct SequenceClocks {
    clocks: HashMap<u64, OwnClock>,
    /// The clock of packets that do not name one.
    pub(super) default: Option<u64>,
}

impl SequenceClocks {
    pub(super) fn add(&mut self, snapshot: &[u8], clocks: &Clocks) -> Result<(), WireError> {
        let readings = readings(snapshot)?;
        let mut known = [BOOT, MONOTONIC, REALTIME].into_iter();
        let known = known.find_map(|id| readings.iter().find(|reading| reading.id == id));
        for reading in readings.iter().filter(|reading| reading.belongs_to_sequence()) {
            let own = reading.time.wrapping_mul(reading.nanoseconds).cast_signed();
            let offset = known.map_or(0, |known| clocks.at(known.id, known.time).saturating_sub(own));
            let (is_incremental, nanoseconds) = (reading.is_incremental, reading.nanoseconds);
            self.clocks
                .insert(reading.id, OwnClock { is_incremental, nanoseconds, last: reading.time, offset });
        }
        Ok(())
    }

    /// The time since boot of a packet's timestamp. Must be called for every packet, because clocks may count from the last one.
    pub(super) fn time(&mut self, clock: Option<u64>, timestamp: u64, clocks: &Clocks) -> i64 {
        let id = clock.or(self.default).unwrap_or(BOOT);
        let Some(clock) = self.clocks.get_mut(&id) else { return clocks.at(id, timestamp) };
        let time = if clock.is_incremental { clock.last.wrapping_add(timestamp) } else { timestamp };
        clock.last = time;
        time.wrapping_mul(clock.nanoseconds).cast_signed().saturating_add(clock.offset)
    }
}
