//! The named sets: frames in which a thread waits for work (`@idle`), frames of the language runtime (`@runtime`), frames
//! of garbage collectors (`@gc`), and kinds of work such as `@json` (`work.rs`).

mod work;

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use crate::name::is_library;
use crate::pattern::added;
use crate::pattern::words::Words;

/// A named set of frames, defined by full function names and by files.
#[derive(Debug)]
pub(super) struct Set {
    name: &'static str,
    /// Sets that are part of it.
    parts: &'static [&'static Set],
    /// Every function that a regular expression of the set matches contains one of these words. Most profiles hold none,
    /// and then nothing is compiled. `None` if such words would be too many.
    words: Option<Words>,
    /// Functions and the ends of their files, for names as common as `wait`.
    functions_in_files: &'static [(&'static str, &'static str)],
    functions: &'static [&'static Expressions],
    /// Names of C functions; in files of other languages, these are different functions.
    c_functions: &'static [&'static Expressions],
    files: &'static [&'static Expressions],
}

/// Regular expressions of one language, which take up to a millisecond to compile. A profile of Go does not need those of Java.
#[derive(Debug)]
struct Expressions {
    /// Every name that matches contains one of these words; none if any name may match.
    words: &'static [&'static str],
    regex: LazyLock<Option<Regex>>,
}

impl Expressions {
    fn match_name(&self, name: &str) -> bool {
        let may_match = self.words.is_empty() || self.words.iter().any(|word| name.contains(word));
        may_match && is_match(self.regex.as_ref(), name)
    }
}

/// The names of all sets, as written in patterns: `@idle`.
pub fn sets() -> impl Iterator<Item = &'static str> {
    all().map(|set| set.name)
}

/// The sets that a page offers: each is a list of functions in every page, so these are only the most useful ones.
pub const PAGE_SETS: [&str; 6] = ["@idle", "@runtime", "@gc", "@alloc", "@lock", "@syscall"];

/// The set that a pattern names (`@idle`), if it names one.
pub(super) fn named(text: &str) -> Option<&'static Set> {
    text.strip_prefix('@')?;
    all().find(|set| set.name == text)
}

/// All sets of `prof` itself.
fn all() -> impl Iterator<Item = &'static Set> {
    [&IDLE, &RUNTIME, &GC].into_iter().chain(work::WORK.iter().copied()).chain([&work::MEMORY])
}

/// Whether the set called `set` contains a function.
///
/// ```
/// assert!(prof::pattern::contains("@json", "encoding/json.Marshal", ""));
/// ```
pub fn contains(set: &str, function: &str, file: &str) -> bool {
    match named(set) {
        Some(set) => set.contains(function, file),
        None => added::contain(set, function, file),
    }
}

/// Whether a function is part of a garbage collector: the set `@gc`.
pub fn is_collector(function: &str, file: &str) -> bool {
    GC.contains(function, file)
}

/// Whether a function belongs to the runtime of its language: the set `@runtime`.
pub fn is_runtime(function: &str, file: &str) -> bool {
    RUNTIME.contains(function, file)
}

/// Whether a function belongs to the program rather than to a library or to the runtime.
pub fn is_own(function: &str, file: &str) -> bool {
    !is_library(function, file) && !is_runtime(function, file)
}

impl Set {
    pub(super) fn contains(&self, function: &str, file: &str) -> bool {
        if self.parts.iter().any(|set| set.contains(function, file))
            || added::contain(self.name, function, file)
        {
            return true;
        }
        let function = bare(function);
        let of_c = || file.is_empty() || [".c", ".h", ".S", ".s"].iter().any(|end| file.ends_with(end));
        if self.functions_in_files.iter().any(|(f, end)| *f == function && file.ends_with(end)) {
            return true;
        }
        if self.words.as_ref().is_some_and(|words| !words.any_in(function)) {
            return false;
        }
        // Importing a module runs its code once; that is not the work that the module does.
        let imports = function.starts_with("<module>") && self.name != RUNTIME.name;
        let any = |patterns: &[&Expressions], name: &str| patterns.iter().any(|one| one.match_name(name));
        any(self.functions, function)
            || (!imports && any(self.files, file))
            || (!self.c_functions.is_empty() && of_c() && any(self.c_functions, function))
    }
}

