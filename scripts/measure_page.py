#!/usr/bin/env python3
"""Measures the interactive page in headless Chromium and prints tables: readable labels of real profiles, and how long
synthetic profiles of many stacks take. Needs Python and Chromium, nothing else:

    cargo build --release && scripts/measure_page.py target/release/prof

The times depend on the machine, so this is no test.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chromium import Chromium

ROOT = Path(__file__).resolve().parent.parent
PROFILES = [
    ("Go CPU", "pprof/go-cpu.pb.gz"),
    ("Python py-spy", "collapsed/python.folded"),
    ("Rust collapsed", "collapsed/rust.folded"),
    ("Rust pprof", "pprof/rust-cpu.pb.gz"),
    ("Node.js cpuprofile", "cpuprofile/node.cpuprofile"),
    ("Java JFR", "jfr/java.jfr"),
]
DEPTH = 34
# The best of several runs counts: other programs disturb single ones.
RUNS = 3

# Blocks of at least 28 pixels, and those among them that show the identifier in full.
LABELS = """
  const { graph, picture } = page;
  let [all, readable] = [0, 0];
  for (const block of graph.rows.flat()) {
    const [, width] = graph.place(block);
    if (block.node <= 0 || width < 28) continue;
    all++;
    const { label } = picture.look(block);
    const shown = fitLabel(label, width, graph.ruler)?.text ?? "";
    if (label.texts.some((text) => shown.includes(text))) readable++;
  }
  return { all, readable, bytes };
"""

TIMES = """
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  const timed = async (act) => {
    const start = performance.now();
    act();
    await frame();
    return performance.now() - start;
  };
  const paint = performance.getEntriesByType("paint").find((entry) => entry.name === "first-paint")?.startTime ?? NaN;
  const name = page.data.names[Math.floor(page.data.names.length / 2)];
  const kinds = ["show-stacks", "hide-stacks", "hide-frames", "show-from", "focus"];
  const filters = {};
  for (const kind of kinds) {
    page.change({ filters: [] });
    await frame();
    filters[kind] = await timed(() => page.addFilter(kind, name, true));
  }
  return { paint, ready: readyAt, filters, memory: performance.memory?.usedJSHeapSize ?? NaN, stacks: page.data.stacks, bytes };
"""


# When the page is ready, as the page itself sees it.
WATCH = """
  new MutationObserver((_, watch) => {
    if (!document.documentElement?.dataset.ready) return;
    watch.disconnect();
    globalThis.readyAt = performance.now();
  }).observe(document, { attributes: true, subtree: true });
"""


def measure(browser: Chromium, page: Path, check: str) -> dict:
    """Opens a page and returns what a script in it finds."""
    browser.open(str(page))
    # The sentence at the top follows a little later.
    time.sleep(0.5)
    found = browser.run(f"(async () => {{ const bytes = {page.stat().st_size}; {check} }})()")
    browser.open("about:blank", "true")
    return found


def empty_page(browser: Chromium, folder: Path) -> float:
    """The first paint of an empty page, which no page can beat: the best of three."""
    page = folder / "empty.html"
    page.write_text("<!DOCTYPE html><title>Empty</title><p>Nothing")
    paint = "performance.getEntriesByType('paint')[0]?.startTime"
    times = []
    for _ in range(3):
        browser.open(str(page), paint)
        times.append(browser.run(paint))
    return min(times)


def synthetic(path: Path, stacks: int) -> None:
    """Writes distinct stacks that share prefixes, as those of a program do."""
    choose = random.Random(stacks)
    with path.open("w") as out:
        frames = ["main.main"]
        for number in range(stacks):
            # The last frame makes the stack distinct; the first ones are mostly those of the previous stack.
            kept = choose.randrange(DEPTH // 2, DEPTH)
            frames = frames[:kept]
            while len(frames) < DEPTH - 1:
                frames.append(f"shop/p{choose.randrange(40)}.f{choose.randrange(200)}")
            out.write(";".join([*frames, f"leaf{number % 5000}.g{number // 5000}"]) + f" {choose.randrange(1, 100)}\n")


def labels(browser: Chromium, prof: Path, folder: Path) -> None:
    print("| profile | page | readable labels |\n|---|---|---|")
    sums = [0, 0]
    for title, fixture in PROFILES:
        page = folder / "page.html"
        subprocess.run([prof, "flame", page, "--force", "-q", ROOT / "fixtures" / fixture], check=True)
        found = measure(browser, page, LABELS)
        sums = [sums[0] + found["readable"], sums[1] + found["all"]]
        print(f"| {title} | {found['bytes'] / 1000:.0f} kB | {found['readable']}/{found['all']} {found['readable'] / found['all']:.0%} |", flush=True)
    print(f"| all | | {sums[0]}/{sums[1]} {sums[0] / sums[1]:.0%} |\n")


def times(browser: Chromium, prof: Path, folder: Path) -> None:
    print(f"first paint of an empty page: {empty_page(browser, folder):.0f} ms\n")
    print("| distinct stacks | page | first paint | ready | slowest filter | memory |\n|---|---|---|---|---|---|")
    for stacks in [200_000, 1_000_000]:
        profile, page = folder / "stacks.folded", folder / "page.html"
        synthetic(profile, stacks)
        subprocess.run([prof, "flame", page, "--force", "-q", profile], check=True)
        profile.unlink()
        runs = [measure(browser, page, TIMES) for _ in range(RUNS)]
        best = {key: min(run[key] for run in runs) for key in ["paint", "ready", "memory"]}
        filters = {kind: min(run["filters"][kind] for run in runs) for kind in runs[0]["filters"]}
        kind, slowest = max(filters.items(), key=lambda pair: pair[1])
        print(
            f"| {runs[0]['stacks']:,} | {runs[0]['bytes'] / 1e6:.1f} MB | {best['paint']:.0f} ms | {best['ready']:.0f} ms "
            f"| {slowest:.0f} ms ({kind}) | {best['memory'] / 1e6:.0f} MB |",
            flush=True,
        )


def main() -> None:
    prof = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/prof").resolve()
    folder = Path(tempfile.mkdtemp())
    try:
        with Chromium() as browser:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            labels(browser, prof, folder)
            times(browser, prof, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
