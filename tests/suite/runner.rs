//! Runs the tests, like the built-in runner of Rust but for one thing: a test that needs something that this machine
//! does not have is counted as ignored, with the reason.
//!
//! ```text
//! test corpus_calls::pythons_pstats_agrees ... ignored (needs Python: there is no `python3` in PATH)
//! test result: ok. 391 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out
//! ```

use std::process::{Command, ExitCode};

use libtest_mimic::Arguments;

use crate::page::devtools;
use crate::support::needs::Need;
use crate::support::trial::trial;

/// A function marked with `#[test]`. The attribute, from `tests/macros`, makes one for each.
pub(crate) struct Test {
    /// The path of its module, which begins with the name of this program.
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    pub(crate) needs: &'static [Need],
    pub(crate) run: fn(),
}

inventory::collect!(Test);

/// Runs the tests that the command line selects.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut tests: Vec<&'static Test> = inventory::iter::<Test>.into_iter().collect();
    tests.sort_by_key(|test| (test.module, test.name));
    let trials = tests.into_iter().map(|test| {
        let module = test.module.split_once("::").map_or("", |(_, module)| module);
        trial(format!("{module}::{}", test.name), test.needs, &arguments, test.run)
    });
    let done = libtest_mimic::run(&arguments, trials.collect());
    devtools::close();
    done.exit_code()
}

/// Without PATH, there is no `python3`.
#[test]
fn tests_that_lack_a_program_are_ignored_with_the_reason() {
    let run = |arguments: &[&str]| {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--color", "never", "--exact", "corpus_calls::pythons_pstats_agrees"]).args(arguments);
        let output = program.env("PATH", "").output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let (is_fine, text) = run(&[]);
    assert!(is_fine && text.contains("... ignored (needs Python: there is no `python3` in PATH)"), "{text}");
    assert!(text.contains("test result: ok. 0 passed; 0 failed; 1 ignored;"), "{text}");
    // Asked for all the same, it runs and fails.
    assert!(!run(&["--include-ignored"]).0);
    assert!(run(&["--list", "--ignored"]).1.contains("corpus_calls::pythons_pstats_agrees: test"));
}