fn is_match(regex: Option<&Regex>, name: &str) -> bool {
    regex.is_some_and(|regex| regex.is_match(name.as_bytes()))
}

/// Removes what profilers add to a name. Scripts for perf append a mark: `_[j]` for compiled code, `_[k]`
/// for the kernel; async-profiler also `_[0]` for interpreted code, `_[1]` for that of the first compiler. Async-profiler prepends the library: `libc.so.6.epoll_wait`.
fn bare(function: &str) -> &str {
    let marks = ["_[j]", "_[k]", "_[i]", "_[w]", "_[0]", "_[1]"];
    let function = marks.iter().find_map(|mark| function.strip_suffix(mark)).unwrap_or(function);
    // The cheap test first: few names start with `lib`.
    if !function.starts_with("lib") {
        return function;
    }
    let library = [".so.", ".dylib."].iter().find_map(|end| Some(function.find(end)? + end.len()));
    match library {
        Some(at) => function[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
        None => function,
    }
}

/// Whether a thread with this function on its stack is waiting: the set `@idle`.
pub fn waits(function: &str, file: &str) -> bool {
    IDLE.contains(function, file)
}

/// Whether the processor itself has nothing to do in this function: `(idle)` and `waitForDebugger` of V8, the idle loop of
/// Linux. Unlike other waiting, this is not CPU time of any thread, whatever recorded it.
pub fn is_idle_processor(function: &str) -> bool {
    IDLE_PROCESSOR_WORDS.any_in(function) && IDLE_PROCESSOR.match_name(bare(function))
}

/// Compiles a list of alternatives; `None` for an empty list. A test makes sure that all lists compile. Most
/// commands need one, so compiling must not take longer than reading a small profile. Therefore `\w` matches
/// ASCII only: Unicode classes would take ten times as long and exceed the size limit.
fn any_of(list: &[&str]) -> Option<Regex> {
    const MOST_BYTES: usize = 128 << 10;
    let text = format!("^(?:{})", list.join("|"));
    let compiled = RegexBuilder::new(&text).unicode(false).size_limit(MOST_BYTES).build();
    compiled.ok().filter(|_| !list.is_empty())
}

/// The words of all lists of idle functions below.
const IDLE_WORDS: &[&str] = &[
    "park",
    "stopm",
    "runnable",
    "poll",
    "sleep",
    "yield",
    "sysmon",
    "os/signal.",
    "wait",
    "kevent",
    "accept",
    "referencequeue",
    "acquire",
    "take_gil",
    "[await]",
    "no_work_found",
    "select",
    "suspend",
    "pause",
    "kernreturn",
    "mach_msg",
    "ntdelay",
    "completion",
    "idle",
    "halt",
    "swapper",
    "cpu_startup",
    "cstate_enter",
    "aitForDebugger",
    "thread#",
    "queue#",
    "thread.join",
    "thread.stop",
];

static IDLE_PROCESSOR_WORDS: Words = Words::new(IDLE_PROCESSOR.words);

static IDLE: Set = Set {
    name: "@idle",
    parts: &[],
    words: Some(Words::new(IDLE_WORDS)),
    functions_in_files: &[
        ("wait", "threading.py"),
        ("_wait_for_tstate_lock", "threading.py"),
        ("select", "selectors.py"),
        ("poll", "selectors.py"),
        ("get", "queue.py"),
        ("accept", "socket.py"),
        ("wait", "multiprocessing/connection.py"),
        ("poll", "multiprocessing/popen_fork.py"),
        ("_try_wait", "subprocess.py"),
    ],
    functions: &[&IDLE_GO, &IDLE_JAVA, &IDLE_DOTNET, &IDLE_PYTHON, &IDLE_RUBY, &IDLE_RUST, &IDLE_PROCESSOR],
    c_functions: &[&IDLE_C],
    files: &[],
};

static IDLE_GO: Expressions =
    Expressions { words: &["runtime.", "os/signal."], regex: LazyLock::new(|| any_of(IDLE_GO_FUNCTIONS)) };
static IDLE_JAVA: Expressions = Expressions {
    words: &[
        "java",
        "jdk",
        "sun",
        "netty",
        "Unsafe_Park",
        "Parker::",
        "Monitor::",
        "PlatformEvent::",
        "JVM_",
    ],
    regex: LazyLock::new(|| any_of(IDLE_JAVA_FUNCTIONS)),
};
static IDLE_DOTNET: Expressions =
    Expressions { words: &["System.Threading."], regex: LazyLock::new(|| any_of(IDLE_DOTNET_FUNCTIONS)) };
static IDLE_RUBY: Expressions = Expressions {
    words: &["Kernel", "Mutex", "Thread", "Queue", "ConditionVariable", "IO.select", "IO#select", "Process."],
    regex: LazyLock::new(|| any_of(IDLE_RUBY_FUNCTIONS)),
};
static IDLE_PYTHON: Expressions = Expressions {
    words: &["time", "<method", "pysleep", "select_epoll_poll", "acquire_", "take_gil", "[await]"],
    regex: LazyLock::new(|| any_of(IDLE_PYTHON_FUNCTIONS)),
};
static IDLE_RUST: Expressions =
    Expressions { words: &["::"], regex: LazyLock::new(|| any_of(IDLE_RUST_FUNCTIONS)) };
static IDLE_PROCESSOR: Expressions = Expressions {
    words: &["idle", "halt", "swapper", "cpu_startup", "cstate_enter", "aitForDebugger"],
    regex: LazyLock::new(|| any_of(IDLE_PROCESSOR_FUNCTIONS)),
};
static IDLE_C: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of(IDLE_C_FUNCTIONS)) };

