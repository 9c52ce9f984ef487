#!/usr/bin/env python3
"""Compares the output of two builds of prof, command by command, on every profile below some folders.

    scripts/compare_documents.py OLD_PROF NEW_PROF FOLDER...

Runs the commands below with both builds on each readable file and compares standard output and the exit code byte by byte.
Prints one line per difference and a final count; the exit code is 1 if anything differs. Keys that only the new build
has may be named with `--new-key KEY`: they are removed from its JSON before the comparison.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

COMMANDS = [
    ["info"],
    ["top"],
    ["top", "--by", "line"],
    ["tree"],
    ["tree", "--bottom-up", "-n", "5"],
    ["hot"],
    ["graph"],
    ["labels"],
    ["traces", "-n", "20"],
    ["focus", "{function}"],
    ["source", "{function}"],
    ["diff", "{file}"],
    ["top", "--base", "{file}"],
    ["convert", "--to", "folded", "-o", "-"],
]
SECONDS = 60


def files(folders):
    for folder in folders:
        for place, _, names in os.walk(folder):
            if "golden" in place.split(os.sep):
                continue
            yield from (os.path.join(place, name) for name in sorted(names))


def run(prof, arguments):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PROF_")}
    try:
        ran = subprocess.run([prof, *arguments], capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL, env=environment)
    except subprocess.TimeoutExpired:
        return "timeout", b""
    return ran.returncode, ran.stdout


def without(document, keys):
    if isinstance(document, dict):
        return {key: without(value, keys) for key, value in document.items() if key not in keys}
    if isinstance(document, list):
        return [without(value, keys) for value in document]
    return document


def same(old, new, keys):
    if old == new:
        return True
    if not keys or old[0] != new[0]:
        return False
    try:
        return json.loads(old[1]) == without(json.loads(new[1]), keys)
    except ValueError:
        return False


def compare(path, args):
    """Returns the commands whose output differs, and how many were compared."""
    code, top = run(args.old, ["top", "-f", "json", "-n", "1", path])
    rows = json.loads(top).get("rows") if code == 0 else None
    function = rows[0]["name"] if rows else "main"
    differing, compared = [], 0
    for command in COMMANDS:
        arguments = [part.format(file=path, function=function) for part in command]
        arguments += [path] if command[0] == "convert" else ["-f", "json", path]
        old, new = run(args.old, arguments), run(args.new, arguments)
        compared += 1
        if not same(old, new, args.new_key):
            differing.append((arguments, old[0], new[0]))
    return differing, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--new-key", action="append", default=[], help="a key that only the new build writes")
    args = parser.parse_args()
    args.old, args.new = os.path.abspath(args.old), os.path.abspath(args.new)
    args.folders = [os.path.abspath(folder) for folder in args.folders]
    os.chdir(tempfile.mkdtemp())
    total, different = 0, 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for differing, compared in pool.map(lambda path: compare(path, args), files(args.folders)):
            total += compared
            different += len(differing)
            for arguments, old, new in differing:
                print(f"differs ({old} → {new}): prof {' '.join(arguments)}", flush=True)
    print(f"{total} documents compared, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
