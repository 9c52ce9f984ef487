#!/usr/bin/env python3
"""Compares `prof top` under filters with `go tool pprof -top` under its own, or `prof focus` with -peek.

    scripts/compare_go_pprof.py [--peek N] [--prof PATH] [--go COMMAND] [--metric N] FILE...

Every file is a pprof profile. The patterns are the full names of a heavy, a middling and a light function of the
profile, and the last words of these names. For every pattern and every pair of options, self and total of every
function must be equal:

    --show-stacks  -focus      --hide-stacks  -ignore
    --show-frames  -show       --hide-frames  -hide       --show-from  -show_from

With --peek N, callers and callees of N functions of each profile are compared instead, from the heaviest to the
lightest: `prof focus NAME` and `-peek '^NAME$'`. Only prof has the rows (itself), (root) and (self). If Go prints
several functions with the same name, nothing is compared, because edges cannot be added up.

COMMAND runs pprof, by default `go tool pprof`, without symbolization. If Go prints several rows with the same name
(functions in different files), their self values are added up; totals, which cannot be added, are not compared.

One difference is known: -show_from removes the functions that a matching function was inlined into from its location,
and therefore also from stacks that start further out; prof keeps them there.

Exit code: 0 if all agree, 1 if some differ, 2 if nothing could be compared.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict

PAIRS = [
    ("--show-stacks", "-focus"),
    ("--hide-stacks", "-ignore"),
    ("--show-frames", "-show"),
    ("--hide-frames", "-hide"),
    ("--show-from", "-show_from"),
]
# flat flat% sum% cum cum% name; a unit may contain spaces ("9946mem holes").
ROW = re.compile(r"^\s*(-?[0-9.]+)\D*?\s+\S+%\s+\S+%\s+(-?[0-9.]+)\D*?\s+\S+%\s+ ?(.*)$")


# The row of the function, and a row of a caller or callee.
PEEKED = re.compile(r"^\s*(-?[0-9.]+)\D*?\s+\S+%\s+\S+%\s+(-?[0-9.]+)\D*?\s+\S+%\s+\| (.*)$")
CONTEXT = re.compile(r"^\s*(-?[0-9.]+)\D*?\s+\S+%\s+\|   (.*)$")


class CannotRun(Exception):
    """A program that failed; the text says which one and why."""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise CannotRun(f"{os.path.basename(command[0])}: {lines[0]}")
    return done.stdout


def ours(prof, path, metric, filters):
    """Self and total of every function, by name, and the document's header."""
    arguments = [] if metric is None else ["--metric", metric]
    document = json.loads(run([prof, "top", "--format", "json", "--by", "name", *arguments, *filters, path]))
    return {row["name"]: (row["self"], row["total"]) for row in document["rows"]}, document


def theirs(go, path, metric, filters):
    """The (self, total) of each of Go's rows, by name."""
    name, unit = metric
    command = [*go, "-symbolize=none", "-top", "-nodecount=0", "-nodefraction=0", "-edgefraction=0",
               f"-sample_index={name}", f"-unit={unit}", *filters, path]
    rows, started = defaultdict(list), False
    for line in run(command).splitlines():
        if not started:
            started = line.split()[:5] == ["flat", "flat%", "sum%", "cum", "cum%"]
            continue
        match = ROW.match(line)
        if not match:
            raise CannotRun(f"cannot read the line {line!r}")
        flat, cum, function = match.groups()
        pair = tuple(number(text) for text in (flat, cum))
        if pair != (0, 0):
            rows[re.sub(r" \((?:partial-)?inline\)$", "", function)].append(pair)
    return rows


def number(text):
    value = float(text)
    if value != int(value):
        raise CannotRun(f"{text} is rounded")
    return int(value)


