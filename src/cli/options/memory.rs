//! The memory limit for profiles and rows: `--max-memory`, or half of the machine's memory.

use std::sync::OnceLock;

use sysinfo::{MemoryRefreshKind, RefreshKind, System};

use crate::cli::terminal::session;
use crate::profile::Budget;
use crate::unit::{Family, Quantity};

/// Parses a size such as `512mb`, `2GiB` or a number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let size = Quantity::parse_as(text, Family::Bytes).ok().and_then(|quantity| quantity.bytes());
    let size = size.and_then(|size| u64::try_from(size).ok()).filter(|&size| size > 0);
    size.ok_or_else(|| "expected a size such as 512mb, 2GiB or a number of bytes".to_string())
}

/// The memory limit of this process. Everything that is loaded shares one limit.
pub(crate) fn budget(asked: Option<u64>) -> Budget {
    static BUDGET: OnceLock<Budget> = OnceLock::new();
    if let Some(budget) = session::of_session(|session| session.budget.clone()) {
        return budget;
    }
    BUDGET.get_or_init(|| asked.or_else(half_of_the_machine).map_or(Budget::UNLIMITED, Budget::of)).clone()
}

/// Half of the memory of the machine, or of the container if that has less.
fn half_of_the_machine() -> Option<u64> {
    let wanted = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(wanted).ok()?;
    let container = system.cgroup_limits().map(|limits| limits.total_memory).filter(|&limit| limit > 0);
    let memory = container.map_or(system.total_memory(), |limit| limit.min(system.total_memory()));
    Some(memory / 2).filter(|&half| half > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("512mb"), Ok(512 << 20));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert_eq!(size("1.5k"), Ok(1536));
        assert_eq!(size("512m"), Ok(512 << 20));
        assert_eq!(size("1000000"), Ok(1_000_000));
        for wrong in ["", "0", "-1", "10s", "1e9", "99999999tb", "many"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_machine_has_memory() {
        assert!(half_of_the_machine().is_some_and(|half| half > 16 << 20));
    }
}
