//! What py-spy puts above its stacks: `process 812:"python shop.py"` with `--subprocesses`, and `thread (815): MainThread` with
//! `--threads`. These are no functions, but say where a stack was recorded.

use crate::format::threads::Thread;

/// A frame that stands for a process or a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutsideFrame<'a> {
    Process {
        pid: &'a str,
        command: &'a str,
    },
    /// The name is empty as long as the interpreter has not told it.
    Thread {
        tid: &'a str,
        name: &'a str,
    },
}

impl<'a> OutsideFrame<'a> {
    /// The parts of `process 812:"python shop.py"`, `thread (815)` or `thread (815): MainThread`.
    pub(super) fn parse(text: &'a str) -> Option<OutsideFrame<'a>> {
        if let Some(process) = text.strip_prefix("process ") {
            let (pid, command) = process.split_once(":\"")?;
            let command = command.strip_suffix('"')?;
            return is_id(pid).then_some(OutsideFrame::Process { pid, command });
        }
        let (tid, rest) = text.strip_prefix("thread (")?.split_once(')')?;
        let name = if rest.is_empty() { "" } else { rest.strip_prefix(": ")? };
        is_id(tid).then_some(OutsideFrame::Thread { tid, name })
    }

    /// Adds what it says to a thread. Those of parent processes come before that of the process itself.
    pub(super) fn add_to(self, thread: &mut Thread) {
        match self {
            OutsideFrame::Process { command, .. } => thread.process = command.to_string(),
            OutsideFrame::Thread { tid, name } => {
                thread.tid = tid.to_string();
                thread.name = name.to_string();
            }
        }
    }
}

/// The thread of a profile that py-spy called `Process 812 Thread 815 "MainThread"` or `Thread 815 "MainThread"`.
pub(super) fn named_thread(text: &str) -> Option<Thread> {
    let (process, rest) = match text.strip_prefix("Process ") {
        Some(rest) => rest.split_once(' ')?,
        None => ("", text),
    };
    let (tid, name) = rest.strip_prefix("Thread ")?.split_once(" \"")?;
    let name = name.strip_suffix('"')?;
    let is_thread = is_id(tid) && (process.is_empty() || is_id(process));
    is_thread.then(|| Thread { process: process.to_string(), name: name.to_string(), tid: tid.to_string() })
}

/// Whether a text is the number of a process or a thread, which some systems write as `0x7F00`.
fn is_id(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_processes_and_threads_are_told_from_functions() {
        let process = OutsideFrame::Process { pid: "812", command: "python \"a b\".py" };
        assert_eq!(OutsideFrame::parse("process 812:\"python \"a b\".py\""), Some(process));
        let thread = |tid, name| Some(OutsideFrame::Thread { tid, name });
        assert_eq!(OutsideFrame::parse("thread (815)"), thread("815", ""));
        assert_eq!(OutsideFrame::parse("thread (0x7F00): Main (1)"), thread("0x7F00", "Main (1)"));
        for other in
            ["process (a.py:3)", "process x:\"y\"", "thread (a.py:3)", "thread (3) b", "thread ()", "f"]
        {
            assert_eq!(OutsideFrame::parse(other), None, "{other}");
        }
    }

    #[test]
    fn profiles_are_named_after_their_threads() {
        let parts = |text| named_thread(text).map(|thread| [thread.process, thread.tid, thread.name]);
        assert_eq!(parts("Process 1 Thread 2 \"\""), Some(["1", "2", ""].map(String::from)));
        assert_eq!(parts("Thread 2 \"T-hot\""), Some(["", "2", "T-hot"].map(String::from)));
        for other in ["Thread 2", "Thread main \"x y\"", "Process 1", "main"] {
            assert!(named_thread(other).is_none(), "{other}");
        }
    }
}
