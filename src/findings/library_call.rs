//! A call into a library, below which many functions do a little each.

use hashbrown::HashMap;

use crate::findings::evidence::{CALLED, Candidate, Samples, focus};
use crate::findings::{Cost, Measured, Rule};
use crate::report::Sentence;
use crate::tree::KeyId;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "library-call",
    finds: "A call into a library costs much, spread over many functions of the library.",
    least: 3.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    if samples.cost.is_waiting() {
        return Vec::new();
    }
    let mut entries: HashMap<KeyId, Vec<usize>> = HashMap::new();
    for group in samples.left() {
        let frames = samples.groups[group].frames;
        // The last function of the program calls the first one of the library.
        let own = frames.iter().rposition(|&frame| samples.is_own(frame));
        if let Some(&entry) = own.and_then(|own| frames.get(own + 1)) {
            entries.entry(samples.key(entry)).or_default().push(group);
        }
    }
    let mut entries: Vec<(KeyId, Vec<usize>)> = entries.into_iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    let candidates = entries.into_iter().filter_map(|(key, groups)| {
        let is_heavy = samples.percent(samples.sum(&groups)) >= RULE.least && !samples.is_nameless(key);
        is_heavy.then(|| candidate(samples, key, groups))
    });
    candidates.collect()
}

fn candidate(samples: &Samples<'_, '_>, key: KeyId, groups: Vec<usize>) -> Candidate {
    let name = samples.name(key);
    let measured: Measured = samples.total_of(key);
    let callers = samples.callers(CALLED, &groups, |group| {
        let frames = samples.groups[group].frames;
        frames
            .iter()
            .rev()
            .map(|&frame| (frame, samples.key(frame)))
            .find(|(frame, _)| samples.is_own(*frame))
            .map(|(_, key)| key)
    });
    let what =
        if samples.cost == Cost::Time { " and the library code that it calls" } else { ", library code" };
    let says = Sentence::of(name).text(what);
    // What calls back into the program, such as a web server, is not what costs.
    let least_value = measured.value / 2;
    Candidate {
        least_value,
        ..Candidate::new(groups, measured, focus(name), says).about(name).detail(callers)
    }
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn many_small_functions_below_one_call() {
        let small: Vec<String> = (0..10)
            .map(|number| format!("net/http.serve;shop;text/tabwriter.Flush;text/tabwriter.part{number} 2"))
            .collect();
        let profile = from_notation(&format!(
            "{}\nnet/http.serve;net/http.read 1\nnet/http.serve;shop 79",
            small.join("\n")
        ));
        assert_eq!(
            drawn(&profile, Cost::Time),
            [
                "heavy-leaf 79/79: shop spends this in its own code (99.0% with what it calls) | called only by net/http.serve",
                "library-call 20/20: text/tabwriter.Flush and the library code that it calls | called only by shop",
                "rest 1",
            ]
        );
    }
}
