#!/usr/bin/env python3
"""Compares the cells of a heat map with the bins that FlameScope makes of the same output of `perf script`.

    scripts/compare_flamescope.py target/release/prof perf.txt...

FlameScope counts the events of each fiftieth of a second: the column is the second, the row is which fiftieth of it. It begins
its columns at full seconds of the clock, and prof at the first sample, so the bins are computed here by FlameScope's rule for
times since the first sample. Events of idle stacks, which FlameScope leaves out, are counted. Recordings that are shorter than
15 s have shorter columns; the rule is the same. The exit code is 1 if any cell differs.
"""

import collections
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# The thread, its ids, perhaps the CPU, the time, and the event.
EVENT = re.compile(r"^\S.*?\s+\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?(\d+)\.(\d+):\s")


def nanoseconds(path):
    """The times of all events."""
    times = []
    for line in Path(path).read_text(errors="replace").splitlines():
        if found := EVENT.match(line):
            times.append(int(found[1]) * 10**9 + int(found[2].ljust(9, "0")[:9]))
    return times


def bins(times, column, row):
    first = min(times)
    return collections.Counter(((time - first) // column, (time - first) % column // row) for time in times)


def cells(prof, path):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "heat.json"
        subprocess.run([prof, "flame", "-q", "--heatmap", "-m", "samples", "-o", out, path], check=True)
        heat = json.loads(out.read_text())
    counted = {(cell["column"], cell["row"]): cell["samples"] for cell in heat["cells"]}
    return heat["column_ns"], heat["row_ns"], counted


def main():
    prof, *paths = sys.argv[1:]
    is_same = True
    print(f"{'column':>8} {'events':>8} {'bins':>6} {'cells':>6} {'differ':>6}  file")
    for path in paths:
        column, row, counted = cells(prof, path)
        times = nanoseconds(path)
        wanted = bins(times, column, row)
        differ = sum(wanted[cell] != counted.get(cell, 0) for cell in wanted.keys() | counted.keys())
        is_same &= differ == 0
        print(f"{column / 1e9:>7g}s {len(times):>8} {len(wanted):>6} {len(counted):>6} {differ:>6}  {path}")
    sys.exit(not is_same)


if __name__ == "__main__":
    main()
