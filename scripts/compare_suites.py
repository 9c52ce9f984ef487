#!/usr/bin/env python3
"""Opens every file of other projects' test suites with `prof`, and compares with what those projects expect.

    scripts/compare_suites.py [--prof PATH] [--gprof2dot PATH] [--all] FOLDER...

Nothing is fetched: the folders hold the suites, for example speedscope's `sample/profiles`, the `tests` of gprof2dot, the
`test/data` of austin-python, or `profile/testdata` of pprof. Prints a row per file: the format that was found, the metrics
with their totals, what the file is compared with, and the result.

What a file is compared with, by what lies next to it:

    x.dot          gprof2dot's graph of x.prof (or any other ending): the share of every function and of every call
    x.orig.dot     the same
    x.string       pprof's own dump of x: the totals of all values
    x.austin       the same recording as x.mojo as text: the totals, and the value of every stack
    (nothing)      with --gprof2dot, the graph that this gprof2dot makes of the file, if it reads the format

The result is `equal`, `different` (the first difference follows), `opened` (there is nothing to compare with), `refused` (the
reason follows), or `no profile`, for files whose ending says that they are code, pictures or expectations. `no profile` is
shown only with --all.

Exit code: 0 if nothing is different, 1 if something is, 2 if `prof` crashes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

# Endings of files that are not recordings.
OTHER = (
    ".c .cc .cpp .h .hpp .go .rs .py .js .ts .tsx .java .md .txt.snap .snap .html .css .png .svg .sh .cmake .pro .qbs .qrc "
    ".dot .string .expected .expected.txt .golden .golden.json .map .so .debug .grammar .yml .yaml .toml .lock .gitignore"
).split()
FOLDERS_TO_SKIP = {"golden", "_snapshots", ".git", "node_modules"}

# gprof2dot's names of formats, by ours.
GPROF2DOT = {
    "gprof": "prof", "callgrind": "callgrind", "collapsed": "collapse", "dtrace": "dtrace", "hprof": "hprof",
    "gprof2dot": "json", "perf-script": "perf", "pstats": "pstats", "sysprof-xml": "sysprof",
}
# Shares in graphs have two decimals, and gprof2dot adds up rounded numbers.
TOLERANCE = 0.011


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


def files(folders):
    for top in folders:
        if os.path.isfile(top):
            yield os.path.dirname(top), top
        for folder, names, found in os.walk(top):
            names[:] = sorted(name for name in names if name not in FOLDERS_TO_SKIP)
            for name in sorted(found):
                yield top, os.path.join(folder, name)


class Prof:
    """The program under test."""

    def __init__(self, path):
        self.path = path

    def json(self, *arguments):
        """The document, or the message of the error."""
        done = run([self.path, *arguments, "-f", "json", "-q"])
        if done.returncode not in (0, 2):
            sys.exit(f"prof {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
        if done.returncode == 2:
            lines = done.stderr.strip().splitlines() or ["no message"]
            hint = next((line for line in lines if line.startswith("hint: ")), "")
            hint = "" if hint.startswith("hint: tried ") else hint
            return None, (hint or lines[0]).split(": ", 1)[-1]
        return json.loads(done.stdout), ""


def label_parts(text):
    """The lines of a node's or an edge's label."""
    label = re.search(r'label="((?:[^"\\]|\\.)*)"', text)
    return label.group(1).split("\\n") if label else []


def percent(text):
    found = re.search(r"(-?[0-9.]+)%", text)
    return float(found.group(1)) if found else None


def read_dot(text):
    """Shares of functions (total, self) by name, and of calls by pair of names, of a graph by gprof2dot."""
    nodes, edges, names = {}, {}, {}
    for line in text.splitlines():
        edge = re.match(r'\s*("(?:[^"\\]|\\.)*"|\S+) -> ("(?:[^"\\]|\\.)*"|\S+) \[(.*)\];', line)
        node = re.match(r'\s*("(?:[^"\\]|\\.)*"|[^\s\[]+) \[(.*)\];', line)
        if edge:
            edges[edge.group(1), edge.group(2)] = percent(edge.group(3).split("label=")[-1])
        elif node and node.group(1) not in ("graph", "node", "edge"):
            parts = label_parts(node.group(2))
            shares = [percent(part) for part in parts if re.fullmatch(r"\(?-?[0-9.]+%\)?", part)]
            name = [part for part in parts if not re.fullmatch(r"\(?-?[0-9.]+%\)?|[0-9]+.*", part)]
            names[node.group(1)] = name[-1] if name else ""
            if name:
                nodes[name[-1]] = (shares + [None, None])[:2]
    calls = {(names.get(a), names.get(b)): share for (a, b), share in edges.items()}
    return nodes, calls


def compare_graph(prof, path, dot):
    """Every function and call of gprof2dot's graph, in percent of the total."""
    nodes, calls = read_dot(dot)
    document, error = prof.json("graph", "--max-nodes", "0", "--min-edge", "0", "--by", "name", path)
    if document is None:
        return None, error
    whole = document["total"] or 1
    plain = lambda name: re.sub(r"\\(.)", r"\1", name).split("(")[0].replace(" ", "")
    ours = {plain(row["name"]): row for row in document["nodes"]}
    edges = defaultdict(float)
    for edge in document["edges"]:
        edges[plain(edge["caller"]), plain(edge["callee"])] += 100 * edge["value"] / whole
    compared = 0
    for name, (total, own) in nodes.items():
        row = ours.get(plain(name))
        for share, key in ((total, "total"), (own, "self")):
            if share is None:
                continue
            mine = 100 * row[key] / whole if row else 0.0
            if abs(mine - share) > TOLERANCE:
                return compared, f"{key} of {name}: {mine:.2f}%, expected {share}%"
            compared += 1
    for (caller, callee), share in calls.items():
        if share is None or caller is None or callee is None:
            continue
        mine = edges.get((plain(caller), plain(callee)), 0.0)
        if abs(mine - share) > TOLERANCE:
            return compared, f"{caller} -> {callee}: {mine:.2f}%, expected {share}%"
        compared += 1
    return compared, ""


