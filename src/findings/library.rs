//! A function of a library that does much work itself: what to change is who calls it.

use crate::findings::evidence::{CALLED, REACHED};
use crate::findings::{Candidate, Cost, Measured, Rule, Samples};
use crate::name::is_artefact;
use crate::report::Sentence;

/// The rule.
pub(super) static RULE: Rule = Rule {
    name: "library",
    finds: "A function of a library or the runtime spends much in its own code; its callers can be changed.",
    least: 3.0,
    of_calls: true,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    let sites = samples.by_site(|frame| !samples.is_own(frame));
    let candidate = |(key, measured, left): (_, Measured, Vec<usize>)| {
        let name = samples.name(key);
        // What the profiler put there is nobody's work; prof lint says so.
        let is_heavy =
            samples.percent(samples.sum(&left)) >= RULE.least && samples.stands_out(measured.value);
        if samples.is_nameless(key) || is_artefact(name) || !is_heavy {
            return None;
        }
        let says = Sentence::of(name).text(match samples.cost {
            Cost::Allocated => ", library code, allocates this itself",
            Cost::InUse => ", library code, allocated memory that is still in use",
            Cost::AtPeak => ", library code, allocated memory that was in use at the peak",
            Cost::Time if samples.may_wait => ", library code, spends this itself, running or waiting",
            Cost::Time => ", library code, does the work itself",
            Cost::Waiting => ", library code, waits",
            _ => ", library code, is where it happens",
        });
        let callers =
            samples.callers(REACHED, &left, |group| samples.own_caller(group, samples.site(group)?, None));
        let callers = callers.or_else(|| {
            samples.callers(CALLED, &left, |group| {
                let frames = &samples.groups[group].frames[..samples.site(group)?];
                frames.iter().rev().map(|&frame| samples.key(frame)).find(|&caller| caller != key)
            })
        });
        let evidence = samples.focus_site(key);
        Some(Candidate::new(left, measured, evidence, says).about(name).detail(callers))
    };
    sites.into_iter().filter_map(candidate).collect()
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn your_own_callers_are_named() {
        let profile = from_notation(
            "main;match;strings.Fields;strings.ToLower 30\nmain;sort;strings.ToLower 10\nnet/http.serve;strings.ToLower 5\nmain;work 55",
        );
        assert_eq!(
            drawn(&profile, Cost::Time)[1],
            "library 45/45: strings.ToLower, library code, does the work itself | reached from match (30.0%), sort (10.0%); 5.0% from elsewhere"
        );
    }

    #[test]
    fn without_code_of_your_own_the_callers_are_libraries() {
        let profile = from_notation("net/http.serve;strings.ToLower 5\n[libc.so] 5");
        assert_eq!(
            drawn(&profile, Cost::Time),
            [
                "library 5/5: strings.ToLower, library code, does the work itself | called only by net/http.serve",
                "rest 5"
            ]
        );
    }
}
