#!/usr/bin/env python3
"""Compares the functions, files and lines that prof finds at addresses with those of addr2line and llvm-symbolizer.

    scripts/compare_symbolizers.py target/release/prof BINARY...

Takes 10,000 addresses of the code of each binary, spread over its functions. Prints for how many of them all functions (with those
that were inlined), all files and all lines are equal, and the first differences. The exit code is 1 if prof agrees with neither of
the two somewhere.
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile

MOST = 10_000
SHOWN = 8


def addresses(binary):
    """Addresses within the functions that the symbol table lists."""
    text = subprocess.run(["nm", "-S", "--defined-only", binary], capture_output=True, check=True).stdout.decode()
    ranges = set()
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW":
            start, size = int(words[0], 16), int(words[1], 16)
            ranges.add((start, size))
    total = sum(size for _, size in ranges)
    step = max(1, total // MOST)
    found, skip = [], 0
    for start, size in sorted(ranges):
        while skip < size:
            found.append(start + skip)
            skip += step
        skip -= size
    return sorted(set(found))[:MOST]


def name_of(text):
    """A name without what demanglers write differently."""
    text = re.sub(r"::h[0-9a-f]{16}$", "", text)
    text = re.sub(r" ?\[clone [^]]*\]| ?\[[0-9a-f]{16}\]", "", text)
    text = re.sub(r"(\.(part|isra|constprop|cold|lto_priv|llvm)(\.[0-9]+)?)+", "", text)
    text = text.replace(" const", "").replace(" ", "").replace("std::__cxx11::", "std::")
    return text


def place_of(text):
    """`/src/a/../b.c:12 (discriminator 3)` as `b.c` and 12."""
    file, line = re.sub(r" \(.*\)$", "", text).rsplit(":", 1) if ":" in text else (text, "0")
    return (os.path.basename(file).replace("??", ""), int(line) if line.isdigit() else 0)


def of_addr2line(binary, wanted):
    text = "".join(f"{address:#x}\n" for address in wanted)
    output = subprocess.run(["addr2line", "-a", "-f", "-i", "-C", "-e", binary], input=text.encode(), capture_output=True, check=True)
    found, lines = [], iter(output.stdout.decode(errors="replace").splitlines())
    for line in lines:
        if line.startswith("0x"):
            found.append([])
        else:
            found[-1].append((name_of(line), *place_of(next(lines))))
    return found


def of_llvm(binary, wanted):
    text = "".join(f"{address:#x}\n" for address in wanted)
    command = ["llvm-symbolizer", "--inlines", "--demangle", "--functions=linkage", f"--obj={binary}"]
    output = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.decode(errors="replace")
    found = []
    for block in output.split("\n\n")[: len(wanted)]:
        lines = block.strip("\n").split("\n")
        rows = []
        for name, place in zip(lines[::2], lines[1::2]):
            rows.append((name_of(name), *place_of(place.rsplit(":", 1)[0])))
        found.append(rows)
    return found


def of_prof(prof, binary, wanted):
    """Each address is a sample of its own, whose time says which one it is."""
    with tempfile.TemporaryDirectory() as folder:
        recording, written = os.path.join(folder, "perf.txt"), os.path.join(folder, "profile.json")
        with open(recording, "w") as file:
            for number, address in enumerate(wanted):
                file.write(f"app 1 {number}.000000: 1 cycles: \n\t {address:x} [unknown] ({os.path.abspath(binary)})\n\n")
        command = [prof, "convert", "--all-frames", "--binary", binary, "--to", "firefox", "-o", written, recording]
        subprocess.run(command, capture_output=True, check=True)
        with open(written) as file:
            profile = json.load(file)
    return firefox_stacks(profile, len(wanted))


def firefox_stacks(profile, count):
    found = [[] for _ in range(count)]
    shared = profile.get("shared", {})
    for thread in profile["threads"]:
        table = lambda name: thread.get(name) or shared.get(name)
        strings, frames, functions, stacks = (table(name) for name in ("stringArray", "frameTable", "funcTable", "stackTable"))
        sources = table("sources")
        times, now = thread["samples"].get("time"), 0
        if times is None:
            times = []
            for delta in thread["samples"]["timeDeltas"]:
                now += delta
                times.append(now)
        for stack, time in zip(thread["samples"]["stack"], times):
            rows = []
            while stack is not None and stack >= 0:
                frame = stacks["frame"][stack]
                function = frames["func"][frame]
                file = functions.get("fileName", [None] * (function + 1))[function]
                if sources and functions.get("source"):
                    source = functions["source"][function]
                    file = None if source is None else sources["filename"][source]
                file = "" if file is None else strings[file]
                rows.append((name_of(strings[functions["name"][function]]), os.path.basename(file), frames["line"][frame] or 0))
                stack = stacks["prefix"][stack]
            found[round(time / 1000)] = rows
    return found


def main():
    prof, *binaries = sys.argv[1:]
    wrong = False
    print(f"{'BINARY':<24}{'WITH':<18}{'ADDRESSES':>10}{'FUNCTIONS':>11}{'OUTERMOST':>11}{'FILES':>8}{'LINES':>8}")
    for binary in binaries:
        wanted = addresses(binary)
        ours = of_prof(prof, binary, wanted)
        others = {"addr2line": of_addr2line(binary, wanted), "llvm-symbolizer": of_llvm(binary, wanted)}
        for tool, theirs in others.items():
            equal = collections.Counter()
            for mine, other in zip(ours, theirs):
                for column, kind in enumerate(("FUNCTIONS", "FILES", "LINES")):
                    equal[kind] += [row[column] for row in mine] == [row[column] for row in other]
                equal["OUTERMOST"] += [row[0] for row in mine[-1:]] == [row[0] for row in other[-1:]]
            counts = "".join(f"{equal[kind]:>{width}}" for kind, width in (("FUNCTIONS", 11), ("OUTERMOST", 11), ("FILES", 8), ("LINES", 8)))
            print(f"{os.path.basename(binary):<24}{tool:<18}{len(wanted):>10}{counts}")
        shown = 0
        for address, mine, one, two in zip(wanted, ours, *others.values()):
            if mine not in (one, two):
                wrong = True
                if shown < SHOWN:
                    print(f"  {address:#x}\n    prof       {mine}\n    addr2line  {one}\n    llvm       {two}")
                shown += 1
        print(f"  {shown} addresses at which prof agrees with neither as a whole")
    sys.exit(wrong)


main()