/// These match from the start of a name. Any stack through one of them is waiting, so functions that also
/// run the program's own code must not be listed, such as `uv__io_poll`, `start_wqthread`, rayon's
/// `wait_until_cold` and Python's `_worker`.
///
/// Go: the scheduler with nothing to run, and waiting goroutines.
const IDLE_GO_FUNCTIONS: &[&str] = &[
    r"runtime\.(?:gopark|goparkunlock|stopm|mPark|findRunnable|findrunnable|netpoll|notesleep|notetsleep|notetsleepg|notetsleep_internal|semasleep|futexsleep|sigNoteSleep|usleep|osyield|sysmon)$",
    r"os/signal\.(?:signal_recv|loop)$",
];

/// Java, with slashes or dots, including the selectors of java.nio.
const IDLE_JAVA_FUNCTIONS: &[&str] = &[
    r"java[./]lang[./]Object\.wait0?(?:\(|$)",
    r"java[./]lang[./]Thread\.(?:sleep|sleep0|sleepNanos|sleepNanos0|yield|yield0|onSpinWait)(?:\(|$)",
    r"(?:jdk[./]internal[./]misc|sun[./]misc)[./]Unsafe\.park(?:\(|$)",
    r"java[./]util[./]concurrent[./]locks[./]LockSupport\.park",
    r"sun[./]nio[./]ch[./](?:EPoll|KQueue|EPollArrayWrapper|KQueueArrayWrapper|Net|WEPoll)\.(?:wait|poll|epollWait|kevent0|accept)(?:\(|$)",
    r"sun[./]nio[./]ch[./](?:Native|Epoll|ServerSocketAdaptor)\w*\.accept",
    r"java[./]net[./](?:PlainSocketImpl|DualStackPlainSocketImpl|AbstractPlainSocketImpl)\.(?:socketAccept|accept0?|waitForNewConnection)(?:\(|$)",
    r"java[./]net[./]ServerSocket\.(?:accept|implAccept)(?:\(|$)",
    r"io[./]netty[./]channel[./]epoll[./]Native\.epollWait",
    r"java[./]lang[./]ref[./](?:Reference\.waitForReferencePendingList|ReferenceQueue\.remove0?(?:\(|$))",
    r"(?:Unsafe_Park|Parker::park|PlatformMonitor::wait|Monitor::wait|Monitor::IWait|os::PlatformEvent::park|PlatformEvent::park|ObjectMonitor::wait|JVM_Sleep|JVM_MonitorWait)",
];

