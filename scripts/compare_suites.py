#!/usr/bin/env python3
"""Opens every file of other projects' test suites with `prof`, and compares with what those projects expect.

    scripts/compare_suites.py [--prof PATH] [--gprof2dot PATH] [--jfr PATH] [--profiler-cli PATH] [--all] FOLDER...

Nothing is fetched: the folders hold the suites, for example speedscope's `sample/profiles`, the `tests` of gprof2dot, the
`test/data` of austin-python, or `profile/testdata` of pprof. Prints a row per file: the format that was found, the metrics
with their totals, what the file is compared with, and the result.

What a file is compared with, by what lies next to it:

    x.dot          gprof2dot's graph of x.prof (or any other ending): the share of every function and of every call
    x.orig.dot     the same
    x.string       pprof's own dump of x: the totals of all values
    x.austin       the same recording as x.mojo as text: the totals, and the value of every stack
    *.test.ts.snap in the folder, or in `src/import/__snapshots__` of a folder above: what speedscope shows of the file of that name:
                   self of every function, within what its rounding to two decimals hides. Not of perf, Firefox, callgrind, Haskell and V8's
                   logs, whose samples speedscope weighs in another way
    (nothing)      with --gprof2dot, the graph that this gprof2dot makes of the file, if it reads the format; with --jfr, self and total of every
                   method in the samples of processors that the JDK's `jfr print` lists; with --profiler-cli, self and total of every
                   function in all threads of a Firefox profile, according to the program of that name (npm: @firefox-devtools/profiler-cli)

Of a graph, self is compared for every function; totals and calls only where gprof2dot does not estimate them, as it does in
collapsed, DTrace, HPROF and OProfile files and the calls of perf and VTune, and for functions in cycles and for all that call these or are called by these. Where the two
programs differ on purpose, the graph is read as we count:

    gprof       gprof's call graph, of which gprof2dot makes the graph, leaves out the profiler's own `mcount`; the flat profile,
                which we read as well, does not. Shares are those without it.
    callgrind   `strcmp'2`, the second level of a recursion, is the function `strcmp` to us
    hprof       gprof2dot divides up the counts of calls, not the times, whose sum HPROF rounds
    perf        mangled names with a suffix, such as `.llvm.123`, are functions of their own to gprof2dot

The result is `equal`, `different` (the first difference follows), `explained` (the same, where the two programs differ on purpose),
`opened` (there is nothing to compare with), `refused` (the reason follows), or `no profile`, for files whose ending says that they are code, pictures or expectations. `no profile` is
shown only with --all.

Exit code: 0 if nothing is different, 1 if something is, 2 if `prof` crashes.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

# Endings of files that are not recordings.
OTHER = (
    ".c .cc .cpp .h .hpp .go .rs .py .js .ts .tsx .java .md .txt.snap .snap .html .css .png .svg .sh .cmake .pro .qbs .qrc "
    ".dot .string .expected .expected.txt .golden .golden.json .map .so .debug .grammar .yml .yaml .toml .lock .gitignore"
).split()
FOLDERS_TO_SKIP = {"golden", "_snapshots", ".git", "node_modules"}

# Why files differ on purpose, by the end of their path.
REASONS = {
    "Chrome/116/Trace-20230603T221323.json": "its clock runs backwards seven times; no time passes then, speedscope subtracts it",
    "Chrome/69/simple.json": "speedscope leaves out 178 µs of a script that is built in",
    "Chrome/141/no-arg-data.json": "five samples refer to nodes that the trace lacks; speedscope continues the stack before",
    "papyrus/script.log": "speedscope adds a frame per stack, whose self is the time that the stack waits",
    "pmcstat/simple.txt": "callers do not add up to their function; speedscope leaves the rest out",
    "stackprof/stackprof-last-frame-no-name.json": "a frame without a name is `<unknown>`, in speedscope `(unknown)`",
    "trace-event/simple-with-samples.json": "names with an address are split into name and file",
    "callgrind/callgrind.cfn-reset.log": "written by hand: a function is called more often than it runs; gprof2dot divides its time",
    "prof/gnu1.prof": "totals are those that gprof prints, in hundredths of a second; gprof2dot divides the time of callees by calls",
    "pprof.cpu.call_tree.callgrind": "pprof writes calls=0, so gprof2dot passes no time on to callers",
    "pprof.heap.callgrind": "the same",
}

# gprof2dot's names of formats, by ours.
GPROF2DOT = {
    "gprof": "prof", "callgrind": "callgrind", "collapsed": "collapse", "dtrace": "dtrace", "hprof": "hprof",
    "gprof2dot": "json", "oprofile": "oprofile", "perf-script": "perf", "pstats": "pstats", "sleepy": "sleepy",
    "sysprof-xml": "sysprof", "vtune-gprof": "axe",
}
# Shares in graphs have two decimals, and gprof2dot adds up rounded numbers.
TOLERANCE = 0.016


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


def percent(text):
    found = re.search(r"(-?[0-9.]+)%", text)
    return float(found.group(1)) if found else None


def read_dot(text):
    """The functions of a graph by gprof2dot, as (name, total, self) by id, and the shares of calls by pair of ids."""
    nodes, edges = {}, {}
    text_or_word = r'("(?:[^"\\]|\\.)*"|[^\s\[]+)'
    label = re.compile(r'label="((?:[^"\\]|\\.)*)"')
    for line in text.splitlines():
        edge = re.match(rf"\s*{text_or_word} -> {text_or_word} \[(.*)\];", line)
        node = re.match(rf"\s*{text_or_word} \[(.*)\];", line)
        found = label.search(line)
        if not found:
            continue
        parts = found.group(1).split("\\n")
        if edge:
            edges[edge.group(1), edge.group(2)] = percent(parts[0])
        elif node:
            # The module, the name, the total, the self in parentheses, the number of calls.
            first = next((at for at, part in enumerate(parts) if re.fullmatch(r"-?[0-9.]+%", part)), None)
            if first:
                own = percent(parts[first + 1]) if len(parts) > first + 1 else None
                nodes[node.group(1)] = (re.sub(r"\\(.)", r"\1", parts[first - 1]), percent(parts[first]), own)
    return nodes, edges


def cyclic(edges):
    """The nodes that can reach themselves: gprof2dot estimates their totals and those of calls to them."""
    after, before = defaultdict(set), defaultdict(set)
    for caller, callee in edges:
        after[caller].add(callee)
        before[callee].add(caller)
    order, seen = [], set()
    for start in list(after):
        stack = [(start, iter(after[start]))] if start not in seen else []
        seen.add(start)
        while stack:
            node, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                order.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(after[following])))
    found, seen = set(), set()
    for start in reversed(order):
        component, stack = [], [start] if start not in seen else []
        seen.add(start)
        while stack:
            node = stack.pop()
            component.append(node)
            fresh = before[node] - seen
            seen |= fresh
            stack.extend(fresh)
        if len(component) > 1 or any(node in after[node] for node in component):
            found.update(component)
    return found


def plain(name):
    """A name as both programs have it: gprof2dot writes `file:line:function` for pstats, and no blanks."""
    name = re.sub(r"'\d+$", "", re.sub(r"^.*?:\d+:(?=\D)", "", name))
    return demangled(name).replace(" ", "")


def demangled(name):
    """The name of a Rust function: `_ZN5alloc7raw_vec11finish_grow17h475c4cbff1214635E.llvm.95` is `alloc::raw_vec::finish_grow`."""
    found = re.match(r"_ZN(.*)17h[0-9a-f]{16}E", name)
    parts, rest = [], found.group(1) if found else ""
    while length := re.match(r"\d+", rest):
        rest = rest[length.end():]
        parts.append(rest[:int(length.group())])
        rest = rest[int(length.group()):]
    return "::".join(parts) if parts and "$" not in name else name


def is_gprof(row):
    """Whether a function is the profiler's own."""
    return re.fullmatch(r"_*(moncount|mcount)", row["name"])


