#!/usr/bin/env python3
"""Runs `prof top` on every file below some folders, most of which are not profiles.

    scripts/scan_folders.py target/release/prof /usr/lib /usr/share/doc

Each run has to exit with 0, or with 2 and a short message, within a second of CPU time. Prints the runs that do not,
and a count per exit code.
"""

import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter

LARGEST = 1 << 20  # bytes
LONGEST = 1.0  # seconds of CPU time
HANG = 60  # seconds
MESSAGE = 1500  # bytes


def files(folders):
    for top in folders:
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) <= LARGEST:
                    yield path


def run(prof, path):
    """Returns the exit code (negative for a signal), the CPU seconds, and the messages."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [prof, "top", "-n", "3", path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        timer = threading.Timer(HANG, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        errors.seek(0)
        return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, errors.read()


def main():
    prof, folders = sys.argv[1], sys.argv[2:]
    counts, slowest = Counter(), (0.0, "")
    for path in files(folders):
        code, seconds, message = run(prof, path)
        slowest = max(slowest, (seconds, path))
        counts["files"] += 1
        counts[f"exit {code}"] += 1
        wrong = []
        if code not in (0, 2):
            wrong.append(f"exit {code}")
        if seconds > LONGEST:
            wrong.append(f"{seconds:.2f} s")
        if len(message) > MESSAGE or b"panicked" in message or (code == 2 and not message.startswith(b"error: ")):
            wrong.append(f"message of {len(message)} bytes")
        if code == 0:
            print("read:", path, flush=True)
        if wrong:
            counts["findings"] += 1
            print("FINDING:", path, ", ".join(wrong), message[:200], flush=True)
    print(dict(sorted(counts.items())), f"slowest {slowest[0]:.2f} s: {slowest[1]}")
    return 1 if counts["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
