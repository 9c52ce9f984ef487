//! Things that are meant to be made once and used often, made again and again.

use crate::findings::Rule;
use crate::findings::evidence::{Candidate, Samples};
use crate::findings::taxes::whole_set;

/// The rule. Compiling a regular expression takes microseconds, so one percent of a profile is thousands of them.
pub(super) static RULE: Rule = Rule {
    name: "setup",
    finds: "Regular expressions, parsers, encoders or formatters are made again and again instead of once.",
    least: 1.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    whole_set(samples, "@setup", "making things that could be made once and kept")
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
                "setup 20/20: making things that could be made once and kept, all in regexp.MustCompile | asked for only by check",
                "tax 10/30: regular expressions, all in regexp.(*Regexp).Match | asked for only by check",
                "rest 0",
            ]
        );
    }
}
