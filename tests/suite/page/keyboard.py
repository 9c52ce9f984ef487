"""Uses a page with the keyboard alone, as a person does, and prints what was reached and what had the focus."""

import json
import sys

from chromium import Chromium

# What has the focus, whether a ring shows it, and whether it is on the screen.
FOCUS = """
(() => {
  const it = document.activeElement;
  if (!it || it === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(it);
  const box = it.getBoundingClientRect();
  return {
    name: it.id || it.dataset.key || it.textContent.trim() || it.ariaLabel,
    ring: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1,
    seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
  };
})()
"""
CONTROLS = """
[...document.querySelectorAll("#app :is(button, select, input, summary, [tabindex])")]
  .filter((it) => it.tabIndex >= 0 && it.checkVisibility()).length
"""


def walk(browser):
    """Presses Tab until the page is left again; returns what had the focus on the way."""
    reached = []
    browser.run("document.activeElement.blur()")
    for _ in range(400):
        browser.press("Tab")
        focus = browser.run(FOCUS)
        if focus is None:
            break
        reached.append(focus)
    return reached


def main():
    with Chromium() as browser:
        browser.open(sys.argv[1])
        browser.run("page.change({ icicle: true })")
        found = {"controls": browser.run(CONTROLS), "reached": walk(browser), "deeds": {}}

        def deed(name, *keys, value="null"):
            for key in keys:
                browser.press(key)
                browser.frame()
            browser.frame()
            found["deeds"][name] = [browser.run(FOCUS), browser.run(value)]

        browser.run("page.graph.canvas.focus()")
        zoom = "page.state.zoom.length"
        deed("move", "ArrowDown", "ArrowDown", value="document.getElementById('selection').firstChild.textContent")
        deed("zoom", "Enter", value=zoom)
        deed("zoom out", "Escape", value=zoom)
        deed("block menu", "m", value="!document.getElementById('menu').hidden")
        deed("menu item", "ArrowDown", "ArrowDown", "Enter", value="page.state.filters.length")
        browser.run("void setTimeout(() => history.back())")
        browser.wait_for("page.state.filters.length === 0")
        deed("search", "/", *"re", value="document.activeElement.id")
        browser.wait_for("page.state.query === 're'")
        deed("next match", "Enter", value="document.getElementById('matched').textContent")
        deed("end search", "Escape", value="page.state.query")
        deed("add filter", "+", *"hide frames", "ArrowDown", "Enter", value="page.state.filters.map(({ kind }) => kind)")
        browser.run("document.querySelector('#filters .chip').focus()")
        deed("remove filter", "Enter", value="page.state.filters.length")
        browser.run("document.querySelector('#tabs [aria-selected=true]').focus()")
        deed("tab", "ArrowRight", "ArrowRight", "ArrowRight", "Enter", value="page.state.tab")
        browser.run("document.querySelector('#tree-rows tr').focus()")
        deed("open row", "ArrowDown", "Enter", value="page.tree.rows.length")
        deed("callers", "c", value="page.state.filters[0]?.kind")
        deed("graph", "1", value="page.state.filters.length")
        browser.run("document.querySelector('#columns [data-key=total]').focus()")
        deed("sort", "Enter", value="page.state.sort")
        browser.run("document.querySelector('#rows .name').focus()")
        deed("row", "ArrowDown", "Enter", value="page.state.pin >= 0")
        browser.run("document.querySelector('#legend button').focus()")
        deed("legend", "Enter", value="page.picture.chosenGroup >= 0")
        deed("no legend", "Enter", value="page.picture.chosenGroup >= 0")
        browser.run("document.getElementById('divider').focus()")
        deed("divider", "ArrowUp", value="document.getElementById('main').style.getPropertyValue('--graph') !== ''")
        browser.run("document.querySelector('#view summary').focus()")
        deed("page menu", "Enter", value="document.getElementById('view').open")
        deed("close page menu", "Tab", "Tab", "Escape", value="document.getElementById('view').open")
        browser.run("document.querySelector('#view summary').focus()")
        browser.press("Enter")
        browser.run("document.getElementById('theme').focus()")
        deed("theme", "Enter", value="page.theme.isDark")
        deed("help", "?", value="document.getElementById('help').open")
        deed("close help", "Escape", value="document.getElementById('help').open")
        browser.run("page.graph.canvas.focus()")
        deed("no table", "t", "t", value="document.getElementById('main').dataset.table")
        deed("table", "t", value="document.getElementById('main').dataset.table")
        deed("only", "ArrowDown", "o", value="page.state.filters.map(({ kind }) => kind)")
        browser.run("page.addFilter('hide-stacks', 'main', false)")
        browser.run("document.querySelector('#empty button').focus()")
        deed("undo empty", "Enter", value="document.getElementById('empty').hidden")
        print(json.dumps(found))


main()
