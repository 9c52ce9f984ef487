//! Work that every program does on the side: encoding, hashing, compressing, logging, copying.

use crate::findings::evidence::{ASKED_FOR, Candidate, Samples, focus};
use crate::findings::{Cost, Rule};
use crate::pattern::added_sets;
use crate::profile::{Column, FrameId};
use crate::report::Sentence;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "tax",
    finds: "The program spends much on work that it does on the side, in a library: JSON, regular expressions, logging and the like.",
    least: 2.0,
    of_calls: false,
    find,
};

/// The named sets, and what their functions do. Of several on one stack, the outermost counts, because that is what the program
/// asked for; the sets at the end are what the others are made of.
const TAXES: &[(&str, &str)] = &[
    ("@log", "logging"),
    ("@json", "reading or writing JSON"),
    ("@regex", "regular expressions"),
    ("@compress", "compression"),
    ("@crypto", "encryption or hashing"),
    ("@format", "turning values into text"),
    ("@memcpy", "copying or clearing memory"),
    ("@syscall", "system calls"),
];

/// The sets from this one on are what the others are made of.
const PRIMITIVE: usize = 5;

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    if samples.cost != Cost::Time {
        return Vec::new();
    }
    // Sets of the user are the most specific kinds of work.
    let made: Vec<(&str, String)> = added_sets().map(|set| (set, format!("functions of {set}"))).collect();
    let made = made.iter().map(|(set, what)| (*set, &**what));
    let taxes: Vec<(&str, &str)> = made.chain(TAXES.iter().copied()).collect();
    let primitive = taxes.len() - TAXES.len() + PRIMITIVE;
    let sets: Vec<Column<FrameId, bool>> = taxes.iter().map(|(set, _)| samples.set(set)).collect();
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); taxes.len()];
    for number in samples.left() {
        let first = |sets: &[Column<FrameId, bool>]| {
            let in_any = |&frame: &FrameId| sets.iter().position(|set| set[frame]);
            samples.groups[number].frames.iter().find_map(in_any)
        };
        let (whole, primitives) = sets.split_at(primitive);
        if let Some(set) = first(whole).or_else(|| Some(primitive + first(primitives)?)) {
            groups[set].push(number);
        }
    }
    let taxes = taxes.iter().zip(&sets).zip(groups);
    taxes
        .filter(|(_, groups)| !groups.is_empty())
        .map(|((tax, set), groups)| candidate(samples, tax, set, groups))
        .collect()
}

/// Everything that is left of a named set, as one finding: `taking and releasing locks, mostly in …`.
pub(super) fn whole_set(samples: &Samples<'_, '_>, name: &'static str, what: &'static str) -> Vec<Candidate> {
    if samples.cost != Cost::Time {
        return Vec::new();
    }
    let set = samples.set(name);
    let groups = samples.left_in(&set);
    if groups.is_empty() { Vec::new() } else { vec![candidate(samples, &(name, what), &set, groups)] }
}

fn candidate(
    samples: &Samples<'_, '_>,
    (name, what): &(&str, &str),
    set: &Column<FrameId, bool>,
    groups: Vec<usize>,
) -> Candidate {
    let callers = of_set(samples, ASKED_FOR, &groups, set);
    let says = mostly(samples, Sentence::new(*what), &groups, set);
    let measured = samples.measure(|frame| set[frame]);
    Candidate::new(groups, measured, focus(name), says).detail(callers)
}

/// Adds the function of the set through which most of it goes: `logging, mostly in log.Printf`.
pub(super) fn mostly(
    samples: &Samples<'_, '_>,
    says: Sentence,
    groups: &[usize],
    set: &Column<FrameId, bool>,
) -> Sentence {
    let mut sums = hashbrown::HashMap::new();
    for &group in groups {
        let frames = samples.groups[group].frames;
        if let Some(&first) = frames.iter().find(|&&frame| set[frame]) {
            *sums.entry(samples.key(first)).or_insert(0) += samples.groups[group].value;
        }
    }
    let heaviest = sums.iter().max_by_key(|(key, value)| (**value, std::cmp::Reverse(**key)));
    let Some((&key, &value)) = heaviest else { return says };
    let all = samples.sum(groups);
    match sums.len() {
        1 => says.text(", all in ").name(samples.name(key)),
        _ if value >= all - value => says.text(", mostly in ").name(samples.name(key)),
        _ => says
            .text(", most of all in ")
            .name(samples.name(key))
            .text(format!(" ({})", samples.share(value))),
    }
}

/// Which functions of the program reach the set.
pub(super) fn of_set(
    samples: &Samples<'_, '_>,
    lead: [&str; 2],
    groups: &[usize],
    set: &Column<FrameId, bool>,
) -> Option<Sentence> {
    samples.callers(lead, groups, |group| {
        let first = samples.groups[group].frames.iter().position(|&frame| set[frame])?;
        samples.own_caller(group, first, None)
    })
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn the_outermost_kind_of_work_counts() {
        let profile = from_notation(
            "main;handle;encoding/json.Marshal;strconv.AppendInt 10\nmain;handle;encoding/json.Marshal;runtime.memmove 10\n\
             main;report;fmt.Sprintf 6\nmain;report;strconv.AppendInt 4\nmain;work 70",
        );
        assert_eq!(
            drawn(&profile, Cost::Time),
            [
                "heavy-leaf 70/70: work does the work itself | called only by main",
                "tax 20/20: reading or writing JSON, all in encoding/json.Marshal | asked for only by handle",
                "tax 10/20: turning values into text, mostly in fmt.Sprintf | asked for only by report",
                "rest 0",
            ]
        );
    }
}