def compare_graph(prof, path, dot, found):
    """The functions and calls of gprof2dot's graph, in percent of the total."""
    nodes, calls = read_dot(dot)
    has_totals = found not in ("collapsed", "dtrace", "hprof", "oprofile")
    metric = {"perf-script": ["-m", "samples"], "hprof": ["-m", "calls"]}.get(found, [])
    if found == "hprof" and "samples" in shown(prof.json("info", path)[0]["metrics"]):
        metric = ["-m", "samples"]
    document, error = prof.json("graph", *metric, "--max-nodes", "0", "--min-edge", "0", "--by", "name", path)
    if document is None:
        return None, error
    nodes_of_ours, whole = document["nodes"], document["total"]
    if found == "gprof":
        whole -= sum(row["self"] for row in nodes_of_ours if is_gprof(row))
        nodes_of_ours = [row for row in nodes_of_ours if not is_gprof(row)]
    if found == "perf-script":
        # gprof2dot does not count samples without a stack.
        whole -= document["no_stack"]
    whole = whole or 1
    ours = defaultdict(lambda: [0.0, 0.0, 0])
    for row in nodes_of_ours:
        known = ours[plain(row["name"])]
        known[0] += 100 * row["total"] / whole
        known[1] += 100 * row["self"] / whole
        known[2] += 1
    edges = defaultdict(float)
    for edge in document["edges"]:
        edges[plain(edge["caller"]), plain(edge["callee"])] += 100 * edge["value"] / whole
    # With a cycle, the time of all that calls it or is called from it is estimated as well.
    below = above = cyclic(calls)
    for _ in nodes:
        below, above, old = (
            below | {callee for caller, callee in calls if caller in below},
            above | {caller for caller, callee in calls if callee in above},
            (len(below), len(above)),
        )
        if (len(below), len(above)) == old:
            break
    estimated = below | above if has_totals else set(nodes)
    theirs = defaultdict(list)
    for node, (name, total, own) in nodes.items():
        theirs[plain(name)].append((node, total, own))
    # What has no name, or a mangled one, is called in another way.
    known = {name for name in theirs if name in ours}
    unknown = [sum(own or 0.0 for name, found in theirs.items() if name not in known for _, _, own in found)]
    unknown.append(sum(row[1] for name, row in ours.items() if name not in known))
    if abs(unknown[0] - unknown[1]) > TOLERANCE * (len(theirs) - len(known) + 1):
        return 0, f"self of functions that only one side has: {unknown[1]:.2f}%, expected {unknown[0]:.2f}%"
    compared = 0
    for name in known:
        named = theirs[name]
        own = sum(own or 0.0 for _, _, own in named)
        if abs(ours[name][1] - own) > TOLERANCE * len(named):
            return compared, f"self of {name}: {ours[name][1]:.2f}%, expected {own:.2f}%"
        compared += 1
        node, total, _ = named[0]
        if len(named) == 1 and ours[name][2] == 1 and node not in estimated:
            if abs(ours[name][0] - total) > TOLERANCE:
                return compared, f"total of {name}: {ours[name][0]:.2f}%, expected {total}%"
            compared += 1
    for (caller, callee), share in calls.items():
        names = [plain(nodes[node][0]) for node in (caller, callee) if node in nodes]
        is_clear = len(names) == 2 and all(len(theirs[name]) == 1 and ours[name][2] == 1 for name in names)
        if share is None or not is_clear or {caller, callee} & estimated or found in ("perf-script", "vtune-gprof"):
            continue
        mine = edges.get(tuple(names), 0.0)
        if abs(mine - share) > TOLERANCE:
            return compared, f"{names[0]} -> {names[1]}: {mine:.2f}%, expected {share}%"
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


