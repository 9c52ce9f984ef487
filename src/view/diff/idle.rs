//! The functions in which processors have nothing to do, and those that lead only there.

use crate::pattern::is_idle_processor;
use crate::profile::{Column, Id};
use crate::report::IdleProcessors;
use crate::tree::{Flat, KeyId, SeenKeys, Subject};

/// Less than this of both sides, in percent, is not worth a line.
const LEAST: f64 = 1.0;

/// How much of each side processors were idle for; `None` if hardly ever.
pub(super) fn idle_processors(subject: &Subject<'_>, old: usize, profiles: usize) -> Option<IdleProcessors> {
    let is_idle = idle_keys(subject)?;
    let (mut idle, mut all) = ([0_i128; 2], [0_i128; 2]);
    for stack in subject.stacks() {
        let leads_to_idle = subject.stack_keys(stack).any(|key| is_idle[key]);
        for (number, value) in subject.values(stack).take(profiles).enumerate() {
            let side = usize::from(number >= old);
            all[side] += i128::from(value);
            idle[side] += if leads_to_idle { i128::from(value) } else { 0 };
        }
    }
    let percent =
        |side: usize| if all[side] == 0 { 0.0 } else { idle[side] as f64 / all[side] as f64 * 100.0 };
    let (old, new) = (percent(0), percent(1));
    (old.max(new) >= LEAST).then_some(IdleProcessors { old, new })
}

/// The functions in which processors are idle; `None` if there are none.
fn idle_keys(subject: &Subject<'_>) -> Option<Column<KeyId, bool>> {
    let is_idle = |key: &KeyId| is_idle_processor(&subject.keys.get(*key).function);
    let idle: Vec<KeyId> = subject.keys.ids().filter(is_idle).collect();
    (!idle.is_empty()).then(|| Column::marking(idle, subject.keys.len()))
}

/// The functions of all stacks that have one in which processors are idle, if they are on no others. Of a system that was recorded
/// as a whole, `start_secondary` is one, which calls `do_idle`.
pub(super) fn idle_functions(subject: &Subject<'_>, counted: &Flat, profiles: usize) -> Vec<usize> {
    let keys = subject.keys.len();
    let Some(is_idle) = idle_keys(subject) else { return Vec::new() };
    let mut values: Column<KeyId, Vec<i64>> = Column::filled(Vec::new(), keys);
    let mut seen = SeenKeys::new(keys);
    for stack in subject.stacks().filter(|&stack| subject.stack_keys(stack).any(|key| is_idle[key])) {
        seen.next();
        for key in subject.stack_keys(stack).filter(|&key| seen.first(key)) {
            values[key].resize(profiles, 0);
            values[key].iter_mut().zip(subject.values(stack)).for_each(|(sum, value)| *sum += value);
        }
    }
    let is_all = |key: &KeyId| {
        let total = counted.total[..profiles].iter().map(|total| total[*key]);
        !values[*key].is_empty() && total.eq(values[*key].iter().copied())
    };
    subject.keys.ids().filter(is_all).map(KeyId::index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;
    use crate::tree::{By, flat};

    #[test]
    fn what_leads_only_to_idle_processors_is_idle() {
        let profile = from_notation(
            "start_secondary;cpu_startup_entry;do_idle 7\nstart_secondary;do_idle;irq 2\nmain;irq 1\nmain;poll 3",
        );
        let subject = Subject::new(&profile, &By::Function, &[0]);
        let found = idle_functions(&subject, &flat(&subject), 1);
        let names: Vec<&str> = found.iter().map(|&key| &**subject.keys.name(KeyId::new(key))).collect();
        assert_eq!(names, ["start_secondary", "cpu_startup_entry", "do_idle"]);
        let idle = idle_processors(&subject, 1, 1).unwrap();
        assert!((idle.old - 900.0 / 13.0).abs() < 1e-9 && idle.new == 0.0, "{idle:?}");
    }
}
