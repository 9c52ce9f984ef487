//! Callgrind's events: what is counted.

/// An event's name and unit: `Ir`, `Time_(10ns)`, `inuse_space(MB)`.
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

    /// Its unit in files of Xdebug 2, which does not write it. Xdebug 3 does.
    pub(super) fn unit_of_xdebug_2(&self) -> &str {
        match (&*self.name, &*self.unit) {
            ("Time", "count") => "microseconds",
            ("Memory", "count") => "bytes",
            (_, unit) => unit,
        }
    }
}