# Sizes of the units that speedscope prints, and the kind of unit.
SPEEDSCOPE = {
    "ns": (1e-9, "time"), "µs": (1e-6, "time"), "ms": (1e-3, "time"), "s": (1, "time"), "B": (1, "bytes"), "KB": (1024, "bytes"),
    "MB": (1024 ** 2, "bytes"), "GB": (1024 ** 3, "bytes"), "": (1, ""),
}
# Sizes of our units.
UNITS = {"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1}
SHOWN_BY_SPEEDSCOPE = "collapsed chrome-trace cpuprofile heapprofile stackprof safari instruments-copy pmcstat papyrus".split()


class Snapshots:
    """What speedscope shows of the files of its suite, by the name of the file."""

    def __init__(self, folders):
        self.stacks = defaultdict(list)
        found = set()
        for top in folders:
            above = os.path.abspath(top)
            found |= {path for _, path in files([top]) if path.endswith(".test.ts.snap")}
            while above != os.path.dirname(above):
                found |= {path for _, path in files([os.path.join(above, "src/import/__snapshots__")])}
                above = os.path.dirname(above)
        for path in sorted(found):
            self.read(open(path, encoding="utf-8", errors="replace").read())

    def read(self, text):
        parts = dict(re.findall(r"exports\[`(.*?)`\] = `(.*?)`;$", text, re.S | re.M))
        for title, name in parts.items():
            if not title.endswith(": profileGroup.name 1"):
                continue
            start = title[: -len(": profileGroup.name 1")]
            of_file = [body for other, body in parts.items() if re.fullmatch(re.escape(start) + r" \d+", other)]
            stacks = [line for body in of_file for line in re.findall(r'^    "(.*)",$', body.split('"stacks": [')[-1], re.M)]
            self.stacks[name.strip('"')].append(stacks)

    @staticmethod
    def own(stacks):
        """Self by function, how much rounding hides of each, and the kind of the unit; None if a line cannot be read."""
        own, hidden, kinds = defaultdict(float), defaultdict(float), set()
        for line in stacks:
            found = re.fullmatch(r"(.*) (-?[0-9,]+(?:\.(\d+))?) ?(ns|µs|ms|s|B|KB|MB|GB|)", line)
            if not found:
                return None
            stack, number, decimals, unit = found.groups()
            size, kind = SPEEDSCOPE[unit]
            # Arguments of spans belong to their names there.
            stack = re.sub(r' \{\\*".*?\}(?=;|$)', "", stack)
            name = re.sub(r"^\(anonymous .*\)$", "(anonymous)", stack.split(";")[-1]) if stack else ""
            own[name] += float(number.replace(",", "")) * size
            hidden[name] += 0.5 * 10.0 ** -len(decimals or "") * size
            kinds.add(kind)
        return own, hidden, kinds

    def compare(self, prof, path):
        """How many functions were equal, and the first difference."""
        metrics = (prof.json("info", path)[0] or {}).get("metrics", [])
        difference, least = "", None
        for stacks in self.stacks[os.path.basename(path).split("@blob")[0]]:
            theirs = self.own(stacks)
            if not theirs or len(theirs[2]) != 1:
                continue
            own, hidden, kinds = theirs
            kind = kinds.pop()
            fits = {"time": lambda unit: unit in UNITS, "bytes": lambda unit: unit == "bytes", "": lambda unit: True}[kind]
            fitting = [metric for metric in metrics if fits(metric["unit"])]
            fitting.sort(key=lambda metric: not metric["default"])
            if not fitting:
                continue
            metric = fitting[0]
            scale = (UNITS.get(metric["unit"], 1) if kind == "time" else 1) / metric["divisor"]
            document, error = prof.json("top", "-m", metric["name"], "--by", "name", "-n", "0", path)
            if document is None:
                return None, error
            ours = {row["name"]: row["self"] * scale for row in document["rows"] if row["self"]}
            # What waits is no function there.
            own.pop("", None)
            ours.pop("(idle)", None)
            names = [name for name in own.keys() | ours.keys() if abs(own.get(name, 0) - ours.get(name, 0)) > hidden.get(name, 0) + 1e-9]
            if not names:
                return len(own), ""
            # Several folders may have a file of this name: the most similar one is meant.
            distance = {name: abs(own.get(name, 0) - ours.get(name, 0)) for name in own.keys() | ours.keys()}
            if least is not None and sum(distance.values()) >= least:
                continue
            least, name = sum(distance.values()), max(names, key=distance.get)
            difference = f"self of {name}: {ours.get(name, 0):.9g}, expected {own.get(name, 0):.9g}"
        return None, difference


def compare_rows(prof, path, metric, expected):
    """Self and total of every function, by name."""
    document, error = prof.json("top", "-m", metric, "--by", "name", "--all-frames", "-n", "0", "--symbolize", "never", path)
    if document is None:
        return None, error
    ours = defaultdict(lambda: (0, 0))
    for row in document["rows"]:
        ours[row["name"]] = (row["self"], row["total"])
    for name in sorted(ours.keys() | expected.keys()):
        own, total = expected[name]
        if ours[name] != (own, ours[name][1] if total is None else total):
            return None, f"{name}: self and total are {ours[name]}, expected {own} and {total}"
    return 2 * len(expected), ""


def java_method(frame):
    """The name of a method, without the numbers that the virtual machine gives to classes when it makes them."""
    method = frame["method"]
    kind = ((method.get("type") or {}).get("name") or "").replace("/", ".")
    for number in (r"\.[0-9]+$", r"[.+]0x[0-9a-f]+$"):
        kind = re.sub(number, "", kind) if "Lambda" in kind or "0x" in kind else kind
    kind = re.sub(r"(\$\$Lambda)\$[0-9]+$", r"\1", kind)
    kind = re.sub(r"(Generated[A-Za-z]*Accessor|\$Proxy)[0-9]+$", r"\1", kind)
    return f"{kind}.{method['name']}" if kind else method["name"]


def compare_jfr(prof, path, metrics, jfr):
    """The samples of a recording, with those that the JDK prints."""
    metric = next((metric for metric in metrics if metric["name"] in ("samples", "wall_samples")), None)
    if not metric:
        return None, ""
    with tempfile.NamedTemporaryFile(suffix=".jfr") as plain:
        data = open(path, "rb").read()
        plain.write(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
        plain.flush()
        events = "jdk.ExecutionSample,profiler.WallClockSample"
        done = run([*jfr.split(), "print", "--json", "--stack-depth", "5000", "--events", events, plain.name])
    if done.returncode or not done.stdout.strip():
        return None, ""
    expected, samples = defaultdict(lambda: [0, 0]), 0
    for event in json.loads(done.stdout)["recording"]["events"]:
        weight = event["values"].get("samples", 1)
        samples += weight
        names = [java_method(frame) for frame in (event["values"].get("stackTrace") or {}).get("frames") or []]
        if names:
            expected[names[0]][0] += weight
        for name in set(names):
            expected[name][1] += weight
    # Other agents have events of their own.
    if not samples:
        return None, ""
    return compare_rows(prof, path, metric["name"], expected)


def compare_firefox(prof, path, metrics, command):
    """The samples of all threads, with those that the Firefox Profiler counts."""
    if not any(metric["name"] == "samples" for metric in metrics):
        return None, ""
    ask = lambda *words: run([*command.split(), *words])
    loaded = ask("load", path)
    # On a busy machine it says that it is still starting, and names its log.
    started = re.search(r"Session started: (\w+)", loaded.stdout) or re.search(r"(\w+)\.log", loaded.stderr)
    if not started:
        return None, ""
    session = ["--session", started.group(1), "--json"]
    expected = defaultdict(lambda: [0, 0])
    try:
        for _ in range(120):
            threads = ask("thread", "list", *session)
            if threads.returncode == 0:
                break
            time.sleep(0.5)
        if threads.returncode:
            return None, ""
        for thread in json.loads(threads.stdout)["threads"]:
            listed = json.loads(ask("thread", "functions", "--thread", thread["threadHandle"], *session).stdout)
            if listed["weightType"] != "samples":
                return None, ""
            for row in listed["functions"]:
                name, library = row["name"], row.get("library")
                if is_unnamed := library and re.fullmatch("0x[0-9a-f]+", name):
                    # Functions without a name are counted for their library.
                    name = f"[{library}]"
                is_joined = is_unnamed or name.startswith("(root scope)")
                # The code of a script outside of its functions has the script's address.
                name = "(root scope)" if name.startswith("(root scope)") else name
                expected[name][0] += row["selfSamples"]
                # A stack may have several of them, so their totals do not add up.
                expected[name][1] = None if is_joined else expected[name][1] + row["totalSamples"]
    finally:
        ask("stop", started.group(1))
    return compare_rows(prof, path, "samples", expected)


def golden(prof, path, document, arguments, snapshots):
    """What a file is compared with, how many numbers were equal, and the first difference."""
    stem, found, gprof2dot = os.path.splitext(path)[0], document["format"], arguments.gprof2dot
    for other in (stem + ".dot", stem + ".orig.dot", path + ".dot"):
        if os.path.exists(other):
            return os.path.basename(other), *compare_graph(prof, path, open(other, errors="replace").read(), found)
    if os.path.exists(path + ".string"):
        return os.path.basename(path) + ".string", *compare_dump(prof, path, path + ".string")
    if path.endswith(".mojo") and os.path.exists(stem + ".austin"):
        return os.path.basename(stem) + ".austin", *compare_traces(prof, path, stem + ".austin")
    if found in SHOWN_BY_SPEEDSCOPE and os.path.basename(path) in snapshots.stacks:
        compared, difference = snapshots.compare(prof, path)
        if compared or difference:
            return "speedscope", compared, difference
    if arguments.jfr and found == "jfr":
        return "jfr print", *compare_jfr(prof, path, document["metrics"], arguments.jfr)
    if arguments.profiler_cli and found == "gecko":
        return "profiler-cli", *compare_firefox(prof, path, document["metrics"], arguments.profiler_cli)
    kind = GPROF2DOT.get(found)
    if gprof2dot and kind:
        total = ["--total", "callstacks"] if kind == "perf" else []
        done = run([*gprof2dot.split(), "-f", kind, "-n", "0", "-e", "0", *total, path])
        if done.returncode == 0:
            return "gprof2dot", *compare_graph(prof, path, done.stdout, found)
    return "", None, ""


def shown(metrics):
    return ", ".join(f"{metric['name']} {metric['total']}" for metric in metrics)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", default="target/release/prof")
    parser.add_argument("--gprof2dot", default="", help="the command that runs gprof2dot")
    parser.add_argument("--jfr", default="", help="the command that runs the JDK's jfr")
    parser.add_argument("--profiler-cli", default="", help="the command that runs profiler-cli")
    parser.add_argument("--all", action="store_true", help="also list files that are no recordings")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    arguments = parser.parse_args()
    prof = Prof(arguments.prof)
    snapshots = Snapshots(arguments.folders)
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
        other, compared, difference = golden(prof, path, document, arguments, snapshots)
        reason = next((why for end, why in REASONS.items() if path.endswith(end)), "")
        if difference:
            result = "explained" if reason else "different"
        else:
            result = "equal" if compared else "opened"
        counts[suite][result] += 1
        difference += f" ({reason})" if reason and difference else ""
        detail = f": {difference}" if difference else f" ({compared} numbers)" if compared else ""
        metrics = shown(document["metrics"])
        print(f"| {name} | {document['format']} | {metrics} | {other} | {result}{detail} |")
    print()
    kinds = ["equal", "explained", "opened", "refused", "different", "no profile"]
    print("| suite | " + " | ".join(kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for suite, count in counts.items():
        print(f"| {suite} | " + " | ".join(str(count[kind]) for kind in kinds) + " |")
    return 1 if any(count["different"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
