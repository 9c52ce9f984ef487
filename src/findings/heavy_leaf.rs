//! A function of the program that does the work itself.

use hashbrown::HashMap;

use crate::findings::evidence::CALLED;
use crate::findings::{Candidate, Cost, Rule, Samples};
use crate::name::base_name;
use crate::profile::StringId;
use crate::report::{Evidence, Name, Sentence};
use crate::tree::KeyId;
use crate::unit;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "heavy-leaf",
    finds: "A function of the program spends much in its own code.",
    least: 3.0,
    of_calls: true,
    find,
};

/// From this share of its self on, a line is named.
const LINE: f64 = 0.5;

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    let sites = samples.by_site(|frame| samples.is_own(frame));
    sites
        .into_iter()
        .filter(|(_, _, left)| samples.percent(samples.sum(left)) >= RULE.least)
        .filter(|(key, measured, _)| samples.stands_out(measured.value) && !samples.is_nameless(*key))
        .map(|(key, measured, left)| {
            let line = heaviest_line(samples, key);
            let mut says = Sentence::of(samples.name(key)).text(what(samples, key, measured.value));
            if let Some(line) = line.as_ref().filter(|line| line.value < measured.value) {
                let part = unit::share(line.value, measured.value);
                says = says.text(format!(
                    ", {part} of it in one line ({}:{})",
                    base_name(&line.file),
                    line.line
                ));
            } else if let Some(line) = &line {
                says = says.text(format!(", all in one line ({}:{})", base_name(&line.file), line.line));
            }
            let evidence = match line {
                // `prof source` lists a function once for each of its files.
                Some(_)
                    if !samples.cost.is_memory()
                        && samples.subject.keys.get(key).file.is_some()
                        && samples.subject.calls.is_none() =>
                {
                    Evidence {
                        words: vec!["source".to_string()],
                        subject: Some(samples.name(key).to_string()),
                    }
                }
                _ => samples.focus_site(key),
            };
            let callers = samples.callers(CALLED, &left, |group| caller(samples, group, key));
            let candidate =
                Candidate::new(left, measured, evidence, says).about(samples.name(key)).detail(callers);
            Candidate { place: line.map(|line| (line.file, line.line)), ..candidate }
        })
        .collect()
}

/// What the function does, after its name.
fn what(samples: &Samples<'_, '_>, key: KeyId, own: i64) -> String {
    let total = samples.flat.total[0][key].max(own);
    match samples.cost {
        Cost::Allocated => " allocates this itself".to_string(),
        Cost::InUse => " allocated memory that is still in use".to_string(),
        Cost::AtPeak => " allocated memory that was in use at the peak".to_string(),
        Cost::Time if samples.may_wait => " spends this itself, running or waiting".to_string(),
        Cost::Time if i128::from(own) * 10 >= i128::from(total) * 9 => " does the work itself".to_string(),
        Cost::Time => format!(" spends this in its own code ({} with what it calls)", samples.share(total)),
        _ => " is where it happens".to_string(),
    }
}

/// The next function above the site, without recursion.
fn caller(samples: &Samples<'_, '_>, group: usize, of: KeyId) -> Option<KeyId> {
    let frames = &samples.groups[group].frames[..samples.site(group)?];
    frames.iter().rev().map(|&frame| samples.key(frame)).find(|&key| key != of)
}

/// The line of a function with the largest part of its self.
struct HotLine {
    file: Name,
    line: u32,
    value: i64,
}

fn heaviest_line(samples: &Samples<'_, '_>, key: KeyId) -> Option<HotLine> {
    let symbols = &samples.subject.profile.symbols;
    let mut lines: HashMap<(StringId, u32), i64> = HashMap::new();
    let mut all = 0;
    for (number, group) in samples.groups.iter().enumerate() {
        let Some(frame) = samples.site(number).map(|at| group.frames[at]) else { continue };
        if samples.key(frame) == key {
            let frame = symbols.frames[frame];
            *lines.entry((symbols.functions[frame.function].file, frame.line)).or_default() += group.value;
            all += group.value;
        }
    }
    let heaviest = lines.iter().max_by_key(|(place, value)| (**value, std::cmp::Reverse(**place)));
    let (&(file, line), &value) = heaviest?;
    let is_known = line > 0 && file != StringId::default();
    let is_heavy = value as f64 >= LINE * all as f64;
    (is_known && is_heavy).then(|| HotLine { file: symbols.strings.get(file).into(), line, value })
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn a_line_and_the_callers_are_named() {
        let profile = from_notation(
            "main;serve;price@/srv/shop/price.go:71 60\nmain;report;price@/srv/shop/price.go:72 20\nmain;rest 10\nmain;other 10",
        );
        assert_eq!(
            drawn(&profile, Cost::Time),
            [
                "heavy-leaf 80/80: price does the work itself, 75.0% of it in one line (price.go:71) | called by serve (60.0%), report (20.0%)",
                "heavy-leaf 10/10: rest does the work itself | called only by main",
                "heavy-leaf 10/10: other does the work itself | called only by main",
                "rest 0",
            ]
        );
    }

    #[test]
    fn nothing_stands_out_of_a_crowd() {
        // Thirty functions with 3.3% each, give or take what chance does; and one with 8%.
        let flat: Vec<String> =
            (0..30).map(|number| format!("main;f{number} {}", 90 + number % 5 * 5)).collect();
        let found = drawn(&from_notation(&flat.join("\n")), Cost::Time);
        assert_eq!(found, ["rest 3000"]);
        let found = drawn(&from_notation(&format!("{}\nmain;heavy 260", flat.join("\n"))), Cost::Time);
        assert_eq!(
            found,
            ["heavy-leaf 260/260: heavy does the work itself | called only by main", "rest 3000"]
        );
    }

    #[test]
    fn recursion_is_no_caller_and_the_allocator_is_not_the_site() {
        let profile = from_notation("main;walk;walk;walk 50\nmain;load;malloc 50");
        let found = drawn(&profile, Cost::InUse);
        assert_eq!(
            found[0],
            "heavy-leaf 50/50: walk allocated memory that is still in use | called only by main"
        );
        assert_eq!(
            found[1],
            "heavy-leaf 50/50: load allocated memory that is still in use | called only by main"
        );
        let found = drawn(&profile, Cost::AtPeak);
        assert_eq!(
            found[0],
            "heavy-leaf 50/50: walk allocated memory that was in use at the peak | called only by main"
        );
    }
}
