#!/usr/bin/env python3
"""Takes the pictures of the page that the documents show, and one sheet for each of six languages with every tab of the page:
light, dark, on a phone. Needs Python and Chromium, nothing else:

    cargo build --release && scripts/take_pictures.py target/release/prof [COMPARISONS]

COMPARISONS is a folder of comparisons, each a folder with the runs of two builds in `old` and `new`. Without it, only the
sheet of Go has a comparison.
"""

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

from chromium import Chromium

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
PICTURES = ROOT / "docs" / "pictures"
# The language, a profile, options, and the comparison to look for.
LANGUAGES = [
    ("go", "pprof/go-cpu.pb.gz", ["--embed-source", "--trim-path", "/srv/shop", "--source-path", "programs/shop"], "go-two-causes"),
    ("python", "austin/python.austin", [], "python-new-path"),
    ("rust", "pprof/rust-cpu.pb.gz", [], ""),
    ("node", "cpuprofile/node.cpuprofile", [], "node-new-path"),
    ("java", "jfr/java.jfr", [], "java-dearer"),
    ("c", "bpftrace/c.bpftrace.txt", [], "cpp-dearer"),
]
# Screens: name, width, height, whether dark, whether a phone, and the width on the sheet.
SCREENS = [("light", 1440, 900, False, False, 640), ("dark", 1440, 900, True, False, 640), ("phone", 390, 844, False, True, 185)]


def page(prof, folder, arguments, name="page.html"):
    """Writes a page; inputs are named without their folders, as a reader would type them."""
    out = folder / name
    subprocess.run([prof, "flame", out, "--force", "-q", *arguments], check=True, cwd=FIXTURES)
    return str(out)


def tabs(browser):
    return browser.run("[...document.querySelectorAll('#tabs button')].map((tab) => tab.dataset.key)")


def open_tab(browser, tab):
    # The callers of a function are a filter, which other tabs keep.
    browser.run("page.change({ filters: [], pin: -1 })")
    browser.run(f"document.querySelector('#tabs button[data-key={tab}]').click()")
    browser.frame()
    browser.frame()


def image(browser, form, **how):
    """What is on the screen, in base64."""
    return browser.call("Page.captureScreenshot", format=form, **how)["data"]


def sheet(browser, language, pages):
    """Puts all tabs of some pages onto one picture: a row per tab, a column per screen."""
    rows = {}
    for path in pages:
        for _, width, height, dark, phone, shown in SCREENS:
            browser.resize(width, height, phone=phone)
            browser.media(dark=dark)
            browser.open(path)
            for tab in tabs(browser):
                # The page of a comparison shows what only it has.
                if path != pages[0] and tab != "compare":
                    continue
                open_tab(browser, tab)
                rows.setdefault((path, tab), []).append(f'<img width={shown} src="data:image/png;base64,{image(browser, "png")}">')
    cells = "".join(f"<h2>{tab}</h2><div>{''.join(images)}</div>" for (_, tab), images in rows.items())
    style = "body{margin:8px;font:14px system-ui}div{display:flex;gap:8px}img{border:1px solid #999}h2{margin:6px 0;font-size:14px}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.html"
        path.write_text(f"<!doctype html><style>{style}</style>{cells}")
        browser.resize(1500, 440 * len(rows) + 16)
        browser.media()
        browser.open(str(path), "document.readyState === 'complete'")
        browser.frame()
        save(browser, f"page-{language}.webp")


def save(browser, name):
    data = base64.b64decode(image(browser, "webp", quality=50))
    (PICTURES / name).write_bytes(data)
    print(name, len(data), flush=True)


def documents(browser, prof, folder, comparisons):
    """The pictures that README and guide show."""

    def show(path, width=1200, height=760, dark=False, phone=False):
        browser.resize(width, height, phone=phone)
        browser.media(dark=dark)
        browser.open(path)
        browser.frame()

    go = page(prof, folder, ["pprof/go-cpu.pb.gz"])
    show(go)
    save(browser, "page.webp")
    open_tab(browser, "hot")
    save(browser, "sequences.webp")
    show(f"{go}#focus=runtime.mallocgc", dark=True)
    save(browser, "callers.webp")
    show(go, 390, 844, phone=True)
    x, y = browser.run(
        "(() => { const block = page.widestOf(page.data.names.findIndex((name) => name.endsWith('.Discounted')));"
        " const [left, width] = page.graph.place(block); const box = page.graph.canvas.getBoundingClientRect();"
        " return [box.x + left + width / 2, box.y + (page.graph.rowOf(block) + 0.5) * ROW]; })()"
    )
    browser.tap(x, y)
    save(browser, "phone.webp")
    node = page(prof, folder, ["cpuprofile/node.cpuprofile"])
    show(f"{node}#tab=timeline&from%7E=500ms&to%7E=700ms", height=720)
    save(browser, "timeline.webp")
    sides = comparisons and comparisons / "go-dearer"
    if sides:
        show(page(prof, folder, ["--base", str(sides / "old"), "--", str(sides / "new")]))
        save(browser, "compare.webp")
    picture = folder / "flame.svg"
    subprocess.run([prof, "flame", picture, "--force", "-q", "pprof/go-cpu.pb.gz"], check=True, cwd=FIXTURES)
    browser.resize(1200, 740)
    browser.media()
    browser.open(str(picture), "document.readyState === 'complete'")
    browser.frame()
    save(browser, "flame.webp")


def main():
    prof = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/prof").resolve()
    comparisons = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder, Chromium() as browser:
        folder = Path(folder)
        documents(browser, prof, folder, comparisons)
        for language, profile, options, sides in LANGUAGES:
            pages = [page(prof, folder, [*options, profile])]
            if comparisons and sides:
                old, new = comparisons / sides / "old", comparisons / sides / "new"
                pages.append(page(prof, folder, ["--base", str(old), "--", str(new)], "compare.html"))
            elif language == "go":
                pages.append(page(prof, folder, ["--base", "pprof/go-cpu-old.pb.gz", "pprof/go-cpu-new.pb.gz"], "compare.html"))
            sheet(browser, language, pages)


if __name__ == "__main__":
    main()
