#!/usr/bin/env python3
"""Measures how smoothly the tab Timeline of a page with a million samples zooms, scrolls and drags, in headless Chromium.

    cargo build --release && scripts/measure_timeline.py target/release/prof [SAMPLES]
    scripts/measure_timeline.py PAGE.html...

Each row of the table is one way to move, with one event per frame: how much CPU time a frame takes in the thread of the page,
and in all of the browser, which without a graphics card composes each frame on the CPU, too: "nothing" shows what a
frame costs that changes one pixel. The last columns are how long the script takes to draw. A frame at 60 per second has 16.7 ms. CPU time
hardly depends on what else the machine does, the time of the script does. Needs Python, Linux and Chromium.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

FRAMES = 120

START = """
(async () => {
  const { timeline } = page;
  document.querySelector("#tabs [data-key=timeline]").click();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame(); await frame();
  const { canvas, times } = timeline;
  const box = canvas.getBoundingClientRect();
  const at = (x) => ({ clientX: box.left + x * box.width, clientY: box.top + 40, bubbles: true, cancelable: true });
  const wheel = (x, deltaY, deltaX = 0) => canvas.dispatchEvent(new WheelEvent("wheel", { ...at(x), deltaX, deltaY }));
  const pointer = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { ...at(x), pointerId: 1, button: 0 }));
  canvas.setPointerCapture = () => {};
  const spent = [];
  const draw = timeline.draw.bind(timeline);
  timeline.draw = () => { const start = performance.now(); draw(); spent.push(performance.now() - start); };
  const all = [0, times.steps];
  // What is seen at the start, and what happens in each frame, from 0 to 1.
  globalThis.gestures = {
    "nothing": [all, (x, i) => { timeline.context.fillRect(0, i % 2, 1, 1); spent.push(0); }],
    "zoom in": [all, () => wheel(0.37, -60)],
    "scroll sideways, zoomed in": [[0.4, 0.401].map((x) => x * times.steps), () => wheel(0.5, 0, 40)],
    "zoom out": [[0.4, 0.401].map((x) => x * times.steps), () => wheel(0.37, 60)],
    "drag a range, all times": [all, (x) => pointer("pointermove", 0.1 + 0.8 * x)],
    "scroll sideways, half of all times": [[0.2, 0.7].map((x) => x * times.steps), () => wheel(0.5, 0, 40)],
  };
  globalThis.play = async (name) => {
    const [view, act] = gestures[name];
    timeline.look(...view);
    if (name.startsWith("drag")) pointer("pointerdown", 0.1);
    await frame(); await frame();
    spent.length = 0;
    for (let i = 0; i < FRAMES; i++) { act(i / FRAMES, i); await frame(); }
    const found = [...spent];
    if (name.startsWith("drag")) pointer("pointerup", 0.9);
    return found;
  };
  timeline.look(times.steps / 2, times.steps / 2 + 1);
  await frame();
  return { samples: times.time.length, zoomedTo: timeline.view[1] - timeline.view[0], gestures: Object.keys(gestures) };
})()
"""


def stats(folder):
    """The parent and the CPU time in milliseconds of all processes, or of all threads of one, by number."""
    found = {}
    for entry in filter(str.isdigit, os.listdir(folder)):
        try:
            fields = Path(folder, entry, "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # It has ended.
        found[int(entry)] = int(fields[1]), (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")
    return found


def cpu_times(process):
    """The CPU time of a browser: the busiest main thread of its processes, which is that of the page, and everything."""
    processes = stats("/proc")
    family = {process}
    while more := {one for one, (parent, _) in processes.items() if parent in family} - family:
        family |= more
    pages = [one for one in family if b"--type=renderer" in Path("/proc", str(one), "cmdline").read_bytes()]
    threads = [stats(f"/proc/{one}/task").get(one, (0, 0))[1] for one in pages]
    return max(threads, default=0), sum(processes[one][1] for one in family if one in processes)


def profile(samples):
    """A CPU profile of V8 whose stacks are drawn at random, for phases of a few hundred samples each."""
    draw = random.Random(7)
    nodes = [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1}, "children": []}]
    for number in range(2, 400):
        parent = draw.choice(nodes[max(0, len(nodes) - 30) :])
        parent.setdefault("children", []).append(number)
        frame = {"functionName": f"function{number % 150}", "scriptId": "1", "url": "file:///app.js", "lineNumber": number, "columnNumber": 1}
        nodes.append({"id": number, "callFrame": frame})
    ids, leaf = [], 2
    for number in range(samples):
        if draw.random() < 0.2:
            leaf = draw.randrange(2, 400)
        ids.append(leaf)
    deltas = [draw.randrange(80, 120) for _ in ids]
    return {"nodes": nodes, "startTime": 0, "endTime": sum(deltas), "samples": ids, "timeDeltas": deltas}


def measure(page):
    with Chromium() as browser:
        browser.open(str(page))
        found = browser.run(START.replace("FRAMES", str(FRAMES)))
        print(f"{found['samples']:,} samples; the view zooms to {found['zoomedTo']:g} step")
        print(f"{'':<36} {'CPU: page':>10} {'browser':>10} {'drawing: median':>18} {'95%':>8}")
        for gesture in found["gestures"]:
            before = cpu_times(browser.process.pid)
            spent = sorted(browser.run(f"play({json.dumps(gesture)})"))
            page, everything = ((after - start) / FRAMES for start, after in zip(before, cpu_times(browser.process.pid)))
            median, late = spent[len(spent) // 2], spent[int(len(spent) * 0.95)]
            print(f"{gesture:<36} {page:>7.1f} ms {everything:>7.1f} ms {median:>15.1f} ms {late:>5.1f} ms")


def main():
    first = sys.argv[1]
    if first.endswith(".html"):
        for page in sys.argv[1:]:
            measure(page)
        return
    samples = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        profiled, page = Path(name) / "app.cpuprofile", Path(name) / "page.html"
        profiled.write_text(json.dumps(profile(samples)))
        subprocess.run([first, "flame", "-q", "--embed-times", page, profiled], check=True)
        measure(page)


if __name__ == "__main__":
    main()