def escape(text):
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def patterns(rows):
    """Full names and last words of a heavy, a middling and a light function that have names."""
    named = sorted((-abs(total), name) for name, (_, total) in rows.items() if name and name[0] not in "[<")
    chosen = [named[len(named) * part // 10][1] for part in (1, 5, 9)] if named else []
    found = []
    for name in chosen:
        word = re.split(r"[./:;]", re.sub(r"[\[(<].*", "", name))[-1]
        found.append(f"^{escape(name)}$")
        if len(word) > 1:
            found.append(escape(word))
    return list(dict.fromkeys(found))


def differences(mine, other):
    """The rows that differ, as text."""
    for name in sorted(set(mine) | set(other)):
        own = mine.get(name, (0, 0))
        rows = other.get(name, [(0, 0)])
        flat = sum(row[0] for row in rows)
        if own[0] != flat:
            yield f"{name}: self {own[0]}, Go {flat}"
        elif len(rows) == 1 and own[1] != rows[0][1]:
            yield f"{name}: total {own[1]}, Go {rows[0][1]}"


def compare(options, path):
    """Compares one file; returns how many runs agreed and how many differed."""
    rows, document = ours(options.prof, path, options.metric, [])
    metric = document["metric"]["name"], document["metric"]["unit"]
    agreed = differed = 0
    cases = [("", "", "")] + [(a, b, pattern) for pattern in patterns(rows) for a, b in PAIRS]
    for option, go_option, pattern in cases:
        mine, _ = ours(options.prof, path, options.metric, [f"{option}={pattern}"] if option else [])
        other = theirs(options.go, path, metric, [f"{go_option}={pattern}"] if option else [])
        found = list(differences(mine, other))
        if found:
            differed += 1
            print(f"{path} {option} {pattern}: {len(found)} rows differ")
            for line in found[: options.show]:
                print(f"    {line}")
        else:
            agreed += 1
    return agreed, differed


def focused(prof, path, metric, name):
    """The result of `prof focus` for a function: self, total, callers, callees."""
    arguments = [] if metric is None else ["--metric", metric]
    document = json.loads(run([prof, "focus", "--format", "json", "--by", "name", "-F", *arguments, name, path]))

    def side(rows):
        return {row["name"]: row["value"] for row in rows if row["name"] not in ("(root)", "(itself)")}

    return document["self"], document["total"], side(document["callers"]), side(document["callees"])


def peeked(go, path, metric, name):
    """The result of -peek; None if it contains several functions."""
    metric_name, unit = metric
    command = [*go, "-symbolize=none", f"-peek=^{escape(name)}$", f"-sample_index={metric_name}", f"-unit={unit}", path]
    own, sides, several = None, ({}, {}), False
    for line in run(command).splitlines():
        function, context = PEEKED.match(line), CONTEXT.match(line)
        if function:
            several |= own is not None
            own = number(function.group(1)), number(function.group(2))
        elif context:
            side = sides[own is not None]
            neighbour = re.sub(r" \((?:partial-)?inline\)$", "", context.group(2))
            several |= neighbour in side
            side[neighbour] = number(context.group(1))
    if several or own is None:
        return None
    return (*own, *({name: value for name, value in side.items() if value != 0} for side in sides))


def compare_peek(options, path):
    """Compares functions of one file; returns how many agreed and how many differed."""
    rows, document = ours(options.prof, path, options.metric, [])
    metric = document["metric"]["name"], document["metric"]["unit"]
    named = sorted((-abs(total), name) for name, (_, total) in rows.items() if name and name[0] not in "[<-")
    step = max(1, len(named) // options.peek)
    agreed = differed = 0
    for _, name in named[::step][: options.peek]:
        other = peeked(options.go, path, metric, name)
        if other is None:
            continue
        mine = focused(options.prof, path, options.metric, name)
        if mine == other:
            agreed += 1
            continue
        differed += 1
        print(f"{path} {name}")
        for what, own, go in list(zip(("self", "total", "callers", "callees"), mine, other))[: options.show]:
            if own != go:
                print(f"    {what}: {own}, Go {go}")
    return agreed, differed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", default="target/release/prof", help="the program to check")
    parser.add_argument("--go", default="go tool pprof", help="the command that runs pprof")
    parser.add_argument("--peek", type=int, default=0, metavar="N", help="compare focus of N functions per file")
    parser.add_argument("--metric", help="name or number of the metric (default: the profile's own)")
    parser.add_argument("--show", type=int, default=5, help="how many rows to print of each difference")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.go = shlex.split(options.go)
    files = agreed = differed = 0
    with tempfile.TemporaryDirectory() as folder:
        # Go caches what it fetches; the cache goes to a temporary folder.
        os.environ["PPROF_TMPDIR"] = folder
        for path in options.files:
            try:
                counts = (compare_peek if options.peek else compare)(options, path)
            except CannotRun as why:
                print(f"{path}: not compared: {why}")
                continue
            files, agreed, differed = files + 1, agreed + counts[0], differed + counts[1]
    print(f"{files} files compared: {agreed} runs agree, {differed} differ")
    return 2 if files == 0 else int(differed > 0)


if __name__ == "__main__":
    sys.exit(main())
