//! Pauses of garbage collection: `jdk.GCPhasePause` says when, and `jdk.GarbageCollection` why.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::format::ParseError;
use crate::format::jfr::chunk::Chunk;
use crate::format::jfr::constants::Constants;
use crate::format::jfr::cursor::Cursor;
use crate::format::jfr::metadata::{Class, Plan};
use crate::profile::Pause;

const PAUSE: &str = "jdk.GCPhasePause";
const COLLECTION: &str = "jdk.GarbageCollection";

/// The classes of events that describe pauses, and how they are read.
pub(super) struct PauseEvents<'c> {
    pause: (i64, &'c Class, Plan<3>),
    collection: Option<(i64, &'c Class, Plan<2>)>,
}

impl<'c> PauseEvents<'c> {
    /// Those of a chunk; `None` if it has no pauses. `occurs` says whether it has events of a class.
    pub(super) fn of(chunk: &'c Chunk<'_>, occurs: impl Fn(i64) -> bool) -> Option<Self> {
        let class = |name: &str| {
            let id = chunk.classes.named(name).filter(|&id| occurs(id))?;
            Some((id, chunk.classes.get(id)?))
        };
        let (id, pause) = class(PAUSE)?;
        Some(PauseEvents {
            pause: (id, pause, pause.plan(&["startTime", "duration", "gcId"])),
            collection: class(COLLECTION).map(|(id, class)| (id, class, class.plan(&["gcId", "cause"]))),
        })
    }
}

/// The pauses of a chunk, while its events are read.
#[derive(Default)]
pub(super) struct FoundPauses {
    /// Start, duration and the number of the collection.
    pauses: Vec<(i64, i64, i64)>,
    /// The id of the cause of each collection, whose event follows those of its pauses.
    causes: HashMap<i64, u64>,
}

impl FoundPauses {
    /// Reads an event if it is about a pause.
    pub(super) fn take(
        &mut self,
        events: &PauseEvents<'_>,
        chunk: &Chunk<'_>,
        class: i64,
        event: &mut Cursor<'_>,
    ) -> Result<(), ParseError> {
        let (id, declared, plan) = &events.pause;
        if *id == class {
            let [start, duration, number] = chunk.classes.numbers(event, declared, plan, false)?;
            self.pauses.push((chunk.time(start), chunk.nanoseconds(duration).max(0), number));
        } else if let Some((_, declared, plan)) = events.collection.as_ref().filter(|(id, ..)| *id == class) {
            let [number, cause] = chunk.classes.numbers(event, declared, plan, false)?;
            self.causes.insert(number, cause as u64);
        }
        Ok(())
    }

    /// The pauses with their causes.
    pub(super) fn finish(self, constants: &Constants<'_>) -> impl Iterator<Item = Pause> {
        let mut texts: HashMap<u64, Arc<str>> = HashMap::new();
        self.pauses.into_iter().map(move |(time, duration, number)| {
            let id = self.causes.get(&number).copied();
            let cause = id.map(|id| texts.entry(id).or_insert_with(|| constants.gc_cause(id).into()).clone());
            Pause { time, duration, cause: cause.unwrap_or_default() }
        })
    }
}