/// .NET. A task that is waited for may run on the thread that waits, so `Task.Wait` is not listed.
const IDLE_DOTNET_FUNCTIONS: &[&str] = &[
    r"System\.Threading\.Thread\.(?:Sleep|SleepInternal|Join|JoinInternal)(?:\(|$)",
    r"System\.Threading\.Monitor\.(?:Wait|ObjWait)(?:\(|$)",
    r"System\.Threading\.WaitHandle\.(?:Wait\w*|InternalWaitOne|SignalAndWait\w*)(?:\(|$)",
    r"System\.Threading\.LowLevel(?:LifoSemaphore|Monitor|Lock)\.Wait\w*(?:\(|$)",
];

/// Ruby's methods that are written in C.
const IDLE_RUBY_FUNCTIONS: &[&str] = &[
    r"(?:Kernel|Thread::Mutex|Mutex|ConditionVariable|Thread::ConditionVariable)#(?:sleep|wait)$",
    r"(?:Kernel|Thread)\.(?:sleep|stop)$|Thread#(?:join|value)$",
    r"(?:Thread::)?(?:Sized)?Queue#(?:pop|shift|deq)$",
    r"(?:IO|Kernel)[.#]select$|Process\.(?:wait|wait2|waitpid|waitall)$",
];

/// Python: its C functions, as profiles name them, and the time that a coroutine waits, as pyinstrument does.
const IDLE_PYTHON_FUNCTIONS: &[&str] = &[
    r"(?:<built-in method )?time\.sleep>?$",
    r"<method '(?:acquire|poll|accept|wait)' of '(?:_thread\.lock|_thread\.RLock|select\.\w+|_socket\.socket)' objects>$",
    r"(?:time_sleep|pysleep|select_epoll_poll|acquire_timed|PyThread_acquire_lock_timed|take_gil)$",
    r"\[await\]$",
];

/// Rust: parked threads and idle workers.
const IDLE_RUST_FUNCTIONS: &[&str] = &[
    r"std::thread::(?:park|park_timeout|sleep)\b",
    r"std::thread::Thread::park",
    r"(?:std|parking_lot)::.*[Cc]ondvar.*::wait",
    r"rayon_core::sleep::Sleep::(?:sleep|no_work_found)",
    r"tokio::runtime::.*(?:[Pp]ark|driver).*::(?:park|park_timeout)\w*",
    r"mio::(?:poll::Poll|sys::.*Selector)::(?:poll|select)",
];

/// The same for C libraries and kernels.
const IDLE_C_FUNCTIONS: &[&str] = &[
    r"(?:_*(?:libc_|GI_)*(?:epoll_wait|epoll_pwait|epoll_pwait2|poll|ppoll|select|pselect|nanosleep|clock_nanosleep|sigtimedwait|sigwait|sigwaitinfo|sigsuspend|pause|accept|accept4|kevent|wait4|waitpid|semwait_signal|psynch_cvwait|ulock_wait|workq_kernreturn))$",
    r"(?:mach_msg_trap|mach_msg2_trap|mach_msg_overwrite|semaphore_wait_trap|semaphore_timedwait_trap)$",
    r"(?:_*pthread_cond_(?:wait|timedwait|clockwait)|_*(?:GI_+)?futex_abstimed_wait\w*|_*futex_wait\w*|futex_wait_queue\w*|do_futex_wait\w*|sem_(?:wait|timedwait)|lll_lock_wait\w*)(?:@|$)",
    r"(?:NtWaitForSingleObject|NtWaitForMultipleObjects|NtDelayExecution|NtRemoveIoCompletion|NtWaitForWorkViaWorkerFactory|WaitForSingleObjectEx|GetQueuedCompletionStatus)$",
];

/// The same for idle processors: V8 (Node.js that was started with `--inspect-brk` waits for a debugger), and the idle loop of
/// Linux.
const IDLE_PROCESSOR_FUNCTIONS: &[&str] = &[
    r"\(idle\)$",
    r"(?:inspectorW|w)aitForDebugger$",
    r"(?:do_idle|cpu_idle|cpu_idle_loop|cpu_startup_entry|default_idle\w*|arch_cpu_idle|cpuidle_\w+|call_cpuidle|intel_idle\w*|acpi_idle\w*|acpi_safe_halt|native_safe_halt|mwait_idle\w*|poll_idle|cpu_do_idle|(?:__)?psci_enter_(?:domain_)?idle_state|acpi_processor_ffh_cstate_enter|pv_native_safe_halt|swapper(?:/\d+)?)$",
];

