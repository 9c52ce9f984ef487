//! Callgrind's events: what is counted.

/// An event's name and unit: `Ir`, `Time_(10ns)`, `inuse_space(MB)`.
#[derive(Clone)]
pub(super) struct CostEvent {
    pub(super) name: String,
    pub(super) unit: String,
    pub(super) factor: i64,
}

impl CostEvent {
    pub(super) fn parse(text: &str) -> CostEvent {
        let plain = || CostEvent { name: text.to_string(), unit: "count".into(), factor: 1 };
        let Some((name, unit)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) else {
            return plain();
        };
        let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
        let (factor, unit) = unit.split_at(digits);
        let name = name.trim_end_matches('_');
        if name.is_empty() || unit.is_empty() {
            return plain();
        }
        CostEvent { name: name.to_string(), unit: unit.to_string(), factor: factor.parse().unwrap_or(1) }
    }

    /// The event of a description in the file, if that ends with a unit of time: `sysTime : sysTime (elapsed ms)`.
    pub(super) fn described_by(text: &str) -> Option<CostEvent> {
        let (name, about) = text.split_once(':')?;
        let (_, inside) = about.trim_end().strip_suffix(')')?.rsplit_once('(')?;
        let unit = match inside.rsplit(' ').next()? {
            "ms" => "milliseconds",
            "us" | "\u{b5}s" | "\u{3bc}s" => "microseconds",
            "ns" => "nanoseconds",
            _ => return None,
        };
        Some(CostEvent { name: name.trim().to_string(), unit: unit.to_string(), factor: 1 })
    }

    /// The event with the unit of the description that the file has of it.
    pub(super) fn described(self, descriptions: &[CostEvent]) -> CostEvent {
        let found = descriptions.iter().find(|about| about.name == self.name && self.unit == "count");
        found.cloned().unwrap_or(self)
    }

    /// The event as its creator means it, where the name does not say so. `ns`, as pyprof2calltree writes it, and `microseconds`, as
    /// pprofile does, are no names but units of time.
    pub(super) fn of_creator(self, creator: Creator) -> CostEvent {
        let unit = match (creator, &*self.name, &*self.unit) {
            // Xdebug 3 writes its units. ruby-prof names no creator; it measures in seconds, and writes their millionths.
            (Creator::Xdebug2, "Time", "count")
            | (Creator::Unknown, "wall_time" | "process_time" | "gc_time", "count") => "microseconds",
            (Creator::Xdebug2, "Memory", "count") => "bytes",
            (Creator::Yappi, "Ticks", "count") => return CostEvent::time("microseconds"),
            (_, "ns" | "microseconds", "count") => return CostEvent::time(&self.name),
            _ => return self,
        };
        CostEvent { unit: unit.to_string(), ..self }
    }

    fn time(unit: &str) -> CostEvent {
        CostEvent { name: TIME.to_string(), unit: unit.to_string(), factor: 1 }
    }
}

/// The metric whose event has only a unit.
pub(super) const TIME: &str = "time";

/// A program that does not write the units of its events.
#[derive(Clone, Copy)]
pub(super) enum Creator {
    Xdebug2,
    Yappi,
    Other,
    /// The file does not say.
    Unknown,
}

impl Creator {
    /// The program of a line such as `creator: xdebug 2.9.0 (PHP 7.4.2)`.
    pub(super) fn of(comments: &[String]) -> Creator {
        let is_of = |creator: &str| comments.iter().any(|comment| comment.starts_with(creator));
        if is_of("creator: xdebug 2.") {
            Creator::Xdebug2
        } else if is_of("creator: yappi") {
            Creator::Yappi
        } else if comments.iter().any(|comment| comment.starts_with("creator: ")) {
            Creator::Other
        } else {
            Creator::Unknown
        }
    }
}
