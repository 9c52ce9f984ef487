#!/usr/bin/env python3
"""Compares the output of two builds of prof, command by command, on every profile below some folders.

    scripts/compare_documents.py OLD_PROF NEW_PROF FOLDER...

Runs the commands below with both builds on each readable file and compares standard output and the exit code byte by byte.
Prints one line per difference and a final count; the exit code is 1 if anything differs. With `--new-key KEY`, objects of
the new build may have this key where those of the old build do not; all other keys must be the same, in the same order.
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


def extends(old, new, keys):
    """Whether two documents are the same except for additional keys."""
    if isinstance(old, dict) and isinstance(new, dict):
        common = [key for key in new if key in old]
        added = [key for key in new if key not in old]
        return common == list(old) and set(added) <= keys and all(extends(old[key], new[key], keys) for key in common)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(extends(*both, keys) for both in zip(old, new))
    return type(old) is type(new) and old == new


def same(old, new, keys):
    if old == new:
        return True
    if not keys or old[0] != new[0]:
        return False
    try:
        return extends(json.loads(old[1]), json.loads(new[1]), set(keys))
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