static GC: Set = Set {
    name: "@gc",
    parts: &[],
    words: Some(Words::new(GC_WORDS)),
    functions_in_files: &[],
    functions: &[&GC_ANY],
    c_functions: &[&GC_C],
    files: &[],
};

static GC_ANY: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of(GC_FUNCTIONS)) };
static GC_C: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of(GC_C_FUNCTIONS)) };

/// The words of [`GC_FUNCTIONS`] and [`GC_C_FUNCTIONS`].
const GC_WORDS: &[&str] = &[
    "gc",
    "garbage",
    "sweep",
    "scan",
    "mark",
    "scaveng",
    "grey",
    "wbbuf",
    "g1",
    "psparallel",
    "pspromotion",
    "shenandoah",
    "zrelocate",
    "zdriver",
    "reachable",
    "decref",
    "_refs",
    "reclaim",
    "vm_gencollect",
    "gencollected",
    "nursery",
];

/// Each is matched from the start of a name. Collectors also own what programs run when they allocate or write a pointer
/// (`G1CollectedHeap::mem_allocate`, `runtime.mallocgc`): that is not collection, and not in the set.
const GC_FUNCTIONS: &[&str] = &[
    // Go: workers, assists, sweeping, returning memory, and what marks.
    r"runtime\.(?:gc(?:Bg|Drain|Assist|Mark|Start|Sweep|Controller|Reset|Flush|BeginWork)\w*|GC\b|bgsweep|sweepone|bgscavenge|deductSweepCredit|finishsweep_m|scan(?:object|block|stack|frameworker|conservative|Object|ObjectsSmall|ObjectSmall|Span)\b|tryDeferToSpanScan|greyobject|markroot\w*|wbBufFlush\w*)",
    r"internal/runtime/gc/",
    r"runtime\.\(\*(?:gcWork|gcControllerState|sweepLocked|sweepLocker|scavengeIndex|scavengerState)\)\.",
    r"runtime\.\(\*(?:mspan\)\.sweep|pageAlloc\)\.scaveng|mheap\)\.reclaim)",
    // Java.
    r"G1(?:CM|Concurrent|Par|Evacuat|RebuildRemSet|RemSet|Scan|Clear|Root|Primary|ReclaimEmpty|Prepare|BatchedGang|Policy|CollectionSet|YoungCollector|FullGC|CLDScan|ServiceThread)\w*::",
    r"(?:GCTaskThread|GCTaskManager|VM_GC_\w+|VM_G1\w+|VM_ParallelGC\w*|VM_GenCollect\w*|PSParallelCompact\w*|PSPromotionManager|PSScavenge|ParallelScavengeHeap|ParMarkBitMap|GenMarkSweep|MarkSweep|GenCollectedHeap|ZRelocate\w*|ZMark\w*|ZDriver\w*|ShenandoahConcurrent\w*|ShenandoahMark\w*|ShenandoahControlThread)::",
    r"GC_active$",
    // Node.js and V8.
    r"\(garbage collector\)$",
    r"v8::internal::(?:Heap::(?:CollectGarbage|PerformGarbageCollection|Scavenge|MarkCompact)|Scaveng|MarkCompact|MinorMark|ConcurrentMark|IncrementalMark|Sweeper|NewSpaceScavenger)",
    // Ruby.
    r"\((?:garbage collection|marking|sweeping)\)$",
    // .NET.
    r"(?:.*!)?(?:SVR|WKS)::(?:gc_heap|GCHeap)::",
    // Python, and Firefox.
    r"<built-in method gc\.collect>$",
    r"js::(?:gc::|GCMarker|Nursery::collect)",
];

const GC_C_FUNCTIONS: &[&str] = &[
    // Python.
    r"(?:gc_collect(?:_\w+)?|gc_mark_\w+|_?PyGC_Collect\w*|visit_decref|visit_reachable|move_unreachable|subtract_refs|update_refs|deduce_unreachable|delete_garbage)$",
];

static RUNTIME: Set = Set {
    name: "@runtime",
    parts: &[],
    words: None,
    functions_in_files: &[],
    functions: &[&RUNTIME_ANY],
    c_functions: &[],
    files: &[&RUNTIME_FILE],
};

