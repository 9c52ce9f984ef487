//! Hints for inputs that `prof` does not read but that people try: what the file is, and what to do instead.

use crate::format::callgrind;
use crate::format::text::{Scan, first_line, hex};

/// What the input seems to be and how to convert it, if known.
pub(super) fn hint(head: &[u8]) -> Option<&'static str> {
    if head.trim_ascii().is_empty() {
        return Some("the input is empty");
    }
    HINTS.iter().find(|(is_it, _)| is_it(head)).map(|&(_, hint)| hint)
}

/// A test for a kind of input, and the hint for it.
type Hint = (fn(&[u8]) -> bool, &'static str);

static HINTS: &[Hint] = &[
    (
        |head| head.starts_with(b"go 1.") && find(head, b" trace\0"),
        "this is a Go execution trace; extract a profile with `go tool trace -pprof=net|sync|syscall|sched TRACE > FILE`",
    ),
    (
        |head| {
            head.starts_with(b"PeriodType: ") || (find(head, b"\nSamples:\n") && find(head, b"\nLocations\n"))
        },
        "this is the output of `pprof -raw`; pass the original profile instead",
    ),
    (
        |head| find(head, b"flat  flat%   sum%        cum   cum%"),
        "this is the table of `pprof -top`; pass the profile that it was made from instead",
    ),
    (
        |head| starts_line(head, b"Statistical profiling result from "),
        "this is the output of `node --prof-process`; pass the log that it was made from (isolate-….log), or record with `node --cpu-prof`",
    ),
    (
        |head| find(front(head), b"\nProfile data file '") && find(front(head), b"(creator: callgrind"),
        "this is the output of callgrind_annotate; pass the file that it was made from (callgrind.out.PID) instead",
    ),
    (
        |head| find(head, b"  Per Hit   % Time  Line Contents"),
        "this is line_profiler's text report, which has no stacks; record with `python -m cProfile -o FILE`, py-spy or austin",
    ),
    (
        is_systemtap,
        "this is a backtrace of SystemTap; convert it with stackcollapse-stap.pl of FlameGraph, and pass what that writes",
    ),
    (
        |head| head.starts_with(b"PERFFILE"),
        "this is a version 1 perf.data file, written by Linux before 3.8; pass the output of that version's `perf script` instead",
    ),
    (
        |head| find(head, b"COST CENTRE") && find(head, b"%time %alloc"),
        "this is a part of a report of GHC; pass the whole report, which has the call tree (PROGRAM.prof of `+RTS -p`)",
    ),
    (
        |head| head.starts_with(b"hdrb"),
        "this is an event log of GHC; record a profile with `+RTS -p`, which writes a .prof file",
    ),
    (
        |head| head.starts_with(b"MMPD"),
        "this is a self-profile of rustc; convert it to a Chrome trace with `crox` of measureme",
    ),
    (
        |head| head.starts_with(b"# CPU Profile\n\n| Duration | Samples | Interval |"),
        "this is Bun's text report; record with `bun --cpu-prof`, which writes a .cpuprofile",
    ),
    (
        |head| head.starts_with(b"JAVA PROFILE 1.0"),
        "this is a Java heap dump (hprof); record allocations with JFR, or with async-profiler's `-e alloc`",
    ),
    (
        |head| {
            starts_line(head, b"desc: ")
                && find(head, b"\nevents: ")
                && find(head, b"\nfl=")
                && !callgrind::has_calls(head)
        },
        "this is cachegrind's output, which has no calls; record with `valgrind --tool=callgrind`, which has them",
    ),
    (
        |head| find(head, b" function calls ") && find(head, b"tottime"),
        "this is cProfile's text report; pass the file written by `python -m cProfile -o FILE` instead",
    ),
    (
        |head| starts_line(head, b"Measure Mode: ") && find(front(head), b"Thread ID: "),
        "this is a text report of ruby-prof; record with stackprof, or print it with RubyProf::CallTreePrinter, which writes callgrind",
    ),
    (
        |head| find(front(head), b"Full thread dump "),
        "this is a Java thread dump (a single snapshot); record with JFR or async-profiler",
    ),
    (
        |head| {
            starts_line(head, b"jdk.ExecutionSample {") || starts_line(head, b"jdk.ObjectAllocationSample {")
        },
        "this is the output of `jfr print`; pass the recording (.jfr) that it was made from instead",
    ),
    (
        |head| head.starts_with(b"Process ") && find(front(head), b"\nPython v"),
        "this is the output of `py-spy dump` (a single snapshot); record with `py-spy record -f raw -o FILE`",
    ),
    (
        |head| find(front(head), b"\n  Mode: ") && find(front(head), b"% miss rate)"),
        "this is stackprof's text report; pass the dump that it was made from, or what `stackprof --json DUMP` writes",
    ),
    (
        |head| head.starts_with(b"num  calls ") && find(front(head), b"  self            name"),
        "this is the report of zsh's zprof, which has no stacks",
    ),
    (
        |head| starts_line(head, b"FUNCTION ") && find(front(head), b"[uS / CALLS]"),
        "this is the report of Erlang's eprof, which has no callers; record with eflambe or eflame, which write collapsed stacks",
    ),
    (
        |head| starts_line(head, b"%% Analysis results:") && find(front(head), b"analysis_options"),
        "this is the analysis of Erlang's fprof; convert it with `erlgrind`, which writes callgrind",
    ),
    (
        |head| head.starts_with(b"------------------\n") && find(front(head), b"\t_D"),
        "this is the trace.log of a D program (`dmd -profile`); record with perf, or convert it with gprof2dot",
    ),
    (
        |head| head.starts_with(b"JOB \"") && find(front(head), b"\nSAMPLE_UNIT "),
        "this is a heap profile of GHC (.hp), which has no stacks; record a profile with `+RTS -p`, which writes a .prof file",
    ),
    (
        |head| starts_line(head, "Overhead \u{254e} [+additional indent] Count File:Line".as_bytes()),
        "this is a tree that Julia's Profile.print wrote; save the samples with `pprof()` of PProf.jl instead",
    ),
    (
        |head| starts_line(head, b"Date/Time:") && find(front(head), b"\nReport Version:"),
        "this is a report of spindump; record with `sample` or `xctrace`",
    ),
    (
        |head| starts_line(head, b"% self  % total  name"),
        "this is rbspy's summary; record with `rbspy record --format speedscope` or `--format collapsed`",
    ),
    (
        |head| head.starts_with(b"Cmdline: ") && find(head, b"\nOverhead  "),
        "this is the table of `simpleperf report`; pass the perf.data that it was made from instead",
    ),
    (
        |head| {
            starts_line(head, b"CPU SAMPLES BEGIN (total = ")
                || starts_line(head, b"CPU TIME (ms) BEGIN (total = ")
        },
        "this is the last part of a file of HPROF; pass all of it, as the stacks are before that table",
    ),
    (
        |head| head.starts_with(b"Function  ") && find(front(head), b"  CPU Time"),
        "this is VTune's report as text; write it with `-format csv`",
    ),
    (
        |head| head.starts_with(b"{\"bug_type\":"),
        "this is a report of macOS or iOS, with one sample or few; record with `sample` or `xctrace`",
    ),
    (
        |head| find(front(head), b"  _     ._   __/__   _ _  _  _ _/_"),
        "this is pyinstrument's text, which has only part of the call tree; record with `pyinstrument -r json -o FILE`",
    ),
    (
        |head| head.starts_with(b"Time (%),Total Time (ns),"),
        "this is a table of Nsight Systems (`nsys stats`), which has no stacks; record a Chrome trace, such as that of PyTorch's profiler",
    ),
    (
        |head| head.starts_with(b"\"Name\",\"Calls\",\"TotalDurationNs\""),
        "this is a table of rocprof (`--stats`), which has no stacks; pass the trace that it writes (results.json, or with rocprofv3's \
         `--output-format pftrace`) instead",
    ),
    (
        |head| head.starts_with(b"name,src_file,src_line,total_ns,"),
        "this is a table of tracy-csvexport, which has no stacks; record with perf or samply",
    ),
    (
        |head| {
            find(front(head), b"main()==>")
                && (find(front(head), b"[ct] => ") || find(front(head), b": ct= "))
        },
        "this is how PHP printed the data of XHProf; write it with `json_encode()` or `serialize()` instead",
    ),
    (
        |head| head.starts_with(b"Running Time,Self,"),
        "this is a table that was exported from Instruments; copy the call tree with Edit > Deep Copy, or use `xctrace export`",
    ),
    (
        |head| {
            starts_line(head, b"# To display the perf.data header info")
                || find(front(head), b"# Overhead  ")
                || (find(front(head), b"Samples: ") && find(front(head), b", Event count (approx.): "))
                || (find(front(head), b"# Samples: ") && find(front(head), b"# Event count (approx.): "))
        },
        "this is the output of `perf report`; pass perf.data itself or the output of `perf script` instead",
    ),
    (
        |head| head.starts_with(b"Total: ") && find(front(head), b" samples\n") && find(front(head), b"%  "),
        "this is the table of `pprof --text`; pass the profile that it was made from instead",
    ),
    (
        |head| {
            starts_line(head, b"Thread ID: ") && find(front(head), b" (tt:") && find(front(head), b", call:")
        },
        "this is a text report of ruby-prof; record with stackprof, or print it with RubyProf::CallTreePrinter, which writes callgrind",
    ),
    (
        |head| {
            (starts_line(head, b"#0  0x") && find(front(head), b" in "))
                || (find(head, b" (Thread 0x") && find(head, b"\n#0  "))
                || head.starts_with(b"[Thread debugging using libthread_db enabled]\n")
        },
        "this is a backtrace of gdb (a single snapshot); record with perf, or convert many of them with stackcollapse-gdb.pl of FlameGraph, \
         and pass what that writes",
    ),
    (
        |head| find(front(head), b" (most recent call first):\n  File \""),
        "this is a traceback of Python's faulthandler (a single snapshot); record with `py-spy record -f raw -o FILE`",
    ),
    (
        is_strace,
        "this is the output of strace, which has no stacks; record with `perf record -g -e raw_syscalls:sys_enter`",
    ),
    (
        |head| starts_line(head, b"import time: self [us] | cumulative"),
        "this is the output of `python -X importtime`; record the start of the program with `pyinstrument -r json -o FILE` or py-spy",
    ),
    (
        |head| find(front(head), b"\nms_print arguments: "),
        "this is the output of ms_print; pass the file that it was made from (massif.out.PID) instead",
    ),
    (
        |head| find(front(head), b"#instances         #bytes  class name"),
        "this is a histogram of Java's objects, which has no stacks; record allocations with JFR, or with async-profiler's `-e alloc`",
    ),
    (
        is_times_of_perf,
        "this is the output of `perf script` without events and stacks; record with `perf record -g`, and leave out -F, or use -F +srcline",
    ),
    (
        |head| OWN_TABLES.iter().any(|titles| head.starts_with(titles)),
        "this is a table that prof wrote; pass the profile that it was made from instead",
    ),
    (
        |head| head.get(257..262) == Some(b"ustar"),
        "this is an archive of tar; extract it, and pass a profile in it, or the folder",
    ),
    (
        |head| find(front(head), b" Performance counter stats for "),
        "this is the output of `perf stat`, which only counts; record with `perf record -g`",
    ),
    (
        |head| starts_line(head, b"% time     seconds  usecs/call"),
        "this is the summary of `strace -c`, which has no stacks; record with `perf record -g -e raw_syscalls:sys_enter`",
    ),
    (
        |head| head.starts_with(b"==") && find(front(head), b"== Profiling result:"),
        "this is a table of nvprof, which has no stacks; record a Chrome trace, such as that of PyTorch's profiler",
    ),
    (
        |head| starts_line(head, b"           Self        Total        Cumul"),
        "this is the report of SBCL's sb-sprof, which has no stacks; record with cl-flamegraph, which writes collapsed stacks",
    ),
    (
        |head| head.starts_with(b"Profiling results\n-----------------\n"),
        "this is the report of Racket's profiler, which has no stacks",
    ),
    (
        |head| {
            starts_line(head, b"FUNCTIONS SORTED ON TOTAL TIME")
                || (starts_line(head, b"SCRIPT  ") && find(front(head), b"\nSourced "))
                || (starts_line(head, b"FUNCTION  ") && find(front(head), b"\nCalled "))
        },
        "this is the report of Vim's `:profile`, which has no stacks; record the process of Vim with `perf record -g`",
    ),
    (
        |head| head.starts_with(b"Total Elapsed Time = ") && find(front(head), b"Exclusive Times"),
        "this is the report of Perl's dprofpp, which has no stacks; record with `perl -d:NYTProf`",
    ),
    (
        |head| starts_line(head, b"Time variable ") && find(front(head), b" phase "),
        "this is the report of `gcc -ftime-report`, which has no stacks; record the compiler with `perf record -g`, or use clang's `-ftime-trace`",
    ),
    (
        |head| head.starts_with(b"# ninja log v"),
        "this is a log of Ninja; convert it with ninjatracing, which writes a Chrome trace",
    ),
    (
        |head| find(front(head), b"<StackWindow"),
        "this is PerfView's XML; save the stacks as speedscope instead (File > Save View As)",
    ),
    (
        |head| head.starts_with(b"# Function Call Graph for '"),
        "this is the output of `uftrace graph`; pass what `uftrace dump --chrome` writes",
    ),
    (
        is_luajit,
        "this is a report of LuaJIT's profiler, which has no whole stacks; record with `luajit -jp=G,FILE`, which writes collapsed stacks",
    ),
    (
        |head| head.starts_with(b"\x7FELF"),
        "this is an executable (ELF); pass a profile recorded from it instead",
    ),
    (
        |head| matches!(head, [0xCF | 0xCE, 0xFA, 0xED, 0xFE, ..] | [b'M', b'Z', ..]),
        "this is an executable; pass a profile recorded from it instead",
    ),
    (|head| head.starts_with(b"BZh"), "this file is compressed with bzip2; decompress it with `bzip2 -d`"),
    (|head| head.starts_with(b"\xFD7zXZ\0"), "this file is compressed with xz; decompress it with `xz -d`"),
    (
        |head| head.starts_with(b"SQLite format 3\0"),
        "this is an SQLite database; export a profile from the tool that wrote it",
    ),
    (
        |head| find(front(head), b"class='xdebug-trace'"),
        "this is an Xdebug trace as HTML; record with xdebug.trace_format=1",
    ),
    (
        |head| {
            find(front(head), b": size=")
                && find(front(head), b", count=")
                && find(front(head), b", average=")
        },
        "this is a table that Python's tracemalloc printed, which has no stacks; record with memray (`python -m memray run`)",
    ),
    (
        |head| head.starts_with(b"\x80") && find(&head[..head.len().min(64)], b"tracemalloc"),
        "this is a snapshot of Python's tracemalloc, which only Python can load; record with memray (`python -m memray run`)",
    ),
    (
        |head| head.starts_with(b"\x80") && find(&head[..head.len().min(64)], b"yappi\nYFuncStats"),
        "this is a file of yappi that only yappi can load; save with `get_func_stats().save(FILE, 'pstat')` or `'callgrind'`",
    ),
    (
        |head| starts_line(head, b"Clock type: ") && find(front(head), b"Ordered by: "),
        "this is yappi's text report, which has no callers; save with `get_func_stats().save(FILE, 'pstat')` or `'callgrind'`",
    ),
    (
        |head| head.starts_with(b"\x80") && find(&head[..head.len().min(64)], b"line_profiler"),
        "this is a file of line_profiler, which has no stacks; record with `python -m cProfile -o FILE`, py-spy or austin",
    ),
    (
        |head| head.starts_with(b"# Bun Heap Profile\n"),
        "this is Bun's heap snapshot as text, which contains objects rather than stacks; record CPU time with `bun --cpu-prof`",
    ),
    (
        |head| head.starts_with(b"Total allocated: ") && find(front(head), b"\nTotal retained: "),
        "this is the report of Ruby's memory_profiler, which has no stacks; record with stackprof's mode `object`",
    ),
    (
        |head| find(front(head), b"Source code & Disassembly of "),
        "this is the output of `perf annotate`; pass perf.data itself or the output of `perf script` instead, and see `prof source --asm`",
    ),
    (
        |head| {
            let is_csv = find(front(head), b",task-clock,") || find(front(head), b",context-switches,");
            let is_json = find(front(head), b"{\"counter-value\" : \"");
            head.starts_with(b"# started on ") && (is_csv || is_json)
        },
        "this is the output of `perf stat`, which only counts; record with `perf record -g`",
    ),
    (
        |head| is_html(head) && find(head, b"pyinstrumentHTMLRenderer"),
        "this is pyinstrument's web page; record with `pyinstrument -r json -o FILE`",
    ),
    (
        |head| is_html(head) && find(front(head), b"<title>ruby-prof call tree"),
        "this is ruby-prof's web page; print it with RubyProf::CallTreePrinter, which writes callgrind",
    ),
    (
        |head| is_html(head) && find(front(head), b"<meta name=\"generator\" content=\"prof\">"),
        "this is a page that prof wrote; pass the profile that it was made from instead",
    ),
    (is_html, "this is a web page, perhaps a login or error page; pass the profile itself"),
    (|head| find(front(head), b"<svg"), "this is an SVG image; pass the profile it was made from instead"),
    (
        |head| head.starts_with(&[0xDC, 0xDF, 0x4A, 0x53, 0x4C, 0x42]),
        "this is a JsonSlabs file (.jslb) of another version than 1, the only one that prof reads; save the profile as JSON",
    ),
];

/// How the tables of `top`, `tree`, `diff` and `focus` begin in CSV.
const OWN_TABLES: [&[u8]; 4] = [
    b"name,function,file,line,self,",
    b"depth,parent,name,file,",
    b"name,file,old.self,old.total,",
    b"role,name,value,",
];

fn front(head: &[u8]) -> &[u8] {
    &head[..head.len().min(1024)]
}

fn find(head: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(head, text).is_some()
}

fn starts_line(head: &[u8], text: &[u8]) -> bool {
    head.starts_with(text) || memchr::memmem::find(front(head), text).is_some_and(|at| head[at - 1] == b'\n')
}

/// Whether the first line is a frame such as ` 0xffffffff8105c10f : do_sys_open+0xf/0x1d0 [kernel]`.
fn is_systemtap(head: &[u8]) -> bool {
    let mut scan = Scan(first_line(head));
    let address = scan.word();
    let address = address.strip_prefix(b"0x").unwrap_or(address);
    address.len() >= 8 && hex(address).is_some() && scan.word() == b":" && !scan.word().is_empty()
}

/// Whether the first line is a system call such as `3874  execve("/usr/bin/ls", ["ls"], 0x7ffd /* 35 vars */) = 0`.
fn is_strace(head: &[u8]) -> bool {
    let line = first_line(head);
    head.starts_with(b"strace: Process ") || (find(line, b"execve(\"") && find(line, b") = "))
}

/// Whether the first line is only a name and a time, such as ` cprog  1092.496348: `.
fn is_times_of_perf(head: &[u8]) -> bool {
    let line = first_line(head).trim_ascii();
    let time = line.strip_suffix(b":").and_then(|line| line.rsplit(|&byte| byte == b' ').next());
    let Some((seconds, decimals)) = time.and_then(|time| time.split_at_checked(time.len().checked_sub(7)?))
    else {
        return false;
    };
    let is_number = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number(seconds) && decimals.strip_prefix(b".").is_some_and(is_number)
}

/// Whether the first line is such as `53%  parse` or `33%  app.lua:21 < app.lua:28`.
fn is_luajit(head: &[u8]) -> bool {
    let mut scan = Scan(first_line(head));
    let share = scan.word().strip_suffix(b"%");
    let is_share = share.is_some_and(|share| !share.is_empty() && share.iter().all(u8::is_ascii_digit));
    let name = scan.word();
    is_share && !name.is_empty() && (scan.word().is_empty() || scan.0.starts_with(b" "))
}

fn is_html(head: &[u8]) -> bool {
    let front = front(head).trim_ascii_start().to_ascii_lowercase();
    front.starts_with(b"<!doctype html") || front.starts_with(b"<html")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first file of an archive.
    static TAR: [u8; 512] = {
        let (mut block, magic, mut at) = ([0; 512], b"ustar", 0);
        while at < magic.len() {
            block[257 + at] = magic[at];
            at += 1;
        }
        block
    };

    /// The start of a file and a part of the expected hint, for every hint.
    const FRONTS: &[(&[u8], &str)] = &[
        (b"go 1.22 trace\0\0\0", "go tool trace"),
        (b"PeriodType: cpu nanoseconds\nPeriod: 1\n", "pprof -raw"),
        (b"Showing top 5\n      flat  flat%   sum%        cum   cum%\n 1616.48kB 21.66%", "pprof -top"),
        (b"Statistical profiling result from isolate-0x6-v8.log, (23 ticks)\n", "node --cpu-prof"),
        (
            b"Reading data from 'callgrind.out.9'...\n----\nProfile data file 'callgrind.out.9' (creator: callgrind-3.10.1)\n",
            "callgrind_annotate",
        ),
        (
            b"Timer unit: 1e-06 s\n\nLine #      Hits         Time  Per Hit   % Time  Line Contents\n=====\n",
            "line_profiler",
        ),
        (b" 0xffffffff8105c10f : do_sys_open+0xf/0x1d0 [kernel]\n", "SystemTap"),
        (b"PERFFILEh\0\0\0", "version 1"),
        (b"JOB \"a.out -p\"\nDATE \"Fri Apr 17\"\nSAMPLE_UNIT \"seconds\"\n", "+RTS -p"),
        ("Overhead \u{254e} [+additional indent] Count File:Line; Function\n=====\n".as_bytes(), "pprof()"),
        (b"Date/Time:        2025-11-20 10:00:00\nOS Version:       macOS 12\nReport Version:   35\n", "spindump"),
        (b"Summary of profiling data so far:\n% self  % total  name\n 98.40   100.00  f - a.rb\n", "rbspy record"),
        (b"Cmdline: /data/local/tmp/simpleperf record\nSamples: 1000 of event 'cpu-cycles'\n\nOverhead  Command\n", "simpleperf report"),
        (b"CPU SAMPLES BEGIN (total = 446) Sun Dec 29 15:09:21 2013\nrank   self  accum\n", "HPROF"),
        (b"Function    CPU Time  CPU Time:Spin Time\n--------  ----\n", "-format csv"),
        (b"\ttotal time  =        0.01 secs\n\nCOST CENTRE  MODULE  SRC  %time %alloc\n\nmain  Main\n", "whole report"),
        (b"hdrbhetbetb\0", "+RTS -p"),
        (b"MMPD\x09\0\0\0", "crox"),
        (b"# CPU Profile\n\n| Duration | Samples | Interval | Functions |\n", "bun --cpu-prof"),
        (b"JAVA PROFILE 1.0.2\0\0\0\0\x08", "Java heap dump"),
        (b"desc: I1 cache: 32768 B\ncmd: ./a\nevents: Ir\nfl=a.c\nfn=f\n1 2\n", "cachegrind"),
        (
            b"         197 function calls in 0.001 seconds\n\n   ncalls  tottime  percall\n",
            "cProfile's text report",
        ),
        (
            b"Measure Mode: wall_time\nThread ID: 16\nFiber ID: 8\nTotal: 0.7\nSort by: self_time\n",
            "RubyProf::CallTreePrinter",
        ),
        (b"2026-11-20 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM", "thread dump"),
        (b"jdk.ExecutionSample {\n  startTime = 12:00:00.000\n", "jfr print"),
        (b"Process 1: python -u app.py\nPython v3.11.16 (/usr/bin/python3.11)\n", "py-spy record"),
        (b"==================\n  Mode: cpu(1000)\n  Samples: 60395 (1.09% miss rate)\n", "stackprof --json"),
        (b"num  calls                time                       self            name\n-----\n", "zprof"),
        (b"FUNCTION                  CALLS      %      TIME  [uS / CALLS]\n", "eflambe"),
        (b"%% Analysis results:\n{  analysis_options,\n", "erlgrind"),
        (b"------------------\n\t   10\t_Dmain\n", "gprof2dot"),
        (b"{\"bug_type\":\"145\",\"os_version\":\"iPhone OS 26.0\"}\n", "xctrace"),
        (b"\n  _     ._   __/__   _ _  _  _ _/_   Recorded: 12:34:56  Samples:  4912\n", "pyinstrument -r json"),
        (b"Time (%),Total Time (ns),Instances,Avg (ns),Med (ns)\n", "Nsight"),
        (b"\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n", "rocprof"),
        (b"name,src_file,src_line,total_ns,counts,mean_ns\n", "tracy-csvexport"),
        (b"Array\n(\n    [main()==>strlen] => Array\n        (\n            [ct] => 1\n", "json_encode()"),
        (b"main()                                  : ct=       1; wt=*;\nmain()==>strlen : ct=       1; wt=*;\n", "XHProf"),
        (b"Running Time,Self,,Symbol Name\n1673.0ms   91.6%,0, , start\n", "Deep Copy"),
        (b"$ perf report\n\nSamples: 348K of event 'cycles', Event count (approx.): 280908431073\n 97.69% ruby\n", "`perf report`"),
        (b"#\n# Samples: 24K of event 'cycles:P'\n# Event count (approx.): 20985064890\n#\n# Children\n", "`perf report`"),
        (b"# To display the perf.data header info, please use --header\n", "perf script"),
        (b"Total: 2525 samples\n     298  11.8%  11.8%      345  13.7% read\n", "pprof --text"),
        (b"Thread ID: 86\nFiber ID: 28\nTotal Time: 0.15\nSort by: \n\n  Object#run (tt:0.16, st:0.00, wt:0.00, ct:0.16, call:1, )\n", "ruby-prof"),
        (b"Thread 2 (Thread 0x7f1c2d7fa700 (LWP 12)):\n#0  0x00007f1c3b1c2a2d in poll () from /lib/libc.so.6\n", "stackcollapse-gdb.pl"),
        (b"[New Thread 0x7ffff7dd16c0 (LWP 4347)]\n\nThread 2 (Thread 0x7ffff7dd16c0 (LWP 4347)):\n#0  leaf (n=3) at c.c:5\n", "gdb"),
        (b"[Thread debugging using libthread_db enabled]\nNo stack.\n", "gdb"),
        (b"3874  execve(\"/usr/bin/ls\", [\"ls\"], 0x7ffd160937f8 /* 35 vars */) = 0\n3874  brk(NULL)", "output of strace"),
        (b"strace: Process 12 attached\n", "output of strace"),
        (b"import time: self [us] | cumulative | imported package\nimport time:      1264 |", "importtime"),
        (b"-----\nCommand:            ls\nMassif arguments:   \nms_print arguments: massif.out.1\n", "massif.out.PID"),
        (b"3690:\n num     #instances         #bytes  class name (module)\n-----\n", "histogram of Java's objects"),
        (b"           cprog  1092.496348: \n           cprog  1092.504374: \n", "leave out -F"),
        (b"name,function,file,line,self,total,children\nf,f,,,1,1,0\n", "a table that prof wrote"),
        (&TAR, "archive of tar"),
        (b"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta name=\"generator\" content=\"prof\">", "a page that prof wrote"),
        (b"Current thread 0x00007f5b2c0a8740 (most recent call first):\n  File \"t.py\", line 12 in main\n", "faulthandler"),
        (b"\n Performance counter stats for './a.out':\n", "perf record -g"),
        (b"% time     seconds  usecs/call     calls    errors syscall\n", "strace -c"),
        (b"==92== Profiling application: ./a\n==92== Profiling result:\n", "nvprof"),
        (b"           Self        Total        Cumul\n  Nr  Count     %  Count     %\n", "sb-sprof"),
        (b"Profiling results\n-----------------\n  Total cpu time observed: 1016ms\n", "Racket"),
        (b"FUNCTIONS SORTED ON TOTAL TIME\ncount  total (s)   self (s)  function\n", "Vim"),
        (b"SCRIPT  /usr/share/vim/filetype.vim\nSourced 1 time\n", "Vim"),
        (b"Total Elapsed Time = 1.67 Seconds\n  User+System Time = 0.61 Seconds\nExclusive Times\n", "NYTProf"),
        (b"Time variable         usr    sys\n phase setup  :   0.00 (  0%)\n", "-ftime-report"),
        (b"# ninja log v5\n0\t1523\t16\tobj/a.o\t5d41\n", "ninjatracing"),
        (b"<?xml version=\"1.0\"?>\n<StackWindow>\n<StackSource>\n", "PerfView"),
        (b"# Function Call Graph for 'main' (session: b508f628ffe7287f)\n", "uftrace dump --chrome"),
        (b"53%  A\n24%  Av\n", "LuaJIT"),
        (b"33%  a.lua:21 < a.lua:28\n", "LuaJIT"),
        (b"\x7FELF\x02\x01\x01\0", "an executable (ELF)"),
        (b"\xCF\xFA\xED\xFE\x0C\0\0\x01", "an executable;"),
        (b"BZh91AY&SY", "bzip2 -d"),
        (b"\xFD7zXZ\0\0\x04", "xz -d"),
        (b"SQLite format 3\0\x10\0", "SQLite"),
        (b"<table class='xdebug-trace' dir='ltr'>", "xdebug.trace_format=1"),
        (b"/srv/tm.py:4: size=4883 KiB, count=10, average=488 KiB\n", "tracemalloc printed"),
        (b"\x80\x05\x95\x01\0\x01\0\0\0\0\0\x8c\x0btracemalloc\x94\x8c\x08Snapshot\x94", "a snapshot of Python's tracemalloc"),
        (b"\x80\x02cyappi\nYFuncStats\nq\0)\x81q\x01", "only yappi can load"),
        (b"\nClock type: CPU\nOrdered by: totaltime, desc\n\nname  ncall\n", "yappi's text report"),
        (b"\x80\x04\x95\xd4\0\0\0\0\0\0\0\x8c\x1bline_profiler.line_profiler\x94", "a file of line_profiler"),
        (b"# Bun Heap Profile\n\nGenerated by `bun --heap-prof-md`.", "Bun's heap snapshot"),
        (b"Total allocated: 2601416 bytes (59991 objects)\nTotal retained:  1001816 bytes\n", "memory_profiler"),
        (b" Percent |\tSource code & Disassembly of b for cpu-clock (205 samples)\n", "perf annotate"),
        (b"# started on Sat Nov 28 18:18:00 2026\n\n1100.66,msec,task-clock,1100660541,100.00\n", "perf stat"),
        (b"<!DOCTYPE html>\n<html><script>var pyinstrumentHTMLRenderer=function(){", "pyinstrument -r json"),
        (b"<!DOCTYPE html>\r\n<html>\r\n<title>ruby-prof call tree</title>", "ruby-prof's web page"),
        (b"<!DOCTYPE html><p>", "web page"),
        (b"<?xml version=\"1.0\"?>\n<svg>", "SVG"),
        (b"\xDC\xDF\x4A\x53\x4C\x42\x02\0", "JsonSlabs"),
    ];

    #[test]
    fn every_hint_has_an_example() {
        for &(head, words) in FRONTS {
            assert!(hint(head).is_some_and(|hint| hint.contains(words)), "{words}");
        }
        for (_, text) in HINTS {
            assert!(FRONTS.iter().any(|(head, _)| hint(head) == Some(text)), "no example: {text}");
        }
        assert!(hint(b" \n").is_some_and(|hint| hint.contains("empty")));
        assert_eq!(hint(b"some other text\n"), None);
    }
}
