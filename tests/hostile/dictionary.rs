//! The keywords of each format, and the structure of its inputs.

use crate::mutate::Shape;

/// The structure of inputs of `format`.
pub fn shape(format: &str) -> Shape {
    match format {
        "pprof" | "otlp" | "perfetto" => Shape::Protobuf,
        "jfr" | "perf-data" | "pstats" | "mojo" | "gmon" | "tachyon" | "nettrace" | "simpleperf"
        | "art-trace" | "nytprof" => Shape::Binary,
        "cpuprofile" | "heapprofile" | "gecko" | "speedscope" | "chrome-trace" | "stackprof" | "dhat"
        | "ghc-json" | "pyinstrument" | "scalene" | "safari" | "sentry" | "gprof2dot" | "d3-flamegraph"
        | "v8-log-json" | "xhprof" | "dart" | "graalvm" => Shape::Json,
        _ => Shape::Lines,
    }
}

/// Words and byte sequences that have a meaning in `format`.
#[rustfmt::skip] // One row a format.
pub fn words(format: &str) -> &'static [&'static str] {
    match format {
        "jfr" => &["FLR\0", "\0\x02\0\0", "\0\x02\0\x01", "metadata", "class", "field", "constantPool", "dimension", "jdk.ExecutionSample", "jdk.types.StackTrace", "java.lang.String", "long", "int", "profiler.WallClockSample", "\x7f", "\u{80}"],
        "perf-data" => &["PERFILE2", "2ELIFREP", "\x09\0\0\0", "\x0a\0\0\0", "\x03\0\0\0", "\x46\0\0\0", "\x44\0\0\0", "\x51\0\0\0", "[kernel.kallsyms]_text", "cycles:u", "\x28\u{b5}\x2f"],
        "pstats" => &["{", "(", ")", "[", "t", "r\0\0\0\0", "0", "N", "T", "g", "l", "i\u{ff}", "z", "Z", "s\0\0\0\x10", "a", "u", "\u{e1}"],
        "cpuprofile" => &["nodes", "samples", "timeDeltas", "callFrame", "functionName", "lineNumber", "columnNumber", "children", "parent", "hitCount", "head", "timestamps", "startTime", "endTime", "positionTicks", "(root)", "(idle)"],
        "heapprofile" => &["head", "selfSize", "callFrame", "children", "samples", "nodeId", "size", "functionName", "url", "snapshot", "trace_function_count", "trace_function_infos", "trace_tree", "strings"],
        "gecko" => &["meta", "threads", "libs", "processes", "shared", "stringArray", "stringTable", "funcTable", "frameTable", "stackTable", "prefix", "frame", "func", "samples", "schema", "data", "weight", "weightType", "timeDeltas", "length", "tracing-ms", "bytes", "preprocessedProfileVersion", "version", "prefixOffset", "flags", "lib", "sources", "sourceLocationTable", "originalLocation", "{\"$s\":0}"],
        "speedscope" => &["$schema", "shared", "frames", "profiles", "type", "sampled", "evented", "events", "samples", "weights", "unit", "nanoseconds", "microseconds", "bytes", "none", "O", "C", "at", "frame", "startValue", "endValue"],
        "chrome-trace" => &["traceEvents", "stackFrames", "sf", "parent", "ph", "B", "E", "X", "P", "M", "I", "ts", "dur", "pid", "tid", "name", "args", "data", "cpuProfile", "nodes", "samples", "timeDeltas", "ProfileChunk", "Profile", "id", "thread_name", "startTime"],
        "dart" => &["devToolsSnapshot", "cpu-profiler", "_CpuProfileTimeline", "samplePeriod", "timeOriginMicros", "timeExtentMicros", "stackFrames", "traceEvents", "parent", "sf", "ts", "userTag", "sourceLine", "cpuProfileRoot", "1e300"],
        "stackprof" => &["version", "mode", "interval", "frames", "raw", "raw_lines", "raw_timestamp_deltas", "raw_sample_timestamps", "samples", "gc_samples", "missed_samples", "wall", "cpu", "object", "edges"],
        "dhat" => &["dhatFileVersion", "mode", "pps", "ftbl", "fs", "tb", "tbk", "tl", "mb", "mbk", "gb", "gbk", "eb", "ebk", "bklt", "bkacc", "tu", "te", "tg", "[root]", "rust-heap", "ad-hoc"],
        "ghc-json" => &["program", "cost_centres", "profile", "children", "ticks", "alloc", "entries", "id", "label", "module", "src_loc", "tick_interval"],
        "pprof" => &["\x08\x01", "\x12\x04", "\x0a\x04\x08\x01\x10\x02", "\x1a\x00", "\x22\x00", "\x2a\x00", "\x32\x00", "\u{1f}\u{8b}", "\x3a\x04"],
        "mojo" => &["MOJ\x01", "MOJ\x03", "MOJ\x04", "\x01mode\0full\0", "\x01mode\0cpu\0", "\x02\x07\0a\0", "\x03", "\x05", "\x09\x0a", "\x0a\x41", "\x0b", "\x0d", "\x0e\x01\x02\x01", "\x10\x01", "native@400010\0", "\x01map\x00400000-500000 /bin/x\0"],
        "goroutine" => &["goroutine 1 [running]:", "goroutine 25 [chan receive, 5 minutes, locked to thread]:", "created by main.f in goroutine 1", "...additional frames elided...", "[originating from goroutine 1]:", "\t/a.go:5 +0x1d", "(...)", " pc=0x4a", "{\"a\": \"b\"}", "\n\n", "panic: "],
        "gmon" => &["gmon\x01\0\0\0", "gmon\0\0\0\x01", "\0", "\x01", "\x02", "seconds\0", "\x64\0\0\0", "\x7f", "\x10\0\0\0"],
        "gprof" => &["index % time    self  children    called     name", "  %   cumulative   self              self     total", "[1]  ", "100.0", "0.00", "42/42", "25+22475", "<cycle 1 as a whole>", "<cycle 1>", "<spontaneous>", "-----", "[2]", "ms/call"],
        "hprof" => &["JAVA PROFILE 1.0.1, created ", "TRACE 300001:", "(thread=200001)", "THREAD START (obj=1, id = 200001, name=\"main\"", "CPU SAMPLES BEGIN (total = 3)", "CPU SAMPLES END", "CPU TIME (ms) BEGIN (total = 9)", "SITES BEGIN", "SITES END", "MONITOR TIME BEGIN (total = 5 ms)", "78,05%", "rank ", "(A.java:Unknown line)", "<empty>"],
        "coz" => &["startup\ttime=", "experiment\tselected=", "\tspeedup=0.5", "\tduration=", "\tselected-samples=", "throughput-point\tname=", "progress-point\tname=", "latency-point\t", "\tdelta=", "samples\tlocation=", "\tcount=", "runtime\ttime=", "a.c:5"],
        "tachyon" => &["HCAT", "TACH", "\x01\0\0\0", "\x02\0\0\0", "\x07\0\0\0\0\0\0\0\0\0\0\0\x01", "\x07\0\0\0\0\0\0\0\0\0\0\0\x02", "\x07\0\0\0\0\0\0\0\0\0\0\0\x03", "\x04a.py", "\x7f"],
        "pyinstrument" => &["session", "frame_tree", "root_frame", "frame_records", "identifier", "children", "attributes", "time", "l92", "function", "file_path", "line_no", "sample_count", "duration", "start_call_stack", "main\\u0000a.py\\u00001"],
        "scalene" => &["files", "functions", "lines", "lineno", "line", "n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent", "n_malloc_mb", "elapsed_time_sec", "max_footprint_mb"],
        "safari" => &["version", "recording", "sampleStackTraces", "sampleDurations", "stackFrames", "expressionLocation", "timestamp", "line", "column", "url", "name", "startTime", "endTime"],
        "d3-flamegraph" => &["name", "value", "children", "n", "v", "c", "l", "kernel", "root", "all"],
        "gprof2dot" => &["version", "costs", "description", "unit", "functions", "name", "module", "events", "callchain", "cost"],
        "xhprof" => &["main()", "==>", "main()==>f", "f@1", "f@1==>f@2", "ct", "wt", "cpu", "mu", "pmu", "profile", "1460294938.300000", "1460294938.4", "main()==>f==>f@1", "a:1:{", "s:6:\"main()\";", "s:2:\"ct\";", "i:1;", "d:0.5;", "}"],
        "graalvm" => &["tool", "cpusampler", "period", "profile", "thread", "samples", "root_name", "source_section", "source_name", "start_line", "self_hit_count", "children", "Thread[main,5,main]", "1e300"],
        "nim" => &["total executions of each stack trace:\n", "Entry: 1/4 Calls: ", "89/195 = 45.64%", " [sum: 89; ", "  io.nim: readLine ", "\n  ", "...", "/"],
        "phpspy" => &["0 ", "1 ", "<internal>:-1", "<main> /a.php:3\n", "# uri = /x\n", "# trace_id = 1.0/2\n", "\n\n", "-1", "9223372036854775807"],
        "sentry" => &["profile", "frames", "stacks", "samples", "stack_id", "thread_id", "elapsed_since_start_ns", "timestamp", "thread_metadata", "function", "filename", "abs_path", "lineno", "methods", "class_name", "events", "action", "Enter", "Exit", "Unwind", "method_id", "Monotonic", "wall", "secs", "nanos", "client_sdk", "chunk_id"],
        "xperf" => &["Process, Stack, Weight\n", "Process Name, Stack, Thread ID, Weight, Count, TimeStamp\n", "[Root]/", "a.dll!f", "/?", ", ", "\"", "1.001237", "1e300", "nan"],
        "xdebug" => &["TRACE START [", "TRACE END", "File format: 4", "\t0\t", "\t1\t", "\tR\t", "{main}", "   -> ", "   >=> ", "0.0003     125892 ", "f('x') /a.php:3", "\n\t\t\t0.5\t1\n"],
        "memray-csv" => &["allocator,num_allocations,size,tid,thread_name,stack_trace", "MALLOC,", ",", "\"", "\"\"", "|", ";", "f;a.py;5"],
        "v8-log" => &["v8-version,", "shared-library,", "code-creation,", "code-move,", "code-delete,", "tick,", "JS,10,99,", "LazyCompile,", "0x6000,", "+0x2", "-0x2", "overflow", "\\x2C", "f a.js:1:2", "\"", "profiler,"],
        "v8-log-json" => &["code", "functions", "ticks", "tm", "vm", "s", "type", "JS", "CPP", "SHARED_LIB", "CODE", "kind", "name", "-1"],
        "rprof" => &["sample.interval=", "line profiling: ", "memory profiling: ", "GC profiling: ", "#File 1: ", "1#5 ", ":1:2:3:4:", "\"<GC>\" ", "\"f\" ", "new page:", "800048 :"],
        "massif" => &["desc: ", "time_unit: ", "snapshot=", "heap_tree=peak", "heap_tree=detailed", "heap_tree=empty", "n1: 4096 ", "n0: 0 in 3 places", " 0x10: f (a.c:1)", "(in /lib/x)", "  ", "mem_stacks_B=8"],
        "perfetto" => &["\x0a\x02\x50\x01", "\x68\x01", "\x62\x04", "\x5a\x04\x48\x01\x50\x01", "\x5a\x02\x48\x02", "\x32\x04\x0a\x02", "\x12\x04\x08\x01\x10\x02", "\x40\x05"],
        "nytprof" => &["NYTProf 5 0\n", ":nv_size=8\n", ":ticks_per_sec=1000\n", "<\x01", "<\x02", "'\x04main", "\"\x01", "@\x01\0\0\0\0\0", "s\x01", "p\x07", "z", "c\x01\x05", "+\x01\x01\x05"],
        "nettrace" => &["Nettrace", "!FastSerialization.1", "\x05\x05\x01", "EventBlock", "StackBlock", "MetadataBlock", "SPBlock", "Trace", "\x06", "\x04\0\0\0"],
        "simpleperf" => &["SIMPLEPERF\x01\0", "\x0a\x04\x08\x01\x10\x02", "\x1a\x04", "\x22\x02", "\x2a\x02", "\0\0\0\0"],
        "art-trace" => &["SLOW", "*version\n", "*threads\n", "*methods\n", "*end\n", "\x02\0\x20\0", "clock=dual\n", "num-method-calls="],
        "oprofile" => &["Counted CPU events", "samples  %        symbol name", "linenr info", "image name", "app name", "vma ", "-----", " [self]", "(no symbols)", "(no location information)", "100.000", "  5  "],
        "sleepy" => &["\x1cVery Sleepy: Symbols.txt\n", "\x1cVery Sleepy: Callstacks.txt\n", "\x1cVery Sleepy: Stats.txt\n", "Duration: 1.5\n", "sym1", " \"", "\" ", "0.5 ", "1e300 ", "[unknown]"],
        "otlp" => &["\x0a\x04", "\x12\x04", "\x1a\x02", "\x22\x02", "\x2a\x08", "\x3a\x00", "\x32\x02", "\x08\x01", "\x10\x02", "\x18\x01", "\x20\x01", "\x19\0\0\0\0\0\0\0\x01"],
        "pprof-legacy" => &["heap profile:", "heap_v2/", "heapz_v2/", "growthz", "growth", "@", "--- contentionz", "--- mutex:", "--- threadz", "goroutine profile: total", "MAPPED_LIBRARIES:", "cycles/second=", "sampling period=", "ms since reset=", "t*:", "# labels: {", "0x", "[same as previous thread]", "r-xp", "format = java", "resolution=", "build="],
        "perf-script" => &["cycles:u:", "cpu-clock:", "[unknown]", "(inlined)", "+0x", "([kernel.kallsyms])", "[000]", "::", "_ZN", "_R", "\n\n", "\t", "page-faults:"],
        "callgrind" => &["fn=", "cfn=", "fl=", "fi=", "fe=", "cfi=", "cob=", "ob=", "calls=", "events:", "positions: instr line", "summary:", "totals:", "jump=", "jcnd=", "(1)", "+1", "-1", "*", "0x", "event:", "part:", "'2"],
        "macos-sample" => &["Call graph:", "Thread_", "+ ", "! ", ": ", "| ", "(in ", "???", "load address", "Total number in stack", "Binary Images:", "  [0x"],
        "xctrace" => &["<row>", "</row>", "<backtrace", "<frame", "id=\"", "ref=\"", "<binary", "<weight", "<sentinel/>", "<!--", "<![CDATA[", "&lt;", "&#0;", "<!DOCTYPE", "/>"],
        "ghc" => &["COST CENTRE", "individual", "inherited", "%time", "MAIN", "no.", "entries", "\u{2192}", "ticks"],
        "vtune" => &["Function Stack,CPU Time:Self", "war:Column filter", "\"", ",", "  ", "Module"],
        "vsprof" => &["Level,Function Name,Number of Calls,", "\"", ",", "1,234", "99999"],
        "dtrace" => &["`", "+0x", "0x", "->", "\n\n", "  ", "unix`"],
        "bcc" => &["Sampling at 49 Hertz of all threads by user + kernel stack", "Tracing off-CPU time (us) of all threads by kernel stack", "Tracing off-CPU time (us) by kernel stack", "Tracing blocked time (us) by kernel stack", " off-CPU and waker stack", "Tracing 1 functions for \"f\"...", "    --\n", "    -    dd (25)\n", "    --    --\n", "    tar [15]\n", "target: ", "waker: ", "[unknown]", "b'", "'", "+0x1", "ffffffff810a9581 ", "        9\n", "\n\n", "^C"],
        "async-profiler" => &["--- Execution profile ---", "Total samples       : 9", "Started [wall] profiling", "--- 9 ns (7.48%), 9 samples\n", "--- 9 bytes (7.48%), 1 sample\n", "Samples: 9 (98.84%)\n", "  [ 0] ", "[10] ", "_[k]", "ns  percent  samples  top", "\n\n"],
        "bpftrace" => &["@[", "@bytes[", "]: ", ", ", "\n    ", "+0x", "+1", "Attaching", "@x[sh]: 1", "(/lib/libc.so)", "hist", "|@@", "{\"type\": \"map\", \"data\": {\"@\": {", "\\n    f+1\\n"],
        "austin" => &["# mode:", "# austin:", "# interval:", "full", "memory", "P", ";T", ":", ";", ":GC:", ":INVALID:", "MOJ", "\x01", "\x02", "\x03", "\x04", "\x05"],
        _ => &["tid:28;", "a.py:f:12", "<frozen runpy>:f:0", ";", " ", "_[k]", "_[j]", "_[i]", "#", "//", "1.5", "\r\n", "\u{feff}", "\u{fffd}"],
    }
}