static RUNTIME_ANY: Expressions =
    Expressions { words: &[], regex: LazyLock::new(|| any_of(RUNTIME_FUNCTIONS)) };
static RUNTIME_FILE: Expressions = Expressions { words: &[], regex: LazyLock::new(|| any_of(RUNTIME_FILES)) };

const RUNTIME_FUNCTIONS: &[&str] = &[
    // Go: the package, its internals, and the assembly that has no package.
    r"runtime\.",
    r"runtime/internal/",
    r"internal/(?:runtime|abi|cpu|bytealg|chacha8rand|race)(?:/|\.)",
    r"(?:_rt0_\w+|rt0_go|gogo|gosave_\w+|gcWriteBarrier\w*|memeqbody|memeqbody\w*|cmpbody|indexbytebody|indexbody|countbody|aeshash\w*|memhash\w*|callRet|debugCall\d+|crosscall\d*|x_cgo_\w+|_cgo_\w+)$",
    // Java: reflection, class loading, the virtual machine and its compilers and collectors.
    r"jdk[./]internal[./]",
    r"sun[./](?:reflect|misc|launcher)[./]",
    r"java[./]lang[./](?:reflect|invoke|ref)[./]",
    r"java[./]lang[./](?:Thread\.run|ClassLoader\.)",
    r"(?:call_stub|Interpreter|interpreter|vtable stub|itable stub|thread_native_entry|java_start|thread_entry|JavaMain|StubRoutines)\b",
    r"(?:JavaCalls|JavaThread|Thread|InterpreterRuntime|OptoRuntime|SharedRuntime|Runtime1|SafepointSynchronize|VMThread|CompileBroker|Compile|C2Compiler|Compiler|PhaseIdealLoop|PhaseChaitin|PhaseCFG|PhaseIterGVN|PhaseCCP|Matcher|GraphBuilder|LinearScan|GangWorker|WorkerThread|WorkGang|GCTaskThread|G1\w*|PS\w*|Shenandoah\w*|Z(?:Driver|Mark|Relocate|Heap|Worker|Barrier)\w*|ConcurrentG1\w*|SystemDictionary|ClassFileParser|LinkResolver|VM_\w+)::",
    // Node and V8.
    r"\((?:root|program|garbage collector)\)$",
    r"(?:v8|node)::",
    r"Builtins?_",
    r"uv_+\w+",
    // Python's interpreter.
    r"_?Py[A-Z]\w*_\w+",
    r"_Py_\w+|Py_\w+|pymain_\w+|_?PyEval\w*|cfunction_\w+|method_vectorcall\w*|vectorcall_\w+|object_vacall|gc_collect_\w+|slot_tp_\w+|type_call|builtin_exec",
    r"(?:_find_and_load|_find_and_load_unlocked|_load_unlocked|_call_with_frames_removed|exec_module)(?: \(|$)",
    // Rust: starting programs and threads, and unwinding.
    r"std::(?:rt|panicking|panic|sys|sys_common|thread)::",
    r"std::sys::backtrace::",
    r"core::ops::function::Fn(?:Once|Mut)?::call",
    r"<.*core::ops::function::Fn(?:Once|Mut)?<.*>>::call",
    r"(?:__rust_\w+|___rust_\w+|rust_begin_unwind|rust_panic|_Unwind_\w+|__rdl_\w+|__rg_\w+)",
    // The start of every native program and thread.
    r"(?:_start|_?_?start_thread|start|_?_?clone3?|_?_?libc_start_(?:main|call_main)\w*|__libc_csu_init|_?_?pthread_start|_pthread_body|thread_start|BaseThreadInitThunk|RtlUserThreadStart|_dl_\w+|dyld_\w+)(?:@|$)",
];

