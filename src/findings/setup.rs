//! Objects that are meant to be created once and reused, created again and again.

use crate::findings::Rule;
use crate::findings::evidence::{Candidate, Samples};
use crate::findings::taxes::whole_set;

/// The rule. Compiling a regular expression takes microseconds, so one percent of a profile is thousands of them.
pub(super) static RULE: Rule = Rule {
    name: "setup",
    finds: "Regular expressions, parsers, encoders or formatters are created again and again instead of once.",
    least: 1.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    whole_set(samples, "@setup", "creating objects that can be created once and reused")
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn compiling_is_more_specific_than_matching_and_allocating() {
        let profile = from_notation(
            "main;check;regexp.MustCompile;runtime.mallocgc 20\nmain;check;regexp.(*Regexp).Match 10\nmain;work 70",
        );
        assert_eq!(
            drawn(&profile, Cost::Time)[1..],
            [
                "setup 20/20: creating objects that can be created once and reused, all in regexp.MustCompile | asked for only by check",
                "tax 10/30: regular expressions, all in regexp.(*Regexp).Match | asked for only by check",
                "rest 0",
            ]
        );
    }
}
