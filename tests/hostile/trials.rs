//! The bounded run, as tests: one per reader, each in a process of its own, because the memory of a whole process is
//! counted, and because an overflowing stack ends the process.

use std::process::{Command, ExitCode};

use libtest_mimic::Arguments;
use prof::format::FORMATS;

use crate::arguments::CASES;
use crate::needs::Need;
use crate::trial::trial;

/// Cases per reader that start from real files.
const REAL_CASES: u64 = CASES / 4;

/// Runs the tests that the command line selects.
pub fn run() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for format in FORMATS {
        let run = || _ = in_process(&["--only", format.name]);
        trials.push(trial(format!("readers::{}", format.name), &[], &arguments, run));
    }
    let run = || _ = in_process(&["--only", "filters"]);
    trials.push(trial("filters".to_string(), &[], &arguments, run));
    trials.push(trial("real_files".to_string(), &[Need::Corpus], &arguments, || {
        let said = in_process(&["--real", "--cases", &REAL_CASES.to_string()]);
        let readers =
            said.lines().filter(|line| line.contains("  findings") || line.starts_with("hostile: "));
        assert!(said.lines().count() - readers.count() > 10, "few readers have real files:\n{said}");
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs this program with options of its own, and returns what it prints.
fn in_process(arguments: &[&str]) -> String {
    let output = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}\n{said}{}", output.status, String::from_utf8_lossy(&output.stderr));
    said
}
