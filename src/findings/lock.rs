//! Taking, waiting for and releasing locks, in profiles of time.

use crate::findings::Rule;
use crate::findings::evidence::{Candidate, Samples};
use crate::findings::taxes::whole_set;

/// The rule. Profiles of waiting are the business of `waiting.rs`.
pub(super) static RULE: Rule = Rule {
    name: "lock",
    finds: "The program spends much on taking, waiting for and releasing locks.",
    least: 2.0,
    of_calls: false,
    find,
};

fn find(samples: &Samples<'_, '_>) -> Vec<Candidate> {
    whole_set(samples, "@lock", "taking and releasing locks")
}

#[cfg(test)]
mod tests {
    use crate::findings::Cost;
    use crate::findings::tests::drawn;
    use crate::profile::from_notation;

    #[test]
    fn locks() {
        let profile =
            from_notation("main;put;sync.(*Mutex).Lock 10\nmain;get;sync.(*RWMutex).RLock 30\nmain;work 60");
        assert_eq!(
            drawn(&profile, Cost::Time)[1],
            "lock 40/40: taking and releasing locks, mostly in sync.(*RWMutex).RLock | asked for by get (30.0%), put (10.0%)"
        );
    }
}
