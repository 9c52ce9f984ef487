//! Leaks that are not counted: known ones of libraries, and those that the program itself names.

use hashbrown::HashMap;

use crate::format::heaptrack::traces::Traces;
use crate::profile::{FrameId, ProfileBuilder, StringId};

/// The functions whose leaks heaptrack never counts.
const KNOWN: &[&str] = &[
    "__gconv_read_conf",
    "__new_exitfn",
    "__nss_module_allocate",
    "dl_open_worker",
    "g_main_context_new",
    "g_thread_self",
    "tzset_internal",
];

/// Patterns for functions, files or modules, in the syntax of LeakSanitizer: `*` stands for anything, `^` and `$` for the
/// ends of the name.
#[derive(Debug)]
pub(super) struct Suppressions {
    patterns: Vec<String>,
}

impl Default for Suppressions {
    fn default() -> Self {
        Suppressions { patterns: KNOWN.iter().map(ToString::to_string).collect() }
    }
}

impl Suppressions {
    /// Adds a line such as `leak:^pool*`; comments and other lines are ignored.
    pub(super) fn add(&mut self, line: &str) {
        let pattern = line.trim().strip_prefix("leak:").filter(|pattern| !pattern.is_empty());
        self.patterns.extend(pattern.map(str::to_string));
    }

    /// Whether the leaks of each trace are suppressed, by trace number: its own names match, or those of a caller.
    pub(super) fn matches(&self, builder: &ProfileBuilder, traces: &Traces) -> Vec<bool> {
        let mut known = HashMap::new();
        let mut matches_text = |id: StringId| {
            *known.entry(id).or_insert_with(|| {
                let text = builder.text(id);
                self.patterns.iter().any(|pattern| is_match(pattern, text))
            })
        };
        let mut matches_frame = |frame: &FrameId| {
            let frame = builder.frame_row(*frame);
            let function = builder.function_row(frame.function);
            let module = builder.mapping_row(frame.mapping).file;
            [function.name, function.file, module].into_iter().any(&mut matches_text)
        };
        let count = u32::try_from(traces.instruction_count()).unwrap_or(u32::MAX);
        let instructions: Vec<bool> =
            (0..=count).map(|number| traces.instruction(number).iter().any(&mut matches_frame)).collect();
        let mut matching = vec![false];
        for &(instruction, parent) in traces.nodes() {
            matching.push(instructions[instruction as usize] || matching[parent as usize]);
        }
        matching
    }
}

/// Whether a pattern matches a name.
fn is_match(pattern: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let (pattern, mut is_anchored) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
    let (pattern, ends) = pattern.split_once('$').map_or((pattern, false), |(before, _)| (before, true));
    let mut rest = name;
    for part in pattern.split('*') {
        if part.is_empty() {
            is_anchored = false;
            continue;
        }
        match rest.find(part) {
            Some(at) if at == 0 || !is_anchored => rest = &rest[at + part.len()..],
            _ => return false,
        }
        is_anchored = false;
    }
    !ends || rest.is_empty() || pattern.ends_with('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_leak_sanitizer() {
        let name = "leakMoreSupp";
        for pattern in ["leak", "More", "^leak", "Supp$", "^leak*Supp$", "*", "l*M*S*", "^leakMoreSupp$"] {
            assert!(is_match(pattern, name), "{pattern}");
        }
        for pattern in ["^More", "More$", "leak*x", "^eak*Supp$", "Supp*leak"] {
            assert!(!is_match(pattern, name), "{pattern}");
        }
        assert!(!is_match("*", ""));
    }
}
