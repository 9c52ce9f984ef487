#!/usr/bin/env python3
"""Compares the order and the length of the blocks of flame charts with those of speedscope.

    npm install --prefix FOLDER speedscope
    scripts/compare_speedscope.py target/release/prof FOLDER/node_modules/speedscope FILE...

speedscope itself imports each file, in headless Chromium, and saves what it has read as events. Both sides become a list of
blocks per thread: depth, function, when it begins and when it ends. Times are counted from the first block of the thread,
because speedscope begins at 0 or at the first event. The table shows, over all threads, how many blocks each side has, how many
are the same function at the same place in the order of their depth, how much of the time has the same stack, and the largest
difference of the length of a block among those. Of sampled recordings such as those of perf, speedscope ends a block in the
middle between two samples, and prof at the sample, so times may differ by an interval. The exit code is 1 if less than 99% of
the blocks, and less than 99% of the time, are the same.
"""

import base64
import bisect
import collections
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Saves the imported profile, as Ctrl+S does, and puts what is saved into the document.
SAVE = """
{
  URL.createObjectURL = (blob) => { blob.text().then((text) => {
    document.body.innerHTML = "<pre id=saved></pre>";
    document.getElementById("saved").textContent = text;
    document.title = "done";
  }); return "about:blank#"; };
  HTMLAnchorElement.prototype.click = () => {};
  window.speedscope.loadFileFromBase64(NAME, CONTENT);
  const timer = setInterval(() => {
    if (document.title === "done") return clearInterval(timer);
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "s", ctrlKey: true }));
  }, 500);
}
"""

UNITS = {"nanoseconds": 1, "microseconds": 10**3, "milliseconds": 10**6, "seconds": 10**9, "bytes": None, "none": None}


def browser():
    for name in ["chromium", "chromium-browser", "google-chrome", "chrome"]:
        if shutil.which(name):
            return name
    sys.exit("there is no Chromium in PATH")


