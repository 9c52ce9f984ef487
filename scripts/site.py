#!/usr/bin/env python3
"""Builds the documentation site with mdBook in target/site/book.

    scripts/site.py --prof target/debug/prof

The pages are those of the repository, at the same relative places, so that links work in both. The gallery is made by
`prof` from the fixtures. Fails if a link of the site leads nowhere.
"""

import argparse
import html.parser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent

# The title of each example, its profile with options, and what to look at.
GALLERY = {
    "shop": (
        "A web shop in Go: CPU time",
        "fixtures/pprof/go-cpu.pb.gz",
        "A third of the time goes to one function. Click a block to zoom in; the list next to the graph is sorted by self.",
    ),
    "two-builds": (
        "Two builds of the shop, compared",
        "--base fixtures/pprof/go-cpu-old.pb.gz fixtures/pprof/go-cpu-new.pb.gz",
        "Colours show what became more expensive, and what became cheaper.",
    ),
    "memory": (
        "The shop's memory",
        "fixtures/pprof/go-heap.pb.gz",
        "The page holds four metrics: memory and objects in use, and everything that was ever allocated.",
    ),
    "stock": (
        "Four Java threads that share a lock",
        "fixtures/jfr/java.jfr",
        "A recording of Java Flight Recorder holds samples, allocations and the time spent waiting for locks.",
    ),
    "invoices": (
        "Invoices in Node.js, without idle time",
        "--hide-stacks @idle fixtures/cpuprofile/node.cpuprofile",
        "`@idle` stands for the functions that wait, in any language. The page shows which filters were applied.",
    ),
    "words": (
        "A Rust program recorded with perf",
        "fixtures/perf-data/rust.perf.data",
        "`perf.data` is read directly, without `perf script`.",
    ),
    "weather": (
        "A Python program recorded with py-spy",
        "fixtures/collapsed/python.folded",
        "Collapsed stacks: one line per stack, the format of the FlameGraph scripts.",
    ),
    "maze": (
        "A C program under callgrind",
        "fixtures/callgrind/c.callgrind",
        "Callgrind records calls instead of stacks: the list is exact, and the graph an approximation, as the page says.",
    ),
}


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stdout.decode(errors='replace')}")


def copy_pages(pages):
    """Copies all pages and the files that they link to, such as pictures."""
    summary = (ROOT / "site/SUMMARY.md").read_text()
    listed = re.findall(r"\]\(([^)]+)\)", summary)
    others = sorted({f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")} - set(listed))
    if others:
        summary += "\n# More\n\n"
    for page in others:
        title = re.search("^# (.*)$", (ROOT / page).read_text(), re.MULTILINE)[1]
        summary += f"- [{title}]({page})\n"
    write(pages / "SUMMARY.md", summary)
    for page in [*listed, *others]:
        if page == "gallery.md":
            continue
        text = (ROOT / page).read_text()
        # mdBook makes index.html of README.md, but leaves links to it alone.
        write(pages / page, re.sub(r"(\]\([^):]*)README\.md", r"\1index.md", text))
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            linked = (ROOT / page).parent / link
            if linked.is_file() and linked.suffix != ".md":
                copy = pages / linked.resolve().relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, copy)


def make_gallery(pages, prof):
    """A page with a picture of each example, which leads to its interactive page."""
    (pages / "gallery").mkdir()
    text = "# Gallery\n\nEach picture leads to the interactive page of the same profile. The profiles are in `fixtures`.\n"
    for name, (title, arguments, remark) in GALLERY.items():
        for ending in ["svg", "html"]:
            out = pages / f"gallery/{name}.{ending}"
            run(prof, "flame", out, "--title", title, *shlex.split(arguments), cwd=ROOT)
        text += f"\n## {title}\n\n{remark}\n\n"
        text += f"[![Flame graph: {title}](gallery/{name}.svg)](gallery/{name}.html)\n\n"
        text += f"```sh\nprof flame {name}.html {arguments}\n```\n"
    write(pages / "gallery.md", text)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Links(html.parser.HTMLParser):
    """The places in a page that can be linked to, and where its links lead."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken_links(book):
    """Links of the site's own pages to files or headings that do not exist. Other sites are not asked."""
    pages = [path for path in sorted(book.rglob("*.html")) if path.parent != book / "gallery" and path.name != "404.html"]
    found = {path.resolve(): Links(path) for path in pages}
    broken, count = [], 0
    for path, page in found.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme or url.netloc:
                continue
            count += 1
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            # A page that is not one of ours, such as those of the gallery, is not looked into.
            ids = found[target].ids if target in found else {unquote(url.fragment)}
            if not target.is_file() or url.fragment and unquote(url.fragment) not in ids:
                broken.append(f"{path.relative_to(book.resolve())}: {link}")
    return broken, count, len(pages)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prof", type=Path, required=True, help="the program that makes the gallery")
    parser.add_argument("--out", type=Path, default=ROOT / "target/site", help="a folder for the site; it is replaced")
    options = parser.parse_args()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    for name in ["book.toml", "wide.css"]:
        shutil.copyfile(ROOT / "site" / name, options.out / name)
    copy_pages(options.out / "pages")
    make_gallery(options.out / "pages", options.prof.resolve())
    run("mdbook", "build", options.out)
    broken, links, pages = broken_links(options.out / "book")
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    print(f"{options.out / 'book/index.html'}: {pages} pages, {links} links")


if __name__ == "__main__":
    main()
