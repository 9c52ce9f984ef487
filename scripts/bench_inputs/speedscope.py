#!/usr/bin/env python3
"""Writes speedscope files for `make.sh`.

    speedscope.py events TRACE OUT       the spans of a Chrome trace, as the events that speedscope itself exports
    speedscope.py repeat IN OUT TIMES    the samples of a speedscope file, repeated
"""

import json
import sys
from collections import defaultdict


def events(trace, out):
    threads = defaultdict(list)
    with open(trace) as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] == "X":
                threads[event["pid"], event["tid"]].append(event)
    frames, profiles = {}, []
    for (process, thread), spans in threads.items():
        spans.sort(key=lambda span: (span["ts"], -span["dur"]))
        written, opened = [], []

        def close(until):
            while opened and opened[-1][1] <= until:
                frame, at = opened.pop()
                written.append({"type": "C", "frame": frame, "at": at})

        for span in spans:
            close(span["ts"])
            frame = frames.setdefault(span["name"], len(frames))
            end = min([span["ts"] + span["dur"], *(at for _, at in opened[-1:])])
            written.append({"type": "O", "frame": frame, "at": span["ts"]})
            opened.append((frame, end))
        close(float("inf"))
        profiles.append({
            "type": "evented",
            "name": f"{process}/{thread}",
            "unit": "microseconds",
            "startValue": written[0]["at"],
            "endValue": written[-1]["at"],
            "events": written,
        })
    write(out, {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": profiles,
        "exporter": "speedscope.py",
    })


def repeat(source, out, times):
    with open(source) as file:
        content = json.load(file)
    for profile in content["profiles"]:
        profile["samples"] *= int(times)
        profile["weights"] *= int(times)
        profile["endValue"] = profile["startValue"] + sum(profile["weights"])
    write(out, content)


def write(path, content):
    with open(path, "w") as file:
        json.dump(content, file, separators=(",", ":"))


command, *arguments = sys.argv[1:]
{"events": events, "repeat": repeat}[command](*arguments)