def imported(package, path):
    """What speedscope saves after importing a file."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "release"
        shutil.copytree(Path(package) / "dist/release", page)
        content = json.dumps(base64.b64encode(Path(path).read_bytes()).decode())
        script = SAVE.replace("NAME", json.dumps(Path(path).name)).replace("CONTENT", content)
        # speedscope loads this script, as it does when its own command line opens a file.
        (page / "save.js").write_text(script)
        address = f"{(page / 'index.html').as_uri()}#localProfilePath={page / 'save.js'}"
        command = [
            browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}/user", "--virtual-time-budget=120000",
            "--allow-file-access-from-files", "--dump-dom", address,
        ]
        dom = subprocess.run(command, capture_output=True, check=True, timeout=600).stdout.decode()
    found = re.search(r'<pre id="saved">(.*?)</pre>', dom, re.S)
    return json.loads(html.unescape(found[1])) if found else None


def blocks_of_speedscope(saved):
    """For each profile, its blocks: depth, name, begin, end."""
    names = [frame["name"] for frame in saved["shared"]["frames"]]
    threads = []
    for profile in saved["profiles"]:
        factor = UNITS.get(profile["unit"]) or 1
        blocks, open_blocks = [], []
        if profile["type"] == "sampled":
            at = profile["startValue"]
            events = []
            before = []
            for sample, weight in zip(profile["samples"], profile["weights"]):
                same = next((i for i, (a, b) in enumerate(zip(before, sample)) if a != b), min(len(before), len(sample)))
                events += [("C", frame, at) for frame in reversed(before[same:])]
                events += [("O", frame, at) for frame in sample[same:]]
                before, at = sample, at + weight
            events += [("C", frame, at) for frame in reversed(before)]
        else:
            events = [(event["type"], event["frame"], event["at"]) for event in profile["events"]]
        for kind, frame, at in events:
            if kind == "O":
                open_blocks.append((names[frame], at))
            else:
                name, since = open_blocks.pop()
                blocks.append((len(open_blocks), name, since * factor, at * factor))
        threads.append((profile["name"], blocks))
    return threads


def blocks_of_prof(prof, path):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "chart.json"
        subprocess.run([prof, "flame", "-q", "--time", "--by", "name", "-o", out, path], check=True)
        chart = json.loads(out.read_text())
    threads = [(band["name"], []) for band in chart["bands"]]
    for block in chart["blocks"]:
        name = chart["functions"][block["function"]]["name"]
        threads[block["band"]][1].append((block["depth"], name, block["from_ns"], block["to_ns"]))
    return threads, chart["column_ns"]


def plain(name):
    """A name without what the two write differently."""
    if name.startswith("(anonymous"):
        return "(anonymous)"
    # speedscope appends the arguments of an event.
    name = re.sub(r"\s*\(?\{.*\}\)?$", "", name)
    return "<unknown>" if name == "???" else re.sub(r" \(.*\)$|:\d+.*$", "", name).strip() or name


def normal(blocks):
    """Blocks that last, in order, from the first one on, without those that only one of both programs draws."""
    left_out = {"(root)", "(program)", "(garbage collector)", "(idle)"}
    start = min((block[2] for block in blocks), default=0)
    kept = [(depth, plain(name), begin - start, end - start) for depth, name, begin, end in blocks if end > begin and name not in left_out]
    return sorted(kept, key=lambda block: (block[0], block[2]))


def stacks(blocks):
    """The stack from each moment on: pairs of a time and the names."""
    edges = collections.defaultdict(lambda: ([], []))
    for depth, name, begin, end in blocks:
        edges[begin][0].append((depth, name))
        edges[end][1].append((depth, name))
    found, active = [], {}
    for at in sorted(edges):
        begins, ends = edges[at]
        for depth, name in ends:
            if active.get(depth) == name:
                del active[depth]
        for depth, name in begins:
            active[depth] = name
        found.append((at, tuple(active[depth] for depth in sorted(active))))
    return found


def same_time(ours, theirs):
    """How long both have the same stack, and how long either has any."""
    ours, theirs = stacks(ours), stacks(theirs)
    times = sorted({at for at, _ in ours} | {at for at, _ in theirs})
    def stack_at(found, moments, at):
        place = bisect.bisect_right(moments, at) - 1
        return found[place][1] if place >= 0 else ()
    moments = [[at for at, _ in found] for found in (ours, theirs)]
    same = whole = 0
    for at, until in zip(times, times[1:]):
        one, other = stack_at(ours, moments[0], at), stack_at(theirs, moments[1], at)
        whole += until - at if one or other else 0
        same += until - at if one == other and one else 0
    return same, whole


def pairs(ours, theirs):
    """How many blocks are the same function at the same place in the order of their depth, and the largest difference of lengths."""
    same, largest = 0, 0
    for depth in {block[0] for block in ours} | {block[0] for block in theirs}:
        one = [block for block in ours if block[0] == depth]
        other = [block for block in theirs if block[0] == depth]
        for a, b in zip(one, other):
            if a[1] == b[1]:
                same += 1
                largest = max(largest, abs((a[3] - a[2]) - (b[3] - b[2])))
    return same, largest


def matched(ours, theirs):
    """Pairs of threads: those that agree the most first."""
    left = list(range(len(theirs)))
    for name, blocks in ours:
        one = normal(blocks)
        if not one or not left:
            continue
        scores = [(same_time(one, normal(theirs[number][1])), number) for number in left]
        best = max(scores, key=lambda score: score[0][0] / max(score[0][1], 1))
        left.remove(best[1])
        yield name, one, normal(theirs[best[1]][1])


def main():
    prof, package, *paths = sys.argv[1:]
    is_same = True
    print(f"{'threads':>7} {'prof':>7} {'speedscope':>10} {'same':>7} {'same time':>9} {'lengths within':>15}  file")
    for path in paths:
        saved = imported(package, path)
        if saved is None:
            print(f"speedscope does not import {path}")
            is_same = False
            continue
        ours, column = blocks_of_prof(prof, path)
        counts = collections.Counter()
        largest = 0
        for name, one, other in matched(ours, blocks_of_speedscope(saved)):
            same, difference = pairs(one, other)
            time, whole = same_time(one, other)
            counts.update(threads=1, ours=len(one), theirs=len(other), same=same, time=time, whole=whole)
            largest = max(largest, difference)
            if os.environ.get("VERBOSE"):
                print(f"    {name}: {len(one)} and {len(other)} blocks, {same} the same, {time / max(whole, 1):.2%} of the time")
        share = counts["time"] / max(counts["whole"], 1)
        is_same &= max(share, counts["same"] / max(counts["ours"], counts["theirs"], 1)) >= 0.99
        note = f", drawn in columns of {column} ns" if column else ""
        print(
            f"{counts['threads']:>7} {counts['ours']:>7} {counts['theirs']:>10} {counts['same']:>7} {share:>9.2%}"
            f" {largest / 1e6:>12.6f} ms  {path}{note}"
        )
    sys.exit(not is_same)


if __name__ == "__main__":
    main()