def compare_dump(prof, path, dump):
    """The totals of pprof's dump of a profile."""
    lines = open(dump, errors="replace").read().splitlines()
    start = lines.index("Samples:")
    kinds = [kind.split("[")[0] for kind in lines[start + 1].split()]
    sums = [0] * len(kinds)
    for line in lines[start + 2:]:
        if line == "Locations":
            break
        found = re.match(r"^ *(-?[0-9 ]+): *[0-9 ]*$", line)
        if found:
            for number, value in enumerate(found.group(1).split()):
                sums[number] += int(value)
    document, error = prof.json("info", path)
    if document is None:
        return None, error
    ours = {f"{metric['name']}/{metric['unit']}": metric["total"] for metric in document["metrics"]}
    for kind, total in zip(kinds, sums):
        if ours.get(kind) != total:
            return None, f"{kind}: {ours.get(kind)}, expected {total}"
    return len(kinds), ""


def compare_traces(prof, path, other):
    """The value of every stack of the same recording in another format."""

    def stacks(of):
        document, error = prof.json("traces", of)
        if document is None:
            return None, error
        sums = Counter()
        for trace in document["traces"]:
            sums[tuple(trace["frames"])] += next(iter(trace["values"].values()), 0)
        return sums, ""

    ours, error = stacks(path)
    theirs, other_error = stacks(other)
    if ours is None or theirs is None:
        return None, error or other_error
    for stack in ours.keys() | theirs.keys():
        if ours[stack] != theirs[stack]:
            return None, f"{';'.join(stack)[-60:]}: {ours[stack]}, expected {theirs[stack]}"
    return len(ours), ""


def golden(prof, path, found, gprof2dot):
    """What a file is compared with, how many numbers were equal, and the first difference."""
    stem = os.path.splitext(path)[0]
    for other in (stem + ".dot", stem + ".orig.dot", path + ".dot"):
        if os.path.exists(other):
            return os.path.basename(other), *compare_graph(prof, path, open(other, errors="replace").read())
    if os.path.exists(path + ".string"):
        return os.path.basename(path) + ".string", *compare_dump(prof, path, path + ".string")
    if path.endswith(".mojo") and os.path.exists(stem + ".austin"):
        return os.path.basename(stem) + ".austin", *compare_traces(prof, path, stem + ".austin")
    kind = GPROF2DOT.get(found)
    if gprof2dot and kind:
        done = run([*gprof2dot.split(), "-f", kind, "-n", "0", "-e", "0", "--show-samples", path])
        if done.returncode == 0:
            return "gprof2dot", *compare_graph(prof, path, done.stdout)
    return "", None, ""


def shown(metrics):
    return ", ".join(f"{metric['name']} {metric['total']}" for metric in metrics)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", default="target/release/prof")
    parser.add_argument("--gprof2dot", default="", help="the command that runs gprof2dot")
    parser.add_argument("--all", action="store_true", help="also list files that are no recordings")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    arguments = parser.parse_args()
    prof = Prof(arguments.prof)
    counts = defaultdict(Counter)
    print("| file | format | metrics | compared with | result |")
    print("|---|---|---|---|---|")
    for top, path in files(arguments.folders):
        name = os.path.relpath(path, top) if top else path
        suite = os.path.basename(os.path.abspath(top))
        if path.lower().endswith(tuple(OTHER)):
            counts[suite]["no profile"] += 1
            if arguments.all:
                print(f"| {name} | | | | no profile |")
            continue
        document, error = prof.json("info", path)
        if document is None:
            counts[suite]["refused"] += 1
            print(f"| {name} | | | | refused: {error} |")
            continue
        other, compared, difference = golden(prof, path, document["format"], arguments.gprof2dot)
        if difference:
            result = "different"
        else:
            result = "equal" if compared else "opened"
        counts[suite][result] += 1
        detail = f": {difference}" if difference else f" ({compared} numbers)" if compared else ""
        metrics = shown(document["metrics"])
        print(f"| {name} | {document['format']} | {metrics} | {other} | {result}{detail} |")
    print()
    kinds = ["equal", "opened", "refused", "different", "no profile"]
    print("| suite | " + " | ".join(kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for suite, count in counts.items():
        print(f"| {suite} | " + " | ".join(str(count[kind]) for kind in kinds) + " |")
    return 1 if any(count["different"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
