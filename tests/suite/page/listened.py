"""Prints what a screen reader is told of a page: the accessibility tree of each tab, and what is said when the selection moves."""

import json
import sys
import time

from chromium import Chromium


def told(browser):
    """The nodes that a screen reader sees: role, name, and whether they can have the focus."""
    found = []
    for node in browser.call("Accessibility.getFullAXTree")["nodes"]:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role in ["StaticText", "InlineTextBox", "none"]:
            continue
        properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
        kept = {key: properties[key] for key in ["focusable", "level", "expanded", "selected", "pressed", "live"] if key in properties}
        found.append({"role": role, "name": node.get("name", {}).get("value", ""), **kept})
    return found


def main():
    with Chromium() as browser:
        browser.open(sys.argv[1])
        browser.call("Accessibility.enable")
        browser.wait_for("document.getElementById('outline').children.length")
        found = {"tabs": {}}
        count = browser.run("document.querySelectorAll('#tabs button').length")
        for tab in range(count):
            browser.run(f"page.openTab({tab})")
            browser.frame()
            name = browser.run("document.querySelector('#tabs [aria-selected=true]').dataset.key")
            found["tabs"][name] = told(browser)
        browser.run("page.change({ filters: [], tab: 'graph', icicle: true }); page.graph.canvas.focus()")
        time.sleep(0.3)
        said = "document.getElementById('said').textContent"
        before = browser.run(said)
        browser.press("ArrowDown")
        browser.press("ArrowDown")
        found["at once"] = browser.run(said) == before
        browser.wait_for(f"{said} !== {json.dumps(before)}")
        found["said"] = browser.run(said)
        print(json.dumps(found))


main()
