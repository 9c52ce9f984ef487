//! Stacks that were recorded as raw memory, compared with what `perf script` makes of the same recording.

use std::path::Path;

use prof::binary::{Binary, Machine, Registers, StackMemory, Step, UnwindTable};

use crate::support::{fixture, prof};

/// The stacks of a recording with their samples, sorted, and what is printed besides.
fn stacks(options: &[&str], recording: &Path) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let recording = recording.to_str().unwrap();
    let arguments = [&["convert", "--to", "collapsed", "-o", "-", "-m", "samples"], options, &[recording]];
    let mut command = prof(folder.path(), &arguments.concat());
    // perf keeps copies of what it recorded in the home folder.
    let output = command.env("HOME", folder.path()).env_remove("PROF_BINARY_PATH").output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{errors}");
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines.sort_unstable();
    let errors = errors.lines().filter(|line| !line.contains("collapsed"));
    (lines, errors.collect())
}

#[test]
fn stacks_are_unwound_as_perf_does() {
    let folder = fixture("symbols");
    let (perf, _) = stacks(&[], &folder.join("unwinding.perf.txt"));
    assert!(
        perf.len() > 4 && perf.iter().all(|line| line.starts_with("_start;start;run;variable")),
        "{perf:?}"
    );
    let (ours, errors) = stacks(&["--binary", folder.to_str().unwrap()], &folder.join("unwinding.perf.data"));
    assert_eq!((ours, errors.as_str()), (perf, ""));
}

#[test]
fn without_the_binary_the_command_for_perf_is_printed() {
    let recording = fixture("symbols").join("unwinding.perf.data");
    for options in [&[][..], &["--binary", "/"]] {
        let (lines, errors) = stacks(options, &recording);
        assert_eq!(lines, ["[unwinding] 26"]);
        let command = format!("perf script -i {} | prof top", recording.display());
        assert!(
            errors.contains("26 of 26 stacks are incomplete")
                && errors.contains("(unwinding 26)")
                && errors.contains(&command),
            "{errors}"
        );
    }
    let (lines, errors) = stacks(&["--symbolize", "never"], &recording);
    assert_eq!(lines, ["[unwinding] 26"]);
    assert!(errors.contains("none could be unwound"), "{errors}");
}

/// Binaries may be corrupt, and so may stacks.
#[test]
fn corrupt_rules_do_not_panic_or_hang() {
    let whole = std::fs::read(fixture("symbols").join("unwinding")).unwrap();
    let mut random = 1_u64;
    let mut below = |end: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % end
    };
    let mut steps = 0;
    for round in 0..400 {
        let mut bytes = whole.clone();
        // The rules are in the second half of the file, before the names of the sections.
        for _ in 0..round % 8 {
            let at = 0x2000 + below(0x200);
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8][below(6)];
        }
        let Ok(binary) = Binary::parse(&bytes[..]) else { continue };
        let Some(mut table) = UnwindTable::new(&binary, None) else { continue };
        let stack: Vec<u8> = (0..512).map(|_| below(256) as u8).collect();
        for offset in 0x1000..0x1140 {
            let mut registers = Registers::new(Machine::X86_64, 0x40_0000 + offset);
            for number in 0..17 {
                registers.set(number, 0x7fff_0000 + 8 * number as u64);
            }
            let stack = StackMemory { start: 0x7fff_0000, bytes: &stack, is_big_endian: false };
            steps += u64::from(matches!(table.caller(offset, &registers, stack), Step::Caller(_)));
        }
    }
    assert!(steps > 20_000, "most rules are still readable: {steps}");
}