const RUNTIME_FILES: &[&str] =
    &["node:", "<frozen importlib", "internal/.*\\.js$", "(?:.*/)?importlib/_bootstrap"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_offers_sets_that_exist() {
        assert!(PAGE_SETS.iter().all(|set| named(set).is_some()));
    }

    #[test]
    fn all_lists_compile() {
        for set in [&IDLE, &RUNTIME, &GC] {
            for patterns in [set.functions, set.c_functions, set.files].concat() {
                assert!(patterns.regex.is_some(), "{}: {patterns:?}", set.name);
            }
        }
        assert!(named("@idle").is_some() && named("@runtime").is_some());
        assert!(named("@plt").is_none() && named("idle").is_none());
    }

    fn check(set: &Set, function: &str, file: &str, want: bool) {
        assert_eq!(set.contains(function, file), want, "{} {function} {file}", set.name);
    }

    #[test]
    fn idle() {
        for function in [
            "runtime.gopark",
            "runtime.findRunnable",
            "java/lang/Object.wait",
            "java.lang.Object.wait(long)",
            "jdk/internal/misc/Unsafe.park",
            "sun/nio/ch/EPoll.wait",
            "(idle)",
            "__epoll_wait",
            "epoll_wait_[k]",
            "__pthread_cond_timedwait",
            "pthread_cond_wait@@GLIBC_2.3.2",
            "native_safe_halt_[k]",
            "swapper/3",
            "std::thread::park",
            "rayon_core::sleep::Sleep::sleep",
            "libc.so.6.epoll_wait",
            "libc.so.6.__GI___futex_abstimed_wait_cancelable64",
            "libsystem_kernel.dylib.__psynch_cvwait",
            "java.lang.ref.Reference.waitForReferencePendingList",
            "java.lang.ref.ReferenceQueue.remove",
            "java.net.AbstractPlainSocketImpl.accept",
            "<built-in method time.sleep>",
            "[await]",
            "mach_msg_trap",
            "Kernel#sleep",
            "Thread::Queue#pop",
            "Thread#join",
            "System.Threading.Thread.Sleep(int32)",
            "System.Threading.WaitHandle.WaitOneNoCheck(int32)",
            "System.Threading.Thread.Join()",
        ] {
            check(&IDLE, function, "", true);
        }
        check(&IDLE, "wait", "/usr/lib/python3.11/threading.py", true);
        check(&IDLE, "wait", "/app/threads.py", false);
        check(&IDLE, "poll", "/usr/src/glibc/io/poll.c", true);
        check(&IDLE, "poll", "/app/mail.py", false);
        check(&IDLE, "select", "file:///srv/app.mjs", false);
        for function in [
            "main.main",
            "runtime.mallocgc",
            "poller",
            "main.poll",
            "java/lang/Object.waiter",
            "select_rows",
            "acceptable",
            // These also run the program's own code.
            "uv__io_poll",
            "start_wqthread",
            "rayon_core::registry::WorkerThread::wait_until_cold",
            "runtime.runfinq",
            "System.Threading.Tasks.Task.Wait()",
            "Array#pop",
            "Set#join",
        ] {
            check(&IDLE, function, "", false);
        }
    }

    #[test]
    fn idle_processors() {
        let of_linux = [
            "swapper",
            "do_idle",
            "native_safe_halt_[k]",
            "intel_idle_irq",
            "acpi_processor_ffh_cstate_enter",
        ];
        let of_arm = ["cpu_do_idle", "psci_enter_idle_state", "__psci_enter_domain_idle_state"];
        for function in of_linux.into_iter().chain(of_arm).chain(["(idle)"]) {
            assert!(is_idle_processor(function) && waits(function, ""), "{function}");
        }
        for function in ["(program)", "epoll_wait", "runtime.gopark", "runtime.findRunnable"] {
            assert!(!is_idle_processor(function), "{function}");
        }
    }

    #[test]
    fn runtime() {
        for function in [
            "runtime.mallocgc",
            "internal/runtime/maps.(*Map).Get",
            "gcWriteBarrier",
            "java/lang/reflect/Method.invoke",
            "JavaCalls::call_virtual(JavaValue*)",
            "G1ParScanThreadState::copy_to_survivor_space",
            "(garbage collector)",
            "v8::internal::Builtin_HandleApiCall",
            "_PyEval_EvalFrameDefault",
            "std::rt::lang_start",
            "core::ops::function::FnOnce::call_once",
            "<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once",
            "__libc_start_main",
            "start_thread",
        ] {
            check(&RUNTIME, function, "", true);
        }
        check(&RUNTIME, "read", "node:internal/streams/readable", true);
        check(&RUNTIME, "_load", "<frozen importlib._bootstrap>", true);
        for function in [
            "main.main",
            "runtimes.f",
            "java/util/HashMap.put",
            "std::vector::push_back",
            "startup",
            "a::Thread::run",
            "clone_row",
        ] {
            check(&RUNTIME, function, "", false);
        }
    }

    #[test]
    fn garbage_collection() {
        for function in [
            "runtime.gcBgMarkWorker",
            "runtime.gcBgMarkWorker.func2",
            "runtime.gcDrain",
            "runtime.scanobject",
            "runtime.(*sweepLocked).sweep",
            "runtime.bgsweep",
            "G1ParScanThreadState::trim_queue_to_threshold(unsigned int)",
            "G1CMTask::do_marking_step(double, bool, bool)",
            "(garbage collector)",
            "v8::internal::MarkCompactCollector::CollectGarbage()",
            "(garbage collection)",
            "(sweeping)",
            "coreclr!WKS::gc_heap::mark_phase",
            "gc_collect_main",
            "<built-in method gc.collect>",
        ] {
            check(&GC, function, "", true);
        }
        check(&GC, "subtract_refs", "Modules/gcmodule.c", true);
        check(&GC, "subtract_refs", "/app/links.py", false);
        for function in [
            "runtime.mallocgc",
            "runtime.mallocgcSmallNoscan",
            "runtime.gcWriteBarrier1",
            "runtime.gcTrigger.test",
            "G1CollectedHeap::mem_allocate(unsigned long, bool*)",
            "G1BarrierSet::invalidate",
            "main.scanobject",
            "main.gcDrain",
            "js::LookupNameNoGC",
            "gc_collector",
            "sweeping",
        ] {
            check(&GC, function, "", false);
        }
    }

    /// No name that a regular expression matches lacks all words, in any part of any list.
    #[test]
    fn words_are_in_all_names_of_a_set() {
        let lists = [
            (&IDLE, &IDLE_GO, IDLE_GO_FUNCTIONS),
            (&IDLE, &IDLE_JAVA, IDLE_JAVA_FUNCTIONS),
            (&IDLE, &IDLE_PYTHON, IDLE_PYTHON_FUNCTIONS),
            (&IDLE, &IDLE_RUST, IDLE_RUST_FUNCTIONS),
            (&IDLE, &IDLE_PROCESSOR, IDLE_PROCESSOR_FUNCTIONS),
            (&IDLE, &IDLE_C, IDLE_C_FUNCTIONS),
            (&GC, &GC_ANY, GC_FUNCTIONS),
            (&GC, &GC_C, GC_C_FUNCTIONS),
        ];
        for (set, patterns, list) in lists {
            for name in list.iter().flat_map(|pattern| alternatives(pattern)) {
                assert!(set.words.as_ref().unwrap().any_in(&name), "{}: {name}", set.name);
                let words = patterns.words;
                assert!(
                    words.is_empty() || words.iter().any(|word| name.contains(word)),
                    "{name}: {words:?}"
                );
            }
        }
    }

    /// The texts that a pattern is made of, one for each choice in its groups; other operators are left as they are, since
    /// words have none of these characters.
    fn alternatives(pattern: &str) -> Vec<String> {
        let pattern = pattern
            .replace("(?:\\(|$)", "")
            .replace("(?:@|$)", "")
            .replace("\\(", "\u{1}")
            .replace("\\)", "\u{2}");
        let mut texts = vec![pattern];
        while let Some(at) = texts.iter().position(|text| text.contains('(')) {
            let text = texts.swap_remove(at);
            // The innermost group that ends first.
            let end = text.find(')').unwrap();
            let start = text[..end].rfind('(').unwrap();
            let is_optional = text[end + 1..].starts_with(['?', '*']);
            let inner = text[start + 1..end].trim_start_matches("?:");
            let choices = inner.split('|').chain(is_optional.then_some(""));
            texts.extend(choices.map(|choice| {
                format!("{}{choice}{}", &text[..start], text[end + 1..].trim_start_matches(['?', '*', '+']))
            }));
        }
        texts.iter().map(|text| text.replace('\u{1}', "(").replace('\u{2}', ")").replace('\\', "")).collect()
    }
}
