#!/usr/bin/env python3
"""Measures how smoothly the tab Timeline of a page with a million samples zooms, scrolls and drags, in headless Chromium.

    cargo build --release && scripts/measure_timeline.py target/release/prof [SAMPLES]

Each row of the table is one way to move: while an event is dispatched per frame, how long the script takes for a frame (handling
the event, and drawing), and how much of the 16.7 ms that a frame has at 60 frames a second that is. Needs Python and Chromium.
The times depend on the machine, so this is no test.
"""

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

FRAMES = 120

MEASURE = """
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
  const measured = async (act) => {
    const spent = [];
    for (let i = 0; i < FRAMES; i++) {
      const start = performance.now();
      act(i / FRAMES, i);
      // What is due in the next frame is drawn now, so that only the script's own time counts.
      timeline.draw();
      context.getImageData(0, 0, 1, 1);
      spent.push(performance.now() - start);
      await frame();
    }
    return spent;
  };
  const { context } = timeline;
  const found = { samples: times.time.length };
  found["zoom in"] = await measured((x) => wheel(0.37, -60));
  found["scroll sideways, zoomed in"] = await measured((x) => wheel(0.5, 0, 40));
  found["zoom out"] = await measured((x) => wheel(0.37, 60));
  timeline.look(0, times.steps);
  found["drag a range, all times"] = await (async () => { pointer("pointerdown", 0.1); const spent = await measured((x) => pointer("pointermove", 0.1 + 0.8 * x)); pointer("pointerup", 0.9); return spent; })();
  timeline.look(times.steps * 0.2, times.steps * 0.7);
  found["scroll sideways, half of all times"] = await measured((x) => wheel(0.5, 0, 40));
  timeline.look(0, times.steps);
  timeline.look(times.steps / 2, times.steps / 2 + 1);
  timeline.draw();
  found.zoomedTo = timeline.view[1] - timeline.view[0];
  return found;
})()
"""


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


def main():
    prof, samples = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as name, Chromium() as browser:
        profiled, page = Path(name) / "app.cpuprofile", Path(name) / "page.html"
        profiled.write_text(json.dumps(profile(samples)))
        subprocess.run([prof, "flame", "-q", "--embed-times", page, profiled], check=True)
        browser.open(str(page))
        found = browser.run(MEASURE.replace("FRAMES", str(FRAMES)))
    print(f"{found.pop('samples'):,} samples; the view zooms to {found.pop('zoomedTo'):g} step")
    print(f"{'':<36} {'median':>8} {'95%':>8} {'most':>8}   frames over 16.7 ms")
    for what, spent in found.items():
        spent.sort()
        late = sum(one > 1000 / 60 for one in spent)
        print(f"{what:<36} {spent[len(spent) // 2]:>5.1f} ms {spent[int(len(spent) * 0.95)]:>5.1f} ms {spent[-1]:>5.1f} ms   {late} of {len(spent)}")


if __name__ == "__main__":
    main()
