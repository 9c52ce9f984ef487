#!/usr/bin/env python3
"""Measures the interactive page in headless Chromium and prints tables: readable labels of real profiles, and how long
synthetic profiles of many stacks take. Needs Python and Chromium, nothing else:

    cargo build --release && scripts/measure_page.py target/release/prof

The times depend on the machine, so this is no test.
"""

import http.server
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

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

# Blocks of at least 28 pixels, and those among them that show the identifier in full.
LABELS = """
  const { graph, picture } = page;
  let [all, readable] = [0, 0];
  for (const block of graph.rows.flat()) {
    const [, width] = graph.place(block);
    if (block.node <= 0 || width < 28) continue;
    all++;
    const { label } = picture.look(block);
    const shown = fitLabel(label, width - (width >= 72 ? 9 : 5.5), graph.ruler)?.text ?? "";
    if (shown.includes(label.texts.at(-1))) readable++;
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


def measure(page: Path, check: str) -> dict:
    """Opens a page in a browser and returns what a script in it finds."""
    text = page.read_text()
    # The policy of the page allows only its own scripts, and no requests.
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    tail = f"""<script>
      let readyAt = NaN;
      const bytes = {page.stat().st_size};
      const watch = new MutationObserver(() => {{
        if (!document.documentElement.dataset.ready) return;
        watch.disconnect();
        readyAt = performance.now();
        setTimeout(async () => {{
          let result;
          try {{ result = await (async () => {{ {check} }})(); }} catch (error) {{ result = {{ error: String(error.stack) }}; }}
          await fetch("/result", {{ method: "POST", body: JSON.stringify(result) }});
        }}, 500);
      }});
      watch.observe(document.documentElement, {{ attributes: true }});
    </script>"""
    # Before the scripts of the page, so that it sees when they are ready.
    body = text.replace('<script type="application/octet-stream" id="data">', tail + '<script type="application/octet-stream" id="data">', 1).encode()
    results, arrived = [], threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body if self.path == "/" else b"")

        def do_POST(self):
            results.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()
            arrived.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chromium = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
        flags += ["--disable-component-update", "--enable-precise-memory-info", "--window-size=1440,900", f"--user-data-dir={user}"]
        browser = subprocess.Popen([chromium, *flags, f"http://127.0.0.1:{server.server_port}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if not arrived.wait(300):
                sys.exit(f"{page.name}: no result after five minutes")
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
    if "error" in results[0]:
        sys.exit(results[0]["error"])
    return results[0]


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


def main() -> None:
    prof = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/prof").resolve()
    folder = Path(tempfile.mkdtemp())
    try:
        print("| profile | page | readable labels |\n|---|---|---|")
        sums = [0, 0]
        for title, fixture in PROFILES:
            page = folder / "page.html"
            subprocess.run([prof, "flame", page, "--force", "-q", ROOT / "fixtures" / fixture], check=True)
            found = measure(page, LABELS)
            sums = [sums[0] + found["readable"], sums[1] + found["all"]]
            print(f"| {title} | {found['bytes'] / 1000:.0f} kB | {found['readable']}/{found['all']} {found['readable'] / found['all']:.0%} |", flush=True)
        print(f"| all | | {sums[0]}/{sums[1]} {sums[0] / sums[1]:.0%} |\n")
        print("| distinct stacks | page | first paint | ready | slowest filter | memory |\n|---|---|---|---|---|---|")
        for stacks in [200_000, 1_000_000]:
            profile, page = folder / "stacks.folded", folder / "page.html"
            synthetic(profile, stacks)
            subprocess.run([prof, "flame", page, "--force", "-q", profile], check=True)
            profile.unlink()
            found = measure(page, TIMES)
            kind, slowest = max(found["filters"].items(), key=lambda pair: pair[1])
            print(
                f"| {found['stacks']:,} | {found['bytes'] / 1e6:.1f} MB | {found['paint']:.0f} ms | {found['ready']:.0f} ms "
                f"| {slowest:.0f} ms ({kind}) | {found['memory'] / 1e6:.0f} MB |",
                flush=True,
            )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
